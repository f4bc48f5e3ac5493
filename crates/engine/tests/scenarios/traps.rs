//! Small transcripts that once were, or easily could be, counted wrongly.

use std::fmt::Write;

use rethread_model::Counts;
use serde_json::{Value, json};

use crate::world::{CLAUDE_FILE, PI_FILE, SESSION, World};

/// A Claude Code transcript, one line at a time, each with a uuid and a time of its own.
#[derive(Default)]
struct Claude(String, u32);

impl Claude {
    fn line(mut self, mut value: Value) -> Self {
        self.1 += 1;
        value["uuid"] = json!(format!("{:08x}-aaaa-4bbb-8ccc-000000000000", self.1));
        value["timestamp"] = json!(format!("2026-07-01T10:{:02}:{:02}.000Z", self.1 / 60, self.1 % 60));
        let _ = writeln!(self.0, "{value}");
        self
    }

    fn user(self, content: impl Into<Value>) -> Self {
        self.line(json!({"type": "user", "message": {"role": "user", "content": content.into()}}))
    }

    fn said(self, text: &str) -> Self {
        let id = format!("msg_{:0>24}", self.1);
        self.line(json!({"type": "assistant", "message": {"id": id, "content": [{"type": "text", "text": text}]}}))
    }

    fn call(self, id: &str) -> Self {
        let message = format!("msg_{:0>24}", self.1);
        let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
        self.line(json!({"type": "assistant", "message": {"id": message, "content": [block]}}))
    }

    fn result(self, id: &str, beside: &[&str]) -> Self {
        let mut blocks = vec![json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})];
        blocks.extend(beside.iter().map(|text| json!({"type": "text", "text": text})));
        self.user(blocks)
    }

    fn queue(mut self, operation: &str, content: &str) -> Self {
        self.1 += 1;
        let at = format!("2026-07-01T10:{:02}:{:02}.000Z", self.1 / 60, self.1 % 60);
        let mut value = json!({"type": "queue-operation", "operation": operation, "timestamp": at});
        if !content.is_empty() {
            value["content"] = json!(content);
        }
        let _ = writeln!(self.0, "{value}");
        self
    }

    fn attached(self, prompt: &str) -> Self {
        self.line(json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}}))
    }

    /// The prompts counted, read whole and read line by line.
    fn prompts(self) -> u64 {
        let whole = counts_of(CLAUDE_FILE, &self.0, SESSION, false);
        assert_eq!(whole, counts_of(CLAUDE_FILE, &self.0, SESSION, true), "read line by line");
        whole.prompts
    }
}

#[expect(clippy::unwrap_used, reason = "a session that is missing fails the test")]
fn counts_of(path: &str, text: &str, session: &str, by_lines: bool) -> Counts {
    let world = World::new();
    if by_lines {
        world.write(path, "");
        for line in text.split_inclusive('\n') {
            world.append(path, line);
            world.sync();
        }
    } else {
        world.write(path, text);
        world.sync();
    }
    world.dump();
    world.engine().resolve(session).unwrap().session.counts
}

const NOTICE: &str = "<task-notification><summary>done</summary></task-notification>";

#[test]
fn texts_typed_while_a_tool_ran_count_once_whatever_else_was_in_the_queue() {
    let go = || Claude::default().user("go");
    let beside_a_notice = go().call("t1").queue("enqueue", NOTICE).queue("enqueue", "do A").queue("remove", "");
    assert_eq!(beside_a_notice.result("t1", &[]).queue("dequeue", "").user("do A").said("ok").prompts(), 2);
    let command_first =
        go().queue("enqueue", "/compact").queue("enqueue", "B").queue("dequeue", "").queue("popAll", "");
    assert_eq!(command_first.said("ok").prompts(), 1);
    let named = go().call("t1").queue("enqueue", "aa").queue("enqueue", "bb").queue("remove", "bb").result("t1", &[]);
    assert_eq!(named.attached("bb").queue("dequeue", "").user("aa").said("ok").prompts(), 3);
    let line_before_step =
        go().queue("enqueue", "B").queue("enqueue", "C").user("B").queue("dequeue", "").queue("popAll", "");
    assert_eq!(line_before_step.said("ok").prompts(), 2);
    let two_beside =
        go().call("t1").queue("enqueue", "B").queue("enqueue", "C").queue("remove", "").queue("remove", "");
    assert_eq!(two_beside.result("t1", &["B", "C"]).said("ok").prompts(), 3);
    assert_eq!(go().queue("enqueue", "/compact").queue("remove", "").attached("/compact").said("ok").prompts(), 1);
}

#[test]
fn machines_write_prompts_in_many_ways() {
    let y = || Claude::default().user("y");
    let with = |key: &str, value: Value| {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": "text"}});
        line[key] = value;
        y().line(line).said("ok").prompts()
    };
    assert_eq!(with("origin", json!({"kind": "channel"})), 1);
    assert_eq!(with("origin", json!({"kind": "human"})), 2);
    assert_eq!(with("promptSource", json!("system")), 1);
    assert_eq!(with("isVisibleInTranscriptOnly", json!(true)), 1);
    assert_eq!(with("sourceToolUseID", json!("t1")), 1);
    let summary = "This session is being continued from a previous conversation that ran out of context.";
    assert_eq!(y().user(summary).said("ok").prompts(), 1);
}

#[test]
fn a_refusal_is_a_tool_error_and_a_result_met_twice_is_one() {
    let mut refused = Claude::default().user("go").call("t1");
    let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": "The user doesn't want to proceed with this tool use."});
    refused = refused.user(vec![block.clone()]).user(vec![block]);
    for by_lines in [false, true] {
        assert_eq!(counts_of(CLAUDE_FILE, &refused.0, SESSION, by_lines).tool_errors, 1);
    }
}

#[test]
fn a_declared_fork_is_the_copy_even_if_it_ended_first() {
    let original = Claude::default().user("one").said("first").user("two").said("second").0;
    let copy = "5e551011-0000-4000-8000-0000000000ff";
    let mut fork = String::new();
    for line in original.lines().take(2) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["cwd"], line["gitBranch"]) = (json!("/p"), json!("fix"));
        line["forkedFrom"] = json!({"sessionId": SESSION, "messageUuid": line["uuid"]});
        line["uuid"] = json!(line["uuid"].as_str().unwrap().replace("aaaa", "ffff"));
        let _ = writeln!(fork, "{line}");
    }
    let world = World::new();
    world.write(CLAUDE_FILE, original);
    world.write(&CLAUDE_FILE.replace(SESSION, copy), fork);
    world.sync();
    let counts = |id: &str| world.engine().resolve(id).unwrap().session.counts;
    assert_eq!((counts(SESSION).prompts, counts(SESSION).messages), (2, 4));
    assert_eq!((counts(copy).prompts, counts(copy).messages), (0, 0));
    let fork = world.engine().resolve(copy).unwrap().session;
    assert_eq!((fork.cwd.as_deref(), fork.branch.as_deref()), (Some("/p"), Some("fix")), "it knows where it is");
    assert!(fork.project.is_some());
}

/// A pi transcript of the given entries, each following the one before it.
fn pi(entries: &[Value]) -> String {
    let mut text = format!(
        "{}\n",
        json!({"type": "session", "version": 3, "id": "pi-1", "timestamp": "2026-07-01T10:00:00.000Z", "cwd": "/p"})
    );
    for (number, entry) in entries.iter().enumerate() {
        let mut entry = entry.clone();
        let at = format!("2026-07-01T10:00:{:02}.000Z", number + 1);
        let parent = if number == 0 { Value::Null } else { json!(format!("{number:08x}")) };
        for (key, value) in
            [("id", json!(format!("{:08x}", number + 1))), ("parentId", parent), ("timestamp", json!(at))]
        {
            if entry.get(key).is_none() {
                entry[key] = value;
            }
        }
        let _ = writeln!(text, "{entry}");
    }
    text
}

#[test]
fn pi_models_may_number_their_calls_anew_in_every_message() {
    let call = |path: &str| {
        let block = json!({"type": "toolCall", "id": "call_0", "name": "write", "arguments": {"path": path}});
        json!({"type": "message", "message": {"role": "assistant", "content": [block]}})
    };
    let failed = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "call_0", "toolName": "write", "content": "no", "isError": true}});
    let user = json!({"type": "message", "message": {"role": "user", "content": "go"}});
    let text = pi(&[user, call("/a"), failed.clone(), call("/b"), failed]);
    let expect = Counts { prompts: 1, messages: 3, tool_calls: 2, tool_errors: 2, files_edited: 2, episodes: 1 };
    for by_lines in [false, true] {
        assert_eq!(counts_of(PI_FILE, &text, "pi-1", by_lines), expect);
    }
}

#[test]
fn a_name_makes_a_pi_session_a_child_only_while_it_lasts() {
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
fn a_pi_leaf_with_an_id_of_its_own_can_be_followed() {
    let user = |text: &str| json!({"type": "message", "message": {"role": "user", "content": text}});
    let text = pi(&[user("one"), user("left"), json!({"type": "leaf", "targetId": "00000001"}), user("two")]);
    for by_lines in [false, true] {
        assert_eq!(counts_of(PI_FILE, &text, "pi-1", by_lines).prompts, 2);
    }
}
