//! `@@session` in a prompt: which session is meant, what is told of it, and that a bad reference does no harm.

use serde_json::json;

use crate::sessions::{ANNA, BEN, engine, hook, prompt, work};
use crate::world::World;

const CARA: &str = "cccc1011-0000-4000-8000-00000000000c";

/// A session that worked and was read, without anything of it being news to others.
fn past(world: &World, session: &str, minutes: i64, text: &str) {
    work(world, session, minutes, text, false);
    hook(world, minutes, session, "Stop", &json!({}));
}

fn told(world: &World, minutes: i64, text: &str) -> String {
    prompt(world, minutes, BEN, text).unwrap_or_default()
}

#[test]
fn s001_24_l001_02_a_session_that_is_named_is_told_of_once() {
    let world = World::new();
    past(&world, ANNA, -300, "mend the rounding of discounts");
    past(&world, BEN, 0, "write the docs");
    let block = told(&world, 1, "do it as in @@mend-the-rounding-of-discounts, please");
    assert!(block.contains("Referenced session summaries:\n\n@@mend-the-rounding-of-discounts = session "), "{block}");
    assert!(
        block.contains("\"Mend the rounding of discounts\" (claude-code, updated 2026-03-02T04:00:00.000Z)"),
        "{block}"
    );
    assert!(block.contains("\nSummary:\n> ## Goal\n"), "no model made a card, so the rules did: {block}");
    let block = told(&world, 2, "as in @@mend-the-rounding-of-discounts again");
    assert!(block.contains("given earlier in this session:\n@@mend") && !block.contains("Summary:"), "once: {block}");
    let logs = std::fs::read_dir(world.at(".rethread/logs")).unwrap();
    let logs: Vec<String> = logs.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(logs.concat().matches("\"event\":\"session-reference:inject\"").count(), 2, "e001_12: each is noted");
    past(&world, ANNA, 3, "and the cents");
    let block = told(&world, 100, "as in @@mend-the-rounding-of-discounts now");
    assert!(block.contains("Referenced session summaries:"), "it has gone on since: {block}");
}

#[test]
fn s001_23_ids_prefixes_names_and_quoted_names_lead_to_the_session() {
    let world = World::new();
    past(&world, ANNA, -300, "mend the rounding of discounts");
    past(&world, BEN, 0, "write the docs");
    let id = engine(&world, 0).resolve(ANNA).unwrap().session.id.to_string();
    for reference in [ANNA, "aaaa1011", &id, &id[..12], "\"Mend the Rounding of Discounts\"", "rounding-of-discounts"] {
        let found = engine(&world, 0).resolve_references(&format!("see @@{reference}")).unwrap();
        let expected = if reference == "rounding-of-discounts" { "not_found" } else { "resolved" };
        assert_eq!(found.outcomes[0].1.as_str(), expected, "{reference}: parts of a name only in its project");
    }
    assert!(told(&world, 1, "see @@rounding-of-discounts").contains(&id));
    for word in ["rounding", "the", "mend", "discounts"] {
        assert!(told(&world, 2, &format!("print @@{word};")).contains("no session is called so"), "{word}");
    }
}

#[test]
fn e001_12_a_bad_reference_is_told_and_fails_nothing() {
    let world = World::new();
    past(&world, ANNA, -300, "mend the rounding");
    past(&world, CARA, -200, "mend the rounding");
    past(&world, BEN, 0, "write the docs");
    let block = told(&world, 1, "@@nobody @@mend-the-rounding @@write-the-docs @@aaaa1011");
    assert!(block.contains("@@nobody: no session is called so"), "{block}");
    assert!(
        block.contains("@@mend-the-rounding: several sessions are called so; the id tells them apart:\n- 01"),
        "{block}"
    );
    assert!(block.contains(" (claude-code, 3h ago) mend the rounding"), "l001_08: with id and age: {block}");
    assert!(block.contains("@@write-the-docs: that is this session"), "{block}");
    assert!(block.contains("More references were not looked up."), "{block}");
}

#[test]
fn s001_29_a_question_is_answered_in_place_of_the_summary() {
    let world = World::new();
    past(&world, ANNA, -300, "mend the rounding of discounts in the cart");
    past(&world, BEN, 0, "write the docs");
    let block = told(&world, 1, "@@aaaa1011: what about discounts in the cart?");
    assert!(block.contains("\nAnswer:\n> Passages of the session that fit the question best"), "{block}");
    assert!(block.contains("\n> - line ") && !block.contains("Summary:"), "{block}");
    let block = told(&world, 2, "@@aaaa1011: is there a zeppelin?");
    assert!(block.contains("Summary:"), "where nothing fits, the summary says more: {block}");
}

#[test]
fn what_claude_code_passes_on_is_not_exceeded() {
    let world = World::new();
    let long = "mend the rounding of discounts in the cart and then go on with taxes. ".repeat(60);
    for (session, minutes) in [(ANNA, -300), (CARA, -200)] {
        for part in 0..9 {
            past(&world, session, minutes + part, &long);
        }
    }
    past(&world, BEN, 0, "write the docs");
    let block = told(&world, 1, "@@aaaa1011 and @@cccc1011");
    assert!(block.chars().count() < 10_000 && block.contains("@@aaaa1011 = ") && block.contains("@@cccc1011 = "));
}

#[test]
fn references_are_not_counted_against_the_budget() {
    let world = World::new();
    past(&world, ANNA, -300, "mend the rounding");
    past(&world, BEN, 0, "write the docs");
    world.write(".rethread/config.toml", "[inject]\nbudget_tokens = 20\n");
    assert!(told(&world, 1, "as in @@aaaa1011").contains("Referenced session summaries:"));
}
