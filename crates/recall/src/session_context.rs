//! A session told to itself: the `[SESSION CONTEXT]` block, and the words that greet it after a break. Pure.

use rethread_model::Timestamp;

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
/// Characters of a note. Whoever notes something for a session wants it told as it is.
pub const NOTE_CHARS: usize = 300;

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
    /// Events in it.
    pub events: u64,
    /// Files it touched, newest last.
    pub files: Vec<String>,
    /// What it did that matters, newest last.
    pub hot: Vec<Happening>,
    /// What was noted for it, newest last.
    pub notes: Vec<Happening>,
    /// Its last events, newest last.
    pub recent: Vec<Happening>,
    /// What it is working on.
    pub task: Option<String>,
}

/// `[SESSION CONTEXT] … [END SESSION]`; nothing for a session in which nothing has happened.
pub fn session_context(view: &SessionView, now: Timestamp) -> Option<String> {
    if view.files.is_empty() && view.hot.is_empty() && view.notes.is_empty() && view.task.is_none() {
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
    if !view.notes.is_empty() {
        let notes = newest(&view.notes, SHOWN).iter();
        let notes = notes.map(|note| format!("\n  - [{}] {}", age(Some(note.at), now), short(&note.text, NOTE_CHARS)));
        parts.push(format!("Notes:{}", notes.collect::<String>()));
    }
    parts.extend(view.task.as_ref().map(|task| format!("Current task: {}", short(task, ITEM_CHARS))));
    Some(block(&parts.join("\n\n")))
}

/// The same block with only what was noted for the session, or set as its task, since it last looked.
pub fn session_news(notes: &[Happening], task: Option<&str>) -> Option<String> {
    let notes = newest(notes, SHOWN).iter().map(|note| format!("Note: {}", short(&note.text, NOTE_CHARS)));
    let task = task.map(|task| format!("Current task: {}", short(task, ITEM_CHARS)));
    let lines: Vec<String> = notes.chain(task).collect();
    (!lines.is_empty()).then(|| block(&lines.join("\n")))
}

/// The words that greet a session that was idle for so many milliseconds. Every list in it and every item is short,
/// so that the whole stays under [`RESUME_TOKENS`].
pub fn resume_context(view: &SessionView, idle_millis: i64, now: Timestamp) -> String {
    let greeting = format!("Welcome back. Session {} was idle for {}.", view.id, duration(idle_millis));
    let item = |event: &Happening| format!("  - [{}] {}", age(Some(event.at), now), short(&event.text, ITEM_CHARS));
    let happened: Vec<String> = newest(&view.recent, GREETED_EVENTS).iter().map(item).collect();
    let summary = if happened.is_empty() {
        String::new()
    } else {
        format!("\n\nLast activity summary:\n{}", happened.join("\n"))
    };
    format!("{greeting}{summary}{}", greeting_tail(view))
}

fn block(text: &str) -> String {
    format!("[SESSION CONTEXT]\n{text}\n[END SESSION]")
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
    use rethread_model::estimate_text;

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
            notes: Vec::new(),
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
        long.recent = (0..9).map(|minutes| ago(minutes + 1_000_000, &"日本 word\u{1f980}".repeat(200))).collect();
        long.files = (0..9).map(|_| "x".repeat(400)).collect();
        long.task = Some("y".repeat(4000));
        let told = resume_context(&long, i64::MAX, NOW);
        assert!(estimate_text(&told) <= RESUME_TOKENS, "{}", estimate_text(&told));
        assert_eq!(told.matches("ago]").count(), 5, "newest first to stay, and whole items: {told}");
    }

    #[test]
    fn s002_35_durations_in_words() {
        let told: Vec<String> = [0, 1, 59, 60, 119, 120, 3599, 3600, 93_784].map(|s| duration(s * 1000)).to_vec();
        let expected = ["0 seconds", "1 second", "59 seconds", "1 minute", "1 minute", "2 minutes", "59 minutes"];
        assert_eq!(told[..7], expected);
        assert_eq!(told[7..], ["1h 0m", "26h 3m"]);
    }

    #[test]
    fn s002_26_ages_change_at_the_full_minute_and_the_full_hour() {
        let told = |millis: i64| age(Some(Timestamp::from_millis(NOW.as_millis() - millis)), NOW);
        let (second, minute) = (1000, 60_000);
        assert_eq!((told(59 * second), told(60 * second)), ("just now".to_owned(), "1m ago".to_owned()));
        assert_eq!((told(60 * minute - 1), told(60 * minute)), ("59m ago".to_owned(), "1h ago".to_owned()));
    }

    #[test]
    fn notes_are_told_whole_and_apart_from_deeds() {
        let note = ago(3, &"n".repeat(NOTE_CHARS));
        let mut noted = view();
        noted.notes = vec![note.clone()];
        let told = session_context(&noted, NOW).unwrap();
        assert!(told.contains(&format!("Notes:\n  - [3m ago] {}\n", note.text)), "{told}");
        let told = session_news(std::slice::from_ref(&note), Some("mend it")).unwrap();
        assert_eq!(told, format!("[SESSION CONTEXT]\nNote: {}\nCurrent task: mend it\n[END SESSION]", note.text));
        assert_eq!(session_news(&[], None), None);
    }
}
