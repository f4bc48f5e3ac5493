//! What a session is called: one name everywhere, taken from what says most about it, and stable once shown.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::EngineError;
use rethread_store::SessionScope;
use rethread_testing::{PiTranscriptBuilder, TestHome, TranscriptBuilder};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, engine, hook, prompt, transcript, work};

const CARA: &str = "cccc1011-0000-4000-8000-00000000000c";

/// Appends prompts, each with a short answer.
fn say(home: &TestHome, session: &str, part: &str, prompts: &[&str]) {
    let mut lines = TranscriptBuilder::new(session).ids(&format!("{session}-{part}"));
    for prompt in prompts {
        lines = lines.user(*prompt).assistant("Done.");
    }
    home.append(&transcript(session), lines.build());
}

fn name(home: &TestHome, session: &str) -> String {
    home.sync();
    let engine = home.engine();
    let name = engine.sessions().resolve(session).unwrap().session.name.unwrap();
    assert_eq!(engine.cards().get(session).unwrap().fields.name, name, "the card has the same name");
    name
}

#[test]
fn a_session_is_named_by_its_first_descriptive_prompt_and_keeps_that_name() {
    // D11
    let home = TestHome::new();
    say(&home, ANNA, "a", &["hi", "1"]);
    assert!(name(&home, ANNA).starts_with("Claude Code session of "), "a greeting names nothing");
    say(&home, ANNA, "b", &["commit"]);
    assert_eq!(name(&home, ANNA), "Commit in app");
    say(&home, ANNA, "c", &["please fix the rounding of discounts", "thanks. anything else to do?"]);
    let last = json!({"type": "last-prompt", "lastPrompt": "thanks. anything else to do?", "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{last}\n"));
    assert_eq!(name(&home, ANNA), "Fix the rounding of discounts");
    say(&home, ANNA, "d", &["now rename the columns of the invoice table"]);
    assert_eq!(name(&home, ANNA), "Fix the rounding of discounts", "later prompts do not change it");
    let title = json!({"type": "ai-title", "aiTitle": "Discount rounding", "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{title}\n"));
    assert_eq!(name(&home, ANNA), "Discount rounding", "a title by the agent replaces a derived name");
    let title = json!({"type": "custom-title", "customTitle": "rounding", "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{title}\n"));
    assert_eq!(name(&home, ANNA), "rounding");
    let engine = home.engine();
    engine.lifecycle().set_name(ANNA, "my rounding").unwrap();
    assert_eq!(name(&home, ANNA), "my rounding");
    engine.lifecycle().set_name(ANNA, "").unwrap();
    assert_eq!(name(&home, ANNA), "rounding", "the name in the transcript is not lost");
}

#[test]
fn a_name_does_not_depend_on_how_often_the_transcript_was_read() {
    // D11
    let prompts = ["hello", "commit", "yes", "fix the rounding of discounts", "rename the columns of the table"];
    let (whole, split) = (TestHome::new(), TestHome::new());
    for (at, text) in prompts.iter().enumerate() {
        say(&whole, ANNA, &at.to_string(), &[text]);
        say(&split, ANNA, &at.to_string(), &[text]);
        split.sync();
    }
    assert_eq!(name(&whole, ANNA), name(&split, ANNA));
    split.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(name(&split, ANNA), "Fix the rounding of discounts");
}

#[test]
fn a_name_is_no_command_plan_announcement_skill_body_or_id() {
    // D11
    for (text, expect) in [
        (
            "Implement the following plan:\n\n# Plan: Remove the plugin layer\n\n## Context\nx",
            "Remove the plugin layer",
        ),
        ("<command-message>mode</command-message>\n<command-name>/mode</command-name>", ""),
        ("5662de58-b7fb-4500-bf91-a60590136031", ""),
        ("hey", ""),
    ] {
        let home = TestHome::new();
        say(&home, ANNA, "a", &[text]);
        let name = name(&home, ANNA);
        let expect = if expect.is_empty() { "Claude Code session of 2026-03-02" } else { expect };
        assert_eq!(name, expect, "{text}");
    }
    let home = TestHome::new();
    say(&home, ANNA, "a", &[&"refactor the parser of the invoice import so that it keeps every line ".repeat(5)]);
    assert!(name(&home, ANNA).chars().count() <= 80);
    let id = "0198c000-0000-7000-8000-000000000001";
    let file = format!(".pi/agent/sessions/--app--/2026-04-01T10-00-00-000Z_{id}.jsonl");
    home.write(&file, PiTranscriptBuilder::new(id, "/app", "2026-04-01T10:00:00Z").user("/mode").build());
    assert_eq!(name(&home, id), "pi session of 2026-04-01");
}

#[test]
fn using_a_reference_does_not_make_its_name_ambiguous() {
    // D13
    let home = TestHome::new();
    say(&home, ANNA, "a", &["fix the rounding of discounts"]);
    say(&home, BEN, "b", &["continue with @@fix-the-rounding-of-discounts"]);
    say(&home, CARA, "c", &["do the taxes as in @@fix-the-rounding-of-discounts"]);
    home.sync();
    let found = engine(&home, 0).questions().references("see @@fix-the-rounding-of-discounts").unwrap();
    assert_eq!(found.outcomes[0].1.as_str(), "resolved", "{found:?}");
    assert_eq!(name(&home, CARA), "Do the taxes");
}

#[test]
fn the_name_a_session_was_shown_keeps_its_meaning() {
    // D12
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 1, "please look at cart.rs", false);
    let title = json!({"type": "ai-title", "aiTitle": "Fix the rounding of discounts", "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{title}\n"));
    home.sync();
    let shown = prompt(&home, 2, BEN, "go on with the docs").unwrap();
    assert!(shown.contains("Fix the rounding of discounts"), "{shown}");
    let title = json!({"type": "ai-title", "aiTitle": "Money", "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{title}\n"));
    work(&home, CARA, -600, "fix the rounding of discounts", false);
    home.sync();
    let id = home.engine().sessions().resolve(ANNA).unwrap().session.id.to_string();
    let block = prompt(&home, 3, BEN, "as in @@fix-the-rounding-of-discounts please").unwrap();
    assert!(block.contains(&format!("@@fix-the-rounding-of-discounts = session {id}")), "{block}");
}

#[test]
fn the_exact_name_comes_before_sessions_that_mention_it() {
    // S001-23, D12
    let home = TestHome::new();
    say(&home, ANNA, "a", &["Invoice rounding"]);
    say(&home, BEN, "b", &["Invoice rounding and taxes for the cart"]);
    say(&home, CARA, "c", &["why is the invoice rounding so slow?"]);
    home.sync();
    let id = home.engine().sessions().resolve(ANNA).unwrap().session.id.to_string();
    for text in ["see @@\"Invoice rounding\"", "see @@invoice-rounding"] {
        let found = home.engine().questions().references(text).unwrap().text.unwrap();
        assert!(found.contains(&format!("= session {id} ")), "{found}");
    }
    assert_eq!(home.engine().sessions().resolve("invoice rounding").unwrap().session.id.to_string(), id);
}

#[test]
fn words_typos_and_short_ids_find_a_session_the_same_way_in_prompts_and_commands() {
    // D12, D14, D30
    let home = TestHome::new();
    say(&home, ANNA, "a", &["fix the authentication bug in the footer"]);
    say(&home, BEN, "b", &["write the docs of the importer"]);
    say(&home, CARA, "c", &["修复解析器的错误"]);
    home.sync();
    let engine = engine(&home, 0);
    let anna = engine.sessions().resolve(ANNA).unwrap().session.id.to_string();
    let cara = engine.sessions().resolve(CARA).unwrap().session.id.to_string();
    let ends = (anna[18..].to_owned(), anna[18..].to_lowercase());
    for (reference, id) in [
        ("footer", &anna),
        ("auth-bug", &anna),
        ("fotoer", &anna),
        ("authentication-footer", &anna),
        (ends.0.as_str(), &anna),
        (ends.1.as_str(), &anna),
        ("0000000a", &anna),
        ("解析器", &cara),
    ] {
        assert_eq!(&engine.sessions().resolve(reference).unwrap().session.id.to_string(), id, "{reference}");
        let block = hook(&home, 1, BEN, "UserPromptSubmit", &json!({"prompt": format!("请看@@{reference}")})).unwrap();
        assert!(block.contains(id.as_str()), "{reference}: {block}");
    }
    match engine.sessions().resolve("footer-of-invoices") {
        Err(EngineError::SimilarReference { candidates, .. }) => {
            assert_eq!(candidates[0].id.to_string(), anna, "did you mean");
        }
        other => panic!("{other:?}"),
    }
    let block = prompt(&home, 2, BEN, "like @@footer-of-invoices").unwrap();
    assert!(block.contains("no session with that name; did you mean:\n- 01"), "{block}");
}

#[test]
fn a_word_that_only_one_session_is_about_refers_to_it() {
    // D14
    let home = TestHome::new();
    say(&home, ANNA, "a", &["the login is slow. it asks redis for every request", "yes, batch them"]);
    say(&home, BEN, "b", &["write the docs of the importer"]);
    home.sync();
    assert_eq!(name(&home, ANNA), "The login is slow");
    let found =
        engine(&home, 0).questions().references_from("as in @@redis", &SessionScope::Project("/app".to_owned()));
    let found = found.unwrap();
    assert_eq!(found.outcomes[0].1.as_str(), "resolved", "{found:?}");
    say(&home, CARA, "c", &["count the rows of redis and postgres"]);
    home.sync();
    let found =
        engine(&home, 0).questions().references_from("as in @@redis", &SessionScope::Project("/app".to_owned()));
    assert_ne!(found.unwrap().text, None, "several candidates are listed");
}

#[test]
fn variables_in_a_prompt_are_not_mentioned() {
    // D15
    let home = TestHome::new();
    say(&home, ANNA, "a", &["fix the authentication bug in the footer"]);
    say(&home, BEN, "b", &["write the docs of the importer"]);
    home.sync();
    prompt(&home, 5, BEN, "go on with it");
    for text in ["increment @@count in Counter", "print @@rowcount, @@session.sql_mode", "what is @@the and @@fix?"] {
        assert_eq!(prompt(&home, 6, BEN, text), None, "{text}");
    }
}

#[test]
fn names_that_claude_code_shows_are_references() {
    // S001-22, D14
    let home = TestHome::new();
    say(&home, ANNA, "a", &["fix the authentication bug in the footer"]);
    home.sync();
    let entry = json!({"pid": 7, "sessionId": ANNA, "cwd": "/app", "name": "swift-otter", "nameSource": "derived"});
    home.write(".claude/sessions/7.json", entry.to_string());
    assert_eq!(home.engine().sessions().resolve("swift-otter").unwrap().session.external_id, ANNA);
    let found = home.engine().questions().references("as in @@swift-otter").unwrap();
    assert_eq!(found.outcomes[0].1.as_str(), "resolved");
}

#[test]
fn a_summary_is_given_once_even_beside_a_new_reference() {
    // D17
    let home = TestHome::new();
    work(&home, ANNA, -300, "fix the rounding of discounts in the cart", false);
    work(&home, CARA, -290, "translate the labels of the menu", false);
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    let block = prompt(&home, 100, BEN, "as in @@aaaa1011").unwrap();
    assert_eq!(block.matches("## Goal").count(), 1, "{block}");
    let block = prompt(&home, 101, BEN, "as in @@aaaa1011 and @@cccc1011").unwrap();
    assert_eq!(block.matches("## Goal").count(), 1, "only the new one: {block}");
    assert!(block.contains("its summary was given earlier in this session"), "{block}");
}

#[test]
fn a_referenced_session_is_not_quoted_a_second_time_from_recent_memory() {
    // D17
    let home = TestHome::new();
    work(&home, ANNA, -300, "fix the rounding of discounts in the shopping cart total", false);
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    let text = "how did we fix the rounding of discounts in the shopping cart total before?";
    let block = prompt(&home, 100, BEN, &format!("@@aaaa1011 {text}")).unwrap();
    assert!(block.contains("Referenced session summaries:") && !block.contains("[MEMORY CONTEXT]"), "{block}");
}
