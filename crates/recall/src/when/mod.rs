//! Parses dates and time phrases in English text, relative to a given time. Never reads the clock.

mod beside;
mod bounds;
#[cfg(test)]
mod bounds_tests;
mod calendar;
mod date;
mod event;
#[cfg(test)]
mod event_tests;
mod event_words;
mod phrase;
mod relative;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::ops::Range;

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rethread_model::Timestamp;

pub use bounds::TimeBounds;
use bounds::TimeMatch;
use calendar::Calendar;
pub use event::EventPhrase;
pub(crate) use event_words::EventAction;
use phrase::TimeSentence;

/// Maximum number of phrases found in one text. More than this is a pasted log, not a question about a time.
const MAX_PHRASES: usize = 16;
/// Maximum length of a span that counts as one day, also when the clocks change, in milliseconds.
const MAX_DAY_MILLIS: i64 = 26 * 3_600_000;

/// The half-open time span `from..to`; a single moment if the two are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeSpan {
    /// Inclusive start.
    pub from: Timestamp,
    /// Exclusive end.
    pub to: Timestamp,
}

/// The meaning of a time phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimePhrase {
    /// One span of time: "yesterday", "7 May 2023", "in 2024".
    Span(TimeSpan),
    /// These months of every year, inclusive: "in March", "in the winter" (where `last` is before `first`).
    Months {
        /// First month, 1 to 12.
        first: i8,
        /// Last month, 1 to 12.
        last: i8,
    },
    /// This day of every year: "May 7".
    MonthDay {
        /// 1 to 12.
        month: i8,
        /// 1 to 31.
        day: i8,
    },
}

/// A time phrase and its byte range in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocatedTimePhrase {
    pub(crate) when: TimePhrase,
    pub(crate) place: Range<usize>,
    /// Whether it is relative to now, like "two weeks ago".
    pub(crate) is_relative: bool,
    /// The limits that it sets, like "since Monday".
    pub(crate) bounds: Option<TimeBounds>,
    /// The dates in a longer phrase: 3 May in "the week before 3 May". Conversations often mention an event later.
    pub(crate) anchors: Vec<TimePhrase>,
}

/// A day named by a query, relative to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedDay {
    /// Days from the named day to the entry; negative if the entry is older.
    days_after: i32,
    /// Whether both are in the same month of the same year.
    pub(crate) same_month: bool,
}

impl NamedDay {
    /// 1 on the day itself, fading over the following two weeks: people often report events later.
    pub(crate) fn closeness(self) -> f32 {
        const FADES_IN_DAYS: f32 = 4.0;
        if (-1..=14).contains(&self.days_after) { (-(self.days_after.abs() as f32) / FADES_IN_DAYS).exp() } else { 0.0 }
    }
}

impl TimeSpan {
    /// Whether `at` is in the span.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

impl TimePhrase {
    /// Whether `at` is included; months and days are those of `zone`.
    pub fn contains(&self, at: Timestamp, zone: &TimeZone) -> bool {
        let date = || {
            let moment = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            Some(zone.to_datetime(moment).date())
        };
        match *self {
            TimePhrase::Span(span) => span.contains(at),
            TimePhrase::Months { first, last } => date().is_some_and(|date| {
                let month = date.month();
                if first <= last { (first..=last).contains(&month) } else { month >= first || month <= last }
            }),
            TimePhrase::MonthDay { month, day } => {
                date().is_some_and(|date| date.month() == month && date.day() == day)
            }
        }
    }

    /// Length in milliseconds; `None` for recurring times.
    pub(crate) fn length_millis(&self) -> Option<i64> {
        match self {
            TimePhrase::Span(span) => Some(span.to.millis_since(span.from)),
            TimePhrase::Months { .. } | TimePhrase::MonthDay { .. } => None,
        }
    }

    /// The single days it names, relative to `at`; for a day without a year, those closest to `at`.
    pub(crate) fn named_days(&self, at: Timestamp, zone: &TimeZone) -> Vec<NamedDay> {
        let date = |at: Timestamp| {
            let moment = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            Some(zone.to_datetime(moment).date())
        };
        let Some(here) = date(at) else { return Vec::new() };
        let named: Vec<Date> = match *self {
            TimePhrase::Span(span) if span.to.millis_since(span.from) <= MAX_DAY_MILLIS => {
                date(span.from).into_iter().collect()
            }
            TimePhrase::MonthDay { month, day } => {
                (-1..=1).filter_map(|years| Date::new(here.year() + years, month, day).ok()).collect()
            }
            _ => Vec::new(),
        };
        let seen = named.into_iter().map(|named| NamedDay {
            days_after: (here - named).get_days(),
            same_month: here.year() == named.year() && here.month() == named.month(),
        });
        seen.collect()
    }

    /// The time phrases in `text`, in order, each once.
    #[cfg(test)]
    pub(crate) fn find(text: &str, now: &Zoned) -> Vec<TimePhrase> {
        let mut found = Vec::new();
        for located in Self::find_located(text, now) {
            if !found.contains(&located.when) {
                found.push(located.when);
            }
        }
        found
    }

    /// The time phrases in `text` with their positions, in order. For ranking: a vague phrase gives a wide span.
    pub(crate) fn find_located(text: &str, now: &Zoned) -> Vec<LocatedTimePhrase> {
        let calendar = Calendar::new(now);
        let sentence = TimeSentence::new(text, &calendar);
        let mut found = Vec::new();
        let mut at = 0;
        while at < sentence.len() && found.len() < MAX_PHRASES {
            let Some(one) = sentence.match_at(at) else {
                at += 1;
                continue;
            };
            let is_relative = sentence.relative(at).is_some() && one.anchors.is_empty();
            let place = sentence.byte_range(at, one.end);
            let TimeMatch { when, bounds, anchors, .. } = one;
            found.push(LocatedTimePhrase { when, place, is_relative, bounds, anchors });
            at = one.end;
        }
        found
    }

    /// Parses a whole value such as `2026-03-14`, `30d`, `last week` or an RFC 3339 time.
    ///
    /// "Since" and "before" use its `from`, "until" its `to`; for a moment both are equal. A month or day without a
    /// year is the latest that has begun.
    pub fn parse(text: &str, now: &Zoned) -> Option<TimeSpan> {
        value::parse(text, &Calendar::new(now))
    }
}
