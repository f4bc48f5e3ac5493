//! What the live server needs: the turn queue, client ids, and notice of stored changes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{ChatError, Engine, EngineError, NewMessage, PendingTurn, SendRequest, SyncRequest};
use rethread_model::SessionId;
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMessage};
use rethread_testing::{
    StubModel, StubReply, TestHome, TranscriptBuilder, skips_server_store, uses_server_store, wait_until,
};
use serde_json::json;

use crate::turns::{engine, log, send, thread};

fn accept(engine: &Engine, thread: &str, text: &str) -> PendingTurn {
    let request = SendRequest { text: Some(text.to_owned()), ..SendRequest::default() };
    engine.turns().accept(thread, request).unwrap()
}

fn texts(home: &TestHome, thread: &str) -> Vec<String> {
    log(home, thread).iter().filter_map(|record| record.message().map(ThreadMessage::text)).collect()
}

#[test]
fn turns_run_in_the_order_of_acceptance() {
    // S004-28
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("one"), StubReply::text("two")]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let (first, second) = (accept(&engine, &thread, "first"), accept(&engine, &thread, "second"));
    assert!(first.run_id() < second.run_id());
    assert_eq!((first.ahead(), second.ahead()), (0, 1));
    assert!(first.is_next() && !second.is_next());
    assert!(texts(&home, &thread).is_empty(), "an accepted message is not written yet");
    std::thread::scope(|scope| {
        let late = scope.spawn(|| engine.turns().run(second, &|| false, &mut |_| {}).unwrap());
        engine.turns().run(first, &|| false, &mut |_| {}).unwrap();
        late.join().unwrap();
    });
    assert_eq!(texts(&home, &thread), ["first", "one", "second", "two"]);
}

#[test]
fn dropped_turn_does_not_block_the_queue() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("two")]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let (first, second) = (accept(&engine, &thread, "first"), accept(&engine, &thread, "second"));
    drop(first);
    assert!(second.is_next());
    engine.turns().run(second, &|| false, &mut |_| {}).unwrap();
    assert_eq!(texts(&home, &thread), ["second", "two"]);
}

#[test]
fn a_waiting_turn_does_not_ask_a_server_each_time() {
    let home = TestHome::new();
    let engine = engine(&home, &StubModel::with_replies(Vec::new()), &[]);
    let thread = thread(&engine);
    let (first, second) = (accept(&engine, &thread, "first"), accept(&engine, &thread, "second"));
    assert!(first.is_next() && first.is_next() && !second.is_next());
    drop(first);
    assert_eq!(second.is_next(), !uses_server_store());
    wait_until("the turn", || second.is_next());
}

#[test]
fn budget_spent_while_waiting_refuses_the_turn() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("one")]);
    // Enough for one worst case but not for a second one.
    let engine = engine(&home, &server, &[("budget.daily_tokens", "1100"), ("model.max_output_tokens", "900")]);
    let thread = thread(&engine);
    let (first, second) = (accept(&engine, &thread, "first"), accept(&engine, &thread, &"second ".repeat(60)));
    engine.turns().run(first, &|| false, &mut |_| {}).unwrap();
    let refused = engine.turns().run(second, &|| false, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, EngineError::Chat(ChatError::Budget(_))), "{refused}");
    assert_eq!(texts(&home, &thread), ["first", "one"]);
}

#[test]
fn sent_messages_are_found_by_client_id() {
    // Fault 31
    let home = TestHome::new();
    let calls = vec![("c1", "search_memory", json!({"query": "x"}))];
    let server =
        StubModel::with_replies(vec![StubReply::ToolCalls(calls), StubReply::text("found"), StubReply::text("other")]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let message = NewMessage {
        role: ChatRole::User,
        content: vec![ContentBlock::text("noted")],
        tool_call_id: None,
        is_error: false,
        client_id: Some("a".into()),
    };
    engine.threads().open(&thread).unwrap().append(message).unwrap();
    let request = SendRequest {
        text: Some("look".into()),
        can_search_memory: true,
        client_id: Some("b".into()),
        ..SendRequest::default()
    };
    engine.turns().send(&thread, &request, &|| false, &mut |_| {}).unwrap();
    send(&engine, &thread, "something else").unwrap();
    let sent = |client_id: &str| -> Vec<String> {
        engine
            .threads()
            .messages_by_client_id(thread.parse().unwrap(), client_id)
            .unwrap()
            .iter()
            .map(ThreadMessage::text)
            .collect()
    };
    assert_eq!(sent("a"), ["noted"]);
    assert_eq!(sent("b"), ["look", "", "no results", "found"], "and all of its turn");
    assert!(sent("c").is_empty());
}

#[test]
fn changes_name_changed_and_renamed_sessions() {
    let home = TestHome::new();
    let engine = home.engine();
    let mut watcher = engine.server().change_watcher();
    if skips_server_store("there always is a store on a server") {
        assert_eq!(watcher.poll().unwrap().sessions, None, "the first call reports a change");
    } else {
        assert_eq!(watcher.poll(), None, "there is no store yet");
    }
    let transcript = ".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl";
    let line = |number: usize| {
        let session = format!("9a9eadc8-c1f1-493e-a0f1-{number:012}");
        TranscriptBuilder::new(&session).user(format!("paint fence {number}")).build()
    };
    let sync = || engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    home.write(transcript, line(1));
    sync();
    let id = engine.sessions().resolve("9a9eadc8").unwrap().session.id;
    assert_eq!(watcher.poll().unwrap().sessions, Some(vec![id]), "all of a new store is new");
    assert_eq!(watcher.poll(), None);
    home.write(transcript, &(line(1) + &line(2)));
    sync();
    assert_eq!(watcher.poll().unwrap().sessions, Some(vec![id]));
    engine.lifecycle().set_name(&id.to_string(), "The fence").unwrap();
    let change = watcher.poll().unwrap();
    assert_eq!((change.sessions, change.renamed), (Some(vec![id]), vec![(id, "The fence".to_owned())]));
    engine.lifecycle().end(&id.to_string()).unwrap();
    assert_eq!(watcher.poll().unwrap().sessions, Some(vec![id]), "its state differs");
    let thread =
        engine.threads().create(&rethread_engine::NewThread { name: Some("Mine".into()), ..Default::default() });
    let thread = thread.unwrap().id;
    engine.threads().sync(thread).unwrap();
    let own: SessionId = thread.session_id();
    assert_eq!(watcher.poll().unwrap().renamed, [], "it was created with its name");
    engine.lifecycle().set_name(&thread.to_string(), "Ours").unwrap();
    assert_eq!(watcher.poll().unwrap().renamed, [(own, "Ours".to_owned())]);
    for number in 0..101 {
        let path = format!(".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-{number:012}.jsonl");
        home.write(&path, line(number + 10));
    }
    sync();
    assert_eq!(watcher.poll().unwrap().sessions, None, "too many to name");
    if skips_server_store("replaces the file of the store") {
        return;
    }
    // The store was replaced: everything counts as changed.
    std::fs::remove_file(home.path(".rethread/memory.db")).unwrap();
    home.write(".rethread/memory.db", "");
    assert_eq!(watcher.poll().map(|change| change.sessions), Some(None));
}
