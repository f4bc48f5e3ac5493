//! `@@session` in a prompt: which session it resolves to, what is injected, and that a bad reference does no harm.

use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, engine, hook, prompt, work};

const CARA: &str = "cccc1011-0000-4000-8000-00000000000c";

/// A synced session that is too old to count as activity.
fn old_session(home: &TestHome, session: &str, minutes: i64, text: &str) {
    work(home, session, minutes, text, false);
    hook(home, minutes, session, "Stop", &json!({}));
}

fn injected(home: &TestHome, minutes: i64, text: &str) -> String {
    prompt(home, minutes, BEN, text).unwrap_or_default()
}

#[test]
fn referenced_session_is_injected_once() {
    // S001-24, L001-02
    let home = TestHome::new();
    old_session(&home, ANNA, -300, "fix the rounding of discounts");
    old_session(&home, BEN, 0, "write the docs");
    let block = injected(&home, 1, "do it as in @@fix-the-rounding-of-discounts, please");
    assert!(block.contains("Referenced session summaries:\n\n@@fix-the-rounding-of-discounts = session "), "{block}");
    assert!(
        block.contains("\"Fix the rounding of discounts\" (claude-code, updated 2026-03-02T04:00:00.000Z)"),
        "{block}"
    );
    assert!(block.contains("\nSummary:\n> ## Goal\n"), "no model made a card, so the rules did: {block}");
    let block = injected(&home, 2, "as in @@fix-the-rounding-of-discounts again");
    assert!(block.contains("given earlier in this session") && !block.contains("Summary:"), "once: {block}");
    let logs = std::fs::read_dir(home.path(".rethread/logs")).unwrap();
    let logs: Vec<String> = logs.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(logs.concat().matches("\"event\":\"session-reference:inject\"").count(), 2, "E001-12: each is logged");
    old_session(&home, ANNA, 3, "and the cents");
    let block = injected(&home, 100, "as in @@fix-the-rounding-of-discounts now");
    assert!(block.contains("Referenced session summaries:"), "it has continued since: {block}");
}

#[test]
fn ids_prefixes_and_names_resolve_to_the_session() {
    // S001-23
    let home = TestHome::new();
    old_session(&home, ANNA, -300, "fix the rounding of discounts");
    old_session(&home, BEN, 0, "write the docs");
    let id = engine(&home, 0).sessions().resolve(ANNA).unwrap().session.id.to_string();
    for reference in [ANNA, "aaaa1011", &id, &id[..12], "\"Fix the Rounding of Discounts\"", "rounding-of-discounts"] {
        let found = engine(&home, 0).questions().references(&format!("see @@{reference}")).unwrap();
        let expected = if reference == "rounding-of-discounts" { "not_found" } else { "resolved" };
        assert_eq!(found.outcomes[0].1.as_str(), expected, "{reference}: parts of a name only in its project");
    }
    for words in ["rounding-of-discounts", "rounding", "discounts"] {
        assert!(injected(&home, 1, &format!("see @@{words}")).contains(&id), "{words}");
    }
    for word in ["the", "fix"] {
        assert_eq!(injected(&home, 2, &format!("print @@{word};")), "", "{word}");
    }
}

#[test]
fn bad_reference_is_reported_and_fails_nothing() {
    // E001-12
    let home = TestHome::new();
    old_session(&home, ANNA, -300, "fix the rounding");
    old_session(&home, CARA, -200, "fix the rounding");
    old_session(&home, BEN, 0, "write the docs");
    let block = injected(&home, 1, "@@un-known @@fix-the-rounding @@write-the-docs @@aaaa1011");
    assert!(block.contains("@@un-known: no session with that name (list them with `rethread sessions`)"), "{block}");
    assert!(block.contains("@@fix-the-rounding: several sessions match, use an id:\n- 01"), "{block}");
    assert!(block.contains(" (claude-code, 3h ago) Fix the rounding"), "L001-08: with id and age: {block}");
    assert!(block.contains("@@write-the-docs: a session cannot refer to itself"), "{block}");
    assert!(block.contains("More references were not looked up."), "{block}");
}

#[test]
fn question_after_a_reference_is_answered_instead_of_the_summary() {
    // S001-29
    let home = TestHome::new();
    old_session(&home, ANNA, -300, "fix the rounding of discounts in the cart");
    old_session(&home, BEN, 0, "write the docs");
    let block = injected(&home, 1, "@@aaaa1011: what about discounts in the cart?");
    assert!(block.contains("\nAnswer:\n> Best matching passages of the session"), "{block}");
    assert!(block.contains("\n> - line ") && !block.contains("Summary:"), "{block}");
    let block = injected(&home, 2, "@@aaaa1011: is there a zeppelin?");
    assert!(block.contains("Summary:"), "without a match the summary is used: {block}");
}

#[test]
fn injection_stays_below_the_limit_of_claude_code() {
    let home = TestHome::new();
    let long = "fix the rounding of discounts in the cart and then go on with taxes. ".repeat(60);
    for (session, minutes) in [(ANNA, -300), (CARA, -200)] {
        for part in 0..9 {
            old_session(&home, session, minutes + part, &long);
        }
    }
    old_session(&home, BEN, 0, "write the docs");
    let block = injected(&home, 1, "@@aaaa1011 and @@cccc1011");
    assert!(block.chars().count() < 10_000 && block.contains("@@aaaa1011 = ") && block.contains("@@cccc1011 = "));
}

#[test]
fn references_do_not_count_against_the_token_budget() {
    let home = TestHome::new();
    old_session(&home, ANNA, -300, "fix the rounding");
    old_session(&home, BEN, 0, "write the docs");
    home.write(".rethread/config.toml", "[inject]\nbudget_tokens = 20\n");
    assert!(injected(&home, 1, "as in @@aaaa1011").contains("Referenced session summaries:"));
}
