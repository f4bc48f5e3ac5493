//! What is learned from sessions: errors and their repairs, and that it does not matter how they were read.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::sessions::{at, engine};
use crate::world::{World, assert_same};

const SESSION: &str = "cccc1011-0000-4000-8000-00000000000c";

/// Writes a transcript of Claude Code, one line after another.
#[derive(Default)]
pub(crate) struct Script {
    text: String,
    lines: i64,
}

impl Script {
    pub(crate) fn user(mut self, text: &str) -> Self {
        self.line("user", &json!({"role": "user", "content": text}), None);
        self
    }

    pub(crate) fn said(mut self, text: &str) -> Self {
        self.assistant(&json!({"type": "text", "text": text}));
        self
    }

    pub(crate) fn edit(self, path: &str) -> Self {
        self.call("Edit", &json!({"file_path": path, "old_string": "a", "new_string": "b"}), "done", false)
    }

    pub(crate) fn run(self, command: &str, output: &str, failed: bool) -> Self {
        self.call("Bash", &json!({"command": command}), output, failed)
    }

    fn call(mut self, tool: &str, input: &Value, output: &str, failed: bool) -> Self {
        let id = format!("toolu_{}", self.lines);
        self.assistant(&json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
        let native = (tool == "Bash").then(|| json!({"stdout": output, "stderr": ""}));
        self.line("user", &json!({"role": "user", "content": result}), native);
        self
    }

    fn assistant(&mut self, block: &Value) {
        let id = format!("msg_{}", self.lines);
        self.line("assistant", &json!({"role": "assistant", "id": id, "model": "m", "content": [block]}), None);
    }

    fn line(&mut self, kind: &str, message: &Value, native: Option<Value>) {
        self.lines += 1;
        let uuid = format!("{:08x}-1111-4222-8333-000000000001", self.lines);
        let mut entry = json!({"type": kind, "uuid": uuid, "sessionId": SESSION, "cwd": "/app", "gitBranch": "main",
            "timestamp": at(self.lines).to_string(), "message": message});
        if let Some(native) = native {
            entry["toolUseResult"] = native;
        }
        writeln!(self.text, "{entry}").unwrap();
    }
}

impl Script {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn file() -> String {
    crate::sessions::transcript(SESSION)
}

/// A failure, a dead end, a repair in the next prompt, and an error that came back.
fn session() -> Script {
    let missing = "Exit code 101\n   Compiling app\nerror[E0433]: failed to resolve: use of undeclared crate `regex`";
    Script::default()
        .user("the build is broken")
        .run("cargo build", missing, true)
        .edit("/app/src/lib.rs")
        .run("cargo build", missing, true)
        .said("The crate is missing from the manifest.")
        .user("go on")
        .run("cargo add regex", "Adding regex v1 to dependencies", false)
        .run("cargo build 2>&1 | tail -3", "    Finished `dev` profile", false)
        .run("git commit -am \"Add regex\"", "[main 1a2b3c4] Add regex\n 1 file changed", false)
        .user("and the tests?")
        .run("cargo test 2>&1 | tail -3", "test result: FAILED. 3 passed; 1 failed", false)
        .edit("/app/src/parse.rs")
        .run("cargo test 2>&1 | tail -3", "test result: ok. 4 passed; 0 failed", false)
}

#[test]
fn s003_22_an_error_its_dead_end_and_its_repair_are_known() {
    let world = World::new();
    world.write(&file(), session().text);
    let report = world.sync();
    let facts = world.facts();
    for expected in [
        "failed_with | cargo build | error[E0433]: failed to resolve: use of undeclared crate <value> | confirmed",
        "not_fixed_by | error[E0433]: failed to resolve: use of undeclared crate <value> | cargo build | confirmed | edited src/lib.rs | 0/1",
        "fixed_by | error[E0433]: failed to resolve: use of undeclared crate <value> | cargo build | confirmed | ran `cargo add regex` | 1/0",
        "added | regex",
        "committed | Add regex | main",
        "failed_with | cargo test | test result: FAILED.",
        "edited src/parse.rs",
    ] {
        assert!(facts.contains(expected), "{expected} is not among\n{facts}");
    }
    assert_eq!(report.agents.iter().map(|agent| agent.facts).sum::<u64>(), facts.lines().count() as u64);
}

#[test]
fn facts_of_a_session_read_line_by_line_are_those_of_the_session_read_whole() {
    let (whole, bit_by_bit) = (World::new(), World::new());
    whole.write(&file(), session().text);
    whole.sync();
    bit_by_bit.write(&file(), "");
    for line in session().text.split_inclusive('\n') {
        bit_by_bit.append(&file(), line);
        bit_by_bit.sync();
    }
    assert_same(&bit_by_bit.facts(), &whole.facts());
    bit_by_bit.engine().rebuild(&mut |_| {}).unwrap();
    assert_same(&bit_by_bit.facts(), &whole.facts());
}

#[test]
fn facts_that_rest_on_a_long_episode_do_not_depend_on_how_it_was_cut() {
    let long = || {
        let mut script = Script::default().user("make it green");
        for number in 0..60 {
            let output = format!("Exit code 1\nerror: case {number} of the suite expects another header");
            script = script.run("make check", &output, true).said(&"A long thought. ".repeat(30));
            script = script.edit(&format!("/app/src/part{}.rs", number % 7));
        }
        script.run("make check", "all well", false)
    };
    let (whole, halves) = (World::new(), World::new());
    whole.write(&file(), long().text);
    whole.sync();
    let text = long().text;
    let cut = text.len() / 2;
    halves.write(&file(), &text[..cut]);
    halves.sync();
    halves.append(&file(), &text[cut..]);
    halves.sync();
    assert_same(&halves.facts(), &whole.facts());
    assert!(whole.facts().contains("fixed_by"));
}

#[test]
fn facts_are_not_drawn_where_they_are_not_wanted() {
    let world = World::new();
    world.write(".rethread/config.toml", "[facts]\nenabled = false\n");
    world.write(&file(), session().text);
    world.sync();
    assert_eq!(world.facts(), "");
    world.write(".rethread/config.toml", "");
    world.sync();
    assert!(world.facts().contains("fixed_by"), "what was read before is drawn from as soon as it is wanted");
}

/// What a session is told when a command of its fails.
fn told_after(world: &World, session: &str, command: &str, error: &str) -> String {
    let event = json!({"session_id": session, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": command}, "error": format!("Exit code 1\n{error}"), "cwd": "/app"});
    let told = engine(world, 600).hook_claude_code(event.to_string().as_bytes()).unwrap();
    told.map(|told| told.to_string()).unwrap_or_default()
}

#[test]
fn a_failure_brings_the_one_fix_that_is_known_for_this_very_error_once() {
    let world = World::new();
    world.write(&file(), session().text);
    world.sync();
    let (other, error) =
        ("dddd1011-0000-4000-8000-00000000000d", "error[E0433]: failed to resolve: use of undeclared crate");
    let known = format!("{error} `regex`");
    assert_eq!(told_after(&world, SESSION, "cargo build", &known), "", "whoever fixed it knows");
    assert_eq!(told_after(&world, other, "cargo build", &format!("{error} `serde`")), "", "it is another error");
    assert_eq!(told_after(&world, other, "grep x y", &known), "", "looking at things is no failure");
    let told = told_after(&world, other, "cargo build", &known);
    assert!(told.contains("ran `cargo add regex`") && told.contains("helped 1 of 1 times"), "{told}");
    assert!(!told.contains("src/lib.rs"), "a dead end is no fix: {told}");
    assert_eq!(told_after(&world, other, "cargo build", &known), "", "once is enough");
}

#[test]
fn a_prompt_that_quotes_an_error_brings_its_fix() {
    let world = World::new();
    world.write(&file(), session().text);
    world.sync();
    let prompt = "I get error[E0433]: failed to resolve: use of undeclared crate `regex`\nwhat now?";
    let prompt = prompt.replace("I get ", "I get\n");
    let event = json!({"session_id": "eeee1011-0000-4000-8000-00000000000e", "hook_event_name": "UserPromptSubmit",
        "prompt": prompt, "cwd": "/app"});
    let told = engine(&world, 600).hook_claude_code(event.to_string().as_bytes()).unwrap().unwrap().to_string();
    assert!(told.contains("ran `cargo add regex`"), "{told}");
}

#[test]
fn commands_are_believed_only_as_far_as_their_end_is_seen() {
    let world = World::new();
    let broken = "Exit code 1\nerror: the header is wrong";
    let script = Script::default()
        .user("make it green")
        .run("make check", broken, true)
        .edit("/app/a.c")
        .run("make check; echo exit=$?", "exit=2", false)
        .run("make build || make check", "", false)
        .run("cd /app/other && make check", "fine", false)
        .run("git commit -m 'x'; git status", "nothing to commit", false)
        .run(
            "npm ci\nnpm test\ngit commit -m \"$(cat <<'EOF'\nfix: it\n\nlong story\nEOF\n)\"",
            "[main 1a2b3c4] fix: it",
            false,
        );
    world.write(&file(), script.text);
    world.sync();
    let facts = world.facts();
    assert!(!facts.contains("fixed_by | "), "{facts}");
    assert!(facts.contains("committed | fix: it | main") && !facts.contains("committed | x"), "{facts}");
    assert!(!facts.contains("ran | npm test") && !facts.contains("added | npm"), "{facts}");
}
