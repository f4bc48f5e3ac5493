//! `forget`: confirmation, output and exit code.

use insta::assert_snapshot;

use crate::transcripts::read_home;
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
