//! An answer to a question about a session. Citations of a model are verified, and invented ones are removed.

use rethread_model::{Entry, EntryRole, clip, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::excerpt::verify_excerpt;
use super::serialize::{entry_text, short_id};

/// Minimum length, in characters, of an excerpt that counts as evidence.
const MIN_EVIDENCE_CHARS: usize = 12;
/// Maximum number of citations per answer (E001-13).
pub const MAX_CITATIONS: usize = 8;
/// Maximum length of an excerpt, in characters (E001-13).
pub const MAX_EXCERPT_CHARS: usize = 280;
/// Maximum length of an answer, in characters.
const MAX_ANSWER_CHARS: usize = 12_000;
/// Maximum number of a model's notes, and their length in characters.
const MAX_NOTES: usize = 8;
const MAX_NOTE_CHARS: usize = 300;

/// How reliable an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// No or weak evidence.
    Low,
    /// Some evidence, or some invalid citations.
    Medium,
    /// Good evidence.
    High,
}

impl Confidence {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// A verified passage that supports an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The agent's native id of the entry.
    pub entry: String,
    /// Role of the entry's speaker.
    pub role: EntryRole,
    /// Line in the transcript.
    pub line: u64,
    /// Excerpt on one line, with the wording of the transcript.
    pub excerpt: String,
}

/// An answer with its citations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedAnswer {
    /// Markdown text.
    pub answer: String,
    /// How reliable it is.
    pub confidence: Confidence,
    /// Verified citations.
    pub citations: Vec<Citation>,
    /// What is missing or uncertain, and which citations were removed.
    pub notes: Vec<String>,
    /// Whether it consists only of passages found without a model.
    pub is_extractive: bool,
}

impl CitedAnswer {
    /// The answer with its citations and notes. Extracted passages contain their citations already.
    pub fn to_text(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("\n{note}")).collect::<Vec<_>>().concat();
        if self.is_extractive {
            return format!("{}{notes}", self.answer);
        }
        let cited = self.citations.iter().map(|one| format!("\n- line {}: {}", one.line, one.excerpt));
        let cited = cited.collect::<Vec<_>>().concat();
        let confidence = self.confidence.as_str();
        format!("{}{cited}{notes}\n(answered by a model, confidence: {confidence})", self.answer)
    }

    /// Parses a model's JSON answer and verifies every citation against the session's entries. Invented citations are
    /// removed; valid ones get the transcript's wording. The error says what is wrong with the JSON.
    pub fn from_model_json(value: &Value, entries: &[Entry]) -> Result<Self, String> {
        let text = value["answerMarkdown"].as_str().map(str::trim).filter(|text| !text.is_empty());
        let answer = clip(text.ok_or("\"answerMarkdown\" is empty")?, MAX_ANSWER_CHARS).into_owned();
        let given = value["citations"].as_array().map_or(&[][..], Vec::as_slice);
        let mut citations: Vec<Citation> = Vec::new();
        let mut invented = 0_usize;
        for one in given {
            match verify_citation(one, entries) {
                Some(citation) if citations.contains(&citation) => {}
                Some(citation) => citations.push(citation),
                None => invented += 1,
            }
        }
        citations.truncate(MAX_CITATIONS);
        let mut notes = parse_notes(value);
        if invented > 0 {
            notes.push(removed_note(invented, given.len()));
        } else if citations.is_empty() {
            notes.push("The answer cites nothing in the session.".to_owned());
        }
        let mut confidence = parse_confidence(&value["confidence"]);
        // A very short excerpt occurs anywhere and proves nothing.
        if citations.iter().all(|citation| citation.excerpt.chars().count() < MIN_EVIDENCE_CHARS) {
            confidence = Confidence::Low;
        } else if invented > 0 {
            confidence = confidence.min(Confidence::Medium);
        }
        Ok(Self { answer, confidence, citations, notes, is_extractive: false })
    }
}

/// A citation with the transcript's wording; `None` if the quoted text is not in the entry.
fn verify_citation(value: &Value, entries: &[Entry]) -> Option<Citation> {
    let excerpt = value["excerpt"].as_str()?;
    // Some models copy the whole bracketed header.
    let id = value["entryId"].as_str()?.trim().trim_start_matches('[').trim_end_matches(']');
    let first = id.split_whitespace().next()?;
    let named = entries.iter().filter(|entry| short_id(entry) == first || entry.native_id == id);
    named.into_iter().find_map(|entry| {
        Some(Citation {
            entry: entry.native_id.clone(),
            role: entry.kind.role(),
            line: entry.location.line,
            excerpt: verify_excerpt(&entry_text(entry), excerpt, MAX_EXCERPT_CHARS)?,
        })
    })
}

fn parse_confidence(value: &Value) -> Confidence {
    match value.as_str().map(str::to_lowercase).as_deref() {
        Some("high") => Confidence::High,
        Some("medium") => Confidence::Medium,
        _ => Confidence::Low,
    }
}

fn parse_notes(value: &Value) -> Vec<String> {
    let notes = value["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let notes = notes.map(|note| clip(&one_line(note), MAX_NOTE_CHARS).into_owned());
    notes.filter(|note| !note.is_empty()).take(MAX_NOTES).collect()
}

fn removed_note(invented: usize, given: usize) -> String {
    let were = if invented == 1 { "was" } else { "were" };
    format!("{invented} of {given} citations {were} removed: the quoted text is not in the session.")
}

#[cfg(test)]
mod tests {
    use rethread_model::EntryKind;
    use serde_json::json;

    use super::*;
    use crate::testing::entry_at_line;

    fn entry(seq: u64, kind: EntryKind, text: &str) -> Entry {
        Entry { native_id: format!("uuid-{seq}"), ..entry_at_line(10 + seq, seq, kind, text) }
    }

    fn session() -> Vec<Entry> {
        vec![
            entry(0, EntryKind::Prompt, "why does the parser skip Tuesdays?"),
            entry(1, EntryKind::AssistantText, "The weekday table is missing a row.\nI will add it."),
        ]
    }

    fn answer(confidence: &str, citations: &Value) -> CitedAnswer {
        let value =
            json!({"answerMarkdown": "A row.", "confidence": confidence, "citations": citations, "notes": [" "]});
        CitedAnswer::from_model_json(&value, &session()).unwrap()
    }

    #[test]
    fn role_and_line_come_from_the_transcript() {
        // E001-13
        let cited =
            json!([{"entryId": "[e1 user line 3]", "role": "user", "excerpt": "the weekday  table is missing"}]);
        let answer = answer("HIGH", &cited);
        let expected = Citation {
            entry: "uuid-1".to_owned(),
            role: EntryRole::Assistant,
            line: 11,
            excerpt: "The weekday table is missing".to_owned(),
        };
        assert_eq!((answer.citations, answer.confidence), (vec![expected], Confidence::High));
        assert!(answer.notes.is_empty());
    }

    #[test]
    fn invented_citations_are_removed_and_reported() {
        let real = json!({"entryId": "uuid-0", "excerpt": "skip Tuesdays"});
        let unknown = json!({"entryId": "e9", "excerpt": "skip Tuesdays"});
        let elsewhere = json!({"entryId": "e0", "excerpt": "The weekday table is missing a row."});
        let some = answer("high", &json!([real, unknown, elsewhere, {"entryId": 3}, "e0"]));
        assert_eq!((some.citations.len(), some.confidence), (1, Confidence::Medium));
        let rendered = "4 of 5 citations were removed: the quoted text is not in the session.";
        assert_eq!(some.notes, [rendered]);
        let none = answer("high", &json!([unknown]));
        assert_eq!((none.citations.len(), none.confidence, none.notes.len()), (0, Confidence::Low, 1));
    }

    #[test]
    fn an_answer_without_citations_has_low_confidence() {
        let answer = answer("high", &json!([]));
        assert_eq!(answer.confidence, Confidence::Low);
        assert_eq!(answer.notes, ["The answer cites nothing in the session."]);
    }

    #[test]
    fn limits_hold_for_any_model_output() {
        let cited: Vec<Value> =
            ["why", "does", "the", "parser", "skip", "Tuesdays", "why does", "does the", "the parser", "skip Tuesdays"]
                .iter()
                .map(|words| json!({"entryId": "e0", "excerpt": words}))
                .collect();
        assert_eq!(answer("odd", &json!(cited)).citations.len(), MAX_CITATIONS);
        assert!(CitedAnswer::from_model_json(&json!({"answerMarkdown": " "}), &session()).is_err());
        assert!(CitedAnswer::from_model_json(&json!([]), &session()).is_err());
    }
}
