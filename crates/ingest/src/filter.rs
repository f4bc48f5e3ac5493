//! What is kept of a transcript. The defaults keep the conversation and the structure of what was done.

use serde::{Deserialize, Serialize};

/// Switches over what is stored. Counting is not affected by any of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration, with its name")]
pub struct Filter {
    /// Keep what humans typed.
    pub keep_user_messages: bool,
    /// Keep what the model said.
    pub keep_agent_responses: bool,
    /// Keep targets and arguments of tool calls.
    pub keep_tool_structure: bool,
    /// Leave out what tools returned; its size and one line on it stay.
    pub omit_tool_outputs: bool,
    /// Leave out file contents and replaced texts among tool arguments; their size stays.
    pub omit_file_contents: bool,
    /// Keep the model's reasoning. Off, because it is private and misleads later readers.
    pub keep_reasoning: bool,
    /// The longest summary of a tool's result, in characters.
    pub max_output_summary_chars: usize,
}

impl Default for Filter {
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
