//! Dates and time phrases in English text, read against a given now. Never asks the clock.

mod calendar;
mod date;
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

use calendar::Calendar;
use phrase::Sentence;

/// More phrases than this in one text are a pasted log, not a question about a time.
const MOST_PHRASES: usize = 16;
/// A span no longer than this is a day, also when the clocks change.
const LONGEST_DAY: i64 = 26 * 3_600_000;

/// The time from `from` up to, not including, `to`; a single moment when the two are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first moment of it.
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
}

/// What a time phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// One stretch of time: "yesterday", "7 May 2023", "in 2024".
    Span(Span),
    /// These months of every year, both included: "in March", "in the winter" (whose `last` is before its `first`).
    Months {
        /// The first month, 1 to 12.
        first: i8,
        /// The last month, 1 to 12.
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

/// A time phrase and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) when: When,
    pub(crate) place: Range<usize>,
    /// Whether it is told from now, as "two weeks ago" is.
    pub(crate) is_relative: bool,
}

/// A day that a query names, seen from an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedDay {
    /// How many days after it the entry was written.
    days_after: i32,
    /// Whether that was in the same month of the same year.
    pub(crate) same_month: bool,
}

impl NamedDay {
    /// 1 on the day itself, less with every day after it, nothing after two weeks: people tell what happened later.
    pub(crate) fn closeness(self) -> f32 {
        const FADES_IN_DAYS: f32 = 4.0;
        if (-1..=14).contains(&self.days_after) { (-(self.days_after.abs() as f32) / FADES_IN_DAYS).exp() } else { 0.0 }
    }
}

impl Span {
    /// Whether `at` lies in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

impl When {
    /// Whether `at` lies in it; months and days are those of `zone`.
    pub fn contains(&self, at: Timestamp, zone: &TimeZone) -> bool {
        let date = || {
            let moment = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            Some(zone.to_datetime(moment).date())
        };
        match *self {
            When::Span(span) => span.contains(at),
            When::Months { first, last } => date().is_some_and(|date| {
                let month = date.month();
                if first <= last { (first..=last).contains(&month) } else { month >= first || month <= last }
            }),
            When::MonthDay { month, day } => date().is_some_and(|date| date.month() == month && date.day() == day),
        }
    }

    /// How long it lasts, where it lasts once.
    pub(crate) fn length_millis(&self) -> Option<i64> {
        match self {
            When::Span(span) => Some(span.to.millis_since(span.from)),
            When::Months { .. } | When::MonthDay { .. } => None,
        }
    }

    /// The single days it means, as seen from `at`: of a day without a year, those around `at`.
    pub(crate) fn days(&self, at: Timestamp, zone: &TimeZone) -> Vec<NamedDay> {
        let date = |at: Timestamp| {
            let moment = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
            Some(zone.to_datetime(moment).date())
        };
        let Some(here) = date(at) else { return Vec::new() };
        let named: Vec<Date> = match *self {
            When::Span(span) if span.to.millis_since(span.from) <= LONGEST_DAY => date(span.from).into_iter().collect(),
            When::MonthDay { month, day } => {
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

    /// The time phrases inside `text`, in order, each once. Meant for ranking: a loose phrase gives a wide span.
    pub fn find(text: &str, now: &Zoned) -> Vec<When> {
        let mut found = Vec::new();
        for located in Self::locate(text, now) {
            if !found.contains(&located.when) {
                found.push(located.when);
            }
        }
        found
    }

    /// The time phrases inside `text` with the places where they stand.
    pub(crate) fn locate(text: &str, now: &Zoned) -> Vec<Located> {
        let calendar = Calendar::new(now);
        let sentence = Sentence::new(text, &calendar);
        let mut found = Vec::new();
        let mut at = 0;
        while at < sentence.len() && found.len() < MOST_PHRASES {
            let Some((end, phrase)) = sentence.phrase(at) else {
                at += 1;
                continue;
            };
            if let Some(when) = phrase.loosely(&calendar) {
                let is_relative = sentence.relative(at).is_some();
                found.push(Located { when, place: sentence.place(at, end), is_relative });
            }
            at = end;
        }
        found
    }

    /// A whole value such as `2026-03-14`, `30d`, `last week` or an RFC 3339 time. "Since" and "before" use its `from`,
    /// "until" its `to`; a moment has both equal. A month or day without a year is the latest that has begun.
    pub fn parse(text: &str, now: &Zoned) -> Option<Span> {
        value::parse(text, &Calendar::new(now))
    }
}
