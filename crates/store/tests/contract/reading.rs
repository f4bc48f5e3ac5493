//! Reading what transcripts gave: pages of entries, the timeline, the feed, changes, enrichment and the ledger.

use rethread_model::{Agent, EntryKind, Episode, Session, SessionChanges, SessionKind};
use rethread_store::{
    EnrichmentRow, EntryFilter, EntryRange, EpisodeKey, EpisodeWindow, FeedCursor, FeedItem, ModelSpending,
    PlannedRequest, SessionKey, SessionScope, SessionUpdate, SettledRequest, Store, StoreError,
};

use crate::backend::{KEY, add_session, entry, millis, on_each_backend, update};

const OTHER: SessionKey<'_> = SessionKey { agent: Agent::Pi, external_id: "other" };

/// The feed as one line per item.
fn feed(store: &Store, since: FeedCursor) -> Vec<String> {
    let mut items = Vec::new();
    let head = store.feed(since, |item| -> Result<(), StoreError> {
        items.push(match item {
            FeedItem::SessionRebuilt(session) => format!("rebuilt {}", session.get()),
            FeedItem::EpisodeChanged(key) => format!("episode {}.{}", key.session.get(), key.number),
            FeedItem::Entry(entry) => format!("{} {}", entry.seq, entry.text),
        });
        Ok(())
    });
    assert_eq!(head.unwrap(), store.head().unwrap());
    items
}

#[test]
fn a_page_of_entries_says_whether_there_are_more() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["0", "1", "2"], &["3", "4", "5", "6"]]);
        let page = |range, limit| {
            let page = store.entry_page(session, EntryFilter::default(), range, limit).unwrap();
            let texts: Vec<String> = page.entries.into_iter().map(|entry| entry.text).collect();
            (texts.concat(), page.has_earlier, page.has_later, page.center_seq)
        };
        let text = str::to_owned;
        assert_eq!(page(EntryRange::Last, 3), (text("456"), true, false, None));
        assert_eq!(page(EntryRange::Last, 7), (text("0123456"), false, false, None));
        assert_eq!(page(EntryRange::From(2), 3), (text("234"), true, true, None));
        assert_eq!(page(EntryRange::Before(2), 3), (text("01"), false, true, None));
        assert_eq!(page(EntryRange::From(99), 3), (text(""), true, false, None));
        // Entry N is on line 10 * (N + 1); a page around a line has a third of its entries before it.
        assert_eq!(page(EntryRange::Around(40), 3), (text("234"), true, true, Some(3)));
        assert_eq!(page(EntryRange::Around(49), 3), (text("234"), true, true, Some(3)), "the last one before");
        assert_eq!(page(EntryRange::Around(40), 6), (text("123456"), true, false, Some(3)));
        assert_eq!(page(EntryRange::Around(1), 3), (text("01"), false, true, Some(0)), "before the first line");
    });
}

#[test]
fn a_part_of_an_id_is_taken_literally() {
    on_each_backend(|open| {
        let mut store = open();
        for external_id in ["a_%*?[x]", "abcde", "ABCDE", "äöü/run-1", "Mixed"] {
            add_session(&mut store, SessionKey { agent: Agent::Pi, external_id }, "/p", &[&["0"]]);
        }
        let ids = |found: Vec<Session>| {
            let mut ids: Vec<String> = found.into_iter().map(|session| session.external_id).collect();
            ids.sort();
            ids.join(" ")
        };
        let by_prefix = |part: &str| ids(store.sessions_by_id_prefix(part).unwrap());
        let by_suffix = |part: &str| ids(store.sessions_by_id_suffix(part).unwrap());
        assert_eq!((by_prefix("ab_"), by_prefix("a*"), by_prefix("a?"), by_suffix("%")), Default::default());
        assert_eq!((by_prefix("a_%*?[x]").as_str(), by_suffix("?[x]").as_str()), ("a_%*?[x]", "a_%*?[x]"));
        assert_eq!((by_prefix("ABC").as_str(), by_prefix("abc").as_str()), ("ABCDE abcde", "abcde"));
        assert_eq!((by_suffix("CDE").as_str(), by_suffix("cde").as_str()), ("ABCDE abcde", "abcde"));
        assert_eq!((by_prefix("mix").as_str(), by_prefix("Mix").as_str()), ("", "Mixed"));
        assert_eq!((by_prefix("äö").as_str(), by_suffix("ü/run-1").as_str()), ("äöü/run-1", "äöü/run-1"));
        assert_eq!((by_prefix("abcdef"), by_suffix("xabcde"), by_suffix("äabcde")), Default::default());
        let id = store.sessions_by_exact_reference("abcde").unwrap()[0].id.to_string();
        assert_eq!((by_prefix(&id.to_lowercase()).as_str(), by_suffix(&id[20..]).as_str()), ("abcde", "abcde"));
        assert_eq!(ids(store.sessions_by_exact_reference("run-1").unwrap()), "äöü/run-1", "the last part of a path");
        assert_eq!(ids(store.sessions_by_exact_reference("un-1").unwrap()), "");
    });
}

#[test]
fn machine_written_entries_are_on_a_page_only_on_request() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["0", "1"]]);
        let mut batch = store.begin().unwrap();
        let number = session.get() as i64;
        let kinds = [EntryKind::Reasoning, EntryKind::Notice, EntryKind::Command, EntryKind::Injected];
        let entries = kinds.iter().zip(2..).map(|(kind, seq)| entry(number, seq, 1, *kind, "meta")).collect();
        batch.apply_changes(session, None, &SessionChanges { entries, ..SessionChanges::default() }, None).unwrap();
        let changes = SessionChanges { retracted: vec![1], ..SessionChanges::default() };
        batch.apply_changes(session, None, &changes, None).unwrap();
        batch.commit().unwrap();
        let count = |include_meta, include_abandoned| {
            let filter = EntryFilter { include_meta, include_abandoned, ..EntryFilter::default() };
            store.entry_page(session, filter, EntryRange::Last, 10).unwrap().entries.len()
        };
        assert_eq!((count(false, false), count(true, false), count(false, true), count(true, true)), (1, 5, 2, 6));
        assert_eq!(store.unshown_entries(session, None).unwrap().entries.len(), 1, "a model is shown the rest");
    });
}

#[test]
fn prompts_are_listed_by_episode_and_shortened() {
    on_each_backend(|open| {
        let mut store = open();
        let long = "ä".repeat(300);
        let session = add_session(&mut store, KEY, "/p", &[&["first", "answer"], &[&long]]);
        let prompts = store.episode_prompts(session).unwrap();
        let listed: Vec<_> = prompts.iter().map(|prompt| (prompt.episode, prompt.seq, prompt.line)).collect();
        assert_eq!(listed, [(1, 0, 10), (2, 2, 30)]);
        assert_eq!(prompts[1].text, "ä".repeat(200), "in characters");
    });
}

#[test]
fn the_timeline_shows_the_last_episodes_or_those_around_a_time() {
    on_each_backend(|open| {
        let mut store = open();
        // Episode N starts at N hours.
        let first = add_session(&mut store, KEY, "/p", &[&["a"], &["b"], &["c"], &["d"]]);
        let second = add_session(&mut store, OTHER, "/p/sub", &[&["e"]]);
        let window = EpisodeWindow { limit: 3, ..EpisodeWindow::default() };
        let hour = |hour: i64| Some(millis(3_600_000 * hour));
        let shown = |window: &EpisodeWindow| -> Vec<(u64, u64)> {
            let keys = store.episodes_in(window).unwrap();
            keys.into_iter().map(|key| (key.session.get(), key.number)).collect()
        };
        let (a, b) = (first.get(), second.get());
        assert_eq!(shown(&window), [(a, 2), (a, 3), (a, 4)]);
        assert_eq!(shown(&EpisodeWindow { anchor: hour(3), ..window.clone() }), [(a, 2), (a, 3), (a, 4)]);
        assert_eq!(
            shown(&EpisodeWindow { anchor: hour(1), ..window.clone() }),
            [(a, 1), (b, 1), (a, 2)],
            "equal times"
        );
        assert_eq!(shown(&EpisodeWindow { from: hour(2), to: hour(4), ..window.clone() }), [(a, 2), (a, 3)]);
        assert_eq!(shown(&EpisodeWindow { session: Some(second), ..window.clone() }), [(b, 1)]);
        let scope = SessionScope::Project("/p/sub".to_owned());
        assert_eq!(shown(&EpisodeWindow { scope, ..window.clone() }), [(b, 1)]);
        let scope = SessionScope::Project("/p/su".to_owned());
        assert!(shown(&EpisodeWindow { scope, ..window.clone() }).is_empty(), "a folder, not a prefix");
        let among = Some(vec![EpisodeKey { session: first, number: 1 }]);
        assert_eq!(shown(&EpisodeWindow { among, ..window }), [(a, 1)]);
        assert_eq!(store.episode_by_id("s-2").unwrap(), Some(EpisodeKey { session: first, number: 2 }));
        assert_eq!(store.episode_by_id("s-9").unwrap(), None);
    });
}

#[test]
fn the_feed_gives_whole_episodes_in_the_order_of_their_changes() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["0", "1"], &["2"]]);
        let number = session.get();
        let head = store.head().unwrap().change;
        let all =
            [format!("episode {number}.1"), "0 0".into(), "1 1".into(), format!("episode {number}.2"), "2 2".into()];
        assert_eq!(feed(&store, FeedCursor::after_change(0)), all);
        assert!(feed(&store, FeedCursor::after_change(head)).is_empty());

        let mut batch = store.begin().unwrap();
        let open =
            Episode { id: "e3".into(), number: 3, first_seq: 3, last_seq: 3, is_open: true, ..Episode::default() };
        let entries = vec![entry(number as i64, 3, 3, EntryKind::Prompt, "3")];
        let changes = SessionChanges { entries, late_errors: [(1, 2)].into(), ..SessionChanges::default() };
        batch.apply_changes(session, None, &changes, Some(&open)).unwrap();
        batch.commit().unwrap();
        let closed_only = FeedCursor { closed_after: head, open_after: i64::MAX };
        assert_eq!(feed(&store, closed_only), [format!("episode {number}.1"), "0 0".into(), "1 1".into()]);
        let both = feed(&store, FeedCursor::after_change(head));
        assert!(both.contains(&format!("episode {number}.3")) && both.contains(&"3 3".to_owned()), "{both:?}");
        assert_eq!(store.count_changed_entries(0, 100).unwrap(), 4);
        assert_eq!(store.count_changed_entries(store.head().unwrap().change, 100).unwrap(), 0);

        let before = store.head().unwrap().change;
        let mut batch = store.begin().unwrap();
        batch.reset_session(session).unwrap();
        batch.commit().unwrap();
        assert_eq!(feed(&store, FeedCursor::after_change(before)), [format!("rebuilt {number}")]);
    });
}

#[test]
fn changed_sessions_are_listed_in_the_order_of_their_changes() {
    on_each_backend(|open| {
        let mut store = open();
        let first = add_session(&mut store, KEY, "/p", &[&["a"]]);
        let head = store.head().unwrap().change;
        add_session(&mut store, OTHER, "/p", &[&["b"]]);
        let changed = |after| store.sessions_changed_after(after, 10).unwrap().len();
        assert_eq!((changed(0), changed(head), changed(store.head().unwrap().change)), (2, 1, 0));
        assert_eq!(store.sessions_changed_after(0, 1).unwrap().len(), 1);
        assert_eq!(store.messages_before(first, 1, 5).unwrap(), ["a"]);
    });
}

#[test]
fn texts_of_a_range_of_entries_are_cut() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["one", "zwölf", "three"]]);
        let other = add_session(&mut store, OTHER, "/p", &[&["b"]]);
        let all = store.text_starts(session, 0..=u64::from(u32::MAX), 100).unwrap();
        assert_eq!(all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["one", "zwölf", "three"]);
        assert_eq!(store.text_starts(session, all[1].0..=all[1].0, 3).unwrap(), [(all[1].0, "zwö".to_owned())]);
        assert_eq!(store.text_starts(other, 0..=u64::from(u32::MAX), 3).unwrap().len(), 1);
        assert!(store.text_starts(session, 1_000..=2_000, 3).unwrap().is_empty());
    });
}

#[test]
fn sessions_are_enriched_until_the_model_was_shown_everything() {
    // E003-16
    on_each_backend(|open| {
        let mut store = open();
        let old = add_session(&mut store, KEY, "/p", &[&["a", "b"]]);
        let new = add_session(&mut store, OTHER, "/p", &[&["a"], &["b"]]);
        let child = SessionKey { external_id: "child", ..KEY };
        let mut batch = store.begin().unwrap();
        let number = batch.open_session(child.agent, child.external_id).unwrap().number;
        let of_child = SessionUpdate { kind: SessionKind::Child, ..update("/p", 1) };
        batch.save_session(number, &of_child).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.enrichable_sessions().unwrap(), [new, old], "most recently active first, without sub-agents");
        let mut batch = store.begin().unwrap();
        assert_eq!(batch.queue_enrichments(&[old], millis(5)).unwrap(), 1);
        let row = EnrichmentRow { shown_seq: Some(0), next_attempt_at: None, ..EnrichmentRow::new(new, millis(5)) };
        batch.save_enrichment(&row).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.enrichable_sessions().unwrap(), [new], "one is queued, the other has more to show");
        let unshown = store.unshown_entries(new, Some(0)).unwrap();
        assert_eq!(unshown.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1]);
        assert!(unshown.rebuilt_at_change.is_some());
        let mut batch = store.begin().unwrap();
        batch.save_enrichment(&EnrichmentRow { shown_seq: Some(1), ..row }).unwrap();
        batch.remove_session(old).unwrap();
        batch.commit().unwrap();
        assert!(store.enrichable_sessions().unwrap().is_empty() && store.queued_enrichments().unwrap().is_empty());
        assert_eq!(store.unshown_entries(old, None).unwrap().rebuilt_at_change, None);
    });
}

#[test]
fn a_request_is_recorded_only_if_the_budget_allows_it() {
    // S003-20
    on_each_backend(|open| {
        let mut store = open();
        let plan = |at: i64, tokens: u64| PlannedRequest {
            at: millis(at),
            provider: "openai",
            model: "small",
            purpose: "turn",
            tokens,
            cost_nanos: Some(tokens),
        };
        let seen = |store: &mut Store, planned: &PlannedRequest<'_>, since: i64| {
            let mut spent = None;
            let check = |found: ModelSpending| {
                spent = Some(found.tokens);
                if found.tokens + planned.tokens > 100 { Err("too much") } else { Ok(()) }
            };
            let recorded = store.record_request(planned, millis(since), check).unwrap();
            (recorded, spent.unwrap())
        };
        assert_eq!(seen(&mut store, &plan(10, 60), 0), (Ok(1), 0));
        assert_eq!(seen(&mut open(), &plan(11, 60), 0), (Err("too much"), 60), "another process counts the first");
        store.settle_request(1, &SettledRequest { tokens: Some(20), ..SettledRequest::default() }).unwrap();
        assert_eq!(seen(&mut store, &plan(12, 60), 0), (Ok(2), 20), "it took less than planned");
        assert_eq!(seen(&mut store, &plan(13, 60), 11), (Err("too much"), 60), "only what was spent since then");
        let huge = plan(14, u64::MAX);
        store.record_request(&huge, millis(0), |_| Ok::<(), ()>(())).unwrap().unwrap();
        let all = store.spending_since(millis(0)).unwrap();
        assert_eq!((all.requests, all.cost_nanos), (3, 60 + 60 + (1 << 52)), "an estimate keeps its cost");
        assert_eq!(store.spending_since(millis(14)).unwrap().tokens, 1 << 52);
    });
}
