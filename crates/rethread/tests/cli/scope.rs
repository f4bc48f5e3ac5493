//! Which project a command covers, which session and line a reference means, and what fits on a screen.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::transcripts::{CLAUDE, claude, new_home, read_home, text, user};
use rethread_testing::TestHome;
use serde_json::{Value, json};

const NOTE: &str = "No sessions in this project";

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn run_in(home: &TestHome, folder: &Path, arguments: &[&str]) -> Output {
    fs::create_dir_all(folder).unwrap();
    home.command(arguments).current_dir(folder).output().unwrap()
}

/// A session with one prompt, started in a folder.
fn session_in(home: &TestHome, id: &str, folder: &Path, prompt: &str) {
    let answer = crate::transcripts::model("11:00:10", "msg_1", &text("Done."));
    let lines = claude(id, &[user("11:00:00", &json!(prompt)), answer]);
    let lines = lines.replace("/home/dev/app", folder.to_str().unwrap());
    home.write(&format!(".claude/projects/-p/{id}.jsonl"), lines);
}

// D47
#[test]
fn outside_a_project_every_list_covers_all_projects_and_says_so() {
    let home = read_home();
    for arguments in [
        &["sessions"][..],
        &["search", "parser"],
        &["timeline"],
        &["files", "src/parser.rs"],
        &["facts"],
        &["workflows"],
        &["usage"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert!(!output.stdout.is_empty(), "{arguments:?}");
        assert!(stderr(&output).contains(NOTE) && stderr(&output).contains("showing all projects"), "{arguments:?}");
        let explicit = home.run(&[arguments, &["--project", "."]].concat());
        assert_eq!(explicit.status.code(), Some(1), "{arguments:?}: a project that was asked for is not widened");
    }
    assert!(stderr(&home.run(&["fix", "mismatched types"])).contains("Seen 1 time"));
    let json: Value = serde_json::from_str(&home.run_ok(&["search", "parser", "--json"])).unwrap();
    assert!(!json["hits"].as_array().unwrap().is_empty());
    let inside = ["--quiet", "search", "parser"];
    assert_eq!(stderr(&home.run(&inside)), "");
}

// D47
#[test]
fn sessions_without_activity_do_not_make_a_project() {
    let home = read_home();
    let exit = claude(
        "1b0f77aa-0000-4000-8000-000000000041",
        &[user("11:00:00", &json!("<command-name>/exit</command-name>"))],
    );
    home.write(
        ".claude/projects/-p/1b0f77aa-0000-4000-8000-000000000041.jsonl",
        exit.replace("/home/dev/app", home.work_dir().to_str().unwrap()),
    );
    home.run_ok(&["sync"]);
    assert!(home.run_ok(&["sessions"]).contains("Fix the parser's last line"));
}

// D47
#[test]
fn in_a_project_with_sessions_nothing_is_widened() {
    let home = new_home();
    let (here, other) = (home.work_dir().join("here"), home.work_dir().join("other"));
    session_in(&home, "1b0f77aa-0000-4000-8000-000000000011", &here, "Sort the shelves");
    session_in(&home, "1b0f77aa-0000-4000-8000-000000000012", &other, "Paint the fence");
    home.run_ok(&["sync"]);
    let output = run_in(&home, &here, &["search", "fence"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stderr(&output).contains(NOTE), "{}", stderr(&output));
    assert!(stderr(&output).contains("there are results in other projects"), "{}", stderr(&output));
}

// D52
#[test]
fn a_folder_below_a_project_without_git_belongs_to_it() {
    let home = new_home();
    let project = home.work_dir().join("plain");
    session_in(&home, "1b0f77aa-0000-4000-8000-000000000021", &project, "Sort the shelves");
    session_in(&home, "1b0f77aa-0000-4000-8000-000000000022", &project.join("own"), "Paint the fence");
    session_in(&home, "1b0f77aa-0000-4000-8000-000000000023", &home.path(""), "Clean up at home");
    home.run_ok(&["sync"]);
    let listed = |folder: &Path| String::from_utf8(run_in(&home, folder, &["sessions"]).stdout).unwrap();
    let below = listed(&project.join("src/deep"));
    assert!(below.contains("Sort the shelves") && !below.contains("Clean up"), "{below}");
    let own = listed(&project.join("own"));
    assert!(own.contains("Paint the fence") && !own.contains("Sort the shelves"), "{own}");
    let elsewhere = run_in(&home, &home.path("new"), &["sessions"]);
    assert!(stderr(&elsewhere).contains(NOTE), "the home directory does not count: {}", stderr(&elsewhere));
}

// D52
#[test]
fn a_line_that_does_not_exist_is_an_error() {
    let home = read_home();
    for arguments in [
        &["show", "1b0f6a52:99999"][..],
        &["show", "1b0f6a52:99999", "--json"],
        &["timeline", "--around", "1b0f6a52:99999"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("has no line 99999: its last line is 1"), "{}", stderr(&output));
    }
    assert!(home.run(&["show", "1b0f6a52:13"]).status.success());
}

// D52
#[test]
fn a_prefix_that_is_too_short_says_so() {
    let home = read_home();
    for reference in ["01K", "1b0"] {
        let output = home.run(&["show", reference]);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains("is too short for an id: use at least 4 characters"), "{message}");
    }
    assert!(stderr(&home.run(&["show", "zzz"])).contains("no session matches"));
}

// D52
#[test]
fn changes_of_a_session_are_confirmed() {
    let home = read_home();
    for (arguments, expect) in [
        (&["name", CLAUDE, "lines"][..], "(Fix the parser's last line) is now named \"lines\"."),
        (&["name", CLAUDE, ""], "(lines) has its original name again."),
        (&["alias", CLAUDE, "last"], "now has the alias \"last\"."),
        (&["task", "last", "fix it"], "Set the task of "),
        (&["note", "last", "staging is down"], "Added the note to "),
        (&["pause", "last"], "Paused "),
        (&["end", "last"], "Ended "),
    ] {
        let output = home.run(&[&["session"], arguments].concat());
        assert!(output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1);
    }
}

// D51
#[test]
fn a_terminal_gets_the_newest_sessions_and_whole_names() {
    let home = new_home();
    for at in 0..60 {
        let id = format!("1b0f77aa-0000-4000-8000-0000000001{at:02}");
        let folder = home.path(&format!("work{}/warehouse", at % 2));
        session_in(&home, &id, &folder, &format!("Sort the shelves of hall {at:02} now"));
    }
    home.run_ok(&["sync"]);
    let (code, screen) = home.run_in_terminal(&["sessions"], "");
    assert_eq!(code, Some(0));
    assert!(screen.contains("hint: 10 more, add --limit 60"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80 || line.starts_with(NOTE)), "{screen}");
    assert_eq!(screen.matches("Sort the shelves of hall").count(), 50, "{screen}");
    assert!(screen.contains("work0/ware…") && screen.contains("work1/ware…"), "twins differ: {screen}");
    assert_eq!(home.run_ok(&["sessions"]).lines().count(), 61, "a pipe gets all of them");
    assert_eq!(home.run_in_terminal(&["sessions", "--limit", "3"], "").1.matches("Sort the").count(), 3);
}

// D51
#[test]
fn doctor_and_resume_break_lines_between_words() {
    let home = read_home();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for arguments in [&["doctor"][..], &["resume", CLAUDE]] {
        let wide = home.run(arguments);
        // Ctrl-D answers the question whether to start the agent, and is not echoed.
        let (_, screen) = home.run_in_terminal(arguments, "\u{4}");
        let answer = screen.split_once("\ncd ").map_or(screen.as_str(), |(answer, _question)| answer);
        let shown = answer.replace(&stderr(&wide), "");
        assert_eq!(words(&shown), words(&String::from_utf8_lossy(&wide.stdout)), "no word is cut");
        let is_short = |line: &str| line.chars().count() <= 80 || !line.trim().contains(' ');
        assert!(shown.lines().all(is_short), "{shown}");
    }
}
