//! Writes the bullet of one session, in more or less detail.

use rethread_model::{Entry, EntryKind, SessionState, Timestamp, clip, one_line};

use super::actions::describe_actions;
use super::{ActivityReader, BULLET_CHARS, OtherSession, last_activity_at};
use crate::quote::{format_age, quote_short};

/// How much a bullet says.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each names one thing that a bullet may leave out")]
pub(super) struct BulletDetail {
    /// Maximum length of the session's name.
    name_chars: usize,
    /// Maximum length of a quoted prompt or answer.
    quote_chars: usize,
    /// Whether agent, branch and state are given in any case.
    has_circumstances: bool,
    /// Maximum length of a file or command.
    pub(super) target_chars: usize,
    /// Maximum number of changed files named.
    pub(super) files: usize,
    /// Maximum number of failing commands named.
    pub(super) failures: usize,
    /// Whether one of several commands is named.
    pub(super) names_command: bool,
    /// Whether files read and other tool uses are counted beside changes and commands.
    pub(super) has_minor_actions: bool,
    /// Whether the last answer is quoted.
    has_last_words: bool,
}

impl BulletDetail {
    /// From the shortest to the longest.
    pub(super) const ALL: [Self; 5] = [
        Self::LEAST,
        Self { name_chars: 30, quote_chars: 48, target_chars: 36, has_minor_actions: true, ..Self::LEAST },
        Self { name_chars: 36, quote_chars: 60, files: 1, ..Self::NAMED },
        Self::NAMED,
        Self { has_last_words: true, ..Self::NAMED },
    ];
    const LEAST: Self = Self {
        name_chars: 20,
        quote_chars: 28,
        has_circumstances: false,
        target_chars: 24,
        files: 0,
        failures: 1,
        names_command: false,
        has_minor_actions: false,
        has_last_words: false,
    };
    const NAMED: Self = Self {
        name_chars: 48,
        quote_chars: 100,
        has_circumstances: true,
        target_chars: 48,
        files: 3,
        failures: 2,
        names_command: true,
        has_minor_actions: true,
        has_last_words: false,
    };

    /// The same without names of files.
    pub(super) const fn without_files(self) -> Self {
        Self { files: 0, ..self }
    }
}

/// `- name (3m ago, 4 messages, pi 7Q2K9ZD4, on main, active): "prompt" -> edited 2 files (a.rs, b.rs); "last words"`.
pub(super) fn bullet(other: &OtherSession, reader: ActivityReader<'_>, detail: BulletDetail, now: Timestamp) -> String {
    let prompt = first_entry(other, |entry| entry.kind == EntryKind::Prompt);
    // A name that only repeats the prompt says nothing; the id does.
    let is_named = prompt.is_none_or(|prompt| !is_beginning_of(&other.name, &prompt.text));
    let name = if is_named { quote_short(&other.name, detail.name_chars) } else { other.id.clone() };
    let mut line = format!("- {name} ({})", circumstances(other, reader, detail, is_named, now).join(", "));
    if let Some(prompt) = prompt {
        line = format!("{line}: \"{}\"", quote_short(&prompt.text, detail.quote_chars));
    }
    let actions = describe_actions(other, reader.files, detail);
    if !actions.is_empty() {
        line = format!("{line} -> {}", actions.join(", "));
    }
    if let Some(answer) = last_entry(other, |entry| entry.kind == EntryKind::AssistantText)
        // Without actions the answer is all there is.
        && (detail.has_last_words || actions.is_empty())
    {
        line = match (actions.is_empty(), quote_short(&answer.text, detail.quote_chars)) {
            (true, words) => format!("{line} -> answered \"{words}\""),
            (false, words) => format!("{line}; \"{words}\""),
        };
    }
    clip(&line, BULLET_CHARS).into_owned()
}

/// Age, messages, agent, id, branch and state.
fn circumstances(
    other: &OtherSession,
    reader: ActivityReader<'_>,
    detail: BulletDetail,
    is_named: bool,
    now: Timestamp,
) -> Vec<String> {
    let messages = format!("{} message{}", other.messages, if other.messages == 1 { "" } else { "s" });
    let mut listed = vec![format_age(last_activity_at(other), now), messages];
    match (detail.has_circumstances, is_named) {
        (true, true) => listed.push(format!("{} {}", other.agent, other.id)),
        (true, false) => listed.push(other.agent.to_string()),
        (false, true) => listed.push(other.id.clone()),
        (false, false) => {}
    }
    let branch = other.branch.as_deref().filter(|branch| reader.branch.is_some_and(|own| own != *branch));
    listed.extend(branch.map(|branch| format!("on {}", quote_short(branch, detail.name_chars))));
    if other.is_waiting {
        listed.push("waiting for its user".to_owned());
    } else if detail.has_circumstances || other.state == SessionState::Ended {
        listed.push(other.state.as_str().to_owned());
    }
    listed
}

/// Whether a name is the beginning of a prompt, perhaps cut. The end of one, as `docs` of "write the docs", is an alias.
fn is_beginning_of(name: &str, prompt: &str) -> bool {
    let words = |text: &str| one_line(text).trim_end_matches(['…', '.', '?', '!', ' ']).to_lowercase();
    let (name, prompt) = (words(name), words(prompt));
    !name.is_empty() && prompt.starts_with(&name)
}

fn first_entry(other: &OtherSession, is_match: impl Fn(&Entry) -> bool) -> Option<&Entry> {
    other.entries.iter().find(|entry| is_match(entry) && !entry.text.trim().is_empty())
}

fn last_entry(other: &OtherSession, is_match: impl Fn(&Entry) -> bool) -> Option<&Entry> {
    other.entries.iter().rev().find(|entry| is_match(entry) && !entry.text.trim().is_empty())
}
