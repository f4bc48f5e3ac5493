//! Texts typed while the agent was busy. Each counts once, however many traces it leaves in the transcript.

use serde::{Deserialize, Serialize};

use crate::{EntryWay, Typed};

/// Texts whose later traces are still to be expected.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue(Vec<Waiting>);

/// More than anybody types ahead; bounds what is remembered of texts that left no further trace.
const LONGEST: usize = 128;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    /// What was typed and the entry it was stored as; nothing for what only takes a place.
    typed: Option<(u64, u64)>,
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
        self.add(Some((fingerprint, seq)));
    }

    /// Something that is no prompt took a place.
    pub(crate) fn filled(&mut self) {
        self.add(None);
    }

    pub(crate) fn sent(&mut self, which: Option<u64>) {
        self.advance(which, Step::Sent);
    }

    pub(crate) fn slipped(&mut self, which: Option<u64>) {
        self.advance(which, Step::Slipped);
    }

    /// Everything still waiting went back to the input field; the entries it had been stored as.
    pub(crate) fn taken_back(&mut self) -> Vec<u64> {
        let (back, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|waiting| waiting.at == Step::Queued);
        self.0 = rest;
        back.into_iter().filter_map(|waiting| waiting.typed).map(|(_, seq)| seq).collect()
    }

    /// The entry that a text which just came in was stored as when it was typed.
    pub(crate) fn repeats(&mut self, typed: Typed) -> Option<u64> {
        let may_be = |waiting: &Waiting| match typed.way {
            EntryWay::Aside => true,
            // What slipped into a turn never comes back as a line: the same words there were typed again.
            EntryWay::Line => waiting.at != Step::Slipped,
        };
        let fits =
            |waiting: &Waiting| waiting.typed.is_some_and(|(text, _)| text == typed.fingerprint) && may_be(waiting);
        let at = self.0.iter().position(fits)?;
        let (_, seq) = self.0[at].typed.take()?;
        // If the queue has not yet said that it is gone, its place stays for that step.
        if self.0[at].at != Step::Queued {
            self.0.remove(at);
        }
        Some(seq)
    }

    /// Follows entries to their new places; those that are gone leave only their own place in the queue.
    pub(crate) fn renumber(&mut self, place: &dyn Fn(u64) -> Option<u64>) {
        for waiting in &mut self.0 {
            waiting.typed = waiting.typed.and_then(|(text, seq)| Some((text, place(seq)?)));
        }
        self.0.retain(|waiting| waiting.typed.is_some() || waiting.at == Step::Queued);
    }

    fn add(&mut self, typed: Option<(u64, u64)>) {
        if self.0.len() == LONGEST {
            self.0.remove(0);
        }
        self.0.push(Waiting { typed, at: Step::Queued });
    }

    /// Moves the text that is meant, else the oldest; a place without a text is done with.
    fn advance(&mut self, which: Option<u64>, to: Step) {
        let named = |waiting: &Waiting| which.is_some() && waiting.typed.map(|(text, _)| text) == which;
        let queued = |waiting: &Waiting| waiting.at == Step::Queued;
        let found = self.0.iter().position(|waiting| queued(waiting) && named(waiting));
        let Some(at) = found.or_else(|| self.0.iter().position(queued)) else { return };
        self.0[at].at = to;
        self.0.retain(|waiting| waiting.typed.is_some() || waiting.at == Step::Queued);
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
        queue.sent(None);
        assert_eq!(queue.repeats(typed("go on ", EntryWay::Line)), Some(3));
        assert_eq!(queue.repeats(typed("go on", EntryWay::Line)), None, "typed a second time");
    }

    #[test]
    fn a_text_that_slipped_into_a_turn_is_recognised_beside_a_result_but_not_on_a_line() {
        let mut queue = Queue::default();
        queue.typed(print("continue"), 1);
        queue.slipped(None);
        assert_eq!(queue.clone().repeats(typed("continue", EntryWay::Line)), None);
        assert_eq!(queue.repeats(typed("continue", EntryWay::Aside)), Some(1));
    }

    #[test]
    fn notifications_and_bare_commands_hold_a_place() {
        let mut queue = Queue::default();
        queue.filled();
        queue.typed(print("a"), 1);
        queue.slipped(None);
        assert_eq!(queue.repeats(typed("a", EntryWay::Line)), Some(1), "the notification slipped, not the text");
    }

    #[test]
    fn a_step_that_names_its_text_moves_that_one() {
        let mut queue = Queue::default();
        queue.typed(print("a"), 1);
        queue.typed(print("b"), 2);
        queue.slipped(Some(print("b")));
        assert_eq!(queue.taken_back(), vec![1]);
    }

    #[test]
    fn a_line_that_comes_before_its_step_keeps_the_place_for_it() {
        let mut queue = Queue::default();
        queue.typed(print("a"), 1);
        queue.typed(print("b"), 2);
        assert_eq!(queue.repeats(typed("a", EntryWay::Line)), Some(1));
        queue.sent(None);
        assert_eq!(queue.taken_back(), vec![2]);
    }

    #[test]
    fn only_what_still_waits_can_be_taken_back() {
        let mut queue = Queue::default();
        queue.typed(print("a"), 1);
        queue.typed(print("b"), 2);
        queue.slipped(None);
        assert_eq!(queue.taken_back(), vec![2]);
        assert_eq!(queue.repeats(typed("b", EntryWay::Line)), None);
    }
}
