//! Session lifecycle: states, periods, archives, and what is injected when a session returns.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{Engine, LiveStatus, SessionListRequest};
use rethread_model::{Agent, SessionState, Timestamp};
use rethread_store::LifecycleRow;
use rethread_testing::{CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, TestHome};
use serde_json::{Value, json};

use crate::session_helpers::{ANNA, BEN, archives, at, engine, events, hook, key, kinds, prompt, store, work};

const DAY: i64 = 24 * 60;

fn run_command(home: &TestHome, minutes: i64, command: &str) {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    hook(home, minutes, BEN, "PostToolUse", &call);
}

fn life(home: &TestHome) -> LifecycleRow {
    store(home).lifecycle(key(BEN)).unwrap().unwrap()
}

/// A home in which Ben's session has started and done something.
fn started_home() -> TestHome {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    hook(&home, 0, BEN, "SessionStart", &json!({"source": "startup"}));
    home
}

#[test]
fn defaults_are_as_specified() {
    // S002-01
    let engine = TestHome::new().engine();
    let setting = |name: &str| engine.config().get(name).unwrap().value.to_string();
    assert_eq!((setting("lifecycle.period_hours"), setting("lifecycle.idle_minutes")), ("8".into(), "30".into()));
    assert_eq!((setting("lifecycle.hot_entries"), setting("lifecycle.archive")), ("5".into(), "all".into()));
}

#[test]
fn directories_are_created_when_first_needed() {
    // S002-03
    let home = started_home();
    assert!(home.engine().has_store() && !home.path(".rethread/archive").exists());
    hook(&home, 1, BEN, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    assert_eq!(archives(&home).len(), 1);
}

#[test]
fn each_hook_stores_its_event() {
    // S002-04, S002-07, S002-15, S002-28
    let home = started_home();
    prompt(&home, 1, BEN, "write the docs");
    run_command(&home, 2, "make docs");
    hook(&home, 3, BEN, "Stop", &json!({"last_assistant_message": "done"}));
    hook(&home, 4, BEN, "PreCompact", &json!({"trigger": "auto"}));
    prompt(&home, 4 + 31, BEN, "and on");
    hook(&home, 36, BEN, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    let stored: Vec<(String, String)> =
        events(&home, BEN).into_iter().map(|event| (event.kind, event.detail)).collect();
    let stored: Vec<(&str, &str)> = stored.iter().map(|(kind, detail)| (kind.as_str(), detail.as_str())).collect();
    let expected = [
        ("session_start", "startup"),
        ("prompt_submitted", "write the docs"),
        ("tool_executed", "Bash (0 characters)"),
        ("response_completed", "done"),
        ("context_compacted", ""),
        ("session_idle", ""),
        ("session_resume", ""),
        ("prompt_submitted", "and on"),
        ("session_end", "prompt_input_exit"),
    ];
    assert_eq!(stored, expected);
    let touched = events(&home, BEN)[5].at;
    assert_eq!(touched, at(34), "idle since the limit passed, not since the next hook");
}

#[test]
fn any_first_hook_starts_the_session() {
    // S002-15
    for (event, more) in [
        ("UserPromptSubmit", json!({"prompt": "hi"})),
        ("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "make"}})),
        ("Stop", json!({})),
        ("SessionStart", json!({"source": "startup"})),
    ] {
        let home = TestHome::new();
        hook(&home, 7, BEN, event, &more);
        let kinds = kinds(&home, BEN);
        assert_eq!(kinds[0], "session_start", "{event}");
        assert_eq!(kinds.len(), if event == "SessionStart" { 1 } else { 2 }, "{event}");
        assert_eq!((life(&home).touched_at, life(&home).period), (at(7), 1), "{event}");
    }
}

#[test]
fn fifty_events_are_stored_and_all_are_counted() {
    // S002-08, L002-06
    let home = started_home();
    for _ in 0..59 {
        run_command(&home, 1, "make");
    }
    assert_eq!((events(&home, BEN).len(), life(&home).event_count), (50, 60));
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    prompt(&home, 3, BEN, "once more");
    assert_eq!(
        (life(&home).event_count, life(&home).period_event_count()),
        (63, 2),
        "a new period counts from its start"
    );
    let archived = &archives(&home)[0];
    assert_eq!((&archived["events"], &archived["eventsInAll"]), (&json!(61), &json!(61)));
    let injected = hook(&home, 4, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(injected.contains("Duration: 1m | Events: 2"), "{injected}");
}

#[test]
fn prompt_resumes_or_restarts_the_session() {
    // S002-09, S002-10, S002-13
    let after = |pause: bool, minutes: i64| {
        let home = started_home();
        if pause {
            engine(&home, 1).lifecycle().pause(BEN).unwrap();
        }
        prompt(&home, minutes, BEN, "on we go");
        let kinds = kinds(&home, BEN);
        (kinds[1..].join(" "), life(&home).period, archives(&home).len())
    };
    let expected = |kinds: &str, period: u64, archives: usize| (kinds.to_owned(), period, archives);
    assert_eq!(after(false, 30), expected("prompt_submitted", 1, 0), "the same");
    assert_eq!(after(false, 31), expected("session_idle session_resume prompt_submitted", 1, 0), "idle: resumed");
    assert_eq!(after(true, 2), expected("session_suspended session_resume prompt_submitted", 1, 0), "paused: resumed");
    let ended = "session_end session_start prompt_submitted";
    assert_eq!(after(false, 61), expected(ended, 2, 1), "inactive for too long: ended, archived, started again");
    assert_eq!(after(true, 481), expected(&format!("session_suspended {ended}"), 2, 1), "older than eight hours");
}

#[test]
fn session_ends_once() {
    // S002-16
    let home = started_home();
    prompt(&home, 1, BEN, "write the docs");
    let ended = engine(&home, 2).lifecycle().end(BEN).unwrap().unwrap();
    assert!(ended.archive_path.is_some_and(|path| path.exists()));
    assert_eq!(engine(&home, 3).lifecycle().end(BEN).unwrap(), None, "there is nothing to end");
    hook(&home, 4, BEN, "SessionEnd", &json!({"reason": "other"}));
    assert_eq!((archives(&home).len(), kinds(&home, BEN).iter().filter(|kind| *kind == "session_end").count()), (1, 1));
    assert!(!engine(&home, 5).lifecycle().pause(BEN).unwrap(), "an ended session cannot be paused");
    assert_eq!(engine(&home, 5).sessions().resolve(BEN).unwrap().state, SessionState::Ended);
    prompt(&home, 6, BEN, "one more thing");
    let starts = kinds(&home, BEN).iter().filter(|kind| *kind == "session_end").count();
    assert_eq!((starts, life(&home).period), (1, 2), "a return does not end the session a second time");
    hook(&home, 7, BEN, "SessionEnd", &json!({}));
    assert_eq!(archives(&home).len(), 2);
}

#[test]
fn late_end_uses_the_time_of_the_last_event() {
    // S002-16
    let home = started_home();
    run_command(&home, 5, "make docs");
    let ended = engine(&home, 3 * DAY).lifecycle().end(BEN).unwrap().unwrap();
    assert_eq!(ended.at, at(5));
    assert_eq!(archives(&home)[0]["endedAt"], at(5).to_string());
    // An active session ends now.
    let home = started_home();
    assert_eq!(engine(&home, 12).lifecycle().end(BEN).unwrap().unwrap().at, at(12));
    // A session known only by its transcript started when the transcript did.
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    engine(&home, 10).lifecycle().end(BEN).unwrap();
    let archived = &archives(&home)[0];
    assert_eq!((&archived["startedAt"], &archived["files"]), (&json!(at(0).to_string()), &json!(["src/cart.rs"])));
}

#[test]
fn tool_calls_alone_end_and_archive_a_period() {
    // S002-11
    let home = started_home();
    for minutes in (0..=500).step_by(20) {
        run_command(&home, minutes, &format!("make step-{minutes}"));
    }
    assert_eq!(life(&home).period, 2);
    let archived = archives(&home);
    assert_eq!(
        (archived.len(), &archived[0]["period"], &archived[0]["endedAt"]),
        (1, &json!(1), &json!(at(480).to_string()))
    );
    let hot: Vec<&str> =
        archived[0]["hotMemory"].as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!((hot.len(), hot[4]), (5, "Ran: make step-480"), "S002-20: the newest five, all of that period");
}

#[test]
fn archive_and_greeting_after_days_describe_the_old_period() {
    // S002-34
    let home = started_home();
    prompt(&home, 1, BEN, "write the docs of src/parse.rs");
    run_command(&home, 2, "make docs");
    run_command(&home, 2, "ls -la");
    hook(&home, 3, BEN, "Stop", &json!({"last_assistant_message": "The docs are written."}));
    let resumed = engine(&home, 3 + 3 * DAY).awareness().resume_text(BEN).unwrap();
    let injected = prompt(&home, 3 + 3 * DAY, BEN, "back again").unwrap();
    // D27: what the session did is in its context already.
    assert!(injected.contains("Welcome back. Session 0000000b was idle for 3 days.\n\n("), "{injected}");
    let expected = "Welcome back. Session 0000000b was idle for 3 days.\n\nLast activity summary:\n\
        \u{20} - [3d ago] Asked: write the docs of src/parse.rs\n  - [3d ago] Ran: make docs\n\
        \u{20} - [3d ago] Answered: The docs are written.\n\nRecent files: src/cart.rs";
    assert_eq!(resumed, expected);
    let archived = &archives(&home)[0];
    assert_eq!((&archived["files"], &archived["tools"]), (&json!(["src/cart.rs"]), &json!(["Edit", "Bash"])));
    assert_eq!(archived["hotMemory"][0]["text"], "Ran: make docs");
    assert_eq!((&archived["entities"], &archived["endedAt"]), (&json!(["src/parse.rs"]), &json!(at(3).to_string())));
    // The next archive contains nothing of this period.
    hook(&home, 4 + 3 * DAY, BEN, "SessionEnd", &json!({}));
    let archived = &archives(&home)[1];
    assert_eq!((&archived["period"], &archived["files"], &archived["hotMemory"]), (&json!(2), &json!([]), &json!([])));
    assert_eq!(archived["recentEvents"][0]["text"], "Asked: back again");
}

#[test]
fn hot_memory_expires_after_a_day() {
    // E002-01
    let home = started_home();
    run_command(&home, 0, "make docs");
    work(&home, BEN, DAY + 1, "go on", false);
    let injected = hook(&home, DAY + 1, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(!injected.contains("make docs"), "{injected}");
}

#[test]
fn failed_archive_is_logged_and_written_later() {
    // L002-07
    let home = started_home();
    prompt(&home, 1, BEN, "write the docs");
    home.write(".rethread/archive", "a file where the folder should be");
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    assert_eq!(store(&home).pending_archives(9).unwrap().len(), 1);
    let log = fs::read_to_string(home.path(".rethread/logs/2026-03-02.jsonl")).unwrap();
    assert!(log.contains("trouble") && log.contains("archive"), "{log}");
    fs::remove_file(home.path(".rethread/archive")).unwrap();
    // The next event of any session writes it.
    hook(&home, 3, ANNA, "SessionStart", &json!({"source": "startup"}));
    let archived = archives(&home);
    let last = archived[0]["recentEvents"].as_array().unwrap().last().unwrap();
    assert_eq!((archived.len(), &last["text"]), (1, &json!("Asked: write the docs")));
    assert!(store(&home).pending_archives(9).unwrap().is_empty());
}

#[test]
fn killed_process_leaves_no_second_archive() {
    // L002-10
    let home = started_home();
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    let path = fs::read_dir(home.path(".rethread/archive")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let mut store = store(&home);
    let mut batch = store.begin().unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let (agent, external_id) = (key(BEN).agent, BEN.to_owned());
    batch
        .add_pending_archive(&rethread_store::PendingArchive {
            agent,
            external_id,
            period: 1,
            file_name: name,
            content: text,
        })
        .unwrap();
    batch.commit().unwrap();
    hook(&home, 3, ANNA, "Stop", &json!({}));
    assert_eq!(archives(&home).len(), 1);
    assert!(store.pending_archives(9).unwrap().is_empty());
}

#[test]
fn lists_are_capped_and_keep_the_newest() {
    // S002-18, S002-20, S002-32, L002-11
    let home = TestHome::new();
    let path = ".claude/projects/-app/bbbb1011-0000-4000-8000-00000000000b.jsonl";
    let calls: Vec<Value> = (0..12)
        .map(|number| {
            json!({"type": "tool_use", "id": format!("t{number}"), "name": format!("Tool{number}"),
            "input": {"file_path": format!("/app/{number}.rs")}})
        })
        .collect();
    let line = json!({"type": "assistant", "uuid": "u1", "sessionId": BEN, "cwd": "/app", "timestamp": at(0).to_string(),
        "message": {"role": "assistant", "id": "m1", "model": "m", "content": calls}});
    home.write(path, format!("{line}\n"));
    for number in 0..7 {
        let call =
            json!({"tool_name": "Write", "tool_input": {"file_path": format!("/app/{number}.rs"), "content": "x"}});
        hook(&home, 1, BEN, "PostToolUse", &call);
    }
    hook(&home, 2, BEN, "Stop", &json!({}));
    let injected = engine(&home, 2).awareness().explain(BEN, "hi").unwrap().session;
    assert_eq!((injected.files.len(), injected.tools.len(), injected.hot_entries), (10, 10, 5));
    hook(&home, 3, BEN, "SessionEnd", &json!({}));
    let archived = &archives(&home)[0];
    assert_eq!(archived["files"], json!(["2.rs", "3.rs", "4.rs", "5.rs", "6.rs"]));
    assert_eq!(archived["tools"], json!(["Tool8", "Tool9", "Tool10", "Tool11", "Write"]));
    assert_eq!(archived["hotMemory"][0]["text"], "Created 2.rs (1 line)");
    assert_eq!(archived["source"], format!("session:{BEN}"));
}

#[test]
fn events_store_a_preview() {
    // S002-29, S002-30, S002-31
    let home = started_home();
    prompt(&home, 1, BEN, &"p".repeat(300));
    let read = |response: Value| {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": "/app/src/a.rs"}, "tool_response": response});
        hook(&home, 1, BEN, "PostToolUse", &call);
    };
    read(json!("five!"));
    read(json!({"a": 1}));
    read(Value::Null);
    let search = json!({"tool_name": "Grep", "tool_input": {"path": "/else"}, "tool_response": ""});
    hook(&home, 1, BEN, "PostToolUse", &search);
    hook(&home, 1, BEN, "Stop", &json!({"last_assistant_message": "a".repeat(300)}));
    let details: Vec<String> = events(&home, BEN).into_iter().map(|event| event.detail).collect();
    assert_eq!(details[1], format!("{}…", "p".repeat(99)));
    let expected = ["Read src/a.rs (5 characters)", "Read src/a.rs (7 characters)", "Read src/a.rs (0 characters)"];
    assert_eq!((&details[2..5], details[5].as_str()), (&expected.map(String::from)[..], "Grep /else (0 characters)"));
    assert_eq!(details[6].chars().count(), 200);
    assert_eq!(store(&home).hot_memory(key(BEN), at(0)).unwrap(), [], "reads are not stored in hot memory");
}

#[test]
fn session_summary_has_counts_and_entities() {
    // S002-05, S002-06, S002-19, S002-33
    let home = started_home();
    prompt(&home, 1, BEN, "why does `read_all` fail for ABC-12 in src/a.rs?");
    prompt(&home, 2, BEN, "and SessionView? see src/a.rs");
    run_command(&home, 3, "make docs");
    engine(&home, 3).lifecycle().set_task(BEN, "the docs").unwrap();
    engine(&home, 3).lifecycle().add_note(BEN, "staging is down").unwrap();
    let injected = engine(&home, 12).awareness().explain(BEN, "hi").unwrap().session;
    assert_eq!((injected.id.as_str(), injected.minutes, injected.state), ("0000000b", 12, SessionState::Active));
    assert_eq!((injected.events, injected.hot_entries, injected.task.as_deref()), (4, 2, Some("the docs")));
    assert_eq!(
        (injected.files, injected.tools),
        (vec!["src/cart.rs".to_owned()], vec!["Edit".to_owned(), "Bash".to_owned()])
    );
    assert_eq!(injected.entities, ["read_all", "ABC-12", "SessionView", "src/a.rs"]);
    for number in 0..25 {
        prompt(&home, 13, BEN, &format!("name_{number}"));
    }
    let injected = engine(&home, 13).awareness().explain(BEN, "hi").unwrap().session.entities;
    assert_eq!((injected.len(), injected[0].as_str(), injected[19].as_str()), (20, "name_5", "name_24"));
    assert!(
        engine(&home, 13).awareness().explain("no such session", "hi").is_err(),
        "nothing is known about an unknown session"
    );
}

#[test]
fn session_state_stays_small() {
    // S002-37
    let home = started_home();
    let size = || home.stored_bytes().len();
    let settle = || drop(store(&home));
    settle();
    let before = size();
    let long = "w".repeat(100_000);
    for minute in 0..100 {
        let call = json!({"tool_name": "Edit", "tool_input": {"file_path": long, "old_string": long, "new_string": long},
            "tool_response": long});
        hook(&home, minute, BEN, "PostToolUse", &call);
        hook(&home, minute, BEN, "Stop", &json!({"last_assistant_message": long}));
    }
    settle();
    let taken = size() - before;
    assert!((4_000..=200_000).contains(&taken), "{taken} bytes");
}

#[test]
fn no_part_of_a_secret_is_stored_or_injected() {
    // L002-14
    let home = started_home();
    let secret = format!("ghp_{}", "q7Zx".repeat(9));
    // Each text is cut at another character of the secret.
    for before in [1, 20, 40, 80, 90, 180] {
        let text = format!("{} {secret} after", "w".repeat(before));
        run_command(&home, 1, &format!("deploy {text}"));
        let edit =
            json!({"tool_name": "Edit", "tool_input": {"file_path": "/app/a", "old_string": text, "new_string": text}});
        hook(&home, 1, BEN, "PostToolUse", &edit);
        let failed = json!({"tool_name": "Bash", "tool_input": {"command": text}, "error": text});
        hook(&home, 1, BEN, "PostToolUseFailure", &failed);
        prompt(&home, 1, BEN, &text);
        hook(&home, 1, BEN, "Stop", &json!({"last_assistant_message": text}));
        engine(&home, 1).lifecycle().add_note(BEN, &text).unwrap();
        engine(&home, 1).lifecycle().set_task(BEN, &text).unwrap();
    }
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": secret}));
    for file in rethread_testing::files_below(&home.path(".rethread")) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"ghp_q7Z"), "{}", file.display());
        assert!(!bytes.windows(8).any(|window| window == b"q7Zxq7Zx"), "{}", file.display());
    }
}

#[test]
fn equal_notes_are_both_stored_and_actions_evict_no_note() {
    // L002-17
    let home = started_home();
    let engine = engine(&home, 1);
    engine.lifecycle().add_note(BEN, "staging is down").unwrap();
    engine.lifecycle().add_note(BEN, "staging is down").unwrap();
    for number in 0..9 {
        run_command(&home, 2, &format!("make step-{number}"));
    }
    let hot = store(&home).hot_memory(key(BEN), at(0)).unwrap();
    assert_eq!((hot.iter().filter(|hot| hot.is_note).count(), hot.len()), (2, 7));
    for number in 0..9 {
        engine.lifecycle().add_note(BEN, &format!("note {number}")).unwrap();
    }
    let hot = store(&home).hot_memory(key(BEN), at(0)).unwrap();
    let notes: Vec<&str> = hot.iter().filter(|hot| hot.is_note).map(|hot| hot.text.as_str()).collect();
    assert_eq!(notes, ["note 4", "note 5", "note 6", "note 7", "note 8"]);
}

#[test]
fn note_and_task_are_injected_once_with_the_next_prompt() {
    let home = started_home();
    prompt(&home, 1, BEN, "write the docs");
    let engine = engine(&home, 1);
    engine.lifecycle().add_note(BEN, "staging is down").unwrap();
    engine.lifecycle().set_task(BEN, "the docs").unwrap();
    let injected = prompt(&home, 2, BEN, "go on").unwrap();
    let expected = "[SESSION CONTEXT]\nNote: staging is down\nCurrent task: the docs\n[END SESSION]";
    assert!(injected.contains(expected), "{injected}");
    assert_eq!(prompt(&home, 3, BEN, "go on"), None, "once");
    for task in ["the tests", "the docs"] {
        engine.lifecycle().set_task(BEN, task).unwrap();
        let injected = prompt(&home, 4, BEN, "go on").unwrap();
        assert!(injected.contains(&format!("Current task: {task}")) && !injected.contains("staging"), "{injected}");
    }
    // A new context needs it again, together with everything else.
    let injected = hook(&home, 5, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(
        injected.contains("Notes:\n  - [4m ago] staging is down") && injected.contains("Current task: the docs"),
        "{injected}"
    );
    assert_eq!(injected.matches("staging").count(), 1, "{injected}");
    assert_eq!(prompt(&home, 6, BEN, "go on"), None);
    // The greeting contains neither; the task was injected before.
    engine.lifecycle().add_note(BEN, "staging is up").unwrap();
    let injected = prompt(&home, 50, BEN, "back").unwrap();
    assert!(injected.contains("Welcome back.") && injected.contains("Note: staging is up"), "{injected}");
    assert!(!injected.contains("the docs"), "{injected}");
}

#[test]
fn maintenance_ends_and_archives_silent_sessions() {
    // E002-07, E002-08
    let home = started_home();
    run_command(&home, 1, "make docs");
    work(&home, ANNA, 3 * DAY, "fix the rounding", false);
    hook(&home, 3 * DAY, ANNA, "SessionStart", &json!({"source": "startup"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    hook(&home, 3 * DAY, ANNA, "PostToolUse", &call);
    let later = engine(&home, 3 * DAY + 10);
    let done = later.lifecycle().maintain().unwrap();
    assert_eq!((done.ended, done.archived, done.evicted), (1, 1, 1));
    assert_eq!(archives(&home)[0]["hotMemory"][0]["text"], "Ran: make docs");
    assert_eq!(
        later.lifecycle().maintain().unwrap(),
        rethread_engine::MaintenanceReport::default(),
        "a second run does nothing"
    );
    let injected = engine(&home, 8 * DAY).reports().status().unwrap().tiers;
    assert_eq!(
        (
            injected.counts.hot_entries,
            injected.counts.recent_sessions,
            injected.counts.older_sessions,
            injected.archive_count
        ),
        (0, 1, 1, 1)
    );
    assert!(injected.archive_bytes > 100);
    // Coming back starts a new period and archives nothing twice.
    prompt(&home, 3 * DAY + 20, BEN, "back");
    assert_eq!((life(&home).period, archives(&home).len()), (2, 1));
}

#[test]
fn times_do_not_depend_on_time_zone_or_daylight_saving() {
    // L002-09
    let archived = |zone: &str| {
        let home = TestHome::new();
        let night: Timestamp = "2026-03-29T00:30:00Z".parse().unwrap();
        let minutes = night.millis_since(at(0)) / 60_000;
        let send = |later: i64, event: &str| {
            let mut environment = home.environment();
            environment.clock = rethread_engine::Clock::Frozen(at(minutes + later));
            environment.time_zone = jiff::tz::TimeZone::posix(zone).unwrap();
            let payload = json!({"session_id": BEN, "cwd": "/app", "hook_event_name": event, "prompt": "hi"});
            let engine = Engine::open(environment).unwrap();
            engine.hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap();
        };
        // In Berlin daylight saving time starts in between.
        for (later, event) in
            [(0, "SessionStart"), (29, "UserPromptSubmit"), (58, "UserPromptSubmit"), (60, "SessionEnd")]
        {
            send(later, event);
        }
        fs::read(home.path(".rethread/archive/2026-03-29_00-30_0000000b.json")).unwrap()
    };
    let berlin = archived("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_eq!(berlin, archived("EST5EDT,M3.2.0,M11.1.0"));
    assert_eq!(berlin, archived("UTC0"));
}

#[test]
fn ended_session_is_listed_as_ended_and_can_restart() {
    // S002-14
    let home = started_home();
    hook(&home, 1, BEN, "SessionEnd", &json!({}));
    let listed =
        |minutes: i64| engine(&home, minutes).sessions().list(&SessionListRequest::default()).unwrap()[0].state;
    assert_eq!(listed(2), SessionState::Ended);
    // It continues without hooks and then ends: a period of its own.
    work(&home, BEN, 5, "on the quiet", false);
    home.sync();
    assert_eq!(listed(6), SessionState::Active);
    engine(&home, 7).lifecycle().end(BEN).unwrap().unwrap();
    assert_eq!((archives(&home).len(), life(&home).period), (2, 2));
    assert_eq!(listed(8), SessionState::Ended);
}

#[test]
fn a_running_session_has_not_ended_and_says_what_it_does() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let listed = || home.engine().sessions().resolve(CLAUDE_SESSION).unwrap();
    assert_eq!((listed().state, listed().live), (SessionState::Ended, None), "silent for months");
    let register = |pid: u32, status: &str| {
        let entry = json!({"pid": pid, "sessionId": CLAUDE_SESSION, "name": "lexer-work", "nameSource": "user",
                           "status": status, "waitingFor": "permission"});
        home.write(&format!(".claude/sessions/{pid}.json"), entry.to_string());
    };
    register(std::process::id(), "idle");
    assert_eq!(listed().state, SessionState::Idle);
    register(std::process::id(), "waiting");
    let waiting = Some((LiveStatus::Waiting, Some("permission".to_owned())));
    assert_eq!((listed().state, listed().live), (SessionState::Active, waiting));
    assert_eq!(listed().session.name.as_deref(), Some("lexer-work"), "the name its user chose");
    home.engine().lifecycle().maintain().unwrap();
    assert_eq!(listed().state, SessionState::Active, "maintenance does not end it");
    // Entries of ended processes remain.
    fs::remove_file(home.path(&format!(".claude/sessions/{}.json", std::process::id()))).unwrap();
    register(999_999_999, "busy");
    assert_eq!((listed().state, listed().live), (SessionState::Ended, None));
}
