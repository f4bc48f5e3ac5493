//! Names of threads that nobody has named.

use crate::{Timestamp, one_line};

/// What is shown for a thread in which nothing has been said.
pub const UNNAMED: &str = "New Session";
/// Characters of a name made from the first words.
const LONGEST: usize = 60;

/// The first sixty characters of what was said first, cut at a word, as a name; nothing for an empty text.
pub fn first_words(text: &str) -> Option<String> {
    let line = one_line(text);
    if line.is_empty() {
        return None;
    }
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return Some(line) };
    let start = &line[..end];
    // The character after the cut tells whether the last word is whole.
    let whole =
        if line[end..].starts_with(' ') { start } else { start.rsplit_once(' ').map_or(start, |(whole, _)| whole) };
    Some(format!("{}...", whole.trim_end()))
}

/// The name of a thread that a job started at a moment.
pub fn cron_name(job: &str, now: Timestamp) -> String {
    let moment = now.to_string();
    let (day, time) = moment.split_once('T').unwrap_or((&moment, ""));
    format!("[cron] {} — {day} {}", one_line(job), time.get(..5).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(first_words(text).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn e004_01_first_words_are_cut_at_a_word() {
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
    fn e004_02_a_job_names_its_thread() {
        let now = Timestamp::from_millis(1_739_268_000_000);
        assert_eq!(cron_name("nightly check", now), "[cron] nightly check — 2025-02-11 10:00");
    }
}
