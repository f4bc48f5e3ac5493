//! Files that grow, shrink, are replaced, damaged or not files at all: nothing is lost, nothing counted twice.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::world::{BRANCHES, CLAUDE_FILE, CONVERSATION, PI_FILE, SESSION, World, assert_same, dump_of};
use proptest::prelude::*;
use rethread_engine::{SyncRequest, WatchMode, WatchNews, WatchRequest};

#[test]
fn s000_15_a_second_sync_reads_nothing() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.write(PI_FILE, BRANCHES);
    assert_eq!(world.bytes_read(), (CONVERSATION.len() + BRANCHES.len()) as u64);
    let before = world.dump();
    assert_eq!(world.bytes_read(), 0);
    assert_same(&world.dump(), &before);
}

#[test]
fn s000_10_only_new_bytes_are_read() {
    // S000-09, S003-07, S003-08: one cursor per transcript, and every engine here is a restart.
    let world = World::new();
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("Which name is better").unwrap());
    world.write(CLAUDE_FILE, first);
    let read = world.bytes_read();
    world.append(CLAUDE_FILE, rest);
    assert_eq!(read + world.bytes_read(), CONVERSATION.len() as u64);
}

#[test]
fn l003_05_a_file_read_line_by_line_equals_the_file_read_whole() {
    // L003-07: episodes keep the id of their first entry, whenever the rest arrives.
    for (path, text) in [(CLAUDE_FILE, CONVERSATION), (PI_FILE, BRANCHES)] {
        let world = World::new();
        world.write(path, "");
        for line in text.split_inclusive('\n') {
            world.append(path, line);
            world.sync();
        }
        assert_same(&world.dump(), &dump_of(path, text));
    }
}

#[test]
fn l000_02_a_half_written_last_line_waits_for_its_end() {
    // S000-14: reading while the writer appends.
    let world = World::new();
    let cut = CONVERSATION.find("Committed.").unwrap();
    world.write(CLAUDE_FILE, &CONVERSATION[..cut]);
    let report = world.sync();
    assert!(report.agents.iter().all(|agent| agent.warnings.is_empty()), "half a line is no bad line");
    world.append(CLAUDE_FILE, &CONVERSATION[cut..]);
    world.sync();
    assert_same(&world.dump(), &dump_of(CLAUDE_FILE, CONVERSATION));
}

#[test]
fn a_last_line_without_its_newline_is_seen_once_and_only_once() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION.trim_end());
    world.sync();
    let counts = || world.engine().resolve(SESSION).unwrap().session.counts;
    let before = counts();
    assert_eq!(before.messages, 14);
    world.append(CLAUDE_FILE, "\n");
    world.sync();
    assert_eq!(counts(), before);
    assert_same(&world.dump(), &dump_of(CLAUDE_FILE, CONVERSATION));
}

#[test]
fn s000_13_a_truncated_file_is_read_anew() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    let shorter: String = CONVERSATION.split_inclusive('\n').take(9).collect();
    world.write(CLAUDE_FILE, &shorter);
    world.sync();
    assert_same(&world.dump(), &dump_of(CLAUDE_FILE, &shorter));
}

#[test]
fn l000_03_a_file_replaced_by_a_longer_one_is_noticed() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    let other = CONVERSATION.replace("lexer", "tokeniser").replace("-1111-4222-", "-9999-4222-");
    assert!(other.len() > CONVERSATION.len());
    world.write(CLAUDE_FILE, &other);
    world.sync();
    assert_same(&world.dump(), &dump_of(CLAUDE_FILE, &other));
}

#[test]
fn a_file_rewritten_with_new_ids_leaves_no_duplicates() {
    let world = World::new();
    world.write(PI_FILE, BRANCHES);
    world.sync();
    let migrated = BRANCHES.replace("\"000000", "\"a00000");
    world.write(PI_FILE, &migrated);
    world.sync();
    assert_same(&world.dump(), &dump_of(PI_FILE, &migrated));
}

#[test]
fn s000_11_and_s000_12_a_deleted_transcript_stays_readable() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    let before = world.dump();
    fs::remove_file(world.at(CLAUDE_FILE)).unwrap();
    world.sync();
    assert_same(&world.dump(), &before);
    world.engine().rebuild(&mut |_| {}).unwrap();
    assert_same(&world.dump(), &before);
}

#[test]
fn rebuild_gives_the_same_answers_as_reading_bit_by_bit() {
    let world = World::new();
    for (path, text) in [(CLAUDE_FILE, CONVERSATION), (PI_FILE, BRANCHES)] {
        let mut done = 0;
        while done < text.len() {
            done = (done + 777).min(text.len());
            world.write(path, &text.as_bytes()[..done]);
            world.sync();
        }
    }
    let before = world.dump();
    world.engine().rebuild(&mut |_| {}).unwrap();
    assert_same(&world.dump(), &before);
}

#[test]
fn carriage_returns_nuls_and_bad_bytes_cost_only_themselves() {
    // L003-06: one bad line never costs its batch.
    let mut bytes = CONVERSATION.replace('\n', "\r\n").into_bytes();
    bytes.extend(b"\0\0\0\0\n{\"type\":\"user\",\"uuid\":\"x1\",\"message\":{\"role\":\"user\",\"content\":\"bad \xff byte\"}}\n");
    bytes.extend(b"this is not json\n[1,2]\n\"text\"\n");
    bytes.extend(
        b"{\"type\":\"user\",\"uuid\":\"x2\",\"message\":{\"role\":\"user\",\"content\":\"after it \\ud83d\"}}\n",
    );
    let world = World::new();
    world.write(CLAUDE_FILE, &bytes);
    let report = world.sync();
    let warnings: Vec<_> = report.agents.iter().flat_map(|agent| &agent.warnings).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].line, Some(48));
    let dump = world.dump();
    assert!(dump.contains("bad \u{fffd} byte") && dump.contains("after it \u{fffd}"));
    assert_eq!(world.engine().resolve(SESSION).unwrap().session.counts.prompts, 7);
}

#[test]
fn a_line_of_200_megabytes_is_read_in_bounded_memory() {
    let world = World::new();
    let mut bytes = br#"{"type":"user","uuid":"big","message":{"role":"user","content":[{"type":"text","text":"see this"},{"type":"image","source":{"data":""#.to_vec();
    bytes.resize(200 << 20, b'A');
    bytes.extend(b"\"}}]}}\n");
    world.write(CLAUDE_FILE, &bytes);
    world.append(CLAUDE_FILE, CONVERSATION);
    drop(bytes);
    world.sync();
    let session = world.engine().resolve(SESSION).unwrap().session;
    assert_eq!(session.counts.prompts, 6);
    assert!(world.dump().contains("see this"));
}

#[test]
fn links_pipes_and_closed_files_are_passed_over() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.write("elsewhere/secret.jsonl", CONVERSATION.replace(SESSION, "5e551011-0000-4000-8000-0000000000ee"));
    let folder = ".claude/projects/-home-dev-parser";
    symlink(world.at("elsewhere/secret.jsonl"), world.at(&format!("{folder}/link.jsonl"))).unwrap();
    let pipe = world.at(&format!("{folder}/pipe.jsonl"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir(world.at(&format!("{folder}/folder.jsonl"))).unwrap();
    world.write(&format!("{folder}/closed.jsonl"), "{}");
    fs::set_permissions(world.at(&format!("{folder}/closed.jsonl")), fs::Permissions::from_mode(0o000)).unwrap();
    let report = world.sync();
    let skipped =
        report.agents[0].warnings.iter().filter(|warning| warning.message.contains("not a regular file")).count();
    assert_eq!(skipped, 2);
    assert!(world.engine().resolve("5e551011-0000-4000-8000-0000000000ee").is_err());
    assert!(world.engine().resolve(SESSION).is_ok());
}

#[test]
fn several_syncs_at_once_lose_and_repeat_nothing() {
    let world = World::new();
    for number in 0..12 {
        let id = format!("5e551011-0000-4000-8000-0000000001{number:02}");
        let text = CONVERSATION.replace(SESSION, &id).replace("-4222-8333-", &format!("-4222-8{number:03}-"));
        let text = text.replace("0123456789abcdef", &format!("0123456789abcd{number:02}"));
        world.write(&format!(".claude/projects/-p/{id}.jsonl"), text);
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| world.sync());
        }
    });
    world.sync();
    let sessions = world.engine().sessions(&rethread_engine::ListRequest::default()).unwrap();
    assert_eq!(sessions.len(), 12);
    assert!(sessions.iter().all(|listed| listed.session.counts.prompts == 5 && listed.session.tokens.output == 173));
    world.dump();
}

#[test]
fn l003_09_lines_that_say_nothing_are_read_only_once() {
    let world = World::new();
    world.write(CLAUDE_FILE, "{\"type\":\"progress\",\"uuid\":\"p\",\"data\":{}}\n".repeat(50));
    assert!(world.bytes_read() > 0);
    assert_eq!(world.bytes_read(), 0);
}

/// Watches, lets `act` happen after the first reading, and waits for a reading that finds something.
fn watch_and(world: &World, mode: WatchMode, act: impl FnOnce()) -> u64 {
    let (stop, (sender, reports)) = (AtomicBool::new(false), channel());
    let engine = world.engine();
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            engine.watch(WatchRequest { mode: Some(mode), poll: false }, &stop, &mut |news| {
                let WatchNews::Read(report) = news else { return };
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
fn s003_06_s003_09_and_s003_10_a_growing_file_is_read_in_either_mode() {
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("{\"parentUuid\":\"00002735").unwrap_or(20_000));
    for mode in [WatchMode::Realtime, WatchMode::Batch(Duration::from_millis(50))] {
        let world = World::new();
        world.write(CLAUDE_FILE, first);
        world.write(PI_FILE, BRANCHES);
        assert!(watch_and(&world, mode, || world.append(CLAUDE_FILE, rest)) > 0, "{mode:?}");
        assert_same(&world.dump().replace(' ', ""), &{
            let whole = World::new();
            whole.write(CLAUDE_FILE, CONVERSATION);
            whole.write(PI_FILE, BRANCHES);
            whole.sync();
            whole.dump().replace(' ', "")
        });
    }
}

#[test]
fn explicit_paths_are_read_wherever_they_lie() {
    let world = World::new();
    world.write("backup/one.jsonl", CONVERSATION);
    world.write("backup/two.jsonl", BRANCHES);
    world.write("backup/notes.jsonl", "{\"nothing\":1}\n");
    let request = SyncRequest { paths: vec!["backup".into()], ..SyncRequest::default() };
    let report = world.engine().sync(&request, &mut |_| {}).unwrap();
    let files: Vec<u64> = report.agents.iter().map(|agent| agent.files).collect();
    assert_eq!(files, [1, 1]);
    assert!(world.engine().resolve(SESSION).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_a_file_anywhere_and_going_on_equals_the_whole(cuts in prop::collection::vec(0.0..1.0_f64, 1..4), pi in any::<bool>()) {
        let (path, text) = if pi { (PI_FILE, BRANCHES) } else { (CLAUDE_FILE, CONVERSATION) };
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        places.sort_unstable();
        let world = World::new();
        for place in places.into_iter().chain([text.len()]) {
            world.write(path, &text.as_bytes()[..place]);
            world.sync();
        }
        assert_same(&world.dump(), &dump_of(path, text));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0.0..1.0_f64) {
        let world = World::new();
        let mut text = CONVERSATION.as_bytes().to_vec();
        let place = (at * text.len() as f64) as usize;
        text.splice(place..place, bytes);
        world.write(CLAUDE_FILE, text);
        world.sync();
        world.dump();
    }
}
