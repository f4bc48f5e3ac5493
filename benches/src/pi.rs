//! Writes transcripts in the format of pi: a version 3 header, then a tree of entries, one per line.

use std::io::{self, Write};

use crate::actions::SyntheticAction;
use crate::ids;
use crate::json::{self, JsonListWriter, JsonObjectWriter};
use crate::plan::TranscriptPlan;
use crate::random::Random;
use crate::text_generator::TextGenerator;
use crate::time;
use crate::vocabulary::Vocabulary;
use crate::workspace::SyntheticWorkspace;

/// Approximate bytes of the last lines of a turn.
const CLOSING_BYTES: usize = 2_000;
const MODEL: &str = "claude-opus-4-5";
const CENTS_PER_MILLION: [u64; 4] = [500, 2_500, 50, 625];

/// Writes the transcript to `sink`. Returns when the session ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &TranscriptPlan, words: &Vocabulary, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = PiTranscriptWriter::new(plan, words);
    session.write_header();
    loop {
        session.turn();
        sink.write_all(&session.out)?;
        session.flushed += session.out.len();
        session.out.clear();
        if session.remaining_bytes() == 0 {
            return Ok(session.clock);
        }
    }
}

/// A transcript being written.
struct PiTranscriptWriter<'p> {
    plan: &'p TranscriptPlan,
    text: TextGenerator<'p>,
    workspace: SyntheticWorkspace,
    out: Vec<u8>,
    flushed: usize,
    clock: u64,
    /// Id of the current entry, the parent of the next one.
    leaf: Option<String>,
    /// Ids of the entries that started a turn. A branch goes back to one of them.
    turns: Vec<String>,
    compaction_at: usize,
}

impl<'p> PiTranscriptWriter<'p> {
    fn new(plan: &'p TranscriptPlan, words: &'p Vocabulary) -> Self {
        Self {
            plan,
            text: TextGenerator::new(words, plan.seed),
            workspace: SyntheticWorkspace::new(&plan.cwd),
            out: Vec::new(),
            flushed: 0,
            clock: plan.started,
            leaf: None,
            turns: Vec::new(),
            compaction_at: 900_000,
        }
    }

    const fn remaining_bytes(&self) -> usize {
        self.plan.bytes.saturating_sub(self.flushed + self.out.len())
    }

    fn write_header(&mut self) {
        json::write_line(&mut self.out, |line| {
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
        self.clock += self.text.random.below(600_000);
        self.between_turns();
        let prompt = self.text.prompt(self.remaining_bytes());
        let id = self.message("user", |message, _| {
            message.list("content", |list| list.text_block(&prompt));
        });
        self.turns.push(id);
        for _ in 0..self.text.random.between(1, 14) {
            if self.remaining_bytes() < CLOSING_BYTES {
                break;
            }
            self.calls();
        }
        let answer = self.text.answer(self.remaining_bytes());
        self.assistant("stop", |list| list.text_block(&answer));
    }

    /// Branches, compactions, shell commands of the user, session names.
    fn between_turns(&mut self) {
        if self.flushed > self.compaction_at {
            self.compaction_at = self.flushed + 900_000;
            self.compaction();
        }
        match self.text.random.below(100) {
            0..4 if self.turns.len() > 2 => self.branch(),
            4..6 => self.bash_execution(),
            6..8 => {
                let name = self.text.title();
                self.entry("session_info", |line| line.text("name", &name));
            }
            8..10 => {
                let note = self.text.prose(200);
                self.entry("custom_message", |line| {
                    line.text("customType", "linter");
                    line.text("content", &note);
                    line.flag("display", true);
                });
            }
            _ => {}
        }
    }

    /// Goes back to an earlier turn. The entries after it stay in the file.
    fn branch(&mut self) {
        let left = self.leaf.clone().unwrap_or_default();
        self.leaf = Some(self.text.random.pick(&self.turns).clone());
        let summary = self.text.prose(500);
        self.entry("branch_summary", |line| {
            line.text("fromId", &left);
            line.text("summary", &summary);
        });
    }

    fn compaction(&mut self) {
        let summary = self.text.prose(2_500);
        let kept = self.turns.last().cloned().unwrap_or_default();
        let (read, modified) = (self.text.path(), self.text.path());
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
        let output = self.text.output(600.min(self.remaining_bytes()));
        self.message("bashExecution", |message, _| {
            message.text("command", "git status --short");
            message.text("output", &output);
            message.number("exitCode", 0);
            message.flag("cancelled", false);
            message.flag("truncated", false);
        });
    }

    /// Writes a message with one to three calls, and their results.
    fn calls(&mut self) {
        let max_bytes = self.remaining_bytes().saturating_sub(CLOSING_BYTES) / 2;
        let count = *self.text.random.pick(&[1, 1, 1, 2, 3]);
        let calls: Vec<(String, SyntheticAction)> = (0..count).map(|_| self.random_call(max_bytes / count)).collect();
        let thinking = self.text.chance(if max_bytes > CLOSING_BYTES { 40 } else { 0 }).then(|| self.thinking());
        let text = self.text.chance(40);
        let text = text.then(|| self.text.answer(max_bytes));
        let reason = if self.text.chance(2) { "aborted" } else { "toolUse" };
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
                    block.text("name", tool_name(action));
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

    /// A random call of one of pi's four tools.
    fn random_call(&mut self, max_bytes: usize) -> (String, SyntheticAction) {
        let id = ids::api_id(&mut self.text.random, "toolu_");
        loop {
            let action = SyntheticAction::random(&mut self.text, &mut self.workspace, max_bytes);
            if !tool_name(&action).is_empty() {
                return (id, action);
            }
        }
    }

    fn thinking(&mut self) -> (String, String) {
        let bytes = self.text.random.size(400, 0.9).min(self.remaining_bytes() / 4);
        let thought = self.text.prose(bytes);
        (thought, ids::base64(&mut self.text.random, 600))
    }

    fn result(&mut self, id: &str, action: &SyntheticAction) {
        let (text, failed) = match action {
            SyntheticAction::Read(file) => (file.content.clone(), false),
            SyntheticAction::Run(command) => (command.output.clone(), command.exit > 0),
            SyntheticAction::Edit(change) => (format!("Replaced text in {}.", change.path), false),
            SyntheticAction::Write(file) => (format!("Wrote {} bytes.", file.content.len()), false),
            _ => (String::new(), false),
        };
        self.message("toolResult", |message, _| {
            message.text("toolCallId", id);
            message.text("toolName", tool_name(action));
            message.list("content", |list| list.text_block(&text));
            if let SyntheticAction::Edit(change) = action {
                let diff = format!("-{}\n+{}", change.old, change.new);
                message.object("details", |details| details.text("diff", &diff));
            }
            message.flag("isError", failed);
        });
    }

    fn assistant(&mut self, reason: &str, content: impl FnOnce(&mut JsonListWriter)) {
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

    fn message(&mut self, role: &str, fields: impl FnOnce(&mut JsonObjectWriter, &mut Random)) -> String {
        let mut random = Random::new(self.text.random.bits());
        let at = self.clock;
        self.entry("message", |line| {
            line.object("message", |message| {
                message.text("role", role);
                fields(message, &mut random);
                message.number("timestamp", at);
            });
        })
    }

    /// Appends an entry as a child of the leaf and makes it the leaf. Returns its id.
    fn entry(&mut self, kind: &str, fields: impl FnOnce(&mut JsonObjectWriter)) -> String {
        self.clock += self.text.random.between(5, 9_000);
        let id = ids::hex(&mut self.text.random, 8);
        json::write_line(&mut self.out, |line| {
            line.text("type", kind);
            line.text("id", &id);
            line.optional_text("parentId", self.leaf.as_deref());
            line.text("timestamp", &time::iso(self.clock));
            fields(line);
        });
        self.leaf = Some(id.clone());
        id
    }
}

/// pi's name of the tool. Empty if pi has no such tool.
const fn tool_name(action: &SyntheticAction) -> &'static str {
    match action {
        SyntheticAction::Read(_) => "read",
        SyntheticAction::Edit(_) => "edit",
        SyntheticAction::Write(_) => "write",
        SyntheticAction::Run(_) => "bash",
        _ => "",
    }
}

fn write_arguments(action: &SyntheticAction, arguments: &mut JsonObjectWriter) {
    match action {
        SyntheticAction::Read(file) => arguments.text("path", &file.path),
        SyntheticAction::Run(command) => arguments.text("command", &command.line),
        SyntheticAction::Edit(change) => {
            arguments.text("path", &change.path);
            arguments.text("oldText", &change.old);
            arguments.text("newText", &change.new);
        }
        SyntheticAction::Write(file) => {
            arguments.text("path", &file.path);
            arguments.text("content", &file.content);
        }
        _ => {}
    }
}

/// Writes token counts and their cost, as pi does.
fn write_usage(random: &mut Random, usage: &mut JsonObjectWriter) {
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

/// Formats cents per million tokens times tokens as dollars.
fn dollars(price: u64) -> String {
    format!("{}.{:08}", price / 100_000_000, price % 100_000_000)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::plan::HomeSpec;
    use crate::testing::parsed_transcripts;

    #[test]
    fn entries_form_a_tree_after_a_header() -> Result<(), Box<dyn std::error::Error>> {
        let spec = HomeSpec { bytes: 9_000_000, files: 20, seed: 6 };
        for lines in parsed_transcripts(spec, ".pi", super::write)? {
            let mut lines = lines.into_iter();
            let header = lines.next().unwrap_or_default();
            assert_eq!((&header["type"], &header["version"]), (&"session".into(), &3.into()));
            let mut known = HashSet::from([None]);
            for line in lines {
                let parent = line["parentId"].as_str().map(String::from);
                assert!(known.contains(&parent), "no parent for {line:.300}");
                known.insert(line["id"].as_str().map(String::from));
            }
        }
        Ok(())
    }
}
