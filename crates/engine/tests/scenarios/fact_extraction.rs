//! Facts extracted from sessions: errors and fixes, however the session was synced.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::Agent;
use rethread_testing::{TestHome, TranscriptBuilder, assert_same_dump};
use serde_json::json;

use crate::session_helpers::{at, engine};

const SESSION: &str = "cccc1011-0000-4000-8000-00000000000c";

fn script() -> TranscriptBuilder {
    TranscriptBuilder::new(SESSION).times(at(0), 60)
}

fn file() -> String {
    crate::session_helpers::transcript(SESSION)
}

/// A failure, a failed attempt, a fix in the next episode, and a second error with its fix.
fn session() -> TranscriptBuilder {
    let missing = "Exit code 101\n   Compiling app\nerror[E0433]: failed to resolve: use of undeclared crate `regex`";
    script()
        .user("the build is broken")
        .command("cargo build", missing, true)
        .edit("/app/src/lib.rs")
        .command("cargo build", missing, true)
        .assistant("The crate is missing from the manifest.")
        .user("go on")
        .command("cargo add regex", "Adding regex v1 to dependencies", false)
        .command("cargo build 2>&1 | tail -3", "    Finished `dev` profile", false)
        .command("git commit -am \"Add regex\"", "[main 1a2b3c4] Add regex\n 1 file changed", false)
        .user("and the tests?")
        .command("cargo test 2>&1 | tail -3", "test result: FAILED. 3 passed; 1 failed", false)
        .edit("/app/src/parse.rs")
        .command("cargo test 2>&1 | tail -3", "test result: ok. 4 passed; 0 failed", false)
}

/// A home in which a session found the fix for a missing crate.
pub(crate) fn home_with_known_fix() -> TestHome {
    let home = TestHome::new();
    home.write(&file(), session().build());
    home.sync();
    home
}

#[test]
fn error_failed_attempt_and_fix_are_extracted() {
    // S003-22
    let home = TestHome::new();
    home.write(&file(), session().build());
    let report = home.sync();
    let facts = home.facts();
    for expected in [
        "failed_with | cargo build | error[E0433]: failed to resolve: use of undeclared crate <value> | confirmed",
        "not_fixed_by | error[E0433]: failed to resolve: use of undeclared crate <value> | cargo build | confirmed | src/lib.rs: a → b | 0/1",
        "fixed_by | error[E0433]: failed to resolve: use of undeclared crate <value> | cargo build | confirmed | ran `cargo add regex` | 1/0",
        "added | regex",
        "committed | Add regex | main",
        "failed_with | cargo test | test result: FAILED.",
        "src/parse.rs: a → b",
    ] {
        assert!(facts.contains(expected), "{expected} is not among\n{facts}");
    }
    assert_eq!(report.agents.iter().map(|agent| agent.facts).sum::<u64>(), facts.lines().count() as u64);
}

#[test]
fn facts_are_equal_for_line_by_line_and_whole_sync() {
    let (whole, bit_by_bit) = (TestHome::new(), TestHome::new());
    whole.write(&file(), session().build());
    whole.sync();
    bit_by_bit.write(&file(), "");
    for line in session().text().split_inclusive('\n') {
        bit_by_bit.append(&file(), line);
        bit_by_bit.sync();
    }
    assert_same_dump(&bit_by_bit.facts(), &whole.facts());
    bit_by_bit.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&bit_by_bit.facts(), &whole.facts());
}

#[test]
fn facts_of_a_long_episode_do_not_depend_on_the_cut() {
    let long = || {
        let mut script = script().user("make it green");
        for number in 0..60 {
            let output = format!("Exit code 1\nerror: case {number} of the suite expects another header");
            script = script.command("make check", &output, true).assistant(&"A long thought. ".repeat(30));
            script = script.edit(&format!("/app/src/part{}.rs", number % 7));
        }
        script.command("make check", "all well", false)
    };
    let (whole, halves) = (TestHome::new(), TestHome::new());
    whole.write(&file(), long().build());
    whole.sync();
    let text = long().build();
    let cut = text.len() / 2;
    halves.write(&file(), &text[..cut]);
    halves.sync();
    halves.append(&file(), &text[cut..]);
    halves.sync();
    assert_same_dump(&halves.facts(), &whole.facts());
    assert!(whole.facts().contains("fixed_by"));
}

#[test]
fn result_that_comes_many_prompts_later_gives_the_same_facts() {
    // The states between the first spans are not stored any more when the result arrives.
    let late = || {
        let mut script = script().user("start the long check");
        script = script.tool_call("slow", "Bash", &json!({"command": "make check"}));
        for number in 0..8 {
            let output = format!("Exit code 1\nerror: case {number} of the suite expects another header");
            script = script.user(format!("and part {number}?")).command("make part", &output, true);
            script = script.edit("/app/src/part.rs").command("make part", "all well", false);
        }
        script.tool_result("slow", "Exit code 2\nerror: no rule to make target check", true).user("go on")
    };
    let (whole, bit_by_bit) = (TestHome::new(), TestHome::new());
    whole.write(&file(), late().build());
    whole.sync();
    bit_by_bit.write(&file(), "");
    for line in late().text().split_inclusive('\n') {
        bit_by_bit.append(&file(), line);
        bit_by_bit.sync();
    }
    assert!(whole.facts().contains("no rule to make target check"), "{}", whole.facts());
    assert_same_dump(&bit_by_bit.facts(), &whole.facts());
}

#[test]
fn facts_are_not_extracted_when_disabled() {
    let home = TestHome::new();
    home.write(".rethread/config.toml", "[facts]\nenabled = false\n");
    home.write(&file(), session().build());
    home.sync();
    assert_eq!(home.facts(), "");
    home.write(".rethread/config.toml", "");
    home.sync();
    assert!(home.facts().contains("fixed_by"), "facts of synced sessions are extracted once enabled");
}

/// The injection after a failed command.
fn injection_after(home: &TestHome, session: &str, command: &str, error: &str) -> String {
    let event = json!({"session_id": session, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {"command": command}, "error": format!("Exit code 1\n{error}"), "cwd": "/app"});
    let injected = engine(home, 600).hooks().handle(Agent::ClaudeCode, event.to_string().as_bytes()).unwrap();
    injected.map(|injected| injected.to_string()).unwrap_or_default()
}

#[test]
fn failure_injects_the_known_fix_of_the_same_error_once() {
    let home = TestHome::new();
    home.write(&file(), session().build());
    home.sync();
    let (other, error) =
        ("dddd1011-0000-4000-8000-00000000000d", "error[E0433]: failed to resolve: use of undeclared crate");
    let known = format!("{error} `regex`");
    assert_eq!(
        injection_after(&home, SESSION, "cargo build", &known),
        "",
        "the session that fixed it needs no injection"
    );
    assert_eq!(injection_after(&home, other, "cargo build", &format!("{error} `serde`")), "", "it is another error");
    assert_eq!(injection_after(&home, other, "grep x y", &known), "", "a failed search command is not an error");
    let injected = injection_after(&home, other, "cargo build", &known);
    assert!(injected.contains("ran `cargo add regex`") && injected.contains("helped 1 of 1 times"), "{injected}");
    assert!(!injected.contains("src/lib.rs"), "a failed attempt is not a fix: {injected}");
    assert_eq!(injection_after(&home, other, "cargo build", &known), "", "only once");
}

#[test]
fn prompt_that_quotes_an_error_injects_its_fix() {
    let home = TestHome::new();
    home.write(&file(), session().build());
    home.sync();
    let error = "error[E0433]: failed to resolve: use of undeclared crate `regex`";
    for (at, lead_in) in ["I get\n", "I get ", "it happens again: "].iter().enumerate() {
        let session = format!("eeee1011-0000-4000-8000-00000000000{at}");
        let prompt = format!("{lead_in}{error}\nwhat now?");
        let event =
            json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": "/app"});
        let injected = engine(&home, 600).hooks().handle(Agent::ClaudeCode, event.to_string().as_bytes()).unwrap();
        let injected = injected.map(|injected| injected.to_string()).unwrap_or_default();
        assert!(injected.contains("ran `cargo add regex`"), "{lead_in}: {injected}");
    }
}

#[test]
fn generic_error_of_another_command_injects_nothing() {
    let home = TestHome::new();
    let reset = "Error: socket hang up";
    let nil = "panic: runtime error: invalid memory address or nil pointer dereference";
    let script = script()
        .user("run the tests")
        .command("pnpm test ws", &format!("Exit code 1\n{reset}"), true)
        .edit("/app/nginx.conf")
        .command("pnpm test ws", "12 passed", false)
        .command("go test ./...", &format!("Exit code 2\n{nil}"), true)
        .edit("/app/main.go")
        .command("go test ./...", "ok", false);
    home.write(&file(), script.build());
    home.sync();
    let other = "dddd1011-0000-4000-8000-00000000000d";
    assert_eq!(injection_after(&home, other, "curl localhost", reset), "");
    assert_eq!(injection_after(&home, other, "go run ./other", nil), "");
    assert_eq!(injection_after(&home, other, "go test ./other", nil), "", "it may happen anywhere");
    let injected = injection_after(&home, other, "CI=1 pnpm run test ws --bail", reset);
    assert!(injected.contains("nginx.conf"), "{injected}");
}

#[test]
fn cleanup_is_a_fix_and_a_look_or_a_skipped_check_is_not() {
    let home = TestHome::new();
    let (full, taken) = ("ERROR: write /a/x: no space left on device", "Error: listen EADDRINUSE: port taken :::3000");
    let script = script()
        .user("build the image")
        .command("docker build -t a .", &format!("Exit code 1\n{full}"), true)
        .command("docker system df", "Images 38GB", false)
        .command("docker builder prune -f", "Total reclaimed space: 21GB", false)
        .command("docker build -t a .", "naming to a", false)
        .command("pnpm e2e", &format!("Exit code 1\n{taken}"), true)
        .command("kill 4121", "", false)
        .command("pnpm e2e", "12 passed", false)
        .command("git commit -am x", "Exit code 1\nError: the hook found an unused variable", true)
        .command("git commit --no-verify -am x", "[main 1a2b3c4] x\n 1 file changed", false);
    home.write(&file(), script.build());
    home.sync();
    let facts = home.facts();
    assert!(facts.contains("ran `docker builder prune -f` | 1/0") && !facts.contains("system df`"), "{facts}");
    assert!(facts.contains("ran `kill PID`") && !facts.contains("ran `kill 4121`"), "{facts}");
    assert!(!facts.contains("commit:git commit! > commit:git commit"), "{facts}");
}

#[test]
fn commands_count_only_if_their_exit_is_visible() {
    let home = TestHome::new();
    let broken = "Exit code 1\nerror: the header is wrong";
    let script = script()
        .user("make it green")
        .command("make check", broken, true)
        .edit("/app/a.c")
        .command("make check; echo exit=$?", "exit=2", false)
        .command("make build || make check", "", false)
        .command("cd /app/other && make check", "fine", false)
        .command("git commit -m 'x'; git status", "nothing to commit", false)
        .command(
            "npm ci\nnpm test\ngit commit -m \"$(cat <<'EOF'\nfix: it\n\nlong story\nEOF\n)\"",
            "[main 1a2b3c4] fix: it",
            false,
        );
    home.write(&file(), script.build());
    home.sync();
    let facts = home.facts();
    assert!(!facts.contains("fixed_by | "), "{facts}");
    assert!(facts.contains("committed | fix: it | main") && !facts.contains("committed | x"), "{facts}");
    assert!(!facts.contains("ran | npm test") && !facts.contains("added | npm"), "{facts}");
}

#[test]
fn failure_that_differs_only_in_numbers_or_addresses_injects_the_fix() {
    // D38
    let home = TestHome::new();
    let error = |address: &str, name: &str| format!("Error: connect ECONNREFUSED {address} while reading '{name}'");
    let script = script()
        .user("run the tests")
        .command("npm test", &format!("Exit code 1\n{}", error("10.0.0.5:5432", "users")), true)
        .command("docker compose up -d", "Container db  Started", false)
        .command("npm test", "Tests: 4 passed, 4 total", false);
    home.write(&file(), script.build());
    home.sync();
    let other = "dddd1011-0000-4000-8000-00000000000d";
    assert_eq!(injection_after(&home, other, "npm test", &error("10.0.0.5:5432", "orders")), "", "it is another name");
    let injected = injection_after(&home, other, "npm test", &error("10.0.0.6:6543", "users"));
    assert!(injected.contains("docker compose up -d"), "{injected}");
}
