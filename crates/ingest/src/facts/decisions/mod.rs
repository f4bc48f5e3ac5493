//! Decisions and preferences: what the human decides and wants, and what the model proposes.
//!
//! Only a person's own words count. In doubt nothing is extracted: a wrong decision in a list does more harm than a
//! missing one.

mod classified;
mod conversation;
mod cues;
mod decision;
mod design;
mod forms;
mod instructions;
mod marked_names;
mod names;
mod numbered;
mod offered_text;
mod offers;
mod options;
mod picked_name;
mod plans;
mod polarity;
mod preferences;
mod proposals;
mod prose;
mod reasons;
mod replied_text;
mod replies;
mod rules;
mod sentences;
mod settling;
mod statements;

use rethread_model::{Entry, EntryKind, Fact, FactState, Predicate, Trust};
use serde::{Deserialize, Serialize};

use conversation::ConversationState;
pub use conversation::{ConversationSentence, conversation_sentences};
pub(super) use cues::may_diagnose;
use decision::{FactPosition, TrackedDecision, WrittenDecision, preference_fact};
use names::is_same_name;
use offered_text::OfferedText;
use offers::ModelOffer;
use options::OfferedOption;
use preferences::StatedPreference;
use reasons::{StatedSentence, reason_for};
use replied_text::RepliedText;
pub use rules::{StatedRule, preference_in};
use sentences::ProseSentence;
use statements::StatedDecision;

use super::sentence_model::{SentenceContext, StatementKind};

/// Number of recent decisions kept, so that a later one can supersede an earlier one.
const MAX_DECISIONS: usize = 16;
/// Maximum number of proposals that wait for an answer.
const MAX_PROPOSALS: usize = 8;
/// A longer reply to a question about facts may also decide something.
const MAX_FACT_WORDS: usize = 10;
/// A longer prompt hardly asks which of two things to take.
const MAX_QUESTION_BYTES: usize = 400;

/// The state of decision extraction, carried from one span of a session to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DecisionExtractor {
    /// Proposals in the model's last text that the human has not answered yet.
    open_proposals: Vec<TrackedDecision>,
    /// The model's last text, which a reply answers.
    last_text: Option<RepliedText>,
    /// The human's last text, if it puts things side by side.
    last_question: Option<String>,
    /// The last list of options that a reply left open.
    earlier_options: Vec<OfferedOption>,
    /// Whether the model continued working after that text.
    has_worked: bool,
    /// The most recent decisions.
    decisions: Vec<TrackedDecision>,
    conversation: ConversationState,
}

impl DecisionExtractor {
    /// Extracts decisions and preferences from the next entry of a session.
    pub(super) fn extract(&mut self, entry: &Entry, facts: &mut Vec<Fact>) {
        if entry.is_abandoned {
            return;
        }
        let position = FactPosition { line: entry.location.line, at: entry.at };
        let context = self.conversation.context(entry);
        match entry.kind {
            EntryKind::Prompt | EntryKind::Answer => self.extract_human(&entry.text, context, position, facts),
            EntryKind::Note => instructions::extract_note(&entry.text, position, facts),
            EntryKind::AssistantText => self.extract_assistant(&entry.text, position, facts),
            EntryKind::Call => self.has_worked = true,
            _ => {}
        }
        self.conversation.push(entry);
    }

    fn extract_assistant(&mut self, text: &str, position: FactPosition, facts: &mut Vec<Fact>) {
        if std::mem::take(&mut self.has_worked) {
            self.clear_question();
        }
        let before = self.last_text.take().map(|last| last.text);
        let text_so_far = before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}"));
        self.last_text = Some(RepliedText::new(&text_so_far, position));
        if cues::may_propose(text) {
            self.extract_proposals(text, position, facts);
        }
    }

    /// Makes an offer the only thing that a reply can accept or decline.
    fn set_offer(&mut self, offer: ModelOffer, position: FactPosition) {
        let mut choice = TrackedDecision::proposed(offer.name, &offer.text, None, position);
        choice.object = offer.rejected;
        self.open_proposals = vec![choice.clone()];
        self.track(choice);
    }

    fn extract_proposals(&mut self, text: &str, position: FactPosition, facts: &mut Vec<Fact>) {
        let lines = prose::prose_lines(text);
        let sentences = sentences::split_sentences(&lines);
        let proposed = sentences.iter().filter_map(|sentence| Some((proposals::find_proposal(sentence)?, sentence)));
        for (subject, sentence) in proposed.take(MAX_PROPOSALS) {
            self.add_proposal(subject, sentence, text, position, facts);
        }
        let recommended: Vec<OfferedOption> =
            options::find_options(text).into_iter().filter(|offer| offer.is_recommended).collect();
        if let [offer] = &recommended[..]
            && self.open_proposals.is_empty()
        {
            let choice = TrackedDecision::proposed(offer.title.clone(), &offer.text, None, position);
            self.open_proposals.push(choice.clone());
            self.add(choice, position, facts);
        }
    }

    fn add_proposal(
        &mut self,
        subject: String,
        sentence: &ProseSentence<'_>,
        text: &str,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        if self.open_proposals.iter().any(|open| is_same_name(&open.subject, &subject)) {
            return;
        }
        if sentence.masked.contains("instead") {
            let is_left = |known: &TrackedDecision| {
                known.state == FactState::Hypothesis && text.to_lowercase().contains(&known.subject.to_lowercase())
            };
            self.set_state(is_left, FactState::Superseded, position, facts);
        }
        let reason = reason_for(&subject, sentence);
        let mut choice = TrackedDecision::proposed(subject, sentence.text, reason, position);
        choice.object = proposals::rejected_option(sentence);
        if self.open_proposals.len() < MAX_PROPOSALS {
            self.open_proposals.push(choice.clone());
        }
        self.add(choice, position, facts);
    }

    fn extract_human(&mut self, text: &str, context: SentenceContext, position: FactPosition, facts: &mut Vec<Fact>) {
        let quoted = self.last_text.as_ref().map(|last| last.text.clone()).unwrap_or_default();
        let offered = self.take_offered();
        if plans::is_plan(text) {
            self.add_written(plans::planned_decisions(text), position, facts);
        } else {
            let mut answers = forms::form_answers(text);
            answers.extend(numbered::numbered_answers(&offered.numbered_questions, text));
            if answers.is_empty() {
                self.extract_reply(text, (&offered, &quoted), context, position, facts);
            }
            self.add_written(answers.iter().filter_map(forms::form_decision), position, facts);
        }
        self.clear_question();
        let is_question = text.len() <= MAX_QUESTION_BYTES && picked_name::sets_side_by_side(text);
        self.last_question = is_question.then(|| text.to_owned());
    }

    fn add_written(
        &mut self,
        written: impl IntoIterator<Item = WrittenDecision>,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        for made in written {
            let choice = TrackedDecision::stated(made.subject, &made.detail, position);
            self.add(TrackedDecision { state: made.state, reason: made.reason, ..choice }, position, facts);
        }
    }

    /// Extracts what a human's own words accept, choose, decline and state.
    fn extract_reply(
        &mut self,
        text: &str,
        (offered, replied): (&OfferedText, &str),
        context: SentenceContext,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        let lines = prose::human_prose(text);
        let mut sentences = sentences::split_sentences(&lines);
        // A ticket that is to be solved describes and proposes, but its reader has decided nothing.
        let is_ticket = prose::is_ticket(text);
        if is_ticket {
            sentences.truncate(1);
        }
        // What the human repeats of the model's text are the model's words.
        let is_own = replied_text::own_words(replied);
        sentences.retain(|sentence| is_own(sentence.text));
        let known = facts.len();
        let asked = self.last_question.take().unwrap_or_default();
        let pick = picked_name::find_pick(&sentences, replied, &asked).filter(|_| !offered.asks_for_facts);
        let used = pick.as_ref().map_or(1, |pick| pick.sentence_count);
        let has_chosen = match pick {
            Some(pick) => {
                self.add_pick(pick, position, facts);
                true
            }
            None => self.apply_reply(text, &sentences, offered, position, facts),
        };
        let has_settled = facts.len() > known;
        // "No, not esbuild" says what is the case if the text asked for the cause.
        if offered.asks_for_facts && text.split_whitespace().count() <= MAX_FACT_WORDS {
            return;
        }
        // The words that choose an option are no statement of their own.
        let rest = if has_chosen { sentences.get(used..).unwrap_or_default() } else { &sentences };
        let known = facts.len();
        self.extract_statements(rest, context, position, facts);
        let first = sentences.first().filter(|_| has_settled && (has_chosen || facts.len() == known));
        if let Some((first, made)) = first.and_then(|first| Some((first, replies::remark(first)?))) {
            let stated = StatedSentence { sentence: first, next: sentences.get(1) };
            self.add_decision(made, stated, position, facts);
        }
        if !is_ticket {
            instructions::extract_long_rules(text, position, facts);
        }
    }

    /// Extracts decisions and preferences that sentences state on their own.
    fn extract_statements(
        &mut self,
        sentences: &[ProseSentence<'_>],
        context: SentenceContext,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        for (at, sentence) in sentences.iter().enumerate() {
            let stated = StatedSentence { sentence, next: sentences.get(at + 1) };
            if cues::is_mixed(&sentence.masked) {
                continue;
            }
            if let Some(preference) = preferences::find_preference(sentence) {
                facts.push(preference_fact(preference, stated, position));
            } else if let Some(mut made) = statements::find_decision(sentence) {
                let retracted =
                    || replies::retracted_subject(sentence).filter(|other| !is_same_name(other, &made.chosen));
                made.rejected = made.rejected.clone().or_else(retracted);
                self.add_decision(made, stated, position, facts);
            } else if !self.retract(sentence, position, facts) && !self.accept_repeated(sentence, position, facts) {
                self.extract_classified(stated, context, position, facts);
            }
        }
    }

    /// Takes back earlier decisions that a sentence drops, and returns whether it does.
    fn retract(&mut self, sentence: &ProseSentence<'_>, position: FactPosition, facts: &mut Vec<Fact>) -> bool {
        let Some(subject) = replies::retracted_subject(sentence) else { return false };
        let known = facts.len();
        let is_match = |known: &TrackedDecision| {
            known.state == FactState::Confirmed && known.line < position.line && is_same_name(&known.subject, &subject)
        };
        self.set_state(is_match, FactState::Refuted, position, facts);
        facts.len() > known
    }

    /// Accepts open proposals that a sentence repeats, and returns whether it does.
    fn accept_repeated(&mut self, sentence: &ProseSentence<'_>, position: FactPosition, facts: &mut Vec<Fact>) -> bool {
        let Some(subject) = replies::repeated_option(sentence) else { return false };
        let is_match = |open: &&TrackedDecision| is_same_name(&open.subject, &subject);
        let echoed: Vec<TrackedDecision> = self.open_proposals.iter().filter(is_match).cloned().collect();
        self.settle_proposals(&echoed, FactState::Confirmed, position, facts);
        !echoed.is_empty()
    }

    /// Extracts what the sentence model recognizes.
    fn extract_classified(
        &mut self,
        sentence: StatedSentence<'_>,
        context: SentenceContext,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        let Some(found) = classified::classify(sentence.sentence, context) else { return };
        let subject = found.subject;
        let stated = |predicate, subject, alternative| StatedPreference { predicate, subject, alternative };
        let decided = |chosen, rejected, state| StatedDecision { chosen, rejected, state };
        match (found.kind, found.other) {
            (StatementKind::Prefers, other) => {
                facts.push(preference_fact(stated(Predicate::Prefers, subject, other), sentence, position));
            }
            (StatementKind::Forbids, other) => {
                facts.push(preference_fact(stated(Predicate::Forbids, subject, other), sentence, position));
            }
            (StatementKind::Chooses, other) => {
                self.add_decision(decided(subject, other, FactState::Confirmed), sentence, position, facts);
            }
            (StatementKind::Rejects, None) => {
                self.add_decision(decided(subject, None, FactState::Refuted), sentence, position, facts);
            }
            (StatementKind::Rejects, Some(chosen)) => {
                self.add_decision(decided(chosen, Some(subject), FactState::Confirmed), sentence, position, facts);
            }
            _ => {}
        }
    }

    fn add_decision(
        &mut self,
        made: StatedDecision,
        sentence: StatedSentence<'_>,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        let open: Vec<TrackedDecision> =
            self.open_proposals.iter().filter(|open| is_same_name(&open.subject, &made.chosen)).cloned().collect();
        if !open.is_empty() {
            return self.settle_proposals(&open, made.state, position, facts);
        }
        if made.state == FactState::Refuted {
            let is_proposed = |known: &TrackedDecision| {
                known.state == FactState::Hypothesis && is_same_name(&known.subject, &made.chosen)
            };
            self.set_state(is_proposed, FactState::Refuted, position, facts);
        }
        if let Some(against) = &made.rejected {
            let is_left = |known: &TrackedDecision| {
                matches!(known.state, FactState::Confirmed | FactState::Hypothesis)
                    && known.line < position.line
                    && is_same_name(&known.subject, against)
            };
            self.set_state(is_left, FactState::Superseded, position, facts);
        }
        let mut choice = TrackedDecision::stated(made.chosen, sentence.sentence.text, position);
        choice.object = made.rejected;
        choice.reason = sentence.reason(&choice.subject, made.state == FactState::Refuted);
        choice.state = made.state;
        self.add(choice, position, facts);
    }

    /// Changes the state of known decisions and emits the updated facts.
    fn set_state(
        &mut self,
        is_match: impl Fn(&TrackedDecision) -> bool,
        state: FactState,
        position: FactPosition,
        facts: &mut Vec<Fact>,
    ) {
        for known in self.decisions.iter_mut().filter(|known| is_match(known) && known.state != state) {
            known.state = state;
            // A human settles proposals; a proposal that the model itself replaces keeps the model's trust.
            known.trust = if state == FactState::Superseded { known.trust } else { Trust::Human };
            if !known.evidence.contains(&position.line) {
                known.evidence.push(position.line);
            }
            facts.push(known.to_fact(position.at));
        }
    }

    fn add(&mut self, choice: TrackedDecision, position: FactPosition, facts: &mut Vec<Fact>) {
        facts.push(choice.to_fact(position.at));
        self.track(choice);
    }

    /// Remembers a decision, so that a later text can change its state.
    fn track(&mut self, choice: TrackedDecision) {
        self.decisions.push(choice);
        if self.decisions.len() > MAX_DECISIONS {
            self.decisions.remove(0);
        }
    }
}

/// The sentences that a human typed.
pub(super) fn human_sentences(text: &str) -> Vec<&str> {
    sentences::sentence_texts(&prose::human_prose(text)).collect()
}

/// The first sentence that a human typed.
pub(super) fn first_human_sentence(text: &str) -> Option<&str> {
    sentences::sentence_texts(&prose::human_prose(text)).next()
}

/// The sentences of a model's prose.
pub(super) fn assistant_sentences(text: &str) -> Vec<&str> {
    sentences::sentence_texts(&prose::prose_lines(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sentence_model::Speaker;
    use super::*;

    fn extracted(texts: &[(EntryKind, &str)]) -> Vec<Fact> {
        let mut choices = DecisionExtractor::default();
        let mut facts = Vec::new();
        for (line, (kind, text)) in (1..).zip(texts) {
            let position = FactPosition { line, at: None };
            match kind {
                EntryKind::AssistantText => choices.extract_assistant(text, position, &mut facts),
                _ => choices.extract_human(text, SentenceContext::of(Speaker::Human), position, &mut facts),
            }
        }
        facts
    }

    #[test]
    fn accepted_proposal_has_both_lines_as_evidence_and_human_trust() {
        let facts = extracted(&[
            (EntryKind::AssistantText, "I recommend Redis, because it is quick."),
            (EntryKind::Prompt, "yes"),
        ]);
        let last = facts.last().unwrap();
        assert_eq!((last.subject.name.as_str(), last.state, last.trust), ("redis", FactState::Confirmed, Trust::Human));
        assert_eq!((last.line, last.evidence_lines.as_slice()), (1, &[2][..]));
        assert_eq!((facts[0].state, facts[0].trust), (FactState::Hypothesis, Trust::Assistant));
    }

    #[test]
    fn a_design_is_accepted_as_a_whole_and_declined_without_ruling_out_its_parts() {
        let design =
            "## Storage layer\n\nHere's the plan:\n- One SQLite file per project\n- No server\n\nDoes this look right?";
        let last = |reply: &str| {
            let facts = extracted(&[(EntryKind::AssistantText, design), (EntryKind::Prompt, reply)]);
            let fact = facts.last().unwrap();
            (fact.subject.name.clone(), fact.state, fact.detail.clone())
        };
        let (name, state, detail) = last("looks right");
        assert_eq!((name.as_str(), state), ("storage layer", FactState::Confirmed));
        assert_eq!(detail, "One SQLite file per project; No server");
        let (name, state, _) = last("no");
        assert_eq!((name.as_str(), state), ("storage layer as proposed", FactState::Refuted));
    }

    #[test]
    fn a_declined_offer_is_named_by_what_it_would_bring_in() {
        let offer = "Want me to move the login state out of the database into a Redis cluster with a one hour expiry?";
        let facts = |reply: &str| extracted(&[(EntryKind::AssistantText, offer), (EntryKind::Prompt, reply)]);
        let declined = facts("no, that's another server to run");
        let last = declined.last().unwrap();
        assert_eq!((last.subject.name.as_str(), last.state), ("redis cluster", FactState::Refuted));
        assert!(facts("yes").last().unwrap().subject.name.starts_with("move the login state"));
    }

    #[test]
    fn what_a_human_repeats_of_the_models_text_is_not_stated() {
        let text = "Two ways:\n- **Redis**: we should use Redis for all of the sessions\n- a table";
        let reply = "- Redis: we should use Redis for all of the sessions  what does that mean";
        let facts = extracted(&[(EntryKind::AssistantText, text), (EntryKind::Prompt, reply)]);
        assert!(facts.iter().all(|fact| fact.state == FactState::Hypothesis), "{facts:?}");
        let facts = extracted(&[
            (EntryKind::AssistantText, text),
            (EntryKind::Prompt, "Redis: we should use Redis for all of the sessions\nexplain that"),
        ]);
        assert!(facts.iter().all(|fact| fact.state == FactState::Hypothesis), "{facts:?}");
    }

    #[test]
    fn only_recent_decisions_are_kept() {
        let mut choices = DecisionExtractor::default();
        for line in 1..40 {
            let text = format!("let's use tool{line} instead of other{line}");
            let context = SentenceContext::of(Speaker::Human);
            choices.extract_human(&text, context, FactPosition { line, at: None }, &mut Vec::new());
        }
        assert_eq!(choices.decisions.len(), MAX_DECISIONS);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_accepted(words in proptest::collection::vec(
            "[a-zé’'`\"“”*,.?!:\n-]{0,6}|instead of|let's use|never use|I recommend|from now on|1\\. |yes|“|```|é`", 0..25,
        )) {
            let text = words.join(" ");
            extracted(&[(EntryKind::AssistantText, &text), (EntryKind::Prompt, &text), (EntryKind::AssistantText, &text), (EntryKind::Answer, &text)]);
        }
    }
}
