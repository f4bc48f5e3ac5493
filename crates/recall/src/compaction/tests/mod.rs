//! Tests of compaction on short threads. The ids in comments refer to the specification.

mod cutting;
mod fallback;
mod files;
mod requests;

use rethread_model::Timestamp;
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMessage, ThreadRecord};
use serde_json::Value;

use super::{CompactionPlan, CompactionSettings, SummaryError, SummaryRequest, plan_compaction};

/// Builds the records of a thread message by message.
#[derive(Clone, Debug, Default)]
struct TestThreadRecords(Vec<ThreadRecord>);

impl TestThreadRecords {
    fn user(self, text: &str) -> Self {
        self.with_message(ThreadMessage::new(ChatRole::User, vec![ContentBlock::text(text)], Timestamp::default()))
    }

    fn assistant(self, text: &str) -> Self {
        self.assistant_with_calls(text, &[])
    }

    /// An answer with calls: id, tool, arguments as JSON.
    fn assistant_with_calls(self, text: &str, calls: &[(&str, &str, Value)]) -> Self {
        let mut content = vec![ContentBlock::text(text)];
        content.extend(calls.iter().map(|(id, name, arguments)| ContentBlock::ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }));
        self.with_message(ThreadMessage::new(ChatRole::Assistant, content, Timestamp::default()))
    }

    fn result(self, call: &str, text: &str) -> Self {
        self.with_message(ThreadMessage::tool_result(call, vec![ContentBlock::text(text)], false, Timestamp::default()))
    }

    fn failed_result(self, call: &str, text: &str) -> Self {
        self.with_message(ThreadMessage::tool_result(call, vec![ContentBlock::text(text)], true, Timestamp::default()))
    }

    fn compacted(self, plan: &CompactionPlan, summary: &str) -> Self {
        self.with_record(ThreadRecord::Compaction(plan.record(summary, Timestamp::default())))
    }

    fn with_message(self, message: ThreadMessage) -> Self {
        self.with_record(ThreadRecord::Message(message))
    }

    fn with_record(mut self, mut record: ThreadRecord) -> Self {
        record.set_seq(self.0.len() as u64 + 1);
        self.0.push(record);
        self
    }

    fn plan(&self, keep_recent_tokens: u64) -> Option<CompactionPlan> {
        plan_compaction(&self.0, &settings_keeping(keep_recent_tokens))
    }
}

fn settings_keeping(keep_recent_tokens: u64) -> CompactionSettings {
    CompactionSettings { keep_recent_tokens, ..CompactionSettings::default() }
}

/// A text of that many tokens.
fn long(tokens: usize) -> String {
    "abc ".repeat(tokens)
}

/// A valid summary, as a model could write it.
fn valid_summary(goal: &str) -> String {
    format!(
        "## Goal\n{goal}\n\n## Constraints & Preferences\n- (none)\n\n## Progress\n### Done\n- [x] Began\n\n\
         ### In Progress\n- [ ] (none)\n\n### Blocked\n- (none)\n\n## Key Decisions\n- **Rust**: it is fast\n\n\
         ## Next Steps\n1. Go on\n\n## Critical Context\n- Port 8080"
    )
}

/// Runs `summarize` with a model that gives these answers in turn. Also returns the requests it got.
fn summarize_with(
    plan: &CompactionPlan,
    focus: Option<&str>,
    room_tokens: u64,
    answers: &[&str],
) -> (Result<String, SummaryError<String>>, Vec<SummaryRequest>) {
    let mut requests = Vec::new();
    let mut answers = answers.iter();
    let summary = plan.summarize(focus, room_tokens, &mut |request: &SummaryRequest| {
        requests.push(request.clone());
        answers.next().map(|answer| (*answer).to_owned()).ok_or_else(|| "no more answers".to_owned())
    });
    (summary, requests)
}

/// Enough tokens for any request of these tests.
const LARGE_WINDOW: u64 = 100_000;
