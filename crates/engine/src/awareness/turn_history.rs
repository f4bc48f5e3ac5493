//! What the other sessions of a project did since a session's last turn began, turn by turn.

use rethread_model::{Entry, EntryKind, Timestamp};
use rethread_recall::{OtherSession, turn_list};
use rethread_store::{ActiveSession, ReadStore, SessionKey};

use super::other_sessions::{FIRST_LOOK_MILLIS, before, describe_session, is_action_or_answer, is_other_session};
use crate::EngineError;
use crate::awareness::AwarenessService;

impl AwarenessService<'_> {
    /// The turns of other sessions since the session's last turn began, newest first; those of the last hour if it had
    /// none. `None` if there are none. Reads only what is stored and moves no watermark, so every session gets the same
    /// answer until the next turn.
    pub fn turn_history(self, reference: &str) -> Result<Option<String>, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let session = self.engine.sessions().resolve_in(&store, reference)?.session;
        let now = self.engine.now();
        let last_turn = store.episodes(session.id)?.last().and_then(|episode| episode.started_at);
        let since = last_turn.unwrap_or_else(|| before(now, FIRST_LOOK_MILLIS));
        let Some(project) = &session.project else { return Ok(None) };
        let reader = SessionKey::of(&session);
        let mut turns = Vec::new();
        for active in store.active_sessions(project, since)? {
            if is_other_session(&active.session, reader) {
                turns.extend(self.turns_since(&store, &active, since, now)?);
            }
        }
        Ok(turn_list(&turns, session.branch.as_deref(), now))
    }

    /// The turns of a session and its sub-agents that had a result.
    fn turns_since(
        self,
        store: &ReadStore,
        active: &ActiveSession,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<OtherSession>, EngineError> {
        let (lifecycle, live) = (self.engine.lifecycle().rules(), self.engine.lifecycle().live_sessions());
        let mut turns: Vec<Vec<Entry>> = Vec::new();
        for entry in store.recent_entries(active, since)? {
            match turns.last_mut() {
                Some(turn) if entry.kind != EntryKind::Prompt => turn.push(entry),
                _ => turns.push(vec![entry]),
            }
        }
        turns.retain(|turn| turn.iter().any(is_action_or_answer));
        turns.into_iter().map(|turn| describe_session(store, (lifecycle, &live), active, turn, now)).collect()
    }
}
