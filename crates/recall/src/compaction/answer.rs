//! Validates a model's summary.

use rethread_model::estimate_text_tokens;

use super::prompt::SummaryPart;

/// Why a model gave no usable summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError<E> {
    /// The model could not be reached or did not answer.
    #[error("{0}")]
    ModelFailed(E),
    /// The model answered, but not with a summary.
    #[error("the model's answer is not a summary: {reason}")]
    Unusable {
        /// What is wrong with the answer.
        reason: String,
    },
}

/// Sections a summary must have.
const REQUIRED_SECTIONS: [&str; 5] =
    ["## Goal", "## Progress", "## Key Decisions", "## Next Steps", "## Critical Context"];
/// How far a summary may exceed its token limit. Models do not count well, and a small excess does no harm.
const MAX_LENGTH_FACTOR: u64 = 2;

/// Extracts the summary from an answer, or says what is wrong with it.
pub(crate) fn parse_summary(part: SummaryPart, answer: &str, allowed_tokens: u64) -> Result<String, String> {
    let summary = strip_wrapping(part, answer);
    if summary.is_empty() {
        return Err("it is empty".to_owned());
    }
    let tokens = estimate_text_tokens(summary);
    if tokens > allowed_tokens.saturating_mul(MAX_LENGTH_FACTOR) {
        return Err(format!("it has about {tokens} tokens, at most {allowed_tokens} are allowed"));
    }
    if part == SummaryPart::History {
        let lacks = |heading: &&&str| !summary.lines().any(|line| line.trim_start().starts_with(**heading));
        let missing: Vec<&str> = REQUIRED_SECTIONS.iter().filter(lacks).copied().collect();
        if !missing.is_empty() {
            return Err(format!("it lacks {}", missing.join(", ")));
        }
    }
    Ok(summary.to_owned())
}

/// Strips code fences, introductions and reasoning that models put around the summary.
fn strip_wrapping(part: SummaryPart, answer: &str) -> &str {
    let heading = match part {
        SummaryPart::History => REQUIRED_SECTIONS[0],
        SummaryPart::TurnPrefix => "## Original Request",
    };
    let answer = answer.trim();
    let thoughts = answer.strip_prefix("<think>").and_then(|thought| thought.split_once("</think>"));
    let answer = thoughts.map_or(answer, |(_, text)| text.trim());
    let opening = if answer.starts_with(heading) { Some(0) } else { answer.find(&format!("\n{heading}")) };
    let (before, summary) = answer.split_at(opening.unwrap_or(0));
    let is_fenced = before.contains("```");
    summary.strip_suffix("```").filter(|_| is_fenced).unwrap_or(summary).trim()
}
