//! `enrich`: off, without a model, the queue, and an unreachable model.

use insta::assert_snapshot;
use rethread_testing::TestHome;
use serde_json::Value;

use crate::transcripts::{home_with_agents, new_home, read_home};

/// A model that cannot be reached, with a price.
const MODEL: &str = "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n\
                     price_input = \"1\"\nprice_output = \"5\"\n";
const ON: &str = "[facts]\nmodel = true\n\n[budget]\ndaily_tokens = 1000000\n\n";

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    serde_json::from_slice(&home.run(arguments).stdout).unwrap()
}

#[test]
fn model_facts_are_off_by_default() {
    // L003-17
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
fn dry_run_shows_queue_and_cost_and_sends_nothing() {
    let home = read_home();
    home.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_dry_run", home.snapshot(&["enrich", "--dry-run"]));
    assert_snapshot!("enrich_dry_run_json", home.snapshot(&["enrich", "last line", "--dry-run", "--json"]));
    assert_snapshot!("enrich_unknown", home.snapshot(&["enrich", "nonsense", "--dry-run"]));
}

#[test]
fn sync_dry_run_estimates_the_cost_of_model_facts() {
    // L003-17
    let home = home_with_agents();
    home.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_sync_dry_run", home.snapshot(&["sync", "--dry-run"]));
    let output_text = json(&home, &["sync", "--dry-run", "--json"]);
    assert_eq!(output_text["enrichment"][0]["type"], "unknown");
    assert!(output_text["enrichment"][0]["costUsd"].as_f64().is_some_and(|cost| cost > 0.0), "{output_text}");
}

#[test]
fn unreachable_model_makes_sessions_wait() {
    // E003-15, E003-17
    let home = read_home();
    home.write(".rethread/config.toml", format!("{ON}{MODEL}"));
    let output_text = home.run(&["enrich", "last line", "--json"]);
    assert_eq!(output_text.status.code(), Some(3));
    let output_text: Value = serde_json::from_slice(&output_text.stdout).unwrap();
    let one = &output_text["sessions"][0];
    assert_eq!(
        (one["outcome"].as_str(), one["added"].as_u64(), output_text["waiting"].as_u64()),
        (Some("waits"), Some(0), Some(1))
    );
    assert!(one["reason"].as_str().is_some_and(|why| why.contains("cannot reach http://127.0.0.1:9/v1/")), "{one}");
    let standing = &json(&home, &["status", "--json"])["enrichment"];
    assert_eq!(
        (standing["level"].as_u64(), standing["waiting"].as_u64(), standing["failed"].as_u64()),
        (Some(1), Some(1), Some(0))
    );
    let text = String::from_utf8(home.run(&["status"]).stdout).unwrap();
    assert!(text.contains("the model is unreachable; 1 session waiting (1 to retry), 0 failed"), "{text}");
    let doctor = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("sessions wait for it"), "{doctor}");
}
