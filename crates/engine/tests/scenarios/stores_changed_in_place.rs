//! Sessions of Cursor and Hermes whose rows change after they were read, or that are stored twice.

use std::fs;

use rethread_engine::SyncRequest;
use rethread_ingest::agents::made_up::MadeUpDatabase;
use rethread_model::{Agent, SessionCounts};
use rethread_testing::TestHome;

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn database(home: &TestHome, path: &str, sql: &str) -> MadeUpDatabase {
    fs::create_dir_all(home.path(path).parent().unwrap()).unwrap();
    MadeUpDatabase::with_sql(&home.path(path), sql).unwrap()
}

/// Reads one agent and returns how many entries were new.
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn new_entries(home: &TestHome, agent: Agent) -> u64 {
    let request = SyncRequest { agent: Some(agent), ..SyncRequest::default() };
    let report = home.engine().sync().run(&request, &mut |_| {}).unwrap();
    report.agents.iter().map(|run| run.entries).sum()
}

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn counts(home: &TestHome, session: &str) -> SessionCounts {
    home.engine().sessions().resolve(session).unwrap().session.counts
}

/// A session of Cursor's editor with a prompt and a call. The list of its messages is written with every change.
fn composer(status: &str, call: &str, messages: &str) -> String {
    format!(
        r#"INSERT INTO cursorDiskKV VALUES
            ('bubbleId:c1:b2', '{{"type":2,"toolFormerData":{{"name":"run_terminal_cmd","toolCallId":"t1",
                "params":"{{\"command\":\"make\"}}",{call}}}}}'),
            ('composerData:c1', '{{"composerId":"c1","createdAt":1782900000000,"lastUpdatedAt":1782900000000,
                "status":"{status}","fullConversationHeadersOnly":[{{"bubbleId":"b1","type":1}},{messages}]}}');"#
    )
}

#[test]
fn a_call_of_cursors_editor_is_stored_once_it_has_ended() {
    let home = TestHome::new();
    let sql = r#"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
        INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"type":1,"text":"build it"}'),
            ('bubbleId:c1:b3', '{"type":2,"text":"It fails."}');"#;
    let database = database(&home, ".config/Cursor/User/globalStorage/state.vscdb", sql);
    let first = r#"{"bubbleId":"b2","type":2}"#;
    database.run(&composer("generating", r#""status":"loading""#, first)).unwrap();
    assert_eq!(new_entries(&home, Agent::Cursor), 1, "only the prompt");

    let result = r#""status":"completed","result":"{\"output\":\"no rule\",\"exitCodeV2\":2}""#;
    let both = r#"{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2}"#;
    database.run(&composer("completed", result, both)).unwrap();
    assert_eq!(new_entries(&home, Agent::Cursor), 2, "the call and the answer");
    let counts = counts(&home, "c1");
    assert_eq!((counts.prompts, counts.messages, counts.tool_calls, counts.tool_errors), (1, 3, 1, 1));
    assert_eq!(new_entries(&home, Agent::Cursor), 0);
}

#[test]
fn a_session_that_an_agent_stores_twice_is_read_once() {
    let home = TestHome::new();
    let sql = r#"CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
        INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"type":1,"text":"build it"}');"#;
    let database = database(&home, ".config/Cursor/User/globalStorage/state.vscdb", sql);
    database.run(&composer("completed", r#""status":"cancelled""#, r#"{"bubbleId":"b2","type":2}"#)).unwrap();
    assert_eq!(new_entries(&home, Agent::Cursor), 2);
    // Cursor also writes the text of the conversation to a file.
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"build it"}]}}"#;
    home.write(".cursor/projects/app/agent-transcripts/c1/c1.jsonl", format!("{line}\n"));
    home.write(".cursor/projects/app/agent-transcripts/c2/c2.jsonl", format!("{line}\n"));
    assert_eq!(new_entries(&home, Agent::Cursor), 1, "the other session");
    assert_eq!(counts(&home, "c1").prompts, 1);
    assert_eq!(counts(&home, "c2").prompts, 1);
}

#[test]
fn messages_that_hermes_marks_as_taken_back_do_not_count_any_more() {
    let home = TestHome::new();
    let sql = "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT,
            parent_session_id TEXT, started_at REAL, ended_at REAL, input_tokens INTEGER, output_tokens INTEGER,
            rewind_count INTEGER DEFAULT 0);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
            tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0);
        INSERT INTO sessions VALUES ('h1', 'cli', 'm', NULL, NULL, 1782900000, NULL, 1, 1, 0);
        INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'user', 'one', 1782900001),
            ('h1', 'assistant', 'first', 1782900002), ('h1', 'user', 'two', 1782900003),
            ('h1', 'assistant', 'second', 1782900004);";
    let database = database(&home, ".hermes/state.db", sql);
    assert_eq!(new_entries(&home, Agent::Hermes), 4);
    database
        .run(
            "UPDATE messages SET active = 0 WHERE id > 2; UPDATE sessions SET rewind_count = 1;
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'user', 'three', 1782900005);",
        )
        .unwrap();
    new_entries(&home, Agent::Hermes);
    let counts = counts(&home, "h1");
    assert_eq!((counts.prompts, counts.messages), (2, 3), "one and three");
    // Shortening a conversation takes nothing back.
    database.run("UPDATE messages SET active = 0, compacted = 1 WHERE id <= 2;").unwrap();
    assert_eq!(new_entries(&home, Agent::Hermes), 0);
    assert_eq!(self::counts(&home, "h1").prompts, 2);
}
