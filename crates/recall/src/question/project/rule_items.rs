//! Candidates for an answer from files with rules for agents, such as `AGENTS.md`.

use rethread_model::Predicate;

use super::fact_items::FactCandidate;
use super::terms::{QuestionTerms, TermSplitter};
use super::{AnswerSentence, MemoryKind, SentenceSource};
use crate::quote::quote_short;

/// Maximum length of a quoted rule, in characters.
const STATEMENT_CHARS: usize = 320;
/// A file says what is wanted now, but not who said it when.
const RULE_TRUST: f32 = 0.97;

/// A rule in a file for agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleEvidence {
    /// `Prefers` or `Forbids`.
    pub predicate: Predicate,
    /// What it is about.
    pub subject: String,
    /// What to use instead, for something that is forbidden.
    pub instead: Option<String>,
    /// The sentence or list item, on one line.
    pub statement: String,
    /// The file: relative to the project, or to the home directory with `~/`.
    pub path: String,
    /// The line in the file.
    pub line: u64,
}

/// Rules that have words of the question.
pub(super) fn rule_candidates(
    rules: &[RuleEvidence],
    terms: &QuestionTerms,
    splitter: &mut TermSplitter,
) -> Vec<FactCandidate> {
    let mut all = Vec::new();
    for rule in rules {
        let instead = rule.instead.as_deref().unwrap_or_default();
        let found = terms.find(&format!("{}\n{instead}\n{}", rule.subject, rule.statement), splitter);
        if terms.topic_len_of(found) == 0 {
            continue;
        }
        let verb = if rule.predicate == Predicate::Forbids { "Prohibition" } else { "Preference" };
        let text = format!("{verb}: \"{}\" (rule in {}).", quote_short(&rule.statement, STATEMENT_CHARS), rule.path);
        let named = [rule.subject.as_str(), instead].map(|name| terms.share_of_name(name, splitter));
        all.push(FactCandidate {
            memory: MemoryKind::Preference,
            sentences: vec![AnswerSentence::new(text, SentenceSource::in_rule_file(&rule.path, rule.line))],
            terms: found,
            named: named.into_iter().fold(0.0, f32::max),
            trust: RULE_TRUST,
            places: Vec::new(),
            closed_by: None,
            at: None,
            error: None,
            // The agent reads these files itself.
            settled: None,
        });
    }
    all
}
