//! Databases that an agent writes while they are read, with those of OpenCode as the example.

use std::fs;

use rethread_engine::{SyncReport, SyncRequest};
use rethread_ingest::agents::made_up::MadeUpDatabase;
use rethread_model::{Agent, EntryKind};
use rethread_testing::TestHome;

const DATABASE: &str = ".local/share/opencode/opencode.db";
/// A time that is always recent.
const FAR_FUTURE: u64 = 4_102_444_800_000;

/// The writing side of a database with one session.
struct OpenCodeDatabase(MadeUpDatabase);

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
impl OpenCodeDatabase {
    fn create(home: &TestHome) -> Self {
        let path = home.path(DATABASE);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let sql = "PRAGMA journal_mode = WAL;
            CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text,
                revert text, time_created integer, time_updated integer);
            CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer,
                data text);
            CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
            CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
                time_updated integer, data text);
            CREATE INDEX part_message_id_id_idx ON part (message_id, id);
            INSERT INTO session VALUES ('ses_1', 'prj', NULL, '/app', 'Sky', NULL, 1700000000000, 4102444800000);";
        Self(MadeUpDatabase::with_sql(&path, sql).unwrap())
    }

    fn run(&self, sql: &str) {
        self.0.run(sql).unwrap();
    }

    /// Adds a message or changes it in place. A message of the model without an end is being written.
    fn put_message(&self, number: u64, role: &str, is_over: bool) {
        let created = 1_700_000_000_000 + number;
        let end = if is_over { format!(",\"completed\":{created}") } else { String::new() };
        let data = format!(r#"{{"role":"{role}","modelID":"m","time":{{"created":{created}{end}}}}}"#);
        self.run(&format!(
            "INSERT INTO message VALUES ('{}', 'ses_1', {created}, {FAR_FUTURE}, '{data}')
             ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            message_id(number)
        ));
    }

    /// Adds a part of a message or changes it in place.
    fn put_part(&self, message: u64, number: u64, updated_at: u64, data: &str) {
        self.run(&format!(
            "INSERT INTO part VALUES ('prt_{message:06}_{number:06}', '{}', 'ses_1', 0, {updated_at}, '{data}')
             ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            message_id(message)
        ));
    }

    fn add_text(&self, number: u64, role: &str, text: &str) {
        self.put_message(number, role, true);
        self.put_part(number, 0, FAR_FUTURE + number, &text_part(text));
    }
}

fn message_id(number: u64) -> String {
    format!("msg_{number:06}")
}

fn text_part(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}","time":{{"start":1,"end":2}}}}"#)
}

/// New entries, and bytes of new messages.
fn totals(report: &SyncReport) -> (u64, u64) {
    let agents = report.agents.iter();
    assert!(agents.clone().all(|run| run.warnings.is_empty()), "{:?}", report.agents);
    agents.fold((0, 0), |(entries, bytes), run| (entries + run.entries, bytes + run.bytes_read))
}

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn texts(home: &TestHome) -> Vec<String> {
    let shown = home.engine().sessions().show("ses_1", rethread_engine::ShowRequest::default()).unwrap();
    let is_text = |kind: EntryKind| matches!(kind, EntryKind::Prompt | EntryKind::AssistantText | EntryKind::Call);
    shown.entries.into_iter().filter(|entry| is_text(entry.kind)).map(|entry| entry.text).collect()
}

#[test]
fn an_answer_is_stored_once_it_is_written_and_its_calls_at_once() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.put_message(2, "assistant", false);
    database.put_part(2, 0, FAR_FUTURE, r#"{"type":"text","text":"Let me th","time":{"start":1}}"#);
    let call = |state: &str| format!(r#"{{"type":"tool","tool":"bash","callID":"c","state":{state}}}"#);
    database.put_part(2, 1, FAR_FUTURE, &call(r#"{"status":"running","input":{"command":"sleep 9"}}"#));
    // A prompt that waits until the answer is over.
    database.add_text(3, "user", "and at night?");
    assert_eq!(totals(&home.sync()).0, 3);
    assert_eq!(texts(&home), ["why is the sky blue?", "Executed sleep 9", "and at night?"]);

    database.put_part(2, 0, FAR_FUTURE + 10, &text_part("Let me think."));
    let result = r#"{"status":"completed","input":{"command":"sleep 9"},"output":"x","metadata":{"exit":3}}"#;
    database.put_part(2, 1, FAR_FUTURE + 11, &call(result));
    database.put_message(2, "assistant", true);
    assert_eq!(totals(&home.sync()).0, 1, "only the text is new");
    let session = home.engine().sessions().resolve("ses_1").unwrap().session;
    assert_eq!((session.counts.messages, session.counts.tool_calls, session.counts.tool_errors), (3, 1, 1));
    assert_eq!(totals(&home.sync()), (0, 0));
}

#[test]
fn a_prompt_that_is_edited_in_place_replaces_what_was_stored() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky bleu?");
    database.add_text(2, "assistant", "Because of scattering.");
    home.sync();
    database.put_part(1, 0, FAR_FUTURE + 9, &text_part("why is the sky blue?"));
    home.sync();
    assert_eq!(texts(&home), ["why is the sky blue?", "Because of scattering."]);
    assert_eq!(totals(&home.sync()), (0, 0));
}

#[test]
fn results_that_the_agent_marks_as_old_are_not_read_again() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.put_message(2, "assistant", true);
    let part = |time: &str| {
        format!(
            r#"{{"type":"tool","tool":"read","state":{{"status":"completed","input":{{"filePath":"a"}},"output":"x","time":{time}}}}}"#
        )
    };
    database.put_part(2, 0, FAR_FUTURE, &part(r#"{"start":1,"end":2}"#));
    database.put_part(2, 1, FAR_FUTURE, r#"{"type":"step-finish","tokens":{"input":1,"output":1}}"#);
    home.sync();
    database.put_part(2, 0, FAR_FUTURE + 9, &part(r#"{"start":1,"end":2,"compacted":3}"#));
    database.add_text(3, "user", "and at night?");
    assert_eq!(totals(&home.sync()).0, 1);
    assert_eq!(home.bytes_read(), 0);
}

#[test]
fn undone_messages_do_not_count_until_they_are_restored() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.add_text(2, "assistant", "Because of scattering.");
    database.add_text(3, "user", "are you sure?");
    home.sync();
    let prompts = || home.engine().sessions().resolve("ses_1").unwrap().session.counts.prompts;
    let steps = [("'{\"messageID\":\"msg_000003\"}'", 1), ("NULL", 2), ("'{\"messageID\":\"msg_000001\"}'", 0)];
    for (at, (revert, expected)) in (FAR_FUTURE + 100..).zip(steps) {
        database.run(&format!("UPDATE session SET revert = {revert}, time_updated = {at}"));
        home.sync();
        assert_eq!(prompts(), expected, "{revert}");
    }
    // The next prompt deletes what was undone.
    let at = FAR_FUTURE + 200;
    database
        .run(&format!("DELETE FROM message; DELETE FROM part; UPDATE session SET revert = NULL, time_updated = {at}"));
    database.add_text(4, "user", "what is dusk?");
    assert_eq!(totals(&home.sync()).0, 1, "and no warning");
    assert_eq!(prompts(), 1);
    assert!(home.dump().contains("why is the sky blue?"), "kept, as an abandoned branch");
    database.put_message(5, "assistant", true);
    database.put_part(5, 0, at + 1, &text_part("The end of a day."));
    let (entries, bytes) = totals(&home.sync());
    assert!(entries == 1 && bytes < 450, "only the new message is read: {bytes} bytes");
}

#[test]
fn an_open_transaction_of_the_agent_neither_waits_nor_makes_wait() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.run("BEGIN IMMEDIATE");
    database.add_text(2, "assistant", "not committed");
    assert_eq!(totals(&home.sync()).0, 1);
    database.run("PRAGMA busy_timeout = 0; COMMIT");
    assert_eq!(totals(&home.sync()).0, 1);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    let log = fs::metadata(home.path(&format!("{DATABASE}-wal"))).unwrap();
    assert_eq!(log.len(), 0, "no reader holds the log");
}

#[test]
fn a_long_session_that_grows_by_a_part_is_read_from_there() {
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    let long = "x".repeat(200);
    database.run("BEGIN");
    database.add_text(1, "user", "count");
    for message in 2..1002 {
        database.put_message(message, "assistant", true);
        for part in 0..5 {
            database.put_part(message, part, FAR_FUTURE, &text_part(&format!("{long} {message} {part}")));
        }
    }
    database.run("COMMIT");
    let (entries, bytes) = totals(&home.sync());
    assert!(entries == 5001 && bytes > 1_000_000, "{entries} entries, {bytes} bytes");
    database.put_message(1002, "assistant", true);
    database.put_part(1002, 0, FAR_FUTURE + 1, &text_part("one more"));
    let (entries, bytes) = totals(&home.sync());
    assert!(entries == 1 && bytes < 1000, "{entries} entries, {bytes} bytes");
}

#[test]
fn an_exported_session_is_read_where_the_user_names_it() {
    // Programs that hide secrets may overwrite ids, each with the same text.
    let message = |role: &str, parts: &str, more: &str| {
        format!(
            r#"{{"info":{{"id":"REDACTED","sessionID":"ses_x","role":"{role}","time":{{"created":1700000000000}}{more}}},"parts":[{parts}]}}"#
        )
    };
    let call = |tool: &str, state: &str| {
        format!(r#"{{"type":"tool","id":"REDACTED","callID":"REDACTED","tool":"{tool}","state":{state}}}"#)
    };
    let tokens = r#","modelID":"m","tokens":{"total":110,"input":60,"output":10,"reasoning":4,"cache":{"read":40,"write":0}},"cost":0.5"#;
    let messages = [
        message("user", &text_part("fix the test"), ""),
        message(
            "assistant",
            &call("bash", r#"{"status":"completed","input":{"command":"make"},"output":"","metadata":{"exit":2}}"#),
            tokens,
        ),
        message(
            "assistant",
            &[
                call("read", r#"{"status":"error","input":{"filePath":"a"},"error":"no"}"#),
                call("edit", r#"{"status":"completed","input":{"filePath":"b"},"output":"ok"}"#),
            ]
            .join(","),
            tokens,
        ),
        message("assistant", &text_part("Done."), ",\"summary\":true"),
    ];
    let export = format!(
        "{{\n  \"info\": {{ \"id\": \"REDACTED\", \"directory\": \"/app\", \"title\": \"Fix the test\", \"time\": {{ \"created\": 1700000000000 }} }},\n  \"messages\": [{}]\n}}",
        messages.join(",\n")
    );
    for name in ["full.jsonl", "ses_x.json"] {
        let home = TestHome::new();
        home.write(&format!("exports/{name}"), &export);
        assert!(home.sync().agents.iter().all(|run| run.agent != Agent::OpenCode || run.files == 0));
        let request = SyncRequest { paths: vec![home.path("exports")], ..SyncRequest::default() };
        let report = home.engine().sync().run(&request, &mut |_| {}).unwrap();
        assert_eq!(totals(&report).0, 5);
        let session = home.engine().sessions().resolve("ses_x").unwrap().session;
        let counts = session.counts;
        assert_eq!(
            (counts.prompts, counts.messages, counts.tool_calls, counts.tool_errors, counts.files_edited),
            (1, 3, 3, 2, 1)
        );
        assert_eq!((session.tokens.input, session.tokens.output, session.tokens.cache_read), (120, 20, 80));
        assert_eq!((session.name.as_deref(), session.cwd.as_deref()), (Some("Fix the test"), Some("/app")));
    }
}

#[test]
fn a_view_in_place_of_a_table_is_not_run() {
    // A cloned project can bring a database whose view never ends.
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.run(
        "ALTER TABLE session RENAME TO hidden;
         CREATE VIEW session AS WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number)
             SELECT hidden.* FROM hidden, number WHERE n < 0;",
    );
    assert_eq!(home.sync().agents.iter().map(|run| run.sessions).sum::<u64>(), 0);
}

#[test]
fn a_database_that_cannot_be_listed_gives_one_warning() {
    let warnings = |home: &TestHome| -> Vec<String> {
        let report = home.sync();
        report.agents.into_iter().flat_map(|run| run.warnings).map(|warning| warning.message).collect()
    };
    let home = TestHome::new();
    let database = OpenCodeDatabase::create(&home);
    database.add_text(1, "user", "why is the sky blue?");
    database.run("ALTER TABLE session RENAME COLUMN directory TO place");
    let expected = "cannot be listed (tables of an unknown version: no such column: directory); skipped";
    assert_eq!(warnings(&home), [expected]);

    let home = TestHome::new();
    OpenCodeDatabase::create(&home).add_text(1, "user", "why is the sky blue?");
    fs::rename(home.path(DATABASE), home.path("moved.db")).unwrap();
    std::os::unix::fs::symlink(home.path("moved.db"), home.path(DATABASE)).unwrap();
    assert_eq!(warnings(&home), ["cannot be listed (not a regular file); skipped"]);
}
