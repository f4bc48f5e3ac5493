//! Phrases with a place in the calendar: "7 May 2023", "in March", "summer 2023", "2023-05-07", "in 2024".

use jiff::civil::Date;

use super::When;
use super::phrase::{Found, Phrase, Sentence, span};
use super::token::Gap;

/// How much a word that may name a month tells by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Month {
    /// "October".
    Certain,
    /// "May", "march".
    AlsoVerb,
    /// "Dec", "sep".
    Short,
}

/// Words after which a number is not a year: "port 2024", "line 2024".
const COUNTERS: &str = "address code column ecmascript edition error es exit height http id issue limit line lines max \
     min number pid port pr process release rfc row server size status studio timeout version width";

/// Words that make the number before them a size: "2048 bytes".
const MEASURES: &str = "b bit bits byte bytes characters chars columns commits days dimensions dims entries errors \
     files gb gib hours items iterations kb kib lines mb messages mib milliseconds minutes ms ns pixels px records \
     requests rows s seconds sessions tests threads times tokens warnings words";

impl Sentence<'_> {
    pub(super) fn absolute(&self, at: usize) -> Found {
        self.iso(at)
            .or_else(|| self.full_date(at))
            .or_else(|| self.month_and_year(at))
            .or_else(|| self.bare_month(at))
            .or_else(|| self.season(at))
            .or_else(|| self.bare_year(at))
    }

    /// A month with a day, with or without a year.
    pub(super) fn full_date(&self, at: usize) -> Found {
        self.month_first(at).or_else(|| self.day_first(at))
    }

    /// `2023-05-07`, `2023/05/07`, `2023-05`, and the day of `2023-05-07T10:00:00Z`.
    fn iso(&self, at: usize) -> Found {
        let word = self.word(at);
        let (date, time) = word.split_once('t').unwrap_or((word, ""));
        let has_time = date != word;
        // As a value, a time that the general parsers refused is a mistake.
        if has_time && (self.is_value || !time.starts_with(|letter: char| letter.is_ascii_digit())) {
            return None;
        }
        let separator = if date.contains('/') { '/' } else { '-' };
        let mut parts = date.split(separator);
        let year = fixed(parts.next()?, 4).filter(|year| is_year(*year))?;
        let month = fixed(parts.next()?, 2)? as i8;
        let (day, rest) = (parts.next(), parts.next());
        match day {
            _ if rest.is_some() => None,
            None if separator == '-' && !has_time => span(at + 1, self.calendar.months(year, month, month)),
            None => None,
            Some(day) => span(at + 1, self.calendar.date(year, month, fixed(day, 2)? as i8)),
        }
    }

    /// "May 7th, 2023", "May 7".
    fn month_first(&self, at: usize) -> Found {
        let (month, name) = month(self.word(at))?;
        let the = usize::from(self.next(at + 1) == "the");
        let (day, is_ordinal) = day(self.next(at + 1 + the)).filter(|(_, is_ordinal)| *is_ordinal || the == 0)?;
        let end = at + 2 + the;
        if let Some((end, year)) = self.year_after(end) {
            return span(end, self.calendar.date(year, month, day));
        }
        let ends = end == self.len();
        let is_sure = name == Month::Certain || self.is_capital(at) || is_ordinal;
        if is_sure || ends || is_preposition(self.governor(at)) { month_day(end, month, day) } else { None }
    }

    /// "7 May 2023", "the 7th of May".
    fn day_first(&self, at: usize) -> Found {
        let (day, is_ordinal) = day(self.word(at))?;
        let of = usize::from(self.next(at + 1) == "of");
        let name_at = at + 1 + of;
        let (month, name) = month(self.next(name_at))?;
        if let Some((end, year)) = self.year_after(name_at + 1) {
            return span(end, self.calendar.date(year, month, day));
        }
        let is_sure = name == Month::Certain || self.is_capital(name_at) || is_ordinal || of == 1;
        if is_sure || is_preposition(self.governor(at)) || self.is_value {
            month_day(name_at + 1, month, day)
        } else {
            None
        }
    }

    /// "March 2024", "May of last year".
    fn month_and_year(&self, at: usize) -> Found {
        let (month, _) = month(self.word(at))?;
        let (end, year) = self.year_after(at + 1)?;
        span(end, self.calendar.months(year, month, month))
    }

    /// "In March": that month of any year.
    fn bare_month(&self, at: usize) -> Found {
        let (number, name) = month(self.word(at))?;
        let governor = self.governor(at);
        let is_capital = self.is_capital(at);
        let joins_month = matches!(governor, "and" | "or" | "to") && at >= 2 && month(self.word(at - 2)).is_some();
        let is_placed = is_preposition(governor) || joins_month || matches!(self.before(at), "early" | "mid" | "late");
        let is_meant = match name {
            Month::Certain => true,
            Month::AlsoVerb => matches!(governor, "in" | "of" | "during") || (is_capital && is_placed),
            Month::Short => is_capital && is_placed,
        };
        (is_meant || self.is_value).then_some((at + 1, Phrase::Plain(When::Months { first: number, last: number })))
    }

    /// "Summer 2023", "in the summer". Northern months; the winter of a year begins in its December.
    fn season(&self, at: usize) -> Found {
        let when = season(self.word(at))?;
        if let Some((end, year)) = self.year_after(at + 1) {
            let When::Months { first, last } = when else { return None };
            return span(end, self.calendar.months(year, first, last));
        }
        let is_placed = matches!(self.governor(at), "in" | "during" | "over" | "since");
        (is_placed || self.is_value).then_some((at + 1, Phrase::Plain(when)))
    }

    /// "In 2024", and a year that stands alone. Sessions are not from the future, so that `2048` alone is a
    /// size; `2000` alone is a round number.
    fn bare_year(&self, at: usize) -> Found {
        let year = self.year_number(at)?;
        let before = at.checked_sub(1).map_or("", |at| self.word(at));
        let is_placed = governs_year(self.governor(at)) || matches!(self.before(at), "early" | "mid" | "late");
        let is_alone = (2001..=self.calendar.today().year().saturating_add(1)).contains(&year)
            && self.gap(at) != Gap::Symbol
            && !is_listed(before, COUNTERS);
        if is_placed || is_alone || self.is_value { span(at + 1, self.calendar.year(year)) } else { None }
    }

    /// The year that completes a month or season, and the word after it.
    fn year_after(&self, at: usize) -> Option<(usize, i16)> {
        let this = self.calendar.today().year();
        if !self.next_past_comma(at).is_empty()
            && let Some(year) = self.year_number(at)
        {
            return Some((at + 1, year));
        }
        let at = at + usize::from(self.next(at) == "of");
        match (self.next(at), self.next(at + 1)) {
            ("last", "year") => Some((at + 2, this - 1)),
            ("this", "year") => Some((at + 2, this)),
            (year, _) if !year.is_empty() => self.year_number(at).map(|year| (at + 1, year)),
            _ => None,
        }
    }

    fn year_number(&self, at: usize) -> Option<i16> {
        let year = fixed(self.word(at), 4).filter(|year| is_year(*year))?;
        (!is_listed(self.next(at + 1), MEASURES)).then_some(year)
    }
}

/// The months of a season in the north.
pub(super) fn season(word: &str) -> Option<When> {
    Some(match word {
        "spring" => When::Months { first: 3, last: 5 },
        "summer" => When::Months { first: 6, last: 8 },
        "autumn" | "fall" => When::Months { first: 9, last: 11 },
        "winter" => When::Months { first: 12, last: 2 },
        _ => return None,
    })
}

pub(super) fn month(word: &str) -> Option<(i8, Month)> {
    Some(match word {
        "january" => (1, Month::Certain),
        "february" => (2, Month::Certain),
        "march" => (3, Month::AlsoVerb),
        "april" => (4, Month::Certain),
        "may" => (5, Month::AlsoVerb),
        "june" => (6, Month::Certain),
        "july" => (7, Month::Certain),
        "august" => (8, Month::Certain),
        "september" => (9, Month::Certain),
        "october" => (10, Month::Certain),
        "november" => (11, Month::Certain),
        "december" => (12, Month::Certain),
        "jan" => (1, Month::Short),
        "feb" => (2, Month::Short),
        "mar" => (3, Month::Short),
        "apr" => (4, Month::Short),
        "jun" => (6, Month::Short),
        "jul" => (7, Month::Short),
        "aug" => (8, Month::Short),
        "sep" | "sept" => (9, Month::Short),
        "oct" => (10, Month::Short),
        "nov" => (11, Month::Short),
        "dec" => (12, Month::Short),
        _ => return None,
    })
}

fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "about" | "after" | "around" | "before" | "between" | "by" | "during" | "for" | "from" | "in" | "of" | "on"
    ) || matches!(word, "since" | "through" | "throughout" | "till" | "until")
}

/// "For" and "about" are left out: what follows them is more often a number than a year.
fn governs_year(word: &str) -> bool {
    matches!(word, "after" | "before" | "during" | "from" | "in" | "of" | "since" | "till" | "until")
}

/// The day of a month, and whether it was written as an ordinal.
fn day(word: &str) -> Option<(i8, bool)> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix));
    let digits = number.unwrap_or(word);
    let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let day = is_number.then(|| digits.parse().ok())??;
    (1..=31).contains(&day).then_some((day, number.is_some()))
}

fn month_day(end: usize, month: i8, day: i8) -> Found {
    // A leap year has every day that any year has.
    Date::new(2024, month, day).ok().map(|_| (end, Phrase::Plain(When::MonthDay { month, day })))
}

/// A number of exactly so many digits.
fn fixed(word: &str, digits: usize) -> Option<i16> {
    let is_number = word.len() == digits && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| word.parse().ok())?
}

fn is_year(year: i16) -> bool {
    (1990..=2099).contains(&year)
}
