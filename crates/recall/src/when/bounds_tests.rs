//! Tables of phrases that set limits, of times beside other times, and of words that look like either.

use super::TimePhrase;
use super::tests::{UTC, at, check_find, check_parse, show};

/// The limits of each phrase that sets some: `from..to`, empty where it is open.
fn check_bounds(table: &[(&str, &[&str])]) {
    for (text, expect) in table {
        let found = TimePhrase::find_located(text, &at(UTC)).into_iter().filter_map(|one| one.bounds);
        let show_end = |end: Option<_>| end.map_or_else(String::new, show);
        let found: Vec<String> =
            found.map(|bounds| format!("{}..{}", show_end(bounds.from), show_end(bounds.to))).collect();
        assert_eq!(found, *expect, "{text:?}");
    }
}

#[test]
fn words_before_a_time_set_limits() {
    check_bounds(&[
        ("what changed since Monday?", &["2026-03-16.."]),
        ("parser bugs since last week", &["2026-03-09.."]),
        ("after Tuesday", &["2026-03-18.."]),
        ("the bug after last week", &["2026-03-16.."]),
        ("what did we do before Monday", &["..2026-03-16"]),
        ("before last week", &["..2026-03-09"]),
        ("before 3 May 2025 we used npm", &["..2025-05-03"]),
        ("before 2026-03-04", &["..2026-03-04"]),
        ("until last week", &["..2026-03-16"]),
        ("till yesterday", &["..2026-03-18"]),
        ("up to March", &["..2026-04-01"]),
        ("up until Friday", &["..2026-03-14"]),
        ("before the weekend", &["..2026-03-14"]),
        ("what had we finished by Friday", &["..2026-03-14"]),
        ("what was done by 3 May 2025", &["..2025-05-04"]),
        ("from Monday on", &["2026-03-16.."]),
        ("from last Friday onwards", &["2026-03-13.."]),
        ("after 2024", &["2025-01-01.."]),
        ("before May we used npm", &["..2025-05-01"]),
        ("after Monday, before Wednesday", &["2026-03-17..", "..2026-03-11"]),
        ("on or before 3 March", &["..2026-03-04"]),
        ("parser bugs on or after 3 March", &["2026-03-03.."]),
        ("what we finished by Friday", &["..2026-03-14"]),
        ("what has been done by Friday", &["..2026-03-14"]),
    ]);
}

#[test]
fn ranges_have_two_limits() {
    check_bounds(&[
        ("between Monday and Tuesday", &["2026-03-16..2026-03-18"]),
        ("between Monday and Wednesday", &["2026-03-16..2026-03-19"]),
        ("from Monday to Wednesday", &["2026-03-16..2026-03-19"]),
        ("between Thursday and Monday", &["2026-03-12..2026-03-17"]),
        ("between Tuesday and Monday", &["2026-03-10..2026-03-17"]),
        ("between last week and yesterday", &["2026-03-09..2026-03-18"]),
        ("from March to May", &["2025-03-01..2025-06-01"]),
        ("between January and March", &["2026-01-01..2026-04-01"]),
        ("between 3 May and 10 May", &["2025-05-03..2025-05-11"]),
        ("between August 11 and August 15 2023", &["2023-08-11..2023-08-16"]),
        ("from 3 May 2023 until 2 June", &["2023-05-03..2023-06-03"]),
        ("from November to January", &["2025-11-01..2026-02-01"]),
        ("between 2026-03-02 and 2026-03-04", &["2026-03-02..2026-03-05"]),
        ("between 3 and 5 March", &["2026-03-03..2026-03-06"]),
        ("from the 3rd to the 5th of March", &["2026-03-03..2026-03-06"]),
        ("between 3 and 5 May 2023", &["2023-05-03..2023-05-06"]),
        ("between 5 and 3 March", &[]),
        ("between 3 and 5 retries in March", &[]),
        ("from 3 to 5 may fail", &[]),
        ("between 10 May 2023 and 3 May 2023", &[]),
        ("from 2021 to 2024", &[]),
        ("between 2021 and 2024", &[]),
        ("from Monday and Tuesday", &[]),
        ("between the parser and Monday", &[]),
    ]);
}

#[test]
fn times_beside_other_times_are_found() {
    check_find(
        UTC,
        &[
            ("the week before 3 May 2025", &["2025-04-26..2025-05-03"]),
            ("in the week before yesterday", &["2026-03-10..2026-03-17"]),
            ("the week before Monday", &["2026-03-09..2026-03-16"]),
            ("the week before last week", &["2026-03-02..2026-03-09"]),
            ("the day after 3 May 2025", &["2025-05-04..2025-05-05"]),
            ("two days after 3 May 2025", &["2025-05-05..2025-05-06"]),
            ("two weeks before 3 May 2025", &["2025-04-16..2025-04-23"]),
            ("a few days before 3 May 2025", &["2025-04-28..2025-05-02"]),
            ("the two weeks before 3 May 2025", &["2025-04-19..2025-05-03"]),
            ("the last three days before 3 May", &["2025-04-30..2025-05-03"]),
            ("the month after March 2025", &["2025-04-01..2025-05-01"]),
            ("the day before yesterday", &["2026-03-16..2026-03-17"]),
            ("99999999999 days before 3 May 2025", &["2025-05-03..2025-05-04"]),
        ],
    );
    check_bounds(&[
        ("the week before 3 May 2025", &["2025-04-26..2025-05-03"]),
        ("two weeks before 3 May 2025", &[]),
        ("the week before Monday's release", &[]),
    ]);
}

#[test]
fn other_forms_of_days_are_found() {
    check_find(
        UTC,
        &[
            ("two Wednesdays ago", &["2026-03-04..2026-03-05"]),
            ("three mondays back", &["2026-03-02..2026-03-03"]),
            ("the Friday before last", &["2026-03-06..2026-03-07"]),
            ("on Wednesday two weeks ago", &["2026-03-04..2026-03-05"]),
            ("Wednesday of last week", &["2026-03-11..2026-03-12"]),
            ("the bug we saw the other day", &["2026-03-11..2026-03-18"]),
            ("earlier today", &["2026-03-18..2026-03-19"]),
            ("some other day", &[]),
            ("several Mondays ago", &[]),
            ("two sons ago", &[]),
            ("99999999999 Mondays ago", &[]),
        ],
    );
}

#[test]
fn words_that_name_no_time_set_no_limits() {
    check_bounds(&[
        ("run the linter before merging", &[]),
        ("after the fix", &[]),
        ("broken since 1.2", &[]),
        ("since v2024.1", &[]),
        ("after 2000 retries", &[]),
        ("before 2024 tokens", &[]),
        ("a limit of up to 2024", &[]),
        ("before the May release", &[]),
        ("after Monday's deploy", &[]),
        ("before yesterday’s standup", &[]),
        ("written by April", &[]),
        ("finish it by Friday", &[]),
        ("what is due by Friday", &[]),
        ("the fix from Monday", &[]),
        ("the fix from Monday on the parser", &[]),
        ("migrate edition from 2018 to 2021", &[]),
        ("before. Monday", &[]),
        ("before = 2024", &[]),
        ("since 3 May 2027", &[]),
        ("after today", &[]),
        ("before today", &[]),
        ("up to today", &[]),
        ("until 3 May 2027", &[]),
        ("it may fail after", &[]),
        ("since may fail", &[]),
        ("not before 3 March", &[]),
        ("not after 3 March", &[]),
        ("not since 3 March", &[]),
        ("not on or before 3 March", &[]),
        ("not until 3 March", &[]),
        ("the second week after 1 January", &[]),
        ("the 3rd day before 1 January", &[]),
        ("what has to be done by Friday", &[]),
    ]);
}

#[test]
fn values_may_be_ranges_and_times_beside_others() {
    check_parse(
        UTC,
        &[
            ("two Wednesdays ago", "2026-03-04..2026-03-05"),
            ("the Friday before last", "2026-03-06..2026-03-07"),
            ("Friday before last", "2026-03-06..2026-03-07"),
            ("Wednesday two months ago", "2026-01-21..2026-01-22"),
            ("on Wednesday two weeks ago", "2026-03-04..2026-03-05"),
            ("the week before 3 May", "2025-04-26..2025-05-03"),
            ("two weeks before 3 May", "2025-04-19..2025-04-20"),
            ("two days after 3 May 2025", "2025-05-05..2025-05-06"),
            ("between Monday and Tuesday", "2026-03-16..2026-03-18"),
            ("from Monday to Wednesday", "2026-03-16..2026-03-19"),
            ("the other day", "2026-03-11..2026-03-18"),
            ("earlier today", "2026-03-18..2026-03-19"),
            ("the Friday before 20 May 2023", "2023-05-19..2023-05-20"),
            ("before Monday", "none"),
            ("the week before the release", "none"),
            ("between Monday and someday", "none"),
        ],
    );
}
