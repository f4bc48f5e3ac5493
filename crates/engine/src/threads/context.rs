//! The context a model would get for a thread. Reading it changes nothing.

use rethread_model::thread::{ChatMessage, ThreadId};
use rethread_recall::{build_context, pair_tool_results};
use rethread_store::ThreadLineProblem;

use crate::EngineError;
use crate::threads::ThreadService;

/// The messages a model would get.
#[derive(Clone, Debug)]
pub struct ThreadContext {
    /// The thread the context belongs to.
    pub id: ThreadId,
    /// In chronological order.
    pub messages: Vec<ChatMessage>,
    /// Tokens of the messages: counted by the provider where possible, otherwise estimated.
    pub tokens: u64,
    /// Number of the compaction record whose summary replaces the messages before it.
    pub compaction_seq: Option<u64>,
    /// The thread's own system prompt.
    pub system_prompt: Option<String>,
    /// Lines of the log that could not be read.
    pub problems: Vec<ThreadLineProblem>,
}

impl ThreadService<'_> {
    /// The messages a model would get for a thread.
    pub fn context(self, reference: &str) -> Result<ThreadContext, EngineError> {
        let id = self.id(reference)?;
        let logged = self.engine.thread_store().read(id)?;
        let context = build_context(&logged.records);
        let system_prompt = self.engine.thread_store().metadata(id)?.system_prompt_override;
        Ok(ThreadContext {
            id,
            messages: pair_tool_results(context.messages),
            tokens: context.tokens,
            compaction_seq: context.compaction_seq,
            system_prompt,
            problems: logged.problems,
        })
    }
}
