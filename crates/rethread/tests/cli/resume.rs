//! `resume` with programs on the PATH that write down how they were started.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::transcripts::{CLAUDE, PI, claude, model, new_home, read_home, text, user};
use rethread_testing::TestHome;
use serde_json::{Value, json};

/// Two sessions of Claude Code in a directory that exists.
const NEWER: &str = "1b0f77aa-0000-4000-8000-00000000000b";
const OLDER: &str = "1b0f77aa-0000-4000-8000-00000000000a";

/// Writes its directory and its arguments, one per line.
const RECORDER: &str = r#"#!/bin/sh
{ echo "in $(pwd)"; for word in "$0" "$@"; do echo "word $word"; done; } > "$HOME/started"
"#;

/// A home with these programs on the PATH, and two sessions in the directory `it's a shop`.
fn home_with_programs(programs: &[&str]) -> TestHome {
    let home = new_home();
    let folder = home.path("it's a shop");
    for path in [home.path("programs"), folder.clone()] {
        fs::create_dir_all(path).unwrap();
    }
    for program in programs {
        install(&home.path("programs").join(program));
    }
    for (id, hour, prompt) in [(OLDER, "10", "Sort the shelves"), (NEWER, "11", "Count the boxes")] {
        let answer = model(&format!("{hour}:00:10"), "msg_1", &text("Done."));
        let lines = claude(id, &[user(&format!("{hour}:00:00"), &json!(prompt)), answer]);
        let lines = lines.replace("/home/dev/app", folder.to_str().unwrap());
        home.write(&format!(".claude/projects/-shop/{id}.jsonl"), lines);
    }
    home.run_ok(&["sync"]);
    home
}

/// Another process writes the file: no program can be run while any process has it open for writing, and processes that
/// other threads start at this moment inherit what this one has open.
fn install(path: &Path) {
    let mut writer = Command::new("sh");
    writer.args(["-c", "cat > \"$1\" && chmod +x \"$1\"", "sh"]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdin.take().unwrap().write_all(RECORDER.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

fn search_path(home: &TestHome) -> String {
    format!("{}:/usr/bin:/bin", home.path("programs").display())
}

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    home.command(arguments).env("PATH", search_path(home)).output().unwrap()
}

fn run_on_screen(home: &TestHome, arguments: &[&str], typed: &str) -> (Option<i32>, String) {
    home.run_in_terminal_with(arguments, typed, &[("PATH", &search_path(home))])
}

/// What the program that was started wrote down; empty if none was.
fn started(home: &TestHome) -> String {
    let text = fs::read_to_string(home.path("started")).unwrap_or_default();
    let _ = fs::remove_file(home.path("started"));
    text.replace(home.path("").to_str().unwrap(), "~/")
}

fn resumed(id: &str) -> String {
    format!("in ~/it's a shop\nword ~/programs/claude\nword --resume\nword {id}\n")
}

// D49
#[test]
fn a_session_is_resumed_in_its_directory_once_the_user_agrees() {
    let home = home_with_programs(&["claude"]);
    for (typed, is_started) in [("\n", true), ("y\n", true), ("n\n", false), ("what\n", false), ("\u{4}", false)] {
        let (code, screen) = run_on_screen(&home, &["resume", OLDER], typed);
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("Asked: Sort the shelves") && screen.contains("Start it? [Y/n]"), "{screen}");
        let expected = if is_started { resumed(OLDER) } else { String::new() };
        assert_eq!(started(&home), expected, "{typed:?}");
    }
    assert_eq!(run(&home, &["resume", OLDER, "--exec"]).status.code(), Some(0));
    assert_eq!(started(&home), resumed(OLDER));
    assert_eq!(run(&home, &["resume", OLDER]).status.code(), Some(0));
    assert_eq!(started(&home), "", "without a terminal there is no confirmation");
}

#[test]
fn without_a_reference_the_user_picks_a_session() {
    let home = home_with_programs(&["claude"]);
    for (typed, picked) in [("2\n\n", OLDER), ("\n\n", NEWER), ("SHELVES the\n\n", OLDER), ("no such\n2\n\n", OLDER)] {
        let (_, screen) = run_on_screen(&home, &["resume", "--exec"], typed);
        assert!(screen.contains(" 1  ") && screen.contains("Count the boxes"), "{screen}");
        assert_eq!(started(&home), resumed(picked), "{typed:?}: {screen}");
    }
    let (code, screen) = run_on_screen(&home, &["resume"], "the\nq\n");
    assert_eq!((code, started(&home)), (Some(1), String::new()), "{screen}");
    assert_eq!(screen.matches("Sort the shelves").count(), 2, "a part of both names lists both again: {screen}");
    let newest = String::from_utf8(run(&home, &["resume"]).stderr).unwrap();
    assert!(newest.contains(NEWER), "without a terminal it is the newest one: {newest}");
}

#[test]
fn print_gives_a_command_line_that_a_shell_can_run() {
    let home = home_with_programs(&["claude"]);
    let line = String::from_utf8(run(&home, &["resume", NEWER, "--print"]).stdout).unwrap();
    assert_eq!(line.lines().count(), 1, "{line}");
    let mut shell = Command::new("sh");
    home.isolate(&mut shell);
    assert!(shell.env("PATH", search_path(&home)).args(["-c", &line]).status().unwrap().success());
    assert_eq!(started(&home), resumed(NEWER));

    let json: Value = serde_json::from_slice(&run(&home, &["resume", NEWER, "--json"]).stdout).unwrap();
    assert_eq!(json["command"], json!(["claude", "--resume", NEWER]));
    assert_eq!(json["directory"], json!(home.path("it's a shop").to_str().unwrap()));
    assert_eq!(json["session"]["externalId"], json!(NEWER));
    assert!(json["context"].as_str().unwrap().contains("Count the boxes"), "{json}");
}

#[test]
fn another_agent_gets_the_handoff_note_as_its_first_prompt() {
    let home = home_with_programs(&["codex", "gemini"]);
    for (agent, flag) in [("codex", ""), ("gemini", "word --prompt-interactive\n")] {
        let (_, screen) = run_on_screen(&home, &["resume", OLDER, "--in", agent], "\n");
        assert!(screen.contains("## Goal"), "the note is shown: {screen}");
        let started = started(&home);
        let opening = format!("in ~/it's a shop\nword ~/programs/{agent}\n{flag}word Take over: Sort the shelves\n");
        assert!(started.starts_with(&opening) && started.contains("> Sort the shelves\n"), "{started}");
    }
    let line = String::from_utf8(run(&home, &["resume", OLDER, "--in", "codex", "--print"]).stdout).unwrap();
    let mut shell = Command::new("sh");
    home.isolate(&mut shell);
    assert!(shell.env("PATH", search_path(&home)).args(["-c", &line]).status().unwrap().success());
    assert!(started(&home).contains("## Next Steps"));
    let wrong = run(&home, &["resume", OLDER, "--in", "zed"]);
    assert_eq!(wrong.status.code(), Some(2), "Zed cannot be started with a prompt");
}

#[test]
fn what_is_missing_is_said_before_anything_starts() {
    let home = home_with_programs(&["codex"]);
    let stderr = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    let no_program = run(&home, &["resume", NEWER, "--exec"]);
    assert_eq!(no_program.status.code(), Some(3));
    assert!(
        stderr(&no_program).contains("cannot find the program \"claude\" of Claude Code"),
        "{}",
        stderr(&no_program)
    );
    assert!(stderr(&no_program).contains("rethread resume REF --in codex"), "{}", stderr(&no_program));

    // A program of that name in the directory of the session is not the agent.
    install(&home.path("it's a shop").join("claude"));
    let path = format!(".:{}", search_path(&home));
    let output = home.command(&["resume", NEWER, "--exec"]).env("PATH", path).output().unwrap();
    assert_eq!((output.status.code(), started(&home)), (Some(3), String::new()));

    fs::remove_dir_all(home.path("it's a shop")).unwrap();
    let no_directory = run(&home, &["resume", NEWER, "--in", "codex", "--exec"]);
    assert_eq!((no_directory.status.code(), started(&home)), (Some(3), String::new()));
    assert!(stderr(&no_directory).contains("the directory of the session does not exist"), "{}", stderr(&no_directory));
}

#[test]
fn a_transcript_cannot_run_anything_through_a_printed_command() {
    let home = home_with_programs(&["pi"]);
    let harmless = |number: u64| format!("/tmp/it's \\'; touch proof #{number}  x");
    let cases = [("/p/proj\u{1b}[".to_owned(), true), (harmless(1), false), ("-x\u{202e}".to_owned(), true)];
    for (number, (cwd, is_refused)) in cases.into_iter().enumerate() {
        let id = format!(" ; touch proof ; '{number}\\");
        let at = "2026-02-20T19:00:00.000Z";
        let lines = [
            json!({"type": "session", "version": 3, "id": id, "timestamp": at, "cwd": cwd}),
            json!({"type": "message", "id": "a1", "parentId": null, "timestamp": at,
                "message": {"role": "user", "content": [{"type": "text", "text": format!("Count to {number}")}]}}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n") + "\n";
        home.write(&format!(".pi/agent/sessions/--p--/2026-02-20T19-00-00-000Z_case{number}.jsonl"), text);
        home.run_ok(&["sync"]);
        let output = run(&home, &["resume", &format!("Count to {number}"), "--print"]);
        let line = String::from_utf8(output.stdout).unwrap();
        assert_eq!(line.is_empty(), is_refused, "{line}");
        let mut shell = Command::new("sh");
        home.isolate(&mut shell);
        let script = format!("cd() {{ printf '%s\\n' \"$@\"; }}; pi() {{ printf '%s\\n' \"$@\"; }}; {line}");
        let printed = shell.args(["-c", &script]).current_dir(home.work_dir()).output().unwrap();
        let expected = if is_refused { String::new() } else { format!("{cwd}\n--session\n{id}\n") };
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected);
        assert!(!home.work_dir().join("proof").exists());
    }
}

#[test]
fn sessions_that_cannot_be_resumed_say_so() {
    let home = read_home();
    let thread = home.run_ok(&["thread", "new", "--name", "plans"]);
    let listed: Value = serde_json::from_str(&home.run_ok(&["sessions", "--children", "--json"])).unwrap();
    let child = listed["sessions"].as_array().unwrap().iter().find(|session| session["kind"] == "child").unwrap();
    for (reference, message) in [
        (thread.trim(), "is a thread of Rethread"),
        (child["id"].as_str().unwrap(), "is a sub-agent, which cannot be resumed on its own"),
    ] {
        let output = home.run(&["resume", reference, "--print"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains(message), "{message}");
    }
    assert!(home.run_ok(&["resume", PI, "--print"]).ends_with(&format!("pi --session {PI}\n")));
    assert!(home.run_ok(&["resume", CLAUDE, "--print"]).starts_with("cd /home/dev/app && claude"));
}
