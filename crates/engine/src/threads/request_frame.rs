//! The parts of a request to a model around its messages, and the tokens they leave for the messages.

use rethread_llm::{ChatRequest, ToolDefinition};
use rethread_model::estimate_text_tokens;
use rethread_model::thread::{ChatMessage, ThreadMetadata};
use rethread_recall::{CompactionSettings, DEFAULT_SYSTEM_PROMPT};

use super::TurnService;
use crate::EngineError;
use crate::models::ConfiguredModel;

/// Tokens that are always left for an answer.
const MIN_ANSWER_TOKENS: u64 = 256;

/// The parts of a request around its messages, and how many tokens they leave for the messages.
pub(super) struct RequestFrame {
    system: String,
    pub(super) settings: CompactionSettings,
    window: u64,
    max_output_tokens: u64,
    /// Tokens of system prompt and tools.
    overhead_tokens: u64,
}

impl RequestFrame {
    pub(super) fn new(
        turns: TurnService<'_>,
        model: &ConfiguredModel,
        metadata: &ThreadMetadata,
        tools: &[ToolDefinition],
    ) -> Self {
        // Sent as given: it is the prompt of the program that runs the thread.
        let system = metadata.system_prompt_override.clone().unwrap_or_else(|| DEFAULT_SYSTEM_PROMPT.to_owned());
        let settings = turns.compaction_settings(Some(model));
        let described = |tool: &ToolDefinition| {
            estimate_text_tokens(&tool.name)
                + estimate_text_tokens(&tool.description)
                + estimate_text_tokens(&tool.parameters.to_string())
        };
        let overhead_tokens = estimate_text_tokens(&system) + tools.iter().map(described).sum::<u64>();
        // A longer answer than the reserve would not fit beside a full context.
        let max_output_tokens = model.max_output_tokens.min(settings.reserve_tokens.max(MIN_ANSWER_TOKENS));
        Self { system, settings, window: model.window, max_output_tokens, overhead_tokens }
    }

    /// Whether messages of this many tokens must be compacted first.
    pub(super) fn must_compact(&self, tokens: u64) -> bool {
        self.settings.is_due(tokens.saturating_add(self.overhead_tokens), self.window)
    }

    /// Maximum tokens of the messages after a compaction.
    pub(super) fn message_token_budget(&self) -> u64 {
        self.window.saturating_sub(self.settings.reserve_tokens).saturating_sub(self.overhead_tokens)
    }

    /// Rejects a context that exceeds the model's window.
    pub(super) fn check_fits(&self, tokens: u64) -> Result<(), EngineError> {
        let tokens = tokens.saturating_add(self.overhead_tokens);
        if tokens <= self.window { Ok(()) } else { Err(EngineError::ContextTooLong { tokens, window: self.window }) }
    }

    pub(super) fn request(&self, tools: Vec<ToolDefinition>, messages: Vec<ChatMessage>) -> ChatRequest {
        ChatRequest {
            system: Some(self.system.clone()),
            messages,
            tools,
            max_output_tokens: self.max_output_tokens,
            purpose: "turn",
        }
    }
}
