//! Writes one turn: a prompt, messages with tool calls and their results, an answer.

use super::{ClaudeTranscriptWriter, tools};
use crate::actions::SyntheticAction;
use crate::ids;
use crate::json::JsonObjectWriter;

/// Approximate bytes of the lines after the last tool call.
const CLOSING_BYTES: usize = 3_000;

/// One API response. Each of its blocks is written as a separate line.
struct ClaudeApiMessage {
    id: String,
    request: String,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// A call whose result is not written yet.
struct OpenCall {
    id: String,
    /// Uuid of the line with the call.
    line: String,
    action: SyntheticAction,
    /// Id of the subagent, used if the action is a subagent task.
    agent: String,
}

impl ClaudeTranscriptWriter<'_> {
    /// Appends a turn. Stops early when the transcript has reached its size.
    pub(super) fn turn(&mut self) {
        self.before_prompt();
        self.prompt();
        for _ in 0..self.text.random.between(1, 13) {
            if self.remaining_bytes() < CLOSING_BYTES {
                break;
            }
            self.message_with_calls();
        }
        self.closing();
        self.after_turn();
    }

    fn prompt(&mut self) {
        self.clock += self.text.random.below(600_000);
        self.prompt_id = ids::uuid(&mut self.text.random);
        if self.text.chance(2) && self.prompt_parent.is_some() {
            // The user edited the last prompt and sent it again.
            self.parent.clone_from(&self.prompt_parent);
        }
        self.prompt_parent.clone_from(&self.parent);
        let text = self.text.prompt(self.remaining_bytes());
        let as_blocks = self.text.chance(25);
        self.user_text(&text, as_blocks);
    }

    /// Writes a user entry with text, as a string or as a block.
    pub(super) fn user_text(&mut self, text: &str, as_block: bool) {
        let body = |line: &mut JsonObjectWriter| {
            line.object("message", |message| {
                message.text("role", "user");
                if as_block {
                    message.list("content", |list| list.text_block(text));
                } else {
                    message.text("content", text);
                }
            });
        };
        self.entry("user", body, |line| line.text("permissionMode", "default"));
    }

    /// Writes a message of thinking, text and calls, followed by the results.
    fn message_with_calls(&mut self) {
        let message = self.message();
        if self.text.chance(30) && self.remaining_bytes() > 2 * CLOSING_BYTES {
            self.write_thinking(&message);
        }
        if self.text.chance(80) {
            let text = self.text.answer(self.remaining_bytes());
            self.assistant(&message, None, |block| text_block(block, &text));
        }
        let count =
            if self.remaining_bytes() > 3 * CLOSING_BYTES { *self.text.random.pick(&[1, 1, 1, 1, 2, 3]) } else { 1 };
        let calls: Vec<OpenCall> = (0..count).map(|_| self.call(&message)).collect();
        for call in calls {
            self.while_running(&call.action, &call.id, &call.agent);
            self.result(&call);
        }
    }

    fn closing(&mut self) {
        let message = self.message();
        if self.text.chance(3) {
            self.user_text("[Request interrupted by user]", true);
        } else if self.text.chance(1) {
            self.api_error();
        } else {
            let text = self.text.answer(self.remaining_bytes());
            self.assistant(&message, Some("end_turn"), |block| text_block(block, &text));
        }
    }

    fn message(&mut self) -> ClaudeApiMessage {
        let random = &mut self.text.random;
        ClaudeApiMessage {
            id: ids::api_id(random, "msg_"),
            request: ids::api_id(random, "req_"),
            input: random.between(1, 12),
            output: random.between(1, 4_000),
            cache_read: random.between(10_000, 150_000),
            cache_write: random.between(100, 9_000),
        }
    }

    fn write_thinking(&mut self, message: &ClaudeApiMessage) {
        let bytes = self.text.random.size(700, 0.9).min(self.remaining_bytes() / 2);
        let thought = self.text.prose(bytes);
        let length = self.text.random.size(700, 0.6) / 4 * 4;
        let signature = ids::base64(&mut self.text.random, length) + "==";
        self.assistant(message, None, |block| {
            block.text("type", "thinking");
            block.text("thinking", &thought);
            block.text("signature", &signature);
        });
    }

    fn call(&mut self, message: &ClaudeApiMessage) -> OpenCall {
        let max_bytes = self.remaining_bytes().saturating_sub(CLOSING_BYTES) / 3;
        let mut id = ids::api_id(&mut self.text.random, "toolu_");
        let mut agent = ids::hex(&mut self.text.random, 7);
        let action = if let Some(next) = self.agents.pop() {
            (id, agent) = (next.call, next.id);
            SyntheticAction::delegate(&mut self.text, max_bytes)
        } else if self.is_image_due() {
            let bytes = self.text.random.index(350_000) + 520_000;
            SyntheticAction::image(&mut self.text, &self.workspace, bytes)
        } else {
            SyntheticAction::random(&mut self.text, &mut self.workspace, max_bytes)
        };
        let line = self.assistant(message, Some("tool_use"), |block| {
            block.text("type", "tool_use");
            block.text("id", &id);
            block.text("name", tools::tool_name(&action));
            block.object("input", |input| tools::write_input(&action, input));
        });
        OpenCall { id, line, action, agent }
    }

    /// Writes the user entry with a tool result, once as text and once as data.
    fn result(&mut self, call: &OpenCall) {
        self.parent = Some(call.line.clone());
        let refused = self.text.random.below(1000) < 8;
        let body = |line: &mut JsonObjectWriter| {
            line.object("message", |message| {
                message.text("role", "user");
                message.list("content", |list| {
                    list.object(|block| {
                        block.text("tool_use_id", &call.id);
                        block.text("type", "tool_result");
                        if refused {
                            block.text("content", tools::REJECTED);
                            block.flag("is_error", true);
                        } else {
                            tools::write_content(&call.action, block);
                        }
                    });
                });
            });
        };
        self.entry("user", body, |line| {
            if refused {
                line.text("toolUseResult", "User rejected tool use");
            } else {
                tools::write_result(&call.action, &call.agent, line);
            }
            line.text("sourceToolAssistantUUID", &call.line);
        });
    }

    /// Writes one line with one block of a message. The usage is repeated on each line.
    fn assistant(
        &mut self,
        message: &ClaudeApiMessage,
        stop: Option<&str>,
        block: impl FnOnce(&mut JsonObjectWriter),
    ) -> String {
        let body = |line: &mut JsonObjectWriter| {
            line.object("message", |body| {
                body.text("model", "claude-opus-4-5-20251101");
                body.text("id", &message.id);
                body.text("type", "message");
                body.text("role", "assistant");
                body.list("content", |list| list.object(block));
                body.optional_text("stop_reason", stop);
                body.optional_text("stop_sequence", None);
                body.object("usage", |usage| message.write_usage(usage));
            });
            line.text("requestId", &message.request);
        };
        self.entry("assistant", body, |_| ())
    }

    fn api_error(&mut self) {
        let body = |line: &mut JsonObjectWriter| {
            line.object("message", |body| {
                body.text("model", "<synthetic>");
                body.text("role", "assistant");
                body.list("content", |list| list.text_block("API Error: 529 overloaded"));
                body.object("usage", |usage| {
                    usage.number("input_tokens", 0);
                    usage.number("output_tokens", 0);
                });
            });
            line.flag("isApiErrorMessage", true);
        };
        self.entry("assistant", body, |_| ());
    }
}

impl ClaudeApiMessage {
    fn write_usage(&self, usage: &mut JsonObjectWriter) {
        usage.number("input_tokens", self.input);
        usage.number("cache_creation_input_tokens", self.cache_write);
        usage.number("cache_read_input_tokens", self.cache_read);
        usage.object("cache_creation", |cache| {
            cache.number("ephemeral_5m_input_tokens", self.cache_write);
            cache.number("ephemeral_1h_input_tokens", 0);
        });
        usage.number("output_tokens", self.output);
        usage.text("service_tier", "standard");
    }
}

fn text_block(block: &mut JsonObjectWriter, text: &str) {
    block.text("type", "text");
    block.text("text", text);
}
