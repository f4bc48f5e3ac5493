//! Exchanges of all sessions in the order they happened.

use std::collections::BTreeSet;

use rethread_model::{Episode, Session, Timestamp, ToolKind};
use rethread_recall::SearchError;
use rethread_store::{EpisodeKey, EpisodeWindow, Scope, Store};

use crate::search::{answer_of, prompt_of};
use crate::{Engine, EngineError, Indexed};

/// Which exchanges.
#[derive(Clone, Debug, Default)]
pub struct TimelineRequest {
    /// Where.
    pub scope: Scope,
    /// Only in the session this reference means.
    pub session: Option<String>,
    /// Those before and after this one: a citation (`SESSION:LINE`) or the id of an episode.
    pub around: Option<String>,
    /// Only those that touched this file.
    pub file: Option<String>,
    /// Not before.
    pub since: Option<String>,
    /// Not after.
    pub until: Option<String>,
    /// At most this many.
    pub limit: usize,
    /// Write nothing: the index stays as it is, and what it lacks is read from the store.
    pub only_reads: bool,
}

/// One exchange on the line.
#[derive(Clone, Debug)]
pub struct Happened {
    /// The session.
    pub session: Session,
    /// The exchange.
    pub episode: Episode,
    /// What the human asked.
    pub prompt: Option<String>,
    /// What the agent said last.
    pub answer: Option<String>,
    /// Files that were written or edited.
    pub edited: Vec<String>,
    /// Whether it is the one that was asked about.
    pub is_anchor: bool,
}

/// Exchanges, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Oldest first.
    pub episodes: Vec<Happened>,
    /// What had to be done to the index first.
    pub index: Indexed,
}

impl Engine {
    /// Exchanges in the order they happened: the last ones, or those around one.
    pub fn timeline(&self, request: &TimelineRequest) -> Result<Timeline, EngineError> {
        let Some(store) = self.reader()? else {
            return match &request.around {
                Some(id) => Err(EngineError::UnknownReference(id.clone())),
                None => Ok(Timeline::default()),
            };
        };
        let anchor = request.around.as_deref().map(|id| self.anchor(&store, id)).transpose()?;
        let mut index = Indexed::Nothing;
        let among = match &request.file {
            None => None,
            Some(file) if request.only_reads => {
                Some(self.with_snapshot_as_it_is(&store, |snapshot| touching(snapshot, file))?)
            }
            Some(file) => {
                let (keys, done) = self.with_snapshot(&store, |snapshot| touching(snapshot, file))?;
                index = done;
                Some(keys)
            }
        };
        let session = match &request.session {
            Some(reference) => store.session_number(self.resolve_in(&store, reference)?.session.id)?,
            None => None,
        };
        let window = EpisodeWindow {
            scope: request.scope.clone(),
            session,
            from: request.since.as_deref().map(|text| self.moment(text, false)).transpose()?,
            to: request.until.as_deref().map(|text| self.moment(text, true)).transpose()?,
            anchor: anchor.map(|(_, at)| at),
            among,
            limit: request.limit,
        };
        let keys = store.episodes_in(&window)?;
        let mut episodes = Vec::with_capacity(keys.len());
        for key in keys {
            episodes.extend(happened(&store, key, anchor.map(|(key, _)| key))?);
        }
        Ok(Timeline { episodes, index })
    }

    /// The episode that a citation or an id means, and when it was.
    fn anchor(&self, store: &Store, id: &str) -> Result<(EpisodeKey, Timestamp), EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_owned());
        let key = if let Some(key) = store.episode_by_id(id)? {
            key
        } else {
            let (listed, line) = self.resolve_citation(store, id)?;
            let number = store.session_number(listed.session.id)?.ok_or_else(unknown)?;
            let episodes = store.episodes(listed.session.id)?;
            let found = match line {
                Some(line) => episodes.iter().find(|one| one.lines.0 <= line && line <= one.lines.1),
                None => episodes.last(),
            };
            let found = found.or(episodes.first()).ok_or_else(unknown)?;
            EpisodeKey { session: number, number: found.number }
        };
        let episode = store.episode_at(key)?.ok_or_else(unknown)?;
        Ok((key, episode.started_at.unwrap_or_default()))
    }
}

fn touching(snapshot: &rethread_index::Snapshot, file: &str) -> Result<Vec<EpisodeKey>, SearchError> {
    let mut keys = BTreeSet::new();
    for segment in snapshot.segments() {
        keys.extend(segment.with_path(file)?.into_iter().map(|doc| segment.episode(doc)));
    }
    Ok(keys.into_iter().collect())
}

fn happened(store: &Store, key: EpisodeKey, anchor: Option<EpisodeKey>) -> Result<Option<Happened>, EngineError> {
    let (Some(session), Some(episode)) = (store.session_by_number(key.session)?, store.episode_at(key)?) else {
        return Ok(None);
    };
    let entries = store.entries_of(key)?;
    let calls = entries.iter().filter_map(|entry| entry.tool.as_ref());
    let edits = calls.filter(|tool| matches!(tool.kind, Some(ToolKind::Write | ToolKind::Edit)));
    let mut edited: Vec<String> = edits.flat_map(|tool| tool.paths.iter().cloned()).collect();
    edited.sort();
    edited.dedup();
    Ok(Some(Happened {
        prompt: prompt_of(&entries).map(str::to_owned),
        answer: answer_of(&entries).map(str::to_owned),
        edited,
        is_anchor: anchor == Some(key),
        session,
        episode,
    }))
}
