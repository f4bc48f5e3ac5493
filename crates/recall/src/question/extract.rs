//! An answer without a model: the passages of the session that fit a question best, quoted.

use rethread_index::words;
use rethread_model::{Entry, Role, Speech, clip};

use super::answer::{Answer, Citation, Confidence, LONGEST_EXCERPT};
use crate::quote::short;
use crate::{Hit, snippet};

/// Passages that are quoted.
const MOST_PASSAGES: usize = 5;
/// A passage must have this much of the question's words, by their worth.
const FITS: f32 = 0.2;
/// And this much of what the best one has.
const OF_THE_BEST: f32 = 0.5;
/// With this much of them it is likely what was asked for.
const FITS_WELL: f32 = 0.7;
/// Who says more than so many characters tells something beside asking for it.
const LONG_REQUEST: usize = 240;
/// More words of the question than this in one place say no more.
const MOST_COUNTED: usize = 3;

/// The passages among what a search within the session found, best first, each with the entries of its exchange. Says
/// that they are only that.
pub fn extracted(found: &[(Hit, Vec<Entry>)], question: &str) -> Answer {
    let best = found.iter().map(|(hit, _)| hit.share).fold(0.0, f32::max);
    let asked = words::split(question);
    let asked: Vec<&str> = asked.iter().map(|word| word.text).collect();
    let fitting = found.iter().filter(|(hit, _)| hit.share >= FITS && hit.share >= best * OF_THE_BEST);
    let (mut telling, mut announcing) = (Vec::new(), Vec::new());
    for citation in fitting.filter_map(|(hit, exchange)| passage(hit, exchange, &asked)) {
        if is_announcement(&citation) { announcing.push(citation) } else { telling.push(citation) }
    }
    let mut citations: Vec<Citation> = Vec::new();
    for citation in telling.into_iter().chain(announcing) {
        let is_known = citations.iter().any(|known| known.entry == citation.entry || known.excerpt == citation.excerpt);
        if citations.len() < MOST_PASSAGES && !is_known {
            citations.push(citation);
        }
    }
    let confidence = if best >= FITS_WELL && !citations.is_empty() { Confidence::Medium } else { Confidence::Low };
    Answer { answer: told(&citations), confidence, citations, notes: Vec::new(), is_extractive: true }
}

/// What was found. Where that is a question of the user's, what the agent said to it; nothing where it has no word of the
/// question and only stands beside some.
fn passage(hit: &Hit, exchange: &[Entry], asked: &[&str]) -> Option<Citation> {
    let entry = &hit.entry;
    if entry.speech == Speech::Prompt && entry.text.chars().count() <= LONG_REQUEST {
        let said = exchange.iter().filter(|entry| entry.speech == Speech::Said && !entry.text.trim().is_empty());
        // Of those that fit equally well the last one: it tells what came of it.
        let reply = said.max_by_key(|entry| snippet(&entry.text, asked).matches.len().min(MOST_COUNTED));
        if let Some(reply) = reply {
            return Some(citation(reply, &snippet(&reply.text, asked).text));
        }
    }
    (!hit.snippet.matches.is_empty()).then(|| citation(entry, &hit.snippet.text))
}

fn citation(entry: &Entry, excerpt: &str) -> Citation {
    Citation {
        entry: entry.native_id.clone(),
        role: entry.speech.role(),
        line: entry.place.line,
        excerpt: clip(excerpt, LONGEST_EXCERPT).into_owned(),
    }
}

/// Who says or does what will bring the answer does not know it yet.
fn is_announcement(citation: &Citation) -> bool {
    if citation.role == Role::Tool {
        return true;
    }
    let lower = citation.excerpt.to_lowercase().replace('’', "'");
    ["let me ", "now let me ", "i'll ", "i will ", "now i'll "].iter().any(|words| lower.starts_with(words))
}

fn told(citations: &[Citation]) -> String {
    if citations.is_empty() {
        return "Nothing in this session fits the question. No model was asked, only words were compared.".to_owned();
    }
    let quote = |one: &Citation| {
        let (line, excerpt) = (one.line, short(&one.excerpt, LONGEST_EXCERPT));
        format!("\n- line {line}, {}: \"{excerpt}\"", who(one.role))
    };
    let quotes: String = citations.iter().map(quote).collect();
    format!("Passages of the session that fit the question best, found by their words; no model was asked:\n{quotes}")
}

fn who(role: Role) -> &'static str {
    match role {
        Role::User => "the user",
        Role::Assistant => "the agent",
        Role::Tool => "a tool call",
        Role::Summary => "a summary",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_announces_an_answer_comes_last() {
        let citation =
            |role: Role, excerpt: &str| Citation { entry: String::new(), role, line: 1, excerpt: excerpt.into() };
        assert!(is_announcement(&citation(Role::Assistant, "I’ll look for the cause.")));
        assert!(is_announcement(&citation(Role::Tool, "Read src/days.rs")));
        assert!(!is_announcement(&citation(Role::Assistant, "The cause is the table. I'll mend it.")));
    }

    #[test]
    fn passages_are_told_as_quotes_with_their_lines() {
        let one =
            Citation { entry: "u1".into(), role: Role::Assistant, line: 7, excerpt: "a \"row\"\nis missing".into() };
        let told = told(&[one]);
        assert!(told.ends_with("no model was asked:\n\n- line 7, the agent: \"a 'row' is missing\""), "{told}");
        let nothing = extracted(&[], "why?");
        assert!(nothing.is_extractive && nothing.citations.is_empty() && nothing.confidence == Confidence::Low);
    }
}
