//! An answer to a question about a session. What a model cites is checked here, and what it invented goes.

use rethread_model::{Entry, Role, clip, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::excerpt::real_excerpt;
use super::serialise::{said, short_id};

/// A shorter excerpt is no evidence by itself.
const TELLING_CHARS: usize = 12;
/// Citations of one answer (E001-13).
pub const MOST_CITATIONS: usize = 8;
/// Characters of an excerpt (E001-13).
pub const LONGEST_EXCERPT: usize = 280;
/// Characters of an answer.
const LONGEST_ANSWER: usize = 12_000;
/// Notes of a model, and their characters.
const MOST_NOTES: usize = 8;
const LONGEST_NOTE: usize = 300;

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Hardly.
    Low,
    /// More or less.
    Medium,
    /// Well.
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

/// What an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The agent's own id of the entry.
    pub entry: String,
    /// Who speaks in it.
    pub role: Role,
    /// Its line in the transcript.
    pub line: u64,
    /// A piece of it, as it stands there, on one line.
    pub excerpt: String,
}

/// An answer, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// As Markdown.
    pub answer: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it rests on; all of it stands in the session.
    pub citations: Vec<Citation>,
    /// What is missing, unsure, or was removed.
    pub notes: Vec<String>,
    /// Whether it is only passages of the session, found without a model.
    pub is_extractive: bool,
}

impl Answer {
    /// The answer in a model's JSON, with every citation checked against the session's entries: what does not stand there
    /// is removed, and what stands there is told as it does. The error says what is wrong with the JSON.
    pub fn checked(value: &Value, entries: &[Entry]) -> Result<Self, String> {
        let text = value["answerMarkdown"].as_str().map(str::trim).filter(|text| !text.is_empty());
        let answer = clip(text.ok_or("\"answerMarkdown\" is empty")?, LONGEST_ANSWER).into_owned();
        let given = value["citations"].as_array().map_or(&[][..], Vec::as_slice);
        let mut citations: Vec<Citation> = Vec::new();
        let mut invented = 0_usize;
        for one in given {
            match checked_citation(one, entries) {
                Some(citation) if citations.contains(&citation) => {}
                Some(citation) => citations.push(citation),
                None => invented += 1,
            }
        }
        citations.truncate(MOST_CITATIONS);
        let mut notes = notes(value);
        if invented > 0 {
            notes.push(removed(invented, given.len()));
        } else if citations.is_empty() {
            notes.push("Nothing in the session is cited for this.".to_owned());
        }
        let mut confidence = confidence(&value["confidence"]);
        // A word that stands anywhere proves nothing.
        if citations.iter().all(|citation| citation.excerpt.chars().count() < TELLING_CHARS) {
            confidence = Confidence::Low;
        } else if invented > 0 {
            confidence = confidence.min(Confidence::Medium);
        }
        Ok(Self { answer, confidence, citations, notes, is_extractive: false })
    }
}

/// A citation as it stands in the session; nothing if it does not.
fn checked_citation(value: &Value, entries: &[Entry]) -> Option<Citation> {
    let excerpt = value["excerpt"].as_str()?;
    // Some copy all that stands in the brackets.
    let id = value["entryId"].as_str()?.trim().trim_start_matches('[').trim_end_matches(']');
    let first = id.split_whitespace().next()?;
    let named = entries.iter().filter(|entry| short_id(entry) == first || entry.native_id == id);
    named.into_iter().find_map(|entry| {
        Some(Citation {
            entry: entry.native_id.clone(),
            role: entry.speech.role(),
            line: entry.place.line,
            excerpt: real_excerpt(&said(entry), excerpt, LONGEST_EXCERPT)?,
        })
    })
}

fn confidence(value: &Value) -> Confidence {
    match value.as_str().map(str::to_lowercase).as_deref() {
        Some("high") => Confidence::High,
        Some("medium") => Confidence::Medium,
        _ => Confidence::Low,
    }
}

fn notes(value: &Value) -> Vec<String> {
    let notes = value["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let notes = notes.map(|note| clip(&one_line(note), LONGEST_NOTE).into_owned());
    notes.filter(|note| !note.is_empty()).take(MOST_NOTES).collect()
}

fn removed(invented: usize, given: usize) -> String {
    let were = if invented == 1 { "was" } else { "were" };
    format!("{invented} of {given} citations {were} removed: what was quoted does not stand there in the session.")
}

#[cfg(test)]
mod tests {
    use rethread_model::{Place, Speech};
    use serde_json::json;

    use super::*;

    fn entry(seq: u64, speech: Speech, text: &str) -> Entry {
        let place = Place { line: 10 + seq, ..Place::default() };
        let native_id = format!("uuid-{seq}");
        let text = text.to_owned();
        Entry { seq, native_id, place, at: None, speech, text, tool: None, episode: None, abandoned: false }
    }

    fn session() -> Vec<Entry> {
        vec![
            entry(0, Speech::Prompt, "why does the parser skip Tuesdays?"),
            entry(1, Speech::Said, "The weekday table is missing a row.\nI will add it."),
        ]
    }

    fn answer(confidence: &str, citations: &Value) -> Answer {
        let value =
            json!({"answerMarkdown": "A row.", "confidence": confidence, "citations": citations, "notes": [" "]});
        Answer::checked(&value, &session()).unwrap()
    }

    #[test]
    fn e001_13_role_and_line_come_from_the_transcript() {
        let cited =
            json!([{"entryId": "[e1 user line 3]", "role": "user", "excerpt": "the weekday  table is missing"}]);
        let answer = answer("HIGH", &cited);
        let expected = Citation {
            entry: "uuid-1".to_owned(),
            role: Role::Assistant,
            line: 11,
            excerpt: "The weekday table is missing".to_owned(),
        };
        assert_eq!((answer.citations, answer.confidence), (vec![expected], Confidence::High));
        assert!(answer.notes.is_empty());
    }

    #[test]
    fn what_was_invented_is_removed_and_told() {
        let real = json!({"entryId": "uuid-0", "excerpt": "skip Tuesdays"});
        let unknown = json!({"entryId": "e9", "excerpt": "skip Tuesdays"});
        let elsewhere = json!({"entryId": "e0", "excerpt": "The weekday table is missing a row."});
        let some = answer("high", &json!([real, unknown, elsewhere, {"entryId": 3}, "e0"]));
        assert_eq!((some.citations.len(), some.confidence), (1, Confidence::Medium));
        let told = "4 of 5 citations were removed: what was quoted does not stand there in the session.";
        assert_eq!(some.notes, [told]);
        let none = answer("high", &json!([unknown]));
        assert_eq!((none.citations.len(), none.confidence, none.notes.len()), (0, Confidence::Low, 1));
    }

    #[test]
    fn an_answer_that_cites_nothing_is_not_trusted_far() {
        let answer = answer("high", &json!([]));
        assert_eq!(answer.confidence, Confidence::Low);
        assert_eq!(answer.notes, ["Nothing in the session is cited for this."]);
    }

    #[test]
    fn limits_hold_whatever_a_model_writes() {
        let cited: Vec<Value> =
            ["why", "does", "the", "parser", "skip", "Tuesdays", "why does", "does the", "the parser", "skip Tuesdays"]
                .iter()
                .map(|words| json!({"entryId": "e0", "excerpt": words}))
                .collect();
        assert_eq!(answer("odd", &json!(cited)).citations.len(), MOST_CITATIONS);
        assert!(Answer::checked(&json!({"answerMarkdown": " "}), &session()).is_err());
        assert!(Answer::checked(&json!([]), &session()).is_err());
    }
}
