//! Answers without a model: quotes the passages of a session that best match a question.

use rethread_index::words;
use rethread_model::{Entry, EntryKind, EntryRole, clip};

use super::answer::{Citation, CitedAnswer, Confidence, MAX_EXCERPT_CHARS};
use crate::quote::quote_short;
use crate::{SearchHit, snippet};

/// Maximum number of passages quoted.
const MAX_PASSAGES: usize = 5;
/// Minimum weighted share (0 to 1) of the question's words in a passage.
const MIN_SHARE: f32 = 0.2;
/// Minimum share relative to the best passage.
const MIN_SHARE_OF_BEST: f32 = 0.5;
/// From this share on, the passage probably answers the question.
const GOOD_SHARE: f32 = 0.7;
/// A prompt longer than this many characters contains information, not only a request.
const LONG_PROMPT_CHARS: usize = 240;
/// Matches counted per reply; more do not make it a better one.
const MAX_COUNTED_MATCHES: usize = 3;

/// Builds an answer from search hits within one session, best first, each given with the entries of its episode. The
/// answer says that no model was asked.
pub fn extractive_answer(found: &[(SearchHit, Vec<Entry>)], question: &str) -> CitedAnswer {
    let best = found.iter().map(|(hit, _)| hit.word_share).fold(0.0, f32::max);
    let question_words = words::split(question);
    let question_words: Vec<&str> = question_words.iter().map(|word| word.text).collect();
    let fitting =
        found.iter().filter(|(hit, _)| hit.word_share >= MIN_SHARE && hit.word_share >= best * MIN_SHARE_OF_BEST);
    let (mut distinctive, mut announcing) = (Vec::new(), Vec::new());
    for citation in fitting.filter_map(|(hit, exchange)| passage(hit, exchange, &question_words)) {
        if is_announcement(&citation) { announcing.push(citation) } else { distinctive.push(citation) }
    }
    let mut citations: Vec<Citation> = Vec::new();
    for citation in distinctive.into_iter().chain(announcing) {
        let is_known = citations.iter().any(|known| known.entry == citation.entry || known.excerpt == citation.excerpt);
        if citations.len() < MAX_PASSAGES && !is_known {
            citations.push(citation);
        }
    }
    let confidence = if best >= GOOD_SHARE && !citations.is_empty() { Confidence::Medium } else { Confidence::Low };
    CitedAnswer { answer: render_passages(&citations), confidence, citations, notes: Vec::new(), is_extractive: true }
}

/// The passage to quote for a hit: for a short prompt, the agent's reply to it. `None` if the hit has no word of the
/// question and was found only because of its neighbors.
fn passage(hit: &SearchHit, exchange: &[Entry], question_words: &[&str]) -> Option<Citation> {
    let entry = &hit.entry;
    if entry.kind == EntryKind::Prompt && entry.text.chars().count() <= LONG_PROMPT_CHARS {
        let replies =
            exchange.iter().filter(|entry| entry.kind == EntryKind::AssistantText && !entry.text.trim().is_empty());
        // `max_by_key` returns the last of equal replies, which reports the outcome.
        let reply =
            replies.max_by_key(|entry| snippet(&entry.text, question_words).matches.len().min(MAX_COUNTED_MATCHES));
        if let Some(reply) = reply {
            return Some(citation(reply, &snippet(&reply.text, question_words).text));
        }
    }
    (!hit.snippet.matches.is_empty()).then(|| citation(entry, &hit.snippet.text))
}

fn citation(entry: &Entry, excerpt: &str) -> Citation {
    Citation {
        entry: entry.native_id.clone(),
        role: entry.kind.role(),
        line: entry.location.line,
        excerpt: clip(excerpt, MAX_EXCERPT_CHARS).into_owned(),
    }
}

/// Whether a passage only announces what will be done, so it cannot contain the answer.
fn is_announcement(citation: &Citation) -> bool {
    if citation.role == EntryRole::Tool {
        return true;
    }
    let lower = citation.excerpt.to_lowercase().replace('’', "'");
    ["let me ", "now let me ", "i'll ", "i will ", "now i'll "].iter().any(|words| lower.starts_with(words))
}

fn render_passages(citations: &[Citation]) -> String {
    if citations.is_empty() {
        return "No passage of this session matches the question. No model was asked; only keywords were compared."
            .to_owned();
    }
    let quote = |one: &Citation| {
        let (line, excerpt) = (one.line, quote_short(&one.excerpt, MAX_EXCERPT_CHARS));
        format!("\n- line {line}, {}: \"{excerpt}\"", speaker_label(one.role))
    };
    let quotes: String = citations.iter().map(quote).collect();
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

    #[test]
    fn passages_that_only_announce_come_last() {
        let citation =
            |role: EntryRole, excerpt: &str| Citation { entry: String::new(), role, line: 1, excerpt: excerpt.into() };
        assert!(is_announcement(&citation(EntryRole::Assistant, "I’ll look for the cause.")));
        assert!(is_announcement(&citation(EntryRole::Tool, "Read src/days.rs")));
        assert!(!is_announcement(&citation(EntryRole::Assistant, "The cause is the table. I'll fix it.")));
    }

    #[test]
    fn passages_are_rendered_as_quotes_with_their_lines() {
        let one = Citation {
            entry: "u1".into(),
            role: EntryRole::Assistant,
            line: 7,
            excerpt: "a \"row\"\nis missing".into(),
        };
        let rendered = render_passages(&[one]);
        assert!(rendered.ends_with("no model was asked:\n\n- line 7, the agent: \"a 'row' is missing\""), "{rendered}");
        let nothing = extractive_answer(&[], "why?");
        assert!(nothing.is_extractive && nothing.citations.is_empty() && nothing.confidence == Confidence::Low);
    }
}
