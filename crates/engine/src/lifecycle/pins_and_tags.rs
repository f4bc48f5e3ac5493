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
    /// It is empty, too long, or has a comma or an invisible character.
    #[error("invalid tag {0:?}: use at most {MAX_TAG_CHARS} visible characters, without a comma")]
    Text(String),
    /// The session would get too many.
    #[error("a session can have at most {MAX_TAGS} tags: remove one first")]
    TooMany,
}

impl LifecycleService<'_> {
    /// Pins a session, or removes its pin. A session that is pinned keeps its place.
    pub fn set_pinned(self, reference: &str, pinned: bool) -> Result<(), EngineError> {
        let now = self.engine.now();
        self.edit_labels(reference, |labels| {
            labels.pinned_at = if pinned { labels.pinned_at.or(Some(now)) } else { None };
        })
    }

    /// Adds tags to a session and removes others. A tag that it has already, in any case, is not added again.
    pub fn change_tags(self, reference: &str, add: &[String], remove: &[String]) -> Result<(), EngineError> {
        let add = add.iter().map(|tag| check_tag(tag)).collect::<Result<Vec<_>, _>>()?;
        let is_same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
        let mut has_too_many = false;
        self.edit_labels(reference, |labels| {
            let before = labels.tags.clone();
            labels.tags.retain(|tag| !remove.iter().any(|other| is_same(tag, &one_line(other))));
            for tag in add {
                if !labels.tags.iter().any(|known| is_same(known, &tag)) {
                    labels.tags.push(tag);
                }
            }
            has_too_many = labels.tags.len() > MAX_TAGS;
            if has_too_many {
                labels.tags = before;
            }
        })?;
        if has_too_many { Err(InvalidTag::TooMany.into()) } else { Ok(()) }
    }

    fn edit_labels(self, reference: &str, change: impl FnOnce(&mut SessionLabels)) -> Result<(), EngineError> {
        self.edit(reference, |batch: &mut Batch<'_>, caller: &Caller| -> Result<(), StoreError> {
            let mut labels = batch.session_labels(caller.key())?;
            change(&mut labels);
            batch.save_session_labels(caller.key(), &labels)
        })
    }
}

/// A tag as it is stored: one line, without secrets. It must have a character, only visible ones, no comma, and not be too long.
pub(super) fn check_tag(tag: &str) -> Result<String, InvalidTag> {
    let tag = without_secrets(&one_line(tag));
    let is_allowed = |c: char| c != ',' && !is_unsafe_to_display(c);
    let fits = !tag.is_empty() && tag.chars().all(is_allowed) && tag.chars().count() <= MAX_TAG_CHARS;
    if fits { Ok(tag) } else { Err(InvalidTag::Text(preview(&tag, MAX_TAG_CHARS))) }
}
