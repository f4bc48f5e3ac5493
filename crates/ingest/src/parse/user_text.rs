//! Separates what a human typed from everything else that agents write into user lines.

use std::borrow::Cow;

use rethread_model::{EntryKind, INJECTION_TAG};

use super::machine_text::{notice_text, strip_hint, strip_leading_output};
use super::own_text::{HOOK_TAGS, without_own_text};
use super::user_shell::{COMMAND_MARK, failure_of_output};

/// Tags that agents and hooks add to a human's text; they are removed before the text is classified.
const ADDED_TAGS: [&str; 7] = [
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    INJECTION_TAG,
];

/// Classifies the text of a user line. Returns `None` if nothing in it is worth storing.
pub(crate) fn classify(text: &str) -> Option<(EntryKind, String)> {
    let text = strip_added_tags(strip_hint(text));
    let typed = strip_leading_output(&text);
    let trimmed = typed.trim();
    if trimmed.is_empty() {
        return failure_of_output(&text).map(|message| (EntryKind::Shell, message));
    }
    if trimmed == "(no content)" {
        return None;
    }
    if let Some((marker, after)) = split_interruption(trimmed) {
        // What was typed instead follows the marker.
        return classify(after).or_else(|| Some((EntryKind::Interruption, marker.to_owned())));
    }
    if let Some(notice) = notice_text(trimmed) {
        return Some((EntryKind::Notice, notice.to_owned()));
    }
    if let Some(command) = leading_tag_content(trimmed, "bash-input") {
        return Some((EntryKind::Shell, format!("{COMMAND_MARK}{}", command.trim())));
    }
    if let Some(note) = leading_tag_content(trimmed, "user-memory-input") {
        return Some((EntryKind::Note, format!("# {}", note.trim())));
    }
    if let Some(command) = slash_command(trimmed) {
        return Some(command);
    }
    // Only what was added is removed: the white space of a prompt is the human's.
    let text = if typed.len() == text.trim().len() { text.into_owned() } else { typed.to_owned() };
    Some((EntryKind::Prompt, text))
}

/// `[Request interrupted by user]` at the start of a text, and what follows it.
fn split_interruption(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("[Request interrupted by user")?;
    let end = text.len() - rest.len() + rest.find(']').map_or(rest.len(), |at| at + 1);
    Some(text.split_at(end))
}

/// A slash command. With arguments it is a prompt, because the arguments are meant for the model.
fn slash_command(text: &str) -> Option<(EntryKind, String)> {
    let tags = ["<command-name>", "<command-message>", "<command-args>", "<command-contents>"];
    if !tags.iter().any(|tag| text.starts_with(tag)) {
        return None;
    }
    let name = tag_content(text, "command-name").or_else(|| tag_content(text, "command-message"))?.trim();
    let name = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
    match tag_content(text, "command-args").map(str::trim).filter(|arguments| !arguments.is_empty()) {
        Some(arguments) => Some((EntryKind::Prompt, format!("{name} {arguments}"))),
        None => Some((EntryKind::Command, name)),
    }
}

/// Removes the tags that agents added. An unclosed tag extends to the end only if humans never write it: a human may
/// well ask about `<system-reminder>`.
pub(crate) fn strip_added_tags(text: &str) -> Cow<'_, str> {
    ADDED_TAGS.into_iter().fold(without_own_text(text), |text, name| {
        remove_tag(text, name, |start| name == INJECTION_TAG || (start == 0 && name.starts_with("ide_")))
    })
}

/// What a human typed of the prompt that a host passes to a hook: without our own text, what other hooks returned and
/// what the host added.
pub fn typed_text(prompt: &str) -> Cow<'_, str> {
    let text = strip_added_tags(prompt);
    let mut typed = text.as_ref();
    loop {
        let trimmed = typed.trim();
        // Hosts add text at the ends; in between, a human may ask about such a tag.
        let cut = HOOK_TAGS.iter().find_map(|name| without_outer_tag(trimmed, name));
        match cut {
            Some(shorter) => typed = shorter,
            None if typed.len() == prompt.len() => return Cow::Borrowed(prompt),
            None => return Cow::Owned(trimmed.to_owned()),
        }
    }
}

/// The text without a closed tag at its start or its end.
fn without_outer_tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let is_tag = |rest: &str| rest.starts_with(|c: char| c == '>' || c.is_whitespace());
    if text.strip_prefix(&open).is_some_and(is_tag) {
        return text.find(&close).map(|at| &text[at + close.len()..]);
    }
    let before = text.strip_suffix(&close)?;
    before.rfind(&open).filter(|at| is_tag(&before[at + open.len()..])).map(|at| &text[..at])
}

/// Removes one tag and what it contains, wherever it is closed.
pub(crate) fn strip_tag<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    remove_tag(Cow::Borrowed(text), name, |_| false)
}

/// Removes several tags and what they contain.
pub(crate) fn without_tags<'a>(text: &'a str, names: &[&str]) -> Cow<'a, str> {
    names.iter().fold(Cow::Borrowed(text), |text, name| remove_tag(text, name, |_| false))
}

/// The content of a tag at the start of the text, which may have attributes. To the end if it is not closed.
pub(crate) fn tag_body<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.trim_start().strip_prefix('<')?.strip_prefix(name)?;
    let body = match rest.chars().next()? {
        '>' => &rest[1..],
        c if c.is_whitespace() => rest.split_once('>')?.1,
        _ => return None,
    };
    Some(&body[..body.rfind(&format!("</{name}>")).unwrap_or(body.len())])
}

/// Removes a tag and what it contains. `may_be_open` decides whether an unclosed tag at a position extends to the end.
fn remove_tag<'a>(mut text: Cow<'a, str>, name: &str, may_be_open: impl Fn(usize) -> bool) -> Cow<'a, str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut from = 0;
    while let Some(start) = text[from..].find(&open).map(|at| from + at) {
        let after = text[start + open.len()..].chars().next();
        let is_tag = after.is_some_and(|next| next == '>' || next.is_whitespace());
        let end = text[start..].find(&close).map(|at| start + at + close.len());
        if end.is_none() && !may_be_open(start) {
            // No later tag is closed either.
            break;
        }
        match end.or_else(|| may_be_open(start).then_some(text.len())).filter(|_| is_tag) {
            Some(end) => text.to_mut().replace_range(start..end, ""),
            None => from = start + open.len(),
        }
    }
    text
}

/// The content of a tag at the start of the text.
fn leading_tag_content<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if text.starts_with(&format!("<{name}>")) { tag_content(text, name) } else { None }
}

/// The content between `<name>` and `</name>`; to the end if it is not closed.
pub(crate) fn tag_content<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = text[start..].find(&format!("</{name}>")).map_or(text.len(), |at| start + at);
    Some(&text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<(EntryKind, &str)>) {
        let judged = classify(text);
        let judged = judged.as_ref().map(|(kind, text)| (*kind, text.as_ref()));
        assert_eq!(judged, expect, "{text}");
    }

    #[test]
    fn human_prompts_are_separated_from_system_text() {
        // S000-06
        check("fix the parser", Some((EntryKind::Prompt, "fix the parser")));
        check("<system-reminder>x</system-reminder>fix", Some((EntryKind::Prompt, "fix")));
        check("<ide_opened_file>The user opened a.rs</ide_opened_file>", None);
        check("<ide_selection>lines 1 to 2", None);
        check(
            "[Request interrupted by user for tool use]",
            Some((EntryKind::Interruption, "[Request interrupted by user for tool use]")),
        );
        check(
            "<task-notification>\n<task-id>b1</task-id>\n<summary>done</summary>\n</task-notification>",
            Some((EntryKind::Notice, "done")),
        );
        check("<bash-input> cargo test</bash-input>", Some((EntryKind::Shell, "! cargo test")));
        check("<user-memory-input>use tabs</user-memory-input>", Some((EntryKind::Note, "# use tabs")));
        check("<local-command-stdout>Bye!</local-command-stdout>", None);
        check("(no content)", None);
        check("Operation stopped by hook: no", Some((EntryKind::Notice, "Operation stopped by hook: no")));
    }

    #[test]
    fn words_beside_machine_text_are_a_prompt() {
        // D1, S000-06
        check("[Request interrupted by user]use jq", Some((EntryKind::Prompt, "use jq")));
        check("<bash-stdout>ok</bash-stdout>\nnow deploy", Some((EntryKind::Prompt, "now deploy")));
        check("deploy\n<user-prompt-submit-hook>x</user-prompt-submit-hook>", Some((EntryKind::Prompt, "deploy\n")));
        check("  two  spaces\n", Some((EntryKind::Prompt, "  two  spaces\n")));
    }

    #[test]
    fn humans_may_ask_about_tags() {
        for text in ["what is <bash-input> in my log?", "what are <system-reminders>?", "<system-reminder> tags: why?"]
        {
            check(text, Some((EntryKind::Prompt, text)));
        }
    }

    #[test]
    fn slash_commands_are_prompts_only_with_arguments() {
        check(
            "<command-name>/exit</command-name>\n   <command-message>exit</command-message>\n   <command-args></command-args>",
            Some((EntryKind::Command, "/exit")),
        );
        check(
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>PR 17</command-args>",
            Some((EntryKind::Prompt, "/review PR 17")),
        );
        check(
            "why does <command-name> show up here?",
            Some((EntryKind::Prompt, "why does <command-name> show up here?")),
        );
    }

    #[test]
    fn our_own_injections_are_never_read_back() {
        let text = format!("<{INJECTION_TAG} id=\"1\">[Session Activity]</{INJECTION_TAG}>go on");
        check(&text, Some((EntryKind::Prompt, "go on")));
    }

    #[test]
    fn a_hook_gets_what_was_typed() {
        let own = format!("<{INJECTION_TAG}>\nplanted\n</{INJECTION_TAG}>");
        for (prompt, typed) in [
            ("  fix it\n".to_owned(), "  fix it\n"),
            (format!("<hook_context>{own}</hook_context>\n\nfix it"), "fix it"),
            (format!("<hook_context>theirs\n{own}</hook_context>fix it"), "fix it"),
            (format!("fix it\n\n<system_reminder>\n{own}\n</system_reminder>"), "fix it"),
            (format!("fix it<hook_result hook_event=\"x\">theirs</hook_result>\n{own}"), "fix it"),
            (
                "why is <hook_context>a</hook_context> in my prompt?".to_owned(),
                "why is <hook_context>a</hook_context> in my prompt?",
            ),
            (own.clone(), ""),
        ] {
            assert_eq!(typed_text(&prompt), typed, "{prompt}");
        }
    }
}
