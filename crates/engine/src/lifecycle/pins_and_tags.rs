//! Pins and tags: how users find a session again. Neither says anything about whether it is active.

use rethread_model::{is_unsafe_to_display, one_line};
use rethread_store::{Batch, SessionLabels, StoreError};

use super::LifecycleService;
use crate::EngineError;
use crate::awareness::{Caller, preview, without_secrets};

/// Maximum length of a tag.
const MAX_TAG_CHARS: usize = 40;
/// Maximum number of tags per session.
const MAX_TAGS: usize = 20;

/// Why a tag was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTag {
    /// It is empty, too long, or has a comma or a control character.
    #[error("invalid tag {0:?}: use at most {MAX_TAG_CHARS} characters, without a comma or control characters")]
    Text(String),
    /// The session would get too many.
    #[error("a session can have at most {MAX_TAGS} tags: remove one first")]
    TooMany,
}

/// The tags that a session got or lost, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedTags {
    /// Tags that it did not have.
    pub added: Vec<String>,
    /// Tags that it has no longer.
    pub removed: Vec<String>,
}

impl LifecycleService<'_> {
    /// Pins a session, or removes its pin. A session that is pinned keeps its place. Returns whether that changed
    /// anything.
    pub fn set_pinned(self, reference: &str, pinned: bool) -> Result<bool, EngineError> {
        let now = self.engine.now();
        let mut is_changed = false;
        self.edit_labels(reference, |labels| {
            is_changed = labels.pinned_at.is_some() != pinned;
            labels.pinned_at = if pinned { labels.pinned_at.or(Some(now)) } else { None };
        })?;
        Ok(is_changed)
    }

    /// Adds tags to a session and removes others. A tag that it has already, in any case, is not added again.
    pub fn change_tags(self, reference: &str, add: &[String], remove: &[String]) -> Result<ChangedTags, EngineError> {
        let add = add.iter().map(|tag| check_tag(tag)).collect::<Result<Vec<_>, _>>()?;
        let mut changed = ChangedTags::default();
        let mut has_too_many = false;
        self.edit_labels(reference, |labels| {
            let is_removed =
                |tag: &String| remove.iter().any(|other| is_same_tag(tag, &without_secrets(&one_line(other))));
            let (removed, mut tags): (Vec<_>, Vec<_>) = labels.tags.iter().cloned().partition(is_removed);
            changed.removed = removed;
            for tag in add {
                if !tags.iter().any(|known| is_same_tag(known, &tag)) {
                    changed.added.push(tag.clone());
                    tags.push(tag);
                }
            }
            has_too_many = tags.len() > MAX_TAGS;
            if !has_too_many {
                labels.tags = tags;
            }
        })?;
        if has_too_many { Err(InvalidTag::TooMany.into()) } else { Ok(changed) }
    }

    fn edit_labels(self, reference: &str, change: impl FnOnce(&mut SessionLabels)) -> Result<(), EngineError> {
        self.edit(reference, |batch: &mut Batch<'_>, caller: &Caller| -> Result<(), StoreError> {
            let mut labels = batch.session_labels(caller.key())?;
            change(&mut labels);
            batch.save_session_labels(caller.key(), &labels)
        })
    }
}

/// The tags of an import, one per line, as they could have been added here. What could not is left out.
pub(crate) fn clean_tags(lines: &str) -> String {
    let mut tags: Vec<String> = Vec::new();
    for tag in lines.lines().filter_map(|tag| check_tag(tag).ok()) {
        if tags.len() < MAX_TAGS && !tags.iter().any(|known| is_same_tag(known, &tag)) {
            tags.push(tag);
        }
    }
    tags.join("\n")
}

fn is_same_tag(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// A tag as it is stored: one line, without secrets. It must have a visible character, no comma or control character,
/// and not be too long.
pub(super) fn check_tag(tag: &str) -> Result<String, InvalidTag> {
    let is_plain = !tag.contains(',') && !tag.chars().any(is_unsafe_to_display);
    let tag = without_secrets(&one_line(tag));
    let fits = !tag.is_empty() && is_plain && tag.chars().count() <= MAX_TAG_CHARS;
    if fits { Ok(tag) } else { Err(InvalidTag::Text(preview(&tag, MAX_TAG_CHARS))) }
}
