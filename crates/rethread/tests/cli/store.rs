//! `store copy`: between folders and a server, and what it refuses.

use insta::assert_snapshot;
use rethread_testing::{TestHome, TestPostgres, new_space_name};
use serde_json::Value;

use crate::transcripts::{new_home, read_home};

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&home.run_ok(&arguments)).unwrap()
}

/// A path below the home directory, as text.
fn path(home: &TestHome, name: &str) -> String {
    home.path(name).display().to_string()
}

#[test]
fn a_copy_answers_like_its_source() {
    let home = read_home();
    home.run_ok(&["thread", "new", "--name", "Plan"]);
    let server = TestPostgres::shared().map(|server| {
        server.location();
        format!("{}&space={}", server.url(), new_space_name())
    });
    let (own, last) = (path(&home, ".rethread"), path(&home, "last"));
    let there = server.unwrap_or_else(|| path(&home, "first"));
    let copied = json(&home, &["store", "copy", &own, &there]);
    assert!(copied["rows"].as_u64().unwrap() > 10, "{copied}");
    let back = json(&home, &["store", "copy", &there, &last]);
    let tables = |copied: &Value| copied["spaces"][0]["tables"].clone();
    assert_eq!(tables(&copied), tables(&back), "the same rows with the same hashes");
    assert_eq!((&back["spaces"][0]["to"], &back["spaces"][0]["membersLeftOut"]), (&"local".into(), &false.into()));
    let at = |home_path: &str, words: &[&str]| home.run_ok(&[&["--home", home_path], words].concat());
    for words in [
        &["sessions", "--all-projects", "--json"][..],
        &["thread", "list", "--json"],
        &["search", "parser", "--all-projects", "--json"],
    ] {
        assert_eq!(without_times(&at(&own, words)), without_times(&at(&last, words)), "{words:?}");
    }
    assert!(at(&last, &["sync"]).contains(" 0 new entries"), "what was read stays read");
}

/// The text without what differs between two runs.
fn without_times(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !["milliseconds", "seconds", "index"].contains(&name.as_str()));
    }
    value.to_string()
}

#[test]
fn what_cannot_be_copied_is_explained() {
    let home = new_home();
    let (own, copy) = (path(&home, ".rethread"), path(&home, "copy"));
    assert_snapshot!("copy_without_store", home.snapshot(&["store", "copy", &own, &copy]));
    assert!(!home.path("copy").exists(), "nothing is created");
    let home = read_home();
    let (own, copy) = (path(&home, ".rethread"), path(&home, "copy"));
    assert_snapshot!("copy_to_folder", home.snapshot(&["store", "copy", &own, &copy]));
    assert_snapshot!("copy_again", home.snapshot(&["store", "copy", &own, &copy]));
    assert_snapshot!("copy_onto_itself", home.snapshot(&["store", "copy", &own, &own]));
    let other_space = format!("{own}?space=acme");
    assert_snapshot!("copy_unknown_space", home.snapshot(&["store", "copy", &other_space, &path(&home, "other")]));
    let password = home.snapshot(&["store", "copy", &own, "postgres://me:s3cret@localhost/memory"]);
    assert!(!password.contains("s3cret"));
    assert_snapshot!("copy_with_password", password);
}
