//! Separates what a human typed from the texts that Codex sends to the model in the user's place.

use crate::parse::content::MessageContent;
use crate::parse::outcome::labeled_code;
use crate::parse::user_shell::shell_text;
use crate::parse::user_text::{strip_added_tags, tag_content};

/// First words of texts that Codex writes.
const CODEX_PREFIXES: [&str; 12] = [
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<environment_context",
    "<turn_aborted",
    "<skill>",
    "<hook_prompt",
    "<permissions instructions>",
    "<external_",
    "<codex_internal_context",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
];

/// Editors put the open files and attachments before this line, and the user's words after it.
const REQUEST_MARKER: &str = "## My request for Codex:";
const EDITOR_PREFIXES: [&str; 2] = ["# Context from my IDE setup", "# Files mentioned by the user"];

/// A text in the user's place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UserText {
    /// The user's words.
    Typed(String),
    /// A command that the user ran with `!`, as it is stored.
    Shell(String),
    /// What a sub-agent reports.
    Notice(String),
    /// Instructions and context, or nothing.
    Codex,
}

/// Judges a message to the model.
pub(super) fn judge_message(content: &MessageContent<'_>) -> UserText {
    let mut typed = Vec::new();
    for block in &content.0 {
        match judge(block.text.as_str()) {
            UserText::Typed(text) => typed.push(text),
            UserText::Codex => {}
            other => return other,
        }
    }
    let has_image = content.0.iter().any(|block| block.kind.as_str() == "input_image");
    match typed.is_empty() {
        false => UserText::Typed(typed.join("\n")),
        true if has_image => UserText::Typed("[image]".to_owned()),
        true => UserText::Codex,
    }
}

/// Judges one text.
pub(super) fn judge(text: &str) -> UserText {
    let trimmed = text.trim();
    if trimmed.starts_with("<user_shell_command>") {
        let Some(command) = tag_content(trimmed, "command") else { return UserText::Codex };
        let result = tag_content(trimmed, "result").unwrap_or_default();
        let code = labeled_code(result.lines(), "Exit code");
        let output = result.split_once("Output:\n").map_or(result, |(_, output)| output);
        return UserText::Shell(shell_text(command, code, output));
    }
    if trimmed.starts_with("<subagent_notification>") {
        let report = tag_content(trimmed, "subagent_notification").unwrap_or_default();
        return UserText::Notice(report.trim().to_owned());
    }
    // An image is sent between two texts of its own.
    let is_image_tag = trimmed == "</image>" || (trimmed.starts_with("<image name=") && trimmed.ends_with('>'));
    if trimmed.is_empty() || is_image_tag || is_codex(trimmed) {
        return UserText::Codex;
    }
    let stripped = strip_added_tags(request(text)).trim_matches('\n').to_owned();
    if stripped.trim().is_empty() { UserText::Codex } else { UserText::Typed(stripped) }
}

/// The directory in a description of the environment, which old versions write nowhere else.
pub(super) fn directory_in_context(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<environment_context>") {
        return None;
    }
    let line = || text.lines().find_map(|line| line.trim().strip_prefix("Current working directory: "));
    let found = if text.contains("<cwd>") { tag_content(text, "cwd") } else { line() };
    found.map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned)
}

/// The user's words in a text that an editor composed.
fn request(text: &str) -> &str {
    if !EDITOR_PREFIXES.iter().any(|prefix| text.trim_start().starts_with(prefix)) {
        return text;
    }
    // The files may quote the line.
    text.rfind(REQUEST_MARKER).map_or(text, |at| &text[at + REQUEST_MARKER.len()..])
}

/// Whether Codex wrote a text: it begins like one of its own, or is one element with a name as only programs write it.
fn is_codex(text: &str) -> bool {
    let is_element = || {
        let name = text.strip_prefix('<')?.split(['>', ' ']).next()?;
        let is_name = name.contains('_') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        (is_name && text.ends_with(&format!("</{name}>"))).then_some(())
    };
    CODEX_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) || is_element().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_words_are_typed() {
        let typed = |text: &str| UserText::Typed(text.to_owned());
        for (text, expect) in [
            ("fix it", typed("fix it")),
            ("# AGENTS.md instructions for /app\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", UserText::Codex),
            ("<environment_context>\n<cwd>/a</cwd>\n</environment_context>", UserText::Codex),
            ("<recommended_plugins>\nx\n</recommended_plugins>", UserText::Codex),
            ("<image name=[Image #1] path=\"/a.png\">", UserText::Codex),
            ("<div_1> is wrong", typed("<div_1> is wrong")),
            (
                "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it\n",
                typed("fix it"),
            ),
            ("what is \"## My request for Codex:\"?", typed("what is \"## My request for Codex:\"?")),
            (
                "<user_shell_command>\n<command>\nls\n</command>\n<result>\na\n</result>",
                UserText::Shell("! ls".to_owned()),
            ),
            (
                "<user_shell_command>\n<command>\nmake\n</command>\n<result>\nExit code: 2\nOutput:\nerror: no rule\n</result>",
                UserText::Shell("! make (exit 2)\nerror: no rule".to_owned()),
            ),
            ("<subagent_notification>\n{}\n</subagent_notification>", UserText::Notice("{}".to_owned())),
            ("<rethread-context>x</rethread-context>", UserText::Codex),
        ] {
            assert_eq!(judge(text), expect, "{text}");
        }
    }

    #[test]
    fn old_versions_describe_the_directory_in_words_or_tags() {
        let old =
            "<environment_context>\nCurrent working directory: /a b\nApproval policy: never\n</environment_context>";
        assert_eq!(directory_in_context(old).as_deref(), Some("/a b"));
        assert_eq!(directory_in_context("<environment_context><cwd>/c</cwd>").as_deref(), Some("/c"));
        assert_eq!(directory_in_context("why <cwd>/c</cwd>?"), None);
    }
}
