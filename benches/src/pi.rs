//! Writes sessions as pi does: a header of version 3, then a tree of entries, one per line.

use std::io::{self, Write};

use crate::author::Author;
use crate::ids;
use crate::json::{self, List, Object};
use crate::plan::Transcript;
use crate::random::Random;
use crate::time;
use crate::words::Words;
use crate::work::Action;
use crate::workspace::Workspace;

/// What a turn's last lines take, about.
const CLOSING: usize = 2_000;
const MODEL: &str = "claude-opus-4-5";
const CENTS_PER_MILLION: [u64; 4] = [500, 2_500, 50, 625];

/// Writes the transcript to `sink`; says when the session ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &Transcript, words: &Words, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = Session::new(plan, words);
    session.head();
    loop {
        session.turn();
        sink.write_all(&session.out)?;
        session.flushed += session.out.len();
        session.out.clear();
        if session.room() == 0 {
            return Ok(session.clock);
        }
    }
}

/// A transcript being written.
struct Session<'p> {
    plan: &'p Transcript,
    author: Author<'p>,
    workspace: Workspace,
    out: Vec<u8>,
    flushed: usize,
    clock: u64,
    /// The entry the next one hangs on.
    leaf: Option<String>,
    /// Entries at which a turn began, to which the person may go back.
    turns: Vec<String>,
    compaction_at: usize,
}

impl<'p> Session<'p> {
    fn new(plan: &'p Transcript, words: &'p Words) -> Self {
        Self {
            plan,
            author: Author::new(words, plan.seed),
            workspace: Workspace::new(&plan.cwd),
            out: Vec::new(),
            flushed: 0,
            clock: plan.started,
            leaf: None,
            turns: Vec::new(),
            compaction_at: 900_000,
        }
    }

    const fn room(&self) -> usize {
        self.plan.bytes.saturating_sub(self.flushed + self.out.len())
    }

    fn head(&mut self) {
        json::line(&mut self.out, |line| {
            line.text("type", "session");
            line.number("version", 3);
            line.text("id", &self.plan.session);
            line.text("timestamp", &time::iso(self.plan.started));
            line.text("cwd", &self.plan.cwd);
        });
        self.entry("model_change", |line| {
            line.text("provider", "anthropic");
            line.text("modelId", MODEL);
        });
        self.entry("thinking_level_change", |line| line.text("thinkingLevel", "medium"));
    }

    fn turn(&mut self) {
        self.clock += self.author.random.below(600_000);
        self.between_turns();
        let prompt = self.author.prompt(self.room());
        let id = self.message("user", |message, _| {
            message.list("content", |list| list.text_block(&prompt));
        });
        self.turns.push(id);
        for _ in 0..self.author.random.between(1, 14) {
            if self.room() < CLOSING {
                break;
            }
            self.calls();
        }
        let answer = self.author.answer(self.room());
        self.assistant("stop", |list| list.text_block(&answer));
    }

    /// Branches, compactions, commands of the person, names.
    fn between_turns(&mut self) {
        if self.flushed > self.compaction_at {
            self.compaction_at = self.flushed + 900_000;
            self.compaction();
        }
        match self.author.random.below(100) {
            0..4 if self.turns.len() > 2 => self.branch(),
            4..6 => self.bash_execution(),
            6..8 => {
                let name = self.author.title();
                self.entry("session_info", |line| line.text("name", &name));
            }
            8..10 => {
                let note = self.author.prose(200);
                self.entry("custom_message", |line| {
                    line.text("customType", "linter");
                    line.text("content", &note);
                    line.flag("display", true);
                });
            }
            _ => {}
        }
    }

    /// Goes back to an earlier turn; what came after it stays in the file.
    fn branch(&mut self) {
        let left = self.leaf.clone().unwrap_or_default();
        self.leaf = Some(self.author.random.pick(&self.turns).clone());
        let summary = self.author.prose(500);
        self.entry("branch_summary", |line| {
            line.text("fromId", &left);
            line.text("summary", &summary);
        });
    }

    fn compaction(&mut self) {
        let summary = self.author.prose(2_500);
        let kept = self.turns.last().cloned().unwrap_or_default();
        let (read, modified) = (self.author.path(), self.author.path());
        self.entry("compaction", |line| {
            line.text("summary", &summary);
            line.text("firstKeptEntryId", &kept);
            line.number("tokensBefore", 172_000);
            line.object("details", |details| {
                details.list("readFiles", |list| list.text(&read));
                details.list("modifiedFiles", |list| list.text(&modified));
            });
        });
    }

    fn bash_execution(&mut self) {
        let output = self.author.output(600.min(self.room()));
        self.message("bashExecution", |message, _| {
            message.text("command", "git status --short");
            message.text("output", &output);
            message.number("exitCode", 0);
            message.flag("cancelled", false);
            message.flag("truncated", false);
        });
    }

    /// A message with one to three calls, and their results.
    fn calls(&mut self) {
        let room = self.room().saturating_sub(CLOSING) / 2;
        let count = *self.author.random.pick(&[1, 1, 1, 2, 3]);
        let calls: Vec<(String, Action)> = (0..count).map(|_| self.draw(room / count)).collect();
        let thinking = self.author.chance(if room > CLOSING { 40 } else { 0 }).then(|| self.thinking());
        let text = self.author.chance(40);
        let text = text.then(|| self.author.answer(room));
        let reason = if self.author.chance(2) { "aborted" } else { "toolUse" };
        self.assistant(reason, |list| {
            if let Some((thought, signature)) = thinking {
                list.object(|block| {
                    block.text("type", "thinking");
                    block.text("thinking", &thought);
                    block.text("thinkingSignature", &signature);
                });
            }
            if let Some(text) = text {
                list.text_block(&text);
            }
            for (id, action) in &calls {
                list.object(|block| {
                    block.text("type", "toolCall");
                    block.text("id", id);
                    block.text("name", name(action));
                    block.object("arguments", |arguments| write_arguments(action, arguments));
                });
            }
        });
        if reason == "toolUse" {
            for (id, action) in &calls {
                self.result(id, action);
            }
        }
    }

    /// One of the four tools that pi has.
    fn draw(&mut self, room: usize) -> (String, Action) {
        let id = ids::api_id(&mut self.author.random, "toolu_");
        loop {
            let action = Action::draw(&mut self.author, &mut self.workspace, room);
            if !name(&action).is_empty() {
                return (id, action);
            }
        }
    }

    fn thinking(&mut self) -> (String, String) {
        let bytes = self.author.random.size(400, 0.9).min(self.room() / 4);
        let thought = self.author.prose(bytes);
        (thought, ids::base64(&mut self.author.random, 600))
    }

    fn result(&mut self, id: &str, action: &Action) {
        let (text, failed) = match action {
            Action::Read(file) => (file.content.clone(), false),
            Action::Run(command) => (command.output.clone(), command.exit > 0),
            Action::Edit(change) => (format!("Replaced text in {}.", change.path), false),
            Action::Write(file) => (format!("Wrote {} bytes.", file.content.len()), false),
            _ => (String::new(), false),
        };
        self.message("toolResult", |message, _| {
            message.text("toolCallId", id);
            message.text("toolName", name(action));
            message.list("content", |list| list.text_block(&text));
            if let Action::Edit(change) = action {
                let diff = format!("-{}\n+{}", change.old, change.new);
                message.object("details", |details| details.text("diff", &diff));
            }
            message.flag("isError", failed);
        });
    }

    fn assistant(&mut self, reason: &str, content: impl FnOnce(&mut List)) {
        self.message("assistant", |message, random| {
            message.list("content", content);
            message.text("api", "anthropic-messages");
            message.text("provider", "anthropic");
            message.text("model", MODEL);
            message.object("usage", |usage| write_usage(random, usage));
            message.text("stopReason", reason);
            if reason == "aborted" {
                message.text("errorMessage", "Request was aborted.");
            }
        });
    }

    fn message(&mut self, role: &str, fields: impl FnOnce(&mut Object, &mut Random)) -> String {
        let mut random = Random::new(self.author.random.bits());
        let at = self.clock;
        self.entry("message", |line| {
            line.object("message", |message| {
                message.text("role", role);
                fields(message, &mut random);
                message.number("timestamp", at);
            });
        })
    }

    /// Appends an entry below the leaf and makes it the leaf. Gives its id.
    fn entry(&mut self, kind: &str, fields: impl FnOnce(&mut Object)) -> String {
        self.clock += self.author.random.between(5, 9_000);
        let id = ids::hex(&mut self.author.random, 8);
        json::line(&mut self.out, |line| {
            line.text("type", kind);
            line.text("id", &id);
            line.maybe("parentId", self.leaf.as_deref());
            line.text("timestamp", &time::iso(self.clock));
            fields(line);
        });
        self.leaf = Some(id.clone());
        id
    }
}

/// pi's name for a tool; empty where pi has none.
const fn name(action: &Action) -> &'static str {
    match action {
        Action::Read(_) => "read",
        Action::Edit(_) => "edit",
        Action::Write(_) => "write",
        Action::Run(_) => "bash",
        _ => "",
    }
}

fn write_arguments(action: &Action, arguments: &mut Object) {
    match action {
        Action::Read(file) => arguments.text("path", &file.path),
        Action::Run(command) => arguments.text("command", &command.line),
        Action::Edit(change) => {
            arguments.text("path", &change.path);
            arguments.text("oldText", &change.old);
            arguments.text("newText", &change.new);
        }
        Action::Write(file) => {
            arguments.text("path", &file.path);
            arguments.text("content", &file.content);
        }
        _ => {}
    }
}

/// Tokens and their price, as pi writes both.
fn write_usage(random: &mut Random, usage: &mut Object) {
    const KEYS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
    let tokens = [random.between(1, 3_000), random.between(1, 4_000), random.below(120_000), random.below(9_000)];
    for (key, count) in KEYS.iter().zip(tokens) {
        usage.number(key, count);
    }
    usage.number("totalTokens", tokens.iter().sum());
    let prices = tokens.iter().zip(CENTS_PER_MILLION).map(|(count, price)| count * price);
    usage.object("cost", |cost| {
        for (key, price) in KEYS.iter().zip(prices.clone()) {
            cost.raw(key, &dollars(price));
        }
        cost.raw("total", &dollars(prices.sum()));
    });
}

/// Cents per million tokens, times tokens, as dollars.
fn dollars(price: u64) -> String {
    format!("{}.{:08}", price / 100_000_000, price % 100_000_000)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use crate::plan::{Wish, transcripts};
    use crate::words::Words;

    #[test]
    fn entries_form_a_tree_below_a_header() -> Result<(), Box<dyn std::error::Error>> {
        let words = Words::new(6);
        let plans = transcripts(Wish { bytes: 9_000_000, files: 20, seed: 6 }, &words);
        for plan in plans.iter().filter(|plan| plan.path.starts_with(".pi")) {
            let mut out = Vec::new();
            super::write(plan, &words, &mut out)?;
            let mut lines = std::str::from_utf8(&out)?.lines().map(serde_json::from_str::<Value>);
            let header = lines.next().transpose()?.unwrap_or_default();
            assert_eq!((&header["type"], &header["version"]), (&"session".into(), &3.into()));
            let mut known = HashSet::from([None]);
            for line in lines {
                let line = line?;
                let parent = line["parentId"].as_str().map(String::from);
                assert!(known.contains(&parent), "no parent for {line:.300}");
                known.insert(line["id"].as_str().map(String::from));
            }
        }
        Ok(())
    }
}
