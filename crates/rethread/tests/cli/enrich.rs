//! Facts of a model through the real binary: off, without a model, what waits, and a model that is away.

use insta::assert_snapshot;
use rethread_testing::TestHome;
use serde_json::Value;

use crate::transcripts::{home_with_agents, new_home, read_home};

/// A model that nobody answers for, at a price.
const MODEL: &str = "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n\
                     price_input = \"1\"\nprice_output = \"5\"\n";
const ON: &str = "[facts]\nmodel = true\n\n[budget]\ndaily_tokens = 1000000\n\n";

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    serde_json::from_slice(&home.run(arguments).stdout).unwrap()
}

#[test]
fn l003_17_no_model_adds_facts_unless_it_is_wanted() {
    let home = read_home();
    assert_snapshot!("enrich_off", home.snapshot(&["enrich"]));
    assert_snapshot!("enrich_off_json", home.snapshot(&["enrich", "--json"]));
    assert_snapshot!("enrich_no_model", home.snapshot(&["enrich", "--dry-run"]));
    assert_snapshot!("enrich_none_failed", home.snapshot(&["enrich", "--failed"]));
    assert_snapshot!("enrich_failed_and_more", home.snapshot(&["enrich", "--failed", "--dry-run"]));
    assert_eq!(json(&home, &["enrich", "--clear-failed", "--json"])["cleared"], 0);
    assert!(!home.path(".rethread/enrich.lock").exists());
    let empty = new_home();
    assert_snapshot!("enrich_empty", empty.snapshot(&["enrich", "--failed"]));
    assert!(!empty.has_rethread_dir());
}

#[test]
fn what_waits_and_what_it_may_cost_is_shown_and_nothing_is_sent() {
    let home = read_home();
    home.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_dry_run", home.snapshot(&["enrich", "--dry-run"]));
    assert_snapshot!("enrich_dry_run_json", home.snapshot(&["enrich", "last line", "--dry-run", "--json"]));
    assert_snapshot!("enrich_unknown", home.snapshot(&["enrich", "nonsense", "--dry-run"]));
}

#[test]
fn l003_17_a_dry_sync_tells_what_facts_of_a_model_would_cost() {
    let home = home_with_agents();
    home.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_sync_dry_run", home.snapshot(&["sync", "--dry-run"]));
    let told = json(&home, &["sync", "--dry-run", "--json"]);
    assert_eq!(told["enrichment"][0]["type"], "unknown");
    assert!(told["enrichment"][0]["costUsd"].as_f64().is_some_and(|cost| cost > 0.0), "{told}");
}

#[test]
fn e003_15_e003_17_a_model_that_is_away_makes_sessions_wait_and_status_says_so() {
    let home = read_home();
    home.write(".rethread/config.toml", &format!("{ON}{MODEL}"));
    let told = home.run(&["enrich", "last line", "--json"]);
    assert_eq!(told.status.code(), Some(3));
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let one = &told["sessions"][0];
    assert_eq!(
        (one["outcome"].as_str(), one["added"].as_u64(), told["waiting"].as_u64()),
        (Some("waits"), Some(0), Some(1))
    );
    assert!(one["reason"].as_str().is_some_and(|why| why.contains("cannot be reached")), "{one}");
    let standing = &json(&home, &["status", "--json"])["enrichment"];
    assert_eq!(
        (standing["level"].as_u64(), standing["waiting"].as_u64(), standing["failed"].as_u64()),
        (Some(1), Some(1), Some(0))
    );
    let text = String::from_utf8(home.run(&["status"]).stdout).unwrap();
    assert!(text.contains("the model cannot be reached; 1 session waiting, 1 tried before, 0 given up"), "{text}");
    let doctor = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("sessions wait for it"), "{doctor}");
}
