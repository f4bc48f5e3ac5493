//! Texts typed while the agent was busy. Each counts once, however many traces it leaves in the transcript.

use serde::{Deserialize, Serialize};

use crate::{EntryWay, Typed};

/// Texts whose later traces are still to be expected.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue(Vec<Waiting>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    fingerprint: u64,
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
    pub(crate) fn typed(&mut self, fingerprint: u64, seq: u64) {
        self.0.push(Waiting { fingerprint, seq, at: Step::Queued });
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
    pub(crate) fn repeats(&mut self, typed: Typed) -> Option<u64> {
        let may_be = |waiting: &Waiting| match typed.way {
            EntryWay::Aside => true,
            // What slipped into a turn never comes back as a line: the same words there were typed again.
            EntryWay::Line => waiting.at != Step::Slipped,
        };
        let found = self.0.iter().position(|waiting| waiting.fingerprint == typed.fingerprint && may_be(waiting));
        if found.is_none() && typed.way == EntryWay::Line {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, way: EntryWay) -> Typed {
        Typed::new(text, way)
    }

    fn print(text: &str) -> u64 {
        typed(text, EntryWay::Line).fingerprint
    }

    #[test]
    fn a_queued_text_is_recognised_on_the_line_that_sends_it() {
        let mut queue = Queue::default();
        queue.typed(print("go on"), 3);
        queue.sent();
        assert_eq!(queue.repeats(typed("go on ", EntryWay::Line)), Some(3));
        assert_eq!(queue.repeats(typed("go on", EntryWay::Line)), None, "typed a second time");
    }

    #[test]
    fn a_text_that_slipped_into_a_turn_is_recognised_beside_a_result_but_not_on_a_line() {
        let mut queue = Queue::default();
        queue.typed(print("continue"), 1);
        queue.slipped();
        assert_eq!(queue.clone().repeats(typed("continue", EntryWay::Line)), None);
        assert_eq!(queue.repeats(typed("continue", EntryWay::Aside)), Some(1));
    }

    #[test]
    fn only_what_still_waits_can_be_taken_back() {
        let mut queue = Queue::default();
        queue.typed(print("a"), 1);
        queue.typed(print("b"), 2);
        queue.slipped();
        assert_eq!(queue.taken_back(), vec![2]);
        assert_eq!(queue.repeats(typed("b", EntryWay::Line)), None);
    }
}
