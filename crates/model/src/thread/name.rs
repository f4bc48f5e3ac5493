//! Default names for threads.

use crate::{Timestamp, one_line};

/// The displayed name of a thread without messages.
pub const UNNAMED_THREAD: &str = "New Session";
/// Maximum number of characters taken from the first message.
const MAX_NAME_CHARS: usize = 60;

/// A name from the first message: up to sixty characters, cut between words; `None` for blank text.
pub fn name_from_first_words(text: &str) -> Option<String> {
    let line = one_line(text);
    if line.is_empty() {
        return None;
    }
    let Some((end, _)) = line.char_indices().nth(MAX_NAME_CHARS) else { return Some(line) };
    let start = &line[..end];
    // If a space follows the cut, the last word is complete.
    let whole =
        if line[end..].starts_with(' ') { start } else { start.rsplit_once(' ').map_or(start, |(whole, _)| whole) };
    Some(format!("{}...", whole.trim_end()))
}

/// The name of a thread started by a scheduled job.
pub fn cron_thread_name(job: &str, now: Timestamp) -> String {
    let moment = now.to_string();
    let (day, time) = moment.split_once('T').unwrap_or((&moment, ""));
    format!("[cron] {} — {day} {}", one_line(job), time.get(..5).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(name_from_first_words(text).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn first_words_are_cut_between_words() {
        // E004-01
        check(" \n ", None);
        check("fix the\n parser", Some("fix the parser"));
        let sixty = "a".repeat(60);
        check(&sixty, Some(&sixty));
        check(&format!("{sixty} b"), Some(&format!("{sixty}...")));
        check(&"a".repeat(70), Some(&format!("{sixty}...")));
        check(
            "please look at the parser and tell me why it fails on Tuesdays only",
            Some("please look at the parser and tell me why it fails on..."),
        );
        check(&"é".repeat(61), Some(&format!("{}...", "é".repeat(60))));
    }

    #[test]
    fn cron_thread_is_named_after_its_job() {
        // E004-02
        let now = Timestamp::from_millis(1_739_268_000_000);
        assert_eq!(cron_thread_name("nightly check", now), "[cron] nightly check — 2025-02-11 10:00");
    }
}
