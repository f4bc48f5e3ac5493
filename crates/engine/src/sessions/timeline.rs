//! Episodes of all sessions in chronological order.

use std::collections::BTreeSet;

use rethread_model::{Episode, Session, Timestamp, ToolKind};
use rethread_recall::SearchError;
use rethread_store::{EpisodeKey, EpisodeWindow, ReadStore, SessionScope};

use super::number_of;
use super::show::ensure_line_exists;
use crate::search::{answer_of, prompt_of};
use crate::{EngineError, IndexOutcome, SessionService};

/// Which episodes to list.
#[derive(Clone, Debug, Default)]
pub struct TimelineRequest {
    /// Only sessions of this project, or of all projects.
    pub scope: SessionScope,
    /// Only the session with this reference.
    pub session: Option<String>,
    /// Episodes before and after this one: a citation (`SESSION:LINE`) or an episode id.
    pub around: Option<String>,
    /// Only episodes that touched this file.
    pub file: Option<String>,
    /// Start time: a date, a span such as `7d`, or words such as `last week`.
    pub since: Option<String>,
    /// End time, in the same formats.
    pub until: Option<String>,
    /// Maximum number of episodes.
    pub limit: usize,
    /// Write nothing: the index is not updated, and entries missing from it are read from the store.
    pub read_only: bool,
}

/// One episode of the timeline.
#[derive(Clone, Debug)]
pub struct TimelineEpisode {
    /// The session it belongs to.
    pub session: Session,
    /// Number, times and lines.
    pub episode: Episode,
    /// The prompt.
    pub prompt: Option<String>,
    /// The agent's last message.
    pub answer: Option<String>,
    /// Files written or edited in it, sorted.
    pub edited: Vec<String>,
    /// Whether it is the one given as `around`.
    pub is_anchor: bool,
}

/// Episodes in chronological order.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Oldest first.
    pub episodes: Vec<TimelineEpisode>,
    /// What was done to the index first.
    pub index: IndexOutcome,
}

impl SessionService<'_> {
    /// Lists episodes in chronological order: the last ones, or those around one.
    pub fn timeline(self, request: &TimelineRequest) -> Result<Timeline, EngineError> {
        let Some(store) = self.engine.reader()? else {
            return match &request.around {
                Some(id) => Err(EngineError::UnknownReference(id.clone())),
                None => Ok(Timeline::default()),
            };
        };
        let anchor = request.around.as_deref().map(|id| self.find_anchor(&store, id)).transpose()?;
        let mut index = IndexOutcome::UpToDate;
        let among = match &request.file {
            None => None,
            Some(file) if request.read_only => Some(
                self.engine.index().with_snapshot_read_only(&store, |snapshot| episodes_touching(snapshot, file))?,
            ),
            Some(file) => {
                let (keys, done) =
                    self.engine.index().with_snapshot(&store, |snapshot| episodes_touching(snapshot, file))?;
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
            from: request.since.as_deref().map(|text| self.engine.parse_time(text, false)).transpose()?,
            to: request.until.as_deref().map(|text| self.engine.parse_time(text, true)).transpose()?,
            anchor: anchor.map(|(_, at)| at),
            among,
            limit: request.limit,
        };
        let keys = store.episodes_in(&window)?;
        let mut episodes = Vec::with_capacity(keys.len());
        for key in keys {
            episodes.extend(timeline_episode(&store, key, anchor.map(|(key, _)| key))?);
        }
        Ok(Timeline { episodes, index })
    }

    /// The episode that a citation or an episode id identifies, and its start time.
    fn find_anchor(self, store: &ReadStore, id: &str) -> Result<(EpisodeKey, Timestamp), EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_owned());
        let key = if let Some(key) = store.episode_by_id(id)? {
            key
        } else {
            let (listed, line) = self.resolve_citation(store, id)?;
            let number = number_of(store, listed.session.id)?;
            if let Some(line) = line {
                ensure_line_exists(store, &listed, line)?;
            }
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

fn episodes_touching(snapshot: &rethread_index::IndexSnapshot, file: &str) -> Result<Vec<EpisodeKey>, SearchError> {
    let mut keys = BTreeSet::new();
    for segment in snapshot.segments() {
        keys.extend(segment.with_path(file)?.into_iter().map(|doc| segment.episode(doc)));
    }
    Ok(keys.into_iter().collect())
}

fn timeline_episode(
    store: &ReadStore,
    key: EpisodeKey,
    anchor: Option<EpisodeKey>,
) -> Result<Option<TimelineEpisode>, EngineError> {
    let (Some(session), Some(episode)) = (store.session_by_number(key.session)?, store.episode_at(key)?) else {
        return Ok(None);
    };
    let entries = store.episode_entries(key)?;
    let calls = entries.iter().filter_map(|entry| entry.tool.as_ref());
    let edits = calls.filter(|tool| matches!(tool.kind, Some(ToolKind::Write | ToolKind::Edit)));
    let mut edited: Vec<String> = edits.flat_map(|tool| tool.paths.iter().cloned()).collect();
    edited.sort();
    edited.dedup();
    Ok(Some(TimelineEpisode {
        prompt: prompt_of(&entries).map(str::to_owned),
        answer: answer_of(&entries).map(str::to_owned),
        edited,
        is_anchor: anchor == Some(key),
        session,
        episode,
    }))
}
