//! Pipes, signals and colours.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::transcripts::{new_home, read_home};

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
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
fn watch_ends_cleanly_when_it_is_interrupted() {
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
        assert_eq!(String::from_utf8_lossy(&output.stderr), "watching; Ctrl-C ends it\nstopped\n");
    }
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let home = read_home();
    let coloured = |arguments: &[&str], no_color: &str| {
        let output = home.command(arguments).env("NO_COLOR", no_color).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!coloured(&["sessions", "--all-projects"], ""));
    assert!(coloured(&["sessions", "--all-projects", "--color", "always"], ""));
    assert!(coloured(&["--color=always", "sessions", "--all-projects"], "1"));
    assert!(!coloured(&["sessions", "--all-projects", "--color", "never"], ""));
    assert!(coloured(&["--help", "--color", "always"], ""));
    assert!(!coloured(&["--help"], ""));
}

#[test]
fn the_home_comes_from_the_flag_then_the_variable() {
    let home = new_home();
    let home_of = |arguments: &[&str], variable: &str| {
        let output = home.command(arguments).env("RETHREAD_HOME", variable).output().unwrap();
        home.snapshot_of(&output)
    };
    assert!(home_of(&["config", "path"], "").contains("[FOLDER]/home/.rethread/config.toml"));
    assert!(home_of(&["config", "path"], "other").contains("[FOLDER]/desk/other/config.toml"));
    assert!(home_of(&["config", "path", "--home", "/third"], "other").contains("\n/third/config.toml"));
}
