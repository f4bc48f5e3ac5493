//! Small transcripts that were once counted wrongly, or easily could be.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write;

use rethread_model::{SessionCounts, Timestamp};
use rethread_testing::{
    CLAUDE_FILE, CLAUDE_SESSION, PI_FILE, PiTranscriptBuilder, TestHome, TranscriptBuilder, text_block,
    tool_result_block,
};
use serde_json::{Value, json};

fn go() -> TranscriptBuilder {
    TranscriptBuilder::new(CLAUDE_SESSION).uuids().times("2026-07-01T10:00:00Z".parse().unwrap(), 1)
}

/// Lines that only this file needs.
trait QueueLines: Sized {
    fn call(self, id: &str) -> Self;
    fn result(self, id: &str, texts: &[&str]) -> Self;
    fn queue(self, operation: &str, content: &str) -> Self;
    fn attached(self, prompt: &str) -> Self;
    fn prompts(self) -> u64;
}

impl QueueLines for TranscriptBuilder {
    fn call(self, id: &str) -> Self {
        self.tool_call(id, "Bash", &json!({"command": "ls"}))
    }

    /// A result with texts beside it.
    fn result(self, id: &str, texts: &[&str]) -> Self {
        let texts = texts.iter().map(|text| text_block(text));
        let blocks: Vec<Value> = std::iter::once(tool_result_block(id, "ok", false)).chain(texts).collect();
        self.user(blocks)
    }

    fn queue(self, operation: &str, content: &str) -> Self {
        let mut line = json!({"type": "queue-operation", "operation": operation});
        if !content.is_empty() {
            line["content"] = json!(content);
        }
        self.timed(line)
    }

    fn attached(self, prompt: &str) -> Self {
        let attachment = json!({"type": "queued_command", "prompt": prompt, "commandMode": "prompt"});
        self.line(json!({"type": "attachment", "attachment": attachment}))
    }

    /// How many prompts are counted. Must not depend on whether the file is synced whole or line by line.
    fn prompts(self) -> u64 {
        let text = self.build();
        let whole = counts_of(CLAUDE_FILE, &text, CLAUDE_SESSION, false);
        assert_eq!(whole, counts_of(CLAUDE_FILE, &text, CLAUDE_SESSION, true), "synced line by line");
        whole.prompts
    }
}

fn counts_of(path: &str, text: &str, session: &str, by_lines: bool) -> SessionCounts {
    let home = TestHome::new();
    if by_lines {
        home.write(path, "");
        for line in text.split_inclusive('\n') {
            home.append(path, line);
            home.sync();
        }
    } else {
        home.write(path, text);
        home.sync();
    }
    home.dump();
    home.engine().sessions().resolve(session).unwrap().session.counts
}

const NOTICE: &str = "<task-notification><summary>done</summary></task-notification>";

#[test]
fn queued_prompts_count_once_whatever_else_is_queued() {
    let go = || go().user("go");
    let beside_a_notice = go().call("t1").queue("enqueue", NOTICE).queue("enqueue", "do A").queue("remove", "");
    assert_eq!(beside_a_notice.result("t1", &[]).queue("dequeue", "").user("do A").assistant("ok").prompts(), 2);
    let command_first =
        go().queue("enqueue", "/compact").queue("enqueue", "B").queue("dequeue", "").queue("popAll", "");
    assert_eq!(command_first.assistant("ok").prompts(), 1);
    let named = go().call("t1").queue("enqueue", "aa").queue("enqueue", "bb").queue("remove", "bb").result("t1", &[]);
    assert_eq!(named.attached("bb").queue("dequeue", "").user("aa").assistant("ok").prompts(), 3);
    let line_before_step =
        go().queue("enqueue", "B").queue("enqueue", "C").user("B").queue("dequeue", "").queue("popAll", "");
    assert_eq!(line_before_step.assistant("ok").prompts(), 2);
    let two_beside =
        go().call("t1").queue("enqueue", "B").queue("enqueue", "C").queue("remove", "").queue("remove", "");
    assert_eq!(two_beside.result("t1", &["B", "C"]).assistant("ok").prompts(), 3);
    assert_eq!(go().queue("enqueue", "/compact").queue("remove", "").attached("/compact").assistant("ok").prompts(), 1);
}

#[test]
fn machine_prompts_are_recognized_by_every_marker() {
    let y = || go().user("y");
    let with = |key: &str, value: Value| {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": "text"}});
        line[key] = value;
        y().line(line).assistant("ok").prompts()
    };
    assert_eq!(with("origin", json!({"kind": "channel"})), 1);
    assert_eq!(with("origin", json!({"kind": "human"})), 2);
    assert_eq!(with("promptSource", json!("system")), 1);
    assert_eq!(with("isVisibleInTranscriptOnly", json!(true)), 1);
    assert_eq!(with("sourceToolUseID", json!("t1")), 1);
    let summary = "This session is being continued from a previous conversation that ran out of context.";
    assert_eq!(y().user(summary).assistant("ok").prompts(), 1);
}

#[test]
fn refusal_is_a_tool_error_and_a_repeated_result_counts_once() {
    let refused = go().user("go").call("t1");
    let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": "The user doesn't want to proceed with this tool use."});
    let refused = refused.user(vec![block.clone()]).user(vec![block]).build();
    for by_lines in [false, true] {
        assert_eq!(counts_of(CLAUDE_FILE, &refused, CLAUDE_SESSION, by_lines).tool_errors, 1);
    }
}

#[test]
fn declared_fork_is_the_copy_even_if_it_ended_first() {
    let original = go().user("one").assistant("first").user("two").assistant("second").build();
    let copy = "5e551011-0000-4000-8000-0000000000ff";
    let mut fork = String::new();
    for line in original.lines().take(2) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["cwd"], line["gitBranch"]) = (json!("/p"), json!("fix"));
        line["forkedFrom"] = json!({"sessionId": CLAUDE_SESSION, "messageUuid": line["uuid"]});
        line["uuid"] = json!(line["uuid"].as_str().unwrap().replace("aaaa", "ffff"));
        let _ = writeln!(fork, "{line}");
    }
    let home = TestHome::new();
    home.write(CLAUDE_FILE, original);
    home.write(&CLAUDE_FILE.replace(CLAUDE_SESSION, copy), fork);
    home.sync();
    let counts = |id: &str| home.engine().sessions().resolve(id).unwrap().session.counts;
    assert_eq!((counts(CLAUDE_SESSION).prompts, counts(CLAUDE_SESSION).messages), (2, 4));
    assert_eq!((counts(copy).prompts, counts(copy).messages), (0, 0));
    let fork = home.engine().sessions().resolve(copy).unwrap().session;
    assert_eq!(
        (fork.cwd.as_deref(), fork.branch.as_deref()),
        (Some("/p"), Some("fix")),
        "the fork has its own directory and branch"
    );
    assert!(fork.project.is_some());
}

/// A pi transcript of these entries, each following the one before it.
fn pi(entries: &[Value]) -> String {
    let builder = PiTranscriptBuilder::new("pi-1", "/p", "2026-07-01T10:00:00.000Z");
    entries.iter().cloned().fold(builder, PiTranscriptBuilder::entry).build()
}

#[test]
fn pi_call_ids_may_repeat_in_every_message() {
    let call = |path: &str| {
        let block = json!({"type": "toolCall", "id": "call_0", "name": "write", "arguments": {"path": path}});
        json!({"type": "message", "message": {"role": "assistant", "content": [block]}})
    };
    let failed = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "call_0", "toolName": "write", "content": "no", "isError": true}});
    let user = json!({"type": "message", "message": {"role": "user", "content": "go"}});
    let text = pi(&[user, call("/a"), failed.clone(), call("/b"), failed]);
    let expect = SessionCounts { prompts: 1, messages: 3, tool_calls: 2, tool_errors: 2, files_edited: 2, episodes: 1 };
    for by_lines in [false, true] {
        assert_eq!(counts_of(PI_FILE, &text, "pi-1", by_lines), expect);
    }
}

#[test]
fn pi_session_is_a_child_only_while_its_name_says_so() {
    let name = |name: &str| json!({"type": "session_info", "name": name});
    let user = json!({"type": "message", "message": {"role": "user", "content": "go"}});
    let child = pi(&[name("subagent-x"), user.clone()]);
    let main = pi(&[name("subagent-x"), user, name("mine")]);
    for by_lines in [false, true] {
        assert_eq!(counts_of(PI_FILE, &child, "pi-1", by_lines).prompts, 0);
        assert_eq!(counts_of(PI_FILE, &main, "pi-1", by_lines).prompts, 1);
    }
}

#[test]
fn pi_leaf_with_its_own_id_is_followed() {
    let user = |text: &str| json!({"type": "message", "message": {"role": "user", "content": text}});
    let text = pi(&[user("one"), user("left"), json!({"type": "leaf", "targetId": "pi-1-0001"}), user("two")]);
    for by_lines in [false, true] {
        assert_eq!(counts_of(PI_FILE, &text, "pi-1", by_lines).prompts, 2);
    }
}

#[test]
fn broken_trees_in_two_files_of_a_session_count_like_a_rebuild() {
    // D71
    let session = "0199aaaa-0000-7000-8000-00000000000a";
    let path = |hour: u32| format!(".pi/agent/sessions/--app--/2026-03-02T{hour:02}-00-00-000Z_{session}.jsonl");
    let start =
        json!({"type": "session", "version": 3, "id": session, "timestamp": "2026-03-02T09:00:00.000Z", "cwd": "/app"});
    let line = |kind: &str, id: &str, parent: Option<&str>, more: (&str, Value)| {
        let mut line = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-03-02T09:01:00.000Z"});
        line[more.0] = more.1;
        format!("{line}\n")
    };
    let message = |id: &str, parent: Option<&str>, role: &str| {
        line("message", id, parent, ("message", json!({"role": role, "content": [{"type": "text", "text": id}]})))
    };
    // The second file gives a text to a node that the first one has on a left branch.
    let home = TestHome::new();
    let first =
        [line("custom", "n", Some("gone"), ("customType", "x".into())), message("a", Some("gone"), "assistant")];
    home.write(&path(9), format!("{start}\n{}", first.concat()));
    home.write(&path(10), format!("{start}\n{}", message("n", Some("gone"), "assistant")));
    home.sync();
    home.dump();
    // The leaf moves to a node that does not exist, and the next line continues from there.
    let home = TestHome::new();
    let lines = [
        message("a", None, "user"),
        line("leaf", "l", Some("a"), ("targetId", "gone".into())),
        message("b", Some("gone"), "user"),
    ];
    home.write(&path(9), format!("{start}\n"));
    for line in lines {
        home.append(&path(9), line);
        home.sync();
        home.dump();
    }
}

#[test]
fn a_time_far_out_of_range_is_read_as_missing() {
    let first: Timestamp = "2026-07-01T10:00:00Z".parse().unwrap();
    let id = "0198a000-0000-7000-8000-0000000000aa";
    for time in ["1e300", "-1e300", "-5", "0", "9223372036854775807", r#""nan""#, r#""9999-12-31T23:59:59.999Z""#] {
        let claude = |time: &str, uuid: &str| {
            format!(
                r#"{{"type":"user","uuid":"{uuid}","timestamp":{time},"message":{{"role":"user","content":"{uuid}"}}}}"#
            )
        };
        let pi = |time: &str, id: &str, parent: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":{time},"message":{{"role":"user","content":"{id}"}}}}"#
            )
        };
        let good = format!("\"{first}\"");
        let home = TestHome::new();
        home.write(CLAUDE_FILE, [claude(time, "u1"), claude(&good, "u2"), claude(time, "u3")].join("\n"));
        let header = format!(r#"{{"type":"session","id":"{id}","timestamp":{time},"cwd":"/app"}}"#);
        home.write(PI_FILE, [header, pi(time, "p1", ""), pi(&good, "p2", "p1"), pi(time, "p3", "p2")].join("\n"));
        home.sync();
        for session in [CLAUDE_SESSION, id] {
            let session = home.engine().sessions().resolve(session).unwrap().session;
            assert_eq!(session.counts.prompts, 3, "{time}");
            assert_eq!((session.started_at, session.last_activity_at), (Some(first), Some(first)), "{time}");
        }
    }
}

#[test]
fn a_line_with_a_repeated_key_is_skipped_with_a_warning() {
    let home = TestHome::new();
    let repeated = r#"{"type":"user","uuid":"u9","timestamp":"2026-07-01T10:00:00Z","cwd":"/a","cwd":"/b","message":{"role":"user","content":"x"}}"#;
    home.write(CLAUDE_FILE, format!("{}{repeated}\n", go().user("go").build()));
    let report = home.sync();
    assert_eq!(home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts.prompts, 1);
    let messages: Vec<&str> =
        report.agents.iter().flat_map(|agent| &agent.warnings).map(|warning| warning.message.as_str()).collect();
    assert!(matches!(messages[..], [message] if message.contains("duplicate field `cwd`")), "{messages:?}");
}
