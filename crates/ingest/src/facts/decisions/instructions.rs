//! Preferences and prohibitions in notes and in long instructions.

use rethread_model::Fact;

use super::decision::{FactPosition, preference_fact};
use super::preferences::{StatedPreference, preference_from_note};
use super::prose::{human_prose, long_prose};
use super::reasons::StatedSentence;
use super::rules::rule_in_long_text;
use super::sentences::split_sentences;

/// Maximum number of rules that are taken from one long text.
const MAX_LONG_RULES: usize = 8;

/// Extracts the rules of a long text, of which the rest is not examined.
pub(super) fn extract_long_rules(text: &str, position: FactPosition, facts: &mut Vec<Fact>) {
    let lines = long_prose(text);
    let sentences = split_sentences(&lines);
    let rules = sentences.iter().enumerate().filter_map(|(at, sentence)| {
        let rule = rule_in_long_text(sentence.text)?;
        let stated = StatedSentence { sentence, next: sentences.get(at + 1) };
        let preference =
            StatedPreference { predicate: rule.predicate, subject: rule.subject, alternative: rule.instead };
        Some(preference_fact(preference, stated, position))
    });
    for fact in rules.take(MAX_LONG_RULES) {
        // The first and the last paragraph were examined already.
        if !facts.iter().any(|known| known.line == fact.line && known.detail == fact.detail) {
            facts.push(fact);
        }
    }
}

/// Extracts the preferences in a note of the human.
pub(super) fn extract_note(text: &str, position: FactPosition, facts: &mut Vec<Fact>) {
    let text = text.trim_start_matches(['#', ' ']);
    let lines = human_prose(text);
    for sentence in split_sentences(&lines) {
        if let Some(preference) = preference_from_note(&sentence) {
            facts.push(preference_fact(preference, StatedSentence { sentence: &sentence, next: None }, position));
        }
    }
}
