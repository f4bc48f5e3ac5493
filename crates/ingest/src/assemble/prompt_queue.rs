//! The queue of prompts typed while the agent was busy. Each counts once, however often it appears in the transcript.

use serde::{Deserialize, Serialize};

use crate::{PromptDelivery, PromptOrigin};

/// Prompts that are expected to appear again in the transcript.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PromptQueue(Vec<QueuedPrompt>);

/// More prompts than users queue; bounds the memory for prompts that never appear again.
const MAX_QUEUED: usize = 128;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct QueuedPrompt {
    /// Fingerprint of the prompt and `seq` of its entry; `None` for an item that is not a prompt.
    typed: Option<(u64, u64)>,
    state: QueuedPromptState,
    /// The model has answered since it was sent. The same words later are typed again.
    #[serde(default)]
    is_answered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum QueuedPromptState {
    Queued,
    /// Sent on a separate line that has not been read yet.
    Sent,
    /// Given to the model during its turn; it may still appear as a queued command.
    SentMidTurn,
}

impl PromptQueue {
    /// Adds a prompt that was stored as entry `seq`.
    pub(crate) fn add_prompt(&mut self, fingerprint: u64, seq: u64) {
        self.add(Some((fingerprint, seq)));
    }

    /// Puts a prompt that was sent but has not been read on a line back into the queue. Agents do so when they take a
    /// prompt out before they are ready for it.
    pub(crate) fn queue_again(&mut self, fingerprint: u64) -> bool {
        let is_same = |waiting: &QueuedPrompt| {
            let is_same = waiting.typed.is_some_and(|(text, _)| text == fingerprint);
            is_same && waiting.state == QueuedPromptState::Sent && !waiting.is_answered
        };
        let Some(at) = self.0.iter().position(is_same) else { return false };
        let waiting = self.0.remove(at);
        self.0.push(QueuedPrompt { state: QueuedPromptState::Queued, ..waiting });
        true
    }

    /// Notes that the model answered: what was sent before is no longer put back into the queue.
    pub(crate) fn mark_answered(&mut self) {
        for waiting in self.0.iter_mut().filter(|waiting| waiting.state == QueuedPromptState::Sent) {
            waiting.is_answered = true;
        }
    }

    /// Adds an item that is not a prompt.
    pub(crate) fn add_other(&mut self) {
        self.add(None);
    }

    pub(crate) fn mark_sent(&mut self, which: Option<u64>) {
        self.advance(which, QueuedPromptState::Sent);
    }

    pub(crate) fn mark_sent_mid_turn(&mut self, which: Option<u64>) {
        self.advance(which, QueuedPromptState::SentMidTurn);
    }

    /// Removes everything still queued, because it went back to the input field; returns the entries it was stored as.
    pub(crate) fn retract_queued(&mut self) -> Vec<u64> {
        let (back, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|waiting| waiting.state == QueuedPromptState::Queued);
        self.0 = rest;
        back.into_iter().filter_map(|waiting| waiting.typed).map(|(_, seq)| seq).collect()
    }

    /// Matches a prompt that was just read with a queued one and returns the entry of the queued one.
    pub(crate) fn take_match(&mut self, typed: PromptOrigin) -> Option<u64> {
        let may_be = |waiting: &QueuedPrompt| match typed.delivery {
            PromptDelivery::Inline => true,
            // A prompt given mid-turn never appears as a line again: the same words there were typed again.
            PromptDelivery::OwnLine => waiting.state != QueuedPromptState::SentMidTurn,
        };
        let fits = |waiting: &QueuedPrompt| {
            waiting.typed.is_some_and(|(text, _)| text == typed.fingerprint) && may_be(waiting)
        };
        let at = self.0.iter().position(fits)?;
        let (_, seq) = self.0[at].typed.take()?;
        // The queue step that removes it has not been read yet, so the item stays for that step.
        if self.0[at].state != QueuedPromptState::Queued {
            self.0.remove(at);
        }
        Some(seq)
    }

    /// Updates entry numbers; removed entries leave an empty item in the queue.
    pub(crate) fn renumber(&mut self, new_seq: &dyn Fn(u64) -> Option<u64>) {
        for waiting in &mut self.0 {
            waiting.typed = waiting.typed.and_then(|(text, seq)| Some((text, new_seq(seq)?)));
        }
        self.0.retain(|waiting| waiting.typed.is_some() || waiting.state == QueuedPromptState::Queued);
    }

    fn add(&mut self, typed: Option<(u64, u64)>) {
        if self.0.len() == MAX_QUEUED {
            self.0.remove(0);
        }
        self.0.push(QueuedPrompt { typed, state: QueuedPromptState::Queued, is_answered: false });
    }

    /// Advances the matching prompt, else the oldest; an item without a prompt is removed.
    fn advance(&mut self, which: Option<u64>, to: QueuedPromptState) {
        let named = |waiting: &QueuedPrompt| which.is_some() && waiting.typed.map(|(text, _)| text) == which;
        let queued = |waiting: &QueuedPrompt| waiting.state == QueuedPromptState::Queued;
        let found = self.0.iter().position(|waiting| queued(waiting) && named(waiting));
        let Some(at) = found.or_else(|| self.0.iter().position(queued)) else { return };
        self.0[at].state = to;
        self.0.retain(|waiting| waiting.typed.is_some() || waiting.state == QueuedPromptState::Queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, way: PromptDelivery) -> PromptOrigin {
        PromptOrigin::new(text, way)
    }

    fn print(text: &str) -> u64 {
        typed(text, PromptDelivery::OwnLine).fingerprint
    }

    #[test]
    fn queued_prompt_is_recognized_on_the_line_that_sends_it() {
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("go on"), 3);
        queue.mark_sent(None);
        assert_eq!(queue.take_match(typed("go on ", PromptDelivery::OwnLine)), Some(3));
        assert_eq!(queue.take_match(typed("go on", PromptDelivery::OwnLine)), None, "typed a second time");
    }

    #[test]
    fn prompt_that_is_queued_again_before_its_line_is_the_same_prompt() {
        // D2
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("go on"), 3);
        assert!(!queue.queue_again(print("go on")), "still in the queue: typed twice");
        for _ in 0..7 {
            queue.mark_sent(None);
            assert!(queue.queue_again(print("go on")));
        }
        queue.mark_sent(None);
        assert_eq!(queue.take_match(typed("go on", PromptDelivery::OwnLine)), Some(3));
        assert!(!queue.queue_again(print("go on")), "its line was read: typed again");
    }

    #[test]
    fn the_same_words_after_an_answer_are_typed_again() {
        // D2
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("continue"), 3);
        queue.mark_sent(None);
        queue.mark_answered();
        assert!(!queue.queue_again(print("continue")));
    }

    #[test]
    fn mid_turn_prompt_is_recognized_beside_a_result_but_not_on_a_line() {
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("continue"), 1);
        queue.mark_sent_mid_turn(None);
        assert_eq!(queue.clone().take_match(typed("continue", PromptDelivery::OwnLine)), None);
        assert_eq!(queue.take_match(typed("continue", PromptDelivery::Inline)), Some(1));
    }

    #[test]
    fn notifications_and_bare_commands_occupy_the_queue() {
        let mut queue = PromptQueue::default();
        queue.add_other();
        queue.add_prompt(print("a"), 1);
        queue.mark_sent_mid_turn(None);
        assert_eq!(
            queue.take_match(typed("a", PromptDelivery::OwnLine)),
            Some(1),
            "the notification was sent mid-turn, not the prompt"
        );
    }

    #[test]
    fn step_with_a_fingerprint_advances_that_prompt() {
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("a"), 1);
        queue.add_prompt(print("b"), 2);
        queue.mark_sent_mid_turn(Some(print("b")));
        assert_eq!(queue.retract_queued(), vec![1]);
    }

    #[test]
    fn line_read_before_its_step_keeps_the_queue_item() {
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("a"), 1);
        queue.add_prompt(print("b"), 2);
        assert_eq!(queue.take_match(typed("a", PromptDelivery::OwnLine)), Some(1));
        queue.mark_sent(None);
        assert_eq!(queue.retract_queued(), vec![2]);
    }

    #[test]
    fn only_queued_prompts_can_be_retracted() {
        let mut queue = PromptQueue::default();
        queue.add_prompt(print("a"), 1);
        queue.add_prompt(print("b"), 2);
        queue.mark_sent_mid_turn(None);
        assert_eq!(queue.retract_queued(), vec![2]);
        assert_eq!(queue.take_match(typed("b", PromptDelivery::OwnLine)), None);
    }
}
