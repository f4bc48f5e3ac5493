//! One turn: a prompt, messages with tool calls and their results, an answer.

use super::{Session, tools};
use crate::ids;
use crate::json::Object;
use crate::work::Action;

/// What the lines after the last tool call take, about.
const CLOSING: usize = 3_000;

/// One answer of the API, of which each block becomes a line of its own.
struct Message {
    id: String,
    request: String,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// A call that waits for its result.
struct Call {
    id: String,
    /// The uuid of the line that made it.
    line: String,
    action: Action,
    /// The sub-agent at work, where the action is one's.
    agent: String,
}

impl Session<'_> {
    /// Appends a turn; stops early when the transcript has its size.
    pub(super) fn turn(&mut self) {
        self.before_prompt();
        self.prompt();
        for _ in 0..self.author.random.between(1, 13) {
            if self.room() < CLOSING {
                break;
            }
            self.message_with_calls();
        }
        self.closing();
        self.after_turn();
    }

    fn prompt(&mut self) {
        self.clock += self.author.random.below(600_000);
        self.prompt_id = ids::uuid(&mut self.author.random);
        if self.author.chance(2) && self.prompt_parent.is_some() {
            // The person went back and sent the last prompt in other words.
            self.parent.clone_from(&self.prompt_parent);
        }
        self.prompt_parent.clone_from(&self.parent);
        let text = self.author.prompt(self.room());
        let as_blocks = self.author.chance(25);
        self.user_text(&text, as_blocks);
    }

    /// A user entry with text, as a string or as a block.
    pub(super) fn user_text(&mut self, text: &str, as_block: bool) {
        let body = |line: &mut Object| {
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

    /// A message of thinking, text and calls, and then the results of the calls.
    fn message_with_calls(&mut self) {
        let message = self.message();
        if self.author.chance(30) && self.room() > 2 * CLOSING {
            self.think(&message);
        }
        if self.author.chance(80) {
            let text = self.author.answer(self.room());
            self.assistant(&message, None, |block| text_block(block, &text));
        }
        let count = if self.room() > 3 * CLOSING { *self.author.random.pick(&[1, 1, 1, 1, 2, 3]) } else { 1 };
        let calls: Vec<Call> = (0..count).map(|_| self.call(&message)).collect();
        for call in calls {
            self.while_running(&call.action, &call.id, &call.agent);
            self.result(&call);
        }
    }

    fn closing(&mut self) {
        let message = self.message();
        if self.author.chance(3) {
            self.user_text("[Request interrupted by user]", true);
        } else if self.author.chance(1) {
            self.api_error();
        } else {
            let text = self.author.answer(self.room());
            self.assistant(&message, Some("end_turn"), |block| text_block(block, &text));
        }
    }

    fn message(&mut self) -> Message {
        let random = &mut self.author.random;
        Message {
            id: ids::api_id(random, "msg_"),
            request: ids::api_id(random, "req_"),
            input: random.between(1, 12),
            output: random.between(1, 4_000),
            cache_read: random.between(10_000, 150_000),
            cache_write: random.between(100, 9_000),
        }
    }

    fn think(&mut self, message: &Message) {
        let bytes = self.author.random.size(700, 0.9).min(self.room() / 2);
        let thought = self.author.prose(bytes);
        let length = self.author.random.size(700, 0.6) / 4 * 4;
        let signature = ids::base64(&mut self.author.random, length) + "==";
        self.assistant(message, None, |block| {
            block.text("type", "thinking");
            block.text("thinking", &thought);
            block.text("signature", &signature);
        });
    }

    fn call(&mut self, message: &Message) -> Call {
        let room = self.room().saturating_sub(CLOSING) / 3;
        let mut id = ids::api_id(&mut self.author.random, "toolu_");
        let mut agent = ids::hex(&mut self.author.random, 7);
        let action = if let Some(next) = self.agents.pop() {
            (id, agent) = (next.call, next.id);
            Action::delegate(&mut self.author, room)
        } else if self.picture_is_due() {
            let bytes = self.author.random.index(350_000) + 520_000;
            Action::picture(&mut self.author, &self.workspace, bytes)
        } else {
            Action::draw(&mut self.author, &mut self.workspace, room)
        };
        let line = self.assistant(message, Some("tool_use"), |block| {
            block.text("type", "tool_use");
            block.text("id", &id);
            block.text("name", tools::name(&action));
            block.object("input", |input| tools::input(&action, input));
        });
        Call { id, line, action, agent }
    }

    /// The user entry that carries what a tool gave back, once as text and once as data.
    fn result(&mut self, call: &Call) {
        self.parent = Some(call.line.clone());
        let refused = self.author.random.below(1000) < 8;
        let body = |line: &mut Object| {
            line.object("message", |message| {
                message.text("role", "user");
                message.list("content", |list| {
                    list.object(|block| {
                        block.text("tool_use_id", &call.id);
                        block.text("type", "tool_result");
                        if refused {
                            block.text("content", tools::REFUSED);
                            block.flag("is_error", true);
                        } else {
                            tools::content(&call.action, block);
                        }
                    });
                });
            });
        };
        self.entry("user", body, |line| {
            if refused {
                line.text("toolUseResult", "User rejected tool use");
            } else {
                tools::result(&call.action, &call.agent, line);
            }
            line.text("sourceToolAssistantUUID", &call.line);
        });
    }

    /// One line of a message with one block; the usage is repeated on each.
    fn assistant(&mut self, message: &Message, stop: Option<&str>, block: impl FnOnce(&mut Object)) -> String {
        let body = |line: &mut Object| {
            line.object("message", |body| {
                body.text("model", "claude-opus-4-5-20251101");
                body.text("id", &message.id);
                body.text("type", "message");
                body.text("role", "assistant");
                body.list("content", |list| list.object(block));
                body.maybe("stop_reason", stop);
                body.maybe("stop_sequence", None);
                body.object("usage", |usage| message.usage(usage));
            });
            line.text("requestId", &message.request);
        };
        self.entry("assistant", body, |_| ())
    }

    fn api_error(&mut self) {
        let body = |line: &mut Object| {
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

impl Message {
    fn usage(&self, usage: &mut Object) {
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

fn text_block(block: &mut Object, text: &str) {
    block.text("type", "text");
    block.text("text", text);
}
