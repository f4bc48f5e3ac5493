//! Damaged and outdated stores are set aside, and everything that can still be read is carried over into a new one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::os::unix::fs::FileExt;

use rethread_engine::{ForgetTarget, LogProfile, SessionListRequest, ShowRequest, StoreError};
use rethread_model::Agent;
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

const GONE: &str = "0f1e2d3c-0000-4000-8000-00000000000a";
const HERE: &str = "0f1e2d3c-0000-4000-8000-00000000000b";
const FORGOTTEN: &str = "0f1e2d3c-0000-4000-8000-00000000000c";
const DATABASE: &str = ".rethread/memory.db";

fn file(session: &str) -> String {
    format!(".claude/projects/-app/{session}.jsonl")
}

fn transcript(session: &str, prompts: usize) -> String {
    let mut lines = TranscriptBuilder::new(session);
    for number in 0..prompts {
        let padding = "and some more words about it ".repeat(20);
        lines = lines
            .user(format!("question {number} of {session}"))
            .assistant(&format!("answer {number} of {session} {padding}"));
    }
    lines.build()
}

/// A home with a session whose transcript is gone, one with a transcript, and a forgotten one.
fn home() -> TestHome {
    let home = TestHome::new();
    for session in [GONE, HERE, FORGOTTEN] {
        home.write(&file(session), transcript(session, 40));
    }
    home.sync();
    let engine = home.engine();
    engine.lifecycle().set_name(GONE, "The heron").unwrap();
    engine.lifecycle().set_alias(GONE, "heron").unwrap();
    engine.forget().run(&ForgetTarget::Sessions(vec![FORGOTTEN.to_owned()])).unwrap();
    fs::remove_file(home.path(&file(GONE))).unwrap();
    home
}

fn entries(home: &TestHome, session: &str) -> usize {
    let show = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
    home.engine().sessions().show(session, show).map_or(0, |shown| shown.entries.len())
}

fn write_at(home: &TestHome, offset: u64, bytes: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(home.path(DATABASE)).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

fn set_aside(home: &TestHome) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(home.path(".rethread/set-aside")).into_iter().flatten().flatten();
    folders.map(|folder| folder.path()).collect()
}

/// Checks that nothing is missing after a store was replaced.
fn assert_carried_over(home: &TestHome) {
    assert_eq!(entries(home, GONE), 80, "the only copy");
    assert_eq!(entries(home, "heron"), 80, "its alias");
    assert_eq!(home.engine().sessions().resolve(GONE).unwrap().session.name.as_deref(), Some("The heron"));
    assert_eq!(entries(home, HERE), 80);
    assert_eq!(entries(home, FORGOTTEN), 0, "forgotten for good");
    assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
    assert_eq!(set_aside(home).len(), 1, "the old file is kept");
}

#[test]
fn outdated_store_is_carried_over() {
    // D67
    let home = home();
    write_at(&home, 60, &1_u32.to_be_bytes());
    let error = home.engine().sessions().list(&SessionListRequest::default()).unwrap_err();
    assert!(error.is_store_unusable() && set_aside(&home).is_empty(), "reading commands change nothing");
    let report = home.sync();
    assert_eq!((report.carried_over[0].carried.sessions, report.carried_over.len()), (2, 1));
    assert_carried_over(&home);
    assert!(home.sync().carried_over.is_empty(), "once");
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_carried_over(&home);
}

#[test]
fn store_with_a_broken_header_is_carried_over() {
    // D67
    let home = home();
    write_at(&home, 0, &[0x5a; 100]);
    home.sync();
    assert_carried_over(&home);
}

#[test]
fn broken_page_costs_only_its_own_rows() {
    // D67: every page in turn. The transcript of one session is there, that of the other is not.
    let home = home();
    let database = fs::read(home.path(DATABASE)).unwrap();
    let pages = database.len() / 8192;
    let mut least = 80;
    for page in (1..pages).step_by(3) {
        fs::write(home.path(DATABASE), &database).unwrap();
        write_at(&home, page as u64 * 8192, &[0x5a; 512]);
        home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
        assert_eq!(entries(&home, HERE), 80, "page {page}: its transcript is there");
        assert_eq!(entries(&home, FORGOTTEN), 0, "page {page}: forgotten for good");
        least = least.min(entries(&home, GONE).max(entries_of_lost_sessions(&home)));
        fs::remove_dir_all(home.path(".rethread/set-aside")).ok();
    }
    assert!(least >= 40, "only {least} of 80 entries were left");
}

/// Entries whose session could not be read are kept under a name of ours.
fn entries_of_lost_sessions(home: &TestHome) -> usize {
    (1..=3).map(|number| entries(home, &format!("recovered-{number}"))).sum()
}

#[test]
fn hook_replaces_a_damaged_store_and_says_so_once() {
    // D33
    let home = home();
    write_at(&home, 0, &[0x5a; 100]);
    let payload = json!({"session_id": HERE, "hook_event_name": "UserPromptSubmit", "prompt": "go on",
        "cwd": "/app", "transcript_path": home.path(&file(HERE))});
    let reply = home.engine().hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap().unwrap();
    let text = reply["systemMessage"].as_str().unwrap();
    assert!(text.contains("damaged") && text.contains("rethread sync"), "{text}");
    let second = home.engine().hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap();
    assert!(second.is_none_or(|reply| reply.get("systemMessage").is_none()), "said once");
    assert!(home.engine().reports().doctor().unwrap().has_problems(), "the rest waits for a sync");
    home.sync();
    assert_carried_over(&home);
}

#[test]
fn text_that_is_not_utf_8_is_damage_that_a_rebuild_repairs() {
    // D67
    let home = home();
    let bytes = fs::read(home.path(DATABASE)).unwrap();
    let text = format!("answer 3 of {GONE}").into_bytes();
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap() as u64;
    write_at(&home, at + 2, &[0xff, 0xfe]);
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(entries(&home, GONE), 80);
}

#[test]
fn notice_waits_for_an_event_whose_answer_the_agent_shows() {
    // D33
    let home = home();
    write_at(&home, 0, &[0x5a; 100]);
    let claude = |event: &str| {
        let payload = json!({"session_id": HERE, "hook_event_name": event, "prompt": "go on", "reason": "other",
            "cwd": "/app", "transcript_path": home.path(&file(HERE))});
        home.engine().hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes())
    };
    let pi = json!({"session_id": HERE, "event": "agent_end", "session_file": home.path(&file(HERE)), "cwd": "/app"});
    assert!(
        claude("SessionEnd").is_err() && home.engine().hooks().handle(Agent::Pi, pi.to_string().as_bytes()).is_err()
    );
    assert!(claude("UserPromptSubmit").unwrap().unwrap()["systemMessage"].is_string());
}

#[test]
fn locked_or_unwritable_store_is_not_replaced() {
    // D67: only proof of damage counts.
    let path = std::path::PathBuf::from("memory.db");
    let disk = StoreError::Create { path: path.clone(), cause: std::io::ErrorKind::StorageFull.into() };
    assert!(!disk.is_unusable());
    assert!(!StoreError::Newer { path: path.clone(), found: 99, known: 1 }.is_unusable());
    assert!(StoreError::Outdated { path, found: 1, known: 2 }.is_unusable());
}
