//! The binary is killed while it reads, and several of it run at once: nothing is lost, nothing counted twice.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SESSIONS: usize = 30;
const EXCHANGES: usize = 40;

/// A transcript whose lines are all its own.
fn transcript(session: usize) -> String {
    let mut text = String::new();
    for exchange in 0..EXCHANGES {
        let id = format!("{session:04x}{exchange:04x}");
        let at = format!("2026-05-01T{:02}:{:02}:00.000Z", exchange / 60, exchange % 60);
        let line = |kind: &str, number: usize, message: &str| {
            format!(
                r#"{{"type":"{kind}","uuid":"{id}-0000-4000-8000-{number:012}","timestamp":"{at}","cwd":"/p","message":{message}}}"#
            )
        };
        let body = "word ".repeat(400);
        let lines = [
            line("user", 1, &format!(r#"{{"role":"user","content":"do thing {id}"}}"#)),
            line(
                "assistant",
                2,
                &format!(
                    r#"{{"id":"msg_{id:0>24}","model":"m","content":[{{"type":"tool_use","id":"toolu_{id:0>24}","name":"Bash","input":{{"command":"run {id}"}}}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}"#
                ),
            ),
            line(
                "user",
                3,
                &format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id:0>24}","content":"{body}","is_error":true}}]}}"#
                ),
            ),
            line(
                "assistant",
                4,
                &format!(
                    r#"{{"id":"msg_a{id:0>23}","model":"m","content":[{{"type":"text","text":"did thing {id}"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}"#
                ),
            ),
        ];
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn home_with_sessions() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary home: {error}"));
    let folder = home.path().join(".claude/projects/-p");
    let made = fs::create_dir_all(&folder).and_then(|()| {
        (0..SESSIONS).try_for_each(|session| {
            fs::write(folder.join(format!("{session:08x}-0000-4000-8000-000000000000.jsonl")), transcript(session))
        })
    });
    made.unwrap_or_else(|error| panic!("the home cannot be written: {error}"));
    home
}

fn rethread(home: &Path, store: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
    command.args(words).env_clear().env("HOME", home).env("RETHREAD_HOME", store).current_dir(home);
    command.env("RETHREAD_NOW", "2026-06-01T00:00:00Z").stdin(Stdio::null());
    command
}

fn answer(home: &Path, store: &Path, words: &[&str]) -> String {
    let done = rethread(home, store, words).output().unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn a_sync_killed_fifty_times_at_any_moment_is_completed_by_the_next() {
    let home = home_with_sessions();
    let (killed, calm) = (home.path().join("killed"), home.path().join("calm"));
    let began = Instant::now();
    answer(home.path(), &calm, &["sync"]);
    let whole = began.elapsed();
    for round in 0..50_u32 {
        let child = rethread(home.path(), &killed, &["sync"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot start: {error}"));
        // Moments spread over a whole run, in no particular order.
        sleep(whole.mul_f64(f64::from(round * 37 % 50) / 50.0).min(Duration::from_secs(5)));
        let _ = child.kill();
        let _ = child.wait();
        if round % 10 == 9 {
            answer(home.path(), &killed, &["sync"]);
            let everything = ["sessions", "--all-projects", "--json"];
            let same = answer(home.path(), &killed, &everything) == answer(home.path(), &calm, &everything);
            assert!(same, "answers differ after round {round}");
            let question = ["search", "--all-projects", "--limit", "20", "did thing 00070011"];
            let found = answer(home.path(), &killed, &question);
            assert!(found.contains("00070011"), "not found after round {round}");
            assert_eq!(found, answer(home.path(), &calm, &question), "found otherwise after round {round}");
            answer(home.path(), &killed, &["verify"]);
            let _ = fs::remove_dir_all(&killed);
        }
    }
}

/// How long processes race. `RETHREAD_RACE_SECONDS` makes it longer.
fn race_time() -> Duration {
    let wished = std::env::var("RETHREAD_RACE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(wished.unwrap_or(6))
}

/// One more exchange that nobody else has, with a word to find it by.
fn append_marker(path: &Path, writer: usize, round: usize) {
    let id = format!("{:08x}-0000-4000-8000-{round:012}", 0xabc0 + writer);
    let line = format!(
        r#"{{"type":"user","uuid":"{id}","timestamp":"2026-05-02T00:00:00.000Z","cwd":"/p","message":{{"role":"user","content":"marker w{writer}r{round}"}}}}"#
    );
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("the transcript cannot be written: {error}"));
}

#[test]
fn two_sync_and_ten_search_at_once_and_nobody_gets_an_old_answer() {
    let home = home_with_sessions();
    let store = home.path().join("raced");
    // The race is about what comes later; how long the first reading takes depends on the machine.
    answer(home.path(), &store, &["sync", "--quiet"]);
    let end = Instant::now() + race_time();
    // The last round of each writer whose sync has finished.
    let finished = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let searched = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (writer, last) in finished.iter().enumerate() {
            let (home, store) = (home.path(), &store);
            scope.spawn(move || {
                let path = home.join(format!(".claude/projects/-p/{writer:08x}-0000-4000-8000-00000000aaaa.jsonl"));
                let mut round = 1;
                while Instant::now() < end {
                    append_marker(&path, writer, round);
                    answer(home, store, &["sync", "--quiet"]);
                    last.store(round, Ordering::SeqCst);
                    round += 1;
                }
            });
        }
        for reader in 0..10 {
            let (home, store, finished, searched) = (home.path(), &store, &finished, &searched);
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
    answer(home.path(), &store, &["sync"]);
    answer(home.path(), &store, &["verify"]);
}

#[test]
fn several_processes_may_sync_at_once() {
    let home = home_with_sessions();
    let (together, alone) = (home.path().join("together"), home.path().join("alone"));
    let children: Vec<_> =
        (0..5).filter_map(|_| rethread(home.path(), &together, &["sync", "--quiet"]).spawn().ok()).collect();
    for mut child in children {
        assert!(child.wait().is_ok_and(|status| status.success()), "no process may see a locked database");
    }
    answer(home.path(), &together, &["sync"]);
    answer(home.path(), &alone, &["sync"]);
    let everything = ["sessions", "--all-projects", "--json"];
    let of = |store: &Path| -> Vec<String> {
        let mut lines: Vec<String> =
            answer(home.path(), store, &everything).split("{\"id\"").map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(of(&together) == of(&alone), "answers differ");
}
