//! Watching goes on: folders that come later, files that are moved or cut, another watcher, a database that is in use.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rethread_engine::{EngineError, SearchRequest, WatchMode, WatchNews, WatchRequest};

use crate::sessions::{ANNA, BEN, transcript, work};
use crate::world::World;

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Watches while something is done; it begins after the first reading, and what went wrong meanwhile is returned.
fn watching(world: &World, request: WatchRequest, act: impl FnOnce(&Mutex<Vec<String>>)) -> Vec<String> {
    let (stop, (sender, first)) = (AtomicBool::new(false), channel());
    let (engine, wrong) = (world.engine(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            engine.watch(request, &stop, &mut |news| match news {
                WatchNews::Read(_) => drop(sender.send(())),
                WatchNews::Failed(error, _) => wrong.lock().unwrap().push(error.to_string()),
                WatchNews::Polling(_, why) => wrong.lock().unwrap().push(why.to_owned()),
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

/// Waits until a search finds so much.
fn until_found(world: &World, text: &str) {
    let began = Instant::now();
    let request = SearchRequest { text: text.to_owned(), limit: 5, ..SearchRequest::default() };
    while world.engine().search(&request).unwrap().hits.is_empty() {
        assert!(began.elapsed() < PATIENCE, "{text} is not found");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn realtime(poll: bool) -> WatchRequest {
    WatchRequest { mode: Some(WatchMode::Realtime), poll }
}

#[test]
fn l003_02_what_is_written_while_watching_is_found_also_in_folders_made_later() {
    for poll in [false, true] {
        let world = World::new();
        let wrong = watching(&world, realtime(poll), |_| {
            work(&world, ANNA, 0, "count the penguins", false);
            until_found(&world, "penguins");
            world.write(".claude/projects/-other/x.jsonl", "");
            work(&world, BEN, 1, "feed the walruses", false);
            until_found(&world, "walruses");
        });
        assert_eq!(wrong, Vec::<String>::new(), "polling that was asked for is no news");
    }
}

#[test]
fn s003_09_files_may_be_moved_cut_and_deleted_while_they_are_watched() {
    let world = World::new();
    work(&world, ANNA, 0, "count the penguins", false);
    watching(&world, realtime(false), |_| {
        let path = world.at(&transcript(ANNA));
        fs::rename(&path, world.at("moved-away")).unwrap();
        work(&world, ANNA, 5, "feed the walruses", false);
        until_found(&world, "walruses");
        fs::write(&path, "").unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_dir_all(world.at(".claude")).unwrap();
        work(&world, BEN, 6, "wake the owls", false);
        until_found(&world, "owls");
    });
    assert_eq!(world.engine().verify().unwrap().damage, vec![]);
}

#[test]
fn s003_10_at_intervals_everything_new_is_read() {
    let world = World::new();
    let request = WatchRequest { mode: Some(WatchMode::Batch(Duration::from_millis(50))), poll: false };
    watching(&world, request, |_| {
        work(&world, ANNA, 0, "count the penguins", false);
        until_found(&world, "penguins");
    });
}

#[test]
fn one_process_watches_at_a_time() {
    let world = World::new();
    watching(&world, realtime(false), |_| {
        let second = world.engine().watch(realtime(false), &AtomicBool::new(true), &mut |_| {});
        assert!(matches!(second, Err(EngineError::AlreadyWatched(_))), "{second:?}");
    });
    watching(&world, realtime(false), |_| {});
}

#[test]
fn a_reading_that_fails_is_told_and_tried_again() {
    let world = World::new();
    work(&world, ANNA, 0, "count the penguins", false);
    let wrong = watching(&world, realtime(false), |wrong| {
        let database = world.at(".rethread/memory.db");
        let aside = world.at("aside");
        fs::rename(&database, &aside).unwrap();
        fs::create_dir(&database).unwrap();
        work(&world, ANNA, 1, "feed the walruses", false);
        let began = Instant::now();
        while wrong.lock().unwrap().is_empty() {
            assert!(began.elapsed() < PATIENCE, "nothing is told");
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::remove_dir(&database).unwrap();
        fs::rename(&aside, &database).unwrap();
        until_found(&world, "walruses");
    });
    assert!(!wrong.is_empty());
}

#[test]
fn thousands_of_files_are_watched() {
    let world = World::new();
    for number in 0..3000 {
        let line = format!("{{\"type\":\"mode\",\"mode\":\"{number}\"}}\n");
        world.write(&format!(".claude/projects/-p{}/aaaa1011-0000-4000-8000-{number:012}.jsonl", number % 30), line);
    }
    watching(&world, realtime(false), |_| {
        work(&world, BEN, 1, "feed the walruses", false);
        until_found(&world, "walruses");
    });
}

#[test]
fn a_database_in_use_does_not_keep_whoever_watches_from_ending() {
    let world = World::new();
    world.sync();
    work(&world, ANNA, 0, "count the penguins", false);
    let mut store = crate::sessions::store(&world);
    let lock = store.begin().unwrap();
    let (engine, stop) = (world.engine().waiting_at_most(Duration::from_millis(20)), AtomicBool::new(false));
    let mut failures = 0;
    let watched = engine.watch(realtime(false), &stop, &mut |news| {
        failures += u32::from(matches!(news, WatchNews::Failed(..)));
        stop.store(true, Ordering::Relaxed);
    });
    drop(lock);
    assert!(watched.is_ok());
    assert_eq!(failures, 1);
}
