//! Builds the context a model gets of a thread: the latest summary, then every message it does not replace.

use std::collections::BTreeMap;

use rethread_model::thread::{
    ChatMessage, ChatRole, Compaction, ContentBlock, StopReason, ThreadInjection, ThreadMessage, ThreadRecord,
};

/// System prompt of a thread whose program gives none.
pub const DEFAULT_SYSTEM_PROMPT: &str = "You are a helpful assistant.";

/// The context a model gets of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelContext {
    /// Messages in log order. Tool calls and results are not paired yet.
    pub messages: Vec<ChatMessage>,
    /// Token count: as reported by the provider where available, else estimated.
    pub tokens: u64,
    /// Sequence number of the compaction that was applied.
    pub compaction_seq: Option<u64>,
}

/// Builds the context of a thread from the records of its log.
pub fn build_context(records: &[ThreadRecord]) -> ModelContext {
    let current = ActiveRecords::from_records(records);
    let summary = current.compaction.map(|compaction| ChatMessage::user(wrap_summary(&compaction.summary)));
    let tokens = current.token_count(summary.as_ref());
    let messages =
        summary.into_iter().chain(current.messages.iter().map(|message| current.chat_message(message))).collect();
    ModelContext { messages, tokens, compaction_seq: current.compaction.map(|compaction| compaction.seq) }
}

/// The part of a log that is in effect after the latest compaction.
pub(crate) struct ActiveRecords<'a> {
    pub(crate) compaction: Option<&'a Compaction>,
    /// Messages the compaction does not replace, in log order.
    pub(crate) messages: Vec<&'a ThreadMessage>,
    /// How many of them were written before the compaction.
    pub(crate) older_count: usize,
    /// Injected texts by the number of the message they belong to.
    injections: BTreeMap<u64, &'a ThreadInjection>,
}

impl<'a> ActiveRecords<'a> {
    pub(crate) fn from_records(records: &'a [ThreadRecord]) -> Self {
        let injections = records.iter().filter_map(|record| match record {
            ThreadRecord::Injection(injection) => Some((injection.seq + 1, injection)),
            _ => None,
        });
        let injections = injections.collect();
        let latest = records.iter().enumerate().rev().find_map(|(at, record)| match record {
            ThreadRecord::Compaction(compaction) => Some((at, compaction)),
            _ => None,
        });
        let Some((at, compaction)) = latest else {
            return Self {
                compaction: None,
                messages: records.iter().filter_map(ThreadRecord::message).collect(),
                older_count: 0,
                injections,
            };
        };
        let before = records[..at].iter().filter_map(ThreadRecord::message);
        let mut messages: Vec<&ThreadMessage> =
            before.filter(|message| message.seq >= compaction.first_kept_seq).collect();
        let older = messages.len();
        messages.extend(records[at..].iter().filter_map(ThreadRecord::message));
        Self { compaction: Some(compaction), messages, older_count: older, injections }
    }

    /// The message as a model gets it: with the text that was injected before it.
    fn chat_message(&self, message: &ThreadMessage) -> ChatMessage {
        let mut chat = ChatMessage::from(message);
        if let Some(injection) = self.injections.get(&message.seq).filter(|_| message.role == ChatRole::User) {
            chat.content.insert(0, ContentBlock::text(injection.text.as_str()));
        }
        chat
    }

    /// A provider's count covers everything up to its answer, but only if the answer was given on this same context.
    fn token_count(&self, summary: Option<&ChatMessage>) -> u64 {
        let mut answers = self.messages.iter().enumerate().skip(self.older_count).rev();
        let counted = answers.find_map(|(at, message)| Some((at, reported_usage(message)?)));
        let (from, known) = match counted {
            Some((at, usage)) => (at + 1, usage),
            None => (0, summary.map_or(0, ChatMessage::estimated_tokens)),
        };
        self.messages[from..].iter().fold(known, |sum, message| {
            let injected = self.injections.get(&message.seq).map_or(0, |injection| injection.estimated_tokens());
            sum.saturating_add(message.estimated_tokens()).saturating_add(injected)
        })
    }
}

/// Tokens the provider reported for a completed answer. Some report zeros, which are ignored.
fn reported_usage(message: &ThreadMessage) -> Option<u64> {
    let failed = matches!(message.stop_reason, Some(StopReason::Aborted | StopReason::Error));
    let total = message.usage?.total();
    (message.role == ChatRole::Assistant && !failed && total > 0).then_some(total)
}

fn wrap_summary(summary: &str) -> String {
    format!(
        "The conversation history before this point was compacted into the following summary:\n\
         <summary>\n{summary}\n</summary>"
    )
}

#[cfg(test)]
mod tests {
    use rethread_model::{Timestamp, Tokens};
    use serde_json::Map;

    use super::*;

    fn message_record(seq: u64, role: ChatRole, text: &str) -> ThreadRecord {
        let mut message = ThreadMessage::new(role, vec![ContentBlock::text(text)], Timestamp::default());
        message.seq = seq;
        ThreadRecord::Message(message)
    }

    fn user(seq: u64, text: &str) -> ThreadRecord {
        message_record(seq, ChatRole::User, text)
    }

    fn answer(seq: u64, text: &str, counted: u64, stop: StopReason) -> ThreadRecord {
        let mut record = message_record(seq, ChatRole::Assistant, text);
        if let ThreadRecord::Message(message) = &mut record {
            message.usage = Some(Tokens { input: counted, output: 10, cache_read: 20, cache_write: 30 });
            message.stop_reason = Some(stop);
        }
        record
    }

    fn compaction(seq: u64, first_kept_seq: u64, summary: &str) -> ThreadRecord {
        ThreadRecord::Compaction(Compaction {
            seq,
            first_kept_seq,
            summary: summary.to_owned(),
            tokens_before: 0,
            read_files: vec![],
            modified_files: vec![],
            timestamp: Timestamp::default(),
            extra: Map::new(),
        })
    }

    fn check(records: &[ThreadRecord], expect: &[&str]) {
        let texts: Vec<String> = build_context(records).messages.iter().map(ChatMessage::text).collect();
        assert_eq!(texts, expect);
    }

    #[test]
    fn without_a_compaction_every_message_is_included_in_order() {
        // S7.3
        let unknown = ThreadRecord::Other(Map::new());
        check(&[user(1, "a"), unknown, message_record(2, ChatRole::Assistant, "b"), user(3, "c")], &["a", "b", "c"]);
        check(&[], &[]);
    }

    #[test]
    fn a_compaction_replaces_everything_before_the_first_kept_message() {
        // S7.11
        let rendered = "The conversation history before this point was compacted into the following summary:\n<summary>\nS\n</summary>";
        let records = [user(1, "a"), user(2, "b"), user(3, "c"), compaction(4, 3, "S"), user(5, "d")];
        check(&records, &[rendered, "c", "d"]);
        let context = build_context(&records);
        assert_eq!(context.messages[0].role, ChatRole::User);
        assert_eq!(context.compaction_seq, Some(4));
    }

    #[test]
    fn an_injection_precedes_its_message() {
        // D32
        let injection = ThreadRecord::Injection(ThreadInjection {
            seq: 2,
            text: "other sessions".to_owned(),
            sections: Vec::new(),
            run_id: None,
            timestamp: Timestamp::default(),
            extra: Map::new(),
        });
        let records = [user(1, "a"), injection, user(3, "b")];
        check(&records, &["a", "other sessions\nb"]);
        assert_eq!(build_context(&records).tokens, 1 + 4 + 1);
        // A compaction that replaces the message replaces the injection too.
        let rendered = "The conversation history before this point was compacted into the following summary:\n<summary>\nS\n</summary>";
        check(&[&records[..], &[compaction(4, 4, "S"), user(5, "c")]].concat(), &[rendered, "c"]);
    }

    #[test]
    fn only_the_latest_compaction_counts() {
        // S004-13
        let rendered = "The conversation history before this point was compacted into the following summary:\n<summary>\nnew\n</summary>";
        let records =
            [user(1, "a"), user(2, "b"), compaction(3, 2, "old"), user(4, "c"), compaction(5, 4, "new"), user(6, "d")];
        check(&records, &[rendered, "c", "d"]);
        // Messages after the record are included whatever their number, and only once.
        check(&[user(1, "a"), compaction(2, 9, "new"), user(3, "b")], &[rendered, "b"]);
        check(&[user(1, "a"), compaction(2, 1, "new"), user(3, "b")], &[rendered, "a", "b"]);
    }

    #[test]
    fn reported_usage_counts_and_the_tail_is_estimated() {
        // E004-24
        let tokens = |records: &[ThreadRecord]| build_context(records).tokens;
        let long = "x".repeat(400);
        assert_eq!(tokens(&[user(1, &long)]), 100);
        assert_eq!(tokens(&[user(1, &long), answer(2, "ok", 1000, StopReason::End), user(3, &long)]), 1060 + 100);
        // Aborted and failed answers have incomplete counts.
        for stop in [StopReason::Aborted, StopReason::Error] {
            let records = [user(1, "abcd"), answer(2, "ok", 500, StopReason::End), answer(3, &long, 9000, stop)];
            assert_eq!(tokens(&records), 560 + 100);
        }
        // The count of an answer given before the compaction belongs to another context.
        let before = [user(1, &long), answer(2, &long, 9000, StopReason::End), compaction(3, 2, "S")];
        let summary = build_context(&[compaction(1, 1, "S")]).tokens;
        assert_eq!(tokens(&before), summary + 100);
        let after = [&before[..], &[user(4, "hi"), answer(5, "ho", 700, StopReason::ToolCalls)]].concat();
        assert_eq!(tokens(&after), 760);
    }
}
