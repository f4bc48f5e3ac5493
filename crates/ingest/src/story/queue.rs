//! Texts typed while the agent was busy. Each counts once, however many traces it leaves in the transcript.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::EntryWay;

/// Texts whose later traces are still to be expected.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue(Vec<Waiting>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    text: u64,
    seq: u64,
    at: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Queued,
    /// Sent as a line of its own, which is still to come.
    Sent,
    /// Given to the model in the middle of its turn; a queued command may still show it.
    Slipped,
}

impl Queue {
    /// A text was typed and stored as entry `seq`.
    pub(crate) fn typed(&mut self, text: &str, seq: u64) {
        self.0.push(Waiting { text: fingerprint(text), seq, at: Step::Queued });
    }

    pub(crate) fn sent(&mut self) {
        self.advance(Step::Sent);
    }

    pub(crate) fn slipped(&mut self) {
        self.advance(Step::Slipped);
    }

    /// Everything still waiting went back to the input field; the entries it had been stored as.
    pub(crate) fn taken_back(&mut self) -> Vec<u64> {
        let (back, rest) = std::mem::take(&mut self.0).into_iter().partition(|waiting| waiting.at == Step::Queued);
        self.0 = rest;
        let back: Vec<Waiting> = back;
        back.into_iter().map(|waiting| waiting.seq).collect()
    }

    /// The entry that a text which just came in was stored as when it was typed.
    pub(crate) fn repeats(&mut self, text: &str, way: EntryWay) -> Option<u64> {
        let wanted = fingerprint(text);
        let may_be = |waiting: &Waiting| match way {
            EntryWay::Aside => true,
            // What slipped into a turn never comes back as a line: the same words there were typed again.
            EntryWay::Line => waiting.at != Step::Slipped,
        };
        let found = self.0.iter().position(|waiting| waiting.text == wanted && may_be(waiting));
        if found.is_none() && way == EntryWay::Line {
            self.0.retain(|waiting| waiting.at != Step::Slipped);
        }
        found.map(|at| self.0.remove(at).seq)
    }

    fn advance(&mut self, to: Step) {
        if let Some(oldest) = self.0.iter_mut().find(|waiting| waiting.at == Step::Queued) {
            oldest.at = to;
        }
    }
}

fn fingerprint(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_text_is_recognised_on_the_line_that_sends_it() {
        let mut queue = Queue::default();
        queue.typed("go on", 3);
        queue.sent();
        assert_eq!(queue.repeats("go on ", EntryWay::Line), Some(3));
        assert_eq!(queue.repeats("go on", EntryWay::Line), None, "typed a second time");
    }

    #[test]
    fn a_text_that_slipped_into_a_turn_is_recognised_beside_a_result_but_not_on_a_line() {
        let mut queue = Queue::default();
        queue.typed("continue", 1);
        queue.slipped();
        assert_eq!(queue.clone().repeats("continue", EntryWay::Line), None);
        assert_eq!(queue.repeats("continue", EntryWay::Aside), Some(1));
    }

    #[test]
    fn only_what_still_waits_can_be_taken_back() {
        let mut queue = Queue::default();
        queue.typed("a", 1);
        queue.typed("b", 2);
        queue.slipped();
        assert_eq!(queue.taken_back(), vec![2]);
        assert_eq!(queue.repeats("b", EntryWay::Line), None);
    }
}
