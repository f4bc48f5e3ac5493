//! Watch: new directories, moved and truncated files, a second watcher, a locked database.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rethread_engine::{EngineError, SearchRequest, WatchEvent, WatchMode, WatchRequest};

use crate::session_helpers::{ANNA, BEN, transcript, work};
use rethread_testing::{TestHome, skips_server_store};

const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `act` while watching, after the first sync. Returns the errors and notices.
fn watching(home: &TestHome, request: WatchRequest, act: impl FnOnce(&Mutex<Vec<String>>)) -> Vec<String> {
    let (stop, (sender, first)) = (AtomicBool::new(false), channel());
    let (engine, wrong) = (home.engine(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            engine.sync().watch(request, &stop, &mut |news| match news {
                WatchEvent::Synced(_) => drop(sender.send(())),
                WatchEvent::Failed(error, _) => wrong.lock().unwrap().push(error.to_string()),
                WatchEvent::Polling(_, why) | WatchEvent::InvalidSettings(why) => {
                    wrong.lock().unwrap().push(why.to_owned());
                }
            })
        });
        first.recv_timeout(PATIENCE).unwrap();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&wrong)));
        stop.store(true, Ordering::Relaxed);
        watcher.join().unwrap().unwrap();
        done.unwrap();
    });
    wrong.into_inner().unwrap()
}

/// Waits until a search finds the text.
fn until_found(home: &TestHome, text: &str) {
    let began = Instant::now();
    let request = SearchRequest { text: text.to_owned(), limit: 5, ..SearchRequest::default() };
    while home.engine().search().run(&request).unwrap().hits.is_empty() {
        assert!(began.elapsed() < PATIENCE, "{text} is not found");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn realtime(poll: bool) -> WatchRequest {
    WatchRequest { mode: Some(WatchMode::Realtime), poll }
}

#[test]
fn writes_are_found_even_in_new_directories() {
    // L003-02
    for poll in [false, true] {
        let home = TestHome::new();
        let wrong = watching(&home, realtime(poll), |_| {
            work(&home, ANNA, 0, "count the penguins", false);
            until_found(&home, "penguins");
            home.write(".claude/projects/-other/x.jsonl", "");
            work(&home, BEN, 1, "feed the walruses", false);
            until_found(&home, "walruses");
        });
        assert_eq!(wrong, Vec::<String>::new(), "requested polling is not reported");
    }
}

#[test]
fn watched_files_may_be_moved_truncated_and_deleted() {
    // S003-09
    let home = TestHome::new();
    work(&home, ANNA, 0, "count the penguins", false);
    watching(&home, realtime(false), |_| {
        let path = home.path(&transcript(ANNA));
        fs::rename(&path, home.path("moved-away")).unwrap();
        work(&home, ANNA, 5, "feed the walruses", false);
        until_found(&home, "walruses");
        fs::write(&path, "").unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_dir_all(home.path(".claude")).unwrap();
        work(&home, BEN, 6, "wake the owls", false);
        until_found(&home, "owls");
    });
    assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
}

#[test]
fn batch_mode_reads_at_intervals() {
    // S003-10
    let home = TestHome::new();
    let request = WatchRequest { mode: Some(WatchMode::Batch(Duration::from_millis(50))), poll: false };
    watching(&home, request, |_| {
        work(&home, ANNA, 0, "count the penguins", false);
        until_found(&home, "penguins");
    });
}

#[test]
fn one_process_watches_at_a_time() {
    let home = TestHome::new();
    watching(&home, realtime(false), |_| {
        let second = home.engine().sync().watch(realtime(false), &AtomicBool::new(true), &mut |_| {});
        assert!(matches!(second, Err(EngineError::WatchAlreadyRunning(_))), "{second:?}");
    });
    watching(&home, realtime(false), |_| {});
}

#[test]
fn failed_sync_is_reported_and_retried() {
    if skips_server_store("moves the file of the store away") {
        return;
    }
    let home = TestHome::new();
    work(&home, ANNA, 0, "count the penguins", false);
    let wrong = watching(&home, realtime(false), |wrong| {
        let database = home.path(".rethread/memory.db");
        let aside = home.path("aside");
        fs::rename(&database, &aside).unwrap();
        fs::create_dir(&database).unwrap();
        work(&home, ANNA, 1, "feed the walruses", false);
        let began = Instant::now();
        while wrong.lock().unwrap().is_empty() {
            assert!(began.elapsed() < PATIENCE, "no failure is reported");
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::remove_dir(&database).unwrap();
        fs::rename(&aside, &database).unwrap();
        until_found(&home, "walruses");
    });
    assert!(!wrong.is_empty());
}

#[test]
fn thousands_of_files_are_watched() {
    let home = TestHome::new();
    for number in 0..3000 {
        let line = format!("{{\"type\":\"mode\",\"mode\":\"{number}\"}}\n");
        home.write(&format!(".claude/projects/-p{}/aaaa1011-0000-4000-8000-{number:012}.jsonl", number % 30), line);
    }
    watching(&home, realtime(false), |_| {
        work(&home, BEN, 1, "feed the walruses", false);
        until_found(&home, "walruses");
    });
}

#[test]
fn locked_database_does_not_block_the_end_of_watch() {
    let home = TestHome::new();
    home.sync();
    work(&home, ANNA, 0, "count the penguins", false);
    let mut store = crate::session_helpers::store(&home);
    let lock = store.begin().unwrap();
    let (engine, stop) = (home.engine().with_store_timeout(Duration::from_millis(20)), AtomicBool::new(false));
    let mut failures = 0;
    let watched = engine.sync().watch(realtime(false), &stop, &mut |news| {
        failures += u32::from(matches!(news, WatchEvent::Failed(..)));
        stop.store(true, Ordering::Relaxed);
    });
    drop(lock);
    assert!(watched.is_ok());
    assert_eq!(failures, 1);
}
