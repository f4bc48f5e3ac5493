//! Choices and standing wishes: what the human decides and wants, and what the model proposes.
//!
//! Only what somebody says in his own words counts. In doubt nothing is said: a wrong decision in a list of decisions
//! does more harm than a missing one.

mod choice;
mod cues;
mod made;
mod offers;
mod phrase;
mod proposals;
mod prose;
mod reasons;
mod replies;
mod rules;
mod sentences;

use rethread_model::{Entry, Fact, FactState, Speech, Trust};
use serde::{Deserialize, Serialize};

use choice::{Choice, Spot, wanted};
use made::Made;
use offers::Offer;
use phrase::are_alike;
use reasons::reason_for;
use replies::Reply;
use sentences::Sentence;

/// How many choices are remembered, so that a later one can take the place of an earlier one.
const REMEMBERED: usize = 16;
/// What must be remembered of choices from one stretch of a session to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Choices {
    /// What the model proposed in its last words and nobody has answered yet.
    open: Vec<Choice>,
    /// The options it listed in them.
    offers: Vec<Offer>,
    /// The either-or question it asked in them.
    asked: Option<String>,
    /// Whether they end by asking whether some work is to be done.
    asks_for_work: bool,
    /// Whether it went on working after them.
    has_worked: bool,
    /// The latest choices.
    known: Vec<Choice>,
}

impl Choices {
    /// Adds the choices and wishes of the next entry of a session.
    pub(super) fn take(&mut self, entry: &Entry, facts: &mut Vec<Fact>) {
        if entry.abandoned {
            return;
        }
        let spot = Spot { line: entry.place.line, at: entry.at };
        match entry.speech {
            Speech::Prompt | Speech::Answer => self.take_human(&entry.text, spot, facts),
            Speech::Note => take_note(&entry.text, spot, facts),
            Speech::Said => self.take_said(&entry.text, spot, facts),
            Speech::Call => self.has_worked = true,
            _ => {}
        }
    }

    fn take_said(&mut self, text: &str, spot: Spot, facts: &mut Vec<Fact>) {
        if std::mem::take(&mut self.has_worked) {
            self.forget_question();
        }
        self.asks_for_work = offers::ends_with_a_task(text);
        let proposes = cues::may_propose(text);
        if proposes || text.contains('?') {
            self.offers = offers::offers(text);
            self.asked = offers::either_or(text);
        }
        if !proposes {
            return;
        }
        let lines = prose::plain(text);
        for sentence in sentences::split(&lines) {
            if let Some(subject) = proposals::proposed(&sentence) {
                self.propose(subject, &sentence, text, spot, facts);
            }
        }
        let recommended: Vec<Offer> = self.offers.iter().filter(|offer| offer.is_recommended).cloned().collect();
        if let [offer] = &recommended[..]
            && self.open.is_empty()
        {
            let choice = Choice::proposed(offer.title.clone(), &offer.text, None, spot);
            self.open.push(choice.clone());
            self.remember(choice, spot, facts);
        }
    }

    fn propose(&mut self, subject: String, sentence: &Sentence<'_>, text: &str, spot: Spot, facts: &mut Vec<Fact>) {
        if self.open.iter().any(|open| are_alike(&open.subject, &subject)) {
            return;
        }
        if sentence.masked.contains("instead") {
            let is_left = |known: &Choice| {
                known.state == FactState::Hypothesis && text.to_lowercase().contains(&known.subject.to_lowercase())
            };
            self.close(is_left, FactState::Superseded, spot, facts);
        }
        let reason = reason_for(&subject, sentence);
        let choice = Choice::proposed(subject, sentence.text, reason, spot);
        self.open.push(choice.clone());
        self.remember(choice, spot, facts);
    }

    fn take_human(&mut self, text: &str, spot: Spot, facts: &mut Vec<Fact>) {
        let answered = offers::form(text);
        if !answered.is_empty() {
            self.forget_question();
            for (question, answer) in answered {
                if let Some(subject) = offers::picked(&question, &answer) {
                    self.remember(Choice::stated(subject, &format!("{question} {answer}"), spot), spot, facts);
                }
            }
            return;
        }
        let is_asked = !self.open.is_empty() || !self.offers.is_empty() || self.asked.is_some();
        let may_choose = cues::may_choose(text);
        if is_asked || may_choose {
            let lines = prose::typed(text);
            let sentences = sentences::split(&lines);
            if is_asked {
                self.answer(text, &sentences, spot, facts);
            }
            if may_choose {
                self.state(&sentences, spot, facts);
            }
        }
        self.forget_question();
    }

    fn forget_question(&mut self) {
        self.open.clear();
        self.offers.clear();
        self.asked = None;
    }

    /// What a human's words mean for what the model has just proposed or asked.
    fn answer(&mut self, text: &str, sentences: &[Sentence<'_>], spot: Spot, facts: &mut Vec<Fact>) {
        let open = std::mem::take(&mut self.open);
        let first = sentences.first();
        match first.and_then(replies::reply) {
            Some(Reply::Accepts) if open.len() != 1 || self.asks_for_work => {}
            Some(Reply::Accepts | Reply::AcceptsAll) => self.settle(&open, FactState::Confirmed, spot, facts),
            Some(Reply::Declines) => {
                self.settle(&open, FactState::Refuted, spot, facts);
                if let (Some(first), [declined]) = (first, &open[..])
                    && let Some(subject) = replies::had(first)
                {
                    let mut choice = Choice::stated(subject, first.text, spot);
                    choice.object = Some(declined.subject.clone());
                    self.remember(choice, spot, facts);
                }
            }
            _ => self.answer_by_key(text, &open, spot, facts),
        }
        // Choices stated in the same words are compared with what was proposed.
        self.open = open;
    }

    /// An answer that only names an option.
    fn answer_by_key(&mut self, text: &str, open: &[Choice], spot: Spot, facts: &mut Vec<Fact>) {
        let offer = offers::taken_key(text).and_then(|key| self.offers.iter().find(|offer| offer.key == key).cloned());
        let taken = match (offer, &self.asked) {
            (Some(offer), _) => Some((offer.title, offer.text)),
            (None, Some(asked)) => {
                offers::taken_word(text, asked).map(|word| (word, format!("{asked} {}", text.trim())))
            }
            (None, None) => None,
        };
        let Some((subject, detail)) = taken else { return };
        let is_it = |choice: &Choice| are_alike(&choice.subject, &subject);
        let (same, others): (Vec<Choice>, Vec<Choice>) = open.iter().cloned().partition(is_it);
        self.settle(&others, FactState::Refuted, spot, facts);
        if same.is_empty() {
            self.remember(Choice::stated(subject, &detail, spot), spot, facts);
        } else {
            self.settle(&same, FactState::Confirmed, spot, facts);
        }
    }

    /// Gives what was proposed the state that a human's answer means.
    fn settle(&mut self, open: &[Choice], state: FactState, spot: Spot, facts: &mut Vec<Fact>) {
        let is_open = |known: &Choice| open.iter().any(|one| one.subject == known.subject && one.line == known.line);
        self.close(is_open, state, spot, facts);
    }

    /// The choices and wishes that sentences state by themselves.
    fn state(&mut self, sentences: &[Sentence<'_>], spot: Spot, facts: &mut Vec<Fact>) {
        for sentence in sentences {
            if let Some(wish) = rules::wish(sentence) {
                facts.push(wanted(wish, sentence, spot));
            } else if let Some(mut made) = made::made(sentence) {
                made.against = made.against.or_else(|| replies::taken_back(sentence));
                self.make(made, sentence, spot, facts);
            } else if let Some(subject) = replies::taken_back(sentence) {
                let is_it = |known: &Choice| {
                    known.state == FactState::Confirmed && known.line < spot.line && are_alike(&known.subject, &subject)
                };
                self.close(is_it, FactState::Refuted, spot, facts);
            } else if let Some(subject) = replies::echoed(sentence) {
                let is_it = |open: &&Choice| are_alike(&open.subject, &subject);
                let echoed: Vec<Choice> = self.open.iter().filter(is_it).cloned().collect();
                self.settle(&echoed, FactState::Confirmed, spot, facts);
            }
        }
    }

    fn make(&mut self, made: Made, sentence: &Sentence<'_>, spot: Spot, facts: &mut Vec<Fact>) {
        let open: Vec<Choice> =
            self.open.iter().filter(|open| are_alike(&open.subject, &made.chosen)).cloned().collect();
        if !open.is_empty() {
            return self.settle(&open, made.state, spot, facts);
        }
        if let Some(against) = &made.against {
            let is_left = |known: &Choice| {
                matches!(known.state, FactState::Confirmed | FactState::Hypothesis)
                    && known.line < spot.line
                    && are_alike(&known.subject, against)
            };
            self.close(is_left, FactState::Superseded, spot, facts);
        }
        let mut choice = Choice::stated(made.chosen, sentence.text, spot);
        choice.object = made.against;
        choice.reason = reason_for(&choice.subject, sentence);
        choice.state = made.state;
        self.remember(choice, spot, facts);
    }

    /// Gives known choices another state and says so.
    fn close(&mut self, is_it: impl Fn(&Choice) -> bool, state: FactState, spot: Spot, facts: &mut Vec<Fact>) {
        for known in self.known.iter_mut().filter(|known| is_it(known) && known.state != state) {
            known.state = state;
            // Whoever settles a proposal is the human; a proposal that the model replaces stays the model's word.
            known.trust = if state == FactState::Superseded { known.trust } else { Trust::Human };
            if !known.evidence.contains(&spot.line) {
                known.evidence.push(spot.line);
            }
            facts.push(known.fact(spot.at));
        }
    }

    fn remember(&mut self, choice: Choice, spot: Spot, facts: &mut Vec<Fact>) {
        facts.push(choice.fact(spot.at));
        self.known.push(choice);
        if self.known.len() > REMEMBERED {
            self.known.remove(0);
        }
    }
}

fn take_note(text: &str, spot: Spot, facts: &mut Vec<Fact>) {
    let text = text.trim_start_matches(['#', ' ']);
    let lines = prose::typed(text);
    for sentence in sentences::split(&lines) {
        if let Some(wish) = rules::noted(&sentence) {
            facts.push(wanted(wish, &sentence, spot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(texts: &[(Speech, &str)]) -> Vec<Fact> {
        let mut choices = Choices::default();
        let mut facts = Vec::new();
        for (line, (speech, text)) in (1..).zip(texts) {
            let spot = Spot { line, at: None };
            match speech {
                Speech::Said => choices.take_said(text, spot, &mut facts),
                _ => choices.take_human(text, spot, &mut facts),
            }
        }
        facts
    }

    #[test]
    fn an_accepted_proposal_rests_on_both_lines_and_on_the_human() {
        let facts = drawn(&[(Speech::Said, "I recommend Redis, because it is quick."), (Speech::Prompt, "yes")]);
        let last = facts.last().unwrap();
        assert_eq!((last.subject.name.as_str(), last.state, last.trust), ("redis", FactState::Confirmed, Trust::Human));
        assert_eq!((last.line, last.evidence.as_slice()), (1, &[2][..]));
        assert_eq!((facts[0].state, facts[0].trust), (FactState::Hypothesis, Trust::Assistant));
    }

    #[test]
    fn only_the_latest_choices_are_remembered() {
        let mut choices = Choices::default();
        for line in 1..40 {
            let text = format!("let's use tool{line} instead of other{line}");
            choices.take_human(&text, Spot { line, at: None }, &mut Vec::new());
        }
        assert_eq!(choices.known.len(), REMEMBERED);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_is_too_odd(words in proptest::collection::vec(
            "[a-zé’'`\"“”*,.?!:\n-]{0,6}|instead of|let's use|never use|I recommend|from now on|1\\. |yes|“|```|é`", 0..25,
        )) {
            let text = words.join(" ");
            drawn(&[(Speech::Said, &text), (Speech::Prompt, &text), (Speech::Said, &text), (Speech::Answer, &text)]);
        }
    }
}
