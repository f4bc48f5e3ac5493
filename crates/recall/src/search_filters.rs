//! Evaluates a query's filters and decides which entries may be found.

use std::collections::HashSet;

use rethread_index::{DocId, IndexError, IndexSegment, IndexSnapshot, words};
use rethread_model::{EntryKind, Timestamp};
use rethread_store::{EpisodeKey, SessionNumber};

use crate::{HitKind, SearchQuery};

/// How quoted phrases are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhraseMode {
    /// Only entries that contain them are found.
    Required,
    /// They rank higher but are not required.
    Preferred,
}

/// The entries a query may find.
#[derive(Debug, Default)]
pub(crate) struct SearchFilters {
    /// One flag per session number; `None` allows every session.
    sessions: Option<Vec<bool>>,
    /// Episodes that touched one of the files and used one of the tools.
    episodes: Option<HashSet<EpisodeKey>>,
    /// Per segment: sorted document lists. A document must be in all of them.
    required: Vec<Vec<Vec<DocId>>>,
    /// Per segment: documents that must not be found.
    excluded: Vec<HashSet<DocId>>,
    kinds: Vec<HitKind>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
    latest: Option<Timestamp>,
}

impl SearchFilters {
    /// Evaluates the filters. `sessions`, if given, restricts the result to those sessions.
    pub(crate) fn evaluate(
        snapshot: &IndexSnapshot,
        query: &SearchQuery,
        sessions: Option<&[SessionNumber]>,
        has_words: bool,
        phrases: PhraseMode,
    ) -> Result<Self, IndexError> {
        let mut allowed = Self {
            sessions: sessions.map(session_flags),
            kinds: query.kinds.clone(),
            after: query.after,
            before: query.before,
            latest: query.latest,
            ..Self::default()
        };
        for segment in snapshot.segments() {
            let mut required = Vec::new();
            if phrases == PhraseMode::Required {
                for phrase in query.phrases.iter().filter(|phrase| !words::split(phrase).is_empty()) {
                    required.push(docs_with_phrase(segment, phrase)?);
                }
            }
            let mut excluded = HashSet::new();
            for text in &query.excluded {
                excluded.extend(docs_with_phrase(segment, text)?);
            }
            if !has_words {
                // Without words, the calls themselves are the result.
                required.extend(matching_calls(segment, query)?.into_iter().flatten());
            }
            allowed.required.push(required);
            allowed.excluded.push(excluded);
        }
        if has_words {
            allowed.episodes = matching_episodes(snapshot, query)?;
        }
        Ok(allowed)
    }

    /// Whether no filter is set.
    pub(crate) fn allows_everything(&self) -> bool {
        self.sessions.is_none()
            && self.episodes.is_none()
            && self.kinds.is_empty()
            && self.after.is_none()
            && self.before.is_none()
            && self.latest.is_none()
            && self.required.iter().all(Vec::is_empty)
            && self.excluded.iter().all(HashSet::is_empty)
    }

    pub(crate) fn allows(&self, segment: &IndexSegment, at: usize, doc: DocId) -> bool {
        if self.excluded.get(at).is_some_and(|excluded| excluded.contains(&doc)) {
            return false;
        }
        let required = self.required.get(at).map_or(&[][..], Vec::as_slice);
        if !required.iter().all(|docs| docs.binary_search(&doc).is_ok()) || !segment.is_alive(doc) {
            return false;
        }
        let episode = segment.episode(doc);
        self.allows_session(episode.session.get())
            && self.episodes.as_ref().is_none_or(|episodes| episodes.contains(&episode))
            && (self.kinds.is_empty() || self.matches_kind(segment, doc))
            && self.is_in_time_range(segment, doc)
    }

    pub(crate) fn allows_session(&self, session: u64) -> bool {
        let is_allowed = |flags: &Vec<bool>| flags.get(session as usize).copied().unwrap_or(false);
        self.sessions.as_ref().is_none_or(is_allowed)
    }

    fn matches_kind(&self, segment: &IndexSegment, doc: DocId) -> bool {
        let traits = segment.traits(doc);
        let kind = hit_kind(traits.kind());
        // A failed call is both a tool call and an error.
        self.kinds.contains(&kind) || (traits.has_failed() && self.kinds.contains(&HitKind::Error))
    }

    fn is_in_time_range(&self, segment: &IndexSegment, doc: DocId) -> bool {
        let has_limits = self.after.is_some() || self.before.is_some();
        if !has_limits && self.latest.is_none() {
            return true;
        }
        let Some(at) = segment.at(doc) else { return !has_limits };
        self.latest.is_none_or(|latest| at <= latest)
            && self.after.is_none_or(|after| at >= after)
            && self.before.is_none_or(|before| at < before)
    }
}

/// The search kind an entry belongs to.
pub(crate) fn hit_kind(kind: EntryKind) -> HitKind {
    match kind {
        EntryKind::Prompt | EntryKind::Answer | EntryKind::Task => HitKind::Prompt,
        EntryKind::AssistantText => HitKind::Answer,
        EntryKind::Call | EntryKind::Shell => HitKind::Tool,
        EntryKind::Failure => HitKind::Error,
        EntryKind::Summary | EntryKind::Recap => HitKind::Summary,
        EntryKind::Reasoning => HitKind::Reasoning,
        EntryKind::Command | EntryKind::Note | EntryKind::Notice | EntryKind::Interruption | EntryKind::Injected => {
            HitKind::Note
        }
    }
}

fn session_flags(sessions: &[SessionNumber]) -> Vec<bool> {
    let length = sessions.iter().map(|session| session.get() as usize).max().map_or(0, |length| length + 1);
    let mut flags = vec![false; length];
    for session in sessions {
        flags[session.get() as usize] = true;
    }
    flags
}

/// Documents that contain a phrase. A phrase made only of stop words is not indexed and excludes nothing.
fn docs_with_phrase(segment: &IndexSegment, text: &str) -> Result<Vec<DocId>, IndexError> {
    let words = words::split(text);
    let mut docs = segment.with_phrase(&words)?;
    docs.sort_unstable();
    Ok(docs)
}

/// Documents that match any of the values; `None` without values.
fn docs_matching_any(
    values: &[String],
    find: impl Fn(&str) -> Result<Vec<DocId>, IndexError>,
) -> Result<Option<Vec<DocId>>, IndexError> {
    if values.is_empty() {
        return Ok(None);
    }
    let mut docs = Vec::new();
    for value in values {
        docs.extend(find(value)?);
    }
    docs.sort_unstable();
    docs.dedup();
    Ok(Some(docs))
}

/// Episodes with a call that touched one of the files and a call that used one of the tools.
fn matching_episodes(snapshot: &IndexSnapshot, query: &SearchQuery) -> Result<Option<HashSet<EpisodeKey>>, IndexError> {
    let (mut by_file, mut by_tool): (Option<HashSet<EpisodeKey>>, Option<HashSet<EpisodeKey>>) = (None, None);
    for segment in snapshot.segments() {
        let [files, tools] = matching_calls(segment, query)?;
        for (docs, found) in [(files, &mut by_file), (tools, &mut by_tool)] {
            if let Some(docs) = docs {
                found.get_or_insert_default().extend(docs.into_iter().map(|doc| segment.episode(doc)));
            }
        }
    }
    Ok(match (by_file, by_tool) {
        (Some(files), Some(tools)) => Some(files.intersection(&tools).copied().collect()),
        (one, other) => one.or(other),
    })
}

/// Calls that touched one of the files, and calls of one of the tools; `None` where the query names none.
fn matching_calls(segment: &IndexSegment, query: &SearchQuery) -> Result<[Option<Vec<DocId>>; 2], IndexError> {
    Ok([
        docs_matching_any(&query.files, |file| segment.with_path(file))?,
        docs_matching_any(&query.tools, |tool| segment.with_tool(&tool.to_lowercase()))?,
    ])
}
