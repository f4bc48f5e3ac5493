//! Transcripts that grow, shrink, are replaced or damaged: nothing is lost and nothing counts twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use proptest::prelude::*;
use rethread_engine::{LogProfile, ShowRequest, SyncRequest, WatchEvent, WatchMode, WatchRequest};
use rethread_testing::{
    BRANCHES, CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, PI_FILE, TestHome, TranscriptBuilder, assert_same_dump,
    dump_of,
};
use serde_json::json;

#[test]
fn second_sync_reads_nothing() {
    // S000-15
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write(PI_FILE, BRANCHES);
    assert_eq!(home.bytes_read(), (CONVERSATION.len() + BRANCHES.len()) as u64);
    let before = home.dump();
    assert_eq!(home.bytes_read(), 0);
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn only_new_bytes_are_read() {
    // S000-10
    // S000-09, S003-07, S003-08: one cursor per transcript, and every engine here is a restart.
    let home = TestHome::new();
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("Which name is better").unwrap());
    home.write(CLAUDE_FILE, first);
    let read = home.bytes_read();
    home.append(CLAUDE_FILE, rest);
    assert_eq!(read + home.bytes_read(), CONVERSATION.len() as u64);
}

#[test]
fn line_by_line_sync_equals_whole_sync() {
    // L003-05
    // L003-07: an episode keeps the id of its first entry.
    for (path, text) in [(CLAUDE_FILE, CONVERSATION), (PI_FILE, BRANCHES)] {
        let home = TestHome::new();
        home.write(path, "");
        for line in text.split_inclusive('\n') {
            home.append(path, line);
            home.sync();
        }
        assert_same_dump(&home.dump(), &dump_of(path, text));
    }
}

#[test]
fn panic_of_the_writer_ends_the_sync_and_loses_nothing() {
    // More files than the workers may be ahead: some of them wait when the writer stops.
    let home = TestHome::new();
    for number in 0..60 {
        let session = TranscriptBuilder::new(&format!("00000000-0000-4000-8000-{number:012}"));
        home.write(&format!(".claude/projects/-p/{number}.jsonl"), session.user("Read every file").build());
    }
    let engine = home.engine();
    let stop = || engine.sync().run(&SyncRequest::default(), &mut |_| std::panic::resume_unwind(Box::new("stopped")));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(stop)).is_err());
    drop(engine);
    home.sync();
    let counts = home.store().session_counts_by_agent().unwrap();
    assert_eq!(counts.iter().map(|(_, sessions)| sessions).sum::<u64>(), 60);
}

#[test]
fn incomplete_last_line_waits_for_its_end() {
    // L000-02
    // S000-14: a sync while the agent is writing.
    let home = TestHome::new();
    let cut = CONVERSATION.find("Committed.").unwrap();
    home.write(CLAUDE_FILE, &CONVERSATION[..cut]);
    let report = home.sync();
    assert!(report.agents.iter().all(|agent| agent.warnings.is_empty()), "an incomplete line is not an invalid line");
    home.append(CLAUDE_FILE, &CONVERSATION[cut..]);
    home.sync();
    assert_same_dump(&home.dump(), &dump_of(CLAUDE_FILE, CONVERSATION));
}

#[test]
fn last_line_without_newline_is_counted_once() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION.trim_end());
    home.sync();
    let counts = || home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts;
    let before = counts();
    assert_eq!(before.messages, 14);
    home.append(CLAUDE_FILE, "\n");
    home.sync();
    assert_eq!(counts(), before);
    assert_same_dump(&home.dump(), &dump_of(CLAUDE_FILE, CONVERSATION));
}

/// Checks that counts and conversation are those of this transcript. Entries it no longer has are kept beside them.
fn assert_same_conversation(home: &TestHome, transcript: &str) {
    let conversation = |home: &TestHome| {
        let show = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
        let shown = home.engine().sessions().show(CLAUDE_SESSION, show).unwrap();
        let current = shown.entries.into_iter().filter(|entry| !entry.is_abandoned);
        let texts: Vec<(String, String)> = current.map(|entry| (entry.native_id, entry.text)).collect();
        (home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts, texts)
    };
    let other = TestHome::new();
    other.write(CLAUDE_FILE, transcript);
    other.sync();
    assert_eq!(conversation(home), conversation(&other));
    assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
}

#[test]
fn truncated_file_is_read_again() {
    // S000-13
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let shorter: String = CONVERSATION.split_inclusive('\n').take(9).collect();
    home.write(CLAUDE_FILE, &shorter);
    home.sync();
    assert_same_conversation(&home, &shorter);
}

#[test]
fn file_replaced_by_a_longer_one_is_noticed() {
    // L000-03
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let other = CONVERSATION.replace("lexer", "tokeniser").replace("-1111-4222-", "-9999-4222-");
    assert!(other.len() > CONVERSATION.len());
    home.write(CLAUDE_FILE, &other);
    home.sync();
    assert_same_conversation(&home, &other);
}

#[test]
fn file_rewritten_with_new_ids_leaves_no_duplicates() {
    let home = TestHome::new();
    home.write(PI_FILE, BRANCHES);
    home.sync();
    let migrated = BRANCHES.replace("\"000000", "\"a00000");
    home.write(PI_FILE, &migrated);
    home.sync();
    assert_same_dump(&home.dump(), &dump_of(PI_FILE, &migrated));
}

#[test]
fn title_in_another_file_arrives_whichever_file_is_synced_first() {
    // D68
    let leaf = "00000001-aaaa-4222-8333-000000000001";
    let titles = format!("{{\"type\":\"summary\",\"summary\":\"Tame the heron\",\"leafUuid\":\"{leaf}\"}}\n");
    let prompt = format!(
        "{{\"type\":\"user\",\"uuid\":\"{leaf}\",\"cwd\":\"/app\",\"message\":{{\"content\":\"do something\"}}}}\n"
    );
    let other = CLAUDE_FILE.replace("000a.jsonl", "000b.jsonl");
    let name = |home: &TestHome| home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.name;
    for titles_first in [true, false] {
        let home = TestHome::new();
        let files = [(other.as_str(), &titles), (CLAUDE_FILE, &prompt)];
        let order = if titles_first { [0, 1] } else { [1, 0] };
        for (path, text) in order.map(|at| files[at]) {
            home.write(path, text);
            home.sync();
        }
        assert_eq!(name(&home).as_deref(), Some("Tame the heron"));
        home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
        assert_eq!(name(&home).as_deref(), Some("Tame the heron"));
        // The session is read again, the file with its title is not.
        fs::remove_file(home.path(&other)).unwrap();
        home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
        assert_eq!(name(&home).as_deref(), Some("Tame the heron"));
    }
}

#[test]
fn deleted_transcript_stays_readable() {
    // S000-11, S000-12
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let before = home.dump();
    fs::remove_file(home.path(CLAUDE_FILE)).unwrap();
    home.sync();
    assert_same_dump(&home.dump(), &before);
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn rebuild_equals_incremental_sync() {
    let home = TestHome::new();
    for (path, text) in [(CLAUDE_FILE, CONVERSATION), (PI_FILE, BRANCHES)] {
        let mut done = 0;
        while done < text.len() {
            done = (done + 777).min(text.len());
            home.write(path, &text.as_bytes()[..done]);
            home.sync();
        }
    }
    let before = home.dump();
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn invalid_bytes_cost_only_their_own_line() {
    // L003-06: one bad line does not discard its batch.
    let mut bytes = CONVERSATION.replace('\n', "\r\n").into_bytes();
    bytes.extend(b"\0\0\0\0\n{\"type\":\"user\",\"uuid\":\"x1\",\"message\":{\"role\":\"user\",\"content\":\"bad \xff byte\"}}\n");
    bytes.extend(b"this is not json\n[1,2]\n\"text\"\n");
    bytes.extend(
        b"{\"type\":\"user\",\"uuid\":\"x2\",\"message\":{\"role\":\"user\",\"content\":\"after it \\ud83d\"}}\n",
    );
    let home = TestHome::new();
    home.write(CLAUDE_FILE, &bytes);
    let report = home.sync();
    let warnings: Vec<_> = report.agents.iter().flat_map(|agent| &agent.warnings).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].line, Some(48));
    let dump = home.dump();
    assert!(dump.contains("bad \u{fffd} byte") && dump.contains("after it \u{fffd}"));
    assert_eq!(home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts.prompts, 7);
}

#[test]
fn line_of_200_megabytes_is_read_in_bounded_memory() {
    let home = TestHome::new();
    let mut bytes = br#"{"type":"user","uuid":"big","message":{"role":"user","content":[{"type":"text","text":"see this"},{"type":"image","source":{"data":""#.to_vec();
    bytes.resize(200 << 20, b'A');
    bytes.extend(b"\"}}]}}\n");
    home.write(CLAUDE_FILE, &bytes);
    home.append(CLAUDE_FILE, CONVERSATION);
    drop(bytes);
    home.sync();
    let session = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session;
    assert_eq!(session.counts.prompts, 6);
    assert!(home.dump().contains("see this"));
}

#[test]
fn links_pipes_and_unreadable_files_are_skipped() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write("elsewhere/secret.jsonl", CONVERSATION.replace(CLAUDE_SESSION, "5e551011-0000-4000-8000-0000000000ee"));
    let folder = ".claude/projects/-home-dev-parser";
    symlink(home.path("elsewhere/secret.jsonl"), home.path(&format!("{folder}/link.jsonl"))).unwrap();
    let pipe = home.path(&format!("{folder}/pipe.jsonl"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(home.path(&format!("{folder}/folder.jsonl"))).unwrap();
    home.write(&format!("{folder}/closed.jsonl"), "{}");
    fs::set_permissions(home.path(&format!("{folder}/closed.jsonl")), fs::Permissions::from_mode(0o000)).unwrap();
    let report = home.sync();
    let skipped =
        report.agents[0].warnings.iter().filter(|warning| warning.message.contains("not a regular file")).count();
    assert_eq!(skipped, 2);
    assert!(home.engine().sessions().resolve("5e551011-0000-4000-8000-0000000000ee").is_err());
    assert!(home.engine().sessions().resolve(CLAUDE_SESSION).is_ok());
}

#[test]
fn concurrent_syncs_lose_and_repeat_nothing() {
    let home = TestHome::new();
    for number in 0..12 {
        let id = format!("5e551011-0000-4000-8000-0000000001{number:02}");
        let text = CONVERSATION.replace(CLAUDE_SESSION, &id).replace("-4222-8333-", &format!("-4222-8{number:03}-"));
        let text = text.replace("0123456789abcdef", &format!("0123456789abcd{number:02}"));
        home.write(&format!(".claude/projects/-p/{id}.jsonl"), text);
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| home.sync());
        }
    });
    home.sync();
    let sessions = home.engine().sessions().list(&rethread_engine::SessionListRequest::default()).unwrap();
    assert_eq!(sessions.len(), 12);
    assert!(sessions.iter().all(|listed| listed.session.counts.prompts == 5 && listed.session.tokens.output == 173));
    home.dump();
}

#[test]
fn lines_without_content_are_read_only_once() {
    // L003-09
    let home = TestHome::new();
    home.write(CLAUDE_FILE, "{\"type\":\"progress\",\"uuid\":\"p\",\"data\":{}}\n".repeat(50));
    assert!(home.bytes_read() > 0);
    assert_eq!(home.bytes_read(), 0);
}

/// Watches, runs `act` after the first sync, and waits for a sync with new entries; returns their number.
fn watch_and(home: &TestHome, mode: WatchMode, act: impl FnOnce()) -> u64 {
    let (stop, (sender, reports)) = (AtomicBool::new(false), channel());
    let engine = home.engine();
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            engine.sync().watch(WatchRequest { mode: Some(mode), poll: false }, &stop, &mut |news| {
                let WatchEvent::Synced(report) = news else { return };
                let _ = sender.send(report.agents.iter().map(|agent| agent.entries).sum::<u64>());
            })
        });
        let patience = Duration::from_secs(30);
        let first = reports.recv_timeout(patience);
        act();
        let found = std::iter::from_fn(|| reports.recv_timeout(patience).ok()).find(|entries| *entries > 0);
        stop.store(true, Ordering::Relaxed);
        assert!(first.is_ok() && watching.join().is_ok_and(|ended| ended.is_ok()), "watching ends cleanly");
        found.unwrap_or(0)
    })
}

#[test]
fn growing_file_is_read_in_both_watch_modes() {
    // S003-06, S003-09, S003-10
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("{\"parentUuid\":\"00002735").unwrap_or(20_000));
    for mode in [WatchMode::Realtime, WatchMode::Batch(Duration::from_millis(50))] {
        let home = TestHome::new();
        home.write(CLAUDE_FILE, first);
        home.write(PI_FILE, BRANCHES);
        assert!(watch_and(&home, mode, || home.append(CLAUDE_FILE, rest)) > 0, "{mode:?}");
        assert_same_dump(&home.dump().replace(' ', ""), &{
            let whole = TestHome::new();
            whole.write(CLAUDE_FILE, CONVERSATION);
            whole.write(PI_FILE, BRANCHES);
            whole.sync();
            whole.dump().replace(' ', "")
        });
    }
}

#[test]
fn explicit_paths_are_read_anywhere() {
    let home = TestHome::new();
    home.write("backup/one.jsonl", CONVERSATION);
    home.write("backup/two.jsonl", BRANCHES);
    home.write("backup/notes.jsonl", "{\"nothing\":1}\n");
    let request = SyncRequest { paths: vec!["backup".into()], ..SyncRequest::default() };
    let report = home.engine().sync().run(&request, &mut |_| {}).unwrap();
    let files: Vec<u64> = report.agents.iter().map(|agent| agent.files).collect();
    assert_eq!(files, [1, 1]);
    assert!(home.engine().sessions().resolve(CLAUDE_SESSION).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resuming_at_any_byte_equals_the_whole_file(cuts in prop::collection::vec(0.0..1.0_f64, 1..4), pi in any::<bool>()) {
        let (path, text) = if pi { (PI_FILE, BRANCHES) } else { (CLAUDE_FILE, CONVERSATION) };
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        places.sort_unstable();
        let home = TestHome::new();
        for place in places.into_iter().chain([text.len()]) {
            home.write(path, &text.as_bytes()[..place]);
            home.sync();
        }
        assert_same_dump(&home.dump(), &dump_of(path, text));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0.0..1.0_f64) {
        let home = TestHome::new();
        let mut text = CONVERSATION.as_bytes().to_vec();
        let place = (at * text.len() as f64) as usize;
        text.splice(place..place, bytes);
        home.write(CLAUDE_FILE, text);
        home.sync();
        home.dump();
    }
}

#[test]
fn secrets_in_the_directory_and_the_branch_are_not_stored() {
    // D70
    let home = TestHome::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let id = "5e551011-0000-4000-8000-0000000000ef";
    let session = TranscriptBuilder::new(id).cwd(&format!("/srv/{token}/app")).branch(&format!("try-{token}"));
    home.write(&format!(".claude/projects/-srv-app/{id}.jsonl"), session.user("hello").build());
    home.sync();
    let session = home.store().sessions_by_exact_reference(id).unwrap().remove(0);
    assert_eq!(session.cwd.as_deref(), Some("/srv/[REDACTED:github]/app"));
    assert_eq!(session.branch.as_deref(), Some("try-[REDACTED:github]"));
    assert_eq!(session.project.as_deref(), Some("/srv/[REDACTED:github]/app"));
}

#[test]
fn secrets_in_names_of_models_tools_and_relative_files_are_not_stored() {
    // D70
    let home = TestHome::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let id = "5e551011-0000-4000-8000-0000000000fa";
    let at = "2026-05-04T09:00:00.000Z";
    let patch = "*** Begin Patch\n*** Add File: src/a.rs\n+x\n*** End Patch";
    let lines = [
        json!({"type": "session_meta", "payload": {"id": id, "cwd": format!("/srv/{token}"), "originator": "codex_cli_rs"}}),
        json!({"type": "turn_context", "payload": {"cwd": format!("/srv/{token}"), "model": format!("gpt-{token}")}}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "go on"}}),
        json!({"type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1",
            "input": patch}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": format!("mcp__{token}__find"),
            "call_id": "c2", "arguments": "{}"}}),
    ];
    let lines = lines.map(|mut line| {
        line["timestamp"] = at.into();
        format!("{line}\n")
    });
    home.write(&format!(".codex/sessions/2026/05/04/rollout-2026-05-04T09-00-00-{id}.jsonl"), lines.concat());
    home.sync();
    let session = home.store().sessions_by_exact_reference(id).unwrap().remove(0);
    assert_eq!(session.model.as_deref(), Some("gpt-[REDACTED:github]"));
    assert_eq!((session.counts.tool_calls, session.counts.files_edited), (2, 1));
    for file in rethread_testing::files_below(&home.path(".rethread")) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(token.len()).any(|window| window == token.as_bytes()), "{}", file.display());
    }
}
