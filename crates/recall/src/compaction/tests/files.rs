//! Tests of the file lists of a compaction.

use serde_json::{Value, json};

use super::{TestThreadRecords, long, valid_summary};

/// A thread in which each of these calls got a result, long enough to be summarized.
fn thread_with_calls(thread: TestThreadRecords, calls: &[(&str, Value, bool)]) -> TestThreadRecords {
    let worked = calls.iter().enumerate().fold(thread.user("go"), |thread, (at, (tool, arguments, works))| {
        let id = at.to_string();
        let thread = thread.assistant_with_calls("", &[(&id, tool, arguments.clone())]);
        if *works { thread.result(&id, "fine") } else { thread.failed_result(&id, "no such file") }
    });
    worked.assistant(&long(50)).user(&long(100))
}

fn check(calls: &[(&str, Value, bool)], read: &[&str], modified: &[&str]) {
    let planned = thread_with_calls(TestThreadRecords::default(), calls).plan(100).unwrap();
    assert_eq!(planned.read_files, read);
    assert_eq!(planned.modified_files, modified);
}

#[test]
fn file_tools_are_recognized_by_all_their_names() {
    // S004-20
    check(
        &[
            ("read", json!({"path": "b"}), true),
            ("read_file", json!({"filename": "a"}), true),
            ("Read", json!({"file_path": "a"}), true),
            ("mcp__fs__view", json!({"filePath": "c"}), true),
            ("list_directory", json!({"path": "d"}), true),
            ("ls", json!({"path": "d"}), true),
            ("bash", json!({"command": "cat e", "path": "e"}), true),
        ],
        &["a", "b", "c"],
        &[],
    );
    check(
        &[
            ("write", json!({"path": "z"}), true),
            ("edit_file", json!({"path": "y"}), true),
            ("NotebookEdit", json!({"notebook_path": "x"}), true),
            ("MultiEdit", json!({"file_path": "w"}), true),
            ("apply_patch", json!({"input": "*** Begin"}), true),
            ("apply_patch", json!({"path": "v"}), true),
            ("create", json!({"path": 7}), true),
        ],
        &[],
        &["v", "w", "x", "y", "z"],
    );
}

#[test]
fn files_of_failed_calls_are_not_listed() {
    // S004-20
    check(
        &[
            ("read", json!({"path": "a"}), false),
            ("write", json!({"path": "b"}), false),
            ("write", json!({"path": "c"}), true),
        ],
        &[],
        &["c"],
    );
}

#[test]
fn a_file_read_and_modified_is_only_modified() {
    // S7.16
    check(&[("read", json!({"path": "a"}), true), ("edit", json!({"path": "a"}), true)], &[], &["a"]);
}

#[test]
fn the_second_compaction_keeps_the_files_of_the_first() {
    // S7.15
    let first = thread_with_calls(
        TestThreadRecords::default(),
        &[("read", json!({"path": "a"}), true), ("read", json!({"path": "b"}), true)],
    );
    let planned = first.plan(100).unwrap();
    let compacted = first.compacted(&planned, &valid_summary("x"));
    let second =
        thread_with_calls(compacted, &[("write", json!({"path": "b"}), true), ("read", json!({"path": "c"}), true)]);
    let planned = second.plan(100).unwrap();
    assert_eq!((planned.read_files, planned.modified_files), (vec!["a".to_owned(), "c".into()], vec!["b".into()]));
}

#[test]
fn the_record_has_the_files_in_tags_and_lists() {
    // L004-09
    let calls = [("read", json!({"path": "a\nb"}), true), ("write", json!({"path": "c"}), true)];
    let planned = thread_with_calls(TestThreadRecords::default(), &calls).plan(100).unwrap();
    let record = planned.record("S\n\n<read-files>\nmade up\n</read-files>", rethread_model::Timestamp::default());
    assert_eq!(record.summary, "S\n\n<read-files>\na b\n</read-files>\n\n<modified-files>\nc\n</modified-files>");
    assert_eq!((record.read_files, record.modified_files), (vec!["a\nb".to_owned()], vec!["c".to_owned()]));
    assert_eq!((record.seq, record.first_kept_seq), (0, planned.first_kept_seq));
    assert_eq!(record.tokens_before, planned.tokens_before);
}
