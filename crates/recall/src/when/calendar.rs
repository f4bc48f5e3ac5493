//! Turns days, weeks, months and years of one time zone into spans. Invalid dates give `None`, never a panic.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};
use rethread_model::Timestamp;

use super::beside::{BesideAmount, TimeSide};
use super::{TimePhrase, TimeSpan};

/// Calendar arithmetic relative to one moment and time zone.
pub(super) struct Calendar<'a> {
    now: &'a Zoned,
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TimeUnit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// A number of units; vague words such as "a few" give a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CountRange {
    pub(super) least: i64,
    pub(super) most: i64,
}

impl CountRange {
    pub(super) const ONE: Self = Self { least: 1, most: 1 };
}

const MINUTE_MILLIS: i64 = 60_000;

impl TimeUnit {
    /// Whether it has a fixed length, unlike calendar units.
    fn has_fixed_length(self) -> bool {
        matches!(self, TimeUnit::Minute | TimeUnit::Hour)
    }

    fn to_jiff_span(self, count: i64) -> Option<jiff::Span> {
        let none = jiff::Span::new();
        match self {
            TimeUnit::Minute => none.try_minutes(count),
            TimeUnit::Hour => none.try_hours(count),
            TimeUnit::Day => none.try_days(count),
            TimeUnit::Week => none.try_weeks(count),
            TimeUnit::Month => none.try_months(count),
            TimeUnit::Year => none.try_years(count),
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
        to_timestamp(self.now)
    }

    /// The moment when a wall clock in this zone shows `clock`.
    pub(super) fn at(&self, clock: jiff::civil::DateTime) -> Option<Timestamp> {
        clock.to_zoned(self.now.time_zone().clone()).ok().map(|zoned| to_timestamp(&zoned))
    }

    pub(super) fn days(&self, first: Date, end: Date) -> Option<TimeSpan> {
        Some(TimeSpan { from: self.at(first.into())?, to: self.at(end.into())? })
    }

    pub(super) fn day(&self, date: Date) -> Option<TimeSpan> {
        self.days(date, date.tomorrow().ok()?)
    }

    /// The hours `from..to` of a day; hours past 24 extend into the next day.
    pub(super) fn hours(&self, date: Date, (from, to): (i8, i8)) -> Option<TimeSpan> {
        let at = |hour: i8| {
            let date = if hour < 24 { date } else { date.tomorrow().ok()? };
            self.at(date.at(hour % 24, 0, 0, 0))
        };
        Some(TimeSpan { from: at(from)?, to: at(to)? })
    }

    /// The day `days` days after today, or before it if negative.
    pub(super) fn day_from_today(&self, days: i64) -> Option<Date> {
        add_units(self.today(), days, TimeUnit::Day)
    }

    /// The latest such weekday before today.
    pub(super) fn past_weekday(&self, weekday: Weekday) -> Option<Date> {
        let since = i64::from(weekday.until(self.today().weekday()));
        self.day_from_today(-if since == 0 { 7 } else { since })
    }

    /// The `count`-th such weekday before today, counted back from the latest.
    pub(super) fn weekday_back(&self, weekday: Weekday, count: i64) -> Option<Date> {
        add_units(self.past_weekday(weekday)?, 1_i64.checked_sub(count)?, TimeUnit::Week)
    }

    /// That weekday about so long ago: in the calendar week of that many weeks ago, or the nearest to the same day of an
    /// earlier month or year. `None` for units in which a weekday says nothing.
    pub(super) fn weekday_ago(&self, weekday: Weekday, count: i64, unit: TimeUnit) -> Option<Date> {
        let offset = i64::from(weekday.to_monday_zero_offset());
        match unit {
            TimeUnit::Week => add_units(self.monday(count)?, offset, TimeUnit::Day),
            TimeUnit::Month | TimeUnit::Year => {
                let near = add_units(self.today(), -count, unit)?;
                let ahead = i64::from(near.weekday().until(weekday));
                add_units(near, if ahead > 3 { ahead - 7 } else { ahead }, TimeUnit::Day)
            }
            TimeUnit::Day | TimeUnit::Minute | TimeUnit::Hour => None,
        }
    }

    /// The Monday `weeks_back` weeks before this week's.
    pub(super) fn monday(&self, weeks_back: i64) -> Option<Date> {
        let days = i64::from(self.today().weekday().to_monday_zero_offset());
        self.day_from_today(-days - 7 * weeks_back)
    }

    /// The calendar week, month or year `back` units before the current one; `None` for shorter units.
    pub(super) fn period(&self, unit: TimeUnit, back: i64) -> Option<TimeSpan> {
        let first = match unit {
            TimeUnit::Week => self.monday(back)?,
            TimeUnit::Month => add_units(self.today().first_of_month(), -back, unit)?,
            TimeUnit::Year => add_units(self.today().first_of_year(), -back, unit)?,
            TimeUnit::Day | TimeUnit::Minute | TimeUnit::Hour => return None,
        };
        self.days(first, add_units(first, 1, unit)?)
    }

    /// Saturday and Sunday: the latest that have begun, or with `over` the latest that are over.
    pub(super) fn weekend(&self, over: bool) -> Option<TimeSpan> {
        let is_weekend = self.today().weekday().to_monday_zero_offset() >= 5;
        let monday = self.monday(i64::from(over || !is_weekend))?;
        self.days(add_units(monday, 5, TimeUnit::Day)?, add_units(monday, 7, TimeUnit::Day)?)
    }

    /// The months `first..=last` that begin in `year`; a `last` before `first` is in the next year.
    pub(super) fn months(&self, year: i16, first: i8, last: i8) -> Option<TimeSpan> {
        let start = Date::new(year, first, 1).ok()?;
        self.days(start, add_units(start, i64::from((last - first).rem_euclid(12)) + 1, TimeUnit::Month)?)
    }

    pub(super) fn year(&self, year: i16) -> Option<TimeSpan> {
        self.months(year, 1, 12)
    }

    pub(super) fn date(&self, year: i16, month: i8, day: i8) -> Option<TimeSpan> {
        self.day(Date::new(year, month, day).ok()?)
    }

    /// The latest occurrence of a yearly time that has begun.
    pub(super) fn latest(&self, when: TimePhrase) -> Option<TimeSpan> {
        self.yearly_occurrences(when).find(|span| span.from <= self.now())
    }

    /// The latest occurrence of a yearly time that is over.
    pub(super) fn latest_finished(&self, when: TimePhrase) -> Option<TimeSpan> {
        self.yearly_occurrences(when).find(|span| span.to <= self.now())
    }

    /// The occurrence that includes now, else the one that begins this year.
    pub(super) fn current_or_this_year(&self, when: TimePhrase) -> Option<TimeSpan> {
        self.yearly_occurrences(when)
            .take(2)
            .find(|span| span.contains(self.now()))
            .or_else(|| self.in_year(when, self.today().year()))
    }

    /// From that long ago until now; whole days including today if the unit is a day or longer.
    pub(super) fn until_now(&self, count: CountRange, unit: TimeUnit) -> Option<TimeSpan> {
        if unit.has_fixed_length() {
            return Some(TimeSpan { from: self.moment_ago(count.most, unit)?, to: self.now() });
        }
        self.days(add_units(self.today(), -count.most, unit)?, self.today().tomorrow().ok()?)
    }

    /// The range meant by "three weeks ago": half a unit to either side, or the exact day for days.
    pub(super) fn approximately_ago(&self, count: CountRange, unit: TimeUnit) -> Option<TimeSpan> {
        let (from, _) = self.range_around(count.most, unit)?;
        let (_, to) = self.range_around(count.least, unit)?;
        Some(TimeSpan { from, to })
    }

    /// Exactly that long ago: a moment for minutes and hours, a day for longer units.
    pub(super) fn exactly_ago(&self, count: CountRange, unit: TimeUnit) -> Option<TimeSpan> {
        if unit.has_fixed_length() {
            return Some(TimeSpan {
                from: self.moment_ago(count.most, unit)?,
                to: self.moment_ago(count.least, unit)?,
            });
        }
        let first = add_units(self.today(), -count.most, unit)?;
        let last = add_units(self.today(), -count.least, unit)?;
        self.days(first, last.tomorrow().ok()?)
    }

    pub(super) fn moment_ago(&self, count: i64, unit: TimeUnit) -> Option<Timestamp> {
        self.now.checked_sub(unit.to_jiff_span(count)?).ok().map(|zoned| to_timestamp(&zoned))
    }

    fn range_around(&self, count: i64, unit: TimeUnit) -> Option<(Timestamp, Timestamp)> {
        if unit.has_fixed_length() {
            // People round minutes to multiples of five.
            let half = if unit == TimeUnit::Hour { 30 * MINUTE_MILLIS } else { 5 * MINUTE_MILLIS };
            let at = self.moment_ago(count, unit)?.as_millis();
            return Some((Timestamp::from_millis(at - half), Timestamp::from_millis(at + half)));
        }
        let span = self.around_date(add_units(self.today(), -count, unit)?, unit)?;
        Some((span.from, span.to))
    }

    /// Half a unit to either side of a date, or the day itself for days.
    fn around_date(&self, date: Date, unit: TimeUnit) -> Option<TimeSpan> {
        let (before, after, step) = match unit {
            TimeUnit::Week => (3, 4, TimeUnit::Day),
            TimeUnit::Month => (15, 16, TimeUnit::Day),
            TimeUnit::Year => (6, 6, TimeUnit::Month),
            TimeUnit::Day | TimeUnit::Minute | TimeUnit::Hour => (0, 1, TimeUnit::Day),
        };
        self.days(add_units(date, -before, step)?, add_units(date, after, step)?)
    }

    /// The time before or after another one: "the week before", "two days after". `is_exact` gives the very day.
    pub(super) fn beside(&self, anchor: TimeSpan, amount: BesideAmount, is_exact: bool) -> Option<TimeSpan> {
        let BesideAmount { count, unit, side, is_whole } = amount;
        let sign = if side == TimeSide::Before { -1 } else { 1 };
        if unit.has_fixed_length() {
            let far = |at| self.zoned(at)?.checked_add(unit.to_jiff_span(sign * count.most)?).ok();
            return Some(match side {
                TimeSide::Before => TimeSpan { from: to_timestamp(&far(anchor.from)?), to: anchor.from },
                TimeSide::After => TimeSpan { from: anchor.to, to: to_timestamp(&far(anchor.to)?) },
            });
        }
        let first = self.zoned(anchor.from)?.date();
        // A span ends where the next day begins; a moment ends within its day.
        let last = if anchor.from == anchor.to { first } else { self.last_day(anchor)? };
        let near = if side == TimeSide::Before { first } else { last };
        if !is_whole {
            let unit_around = if is_exact { TimeUnit::Day } else { unit };
            let around = |count: i64| self.around_date(add_units(near, sign * count, unit)?, unit_around);
            let (one, other) = (around(count.least)?, around(count.most)?);
            return Some(TimeSpan { from: one.from.min(other.from), to: one.to.max(other.to) });
        }
        let next = near.tomorrow().ok()?;
        match side {
            TimeSide::Before => {
                let span = self.days(add_units(near, -count.most, unit)?, near)?;
                // "The week before the release" includes its day up to the release; "the day before" does not.
                Some(if unit == TimeUnit::Day { span } else { TimeSpan { to: anchor.from, ..span } })
            }
            TimeSide::After => {
                let span = self.days(next, add_units(next, count.most, unit)?)?;
                Some(if unit == TimeUnit::Day { span } else { TimeSpan { from: anchor.to, ..span } })
            }
        }
    }

    /// The last day of which a span includes a part.
    fn last_day(&self, span: TimeSpan) -> Option<Date> {
        let last = Timestamp::from_millis(span.to.as_millis().checked_sub(1)?);
        Some(self.zoned(last)?.date())
    }

    /// The same span, moved by whole days.
    pub(super) fn moved(&self, span: TimeSpan, days: i64) -> Option<TimeSpan> {
        let move_one = |at| {
            let moved = self.zoned(at)?.checked_add(TimeUnit::Day.to_jiff_span(days)?).ok()?;
            Some(to_timestamp(&moved))
        };
        Some(TimeSpan { from: move_one(span.from)?, to: move_one(span.to)? })
    }

    /// The latest occurrence of a yearly time that begins at or before `by`.
    pub(super) fn latest_by(&self, when: TimePhrase, by: Timestamp) -> Option<TimeSpan> {
        let year = self.zoned(by)?.date().year();
        (0..9).filter_map(|back| self.in_year(when, year - back)).find(|span| span.from <= by)
    }

    /// The first occurrence of a yearly time that begins at or after `from`.
    pub(super) fn first_from(&self, when: TimePhrase, from: Timestamp) -> Option<TimeSpan> {
        let year = self.zoned(from)?.date().year();
        (0..9).filter_map(|ahead| self.in_year(when, year + ahead)).find(|span| span.from >= from)
    }

    pub(super) fn weekday_at(&self, at: Timestamp) -> Option<Weekday> {
        Some(self.zoned(at)?.date().weekday())
    }

    fn zoned(&self, at: Timestamp) -> Option<Zoned> {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(self.now.time_zone().clone()))
    }

    /// The occurrences of a yearly time, latest first; nine years always include a 29 February.
    fn yearly_occurrences(&self, when: TimePhrase) -> impl Iterator<Item = TimeSpan> {
        let year = self.today().year();
        (0..9).filter_map(move |back| self.in_year(when, year - back))
    }

    fn in_year(&self, when: TimePhrase, year: i16) -> Option<TimeSpan> {
        match when {
            TimePhrase::Span(span) => Some(span),
            TimePhrase::Months { first, last } => self.months(year, first, last),
            TimePhrase::MonthDay { month, day } => self.date(year, month, day),
        }
    }
}

fn add_units(date: Date, count: i64, unit: TimeUnit) -> Option<Date> {
    date.checked_add(unit.to_jiff_span(count)?).ok()
}

fn to_timestamp(zoned: &Zoned) -> Timestamp {
    Timestamp::from_millis(zoned.timestamp().as_millisecond())
}
