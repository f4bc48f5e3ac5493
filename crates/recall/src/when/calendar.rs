//! Turns days, weeks, months and years of one time zone into spans. What no calendar holds is `None`, never a panic.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};
use rethread_model::Timestamp;

use super::{Span, When};

/// The calendar as it hangs on the wall at one moment in one time zone.
pub(super) struct Calendar<'a> {
    now: &'a Zoned,
}

/// What people count time in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// How many; "a few" has no single answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) least: i64,
    pub(super) most: i64,
}

const MINUTE: i64 = 60_000;

impl Unit {
    /// Whether its length is that of a clock, not of a calendar.
    fn is_clock(self) -> bool {
        matches!(self, Unit::Minute | Unit::Hour)
    }

    fn times(self, count: i64) -> Option<jiff::Span> {
        let none = jiff::Span::new();
        match self {
            Unit::Minute => none.try_minutes(count),
            Unit::Hour => none.try_hours(count),
            Unit::Day => none.try_days(count),
            Unit::Week => none.try_weeks(count),
            Unit::Month => none.try_months(count),
            Unit::Year => none.try_years(count),
        }
        .ok()
    }
}

impl<'a> Calendar<'a> {
    pub(super) fn new(now: &'a Zoned) -> Self {
        Self { now }
    }

    pub(super) fn today(&self) -> Date {
        self.now.date()
    }

    pub(super) fn now(&self) -> Timestamp {
        moment(self.now)
    }

    /// The moment a wall clock of this zone shows `clock`.
    pub(super) fn at(&self, clock: jiff::civil::DateTime) -> Option<Timestamp> {
        clock.to_zoned(self.now.time_zone().clone()).ok().map(|zoned| moment(&zoned))
    }

    pub(super) fn days(&self, first: Date, end: Date) -> Option<Span> {
        Some(Span { from: self.at(first.into())?, to: self.at(end.into())? })
    }

    pub(super) fn day(&self, date: Date) -> Option<Span> {
        self.days(date, date.tomorrow().ok()?)
    }

    /// The hours `from..to` of a day; hours past 24 reach into the next day.
    pub(super) fn hours(&self, date: Date, (from, to): (i8, i8)) -> Option<Span> {
        let at = |hour: i8| {
            let date = if hour < 24 { date } else { date.tomorrow().ok()? };
            self.at(date.at(hour % 24, 0, 0, 0))
        };
        Some(Span { from: at(from)?, to: at(to)? })
    }

    /// The day that many days from today, or before it when negative.
    pub(super) fn day_from_today(&self, days: i64) -> Option<Date> {
        move_by(self.today(), days, Unit::Day)
    }

    /// The latest such weekday before today.
    pub(super) fn past_weekday(&self, weekday: Weekday) -> Option<Date> {
        let since = i64::from(weekday.until(self.today().weekday()));
        self.day_from_today(-if since == 0 { 7 } else { since })
    }

    /// The Monday that many weeks before this week's.
    pub(super) fn monday(&self, weeks_back: i64) -> Option<Date> {
        let days = i64::from(self.today().weekday().to_monday_zero_offset());
        self.day_from_today(-days - 7 * weeks_back)
    }

    /// The calendar week, month or year that many before the current one; nothing for shorter units.
    pub(super) fn period(&self, unit: Unit, back: i64) -> Option<Span> {
        let first = match unit {
            Unit::Week => self.monday(back)?,
            Unit::Month => move_by(self.today().first_of_month(), -back, unit)?,
            Unit::Year => move_by(self.today().first_of_year(), -back, unit)?,
            Unit::Day | Unit::Minute | Unit::Hour => return None,
        };
        self.days(first, move_by(first, 1, unit)?)
    }

    /// Saturday and Sunday: the latest that have begun, or with `over` the latest that have passed.
    pub(super) fn weekend(&self, over: bool) -> Option<Span> {
        let is_weekend = self.today().weekday().to_monday_zero_offset() >= 5;
        let monday = self.monday(i64::from(over || !is_weekend))?;
        self.days(move_by(monday, 5, Unit::Day)?, move_by(monday, 7, Unit::Day)?)
    }

    /// The months `first..=last` that begin in `year`; a `last` before `first` is in the next year.
    pub(super) fn months(&self, year: i16, first: i8, last: i8) -> Option<Span> {
        let start = Date::new(year, first, 1).ok()?;
        self.days(start, move_by(start, i64::from((last - first).rem_euclid(12)) + 1, Unit::Month)?)
    }

    pub(super) fn year(&self, year: i16) -> Option<Span> {
        self.months(year, 1, 12)
    }

    pub(super) fn date(&self, year: i16, month: i8, day: i8) -> Option<Span> {
        self.day(Date::new(year, month, day).ok()?)
    }

    /// The latest occurrence of what returns every year, that has begun by now.
    pub(super) fn latest(&self, when: When) -> Option<Span> {
        self.years_back(when).find(|span| span.from <= self.now())
    }

    /// The latest occurrence of what returns every year, that has passed by now.
    pub(super) fn latest_over(&self, when: When) -> Option<Span> {
        self.years_back(when).find(|span| span.to <= self.now())
    }

    /// The one that is now, or else the one that begins in this year.
    pub(super) fn this_years(&self, when: When) -> Option<Span> {
        self.years_back(when)
            .take(2)
            .find(|span| span.contains(self.now()))
            .or_else(|| self.in_year(when, self.today().year()))
    }

    /// From that long ago until now; whole days, today included, when the unit is a day or longer.
    pub(super) fn trailing(&self, count: Count, unit: Unit) -> Option<Span> {
        if unit.is_clock() {
            return Some(Span { from: self.moment_ago(count.most, unit)?, to: self.now() });
        }
        self.days(move_by(self.today(), -count.most, unit)?, self.today().tomorrow().ok()?)
    }

    /// What "three weeks ago" may mean: half a unit to either side, and the very day for days.
    pub(super) fn around(&self, count: Count, unit: Unit) -> Option<Span> {
        let (from, _) = self.vicinity(count.most, unit)?;
        let (_, to) = self.vicinity(count.least, unit)?;
        Some(Span { from, to })
    }

    /// Exactly that long ago: a moment for minutes and hours, a day for longer units.
    pub(super) fn exactly(&self, count: Count, unit: Unit) -> Option<Span> {
        if unit.is_clock() {
            return Some(Span { from: self.moment_ago(count.most, unit)?, to: self.moment_ago(count.least, unit)? });
        }
        let first = move_by(self.today(), -count.most, unit)?;
        let last = move_by(self.today(), -count.least, unit)?;
        self.days(first, last.tomorrow().ok()?)
    }

    pub(super) fn moment_ago(&self, count: i64, unit: Unit) -> Option<Timestamp> {
        self.now.checked_sub(unit.times(count)?).ok().map(|zoned| moment(&zoned))
    }

    fn vicinity(&self, count: i64, unit: Unit) -> Option<(Timestamp, Timestamp)> {
        if unit.is_clock() {
            // People round minutes to fives.
            let half = if unit == Unit::Hour { 30 * MINUTE } else { 5 * MINUTE };
            let at = self.moment_ago(count, unit)?.as_millis();
            return Some((Timestamp::from_millis(at - half), Timestamp::from_millis(at + half)));
        }
        let date = move_by(self.today(), -count, unit)?;
        let (before, after, step) = match unit {
            Unit::Week => (3, 4, Unit::Day),
            Unit::Month => (15, 16, Unit::Day),
            Unit::Year => (6, 6, Unit::Month),
            Unit::Day | Unit::Minute | Unit::Hour => (0, 1, Unit::Day),
        };
        let span = self.days(move_by(date, -before, step)?, move_by(date, after, step)?)?;
        Some((span.from, span.to))
    }

    /// The occurrences of what returns every year, latest first; nine years always hold a 29 February.
    fn years_back(&self, when: When) -> impl Iterator<Item = Span> {
        let year = self.today().year();
        (0..9).filter_map(move |back| self.in_year(when, year - back))
    }

    fn in_year(&self, when: When, year: i16) -> Option<Span> {
        match when {
            When::Span(span) => Some(span),
            When::Months { first, last } => self.months(year, first, last),
            When::MonthDay { month, day } => self.date(year, month, day),
        }
    }
}

fn move_by(date: Date, count: i64, unit: Unit) -> Option<Date> {
    date.checked_add(unit.times(count)?).ok()
}

fn moment(zoned: &Zoned) -> Timestamp {
    Timestamp::from_millis(zoned.timestamp().as_millisecond())
}
