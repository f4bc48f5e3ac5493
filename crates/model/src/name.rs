//! Rules that every session name follows, and the short form of ids.

use serde::{Deserialize, Serialize};

use crate::thread::UNNAMED_THREAD;
use crate::{Agent, Timestamp, one_line, truncate_at_word};

/// Maximum length of a session's name, in characters.
pub const MAX_NAME_CHARS: usize = 80;
/// Length of a short id. The end is shown: ULIDs and version 7 UUIDs of one day begin alike.
const SHORT_ID_CHARS: usize = 8;
/// Titles that agents write when they could not make one, in lower case.
const EMPTY_TITLES: [&str; 7] =
    ["api error", "invalid api key", "credit balance", "no prompt", "new session", "new conversation", "untitled"];
/// Texts that are only a greeting, in lower case.
const GREETINGS: [&str; 13] = [
    "hi",
    "hello",
    "hey",
    "yo",
    "hola",
    "hallo",
    "hi claude",
    "hey claude",
    "hello claude",
    "hello there",
    "hi there",
    "hey there",
    "good morning",
];

/// Where a derived name was taken from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NameSource {
    /// A prompt that says what the session is about.
    Prompt,
    /// The agent's recap of the session.
    Recap,
    /// What the agent reports to have done.
    Result,
    /// A prompt with few words of its own, such as `commit and push`.
    WeakPrompt,
    /// An answer of the agent.
    Answer,
}

/// A name made from what was said in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedName {
    /// Where it was taken from.
    pub source: NameSource,
    /// At most [`MAX_NAME_CHARS`] characters.
    pub text: String,
}

/// A title on one line and within the limit; `None` if it does not name anything: a command, an id, a tag, a number, an
/// error message.
pub fn clean_title(text: &str) -> Option<String> {
    let line = one_line(text);
    let lower = line.to_lowercase();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let is_empty = letters == 0 || EMPTY_TITLES.iter().any(|title| lower.starts_with(title));
    let is_name = !is_empty && !line.starts_with(['/', '<', '{']) && !is_id(&line);
    is_name.then(|| truncate_at_word(&line, MAX_NAME_CHARS))
}

/// Whether a text only greets.
pub fn is_greeting(text: &str) -> bool {
    let words = one_line(&text.to_lowercase());
    GREETINGS.contains(&words.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// The name of a session in which nothing was said that could name it.
pub fn fallback_name(agent: Agent, external_id: &str, started_at: Option<Timestamp>) -> String {
    // The last segment of a sub-agent's id is its own; some agents put a time before an underscore.
    let own = external_id.rsplit(['/', '_']).next().unwrap_or(external_id);
    let is_words = own.contains('-') && own.chars().all(|c| c.is_alphabetic() || c == '-');
    if let Some(name) = clean_title(own).filter(|_| is_words) {
        return name;
    }
    match started_at {
        _ if agent == Agent::Native => UNNAMED_THREAD.to_owned(),
        Some(at) => format!("{} session of {}", agent.label(), at.to_string().get(..10).unwrap_or_default()),
        None => format!("{} session", agent.label()),
    }
}

/// The end of an id, which is distinct where the beginning is not. Accepted wherever a session is named.
pub fn short_id(id: &str) -> &str {
    let from = id.char_indices().rev().nth(SHORT_ID_CHARS - 1).map_or(0, |(at, _)| at);
    &id[from..]
}

/// Whether a text is an id and not words: a UUID, a ULID, a hash.
fn is_id(text: &str) -> bool {
    let is_uuid = text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    text.len() >= 16
        && (is_uuid || text.bytes().any(|byte| byte.is_ascii_digit()))
        && text.split('-').all(|part| {
            part.bytes().all(|byte| byte.is_ascii_hexdigit())
                || part.len() == 26 && part.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(title: &str, expect: Option<&str>) {
        assert_eq!(clean_title(title).as_deref(), expect, "{title:?}");
    }

    #[test]
    fn what_names_nothing_is_not_a_title() {
        // D11
        check("Fix\nthe parser", Some("Fix the parser"));
        check("kiro-checkpoint-delta-fix", Some("kiro-checkpoint-delta-fix"));
        check("修复解析器", Some("修复解析器"));
        for nothing in [
            "",
            "12",
            "/init",
            "/mode fast",
            "<command-name>/init</command-name>",
            "{\"a\":1}",
            "5662de58-b7fb-4500-bf91-a60590136031",
            "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
            "01KA7M0ZN7SB5VJY1EXAMPLE00",
            "API Error: 500",
            "Invalid API key · Please run /login",
            "…",
        ] {
            check(nothing, None);
        }
        assert_eq!(clean_title(&"word ".repeat(40)).map(|name| name.chars().count() <= MAX_NAME_CHARS), Some(true));
    }

    #[test]
    fn a_session_without_words_is_named_after_its_agent_and_day() {
        // D11
        let at = Some(Timestamp::from_millis(1_739_268_000_000));
        let uuid = "5662de58-b7fb-4500-bf91-a60590136031";
        assert_eq!(fallback_name(Agent::ClaudeCode, uuid, at), "Claude Code session of 2025-02-11");
        assert_eq!(fallback_name(Agent::Pi, uuid, None), "pi session");
        assert_eq!(fallback_name(Agent::Pi, "nightly-import", at), "nightly-import");
    }

    #[test]
    fn a_short_id_is_the_end_of_an_id() {
        // D30
        assert_eq!(short_id("019a8f3e-0000-7000-8000-0123456789ab"), "456789ab");
        assert_eq!(short_id("main"), "main");
        assert_eq!(short_id("日本語日本語日本語"), "本語日本語日本語");
    }

    #[test]
    fn greetings_are_recognized_with_punctuation() {
        assert!(is_greeting("Hello!") && is_greeting(" hi\n") && !is_greeting("hi, fix the parser"));
    }
}
