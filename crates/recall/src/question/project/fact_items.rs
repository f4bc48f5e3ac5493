//! Candidates for an answer from facts: fixes, decisions, preferences, causes and requirements.

use std::collections::BTreeSet;

use rethread_model::{EntityKind, FactState, Predicate, SessionId, Timestamp, Trust};
use rethread_store::FactRow;

use super::terms::{QuestionTerms, TermSet, TermSplitter};
use super::wording::{AnswerTimes, cause_sentence, decision_sentences, fix_sentences};
use super::{AnswerSentence, MemoryKind};
use crate::facts::{
    Cause, Decision, FactSource, KnownError, causes, decisions, declined_tool, is_same_kind, kinds_of, known_errors,
    names_kind, ruled_out, tools_in,
};

/// A fact that may answer the question.
pub(super) struct FactCandidate {
    pub(super) memory: MemoryKind,
    pub(super) sentences: Vec<AnswerSentence>,
    /// The terms of the question it has.
    pub(super) terms: TermSet,
    /// The share of its subject's words that the question names.
    pub(super) named: f32,
    /// How much it can be relied on, 0 to 1.
    pub(super) trust: f32,
    /// Where it was stated.
    pub(super) places: Vec<FactPlace>,
    /// Where it was closed by something that was decided later.
    pub(super) closed_by: Option<FactPlace>,
    pub(super) at: Option<Timestamp>,
    /// The signature of the error it is about.
    pub(super) error: Option<String>,
    /// What it may be injected for; `None` if it may not, because it is not certain or no longer holds.
    pub(super) settled: Option<SettledFact>,
}

/// A fact that is certain enough to be given to a prompt that asks for it.
#[derive(Clone, Default)]
pub(super) struct SettledFact {
    /// Identifies it in the record of what was injected.
    pub(super) key: String,
    /// What a decision is for or against.
    pub(super) options: Vec<String>,
    /// Whether the question names the kind of tool that was decided on.
    pub(super) is_kind_named: bool,
    /// The sentence that states a decision.
    pub(super) statement: String,
    /// What it is against.
    pub(super) rejected: Vec<String>,
    /// Whether one of several things was picked.
    pub(super) is_pick: bool,
}

/// The options of a form that were not selected, as listed after its answer.
fn options_not_selected(statement: &str) -> Vec<&str> {
    let listed = statement.trim_end_matches(')').rsplit_once(" (not ").filter(|_| statement.contains(" → "));
    listed.map_or_else(Vec::new, |(_, options)| options.split(", ").collect())
}

/// Identifies a decision in the record of what was injected, however it is found.
pub fn decision_key(decision: &Decision) -> String {
    format!("decision {} {}", decision.subject, decision.statement)
}

/// Whether a human decided it, and it still holds. A proposal that was rejected is in the words of who proposed it: it
/// counts only if it is about one tool.
fn is_settled(one: &Decision) -> bool {
    let is_rejection = one.is_ruled_out() && (one.closed_by.is_none() || declined_tool(one).is_some());
    one.trust == Trust::Human && (one.is_open() && one.state == FactState::Confirmed || is_rejection)
}

/// The options of a decision that are known, and the other tools in the sentence of a decision about tools.
fn all_options(one: &Decision, known: &[&str]) -> Vec<String> {
    let known = known.iter().filter(|option| !option.is_empty());
    let mut all: Vec<String> = known.map(|option| (*option).to_owned()).collect();
    let tools: Vec<String> = all.iter().flat_map(|option| tools_in(option)).collect();
    let is_beside = |other: &String| tools.iter().any(|tool| is_same_kind(tool, other));
    all.extend(tools_in(&one.statement).into_iter().filter(is_beside));
    all
}

/// What a decision is against.
fn rejected_options(one: &Decision) -> Vec<String> {
    let ruled = ruled_out(std::slice::from_ref(one)).into_iter().map(|ruled| ruled.name);
    ruled.chain(one.rejected_option.clone()).collect()
}

/// Names for the kinds of the tools that were decided on or between. What was only rejected does not answer "which".
fn kinds_decided(one: &Decision) -> Vec<&'static str> {
    let tools: Vec<String> = if one.state == FactState::Confirmed {
        let parts = [Some(&one.subject), one.rejected_option.as_ref(), one.replacement.as_ref()];
        parts.into_iter().flatten().flat_map(|part| tools_in(part)).collect()
    } else {
        // "I don't want celery, use arq" says what is used too.
        tools_in(&one.statement).into_iter().filter(|tool| is_same_kind(&one.subject, tool)).collect()
    };
    let tools = tools.into_iter();
    let mut kinds: Vec<&str> = tools.flat_map(|tool| kinds_of(&tool).collect::<Vec<_>>()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// An episode and the line in it that states a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FactPlace {
    pub(super) session: SessionId,
    pub(super) episode: u64,
    pub(super) line: u64,
}

impl FactPlace {
    pub(super) fn of(source: &FactSource) -> Self {
        Self { session: source.session, episode: source.episode, line: source.line }
    }
}

/// Finds the terms of a question in facts.
pub(super) struct FactReader<'a> {
    /// The question in lower case.
    pub(super) question: &'a str,
    pub(super) terms: &'a QuestionTerms,
    pub(super) splitter: &'a mut TermSplitter,
    pub(super) times: AnswerTimes,
    /// From this many words on, a question repeats an error instead of sharing words with it by chance.
    pub(super) error_words: usize,
    /// Episodes that the search found: their facts count, whatever words they have.
    pub(super) near: &'a BTreeSet<(SessionId, u64)>,
}

impl FactReader<'_> {
    /// Candidates from all facts in scope.
    pub(super) fn candidates(&mut self, facts: &[FactRow]) -> Vec<FactCandidate> {
        let decided = decisions(facts);
        let mut all: Vec<FactCandidate> = decided.iter().filter_map(|one| self.of_decision(one, &decided)).collect();
        all.extend(causes(facts).iter().filter_map(|one| self.of_cause(one)));
        let is_of_error = |known: &&FactRow| {
            matches!(known.fact.predicate, Predicate::FailedWith | Predicate::FixedBy | Predicate::NotFixedBy)
        };
        let of_errors: Vec<FactRow> = facts.iter().filter(is_of_error).cloned().collect();
        all.extend(known_errors(of_errors).iter().filter_map(|error| self.of_error(error)));
        all
    }

    fn of_decision(&mut self, one: &Decision, all: &[Decision]) -> Option<FactCandidate> {
        let other = one.rejected_option.as_deref().unwrap_or_default();
        let reason = one.reason.as_deref().unwrap_or_default();
        let kinds = kinds_decided(one);
        let text = format!("{}\n{other}\n{}\n{reason}\n{}", one.subject, one.statement, kinds.join("\n"));
        let terms = self.terms.find(&text, self.splitter);
        let is_kind_named = kinds.iter().any(|kind| names_kind(self.question, kind));
        if !self.may_answer(terms, &one.sources) {
            return None;
        }
        let sentences = decision_sentences(one, all, self.times);
        let memory = if one.predicate == Predicate::Decided { MemoryKind::Decision } else { MemoryKind::Preference };
        let state = match one.state {
            FactState::Confirmed => 1.0,
            FactState::Refuted if one.closed_by.is_none() => 1.0,
            FactState::Refuted | FactState::Superseded => 0.85,
            FactState::Hypothesis => 0.75,
        };
        let author = if one.trust == Trust::Human { 1.0 } else { 0.9 };
        let options = [&[one.subject.as_str(), other], options_not_selected(&one.statement).as_slice()].concat();
        let named = self.named(&options);
        let settled = is_settled(one).then(|| SettledFact {
            key: decision_key(one),
            options: all_options(one, &options),
            is_kind_named,
            statement: one.statement.clone(),
            rejected: rejected_options(one),
            is_pick: one.state == FactState::Confirmed && one.statement.contains(" → "),
        });
        Some(FactCandidate {
            memory,
            sentences,
            terms,
            named,
            trust: state * author,
            places: one.sources.iter().map(FactPlace::of).collect(),
            closed_by: one.closed_by.as_ref().map(FactPlace::of),
            at: one.valid_from,
            error: None,
            settled,
        })
    }

    fn of_cause(&mut self, cause: &Cause) -> Option<FactCandidate> {
        let object = cause.object.as_ref().map_or("", |object| &object.name);
        let printed = cause.printed.as_deref().unwrap_or_default();
        let text = format!("{}\n{object}\n{}\n{printed}", cause.subject.name, cause.statement);
        let terms = self.terms.find(&text, self.splitter);
        if !self.may_answer(terms, &cause.sources) {
            return None;
        }
        let memory = if cause.relation == Predicate::CausedBy { MemoryKind::Cause } else { MemoryKind::Requirement };
        let trust = match cause.state {
            FactState::Confirmed => 1.0,
            FactState::Hypothesis => 0.85,
            FactState::Refuted | FactState::Superseded => 0.4,
        };
        let is_error = cause.subject.kind == EntityKind::Error;
        Some(FactCandidate {
            memory,
            sentences: cause_sentence(cause, self.times).into_iter().collect(),
            terms,
            named: self.named(&[&cause.subject.name, object]),
            trust,
            places: cause.sources.iter().map(FactPlace::of).collect(),
            closed_by: None,
            at: cause.last_at,
            error: is_error.then(|| cause.subject.name.clone()),
            settled: matches!(cause.state, FactState::Confirmed | FactState::Hypothesis).then(|| SettledFact {
                key: format!("cause {} {}", cause.subject.name, cause.statement),
                ..SettledFact::default()
            }),
        })
    }

    /// A known error with what was tried against it.
    pub(super) fn of_error(&mut self, error: &KnownError) -> Option<FactCandidate> {
        let tried = error.fixes.fixes.iter().chain(&error.fixes.failed_attempts);
        let parts = tried.clone().flat_map(|fix| {
            [Some(fix.description.as_str()), fix.command.as_deref(), fix.reason.as_deref()].into_iter().flatten()
        });
        let text = [error.line.as_str(), error.signature.as_str()].into_iter().chain(parts).collect::<Vec<_>>();
        let terms = self.terms.find(&text.join("\n"), self.splitter);
        let sources: Vec<&FactSource> = tried.flat_map(|fix| &fix.sources).chain(&error.last_source).collect();
        if !self.may_answer(terms, sources.iter().copied()) {
            return None;
        }
        let trust = match error.fixes.fixes.first().map(|fix| fix.state) {
            Some(FactState::Confirmed) => 1.0,
            Some(_) => 0.85,
            // Who asks for a fix wants one; an error without any says little.
            None if error.fixes.failed_attempts.is_empty() => 0.4,
            None => 0.6,
        };
        let line = self.terms.find(&error.line, self.splitter);
        let confirmed = error.fixes.fixes.first().filter(|fix| fix.state == FactState::Confirmed);
        Some(FactCandidate {
            memory: MemoryKind::Fix,
            sentences: fix_sentences(error, self.times),
            terms,
            named: if self.terms.is_most_of_topic(line, self.error_words) { 1.0 } else { 0.0 },
            trust,
            places: sources.into_iter().map(FactPlace::of).collect(),
            closed_by: None,
            at: error.last_source.as_ref().and_then(|source| source.at),
            error: Some(error.signature.clone()),
            settled: confirmed.map(|fix| SettledFact {
                key: format!("fix {} {}", error.signature, fix.description),
                ..SettledFact::default()
            }),
        })
    }

    /// Whether a fact has words of the question, or was stated where the search found some.
    fn may_answer<'s>(&self, terms: TermSet, sources: impl IntoIterator<Item = &'s FactSource>) -> bool {
        let is_near = |source: &FactSource| self.near.contains(&(source.session, source.episode));
        terms.len() > 0 || self.terms.has_no_topic() || sources.into_iter().any(is_near)
    }

    fn named(&mut self, names: &[&str]) -> f32 {
        let shares = names.iter().map(|name| self.terms.share_of_name(name, self.splitter));
        shares.fold(0.0, f32::max)
    }
}
