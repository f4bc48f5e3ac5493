//! Which files a compaction lists.

use serde_json::{Value, json};

use super::{Thread, long, structured};

/// A thread in which each of these calls was answered, long enough to be summarised.
fn working(thread: Thread, calls: &[(&str, Value, bool)]) -> Thread {
    let worked = calls.iter().enumerate().fold(thread.user("go"), |thread, (at, (tool, arguments, works))| {
        let id = at.to_string();
        let thread = thread.calls("", &[(&id, tool, arguments.clone())]);
        if *works { thread.result(&id, "fine") } else { thread.fails(&id, "no such file") }
    });
    worked.says(&long(50)).user(&long(100))
}

fn check(calls: &[(&str, Value, bool)], read: &[&str], modified: &[&str]) {
    let planned = working(Thread::default(), calls).plan(100).unwrap();
    assert_eq!(planned.read_files, read);
    assert_eq!(planned.modified_files, modified);
}

#[test]
fn s004_20_tools_of_all_names_are_known() {
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
fn s004_20_what_failed_is_not_listed() {
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
fn s7_16_a_file_read_and_modified_is_only_modified() {
    check(&[("read", json!({"path": "a"}), true), ("edit", json!({"path": "a"}), true)], &[], &["a"]);
}

#[test]
fn s7_15_the_second_compaction_knows_the_files_of_the_first() {
    let first =
        working(Thread::default(), &[("read", json!({"path": "a"}), true), ("read", json!({"path": "b"}), true)]);
    let planned = first.plan(100).unwrap();
    let compacted = first.compacted(&planned, &structured("x"));
    let second = working(compacted, &[("write", json!({"path": "b"}), true), ("read", json!({"path": "c"}), true)]);
    let planned = second.plan(100).unwrap();
    assert_eq!((planned.read_files, planned.modified_files), (vec!["a".to_owned(), "c".into()], vec!["b".into()]));
}

#[test]
fn l004_09_the_record_carries_the_files_in_tags_and_lists() {
    let calls = [("read", json!({"path": "a\nb"}), true), ("write", json!({"path": "c"}), true)];
    let planned = working(Thread::default(), &calls).plan(100).unwrap();
    let record = planned.record("S\n\n<read-files>\nmade up\n</read-files>", rethread_model::Timestamp::default());
    assert_eq!(record.summary, "S\n\n<read-files>\na b\n</read-files>\n\n<modified-files>\nc\n</modified-files>");
    assert_eq!((record.read_files, record.modified_files), (vec!["a\nb".to_owned()], vec!["c".to_owned()]));
    assert_eq!((record.seq, record.first_kept_seq), (0, planned.first_kept_seq));
    assert_eq!(record.tokens_before, planned.tokens_before);
}
