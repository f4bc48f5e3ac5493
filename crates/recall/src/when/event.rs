//! Parses events that stand for a time: "the week before the release", "since we switched to pnpm".
//!
//! Only clear wordings count, because most uses of "before" and "after" name no time. When the event happened is not
//! known here: the search looks it up.

use std::ops::Range;

use jiff::Zoned;
use rethread_model::Timestamp;

use super::beside::BesideAmount;
use super::bounds::{FUNCTION_WORDS, TimeBounds};
use super::calendar::Calendar;
use super::phrase::TimeSentence;
use super::token::TokenGap;
use super::{TimePhrase, TimeSpan, event_words::EventAction};
use crate::word_list::is_listed;

/// Maximum number of words that name an event.
const MAX_EVENT_WORDS: usize = 4;

/// An event that a text uses as a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPhrase {
    /// The event as typed: `the release`, `we switched to pnpm`.
    pub text: String,
    pub(crate) action: EventAction,
    /// The other words of its name, in lower case: `pnpm`, `2.0`.
    pub(crate) subject: Vec<String>,
    /// Whether it is written as a sentence: "we switched to pnpm". Such an event happened once.
    pub(crate) is_clause: bool,
    /// When it happened, if the text says so: January in "the release in January".
    pub(crate) time: Option<TimePhrase>,
    relation: EventRelation,
    /// Byte range of the whole phrase, from "the week" to the end of the event.
    pub(crate) place: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventRelation {
    Since,
    After,
    Before,
    Beside(BesideAmount),
}

/// The name of an event, without what relates a time to it.
struct EventName {
    end: usize,
    action: EventAction,
    subject: Vec<String>,
    is_clause: bool,
    time: Option<TimePhrase>,
}

/// Words of sentences about plans: the event may be one that has not happened yet.
const PLAN_WORDS: &str =
    "going left must need needed needs next plan planned planning remaining required shall should todo upcoming will";
/// Words of texts in which a release is not that of a program: "lock held after the release".
const RELEASED_THINGS: &str = "acquire acquired held lease lock locks mutex semaphore";

impl EventPhrase {
    /// The first event in a text that stands for a time.
    pub(crate) fn find(text: &str, now: &Zoned) -> Option<EventPhrase> {
        let calendar = Calendar::new(now);
        let sentence = TimeSentence::new(text, &calendar);
        if sentence.has_any_word(|word| is_listed(word, PLAN_WORDS)) {
            return None;
        }
        (0..sentence.len()).find_map(|at| sentence.event_phrase(text, at))
    }

    /// Whether the event that is meant may have happened at `at`.
    pub(crate) fn may_be_at(&self, at: Timestamp, now: &Zoned) -> bool {
        self.time.is_none_or(|time| time.contains(at, now.time_zone()))
    }

    /// The limits that it sets if the event happened at `at`.
    pub(crate) fn bounds(&self, at: Timestamp, now: &Zoned) -> Option<TimeBounds> {
        let (from, to) = match self.relation {
            EventRelation::Since | EventRelation::After => (Some(at), None),
            EventRelation::Before => (None, Some(at)),
            EventRelation::Beside(amount) => {
                let span = Calendar::new(now).beside(TimeSpan { from: at, to: at }, amount, false)?;
                (Some(span.from), Some(span.to))
            }
        };
        Some(TimeBounds { from, to, is_relative: true })
    }
}

impl TimeSentence<'_> {
    fn event_phrase(&self, text: &str, at: usize) -> Option<EventPhrase> {
        let (start, relation) = if let Some((start, amount)) = self.beside_amount(at) {
            (start, EventRelation::Beside(amount))
        } else {
            let relation = match self.word_at(at) {
                "since" => EventRelation::Since,
                "after" => EventRelation::After,
                "before" | "until" | "till" => EventRelation::Before,
                _ => return None,
            };
            if self.is_qualified(at) {
                return None;
            }
            (at + 1, relation)
        };
        if self.gap(start) != TokenGap::Space {
            return None;
        }
        let name = self.event_clause(start).or_else(|| self.event_noun(start))?;
        // "The checklist before the release" may be about the next one.
        let is_past = name.is_clause || relation != EventRelation::Before || self.is_about_past();
        let is_other =
            name.action == EventAction::Release && self.has_any_word(|word| is_listed(word, RELEASED_THINGS));
        let event = self.byte_range(start, name.end);
        (is_past && !is_other).then(|| EventPhrase {
            text: trimmed(text.get(event).unwrap_or_default()).to_owned(),
            action: name.action,
            subject: name.subject,
            is_clause: name.is_clause,
            time: name.time,
            relation,
            place: self.byte_range(at, name.end),
        })
    }

    /// "We switched to pnpm".
    fn event_clause(&self, at: usize) -> Option<EventName> {
        if !matches!(self.word_at(at), "we" | "i") {
            return None;
        }
        let action = EventAction::from_past_verb(self.adjacent_word(at + 1))?;
        let (end, subject) = self.subject_words(at + 2);
        let (end, time) = self.event_time(end);
        let is_named = !subject.is_empty() || action.is_one_of_a_kind();
        is_named.then_some(EventName { end, action, subject, is_clause: true, time })
    }

    /// "The release", "the database migration", "the switch to pnpm".
    fn event_noun(&self, at: usize) -> Option<EventName> {
        if !matches!(self.word_at(at), "the" | "our" | "last" | "latest") {
            return None;
        }
        let mut subject = Vec::new();
        for head in at + 1..=at + MAX_EVENT_WORDS {
            let word = self.adjacent_word(head);
            if let Some(action) = EventAction::from_noun(word) {
                let (mut end, time) = self.event_time(head + 1);
                if time.is_none() && matches!(self.adjacent_word(end), "to" | "of" | "from") {
                    let (after, more) = self.subject_words(end);
                    if !more.is_empty() {
                        subject.extend(more);
                        end = after;
                    }
                }
                let next = self.adjacent_word(end);
                // "The release notes" are not an event, and "the upgrade" alone may be any.
                let is_whole = next.is_empty() || is_listed(next, FUNCTION_WORDS);
                let is_named = !subject.is_empty() || action.is_one_of_a_kind();
                let is_event = is_whole && is_named && !self.is_possessive(end - 1);
                return is_event.then_some(EventName { end, action, subject, is_clause: false, time });
            }
            match word {
                "last" | "latest" | "recent" | "big" | "data" | "database" | "db" | "production" | "prod"
                | "schema" => {}
                "" | "first" | "second" | "previous" | "current" | "new" | "other" | "same" => return None,
                word if is_listed(word, FUNCTION_WORDS) => return None,
                word => subject.push(word.to_owned()),
            }
        }
        None
    }

    /// The time after an event, and the index of the word after it: "in January", "last week".
    fn event_time(&self, at: usize) -> (usize, Option<TimePhrase>) {
        let start = at + usize::from(matches!(self.adjacent_word(at), "in" | "on" | "of" | "from" | "during"));
        match self.anchor(start).filter(|anchor| self.is_clear(anchor)) {
            Some(anchor) => (anchor.end, Some(anchor.when)),
            None => (at, None),
        }
    }

    /// The content words from `at` on, up to the end of the phrase.
    fn subject_words(&self, at: usize) -> (usize, Vec<String>) {
        const JOINING: [&str; 9] = ["to", "of", "from", "the", "a", "an", "our", "all", "over"];
        let (mut end, mut subject) = (at, Vec::new());
        let mut next = at;
        while subject.len() < MAX_EVENT_WORDS {
            let word = self.adjacent_word(next);
            if word.is_empty() || (is_listed(word, FUNCTION_WORDS) && !JOINING.contains(&word)) {
                break;
            }
            next += 1;
            if !JOINING.contains(&word) {
                subject.push(word.to_owned());
                end = next;
            }
        }
        (end, subject)
    }

    fn has_any_word(&self, is_match: impl Fn(&str) -> bool) -> bool {
        (0..self.len()).any(|at| is_match(self.word_at(at)))
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter: char| !letter.is_alphanumeric())
}
