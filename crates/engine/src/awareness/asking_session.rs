//! The session that calls one of our tools, as its agent identifies it.

use std::path::PathBuf;

use rethread_model::{Agent, Session};
use rethread_recall::ActivityBlock;
use rethread_store::{ReadStore, SessionKey};

use super::AwarenessService;
use super::caller::Caller;
use crate::EngineError;
use crate::lifecycle::LifecycleRules;

/// Events among which the last prompt is looked for.
const MAX_EVENTS_SCANNED: u64 = 50;

/// The session that asks. Its transcript need not have been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskingSession {
    /// The agent that runs it.
    pub agent: Agent,
    /// The agent's id of the session; of a sub-agent, that of the session that started it.
    pub external_id: String,
    /// The agent's id of the current turn, if known.
    pub turn: Option<String>,
    /// Whether a sub-agent of the session asks. What is reported to it, the session itself has not seen.
    pub is_subagent: bool,
}

impl AskingSession {
    pub(crate) fn key(&self) -> SessionKey<'_> {
        SessionKey { agent: self.agent, external_id: &self.external_id }
    }

    /// Whether this is the session.
    pub fn is_session(&self, session: &Session) -> bool {
        SessionKey::of(session) == self.key()
    }
}

impl AwarenessService<'_> {
    /// What the other sessions did since the asking session last looked. Moves its watermarks, unless a
    /// sub-agent asks.
    pub fn activity_for(self, asker: &AskingSession) -> Result<Option<ActivityBlock>, EngineError> {
        let Some(mut store) = self.engine.syncing_reader()? else { return Ok(None) };
        let stored = store.session_by_external_id(asker.key())?.map(|(_, session)| session);
        let (cwd, transcript) = stored.map_or((None, None), |session| (session.cwd, session.transcript));
        let caller = Caller {
            agent: asker.agent,
            external_id: asker.external_id.clone(),
            cwd: cwd.map_or_else(|| self.engine.environment.cwd.clone(), PathBuf::from),
            transcript: transcript.map(PathBuf::from),
            subagent: None,
            is_answer_dropped: false,
        };
        self.new_activity(&mut store, &caller, asker.is_subagent)
    }

    /// The stored session of an asker; `None` if it was never seen.
    pub fn session_of(self, asker: &AskingSession) -> Result<Option<Session>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(None) };
        Ok(store.session_by_external_id(asker.key())?.map(|(_, session)| session))
    }

    /// Whether the agent ended the session. A client that starts a new session may go on naming the old one.
    pub fn has_ended(self, asker: &AskingSession) -> Result<bool, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(false) };
        let Some(life) = store.lifecycle(asker.key())? else { return Ok(false) };
        let last = store.session_by_external_id(asker.key())?.and_then(|(_, session)| session.last_activity_at);
        Ok(LifecycleRules::is_closed(&life, last))
    }

    /// A name for the turn that the session is in: the agent's, or else the time of the last prompt that a hook
    /// reported. `None` if neither is known.
    pub fn turn_of(self, asker: &AskingSession) -> Result<Option<String>, EngineError> {
        let turn = match &asker.turn {
            Some(turn) => Some(turn.clone()),
            None => self.engine.reader()?.map(|store| last_prompt(&store, asker.key())).transpose()?.flatten(),
        };
        Ok(turn.map(|turn| format!("{}/{turn}", asker.external_id)))
    }
}

fn last_prompt(store: &ReadStore, key: SessionKey<'_>) -> Result<Option<String>, EngineError> {
    let events = store.lifecycle_events(key, MAX_EVENTS_SCANNED)?;
    let prompts = events.iter().filter(|event| event.kind == "prompt_submitted");
    Ok(prompts.map(|event| event.at).max().map(|at| at.as_millis().to_string()))
}
