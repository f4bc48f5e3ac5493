//! Injects into a thread what a prompt hook injects into an agent: activity of other sessions, and referenced sessions.

use std::time::Instant;

use rethread_model::Agent;
use rethread_model::thread::{ThreadId, ThreadInjection, ThreadRecord};
use rethread_recall::ComposedInjection;
use rethread_store::{SessionKey, ThreadLog};
use serde_json::Map;

use crate::EngineError;
use crate::awareness::Caller;
use crate::threads::TurnService;

/// Share of the model's window that an injection may take: one part in this many.
const WINDOW_SHARE: u64 = 8;

impl TurnService<'_> {
    /// Appends what is to be injected before a user's message, if anything. A failure is logged and does not stop the
    /// turn.
    pub(super) fn append_injection(
        self,
        log: &ThreadLog,
        run_id: &str,
        text: &str,
        window: u64,
    ) -> Result<(), EngineError> {
        let composed = match self.injection(log.id(), text, window / WINDOW_SHARE) {
            Ok(composed) => composed,
            Err(error) => {
                self.engine.journal().error("thread", &error);
                None
            }
        };
        let Some(composed) = composed else { return Ok(()) };
        log.append(ThreadRecord::Injection(ThreadInjection {
            seq: 0,
            sections: composed.sections.iter().map(|section| section.kind.as_str().to_owned()).collect(),
            text: composed.text,
            run_id: Some(run_id.to_owned()),
            timestamp: self.engine.now(),
            extra: Map::new(),
        }))?;
        Ok(())
    }

    /// Allows everything to be injected again, because a compaction removed it from the thread's context. A failure is
    /// logged: then some of it is not repeated.
    pub(super) fn allow_injections_again(self, id: ThreadId) {
        let clear = || -> Result<(), EngineError> {
            if !self.engine.has_store() {
                return Ok(());
            }
            let text = id.to_string();
            let mut store = self.engine.writer()?;
            let mut batch = store.begin()?;
            batch.clear_injected(SessionKey { agent: Agent::Native, external_id: &text })?;
            Ok(batch.commit()?)
        };
        if let Err(error) = clear() {
            self.engine.journal().error("thread", &error);
        }
    }

    fn injection(self, id: ThreadId, text: &str, max_tokens: u64) -> Result<Option<ComposedInjection>, EngineError> {
        if !self.engine.has_store() {
            return Ok(None);
        }
        let caller = Caller {
            agent: Agent::Native,
            external_id: id.to_string(),
            cwd: self.engine.environment.cwd.clone(),
            transcript: None,
            subagent: None,
            is_answer_dropped: false,
        };
        self.engine.awareness().inject_into_thread(&caller, text, max_tokens, Instant::now())
    }
}
