//! Phrases that count from now: "yesterday", "two weeks ago", "last Monday", "this morning".

use jiff::civil::Weekday;

use super::When;
use super::calendar::{Count, Unit};
use super::date::{Month, month, season};
use super::phrase::{Found, Phrase, Sentence, span};

/// The word before a unit: "last week" is the calendar's, "the past week" the seven days up to now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Last,
    Past,
    This,
}

const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

impl Sentence<'_> {
    pub(super) fn relative(&self, at: usize) -> Found {
        self.named_day(at)
            .or_else(|| self.ago(at))
            .or_else(|| self.determined(at))
            .or_else(|| self.before_last(at))
            .or_else(|| self.weekday(at))
            .or_else(|| self.the_weekend(at))
    }

    /// "3 days", "a couple of weeks", "an hour".
    pub(super) fn amount(&self, at: usize) -> Option<(usize, Count, Unit)> {
        if let Some((count, unit)) = compact(self.word(at)) {
            return Some((at + 1, Count { least: count, most: count }, unit));
        }
        let (end, count) = self.count(at)?;
        Some((end + 1, count, unit(self.next(end))?))
    }

    fn count(&self, at: usize) -> Option<(usize, Count)> {
        let article = usize::from(self.word(at) == "a");
        let vague = if article == 1 { self.next(at + 1) } else { self.word(at) };
        let (least, most) = match vague {
            "couple" => (2, 3),
            "few" => (2, 5),
            "several" => (3, 7),
            _ => {
                let count = exact_count(self.word(at))?;
                return Some((at + 1, Count { least: count, most: count }));
            }
        };
        let end = at + article + 1;
        Some((end + usize::from(self.next(end) == "of"), Count { least, most }))
    }

    fn ago(&self, at: usize) -> Found {
        let (end, count, unit) = self.amount(at)?;
        matches!(self.next(end), "ago" | "back").then_some((end + 1, Phrase::Ago(count, unit)))
    }

    /// Today, yesterday and the parts of them.
    fn named_day(&self, at: usize) -> Found {
        let calendar = self.calendar;
        let start = at + usize::from(self.word(at) == "the" && !self.next(at + 1).is_empty());
        if self.word(start) == "day" && self.next(start + 1) == "before" && self.next(start + 2) == "yesterday" {
            return span(start + 3, calendar.day(calendar.day_from_today(-2)?));
        }
        match self.word(at) {
            "today" => span(at + 1, calendar.day(calendar.today())),
            "tonight" => span(at + 1, calendar.hours(calendar.today(), NIGHT)),
            "yesterday" => {
                let yesterday = calendar.day_from_today(-1)?;
                match part_of_day(self.next(at + 1)) {
                    Some(part) => span(at + 2, calendar.hours(yesterday, part)),
                    None => span(at + 1, calendar.day(yesterday)),
                }
            }
            _ => None,
        }
    }

    /// What follows "last", "past" or "this".
    fn determined(&self, at: usize) -> Found {
        let (which, at) = match self.word(at) {
            "this" if matches!(self.next(at + 1), "past" | "last") => (Which::Past, at + 1),
            "this" | "current" => (Which::This, at),
            "last" | "previous" => (Which::Last, at),
            "past" => (Which::Past, at),
            _ => return None,
        };
        let noun = at + 1;
        if self.next(noun).is_empty() {
            return None;
        }
        if which != Which::This
            && let Some((end, count, unit)) = self.amount(noun)
        {
            return span(end, self.calendar.trailing(count, unit));
        }
        self.determined_part(which, noun)
            .or_else(|| self.determined_unit(which, noun))
            .or_else(|| self.determined_weekday(which, noun))
            .or_else(|| self.determined_season(which, noun))
            .or_else(|| self.determined_month(which, noun))
    }

    /// "This morning", "last night".
    fn determined_part(&self, which: Which, noun: usize) -> Found {
        let part = part_of_day(self.word(noun))?;
        let days = match (which, self.word(noun)) {
            (Which::This, _) => 0,
            (Which::Last, "night" | "evening") => -1,
            _ => return None,
        };
        span(noun + 1, self.calendar.hours(self.calendar.day_from_today(days)?, part))
    }

    fn determined_unit(&self, which: Which, noun: usize) -> Found {
        if self.word(noun) == "weekend" {
            return span(noun + 1, self.calendar.weekend(which == Which::Last));
        }
        let once = Count { least: 1, most: 1 };
        let unit = match self.word(noun) {
            "hour" => Unit::Hour,
            "day" => Unit::Day,
            "week" => Unit::Week,
            "month" => Unit::Month,
            "year" => Unit::Year,
            _ => return None,
        };
        match (which, unit) {
            (Which::This, Unit::Hour | Unit::Day) => None,
            (Which::This, _) => span(noun + 1, self.calendar.period(unit, 0)),
            (Which::Last, Unit::Week | Unit::Month | Unit::Year) => span(noun + 1, self.calendar.period(unit, 1)),
            _ => span(noun + 1, self.calendar.trailing(once, unit)),
        }
    }

    fn determined_weekday(&self, which: Which, noun: usize) -> Found {
        let weekday = self.weekday_name(noun)?;
        let date = match which {
            Which::This => self.calendar.monday(0)?.checked_add(days_after_monday(weekday)).ok()?,
            Which::Last | Which::Past => self.calendar.past_weekday(weekday)?,
        };
        self.day_or_part(noun + 1, date)
    }

    fn determined_season(&self, which: Which, noun: usize) -> Found {
        let when = season(self.word(noun))?;
        self.recurring(which, noun + 1, when)
    }

    fn determined_month(&self, which: Which, noun: usize) -> Found {
        let (number, name) = month(self.word(noun))?;
        // "This may fail" and "the last may fail" are not about months.
        let needs_capital = match name {
            Month::Certain => false,
            Month::AlsoVerb => which == Which::This || self.before(noun - 1) == "the",
            Month::Short => true,
        };
        if needs_capital && !self.is_capital(noun) && !self.is_value {
            return None;
        }
        self.recurring(which, noun + 1, When::Months { first: number, last: number })
    }

    fn recurring(&self, which: Which, end: usize, when: When) -> Found {
        let found = match which {
            Which::This => self.calendar.this_years(when),
            Which::Last | Which::Past => self.calendar.latest_over(when),
        };
        span(end, found)
    }

    /// "The week before last".
    fn before_last(&self, at: usize) -> Found {
        let unit = unit(self.word(at))?;
        let said = self.next(at + 1) == "before" && self.next(at + 2) == "last";
        if said { span(at + 3, self.calendar.period(unit, 2)) } else { None }
    }

    /// "On Tuesday": the latest one before today, unless a date or a week follows.
    fn weekday(&self, at: usize) -> Found {
        let weekday = self.weekday_name(at)?;
        if matches!(self.before(at), "next" | "every" | "each" | "coming") {
            return None;
        }
        if !self.next_past_comma(at + 1).is_empty()
            && let Some(dated) = self.full_date(at + 1)
        {
            return Some(dated);
        }
        // "The Friday before 20 May" is not the latest Friday; the date alone comes near enough.
        if matches!(self.next(at + 1), "before" | "after") && self.full_date(at + 2).is_some() {
            return None;
        }
        let of = at + 1 + usize::from(self.next(at + 1) == "of");
        if self.next(of + 1) == "week"
            && let Some(weeks) = ["this", "last"].iter().position(|which| *which == self.next(of))
        {
            let date = self.calendar.monday(weeks as i64)?.checked_add(days_after_monday(weekday)).ok()?;
            return span(of + 2, self.calendar.day(date));
        }
        self.day_or_part(at + 1, self.calendar.past_weekday(weekday)?)
    }

    fn day_or_part(&self, at: usize, date: jiff::civil::Date) -> Found {
        match part_of_day(self.next(at)) {
            Some(part) => span(at + 1, self.calendar.hours(date, part)),
            None => span(at, self.calendar.day(date)),
        }
    }

    /// A full name always counts; "sat" and "sun" only where no other word can stand.
    fn weekday_name(&self, at: usize) -> Option<Weekday> {
        let (weekday, is_full) = weekday(self.word(at))?;
        let is_plain = self.is_capital(at) && matches!(self.before(at), "on" | "last" | "this" | "past" | "since");
        (is_full || is_plain || self.is_value).then_some(weekday)
    }

    fn the_weekend(&self, at: usize) -> Found {
        let said = self.word(at) == "weekend"
            && (self.is_value || matches!(self.governor(at), "over" | "on" | "at" | "during" | "since" | "from"));
        if said { span(at + 1, self.calendar.weekend(false)) } else { None }
    }
}

const NIGHT: (i8, i8) = (18, 30);

fn part_of_day(word: &str) -> Option<(i8, i8)> {
    Some(match word {
        "morning" => (0, 12),
        "afternoon" => (12, 18),
        "evening" => (17, 24),
        "night" => NIGHT,
        _ => return None,
    })
}

fn days_after_monday(weekday: Weekday) -> jiff::Span {
    jiff::Span::new().days(i64::from(weekday.to_monday_zero_offset()))
}

fn exact_count(word: &str) -> Option<i64> {
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = NUMBERS.iter().position(|number| *number == word).map(|place| place as i64 + 1);
    named.or_else(|| digits(word))
}

fn digits(word: &str) -> Option<i64> {
    // The standard parser would also take a sign.
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "minute" | "minutes" | "min" | "mins" => Unit::Minute,
        "hour" | "hours" | "hr" | "hrs" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

/// `30d`, `12h`, `90m`, `2w`.
fn compact(word: &str) -> Option<(i64, Unit)> {
    let split = word.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, suffix) = word.split_at(split);
    let unit = match suffix {
        "m" | "min" => Unit::Minute,
        "h" | "hr" => Unit::Hour,
        "d" => Unit::Day,
        "w" => Unit::Week,
        "mo" => Unit::Month,
        "y" | "yr" => Unit::Year,
        _ => return None,
    };
    Some((number.parse().ok()?, unit))
}

/// The weekday, and whether the name was written in full.
fn weekday(word: &str) -> Option<(Weekday, bool)> {
    Some(match word {
        "monday" => (Weekday::Monday, true),
        "tuesday" => (Weekday::Tuesday, true),
        "wednesday" => (Weekday::Wednesday, true),
        "thursday" => (Weekday::Thursday, true),
        "friday" => (Weekday::Friday, true),
        "saturday" => (Weekday::Saturday, true),
        "sunday" => (Weekday::Sunday, true),
        "mon" => (Weekday::Monday, false),
        "tue" | "tues" => (Weekday::Tuesday, false),
        "wed" => (Weekday::Wednesday, false),
        "thu" | "thur" | "thurs" => (Weekday::Thursday, false),
        "fri" => (Weekday::Friday, false),
        "sat" => (Weekday::Saturday, false),
        "sun" => (Weekday::Sunday, false),
        _ => return None,
    })
}
