//! Parses explicit limits: "since Monday", "before March", "between Monday and Wednesday".

use rethread_model::Timestamp;

use super::date::parse_day;
use super::phrase::TimeSentence;
use super::{TimePhrase, TimeSpan};
use crate::word_list::is_listed;

/// The limits that a text sets: results outside them do not answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeBounds {
    /// Inclusive start.
    pub from: Option<Timestamp>,
    /// Exclusive end.
    pub to: Option<Timestamp>,
    /// Whether they depend on today, like "since Monday", and not on a date.
    pub is_relative: bool,
}

/// A time phrase of a text.
#[derive(Clone, Debug)]
pub(super) struct TimeMatch {
    /// Index of the word after the phrase.
    pub(super) end: usize,
    pub(super) when: TimePhrase,
    pub(super) bounds: Option<TimeBounds>,
    /// The times from which `when` was derived: 3 May for "the week before 3 May".
    pub(super) anchors: Vec<TimePhrase>,
}

/// A time inside a longer phrase: the Monday of "since Monday".
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeAnchor {
    start: usize,
    pub(super) end: usize,
    pub(super) span: TimeSpan,
    pub(super) when: TimePhrase,
    pub(super) is_relative: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BoundWord {
    Since,
    After,
    Before,
    /// Includes the time that is named.
    Until,
    By,
}

/// Words that can follow a month or year without making it a part of a name, unlike "the May release".
pub(super) const FUNCTION_WORDS: &str = "about and are as at because but by did do does for had has have he how i if in is it my of on \
     only or our she so that the then they this to was we were what when where which who why with you";

impl TimeBounds {
    /// The part that both allow; `None` if there is none.
    pub(crate) fn intersect(self, other: Self) -> Option<Self> {
        let from = self.from.max(other.from);
        let to = [self.to, other.to].into_iter().flatten().min();
        let is_relative = self.is_relative && other.is_relative;
        let is_possible = from.zip(to).is_none_or(|(from, to)| from < to);
        is_possible.then_some(Self { from, to, is_relative })
    }
}

impl TimeSentence<'_> {
    /// The time phrase that begins at word `at`, with its limits; longer readings are tried first.
    pub(super) fn match_at(&self, at: usize) -> Option<TimeMatch> {
        self.bounded(at).or_else(|| self.range(at)).or_else(|| self.beside_date(at)).or_else(|| {
            self.weekday_beside(at).or_else(|| {
                let (end, phrase) = self.phrase_at(at)?;
                let when = phrase.to_time_phrase(self.calendar)?;
                Some(TimeMatch { end, when, bounds: None, anchors: Vec::new() })
            })
        })
    }

    /// The time at `at`, after an article.
    pub(super) fn anchor(&self, at: usize) -> Option<TimeAnchor> {
        if self.adjacent_word(at).is_empty() {
            return None;
        }
        let start = at + usize::from(self.word_at(at) == "the" && !self.adjacent_word(at + 1).is_empty());
        let relative = self.relative(start);
        let (end, phrase) = relative.or_else(|| self.absolute(start))?;
        let when = phrase.to_time_phrase(self.calendar)?;
        Some(TimeAnchor { start, end, span: phrase.to_span(self.calendar)?, when, is_relative: relative.is_some() })
    }

    /// Whether a time is not a part of a name: "Monday's deploy", "the May release".
    pub(super) fn is_clear(&self, anchor: &TimeAnchor) -> bool {
        if anchor.end > 0 && self.is_possessive(anchor.end - 1) {
            return false;
        }
        let next = self.adjacent_word(anchor.end);
        !self.is_bare_name(anchor) || next.is_empty() || is_listed(next, FUNCTION_WORDS)
    }

    /// A month or a year of one word.
    fn is_bare_name(&self, anchor: &TimeAnchor) -> bool {
        !anchor.is_relative && anchor.end == anchor.start + 1 && !self.word_at(anchor.start).contains('-')
    }

    fn is_bare_year(&self, anchor: &TimeAnchor) -> bool {
        self.is_bare_name(anchor) && self.word_at(anchor.start).bytes().all(|byte| byte.is_ascii_digit())
    }

    /// "Since Monday", "before March", "up to yesterday".
    fn bounded(&self, at: usize) -> Option<TimeMatch> {
        let (start, word) = match self.word_at(at) {
            "since" | "from" => (at + 1, BoundWord::Since),
            "after" => (at + 1, BoundWord::After),
            "before" => (at + 1, BoundWord::Before),
            "until" | "till" => (at + 1, BoundWord::Until),
            "up" if matches!(self.adjacent_word(at + 1), "to" | "until" | "till") => (at + 2, BoundWord::Until),
            "by" => (at + 1, BoundWord::By),
            // "On or before 3 March" includes that day.
            "on" if self.has_words(at, &["on", "or", "before"]) => (at + 3, BoundWord::Until),
            "on" if self.has_words(at, &["on", "or", "after"]) => (at + 3, BoundWord::Since),
            _ => return None,
        };
        if self.is_qualified(at) {
            return None;
        }
        let anchor = self.anchor(start).filter(|anchor| self.is_clear(anchor))?;
        let is_up_to = self.word_at(at) == "up";
        if (is_up_to && self.is_bare_year(&anchor)) || (word == BoundWord::By && !self.is_past_date(&anchor)) {
            return None;
        }
        // "From Monday" alone is a day; "from Monday on" is a start.
        let is_open = self.word_at(at) == "from";
        let starts = match self.adjacent_word(anchor.end) {
            // "From Monday on the parser" is about that day.
            "on" => self.adjacent_word(anchor.end + 1).is_empty(),
            word => matches!(word, "onward" | "onwards"),
        };
        if is_open && !starts {
            return None;
        }
        let (from, to) = match word {
            BoundWord::Since => (Some(anchor.span.from), None),
            BoundWord::After => (Some(anchor.span.to), None),
            BoundWord::Before => (None, Some(anchor.span.from)),
            BoundWord::Until | BoundWord::By => (None, Some(anchor.span.to)),
        };
        // A limit in the future limits nothing, and "before today" says little more than "so far".
        let today = self.calendar.day(self.calendar.today())?;
        if from.is_some_and(|from| from >= today.to) || (from.is_none() && anchor.span.from >= today.from) {
            return None;
        }
        let until = to.unwrap_or(today.to);
        let span = TimeSpan { from: from.unwrap_or(Timestamp::from_millis(0)).min(until), to: until };
        let bounds = TimeBounds { from, to, is_relative: anchor.is_relative };
        // "Since" has no anchor: the day itself is inside.
        let anchors = if word == BoundWord::Since { Vec::new() } else { vec![anchor.when] };
        let end = anchor.end + usize::from(is_open);
        Some(TimeMatch { end, when: TimePhrase::Span(span), bounds: Some(bounds), anchors })
    }

    /// Whether "by" before this time says when something had happened, and not who did it or when it is due.
    fn is_past_date(&self, anchor: &TimeAnchor) -> bool {
        self.is_about_past() && !self.is_bare_name(anchor) && anchor.span.to <= self.calendar.now()
    }

    /// "Between Monday and Wednesday", "from 3 May to 10 May 2023".
    pub(super) fn range(&self, at: usize) -> Option<TimeMatch> {
        let is_between = self.word_at(at) == "between";
        if !is_between && self.word_at(at) != "from" {
            return None;
        }
        if let Some(days) = self.day_range(at, is_between) {
            return Some(days);
        }
        let first = self.anchor(at + 1)?;
        let last = self.is_range_word(first.end, is_between).then(|| self.anchor(first.end + 1))??;
        // Years may be versions: "from 2021 to 2024".
        if !self.is_clear(&last) || self.is_bare_year(&first) || self.is_bare_year(&last) {
            return None;
        }
        let span = self.joined_span(&first, &last)?;
        let is_relative = first.is_relative && last.is_relative;
        let bounds = TimeBounds { from: Some(span.from), to: Some(span.to), is_relative };
        let anchors = vec![first.when, last.when];
        Some(TimeMatch { end: last.end, when: TimePhrase::Span(span), bounds: Some(bounds), anchors })
    }

    fn is_range_word(&self, at: usize, is_between: bool) -> bool {
        match self.adjacent_word_past_comma(at) {
            "and" => is_between,
            "to" | "until" | "till" | "through" => !is_between,
            _ => false,
        }
    }

    /// "Between 3 and 5 March", "from the 3rd to the 5th of March".
    fn day_range(&self, at: usize, is_between: bool) -> Option<TimeMatch> {
        let skip_the = |at: usize| at + usize::from(self.adjacent_word(at) == "the");
        let first_at = skip_the(at + 1);
        let (first, _) = parse_day(self.adjacent_word(first_at))?;
        let last_at = self.is_range_word(first_at + 1, is_between).then(|| skip_the(first_at + 2))?;
        let (last, _) = parse_day(self.adjacent_word(last_at))?;
        let (end, phrase) = self.full_date(last_at)?;
        let day = phrase.to_span(self.calendar)?;
        let days_before = i64::from(last.checked_sub(first).filter(|days| *days > 0)?);
        let span = TimeSpan { from: self.calendar.moved(day, -days_before)?.from, to: day.to };
        let bounds = TimeBounds { from: Some(span.from), to: Some(span.to), is_relative: false };
        let anchors = phrase.to_time_phrase(self.calendar).into_iter().collect();
        Some(TimeMatch { end, when: TimePhrase::Span(span), bounds: Some(bounds), anchors })
    }

    /// From the start of the first to the end of the last. One without a year is the nearest that fits the other.
    fn joined_span(&self, first: &TimeAnchor, last: &TimeAnchor) -> Option<TimeSpan> {
        let is_fixed = |when: TimePhrase| matches!(when, TimePhrase::Span(_));
        let (mut from, mut to) = (first.span, last.span);
        if is_fixed(first.when) && !is_fixed(last.when) {
            to = self.calendar.first_from(last.when, from.from)?;
        } else if !is_fixed(first.when) {
            from = self.calendar.latest_by(first.when, to.from)?;
        }
        let are_weekdays = [first, last].iter().all(|one| self.weekday_name(one.start).is_some());
        if to.from < from.from && are_weekdays {
            let later = self.calendar.moved(to, 7)?;
            if later.from <= self.calendar.now() {
                to = later;
            } else {
                from = self.calendar.moved(from, -7)?;
            }
        }
        (from.from < to.to).then_some(TimeSpan { from: from.from, to: to.to })
    }
}
