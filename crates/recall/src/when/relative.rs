//! Parses phrases relative to now: "yesterday", "two weeks ago", "last Monday", "this morning".

use jiff::civil::Weekday;

use super::TimePhrase;
use super::calendar::{CountRange, TimeUnit};
use super::date::{MonthCertainty, parse_month, parse_season};
use super::phrase::{ParsedPhrase, PhraseMatch, TimeSentence, span_match};

/// The word before a unit: "last week" is the calendar week, "the past week" the seven days up to now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Determiner {
    Last,
    Past,
    This,
}

const NUMBER_WORDS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

impl TimeSentence<'_> {
    pub(super) fn relative(&self, at: usize) -> PhraseMatch {
        self.named_day(at)
            .or_else(|| self.ago(at))
            .or_else(|| self.determined_phrase(at))
            .or_else(|| self.before_last(at))
            .or_else(|| self.weekdays_ago(at))
            .or_else(|| self.weekday_phrase(at))
            .or_else(|| self.the_weekend(at))
    }

    /// "3 days", "a couple of weeks", "an hour".
    pub(super) fn amount(&self, at: usize) -> Option<(usize, CountRange, TimeUnit)> {
        if let Some((count, unit)) = parse_compact(self.word_at(at)) {
            return Some((at + 1, CountRange { least: count, most: count }, unit));
        }
        let (end, count) = self.count(at)?;
        Some((end + 1, count, parse_unit(self.adjacent_word(end))?))
    }

    pub(super) fn count(&self, at: usize) -> Option<(usize, CountRange)> {
        let article = usize::from(self.word_at(at) == "a");
        let vague = if article == 1 { self.adjacent_word(at + 1) } else { self.word_at(at) };
        let (least, most) = match vague {
            "couple" => (2, 3),
            "few" => (2, 5),
            "several" => (3, 7),
            _ => {
                let count = parse_count(self.word_at(at))?;
                return Some((at + 1, CountRange { least: count, most: count }));
            }
        };
        let end = at + article + 1;
        Some((end + usize::from(self.adjacent_word(end) == "of"), CountRange { least, most }))
    }

    fn ago(&self, at: usize) -> PhraseMatch {
        let (end, count, unit) = self.amount_ago(at)?;
        // "Two weeks ago on Tuesday".
        let on = end + usize::from(self.adjacent_word_past_comma(end) == "on");
        if !self.adjacent_word_past_comma(on).is_empty()
            && let Some((weekday, true)) = weekday(self.word_at(on))
            && let Some(date) = self.calendar.weekday_ago(weekday, count.most, unit)
        {
            return self.day_or_part(on + 1, date);
        }
        Some((end, ParsedPhrase::Ago(count, unit)))
    }

    /// "3 days ago", "a week back".
    fn amount_ago(&self, at: usize) -> Option<(usize, CountRange, TimeUnit)> {
        let (end, count, unit) = self.amount(at)?;
        matches!(self.adjacent_word(end), "ago" | "back").then_some((end + 1, count, unit))
    }

    /// Today, yesterday and parts of those days.
    fn named_day(&self, at: usize) -> PhraseMatch {
        let calendar = self.calendar;
        let start = at + usize::from(self.word_at(at) == "the" && !self.adjacent_word(at + 1).is_empty());
        if self.word_at(start) == "day"
            && self.adjacent_word(start + 1) == "before"
            && self.adjacent_word(start + 2) == "yesterday"
        {
            return span_match(start + 3, calendar.day(calendar.day_from_today(-2)?));
        }
        if self.has_words(start, &["other", "day"]) && start > at {
            return span_match(start + 2, calendar.days(calendar.day_from_today(-7)?, calendar.today()));
        }
        match self.word_at(at) {
            "today" => span_match(at + 1, calendar.day(calendar.today())),
            "tonight" => span_match(at + 1, calendar.hours(calendar.today(), NIGHT_HOURS)),
            "yesterday" => {
                let yesterday = calendar.day_from_today(-1)?;
                match part_of_day(self.adjacent_word(at + 1)) {
                    Some(part) => span_match(at + 2, calendar.hours(yesterday, part)),
                    None => span_match(at + 1, calendar.day(yesterday)),
                }
            }
            _ => None,
        }
    }

    /// A phrase that starts with "last", "past" or "this".
    fn determined_phrase(&self, at: usize) -> PhraseMatch {
        let (which, at) = match self.word_at(at) {
            "this" if matches!(self.adjacent_word(at + 1), "past" | "last") => (Determiner::Past, at + 1),
            "this" | "current" => (Determiner::This, at),
            "last" | "previous" => (Determiner::Last, at),
            "past" => (Determiner::Past, at),
            _ => return None,
        };
        let noun = at + 1;
        if self.adjacent_word(noun).is_empty() {
            return None;
        }
        if which != Determiner::This
            && let Some((end, count, unit)) = self.amount(noun)
        {
            return span_match(end, self.calendar.until_now(count, unit));
        }
        self.determined_part(which, noun)
            .or_else(|| self.determined_unit(which, noun))
            .or_else(|| self.determined_weekday(which, noun))
            .or_else(|| self.determined_season(which, noun))
            .or_else(|| self.determined_month(which, noun))
    }

    /// "This morning", "last night".
    fn determined_part(&self, which: Determiner, noun: usize) -> PhraseMatch {
        let part = part_of_day(self.word_at(noun))?;
        let days = match (which, self.word_at(noun)) {
            (Determiner::This, _) => 0,
            (Determiner::Last, "night" | "evening") => -1,
            _ => return None,
        };
        span_match(noun + 1, self.calendar.hours(self.calendar.day_from_today(days)?, part))
    }

    fn determined_unit(&self, which: Determiner, noun: usize) -> PhraseMatch {
        if self.word_at(noun) == "weekend" {
            return span_match(noun + 1, self.calendar.weekend(which == Determiner::Last));
        }
        let once = CountRange::ONE;
        let unit = match self.word_at(noun) {
            "hour" => TimeUnit::Hour,
            "day" => TimeUnit::Day,
            "week" => TimeUnit::Week,
            "month" => TimeUnit::Month,
            "year" => TimeUnit::Year,
            _ => return None,
        };
        match (which, unit) {
            (Determiner::This, TimeUnit::Hour | TimeUnit::Day) => None,
            (Determiner::This, _) => span_match(noun + 1, self.calendar.period(unit, 0)),
            (Determiner::Last, TimeUnit::Week | TimeUnit::Month | TimeUnit::Year) => {
                span_match(noun + 1, self.calendar.period(unit, 1))
            }
            _ => span_match(noun + 1, self.calendar.until_now(once, unit)),
        }
    }

    fn determined_weekday(&self, which: Determiner, noun: usize) -> PhraseMatch {
        let weekday = self.weekday_name(noun)?;
        let date = match which {
            Determiner::This => self.calendar.monday(0)?.checked_add(days_after_monday(weekday)).ok()?,
            Determiner::Last | Determiner::Past => self.calendar.past_weekday(weekday)?,
        };
        self.day_or_part(noun + 1, date)
    }

    fn determined_season(&self, which: Determiner, noun: usize) -> PhraseMatch {
        let when = parse_season(self.word_at(noun))?;
        self.recurring_phrase(which, noun + 1, when)
    }

    fn determined_month(&self, which: Determiner, noun: usize) -> PhraseMatch {
        let (number, name) = parse_month(self.word_at(noun))?;
        // "This may fail" and "the last may fail" are not about months.
        let needs_capital = match name {
            MonthCertainty::Certain => false,
            MonthCertainty::AlsoVerb => which == Determiner::This || self.previous_word(noun - 1) == "the",
            MonthCertainty::Short => true,
        };
        if needs_capital && !self.is_capitalized(noun) && !self.is_whole_value {
            return None;
        }
        self.recurring_phrase(which, noun + 1, TimePhrase::Months { first: number, last: number })
    }

    fn recurring_phrase(&self, which: Determiner, end: usize, when: TimePhrase) -> PhraseMatch {
        let found = match which {
            Determiner::This => self.calendar.current_or_this_year(when),
            Determiner::Last | Determiner::Past => self.calendar.latest_finished(when),
        };
        span_match(end, found)
    }

    /// "The week before last".
    fn before_last(&self, at: usize) -> PhraseMatch {
        let unit = parse_unit(self.word_at(at))?;
        let is_match = self.adjacent_word(at + 1) == "before" && self.adjacent_word(at + 2) == "last";
        if is_match { span_match(at + 3, self.calendar.period(unit, 2)) } else { None }
    }

    /// "On Tuesday": the latest one before today, unless a date or a week follows.
    fn weekday_phrase(&self, at: usize) -> PhraseMatch {
        let weekday = self.weekday_name(at)?;
        if matches!(self.previous_word(at), "next" | "every" | "each" | "coming") {
            return None;
        }
        if !self.adjacent_word_past_comma(at + 1).is_empty()
            && let Some(dated) = self.full_date(at + 1)
        {
            return Some(dated);
        }
        if self.has_words(at + 1, &["before", "last"]) && !self.adjacent_word(at + 1).is_empty() {
            return self.day_or_part(at + 3, self.calendar.weekday_back(weekday, 2)?);
        }
        // "The Friday before 20 May" is not the latest Friday, and a Friday before the release is unknown.
        if matches!(self.adjacent_word(at + 1), "before" | "after") && self.full_date(at + 2).is_some() {
            return None;
        }
        let of = at + 1 + usize::from(self.adjacent_word(at + 1) == "of");
        if self.adjacent_word(of + 1) == "week"
            && let Some(weeks) = ["this", "last"].iter().position(|which| *which == self.adjacent_word(of))
        {
            let date = self.calendar.monday(weeks as i64)?.checked_add(days_after_monday(weekday)).ok()?;
            return span_match(of + 2, self.calendar.day(date));
        }
        // "Wednesday two months ago", "Friday the week before last".
        if !self.adjacent_word_past_comma(at + 1).is_empty()
            && let Some((end, count, unit)) = self.amount_ago(at + 1)
            && let Some(date) = self.calendar.weekday_ago(weekday, count.most, unit)
        {
            return span_match(end, self.calendar.day(date));
        }
        let the = of + usize::from(self.adjacent_word(of) == "the");
        if ["week", "before", "last"].iter().enumerate().all(|(place, word)| self.adjacent_word(the + place) == *word) {
            return span_match(the + 3, self.calendar.day(self.calendar.weekday_ago(weekday, 2, TimeUnit::Week)?));
        }
        self.day_or_part(at + 1, self.calendar.past_weekday(weekday)?)
    }

    /// "Two Wednesdays ago".
    fn weekdays_ago(&self, at: usize) -> PhraseMatch {
        let (end, count) = self.count(at)?;
        let (weekday, true) = weekday(self.adjacent_word(end).strip_suffix('s')?)? else { return None };
        let is_match = count.least == count.most && matches!(self.adjacent_word(end + 1), "ago" | "back");
        if is_match { self.day_or_part(end + 2, self.calendar.weekday_back(weekday, count.most)?) } else { None }
    }

    fn day_or_part(&self, at: usize, date: jiff::civil::Date) -> PhraseMatch {
        match part_of_day(self.adjacent_word(at)) {
            Some(part) => span_match(at + 1, self.calendar.hours(date, part)),
            None => span_match(at, self.calendar.day(date)),
        }
    }

    /// A full name always counts; "sat" and "sun" only where no other meaning is likely.
    pub(super) fn weekday_name(&self, at: usize) -> Option<Weekday> {
        let (weekday, is_full) = weekday(self.word_at(at))?;
        let is_plain =
            self.is_capitalized(at) && matches!(self.previous_word(at), "on" | "last" | "this" | "past" | "since");
        (is_full || is_plain || self.is_whole_value).then_some(weekday)
    }

    fn the_weekend(&self, at: usize) -> PhraseMatch {
        let is_match = self.word_at(at) == "weekend"
            && (self.is_whole_value
                || matches!(self.governor(at), "over" | "on" | "at" | "during" | "since" | "from")
                || matches!(self.governor(at), "after" | "before" | "till" | "until"));
        if is_match { span_match(at + 1, self.calendar.weekend(false)) } else { None }
    }
}

const NIGHT_HOURS: (i8, i8) = (18, 30);

fn part_of_day(word: &str) -> Option<(i8, i8)> {
    Some(match word {
        "morning" => (0, 12),
        "afternoon" => (12, 18),
        "evening" => (17, 24),
        "night" => NIGHT_HOURS,
        _ => return None,
    })
}

fn days_after_monday(weekday: Weekday) -> jiff::Span {
    jiff::Span::new().days(i64::from(weekday.to_monday_zero_offset()))
}

fn parse_count(word: &str) -> Option<i64> {
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = NUMBER_WORDS.iter().position(|number| *number == word).map(|place| place as i64 + 1);
    named.or_else(|| parse_digits(word))
}

fn parse_digits(word: &str) -> Option<i64> {
    // `parse` would also accept a sign.
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

pub(super) fn parse_unit(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "minute" | "minutes" | "min" | "mins" => TimeUnit::Minute,
        "hour" | "hours" | "hr" | "hrs" => TimeUnit::Hour,
        "day" | "days" => TimeUnit::Day,
        "week" | "weeks" => TimeUnit::Week,
        "month" | "months" => TimeUnit::Month,
        "year" | "years" => TimeUnit::Year,
        _ => return None,
    })
}

/// `30d`, `12h`, `90m`, `2w`.
fn parse_compact(word: &str) -> Option<(i64, TimeUnit)> {
    let split = word.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, suffix) = word.split_at(split);
    let unit = match suffix {
        "m" | "min" => TimeUnit::Minute,
        "h" | "hr" => TimeUnit::Hour,
        "d" => TimeUnit::Day,
        "w" => TimeUnit::Week,
        "mo" => TimeUnit::Month,
        "y" | "yr" => TimeUnit::Year,
        _ => return None,
    };
    Some((number.parse().ok()?, unit))
}

/// The weekday, and whether its name was written in full.
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
