//! What agents themselves say about their running sessions: busy, idle or waiting, and the name that users see.

use std::collections::HashMap;

use rethread_ingest::source::{self, LiveSession, LiveStatus};
use rethread_model::{Agent, Session, SessionState};
use rethread_store::{ReadStore, SessionKey, SessionNumber, StoreError};

use super::LifecycleService;

/// The sessions that agents list as running.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions(HashMap<(Agent, String), LiveSession>);

impl LifecycleService<'_> {
    /// Reads the agents' lists of running sessions.
    pub(crate) fn live_sessions(self) -> LiveSessions {
        let listed = source::live_sessions(&self.engine.source_config()).into_iter();
        let running = listed.filter(|(_, session)| session.is_running);
        LiveSessions(running.map(|(agent, session)| ((agent, session.external_id.clone()), session)).collect())
    }
}

impl LiveSessions {
    /// What a session does now, if its agent says so.
    pub(crate) fn of(&self, key: SessionKey<'_>) -> Option<&LiveSession> {
        // Most of the time no agent keeps a list.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(key.agent, key.external_id.to_owned()))
    }

    /// The known ones by their number.
    pub(crate) fn numbers(&self, store: &ReadStore) -> Result<HashMap<SessionNumber, SessionKey<'_>>, StoreError> {
        let mut numbers = HashMap::new();
        for (agent, external_id) in self.0.keys() {
            let key = SessionKey { agent: *agent, external_id };
            numbers.extend(store.session_by_external_id(key)?.map(|(number, _)| (number, key)));
        }
        Ok(numbers)
    }

    /// Corrects a state that follows from events and silence: a session whose process exists has not ended, and one
    /// that works or waits for its user is active. What the user suspended stays suspended.
    pub(crate) fn state(&self, key: SessionKey<'_>, state: SessionState) -> SessionState {
        let Some(live) = self.of(key) else { return state };
        match (live.status, state) {
            (Some(LiveStatus::Busy | LiveStatus::Waiting), SessionState::Idle | SessionState::Ended) => {
                SessionState::Active
            }
            (_, SessionState::Ended) => SessionState::Idle,
            _ => state,
        }
    }

    /// Gives a session the name that its agent shows: always if the user chose it, otherwise if it has none.
    pub(crate) fn rename(&self, session: &mut Session) {
        let Some(live) = self.of(SessionKey::of(session)) else { return };
        if live.name.is_some() && (live.is_named_by_user || session.name.is_none()) {
            session.name.clone_from(&live.name);
        }
    }
}
