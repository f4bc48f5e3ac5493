//! What only files can do: permissions, torn lines, damage, links.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use rethread_model::thread::{
    ChatRole, NameOrigin, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord, ThreadSource,
};
use rethread_store::ThreadError;

use crate::{ThreadFixture, at, message, user};

#[test]
fn new_thread_has_a_directory_an_empty_log_and_metadata() {
    // S7.1
    let fixture = ThreadFixture::new();
    let id = fixture.thread().id();
    assert_eq!(fixture.bytes(id), b"");
    let folder = fixture.folder.path().join("threads").join(id.to_string());
    let metadata: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("metadata.json")).unwrap()).unwrap();
    assert_eq!(metadata["id"], id.to_string());
    assert_eq!(metadata["createdAt"], at(0).to_string());
    assert_eq!(metadata["source"], "interactive");
    for (path, mode) in
        [(folder.clone(), 0o700), (folder.join("session.jsonl"), 0o600), (folder.join("metadata.json"), 0o600)]
    {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn stale_damaged_or_missing_metadata_is_recounted() {
    // L004-11, D58
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    let id = log.id();
    log.update_settings(at(0), |metadata| {
        metadata.name = Some("mine".to_owned());
        metadata.name_from = Some(NameOrigin::User);
    })
    .unwrap();
    let path = fixture.log_path(id).with_file_name("metadata.json");
    let old = fs::read(&path).unwrap();
    for _ in 0..3 {
        log.append(user("x")).unwrap();
    }
    drop(log);
    fs::write(&path, &old).unwrap();
    let metadata = fixture.threads.metadata(id).unwrap();
    assert_eq!((metadata.message_count, metadata.next_seq, metadata.name.as_deref()), (3, 4, Some("mine")));
    let wrong = String::from_utf8(old).unwrap().replace("\"messageCount\": 0", "\"messageCount\": 77");
    fs::write(&path, wrong.replace("\"logBytes\": ", "\"logBytes\": 9")).unwrap();
    assert_eq!(fixture.threads.metadata(id).unwrap().message_count, 3);
    fs::write(&path, "{").unwrap();
    assert!(fixture.threads.has_damaged_metadata(id));
    assert_eq!(fixture.threads.open(id).unwrap().append(user("y")).unwrap().seq(), Some(4));
    assert_eq!(fs::read(path.with_file_name("metadata.json.damaged")).unwrap(), b"{", "a human may read it");
    fs::remove_file(&path).unwrap();
    assert_eq!(fixture.threads.open(id).unwrap().append(user("z")).unwrap().seq(), Some(5));
    assert_eq!(fixture.threads.metadata(id).unwrap().name.as_deref(), Some("mine"), "the log has the name too");
}

#[test]
fn lost_metadata_is_rebuilt_from_the_log() {
    // L004-11, D58
    let fixture = ThreadFixture::new();
    let id = ThreadId::generate(at(0));
    let mut metadata = ThreadMetadata::new(id, id.created_at());
    (metadata.name, metadata.name_from) = (Some("nightly run".into()), Some(NameOrigin::User));
    (metadata.source, metadata.cron_job_id) = (ThreadSource::Cron, Some("nightly".to_owned()));
    (metadata.model, metadata.model_is_chosen) = ("small".to_owned(), true);
    metadata.system_prompt_override = Some("Be brief.".to_owned());
    metadata.extra.insert("notesOf".to_owned(), "/project".into());
    let log = fixture.threads.create(&metadata).unwrap();
    assert_eq!(
        log.append(message(ChatRole::User, "go", 500)).unwrap().seq(),
        Some(1),
        "settings do not use up a number"
    );
    let rename = |name: &str| {
        log.update_settings(at(3), |metadata| metadata.name = Some(name.to_owned())).unwrap();
    };
    rename("another name");
    let bytes = fixture.bytes(id).len();
    rename("another name");
    assert_eq!(fixture.bytes(id).len(), bytes, "no record without a change");
    log.append(message(ChatRole::User, "more", 501)).unwrap();
    drop(log);
    let before = fixture.threads.metadata(id).unwrap();
    assert_eq!(before.name.as_deref(), Some("another name"));
    fs::remove_file(fixture.log_path(id).with_file_name("metadata.json")).unwrap();
    assert_eq!(fixture.threads.metadata(id).unwrap(), before);
    assert_eq!(fixture.seqs(id), [1, 2]);
}

#[test]
fn torn_record_is_skipped_and_the_next_is_whole() {
    // S7.9, L004-01
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    log.append(user("first")).unwrap();
    let whole = fixture.bytes(log.id()).len();
    log.append(user("second, mit Umläuten 日本")).unwrap();
    let full = fixture.bytes(log.id());
    let id = log.id();
    drop(log);
    for cut in whole..full.len() {
        fs::write(fixture.log_path(id), &full[..cut]).unwrap();
        let before = fixture.threads.read(id).unwrap();
        assert_eq!((before.records.len(), before.is_torn), (1, cut > whole), "cut at {cut}");
        // A record that lacks only its newline becomes readable when the line is closed, and keeps its number.
        let is_whole = cut == full.len() - 1;
        let appended = fixture.threads.open(id).unwrap().append(user("third")).unwrap();
        assert_eq!(appended.seq(), Some(if is_whole { 3 } else { 2 }), "cut at {cut}");
        let after = fixture.threads.read(id).unwrap();
        let seqs: Vec<_> = after.records.iter().filter_map(ThreadRecord::seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "cut at {cut}");
        assert_eq!(after.problems.len(), usize::from(cut > whole && !is_whole), "cut at {cut}");
        assert!(fixture.bytes(id).starts_with(&full[..cut]), "existing content is unchanged");
    }
}

#[test]
fn damaged_line_is_reported_and_the_rest_is_read() {
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    for text in ["one", "two", "three"] {
        log.append(user(text)).unwrap();
    }
    let id = log.id();
    let text = String::from_utf8(fixture.bytes(id)).unwrap().replace("\"two\"", "\"tw\u{0}");
    fs::write(fixture.log_path(id), text).unwrap();
    let read = fixture.threads.read(id).unwrap();
    assert_eq!((read.records.len(), read.problems.len(), read.problems[0].line), (2, 1, 2));
}

#[test]
fn interrupted_deletion_is_completed() {
    let fixture = ThreadFixture::new();
    let id = fixture.thread().id();
    let tombs = fixture.folder.path().join("threads/deleted");
    fs::create_dir_all(&tombs).unwrap();
    fs::write(tombs.join(id.to_string()), "").unwrap();
    assert!(fixture.threads.ids().unwrap().is_empty());
    fixture.threads.sweep_all().unwrap();
    assert!(!fixture.folder.path().join("threads").join(id.to_string()).exists());
}

#[test]
fn links_and_pipes_are_not_followed() {
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    let path = fixture.log_path(log.id());
    let id = log.id();
    drop(log);
    let secret = fixture.folder.path().join("secret");
    fs::write(&secret, "hush\n").unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&secret, &path).unwrap();
    assert!(fixture.threads.open(id).is_err() && fixture.threads.read(id).is_err());
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(matches!(fixture.threads.read(id), Err(ThreadError::NotRegularFile { .. })));
    fs::rename(path.parent().unwrap(), fixture.folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(fixture.folder.path().join("moved"), path.parent().unwrap()).unwrap();
    assert!(fixture.threads.open(id).is_err());
    assert_eq!(fs::read(&secret).unwrap(), b"hush\n");
}

fn tree(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            found.insert(entry.path().display().to_string());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_names_a_file_outside_the_root(text in "(\\.\\./|[0-9A-Za-z/.\\x00\\n\u{ff21}]){0,30}") {
        // S004-02
        let fixture = ThreadFixture::new();
        fs::write(fixture.folder.path().join("outside"), "").unwrap();
        fs::create_dir(fixture.folder.path().join("threads")).unwrap();
        let before = tree(fixture.folder.path());
        if let Ok(id) = text.parse::<ThreadId>() {
            let path = fixture.log_path(id);
            prop_assert!(path.starts_with(fixture.folder.path().join("threads")));
            prop_assert!(fixture.threads.open(id).is_err() && fixture.threads.delete(id).is_err());
        }
        prop_assert_eq!(tree(fixture.folder.path()), before);
    }
}

#[test]
fn every_flipped_bit_of_a_log_is_reported_and_no_number_is_given_twice() {
    // D66
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    for text in ["one", "two", "three"] {
        log.append(user(text)).unwrap();
    }
    let id = log.id();
    drop(log);
    let path = fixture.log_path(id);
    let whole = fixture.bytes(id);
    let texts = |records: &[ThreadRecord]| -> Vec<String> {
        records.iter().filter_map(|record| record.message().map(ThreadMessage::text)).collect()
    };
    // A prime step visits all kinds of bytes and all bits of a byte.
    for bit in (0..whole.len() * 8).step_by(7) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &damaged).unwrap();
        let read = fixture.threads.read(id).unwrap();
        assert!(read.problems.iter().any(|problem| problem.is_damage), "bit {bit} is reported");
        let left = texts(&read.records);
        assert!(left.iter().all(|text| ["one", "two", "three"].contains(&text.as_str())), "bit {bit}: {left:?}");
        let appended = fixture.threads.open(id).unwrap().append(user("four")).unwrap();
        assert!(appended.seq() >= Some(4), "bit {bit}: {:?}", appended.seq());
        let after = fixture.threads.read(id).unwrap();
        assert_eq!(texts(&after.records).last().map(String::as_str), Some("four"), "bit {bit}");
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_damaged_line_break_costs_no_record() {
    // D66
    let fixture = ThreadFixture::new();
    let log = fixture.thread();
    for text in ["one", "two", "three"] {
        log.append(user(text)).unwrap();
    }
    let id = log.id();
    drop(log);
    let damaged = fixture.bytes(id).iter().map(|byte| if *byte == b'\n' { b'*' } else { *byte }).collect::<Vec<_>>();
    fs::write(fixture.log_path(id), damaged).unwrap();
    let seq = fixture.threads.open(id).unwrap().append(user("four")).unwrap().seq().unwrap();
    assert!(seq >= 4, "numbers stay unique: {seq}");
    let read = fixture.threads.read(id).unwrap();
    let seqs: Vec<_> =
        read.records.iter().filter(|record| record.message().is_some()).filter_map(ThreadRecord::seq).collect();
    assert_eq!((seqs, read.problems.len()), (vec![1, 2, 3, seq], 1));
}

#[test]
fn a_linked_directory_of_threads_is_refused() {
    // D71
    let fixture = ThreadFixture::new();
    let id = fixture.thread().id();
    let elsewhere = &fixture.root().with_file_name("elsewhere");
    fs::rename(fixture.root(), elsewhere).unwrap();
    std::os::unix::fs::symlink(elsewhere, fixture.root()).unwrap();
    assert!(fixture.threads.ids().is_err());
    assert!(fixture.threads.read(id).is_err());
    let new = ThreadMetadata::new(ThreadId::generate(at(5)), at(5));
    assert!(fixture.threads.create(&new).is_err());
    assert!(fixture.threads.sweep_all().is_err());
}
