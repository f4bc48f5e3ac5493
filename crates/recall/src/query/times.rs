//! Reads the times, limits and events in the plain words of a query, and the topic that is left without them.

use std::ops::Range;

use jiff::Zoned;
use rethread_index::words;

use super::{SearchQuery, is_question};
use crate::when::LocatedTimePhrase;
use crate::{EventPhrase, TimeBounds, TimePhrase};

/// Maximum number of words of a query in which limits and events are read. Longer texts are pasted: in them, "before"
/// and "after" rarely say when the answer was given.
const MAX_LIMITED_WORDS: usize = 25;

impl SearchQuery {
    /// Sets the text to rank by and its times; `prose` are the plain words in it.
    pub(super) fn set_words(&mut self, words: String, prose: &str, now: &Zoned) {
        self.words = words;
        let located = TimePhrase::find_located(prose, now);
        let is_short = is_short(prose);
        for one in &located {
            let when = (is_short || one.anchors.is_empty()).then_some(one.when);
            for time in when.into_iter().chain(one.anchors.iter().copied()) {
                // "Before March" is not about the March of another year.
                let is_other_year =
                    is_short && one.anchors.contains(&time) && matches!(time, TimePhrase::Months { .. });
                if !is_other_year && !self.times.contains(&time) {
                    self.times.push(time);
                }
            }
        }
        self.topic = topic_without(prose, &located, None);
        self.is_question = is_question(prose);
    }

    /// Sets the limits and the event of a query that was typed as a search.
    pub(super) fn set_limits(&mut self, prose: &str, now: &Zoned) {
        if !is_short(prose) {
            return;
        }
        let located = TimePhrase::find_located(prose, now);
        let mut limits = located.iter().filter_map(|one| one.bounds);
        self.bounds = limits.next().and_then(|first| limits.try_fold(first, TimeBounds::intersect));
        self.event = EventPhrase::find(prose, now);
        if let Some(event) = &self.event {
            self.eventless_topic = topic_without(prose, &located, Some(&event.place));
        }
    }
}

fn is_short(prose: &str) -> bool {
    prose.split_whitespace().count() <= MAX_LIMITED_WORDS
}

/// The words without dates and without the event at `event`; empty if nothing but times is left.
fn topic_without(prose: &str, located: &[LocatedTimePhrase], event: Option<&Range<usize>>) -> String {
    let without = |is_removed: fn(&LocatedTimePhrase) -> bool| {
        let places = located.iter().filter(|one| is_removed(one)).map(|one| one.place.clone());
        let mut places: Vec<Range<usize>> = places.chain(event.cloned()).collect();
        places.sort_by_key(|place| place.start);
        without_ranges(prose, places.into_iter())
    };
    // "A year ago" may be part of the content; a date rarely is. If nothing else is left, it is a time.
    let has_words = words::split(&without(|_| true)).iter().next().is_some();
    if has_words { without(|one| !one.is_relative) } else { String::new() }
}

/// The text with the given ranges replaced by spaces.
fn without_ranges(text: &str, places: impl Iterator<Item = Range<usize>>) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for place in places {
        rest.push_str(&text[from..place.start.max(from)]);
        rest.push(' ');
        from = place.end.max(from);
    }
    rest.push_str(&text[from..]);
    rest
}
