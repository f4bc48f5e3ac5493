//! Reads new transcript lines of the other sessions in a project and collects what they did since the reader looked.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_model::{Agent, Session, Timestamp};
use rethread_recall::OtherSession;
use rethread_store::{SessionKey, SessionNumber, Store, WatermarkMove};

use crate::{Engine, EngineError};

/// Sessions without activity for longer than this are ignored.
pub(super) const ACTIVE_WINDOW_MILLIS: i64 = 24 * 3_600_000;
/// Without a watermark, only this much of the past counts as new.
const FIRST_LOOK_MILLIS: i64 = 3_600_000;
/// A session that ended this recently is taken to be the one that the new session replaced with `/clear`.
const CLEAR_WINDOW_MILLIS: i64 = 5_000;
/// Sessions whose alias has this prefix are temporary and never reported.
const EPHEMERAL_ALIAS_PREFIX: &str = "new-";

/// What the other sessions did since the reader last looked.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherSessions {
    /// Sessions with something to report, parallel to `watermarks`.
    pub(super) sessions: Vec<OtherSession>,
    /// For each of `sessions`, the watermark to set once its activity was injected.
    pub(super) watermarks: Vec<WatermarkMove>,
    /// Watermarks of sessions that have new entries, but nothing worth reporting.
    pub(super) quiet_watermarks: Vec<WatermarkMove>,
}

impl Engine {
    /// Reads new transcript lines of the active sessions of a project. One unreadable transcript does not affect the
    /// others.
    pub(super) fn catch_up(&self, store: &mut Store, project: &str, now: Timestamp) -> Result<(), EngineError> {
        let since = Timestamp::from_millis(now.as_millis() - ACTIVE_WINDOW_MILLIS);
        let grown = store.in_read_transaction(|store| -> Result<_, EngineError> {
            let mut grown: HashMap<Agent, Vec<PathBuf>> = HashMap::new();
            for (_, session) in store.active_sessions(project, since)? {
                let Some(path) = session.transcript.as_deref() else { continue };
                let known = store.transcript(path)?.map(|row| row.fingerprint.size);
                let about = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
                let size = about.map(|about| about.len());
                if size.is_some() && size != known {
                    grown.entry(session.agent).or_default().push(PathBuf::from(path));
                }
            }
            Ok(grown)
        })?;
        for (agent, paths) in grown {
            self.sync_files_with(store, agent, &paths)?;
        }
        Ok(())
    }

    /// Marks the session that was just cleared as seen, because its successor does not need to hear about it.
    pub(super) fn skip_cleared_session(
        store: &mut Store,
        reader: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let found = Self::other_sessions(store, reader, project, now)?;
        let mut cleared = Vec::new();
        for mark in found.watermarks {
            let Some(session) = store.session_by_number(mark.session)? else { continue };
            let key = SessionKey { agent: session.agent, external_id: &session.external_id };
            let closed = store.lifecycle(key)?.and_then(|life| life.closed);
            let is_fresh = closed.is_some_and(|(_, at)| now.millis_since(at) <= CLEAR_WINDOW_MILLIS);
            cleared.extend((is_fresh && session.agent == reader.agent).then_some(mark));
        }
        let mut batch = store.begin()?;
        for mark in cleared {
            batch.move_watermark(reader, mark)?;
        }
        Ok(batch.commit()?)
    }

    /// The session of the same agent and project that was just cleared, by the agent's id.
    pub(super) fn cleared_session(
        store: &Store,
        successor: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<Option<String>, EngineError> {
        let since = Timestamp::from_millis(now.as_millis() - CLEAR_WINDOW_MILLIS);
        for external_id in store.sessions_closed_since(successor.agent, since)? {
            let key = SessionKey { external_id: &external_id, ..successor };
            let is_cleared = store.lifecycle_events(key, 1)?.last().is_some_and(|event| event.detail == "clear");
            let found = store.session_by_external_id(key)?.and_then(|(_, session)| session.project);
            if is_cleared && found.as_deref() == Some(project) {
                return Ok(Some(external_id));
            }
        }
        Ok(None)
    }

    /// What the other sessions of a project did since the reader last looked.
    pub(super) fn other_sessions(
        store: &Store,
        reader: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<OtherSessions, EngineError> {
        let ago = |millis: i64| Timestamp::from_millis(now.as_millis() - millis);
        let seen: HashMap<SessionNumber, u64> = store.watermarks(reader)?.into_iter().collect();
        let mut found = OtherSessions::default();
        for (number, session) in store.active_sessions(project, ago(ACTIVE_WINDOW_MILLIS))? {
            if !is_other_session(&session, reader) {
                continue;
            }
            let actions = match seen.get(&number) {
                Some(seq) => store.entries_since(number, Some(*seq), Timestamp::from_millis(0))?,
                None => store.entries_since(number, None, ago(FIRST_LOOK_MILLIS))?,
            };
            let Some(last) = actions.last_seq else { continue };
            // A rewritten transcript has fewer entries than the watermark: treat the session as never seen.
            let actions = match seen.get(&number) {
                Some(seq) if *seq > last => store.entries_since(number, None, ago(FIRST_LOOK_MILLIS))?,
                _ => actions,
            };
            let mark = WatermarkMove { session: number, from_seq: seen.get(&number).copied(), to_seq: last };
            if actions.entries.is_empty() {
                found.quiet_watermarks.extend((mark.from_seq != Some(last)).then_some(mark));
            } else {
                found.watermarks.push(mark);
                found.sessions.push(OtherSession {
                    name: display_name(&session),
                    branch: session.branch,
                    project: session.project,
                    messages: actions.message_count,
                    entries: actions.entries,
                });
            }
        }
        Ok(found)
    }
}

pub(super) fn is_other_session(session: &Session, reader: SessionKey<'_>) -> bool {
    let is_self = session.agent == reader.agent && session.external_id == reader.external_id;
    let is_ephemeral = session.alias.as_deref().is_some_and(|alias| alias.starts_with(EPHEMERAL_ALIAS_PREFIX));
    !is_self && !is_ephemeral && session.agent != Agent::Native
}

pub(super) fn display_name(session: &Session) -> String {
    let named = session.alias.clone().or_else(|| session.name.clone());
    named.unwrap_or_else(|| session.external_id.chars().take(8).collect())
}
