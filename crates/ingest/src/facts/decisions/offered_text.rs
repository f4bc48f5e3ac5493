//! What a model's text offers to the human who replies to it.

use std::sync::LazyLock;

use rethread_model::clip;

use super::cues::compile_pattern;
use super::numbered::{NumberedQuestion, numbered_questions};
use super::offers::{ModelOffer, TextEnding, text_ending};
use super::options::{self, OfferedOption};
use crate::facts::pattern::CuePattern;

/// Maximum length of a reply that is stored with its question, in characters.
const MAX_REPLY_CHARS: usize = 160;
/// A choice from a list that offers none has at most this many words.
const MAX_BARE_CHOICE_WORDS: usize = 8;

/// What a reply to a text can answer, choose, accept or decline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OfferedText {
    /// Options that it lists.
    pub(super) options: Vec<OfferedOption>,
    text: String,
    /// Its either-or question.
    question: Option<String>,
    pub(super) numbered_questions: Vec<NumberedQuestion>,
    /// What it asks to confirm.
    pub(super) offer: Option<ModelOffer>,
    /// What it recommends without asking.
    pub(super) recommendation: Option<ModelOffer>,
    /// Whether it asks to do some work.
    pub(super) asks_for_work: bool,
    /// Whether it asks what is the case, not what is wanted.
    pub(super) asks_for_facts: bool,
    /// Whether it asks what should be different.
    pub(super) asks_for_changes: bool,
}

/// Whether the last line of a text asks about a failure, or what the human did or has.
fn asks_for_facts(text: &str) -> bool {
    static FACTS: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:cause|problem|issue|culprit|reason|failed?|failing|broken|did you|have you|do you have|do you see|were you|was (?:it|the|this|that)|is this|are you (?:using|on|running|seeing)|is (?:it|that) installed)\b.*\?\W*$",
        )
    });
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    FACTS.as_ref().is_some_and(|facts| facts.is_match(last))
}

/// Whether a reply leaves the choice for later.
fn is_undecided(reply: &str) -> bool {
    let lower = reply.to_lowercase();
    ["think about it", "think it over", "let me think", "not sure", "haven't decided"]
        .iter()
        .any(|words| lower.contains(words))
}

impl OfferedText {
    pub(super) fn read(text: &str) -> Self {
        let options = options::find_options(text);
        let ending = text_ending(text, &options);
        let mut offered = Self {
            text: text.to_owned(),
            question: options::either_or_question(text),
            numbered_questions: numbered_questions(text),
            asks_for_work: ending == TextEnding::Work,
            asks_for_facts: asks_for_facts(text),
            asks_for_changes: matches!(ending, TextEnding::AsksForChanges(_)),
            options,
            ..Self::default()
        };
        match ending {
            TextEnding::Offer(offer) | TextEnding::AsksForChanges(offer) => offered.offer = Some(offer),
            TextEnding::Recommendation(offer) => offered.recommendation = Some(offer),
            TextEnding::Work | TextEnding::Open => {}
        }
        offered
    }

    /// The options that a reply chooses, each with its name and the words that offered it. `earlier` is the last list
    /// that was left open.
    pub(super) fn chosen(&self, reply: &str, earlier: &[OfferedOption]) -> Vec<(String, String)> {
        if is_undecided(reply) {
            return Vec::new();
        }
        let names_option = options::names_option(reply);
        let listed = if self.options.is_empty() && names_option { earlier } else { &self.options };
        // A list may only enumerate something; then the reply has to be a choice and nothing else.
        let is_short = reply.split_whitespace().count() <= MAX_BARE_CHOICE_WORDS;
        let may_choose = || names_option || (is_short && !self.asks_for_work) || self.offers_choice();
        let mut keys = options::chosen_keys(reply);
        if !keys.is_empty() && !may_choose() {
            keys.clear();
        }
        let named = |option: &OfferedOption| (option.title.clone(), option.text.clone());
        let chosen: Vec<(String, String)> =
            listed.iter().filter(|option| keys.contains(&option.key)).map(named).collect();
        if !chosen.is_empty() {
            return chosen;
        }
        let described = options::described_option(reply, listed).filter(|_| self.offers_choice());
        described.map(named).or_else(|| self.chosen_alternative(reply)).into_iter().collect()
    }

    /// Whether it lets the human choose. Asked only if a reply may choose, because the text may be long.
    fn offers_choice(&self) -> bool {
        options::offers_alternatives(&self.text)
    }

    fn chosen_alternative(&self, reply: &str) -> Option<(String, String)> {
        let question = self.question.as_ref()?;
        let word = options::chosen_word(reply, question)?;
        Some((word, format!("{question} {}", clip(reply.lines().next()?.trim(), MAX_REPLY_CHARS))))
    }
}
