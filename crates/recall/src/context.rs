//! Builds what a model gets of a thread: the latest summary, then every message it does not stand for.

use rethread_model::thread::{ChatMessage, ChatRole, Compaction, Message, Record, Stop};

/// What a model gets of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The messages, in the order of the log. They are not paired up yet.
    pub messages: Vec<ChatMessage>,
    /// Tokens they take: as the provider counted them where it did, else estimated.
    pub tokens: u64,
    /// The number of the compaction that was applied.
    pub compaction: Option<u64>,
}

/// Builds the context of a thread from the records of its log.
pub fn build_context(records: &[Record]) -> Context {
    let current = Current::of(records);
    let summary = current.compaction.map(|compaction| ChatMessage::user(wrapped(&compaction.summary)));
    let tokens = current.tokens(summary.as_ref());
    let messages = summary.into_iter().chain(current.messages.iter().copied().map(ChatMessage::from)).collect();
    Context { messages, tokens, compaction: current.compaction.map(|compaction| compaction.seq) }
}

/// The part of a log that the latest compaction left standing.
pub(crate) struct Current<'a> {
    /// The latest compaction.
    pub(crate) compaction: Option<&'a Compaction>,
    /// The messages it does not stand for, in the order of the log.
    pub(crate) messages: Vec<&'a Message>,
    /// How many of them were written before the compaction.
    pub(crate) older: usize,
}

impl<'a> Current<'a> {
    pub(crate) fn of(records: &'a [Record]) -> Self {
        let latest = records.iter().enumerate().rev().find_map(|(at, record)| match record {
            Record::Compaction(compaction) => Some((at, compaction)),
            _ => None,
        });
        let Some((at, compaction)) = latest else {
            return Self { compaction: None, messages: records.iter().filter_map(Record::message).collect(), older: 0 };
        };
        let before = records[..at].iter().filter_map(Record::message);
        let mut messages: Vec<&Message> = before.filter(|message| message.seq >= compaction.first_kept_seq).collect();
        let older = messages.len();
        messages.extend(records[at..].iter().filter_map(Record::message));
        Self { compaction: Some(compaction), messages, older }
    }

    /// A provider's count covers everything up to its answer, if the answer was given on this very context.
    fn tokens(&self, summary: Option<&ChatMessage>) -> u64 {
        let mut answers = self.messages.iter().enumerate().skip(self.older).rev();
        let counted = answers.find_map(|(at, message)| Some((at, usage(message)?)));
        let (from, known) = match counted {
            Some((at, usage)) => (at + 1, usage),
            None => (0, summary.map_or(0, ChatMessage::estimated_tokens)),
        };
        self.messages[from..].iter().fold(known, |sum, message| sum.saturating_add(message.estimated_tokens()))
    }
}

/// What a provider counted for an answer that came to its end. Some send zeros, which say nothing.
fn usage(message: &Message) -> Option<u64> {
    let failed = matches!(message.stop_reason, Some(Stop::Aborted | Stop::Error));
    let total = message.usage?.total();
    (message.role == ChatRole::Assistant && !failed && total > 0).then_some(total)
}

fn wrapped(summary: &str) -> String {
    format!(
        "The conversation history before this point was compacted into the following summary:\n\
         <summary>\n{summary}\n</summary>"
    )
}

#[cfg(test)]
mod tests {
    use rethread_model::thread::Block;
    use rethread_model::{Timestamp, Tokens};
    use serde_json::Map;

    use super::*;

    fn says(seq: u64, role: ChatRole, text: &str) -> Record {
        let mut message = Message::new(role, vec![Block::text(text)], Timestamp::default());
        message.seq = seq;
        Record::Message(message)
    }

    fn user(seq: u64, text: &str) -> Record {
        says(seq, ChatRole::User, text)
    }

    fn answer(seq: u64, text: &str, counted: u64, stop: Stop) -> Record {
        let mut record = says(seq, ChatRole::Assistant, text);
        if let Record::Message(message) = &mut record {
            message.usage = Some(Tokens { input: counted, output: 10, cache_read: 20, cache_write: 30 });
            message.stop_reason = Some(stop);
        }
        record
    }

    fn compaction(seq: u64, first_kept_seq: u64, summary: &str) -> Record {
        Record::Compaction(Compaction {
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

    fn check(records: &[Record], expect: &[&str]) {
        let texts: Vec<String> = build_context(records).messages.iter().map(ChatMessage::text).collect();
        assert_eq!(texts, expect);
    }

    #[test]
    fn s7_3_without_a_compaction_every_message_is_given_in_order() {
        let unknown = Record::Other(Map::new());
        check(&[user(1, "a"), unknown, says(2, ChatRole::Assistant, "b"), user(3, "c")], &["a", "b", "c"]);
        check(&[], &[]);
    }

    #[test]
    fn s7_11_a_compaction_replaces_what_is_before_the_first_kept() {
        let told = "The conversation history before this point was compacted into the following summary:\n<summary>\nS\n</summary>";
        let records = [user(1, "a"), user(2, "b"), user(3, "c"), compaction(4, 3, "S"), user(5, "d")];
        check(&records, &[told, "c", "d"]);
        let context = build_context(&records);
        assert_eq!(context.messages[0].role, ChatRole::User);
        assert_eq!(context.compaction, Some(4));
    }

    #[test]
    fn s004_13_only_the_latest_compaction_counts() {
        let told = "The conversation history before this point was compacted into the following summary:\n<summary>\nnew\n</summary>";
        let records =
            [user(1, "a"), user(2, "b"), compaction(3, 2, "old"), user(4, "c"), compaction(5, 4, "new"), user(6, "d")];
        check(&records, &[told, "c", "d"]);
        // What stands after the record is given whatever its number says, and only once.
        check(&[user(1, "a"), compaction(2, 9, "new"), user(3, "b")], &[told, "b"]);
        check(&[user(1, "a"), compaction(2, 1, "new"), user(3, "b")], &[told, "a", "b"]);
    }

    #[test]
    fn e004_24_real_usage_counts_and_the_tail_is_estimated() {
        let tokens = |records: &[Record]| build_context(records).tokens;
        let long = "x".repeat(400);
        assert_eq!(tokens(&[user(1, &long)]), 100);
        assert_eq!(tokens(&[user(1, &long), answer(2, "ok", 1000, Stop::End), user(3, &long)]), 1060 + 100);
        // Aborted answers and failed ones were counted only in part.
        for stop in [Stop::Aborted, Stop::Error] {
            let records = [user(1, "abcd"), answer(2, "ok", 500, Stop::End), answer(3, &long, 9000, stop)];
            assert_eq!(tokens(&records), 560 + 100);
        }
        // The count of an answer given before the compaction is of another context.
        let before = [user(1, &long), answer(2, &long, 9000, Stop::End), compaction(3, 2, "S")];
        let summary = build_context(&[compaction(1, 1, "S")]).tokens;
        assert_eq!(tokens(&before), summary + 100);
        let after = [&before[..], &[user(4, "hi"), answer(5, "ho", 700, Stop::ToolCalls)]].concat();
        assert_eq!(tokens(&after), 760);
    }
}
