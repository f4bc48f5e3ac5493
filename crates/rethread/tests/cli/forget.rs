//! `forget` and `watch` through the real binary: what is asked, what is told, how it ends.

use insta::assert_snapshot;

use crate::transcripts::read_home;
use rethread_testing::TestHome;

#[test]
fn nothing_is_forgotten_unasked_and_what_is_forgotten_is_told() {
    let home = read_home();
    assert_snapshot!("unasked", home.snapshot(&["forget", "--matching", "sku"]));
    assert_snapshot!("no_target", home.snapshot(&["forget", "--yes"]));
    assert_snapshot!("unknown", home.snapshot(&["forget", "nobody knows", "--yes"]));
    assert_snapshot!("nothing", home.snapshot(&["forget", "--matching", "no such words", "--yes"]));
    let sessions = |home: &TestHome| home.snapshot(&["sessions", "--all-projects", "--for-ref"]);
    let before = sessions(&home);
    let dry = home.run(&["forget", "--before", "2026-03-01", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(0));
    assert_eq!(sessions(&home), before, "a dry run changes nothing");
    let json = home.run(&["forget", "--before", "2026-03-01", "--yes", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (json.status.code(), told["schema"].as_u64(), told["dryRun"].as_bool()),
        (Some(0), Some(1), Some(false))
    );
    assert!(told["removed"].as_array().unwrap().iter().all(|removed| removed["left"] == 0), "{told}");
    assert!(told["tombstones"].as_u64().unwrap() > 0);
    home.run(&["sync"]);
    let after = home.run(&["sessions", "--all-projects", "--json"]);
    let after: serde_json::Value = serde_json::from_slice(&after.stdout).unwrap();
    assert_eq!(after["sessions"].as_array().map(Vec::len), Some(0), "{after}");
}
