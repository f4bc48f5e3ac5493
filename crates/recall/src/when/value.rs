//! Parses a whole value for `since` and `until`: phrases, timestamps, and short forms such as `3d`.

use jiff::civil::DateTime;
use rethread_model::Timestamp;

use super::bounds::TimeMatch;
use super::calendar::Calendar;
use super::phrase::TimeSentence;
use super::{TimePhrase, TimeSpan};

pub(super) fn parse(text: &str, calendar: &Calendar<'_>) -> Option<TimeSpan> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("now") {
        return Some(moment_span(calendar.now()));
    }
    clock_time(text, calendar).map(moment_span).or_else(|| parse_phrase(text, calendar))
}

/// `2026-03-14T12:00:00Z`, or the same without a zone, which is then the calendar's.
fn clock_time(text: &str, calendar: &Calendar<'_>) -> Option<Timestamp> {
    // The general parsers also accept bare dates, which are days here, and zone names, which they would ignore.
    if !text.contains(':') || text.contains('[') {
        return None;
    }
    text.parse().ok().or_else(|| calendar.at(text.parse::<DateTime>().ok()?))
}

fn parse_phrase(text: &str, calendar: &Calendar<'_>) -> Option<TimeSpan> {
    let sentence = TimeSentence::value(text, calendar);
    let start = usize::from(matches!(sentence.word_at(0), "in" | "on" | "since" | "the" | "from" | "earlier"));
    // "3 days" and `3d` without "ago" are that long before now, to the minute.
    if let Some((end, count, unit)) = sentence.amount(start)
        && end == sentence.len()
    {
        return calendar.moment_ago(count.most, unit).map(moment_span);
    }
    let is_whole = |end: usize| end == sentence.len();
    let longer = |start| {
        let found =
            sentence.range(start).or_else(|| sentence.beside_date(start)).or_else(|| sentence.weekday_beside(start));
        found.filter(|found| is_whole(found.end))
    };
    [0, start].into_iter().find_map(|start| {
        if let Some(TimeMatch { when: TimePhrase::Span(span), .. }) = longer(start) {
            return Some(span);
        }
        let (end, phrase) = sentence.phrase_at(start)?;
        if is_whole(end) { phrase.to_span(calendar) } else { None }
    })
}

fn moment_span(at: Timestamp) -> TimeSpan {
    TimeSpan { from: at, to: at }
}
