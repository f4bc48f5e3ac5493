//! Writes a session down as Claude Code does, leaving out what a sync leaves out anyway.

use std::io::{self, Write};

use super::plan::Plan;
use super::session::{Call, Exchange, Session};
use super::world::World;
use crate::ids;
use crate::json::{self, Object};
use crate::random::Random;
use crate::time;

/// Ids have a stream of their own, so that the exchanges can be invented again without writing them.
const IDS: u64 = 0x1D5;
/// Calls that are made at once.
const AT_ONCE: usize = 4;

/// Writes the session to `sink`; says when it ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &Plan, world: &World, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = Session::new(plan, world);
    let cwd = &world.projects[plan.project].cwd;
    let random = Random::new(plan.seed ^ IDS);
    let mut lines = Lines { plan, cwd, random, clock: plan.started, parent: None, out: Vec::new() };
    for _ in 0..plan.episodes {
        lines.exchange(&session.exchange());
        sink.write_all(&lines.out)?;
        lines.out.clear();
    }
    Ok(lines.clock)
}

struct Lines<'p> {
    plan: &'p Plan,
    cwd: &'p str,
    random: Random,
    clock: u64,
    parent: Option<String>,
    out: Vec<u8>,
}

impl Lines<'_> {
    fn exchange(&mut self, exchange: &Exchange) {
        self.clock += self.random.below(600_000);
        self.user(|message| message.text("content", &exchange.prompt));
        for calls in exchange.calls.chunks(AT_ONCE) {
            self.calls(calls);
        }
        self.assistant("end_turn", |message| message.list("content", |list| list.text_block(&exchange.answer)));
    }

    fn calls(&mut self, calls: &[Call]) {
        let made: Vec<_> = calls.iter().map(|call| (ids::api_id(&mut self.random, "toolu_"), call)).collect();
        self.assistant("tool_use", |message| {
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
        self.user(|message| {
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

    fn user(&mut self, content: impl FnOnce(&mut Object)) {
        self.entry("user", |message| {
            message.text("role", "user");
            content(message);
        });
    }

    fn assistant(&mut self, stop: &str, content: impl FnOnce(&mut Object)) {
        let (id, output) = (ids::api_id(&mut self.random, "msg_"), self.random.between(20, 900));
        self.entry("assistant", |message| {
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

    fn entry(&mut self, kind: &str, message: impl FnOnce(&mut Object)) {
        self.clock += self.random.between(500, 20_000);
        let uuid = ids::uuid(&mut self.random);
        json::line(&mut self.out, |line| {
            line.maybe("parentUuid", self.parent.as_deref());
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

    use crate::talk::plan::{Wish, sessions};
    use crate::talk::world::World;

    #[test]
    fn the_same_seed_gives_the_same_lines_and_each_hangs_on_the_one_before() -> Result<(), Box<dyn std::error::Error>> {
        let wish = Wish { episodes: 60, sessions: 4, seed: 9 };
        let write = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
            let world = World::new(wish.seed, wish.sessions);
            let mut out = Vec::new();
            for plan in sessions(wish, &world) {
                super::write(&plan, &world, &mut out)?;
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
