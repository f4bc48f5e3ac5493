//! Text from transcripts and arguments never controls the terminal.

use rethread_testing::TestHome;
use serde_json::json;

use crate::transcripts::{call, claude, model, new_home, result, text, user};

const ID: &str = "bad00bad-0000-4000-8000-000000000001";
/// Clears the screen, sets the title, reverses the text direction, rings the bell, and more.
const HOSTILE: &str = "x\u{1b}[2Jy\u{1b}]0;owned\u{7}z\u{9b}31m\u{202e}gnp\u{200f}\u{8}\u{0}\r!";

fn hostile_home() -> TestHome {
    let home = new_home();
    let lines = [
        user("11:00:00", &json!(format!("prompt {HOSTILE}"))),
        model("11:00:01", "m1", &text(&format!("answer {HOSTILE}"))),
        model(
            "11:00:02",
            "m2",
            &call("t1", &format!("Tool{HOSTILE}"), &json!({"command": HOSTILE, "path": HOSTILE, "more": HOSTILE})),
        ),
        user("11:00:03", &result("t1", &format!("failed {HOSTILE}"), true)),
        json!({"type": "custom-title", "customTitle": format!("title {HOSTILE}")}),
    ];
    home.write(&format!(".claude/projects/-p/{ID}.jsonl"), claude(ID, &lines));
    home.write(&format!(".claude/projects/-p\u{1b}[31m/{}.jsonl", ID.replace("bad0", "bad1")), "no json \u{1b}[31m\n");
    home
}

/// Whether the text has control characters other than our own colors.
fn has_control_characters(text: &str, colored: bool) -> bool {
    let text = if colored { without_colors(text) } else { text.to_owned() };
    text.chars().any(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || "\u{200e}\u{200f}".contains(c)
    })
}

/// The text without `ESC [ numbers m`.
fn without_colors(text: &str) -> String {
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
fn no_command_prints_control_characters() {
    let home = hostile_home();
    let unknown = format!("ref {}", HOSTILE.replace('\0', ""));
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
        for color in ["never", "always"] {
            let arguments = [command, &["--color", color]].concat();
            let output = home.run(&arguments);
            let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(!all.is_empty(), "{arguments:?}");
            assert!(!has_control_characters(&all, color == "always"), "{arguments:?}: {all:?}");
        }
    }
}

#[test]
fn json_keeps_the_original_text() {
    let home = hostile_home();
    home.run(&["sync"]);
    let json = String::from_utf8(home.run(&["show", ID, "--json"]).stdout).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    // Stored as a space, because PostgreSQL cannot store NUL characters.
    assert_eq!(value["entries"][1]["text"], format!("answer {}", HOSTILE.replace('\0', " ")));
}
