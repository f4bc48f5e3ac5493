//! Collects what the other sessions of a project did since a reader last looked. A sub-agent counts as its session.

use std::collections::HashMap;

use rethread_ingest::source::LiveStatus;
use rethread_model::{Agent, Entry, EntryKind, Session, Timestamp, short_id};
use rethread_recall::OtherSession;
use rethread_store::{ActiveSession, ReadStore, SessionKey, SessionNumber, Store, Watermark, WatermarkMove};

use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::lifecycle::{LifecycleRules, LiveSessions};

/// Sessions without activity for longer than this are ignored.
pub(super) const ACTIVE_WINDOW_MILLIS: i64 = 24 * 3_600_000;
/// Without a watermark, only this much of the past counts as new.
pub(super) const FIRST_LOOK_MILLIS: i64 = 3_600_000;
/// A session that ended this recently is taken to be the one that the new session replaced with `/clear`.
const CLEAR_WINDOW_MILLIS: i64 = 5_000;
/// Number of events among which a prompt is looked for.
const MAX_EVENTS_SCANNED: u64 = 50;
/// Sessions whose alias has this prefix are temporary and never reported.
const EPHEMERAL_ALIAS_PREFIX: &str = "new-";

/// What the other sessions did since the reader last looked.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherSessions {
    /// Sessions with something to report, parallel to `numbers` and `watermarks`.
    pub(super) sessions: Vec<OtherSession>,
    pub(super) numbers: Vec<SessionNumber>,
    /// For each of `sessions`, the watermarks to set once its activity was injected: its own and its sub-agents'.
    pub(super) watermarks: Vec<Vec<WatermarkMove>>,
    /// Watermarks of sessions that have new entries, but nothing worth reporting.
    pub(super) quiet_watermarks: Vec<WatermarkMove>,
    /// Whether the reader never looked before.
    pub(super) is_first_look: bool,
}

impl AwarenessService<'_> {
    /// Marks the session that was just cleared as seen, because its successor does not need to hear about it.
    pub(super) fn skip_cleared_session(
        self,
        store: &mut Store,
        reader: SessionKey<'_>,
        cleared: &str,
        (project, now): (&str, Timestamp),
    ) -> Result<(), EngineError> {
        let found = self.other_sessions(store, reader, project, now)?;
        let key = SessionKey { external_id: cleared, ..reader };
        let number = store.session_by_external_id(key)?.map(|(number, _)| number);
        let mut batch = store.begin()?;
        for (other, marks) in found.numbers.into_iter().zip(found.watermarks) {
            if Some(other) == number {
                for mark in marks {
                    batch.move_watermark(reader, mark)?;
                }
            }
        }
        Ok(batch.commit()?)
    }

    /// The session of the same agent and project that was just cleared, by the agent's id.
    pub(super) fn cleared_session(
        store: &ReadStore,
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
        self,
        store: &ReadStore,
        reader: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<OtherSessions, EngineError> {
        let seen: HashMap<SessionNumber, Watermark> = store.watermarks(reader)?.into_iter().collect();
        let (lifecycle, live) = (self.engine.lifecycle().rules(), self.engine.lifecycle().live_sessions());
        let is_first_look = is_first_look(store, reader, !seen.is_empty())?;
        let mut found = OtherSessions { is_first_look, ..OtherSessions::default() };
        for active in store.active_sessions(project, before(now, ACTIVE_WINDOW_MILLIS))? {
            if !is_other_session(&active.session, reader) {
                continue;
            }
            let new = NewEntries::load(store, &active, &seen, now)?;
            if new.entries.is_empty() {
                found.quiet_watermarks.extend(new.watermarks);
            } else if new.entries.iter().any(is_action_or_answer) {
                found.numbers.push(active.parts[0].number);
                found.watermarks.push(new.watermarks);
                let session = describe_session(store, (lifecycle, &live), &active, new.entries, now)?;
                found.sessions.push(OtherSession { messages: new.messages, ..session });
            }
            // A prompt without a reaction is reported together with what follows it.
        }
        Ok(found)
    }
}

/// Whether the reader never looked before. A watermark alone proves nothing: a session that follows a cleared one begins
/// with one.
fn is_first_look(store: &ReadStore, reader: SessionKey<'_>, has_watermarks: bool) -> Result<bool, EngineError> {
    let events = store.lifecycle_events(reader, MAX_EVENTS_SCANNED)?;
    let had = |kind: &str| events.iter().any(|event| event.kind == kind);
    Ok(!had("prompt_submitted") && (!has_watermarks || had("session_start")))
}

/// The entries of a session and its sub-agents that are new to a reader.
#[derive(Default)]
struct NewEntries {
    entries: Vec<Entry>,
    messages: u64,
    /// The moves that mark them as seen.
    watermarks: Vec<WatermarkMove>,
}

impl NewEntries {
    fn load(
        store: &ReadStore,
        active: &ActiveSession,
        seen: &HashMap<SessionNumber, Watermark>,
        now: Timestamp,
    ) -> Result<Self, EngineError> {
        let first_look = before(now, FIRST_LOOK_MILLIS);
        let mut new = NewEntries::default();
        for (at, part) in active.parts.iter().enumerate() {
            let from = seen.get(&part.number).copied();
            let is_subagent = at > 0;
            if is_subagent && from.is_none() && part.last_activity_at < Some(first_look) {
                continue;
            }
            // Of a replaced transcript, nothing was seen.
            let seen = from.filter(|from| from.generation == part.generation);
            let since = if seen.is_some() { Timestamp::from_millis(0) } else { first_look };
            let mut found = store.entries_since(part.number, seen.map(|seen| seen.seq), since)?;
            let Some(seq) = found.last_seq else { continue };
            // Fewer entries than were seen: treat the session as never seen.
            if seen.is_some_and(|seen| seen.seq > seq) {
                found = store.entries_since(part.number, None, first_look)?;
            }
            let to = Watermark { generation: part.generation, seq };
            if from == Some(to) {
                continue;
            }
            // A sub-agent's prompts and answers are between it and its session.
            found.entries.retain(|entry| !is_subagent || entry.tool.is_some());
            new.entries.append(&mut found.entries);
            new.messages += found.message_count;
            new.watermarks.push(WatermarkMove { session: part.number, from, to });
        }
        if new.watermarks.len() > 1 {
            new.entries.sort_by_key(|entry| entry.at);
        }
        Ok(new)
    }
}

/// A session with some of its entries, for a report.
pub(super) fn describe_session(
    store: &ReadStore,
    (lifecycle, live): (LifecycleRules, &LiveSessions),
    active: &ActiveSession,
    entries: Vec<Entry>,
    now: Timestamp,
) -> Result<OtherSession, EngineError> {
    let mut session = active.session.clone();
    live.rename(&mut session);
    let key = SessionKey::of(&session);
    let last_activity = active.parts.iter().filter_map(|part| part.last_activity_at).max();
    let is_message = |entry: &&Entry| matches!(entry.kind, EntryKind::Prompt | EntryKind::AssistantText);
    Ok(OtherSession {
        name: display_name(&session),
        id: short_id(&session.id.to_string()).to_owned(),
        agent: session.agent,
        state: live.state(key, lifecycle.state(store.lifecycle(key)?.as_ref(), last_activity, now)),
        is_waiting: live.of(key).is_some_and(|live| live.status == Some(LiveStatus::Waiting)),
        branch: session.branch.clone(),
        project: session.project.clone(),
        messages: entries.iter().filter(is_message).count() as u64,
        entries,
    })
}

pub(super) fn before(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(now.as_millis() - millis)
}

pub(super) fn is_action_or_answer(entry: &Entry) -> bool {
    entry.tool.is_some() || (entry.kind == EntryKind::AssistantText && !entry.text.trim().is_empty())
}

pub(super) fn is_session(session: &Session, key: SessionKey<'_>) -> bool {
    session.agent == key.agent && session.external_id == key.external_id
}

pub(super) fn is_other_session(session: &Session, reader: SessionKey<'_>) -> bool {
    let is_ephemeral = session.alias.as_deref().is_some_and(|alias| alias.starts_with(EPHEMERAL_ALIAS_PREFIX));
    // A thread without prompts holds the notes of agents.
    let is_notes = session.agent == Agent::Native && session.counts.prompts == 0;
    !is_session(session, reader) && !is_ephemeral && !is_notes
}

pub(super) fn display_name(session: &Session) -> String {
    let named = session.alias.clone().or_else(|| session.name.clone());
    named.unwrap_or_else(|| short_id(&session.external_id).to_owned())
}
