//! Finds the part of a past exchange that answers a question: the reply with the best fitting sentences, and its prompt.

use std::collections::BTreeSet;
use std::ops::Range;

use rethread_model::{Entry, EntryKind, Session};

use super::quotes::{is_informative, is_question, quoted};
use super::shape::QuestionShape;
use super::terms::{QuestionTerms, TermRarity, TermSet, TermSplitter};
use super::wording::{AnswerTimes, origin};
use super::{AnswerItem, AnswerSentence, MemoryKind, SentenceSource};
use crate::question::entry_text;

/// Maximum length of a quoted part, in characters; sentences are quoted whole where they fit.
const PART_CHARS: usize = 640;
/// Maximum length of a quoted prompt, in characters.
const PROMPT_CHARS: usize = 200;
/// Bytes of one entry that are read; the rest is a paste or a log.
const MAX_ENTRY_BYTES: usize = 16_000;
/// Entries of one exchange that are read.
const MAX_ENTRIES: usize = 400;
/// From this likelihood on, a question is about a decision or a preference.
const LIKELY_VERDICT: f32 = 0.6;
/// Added to the score of a part in an entry that the search found.
const HIT_BONUS: f32 = 0.3;
/// Added to the score of a part with words that such answers have.
const CUE_BONUS: f32 = 0.16;
/// How much the order of the search counts.
const SEARCH_WEIGHT: f32 = 0.3;
/// Entries before a part that count as its context.
const NEAR_ENTRIES: usize = 3;
/// Other parts of the same exchange are quoted if they fit at least this well, compared with the best.
const MIN_OTHER_PART: f32 = 0.6;
/// Maximum number of parts quoted of an exchange, and of one entry.
const MAX_PARTS: usize = 3;
const MAX_PARTS_OF_ENTRY: usize = 2;
const MAX_CALLS: usize = 2;
/// Of an exchange with at most this many replies, all that was said is quoted.
const MAX_SHORT_EXCHANGE: usize = 4;
/// A command counts less than what was said.
const CALL_WEIGHT: f32 = 0.7;

/// A prompt with everything that followed, found by a search.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Session of the exchange.
    pub session: Session,
    /// Number of the episode.
    pub episode: u64,
    /// Its entries, oldest first, and the next prompt: it often accepts or rejects the last answer.
    pub entries: Vec<Entry>,
    /// Seqs of the entries that the search found, with their scores relative to the best hit, 0 to 1; best first.
    pub hits: Vec<(u64, f32)>,
}

impl Exchange {
    fn search_score(&self) -> f32 {
        self.hits.first().map_or(0.0, |(_, score)| *score)
    }
}

/// The best part of an exchange.
pub(super) struct PassageCandidate {
    /// Index of the exchange.
    pub(super) exchange: usize,
    pub(super) item: AnswerItem,
    /// Share of the question's words in the quoted texts.
    pub(super) coverage: f32,
    /// Number of words that say what the question is about.
    pub(super) topic_len: usize,
    /// The terms of the question that the whole exchange has.
    pub(super) all_terms: TermSet,
    /// Those that its prompt has.
    pub(super) prompt_terms: TermSet,
}

/// What stands around a part: the less near, the less it says about the part.
#[derive(Clone, Copy)]
struct PartContext {
    /// The rest of the entry.
    entry: TermSet,
    /// The texts before it.
    before: TermSet,
    /// The prompt and the name of the session.
    topic: TermSet,
}

/// A run of sentences in an entry.
struct TextPart {
    entry: usize,
    range: Range<usize>,
    terms: TermSet,
    score: f32,
}

/// The entries of an exchange that may be quoted, with their terms.
struct ReadEntry {
    index: usize,
    text: String,
    terms: TermSet,
    units: Vec<(Range<usize>, TermSet)>,
}

/// The best part of each exchange, with how well it fits; and the terms of the question that the exchanges have.
pub(super) fn passages(
    exchanges: &[Exchange],
    shape: &QuestionShape,
    terms: &QuestionTerms,
    splitter: &mut TermSplitter,
    times: AnswerTimes,
) -> (Vec<PassageCandidate>, TermSet) {
    let read: Vec<Vec<ReadEntry>> = exchanges.iter().map(|exchange| read_entries(exchange, terms, splitter)).collect();
    let sets: Vec<TermSet> = read.iter().flatten().map(|entry| entry.terms).collect();
    let finder = PartFinder { shape, rarity: terms.rarity(&sets) };
    let mut all = Vec::new();
    for (index, (exchange, entries)) in exchanges.iter().zip(&read).enumerate() {
        let session = &exchange.session;
        let names = [session.name.as_deref(), session.project.as_deref()].into_iter().flatten();
        let named = terms.find(&names.collect::<Vec<_>>().join("\n"), splitter);
        if let Some(found) = finder.passage(exchange, entries, (named, index), times) {
            let (item, quoted) = found;
            let coverage = finder.rarity.coverage(quoted);
            let topic_len = terms.topic_len_of(quoted);
            let all_terms = entries.iter().map(|entry| entry.terms).fold(quoted, TermSet::with);
            let is_prompt = |entry: &&ReadEntry| exchange.entries[entry.index].kind == EntryKind::Prompt;
            let prompt_terms = entries.iter().find(is_prompt).map(|entry| entry.terms).unwrap_or_default();
            all.push(PassageCandidate { exchange: index, item, coverage, topic_len, all_terms, prompt_terms });
        }
    }
    let known = sets.into_iter().chain(exchanges.iter().flat_map(|one| hit_terms(one, terms, splitter)));
    let known = known.fold(TermSet::default(), TermSet::with);
    (all, known)
}

/// The terms of the entries that the search found, whether they may be quoted or not.
fn hit_terms(exchange: &Exchange, terms: &QuestionTerms, splitter: &mut TermSplitter) -> Vec<TermSet> {
    let is_hit = |entry: &&Entry| exchange.hits.iter().any(|(seq, _)| *seq == entry.seq);
    exchange.entries.iter().filter(is_hit).map(|entry| terms.find(&entry.text, splitter)).collect()
}

fn read_entries(exchange: &Exchange, terms: &QuestionTerms, splitter: &mut TermSplitter) -> Vec<ReadEntry> {
    let quotable = exchange.entries.iter().enumerate().filter(|(_, entry)| is_quotable(entry));
    quotable.take(MAX_ENTRIES).map(|(index, entry)| read_entry(index, entry, terms, splitter)).collect()
}

fn read_entry(index: usize, entry: &Entry, terms: &QuestionTerms, splitter: &mut TermSplitter) -> ReadEntry {
    let mut text = entry_text(entry);
    text.truncate(text.floor_char_boundary(MAX_ENTRY_BYTES));
    let mut units: Vec<(Range<usize>, TermSet)> =
        sentence_ranges(&text).into_iter().map(|range| (range, TermSet::default())).collect();
    let mut all = TermSet::default();
    let mut at = 0;
    for word in splitter.words(&text).iter() {
        let Some(found) = terms.position(word.text) else { continue };
        all = all.with(found);
        while units.get(at).is_some_and(|(range, _)| range.end <= word.start) {
            at += 1;
        }
        // The parts of a compound come after the whole, so the unit may be the one before.
        let unit =
            if units.get(at).is_some_and(|(range, _)| range.start > word.start) { at.saturating_sub(1) } else { at };
        if let Some((_, set)) = units.get_mut(unit) {
            *set = set.with(found);
        }
    }
    ReadEntry { index, text, terms: all, units }
}

/// Whether an entry says something; machine output and reasoning do not count.
fn is_quotable(entry: &Entry) -> bool {
    let is_said = matches!(
        entry.kind,
        EntryKind::Prompt
            | EntryKind::Task
            | EntryKind::AssistantText
            | EntryKind::Note
            | EntryKind::Summary
            | EntryKind::Recap
            | EntryKind::Call
    );
    // Earlier questions to this memory repeat the words of the question and answer nothing.
    let is_own = entry
        .tool
        .as_ref()
        .is_some_and(|tool| tool.name.contains("rethread") || tool.target.trim_start().starts_with("rethread "));
    is_said && !is_own && entry.tool.as_ref().map_or(!entry.text.trim().is_empty(), is_informative)
}

/// Byte ranges of the sentences and lines of a text.
fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    let mut signs = text.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let next = signs.peek().map(|(_, next)| *next);
        let is_stop =
            matches!(sign, '.' | '!' | '?') && next.is_none_or(char::is_whitespace) && before.is_alphanumeric();
        if sign == '\n' || is_stop || matches!(sign, '。' | '！' | '？') {
            let end = at + sign.len_utf8();
            if !text[from..end].trim().is_empty() {
                ranges.push(from..end);
            }
            from = end;
        }
        before = sign;
    }
    if !text[from..].trim().is_empty() {
        ranges.push(from..text.len());
    }
    ranges
}

struct PartFinder<'a> {
    shape: &'a QuestionShape,
    rarity: TermRarity,
}

/// An exchange with what may be quoted of it.
struct ReadExchange<'a> {
    exchange: &'a Exchange,
    entries: &'a [ReadEntry],
    /// Position of the prompt among the entries.
    prompt: Option<usize>,
}

impl ReadExchange<'_> {
    fn entry(&self, part: &TextPart) -> &Entry {
        &self.exchange.entries[self.entries[part.entry].index]
    }

    /// Whether the prompt or the last reply before `next` asks something, so that what follows answers it.
    fn is_discussion(&self, next: usize) -> bool {
        let is_said = |read: &&ReadEntry| self.exchange.entries[read.index].kind == EntryKind::AssistantText;
        let reply = self.entries[..next].iter().rfind(is_said);
        let prompt = self.prompt.map(|at| &self.entries[at]);
        prompt.into_iter().chain(reply).any(|read| read.text.contains('?'))
    }

    /// A quoted text with its source; the first one of an answer says where it is from.
    fn sentence(&self, entry: &Entry, text: &str, chars: usize, times: Option<AnswerTimes>) -> AnswerSentence {
        let session = &self.exchange.session;
        let project = session.project.as_deref().or(session.cwd.as_deref());
        let place = times.map(|times| format!(" {}", origin(session.name.as_deref(), entry.at, times)));
        let text = format!("{}{}.", quoted(entry, text, chars, project), place.unwrap_or_default());
        AnswerSentence::new(text, SentenceSource::in_session(session, entry.location.line, entry.at))
    }
}

impl PartFinder<'_> {
    /// The best parts of an exchange with its prompt, and the terms they have.
    fn passage(
        &self,
        exchange: &Exchange,
        entries: &[ReadEntry],
        (named, rank): (TermSet, usize),
        times: AnswerTimes,
    ) -> Option<(AnswerItem, TermSet)> {
        let is_prompt =
            |read: &ReadEntry| matches!(exchange.entries[read.index].kind, EntryKind::Prompt | EntryKind::Task);
        let prompt = entries.iter().position(is_prompt);
        let read = ReadExchange { exchange, entries, prompt };
        let topic = prompt.map_or(named, |at| entries[at].terms.with(named));
        let mut parts: Vec<TextPart> = Vec::new();
        for (at, one) in entries.iter().enumerate() {
            let near = entries[at.saturating_sub(NEAR_ENTRIES)..at].iter();
            let before = near.fold(TermSet::default(), |all, near| all.with(near.terms));
            let context = PartContext { entry: one.terms, before, topic };
            parts.extend(self.best_parts(exchange, one, at, context));
        }
        parts.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry)));
        let best = parts.first()?.score;
        let own = parts.iter().find(|part| Some(part.entry) == prompt);
        // What the user said next belongs to the exchange if it has words of the question.
        let is_next = |part: &TextPart| is_prompt(&entries[part.entry]) && part.terms.len() == 0;
        let is_reply = |part: &&TextPart| Some(part.entry) != prompt && !is_next(part);
        let replies = chosen_replies(&read, parts.iter().filter(is_reply));
        let mut quotes: Vec<(&Entry, &str, usize)> = Vec::new();
        let mut terms = TermSet::default();
        for part in &replies {
            quotes.push((read.entry(part), &entries[part.entry].text[part.range.clone()], PART_CHARS));
            terms = terms.with(part.terms);
        }
        if let Some(next) = self.next_prompt(&read).filter(|next| replies.iter().all(|part| part.entry != *next)) {
            quotes.push((&exchange.entries[entries[next].index], &entries[next].text, PROMPT_CHARS));
            terms = terms.with(entries[next].terms);
        }
        if let Some(at) = prompt {
            // A long prompt is quoted where it fits best, a short one whole.
            let whole = (entries[at].text.as_str(), PROMPT_CHARS);
            let is_long = whole.0.chars().count() > PROMPT_CHARS;
            let text = own.filter(|_| is_long).map_or(whole, |own| (&whole.0[own.range.clone()], PART_CHARS));
            let is_better = own.is_some_and(|own| replies.first().is_none_or(|reply| own.score > reply.score));
            let place = if is_better && !is_question(&entries[at].text) { 0 } else { quotes.len() };
            quotes.insert(place, (&exchange.entries[entries[at].index], text.0, text.1));
            terms = terms.with(entries[at].terms);
        }
        let first = |at: usize| (at == 0).then_some(times);
        let sentences = quotes.iter().enumerate();
        let sentences: Vec<AnswerSentence> =
            sentences.map(|(at, (entry, text, chars))| read.sentence(entry, text, *chars, first(at))).collect();
        // A question without a reply answers nothing.
        let is_open = prompt.is_some_and(|at| entries[at].text.trim_end().ends_with('?'));
        let answered = if !replies.is_empty() {
            1.0
        } else if is_open {
            0.4
        } else {
            0.8
        };
        let found = 1.0 - SEARCH_WEIGHT + SEARCH_WEIGHT * exchange.search_score() / (1.0 + 0.05 * rank as f32);
        let score = best * answered * found;
        (!sentences.is_empty()).then_some((AnswerItem { memory: MemoryKind::Passage, sentences, score }, terms))
    }

    /// The position of the prompt that follows the exchange, if it says what came of it: what a human decided, or what
    /// turned out to be the cause.
    fn next_prompt(&self, read: &ReadExchange<'_>) -> Option<usize> {
        let last = read.entries.len().checked_sub(1).filter(|last| Some(*last) != read.prompt)?;
        let entry = &read.entries[last];
        let is_prompt = read.exchange.entries[entry.index].kind == EntryKind::Prompt;
        let lower = entry.text.to_lowercase();
        let has_cue = self.answer_cues().iter().any(|cue| lower.contains(cue));
        let is_verdict = read.is_discussion(last) || self.asks_for_verdict() && entry.terms.len() > 0;
        (is_prompt && (has_cue || is_verdict) && !is_question(&entry.text)).then_some(last)
    }

    /// The runs of sentences of an entry that fit the question best.
    fn best_parts(&self, exchange: &Exchange, read: &ReadEntry, at: usize, context: PartContext) -> Vec<TextPart> {
        let entry = &exchange.entries[read.index];
        let found = exchange.hits.iter().find(|(seq, _)| *seq == entry.seq);
        let bonus = found.map_or(0.0, |(_, score)| HIT_BONUS * score);
        let mut all: Vec<TextPart> = Vec::new();
        for first in 0..read.units.len() {
            let mut terms = TermSet::default();
            let start = read.units[first].0.start;
            let mut last = first;
            while let Some((range, found)) = read.units.get(last) {
                if last > first && read.text[start..range.end].chars().count() > PART_CHARS {
                    break;
                }
                terms = terms.with(*found);
                last += 1;
            }
            // What a colon announces belongs to it.
            if let Some((range, found)) = read.units.get(last)
                && read.text[start..range.start].trim_end().ends_with(':')
            {
                terms = terms.with(*found);
                last += 1;
            }
            let range = start..read.units[last - 1].0.end;
            let score = self.score(entry, &read.text[range.clone()], terms, context) + bonus;
            all.push(TextPart { entry: at, range, terms, score });
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut best: Vec<TextPart> = Vec::new();
        for part in all {
            let overlaps = |other: &TextPart| part.range.start < other.range.end && other.range.start < part.range.end;
            if best.len() < MAX_PARTS_OF_ENTRY && !best.iter().any(overlaps) {
                best.push(part);
            }
        }
        best
    }

    fn score(&self, entry: &Entry, text: &str, terms: TermSet, context: PartContext) -> f32 {
        let own = self.rarity.coverage(terms);
        let in_entry = self.rarity.coverage(terms.with(context.entry));
        let near = self.rarity.coverage(terms.with(context.entry).with(context.before));
        let topic = self.rarity.coverage(terms.with(context.entry).with(context.before).with(context.topic));
        let mut score = own + 0.5 * (in_entry - own) + 0.15 * (near - in_entry) + 0.35 * (topic - near);
        let lower = text.to_lowercase();
        let has_cue = self.answer_cues().iter().any(|cue| lower.contains(cue));
        if own <= 0.0 {
            score *= if has_cue { 0.8 } else { 0.6 };
        }
        if has_cue {
            score += CUE_BONUS;
        }
        if is_announcement(&lower) {
            score *= 0.7;
        }
        let kind = match entry.kind {
            EntryKind::Call => CALL_WEIGHT,
            // Who asks what is wanted asks for the words of a human.
            EntryKind::Prompt if self.shape.is_mostly(MemoryKind::Preference) && !is_question(text) => 1.0,
            EntryKind::Prompt | EntryKind::Task => 0.85,
            EntryKind::Summary | EntryKind::Recap => 0.9,
            _ => 1.0,
        };
        score * kind
    }

    /// Whether the question is about what a human decided or wants.
    fn asks_for_verdict(&self) -> bool {
        let kinds = [MemoryKind::Decision, MemoryKind::Preference];
        kinds.into_iter().any(|kind| self.shape.likelihood(kind) >= LIKELY_VERDICT)
    }

    /// Words that answers to this kind of question have.
    fn answer_cues(&self) -> &'static [&'static str] {
        if self.shape.asks_why || self.shape.is_mostly(MemoryKind::Cause) {
            &[
                "because",
                "caused by",
                "since ",
                "due to",
                "root cause",
                "the issue",
                "the problem",
                "turns out",
                "found it",
                "culprit",
                "that's why",
                "that's where",
                "reason",
                "so that",
            ]
        } else if self.shape.is_mostly(MemoryKind::Fix) {
            &["fix", "changed", "replaced", "added", "resolved", "solution", "now pass", "the issue", "root cause"]
        } else if self.shape.is_mostly(MemoryKind::Decision) {
            &["decided", "instead", "go with", "let's", "recommend", "prefer", "chose", "because", "should", "don't"]
        } else if self.shape.is_mostly(MemoryKind::Preference) {
            &["instead", "prefer", "should", "don't", "never", "always", "only ", "must", "no ", "please"]
        } else {
            &[]
        }
    }
}

/// The parts of the replies that are quoted, best first. Of a short exchange everything said is, and a command only if
/// nothing that was said has its words; of a long one what fits nearly as well as the best and has other words.
fn chosen_replies<'p>(read: &ReadExchange<'_>, replies: impl Iterator<Item = &'p TextPart>) -> Vec<&'p TextPart> {
    let is_said = |part: &&&TextPart| read.entry(part).kind != EntryKind::Call;
    let replies: Vec<&TextPart> = replies.filter(|part| part.score > 0.0).collect();
    let said: BTreeSet<usize> = replies.iter().filter(is_said).map(|part| part.entry).collect();
    let mut chosen: Vec<&TextPart> = Vec::new();
    if said.is_empty() || said.len() > MAX_SHORT_EXCHANGE {
        let best = replies.first().map_or(0.0, |part| part.score);
        for part in replies.into_iter().take_while(|part| part.score >= best * MIN_OTHER_PART) {
            if chosen.len() < MAX_PARTS && chosen.iter().all(|known| known.terms != part.terms) {
                chosen.push(part);
            }
        }
        return chosen;
    }
    chosen.extend(replies.iter().filter(is_said).take(MAX_PARTS));
    let asked = read.prompt.map_or_else(TermSet::default, |at| read.entries[at].terms);
    let mut known = chosen.iter().fold(asked, |all, part| all.with(part.terms));
    for call in replies.iter().filter(|part| !is_said(part)) {
        if chosen.len() < MAX_PARTS + MAX_CALLS && known.with(call.terms) != known {
            known = known.with(call.terms);
            chosen.push(call);
        }
    }
    chosen.sort_by(|a, b| b.score.total_cmp(&a.score));
    chosen
}

/// Whether a text only says what will be done next.
fn is_announcement(lower: &str) -> bool {
    let lower = lower.trim_start().replace('’', "'");
    let starts = ["let me ", "now let me ", "i'll ", "i will ", "now i'll ", "let's look", "let's check", "i need to "];
    lower.chars().count() < 200 && starts.iter().any(|words| lower.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_at_lines_and_sentences_but_not_in_names() {
        let text = "The pool was too small. See src/db.ts v1.2\n- raise max\n\nDone!";
        let parts: Vec<&str> = sentence_ranges(text).into_iter().map(|range| text[range].trim()).collect();
        assert_eq!(parts, ["The pool was too small.", "See src/db.ts v1.2", "- raise max", "Done!"]);
        assert_eq!(sentence_ranges("曜日が壊れた。直した。").len(), 2);
    }

    #[test]
    fn announcements_are_noticed() {
        assert!(is_announcement("let me look at the pool."));
        assert!(!is_announcement("the pool is too small; let me raise it."));
    }
}
