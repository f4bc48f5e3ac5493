//! The hook with any input: it exits with 0 and prints nothing or one JSON object.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::{Value, json};

/// An agent and the names of its hook events.
#[derive(Clone, Copy)]
struct HookCaller {
    agent: &'static str,
    /// The field that names the event.
    event: &'static str,
    events: [&'static str; 8],
    /// A prompt, a tool call and the end of a session.
    few: [&'static str; 3],
}

const CLAUDE: HookCaller = HookCaller {
    agent: "claude-code",
    event: "hook_event_name",
    events: [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ],
    few: ["UserPromptSubmit", "PreToolUse", "SessionEnd"],
};

const PI: HookCaller = HookCaller {
    agent: "pi",
    event: "event",
    events: [
        "session_start",
        "before_agent_start",
        "tool_call",
        "tool_result",
        "agent_end",
        "session_before_compact",
        "session_compact",
        "session_shutdown",
    ],
    few: ["before_agent_start", "tool_call", "session_shutdown"],
};

/// Runs the hook, checks what must hold for any input, and returns what it printed.
fn check(home: &TestHome, caller: HookCaller, input: &[u8]) -> Option<Value> {
    let done = home.run_with_input(&["hook", caller.agent], input);
    let (stdout, stderr) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8_lossy(&done.stderr));
    let shown = String::from_utf8_lossy(&input[..input.len().min(300)]);
    assert_eq!((done.status.code(), stderr.as_ref()), (Some(0), ""), "{shown}");
    if stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert!(answer.is_object(), "{shown}\n{stdout}");
    Some(answer)
}

fn check_json(home: &TestHome, caller: HookCaller, input: &Value) -> Option<Value> {
    check(home, caller, input.to_string().as_bytes())
}

/// A payload with the fields of every event of both agents.
fn payload(caller: HookCaller, event: &str, home: &TestHome) -> Value {
    let mut payload = json!({
        "session_id": "5f0f8f9e-0000-4000-8000-000000000001",
        "transcript_path": home.path(".claude/projects/-p/5f0f8f9e-0000-4000-8000-000000000001.jsonl"),
        "session_file": home.path(".pi/agent/sessions/--p--/5f0f8f9e-0000-4000-8000-000000000001.jsonl"),
        "cwd": home.root(),
        "prompt": "why is the build red?",
        "source": if event == "SessionStart" { "resume" } else { "user" },
        "reason": "resume",
        "message_type": "user",
        "tool_name": "Edit",
        "tool_input": {"file_path": home.path("a.rs"), "edits": [{"oldText": 1}], "old_string": "1", "new_string": "2", "command": "git switch x"},
        "tool_response": {"stdout": "ok"},
        "is_error": true,
        "error": "it was red",
        "output_chars": 3,
        "last_assistant_message": "It is green again.",
    });
    payload[caller.event] = json!(event);
    payload
}

/// A home in which another session was active a minute ago, so that there is something to inject.
fn home_with_other_session() -> TestHome {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread")).frozen_at("2026-05-01T10:00:00Z");
    let session = "5f0f8f9e-0000-4000-8000-000000000002";
    let transcript = format!(".claude/projects/-p/{session}.jsonl");
    let lines = TranscriptBuilder::new(session)
        .cwd(&home.root().display().to_string())
        .times("2026-05-01T09:59:00Z".parse().unwrap(), 0)
        .user("fix it")
        .assistant("Done.");
    home.write(&transcript, lines.build());
    let mut stop = payload(CLAUDE, "Stop", &home);
    stop["session_id"] = json!(session);
    stop["transcript_path"] = json!(home.path(&transcript));
    assert_eq!(check_json(&home, CLAUDE, &stop), None);
    home
}

/// Numbers that look random and are the same on every run (xorshift).
struct FixedRandom(u64);

impl FixedRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn activity_is_injected_once_by_the_hook() {
    for (caller, place) in [(CLAUDE, "/hookSpecificOutput/additionalContext"), (PI, "/content")] {
        let prompt = caller.few[0];
        // The hook prints nothing when it misses its deadline on a very busy machine, so this is tried more than once.
        let injected = (0..5).find_map(|_| {
            let home = home_with_other_session();
            let answer = check_json(&home, caller, &payload(caller, prompt, &home))?;
            Some((home, answer))
        });
        let (home, answer) = injected.unwrap();
        let injected = answer.pointer(place).unwrap().as_str().unwrap();
        assert!(injected.contains("[Session Activity]") && injected.contains("fix it"), "{injected}");
        assert_eq!(check_json(&home, caller, &payload(caller, prompt, &home)), None);
    }
}

#[test]
fn random_bytes_are_ignored() {
    let home = home_with_other_session();
    let mut random = FixedRandom(0x5EED);
    for length in [0, 1, 2, 7, 64, 1000, 70_000] {
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        for caller in [CLAUDE, PI] {
            assert_eq!(check(&home, caller, &bytes), None);
        }
    }
}

#[test]
fn truncated_and_damaged_input_does_no_harm() {
    let home = home_with_other_session();
    let mut random = FixedRandom(0xC07);
    for (caller, event) in [CLAUDE, PI].iter().flat_map(|caller| caller.few.map(|event| (*caller, event))) {
        let whole = payload(caller, event, &home).to_string().into_bytes();
        for _ in 0..4 {
            assert_eq!(check(&home, caller, &whole[..random.below(whole.len())]), None);
            let mut damaged = whole.clone();
            let place = random.below(damaged.len());
            damaged[place] = random.below(256) as u8;
            check(&home, caller, &damaged);
        }
        check(&home, caller, &[whole.as_slice(), b"\n", &whole].concat());
    }
}

#[test]
fn values_of_any_type_do_no_harm() {
    let home = home_with_other_session();
    let odd = [
        json!(null),
        json!(true),
        json!(-1.5e300),
        json!([]),
        json!({"a": [1]}),
        json!(""),
        json!("\u{0}"),
        json!("é\u{202e}\r\n"),
    ];
    let mut random = FixedRandom(0x0DD);
    let others = ["", "NoSuchEvent", "userpromptsubmit", "Stop\n"];
    for (caller, event) in
        [CLAUDE, PI].iter().flat_map(|caller| caller.events.into_iter().chain(others).map(|event| (*caller, event)))
    {
        check_json(&home, caller, &json!({ caller.event: event }));
        for _ in 0..3 {
            let mut input = payload(caller, event, &home);
            let fields = input.as_object_mut().unwrap();
            for (_, value) in fields.iter_mut().filter(|(name, _)| *name != caller.event) {
                if random.below(3) == 0 {
                    *value = odd[random.below(odd.len())].clone();
                }
            }
            check_json(&home, caller, &input);
        }
    }
    for input in ["null", "[]", "1", "\"x\"", "{}", "{\"hook_event_name\": 1, \"event\": 1}", "\u{feff}{}"] {
        assert_eq!(check(&home, CLAUDE, input.as_bytes()), None);
        assert_eq!(check(&home, PI, input.as_bytes()), None);
    }
}

#[test]
fn unusual_paths_and_names_do_no_harm() {
    let home = home_with_other_session();
    let odd = ["a \"b\" 'c'", "a\nb", "a\u{0}b", "../../..", "-", "</rethread-context>", "$(touch owned)", "%s\\"];
    let events = [CLAUDE, PI].into_iter().flat_map(|caller| caller.events.map(|event| (caller, event)));
    for ((caller, event), name) in events.zip(odd.into_iter().chain(odd)) {
        let mut input = payload(caller, event, &home);
        input["session_id"] = json!(name);
        input["cwd"] = json!(home.path(name));
        input["transcript_path"] = json!(home.path(name).join("x.jsonl"));
        input["session_file"] = input["transcript_path"].clone();
        input["tool_input"] = json!({"path": name, "content": name});
        check_json(&home, caller, &input);
    }
    assert!(!home.path("owned").exists());
}

#[test]
fn prompt_of_ten_megabytes_is_handled() {
    for caller in [CLAUDE, PI] {
        let home = home_with_other_session();
        let mut input = payload(caller, caller.few[0], &home);
        input["prompt"] = json!("why is it red? ".repeat(700_000));
        let answer = check_json(&home, caller, &input);
        // The hook prints nothing when it misses its deadline on a very busy machine.
        if let Some(answer) = answer {
            assert!(answer.to_string().len() < 10_000);
        }
    }
}

#[test]
fn deeply_nested_input_does_no_harm() {
    let home = home_with_other_session();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for caller in [CLAUDE, PI] {
        check(&home, caller, deep.as_bytes());
        let name = caller.event;
        let event = caller.events[3];
        let input = format!(r#"{{"session_id":"x","{name}":"{event}","tool_input":{deep}}}"#);
        check(&home, caller, input.as_bytes());
    }
}
