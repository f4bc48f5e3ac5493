//! An answer without a model: the passages of the session that fit a question best, quoted.

use rethread_model::{Role, clip};

use super::answer::{Answer, Citation, Confidence, LONGEST_EXCERPT};
use crate::Hit;
use crate::quote::short;

/// Passages that are quoted.
const MOST_PASSAGES: usize = 5;
/// A passage must have this much of the question's words, by their worth.
const FITS: f32 = 0.2;
/// And this much of what the best one has.
const OF_THE_BEST: f32 = 0.5;
/// With this much of them it is likely what was asked for.
const FITS_WELL: f32 = 0.7;

/// The passages among what a search within the session found, best first. Says that they are only that.
pub fn extracted(hits: &[Hit]) -> Answer {
    let best = hits.iter().map(|hit| hit.share).fold(0.0, f32::max);
    let mut citations: Vec<Citation> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.share >= FITS && hit.share >= best * OF_THE_BEST) {
        let citation = Citation {
            entry: hit.entry.native_id.clone(),
            role: hit.entry.speech.role(),
            line: hit.entry.place.line,
            excerpt: clip(&hit.snippet.text, LONGEST_EXCERPT).into_owned(),
        };
        if citations.len() < MOST_PASSAGES && !citations.iter().any(|known| known.excerpt == citation.excerpt) {
            citations.push(citation);
        }
    }
    let confidence = if best >= FITS_WELL && !citations.is_empty() { Confidence::Medium } else { Confidence::Low };
    Answer { answer: told(&citations), confidence, citations, notes: Vec::new(), is_extractive: true }
}

fn told(citations: &[Citation]) -> String {
    if citations.is_empty() {
        return "Nothing in this session fits the question. No model was asked, only words were compared.".to_owned();
    }
    let quote = |one: &Citation| {
        format!("\n- line {}, {}: \"{}\"", one.line, who(one.role), short(&one.excerpt, LONGEST_EXCERPT))
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
