//! A session told to itself: the `[SESSION CONTEXT]` block, and the words that greet it after a break. Pure.

use rethread_model::{Timestamp, estimate_text};

use crate::quote::{age, short};

/// Files, and hot entries, that are shown.
const SHOWN: usize = 5;
/// Events and files in the text that greets.
const GREETED_EVENTS: usize = 5;
const GREETED_FILES: usize = 3;
/// Tokens of the text that greets.
pub const RESUME_TOKENS: u64 = 500;
/// Characters of one item.
const ITEM_CHARS: usize = 100;

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
}

/// What is known of a session's present period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionView {
    /// The beginning of its id.
    pub id: String,
    /// When the period began.
    pub began_at: Option<Timestamp>,
    /// Events in it, all of them.
    pub events: u64,
    /// Files it touched, newest last.
    pub files: Vec<String>,
    /// What it did that matters, newest last.
    pub hot: Vec<Happening>,
    /// Its last events, newest last.
    pub recent: Vec<Happening>,
    /// What it is working on.
    pub task: Option<String>,
}

/// `[SESSION CONTEXT] … [END SESSION]`; nothing for a session in which nothing has happened.
pub fn session_context(view: &SessionView, now: Timestamp) -> Option<String> {
    if view.files.is_empty() && view.hot.is_empty() && view.task.is_none() {
        return None;
    }
    let minutes = view.began_at.map_or(0, |at| now.millis_since(at).max(0) / 60_000);
    let mut parts = vec![format!("Session: {} | Duration: {minutes}m | Events: {}", view.id, view.events)];
    if !view.files.is_empty() {
        let files = newest(&view.files, SHOWN).iter().map(|file| format!("\n  - {}", short(file, ITEM_CHARS)));
        parts.push(format!("Recent files:{}", files.collect::<String>()));
    }
    if !view.hot.is_empty() {
        let hot = newest(&view.hot, SHOWN).iter();
        let hot = hot.map(|entry| format!("\n  - [{}] {}", age(Some(entry.at), now), short(&entry.text, ITEM_CHARS)));
        parts.push(format!("Recent context:{}", hot.collect::<String>()));
    }
    parts.extend(view.task.as_ref().map(|task| format!("Current task: {}", short(task, ITEM_CHARS))));
    Some(format!("[SESSION CONTEXT]\n{}\n[END SESSION]", parts.join("\n\n")))
}

/// The words that greet a session that was idle for so many milliseconds. Whole items only, newest kept.
pub fn resume_context(view: &SessionView, idle_millis: i64, now: Timestamp) -> String {
    let greeting = format!("Welcome back. Session {} was idle for {}.", view.id, duration(idle_millis));
    let tail = greeting_tail(view);
    let room = RESUME_TOKENS.saturating_sub(estimate_text(&greeting) + estimate_text(&tail) + 16);
    let mut lines: Vec<String> = Vec::new();
    let mut taken = 0;
    for event in newest(&view.recent, GREETED_EVENTS).iter().rev() {
        let line = format!("  - [{}] {}", age(Some(event.at), now), short(&event.text, ITEM_CHARS));
        taken += estimate_text(&line) + 1;
        if taken > room {
            break;
        }
        lines.insert(0, line);
    }
    let summary =
        if lines.is_empty() { String::new() } else { format!("\n\nLast activity summary:\n{}", lines.join("\n")) };
    format!("{greeting}{summary}{tail}")
}

fn greeting_tail(view: &SessionView) -> String {
    let mut tail = String::new();
    if !view.files.is_empty() {
        let files: Vec<String> =
            newest(&view.files, GREETED_FILES).iter().map(|file| short(file, ITEM_CHARS)).collect();
        tail = format!("\n\nRecent files: {}", files.join(", "));
    }
    if let Some(task) = &view.task {
        tail = format!("{tail}\n\nYou were working on: {}", short(task, ITEM_CHARS));
    }
    tail
}

/// `40 seconds`, `12 minutes`, `3h 5m`.
fn duration(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        1 => "1 second".to_owned(),
        ..60 => format!("{seconds} seconds"),
        60..120 => "1 minute".to_owned(),
        120..3600 => format!("{} minutes", seconds / 60),
        _ => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

fn newest<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn ago(minutes: i64, text: &str) -> Happening {
        Happening { at: Timestamp::from_millis(NOW.as_millis() - minutes * 60_000), text: text.to_owned() }
    }

    fn view() -> SessionView {
        SessionView {
            id: "01KA7M0Z".to_owned(),
            began_at: Some(Timestamp::from_millis(NOW.as_millis() - 45 * 60_000)),
            events: 72,
            files: (1..=7).map(|number| format!("src/{number}.rs")).collect(),
            hot: vec![ago(80, "Created a.rs (3 lines)"), ago(0, "Ran: cargo test")],
            recent: (1..=6).rev().map(|minutes| ago(minutes, &format!("event {minutes}"))).collect(),
            task: Some("mend the parser".to_owned()),
        }
    }

    #[test]
    fn s002_22_to_25_l002_06_the_block_has_the_lines_of_the_design() {
        let told = session_context(&view(), NOW).unwrap();
        let expected = "[SESSION CONTEXT]\nSession: 01KA7M0Z | Duration: 45m | Events: 72\n\n\
             Recent files:\n  - src/3.rs\n  - src/4.rs\n  - src/5.rs\n  - src/6.rs\n  - src/7.rs\n\n\
             Recent context:\n  - [1h ago] Created a.rs (3 lines)\n  - [just now] Ran: cargo test\n\n\
             Current task: mend the parser\n[END SESSION]";
        assert_eq!(told, expected);
        assert_eq!(session_context(&SessionView::default(), NOW), None);
    }

    #[test]
    fn s002_34_s002_35_the_greeting_names_the_break_and_what_was_before() {
        let told = resume_context(&view(), 95 * 60_000, NOW);
        let expected = "Welcome back. Session 01KA7M0Z was idle for 1h 35m.\n\nLast activity summary:\n\
             \u{20} - [5m ago] event 5\n  - [4m ago] event 4\n  - [3m ago] event 3\n  - [2m ago] event 2\n  - [1m ago] event 1\n\n\
             Recent files: src/5.rs, src/6.rs, src/7.rs\n\nYou were working on: mend the parser";
        assert_eq!(told, expected);
        assert!(resume_context(&SessionView::default(), 40_000, NOW).contains("idle for 40 seconds."));
    }

    #[test]
    fn s002_36_the_greeting_stays_under_five_hundred_tokens() {
        let mut long = view();
        long.recent = (0..9).map(|minutes| ago(minutes, &"word ".repeat(200))).collect();
        long.files = (0..9).map(|_| "x".repeat(400)).collect();
        assert!(estimate_text(&resume_context(&long, 1, NOW)) <= RESUME_TOKENS);
    }
}
