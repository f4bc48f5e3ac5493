//! Parses calendar phrases: "7 May 2023", "in March", "summer 2023", "2023-05-07", "in 2024".

use jiff::civil::Date;

use super::TimePhrase;
use super::phrase::{ParsedPhrase, PhraseMatch, TimeSentence, span_match};
use super::token::TokenGap;
use crate::word_list::is_listed;

/// How certain it is that a word names a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonthCertainty {
    /// "October".
    Certain,
    /// "May", "march".
    AlsoVerb,
    /// "Dec", "sep".
    Short,
}

/// Words after which a number is not a year: "port 2024", "line 2024".
const COUNTER_WORDS: &str = "address code column ecmascript edition error es exit height http id issue limit line lines max \
     min number pid port pr process release rfc row server size status studio timeout version width";

/// Words that make the number before them a quantity: "2048 bytes".
const MEASURE_WORDS: &str = "b bit bits byte bytes characters chars columns commits days dimensions dims entries errors \
     files gb gib hours items iterations kb kib lines mb messages mib milliseconds minutes ms ns pixels px records \
     requests rows s seconds sessions tests threads times tokens warnings words";

impl TimeSentence<'_> {
    pub(super) fn absolute(&self, at: usize) -> PhraseMatch {
        self.iso_date(at)
            .or_else(|| self.full_date(at))
            .or_else(|| self.month_and_year(at))
            .or_else(|| self.bare_month(at))
            .or_else(|| self.season_phrase(at))
            .or_else(|| self.bare_year(at))
    }

    /// A month with a day, with or without a year.
    pub(super) fn full_date(&self, at: usize) -> PhraseMatch {
        self.month_first(at).or_else(|| self.day_first(at))
    }

    /// `2023-05-07`, `2023/05/07`, `2023-05`, and the day of `2023-05-07T10:00:00Z`.
    fn iso_date(&self, at: usize) -> PhraseMatch {
        let word = self.word_at(at);
        let (date, time) = word.split_once('t').unwrap_or((word, ""));
        let has_time = date != word;
        // As a value, a time that the general parsers rejected is an error.
        if has_time && (self.is_whole_value || !time.starts_with(|letter: char| letter.is_ascii_digit())) {
            return None;
        }
        let separator = if date.contains('/') { '/' } else { '-' };
        let mut parts = date.split(separator);
        let year = parse_fixed_digits(parts.next()?, 4).filter(|year| is_year(*year))?;
        let month = parse_fixed_digits(parts.next()?, 2)? as i8;
        let (day, rest) = (parts.next(), parts.next());
        match day {
            _ if rest.is_some() => None,
            None if separator == '-' && !has_time => span_match(at + 1, self.calendar.months(year, month, month)),
            None => None,
            Some(day) => span_match(at + 1, self.calendar.date(year, month, parse_fixed_digits(day, 2)? as i8)),
        }
    }

    /// "May 7th, 2023", "May 7".
    fn month_first(&self, at: usize) -> PhraseMatch {
        let (month, name) = parse_month(self.word_at(at))?;
        let the = usize::from(self.adjacent_word(at + 1) == "the");
        let (day, is_ordinal) =
            parse_day(self.adjacent_word(at + 1 + the)).filter(|(_, is_ordinal)| *is_ordinal || the == 0)?;
        let end = at + 2 + the;
        if let Some((end, year)) = self.year_after(end) {
            return span_match(end, self.calendar.date(year, month, day));
        }
        let ends = end == self.len();
        let is_sure = name == MonthCertainty::Certain || self.is_capitalized(at) || is_ordinal;
        if is_sure || ends || is_preposition(self.governor(at)) { month_day(end, month, day) } else { None }
    }

    /// "7 May 2023", "the 7th of May".
    fn day_first(&self, at: usize) -> PhraseMatch {
        let (day, is_ordinal) = parse_day(self.word_at(at))?;
        let of = usize::from(self.adjacent_word(at + 1) == "of");
        let name_at = at + 1 + of;
        let (month, name) = parse_month(self.adjacent_word(name_at))?;
        if let Some((end, year)) = self.year_after(name_at + 1) {
            return span_match(end, self.calendar.date(year, month, day));
        }
        let is_sure = name == MonthCertainty::Certain || self.is_capitalized(name_at) || is_ordinal || of == 1;
        if is_sure || is_preposition(self.governor(at)) || self.is_whole_value {
            month_day(name_at + 1, month, day)
        } else {
            None
        }
    }

    /// "March 2024", "May of last year".
    fn month_and_year(&self, at: usize) -> PhraseMatch {
        let (month, _) = parse_month(self.word_at(at))?;
        let (end, year) = self.year_after(at + 1)?;
        span_match(end, self.calendar.months(year, month, month))
    }

    /// "In March": that month of any year.
    fn bare_month(&self, at: usize) -> PhraseMatch {
        let (number, name) = parse_month(self.word_at(at))?;
        let governor = self.governor(at);
        let is_capital = self.is_capitalized(at);
        let joins_month =
            matches!(governor, "and" | "or" | "to") && at >= 2 && parse_month(self.word_at(at - 2)).is_some();
        let is_up_to = governor == "to" && at >= 2 && (0..at).rev().take(3).any(|at| self.word_at(at) == "up");
        let is_placed = is_preposition(governor)
            || joins_month
            || is_up_to
            || matches!(self.previous_word(at), "early" | "mid" | "late");
        let is_meant = match name {
            MonthCertainty::Certain => true,
            MonthCertainty::AlsoVerb => matches!(governor, "in" | "of" | "during") || (is_capital && is_placed),
            MonthCertainty::Short => is_capital && is_placed,
        };
        (is_meant || self.is_whole_value)
            .then_some((at + 1, ParsedPhrase::Plain(TimePhrase::Months { first: number, last: number })))
    }

    /// "Summer 2023", "in the summer". Northern hemisphere; the winter of a year begins in its December.
    fn season_phrase(&self, at: usize) -> PhraseMatch {
        let when = parse_season(self.word_at(at))?;
        if let Some((end, year)) = self.year_after(at + 1) {
            let TimePhrase::Months { first, last } = when else { return None };
            return span_match(end, self.calendar.months(year, first, last));
        }
        let is_placed = matches!(self.governor(at), "in" | "during" | "over" | "since");
        (is_placed || self.is_whole_value).then_some((at + 1, ParsedPhrase::Plain(when)))
    }

    /// "In 2024", and a year on its own. Sessions are not from the future, so `2048` alone is a quantity; `2000` alone
    /// is a round number.
    fn bare_year(&self, at: usize) -> PhraseMatch {
        let year = self.year_number(at)?;
        let before = at.checked_sub(1).map_or("", |at| self.word_at(at));
        let is_placed = governs_year(self.governor(at)) || matches!(self.previous_word(at), "early" | "mid" | "late");
        let is_alone = (2001..=self.calendar.today().year().saturating_add(1)).contains(&year)
            && self.gap(at) != TokenGap::Symbol
            && !is_listed(before, COUNTER_WORDS);
        if is_placed || is_alone || self.is_whole_value { span_match(at + 1, self.calendar.year(year)) } else { None }
    }

    /// The year that completes a month or season, and the index of the word after it.
    fn year_after(&self, at: usize) -> Option<(usize, i16)> {
        let this = self.calendar.today().year();
        if !self.adjacent_word_past_comma(at).is_empty()
            && let Some(year) = self.year_number(at)
        {
            return Some((at + 1, year));
        }
        let at = at + usize::from(self.adjacent_word(at) == "of");
        match (self.adjacent_word(at), self.adjacent_word(at + 1)) {
            ("last", "year") => Some((at + 2, this - 1)),
            ("this", "year") => Some((at + 2, this)),
            (year, _) if !year.is_empty() => self.year_number(at).map(|year| (at + 1, year)),
            _ => None,
        }
    }

    fn year_number(&self, at: usize) -> Option<i16> {
        let year = parse_fixed_digits(self.word_at(at), 4).filter(|year| is_year(*year))?;
        (!is_listed(self.adjacent_word(at + 1), MEASURE_WORDS)).then_some(year)
    }
}

/// The months of a season in the northern hemisphere.
pub(super) fn parse_season(word: &str) -> Option<TimePhrase> {
    Some(match word {
        "spring" => TimePhrase::Months { first: 3, last: 5 },
        "summer" => TimePhrase::Months { first: 6, last: 8 },
        "autumn" | "fall" => TimePhrase::Months { first: 9, last: 11 },
        "winter" => TimePhrase::Months { first: 12, last: 2 },
        _ => return None,
    })
}

pub(super) fn parse_month(word: &str) -> Option<(i8, MonthCertainty)> {
    Some(match word {
        "january" => (1, MonthCertainty::Certain),
        "february" => (2, MonthCertainty::Certain),
        "march" => (3, MonthCertainty::AlsoVerb),
        "april" => (4, MonthCertainty::Certain),
        "may" => (5, MonthCertainty::AlsoVerb),
        "june" => (6, MonthCertainty::Certain),
        "july" => (7, MonthCertainty::Certain),
        "august" => (8, MonthCertainty::Certain),
        "september" => (9, MonthCertainty::Certain),
        "october" => (10, MonthCertainty::Certain),
        "november" => (11, MonthCertainty::Certain),
        "december" => (12, MonthCertainty::Certain),
        "jan" => (1, MonthCertainty::Short),
        "feb" => (2, MonthCertainty::Short),
        "mar" => (3, MonthCertainty::Short),
        "apr" => (4, MonthCertainty::Short),
        "jun" => (6, MonthCertainty::Short),
        "jul" => (7, MonthCertainty::Short),
        "aug" => (8, MonthCertainty::Short),
        "sep" | "sept" => (9, MonthCertainty::Short),
        "oct" => (10, MonthCertainty::Short),
        "nov" => (11, MonthCertainty::Short),
        "dec" => (12, MonthCertainty::Short),
        _ => return None,
    })
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "about" | "after" | "around" | "before" | "between" | "by" | "during" | "for" | "from" | "in" | "of" | "on"
    ) || matches!(word, "since" | "through" | "throughout" | "till" | "until")
}

/// "For" and "about" are excluded: a number is more likely after them than a year.
fn governs_year(word: &str) -> bool {
    matches!(word, "after" | "before" | "during" | "from" | "in" | "of" | "since" | "till" | "until")
}

/// The day of a month, and whether it was written as an ordinal.
pub(super) fn parse_day(word: &str) -> Option<(i8, bool)> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix));
    let digits = number.unwrap_or(word);
    let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let day = is_number.then(|| digits.parse().ok())??;
    (1..=31).contains(&day).then_some((day, number.is_some()))
}

fn month_day(end: usize, month: i8, day: i8) -> PhraseMatch {
    // 2024 is a leap year, so every day that exists in any year is valid.
    Date::new(2024, month, day).ok().map(|_| (end, ParsedPhrase::Plain(TimePhrase::MonthDay { month, day })))
}

/// A number with exactly `digits` digits.
fn parse_fixed_digits(word: &str, digits: usize) -> Option<i16> {
    let is_number = word.len() == digits && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| word.parse().ok())?
}

fn is_year(year: i16) -> bool {
    (1990..=2099).contains(&year)
}
