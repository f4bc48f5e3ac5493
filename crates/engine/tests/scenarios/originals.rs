//! What the store left out is read from the transcript: diffs, whole outputs, whole texts. Redacted, and only if allowed.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{
    DiffHunk, DiffKind, Engine, EngineError, Environment, FileDiff, ForgetTarget, LogProfile, NewMessage, NewThread,
    OriginalCall, OriginalEntry, OriginalProblem, ShowRequest,
};
use rethread_model::EntryKind;
use rethread_model::thread::{ChatRole, ContentBlock};
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::{Value, json};

const SESSION: &str = "0f1e2d3c-0000-4000-8000-000000000001";
const PATH: &str = ".claude/projects/-app/0f1e2d3c-0000-4000-8000-000000000001.jsonl";
const CALL: &str = "toolu_01AAAAAAAAAAAAAAAAAAAAAA";

fn transcript() -> TranscriptBuilder {
    TranscriptBuilder::new(SESSION).user("make the pool larger")
}

fn synced(transcript: TranscriptBuilder) -> TestHome {
    let home = TestHome::new();
    home.write(PATH, transcript.build());
    home.sync();
    home
}

/// The original of the last entry of a kind.
fn original_of(engine: &Engine, kind: EntryKind) -> Result<OriginalEntry, OriginalProblem> {
    let request = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
    let log = engine.sessions().show(SESSION, request).unwrap();
    let entry = log.entries.iter().rfind(|entry| entry.kind == kind).unwrap();
    engine.sessions().original(log.listed.session.id, entry.seq).unwrap().original
}

fn original_call(home: &TestHome) -> OriginalCall {
    original_of(&home.engine(), EntryKind::Call).unwrap().call.unwrap()
}

fn call_of(name: &str, input: &Value, output: &str) -> OriginalCall {
    original_call(&synced(transcript().tool_call(CALL, name, input).tool_result(CALL, output, false)))
}

/// A diff as text: `@` with the first lines, then the marked lines.
fn shown(changes: &[FileDiff]) -> String {
    let hunk = |hunk: &DiffHunk| {
        let starts = hunk.starts.map_or_else(|| "@\n".to_owned(), |(old, new)| format!("@{old},{new}\n"));
        starts + &hunk.rows.iter().map(|row| [row.sign.mark(), &row.text, "\n"].concat()).collect::<String>()
    };
    let file = |change: &FileDiff| {
        let hunks: String = change.hunks.iter().map(hunk).collect();
        format!("{} {}\n{hunks}", change.kind.as_str(), change.path)
    };
    changes.iter().map(file).collect()
}

#[test]
fn an_edit_gives_its_lines_with_those_around_them() {
    let (old, new) = ("one\ntwo\nmax: 5,\nthree", "one\ntwo\nmax: 20,\nthree");
    let edit = json!({"file_path": "/app/db.ts", "old_string": old, "new_string": new});
    let expect = "changed /app/db.ts\n@\n one\n two\n-max: 5,\n+max: 20,\n three\n";
    assert_eq!(shown(&call_of("Edit", &edit, "done").changes), expect);
    let edits = json!({"file_path": "/app/db.ts", "edits": [
        {"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]});
    let expect = "changed /app/db.ts\n@\n-a\n+b\n@\n-c\n+d\n";
    assert_eq!(shown(&call_of("MultiEdit", &edits, "done").changes), expect);
}

#[test]
fn a_recorded_patch_gives_the_numbers_of_the_lines() {
    let edit = json!({"file_path": "/app/db.ts", "old_string": "max: 5", "new_string": "max: 20"});
    let result = json!({"type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL, "content": "done"}]},
        "toolUseResult": {"filePath": "/app/db.ts", "structuredPatch": [
            {"oldStart": 40, "oldLines": 3, "newStart": 41, "newLines": 3, "lines": [" const", "-max: 5", "+max: 20"]}]}});
    let home = synced(transcript().tool_call(CALL, "Edit", &edit).line(result));
    assert_eq!(shown(&original_call(&home).changes), "changed /app/db.ts\n@40,41\n const\n-max: 5\n+max: 20\n");
}

#[test]
fn a_written_file_and_a_patch_are_shown_whole() {
    let write = json!({"file_path": "/app/a.py", "content": "import os\nprint()\n"});
    let call = call_of("Write", &write, "done");
    assert_eq!(call.changes[0].kind, DiffKind::Written);
    assert_eq!(shown(&call.changes), "written /app/a.py\n@0,1\n+import os\n+print()\n");
    let patch =
        "*** Begin Patch\n*** Update File: a.rs\n@@ fn main\n let x;\n-y\n+z\n*** Delete File: b.rs\n*** End Patch";
    let call = call_of("apply_patch", &json!({"input": patch}), "done");
    assert_eq!(shown(&call.changes), "changed a.rs\n@\n fn main\n let x;\n-y\n+z\ndeleted b.rs\n");
}

#[test]
fn a_command_gives_all_of_its_output_and_its_exit_code() {
    let lines: Vec<String> = (0..5_000).map(|number| format!("line {number}")).collect();
    let command = json!({"command": "cargo test \\\n  --workspace", "timeout": 9});
    let output = format!("Exit code 101\n{}", lines.join("\n"));
    let failed = transcript().tool_call(CALL, "Bash", &command).tool_result(CALL, &output, true);
    let call = original_call(&synced(failed));
    assert_eq!(call.command.as_deref(), Some("cargo test \\\n  --workspace"));
    assert_eq!((call.output.as_deref(), call.exit_code, call.has_result), (Some(output.as_str()), Some(101), true));
    assert_eq!(call.arguments[0].name, "timeout");
}

#[test]
fn a_huge_output_is_cut_in_its_middle_and_says_so() {
    let line = "0123456789abcde\n";
    let output = format!("first\n{}last\n", line.repeat(200_000));
    let call = call_of("Bash", &json!({"command": "yes"}), &output);
    let output = call.output.unwrap();
    assert!(output.starts_with("first\n") && output.trim_end().ends_with("last"));
    assert!(output.len() < 1_100_000, "{}", output.len());
    assert!(output.contains("\n[… 2.1 MB of 3.1 MB not shown …]\n"));
}

#[test]
fn secrets_never_leave_the_transcript() {
    let token = concat!("ghp_", "a8Kd0sLq2mNc4vBx6zTy8wRu1pEo3iHj5gFd");
    let call = call_of("Bash", &json!({"command": format!("curl -H 'Authorization: {token}'")}), &format!("x {token}"));
    assert!(!format!("{call:?}").contains(token), "{call:?}");
    let edit = json!({"file_path": "/app/a.py", "old_string": "key = 1", "new_string": format!("key = '{token}'")});
    let call = call_of("Edit", &edit, "done");
    assert!(!format!("{call:?}").contains(token) && shown(&call.changes).contains("REDACTED"), "{call:?}");
    let call = call_of("Write", &json!({"file_path": "/app/.env", "content": "SALT=plain words"}), "done");
    assert!(call.hides_secrets && !format!("{call:?}").contains("plain words"));
}

const TOKEN: &str = concat!("ghp_", "a8Kd0sLq2mNc4vBx6zTy8wRu1pEo3iHj5gFd");

/// Lines as in the inside of a private key.
fn key_lines(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:02}Ab{}", "x9Qz+/".repeat(10))).collect()
}

#[test]
fn secrets_across_the_cut_of_a_huge_output_are_not_shown() {
    let lines = |bytes: usize| "0123456789abcde\n".repeat(bytes / 16);
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n", key_lines(24).join("\n"));
    for output in [
        lines(3 << 20) + &key + &lines((256 << 10) - 700),
        lines((768 << 10) - 700) + &key + &lines(3 << 20),
        format!("a\n<private>\n{}my diagnosis\n</private>\nafter\n", lines(3 << 20)),
    ] {
        let shown = call_of("Bash", &json!({"command": "cat"}), &output).output.unwrap();
        assert!(!shown.contains("x9Qz+/x9Qz+/") && !shown.contains("my diagnosis"), "{}", &shown[shown.len() - 900..]);
    }
}

#[test]
fn half_a_secret_at_the_end_of_a_cut_text_is_not_shown() {
    let start = format!("{} {TOKEN} rest\n", "x".repeat((256 << 10) - 14));
    let shown = call_of("Bash", &json!({"command": "cat"}), &(start + &"y\n".repeat(9 << 20))).output.unwrap();
    assert!(!shown.contains(&TOKEN[..8]) && shown.contains("texts over 256 KB are cut"));
}

#[test]
fn files_with_secrets_are_hidden_from_every_tool_that_reads_or_moves_them() {
    for command in ["cat .env", "cp a 'conf/id_rsa'", "docker run --env-file=prod.env x"] {
        let call = call_of("Bash", &json!({"command": command}), "HUSH=correcthorsebattery");
        assert!(call.hides_secrets && call.output.is_none(), "{command}: {call:?}");
    }
    for command in ["make env", "kubectl get secrets", "psql -c 'select id_user from credentials'"] {
        assert!(!call_of("Bash", &json!({"command": command}), "done").hides_secrets, "{command}");
    }
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: .env\n@@\n-x\n+HUSH=words\n*** End Patch";
    let call = call_of("apply_patch", &json!({"input": patch}), "done");
    assert!(call.changes.is_empty() && !format!("{call:?}").contains("HUSH=words"), "{call:?}");
}

#[test]
fn lines_from_the_inside_of_a_key_are_hidden() {
    let key = key_lines(7);
    let lines: Vec<String> =
        key.iter().enumerate().map(|(at, line)| [[" ", "-", "+"][at % 3], line].concat()).collect();
    let edit = json!({"file_path": "/app/k.txt", "old_string": key[1], "new_string": key[2]});
    let result = json!({"type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL, "content": "done"}]},
        "toolUseResult": {"filePath": "/app/k.txt", "structuredPatch": [
            {"oldStart": 5, "oldLines": 5, "newStart": 5, "newLines": 5, "lines": lines}]}});
    let call = original_call(&synced(transcript().tool_call(CALL, "Edit", &edit).line(result)));
    assert_eq!(call.changes[0].hunks[0].rows.len(), 7);
    assert!(!format!("{call:?}").contains("x9Qz"), "{call:?}");
}

#[test]
fn the_name_of_an_argument_is_redacted() {
    let call = call_of("mcp__deploy__run", &json!({TOKEN: "a value", "mode": "fast"}), "ok");
    let shown = format!("{:?}", call.arguments);
    assert!(!shown.contains(&TOKEN[..12]) && shown.contains("[REDACTED:github]"), "{shown}");
    assert!(call.arguments.iter().any(|argument| argument.name == "mode" && argument.value == "fast"), "{shown}");
}

#[test]
fn a_session_that_lost_a_text_gives_no_originals() {
    let commands = transcript().user("the ZEBRA").assistant("which?").user("more").command("make", "ZEBRA", false);
    let home = synced(commands);
    assert!(original_of(&home.engine(), EntryKind::Call).is_ok());
    home.engine().forget().run(&ForgetTarget::Matching("ZEBRA".to_owned())).unwrap();
    assert_eq!(original_of(&home.engine(), EntryKind::Call), Err(OriginalProblem::Forgotten));
}

#[test]
fn a_link_is_not_followed_and_says_so() {
    let home = synced(transcript().command("make", "built", false));
    fs::rename(home.path(PATH), home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path(PATH)).unwrap();
    let problem = original_of(&home.engine(), EntryKind::Call).unwrap_err().to_string();
    assert!(problem.contains("it is a link, and links are not followed"), "{problem}");
}

#[test]
fn a_result_that_was_written_before_its_call_is_found() {
    let command = json!({"command": "make"});
    let home = synced(transcript().tool_result(CALL, "built", false).tool_call(CALL, "Bash", &command));
    assert_eq!(original_call(&home).output.as_deref(), Some("built"));
}

#[test]
fn a_shortened_text_is_read_whole() {
    let text = "word ".repeat(400);
    let meta = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": text}});
    let home = synced(transcript().line(meta));
    assert_eq!(original_of(&home.engine(), EntryKind::Injected).unwrap().text.trim(), text.trim());
}

#[test]
fn a_transcript_that_is_gone_or_rewritten_says_so() {
    let home = synced(transcript().command("make", "built", false));
    let problem = |home: &TestHome| original_of(&home.engine(), EntryKind::Call).unwrap_err();
    let before = home.read(PATH);
    home.write(PATH, before.replace("toolu_", "other_"));
    assert_eq!(problem(&home), OriginalProblem::Changed);
    home.write(PATH, "");
    assert_eq!(problem(&home), OriginalProblem::Changed);
    fs::remove_file(home.path(PATH)).unwrap();
    assert_eq!(problem(&home), OriginalProblem::Gone);
    home.write(PATH, before);
    assert!(original_of(&home.engine(), EntryKind::Call).is_ok());
}

#[test]
fn excluded_and_forgotten_sessions_do_not_come_back() {
    let home = synced(transcript().command("make", "built", false));
    let log = home.engine().sessions().show(SESSION, ShowRequest::default()).unwrap();
    for setting in [("intake.exclude", "/app"), ("intake.agents", "pi"), ("intake.enabled", "false")] {
        let original = original_of(&home.engine_with(&[setting]), EntryKind::Call);
        assert_eq!(original, Err(OriginalProblem::Excluded), "{setting:?}");
    }
    let id = log.listed.session.id;
    assert!(matches!(home.engine().sessions().original(id, 99), Err(EngineError::UnknownEntry { seq: 99, .. })));
    home.engine().forget().run(&ForgetTarget::Sessions(vec![SESSION.to_owned()])).unwrap();
    assert!(matches!(home.engine().sessions().original(id, 0), Err(EngineError::UnknownReference(_))));
}

#[test]
fn a_node_of_a_team_reads_no_files() {
    let home = synced(transcript().command("make", "built", false));
    let node = Engine::open(Environment { reads_only_threads: true, ..home.environment() }).unwrap();
    assert_eq!(original_of(&node, EntryKind::Call), Err(OriginalProblem::OtherMachine));
}

#[test]
fn a_thread_is_read_from_its_log_also_in_a_database_and_on_a_node() {
    let home = TestHome::new();
    let engine = home.engine();
    let thread = engine.threads().create(&NewThread::default()).unwrap().id;
    let message = NewMessage {
        role: ChatRole::User,
        content: vec![ContentBlock::text("wind the clock")],
        tool_call_id: None,
        is_error: false,
        client_id: None,
    };
    engine.threads().open(&thread.to_string()).unwrap().append(message).unwrap();
    engine.threads().sync(thread).unwrap();
    let session = engine.sessions().resolve(&thread.to_string()).unwrap().session.id;
    let node = Engine::open(Environment { reads_only_threads: true, ..home.environment() }).unwrap();
    for engine in [engine, node] {
        let original = engine.sessions().original(session, 0).unwrap().original;
        assert_eq!(original.map(|one| one.text), Ok("wind the clock".to_owned()));
    }
}
