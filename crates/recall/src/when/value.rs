//! A whole value for `since` and `until`: the phrases of a sentence, and the forms only a machine or a hurry writes.

use jiff::civil::DateTime;
use rethread_model::Timestamp;

use super::Span;
use super::calendar::Calendar;
use super::phrase::Sentence;

pub(super) fn parse(text: &str, calendar: &Calendar<'_>) -> Option<Span> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("now") {
        return Some(moment(calendar.now()));
    }
    clock_time(text, calendar).map(moment).or_else(|| phrase(text, calendar))
}

/// `2026-03-14T12:00:00Z`, or the same without a zone, which is then the calendar's.
fn clock_time(text: &str, calendar: &Calendar<'_>) -> Option<Timestamp> {
    // The general parsers also take bare dates, which are days here, and zone names, which they would ignore.
    if !text.contains(':') || text.contains('[') {
        return None;
    }
    text.parse().ok().or_else(|| calendar.at(text.parse::<DateTime>().ok()?))
}

fn phrase(text: &str, calendar: &Calendar<'_>) -> Option<Span> {
    let sentence = Sentence::value(text, calendar);
    let start = usize::from(matches!(sentence.word(0), "in" | "on" | "since" | "the" | "from"));
    // "3 days" and `3d` without "ago" are that long before now, to the minute.
    if let Some((end, count, unit)) = sentence.amount(start)
        && end == sentence.len()
    {
        return calendar.moment_ago(count.most, unit).map(moment);
    }
    [0, start].into_iter().find_map(|start| {
        let (end, phrase) = sentence.phrase(start)?;
        if end == sentence.len() { phrase.exactly(calendar) } else { None }
    })
}

fn moment(at: Timestamp) -> Span {
    Span { from: at, to: at }
}
