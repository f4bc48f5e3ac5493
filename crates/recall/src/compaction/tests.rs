//! What compaction promises, told by short threads. The ids are those of the design and of its lessons.

mod asking;
mod cutting;
mod fallback;
mod files;

use rethread_model::Timestamp;
use rethread_model::thread::{Block, ChatRole, Message, Record};
use serde_json::Value;

use super::{CompactionSettings, Plan, SummaryError, SummaryRequest, plan};

/// A thread that is written down as it is talked.
#[derive(Clone, Debug, Default)]
struct Thread(Vec<Record>);

impl Thread {
    fn user(self, text: &str) -> Self {
        self.with(Message::new(ChatRole::User, vec![Block::text(text)], Timestamp::default()))
    }

    fn says(self, text: &str) -> Self {
        self.calls(text, &[])
    }

    /// An answer with calls: id, tool, arguments as JSON.
    fn calls(self, text: &str, calls: &[(&str, &str, Value)]) -> Self {
        let mut content = vec![Block::text(text)];
        content.extend(calls.iter().map(|(id, name, arguments)| Block::ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }));
        self.with(Message::new(ChatRole::Assistant, content, Timestamp::default()))
    }

    fn result(self, call: &str, text: &str) -> Self {
        self.with(Message::result(call, vec![Block::text(text)], false, Timestamp::default()))
    }

    fn fails(self, call: &str, text: &str) -> Self {
        self.with(Message::result(call, vec![Block::text(text)], true, Timestamp::default()))
    }

    fn compacted(self, plan: &Plan, summary: &str) -> Self {
        self.and(Record::Compaction(plan.record(summary, Timestamp::default())))
    }

    fn with(self, message: Message) -> Self {
        self.and(Record::Message(message))
    }

    fn and(mut self, mut record: Record) -> Self {
        record.set_seq(self.0.len() as u64 + 1);
        self.0.push(record);
        self
    }

    fn plan(&self, keep_recent_tokens: u64) -> Option<Plan> {
        plan(&self.0, &keeping(keep_recent_tokens))
    }
}

fn keeping(keep_recent_tokens: u64) -> CompactionSettings {
    CompactionSettings { keep_recent_tokens, ..CompactionSettings::default() }
}

/// A text of that many tokens.
fn long(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

/// A summary a model could have given.
fn structured(goal: &str) -> String {
    format!(
        "## Goal\n{goal}\n\n## Constraints & Preferences\n- (none)\n\n## Progress\n### Done\n- [x] Began\n\n\
         ### In Progress\n- [ ] (none)\n\n### Blocked\n- (none)\n\n## Key Decisions\n- **Rust**: it is fast\n\n\
         ## Next Steps\n1. Go on\n\n## Critical Context\n- Port 8080"
    )
}

/// Asks a model that gives these answers in turn; what it was asked is returned too.
fn asked(
    plan: &Plan,
    focus: Option<&str>,
    room: u64,
    answers: &[&str],
) -> (Result<String, SummaryError<String>>, Vec<SummaryRequest>) {
    let mut requests = Vec::new();
    let mut answers = answers.iter();
    let summary = plan.summarise(focus, room, &mut |request: &SummaryRequest| {
        requests.push(request.clone());
        answers.next().map(|answer| (*answer).to_owned()).ok_or_else(|| "no more answers".to_owned())
    });
    (summary, requests)
}

/// Room enough for any request of these tests.
const ROOM: u64 = 100_000;
