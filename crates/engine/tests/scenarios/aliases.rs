//! Aliases that files of a project give its sessions, found from the session's own directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::FindingLevel;
use rethread_model::Agent;
use rethread_testing::{PiTranscriptBuilder, TestHome, TranscriptBuilder};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, at, engine};

/// The layout of volute: the agent works in `home`, the names are beside it.
fn volute(home: &TestHome) -> String {
    fs::create_dir_all(home.path("agents/mia/home")).unwrap();
    home.write("agents/mia/.volute/sessions/discord.json", json!({"sessionId": ANNA}).to_string());
    home.path("agents/mia/home").display().to_string()
}

fn claude_transcript(home: &TestHome, session: &str) -> String {
    let cwd = home.path("agents/mia/home").display().to_string();
    let folder: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!(".claude/projects/{folder}/{session}.jsonl")
}

fn talk(home: &TestHome, session: &str, cwd: &str, minutes: i64, ask: &str) {
    let lines = TranscriptBuilder::new(session).ids(&format!("{session}{minutes}")).cwd(cwd).times(at(minutes), 0);
    home.append(&claude_transcript(home, session), lines.user(ask).assistant("Done.").build());
}

#[test]
fn hooks_find_aliases_above_the_sessions_directory() {
    // D21, S000-02, L000-10
    let home = TestHome::new();
    let cwd = volute(&home);
    talk(&home, ANNA, &cwd, 1, "how do I deploy this?");
    talk(&home, BEN, &cwd, 1, "write the docs");
    let payload = json!({"session_id": BEN, "transcript_path": home.path(&claude_transcript(&home, BEN)), "cwd": cwd,
        "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    let answer = engine(&home, 2)
        .hooks()
        .handle(Agent::ClaudeCode, payload.to_string().as_bytes())
        .unwrap()
        .unwrap()
        .to_string();
    assert!(answer.contains("- discord (1m ago, 2 messages"), "{answer}");
}

#[test]
fn sync_finds_aliases_of_all_known_directories() {
    // D21, S000-02, S000-05
    let home = TestHome::new();
    let cwd = volute(&home);
    talk(&home, ANNA, &cwd, 1, "how do I deploy this?");
    home.sync();
    let found = home.engine().sessions().resolve("discord").unwrap().session;
    assert_eq!(found.external_id, ANNA);
    assert!(found.transcript.unwrap().ends_with(&format!("{ANNA}.jsonl")));
    assert!(home.engine().sessions().resolve("email").is_err());
}

#[test]
fn transcripts_inside_a_project_are_read_by_hooks() {
    // D21, S000-04
    let home = TestHome::new();
    let cwd = volute(&home);
    let mail = PiTranscriptBuilder::new("p-old", &cwd, "2026-03-02T09:00:00Z").user("old mail").assistant("Read.");
    home.write("agents/mia/.volute/pi-sessions/mail/2026-03-02T09-00-00-000Z_p-old.jsonl", mail.build());
    talk(&home, BEN, &cwd, 1, "write the docs");
    let payload = json!({"session_id": BEN, "transcript_path": home.path(&claude_transcript(&home, BEN)), "cwd": cwd,
        "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    let answer = engine(&home, 2)
        .hooks()
        .handle(Agent::ClaudeCode, payload.to_string().as_bytes())
        .unwrap()
        .unwrap()
        .to_string();
    assert!(answer.contains("- mail ("), "{answer}");
    home.sync();
    assert_eq!(home.engine().sessions().resolve("mail").unwrap().session.external_id, "p-old");
}

#[test]
fn doctor_names_the_folders_that_define_aliases() {
    // D21, L000-10
    let home = TestHome::new();
    let cwd = volute(&home);
    talk(&home, ANNA, &cwd, 1, "how do I deploy this?");
    home.write("agents/mia/.volute/sessions/email.json", json!({"sessionId": BEN}).to_string());
    home.sync();
    let findings = home.engine().reports().doctor().unwrap().findings;
    let aliases: Vec<_> = findings.iter().filter(|finding| finding.area == "aliases").collect();
    let folder = home.path("agents/mia/.volute").display().to_string();
    assert_eq!(aliases.len(), 1, "{findings:?}");
    assert_eq!(aliases[0].message, format!("2 aliases in {folder}, 1 of them without a transcript: email"));
    assert_eq!(aliases[0].level, FindingLevel::Info);
}

#[test]
fn temporary_sessions_are_never_reported() {
    // E000-01
    let home = TestHome::new();
    let cwd = volute(&home);
    fs::rename(
        home.path("agents/mia/.volute/sessions/discord.json"),
        home.path("agents/mia/.volute/sessions/new-17.json"),
    )
    .unwrap();
    talk(&home, ANNA, &cwd, 1, "how do I deploy this?");
    talk(&home, BEN, &cwd, 1, "write the docs");
    let payload = json!({"session_id": BEN, "transcript_path": home.path(&claude_transcript(&home, BEN)), "cwd": cwd,
        "hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    assert_eq!(engine(&home, 2).hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap(), None);
}
