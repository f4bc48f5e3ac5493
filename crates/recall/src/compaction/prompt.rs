//! Prompts for compaction summaries.

use rethread_model::estimate_text_tokens;

use super::flat_text::escape_closing_tags;

/// A request for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRequest {
    /// System prompt.
    pub system: String,
    /// User prompt.
    pub prompt: String,
}

impl SummaryRequest {
    pub(crate) fn estimated_tokens(&self) -> u64 {
        estimate_text_tokens(&self.system) + estimate_text_tokens(&self.prompt)
    }
}

/// What a request summarizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummaryPart {
    /// Whole turns up to the cut.
    History,
    /// The beginning of a turn whose end is kept.
    TurnPrefix,
}

/// Builds the request to summarize a flat-text conversation, or to update `so_far` if given.
pub(crate) fn summary_request(
    part: SummaryPart,
    conversation: &str,
    so_far: Option<&str>,
    focus: Option<&str>,
) -> SummaryRequest {
    let mut pieces = vec![format!("<conversation>\n{}\n</conversation>", escape_closing_tags(conversation))];
    if let Some(summary) = so_far {
        pieces.push(format!("<previous-summary>\n{}\n</previous-summary>", escape_closing_tags(summary)));
    }
    pieces.push(match (part, so_far) {
        (SummaryPart::History, None) => format!("{INITIAL}\n\n{FORMAT}"),
        (SummaryPart::History, Some(_)) => format!("{UPDATE}\n\n{FORMAT}"),
        (SummaryPart::TurnPrefix, None) => format!("{TURN_PREFIX}\n\n{TURN_FORMAT}"),
        (SummaryPart::TurnPrefix, Some(_)) => format!("{TURN_PREFIX_UPDATE}\n\n{TURN_FORMAT}"),
    });
    if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        pieces.push(format!("Additional focus: {}", escape_closing_tags(focus)));
    }
    SummaryRequest { system: SYSTEM.to_owned(), prompt: pieces.join("\n\n") }
}

const SYSTEM: &str = "You are a context summarization assistant. Your task is to read a conversation between a user \
and an AI agent, then produce a structured summary following the exact format specified. Do NOT continue the \
conversation. Do NOT respond to any questions in the conversation. ONLY output the structured summary.";

const INITIAL: &str = "The messages above are a conversation to summarize. Create a structured context checkpoint \
summary that another LLM will use to continue the work.";

const UPDATE: &str = r#"The messages above are NEW conversation messages to incorporate into the existing summary provided in <previous-summary> tags.

Update the existing structured summary with new information. RULES:
- PRESERVE all existing information from the previous summary
- ADD new progress, decisions, and context from the new messages
- UPDATE the Progress section: move items from "In Progress" to "Done" when completed
- UPDATE "Next Steps" based on what was accomplished
- PRESERVE exact file paths, function names, and error messages
- If something is no longer relevant, you may remove it"#;

const FORMAT: &str = "Use this EXACT format:

## Goal
[What is the user trying to accomplish? Can be multiple items.]

## Constraints & Preferences
- [Any constraints, preferences, or requirements mentioned by user]

## Progress
### Done
- [x] [Completed tasks/changes]

### In Progress
- [ ] [Current work]

### Blocked
- [Issues preventing progress, if any]

## Key Decisions
- **[Decision]**: [Brief rationale]

## Next Steps
1. [Ordered list of what should happen next]

## Critical Context
- [Any data, examples, or references needed to continue]

Keep each section concise. Preserve exact file paths, function names, and error messages.";

const TURN_PREFIX: &str = "The messages above are the BEGINNING of one long turn. Its later messages are kept word \
for word and are not shown here. Summarize the beginning so that the kept messages can be understood.";

const TURN_PREFIX_UPDATE: &str = "The messages above are FURTHER messages from the beginning of one long turn. The \
messages before them are summarized in <previous-summary> tags; the turn's later messages are kept word for word and \
are not shown here. Update the existing summary: PRESERVE the original request and all that is still needed, ADD what \
the new messages bring.";

const TURN_FORMAT: &str = "Use this EXACT format:

## Original Request
[What did the user ask for in this turn?]

## Early Progress
- [What was done and decided so far in this turn]

## Context for Suffix
- [What is needed to understand the kept messages]

Keep each section concise. Preserve exact file paths, function names, and error messages.";
