//! Facts of a model through the real binary: off, without a model, what waits, and a model that is away.

use insta::assert_snapshot;
use serde_json::Value;

use crate::transcripts::{home_with_agents, read_home};
use crate::world::World;

/// A model that nobody answers for, at a price.
const MODEL: &str = "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n\
                     price_input = \"1\"\nprice_output = \"5\"\n";
const ON: &str = "[facts]\nmodel = true\n\n[budget]\ndaily_tokens = 1000000\n\n";

fn json(world: &World, arguments: &[&str]) -> Value {
    serde_json::from_slice(&world.run(arguments).stdout).unwrap()
}

#[test]
fn l003_17_no_model_adds_facts_unless_it_is_wanted() {
    let world = read_home();
    assert_snapshot!("enrich_off", world.tell(&["enrich"]));
    assert_snapshot!("enrich_off_json", world.tell(&["enrich", "--json"]));
    assert_snapshot!("enrich_no_model", world.tell(&["enrich", "--dry-run"]));
    assert_snapshot!("enrich_none_failed", world.tell(&["enrich", "--failed"]));
    assert_snapshot!("enrich_failed_and_more", world.tell(&["enrich", "--failed", "--dry-run"]));
    assert_eq!(json(&world, &["enrich", "--clear-failed", "--json"])["cleared"], 0);
    assert!(!world.home(".rethread/enrich.lock").exists());
    let empty = World::new();
    assert_snapshot!("enrich_empty", empty.tell(&["enrich", "--failed"]));
    assert!(!empty.has_our_folder());
}

#[test]
fn what_waits_and_what_it_may_cost_is_shown_and_nothing_is_sent() {
    let world = read_home();
    world.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_dry_run", world.tell(&["enrich", "--dry-run"]));
    assert_snapshot!("enrich_dry_run_json", world.tell(&["enrich", "last line", "--dry-run", "--json"]));
    assert_snapshot!("enrich_unknown", world.tell(&["enrich", "nonsense", "--dry-run"]));
}

#[test]
fn l003_17_a_dry_sync_tells_what_facts_of_a_model_would_cost() {
    let world = home_with_agents();
    world.write(".rethread/config.toml", MODEL);
    assert_snapshot!("enrich_sync_dry_run", world.tell(&["sync", "--dry-run"]));
    let told = json(&world, &["sync", "--dry-run", "--json"]);
    assert_eq!(told["enrichment"][0]["type"], "unknown");
    assert!(told["enrichment"][0]["costUsd"].as_f64().is_some_and(|cost| cost > 0.0), "{told}");
}

#[test]
fn e003_15_e003_17_a_model_that_is_away_makes_sessions_wait_and_status_says_so() {
    let world = read_home();
    world.write(".rethread/config.toml", &format!("{ON}{MODEL}"));
    let told = world.run(&["enrich", "last line", "--json"]);
    assert_eq!(told.status.code(), Some(3));
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let one = &told["sessions"][0];
    assert_eq!(
        (one["outcome"].as_str(), one["added"].as_u64(), told["waiting"].as_u64()),
        (Some("waits"), Some(0), Some(1))
    );
    assert!(one["reason"].as_str().is_some_and(|why| why.contains("cannot be reached")), "{one}");
    let standing = &json(&world, &["status", "--json"])["enrichment"];
    assert_eq!(
        (standing["level"].as_u64(), standing["waiting"].as_u64(), standing["failed"].as_u64()),
        (Some(1), Some(1), Some(0))
    );
    let text = String::from_utf8(world.run(&["status"]).stdout).unwrap();
    assert!(text.contains("the model cannot be reached; 1 session waiting, 1 tried before, 0 given up"), "{text}");
    let doctor = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("sessions wait for it"), "{doctor}");
}
