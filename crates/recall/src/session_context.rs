//! Renders a session's own `[SESSION CONTEXT]` block, and the summary shown when it resumes after a break.

use rethread_model::{Timestamp, estimate_text_tokens};

use crate::injection_detail::{DetailLimits, InjectionDetail};
use crate::quote::{format_age, quote_short};

/// Token limit of the resume summary.
pub const RESUME_TOKENS: u64 = 500;
const MINUTE_MILLIS: i64 = 60_000;
/// Maximum number of new notes shown with a prompt, and maximum length of a task, in characters.
const MAX_NEW_NOTES: usize = 5;
const TASK_CHARS: usize = 100;
/// Maximum length of a note, in characters. Larger than other items: users expect their notes unabridged.
pub const NOTE_CHARS: usize = 300;

/// A text with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedText {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub text: String,
}

/// State of a session's current period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionView {
    /// Short form of the session id.
    pub id: String,
    /// When the period began.
    pub period_started_at: Option<Timestamp>,
    /// Number of events in it.
    pub event_count: u64,
    /// Files it touched, newest last.
    pub files: Vec<String>,
    /// Hot memory, newest last.
    pub hot_memory: Vec<TimedText>,
    /// Notes attached by the user, newest last.
    pub notes: Vec<TimedText>,
    /// Its last events, newest last.
    pub recent_events: Vec<TimedText>,
    /// Tools it used, newest last.
    pub tools: Vec<String>,
    /// Entities named in its prompts, newest last.
    pub entities: Vec<String>,
    /// Current task.
    pub task: Option<String>,
}

/// `[SESSION CONTEXT] … [END SESSION]` within the token limit of the level of detail; `None` if there is nothing to
/// show.
pub fn session_context(view: &SessionView, detail: InjectionDetail, now: Timestamp) -> Option<String> {
    if view.files.is_empty() && view.hot_memory.is_empty() && view.notes.is_empty() && view.task.is_none() {
        return None;
    }
    let limits = detail.limits();
    Some(shortened_to(limits.context_tokens, limits, |limits| context_text(view, limits, now)))
}

fn context_text(view: &SessionView, limits: DetailLimits, now: Timestamp) -> String {
    let minutes = view.period_started_at.map_or(0, |at| now.millis_since(at).max(0) / 60_000);
    let mut parts = vec![format!("Session: {} | Duration: {minutes}m | Events: {}", view.id, view.event_count)];
    let files = newest(&view.files, limits.files).iter().map(|file| quote_short(file, limits.item_chars));
    parts.extend(list("Recent files:", files));
    let timed =
        |entry: &TimedText, chars| format!("[{}] {}", format_age(Some(entry.at), now), quote_short(&entry.text, chars));
    let hot = newest(&view.hot_memory, limits.hot_entries).iter().map(|entry| timed(entry, limits.item_chars));
    parts.extend(list("Recent context:", hot));
    let notes = newest(&view.notes, limits.notes).iter().map(|note| timed(note, limits.note_chars));
    parts.extend(list("Notes:", notes));
    for (title, names) in [("Tools:", &view.tools), ("Named in prompts:", &view.entities)] {
        let names: Vec<String> =
            newest(names, limits.names).iter().map(|name| quote_short(name, limits.item_chars / 2)).collect();
        parts.extend((!names.is_empty()).then(|| format!("{title} {}", names.join(", "))));
    }
    parts.extend(view.task.as_ref().map(|task| format!("Current task: {}", quote_short(task, TASK_CHARS))));
    block(&parts.join("\n\n"))
}

/// A title with one line per item; `None` without items.
fn list(title: &str, items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<String> = items.collect();
    (!items.is_empty()).then(|| format!("{title}\n  - {}", items.join("\n  - ")))
}

/// The text with as many items as fit the token limit.
fn shortened_to(tokens: u64, mut limits: DetailLimits, render: impl Fn(DetailLimits) -> String) -> String {
    loop {
        let text = render(limits);
        match limits.with_fewer_items() {
            Some(fewer) if estimate_text_tokens(&text) > tokens => limits = fewer,
            _ => return text,
        }
    }
}

/// The same block with only the notes and the task that are new since the last injection.
pub fn session_update(notes: &[TimedText], task: Option<&str>) -> Option<String> {
    let notes =
        newest(notes, MAX_NEW_NOTES).iter().map(|note| format!("Note: {}", quote_short(&note.text, NOTE_CHARS)));
    let task = task.map(|task| format!("Current task: {}", quote_short(task, TASK_CHARS)));
    let lines: Vec<String> = notes.chain(task).collect();
    (!lines.is_empty()).then(|| block(&lines.join("\n")))
}

/// One line for a session that returns with its context intact: how long it was idle. Everything else about itself is in
/// its context already.
pub fn resume_greeting(id: &str, idle_millis: i64) -> String {
    match idle_millis {
        ..MINUTE_MILLIS => format!("Welcome back. Session {id} was paused."),
        _ => format!("Welcome back. Session {id} was idle for {}.", format_duration(idle_millis)),
    }
}

/// Summary for a session that was idle for `idle_millis`: the newest items that fit [`RESUME_TOKENS`].
pub fn resume_context(view: &SessionView, detail: InjectionDetail, idle_millis: i64, now: Timestamp) -> String {
    shortened_to(RESUME_TOKENS, detail.limits(), |limits| resume_text(view, limits, idle_millis, now))
}

fn resume_text(view: &SessionView, limits: DetailLimits, idle_millis: i64, now: Timestamp) -> String {
    let mut text = match idle_millis {
        ..MINUTE_MILLIS => format!("Session {} was active just now.", view.id),
        _ => resume_greeting(&view.id, idle_millis),
    };
    let item = |event: &TimedText| {
        format!("[{}] {}", format_age(Some(event.at), now), quote_short(&event.text, limits.item_chars))
    };
    let happened = list("Last activity summary:", newest(&view.recent_events, limits.resume_events).iter().map(item));
    let files: Vec<String> =
        newest(&view.files, limits.resume_files).iter().map(|file| quote_short(file, limits.item_chars)).collect();
    let files = (!files.is_empty()).then(|| format!("Recent files: {}", files.join(", ")));
    let task = view.task.as_ref().map(|task| format!("You were working on: {}", quote_short(task, TASK_CHARS)));
    for part in [happened, files, task].into_iter().flatten() {
        text.push_str("\n\n");
        text.push_str(&part);
    }
    text
}

fn block(text: &str) -> String {
    format!("[SESSION CONTEXT]\n{text}\n[END SESSION]")
}

/// `12 minutes`, `3h 5m`; whole days from two days on, because readers do not count in hundreds of hours.
fn format_duration(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        ..60 => "less than a minute".to_owned(),
        60..120 => "1 minute".to_owned(),
        120..3600 => format!("{} minutes", seconds / 60),
        3600..172_800 => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn newest<T>(all: &[T], limit: usize) -> &[T] {
    &all[all.len().saturating_sub(limit)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn ago(minutes: i64, text: &str) -> TimedText {
        TimedText { at: Timestamp::from_millis(NOW.as_millis() - minutes * 60_000), text: text.to_owned() }
    }

    fn view() -> SessionView {
        SessionView {
            id: "01KA7M0Z".to_owned(),
            period_started_at: Some(Timestamp::from_millis(NOW.as_millis() - 45 * 60_000)),
            event_count: 72,
            files: (1..=7).map(|number| format!("src/{number}.rs")).collect(),
            hot_memory: vec![ago(80, "Created a.rs (3 lines)"), ago(0, "Ran: cargo test")],
            recent_events: (1..=6).rev().map(|minutes| ago(minutes, &format!("event {minutes}"))).collect(),
            notes: Vec::new(),
            tools: vec!["Edit".to_owned(), "Bash".to_owned()],
            entities: vec!["parse_line".to_owned()],
            task: Some("fix the parser".to_owned()),
        }
    }

    #[test]
    fn the_block_has_the_specified_lines() {
        // S002-22 to S002-25, L002-06
        let rendered = session_context(&view(), InjectionDetail::Normal, NOW).unwrap();
        let expected = "[SESSION CONTEXT]\nSession: 01KA7M0Z | Duration: 45m | Events: 72\n\n\
             Recent files:\n  - src/3.rs\n  - src/4.rs\n  - src/5.rs\n  - src/6.rs\n  - src/7.rs\n\n\
             Recent context:\n  - [1h ago] Created a.rs (3 lines)\n  - [just now] Ran: cargo test\n\n\
             Current task: fix the parser\n[END SESSION]";
        assert_eq!(rendered, expected);
        assert_eq!(session_context(&SessionView::default(), InjectionDetail::Verbose, NOW), None);
    }

    #[test]
    fn the_resume_summary_names_the_break_and_the_last_activity() {
        // S002-34, S002-35
        let rendered = resume_context(&view(), InjectionDetail::Normal, 95 * 60_000, NOW);
        let expected = "Welcome back. Session 01KA7M0Z was idle for 1h 35m.\n\nLast activity summary:\n\
             \u{20} - [5m ago] event 5\n  - [4m ago] event 4\n  - [3m ago] event 3\n  - [2m ago] event 2\n  - [1m ago] event 1\n\n\
             Recent files: src/5.rs, src/6.rs, src/7.rs\n\nYou were working on: fix the parser";
        assert_eq!(rendered, expected);
    }

    #[test]
    fn the_resume_summary_stays_under_five_hundred_tokens() {
        // S002-36
        let mut long = view();
        long.recent_events =
            (0..9).map(|minutes| ago(minutes + 1_000_000, &"日本 word\u{1f980}".repeat(200))).collect();
        long.files = (0..9).map(|_| "x".repeat(400)).collect();
        long.task = Some("y".repeat(4000));
        let rendered = resume_context(&long, InjectionDetail::Normal, i64::MAX, NOW);
        assert!(estimate_text_tokens(&rendered) <= RESUME_TOKENS, "{}", estimate_text_tokens(&rendered));
        assert_eq!(rendered.matches("ago]").count(), 5, "the newest items are kept, and kept whole: {rendered}");
        // D31
        long.recent_events = (0..9).map(|minutes| ago(minutes + 1_000_000, &"日本語".repeat(200))).collect();
        let rendered = resume_context(&long, InjectionDetail::Normal, i64::MAX, NOW);
        assert!(estimate_text_tokens(&rendered) <= RESUME_TOKENS, "{}", estimate_text_tokens(&rendered));
        assert!(rendered.contains("ago] 日本語"), "{rendered}");
    }

    #[test]
    fn greeting_of_a_session_with_its_context_is_one_line_without_zero_seconds() {
        // D27
        let day = 86_400_000;
        let greetings = [0, 59_999, 60_000, 275 * day].map(|millis| resume_greeting("01KA", millis));
        let durations = ["paused", "paused", "idle for 1 minute", "idle for 275 days"];
        assert_eq!(greetings, durations.map(|how| format!("Welcome back. Session 01KA was {how}.")));
        assert!(
            resume_context(&view(), InjectionDetail::Normal, 0, NOW)
                .starts_with("Session 01KA7M0Z was active just now.\n")
        );
    }

    #[test]
    fn each_level_of_detail_has_its_limit() {
        // S002-36, E002-09, D29
        let mut long = view();
        let texts = |count: i64| (0..count).map(|minutes| ago(minutes, &"long words ".repeat(90))).collect::<Vec<_>>();
        (long.hot_memory, long.notes, long.recent_events) = (texts(20), texts(20), texts(20));
        long.files = (0..20).map(|_| "x".repeat(400)).collect();
        let tokens = |detail| {
            let context = session_context(&long, detail, NOW).unwrap();
            let resume = resume_context(&long, detail, i64::MAX, NOW);
            (estimate_text_tokens(&context), estimate_text_tokens(&resume))
        };
        let [minimal, normal, verbose] =
            [InjectionDetail::Minimal, InjectionDetail::Normal, InjectionDetail::Verbose].map(tokens);
        assert!(minimal.0 <= 200 && normal.0 <= 700 && verbose.0 <= 900, "{minimal:?} {normal:?} {verbose:?}");
        assert!(minimal.0 < normal.0 && normal.0 < verbose.0, "{minimal:?} {normal:?} {verbose:?}");
        assert!(minimal.1 < normal.1 && normal.1 < verbose.1 && verbose.1 <= RESUME_TOKENS);
        let rendered = session_context(&view(), InjectionDetail::Verbose, NOW).unwrap();
        assert!(
            rendered.contains("\n\nTools: Edit, Bash\n\nNamed in prompts: parse_line\n\nCurrent task:"),
            "{rendered}"
        );
        let rendered = session_context(&view(), InjectionDetail::Minimal, NOW).unwrap();
        assert!(rendered.contains("Recent files:\n  - src/5.rs\n  - src/6.rs\n  - src/7.rs\n\n"), "{rendered}");
    }

    #[test]
    fn durations_are_written_in_words() {
        // S002-35
        let rendered =
            [59, 60, 119, 120, 3599, 3600, 93_784, 172_799, 172_800, 23_760_000].map(|s| format_duration(s * 1000));
        let expected = ["less than a minute", "1 minute", "1 minute", "2 minutes", "59 minutes"];
        assert_eq!(rendered[..5], expected);
        assert_eq!(rendered[5..], ["1h 0m", "26h 3m", "47h 59m", "2 days", "275 days"]);
    }

    #[test]
    fn ages_change_at_the_full_minute_and_the_full_hour() {
        // S002-26
        let rendered = |millis: i64| format_age(Some(Timestamp::from_millis(NOW.as_millis() - millis)), NOW);
        let (second, minute) = (1000, 60_000);
        assert_eq!((rendered(59 * second), rendered(60 * second)), ("just now".to_owned(), "1m ago".to_owned()));
        assert_eq!((rendered(60 * minute - 1), rendered(60 * minute)), ("59m ago".to_owned(), "1h ago".to_owned()));
    }

    #[test]
    fn notes_are_shown_in_full_and_separate_from_hot_memory() {
        let note = ago(3, &"n".repeat(NOTE_CHARS));
        let mut noted = view();
        noted.notes = vec![note.clone()];
        let rendered = session_context(&noted, InjectionDetail::Normal, NOW).unwrap();
        assert!(rendered.contains(&format!("Notes:\n  - [3m ago] {}\n", note.text)), "{rendered}");
        let rendered = session_update(std::slice::from_ref(&note), Some("fix it")).unwrap();
        assert_eq!(rendered, format!("[SESSION CONTEXT]\nNote: {}\nCurrent task: fix it\n[END SESSION]", note.text));
        assert_eq!(session_update(&[], None), None);
    }
}
