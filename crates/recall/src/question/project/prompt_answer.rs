//! Answers a prompt that asks about the project's memory with one fact, or not at all: silence when in doubt.

use rethread_model::{EntryKind, SessionId, Timestamp};

use super::MemoryKind;
use super::choose::{Chooser, ProjectEvidence};
use super::fact_items::{FactCandidate, SettledFact};
use super::passages::{Exchange, PassageCandidate, passages};
use super::prompt_question::{CLEAR, LIKELY, MemoryQuestion};
use super::terms::{QuestionTerms, TermSet, TermSplitter};
use super::wording::AnswerTimes;
use crate::facts::{NameForm, name_form, position_of_name, tools_in, words_around_name};
use crate::quote::{format_age, quote_short};

/// Maximum lengths, in characters, of a quoted prompt and answer, and of the whole line.
const PROMPT_CHARS: usize = 120;
const ANSWER_CHARS: usize = 240;
const LINE_CHARS: usize = 560;
/// Exchanges of which the best one may be quoted.
const MAX_PASSAGES: usize = 3;
/// Sentences quoted of an exchange that says why something happened.
const MAX_SENTENCES: usize = 3;
/// A quoted exchange must have this share of the question in its quoted parts.
const MIN_PASSAGE_COVERAGE: f32 = 0.35;
/// From this score on, the best fact answers the question. Measured: below, some answers are about something else.
const STRONG_SCORE: f32 = 0.85;
/// Words of a question that a rule must have if nothing else shows that the question is about it.
const MIN_RULE_WORDS: usize = 3;
/// Words before an ordinary word that show it is the name of a tool.
const WORDS_BEFORE_TOOLS: &str =
    "is use using used with to or not no why about add install import pick choose chose avoid drop and for on";

/// What answers a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptAnswer {
    /// One line with its source.
    pub line: String,
    /// Identifies the fact in the record of what was injected.
    pub key: String,
}

/// The fact that answers a question, if one does beyond doubt. What the session `own` said itself is in its context.
pub fn answer_prompt(
    question: &MemoryQuestion,
    evidence: &ProjectEvidence,
    own: Option<SessionId>,
    now: Timestamp,
) -> Option<PromptAnswer> {
    let mut splitter = TermSplitter::default();
    let terms = QuestionTerms::of(&question.text, &mut splitter);
    if terms.has_no_topic() {
        return None;
    }
    let times = AnswerTimes::Ages(now);
    let (quoted, known) = passages(&evidence.exchanges, &question.shape, &terms, &mut splitter, times);
    let chooser = Chooser {
        question: &question.text,
        shape: &question.shape,
        terms: &terms,
        evidence,
        passages: &quoted,
        known,
        asks_what_fails: false,
        times,
    };
    let facts = chooser.facts(&mut splitter);
    let ranked = chooser.ranked_facts(&facts);
    let is_own = |one: &FactCandidate| one.places.iter().any(|place| Some(place.session) == own);
    let strongest = ranked.iter().find(|(candidate, _)| !is_own(candidate)).copied();
    let mut candidates: Vec<&FactCandidate> = ranked.into_iter().map(|(candidate, _)| candidate).collect();
    let is_unranked = |one: &&FactCandidate| !candidates.iter().any(|known| std::ptr::eq(*known, *one));
    let others: Vec<&FactCandidate> = facts.candidates.iter().filter(is_unranked).collect();
    candidates.extend(others);
    candidates.retain(|one| !is_own(one));
    let matcher = PromptMatcher { question, terms: &terms, chooser: &chooser, own };
    let fact = candidates.iter().find(|one| matcher.is_answer(one, &mut splitter));
    if let Some(fact) = fact {
        // What was decided later about the same counts, even if both still seem to hold.
        let later = candidates
            .iter()
            .filter(|one| one.at > fact.at && shares_option(one, fact) && matcher.is_answer(one, &mut splitter));
        return fact_answer(later.max_by_key(|one| one.at).unwrap_or(fact), &candidates);
    }
    if let Some((strongest, _)) = strongest.filter(|(candidate, score)| matcher.is_strong(candidate, *score)) {
        return fact_answer(strongest, &candidates);
    }
    if let Some(passage) = matcher.passage() {
        return passage_answer(passage, question, evidence, now);
    }
    let cause = candidates.iter().find(|one| one.memory == MemoryKind::Cause && matcher.explains(one, MemoryKind::Fix));
    cause.and_then(|cause| fact_answer(cause, &candidates))
}

/// Decides whether a fact answers a question beyond doubt.
struct PromptMatcher<'a> {
    question: &'a MemoryQuestion,
    terms: &'a QuestionTerms,
    chooser: &'a Chooser<'a>,
    own: Option<SessionId>,
}

impl PromptMatcher<'_> {
    fn is_answer(&self, candidate: &FactCandidate, splitter: &mut TermSplitter) -> bool {
        let Some(settled) = &candidate.settled else { return false };
        if !self.may_settle(candidate) {
            return false;
        }
        match candidate.memory {
            MemoryKind::Decision | MemoryKind::Preference => self.settles(candidate, settled, splitter),
            MemoryKind::Fix | MemoryKind::Cause | MemoryKind::Requirement => self.explains(candidate, candidate.memory),
            MemoryKind::Event => self.question.asks_when() && self.has_all(candidate.terms),
            _ => false,
        }
    }

    /// Whether the best fact fits so well that the question can hardly be about anything else. An exchange that fits even
    /// better may be about something else.
    fn is_strong(&self, candidate: &FactCandidate, score: f32) -> bool {
        let passages = self.chooser.passages.iter().map(|passage| passage.item.score);
        let is_kind = matches!(
            candidate.memory,
            MemoryKind::Decision | MemoryKind::Preference | MemoryKind::Fix | MemoryKind::Cause
        );
        // "Are we all committed?" is not about the rule for commits.
        let is_about = candidate.named >= 1.0 || self.terms.topic_len_of(candidate.terms) > 1;
        is_kind
            && is_about
            && self.may_settle(candidate)
            && score >= STRONG_SCORE
            && score >= passages.fold(0.0, f32::max) * 0.85
    }

    /// Whether a fact is certain, and has the number that the question asks for.
    fn may_settle(&self, candidate: &FactCandidate) -> bool {
        let has_number = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        let says_number = |settled: &SettledFact| match settled.statement.as_str() {
            "" => candidate.sentences.iter().any(|one| has_number(&one.text)),
            statement => has_number(statement),
        };
        candidate.settled.as_ref().is_some_and(|settled| !self.question.asks_for_number() || says_number(settled))
    }

    /// Whether a decision or rule is what the question asks for: it is about everything that the question names, or the
    /// question names an option of it, and what follows only says where to use it.
    fn settles(&self, candidate: &FactCandidate, settled: &SettledFact, splitter: &mut TermSplitter) -> bool {
        let question = self.question;
        let has_all = self.has_all(candidate.terms);
        let is_of_kind = settled.is_kind_named && self.terms.has_topics_but_use(candidate.terms);
        if is_of_kind && (question.is_ours || question.asks_which_here()) && !question.has_fault {
            return true;
        }
        // A rule with every word of a question of several words is about the same.
        let is_rule = candidate.memory == MemoryKind::Preference && question.asks_whether() && !question.has_fault;
        if is_rule && has_all && self.terms.topic_len() >= MIN_RULE_WORDS {
            return true;
        }
        // "What was wrong with mongo?" asks why it was turned down.
        let is_against = |name: &String| {
            let is_named = position_of_name(&question.text, name, NameForm::Distinctive).is_some();
            is_named && self.has_all(self.terms.find(name, splitter)) && self.terms.topic_len() > 0
        };
        if (question.shape.asks_why || question.is_past) && settled.rejected.iter().any(is_against) {
            return true;
        }
        if self.is_picked_for(candidate, settled) {
            return true;
        }
        if !question.asks_for_verdict() && !question.asks_when() {
            return false;
        }
        // One word is enough where it names what the question is about: "the rule about comments".
        let is_clear =
            question.verdict() >= CLEAR && question.is_ours && self.terms.has_named_topic() || question.asks_when();
        let is_named = candidate.named >= 1.0;
        let is_between = is_named && self.terms.topic_len_of(candidate.terms) > 1 && question.text.contains(" or ");
        if is_between || has_all && (self.terms.topic_len() > 1 || is_clear || is_named) {
            return true;
        }
        let named = settled.options.iter().filter_map(|option| {
            let named = self.named_option(option, &settled.statement, splitter)?;
            // "Docker swarm" is something else than docker.
            let (_, after) = words_around_name(&question.text, option, NameForm::Distinctive).unwrap_or_default();
            let next = after.first().map(|next| self.terms.find(next, splitter)).unwrap_or_default();
            let is_compound = self.terms.topic_len_of(next) > 0 && next.with(candidate.terms) != candidate.terms;
            (!is_compound).then_some(named)
        });
        let named = named.collect::<Vec<_>>().into_iter().fold(TermSet::default(), TermSet::with);
        named.len() > 0 && self.terms.has_topics_until(named, candidate.terms)
    }

    /// Whether one of several things was picked in an exchange that asked for what the question asks.
    fn is_picked_for(&self, candidate: &FactCandidate, settled: &SettledFact) -> bool {
        if !settled.is_pick || !self.question.asks_which() {
            return false;
        }
        let is_same = |one: &&PassageCandidate| self.chooser.is_in(one, candidate);
        let asked = self.chooser.passages.iter().filter(is_same).map(|one| one.prompt_terms);
        let found = asked.fold(candidate.terms, TermSet::with);
        self.terms.has_topics_but_use(found) && self.terms.topic_len_of(found) > 0
    }

    /// The terms of an option of a decision, if the question names it.
    fn named_option(&self, option: &str, statement: &str, splitter: &mut TermSplitter) -> Option<TermSet> {
        let question = self.question.text.as_str();
        let tools = tools_in(option);
        let whole = name_form(option, statement).map(|form| (option, form));
        let parts =
            tools.iter().map(|tool| (tool.as_str(), name_form(tool, statement).unwrap_or(NameForm::Distinctive)));
        let (name, _) = whole.into_iter().chain(parts).find(|(name, form)| {
            position_of_name(question, name, *form).is_some_and(|before| {
                let is_tool_here = before.last().is_none_or(|word| is_listed(WORDS_BEFORE_TOOLS, word));
                name_form(name, statement).is_some() || is_tool_here
            })
        })?;
        Some(self.terms.find(name, splitter))
    }

    /// Whether a fix, cause or requirement is what the question asks for, together with the exchange that states it.
    fn explains(&self, candidate: &FactCandidate, asked: MemoryKind) -> bool {
        let shape = &self.question.shape;
        let is_asked = shape.likelihood(asked) >= LIKELY
            && (shape.is_mostly(asked) || self.question.asks_when() || shape.likelihood(asked) >= CLEAR);
        let is_about_us = self.question.is_ours || self.question.is_past;
        let exchange = self.chooser.passage_of(candidate).map(|passage| passage.all_terms).unwrap_or_default();
        is_asked && is_about_us && candidate.settled.is_some() && self.has_nearly_all(candidate.terms.with(exchange))
    }

    /// The exchange that has everything the question is about.
    fn passage(&self) -> Option<&PassageCandidate> {
        let question = self.question;
        let kinds = [MemoryKind::Fix, MemoryKind::Cause];
        let is_asked = kinds.into_iter().any(|kind| question.shape.is_mostly(kind))
            || question.asks_when()
            || question.shape.asks_why && question.is_ours;
        let is_about_us = question.is_ours || question.is_past;
        if !is_asked || !is_about_us || self.terms.topic_len() == 0 {
            return None;
        }
        let mut best: Vec<&PassageCandidate> = self.chooser.passages.iter().collect();
        best.sort_by(|a, b| b.item.score.total_cmp(&a.item.score));
        best.into_iter().take(MAX_PASSAGES).find(|passage| {
            let session = self.chooser.evidence.exchanges[passage.exchange].session.id;
            Some(session) != self.own
                && !leaves_open(&self.chooser.evidence.exchanges[passage.exchange])
                && (question.asks_when() || reports_fault(&self.chooser.evidence.exchanges[passage.exchange]))
                && passage.coverage >= MIN_PASSAGE_COVERAGE
                && self.has_nearly_all(passage.all_terms)
        })
    }

    fn has_all(&self, found: TermSet) -> bool {
        self.terms.topic_len_of(found) == self.terms.topic_len()
    }

    /// Whether at most one word is missing, which is not a name; and at least two are there.
    fn has_nearly_all(&self, found: TermSet) -> bool {
        let (count, all) = (self.terms.topic_len_of(found), self.terms.topic_len());
        let may_miss = usize::from(all >= 3);
        count + may_miss >= all
            && (count >= 2 || self.terms.meaning_len_of(found) >= 2 || self.question.shape.may_quote_error)
            && !self.terms.names_unknown(found)
    }
}

/// Whether something did not work in an exchange; without that nothing was fixed, and nothing had a cause.
fn reports_fault(exchange: &Exchange) -> bool {
    const FAULTS: [&str; 21] = [
        "problem",
        "issue",
        "bug",
        "error",
        "fail",
        "cause",
        "wrong",
        "broke",
        "fix",
        "crash",
        "slow",
        "turns out",
        "turned out",
        "leak",
        "race",
        "because",
        "due to",
        "missing",
        "hang",
        "timeout",
        "culprit",
    ];
    exchange.entries.iter().any(|entry| {
        let is_failed =
            entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref()).is_some_and(|one| one.status.is_error());
        let is_said = matches!(entry.kind, EntryKind::Prompt | EntryKind::AssistantText);
        is_failed || is_said && FAULTS.iter().any(|word| entry.text.to_lowercase().contains(word))
    })
}

/// Whether an exchange ends without an answer: "I could not reproduce it", "not solved yet".
fn leaves_open(exchange: &Exchange) -> bool {
    const OPEN: [&str; 16] = [
        "could not reproduce",
        "couldn't reproduce",
        "can't reproduce",
        "cannot reproduce",
        "do not know",
        "don't know",
        "not solved",
        "not fixed",
        "not verified",
        "unverified",
        "still fails",
        "still failing",
        "will look",
        "look into",
        "no idea",
        "unclear",
    ];
    let answer = exchange.entries.iter().rev().find(|entry| entry.kind == EntryKind::AssistantText);
    answer.is_none_or(|answer| {
        let lower = answer.text.to_lowercase();
        OPEN.iter().any(|phrase| lower.contains(phrase))
    })
}

/// Whether two decisions are about the same option.
fn shares_option(one: &FactCandidate, other: &FactCandidate) -> bool {
    let options = |candidate: &FactCandidate| -> Vec<String> {
        let known = candidate.settled.iter().flat_map(|settled| &settled.options);
        known.flat_map(|option| std::iter::once(option.to_lowercase()).chain(tools_in(option))).collect()
    };
    let known = options(one);
    options(other).iter().any(|option| known.contains(option))
}

/// A fact as one line; what fixed an error comes with its cause.
fn fact_answer(fact: &FactCandidate, all: &[&FactCandidate]) -> Option<PromptAnswer> {
    let first = fact.sentences.first()?;
    let source = first.sources.first()?;
    let is_cause = |other: &&&FactCandidate| {
        fact.memory == MemoryKind::Fix
            && fact.error.is_some()
            && other.memory == MemoryKind::Cause
            && other.error == fact.error
    };
    let cause = all.iter().find(is_cause).and_then(|cause| cause.sentences.first());
    let cause = cause.map(|cause| format!(" {}", cause.text)).unwrap_or_default();
    let text = quote_line(&format!("{}{cause}", first.text));
    let key = fact.settled.as_ref()?.key.clone();
    Some(PromptAnswer { line: format!("- {text} (rethread show {})", source.citation()), key })
}

/// The prompt and the last answer of an exchange as one line.
fn passage_answer(
    passage: &PassageCandidate,
    question: &MemoryQuestion,
    evidence: &ProjectEvidence,
    now: Timestamp,
) -> Option<PromptAnswer> {
    let exchange = &evidence.exchanges[passage.exchange];
    let prompt = exchange.entries.iter().find(|entry| entry.kind == EntryKind::Prompt)?;
    let answer = exchange.entries.iter().rev().find(|entry| entry.kind == EntryKind::AssistantText)?;
    let citation = exchange.session.citation(answer.location.line);
    let key = format!("exchange {} {}", exchange.session.id, exchange.episode);
    // Why something happened is said before what was done about it.
    if question.shape.is_mostly(MemoryKind::Cause) {
        let said: Vec<&str> = passage.item.sentences.iter().take(MAX_SENTENCES).map(|one| one.text.as_str()).collect();
        return Some(PromptAnswer {
            line: format!("- {} (rethread show {citation})", quote_line(&said.join(" "))),
            key,
        });
    }
    let line = format!(
        "- [{}] \"{}\" -> \"{}\" (rethread show {citation})",
        format_age(answer.at, now),
        quote_short(&prompt.text, PROMPT_CHARS),
        quote_short(&answer.text, ANSWER_CHARS)
    );
    Some(PromptAnswer { line, key })
}

/// The sentences are quoted already; only their length is limited. A quote that is cut is closed.
fn quote_line(text: &str) -> String {
    let mut line = rethread_model::clip(text, LINE_CHARS).into_owned();
    if line.len() < text.len() && line.matches('"').count() % 2 == 1 {
        line.push('"');
    }
    line
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_is_cut_is_closed() {
        let line = quote_line(&format!("The user said: \"{}\".", "long ".repeat(200)));
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert_eq!(quote_line("a \"short\" one"), "a \"short\" one");
    }
}
