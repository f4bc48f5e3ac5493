//! Judges what a model gave for a summary.

use rethread_model::estimate_text;

use super::prompt::Part;

/// Why there is no summary from a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError<E> {
    /// The model could not be asked, or did not answer.
    #[error("{0}")]
    Asked(E),
    /// It answered, but not with a summary.
    #[error("the answer is no summary: {reason}")]
    Unusable {
        /// What is wrong with it.
        reason: String,
    },
}

/// Sections without which a summary is none.
const NEEDED: [&str; 5] = ["## Goal", "## Progress", "## Key Decisions", "## Next Steps", "## Critical Context"];
/// How many times the allowed length is too long. Models do not count well, and a little more does no harm.
const TOO_LONG: u64 = 2;

/// The summary in an answer, without what a model says around it; or what is wrong with it.
pub(crate) fn summary_in(part: Part, answer: &str, allowed_tokens: u64) -> Result<String, String> {
    let summary = bare(part, answer);
    if summary.is_empty() {
        return Err("it is empty".to_owned());
    }
    let tokens = estimate_text(summary);
    if tokens > allowed_tokens.saturating_mul(TOO_LONG) {
        return Err(format!("it has about {tokens} tokens where {allowed_tokens} are allowed"));
    }
    if part == Part::History {
        let lacks = |heading: &&&str| !summary.lines().any(|line| line.trim_start().starts_with(**heading));
        let missing: Vec<&str> = NEEDED.iter().filter(lacks).copied().collect();
        if !missing.is_empty() {
            return Err(format!("it lacks {}", missing.join(", ")));
        }
    }
    Ok(summary.to_owned())
}

/// Models like to put an answer into a code fence, or a sentence or their thoughts before it.
fn bare(part: Part, answer: &str) -> &str {
    let heading = match part {
        Part::History => NEEDED[0],
        Part::TurnPrefix => "## Original Request",
    };
    let answer = answer.trim();
    let thoughts = answer.strip_prefix("<think>").and_then(|thought| thought.split_once("</think>"));
    let answer = thoughts.map_or(answer, |(_, said)| said.trim());
    let opening = if answer.starts_with(heading) { Some(0) } else { answer.find(&format!("\n{heading}")) };
    let (before, summary) = answer.split_at(opening.unwrap_or(0));
    let is_fenced = before.contains("```");
    summary.strip_suffix("```").filter(|_| is_fenced).unwrap_or(summary).trim()
}
