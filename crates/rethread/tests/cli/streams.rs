//! Pipes, signals, colors and the home directory.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::transcripts::{new_home, read_home};

#[test]
fn closed_pipe_is_not_a_failure() {
    let home = read_home();
    let commands: [&[&str]; 7] = [
        &["search", "parser", "--all-projects", "--quiet"],
        &["search", "parser", "--all-projects", "--json"],
        &["timeline", "--all-projects"],
        &["show", "parser's last", "--full"],
        &["sessions", "--all-projects", "--json"],
        &["completions", "zsh"],
        &["demo"],
    ];
    for command in commands {
        let mut child = home.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(output.stderr.is_empty(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn watch_exits_cleanly_on_interrupt() {
    for way in [&["watch"][..], &["watch", "--every", "1h"]] {
        let home = read_home();
        home.write(".pi/agent/sessions/--p--/x.jsonl", "{\"type\":\"session\",\"id\":\"x\",\"cwd\":\"/p\"}\n");
        let mut child = home.command(way).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("pi "), "{first}");
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "watching; press Ctrl-C to stop\nstopped\n");
    }
}

#[test]
fn color_follows_flag_and_environment() {
    let home = read_home();
    let colored = |arguments: &[&str], no_color: &str| {
        let output = home.command(arguments).env("NO_COLOR", no_color).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&["sessions", "--all-projects"], ""));
    assert!(colored(&["sessions", "--all-projects", "--color", "always"], ""));
    assert!(colored(&["--color=always", "sessions", "--all-projects"], "1"));
    assert!(!colored(&["sessions", "--all-projects", "--color", "never"], ""));
    assert!(colored(&["--help", "--color", "always"], ""));
    assert!(!colored(&["--help"], ""));
}

#[test]
fn home_flag_wins_over_the_variable() {
    let home = new_home();
    let home_of = |arguments: &[&str], variable: &str| {
        let output = home.command(arguments).env("RETHREAD_HOME", variable).output().unwrap();
        home.snapshot_of(&output)
    };
    assert!(home_of(&["config", "path"], "").contains("[FOLDER]/home/.rethread/config.toml"));
    assert!(home_of(&["config", "path"], "other").contains("[FOLDER]/desk/other/config.toml"));
    assert!(home_of(&["config", "path", "--home", "/third"], "other").contains("\n/third/config.toml"));
}
