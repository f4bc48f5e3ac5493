//! Separates what a human wrote to Hermes from what Hermes puts into user messages.

use rethread_model::EntryKind;

use crate::parse::TextSink;
use crate::parse::event_builder::EventBuilder;
use crate::parse::machine_text::notice_text;
use crate::parse::user_text::strip_added_tags;

/// First words of summaries of an earlier part of the conversation.
const SUMMARY_PREFIXES: [&str; 3] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY", "[PRIOR CONTEXT"];
/// First words of messages that Hermes wrote: reports, reminders, and instructions to its own background tasks.
const MACHINE_PREFIXES: [&str; 10] = [
    "[ASYNC DELEGATION",
    "[IMPORTANT: Background process",
    "[SYSTEM:",
    "[System note:",
    "[System:",
    "[Your active task list was preserved",
    "[Continuing toward your standing goal",
    "[Runtime note:",
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
];
/// Before the name of a skill that the user called, and before what was typed after it.
const SKILL_PREFIXES: [&str; 2] = ["[SYSTEM: The user has invoked the \"", "[IMPORTANT: The user has invoked the \""];
const SKILL_WORDS: &str = "The user has provided the following instruction alongside the skill invocation: ";
/// Before a note that may follow those words.
const RUNTIME_NOTE: &str = "\n\n[Runtime note:";

/// Adds a user message. In the session of a sub-agent it is a task that another session wrote.
pub(super) fn add_user(text: &str, is_task: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = strip_added_tags(text);
    let trimmed = text.trim();
    let starts_with_one = |prefixes: &[&str]| prefixes.iter().any(|prefix| trimmed.starts_with(prefix));
    if starts_with_one(&SUMMARY_PREFIXES) {
        out.add_text(EntryKind::Summary, trimmed.to_owned(), None, sink);
    } else if let Some((skill, typed)) = split_skill(trimmed) {
        // As Claude Code's commands: only with words of the user it is a prompt.
        let kind = if typed.is_empty() { EntryKind::Command } else { EntryKind::Prompt };
        out.add_text(kind, format!("/{skill} {typed}").trim_end().to_owned(), None, sink);
    } else if starts_with_one(&MACHINE_PREFIXES) || notice_text(trimmed).is_some() {
        out.add_injected(trimmed, sink);
    } else {
        let kind = if is_task { EntryKind::Task } else { EntryKind::Prompt };
        out.add_text(kind, text.into_owned(), None, sink);
    }
}

/// The name of a skill and what was typed after it, if its instructions are in the user's message.
fn split_skill(text: &str) -> Option<(&str, &str)> {
    let rest = SKILL_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let (name, rest) = rest.split_once('"')?;
    let typed = rest.split_once(SKILL_WORDS).map_or("", |(_, typed)| typed);
    let typed = typed.split_once(RUNTIME_NOTE).map_or(typed, |(typed, _)| typed);
    Some((name, typed.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_a_skill_are_the_users() {
        let body = "[SYSTEM: The user has invoked the \"review\" skill.]\n\n---\nname: review\n---\nSteps";
        assert_eq!(split_skill(body), Some(("review", "")));
        let typed = format!("{body}\n\n{SKILL_WORDS}only the parser\n\n[Runtime note: x]");
        assert_eq!(split_skill(&typed), Some(("review", "only the parser")));
        assert_eq!(split_skill("[SYSTEM: other]"), None);
    }
}
