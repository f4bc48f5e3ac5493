//! Session cards: by rules, by a stub model, and every failure of a model.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{CardRefresh, CardRefreshOutcome, Engine};
use rethread_model::Agent;
use rethread_model::thread::ChatRole;
use rethread_testing::{PiTranscriptBuilder, StubModel, StubReply, TestHome, TranscriptBuilder};
use serde_json::{Value, json};

use crate::turns::{engine, environment};

const SESSION: &str = "0b5e1c7a-0000-4000-8000-00000000000c";
const FILE: &str = ".claude/projects/-home-dev-app/0b5e1c7a-0000-4000-8000-00000000000c.jsonl";
const PI: &str = "0198c000-0000-7000-8000-000000000001";
const PI_FILE: &str = ".pi/agent/sessions/--home-dev-app--/2026-04-01T10-00-00-000Z_0198c000.jsonl";

/// A prompt and its answer in minute `number`.
fn exchange(number: u64, prompt: &str, answer: &str) -> String {
    let start = format!("2026-04-01T10:{number:02}:00.000Z").parse().unwrap();
    let ids = format!("exchange-{number}");
    TranscriptBuilder::new(SESSION)
        .cwd("/home/dev/app")
        .ids(&ids)
        .times(start, 5)
        .user(prompt)
        .assistant(answer)
        .build()
}

/// A home with a synced session of that many exchanges.
fn home(exchanges: u64) -> TestHome {
    let home = TestHome::new();
    let lines: String =
        (1..=exchanges).map(|number| exchange(number, &format!("fix the parser, part {number}"), "Fixed.")).collect();
    home.write(FILE, lines);
    home.sync();
    home
}

fn good() -> Value {
    json!({
        "name": "Fix the parser in parts",
        "description": "The parser was fixed.",
        "summary": "## Goal\nFix it.\n\n## Outcome\nFixed.",
        "tags": ["parser", "mending", "ticket:APP-1"],
    })
}

fn refresh(engine: &Engine) -> CardRefresh {
    engine.refresh_card(SESSION, None, false).unwrap()
}

fn meta(home: &TestHome, id: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(home.path(&format!(".rethread/cards/{id}.meta.json"))).unwrap()).unwrap()
}

/// The attempts in our log.
fn attempts(home: &TestHome) -> Vec<Value> {
    let days = fs::read_dir(home.path(".rethread/logs")).into_iter().flatten();
    let texts = days.map(|day| fs::read_to_string(day.unwrap().path()).unwrap());
    let lines: Vec<Value> = texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect();
    lines.into_iter().filter(|line: &Value| line["event"] == "session-index:index").collect()
}

#[test]
fn every_session_has_a_card_without_a_model() {
    // L001-02
    let home = home(2);
    let card = home.engine().card(SESSION).unwrap();
    assert_eq!((card.fields.name.as_str(), card.model, card.is_outdated), ("Fix the parser, part 1", None, false));
    assert!(card.fields.summary.contains("## Outcome\nFixed."), "{}", card.fields.summary);
    let refreshed = home.engine().refresh_card(SESSION, None, true).unwrap();
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::NoModel(_)), "{:?}", refreshed.outcome);
    assert_eq!(refreshed.card.fields.name, "Fix the parser, part 1");
    assert!(!home.path(".rethread/cards").exists(), "asking for a card writes nothing");
}

#[test]
fn card_from_a_model_is_stored_exported_and_logged() {
    // S001-09, S001-15, S001-19
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let refreshed = refresh(&engine);
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::Written { attempts: 1 }), "{:?}", refreshed.outcome);
    assert_eq!(refreshed.cost.map(rethread_engine::NanoUsd::get), Some(0));
    assert_eq!((refreshed.card.fields.name.as_str(), refreshed.card.is_outdated), ("Fix the parser in parts", false));
    assert_eq!(refreshed.card.model.as_deref(), Some("openai/small"));
    let sent = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("[User]: fix the parser, part 1\n\n[Assistant]: Fixed."), "{sent}");
    let file = meta(&home, SESSION);
    let names: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "createdAt",
        "cwd",
        "description",
        "lastIndexedLeafId",
        "model",
        "name",
        "schemaVersion",
        "sessionFile",
        "sessionId",
        "summary",
        "tags",
        "updatedAt",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!((&file["sessionId"], &file["lastIndexedLeafId"]), (&json!(SESSION), &json!("exchange-5-2")));
    assert_eq!((&file["schemaVersion"], &file["cwd"]), (&json!(1), &json!("/home/dev/app")));
    let noted = attempts(&home);
    assert_eq!((noted.len(), &noted[0]["success"], &noted[0]["sessionId"]), (1, &json!(true), &json!(SESSION)));
    assert_eq!((&noted[0]["usage"]["input"], &noted[0]["model"]), (&json!(20), &json!("openai/small")));
    assert!(noted[0]["timestamp"].is_string());
    assert_eq!(engine.status().unwrap().budget.requests, 1);
    let found = engine.resolve_references("as in @@fix-the-parser-in-parts").unwrap();
    assert_eq!(found.outcomes[0].1.as_str(), "resolved", "E001-18: by the name that the model gave it");
    assert!(found.text.unwrap().contains("> The parser was fixed."));
}

#[test]
fn malformed_card_is_corrected_twice() {
    // S001-10, E001-03
    let home = home(5);
    let mut long = good();
    long["name"] = json!("x".repeat(121));
    let server = StubModel::with_replies(vec![
        StubReply::text("Here you are!"),
        StubReply::json(&long),
        StubReply::json(&good()),
    ]);
    let refreshed = refresh(&engine(&home, &server, &[]));
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::Written { attempts: 3 }), "{:?}", refreshed.outcome);
    let last = server.bodies()[2]["messages"].as_array().unwrap().clone();
    let texts: Vec<&str> = last.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts[2], "Here you are!");
    assert!(texts[3].contains("it is not valid JSON (expected value at line 1 column 1)"), "{}", texts[3]);
    assert!(texts[4].contains("xxx") && texts[5].contains("\"name\" has 121 characters, at most 120 are allowed"));
}

#[test]
fn three_malformed_answers_keep_the_old_card() {
    // S001-10
    let home = home(5);
    let server = StubModel::with_replies(vec![
        StubReply::text("no"),
        StubReply::text("{}"),
        StubReply::text("[]"),
        StubReply::json(&good()),
    ]);
    let mut environment = environment(&home, &server, &[]);
    environment.binary = Some("/bin/sh".into());
    let engine = Engine::open(environment).unwrap();
    let refreshed = refresh(&engine);
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::InvalidAnswer(_)), "{:?}", refreshed.outcome);
    assert_eq!((server.bodies().len(), refreshed.card.model), (3, None));
    assert_eq!(attempts(&home)[0]["success"], json!(false));
    assert!(attempts(&home)[0]["error"].is_string());
    // A failed card is not tried again after every turn.
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    for number in 6..=10 {
        home.append(FILE, exchange(number, "fix more of the parser", "Fixed."));
    }
    home.sync();
    assert!(engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
}

#[test]
fn transport_error_is_not_retried() {
    // S001-10
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::Status(503), StubReply::json(&good())]);
    let refreshed = refresh(&engine(&home, &server, &[]));
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::Failed(_)), "{:?}", refreshed.outcome);
    assert_eq!((server.bodies().len(), refreshed.card.model), (1, None));
}

#[test]
fn no_budget_means_no_request() {
    let home = home(5);
    let server = StubModel::with_replies(Vec::new());
    for more in [("budget.daily_tokens", "0"), ("budget.daily_tokens", "100"), ("budget.call_tokens", "100")] {
        let engine = engine(&home, &server, &[more]);
        let refreshed = refresh(&engine);
        assert!(matches!(refreshed.outcome, CardRefreshOutcome::OverBudget(_)), "{:?}", refreshed.outcome);
        assert!(engine.refresh_card_dry_run(SESSION, None).unwrap().refusal_reason.is_some());
    }
    assert!(server.bodies().is_empty());
}

#[test]
fn card_is_due_after_enough_new_prompts() {
    // S001-04
    let home = home(4);
    let server = StubModel::with_replies(vec![StubReply::json(&good()), StubReply::json(&good())]);
    let mut environment = environment(&home, &server, &[]);
    environment.binary = Some("/bin/sh".into());
    let engine = Engine::open(environment).unwrap();
    let after_turn = || engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap();
    assert!(
        matches!(refresh(&engine).outcome, CardRefreshOutcome::NotDue { new_prompts: 4, needed_prompts: 5 })
            && !after_turn()
    );
    assert!(server.bodies().is_empty());
    assert!(matches!(engine.refresh_card(SESSION, None, true).unwrap().outcome, CardRefreshOutcome::Written { .. }));
    for number in 5..=8 {
        home.append(FILE, exchange(number, "and another part of it", "Fixed."));
    }
    home.sync();
    assert!(engine.card(SESSION).unwrap().is_outdated);
    assert!(
        matches!(refresh(&engine).outcome, CardRefreshOutcome::NotDue { new_prompts: 4, needed_prompts: 5 })
            && !after_turn()
    );
    home.append(FILE, exchange(9, "the last part", "Fixed."));
    home.sync();
    assert!(after_turn());
    let made = refresh(&engine);
    assert!(matches!(made.outcome, CardRefreshOutcome::Written { .. }) && !made.card.is_outdated, "{:?}", made.outcome);
    // E001-07: the creation time is kept.
    assert!(made.card.created_at <= made.card.updated_at);
    let off = self::engine(&home, &server, &[("cards.enabled", "false")]);
    assert!(matches!(off.refresh_card(SESSION, None, true).unwrap().outcome, CardRefreshOutcome::Disabled(_)));
}

#[test]
fn one_process_at_a_time_writes_a_card() {
    // E001-06, L001-09
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    fs::create_dir_all(home.path(".rethread/cards")).unwrap();
    let lock = fs::File::create(home.path(&format!(".rethread/cards/{SESSION}.lock"))).unwrap();
    lock.lock().unwrap();
    let refreshed = engine.refresh_card(SESSION, None, true).unwrap();
    assert!(
        matches!(refreshed.outcome, CardRefreshOutcome::Busy) && server.bodies().is_empty(),
        "{:?}",
        refreshed.outcome
    );
    drop(lock);
    assert!(matches!(refresh(&engine).outcome, CardRefreshOutcome::Written { .. }));
}

#[test]
fn entries_added_during_the_request_are_not_in_the_card() {
    // L001-04
    let home = home(5);
    let (name, after) = ("card".to_owned(), vec![good().to_string()]);
    let server = StubModel::with_replies(vec![StubReply::Held { name, before: Vec::new(), after }]);
    let engine = engine(&home, &server, &[]);
    let refreshed = std::thread::scope(|scope| {
        let refreshed = scope.spawn(|| refresh(&engine));
        server.wait_until_held("card");
        home.append(FILE, exchange(6, "one thing more", "That too."));
        home.sync();
        server.release("card");
        refreshed.join().unwrap()
    });
    assert!(matches!(refreshed.outcome, CardRefreshOutcome::Written { .. }), "{:?}", refreshed.outcome);
    assert_eq!(meta(&home, SESSION)["lastIndexedLeafId"], "exchange-5-2");
    assert!(home.engine().card(SESSION).unwrap().is_outdated);
    assert_eq!(engine.refresh_card_dry_run(SESSION, None).unwrap().new_prompts, 1);
}

#[test]
fn branch_change_makes_all_prompts_new() {
    // E001-09
    let home = TestHome::new();
    let first = PiTranscriptBuilder::new(PI, "/home/dev/app", "2026-04-01T10:00:00.000Z")
        .user("fix the parser")
        .assistant("Fixed.")
        .user("and the tests")
        .assistant("Those too.");
    home.write(PI_FILE, first.build());
    home.sync();
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    assert!(matches!(engine.refresh_card(PI, None, true).unwrap().outcome, CardRefreshOutcome::Written { .. }));
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new_prompts, 0);
    // Goes back to the first answer.
    let parent = format!("{PI}-0002");
    let branch = PiTranscriptBuilder::continued("branch", "2026-04-01T10:01:00.000Z")
        .entry(
            json!({"type": "message", "parentId": parent, "message": {"role": "user", "content": "rather the docs"}}),
        )
        .assistant("Written.");
    home.append(PI_FILE, branch.build());
    home.sync();
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new_prompts, 2);
    assert!(engine.card(PI).unwrap().is_outdated);
    // S001-05: an abandoned branch is not sent to the model.
    server.push(StubReply::json(&good()));
    engine.refresh_card(PI, None, true).unwrap();
    let sent = server.bodies()[1]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("rather the docs") && !sent.contains("and the tests"), "{sent}");
}

#[test]
fn damaged_card_file_is_reported_and_rewritten() {
    // S001-17
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let path = home.path(&format!(".rethread/cards/{SESSION}.meta.json"));
    home.write(&format!(".rethread/cards/{SESSION}.meta.json"), "{ half a");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.model, card.damaged_file.as_deref()), (None, Some(path.as_path())));
    assert_eq!(refresh(&engine).card.damaged_file.as_deref(), Some(path.as_path()), "it is reported");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.damaged_file, card.model.as_deref()), (None, Some("openai/small")), "once");
    assert_eq!(meta(&home, SESSION)["name"], "Fix the parser in parts");
}

#[test]
fn card_from_a_model_survives_rebuild_and_store_loss() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let made = refresh(&engine).card;
    engine.rebuild(&mut |_| {}).unwrap();
    assert_eq!(engine.card(SESSION).unwrap().fields, made.fields);
    for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(home.path(&format!(".rethread/{file}")));
    }
    home.sync();
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.fields, card.created_at, card.is_outdated), (made.fields, made.created_at, false));
}

#[test]
fn deleting_a_thread_deletes_its_card() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("Hello."), StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let thread = crate::turns::thread(&engine);
    assert_eq!(crate::turns::send(&engine, &thread, "fix the parser").unwrap().messages[1].role, ChatRole::Assistant);
    engine.sync_thread(thread.parse().unwrap()).unwrap();
    assert!(matches!(engine.refresh_card(&thread, None, true).unwrap().outcome, CardRefreshOutcome::Written { .. }));
    assert_eq!(meta(&home, &thread)["name"], "Fix the parser in parts");
    engine.thread_delete(&thread).unwrap();
    assert!(!home.path(&format!(".rethread/cards/{thread}.meta.json")).exists());
    assert!(engine.card(&thread).is_err());
}

#[test]
fn model_gets_the_end_of_a_long_session() {
    // S001-08, E001-05
    let home = home(9);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    refresh(&engine(&home, &server, &[("cards.max_bytes", "100")]));
    let sent = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("only the most recent portion is shown"), "{sent}");
    assert!(sent.contains("part 9") && !sent.contains("part 1\n"), "{sent}");
}

#[test]
fn model_key_without_provider_disables_only_cards() {
    // S001-12, L001-03
    let home = home(5);
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, &[("cards.model_keys", "claude-haiku-4-5")]);
    let problems = engine.config().problems();
    assert!(problems.iter().any(|problem| problem.message.contains("provider/model")), "{problems:?}");
    assert!(matches!(refresh(&engine).outcome, CardRefreshOutcome::Disabled(_)));
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    assert_eq!(engine.card(SESSION).unwrap().model, None);
    assert!(server.bodies().is_empty());
}

#[test]
fn first_usable_model_writes_the_card() {
    // S001-11, S001-13
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    // There is no key for the first model.
    let engine = engine(&home, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5,openai/tiny")]);
    assert_eq!(refresh(&engine).card.model.as_deref(), Some("openai/tiny"));
    assert_eq!(server.bodies()[0]["model"], "tiny");
    let none = self::engine(&home, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5")]);
    assert!(matches!(none.refresh_card(SESSION, None, true).unwrap().outcome, CardRefreshOutcome::NoModel(_)));
}
