//! `show --events`, and sessions that only hooks have reported.

use serde_json::{Value, json};

use crate::transcripts::{CLAUDE, new_home, read_home};

const HOOKED: &str = "5e551011-0000-4000-8000-00000000000d";

#[test]
fn events_are_printed_with_their_times() {
    // D28, S002-04
    let home = read_home();
    let text = home.run_ok(&["show", CLAUDE, "--events"]);
    assert!(text.contains("inferred from the transcript"), "{text}");
    for kind in ["session_start", "prompt_submitted", "tool_executed", "response_completed"] {
        assert!(text.lines().any(|line| line.starts_with("2026-02-20 ") && line.contains(kind)), "{kind} in {text}");
    }
    let json: Value = serde_json::from_str(&home.run_ok(&["show", CLAUDE, "--events", "--json"])).unwrap();
    assert_eq!((&json["schema"], &json["origin"], &json["state"]), (&json!(1), &json!("transcript"), &json!("active")));
    assert_eq!(json["events"][0]["kind"], "session_start");
    assert_eq!(json["total"].as_u64(), json["events"].as_array().map(|events| events.len() as u64));
}

#[test]
fn a_session_without_a_transcript_is_listed_and_shown() {
    // D28, S002-15
    let home = new_home();
    let hook = |event: &str, more: Value| {
        let mut payload = json!({"session_id": HOOKED, "cwd": home.work_dir(), "hook_event_name": event,
            "transcript_path": home.path(".claude/projects/-x/none.jsonl")});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert!(home.run_with_input(&["hook", "claude-code"], payload.to_string().as_bytes()).status.success());
    };
    hook("UserPromptSubmit", json!({"prompt": "plan the release"}));
    hook("PostToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "/x/a.md"}, "tool_response": "abc"}));
    let listed: Value = serde_json::from_str(&home.run_ok(&["sessions", "--json"])).unwrap();
    assert_eq!(
        (&listed["sessions"][0]["externalId"], &listed["sessions"][0]["state"]),
        (&json!(HOOKED), &json!("active"))
    );
    assert_eq!(listed["sessions"][0]["name"], "plan the release");
    for command in [&["show", HOOKED][..], &["show", HOOKED, "--events"]] {
        let text = home.run_ok(command);
        assert!(text.contains("reported by hooks") && text.contains("plan the release"), "{text}");
        assert!(text.contains("tool_executed       Read /x/a.md (3 characters)"), "{text}");
    }
    home.run_ok(&["session", "end", HOOKED]);
    assert!(home.run_ok(&["show", HOOKED, "--events"]).contains("session_end         by hand"));
}
