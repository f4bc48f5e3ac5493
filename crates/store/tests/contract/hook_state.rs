//! What hooks and users reported about a session: events, injections, labels, watermarks, names, archives.

use rethread_model::{Agent, Timestamp};
use rethread_store::{
    CloseKind, HookSession, HotMemoryRow, InjectionRow, LifecycleEvent, LifecycleRow, PendingArchive, SessionFilter,
    SessionKey, SessionLabels, Store, Watermark, WatermarkMove,
};

use crate::backend::{KEY, add_session, millis, on_each_backend};

const OTHER: SessionKey<'_> = SessionKey { agent: Agent::Pi, external_id: "other" };
/// The same id of another agent is another session.
const NAMESAKE: SessionKey<'_> = SessionKey { agent: Agent::ClaudeCode, external_id: "s" };

fn event(number: i64) -> LifecycleEvent {
    LifecycleEvent { at: millis(number), kind: "tool_executed".to_owned(), detail: number.to_string() }
}

fn injection(number: i64) -> InjectionRow {
    InjectionRow {
        at: millis(number),
        event: "UserPromptSubmit".to_owned(),
        text: number.to_string(),
        sections_json: "[]".to_owned(),
        text_hash: u64::MAX - number as u64,
        duration_micros: 7,
    }
}

#[test]
fn the_last_fifty_events_are_kept_oldest_first() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        for number in 1..=60 {
            batch.add_lifecycle_event(KEY, number, &event(number as i64)).unwrap();
        }
        batch.add_lifecycle_event(KEY, 60, &event(99)).unwrap();
        batch.add_lifecycle_event(NAMESAKE, 1, &event(1)).unwrap();
        batch.commit().unwrap();
        let details = |limit| -> Vec<String> {
            open().lifecycle_events(KEY, limit).unwrap().into_iter().map(|event| event.detail).collect()
        };
        assert_eq!(details(100).len(), 50);
        assert_eq!(details(100)[0], "11");
        assert_eq!(details(2), ["59", "99"], "an event of the same number replaces it");
        assert_eq!(open().lifecycle_events(NAMESAKE, 9).unwrap(), [event(1)]);
    });
}

#[test]
fn closed_and_silent_sessions_are_listed_by_time() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        let states = [
            ("open", None),
            ("paused", Some((CloseKind::Suspended, millis(20)))),
            ("ended", Some((CloseKind::Ended, millis(30)))),
            ("run", Some((CloseKind::RunEnded, millis(40)))),
        ];
        for (external_id, closed) in states {
            let life = LifecycleRow { closed, ..LifecycleRow::new(millis(10)) };
            batch.save_lifecycle(SessionKey { agent: Agent::Pi, external_id }, &life).unwrap();
        }
        batch.commit().unwrap();
        let closed = |since| store.sessions_closed_since(Agent::Pi, millis(since)).unwrap();
        assert_eq!(closed(0), ["run", "ended", "paused"], "newest first");
        assert_eq!(closed(30), ["run", "ended"], "at that time or later");
        assert!(store.sessions_closed_since(Agent::ClaudeCode, millis(0)).unwrap().is_empty());
        let silent = |before: Timestamp| {
            let mut found: Vec<String> =
                store.silent_sessions(before).unwrap().into_iter().map(|(_, external_id)| external_id).collect();
            found.sort();
            found
        };
        assert!(silent(millis(10)).is_empty());
        assert_eq!(silent(millis(11)), ["open", "run"], "a run that ended may be followed by another");
    });
}

#[test]
fn content_is_injected_once_until_the_context_is_cleared() {
    // S002-15
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        for key in [1, u64::MAX] {
            assert!(batch.mark_injected(KEY, key, millis(1)).unwrap());
            assert!(!batch.mark_injected(KEY, key, millis(2)).unwrap());
        }
        batch.set_new_context(KEY, true).unwrap();
        batch.commit().unwrap();
        assert!(open().was_injected(KEY, u64::MAX).unwrap() && open().has_new_context(KEY).unwrap());
        assert!(!open().was_injected(NAMESAKE, 1).unwrap() && !open().has_new_context(NAMESAKE).unwrap());
        let mut batch = store.begin().unwrap();
        batch.clear_injected_key(KEY, 1).unwrap();
        batch.set_new_context(KEY, false).unwrap();
        batch.commit().unwrap();
        assert!(!store.was_injected(KEY, 1).unwrap() && store.was_injected(KEY, u64::MAX).unwrap());
        assert!(!store.has_new_context(KEY).unwrap());
        let mut batch = store.begin().unwrap();
        batch.set_new_context(KEY, true).unwrap();
        batch.clear_injected(KEY).unwrap();
        batch.commit().unwrap();
        assert!(!store.was_injected(KEY, u64::MAX).unwrap() && !store.has_new_context(KEY).unwrap());
    });
}

#[test]
fn the_last_two_hundred_injections_of_each_session_are_kept() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        batch.add_injection(OTHER, &injection(1)).unwrap();
        for number in 1..=203 {
            batch.add_injection(KEY, &injection(number)).unwrap();
        }
        batch.commit().unwrap();
        let kept = store.injections(KEY, 1_000).unwrap();
        assert_eq!((kept.len(), &kept[0], &kept[199]), (200, &injection(203), &injection(4)), "newest first");
        assert_eq!(store.injections(KEY, 2).unwrap().len(), 2);
        assert_eq!(store.injections(OTHER, 10).unwrap(), [injection(1)]);
    });
}

#[test]
fn labels_replace_each_other_and_can_be_taken_back() {
    on_each_backend(|open| {
        let mut store = open();
        assert_eq!(store.session_labels(KEY).unwrap(), SessionLabels::default());
        let label = |text: &str| Some(text.to_owned());
        for labels in [
            SessionLabels { name: label("it's a \"name\""), ..SessionLabels::default() },
            SessionLabels { name: label("second"), task: label("ship it"), ..SessionLabels::default() },
            SessionLabels {
                pinned_at: Some(millis(7)),
                tags: vec!["später".into(), "a b".into()],
                ..SessionLabels::default()
            },
            SessionLabels::default(),
        ] {
            let mut batch = store.begin().unwrap();
            batch.save_session_labels(KEY, &labels).unwrap();
            assert_eq!(batch.session_labels(KEY).unwrap(), labels, "before the commit");
            batch.commit().unwrap();
            assert_eq!(open().session_labels(KEY).unwrap(), labels);
            assert_eq!(open().session_labels(NAMESAKE).unwrap(), SessionLabels::default());
        }
    });
}

#[test]
fn a_watermark_moves_only_from_where_it_was() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, OTHER, "/p", &[&["one"]]);
        let mark = |generation, seq| Watermark { generation, seq };
        let mut move_to = |from, to| {
            let mut batch = store.begin().unwrap();
            let moved = batch.move_watermark(KEY, WatermarkMove { session, from, to }).unwrap();
            batch.commit().unwrap();
            (moved, open().watermarks(KEY).unwrap())
        };
        assert_eq!(move_to(None, mark(0, 3)), (true, vec![(session, mark(0, 3))]));
        assert_eq!(move_to(None, mark(0, 9)), (false, vec![(session, mark(0, 3))]), "another process was first");
        assert_eq!(move_to(Some(mark(0, 2)), mark(0, 9)), (false, vec![(session, mark(0, 3))]));
        assert_eq!(move_to(Some(mark(1, 3)), mark(1, 9)), (false, vec![(session, mark(0, 3))]), "another transcript");
        assert_eq!(move_to(Some(mark(0, 3)), mark(1, 0)), (true, vec![(session, mark(1, 0))]));
        assert!(store.watermarks(NAMESAKE).unwrap().is_empty());
    });
}

#[test]
fn watermarks_of_a_session_that_became_shorter_are_lowered() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, OTHER, "/p", &[&["one", "two", "three"]]);
        let mut batch = store.begin().unwrap();
        for (reader, seq) in [(KEY, 2), (NAMESAKE, 0)] {
            let to = Watermark { generation: 0, seq };
            assert!(batch.move_watermark(reader, WatermarkMove { session, from: None, to }).unwrap());
        }
        batch.remove_entries(session, &crate::backend::seqs([1])).unwrap();
        batch.lower_watermarks(session).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.watermarks(KEY).unwrap()[0].1.seq, 1);
        assert_eq!(store.watermarks(NAMESAKE).unwrap()[0].1.seq, 0);
    });
}

#[test]
fn a_shown_name_means_the_session_last_shown_under_it() {
    on_each_backend(|open| {
        let mut store = open();
        let first = add_session(&mut store, KEY, "/p", &[&["one"]]);
        let second = add_session(&mut store, OTHER, "/p", &[&["two"]]);
        let mut show = |slug: &str, session| {
            let mut batch = store.begin().unwrap();
            batch.record_shown_name(NAMESAKE, slug, session, millis(1)).unwrap();
            batch.commit().unwrap();
        };
        show("flaky-parser", first);
        show("flaky-parser", second);
        show("other", first);
        let shown = |slug| open().shown_session(NAMESAKE, slug).unwrap();
        assert_eq!((shown("flaky-parser"), shown("other"), shown("flaky")), (Some(second), Some(first), None));
        assert_eq!(open().shown_session(KEY, "other").unwrap(), None, "each reader has its own");
        let mut batch = store.begin().unwrap();
        batch.remove_session(second).unwrap();
        batch.commit().unwrap();
        assert_eq!(shown("flaky-parser"), None, "a removed session is not shown");
    });
}

#[test]
fn a_finished_period_waits_until_it_is_archived() {
    on_each_backend(|open| {
        let mut store = open();
        let period = |period: u64, content: &str| PendingArchive {
            agent: KEY.agent,
            external_id: KEY.external_id.to_owned(),
            period,
            file_name: format!("period-{period}"),
            content: content.to_owned(),
        };
        let mut batch = store.begin().unwrap();
        for (number, content) in [(1, "first"), (2, "second"), (1, "again")] {
            batch.add_pending_archive(&period(number, content)).unwrap();
        }
        batch.commit().unwrap();
        let mut waiting = open().pending_archives(10).unwrap();
        waiting.sort_by_key(|waiting| waiting.period);
        assert_eq!(waiting, [period(1, "again"), period(2, "second")]);
        assert_eq!(open().pending_archives(1).unwrap().len(), 1);
        let mut batch = store.begin().unwrap();
        batch.remove_pending_archive(KEY, 1).unwrap();
        batch.remove_pending_archive(NAMESAKE, 2).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.pending_archives(10).unwrap(), [period(2, "second")]);
    });
}

#[test]
fn a_spooled_event_is_delivered_once_while_its_file_exists() {
    on_each_backend(|open| {
        let claim = |name: &str| {
            let mut store = open();
            let mut batch = store.begin().unwrap();
            let is_first = batch.claim_spooled_event(name).unwrap();
            batch.commit().unwrap();
            is_first
        };
        assert!(claim("a") && claim("b"));
        assert!(!claim("a") && !claim("b"));
        let mut store = open();
        assert!(store.begin().unwrap().claim_spooled_event("c").unwrap());
        let mut batch = store.begin().unwrap();
        batch.prune_spooled_events(|name| name == "b").unwrap();
        batch.commit().unwrap();
        assert!(claim("a"), "its file is gone, so that another one may have its name");
        assert!(!claim("b"));
        assert!(claim("c"), "a dropped batch delivered nothing");
    });
}

#[test]
fn hot_memory_belongs_to_one_session_and_ends_with_time() {
    on_each_backend(|open| {
        let mut store = open();
        let hot = |at: i64| HotMemoryRow { at: millis(at), text: at.to_string(), is_note: true };
        let mut batch = store.begin().unwrap();
        for at in [1, 5] {
            batch.add_hot_memory(KEY, &hot(at), 9).unwrap();
            batch.add_hot_memory(OTHER, &hot(at + 1), 9).unwrap();
        }
        batch.commit().unwrap();
        assert_eq!(store.hot_memory(KEY, millis(0)).unwrap(), [hot(1), hot(5)], "oldest first");
        assert_eq!(store.hot_memory(KEY, millis(5)).unwrap(), [hot(5)]);
        assert_eq!(store.memory_tiers(millis(5), millis(0)).unwrap().hot_entries, 2, "of all sessions");
    });
}

#[test]
fn a_session_known_from_a_hook_is_completed_by_its_transcript() {
    // D28
    on_each_backend(|open| {
        let mut store = open();
        let report = |store: &mut Store, at: i64, has_work: bool, name| {
            let session = HookSession {
                key: KEY,
                cwd: "/p/sub",
                project: "/p",
                namespace: "n",
                name,
                transcript_path: None,
                at: millis(at),
                has_work,
            };
            let mut batch = store.begin().unwrap();
            batch.save_hook_session(&session).unwrap();
            batch.commit().unwrap();
        };
        let all = SessionFilter { include_empty: true, ..SessionFilter::default() };
        report(&mut store, 20, false, None);
        assert!(store.sessions(&all).unwrap()[0].is_empty);
        report(&mut store, 10, true, Some("from a prompt"));
        report(&mut store, 15, false, Some("ignored"));
        let known = &open().sessions(&SessionFilter::default()).unwrap()[0];
        assert_eq!((known.name.as_deref(), known.project.as_deref()), (Some("from a prompt"), Some("/p")));
        assert_eq!(known.last_activity_at, Some(millis(20)), "events may arrive late");
        add_session(&mut store, KEY, "/other", &[&["one"]]);
        report(&mut store, 99_000_000, true, Some("late"));
        let read = &open().sessions(&all).unwrap()[0];
        assert_eq!((read.name.as_deref(), read.project.as_deref()), (Some("a name"), Some("/other")));
        assert_eq!(read.last_activity_at, Some(millis(3_600_000)), "the transcript decides");
    });
}
