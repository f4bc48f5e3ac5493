//! Threads as sessions: listed, shown, found and forgotten like agent sessions.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{
    CompactRequest, Engine, EngineError, NewMessage, NewThread, SearchRequest, SessionListRequest, ShowRequest,
    Summarizer, SyncRequest,
};
use rethread_model::OWN_CALL_TAG;
use rethread_model::thread::{ChatRole, ContentBlock};
use rethread_testing::{NATIVE_THREAD, TestHome, TranscriptBuilder, files_below, skips_server_store};

fn named(engine: &Engine, name: &str) -> String {
    engine.threads().create(&NewThread { name: Some(name.to_owned()), ..NewThread::default() }).unwrap().id.to_string()
}

fn append(engine: &Engine, thread: &str, role: ChatRole, text: &str) {
    let message = NewMessage {
        role,
        content: vec![ContentBlock::text(text)],
        tool_call_id: None,
        is_error: false,
        client_id: None,
    };
    let open = engine.threads().open(thread).unwrap();
    open.append(message).unwrap();
    let id = open.id();
    drop(open);
    engine.threads().sync(id).unwrap();
}

fn found(engine: &Engine, text: &str) -> usize {
    let request = SearchRequest { text: text.to_owned(), limit: 10, ..SearchRequest::default() };
    engine.search().run(&request).unwrap().hits.len()
}

#[test]
fn thread_is_a_session_with_the_same_id() {
    let home = TestHome::new();
    let engine = home.engine();
    let thread = named(&engine, "Tuesdays");
    append(&engine, &thread, ChatRole::User, "why does the parser fail?");
    append(&engine, &thread, ChatRole::Assistant, "because of the zymurgy table");
    let listed = engine
        .sessions()
        .list(&SessionListRequest { scope: engine.sessions().current_project(), ..SessionListRequest::default() })
        .unwrap();
    let session = &listed[0].session;
    assert_eq!((session.id.to_string(), session.agent.as_str()), (thread.clone(), "native"));
    assert_eq!((session.name.as_deref(), session.counts.prompts, session.counts.messages), (Some("Tuesdays"), 1, 2));
    assert_eq!(engine.sessions().show("tuesdays", ShowRequest::default()).unwrap().entries.len(), 2);
    assert_eq!(found(&engine, "zymurgy"), 1);
}

#[test]
fn thread_log_is_synced_like_a_transcript() {
    let home = TestHome::new();
    home.write(".rethread/threads/01KJSWX700000000000000000A/session.jsonl", NATIVE_THREAD);
    home.sync();
    let engine = home.engine();
    let session = engine.sessions().resolve("01KJSWX700000000000000000A").unwrap().session;
    let counts = session.counts;
    assert_eq!((counts.prompts, counts.messages, counts.tool_calls, counts.tool_errors), (1, 3, 2, 1));
    assert_eq!(
        (counts.files_edited, session.cwd.as_deref(), session.model.as_deref()),
        (1, Some("/app"), Some("small"))
    );
    assert_eq!((session.tokens.input, session.tokens.output), (40, 12));
    let dump = home.dump();
    engine.maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(home.dump(), dump);
}

#[test]
fn deleted_thread_is_gone_everywhere() {
    let home = TestHome::new();
    let engine = home.engine();
    let thread = named(&engine, "secret plans");
    append(&engine, &thread, ChatRole::User, "the quokka flies at midnight");
    assert_eq!(found(&engine, "quokka"), 1);
    engine.threads().delete("secret plans").unwrap();
    assert_eq!(found(&engine, "quokka"), 0);
    assert!(matches!(engine.sessions().resolve(&thread), Err(EngineError::UnknownReference(_))));
    assert!(matches!(engine.threads().context("secret plans"), Err(EngineError::UnknownThread(_))));
    home.sync();
    engine.maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(found(&engine, "quokka"), 0);
    assert_eq!(engine.maintenance().verify().unwrap().damage, vec![]);
}

#[test]
fn interrupted_deletion_is_completed_by_the_next_sync() {
    if skips_server_store("a row is deleted at once") {
        return;
    }
    let home = TestHome::new();
    let engine = home.engine();
    let thread = named(&engine, "halfway");
    append(&engine, &thread, ChatRole::User, "the quokka flies at midnight");
    home.write(&format!(".rethread/threads/deleted/{thread}"), "");
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert!(!home.path(&format!(".rethread/threads/{thread}")).exists());
    assert_eq!(found(&engine, "quokka"), 0);
}

#[test]
fn secrets_stay_in_the_thread_log() {
    let home = TestHome::new();
    let engine = home.engine();
    let secret = format!("ghp_{}", "x7Kq".repeat(9));
    let thread = named(&engine, &format!("token {secret}"));
    append(&engine, &thread, ChatRole::User, &format!("log in with {secret} please"));
    home.sync();
    let own = home.path(&format!(".rethread/threads/{thread}"));
    for file in files_below(&home.path(".rethread")).iter().filter(|file| !file.starts_with(&own)) {
        let bytes = fs::read(file).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{}", file.display());
    }
}

#[test]
fn compaction_without_a_model_uses_rules_and_skips_recent_threads() {
    // E004-20, L004-08
    let home = TestHome::new();
    let engine = home.engine();
    let thread = named(&engine, "long");
    append(&engine, &thread, ChatRole::User, "make the parser faster, never use unsafe");
    let request = CompactRequest::default();
    assert!(engine.turns().compact(&thread, &request, &|| false, &mut |_| {}).unwrap().is_none());
    for number in 0..30 {
        append(&engine, &thread, ChatRole::Assistant, &format!("step {number}: {}", "measured it. ".repeat(300)));
        append(&engine, &thread, ChatRole::User, "go on");
    }
    let planned = engine.turns().plan_compaction(&thread, &request).unwrap().unwrap();
    let before = fs::read(home.path(&format!(".rethread/threads/{thread}/session.jsonl"))).unwrap();
    let report = engine.turns().compact(&thread, &request, &|| false, &mut |_| {}).unwrap().unwrap();
    assert_eq!(
        (report.summarizer, report.record.first_kept_seq),
        (Summarizer::Rules(None), planned.record.first_kept_seq)
    );
    assert!(report.record.summary.contains("make the parser faster"));
    assert!(fs::read(home.path(&format!(".rethread/threads/{thread}/session.jsonl"))).unwrap().starts_with(&before));
    let context = engine.threads().context(&thread).unwrap();
    assert_eq!(context.compaction_seq, Some(report.record.seq));
    assert!(
        engine.turns().compact(&thread, &request, &|| false, &mut |_| {}).unwrap().is_none(),
        "E004-27: nothing new to do"
    );
}

#[test]
fn reading_a_thread_writes_nothing() {
    // L004-03
    let home = TestHome::new();
    let engine = home.engine();
    let thread = named(&engine, "calm");
    append(&engine, &thread, ChatRole::User, "hello");
    let all = || {
        let mut files = files_below(&home.path(".rethread/threads"));
        files.sort();
        files.into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect::<Vec<_>>()
    };
    let before = all();
    engine.threads().context(&thread).unwrap();
    engine.threads().list().unwrap();
    engine.turns().plan_compaction(&thread, &CompactRequest::default()).unwrap();
    assert_eq!(all(), before);
}

#[test]
fn transcripts_of_own_requests_are_not_synced() {
    let home = TestHome::new();
    let sessions = [
        ("5e551011-0000-4000-8000-00000000000b", format!("{OWN_CALL_TAG}\nYou name conversations.")),
        ("5e551011-0000-4000-8000-00000000000c", format!("what does {OWN_CALL_TAG} mean?")),
    ];
    for (session, prompt) in sessions {
        let transcript = TranscriptBuilder::new(session).user(prompt).build();
        home.write(&format!(".claude/projects/-app/{session}.jsonl"), transcript);
    }
    home.sync();
    let sessions = home
        .engine()
        .sessions()
        .list(&SessionListRequest { include_empty: true, ..SessionListRequest::default() })
        .unwrap();
    assert_eq!(sessions.len(), 1);
    assert!(sessions[0].session.external_id.ends_with('c'));
}
