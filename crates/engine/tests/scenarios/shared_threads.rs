//! Threads in a database that several nodes share: synced by one of them, also if another one was killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    Engine, Environment, NewMessage, NewThread, SendRequest, SharedStore, SyncRequest, ThreadCatchUp,
};
use rethread_model::thread::{ChatRole, ContentBlock, ThreadId};
use rethread_store::{AuthorizedSpace, StoreLocation};
use rethread_testing::{
    StubModel, StubReply, TestHome, TestPostgres, files_below, new_space_name, uses_server_store, wait_until,
};

/// Two nodes of one space, with homes of their own.
struct Nodes {
    homes: [TestHome; 2],
    store: SharedStore,
}

impl Nodes {
    fn new() -> Self {
        let homes = [TestHome::new(), TestHome::new()];
        let location = match TestPostgres::shared().filter(|_| uses_server_store()) {
            Some(server) => server.location(),
            None => StoreLocation::in_folder(&homes[0].path(".")),
        };
        let space = AuthorizedSpace::operator(new_space_name().parse().unwrap());
        Self { homes, store: SharedStore { location, space } }
    }

    fn engine(&self, number: usize) -> Engine {
        let store = Some(self.store.clone());
        Engine::open(Environment { store, ..self.homes[number].environment() }).unwrap()
    }
}

fn new_thread(engine: &Engine) -> ThreadId {
    engine.threads().create(&NewThread::default()).unwrap().id
}

fn append(engine: &Engine, thread: ThreadId, text: &str) {
    let message = NewMessage {
        role: ChatRole::User,
        content: vec![ContentBlock::text(text)],
        tool_call_id: None,
        is_error: false,
        client_id: None,
    };
    engine.threads().open(&thread.to_string()).unwrap().append(message).unwrap();
}

fn prompts(engine: &Engine, thread: ThreadId) -> u64 {
    engine.sessions().resolve(&thread.to_string()).map_or(0, |session| session.session.counts.prompts)
}

#[test]
fn a_thread_that_a_killed_node_did_not_sync_is_synced_by_another() {
    let nodes = Nodes::new();
    let (killed, other) = (nodes.engine(0), nodes.engine(1));
    let thread = new_thread(&killed);
    append(&killed, thread, "the last words");
    let mut catch_up = ThreadCatchUp::default();
    assert_eq!(catch_up.run(&other).unwrap(), 0, "its own node may be about to sync it");
    assert_eq!(catch_up.run(&other).unwrap(), 1);
    assert_eq!(prompts(&other, thread), 1);
    assert_eq!(catch_up.run(&other).unwrap() + catch_up.run(&other).unwrap(), 0);
    append(&killed, thread, "and more");
    catch_up.run(&other).unwrap();
    killed.threads().sync(thread).unwrap();
    assert_eq!(catch_up.run(&other).unwrap(), 0, "its own node has synced it");
    assert_eq!(prompts(&other, thread), 2);
}

#[test]
fn an_older_copy_of_a_thread_is_not_taken_for_a_rewritten_one() {
    if !uses_server_store() {
        return;
    }
    let nodes = Nodes::new();
    let (one, two) = (nodes.engine(0), nodes.engine(1));
    let thread = new_thread(&one);
    append(&one, thread, "first");
    one.threads().sync(thread).unwrap();
    two.threads().sync(thread).unwrap();
    // As if another node had appended and synced after this one has made its copy.
    let (server, space) = (TestPostgres::shared().unwrap(), nodes.store.space.space().as_str().to_owned());
    let advance = "UPDATE transcript SET read_offset = read_offset + 500, size = size + 500 WHERE space = $1";
    server.connect().execute(advance, &[&space]).unwrap();
    let before = server.contents(&space);
    let report = two.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert_eq!(report.agents.iter().map(|agent| agent.bytes_read).sum::<u64>(), 0);
    two.threads().sync(thread).unwrap();
    let after = server.contents(&space);
    for table in ["session", "entry", "transcript"] {
        assert_eq!(before[table], after[table], "nothing is read again: {table}");
    }
    assert_eq!(prompts(&two, thread), 1);
}

#[test]
fn what_a_node_keeps_of_a_thread_goes_when_another_node_deletes_it() {
    let nodes = Nodes::new();
    let (one, two) = (nodes.engine(0), nodes.engine(1));
    let [deleted, kept] = ["the walrus", "the heron"].map(|text| {
        let thread = new_thread(&one);
        append(&one, thread, text);
        one.threads().sync(thread).unwrap();
        two.threads().sync(thread).unwrap();
        append(&one, thread, "synced by the second node");
        two.threads().sync(thread).unwrap();
        thread
    });
    let has_copy = |thread: ThreadId| two.folder().join(format!("threads/{thread}")).exists();
    assert!(has_copy(deleted) && has_copy(kept));
    one.threads().delete(&deleted.to_string()).unwrap();
    ThreadCatchUp::default().run(&two).unwrap();
    assert!(!has_copy(deleted) && has_copy(kept));
    let left = files_below(two.folder()).into_iter().map(|file| std::fs::read(file).unwrap());
    assert!(left.into_iter().all(|bytes| !String::from_utf8_lossy(&bytes).contains("walrus")));
}

#[test]
fn a_session_that_a_killed_node_left_of_a_deleted_thread_goes() {
    if !uses_server_store() {
        return;
    }
    let nodes = Nodes::new();
    let (killed, other) = (nodes.engine(0), nodes.engine(1));
    let thread = new_thread(&killed);
    append(&killed, thread, "the walrus");
    killed.threads().sync(thread).unwrap();
    let mark = "UPDATE thread SET is_deleted = 1, head = 0, metadata = '' WHERE space = $1";
    TestPostgres::shared().unwrap().connect().execute(mark, &[&nodes.store.space.space().as_str()]).unwrap();
    assert_eq!(prompts(&other, thread), 1);
    ThreadCatchUp::default().run(&other).unwrap();
    assert_eq!(prompts(&other, thread), 0);
}

#[test]
fn a_node_names_a_thread_in_its_own_process_and_space() {
    let nodes = Nodes::new();
    let model = StubModel::with_replies(vec![StubReply::text("fine"), StubReply::text("Weekday table trouble")]);
    let mut environment = Environment { store: Some(nodes.store.clone()), ..nodes.homes[1].environment() };
    environment.config_overrides.extend(model.settings());
    environment.config_overrides.push(("threads.titles".to_owned(), "true".to_owned()));
    environment.binary = Some("/bin/sh".into());
    let node = Engine::open(Environment { reads_only_threads: true, ..environment.clone() }).unwrap();
    let thread = new_thread(&node);
    let request = SendRequest { text: Some("why does the parser fail?".to_owned()), ..SendRequest::default() };
    node.turns().send(&thread.to_string(), &request, &|| false, &mut |_| {}).unwrap();
    let command = Engine::open(environment).unwrap();
    assert!(!command.turns().start_title(thread).unwrap(), "its process ends before the model answers");
    assert!(node.turns().start_title(thread).unwrap());
    wait_until("the name", || {
        node.threads()
            .list()
            .unwrap()
            .threads
            .iter()
            .any(|listed| listed.name.as_deref() == Some("Weekday table trouble"))
    });
    assert!(!node.turns().start_title(thread).unwrap(), "once");
    let stores = nodes.homes[1].root().join(".rethread/stores");
    let files = files_below(&stores);
    assert!(!files.is_empty() && files.iter().all(|file| !file.ends_with("memory.db")), "{files:?}");
}
