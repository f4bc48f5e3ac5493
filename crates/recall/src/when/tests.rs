//! Tables of phrases with their meaning on one Wednesday, in UTC and in Berlin.

use jiff::Zoned;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use rethread_model::Timestamp;

use super::{TimePhrase, TimeSpan};

/// A Wednesday.
pub(super) const UTC: &str = "2026-03-18T15:30:00[UTC]";
/// The same Wednesday, but still the 17th in UTC; summer time begins on the 29th.
const BERLIN: &str = "2026-03-18T00:30:00[Europe/Berlin]";

pub(super) fn at(now: &str) -> Zoned {
    now.parse().unwrap()
}

/// Shortens whole UTC days and minutes, to keep the tables readable.
pub(super) fn show(moment: Timestamp) -> String {
    let text = moment.to_string();
    let text = text.trim_end_matches(":00.000Z");
    text.trim_end_matches("T00:00").to_owned()
}

pub(super) fn show_span(span: TimeSpan) -> String {
    format!("{}..{}", show(span.from), show(span.to))
}

fn show_when(when: &TimePhrase) -> String {
    match when {
        TimePhrase::Span(span) => show_span(*span),
        TimePhrase::Months { first, last } if first == last => format!("month {first}"),
        TimePhrase::Months { first, last } => format!("months {first}-{last}"),
        TimePhrase::MonthDay { month, day } => format!("day {month}-{day}"),
    }
}

pub(super) fn check_find(now: &str, table: &[(&str, &[&str])]) {
    for (text, expect) in table {
        let found: Vec<String> = TimePhrase::find(text, &at(now)).iter().map(show_when).collect();
        assert_eq!(found, *expect, "{text:?}");
    }
}

pub(super) fn check_parse(now: &str, table: &[(&str, &str)]) {
    for (text, expect) in table {
        let span = TimePhrase::parse(text, &at(now)).map_or_else(|| "none".to_owned(), show_span);
        assert_eq!(span, *expect, "{text:?}");
    }
}

#[test]
fn days_near_today_are_found() {
    check_find(
        UTC,
        &[
            ("what did we do today?", &["2026-03-18..2026-03-19"]),
            ("Yesterday's bug", &["2026-03-17..2026-03-18"]),
            ("the day before yesterday", &["2026-03-16..2026-03-17"]),
            ("the fix from this morning", &["2026-03-18..2026-03-18T12:00"]),
            ("this afternoon", &["2026-03-18T12:00..2026-03-18T18:00"]),
            ("tonight", &["2026-03-18T18:00..2026-03-19T06:00"]),
            ("the build broke last night", &["2026-03-17T18:00..2026-03-18T06:00"]),
            ("yesterday evening", &["2026-03-17T17:00..2026-03-18"]),
            ("yesterday, and yesterday", &["2026-03-17..2026-03-18"]),
            ("yesterday and today", &["2026-03-17..2026-03-18", "2026-03-18..2026-03-19"]),
        ],
    );
}

#[test]
fn phrases_with_ago_are_as_wide_as_their_unit() {
    check_find(
        UTC,
        &[
            ("20 minutes ago", &["2026-03-18T15:05..2026-03-18T15:15"]),
            ("an hour ago", &["2026-03-18T14:00..2026-03-18T15:00"]),
            ("3 days ago", &["2026-03-15..2026-03-16"]),
            ("three days ago", &["2026-03-15..2026-03-16"]),
            ("a week ago", &["2026-03-08..2026-03-15"]),
            ("two weeks back", &["2026-03-01..2026-03-08"]),
            ("about two months ago", &["2026-01-03..2026-02-03"]),
            ("a year ago", &["2024-09-18..2025-09-18"]),
            ("a couple of days ago", &["2026-03-15..2026-03-17"]),
            ("a few days ago", &["2026-03-13..2026-03-17"]),
            ("a few weeks ago we", &["2026-02-08..2026-03-08"]),
            ("3d ago", &["2026-03-15..2026-03-16"]),
            ("999999999 years ago", &[]),
            ("99999999999999999999999 days ago", &[]),
            ("9223372036854775807 minutes ago", &[]),
            ("-9223372036854775808 days ago", &[]),
            ("a second ago", &[]),
            ("days ago", &[]),
            ("3 days later", &[]),
            ("3 days, ago", &[]),
        ],
    );
}

#[test]
fn since_reaches_until_today() {
    check_find(
        UTC,
        &[
            ("what changed since Monday?", &["2026-03-16..2026-03-19"]),
            ("since yesterday evening", &["2026-03-17T17:00..2026-03-19"]),
            ("since last week", &["2026-03-09..2026-03-19"]),
            ("since the weekend", &["2026-03-14..2026-03-19"]),
            ("since 3 May 2025", &["2025-05-03..2026-03-19"]),
            ("since March", &["2026-03-01..2026-03-19"]),
            ("since 2 days ago", &["2026-03-16..2026-03-19"]),
            ("since 3 May 2027", &["2027-05-03..2027-05-04"]),
            ("since it broke", &[]),
            ("ever since. Monday", &["2026-03-16..2026-03-17"]),
        ],
    );
}

#[test]
fn last_past_and_this_are_distinguished() {
    check_find(
        UTC,
        &[
            ("last week", &["2026-03-09..2026-03-16"]),
            ("this week's work", &["2026-03-16..2026-03-23"]),
            ("the past week", &["2026-03-11..2026-03-19"]),
            ("the week before last", &["2026-03-02..2026-03-09"]),
            ("last weekend", &["2026-03-14..2026-03-16"]),
            ("over the weekend", &["2026-03-14..2026-03-16"]),
            ("last month", &["2026-02-01..2026-03-01"]),
            ("this month", &["2026-03-01..2026-04-01"]),
            ("past month", &["2026-02-18..2026-03-19"]),
            ("last year", &["2025-01-01..2026-01-01"]),
            ("earlier this year", &["2026-01-01..2027-01-01"]),
            ("in the last 3 days", &["2026-03-15..2026-03-19"]),
            ("the past two weeks", &["2026-03-04..2026-03-19"]),
            ("last couple of months", &["2025-12-18..2026-03-19"]),
            ("last 24 hours", &["2026-03-17T15:30..2026-03-18T15:30"]),
            ("the past hour", &["2026-03-18T14:30..2026-03-18T15:30"]),
            ("last 999999999999 months", &[]),
            ("the last 3 commits", &[]),
            ("next week", &[]),
            ("at last, week", &[]),
            ("in the past", &[]),
        ],
    );
}

#[test]
fn weekdays_are_the_latest_before_today() {
    check_find(
        UTC,
        &[
            ("last Monday", &["2026-03-16..2026-03-17"]),
            ("on tuesday", &["2026-03-17..2026-03-18"]),
            ("on Wednesday", &["2026-03-11..2026-03-12"]),
            ("this Wednesday", &["2026-03-18..2026-03-19"]),
            ("last Sunday night", &["2026-03-15T18:00..2026-03-16T06:00"]),
            ("on Thursday", &["2026-03-12..2026-03-13"]),
            ("on Sat", &["2026-03-14..2026-03-15"]),
            ("Monday last week", &["2026-03-09..2026-03-10"]),
            ("Tuesday of this week", &["2026-03-17..2026-03-18"]),
            ("Sunday, 7 May 2023", &["2023-05-07..2023-05-08"]),
            ("next Friday", &[]),
            ("every Friday", &[]),
            ("the cat sat in the sun", &[]),
        ],
    );
}

#[test]
fn a_weekday_long_ago_is_not_the_latest_one() {
    // D42
    check_find(
        UTC,
        &[
            ("on Wednesday two months ago", &["2026-01-21..2026-01-22"]),
            ("a Friday, three weeks ago", &["2026-02-27..2026-02-28"]),
            ("Monday a week ago", &["2026-03-09..2026-03-10"]),
            ("two weeks ago on Tuesday we", &["2026-03-03..2026-03-04"]),
            ("two months ago, on a whim", &["2026-01-03..2026-02-03"]),
            ("Sunday one year ago", &["2025-03-16..2025-03-17"]),
            ("Friday of the week before last", &["2026-03-06..2026-03-07"]),
            ("Thursday the week before last", &["2026-03-05..2026-03-06"]),
        ],
    );
}

#[test]
fn dates_are_found() {
    check_find(
        UTC,
        &[
            ("on 7 May 2023 we", &["2023-05-07..2023-05-08"]),
            ("May 7th, 2023", &["2023-05-07..2023-05-08"]),
            ("may 7 2023", &["2023-05-07..2023-05-08"]),
            ("the 7th of May", &["day 5-7"]),
            ("May 7", &["day 5-7"]),
            ("7 May", &["day 5-7"]),
            ("Jan. 5", &["day 1-5"]),
            ("Sept. 5, 2024", &["2024-09-05..2024-09-06"]),
            ("May the 4th", &["day 5-4"]),
            ("the Friday before 20 May 2023", &["2023-05-19..2023-05-20"]),
            ("the Saturday after 20 May 2023", &["2023-05-27..2023-05-28"]),
            ("February 29", &["day 2-29"]),
            ("29 February 2023", &["2023-02-01..2023-03-01"]),
            ("2023-05-07", &["2023-05-07..2023-05-08"]),
            ("(2023/05/07).", &["2023-05-07..2023-05-08"]),
            ("2023-05-07T10:11:12Z panic", &["2023-05-07..2023-05-08"]),
            ("since 2023-05", &["2023-05-01..2026-03-19"]),
            ("2023-13", &[]),
            ("2023-02-30", &[]),
            ("CVE-2023-05", &[]),
            ("2023-05-07-3", &[]),
            ("2023/05", &[]),
        ],
    );
}

#[test]
fn months_are_distinguished_from_verbs() {
    check_find(
        UTC,
        &[
            ("in March", &["month 3"]),
            ("in may", &["month 5"]),
            ("March 2024", &["2024-03-01..2024-04-01"]),
            ("May 2023", &["2023-05-01..2023-06-01"]),
            ("may of last year", &["2025-05-01..2025-06-01"]),
            ("last May", &["2025-05-01..2025-06-01"]),
            ("last March", &["2025-03-01..2025-04-01"]),
            ("this March", &["2026-03-01..2026-04-01"]),
            ("the end of May", &["month 5"]),
            ("since May", &["2025-05-01..2026-03-19"]),
            ("between March and May", &["2025-03-01..2025-06-01"]),
            ("mid-March", &["month 3"]),
            ("in early May", &["month 5"]),
            ("late October 2024", &["2024-10-01..2024-11-01"]),
            ("the october refactor", &["month 10"]),
            ("in Feb", &["month 2"]),
            ("May I ask", &[]),
            ("it may fail", &[]),
            ("this may fail", &[]),
            ("the last may fail", &[]),
            ("since may", &[]),
            ("it may 7 times", &[]),
            ("only 7 may pass", &[]),
            ("march on", &[]),
            ("for march in arch", &[]),
            ("dec eax", &[]),
            ("a second opinion", &[]),
            ("the second of two", &[]),
        ],
    );
}

#[test]
fn years_are_distinguished_from_numbers() {
    check_find(
        UTC,
        &[
            ("in 2023", &["2023-01-01..2024-01-01"]),
            ("in 1995", &["1995-01-01..1996-01-01"]),
            ("trip 2024", &["2024-01-01..2025-01-01"]),
            ("since 2030", &["2030-01-01..2031-01-01"]),
            ("early 2023", &["2023-01-01..2024-01-01"]),
            ("1995", &[]),
            ("2048", &[]),
            ("2048 bytes", &[]),
            ("in 2024 bytes", &[]),
            ("v2024.1", &[]),
            (":2024", &[]),
            ("localhost:2024", &[]),
            ("#2024", &[]),
            ("port 2024", &[]),
            ("edition 2024", &[]),
            ("port: 2024", &[]),
            ("timeout = 2000", &[]),
            ("for 2000 users", &[]),
            ("2000", &[]),
            ("2024x768", &[]),
            ("12:30", &[]),
        ],
    );
}

#[test]
fn seasons_are_those_of_the_northern_hemisphere() {
    check_find(
        UTC,
        &[
            ("last summer", &["2025-06-01..2025-09-01"]),
            ("summer 2023", &["2023-06-01..2023-09-01"]),
            ("the summer of 2023", &["2023-06-01..2023-09-01"]),
            ("winter 2023", &["2023-12-01..2024-03-01"]),
            ("last winter", &["2025-12-01..2026-03-01"]),
            ("this spring", &["2026-03-01..2026-06-01"]),
            ("last spring", &["2025-03-01..2025-06-01"]),
            ("in the winter", &["months 12-2"]),
            ("spring boot", &[]),
            ("fall back", &[]),
        ],
    );
}

#[test]
fn whole_values_are_parsed() {
    check_parse(
        UTC,
        &[
            ("2026-03-14", "2026-03-14..2026-03-15"),
            ("2023-05", "2023-05-01..2023-06-01"),
            ("2024", "2024-01-01..2025-01-01"),
            ("now", "2026-03-18T15:30..2026-03-18T15:30"),
            ("30d", "2026-02-16T15:30..2026-02-16T15:30"),
            ("12h", "2026-03-18T03:30..2026-03-18T03:30"),
            ("90m", "2026-03-18T14:00..2026-03-18T14:00"),
            ("2w", "2026-03-04T15:30..2026-03-04T15:30"),
            ("3 days", "2026-03-15T15:30..2026-03-15T15:30"),
            ("3 days ago", "2026-03-15..2026-03-16"),
            ("2 hours ago", "2026-03-18T13:30..2026-03-18T13:30"),
            ("two months ago", "2026-01-18..2026-01-19"),
            ("2026-03-14T12:00", "2026-03-14T12:00..2026-03-14T12:00"),
            ("2026-03-14 12:00", "2026-03-14T12:00..2026-03-14T12:00"),
            ("2026-03-14T12:00:00+02:00", "2026-03-14T10:00..2026-03-14T10:00"),
            (" Last Week ", "2026-03-09..2026-03-16"),
            ("the past week", "2026-03-11..2026-03-19"),
            ("yesterday", "2026-03-17..2026-03-18"),
            ("mon", "2026-03-16..2026-03-17"),
            ("may", "2025-05-01..2025-06-01"),
            ("in March", "2026-03-01..2026-04-01"),
            ("May 7", "2025-05-07..2025-05-08"),
            ("7 may", "2025-05-07..2025-05-08"),
            ("May 7, 2023", "2023-05-07..2023-05-08"),
            ("February 29", "2024-02-29..2024-03-01"),
            ("tonight", "2026-03-18T18:00..2026-03-19T06:00"),
            ("summer", "2025-06-01..2025-09-01"),
            ("", "none"),
            ("someday", "none"),
            ("2026-03-14 or so", "none"),
            ("99999999999d", "none"),
            ("2026-13-14", "none"),
            ("2026-03-14T25:00", "none"),
            ("5", "none"),
        ],
    );
}

#[test]
fn days_are_those_of_the_zone() {
    check_find(
        BERLIN,
        &[
            ("today", &["2026-03-17T23:00..2026-03-18T23:00"]),
            ("this month", &["2026-02-28T23:00..2026-03-31T22:00"]),
            ("last Monday", &["2026-03-15T23:00..2026-03-16T23:00"]),
            ("last night", &["2026-03-17T17:00..2026-03-18T05:00"]),
        ],
    );
    check_parse(
        BERLIN,
        &[
            ("2026-03-29", "2026-03-28T23:00..2026-03-29T22:00"),
            ("2026-07-01T12:00", "2026-07-01T10:00..2026-07-01T10:00"),
            ("1d", "2026-03-16T23:30..2026-03-16T23:30"),
        ],
    );
}

#[test]
fn yearly_times_use_the_local_date() {
    let (utc, berlin) = (TimeZone::UTC, at(BERLIN).time_zone().clone());
    let (march, winter) = (TimePhrase::Months { first: 3, last: 3 }, TimePhrase::Months { first: 12, last: 2 });
    let day = TimePhrase::MonthDay { month: 3, day: 1 };
    let table = [
        (march, "2024-03-31T23:30:00Z", true, false),
        (march, "2021-02-28T23:30:00Z", false, true),
        (winter, "2021-01-15T00:00:00Z", true, true),
        (winter, "2021-12-15T00:00:00Z", true, true),
        (winter, "2021-06-15T00:00:00Z", false, false),
        (day, "2021-02-28T23:30:00Z", false, true),
        (day, "2021-03-01T12:00:00Z", true, true),
    ];
    for (when, moment, in_utc, in_berlin) in table {
        let moment = moment.parse().unwrap();
        assert_eq!((when.contains(moment, &utc), when.contains(moment, &berlin)), (in_utc, in_berlin), "{when:?}");
    }
    assert!(!march.contains(Timestamp::from_millis(i64::MAX), &utc));
    let span = TimeSpan { from: Timestamp::from_millis(10), to: Timestamp::from_millis(20) };
    assert_eq!([9, 10, 19, 20].map(|at| span.contains(Timestamp::from_millis(at))), [false, true, true, false]);
}

#[test]
fn the_number_of_times_in_a_pasted_log_is_limited() {
    let log = (1..=28).map(|day| format!("2023-05-{day:02} ok\n")).collect::<Vec<_>>().concat();
    assert_eq!(TimePhrase::find(&log, &at(UTC)).len(), super::MAX_PHRASES);
}

fn phrase_words() -> impl Strategy<Value = String> {
    let known = "last past this week month year weekend day days ago a an few couple of the in on since two 12 \
                 99999999 -5 2024 9999 2024-02-30 May march 31 31st Feb , monday Sat summer winter night \
                 before after until till by up to between from and other Wednesdays release's yesterday 3d 0y mid-";
    let words: Vec<&str> = known.split(' ').collect();
    let word = prop_oneof![4 => proptest::sample::select(words).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_text_panics(text in phrase_words(), year in -9999_i16..=9999, berlin: bool) {
        let zone = if berlin { "Europe/Berlin" } else { "UTC" };
        let noon = jiff::civil::date(year, 12, 30).at(12, 0, 0, 0);
        let now = noon.in_tz(zone).unwrap();
        for when in TimePhrase::find(&text, &now) {
            if let TimePhrase::Span(span) = when {
                prop_assert!(span.from <= span.to, "{text:?}");
            }
        }
        if let Some(span) = TimePhrase::parse(&text, &now) {
            prop_assert!(span.from <= span.to, "{text:?}");
        }
    }
}
