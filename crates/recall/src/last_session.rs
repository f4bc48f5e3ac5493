//! Renders the `[LAST SESSION]` block: where the last session of a project stopped, within a fixed number of bytes.

use rethread_model::{Timestamp, clip};

use crate::card::StoppingPoint;
use crate::quote::{format_age, quote_short, repeats};

/// Maximum length of the block.
pub const LAST_SESSION_BYTES: usize = 600;
/// Maximum lengths, in characters, before the block is shortened further.
const NAME_CHARS: usize = 60;
const ASKED_CHARS: usize = 120;
const OUTCOME_CHARS: usize = 200;
const ERROR_CHARS: usize = 110;
const NEXT_STEP_CHARS: usize = 90;
/// Number of files named.
const MAX_FILES: usize = 3;
/// A longer prompt asks for more than the last session.
const MAX_QUESTION_WORDS: usize = 16;
/// Texts are not shortened below this share, in percent. Only scripts with long encodings get there.
const MIN_PERCENT: usize = 20;

/// The last session of a project, and where it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSession {
    /// Session id, as accepted by `show`.
    pub id: String,
    /// Name of the session.
    pub name: String,
    /// When it was last active.
    pub last_active_at: Option<Timestamp>,
    /// Where it stopped.
    pub stopped: StoppingPoint,
}

/// The block, at most [`LAST_SESSION_BYTES`] long.
pub fn last_session_block(last: &LastSession, now: Timestamp) -> String {
    let mut percent = 100;
    loop {
        let text = render(last, percent, now);
        if text.len() <= LAST_SESSION_BYTES {
            return text;
        }
        if percent <= MIN_PERCENT {
            return format!("[LAST SESSION]\n{}\n[END LAST SESSION]", heading(last, percent, now));
        }
        percent -= 10;
    }
}

/// Whether a prompt asks what the last session was about. "Where did we stop?" may mean the session itself.
pub fn asks_for_last_session(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let is_before = words.windows(2).any(|pair| {
        matches!(pair, ["last" | "previous", "session" | "time" | "conversation"] | ["on" | "do" | "doing", "last"])
    });
    words.len() <= MAX_QUESTION_WORDS
        && is_before
        && has(&["we", "i", "you"])
        && has(&["what", "where", "which", "summarize", "continue", "remind", "recap"])
        && has(&[
            "work", "worked", "working", "did", "do", "doing", "done", "stop", "stopped", "left", "leave", "about",
        ])
}

fn render(last: &LastSession, percent: usize, now: Timestamp) -> String {
    let StoppingPoint { asked, outcome, next_step, open_error, files } = &last.stopped;
    let quoted = |text: &str, chars: usize| quote_short(text, chars * percent / 100);
    let mut lines = vec![heading(last, percent, now)];
    // A session is often named by its only prompt.
    let asked = asked.as_ref().filter(|asked| !repeats(&last.name, asked));
    lines.extend(asked.map(|asked| format!("Asked last: \"{}\"", quoted(asked, ASKED_CHARS))));
    lines.extend(outcome.as_ref().map(|outcome| format!("Outcome: \"{}\"", quoted(outcome, OUTCOME_CHARS))));
    lines.extend(open_error.as_ref().map(|(command, error)| {
        let command = quoted(command, ERROR_CHARS / 2);
        let error = error.as_ref().map(|error| format!(": \"{}\"", quoted(error, ERROR_CHARS)));
        format!("Open error: `{command}` failed when last run{}", error.unwrap_or_default())
    }));
    lines.extend(next_step.as_ref().map(|step| format!("Next step: \"{}\"", quoted(step, NEXT_STEP_CHARS))));
    lines.extend((!files.is_empty()).then(|| format!("Changed: {}", file_list(files))));
    format!("[LAST SESSION]\n{}\n[END LAST SESSION]", lines.join("\n"))
}

fn heading(last: &LastSession, percent: usize, now: Timestamp) -> String {
    let name = quote_short(&last.name, NAME_CHARS * percent / 100);
    format!("\"{name}\", {} (rethread show {})", format_age(last.last_active_at, now), last.id)
}

/// `cart.rs, lib.rs and 2 more`.
fn file_list(paths: &[String]) -> String {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path);
        let name = quote_short(&clip(name, NAME_CHARS / 2), NAME_CHARS / 2);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_FILES);
    names.truncate(MAX_FILES);
    let named = names.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> LastSession {
        LastSession {
            id: "01KA7M0Z".to_owned(),
            name: "Retry uploads".to_owned(),
            last_active_at: Some(Timestamp::from_millis(0)),
            stopped: StoppingPoint {
                asked: Some(text.to_owned()),
                outcome: Some(text.to_owned()),
                next_step: None,
                open_error: Some(("cargo test".to_owned(), Some(text.to_owned()))),
                files: ["/app/src/a.rs", "/app/src/b.rs", "C:\\app\\c.rs", "/app/d.rs"].map(str::to_owned).to_vec(),
            },
        }
    }

    #[test]
    fn it_says_what_was_asked_what_came_of_it_and_what_failed() {
        // D41
        let rendered = last_session_block(&last("add tests"), Timestamp::from_millis(3 * 86_400_000));
        assert_eq!(
            rendered,
            "[LAST SESSION]\n\"Retry uploads\", 3d ago (rethread show 01KA7M0Z)\nAsked last: \"add tests\"\nOutcome: \
             \"add tests\"\nOpen error: `cargo test` failed when last run: \"add tests\"\nChanged: a.rs, b.rs, c.rs and \
             1 more\n[END LAST SESSION]"
        );
    }

    #[test]
    fn it_is_bounded_in_every_script_and_cannot_be_ended_from_inside() {
        for text in ["word ".repeat(500), "再試行".repeat(500), "[END LAST SESSION] \"<x>".repeat(90), "💥".repeat(900)]
        {
            let mut last = last(&text);
            last.name = text;
            let rendered = last_session_block(&last, Timestamp::from_millis(0));
            assert!(rendered.len() <= LAST_SESSION_BYTES, "{}: {rendered}", rendered.len());
            assert_eq!(rendered.matches("[END LAST SESSION]").count(), 1, "{rendered}");
        }
    }

    #[test]
    fn a_prompt_can_ask_for_the_last_session() {
        // D41
        for prompt in
            ["what did we work on last?", "where did we stop last time?", "what did you do in the last session"]
        {
            assert!(asks_for_last_session(prompt), "{prompt}");
        }
        for prompt in ["where did we stop?", "the test failed last time", "what is the last session in the table?"] {
            assert!(!asks_for_last_session(prompt), "{prompt}");
        }
    }
}
