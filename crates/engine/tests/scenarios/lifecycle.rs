//! A session's life: its states and periods, what is archived of them, and what it is told when it comes back.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{Engine, ListRequest};
use rethread_model::{State, Timestamp};
use rethread_store::Life;
use rethread_testing::TestHome;
use serde_json::{Value, json};

use crate::session_helpers::{ANNA, BEN, archives, at, engine, events, hook, key, kinds, prompt, store, work};

const DAY: i64 = 24 * 60;

fn ran(home: &TestHome, minutes: i64, command: &str) {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    hook(home, minutes, BEN, "PostToolUse", &call);
}

fn life(home: &TestHome) -> Life {
    store(home).life(key(BEN)).unwrap().unwrap()
}

/// A home in which Ben's session has begun, and done something.
fn begun() -> TestHome {
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    hook(&home, 0, BEN, "SessionStart", &json!({"source": "startup"}));
    home
}

#[test]
fn s002_01_the_defaults_are_those_of_the_design() {
    let engine = TestHome::new().engine();
    let told = |name: &str| engine.config().get(name).unwrap().value.to_string();
    assert_eq!((told("lifecycle.period_hours"), told("lifecycle.idle_minutes")), ("8".into(), "30".into()));
    assert_eq!((told("lifecycle.hot_entries"), told("lifecycle.archive")), ("5".into(), "all".into()));
}

#[test]
fn s002_03_the_places_are_made_with_the_first_event() {
    let home = begun();
    assert!(home.path(".rethread/memory.db").exists() && !home.path(".rethread/archive").exists());
    hook(&home, 1, BEN, "SessionEnd", &json!({"reason": "other"}));
    assert_eq!(archives(&home).len(), 1);
}

#[test]
fn s002_04_s002_07_s002_15_s002_28_each_hook_leaves_its_event() {
    let home = begun();
    prompt(&home, 1, BEN, "write the docs");
    ran(&home, 2, "make docs");
    hook(&home, 3, BEN, "Stop", &json!({"last_assistant_message": "done"}));
    hook(&home, 4, BEN, "PreCompact", &json!({"trigger": "auto"}));
    prompt(&home, 4 + 31, BEN, "and on");
    hook(&home, 36, BEN, "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    let told: Vec<(String, String)> = events(&home, BEN).into_iter().map(|event| (event.kind, event.detail)).collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(kind, detail)| (kind.as_str(), detail.as_str())).collect();
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
    assert_eq!(told, expected);
    let touched = events(&home, BEN)[5].at;
    assert_eq!(touched, at(34), "idle since the limit was passed, not since somebody looked");
}

#[test]
fn s002_15_whichever_hook_comes_first_begins_the_session() {
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
fn s002_08_l002_06_fifty_events_are_kept_and_all_are_counted() {
    let home = begun();
    for _ in 0..59 {
        ran(&home, 1, "make");
    }
    assert_eq!((events(&home, BEN).len(), life(&home).events), (50, 60));
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    prompt(&home, 3, BEN, "once more");
    assert_eq!((life(&home).events, life(&home).events_of_period()), (63, 2), "a new period counts from its start");
    let archived = &archives(&home)[0];
    assert_eq!((&archived["events"], &archived["eventsInAll"]), (&json!(61), &json!(61)));
    let told = hook(&home, 4, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(told.contains("Duration: 1m | Events: 2"), "{told}");
}

#[test]
fn s002_09_s002_10_s002_13_what_a_prompt_finds_and_makes_of_it() {
    let after = |pause: bool, minutes: i64| {
        let home = begun();
        if pause {
            engine(&home, 1).pause_session(BEN).unwrap();
        }
        prompt(&home, minutes, BEN, "on we go");
        let kinds = kinds(&home, BEN);
        (kinds[1..].join(" "), life(&home).period, archives(&home).len())
    };
    let told = |kinds: &str, period: u64, archives: usize| (kinds.to_owned(), period, archives);
    assert_eq!(after(false, 30), told("prompt_submitted", 1, 0), "the same");
    assert_eq!(after(false, 31), told("session_idle session_resume prompt_submitted", 1, 0), "idle: resumed");
    assert_eq!(after(true, 2), told("session_suspended session_resume prompt_submitted", 1, 0), "paused: resumed");
    let ended = "session_end session_start prompt_submitted";
    assert_eq!(after(false, 61), told(ended, 2, 1), "silent for too long: ended, archived, begun again");
    assert_eq!(after(true, 481), told(&format!("session_suspended {ended}"), 2, 1), "older than eight hours");
}

#[test]
fn s002_16_a_session_ends_once() {
    let home = begun();
    prompt(&home, 1, BEN, "write the docs");
    let ended = engine(&home, 2).end_session(BEN).unwrap().unwrap();
    assert!(ended.archive.is_some_and(|path| path.exists()));
    assert_eq!(engine(&home, 3).end_session(BEN).unwrap(), None, "there is nothing to end");
    hook(&home, 4, BEN, "SessionEnd", &json!({"reason": "other"}));
    assert_eq!((archives(&home).len(), kinds(&home, BEN).iter().filter(|kind| *kind == "session_end").count()), (1, 1));
    assert!(!engine(&home, 5).pause_session(BEN).unwrap(), "what has ended cannot be paused");
    assert_eq!(engine(&home, 5).resolve(BEN).unwrap().state, State::Ended);
    prompt(&home, 6, BEN, "one more thing");
    let starts = kinds(&home, BEN).iter().filter(|kind| *kind == "session_end").count();
    assert_eq!((starts, life(&home).period), (1, 2), "coming back ends nothing for a second time");
    hook(&home, 7, BEN, "SessionEnd", &json!({}));
    assert_eq!(archives(&home).len(), 2);
}

#[test]
fn s002_16_who_ends_a_session_long_after_ends_it_when_it_was_last_heard_of() {
    let home = begun();
    ran(&home, 5, "make docs");
    let ended = engine(&home, 3 * DAY).end_session(BEN).unwrap().unwrap();
    assert_eq!(ended.at, at(5));
    assert_eq!(archives(&home)[0]["endedAt"], at(5).to_string());
    // One that is at work ends now.
    let home = begun();
    assert_eq!(engine(&home, 12).end_session(BEN).unwrap().unwrap().at, at(12));
    // A session that only its transcript tells of began when that did.
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    engine(&home, 10).end_session(BEN).unwrap();
    let archived = &archives(&home)[0];
    assert_eq!((&archived["startedAt"], &archived["files"]), (&json!(at(0).to_string()), &json!(["src/cart.rs"])));
}

#[test]
fn s002_11_calls_alone_also_end_a_period_and_it_is_archived() {
    let home = begun();
    for minutes in (0..=500).step_by(20) {
        ran(&home, minutes, &format!("make step-{minutes}"));
    }
    assert_eq!(life(&home).period, 2);
    let archived = archives(&home);
    assert_eq!(
        (archived.len(), &archived[0]["period"], &archived[0]["endedAt"]),
        (1, &json!(1), &json!(at(480).to_string()))
    );
    let hot: Vec<&str> =
        archived[0]["hotMemory"].as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!((hot.len(), hot[4]), (5, "Ran: make step-480"), "s002_20: the newest five, all of that period");
}

#[test]
fn s002_34_after_days_the_archive_and_the_greeting_are_about_what_was_done_then() {
    let home = begun();
    prompt(&home, 1, BEN, "write the docs of src/parse.rs");
    ran(&home, 2, "make docs");
    ran(&home, 2, "ls -la");
    hook(&home, 3, BEN, "Stop", &json!({"last_assistant_message": "The docs are written."}));
    let told = prompt(&home, 3 + 3 * DAY, BEN, "back again").unwrap();
    let expected = "Welcome back. Session bbbb1011 was idle for 72h 0m.\n\nLast activity summary:\n\
        \u{20} - [3d ago] Asked: write the docs of src/parse.rs\n  - [3d ago] Ran: make docs\n\
        \u{20} - [3d ago] Answered: The docs are written.\n\nRecent files: src/cart.rs";
    assert!(told.contains(expected), "{told}");
    let archived = &archives(&home)[0];
    assert_eq!((&archived["files"], &archived["tools"]), (&json!(["src/cart.rs"]), &json!(["Edit", "Bash"])));
    assert_eq!(archived["hotMemory"][0]["text"], "Ran: make docs");
    assert_eq!((&archived["entities"], &archived["endedAt"]), (&json!(["src/parse.rs"]), &json!(at(3).to_string())));
    // The next period is archived without what belongs to this one.
    hook(&home, 4 + 3 * DAY, BEN, "SessionEnd", &json!({}));
    let archived = &archives(&home)[1];
    assert_eq!((&archived["period"], &archived["files"], &archived["hotMemory"]), (&json!(2), &json!([]), &json!([])));
    assert_eq!(archived["recentEvents"][0]["text"], "Asked: back again");
}

#[test]
fn e002_01_what_is_at_hand_is_forgotten_after_a_day() {
    let home = begun();
    ran(&home, 0, "make docs");
    work(&home, BEN, DAY + 1, "go on", false);
    let told = hook(&home, DAY + 1, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(!told.contains("make docs"), "{told}");
}

#[test]
fn l002_07_an_archive_that_cannot_be_written_is_noted_and_written_later() {
    let home = begun();
    prompt(&home, 1, BEN, "write the docs");
    home.write(".rethread/archive", "a file where the folder should be");
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    assert_eq!(store(&home).unarchived(9).unwrap().len(), 1);
    let log = fs::read_to_string(home.path(".rethread/logs/2026-03-02.jsonl")).unwrap();
    assert!(log.contains("trouble") && log.contains("archive"), "{log}");
    fs::remove_file(home.path(".rethread/archive")).unwrap();
    // Whoever touches any session next writes it, however much that one has done since.
    hook(&home, 3, ANNA, "SessionStart", &json!({"source": "startup"}));
    let archived = archives(&home);
    let last = archived[0]["recentEvents"].as_array().unwrap().last().unwrap();
    assert_eq!((archived.len(), &last["text"]), (1, &json!("Asked: write the docs")));
    assert!(store(&home).unarchived(9).unwrap().is_empty());
}

#[test]
fn l002_10_a_process_that_was_killed_after_writing_leaves_no_second_archive() {
    let home = begun();
    hook(&home, 2, BEN, "SessionEnd", &json!({}));
    let path = fs::read_dir(home.path(".rethread/archive")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    let mut store = store(&home);
    let mut batch = store.begin().unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let (agent, external_id) = (key(BEN).agent, BEN.to_owned());
    batch.keep_period(&rethread_store::Unarchived { agent, external_id, period: 1, name, text }).unwrap();
    batch.commit().unwrap();
    hook(&home, 3, ANNA, "Stop", &json!({}));
    assert_eq!(archives(&home).len(), 1);
    assert!(store.unarchived(9).unwrap().is_empty());
}

#[test]
fn s002_18_s002_20_s002_32_l002_11_lists_are_short_and_keep_the_newest() {
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
    let told = engine(&home, 2).explain(BEN, "hi").unwrap().session;
    assert_eq!((told.files.len(), told.tools.len(), told.hot), (10, 10, 5));
    hook(&home, 3, BEN, "SessionEnd", &json!({}));
    let archived = &archives(&home)[0];
    assert_eq!(archived["files"], json!(["7.rs", "8.rs", "9.rs", "10.rs", "11.rs"]));
    assert_eq!(archived["tools"], json!(["Tool7", "Tool8", "Tool9", "Tool10", "Tool11"]));
    assert_eq!(archived["hotMemory"][0]["text"], "Created 2.rs (1 line)");
    assert_eq!(archived["source"], format!("session:{BEN}"));
}

#[test]
fn s002_29_s002_30_s002_31_events_tell_a_preview() {
    let home = begun();
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
    assert_eq!(store(&home).hot(key(BEN), at(0)).unwrap(), [], "looking is not kept at hand");
}

#[test]
fn s002_05_s002_06_s002_19_s002_33_a_session_in_numbers_and_names() {
    let home = begun();
    prompt(&home, 1, BEN, "why does `read_all` fail for ABC-12 in src/a.rs?");
    prompt(&home, 2, BEN, "and SessionView? see src/a.rs");
    ran(&home, 3, "make docs");
    engine(&home, 3).set_task(BEN, "the docs").unwrap();
    engine(&home, 3).add_note(BEN, "staging is down").unwrap();
    let told = engine(&home, 12).explain(BEN, "hi").unwrap().session;
    assert_eq!((told.id.as_str(), told.minutes, told.state), ("bbbb1011", 12, State::Active));
    assert_eq!((told.events, told.hot, told.task.as_deref()), (4, 2, Some("the docs")));
    assert_eq!((told.files, told.tools), (vec!["src/cart.rs".to_owned()], vec!["Edit".to_owned(), "Bash".to_owned()]));
    assert_eq!(told.entities, ["read_all", "ABC-12", "SessionView", "src/a.rs"]);
    for number in 0..25 {
        prompt(&home, 13, BEN, &format!("name_{number}"));
    }
    let told = engine(&home, 13).explain(BEN, "hi").unwrap().session.entities;
    assert_eq!((told.len(), told[0].as_str(), told[19].as_str()), (20, "name_5", "name_24"));
    assert!(engine(&home, 13).explain("nobody at all", "hi").is_err(), "of nobody there is nothing to tell");
}

#[test]
fn s002_37_a_session_takes_little_room() {
    let home = begun();
    let size = || fs::metadata(home.path(".rethread/memory.db")).unwrap().len();
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
fn l002_14_no_piece_of_a_secret_is_stored_or_told() {
    let home = begun();
    let secret = format!("ghp_{}", "q7Zx".repeat(9));
    // In each text some character of the secret lies where it is cut.
    for before in [1, 20, 40, 80, 90, 180] {
        let text = format!("{} {secret} after", "w".repeat(before));
        ran(&home, 1, &format!("deploy {text}"));
        let edit =
            json!({"tool_name": "Edit", "tool_input": {"file_path": "/app/a", "old_string": text, "new_string": text}});
        hook(&home, 1, BEN, "PostToolUse", &edit);
        let failed = json!({"tool_name": "Bash", "tool_input": {"command": text}, "error": text});
        hook(&home, 1, BEN, "PostToolUseFailure", &failed);
        prompt(&home, 1, BEN, &text);
        hook(&home, 1, BEN, "Stop", &json!({"last_assistant_message": text}));
        engine(&home, 1).add_note(BEN, &text).unwrap();
        engine(&home, 1).set_task(BEN, &text).unwrap();
    }
    hook(&home, 2, BEN, "SessionEnd", &json!({"reason": secret}));
    for file in rethread_testing::files_below(&home.path(".rethread")) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"ghp_q7Z"), "{}", file.display());
        assert!(!bytes.windows(8).any(|window| window == b"q7Zxq7Zx"), "{}", file.display());
    }
}

#[test]
fn l002_17_the_same_note_twice_in_one_millisecond_is_kept_twice_and_deeds_push_out_none() {
    let home = begun();
    let engine = engine(&home, 1);
    engine.add_note(BEN, "staging is down").unwrap();
    engine.add_note(BEN, "staging is down").unwrap();
    for number in 0..9 {
        ran(&home, 2, &format!("make step-{number}"));
    }
    let hot = store(&home).hot(key(BEN), at(0)).unwrap();
    assert_eq!((hot.iter().filter(|hot| hot.is_note).count(), hot.len()), (2, 7));
    for number in 0..9 {
        engine.add_note(BEN, &format!("note {number}")).unwrap();
    }
    let hot = store(&home).hot(key(BEN), at(0)).unwrap();
    let notes: Vec<&str> = hot.iter().filter(|hot| hot.is_note).map(|hot| hot.text.as_str()).collect();
    assert_eq!(notes, ["note 4", "note 5", "note 6", "note 7", "note 8"]);
}

#[test]
fn a_note_or_a_task_from_outside_is_heard_once_with_the_next_prompt() {
    let home = begun();
    prompt(&home, 1, BEN, "write the docs");
    let engine = engine(&home, 1);
    engine.add_note(BEN, "staging is down").unwrap();
    engine.set_task(BEN, "the docs").unwrap();
    let told = prompt(&home, 2, BEN, "go on").unwrap();
    let expected = "[SESSION CONTEXT]\nNote: staging is down\nCurrent task: the docs\n[END SESSION]";
    assert!(told.contains(expected), "{told}");
    assert_eq!(prompt(&home, 3, BEN, "go on"), None, "once");
    for task in ["the tests", "the docs"] {
        engine.set_task(BEN, task).unwrap();
        let told = prompt(&home, 4, BEN, "go on").unwrap();
        assert!(told.contains(&format!("Current task: {task}")) && !told.contains("staging"), "{told}");
    }
    // Who begins with a new context has forgotten it, and is told with the rest.
    let told = hook(&home, 5, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(told.contains("Notes:\n  - [4m ago] staging is down") && told.contains("Current task: the docs"), "{told}");
    assert_eq!(told.matches("staging").count(), 1, "{told}");
    assert_eq!(prompt(&home, 6, BEN, "go on"), None);
    // Beside a greeting, which has the task and no notes.
    engine.add_note(BEN, "staging is up").unwrap();
    let told = prompt(&home, 50, BEN, "back").unwrap();
    assert!(told.contains("You were working on: the docs") && told.contains("Note: staging is up"), "{told}");
    assert!(!told.contains("Current task"), "{told}");
}

#[test]
fn e002_07_e002_08_upkeep_ends_the_silent_archives_them_and_forgets_what_is_old() {
    let home = begun();
    ran(&home, 1, "make docs");
    work(&home, ANNA, 3 * DAY, "mend the rounding", false);
    hook(&home, 3 * DAY, ANNA, "SessionStart", &json!({"source": "startup"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    hook(&home, 3 * DAY, ANNA, "PostToolUse", &call);
    let later = engine(&home, 3 * DAY + 10);
    let done = later.maintain().unwrap();
    assert_eq!((done.ended, done.archived, done.evicted), (1, 1, 1));
    assert_eq!(archives(&home)[0]["hotMemory"][0]["text"], "Ran: make docs");
    assert_eq!(later.maintain().unwrap(), rethread_engine::Upkeep::default(), "what is done is done");
    let told = engine(&home, 8 * DAY).status().unwrap().tiers;
    assert_eq!((told.tiers.hot, told.tiers.warm, told.tiers.cold, told.archives), (0, 1, 1, 1));
    assert!(told.archive_bytes > 100);
    // Coming back after that begins a new period, and archives nothing twice.
    prompt(&home, 3 * DAY + 20, BEN, "back");
    assert_eq!((life(&home).period, archives(&home).len()), (2, 1));
}

#[test]
fn l002_09_times_are_the_same_whatever_the_zone_and_the_season() {
    let archived = |zone: &str| {
        let home = TestHome::new();
        let night: Timestamp = "2026-03-29T00:30:00Z".parse().unwrap();
        let minutes = night.millis_since(at(0)) / 60_000;
        let hear = |later: i64, event: &str| {
            let mut environment = rethread_engine::Environment::for_home(home.root());
            environment.clock = rethread_engine::Clock::Frozen(at(minutes + later));
            environment.zone = jiff::tz::TimeZone::posix(zone).unwrap();
            let said = json!({"session_id": BEN, "cwd": "/app", "hook_event_name": event, "prompt": "hi"});
            let engine = Engine::open(environment).unwrap();
            engine.hook_claude_code(said.to_string().as_bytes()).unwrap();
        };
        // In Berlin the clock leaps from two to three in between.
        for (later, event) in
            [(0, "SessionStart"), (29, "UserPromptSubmit"), (58, "UserPromptSubmit"), (60, "SessionEnd")]
        {
            hear(later, event);
        }
        fs::read(home.path(".rethread/archive/2026-03-29_00-30_bbbb1011.json")).unwrap()
    };
    let berlin = archived("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_eq!(berlin, archived("EST5EDT,M3.2.0,M11.1.0"));
    assert_eq!(berlin, archived("UTC0"));
}

#[test]
fn s002_14_an_ended_session_is_listed_as_ended_and_begins_anew() {
    let home = begun();
    hook(&home, 1, BEN, "SessionEnd", &json!({}));
    let listed = |minutes: i64| engine(&home, minutes).sessions(&ListRequest::default()).unwrap()[0].state;
    assert_eq!(listed(2), State::Ended);
    // It goes on without telling anybody, and then ends: that is a period of its own.
    work(&home, BEN, 5, "on the quiet", false);
    home.sync();
    assert_eq!(listed(6), State::Active);
    engine(&home, 7).end_session(BEN).unwrap().unwrap();
    assert_eq!((archives(&home).len(), life(&home).period), (2, 2));
    assert_eq!(listed(8), State::Ended);
}
