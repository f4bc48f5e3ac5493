//! The session that called a hook or is named by a command.

use std::path::PathBuf;

use rethread_ingest::Redactor;
use rethread_ingest::source::project;
use rethread_model::Agent;
use rethread_store::{Batch, HookSession, InjectionRow, LifecycleEvent, ReadStore, SessionKey, Store, StoreError};

use super::AwarenessService;
use crate::EngineError;

/// The session that an operation is about, identified the way its agent identifies it.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) agent: Agent,
    pub(crate) external_id: String,
    /// The current working directory of the session.
    pub(crate) cwd: PathBuf,
    /// The transcript file, if the agent reports one.
    pub(crate) transcript: Option<PathBuf>,
    /// The sub-agent of the session that caused the event, by the agent's id.
    pub(crate) subagent: Option<String>,
    /// Whether the host drops the answer to this event, so that text has to wait for another one.
    pub(crate) is_answer_dropped: bool,
}

impl Caller {
    pub(crate) fn key(&self) -> SessionKey<'_> {
        SessionKey { agent: self.agent, external_id: &self.external_id }
    }

    /// Whether a sub-agent caused the event: one that its session reports, or one with a session of its own.
    pub(crate) fn is_subagent(&self) -> bool {
        self.subagent.is_some() || self.has_subagent_session()
    }

    /// Whether the session itself is that of a sub-agent: pi names them this way.
    fn has_subagent_session(&self) -> bool {
        self.external_id.starts_with("subagent-")
    }

    /// The project of its current working directory.
    pub(crate) fn project(&self) -> String {
        project::project_of(&self.cwd.to_string_lossy())
    }

    /// Stores what is injected. It waits if this event's answer does not reach the model.
    pub(super) fn add_injection(&self, batch: &mut Batch<'_>, injected: &InjectionRow) -> Result<(), StoreError> {
        // A sub-agent's context is not the session's: what it does not get now is of no use later.
        if self.is_answer_dropped && !self.is_subagent() {
            batch.add_held_injection(self.key(), injected)
        } else {
            batch.add_injection(self.key(), injected)
        }
    }

    /// Stores what the hook knows about the session, until its transcript is read.
    pub(super) fn save_as_session(
        &self,
        batch: &mut Batch<'_>,
        project: &str,
        event: &LifecycleEvent,
    ) -> Result<(), StoreError> {
        // What other sub-agents do counts as done by their session.
        if self.has_subagent_session() {
            return Ok(());
        }
        let cwd = Redactor::shared().redact_name(self.cwd.to_string_lossy().into_owned());
        batch.save_hook_session(&HookSession {
            key: self.key(),
            cwd: &cwd,
            project,
            namespace: &project::namespace_of(project),
            name: Some(event.detail.as_str()).filter(|text| event.kind == "prompt_submitted" && !text.is_empty()),
            transcript_path: self.transcript.as_ref().and_then(|path| path.to_str()),
            at: event.at,
            has_work: matches!(event.kind.as_str(), "prompt_submitted" | "tool_executed" | "response_completed"),
        })
    }
}

impl AwarenessService<'_> {
    /// Reads new lines of the caller's own transcript, if it has one.
    pub(crate) fn sync_caller_transcript(self, store: &mut Store, caller: &Caller) -> Result<(), EngineError> {
        match &caller.transcript {
            Some(path) if self.engine.environment.syncs_unasked => {
                self.engine.sync().files_with(store, caller.agent, std::slice::from_ref(path))
            }
            _ => Ok(()),
        }
    }

    /// The session for a reference, in the form hooks use.
    pub(crate) fn caller(self, store: &ReadStore, reference: &str) -> Result<Caller, EngineError> {
        let session = self.engine.sessions().resolve_in(store, reference)?.session;
        Ok(Caller {
            agent: session.agent,
            cwd: session.cwd.map_or_else(|| self.engine.environment.cwd.clone(), PathBuf::from),
            transcript: session.transcript.map(PathBuf::from),
            external_id: session.external_id,
            subagent: None,
            is_answer_dropped: false,
        })
    }
}
