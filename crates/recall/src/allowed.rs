//! What a query's filters let through.

use std::collections::HashSet;

use rethread_index::{Doc, IndexError, Segment, Snapshot, words};
use rethread_model::{Speech, Timestamp};
use rethread_store::{EpisodeKey, SessionNumber};

use crate::{Kind, Query};

/// What quotes mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phrases {
    /// Only entries that have them.
    Required,
    /// Entries that have them come first.
    Preferred,
}

/// The entries a query may find.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// One flag per session number; nothing if every session will do.
    sessions: Option<Vec<bool>>,
    /// Episodes that touched the file or used the tool.
    episodes: Option<HashSet<EpisodeKey>>,
    /// By segment, documents that must be among them, sorted.
    required: Vec<Vec<Vec<Doc>>>,
    /// By segment, documents that must not.
    excluded: Vec<HashSet<Doc>>,
    kinds: Vec<Kind>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Allowed {
    /// Evaluates the filters. `sessions` are the only ones wanted, if given.
    pub(crate) fn find(
        snapshot: &Snapshot,
        query: &Query,
        sessions: Option<&[SessionNumber]>,
        has_words: bool,
        phrases: Phrases,
    ) -> Result<Self, IndexError> {
        let mut allowed = Self {
            sessions: sessions.map(flags),
            kinds: query.kinds.clone(),
            after: query.after,
            before: query.before,
            ..Self::default()
        };
        for segment in snapshot.segments() {
            let mut required = Vec::new();
            if phrases == Phrases::Required {
                for phrase in query.phrases.iter().filter(|phrase| !words::split(phrase).is_empty()) {
                    required.push(with_text(segment, phrase)?);
                }
            }
            let mut excluded = HashSet::new();
            for text in &query.excluded {
                excluded.extend(with_text(segment, text)?);
            }
            if !has_words {
                // Without words the calls themselves are what is looked for.
                required.extend(touching(segment, query)?.into_iter().flatten());
            }
            allowed.required.push(required);
            allowed.excluded.push(excluded);
        }
        if has_words {
            allowed.episodes = episodes_touching(snapshot, query)?;
        }
        Ok(allowed)
    }

    /// Whether there is no filter at all.
    pub(crate) fn lets_everything_through(&self) -> bool {
        self.sessions.is_none()
            && self.episodes.is_none()
            && self.kinds.is_empty()
            && self.after.is_none()
            && self.before.is_none()
            && self.required.iter().all(Vec::is_empty)
            && self.excluded.iter().all(HashSet::is_empty)
    }

    /// Whether this document may be found.
    pub(crate) fn lets_through(&self, segment: &Segment, at: usize, doc: Doc) -> bool {
        if self.excluded.get(at).is_some_and(|excluded| excluded.contains(&doc)) {
            return false;
        }
        let required = self.required.get(at).map_or(&[][..], Vec::as_slice);
        if !required.iter().all(|docs| docs.binary_search(&doc).is_ok()) || !segment.is_alive(doc) {
            return false;
        }
        let episode = segment.episode(doc);
        self.lets_session(episode.session.get())
            && self.episodes.as_ref().is_none_or(|episodes| episodes.contains(&episode))
            && (self.kinds.is_empty() || self.is_wanted_kind(segment, doc))
            && self.is_in_time(segment, doc)
    }

    /// Whether anything of this session may be found.
    pub(crate) fn lets_session(&self, session: u64) -> bool {
        let wanted = |flags: &Vec<bool>| flags.get(session as usize).copied().unwrap_or(false);
        self.sessions.as_ref().is_none_or(wanted)
    }

    fn is_wanted_kind(&self, segment: &Segment, doc: Doc) -> bool {
        let traits = segment.traits(doc);
        let kind = kind_of(traits.speech());
        // A failed call is both a call and an error.
        self.kinds.contains(&kind) || (traits.failed() && self.kinds.contains(&Kind::Error))
    }

    fn is_in_time(&self, segment: &Segment, doc: Doc) -> bool {
        if self.after.is_none() && self.before.is_none() {
            return true;
        }
        let Some(at) = segment.at(doc) else { return false };
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at < before)
    }
}

/// What an entry is to someone who searches.
pub(crate) fn kind_of(speech: Speech) -> Kind {
    match speech {
        Speech::Prompt | Speech::Answer | Speech::Task => Kind::Prompt,
        Speech::Said => Kind::Answer,
        Speech::Call | Speech::Shell => Kind::Tool,
        Speech::Failure => Kind::Error,
        Speech::Summary | Speech::Recap => Kind::Summary,
        Speech::Reasoning => Kind::Reasoning,
        Speech::Command | Speech::Note | Speech::Notice | Speech::Interruption | Speech::Injected => Kind::Note,
    }
}

fn flags(sessions: &[SessionNumber]) -> Vec<bool> {
    let most = sessions.iter().map(|session| session.get() as usize).max().map_or(0, |most| most + 1);
    let mut flags = vec![false; most];
    for session in sessions {
        flags[session.get() as usize] = true;
    }
    flags
}

/// Documents with a phrase. A phrase of nothing but common words is not in the index and holds nobody back.
fn with_text(segment: &Segment, text: &str) -> Result<Vec<Doc>, IndexError> {
    let words = words::split(text);
    let mut docs = segment.with_phrase(&words)?;
    docs.sort_unstable();
    Ok(docs)
}

/// Documents that fit any of the values; nothing if there are no values.
fn union(
    values: &[String],
    find: impl Fn(&str) -> Result<Vec<Doc>, IndexError>,
) -> Result<Option<Vec<Doc>>, IndexError> {
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

/// Episodes in which a call touched one of the files and a call used one of the tools.
fn episodes_touching(snapshot: &Snapshot, query: &Query) -> Result<Option<HashSet<EpisodeKey>>, IndexError> {
    let (mut by_file, mut by_tool): (Option<HashSet<EpisodeKey>>, Option<HashSet<EpisodeKey>>) = (None, None);
    for segment in snapshot.segments() {
        let [files, tools] = touching(segment, query)?;
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

/// Calls that touched one of the files, and calls of one of the tools; nothing where none is named.
fn touching(segment: &Segment, query: &Query) -> Result<[Option<Vec<Doc>>; 2], IndexError> {
    Ok([
        union(&query.files, |file| segment.with_path(file))?,
        union(&query.tools, |tool| segment.with_tool(&tool.to_lowercase()))?,
    ])
}
