//! Chooses what answers a question best: asks every memory, and lets the best evidence win.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rethread_model::SessionId;
use rethread_store::FactRow;

use super::events::{event_candidates, file_item};
use super::fact_items::{FactCandidate, FactReader};
use super::passages::{Exchange, PassageCandidate, passages};
use super::rule_items::{RuleEvidence, rule_candidates};
use super::session_items::{SessionEvidence, session_item};
use super::shape::QuestionShape;
use super::terms::{QuestionTerms, TermSet, TermSplitter};
use super::wording::AnswerTimes;
use super::{AnswerItem, AnswerSentence, MemoryKind, ProjectAnswer};
use crate::facts::{FileTouch, KnownError};
use crate::question::Confidence;

/// Maximum number of items that are evidence for an answer.
const MAX_EVIDENCE: usize = 12;
/// Maximum number of items and sentences that are shown: about one screen.
const MAX_ITEMS: usize = 4;
const MAX_SENTENCES: usize = 9;
const MAX_CHARS: usize = 2_100;
/// Characters of a citation beside a sentence.
const CITATION_CHARS: usize = 32;
/// Added to the score of a decision or rule that has all words of the question.
const WHOLE_BONUS: f32 = 0.25;
/// Added to the score of a decision about the kind of tool that the question names.
const KIND_BONUS: f32 = 0.8;
/// Items below this share of the best score are not shown.
const MIN_SHARE_OF_BEST: f32 = 0.55;
/// Sentences of its exchange that are quoted with a fact.
const MAX_CONTEXT: usize = 3;
/// Exchanges of the same session are joined up to this many sentences, if they fit nearly as well as the best.
const MAX_PASSAGE_SENTENCES: usize = 9;
const MIN_SHARE_IN_SESSION: f32 = 0.7;
/// A fact must cover at least this much of the question, unless the question names its subject.
const MIN_FACT_COVERAGE: f32 = 0.34;
/// An exchange in which a fact was stated is quoted with it from this coverage on.
const MIN_NEAR_COVERAGE: f32 = 0.15;
/// A passage must cover at least this much of the question, or have [`MANY_WORDS`] of its words.
const MIN_PASSAGE_COVERAGE: f32 = 0.45;
/// With two of its words or half of them, this much is enough for a weak answer.
const MIN_WEAK_COVERAGE: f32 = 0.25;
const MIN_FOREIGN_COVERAGE: f32 = 0.2;
const MANY_WORDS: usize = 4;
/// Share of a question's words that a text must have if the question names something unknown.
const MIN_SHARE_WITH_UNKNOWN: f32 = 0.6;
/// From these scores on, the answer is probably right.
const GOOD_SCORE: f32 = 0.72;
const FAIR_SCORE: f32 = 0.5;
/// From this likelihood on, the wording asks for a memory.
const LIKELY: f32 = 0.6;
/// A passage with a decision that was replaced later says what no longer applies.
const OUTDATED_WEIGHT: f32 = 0.75;
/// A question about more things is about them, and not about a session.
const MAX_SESSION_TOPICS: f32 = 2.0;
/// A fact stands for its exchange from this trust on.
const MIN_LEADING_TRUST: f32 = 0.8;
/// Passages count less than facts that fit as well, because facts are checked.
const PASSAGE_WEIGHT: f32 = 0.85;
const UNDATED_PASSAGE_WEIGHT: f32 = 0.7;

/// What the memories have that may answer a question.
#[derive(Debug, Default)]
pub struct ProjectEvidence {
    /// Facts about errors, decisions, preferences and causes.
    pub facts: Vec<FactRow>,
    /// Facts about commits, branches and packages.
    pub events: Vec<FactRow>,
    /// Errors that are printed in the question.
    pub errors: Vec<KnownError>,
    /// Rules in files for agents.
    pub rules: Vec<RuleEvidence>,
    /// Files named in the question, with their histories.
    pub files: Vec<(String, Vec<FileTouch>)>,
    /// Exchanges that a search found, best first.
    pub exchanges: Vec<Exchange>,
    /// The newest sessions, or those of the time in the question.
    pub sessions: Vec<SessionEvidence>,
}

/// Builds an answer without a model. Empty if nothing fits.
pub fn answer_from_evidence(
    question: &str,
    shape: &QuestionShape,
    evidence: &ProjectEvidence,
    times: AnswerTimes,
) -> ProjectAnswer {
    let mut splitter = TermSplitter::default();
    let terms = QuestionTerms::of(question, &mut splitter);
    let (quoted, known) = passages(&evidence.exchanges, shape, &terms, &mut splitter, times);
    let asks_what_fails = question.split(|c: char| !c.is_alphanumeric()).any(names_failure);
    let lower = question.to_lowercase();
    let chooser =
        Chooser { question: &lower, shape, terms: &terms, evidence, passages: &quoted, known, asks_what_fails, times };
    let facts = chooser.facts(&mut splitter);
    let mut items = chooser.fact_items(&facts);
    items.extend(chooser.file_items(&mut splitter));
    items.extend(chooser.session_items(&mut splitter));
    items.extend(chooser.passage_items(&facts.candidates));
    items.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = items.first().map_or(0.0, |item| item.score);
    compose(items, confidence(best))
}

/// Facts that may answer the question.
pub(super) struct FactCandidates {
    pub(super) candidates: Vec<FactCandidate>,
    /// Errors that are printed in the question.
    printed: Vec<FactCandidate>,
}

pub(super) struct Chooser<'a> {
    /// The question in lower case.
    pub(super) question: &'a str,
    pub(super) shape: &'a QuestionShape,
    pub(super) terms: &'a QuestionTerms,
    pub(super) evidence: &'a ProjectEvidence,
    pub(super) passages: &'a [PassageCandidate],
    /// Terms of the question that the exchanges have.
    pub(super) known: TermSet,
    /// Whether the question asks for what does not work yet.
    pub(super) asks_what_fails: bool,
    pub(super) times: AnswerTimes,
}

impl Chooser<'_> {
    /// What the memories of facts have, newest first.
    pub(super) fn facts(&self, splitter: &mut TermSplitter) -> FactCandidates {
        // Who only repeats an error wants its fix.
        let error_words = if self.shape.is_open() { 2 } else { 3 };
        let near = self.near_episodes();
        let question = self.question;
        let mut reader =
            FactReader { question, terms: self.terms, splitter, times: self.times, error_words, near: &near };
        let printed = self.evidence.errors.iter().filter_map(|error| reader.of_error(error)).collect();
        let mut candidates = reader.candidates(&self.evidence.facts);
        candidates.extend(rule_candidates(&self.evidence.rules, self.terms, splitter));
        candidates.extend(event_candidates(&self.evidence.events, self.terms, splitter, self.times));
        candidates.sort_by_key(|candidate| Reverse(candidate.at));
        FactCandidates { candidates, printed }
    }

    fn fact_items(&self, facts: &FactCandidates) -> Vec<AnswerItem> {
        let ranked = self.ranked_facts(facts);
        ranked.into_iter().map(|(candidate, score)| self.item(candidate, score, &facts.candidates)).collect()
    }

    /// The facts that may answer the question with their scores, best first.
    pub(super) fn ranked_facts<'f>(&self, facts: &'f FactCandidates) -> Vec<(&'f FactCandidate, f32)> {
        let FactCandidates { candidates, printed } = facts;
        let sets: Vec<TermSet> = candidates.iter().map(|candidate| candidate.terms).collect();
        let rarity = self.terms.rarity(&sets);
        let known = sets.iter().fold(self.known, |all, set| all.with(*set));
        let mut items = Vec::new();
        let is_list = self.terms.has_no_topic();
        let named_weight = if self.asks_for_verdict() { 0.5 } else { 0.4 };
        let count = candidates.len().max(1) as f32;
        for (age, candidate) in candidates.iter().enumerate() {
            let coverage = rarity.coverage(candidate.terms);
            let is_named = candidate.named >= 1.0;
            let is_topic = self.terms.topic_len_of(candidate.terms) > 0 && (coverage >= MIN_FACT_COVERAGE || is_named);
            let likelihood = self.likelihood(candidate);
            let is_about = self.is_about(self.terms.topic_len_of(candidate.terms), known);
            let is_listed = is_topic || is_list && self.shape.is_mostly(candidate.memory);
            let newness = 0.03 * (1.0 - age as f32 / count);
            let of_exchange = self.score_of_exchange(candidate, coverage, candidates);
            let of_fact = (is_about && is_listed).then(|| {
                let whole = if self.asks_for_verdict() { WHOLE_BONUS * (coverage - 0.8).max(0.0) / 0.2 } else { 0.0 };
                let fit = if is_list { 0.7 } else { 0.65 * coverage + whole.max(named_weight * candidate.named) };
                (fit + self.search_bonus(candidate)) * (0.5 + 0.5 * likelihood) * candidate.trust
            });
            if let Some(score) = of_fact.into_iter().chain(of_exchange).reduce(f32::max) {
                items.push((candidate, score + newness + self.kind_bonus(candidate)));
            }
        }
        for candidate in printed {
            items.push((candidate, 1.2 * candidate.trust));
        }
        // What was decided later counts more than what it replaced.
        for at in 0..items.len() {
            let (closed, score) = items[at];
            let closes =
                |other: &&mut (&FactCandidate, f32)| closed.closed_by.is_some_and(|by| other.0.places.contains(&by));
            if let Some(later) = items.iter_mut().find(closes) {
                later.1 = later.1.max(score + 0.01);
            }
        }
        items.sort_by(|a, b| b.1.total_cmp(&a.1));
        items.truncate(MAX_EVIDENCE);
        items
    }

    /// A question that names the kind of tool that was decided on can hardly be about anything else.
    fn kind_bonus(&self, candidate: &FactCandidate) -> f32 {
        let is_named = candidate.settled.as_ref().is_some_and(|settled| settled.is_kind_named);
        let has_all = self.terms.topic_len_of(candidate.terms) == self.terms.topic_len();
        let is_asked = self.asks_for_verdict() || self.shape.is_open();
        if is_named && has_all && is_asked { KIND_BONUS } else { 0.0 }
    }

    /// How likely it is that the question asks for what a fact says.
    fn likelihood(&self, candidate: &FactCandidate) -> f32 {
        let own = self.shape.likelihood(candidate.memory);
        match candidate.memory {
            // People ask for a fix by repeating the error.
            MemoryKind::Fix if candidate.named >= 1.0 && !self.shape.asks_why => 1.0,
            // A rule may have been stated as a decision, and a decision as a rule.
            MemoryKind::Decision => own.max(0.9 * self.shape.likelihood(MemoryKind::Preference)),
            MemoryKind::Preference => own.max(0.9 * self.shape.likelihood(MemoryKind::Decision)),
            _ => own,
        }
    }

    /// The score of a fact by the exchange that states it: if the search found the exchange, and the question asks for
    /// this kind of fact, the fact says what the exchange came to. Of several facts, those count that fit as well.
    fn score_of_exchange(&self, candidate: &FactCandidate, coverage: f32, all: &[FactCandidate]) -> Option<f32> {
        let is_asked =
            self.likelihood(candidate) >= LIKELY && !(candidate.memory == MemoryKind::Fix && self.shape.asks_why);
        if !is_asked || candidate.trust < MIN_LEADING_TRUST {
            return None;
        }
        let passage = self.passage_of(candidate).filter(|passage| self.fits(passage))?;
        let is_beside = |other: &&FactCandidate| {
            other.memory == candidate.memory && other.trust >= MIN_LEADING_TRUST && self.is_in(passage, other)
        };
        let is_only_fix = candidate.memory == MemoryKind::Fix && all.iter().filter(is_beside).count() == 1;
        if !is_only_fix && self.terms.topic_len_of(candidate.terms) == 0 {
            return None;
        }
        let share = if is_only_fix { 1.0 } else { coverage / passage.coverage };
        Some(passage.item.score * self.passage_weight() * (0.7 + 0.3 * share.min(1.0)) + 0.03)
    }

    /// The item of a fact, with the cause of its error and the exchange in which it was stated.
    fn item(&self, candidate: &FactCandidate, score: f32, all: &[FactCandidate]) -> AnswerItem {
        let mut sentences = candidate.sentences.clone();
        if candidate.memory == MemoryKind::Fix && candidate.error.is_some() {
            let is_cause = |other: &&FactCandidate| {
                other.memory == MemoryKind::Cause && other.error == candidate.error && other.trust > 0.5
            };
            sentences.extend(all.iter().find(is_cause).into_iter().flat_map(|cause| cause.sentences.clone()));
        }
        if let Some(passage) = self.passage_of(candidate) {
            // The line that states the fact may say more.
            let known = |sentence: &AnswerSentence| {
                let is_said = |own: &&AnswerSentence| own.sources == sentence.sources;
                sentences.iter().filter(is_said).any(|own| 2 * sentence.text.len() < 3 * own.text.len())
            };
            let mut said: Vec<AnswerSentence> =
                passage.item.sentences.iter().filter(|sentence| !known(sentence)).cloned().collect();
            // What the user said about a proposal decides it.
            let is_verdict = matches!(candidate.memory, MemoryKind::Decision | MemoryKind::Preference);
            said.sort_by_key(|sentence| is_verdict && !sentence.text.starts_with("The user said"));
            said.truncate(MAX_CONTEXT);
            sentences.extend(said);
        }
        AnswerItem { memory: candidate.memory, sentences, score }
    }

    pub(super) fn passage_of(&self, candidate: &FactCandidate) -> Option<&PassageCandidate> {
        let is_same = |passage: &&PassageCandidate| self.is_in(passage, candidate);
        let fitting = self.passages.iter().filter(is_same).filter(|passage| passage.coverage >= MIN_NEAR_COVERAGE);
        fitting.max_by(|a, b| a.item.score.total_cmp(&b.item.score))
    }

    /// Whether a fact was stated in the exchange of a passage, or in the prompt that follows it.
    pub(super) fn is_in(&self, passage: &PassageCandidate, candidate: &FactCandidate) -> bool {
        let exchange = &self.evidence.exchanges[passage.exchange];
        let next = exchange.entries.last().map(|entry| entry.location.line);
        candidate.places.iter().any(|place| {
            place.session == exchange.session.id && (place.episode == exchange.episode || Some(place.line) == next)
        })
    }

    /// The episodes of the exchanges, and those of the prompts that follow.
    fn near_episodes(&self) -> BTreeSet<(SessionId, u64)> {
        let exchanges = self.evidence.exchanges.iter();
        exchanges.flat_map(|one| [one.episode, one.episode + 1].map(|episode| (one.session.id, episode))).collect()
    }

    /// Whether a text with this many words of the question is about it. If the question names something that is not
    /// known at all, nearly all the rest must fit; unless it asks for a decision or a preference, because these hold
    /// for what is new too.
    fn is_about(&self, topic_len: usize, known: TermSet) -> bool {
        if self.asks_for_verdict() {
            return true;
        }
        let is_most = topic_len >= 2 && topic_len as f32 >= MIN_SHARE_WITH_UNKNOWN * self.terms.topic_len() as f32;
        is_most || !self.terms.names_unknown(known)
    }

    /// A fact from an exchange that the search found fits better than one from elsewhere.
    fn search_bonus(&self, candidate: &FactCandidate) -> f32 {
        self.passage_of(candidate).map_or(0.0, |passage| 0.2 * passage.item.score.min(1.0))
    }

    fn file_items(&self, splitter: &mut TermSplitter) -> Vec<AnswerItem> {
        let likelihood = self.shape.likelihood(MemoryKind::File);
        let named =
            self.shape.files.iter().fold(TermSet::default(), |all, name| all.with(self.terms.find(name, splitter)));
        let others = self.terms.topic_len().saturating_sub(self.terms.topic_len_of(named)) as f32;
        // A question that only mentions a file is about something else.
        let factor = if self.shape.is_mostly(MemoryKind::File) { 0.95 } else { 0.4 };
        let score = factor * likelihood / (1.0 + 0.15 * (others - 1.0).max(0.0));
        let items = self.evidence.files.iter().filter_map(|(name, touches)| file_item(name, touches, self.times));
        items.map(|item| AnswerItem { score, ..item }).collect()
    }

    /// Sessions answer questions without a topic, such as "where did we stop?".
    fn session_items(&self, splitter: &mut TermSplitter) -> Vec<AnswerItem> {
        let likelihood = self.shape.likelihood(MemoryKind::Session);
        let topics = self.terms.topic_len() as f32;
        if topics > MAX_SESSION_TOPICS || !self.shape.is_mostly(MemoryKind::Session) {
            return Vec::new();
        }
        let is_short = self.evidence.sessions.len() > 1;
        let mut items = Vec::new();
        for (at, found) in self.evidence.sessions.iter().take(MAX_ITEMS).enumerate() {
            let Some(item) = session_item(found, is_short, self.times) else { continue };
            let has_topic = self.asks_what_fails && !found.open_errors.is_empty()
                || self.terms.topic_len_of(self.terms.find(&item.to_line(), splitter)) > 0;
            let strangeness = if has_topic { 0.0 } else { 0.6 * topics };
            let score = 0.95 * likelihood / (1.0 + strangeness) - 0.05 * at as f32;
            // What is left of something is said at the end of its session, wherever the session mentions it.
            let of_passage = self.passages.iter().filter(|passage| {
                has_topic && self.evidence.exchanges[passage.exchange].session.id == found.session.id
            });
            let of_passage = of_passage.map(|passage| passage.item.score * self.passage_weight() + 0.03);
            items.push(AnswerItem { score: of_passage.fold(score, f32::max), ..item });
        }
        items
    }

    /// Whether a passage has enough words of the question.
    fn fits(&self, passage: &PassageCandidate) -> bool {
        let least = if self.terms.is_english { MIN_PASSAGE_COVERAGE } else { MIN_FOREIGN_COVERAGE };
        let has_half = 2 * passage.topic_len >= self.terms.topic_len();
        let is_weak =
            passage.coverage >= MIN_WEAK_COVERAGE && (passage.topic_len >= 2 || has_half || self.asks_for_verdict());
        self.is_about(passage.topic_len, self.known)
            && passage.topic_len > 0
            && (passage.coverage >= least || is_weak || passage.topic_len >= MANY_WORDS)
    }

    fn passage_weight(&self) -> f32 {
        // Passages rarely have a date.
        if self.shape.asks_when { UNDATED_PASSAGE_WEIGHT } else { PASSAGE_WEIGHT }
    }

    /// Whether the question is about what a human decided or wants.
    fn asks_for_verdict(&self) -> bool {
        let verdicts = [MemoryKind::Decision, MemoryKind::Preference];
        verdicts.into_iter().any(|kind| self.shape.likelihood(kind) >= LIKELY)
    }

    /// What fixed the only error of an exchange: it shows what the error was, and often why it occurred.
    fn only_fix_of(&self, passage: &PassageCandidate, facts: &[FactCandidate]) -> Option<AnswerSentence> {
        let is_fix = |fact: &&FactCandidate| fact.memory == MemoryKind::Fix && fact.trust >= MIN_LEADING_TRUST;
        let mut fixes = facts.iter().filter(is_fix).filter(|fact| self.is_in(passage, fact));
        let first = fixes.next()?;
        if fixes.next().is_some() { None } else { first.sentences.first().cloned() }
    }

    fn passage_items(&self, facts: &[FactCandidate]) -> Vec<AnswerItem> {
        let closed: Vec<&FactCandidate> = facts.iter().filter(|fact| fact.closed_by.is_some()).collect();
        let is_outdated =
            |passage: &PassageCandidate| self.asks_for_verdict() && closed.iter().any(|fact| self.is_in(passage, fact));
        let weight = self.passage_weight();
        let mut fitting: Vec<&PassageCandidate> = self.passages.iter().filter(|passage| self.fits(passage)).collect();
        fitting.sort_by(|a, b| b.item.score.total_cmp(&a.item.score));
        let mut items: Vec<(SessionId, AnswerItem)> = Vec::new();
        for passage in fitting {
            let session = self.evidence.exchanges[passage.exchange].session.id;
            let weight = if is_outdated(passage) { weight * OUTDATED_WEIGHT } else { weight };
            let mut item = AnswerItem { score: passage.item.score * weight, ..passage.item.clone() };
            if self.shape.is_mostly(MemoryKind::Cause) {
                item.sentences.extend(self.only_fix_of(passage, facts));
            }
            match items.iter_mut().find(|(other, _)| *other == session) {
                // Exchanges of one session about the same are one item.
                Some((_, first)) if first.sentences.len() + item.sentences.len() <= MAX_PASSAGE_SENTENCES => {
                    if item.score >= first.score * MIN_SHARE_IN_SESSION {
                        let known: Vec<AnswerSentence> = first.sentences.clone();
                        let is_new = |one: &AnswerSentence| known.iter().all(|known| known.sources != one.sources);
                        first.sentences.extend(item.sentences.into_iter().filter(is_new));
                    }
                }
                _ => items.push((session, item)),
            }
        }
        items.into_iter().map(|(_, item)| item).collect()
    }
}

impl ProjectAnswer {
    /// The best items within one screen.
    #[must_use]
    pub fn within_one_screen(&self) -> Self {
        let best = self.items.first().map_or(0.0, |item| item.score);
        let (mut left, mut chars) = (MAX_SENTENCES, MAX_CHARS);
        let mut items = Vec::new();
        for item in self.items.iter().take(MAX_ITEMS).filter(|item| item.score >= best * MIN_SHARE_OF_BEST) {
            let mut sentences: Vec<AnswerSentence> = Vec::new();
            for sentence in &item.sentences {
                let length = sentence.text.chars().count() + CITATION_CHARS * sentence.sources.len();
                let is_first = items.is_empty() && sentences.is_empty();
                if left == 0 || length > chars && !is_first {
                    break;
                }
                (left, chars) = (left - 1, chars.saturating_sub(length));
                sentences.push(sentence.clone());
            }
            if !sentences.is_empty() {
                items.push(AnswerItem { sentences, ..item.clone() });
            }
        }
        Self { items, ..self.clone() }
    }
}

/// Whether a word says that something does not work.
fn names_failure(word: &str) -> bool {
    let word = word.to_lowercase();
    matches!(word.as_str(), "red" | "broken") || word.starts_with("fail") || word.starts_with("error")
}

fn confidence(best: f32) -> Confidence {
    match best {
        best if best >= GOOD_SCORE => Confidence::High,
        best if best >= FAIR_SCORE => Confidence::Medium,
        _ => Confidence::Low,
    }
}

/// The items that say something new, best first.
fn compose(items: Vec<AnswerItem>, confidence: Confidence) -> ProjectAnswer {
    let mut kept: Vec<AnswerItem> = Vec::new();
    for mut item in items {
        let is_known =
            |sentence: &AnswerSentence| kept.iter().flat_map(|item| &item.sentences).any(|known| known == sentence);
        let mut seen: Vec<AnswerSentence> = Vec::new();
        item.sentences.retain(|sentence| {
            let is_new = !is_known(sentence) && !seen.contains(sentence);
            seen.push(sentence.clone());
            is_new
        });
        if !item.sentences.is_empty() && kept.len() < MAX_EVIDENCE {
            kept.push(item);
        }
    }
    // Only passages were found: no memory has an answer that was checked.
    let is_checked = kept.first().is_some_and(|item| item.memory != MemoryKind::Passage);
    let confidence = if is_checked { confidence } else { confidence.min(Confidence::Medium) };
    let mut notes = Vec::new();
    if !kept.is_empty() && confidence == Confidence::Low {
        notes.push("The evidence is weak: this may not answer the question.".to_owned());
    }
    ProjectAnswer { items: kept, confidence, notes }
}
