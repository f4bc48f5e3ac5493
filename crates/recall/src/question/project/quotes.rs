//! Quotes an entry in an answer: who said it, or what a command did.

use rethread_model::{Entry, EntryKind, ToolKind, ToolStatus, ToolUse, one_line};

use super::wording::{phrase, without_project};
use crate::quote::quote_short;

/// Maximum lengths, in characters, of a command and of the error it printed.
const COMMAND_CHARS: usize = 160;
const ERROR_CHARS: usize = 200;
/// Words that begin a question, with or without a question mark.
const QUESTION_OPENINGS: [&str; 20] = [
    "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "should", "was", "what", "what's", "when",
    "where", "which", "who", "why", "would",
];

/// A part of an entry with who said it, such as `The agent said: "..."`, without a stop.
pub(super) fn quoted(entry: &Entry, part: &str, chars: usize, project: Option<&str>) -> String {
    if let Some(tool) = &entry.tool {
        return call_words(tool, part, project);
    }
    let text = one_line(part);
    let speaker = match entry.kind {
        EntryKind::Summary | EntryKind::Recap => "A summary says",
        EntryKind::Note => "A note says",
        EntryKind::Prompt | EntryKind::Task if is_question(&text) => "The user asked",
        EntryKind::Prompt | EntryKind::Task => "The user said",
        _ => "The agent said",
    };
    format!("{speaker}: \"{}\"", phrase(&without_project(&text, project), chars))
}

/// Whether a call is worth quoting: reading a file, or changing it without saying what, says nothing.
pub(super) fn is_informative(tool: &ToolUse) -> bool {
    match tool.kind {
        Some(ToolKind::Read | ToolKind::Search) => !is_ok(tool),
        Some(ToolKind::Edit | ToolKind::Write) => tool.body.is_some() || !is_ok(tool),
        _ => true,
    }
}

fn is_ok(tool: &ToolUse) -> bool {
    tool.outcome.as_ref().is_none_or(|outcome| outcome.status == ToolStatus::Ok)
}

/// What a command or another tool did.
fn call_words(tool: &ToolUse, part: &str, project: Option<&str>) -> String {
    let target = quote_short(&without_project(&tool.target, project), COMMAND_CHARS);
    let call = match tool.kind {
        Some(ToolKind::Command) => format!("`{target}`"),
        Some(ToolKind::Edit | ToolKind::Write) => match &tool.body {
            Some(body) if is_ok(tool) => return format!("Changed {target}: {}", phrase(body, ERROR_CHARS)),
            _ => format!("Changing {target}"),
        },
        _ => format!("{} {target}", quote_short(&tool.name, COMMAND_CHARS)).trim_end().to_owned(),
    };
    let Some(outcome) = &tool.outcome else { return format!("{call} was run") };
    let error = outcome.error.as_deref().map(|error| phrase(&without_project(error, project), ERROR_CHARS));
    match (outcome.status, error) {
        (ToolStatus::Rejected, _) => format!("{call} was refused by the user"),
        (ToolStatus::Error, Some(error)) => format!("{call} failed: \"{error}\""),
        (ToolStatus::Error, None) => format!("{call} failed"),
        // The exit code was hidden.
        (ToolStatus::Ok, Some(error)) => format!("{call} printed: \"{error}\""),
        // The output was kept, and the part is of it.
        (ToolStatus::Ok, None) if !part.contains(" -> ") => {
            format!("{call} printed: \"{}\"", phrase(part, ERROR_CHARS))
        }
        (ToolStatus::Ok, None) => format!("{call} succeeded"),
    }
}

/// Whether a prompt asks something; most prompts ask for work or state something.
pub(super) fn is_question(text: &str) -> bool {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase().replace('’', "'");
    text.ends_with('?') || QUESTION_OPENINGS.contains(&first.as_str()) && !text.contains(". ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_are_quoted_as_asked() {
        for text in ["why no redis", "which ORM fits this?", "ok. and the tests?", "What's left"] {
            assert!(is_question(text), "{text}");
        }
        for text in ["no redis here, we are serverless", "the login loops", "do it. then push", "works now"] {
            assert!(!is_question(text), "{text}");
        }
    }
}
