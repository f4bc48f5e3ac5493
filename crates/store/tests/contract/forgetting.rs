//! Forgetting: nothing of a forgotten session or text stays, and nothing of it comes back.

use rethread_model::{Agent, EntryKind, SessionChanges};
use rethread_store::{
    CardRow, CloseKind, HookSession, HotMemoryRow, InjectionRow, LifecycleEvent, LifecycleRow, PendingArchive,
    SessionFilter, SessionKey, SessionLabels, SessionNumber, SessionQuestion, Store, TextMatcher, Watermark,
    WatermarkMove,
};

use crate::backend::{KEY, add_session, entry, millis, on_each_backend};

const READER: SessionKey<'_> = SessionKey { agent: Agent::Pi, external_id: "reader" };

/// Writes a row of every kind that is kept by a session's external id. Each contains the text.
fn write_everything(store: &mut Store, key: SessionKey<'_>, seen: SessionNumber, text: &str) {
    let owned = || text.to_owned();
    let at = millis(1);
    let mut batch = store.begin().unwrap();
    let life = LifecycleRow {
        closed: Some((CloseKind::Ended, at)),
        prompt_entities: vec![owned(), "kept".to_owned()],
        recent_files: vec![owned()],
        recent_tools: vec![owned()],
        ..LifecycleRow::new(at)
    };
    batch.save_lifecycle(key, &life).unwrap();
    let labels = SessionLabels {
        name: Some(owned()),
        task: Some("kept".to_owned()),
        pinned_at: Some(at),
        tags: vec![owned(), "kept".to_owned()],
    };
    batch.save_session_labels(key, &labels).unwrap();
    batch.add_lifecycle_event(key, 1, &LifecycleEvent { at, kind: "k".to_owned(), detail: owned() }).unwrap();
    batch.add_hot_memory(key, &HotMemoryRow { at, text: owned(), is_note: true }, 9).unwrap();
    batch.mark_injected(key, 1, at).unwrap();
    batch.set_new_context(key, true).unwrap();
    let (event, sections_json) = ("e".to_owned(), format!("[{{\"text\":\"{text}\"}}]"));
    let injection = InjectionRow { at, event, text: owned(), sections_json, text_hash: 1, duration_micros: 1 };
    batch.add_injection(key, &injection).unwrap();
    let to = Watermark { generation: 0, seq: 0 };
    batch.move_watermark(key, WatermarkMove { session: seen, from: None, to }).unwrap();
    batch.record_shown_name(key, text, seen, at).unwrap();
    let (agent, external_id) = (key.agent, key.external_id.to_owned());
    let content = format!("{{\"summary\":\"{text}\"}}");
    batch
        .add_pending_archive(&PendingArchive { agent, external_id, period: 1, file_name: "f".to_owned(), content })
        .unwrap();
    let fields_json = format!("{{\"name\":\"{text}\"}}");
    let (model, leaf_id) = ("m".to_owned(), "l".to_owned());
    let card = CardRow { fields_json, model, created_at: at, updated_at: at, leaf_id, prompts: 1 };
    batch.save_card(key, &card).unwrap();
    batch.commit().unwrap();
}

/// What is stored under an external id, by kind.
fn kept(store: &Store, key: SessionKey<'_>, text: &str) -> Vec<&'static str> {
    let found = [
        ("lifecycle", store.lifecycle(key).unwrap().is_some()),
        ("labels", store.session_labels(key).unwrap() != SessionLabels::default()),
        ("event", !store.lifecycle_events(key, 9).unwrap().is_empty()),
        ("hot memory", !store.hot_memory(key, millis(0)).unwrap().is_empty()),
        ("dedupe key", store.was_injected(key, 1).unwrap()),
        ("context", store.has_new_context(key).unwrap()),
        ("injection", !store.injections(key, 9).unwrap().is_empty()),
        ("watermark", !store.watermarks(key).unwrap().is_empty()),
        ("shown name", store.shown_session(key, text).unwrap().is_some()),
        ("archive", store.pending_archives(9).unwrap().iter().any(|one| one.external_id == key.external_id)),
        ("card", store.card(key).unwrap().is_some()),
    ];
    found.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect()
}

fn forget(store: &mut Store, key: SessionKey<'_>) {
    let all = store.sessions(&SessionFilter { include_empty: true, ..SessionFilter::default() }).unwrap();
    let id = all.into_iter().find(|session| session.external_id == key.external_id).unwrap().id;
    let sessions = store.sessions_with_descendants(&[id]).unwrap();
    let marks = store.mention_matcher(&sessions).unwrap();
    let mut batch = store.begin_secure_delete().unwrap();
    batch.forget_sessions(&sessions, &marks, millis(9)).unwrap();
    batch.commit().unwrap();
}

#[test]
fn everything_kept_by_the_external_id_goes_and_stays_out() {
    // T19
    on_each_backend(|open| {
        let mut store = open();
        // In another project, or its injections might mention the session.
        let other = add_session(&mut store, READER, "/elsewhere", &[&["hello"]]);
        add_session(&mut store, KEY, "/p", &[&["hello there"]]);
        write_everything(&mut store, KEY, other, "word");
        write_everything(&mut store, READER, other, "harmless");
        assert_eq!(kept(&store, KEY, "word").len(), 11);
        forget(&mut store, KEY);
        assert!(store.is_forgotten(KEY).unwrap() && store.needs_wipe().unwrap());
        assert_eq!(kept(&open(), KEY, "word"), Vec::<&str>::new());
        assert_eq!(kept(&open(), READER, "harmless").len(), 11, "another session keeps its own");
        // A hook that had read the session before it was forgotten.
        write_everything(&mut store, KEY, other, "word");
        let mut batch = store.begin().unwrap();
        let (cwd, at) = ("/p", millis(10));
        batch
            .save_hook_session(&HookSession {
                key: KEY,
                cwd,
                project: cwd,
                namespace: "n",
                name: Some("word"),
                transcript_path: None,
                at,
                has_work: true,
            })
            .unwrap();
        batch.commit().unwrap();
        assert_eq!(kept(&open(), KEY, "word"), Vec::<&str>::new());
        let listed = open().sessions(&SessionFilter { include_empty: true, ..SessionFilter::default() }).unwrap();
        assert_eq!(listed.iter().map(|session| session.external_id.as_str()).collect::<Vec<_>>(), ["reader"]);
    });
}

#[test]
fn a_session_forgotten_by_another_process_takes_no_more_rows() {
    on_each_backend(|open| {
        let (mut hook, mut user) = (open(), open());
        let other = add_session(&mut user, READER, "/p", &[&["hello"]]);
        add_session(&mut user, KEY, "/p", &[&["hello"]]);
        assert!(!hook.is_forgotten(KEY).unwrap(), "read before it is forgotten");
        forget(&mut user, KEY);
        write_everything(&mut hook, KEY, other, "word");
        assert_eq!(kept(&open(), KEY, "word"), Vec::<&str>::new());
    });
}

#[test]
fn entries_of_a_forgotten_session_are_recognized_in_other_transcripts() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["a long enough text to recognize", "an answer"]]);
        let key = entry(session.get() as i64, 0, 1, EntryKind::Prompt, "").native_key;
        let batch = store.begin().unwrap();
        assert!(!batch.has_forgotten(key).unwrap());
        drop(batch);
        forget(&mut store, KEY);
        let batch = store.begin().unwrap();
        assert!(batch.has_forgotten(key).unwrap());
        assert!(batch.is_forgotten(KEY).unwrap() && !batch.is_forgotten(READER).unwrap());
        assert!(!batch.has_forgotten(rethread_model::NativeKey::from_stored(4_711)).unwrap());
        drop(batch);
        assert_eq!(store.forgotten_sessions().unwrap(), [(KEY.agent, KEY.external_id.to_owned())].into());
    });
}

#[test]
fn a_text_is_removed_from_everything_that_is_not_read_again() {
    on_each_backend(|open| {
        let mut store = open();
        let other = add_session(&mut store, READER, "/p", &[&["harmless"]]);
        add_session(&mut store, KEY, "/p", &[&["harmless"]]);
        write_everything(&mut store, KEY, other, "secretword");
        write_everything(&mut store, READER, other, "harmless");
        let matcher = TextMatcher::new("SecretWord").unwrap();
        let count = |store: &Store| store.count_rows_containing(&matcher).unwrap().values().sum::<u64>();
        assert_eq!(count(&store), 8);
        let mut batch = store.begin_secure_delete().unwrap();
        batch.remove_text(&matcher).unwrap();
        batch.commit().unwrap();
        assert_eq!(count(&store), 0);
        let life = store.lifecycle(KEY).unwrap().unwrap();
        assert!(life.recent_files.is_empty() && life.recent_tools.is_empty());
        assert_eq!(life.prompt_entities, ["kept"], "only the matching item goes");
        assert_eq!(life.closed, Some((CloseKind::Ended, millis(1))), "the session keeps its state");
        let labels = store.session_labels(KEY).unwrap();
        assert_eq!((labels.name, labels.task.as_deref(), labels.pinned_at), (None, Some("kept"), Some(millis(1))));
        assert_eq!(labels.tags, ["kept"], "only the matching tag goes");
        assert_eq!(kept(&store, KEY, "secretword"), ["lifecycle", "labels", "dedupe key", "context", "watermark"]);
        assert_eq!(kept(&store, READER, "harmless").len(), 11);
    });
}

#[test]
fn name_from_a_hook_is_cleared_if_it_contains_the_text() {
    on_each_backend(|open| {
        let mut store = open();
        let mut batch = store.begin().unwrap();
        for (key, name) in [(KEY, "find the secretword"), (READER, "harmless")] {
            let (cwd, transcript_path, at) = ("/p", None, millis(1));
            let session = HookSession {
                key,
                cwd,
                project: cwd,
                namespace: "p",
                name: Some(name),
                transcript_path,
                at,
                has_work: true,
            };
            batch.save_hook_session(&session).unwrap();
        }
        batch.remove_text(&TextMatcher::new("secretword").unwrap()).unwrap();
        batch.commit().unwrap();
        let mut names: Vec<_> =
            store.sessions(&SessionFilter::default()).unwrap().into_iter().map(|session| session.name).collect();
        names.sort();
        assert_eq!(names, [None, Some("harmless".to_owned())]);
    });
}

#[test]
fn mentions_are_the_whole_episodes_that_contain_a_text() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["one", "two"], &["a secretword", "ok"], &["three"]]);
        let found = store.find_mentions(&TextMatcher::new("secretword").unwrap()).unwrap();
        assert_eq!(found.entries, [(session, crate::backend::seqs([2, 3]))].into());
        assert_eq!(found.row_counts.get("entries"), Some(&2));
        assert!(TextMatcher::new("  ").is_none(), "every text contains nothing");
    });
}

#[test]
fn entries_are_removed_one_by_one_and_the_rest_is_renumbered() {
    on_each_backend(|open| {
        let mut store = open();
        let session = add_session(&mut store, KEY, "/p", &[&["0", "1", "2", "3"]]);
        let change = store.last_change(session).unwrap();
        let asked = SessionQuestion { session, change, question: "why" };
        store.cache_answer(asked, "m", "because of 1", millis(1)).unwrap();
        let mut batch = store.begin().unwrap();
        batch.remove_entries(session, &crate::backend::seqs([1, 2])).unwrap();
        assert_eq!(
            batch.typed_texts(session, &crate::backend::seqs([0, 1])).unwrap(),
            ["0"],
            "the second is an answer"
        );
        batch.commit().unwrap();
        let texts = |seq| open().entry_at(session, seq).unwrap().map(|entry| entry.text);
        assert_eq!((texts(0), texts(1), texts(2)), (Some("0".to_owned()), Some("3".to_owned()), None));
        assert_eq!(store.cached_answer(asked, None).unwrap(), None);
        let mut batch = store.begin().unwrap();
        let again = SessionChanges {
            entries: vec![entry(session.get() as i64, 2, 1, EntryKind::Prompt, "4")],
            ..SessionChanges::default()
        };
        batch.apply_changes(session, None, &again, None).unwrap();
        batch.commit().unwrap();
        assert_eq!(texts(2).as_deref(), Some("4"), "the freed place is used");
    });
}
