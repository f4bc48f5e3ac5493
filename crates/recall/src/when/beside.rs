//! Parses times before or after a date: "the week before 3 May", "two days after yesterday".

use super::TimePhrase;
use super::bounds::{TimeBounds, TimeMatch};
use super::calendar::{CountRange, TimeUnit};
use super::phrase::TimeSentence;
use super::relative::parse_unit;
use crate::word_list::is_listed;

/// Before or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TimeSide {
    Before,
    After,
}

/// Words that say which of several weeks is meant, and not how many.
const ORDINALS: &str = "second third fourth fifth sixth seventh eighth ninth tenth next previous every each \
     other another same this";

/// "The two weeks before", "three days after".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BesideAmount {
    pub(super) count: CountRange,
    pub(super) unit: TimeUnit,
    pub(super) side: TimeSide,
    /// "The two weeks before" are all of them; "two weeks before" is about that day.
    pub(super) is_whole: bool,
}

impl TimeSentence<'_> {
    /// The amount that begins at `at`, and the index of the word after "before" or "after".
    pub(super) fn beside_amount(&self, at: usize) -> Option<(usize, BesideAmount)> {
        let the = usize::from(self.word_at(at) == "the" && !self.adjacent_word(at + 1).is_empty());
        // "The last week before", "the first days after".
        let which = at + the;
        let is_ordered = the == 1 && matches!(self.adjacent_word(which), "last" | "final" | "first");
        let start = which + usize::from(is_ordered);
        let (end, count, unit, is_whole) = if let Some((end, count, unit)) = self.amount(start) {
            (end, count, unit, the == 1)
        } else {
            // "Week before 3 May" is as clear as with an article; "days before" is not.
            let word = self.word_at(start);
            let which = self.previous_word(start);
            let is_ordinal = is_listed(which, ORDINALS) || which.starts_with(|letter: char| letter.is_ascii_digit());
            let unit = parse_unit(word).filter(|_| !word.ends_with('s') && !is_ordinal)?;
            (start + 1, CountRange::ONE, unit, true)
        };
        let side = match self.adjacent_word(end) {
            "before" => TimeSide::Before,
            "after" => TimeSide::After,
            _ => return None,
        };
        Some((end + 1, BesideAmount { count, unit, side, is_whole }))
    }

    /// An amount of time before or after a date.
    pub(super) fn beside_date(&self, at: usize) -> Option<TimeMatch> {
        let (start, amount) = self.beside_amount(at)?;
        let anchor = self.anchor(start).filter(|anchor| self.is_clear(anchor))?;
        let span = self.calendar.beside(anchor.span, amount, self.is_whole_value)?;
        let bounds = TimeBounds { from: Some(span.from), to: Some(span.to), is_relative: anchor.is_relative };
        Some(TimeMatch {
            end: anchor.end,
            when: TimePhrase::Span(span),
            bounds: amount.is_whole.then_some(bounds),
            anchors: vec![anchor.when],
        })
    }

    /// "The Friday before 20 May".
    pub(super) fn weekday_beside(&self, at: usize) -> Option<TimeMatch> {
        let weekday = self.weekday_name(at)?;
        let side = match self.adjacent_word(at + 1) {
            "before" => TimeSide::Before,
            "after" => TimeSide::After,
            _ => return None,
        };
        let (end, when) = self.full_date(at + 2)?;
        let day = when.to_span(self.calendar)?;
        let found = (1..=7).find_map(|days| {
            let days = if side == TimeSide::Before { -days } else { days };
            let near = self.calendar.moved(day, days)?;
            (self.calendar.weekday_at(near.from)? == weekday).then_some(near)
        })?;
        let anchors = when.to_time_phrase(self.calendar).into_iter().collect();
        Some(TimeMatch { end, when: TimePhrase::Span(found), bounds: None, anchors })
    }
}
