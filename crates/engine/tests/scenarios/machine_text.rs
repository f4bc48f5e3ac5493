//! Text that programs write in a human's place is not a prompt; the human's own words beside it are.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::EntryKind;
use rethread_store::EntryFilter;
use rethread_testing::{
    CLAUDE_FILE, CLAUDE_SESSION, PI_FILE, PiTranscriptBuilder, TestHome, TranscriptBuilder, tool_result_block,
};
use serde_json::{Value, json};

const TASK_REPORT: &str =
    r#"{"task_id":"b51a","tool_use_id":"toolu_01","description":"Run the tests","task_type":"local_bash"}"#;
const AGENT_NOTIFICATION: &str = "<agent-notification>\n<agent-id>a1</agent-id>\n<status>completed</status>\n<summary>Agent \"Find usages\" completed.</summary>\nRead the output file to retrieve the full result.\n</agent-notification>";

fn session() -> TranscriptBuilder {
    TranscriptBuilder::new(CLAUDE_SESSION).uuids().times("2026-07-01T10:00:00Z".parse().unwrap(), 1)
}

fn queue(transcript: TranscriptBuilder, operation: &str, content: Option<&str>) -> TranscriptBuilder {
    let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": CLAUDE_SESSION});
    if let Some(content) = content {
        line["content"] = json!(content);
    }
    transcript.timed(line)
}

/// The prompts that are shown, the count of prompts and the name of the session. They do not depend on whether the file
/// is synced whole or line by line.
fn prompts_of(path: &str, text: &str, id: &str) -> (Vec<String>, u64, Option<String>) {
    let whole = read_prompts(path, &[text], id);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(read_prompts(path, &lines, id), whole, "synced line by line");
    whole
}

fn read_prompts(path: &str, parts: &[&str], id: &str) -> (Vec<String>, u64, Option<String>) {
    let home = TestHome::new();
    home.write(path, "");
    for part in parts {
        home.append(path, part);
        home.sync();
    }
    let session = home.engine().sessions().resolve(id).unwrap();
    let entries = home.store().entries(session.session.id, EntryFilter::default()).unwrap();
    let prompts = entries.into_iter().filter(|entry| entry.kind == EntryKind::Prompt && !entry.is_abandoned);
    (prompts.map(|entry| entry.text).collect(), session.session.counts.prompts, session.session.name)
}

fn check(transcript: TranscriptBuilder, expect: &[&str]) {
    let (prompts, count, _) = prompts_of(CLAUDE_FILE, transcript.assistant("ok").text(), CLAUDE_SESSION);
    assert_eq!(prompts, expect);
    assert_eq!(count, expect.len() as u64);
}

#[test]
fn notifications_in_the_queue_are_not_prompts() {
    // D1
    for notification in [
        TASK_REPORT,
        AGENT_NOTIFICATION,
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        "<cross-session-message from=\"uds:x\" from-name=\"api\">ship it</cross-session-message>",
        "<teammate-message teammate_id=\"lead\">continue</teammate-message>",
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\nA background task finished.",
    ] {
        let sent = queue(queue(session().user("run the tests"), "enqueue", Some(notification)), "dequeue", None);
        check(sent.clone(), &["run the tests"]);
        check(sent.user(notification), &["run the tests"]);
        let absorbed = queue(session().user("run the tests"), "enqueue", Some(notification));
        check(queue(absorbed, "remove", None), &["run the tests"]);
    }
}

#[test]
fn line_shows_that_a_program_wrote_a_queued_text() {
    // D1
    let text = "Your usage limit has reset. Continue the task you were working on.";
    let machine_line = |key: &str, value: Value| {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": text}});
        line[key] = value;
        line
    };
    for (key, value) in [
        ("isMeta", json!(true)),
        ("origin", json!({"kind": "peer", "from": "unknown"})),
        ("origin", json!({"kind": "auto-continuation"})),
        ("turnOrigin", json!("scheduled")),
        ("promptSource", json!("system")),
        ("turnCompanion", json!(true)),
    ] {
        check(session().line(machine_line(key, value.clone())).user("go on"), &["go on"]);
        let queued = queue(queue(session(), "enqueue", Some(text)), "dequeue", None);
        check(queued.line(machine_line(key, value)).user("go on"), &["go on"]);
    }
    for (key, value) in
        [("origin", json!({"kind": "human"})), ("turnOrigin", json!("sdk")), ("promptSource", json!("queued"))]
    {
        check(session().line(machine_line(key, value)), &[text]);
    }
    let attachment =
        json!({"type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": {"kind": "peer"}});
    let absorbed = queue(queue(session().user("go"), "enqueue", Some(text)), "remove", None);
    check(absorbed.line(json!({"type": "attachment", "attachment": attachment})), &["go"]);
}

#[test]
fn session_is_not_named_after_a_programs_text() {
    // D1
    let text = "Check the deployment.";
    let queued = queue(queue(session(), "enqueue", Some(text)), "dequeue", None);
    let line = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": text}});
    let transcript = queued.line(line).assistant("ok").user("why did it fail?").build();
    let (_, _, name) = prompts_of(CLAUDE_FILE, &transcript, CLAUDE_SESSION);
    assert_eq!(name.as_deref(), Some("Why did it fail?"));
}

#[test]
fn prompt_that_leaves_and_enters_the_queue_counts_once() {
    // D2
    let mut transcript = session().user("start");
    for _ in 0..8 {
        transcript = queue(queue(transcript, "enqueue", Some("go on")), "dequeue", None);
    }
    check(transcript.clone(), &["start", "go on"]);
    check(transcript.clone().user("go on"), &["start", "go on"]);
    check(transcript.user("go on").assistant("done").user("go on"), &["start", "go on", "go on"]);
    let twice = queue(queue(session().user("start"), "enqueue", Some("yes")), "enqueue", Some("yes"));
    check(queue(queue(twice, "dequeue", None).user("yes"), "dequeue", None).user("yes"), &["start", "yes", "yes"]);
}

#[test]
fn instructions_of_a_pi_skill_are_not_a_prompt() {
    // D3
    let skill = "<skill name=\"review\" location=\"/s/review/SKILL.md\">\nReferences are relative to /s/review.\n\n# Review\n\nRead the diff.\n</skill>";
    let read = |texts: &[&str]| {
        let start = PiTranscriptBuilder::new("pi-1", "/p", "2026-07-01T10:00:00.000Z");
        let built = texts.iter().fold(start, |built, text| built.user(text).assistant("ok")).build();
        prompts_of(PI_FILE, &built, "pi-1")
    };
    let (prompts, count, name) = read(&[skill, "fix what you found"]);
    assert_eq!((prompts, count), (vec!["fix what you found".to_owned()], 1));
    assert_eq!(name.as_deref(), Some("Fix what you found"));
    let (prompts, count, _) = read(&[&format!("{skill}\n\nonly the parser")]);
    assert_eq!((prompts, count), (vec!["/skill:review only the parser".to_owned()], 1));
    let (prompts, count, _) = read(&[AGENT_NOTIFICATION, "<file name=\"/p/a.rs\">\nfn main() {}\n</file>\nexplain"]);
    assert_eq!((prompts, count), (vec!["@/p/a.rs explain".to_owned()], 1));
}

#[test]
fn agents_hint_is_not_shown_as_typed() {
    // D4
    let said = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse jq instead\n\nNote: The user's next message may contain a correction or preference. Pay close attention.";
    let call = session().user("go").tool_call("t1", "Bash", &json!({"command": "sed"}));
    let home = TestHome::new();
    home.write(CLAUDE_FILE, call.user(vec![tool_result_block("t1", said, true)]).build());
    home.sync();
    let id = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.id;
    let entries = home.store().entries(id, EntryFilter::default()).unwrap();
    let answers: Vec<&str> =
        entries.iter().filter(|entry| entry.kind == EntryKind::Answer).map(|entry| entry.text.as_str()).collect();
    assert_eq!(answers, ["use jq instead"]);
}

#[test]
fn entries_that_share_a_line_are_all_read_with_a_warning() {
    // D5
    let text = session().user("one").assistant("first").user("two").assistant("second").build();
    let lines: Vec<&str> = text.lines().collect();
    let torn = &lines[0][..lines[0].len() / 2];
    for (damaged, prompts) in [
        (format!("{}{}\n{}\n{}\n", lines[0], lines[1], lines[2], lines[3]), 2),
        (format!("{}\n{}{}{}\n", lines[0], lines[1], lines[2], lines[3]), 2),
        (format!("{torn}{}\n{}\n{}\n", lines[1], lines[2], lines[3]), 1),
    ] {
        let home = TestHome::new();
        home.write(CLAUDE_FILE, damaged);
        let report = home.sync();
        let counts = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts;
        assert_eq!((counts.prompts, counts.messages), (prompts, prompts + 2));
        let warnings: Vec<_> = report.agents.iter().flat_map(|agent| &agent.warnings).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}

#[test]
fn messages_of_other_sessions_are_not_prompts() {
    let text = "please rebase before you push";
    let wrapped =
        format!("<cross-session-message from=\"uds:/tmp/x\" from-name=\"api\">{text}</cross-session-message>");
    let line = |content: &str| {
        json!({"type": "user", "origin": {"kind": "peer", "name": "api"}, "turnOrigin": "peer",
               "message": {"role": "user", "content": content}})
    };
    let transcript = queue(session().user("fix the parser"), "enqueue", Some(&wrapped));
    let transcript = queue(transcript, "dequeue", None);
    check(
        transcript.line(line(text)).line(line(&wrapped)).user("and now the lexer"),
        &["fix the parser", "and now the lexer"],
    );
}
