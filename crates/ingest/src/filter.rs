//! What is stored of a transcript. The defaults keep the conversation and the structure of tool calls.

use serde::{Deserialize, Serialize};

/// Switches for what is stored. None of them affects counting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a named configuration switch")]
pub struct TranscriptFilter {
    /// Keep prompts typed by humans.
    pub keep_user_messages: bool,
    /// Keep text written by the model.
    pub keep_agent_responses: bool,
    /// Keep targets and arguments of tool calls.
    pub keep_tool_structure: bool,
    /// Omit tool outputs; their size and a one-line summary are still stored.
    pub omit_tool_outputs: bool,
    /// Omit file contents and replaced text in tool arguments; their size is still stored.
    pub omit_file_contents: bool,
    /// Keep the model's reasoning. Off by default, because it is private and can mislead later readers.
    pub keep_reasoning: bool,
    /// Maximum length of a tool result's summary, in characters.
    pub max_output_summary_chars: usize,
}

impl Default for TranscriptFilter {
    fn default() -> Self {
        Self {
            keep_user_messages: true,
            keep_agent_responses: true,
            keep_tool_structure: true,
            omit_tool_outputs: true,
            omit_file_contents: true,
            keep_reasoning: false,
            max_output_summary_chars: 200,
        }
    }
}
