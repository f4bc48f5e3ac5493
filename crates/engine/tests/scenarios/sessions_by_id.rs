//! Sessions and threads by id, as the server uses them: listed, paged, changed, deleted.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{
    CloseAction, Engine, EngineError, LogProfile, NewMessage, NewThread, PageRequest, SearchRequest, SessionChange,
    SessionListRequest, SessionScope, TimelineRequest,
};
use rethread_model::thread::{ChatRole, ContentBlock};
use rethread_model::{Agent, SessionId, SessionState};
use rethread_testing::{
    CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, PI_FILE, PI_VERSION_1, TestHome, contents_below, files_below,
};

const ALL: PageRequest = PageRequest { from: None, before: None, limit: 100, max_bytes: 1 << 20 };

fn home() -> TestHome {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write(PI_FILE, PI_VERSION_1);
    home.sync();
    home
}

fn new_thread(engine: &Engine, name: Option<&str>) -> SessionId {
    let new = NewThread { name: name.map(str::to_owned), ..NewThread::default() };
    engine.threads().create(&new).unwrap().id.session_id()
}

fn append(engine: &Engine, id: SessionId, role: ChatRole, text: &str) {
    let message = NewMessage {
        role,
        content: vec![ContentBlock::text(text)],
        tool_call_id: None,
        is_error: false,
        client_id: None,
    };
    engine.threads().open(&id.to_string()).unwrap().append(message).unwrap();
}

#[test]
fn thread_is_listed_before_its_first_message() {
    // S004-10, E004-03
    let bare = TestHome::new();
    let only = new_thread(&bare.engine(), None);
    assert_eq!(bare.engine().conversations().list(&SessionListRequest::default()).unwrap()[0].listed.session.id, only);
    assert!(!bare.path(".rethread/memory.db").exists(), "a read creates no store");

    let home = home();
    // After everything in the transcripts.
    let created = crate::session_helpers::engine(&home, 1_000_000);
    let (first, second) = (new_thread(&created, Some("first")), new_thread(&created, Some("second")));
    let engine = crate::session_helpers::engine(&home, 1_000_001);
    append(&engine, first, ChatRole::User, "something");
    let before = contents_below(home.root());
    let ids = |request: &SessionListRequest| -> Vec<SessionId> {
        engine.conversations().list(request).unwrap().iter().map(|one| one.listed.session.id).collect()
    };
    let all = ids(&SessionListRequest::default());
    assert_eq!((all.len(), &all[..2]), (4, &[first, second][..]), "the one with the latest message comes first");
    assert_eq!(ids(&SessionListRequest { limit: Some(1), ..SessionListRequest::default() }), [first]);
    assert_eq!(
        ids(&SessionListRequest { agent: Some(Agent::Native), ..SessionListRequest::default() }),
        [first, second]
    );
    assert_eq!(ids(&SessionListRequest { agent: Some(Agent::Pi), ..SessionListRequest::default() }).len(), 1);
    assert_eq!(
        ids(&SessionListRequest { state: Some(SessionState::Active), ..SessionListRequest::default() }),
        [first, second]
    );
    assert_eq!(
        ids(&SessionListRequest { scope: SessionScope::Project("/nowhere".into()), ..SessionListRequest::default() }),
        []
    );
    let found = engine.conversations().get(second).unwrap();
    let thread = found.thread.unwrap();
    assert_eq!((thread.name.as_deref(), thread.message_count), (Some("second"), 0));
    assert_eq!((found.listed.session.agent, found.listed.session.is_empty), (Agent::Native, true));
    assert_eq!(contents_below(home.root()), before, "a read writes nothing");
}

#[test]
fn own_id_wins_over_aliases_and_names() {
    let home = home();
    let engine = home.engine();
    let ours = engine.sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let other = engine.sessions().resolve("0198a000").unwrap().session.id;
    engine.lifecycle().set_alias(&other.to_string(), &ours.to_string()).unwrap();
    assert_eq!(engine.sessions().resolve(&ours.to_string()).unwrap().session.id, ours);
    assert_eq!(engine.conversations().get(ours).unwrap().listed.session.external_id, CLAUDE_SESSION);
    // An unassigned id is not searched for in names.
    let unassigned = "01JZ0000000000000000000000";
    engine.lifecycle().set_name(&other.to_string(), &format!("as in {unassigned}")).unwrap();
    assert!(matches!(engine.sessions().resolve(unassigned), Err(EngineError::UnknownReference(_))));
}

#[test]
fn records_and_entries_are_paged() {
    let home = home();
    let engine = home.engine();
    let thread = new_thread(&engine, None);
    for text in ["one", "two", "three"] {
        append(&engine, thread, ChatRole::User, text);
    }
    let seqs = |page: PageRequest| {
        let page = engine.threads().records(thread, false, page).unwrap().records;
        (page.items.iter().map(|record| record.seq().unwrap()).collect::<Vec<_>>(), page.previous, page.next)
    };
    assert_eq!(seqs(PageRequest { limit: 2, ..ALL }), (vec![2, 3], Some(2), None));
    assert_eq!(seqs(PageRequest { from: Some(0), limit: 2, ..ALL }), (vec![1, 2], None, Some(3)));

    let session = engine.sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let (_, whole) = engine.sessions().entries(session, LogProfile::Structure, None, ALL).unwrap();
    let (_, first) = engine
        .sessions()
        .entries(session, LogProfile::Structure, None, PageRequest { from: Some(0), limit: 3, ..ALL })
        .unwrap();
    let rest = PageRequest { from: first.next, ..ALL };
    let (_, rest) = engine.sessions().entries(session, LogProfile::Structure, None, rest).unwrap();
    assert_eq!([first.items, rest.items].concat(), whole.items);
    let line = whole.items[5].location.line;
    let (_, around) =
        engine.sessions().entries(session, LogProfile::Structure, Some(line), PageRequest { limit: 6, ..ALL }).unwrap();
    assert!(around.items.len() == 6 && around.items.iter().any(|entry| entry.location.line == line), "{around:?}");

    assert!(matches!(engine.threads().records(session, false, ALL), Err(EngineError::NotAThread(_))));
    let unassigned: SessionId = "01JZ0000000000000000000000".parse().unwrap();
    assert!(matches!(engine.threads().records(unassigned, false, ALL), Err(EngineError::UnknownReference(_))));
    assert!(matches!(
        engine.sessions().entries(unassigned, LogProfile::Text, None, ALL),
        Err(EngineError::UnknownReference(_))
    ));
}

#[test]
fn session_changes_are_all_or_nothing() {
    let home = home();
    let engine = home.engine();
    let id = engine.sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let change = SessionChange {
        name: Some("the parser".into()),
        alias: Some("parser".into()),
        task: Some("fix it".into()),
        note: Some("ask Anna".into()),
        pinned: Some(true),
        add_tags: vec!["release".into()],
        remove_tags: Vec::new(),
        close: Some(CloseAction::End),
    };
    let before = contents_below(home.root());
    let wrong = [
        SessionChange { alias: Some("not one".into()), ..change.clone() },
        SessionChange { note: Some("  ".into()), ..change.clone() },
        SessionChange { add_tags: vec!["a,b".into()], ..change.clone() },
        // The session is old, so it has ended and cannot be suspended.
        SessionChange { close: Some(CloseAction::Suspend), ..change.clone() },
    ];
    for wrong in &wrong {
        assert!(engine.lifecycle().change(id, wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(contents_below(home.root()), before, "nothing was done");
    engine.lifecycle().change(id, &change).unwrap();
    let session = engine.conversations().get(id).unwrap().listed.session;
    assert_eq!((session.name.as_deref(), session.alias.as_deref()), (Some("the parser"), Some("parser")));
    let hot = engine.lifecycle().task_and_notes(id).unwrap();
    assert_eq!((hot.task.as_deref(), hot.notes.len()), (Some("fix it"), 1));
    let undo = SessionChange { name: Some(String::new()), alias: Some(String::new()), ..SessionChange::default() };
    engine.lifecycle().change(id, &undo).unwrap();
    let session = engine.conversations().get(id).unwrap().listed.session;
    assert!(session.alias.is_none() && session.name.as_deref() != Some("the parser"));
}

#[test]
fn empty_thread_can_be_changed_like_any_session() {
    let home = TestHome::new();
    let engine = home.engine();
    let id = new_thread(&engine, None);
    engine.conversations().register(id).unwrap();
    let found = engine.conversations().get(id).unwrap().listed;
    assert_eq!((found.state, found.session.name.as_deref()), (SessionState::Active, Some("New Session")));
    assert_eq!(found.session.last_activity_at, found.session.started_at);
    let change = SessionChange {
        name: Some("plans".into()),
        alias: Some("p".into()),
        task: Some("plan".into()),
        note: Some("tea".into()),
        close: Some(CloseAction::Suspend),
        ..SessionChange::default()
    };
    engine.lifecycle().change(id, &change).unwrap();
    let found = engine.conversations().get(id).unwrap();
    assert_eq!(found.thread.unwrap().name.as_deref(), Some("plans"));
    assert_eq!((found.listed.session.alias.as_deref(), found.listed.state), (Some("p"), SessionState::Suspended));
    assert_eq!(engine.lifecycle().task_and_notes(id).unwrap().task.as_deref(), Some("plan"));
    assert_eq!(engine.cards().get("p").unwrap().fields.name, "plans");
}

#[test]
fn delete_removes_threads_and_forgets_agent_sessions() {
    let home = home();
    let engine = home.engine();
    let thread = new_thread(&engine, None);
    assert!(engine.conversations().delete(thread).unwrap().is_none());
    assert!(matches!(engine.conversations().delete(thread), Err(EngineError::UnknownReference(_))));
    let id = engine.sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let forgotten = engine.conversations().delete(id).unwrap().unwrap();
    assert_eq!((forgotten.tombstones, forgotten.remaining().count()), (1, 0));
    home.sync();
    assert!(matches!(engine.conversations().get(id), Err(EngineError::UnknownReference(_))), "it does not come back");
}

#[test]
fn read_only_queries_change_no_file() {
    let home = home();
    let id = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let request = SearchRequest { text: "parser".into(), limit: 10, read_only: true, ..SearchRequest::default() };
    let hits = |engine: &Engine| -> Vec<String> {
        let found = engine.search().run(&request).unwrap();
        assert_eq!(found.degraded, None);
        found.hits.iter().map(|one| one.hit.session.citation(one.hit.entry.location.line)).collect()
    };
    let with_index = hits(&home.engine());
    assert!(!with_index.is_empty());
    // Also without an index and with a damaged one.
    for harm in ["none", "empty", "missing"] {
        match harm {
            "none" => {}
            "empty" => {
                for file in files_below(&home.path(".rethread/index")) {
                    fs::write(file, "").unwrap();
                }
            }
            _ => fs::remove_dir_all(home.path(".rethread/index")).unwrap(),
        }
        let before = contents_below(home.root());
        let engine = home.engine();
        assert_eq!(hits(&engine), with_index, "{harm}");
        assert_eq!(hits(&engine), with_index, "{harm}, from the cache");
        let file = Some("parser.rs".to_owned());
        let touched = TimelineRequest { file, limit: 5, read_only: true, ..TimelineRequest::default() };
        engine.sessions().timeline(&touched).unwrap();
        engine.awareness().stored_activity(&id.to_string()).unwrap();
        drop(engine);
        assert_eq!(contents_below(home.root()), before, "{harm}");
    }
}
