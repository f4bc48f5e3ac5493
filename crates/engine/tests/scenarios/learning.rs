//! What is learned from sessions: errors and their repairs, and that it does not matter how they were read.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::sessions::at;
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
