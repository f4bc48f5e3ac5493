//! `handoff`: what somebody who goes on with a session's work has to know.

use rethread_recall::{Handoff, handoff};
use rethread_store::{EntryFilter, SessionKey};

use crate::{Engine, EngineError, Listed};

/// A handoff of a session.
#[derive(Clone, Debug)]
pub struct HandedOff {
    /// The session.
    pub listed: Listed,
    /// The handoff, as Markdown.
    pub text: String,
}

impl Engine {
    /// What to know to go on with the work of the session a reference means, made by rules.
    pub fn handoff(&self, reference: &str) -> Result<HandedOff, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let listed = self.resolve_in(&store, reference)?;
        let session = &listed.session;
        let life = store.life(SessionKey { agent: session.agent, external_id: &session.external_id })?;
        let task = life.and_then(|life| life.task);
        let entries = store.entries(session.id, EntryFilter::default())?;
        let text = handoff(&Handoff { session, task: task.as_deref(), entries: &entries }, self.now());
        Ok(HandedOff { listed, text })
    }
}
