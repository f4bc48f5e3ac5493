//! Foreign text never gets to steer a terminal, wherever it comes from.

use rethread_testing::TestHome;
use serde_json::json;

use crate::transcripts::{call, claude, model, new_home, result, text, user};

const ID: &str = "bad00bad-0000-4000-8000-000000000001";
/// Clears the screen, sets the title, turns the direction, rings, and more.
const EVIL: &str = "x\u{1b}[2Jy\u{1b}]0;owned\u{7}z\u{9b}31m\u{202e}gnp\u{200f}\u{8}\u{0}\r!";

fn evil_home() -> TestHome {
    let home = new_home();
    let lines = [
        user("11:00:00", &json!(format!("prompt {EVIL}"))),
        model("11:00:01", "m1", &text(&format!("answer {EVIL}"))),
        model(
            "11:00:02",
            "m2",
            &call("t1", &format!("Tool{EVIL}"), &json!({"command": EVIL, "path": EVIL, "more": EVIL})),
        ),
        user("11:00:03", &result("t1", &format!("failed {EVIL}"), true)),
        json!({"type": "custom-title", "customTitle": format!("title {EVIL}")}),
    ];
    home.write(&format!(".claude/projects/-p/{ID}.jsonl"), &claude(ID, &lines));
    home.write(&format!(".claude/projects/-p\u{1b}[31m/{}.jsonl", ID.replace("bad0", "bad1")), "no json \u{1b}[31m\n");
    home
}

/// Whatever a terminal would obey, our own colours aside.
fn steers(text: &str, coloured: bool) -> bool {
    let text = if coloured { without_colours(text) } else { text.to_owned() };
    text.chars().any(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || "\u{200e}\u{200f}".contains(c)
    })
}

/// The text without `ESC [ numbers m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((numbers, rest)) if numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') => out += rest,
            _ => out.extend(["\u{1b}[", part]),
        }
    }
    out
}

#[test]
fn no_command_passes_control_characters_on() {
    let home = evil_home();
    let unknown = format!("ref {}", EVIL.replace('\0', ""));
    let commands: [&[&str]; 24] = [
        &["sync"],
        &["init"],
        &["sessions", "--all-projects"],
        &["sessions", "--all-projects", "--for-ref"],
        &["sessions", "--all-projects", "--json"],
        &["show", ID],
        &["show", ID, "--profile", "full"],
        &["show", ID, "--profile", "full", "--json"],
        &["show", &unknown],
        &["search", "prompt answer failed owned", "--all-projects"],
        &["search", "prompt answer failed owned", "--all-projects", "--group", "--exchange"],
        &["search", "prompt answer failed owned", "--all-projects", "--full"],
        &["search", "prompt answer failed owned", "--all-projects", "--full", "--exchange", "--json"],
        &["search", &unknown, "--all-projects"],
        &["search", &unknown, "--since", &unknown],
        &["timeline", "--all-projects"],
        &["timeline", "--all-projects", "--json"],
        &["timeline", "--around", &unknown],
        &["search", "x", "--kind", &unknown],
        &["doctor"],
        &["doctor", "--json"],
        &["status"],
        &["config", "get", &unknown],
        &[&unknown],
    ];
    for command in commands {
        for colour in ["never", "always"] {
            let arguments = [command, &["--color", colour]].concat();
            let output = home.run(&arguments);
            let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(!all.is_empty(), "{arguments:?}");
            assert!(!steers(&all, colour == "always"), "{arguments:?}: {all:?}");
        }
    }
}

#[test]
fn what_was_said_is_still_there() {
    let home = evil_home();
    home.run(&["sync"]);
    let json = String::from_utf8(home.run(&["show", ID, "--json"]).stdout).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["entries"][1]["text"], format!("answer {EVIL}"));
}
