//! `thread`: output, exit codes and errors.

use std::process::Output;

use insta::assert_snapshot;

use crate::transcripts::new_home;
use rethread_testing::TestHome;

fn new_thread(home: &TestHome, arguments: &[&str]) -> String {
    let made = home.run(&[&["thread", "new"], arguments].concat());
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// The snapshot with a placeholder for the random thread id.
fn snapshot(home: &TestHome, output: &Output, id: &str) -> String {
    home.snapshot_of(output).replace(id, "[THREAD]").replace(&id[id.len() - 8..], "[THREAD]")
}

#[test]
fn thread_is_created_appended_shown_and_deleted() {
    let home = new_home();
    assert_snapshot!("none", home.snapshot(&["thread", "list"]));
    let id = new_thread(&home, &["--name", "release notes", "--system", "Be brief."]);
    let append = |role: &str, text: &[u8]| {
        snapshot(&home, &home.run_with_input(&["thread", "append", &id, "--role", role], text), &id)
    };
    assert_snapshot!("append", append("user", b"what is new?\n"));
    let call = br#"[{"type":"text","text":"Let me look."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"git log"}}]"#;
    assert_snapshot!("append_blocks", append("assistant", call));
    let result =
        ["thread", "append", "release notes", "--role", "toolResult", "--tool-call-id", "c1", "--error", "--json"];
    assert_snapshot!("append_result_json", snapshot(&home, &home.run_with_input(&result, b"not a repository"), &id));
    assert_snapshot!("context", snapshot(&home, &home.run(&["thread", "context", &id]), &id));
    assert_snapshot!("context_json", snapshot(&home, &home.run(&["thread", "context", &id[..22], "--json"]), &id));
    assert_snapshot!("list", snapshot(&home, &home.run(&["thread", "list"]), &id));
    assert_snapshot!("list_json", snapshot(&home, &home.run(&["thread", "list", "--json"]), &id));
    assert_snapshot!("as_session", snapshot(&home, &home.run(&["sessions"]), &id));
    assert_snapshot!("nothing_to_compact", home.snapshot(&["thread", "compact", &id]));
    assert_snapshot!("nothing_to_compact_json", home.snapshot(&["thread", "compact", &id, "--json"]));
    assert_snapshot!("delete", snapshot(&home, &home.run(&["thread", "delete", "Release Notes"]), &id));
    assert_snapshot!("deleted", snapshot(&home, &home.run(&["thread", "context", &id, "--json"]), &id));
}

#[test]
fn jsonl_messages_are_acknowledged_one_by_one() {
    let home = new_home();
    let id = new_thread(&home, &[]);
    let lines = b"{\"role\":\"user\",\"content\":\"one\"}\n\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"two\"}]}\n{\"role\":\"nobody\"}\n";
    assert_snapshot!("jsonl", snapshot(&home, &home.run_with_input(&["thread", "append", &id, "--jsonl"], lines), &id));
    assert_snapshot!("jsonl_after", snapshot(&home, &home.run(&["thread", "context", &id]), &id));
}

#[test]
fn invalid_messages_are_reported_and_not_appended() {
    let home = new_home();
    let id = new_thread(&home, &[]);
    let user = ["thread", "append", id.as_str(), "--role", "user"];
    assert_snapshot!("append_nothing", snapshot(&home, &home.run_with_input(&user, b" \n"), &id));
    assert_snapshot!("append_no_blocks", snapshot(&home, &home.run_with_input(&user, b"[{\"type\":\"text\"}]"), &id));
    assert_snapshot!("append_not_text", snapshot(&home, &home.run_with_input(&user, b"\xff\xfe"), &id));
    let result = ["thread", "append", id.as_str(), "--role", "toolResult"];
    assert_snapshot!("append_no_call", snapshot(&home, &home.run_with_input(&result, b"x"), &id));
    let unknown = [&result[..], &["--tool-call-id", "c9"]].concat();
    assert_snapshot!("append_unknown_call", snapshot(&home, &home.run_with_input(&unknown, b"x"), &id));
    assert_eq!(home.run(&["thread", "context", &id]).status.code(), Some(1));
}

#[test]
fn invalid_ids_are_refused() {
    // S7.8
    let home = new_home();
    let id = new_thread(&home, &[]);
    for wrong in ["../x", &id[..25].to_lowercase().replace('0', "o"), "01KA\u{ff21}", "..", "/etc/passwd"] {
        for verb in [vec!["context", wrong], vec!["delete", wrong], vec!["compact", wrong], vec!["send", wrong, "x"]] {
            let output = home.run(&[vec!["thread"], verb].concat());
            assert_eq!(output.status.code(), Some(2), "{wrong}: {}", home.snapshot_of(&output));
        }
    }
    assert_snapshot!("unknown_thread", home.snapshot(&["thread", "context", "../x", "--json"]));
}

#[test]
fn no_model_or_budget_sends_nothing() {
    let home = new_home();
    let id = new_thread(&home, &[]);
    assert_snapshot!("no_model", snapshot(&home, &home.run(&["thread", "send", &id, "hello"]), &id));
    let flags = ["-c", "model.provider=anthropic", "-c", "model.name=claude-haiku-4-5"];
    let send = |more: &[&str]| {
        let arguments = [&flags[..], &["thread", "send", &id, "hello"], more].concat();
        snapshot(&home, &home.command(&arguments).env("ANTHROPIC_API_KEY", "sk-hush").output().unwrap(), &id)
    };
    assert_snapshot!(
        "no_key",
        snapshot(&home, &home.run(&[&flags[..], &["thread", "send", &id, "hello"]].concat()), &id)
    );
    assert_snapshot!("no_budget", send(&["--json"]));
    assert_snapshot!("dry_run", send(&["--dry-run"]));
    assert_snapshot!("dry_run_json", send(&["--dry-run", "--json"]));
    assert_eq!(home.run(&["thread", "context", &id]).status.code(), Some(1), "nothing was appended");
}

// D56
#[test]
fn thread_commands_accept_an_alias() {
    let home = new_home();
    let id = new_thread(&home, &["--name", "release notes"]);
    assert!(home.run_with_input(&["thread", "append", &id, "--role", "user"], b"what is new?").status.success());
    home.run_ok(&["session", "alias", &id, "notes"]);
    assert!(home.run_ok(&["thread", "context", "notes"]).contains("what is new?"));
    home.run_ok(&["thread", "delete", "notes"]);
    assert_eq!(home.run(&["thread", "context", "notes"]).status.code(), Some(2));
}

#[test]
fn an_exported_thread_is_imported_byte_for_byte() {
    let home = new_home();
    let id = new_thread(&home, &["--name", "release notes"]);
    home.run_with_input(&["thread", "append", &id, "--role", "user"], "was ist neu? äöü".as_bytes());
    let exported = home.run(&["thread", "export", &id]).stdout;
    assert!(exported.ends_with(b"\n") && exported.split_inclusive(|byte| *byte == b'\n').count() == 2);
    let file = home.root().join(format!("{id}.jsonl"));
    home.run_ok(&["thread", "export", &id, "--output", file.to_str().unwrap()]);
    assert_eq!(std::fs::read(&file).unwrap(), exported);
    let import = ["thread", "import", file.to_str().unwrap()];
    assert_snapshot!("import_existing", snapshot(&home, &home.run(&import), &id));
    let copy = home.run(&["thread", "import", file.to_str().unwrap(), "--new-id"]);
    let copy = String::from_utf8(copy.stdout).unwrap().trim().to_owned();
    assert!(copy != id && home.run(&["thread", "export", &copy]).stdout == exported);
    home.run_ok(&["thread", "delete", &id, "--yes"]);
    assert_snapshot!("import_deleted", snapshot(&home, &home.run(&import), &id));
    let other = new_home();
    assert_eq!(other.run(&import).stdout, format!("{id}\n").as_bytes(), "the file is named after the thread");
    assert_eq!(other.run(&["thread", "export", &id]).stdout, exported);
}

#[test]
fn a_damaged_log_is_imported_only_on_request() {
    let home = new_home();
    let id = new_thread(&home, &["--name", "release notes"]);
    home.run_with_input(&["thread", "append", &id, "--role", "user"], b"what is new?");
    let mut log = home.run(&["thread", "export", &id]).stdout;
    log.extend_from_slice(b"not a record\n{\"recordType\":\"mess");
    let refused = home.run_with_input(&["thread", "import", "-"], &log);
    assert_snapshot!("import_damaged", home.snapshot_of(&refused));
    let imported = home.run_with_input(&["thread", "import", "-", "--allow-damaged"], &log);
    let copy = String::from_utf8(imported.stdout).unwrap().trim().to_owned();
    assert_eq!(home.run(&["thread", "export", &copy]).stdout, log);
}
