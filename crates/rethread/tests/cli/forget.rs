//! `forget`: confirmation, output and exit code.

use insta::assert_snapshot;

use crate::transcripts::{CLAUDE, read_home};
use rethread_testing::TestHome;

#[test]
fn forget_needs_confirmation_and_reports_what_it_removed() {
    let home = read_home();
    assert_snapshot!("unconfirmed", home.snapshot(&["forget", "--matching", "sku"]));
    assert_snapshot!("no_target", home.snapshot(&["forget", "--yes"]));
    assert_snapshot!("unknown", home.snapshot(&["forget", "nobody knows", "--yes"]));
    assert_snapshot!("nothing", home.snapshot(&["forget", "--matching", "no such words", "--yes"]));
    let sessions = |home: &TestHome| home.snapshot(&["sessions", "--all-projects", "--for-ref"]);
    let before = sessions(&home);
    let dry = home.run(&["forget", "--before", "2026-03-01", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(0));
    assert_eq!(sessions(&home), before, "a dry run changes nothing");
    let json = home.run(&["forget", "--before", "2026-03-01", "--yes", "--json"]);
    let output_text: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (json.status.code(), output_text["schema"].as_u64(), output_text["dryRun"].as_bool()),
        (Some(0), Some(1), Some(false))
    );
    assert!(output_text["removed"].as_array().unwrap().iter().all(|removed| removed["left"] == 0), "{output_text}");
    assert!(output_text["tombstones"].as_u64().unwrap() > 0);
    home.run(&["sync"]);
    let after = home.run(&["sessions", "--all-projects", "--json"]);
    let after: serde_json::Value = serde_json::from_slice(&after.stdout).unwrap();
    assert_eq!(after["sessions"].as_array().map(Vec::len), Some(0), "{after}");
}

// D44
#[test]
fn enter_erases_nothing() {
    let home = read_home();
    let sessions = || home.run_ok(&["sessions", "--all-projects", "--for-ref"]);
    let before = sessions();
    for typed in ["\n", "n\n", "3\n", "yes please\n", "\u{4}"] {
        let (code, screen) = home.run_in_terminal(&["forget", CLAUDE], typed);
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("Erase this for good? [y/N] ") && screen.contains("Nothing was erased."), "{screen}");
    }
    assert_eq!(sessions(), before);
    let (_, screen) = home.run_in_terminal(&["forget", CLAUDE], "y\n");
    assert!(screen.contains("1 session forgotten"), "{screen}");
    assert_ne!(sessions(), before);
}

// D44
#[test]
fn several_sessions_are_erased_only_if_their_number_is_typed() {
    let home = read_home();
    let erase = ["forget", "--project", "/home/dev/app"];
    for typed in ["\n", "y\n", "1\n"] {
        let (_, screen) = home.run_in_terminal(&erase, typed);
        assert!(screen.contains("sessions for good? Type 4 to confirm: "), "{screen}");
        assert!(screen.contains("Nothing was erased."), "{screen}");
    }
    let (_, screen) = home.run_in_terminal(&erase, "4\n");
    assert!(screen.contains("4 sessions forgotten"), "{screen}");
}

// D44
#[test]
fn deleting_a_thread_asks_in_a_terminal() {
    let home = read_home();
    home.run_ok(&["thread", "new", "--name", "release notes"]);
    let (_, screen) = home.run_in_terminal(&["thread", "delete", "release notes"], "\n");
    assert!(screen.contains("Delete the thread \"release notes\" for good? [y/N]"), "{screen}");
    assert!(screen.contains("Nothing was deleted."), "{screen}");
    assert!(home.run_ok(&["thread", "list"]).contains("release notes"));
    let (code, _) = home.run_in_terminal(&["thread", "delete", "release notes", "--yes"], "");
    assert_eq!(code, Some(0));
    assert_eq!(home.run(&["thread", "context", "release notes"]).status.code(), Some(2), "it is gone");
}
