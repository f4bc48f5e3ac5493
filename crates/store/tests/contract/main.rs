//! What every store backend must do.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod backend;
mod forgetting;
mod hook_state;
mod members;
mod reading;
mod rereading;

use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, EntryOwner, Episode, MessageUsage, NativeKey, NewEntry, SessionChanges,
    Timestamp, Tokens,
};
use rethread_store::{CardRow, QuantizedVector, SessionFilter, SessionKey, SessionQuestion, Store};

use crate::backend::on_each_backend;

#[test]
fn dropped_batch_leaves_no_trace() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        batch.open_session(Agent::Pi, "x").unwrap();
        batch.add_transcript("/x.jsonl", Agent::Pi).unwrap();
        drop(batch);
        assert!(store.transcripts().unwrap().is_empty());
        let all = SessionFilter { include_empty: true, ..SessionFilter::default() };
        assert!(store.sessions(&all).unwrap().is_empty());
    });
}

#[test]
fn reopening_keeps_everything_and_creates_a_session_once() {
    on_each_backend(|open| {
        for _ in 0..3 {
            let mut store = open();
            let mut batch = store.begin().unwrap();
            batch.open_session(Agent::Pi, "x").unwrap();
            batch.commit().unwrap();
        }
        let all = SessionFilter { include_empty: true, ..SessionFilter::default() };
        assert_eq!(open().sessions(&all).unwrap().len(), 1);
    });
}

#[test]
fn message_costs_once_across_sessions() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        let first = batch.open_session(Agent::ClaudeCode, "first").unwrap().number;
        let second = batch.open_session(Agent::ClaudeCode, "second").unwrap().number;
        let usage = |output| {
            let row = MessageUsage {
                tokens: Tokens { output, ..Tokens::default() },
                cost_usd: Some(0.1),
                ..MessageUsage::default()
            };
            SessionChanges { usage: [(NativeKey::from_stored(7), row)].into(), ..SessionChanges::default() }
        };
        for (session, output) in [(first, 3), (first, 5), (first, 4), (second, 9)] {
            batch.apply_changes(session, None, &usage(output), None).unwrap();
        }
        batch.commit().unwrap();
        let all = SessionFilter { include_empty: true, ..SessionFilter::default() };
        let mut spent: Vec<_> =
            store.sessions(&all).unwrap().into_iter().map(|s| (s.external_id, s.tokens.output, s.cost_usd)).collect();
        spent.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(spent, [("first".to_owned(), 5, Some(0.1)), ("second".to_owned(), 0, None)]);
    });
}

#[test]
fn open_episode_is_replaced_by_number() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        let session = batch.open_session(Agent::Pi, "x").unwrap().number;
        for last_seq in [1, 5] {
            let open = Episode { id: "e".into(), number: 1, last_seq, is_open: true, ..Episode::default() };
            batch.apply_changes(session, None, &SessionChanges::default(), Some(&open)).unwrap();
        }
        assert_eq!(batch.entry_owner(session, NativeKey::from_stored(1)).unwrap(), None::<EntryOwner>);
        let (stored, _) = batch.session_with_state(session).unwrap().unwrap();
        batch.commit().unwrap();
        let episodes = store.episodes(stored.id).unwrap();
        assert_eq!((episodes.len(), episodes[0].last_seq), (1, 5));
    });
}

#[test]
fn vectors_are_removed_with_their_entries() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        let session = batch.open_session(Agent::Pi, "x").unwrap().number;
        let entry = |seq: u64, speech, text: &str| NewEntry {
            entry: Entry {
                seq,
                native_id: seq.to_string(),
                location: EntryLocation::default(),
                at: None,
                kind: speech,
                text: text.into(),
                tool: None,
                episode: Some(1),
                is_abandoned: false,
            },
            native_key: NativeKey::from_stored(seq as i64),
            line_key: NativeKey::from_stored(seq as i64),
            message_key: None,
            node_key: None,
        };
        let entries = vec![
            entry(0, EntryKind::Prompt, "why"),
            entry(1, EntryKind::Call, "ls"),
            entry(2, EntryKind::AssistantText, "because"),
        ];
        let episode = Episode { id: "e".into(), number: 1, last_seq: 2, ..Episode::default() };
        batch
            .apply_changes(session, None, &SessionChanges { entries, ..SessionChanges::default() }, Some(&episode))
            .unwrap();
        batch.commit().unwrap();

        let found = store.pending_embeddings("m", 10).unwrap();
        let texts: Vec<&str> = found.entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!((texts, found.has_more), (vec!["why", "because"], false), "calls are found by their words");
        assert!(store.pending_embeddings("m", 1).unwrap().has_more);

        let numbers: Vec<QuantizedVector> =
            [[1.0, 0.0], [0.0, -1.0]].iter().map(|vector| QuantizedVector::quantize(vector)).collect();
        let mut gone = found.entries.clone();
        gone[0].seq = 99;
        let mut batch = store.begin().unwrap();
        batch.save_embeddings("m", &gone, &numbers).unwrap();
        batch.save_embeddings("m", &found.entries, &numbers).unwrap();
        batch.commit().unwrap();
        let read = |store: &Store, model: &str| {
            let mut all = Vec::new();
            store.for_each_embedding(model, |_, seq, numbers| all.push((seq, numbers.to_vec()))).unwrap();
            all
        };
        assert_eq!(read(&store, "m"), [(0, vec![127, 0]), (2, vec![0, 129])], "a removed entry has no vector");
        assert_eq!((store.embedding_dimension("m").unwrap(), store.embedding_dimension("n").unwrap()), (Some(2), None));
        assert!(read(&store, "n").is_empty());
        assert!(store.pending_embeddings("m", 10).unwrap().entries.is_empty());
        assert_eq!(store.pending_embeddings("n", 10).unwrap().entries.len(), 2);

        let mut batch = store.begin().unwrap();
        batch.reset_session(session).unwrap();
        batch.commit().unwrap();
        assert!(read(&store, "m").is_empty());
    });
}

#[test]
fn card_keeps_its_creation_time_and_is_forgotten_with_its_session() {
    // E001-07
    on_each_backend(|open| {
        let mut store = open();
        let key = SessionKey { agent: Agent::Pi, external_id: "x" };
        let card = |name: &str, at: i64| CardRow {
            fields_json: format!(r#"{{"name":"{name}"}}"#),
            model: "m".to_owned(),
            created_at: Timestamp::from_millis(at),
            updated_at: Timestamp::from_millis(at),
            leaf_id: "e1".to_owned(),
            prompts: 1,
        };
        let mut batch = store.begin().unwrap();
        let number = batch.open_session(Agent::Pi, "x").unwrap().number;
        batch.record_failed_card(key, "e0").unwrap();
        batch.commit().unwrap();
        assert_eq!((store.card(key).unwrap(), store.failed_card_leaf(key).unwrap().as_deref()), (None, Some("e0")));
        for (name, at) in [("first", 1), ("second", 2)] {
            let mut batch = store.begin().unwrap();
            batch.save_card(key, &card(name, at)).unwrap();
            batch.commit().unwrap();
        }
        let kept = store.card(key).unwrap().unwrap();
        assert_eq!((kept.created_at.as_millis(), kept.updated_at.as_millis()), (1, 2));
        assert_eq!(store.failed_card_leaf(key).unwrap(), None, "a card that was written ends the attempts");
        let mut batch = store.begin().unwrap();
        batch.remove_session(number).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.card(key).unwrap(), None);
    });
}

#[test]
fn answers_are_cached_until_the_session_changes_or_is_forgotten() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        let session = batch.open_session(Agent::Pi, "x").unwrap().number;
        batch.commit().unwrap();
        let change = store.last_change(session).unwrap();
        let asked = SessionQuestion { session, change, question: "why" };
        let now = Timestamp::from_millis;
        store.cache_answer(asked, "small", "so", now(1)).unwrap();
        store.cache_answer(asked, "large", "thus", now(2)).unwrap();
        store.cache_answer(SessionQuestion { change: change + 1, ..asked }, "other", "never", now(3)).unwrap();
        let kept = |store: &Store, asked, model| store.cached_answer(asked, model).unwrap().map(|(_, text)| text);
        assert_eq!(kept(&store, asked, Some("small")).as_deref(), Some("so"));
        assert_eq!(kept(&store, asked, None).as_deref(), Some("thus"), "the newest of all models");
        assert_eq!(kept(&store, asked, Some("other")), None, "the session had changed by then");
        assert_eq!(kept(&store, SessionQuestion { question: "what", ..asked }, None), None);
        assert_eq!(kept(&store, SessionQuestion { change: change + 1, ..asked }, None), None);
        let mut batch = store.begin().unwrap();
        batch.remove_session(session).unwrap();
        batch.commit().unwrap();
        assert_eq!(kept(&store, asked, None), None);
        store.cache_answer(asked, "small", "so", now(4)).unwrap();
        assert_eq!(kept(&store, asked, None), None, "a forgotten session stays forgotten");
    });
}

#[test]
fn calls_are_counted_per_turn() {
    // E001-14
    on_each_backend(|open| {
        let mut store = open();
        let now = Timestamp::from_millis(0);
        assert!(!store.count_model_call("a", 0, now).unwrap());
        assert!(store.count_model_call("a", 1, now).unwrap());
        assert!(!store.count_model_call("a", 1, now).unwrap());
        store.uncount_model_call("a").unwrap();
        assert!(store.count_model_call("a", 1, now).unwrap());
        assert!(store.count_model_call("b", 1, now).unwrap());
        assert!(store.count_model_call("a", 1, Timestamp::from_millis(90_000_000)).unwrap(), "no turn takes a day");
    });
}
