//! A labeled case: its entries, and the facts extracted from them.

use std::path::Path;

use rethread_ingest::facts::{ExtractionState, extract, failure_line, git_note, identifying_line};
use rethread_model::{
    Entry, EntryKind, EntryLocation, Fact, Predicate, Timestamp, ToolKind, ToolOutcome, ToolStatus, ToolUse, first_line,
};
use serde::Deserialize;

/// One invented session and the facts it should give.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) steps: Vec<String>,
    pub(crate) expect: Vec<String>,
    #[serde(rename = "note")]
    pub(crate) _note: Option<String>,
}

#[derive(Deserialize)]
struct File {
    case: Vec<Case>,
}

/// All cases, in the order of their files.
pub(crate) fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labeled");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let read = |file| toml::from_str::<File>(&std::fs::read_to_string(file).unwrap()).unwrap().case;
    files.iter().flat_map(read).collect()
}

impl Case {
    /// The facts at the end of the session, each once with its last state.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let entries = self.entries();
        let mut carried = serde_json::to_string(&ExtractionState::default()).unwrap();
        let mut folded = Vec::new();
        for episode in entries.chunk_by(|one, other| one.episode == other.episode) {
            let carry = serde_json::from_str(&carried).unwrap();
            let drawn = extract(carry, &["/p"], &episode.iter().collect::<Vec<_>>());
            carried = serde_json::to_string(&drawn.state).unwrap();
            for fact in drawn.facts {
                fold(&mut folded, fact);
            }
        }
        folded
    }

    fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for step in &self.steps {
            let (name, text) = step.split_once(':').unwrap();
            take_step(&mut entries, name, text.trim_start_matches(' '));
        }
        entries
    }
}

/// Replaces an earlier fact about the same entity.
fn fold(folded: &mut Vec<Fact>, fact: Fact) {
    let replaces = |earlier: &Fact| {
        let is_same = earlier.predicate == fact.predicate && earlier.subject == fact.subject;
        is_same
            && match fact.predicate {
                // A decision that was reverted and made again is another decision.
                Predicate::Decided => earlier.detail == fact.detail || !earlier.state.is_closed(),
                Predicate::FixedBy | Predicate::NotFixedBy => {
                    earlier.object == fact.object && earlier.detail == fact.detail
                }
                _ => earlier.object == fact.object,
            }
    };
    match folded.iter_mut().find(|earlier| replaces(earlier)) {
        Some(earlier) => *earlier = fact,
        None => folded.push(fact),
    }
}

trait Closed {
    fn is_closed(&self) -> bool;
}

impl Closed for rethread_model::FactState {
    fn is_closed(&self) -> bool {
        matches!(self, Self::Refuted | Self::Superseded)
    }
}

fn take_step(entries: &mut Vec<Entry>, name: &str, text: &str) {
    let (name, code) = name.split_once(' ').map_or((name, None), |(name, code)| (name, code.parse().ok()));
    match name {
        "user" => push(entries, EntryKind::Prompt, text, None),
        "said" => push(entries, EntryKind::AssistantText, text, None),
        "shell" => push(entries, EntryKind::Shell, text, None),
        "run" => call(entries, ToolKind::Command, "Bash", text, false),
        "edit" => {
            let (path, change) = text.split_once(" :: ").map_or((text, None), |(path, change)| (path, Some(change)));
            call(entries, ToolKind::Edit, "Edit", path, true);
            let tool = entries.last_mut().and_then(|entry| entry.tool.as_mut()).unwrap();
            tool.body = change.map(str::to_owned);
        }
        "agent" => {
            call(entries, ToolKind::Agent, "Task", text, true);
        }
        "write" => call(entries, ToolKind::Write, "Write", text, true),
        "read" => call(entries, ToolKind::Read, "Read", text, true),
        "search" => call(entries, ToolKind::Search, "Grep", text, true),
        "web" => call(entries, ToolKind::Web, "WebFetch", text, false),
        "mcp" => {
            let (name, code) = text.split_once(" :: ").map_or((text, None), |(name, code)| (name, Some(code)));
            call(entries, ToolKind::Mcp, name, name, false);
            let tool = entries.last_mut().and_then(|entry| entry.tool.as_mut()).unwrap();
            tool.body = code.map(str::to_owned);
        }
        "edit-fail" => {
            let (path, error) = text.split_once(" :: ").unwrap();
            call(entries, ToolKind::Edit, "Edit", path, true);
            finish(entries, outcome(ToolStatus::Error, None, error));
        }
        "ok" => finish(entries, outcome(ToolStatus::Ok, None, text)),
        "fail" => finish(entries, outcome(ToolStatus::Error, code, text)),
        "reject" => {
            finish(
                entries,
                outcome(ToolStatus::Rejected, None, "The user doesn't want to proceed with this tool use."),
            );
            if !text.is_empty() {
                push(entries, EntryKind::Answer, text, None);
            }
        }
        "interrupt" => {
            finish(entries, outcome(ToolStatus::Rejected, None, "[Request interrupted by user for tool use]"));
            push(entries, EntryKind::Interruption, "[Request interrupted by user for tool use]", None);
        }
        other => assert_eq!(other, "", "no such step"),
    }
}

/// A call; tools for files succeed unless the next step says otherwise.
fn call(entries: &mut Vec<Entry>, kind: ToolKind, name: &str, target: &str, succeeds: bool) {
    let is_file = matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Read);
    let path = if target.starts_with('/') { target.to_owned() } else { format!("/p/{target}") };
    let target = if is_file { path.clone() } else { target.to_owned() };
    let text = format!("{name} {target}");
    let tool = ToolUse {
        name: name.to_owned(),
        kind: Some(kind),
        target,
        arguments: String::new(),
        paths: if is_file { vec![path] } else { Vec::new() },
        outcome: succeeds.then(|| outcome(ToolStatus::Ok, None, "")),
        body: None,
    };
    push(entries, EntryKind::Call, &text, Some(tool));
}

fn outcome(status: ToolStatus, exit_code: Option<i32>, text: &str) -> ToolOutcome {
    let error = match status {
        ToolStatus::Ok => None,
        ToolStatus::Error => identifying_line(text).or_else(|| Some(first_line(text).to_owned())),
        ToolStatus::Rejected => Some(text.to_owned()),
    };
    let (lines, bytes) = (text.lines().count() as u64, text.len() as u64);
    ToolOutcome {
        status,
        summary: git_note(text).unwrap_or_default(),
        error,
        exit_code,
        lines,
        bytes,
        output: Some(text.to_owned()),
    }
}

/// Sets the outcome of the last call. The output of a successful command may still name a failure.
fn finish(entries: &mut [Entry], mut outcome: ToolOutcome) {
    let tool = entries.iter_mut().rev().find_map(|entry| entry.tool.as_mut()).unwrap();
    let output = outcome.output.take().unwrap_or_default();
    if outcome.status == ToolStatus::Ok && tool.kind == Some(ToolKind::Command) {
        outcome.error = failure_line(&output);
    }
    tool.outcome = Some(outcome);
}

fn push(entries: &mut Vec<Entry>, speech: EntryKind, text: &str, tool: Option<ToolUse>) {
    let seq = entries.len() as u64;
    let before = entries.last().and_then(|entry| entry.episode);
    let episode = if speech.starts_episode() { Some(before.map_or(0, |episode| episode + 1)) } else { before };
    entries.push(Entry {
        seq,
        native_id: format!("e{seq}"),
        location: EntryLocation { line: seq + 1, offset: seq * 100, length: 100 },
        at: Some(Timestamp::from_millis(1_780_000_000_000 + 1000 * seq as i64)),
        kind: speech,
        text: text.to_owned(),
        tool,
        episode,
        is_abandoned: false,
    });
}
