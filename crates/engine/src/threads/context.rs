//! What a model would get of a thread. Reading it changes nothing.

use rethread_model::thread::{ChatMessage, ThreadId};
use rethread_recall::{build_context, pair_up};
use rethread_store::LineProblem;

use crate::{Engine, EngineError};

/// The messages a model would get.
#[derive(Clone, Debug)]
pub struct ThreadContext {
    /// The thread.
    pub id: ThreadId,
    /// In order.
    pub messages: Vec<ChatMessage>,
    /// What they take in a model's window: counted where a provider counted, estimated otherwise.
    pub tokens: u64,
    /// The record whose summary stands for what came before, if there is one.
    pub compaction: Option<u64>,
    /// Instructions of the thread's own.
    pub system: Option<String>,
    /// Lines of the log that could not be read.
    pub problems: Vec<LineProblem>,
}

impl Engine {
    /// The messages a model would get of a thread.
    pub fn thread_context(&self, reference: &str) -> Result<ThreadContext, EngineError> {
        let id = self.thread_id(reference)?;
        let logged = self.threads().read(id)?;
        let context = build_context(&logged.records);
        let system = self.threads().metadata(id)?.system_prompt_override;
        Ok(ThreadContext {
            id,
            messages: pair_up(context.messages),
            tokens: context.tokens,
            compaction: context.compaction,
            system,
            problems: logged.problems,
        })
    }
}
