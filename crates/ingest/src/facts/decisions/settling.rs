//! Applies a human's reply to what the model proposed or asked before: accepts, chooses, declines.

use rethread_model::{Fact, FactState, Trust};

use super::decision::{FactPosition, TrackedDecision};
use super::names::is_same_name;
use super::offered_text::OfferedText;
use super::replies::{self, ProposalReply};
use super::sentences::ProseSentence;
use super::{DecisionExtractor, offers};

impl DecisionExtractor {
    /// What the model's last text offers. An offer is what a reply answers, in place of the proposals before it.
    pub(super) fn take_offered(&mut self) -> OfferedText {
        let Some(last) = self.last_text.take() else { return OfferedText::default() };
        let offered = OfferedText::read(&last.text);
        let unasked = offered.recommendation.as_ref().filter(|_| self.open_proposals.is_empty());
        if let Some(offer) = offered.offer.as_ref().or(unasked) {
            let is_known = |open: &TrackedDecision| is_same_name(&open.subject, &offer.name);
            if !(self.open_proposals.len() == 1 && self.open_proposals.iter().any(is_known)) {
                self.set_offer(offer.clone(), last.position);
            }
        }
        offered
    }

    pub(super) fn clear_question(&mut self) {
        self.open_proposals.clear();
        self.last_text = None;
    }

    /// Applies a human's reply to what the model has just proposed or asked, and returns whether it chose an option.
    pub(super) fn apply_reply(
        &mut self,
        text: &str,
        sentences: &[ProseSentence<'_>],
        offered: &OfferedText,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) -> bool {
        let mut open = std::mem::take(&mut self.open_proposals);
        // What is the case was not chosen: "was the dump made by one or the other?"
        let asked_for_facts = offered.asks_for_facts && offered.options.is_empty();
        let chosen = if asked_for_facts { Vec::new() } else { offered.chosen(text, &self.earlier_options) };
        // What was chosen is no longer open, and a list of long ago is not meant.
        let is_left_open = chosen.is_empty() && !offered.options.is_empty();
        self.earlier_options = if is_left_open { offered.options.clone() } else { Vec::new() };
        if !chosen.is_empty() {
            let is_listed = |known: &TrackedDecision| {
                offered.options.iter().any(|option| is_same_name(&option.title, &known.subject))
            };
            let listed: Vec<TrackedDecision> = open.iter().filter(|known| is_listed(known)).cloned().collect();
            self.add_chosen(&chosen, &listed, position, facts);
            self.open_proposals = open;
            return true;
        }
        let first = sentences.first();
        let reply = first.and_then(replies::classify_reply);
        // "Anything you would change?" – "no".
        let reply = if offered.asks_for_changes && reply == Some(ProposalReply::Declines) && sentences.len() == 1 {
            Some(ProposalReply::Accepts)
        } else {
            reply
        };
        match reply {
            Some(ProposalReply::Accepts) if open.len() != 1 || offered.asks_for_work => {}
            Some(ProposalReply::Accepts | ProposalReply::AcceptsAll) => {
                self.settle_proposals(&open, FactState::Confirmed, position, facts);
            }
            Some(ProposalReply::Declines) => {
                let offer = offered.offer.as_ref().or(offered.recommendation.as_ref());
                let is_design = offer.is_some_and(|offer| offer.is_design);
                self.rename_declined(&mut open, is_design);
                self.settle_proposals(&open, FactState::Refuted, position, facts);
                if let (Some(first), [declined]) = (first, &open[..])
                    && let Some(subject) = replies::existing_alternative(first)
                {
                    let mut choice = TrackedDecision::stated(subject, first.text, position);
                    choice.object = Some(declined.subject.clone());
                    self.add(choice, position, facts);
                }
            }
            None => {}
        }
        // Decisions stated in the same text are compared with the proposals.
        self.open_proposals = open;
        false
    }

    /// Names a declined design so that its parts are not taken for ruled out, and a long offer by what it would bring in.
    fn rename_declined(&mut self, open: &mut [TrackedDecision], is_design: bool) {
        for declined in open {
            let Some(name) = offers::declined_name(&declined.subject, &declined.detail, is_design) else { continue };
            let is_same =
                |known: &&mut TrackedDecision| known.subject == declined.subject && known.line == declined.line;
            if let Some(known) = self.decisions.iter_mut().find(is_same).filter(|known| known.trust != Trust::Human) {
                known.subject.clone_from(&name);
                known.object = None;
            }
            declined.subject = name;
        }
    }

    /// Adds chosen options as decisions, and settles the proposals that they answer.
    fn add_chosen(
        &mut self,
        chosen: &[(String, String)],
        open: &[TrackedDecision],
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        let is_chosen = |known: &TrackedDecision| chosen.iter().any(|(name, _)| is_same_name(&known.subject, name));
        let (same, others): (Vec<TrackedDecision>, Vec<TrackedDecision>) = open.iter().cloned().partition(is_chosen);
        self.settle_proposals(&others, FactState::Refuted, position, facts);
        self.settle_proposals(&same, FactState::Confirmed, position, facts);
        for (subject, detail) in chosen {
            if !same.iter().any(|known| is_same_name(&known.subject, subject)) {
                self.add(TrackedDecision::stated(subject.clone(), detail, position), position, facts);
            }
        }
    }

    /// Sets the state of proposals according to a human's reply.
    pub(super) fn settle_proposals(
        &mut self,
        open: &[TrackedDecision],
        state: FactState,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        let is_open =
            |known: &TrackedDecision| open.iter().any(|one| one.subject == known.subject && one.line == known.line);
        self.set_state(is_open, state, position, facts);
    }
}
