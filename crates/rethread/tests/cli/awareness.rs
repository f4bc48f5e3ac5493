//! `inject`, `activity`, `resume` and `hook`, also when nothing works.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use insta::assert_snapshot;

use crate::transcripts::{new_home, read_home};
use rethread_testing::TestHome;

/// Runs the hook with this input and these variables.
fn hook(home: &TestHome, input: &[u8], variables: &[(&str, &str)]) -> Output {
    let mut command = home.command(&["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.envs(variables.iter().copied()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn prompt() -> Vec<u8> {
    br#"{"session_id":"s-1","cwd":"/nowhere","hook_event_name":"UserPromptSubmit","prompt":"hi"}"#.to_vec()
}

#[test]
fn injection_can_be_previewed() {
    let home = read_home();
    assert_snapshot!("inject_explain", home.snapshot(&["inject", "--session", "last line", "--explain"]));
    assert_snapshot!("inject_json", home.snapshot(&["inject", "--session", "last line", "--json"]));
    assert_snapshot!(
        "inject_machine",
        home.snapshot(&["inject", "--session", "last line", "--prompt", "<task-notification>", "--explain"])
    );
    assert_snapshot!("activity_peek", home.snapshot(&["activity", "--session", "last line", "--peek"]));
    assert_snapshot!("resume", home.snapshot(&["resume", "last line"]));
    assert_snapshot!("resume_none", home.snapshot(&["resume"]));
    assert_snapshot!("activity_unknown", home.snapshot(&["activity", "--session", "nonsense", "--json"]));
    assert_snapshot!("bad_alias", home.snapshot(&["alias", "parser", "two words"]));
    assert_snapshot!("empty_note", home.snapshot(&["note", "parser", " "]));
}

#[test]
fn session_ends_once_and_cannot_be_paused_afterwards() {
    // S002-16
    let home = read_home();
    assert_snapshot!("end", home.snapshot(&["end", "last line"]));
    assert_snapshot!("end_again", home.snapshot(&["end", "last line"]));
    assert_snapshot!("pause_ended", home.snapshot(&["pause", "last line"]));
}

#[test]
fn failing_hook_is_silent_and_exits_zero() {
    // L002-15, E000-08
    let silent = |output: &Output, why: &str| {
        let result = (output.status.code(), output.stdout.len(), output.stderr.len());
        assert_eq!(result, (Some(0), 0, 0), "{why}: {output:?}");
    };
    let home = new_home();
    silent(&hook(&home, &prompt(), &[("RETHREAD_DISABLE", "1")]), "switched off");
    assert!(!home.has_rethread_dir(), "switched off, it leaves no trace");
    for input in [&b""[..], b"{", b"\xff\xfe\x00", b"[1]", b"{\"session_id\":{}}"] {
        silent(&hook(&home, input, &[]), "nonsense");
    }
    silent(&hook(&home, &prompt(), &[]), "nothing to say");
    home.write("file", "");
    let below_a_file = home.path("file/rethread").display().to_string();
    silent(&hook(&home, &prompt(), &[("RETHREAD_HOME", &below_a_file)]), "no home can be made");
    fs::write(home.path(".rethread/memory.db"), "garbage, and no database at all".repeat(100)).unwrap();
    fs::remove_file(home.path(".rethread/memory.db-wal")).ok();
    // D33: the store is replaced, which is said once.
    let said = hook(&home, &prompt(), &[]);
    assert_eq!(said.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("{\"systemMessage\":\"Rethread: the store is damaged."));
    home.write(".rethread/config.toml", "this is = = no toml");
    silent(&hook(&home, &prompt(), &[]), "a broken configuration");
}
