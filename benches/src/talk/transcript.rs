//! Writes a session in the format of Claude Code, without the content that a sync skips.

use std::io::{self, Write};

use super::plan::TalkSessionPlan;
use super::session::{TalkCall, TalkEpisode, TalkSession};
use super::shared_content::TalkContent;
use crate::ids;
use crate::json::{self, JsonObjectWriter};
use crate::random::Random;
use crate::time;

/// Ids have their own random numbers, so that the episodes can be generated again without writing them.
const ID_SEED: u64 = 0x1D5;
/// Maximum parallel calls in one message.
const MAX_PARALLEL_CALLS: usize = 4;

/// Writes the session to `sink`. Returns when it ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &TalkSessionPlan, content: &TalkContent, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = TalkSession::new(plan, content);
    let cwd = &content.projects[plan.project].cwd;
    let random = Random::new(plan.seed ^ ID_SEED);
    let mut lines = TalkTranscriptWriter { plan, cwd, random, clock: plan.started, parent: None, out: Vec::new() };
    for _ in 0..plan.episodes {
        lines.write_episode(&session.next_episode());
        sink.write_all(&lines.out)?;
        lines.out.clear();
    }
    Ok(lines.clock)
}

struct TalkTranscriptWriter<'p> {
    plan: &'p TalkSessionPlan,
    cwd: &'p str,
    random: Random,
    clock: u64,
    parent: Option<String>,
    out: Vec<u8>,
}

impl TalkTranscriptWriter<'_> {
    fn write_episode(&mut self, exchange: &TalkEpisode) {
        self.clock += self.random.below(600_000);
        self.write_user(|message| message.text("content", &exchange.prompt));
        for calls in exchange.calls.chunks(MAX_PARALLEL_CALLS) {
            self.write_calls(calls);
        }
        self.write_assistant("end_turn", |message| message.list("content", |list| list.text_block(&exchange.answer)));
    }

    fn write_calls(&mut self, calls: &[TalkCall]) {
        let made: Vec<_> = calls.iter().map(|call| (ids::api_id(&mut self.random, "toolu_"), call)).collect();
        self.write_assistant("tool_use", |message| {
            message.list("content", |list| {
                for (id, call) in &made {
                    list.object(|block| {
                        block.text("type", "tool_use");
                        block.text("id", id);
                        block.text("name", call.tool);
                        block
                            .object("input", |input| call.input.iter().for_each(|(key, value)| input.text(key, value)));
                    });
                }
            });
        });
        self.write_user(|message| {
            message.list("content", |list| {
                for (id, call) in &made {
                    list.object(|block| {
                        block.text("tool_use_id", id);
                        block.text("type", "tool_result");
                        block.text("content", &call.result);
                        if call.failed {
                            block.flag("is_error", true);
                        }
                    });
                }
            });
        });
    }

    fn write_user(&mut self, content: impl FnOnce(&mut JsonObjectWriter)) {
        self.write_entry("user", |message| {
            message.text("role", "user");
            content(message);
        });
    }

    fn write_assistant(&mut self, stop: &str, content: impl FnOnce(&mut JsonObjectWriter)) {
        let (id, output) = (ids::api_id(&mut self.random, "msg_"), self.random.between(20, 900));
        self.write_entry("assistant", |message| {
            message.text("id", &id);
            message.text("type", "message");
            message.text("role", "assistant");
            message.text("model", "claude-opus-4-5");
            content(message);
            message.text("stop_reason", stop);
            message.object("usage", |usage| {
                usage.number("input_tokens", 4);
                usage.number("output_tokens", output);
            });
        });
    }

    fn write_entry(&mut self, kind: &str, message: impl FnOnce(&mut JsonObjectWriter)) {
        self.clock += self.random.between(500, 20_000);
        let uuid = ids::uuid(&mut self.random);
        json::write_line(&mut self.out, |line| {
            line.optional_text("parentUuid", self.parent.as_deref());
            line.flag("isSidechain", false);
            line.text("cwd", self.cwd);
            line.text("sessionId", &self.plan.id);
            line.text("version", "2.1.42");
            line.text("type", kind);
            line.object("message", message);
            line.text("uuid", &uuid);
            line.text("timestamp", &time::iso(self.clock));
        });
        self.parent = Some(uuid);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::talk::plan::{TalkSpec, plan_sessions};
    use crate::talk::shared_content::TalkContent;

    #[test]
    fn the_same_seed_gives_the_same_lines_and_each_follows_the_previous_one() -> Result<(), Box<dyn std::error::Error>>
    {
        let spec = TalkSpec { episodes: 60, sessions: 4, seed: 9 };
        let write = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
            let content = TalkContent::new(spec.seed, spec.sessions);
            let mut out = Vec::new();
            for plan in plan_sessions(spec, &content) {
                super::write(&plan, &content, &mut out)?;
            }
            Ok(out)
        };
        let out = write()?;
        assert!(out == write()?);
        let mut last = Value::Null;
        for line in std::str::from_utf8(&out)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            assert!(line["parentUuid"].is_null() || line["parentUuid"] == last["uuid"], "{line:.300}");
            last = line;
        }
        Ok(())
    }
}
