//! Tables of events that stand for a time, and of words that look like them.

use proptest::prelude::*;
use rethread_model::Timestamp;

use super::EventPhrase;
use super::tests::{UTC, at, show};

/// A Friday.
const HAPPENED: &str = "2026-03-06T14:00:00Z";

/// The event of a text and the limits that it sets; empty if there is no event.
fn read(text: &str) -> String {
    let moment: Timestamp = HAPPENED.parse().unwrap();
    let Some(event) = EventPhrase::find(text, &at(UTC)) else { return String::new() };
    let bounds = event.bounds(moment, &at(UTC)).unwrap();
    let show_end = |end: Option<_>| end.map_or_else(String::new, show);
    format!("{}: {}..{}", event.text, show_end(bounds.from), show_end(bounds.to))
}

#[test]
fn events_are_read_as_times() {
    for (text, expect) in [
        ("what did we do the week before the release", "the release: 2026-02-27..2026-03-06T14:00"),
        ("the day before the release", "the release: 2026-03-05..2026-03-06"),
        ("the day after the deploy", "the deploy: 2026-03-07..2026-03-08"),
        ("the week after the deployment", "the deployment: 2026-03-06T14:00..2026-03-14"),
        ("two days after the last release", "the last release: 2026-03-08..2026-03-09"),
        ("the two weeks before the 2.0 release", "the 2.0 release: 2026-02-20..2026-03-06T14:00"),
        ("an hour before the deploy", "the deploy: 2026-03-06T13:00..2026-03-06T14:00"),
        ("parser bugs since the release", "the release: 2026-03-06T14:00.."),
        ("errors after the migration", "the migration: 2026-03-06T14:00.."),
        ("after the database migration", "the database migration: 2026-03-06T14:00.."),
        ("what did we use before the migration", "the migration: ..2026-03-06T14:00"),
        ("before we switched to pnpm", "we switched to pnpm: ..2026-03-06T14:00"),
        ("builds since we moved from npm to pnpm", "we moved from npm to pnpm: 2026-03-06T14:00.."),
        ("flaky tests after the switch to vitest, again", "the switch to vitest: 2026-03-06T14:00.."),
        ("why did it break after we released 2.0?", "we released 2.0: 2026-03-06T14:00.."),
        ("the week before our launch and after", "our launch: 2026-02-27..2026-03-06T14:00"),
        ("memory leak after the release", "the release: 2026-03-06T14:00.."),
        ("bugs since last release", "last release: 2026-03-06T14:00.."),
        ("after latest deploy", "latest deploy: 2026-03-06T14:00.."),
        ("since the release in March", "the release in March: 2026-03-06T14:00.."),
        ("errors after the deploy last week", "the deploy last week: 2026-03-06T14:00.."),
        ("the cache we used before the release", "the release: ..2026-03-06T14:00"),
        ("what had broken before the release", "the release: ..2026-03-06T14:00"),
    ] {
        assert_eq!(read(text), expect, "{text:?}");
    }
}

#[test]
fn other_words_are_not_events() {
    for text in [
        "run the linter before merging",
        "after the fix",
        "before the commit",
        "after the release notes",
        "the week before the release branch was cut",
        "after the migration guide",
        "since the upgrade",
        "after the merge",
        "before the release",
        "checklist before the release",
        "what is left to do before the release",
        "what should we do the week after the release",
        "after release",
        "after a deploy",
        "the week before the first release",
        "after the previous release",
        "before they switched to pnpm",
        "before we switched",
        "before I got the current status",
        "after I bought it",
        "how did Melanie feel after the accident",
        "what did Melanie do after the road trip to relax",
        "after the charity race",
        "after. The release",
        "since the release's notes",
        "the release of the lock",
        "after the request is released",
        "steps needed before the release",
        "steps required before the release",
        "embedded checklist before the release",
        "lock held after the release",
        "mutex state after the release",
        "memory after the release of the lock",
        "not before the release",
        "not since the release",
        "the second week after the release",
        "this week after the release",
        "since last update",
        "since last release notes",
    ] {
        assert_eq!(read(text), "", "{text:?}");
    }
}

#[test]
fn named_times_restrict_events() {
    for (text, happened, expect) in [
        ("since the release", "2026-03-06T14:00:00Z", true),
        ("since the release in January", "2026-01-06T14:00:00Z", true),
        ("since the release in January", "2026-03-06T14:00:00Z", false),
        ("since the release of January", "2026-03-06T14:00:00Z", false),
        ("since the 2.0 release on 3 March", "2026-03-03T14:00:00Z", true),
        ("since the 2.0 release on 3 March", "2026-03-06T14:00:00Z", false),
        ("since we released 2.0 in January", "2026-03-06T14:00:00Z", false),
    ] {
        let event = EventPhrase::find(text, &at(UTC)).unwrap();
        assert_eq!(event.may_be_at(happened.parse().unwrap(), &at(UTC)), expect, "{text:?}");
    }
}

fn event_texts() -> impl Strategy<Value = String> {
    let known = "the our we i a last 2.0 week days two before after since until release deploy migration switch to of \
                 switched released pnpm notes . , ? did 's 99999999999";
    let words: Vec<&str> = known.split(' ').collect();
    let word = prop_oneof![6 => proptest::sample::select(words).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_text_panics(text in event_texts(), millis in any::<i64>()) {
        if let Some(event) = EventPhrase::find(&text, &at(UTC)) {
            prop_assert!(text.get(event.place.clone()).is_some_and(|place| place.contains(&event.text)));
            if let Some(bounds) = event.bounds(Timestamp::from_millis(millis), &at(UTC)) {
                prop_assert!(bounds.from.zip(bounds.to).is_none_or(|(from, to)| from <= to), "{text:?}");
            }
        }
    }
}
