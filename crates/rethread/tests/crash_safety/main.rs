//! The binary is killed during a sync, and several run at once: nothing is lost and nothing counts twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

const SESSIONS: usize = 30;
const EXCHANGES: usize = 40;

/// A transcript that shares no entry with another one.
fn transcript(session: usize) -> String {
    let start = "2026-05-01T00:00:00.000Z".parse().unwrap();
    let mut builder = TranscriptBuilder::new(&session_id(session)).cwd("/p").times(start, 15);
    for exchange in 0..EXCHANGES {
        let id = format!("{session:04x}{exchange:04x}");
        builder = builder
            .user(format!("do thing {id}"))
            .tool_call(&format!("toolu_{id:0>24}"), "Bash", &json!({"command": format!("run {id}")}))
            .tool_result(&format!("toolu_{id:0>24}"), &"word ".repeat(400), true)
            .assistant(&format!("did thing {id}"));
    }
    builder.build()
}

fn session_id(session: usize) -> String {
    format!("{session:08x}-0000-4000-8000-000000000000")
}

fn home_with_sessions() -> TestHome {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread")).frozen_at("2026-06-01T00:00:00Z");
    for session in 0..SESSIONS {
        home.write(&format!(".claude/projects/-p/{}.jsonl", session_id(session)), transcript(session));
    }
    home
}

/// The binary with a store of its own.
fn command(home: &TestHome, store: &Path, arguments: &[&str]) -> Command {
    let mut command = home.command(arguments);
    command.env("RETHREAD_HOME", store).stdin(Stdio::null());
    command
}

/// Stdout of a command that must succeed.
fn answer(home: &TestHome, store: &Path, arguments: &[&str]) -> String {
    let done = command(home, store, arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn sync_killed_fifty_times_is_completed_by_the_next() {
    let home = home_with_sessions();
    let (killed, calm) = (home.path("killed"), home.path("calm"));
    let began = Instant::now();
    answer(&home, &calm, &["sync"]);
    let whole = began.elapsed();
    for round in 0..50_u32 {
        let mut child = command(&home, &killed, &["sync"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Times spread over a whole run, in mixed order.
        sleep(whole.mul_f64(f64::from(round * 37 % 50) / 50.0).min(Duration::from_secs(5)));
        let _ = child.kill();
        let _ = child.wait();
        if round % 10 == 9 {
            answer(&home, &killed, &["sync"]);
            let everything = ["sessions", "--all-projects", "--json"];
            let same = answer(&home, &killed, &everything) == answer(&home, &calm, &everything);
            assert!(same, "answers differ after round {round}");
            let question = ["search", "--all-projects", "--limit", "20", "did thing 00070011"];
            let found = answer(&home, &killed, &question);
            assert!(found.contains("00070011"), "not found after round {round}");
            assert_eq!(found, answer(&home, &calm, &question), "found otherwise after round {round}");
            answer(&home, &killed, &["verify"]);
            let _ = fs::remove_dir_all(&killed);
        }
    }
}

/// How long the race lasts; `RETHREAD_RACE_SECONDS` sets it.
fn race_time() -> Duration {
    let wished = std::env::var("RETHREAD_RACE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(wished.unwrap_or(6))
}

/// Appends a prompt with a word to find it by.
fn append_marker(home: &TestHome, transcript: &str, writer: usize, round: usize) {
    let ids = format!("marker-{writer}-{round}");
    let line =
        TranscriptBuilder::new("marker").cwd("/p").ids(&ids).times("2026-05-02T00:00:00.000Z".parse().unwrap(), 0);
    home.append(transcript, line.user(format!("marker w{writer}r{round}")).build());
}

#[test]
fn concurrent_searches_never_miss_a_finished_sync() {
    let home = home_with_sessions();
    let store = home.path("raced");
    // The race is about later entries; the first sync may take long.
    answer(&home, &store, &["sync", "--quiet"]);
    let end = Instant::now() + race_time();
    // The last round of each writer whose sync has finished.
    let finished = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let searched = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (writer, last) in finished.iter().enumerate() {
            let (home, store) = (&home, &store);
            scope.spawn(move || {
                let path = format!(".claude/projects/-p/{writer:08x}-0000-4000-8000-00000000aaaa.jsonl");
                let mut round = 1;
                while Instant::now() < end {
                    append_marker(home, &path, writer, round);
                    answer(home, store, &["sync", "--quiet"]);
                    last.store(round, Ordering::SeqCst);
                    round += 1;
                }
            });
        }
        for reader in 0..10 {
            let (home, store, finished, searched) = (&home, &store, &finished, &searched);
            scope.spawn(move || {
                while Instant::now() < end {
                    let writer = reader % 2;
                    let round = finished[writer].load(Ordering::SeqCst);
                    if round > 0 {
                        let marker = format!("w{writer}r{round}");
                        let found = answer(home, store, &["search", "--all-projects", "--quiet", &marker]);
                        assert!(found.contains(&marker), "{marker} was synced and is not found");
                        searched.fetch_add(1, Ordering::SeqCst);
                    } else {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            });
        }
    });
    assert!(finished.iter().all(|last| last.load(Ordering::SeqCst) > 0), "no sync has finished");
    assert!(searched.load(Ordering::SeqCst) > 0, "nothing was searched");
    answer(&home, &store, &["sync"]);
    answer(&home, &store, &["verify"]);
}

#[test]
fn several_processes_can_sync_at_once() {
    let home = home_with_sessions();
    let (together, alone) = (home.path("together"), home.path("alone"));
    let children: Vec<_> =
        (0..5).filter_map(|_| command(&home, &together, &["sync", "--quiet"]).spawn().ok()).collect();
    for mut child in children {
        assert!(child.wait().is_ok_and(|status| status.success()), "no process may see a locked database");
    }
    answer(&home, &together, &["sync"]);
    answer(&home, &alone, &["sync"]);
    let everything = ["sessions", "--all-projects", "--json"];
    let of = |store: &Path| -> Vec<String> {
        let mut lines: Vec<String> = answer(&home, store, &everything).split("{\"id\"").map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(of(&together) == of(&alone), "answers differ");
}
