//! Cards of sessions: by rules, by a scripted model, and everything that can go wrong with one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{Engine, Refresh, Refreshed};
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

/// A home with a session of so many exchanges, already read.
fn home(exchanges: u64) -> TestHome {
    let home = TestHome::new();
    let said: String =
        (1..=exchanges).map(|number| exchange(number, &format!("mend the parser, part {number}"), "Mended.")).collect();
    home.write(FILE, said);
    home.sync();
    home
}

fn good() -> Value {
    json!({
        "name": "Mend the parser in parts",
        "description": "The parser was mended.",
        "summary": "## Goal\nMend it.\n\n## Outcome\nMended.",
        "tags": ["parser", "mending", "ticket:APP-1"],
    })
}

fn refresh(engine: &Engine) -> Refreshed {
    engine.refresh_card(SESSION, None, false).unwrap()
}

fn meta(home: &TestHome, id: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(home.path(&format!(".rethread/cards/{id}.meta.json"))).unwrap()).unwrap()
}

/// What our own log says of attempts.
fn attempts(home: &TestHome) -> Vec<Value> {
    let days = fs::read_dir(home.path(".rethread/logs")).into_iter().flatten();
    let texts = days.map(|day| fs::read_to_string(day.unwrap().path()).unwrap());
    let lines: Vec<Value> = texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect();
    lines.into_iter().filter(|line: &Value| line["event"] == "session-index:index").collect()
}

#[test]
fn l001_02_every_session_has_a_card_without_a_model() {
    let home = home(2);
    let card = home.engine().card(SESSION).unwrap();
    assert_eq!((card.fields.name.as_str(), card.made_by, card.is_older), ("Mend the parser, part 1", None, false));
    assert!(card.fields.summary.contains("## Outcome\nMended."), "{}", card.fields.summary);
    let told = home.engine().refresh_card(SESSION, None, true).unwrap();
    assert!(matches!(told.outcome, Refresh::NoModel(_)), "{:?}", told.outcome);
    assert_eq!(told.card.fields.name, "Mend the parser, part 1");
    assert!(!home.path(".rethread/cards").exists(), "asking for a card writes nothing");
}

#[test]
fn s001_09_s001_15_s001_19_a_model_s_card_is_kept_exported_and_noted() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let told = refresh(&engine);
    assert!(matches!(told.outcome, Refresh::Made { attempts: 1 }), "{:?}", told.outcome);
    assert_eq!(told.cost.map(rethread_engine::NanoUsd::get), Some(0));
    assert_eq!((told.card.fields.name.as_str(), told.card.is_older), ("Mend the parser in parts", false));
    assert_eq!(told.card.made_by.as_deref(), Some("openai/small"));
    let asked = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("[User]: mend the parser, part 1\n\n[Assistant]: Mended."), "{asked}");
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
    let found = engine.resolve_references("as in @@mend-the-parser-in-parts").unwrap();
    assert_eq!(found.outcomes[0].1.as_str(), "resolved", "e001_18: by the name that the model gave it");
    assert!(found.text.unwrap().contains("> The parser was mended."));
}

#[test]
fn s001_10_e001_03_a_malformed_answer_is_given_back_twice() {
    let home = home(5);
    let mut long = good();
    long["name"] = json!("x".repeat(121));
    let server = StubModel::with_replies(vec![
        StubReply::text("Here you are!"),
        StubReply::json(&long),
        StubReply::json(&good()),
    ]);
    let told = refresh(&engine(&home, &server, &[]));
    assert!(matches!(told.outcome, Refresh::Made { attempts: 3 }), "{:?}", told.outcome);
    let last = server.bodies()[2]["messages"].as_array().unwrap().clone();
    let texts: Vec<&str> = last.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts[2], "Here you are!");
    assert!(texts[3].contains("no JSON"), "{}", texts[3]);
    assert!(texts[4].contains("xxx") && texts[5].contains("\"name\" has 121 characters where 120 are allowed"));
}

#[test]
fn s001_10_three_malformed_answers_leave_the_card_as_it_was() {
    let home = home(5);
    let server = StubModel::with_replies(vec![
        StubReply::text("no"),
        StubReply::text("{}"),
        StubReply::text("[]"),
        StubReply::json(&good()),
    ]);
    let mut surroundings = environment(&home, &server, &[]);
    surroundings.binary = Some("/bin/sh".into());
    let engine = Engine::open(surroundings).unwrap();
    let told = refresh(&engine);
    assert!(matches!(told.outcome, Refresh::Invalid(_)), "{:?}", told.outcome);
    assert_eq!((server.bodies().len(), told.card.made_by), (3, None));
    assert_eq!(attempts(&home)[0]["success"], json!(false));
    assert!(attempts(&home)[0]["error"].is_string());
    // It is not tried again after every turn.
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    for number in 6..=10 {
        home.append(FILE, exchange(number, "mend more of the parser", "Mended."));
    }
    home.sync();
    assert!(engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
}

#[test]
fn s001_10_a_transport_error_is_not_retried() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::Status(503), StubReply::json(&good())]);
    let told = refresh(&engine(&home, &server, &[]));
    assert!(matches!(told.outcome, Refresh::Failed(_)), "{:?}", told.outcome);
    assert_eq!((server.bodies().len(), told.card.made_by), (1, None));
}

#[test]
fn without_a_budget_nothing_is_asked() {
    let home = home(5);
    let server = StubModel::with_replies(Vec::new());
    for more in [("budget.daily_tokens", "0"), ("budget.daily_tokens", "100"), ("budget.call_tokens", "100")] {
        let engine = engine(&home, &server, &[more]);
        let told = refresh(&engine);
        assert!(matches!(told.outcome, Refresh::Refused(_)), "{:?}", told.outcome);
        assert!(engine.refresh_card_dry_run(SESSION, None).unwrap().refused.is_some());
    }
    assert!(server.bodies().is_empty());
}

#[test]
fn s001_04_a_card_is_due_after_enough_new_prompts() {
    let home = home(4);
    let server = StubModel::with_replies(vec![StubReply::json(&good()), StubReply::json(&good())]);
    let mut surroundings = environment(&home, &server, &[]);
    surroundings.binary = Some("/bin/sh".into());
    let engine = Engine::open(surroundings).unwrap();
    let after_turn = || engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap();
    assert!(matches!(refresh(&engine).outcome, Refresh::NotDue { new: 4, needed: 5 }) && !after_turn());
    assert!(server.bodies().is_empty());
    assert!(matches!(engine.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::Made { .. }));
    for number in 5..=8 {
        home.append(FILE, exchange(number, "and another part of it", "Mended."));
    }
    home.sync();
    assert!(engine.card(SESSION).unwrap().is_older);
    assert!(matches!(refresh(&engine).outcome, Refresh::NotDue { new: 4, needed: 5 }) && !after_turn());
    home.append(FILE, exchange(9, "the last part", "Mended."));
    home.sync();
    assert!(after_turn());
    let made = refresh(&engine);
    assert!(matches!(made.outcome, Refresh::Made { .. }) && !made.card.is_older, "{:?}", made.outcome);
    // E001-07: when the first one was written stays known.
    assert!(made.card.created_at <= made.card.updated_at);
    // Off means off.
    let off = self::engine(&home, &server, &[("cards.enabled", "false")]);
    assert!(matches!(off.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::Off(_)));
}

#[test]
fn e001_06_l001_09_one_process_at_a_time_writes_a_card() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    fs::create_dir_all(home.path(".rethread/cards")).unwrap();
    let lock = fs::File::create(home.path(&format!(".rethread/cards/{SESSION}.lock"))).unwrap();
    lock.lock().unwrap();
    let told = engine.refresh_card(SESSION, None, true).unwrap();
    assert!(matches!(told.outcome, Refresh::Busy) && server.bodies().is_empty(), "{:?}", told.outcome);
    drop(lock);
    assert!(matches!(refresh(&engine).outcome, Refresh::Made { .. }));
}

#[test]
fn l001_04_what_is_said_while_the_model_writes_is_not_in_the_card() {
    let home = home(5);
    let (name, after) = ("card".to_owned(), vec![good().to_string()]);
    let server = StubModel::with_replies(vec![StubReply::Held { name, before: Vec::new(), after }]);
    let engine = engine(&home, &server, &[]);
    let told = std::thread::scope(|scope| {
        let refreshed = scope.spawn(|| refresh(&engine));
        server.wait_until_held("card");
        home.append(FILE, exchange(6, "one thing more", "That too."));
        home.sync();
        server.release("card");
        refreshed.join().unwrap()
    });
    assert!(matches!(told.outcome, Refresh::Made { .. }), "{:?}", told.outcome);
    assert_eq!(meta(&home, SESSION)["lastIndexedLeafId"], "exchange-5-2");
    assert!(home.engine().card(SESSION).unwrap().is_older);
    assert_eq!(engine.refresh_card_dry_run(SESSION, None).unwrap().new, 1);
}

#[test]
fn e001_09_after_a_change_of_branch_all_prompts_are_new() {
    let home = TestHome::new();
    let first = PiTranscriptBuilder::new(PI, "/home/dev/app", "2026-04-01T10:00:00.000Z")
        .user("mend the parser")
        .assistant("Mended.")
        .user("and the tests")
        .assistant("Those too.");
    home.write(PI_FILE, first.build());
    home.sync();
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    assert!(matches!(engine.refresh_card(PI, None, true).unwrap().outcome, Refresh::Made { .. }));
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new, 0);
    // Goes back to the first answer.
    let parent = format!("{PI}-0002");
    let branch = PiTranscriptBuilder::continued("branch", "2026-04-01T10:01:00.000Z")
        .entry(
            json!({"type": "message", "parentId": parent, "message": {"role": "user", "content": "rather the docs"}}),
        )
        .assistant("Written.");
    home.append(PI_FILE, branch.build());
    home.sync();
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new, 2);
    assert!(engine.card(PI).unwrap().is_older);
    // S001-05: a left branch is not shown to the model.
    server.push(StubReply::json(&good()));
    engine.refresh_card(PI, None, true).unwrap();
    let asked = server.bodies()[1]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("rather the docs") && !asked.contains("and the tests"), "{asked}");
}

#[test]
fn s001_17_a_damaged_file_counts_as_missing_and_is_written_anew() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let path = home.path(&format!(".rethread/cards/{SESSION}.meta.json"));
    home.write(&format!(".rethread/cards/{SESSION}.meta.json"), "{ half a");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.made_by, card.damaged.as_deref()), (None, Some(path.as_path())));
    assert_eq!(refresh(&engine).card.damaged.as_deref(), Some(path.as_path()), "it is reported");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.damaged, card.made_by.as_deref()), (None, Some("openai/small")), "once");
    assert_eq!(meta(&home, SESSION)["name"], "Mend the parser in parts");
}

#[test]
fn a_model_s_card_survives_a_rebuild_and_the_loss_of_the_store() {
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
    assert_eq!((card.fields, card.created_at, card.is_older), (made.fields, made.created_at, false));
}

#[test]
fn a_thread_that_is_deleted_takes_its_card_along() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("Hello."), StubReply::json(&good())]);
    let engine = engine(&home, &server, &[]);
    let thread = crate::turns::thread(&engine);
    assert_eq!(crate::turns::say(&engine, &thread, "mend the parser").unwrap().messages[1].role, ChatRole::Assistant);
    engine.thread_remember(thread.parse().unwrap()).unwrap();
    assert!(matches!(engine.refresh_card(&thread, None, true).unwrap().outcome, Refresh::Made { .. }));
    assert_eq!(meta(&home, &thread)["name"], "Mend the parser in parts");
    engine.thread_delete(&thread).unwrap();
    assert!(!home.path(&format!(".rethread/cards/{thread}.meta.json")).exists());
    assert!(engine.card(&thread).is_err());
}

#[test]
fn s001_08_e001_05_a_model_is_shown_the_end_of_a_long_session() {
    let home = home(9);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    refresh(&engine(&home, &server, &[("cards.max_bytes", "100")]));
    let asked = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("only the most recent portion is shown"), "{asked}");
    assert!(asked.contains("part 9") && !asked.contains("part 1\n"), "{asked}");
}

#[test]
fn s001_12_l001_03_a_model_without_its_provider_switches_cards_off_and_nothing_else() {
    let home = home(5);
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, &[("cards.model_keys", "claude-haiku-4-5")]);
    let problems = engine.config().problems();
    assert!(problems.iter().any(|problem| problem.message.contains("provider/model")), "{problems:?}");
    assert!(matches!(refresh(&engine).outcome, Refresh::Off(_)));
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    assert_eq!(engine.card(SESSION).unwrap().made_by, None);
    assert!(server.bodies().is_empty());
}

#[test]
fn s001_11_s001_13_the_first_model_that_can_be_used_writes() {
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::json(&good())]);
    // Nobody has a key to the first.
    let engine = engine(&home, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5,openai/tiny")]);
    assert_eq!(refresh(&engine).card.made_by.as_deref(), Some("openai/tiny"));
    assert_eq!(server.bodies()[0]["model"], "tiny");
    let none = self::engine(&home, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5")]);
    assert!(matches!(none.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::NoModel(_)));
}
