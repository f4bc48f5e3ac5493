//! Answers without a model: quotes the exchanges of a session that best match a question.
//!
//! A passage is a prompt with the reply to it: what was asked often has the words of the question, and what was
//! answered has the answer.

use std::cmp::Reverse;
use std::collections::HashSet;

use rethread_index::words;
use rethread_model::{Entry, EntryKind, EntryRole, clip};

use super::answer::{Citation, CitedAnswer, Confidence, MAX_CITATIONS, MAX_EXCERPT_CHARS};
use crate::cues::word_weight;
use crate::quote::quote_short;
use crate::{SearchHit, snippet};

/// Maximum number of passages quoted. Each has at most two citations.
const MAX_PASSAGES: usize = MAX_CITATIONS / 2;
/// Minimum share of the question's words in the best passage, unless it has [`MANY_WORDS`] of them.
const MIN_SHARE: f32 = 0.5;
/// A longer prompt mentions much; its words say less about the reply.
const SHORT_PROMPT_CHARS: usize = 120;
/// This many words in common are no chance.
const MANY_WORDS: usize = 3;
/// Minimum share relative to the best passage.
const MIN_SHARE_OF_BEST: f32 = 0.5;
/// From this share on, the passage probably answers the question.
const GOOD_SHARE: f32 = 0.7;

/// A prompt and what was replied, as far as they are quoted.
struct Passage {
    prompt: Option<Citation>,
    reply: Option<Citation>,
    /// How many of the question's words the quoted texts have.
    matched: usize,
    /// How many of them a short prompt has: who asked nearly the same got the answer.
    matched_in_prompt: usize,
}

/// Builds an answer from search hits within one session, best first, each given with the entries of its episode. The
/// answer says that no model was asked.
pub fn extractive_answer(found: &[(SearchHit, Vec<Entry>)], question: &str) -> CitedAnswer {
    let question = QuestionWords::of(question);
    let mut passages: Vec<Passage> = Vec::new();
    let mut episodes = HashSet::new();
    for (hit, exchange) in found {
        if episodes.insert(hit.key) {
            passages.push(question.passage(hit, exchange));
        }
    }
    let best = passages.iter().map(|passage| passage.matched).max().unwrap_or(0);
    passages.retain(|passage| question.is_answered_by(passage, best));
    // Announcements and prompts without a reply last; within each group the order of the search decides between equals.
    passages.sort_by_key(|passage| {
        let is_weak = passage.reply.is_none() || passage.is_announcement();
        (is_weak, Reverse(passage.matched), Reverse(passage.matched_in_prompt))
    });
    passages.truncate(MAX_PASSAGES);
    let is_good = question.share(best) >= GOOD_SHARE && !passages.is_empty();
    let answer = render_passages(&passages);
    let citations = passages.into_iter().flat_map(|passage| [passage.prompt, passage.reply]).flatten().collect();
    let confidence = if is_good { Confidence::Medium } else { Confidence::Low };
    CitedAnswer { answer, confidence, citations, notes: Vec::new(), is_extractive: true }
}

/// The words of a question, as they are indexed.
struct QuestionWords {
    all: Vec<String>,
    /// Those that say what the question is about.
    content: HashSet<String>,
}

impl QuestionWords {
    fn of(question: &str) -> Self {
        let split = words::split(question);
        let content = split.iter().filter(|word| word_weight(&question[word.start..word.end].to_lowercase()) >= 1.0);
        let content = content.map(|word| word.text.to_owned()).collect();
        Self { all: split.iter().map(|word| word.text.to_owned()).collect(), content }
    }

    fn share(&self, matched: usize) -> f32 {
        if self.content.is_empty() { 0.0 } else { matched as f32 / self.content.len() as f32 }
    }

    fn excerpt(&self, text: &str) -> String {
        let words: Vec<&str> = self.all.iter().map(String::as_str).collect();
        snippet(text, &words).text
    }

    /// The content words of a text.
    fn matches(&self, text: &str) -> HashSet<String> {
        words::split(text)
            .iter()
            .filter(|word| self.content.contains(word.text))
            .map(|word| word.text.to_owned())
            .collect()
    }

    /// The exchange of a hit: its prompt, and the reply with the most words of the question. Of equal replies the last
    /// one reports the outcome.
    fn passage(&self, hit: &SearchHit, exchange: &[Entry]) -> Passage {
        let is_prompt = |entry: &&Entry| matches!(entry.kind, EntryKind::Prompt | EntryKind::Task);
        let prompt = exchange.iter().find(is_prompt).or(Some(&hit.entry).filter(is_prompt));
        let is_reply = |entry: &&Entry| entry.kind == EntryKind::AssistantText && !entry.text.trim().is_empty();
        let best_reply = exchange
            .iter()
            .filter(is_reply)
            .map(|entry| (self.matches(&self.excerpt(&entry.text)).len(), entry))
            .max_by_key(|(matched, _)| *matched);
        // A hit that is neither prompt nor reply (a call, a summary) is quoted if no reply has words of the question.
        let is_other = !is_prompt(&&hit.entry) && hit.entry.kind != EntryKind::AssistantText;
        let reply = match best_reply {
            Some((0, _)) | None if is_other && !hit.snippet.matches.is_empty() => Some(&hit.entry),
            Some((_, reply)) => Some(reply),
            None => Some(&hit.entry).filter(|entry| !is_prompt(entry)),
        };
        let cite = |entry: &Entry| citation(entry, &self.excerpt(&entry.text));
        let (prompt, reply) = (prompt.map(cite), reply.map(cite));
        let texts = [&prompt, &reply].into_iter().flatten();
        let matched: HashSet<String> = texts.flat_map(|citation| self.matches(&citation.excerpt)).collect();
        let short = prompt.as_ref().filter(|prompt| prompt.excerpt.chars().count() <= SHORT_PROMPT_CHARS);
        let matched_in_prompt = short.map_or(0, |prompt| self.matches(&prompt.excerpt).len());
        Passage { prompt, reply, matched: matched.len(), matched_in_prompt }
    }

    fn is_answered_by(&self, passage: &Passage, best: usize) -> bool {
        let is_close = self.share(best) >= MIN_SHARE || best >= MANY_WORDS;
        // A question without words of its own ("what happened then?") is answered by what the search found.
        self.content.is_empty() || (is_close && passage.matched as f32 >= best as f32 * MIN_SHARE_OF_BEST)
    }
}

fn citation(entry: &Entry, excerpt: &str) -> Citation {
    Citation {
        entry: entry.native_id.clone(),
        role: entry.kind.role(),
        line: entry.location.line,
        excerpt: clip(excerpt, MAX_EXCERPT_CHARS).into_owned(),
    }
}

impl Passage {
    /// Whether the reply only announces what will be done, so that it cannot contain the answer.
    fn is_announcement(&self) -> bool {
        let Some(reply) = &self.reply else { return false };
        let lower = reply.excerpt.to_lowercase().replace('’', "'");
        let starts = ["let me ", "now let me ", "i'll ", "i will ", "now i'll "];
        reply.role == EntryRole::Tool || starts.iter().any(|words| lower.starts_with(words))
    }

    fn render(&self) -> String {
        let quotes = [&self.prompt, &self.reply].into_iter().flatten().map(|one| {
            let excerpt = quote_short(&one.excerpt, MAX_EXCERPT_CHARS);
            format!("line {}, {}: \"{excerpt}\"", one.line, speaker_label(one.role))
        });
        format!("\n- {}", quotes.collect::<Vec<_>>().join("\n  "))
    }
}

fn render_passages(passages: &[Passage]) -> String {
    if passages.is_empty() {
        return "No passage of this session matches the question. No model was asked; only keywords were compared."
            .to_owned();
    }
    let quotes: String = passages.iter().map(Passage::render).collect();
    format!("Best matching passages of the session, found by keyword; no model was asked:\n{quotes}")
}

fn speaker_label(role: EntryRole) -> &'static str {
    match role {
        EntryRole::User => "the user",
        EntryRole::Assistant => "the agent",
        EntryRole::Tool => "a tool call",
        EntryRole::Summary => "a summary",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citation(role: EntryRole, excerpt: &str) -> Citation {
        Citation { entry: "u1".into(), role, line: 7, excerpt: excerpt.into() }
    }

    fn passage(role: EntryRole, reply: &str) -> Passage {
        Passage {
            prompt: Some(citation(EntryRole::User, "why?")),
            reply: Some(citation(role, reply)),
            matched: 1,
            matched_in_prompt: 0,
        }
    }

    #[test]
    fn passages_that_only_announce_come_last() {
        assert!(passage(EntryRole::Assistant, "I’ll look for the cause.").is_announcement());
        assert!(passage(EntryRole::Tool, "Read src/days.rs").is_announcement());
        assert!(!passage(EntryRole::Assistant, "The cause is the table. I'll fix it.").is_announcement());
    }

    #[test]
    fn a_prompt_and_its_reply_are_one_passage() {
        // D18
        let rendered = render_passages(&[passage(EntryRole::Assistant, "a \"row\"\nis missing")]);
        let expected =
            "no model was asked:\n\n- line 7, the user: \"why?\"\n  line 7, the agent: \"a 'row' is missing\"";
        assert!(rendered.ends_with(expected), "{rendered}");
        let nothing = extractive_answer(&[], "why?");
        assert!(nothing.is_extractive && nothing.citations.is_empty() && nothing.confidence == Confidence::Low);
    }

    #[test]
    fn a_passage_needs_half_of_the_words_or_three_of_them() {
        // D17
        let words = QuestionWords::of("which port does the staging proxy use for metrics and traces?");
        assert!(words.content.len() >= 5, "{:?}", words.content);
        let with = |matched| Passage { matched, ..passage(EntryRole::Assistant, "x") };
        assert!(words.is_answered_by(&with(3), 3) && !words.is_answered_by(&with(1), 1));
        let one = QuestionWords::of("is there a zeppelin?");
        assert!(one.is_answered_by(&with(1), 1) && !one.is_answered_by(&with(0), 0));
    }
}
