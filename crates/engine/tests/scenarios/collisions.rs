//! Two sessions in one working tree: edits of the same file, and commits on a branch that another session chose.

use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, at, hook, transcript, work};

/// Adds one finished tool call to a session's transcript.
fn call(home: &TestHome, cwd: &str, minutes: i64, session: &str, tool: &str, input: &serde_json::Value) {
    let id = format!("toolu_{session}{minutes}{tool}");
    let lines = TranscriptBuilder::new(session)
        .cwd(cwd)
        .ids(&format!("{session}-{minutes}-{tool}"))
        .times(at(minutes), 0)
        .user(format!("call {tool} in minute {minutes}"))
        .tool_call(&id, tool, input)
        .tool_result(&id, "ok", false);
    home.append(&transcript(session), lines.build());
    hook(home, minutes, session, "Stop", &json!({"cwd": cwd}));
}

fn run(home: &TestHome, minutes: i64, session: &str, command: &str) {
    call(home, home.root().to_str().unwrap_or_default(), minutes, session, "Bash", &json!({"command": command}));
}

/// What is injected when a session is about to run a command.
fn before(home: &TestHome, minutes: i64, session: &str, command: &str) -> Option<String> {
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": home.root()});
    hook(home, minutes, session, "PreToolUse", &payload)
}

fn edit(home: &TestHome, minutes: i64, session: &str, path: &str) -> Option<String> {
    hook(home, minutes, session, "PreToolUse", &json!({"tool_name": "Edit", "tool_input": {"file_path": path}}))
}

/// A home that is a git working tree on a branch.
fn tree(branch: &str) -> TestHome {
    let home = TestHome::new();
    home.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
    home
}

#[test]
fn file_that_was_read_since_is_no_collision() {
    // D26
    let home = TestHome::new();
    work(&home, ANNA, 1, "fix the rounding", false);
    hook(&home, 1, ANNA, "Stop", &json!({}));
    call(&home, "/app", 0, BEN, "Read", &json!({"file_path": "/app/src/cart.rs"}));
    let injected = edit(&home, 2, BEN, "/app/src/cart.rs").unwrap_or_default();
    assert!(injected.contains("changed cart.rs 1m before this edit"), "it was read before the change: {injected}");
    let home = TestHome::new();
    work(&home, ANNA, 1, "fix the rounding", false);
    hook(&home, 1, ANNA, "Stop", &json!({}));
    call(&home, "/app", 2, BEN, "Read", &json!({"file_path": "/app/src/cart.rs"}));
    assert_eq!(edit(&home, 3, BEN, "/app/src/cart.rs"), None);
}

#[test]
fn commit_on_a_branch_that_another_session_chose_is_noticed_once() {
    // D26
    let home = tree("feature/rounding");
    run(&home, 0, BEN, "git status");
    run(&home, 5, ANNA, "git switch feature/rounding");
    assert_eq!(before(&home, 6, BEN, "git add ."), None, "it goes to no branch");
    let injected = before(&home, 50, BEN, "git add . && git commit -m 'write the docs'").unwrap_or_default();
    let expected = "switched the branch of this working tree 45m before this commit, which goes to \"feature/rounding\". \
                    Check that this is the branch you want.";
    assert!(injected.contains(expected), "{injected}");
    assert_eq!(before(&home, 51, BEN, "git commit -m more"), None, "once");
    assert_eq!(before(&home, 51, ANNA, "git commit -m more"), None, "it chose the branch itself");
}

#[test]
fn commit_is_not_noticed_by_a_session_that_knows_the_branch() {
    // D26
    for looked in ["git status -sb", "git switch main", "git -C . branch"] {
        let home = tree("main");
        run(&home, 0, BEN, "git status");
        run(&home, 5, ANNA, "git switch main");
        run(&home, 6, BEN, looked);
        assert_eq!(before(&home, 7, BEN, "git commit -m docs"), None, "{looked}");
    }
    let home = tree("main");
    run(&home, 5, ANNA, "git switch main");
    run(&home, 6, BEN, "ls");
    assert_eq!(before(&home, 7, BEN, "git commit -m docs"), None, "it began on this branch");
    let home = tree("main");
    run(&home, 0, BEN, "ls");
    home.write("other/.git/HEAD", "ref: refs/heads/main\n");
    run(&home, 5, ANNA, "cd other && git switch main");
    assert_eq!(before(&home, 7, BEN, "git commit -m docs"), None, "that is another working tree");
}
