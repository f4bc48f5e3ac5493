//! Cards of sessions: by rules, by a scripted model, and everything that can go wrong with one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::io::Write;
use std::net::TcpListener;

use rethread_engine::{Engine, Environment, Refresh, Refreshed};
use rethread_model::Agent;
use rethread_model::thread::ChatRole;
use serde_json::{Value, json};

use crate::chat_server::{self, ChatServer, Reply};
use crate::talk::{engine, environment};
use crate::world::World;

const SESSION: &str = "0b5e1c7a-0000-4000-8000-00000000000c";
const FILE: &str = ".claude/projects/-home-dev-app/0b5e1c7a-0000-4000-8000-00000000000c.jsonl";
const PI: &str = "0198c000-0000-7000-8000-000000000001";
const PI_FILE: &str = ".pi/agent/sessions/--home-dev-app--/2026-04-01T10-00-00-000Z_0198c000.jsonl";

/// One exchange of Claude Code, the number of which gives ids and moments.
fn exchange(number: u64, asked: &str, answered: &str) -> String {
    let line = |role: &str, second: u64, content: Value| {
        let (kind, id) = (role, format!("{role}-{number}"));
        let parent = if role == "user" { format!("assistant-{}", number - 1) } else { format!("user-{number}") };
        let parent = (parent != "assistant-0").then_some(parent);
        json!({
            "type": kind, "uuid": id, "parentUuid": parent, "sessionId": SESSION, "cwd": "/home/dev/app",
            "timestamp": format!("2026-04-01T10:{number:02}:{second:02}.000Z"),
            "message": {"role": role, "id": format!("msg-{number}-{role}"), "content": content},
        })
        .to_string()
            + "\n"
    };
    line("user", 0, json!(asked)) + &line("assistant", 5, json!([{"type": "text", "text": answered}]))
}

/// A world with a session of so many exchanges, already read.
fn world(exchanges: u64) -> World {
    let world = World::new();
    let said: String =
        (1..=exchanges).map(|number| exchange(number, &format!("mend the parser, part {number}"), "Mended.")).collect();
    world.write(FILE, said);
    world.sync();
    world
}

fn good() -> Value {
    json!({
        "name": "Mend the parser in parts",
        "description": "The parser was mended.",
        "summary": "## Goal\nMend it.\n\n## Outcome\nMended.",
        "tags": ["parser", "mending", "ticket:APP-1"],
    })
}

fn says(value: &Value) -> Reply {
    Reply::Says(vec![value.to_string()])
}

fn refresh(engine: &Engine) -> Refreshed {
    engine.refresh_card(SESSION, None, false).unwrap()
}

fn meta(world: &World, id: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(world.at(&format!(".rethread/cards/{id}.meta.json"))).unwrap()).unwrap()
}

/// What our own log says of attempts.
fn attempts(world: &World) -> Vec<Value> {
    let days = fs::read_dir(world.at(".rethread/logs")).into_iter().flatten();
    let texts = days.map(|day| fs::read_to_string(day.unwrap().path()).unwrap());
    let lines: Vec<Value> = texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect();
    lines.into_iter().filter(|line: &Value| line["event"] == "session-index:index").collect()
}

#[test]
fn l001_02_every_session_has_a_card_without_a_model() {
    let world = world(2);
    let card = world.engine().card(SESSION).unwrap();
    assert_eq!((card.fields.name.as_str(), card.made_by, card.is_older), ("Mend the parser, part 1", None, false));
    assert!(card.fields.summary.contains("## Outcome\nMended."), "{}", card.fields.summary);
    let told = world.engine().refresh_card(SESSION, None, true).unwrap();
    assert!(matches!(told.outcome, Refresh::NoModel(_)), "{:?}", told.outcome);
    assert_eq!(told.card.fields.name, "Mend the parser, part 1");
    assert!(!world.at(".rethread/cards").exists(), "asking for a card writes nothing");
}

#[test]
fn s001_09_s001_15_s001_19_a_model_s_card_is_kept_exported_and_noted() {
    let world = world(5);
    let server = ChatServer::start(vec![says(&good())]);
    let engine = engine(&world, &server, &[]);
    let told = refresh(&engine);
    assert!(matches!(told.outcome, Refresh::Made { attempts: 1 }), "{:?}", told.outcome);
    assert_eq!(told.cost.map(rethread_engine::NanoUsd::get), Some(0));
    assert_eq!((told.card.fields.name.as_str(), told.card.is_older), ("Mend the parser in parts", false));
    assert_eq!(told.card.made_by.as_deref(), Some("openai/small"));
    let asked = server.received()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("[User]: mend the parser, part 1\n\n[Assistant]: Mended."), "{asked}");
    let file = meta(&world, SESSION);
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
    assert_eq!((&file["sessionId"], &file["lastIndexedLeafId"]), (&json!(SESSION), &json!("assistant-5")));
    assert_eq!((&file["schemaVersion"], &file["cwd"]), (&json!(1), &json!("/home/dev/app")));
    let noted = attempts(&world);
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
    let world = world(5);
    let mut long = good();
    long["name"] = json!("x".repeat(121));
    let server = ChatServer::start(vec![Reply::says("Here you are!"), says(&long), says(&good())]);
    let told = refresh(&engine(&world, &server, &[]));
    assert!(matches!(told.outcome, Refresh::Made { attempts: 3 }), "{:?}", told.outcome);
    let last = server.received()[2]["messages"].as_array().unwrap().clone();
    let texts: Vec<&str> = last.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts[2], "Here you are!");
    assert!(texts[3].contains("no JSON"), "{}", texts[3]);
    assert!(texts[4].contains("xxx") && texts[5].contains("\"name\" has 121 characters where 120 are allowed"));
}

#[test]
fn s001_10_three_malformed_answers_leave_the_card_as_it_was() {
    let world = world(5);
    let server = ChatServer::start(vec![Reply::says("no"), Reply::says("{}"), Reply::says("[]"), says(&good())]);
    let mut surroundings = environment(&world, &server, &[]);
    surroundings.binary = Some("/bin/sh".into());
    let engine = Engine::open(surroundings).unwrap();
    let told = refresh(&engine);
    assert!(matches!(told.outcome, Refresh::Invalid(_)), "{:?}", told.outcome);
    assert_eq!((server.received().len(), told.card.made_by), (3, None));
    assert_eq!(attempts(&world)[0]["success"], json!(false));
    assert!(attempts(&world)[0]["error"].is_string());
    // It is not tried again after every turn.
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    for number in 6..=10 {
        world.append(FILE, exchange(number, "mend more of the parser", "Mended."));
    }
    world.sync();
    assert!(engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
}

#[test]
fn s001_10_a_transport_error_is_not_retried() {
    let world = world(5);
    let server = ChatServer::start(vec![Reply::Fails(503), says(&good())]);
    let told = refresh(&engine(&world, &server, &[]));
    assert!(matches!(told.outcome, Refresh::Failed(_)), "{:?}", told.outcome);
    assert_eq!((server.received().len(), told.card.made_by), (1, None));
}

#[test]
fn without_a_budget_nothing_is_asked() {
    let world = world(5);
    let server = ChatServer::start(Vec::new());
    for more in [("budget.daily_tokens", "0"), ("budget.daily_tokens", "100"), ("budget.call_tokens", "100")] {
        let engine = engine(&world, &server, &[more]);
        let told = refresh(&engine);
        assert!(matches!(told.outcome, Refresh::Refused(_)), "{:?}", told.outcome);
        assert!(engine.refresh_card_dry_run(SESSION, None).unwrap().refused.is_some());
    }
    assert!(server.received().is_empty());
}

#[test]
fn s001_04_a_card_is_due_after_enough_new_prompts() {
    let world = world(4);
    let server = ChatServer::start(vec![says(&good()), says(&good())]);
    let mut surroundings = environment(&world, &server, &[]);
    surroundings.binary = Some("/bin/sh".into());
    let engine = Engine::open(surroundings).unwrap();
    let after_turn = || engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap();
    assert!(matches!(refresh(&engine).outcome, Refresh::NotDue { new: 4, needed: 5 }) && !after_turn());
    assert!(server.received().is_empty());
    assert!(matches!(engine.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::Made { .. }));
    for number in 5..=8 {
        world.append(FILE, exchange(number, "and another part of it", "Mended."));
    }
    world.sync();
    assert!(engine.card(SESSION).unwrap().is_older);
    assert!(matches!(refresh(&engine).outcome, Refresh::NotDue { new: 4, needed: 5 }) && !after_turn());
    world.append(FILE, exchange(9, "the last part", "Mended."));
    world.sync();
    assert!(after_turn());
    let made = refresh(&engine);
    assert!(matches!(made.outcome, Refresh::Made { .. }) && !made.card.is_older, "{:?}", made.outcome);
    // E001-07: when the first one was written stays known.
    assert!(made.card.created_at <= made.card.updated_at);
    // Off means off.
    let off = self::engine(&world, &server, &[("cards.enabled", "false")]);
    assert!(matches!(off.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::Off(_)));
}

#[test]
fn e001_06_l001_09_one_process_at_a_time_writes_a_card() {
    let world = world(5);
    let server = ChatServer::start(vec![says(&good())]);
    let engine = engine(&world, &server, &[]);
    fs::create_dir_all(world.at(".rethread/cards")).unwrap();
    let lock = fs::File::create(world.at(&format!(".rethread/cards/{SESSION}.lock"))).unwrap();
    lock.lock().unwrap();
    let told = engine.refresh_card(SESSION, None, true).unwrap();
    assert!(matches!(told.outcome, Refresh::Busy) && server.received().is_empty(), "{:?}", told.outcome);
    drop(lock);
    assert!(matches!(refresh(&engine).outcome, Refresh::Made { .. }));
}

#[test]
fn l001_04_what_is_said_while_the_model_writes_is_not_in_the_card() {
    let world = world(5);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut surroundings = Environment::for_home(world.home.path());
    let settings = [
        ("model.provider", "openai"),
        ("model.name", "slow"),
        ("model.endpoint", base.as_str()),
        ("budget.daily_tokens", "1000000"),
    ];
    surroundings.flags = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let told = std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            chat_server::read(&mut stream);
            world.append(FILE, exchange(6, "one thing more", "That too."));
            world.sync();
            let message = json!({"role": "assistant", "content": good().to_string()});
            let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        });
        let told = refresh(&Engine::open(surroundings.clone()).unwrap());
        serving.join().unwrap();
        told
    });
    assert!(matches!(told.outcome, Refresh::Made { .. }), "{:?}", told.outcome);
    assert_eq!(meta(&world, SESSION)["lastIndexedLeafId"], "assistant-5");
    assert!(world.engine().card(SESSION).unwrap().is_older);
    assert_eq!(Engine::open(surroundings).unwrap().refresh_card_dry_run(SESSION, None).unwrap().new, 1);
}

#[test]
fn e001_09_after_a_change_of_branch_all_prompts_are_new() {
    let world = World::new();
    let line = |id: &str, parent: Option<&str>, role: &str, text: &str| {
        let message = json!({"role": role, "content": [{"type": "text", "text": text}]});
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-04-01T10:00:01.000Z", "message": message})
            .to_string()
            + "\n"
    };
    let head = json!({"type": "session", "version": 3, "id": PI, "timestamp": "2026-04-01T10:00:00.000Z", "cwd": "/home/dev/app"});
    let first = [
        format!("{head}\n"),
        line("a0000001", None, "user", "mend the parser"),
        line("a0000002", Some("a0000001"), "assistant", "Mended."),
        line("a0000003", Some("a0000002"), "user", "and the tests"),
        line("a0000004", Some("a0000003"), "assistant", "Those too."),
    ];
    world.write(PI_FILE, first.concat());
    world.sync();
    let server = ChatServer::start(vec![says(&good())]);
    let engine = engine(&world, &server, &[]);
    assert!(matches!(engine.refresh_card(PI, None, true).unwrap().outcome, Refresh::Made { .. }));
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new, 0);
    world.append(PI_FILE, line("b0000003", Some("a0000002"), "user", "rather the docs"));
    world.append(PI_FILE, line("b0000004", Some("b0000003"), "assistant", "Written."));
    world.sync();
    assert_eq!(engine.refresh_card_dry_run(PI, None).unwrap().new, 2);
    assert!(engine.card(PI).unwrap().is_older);
    // S001-05: a left branch is not shown to the model.
    server.then(says(&good()));
    engine.refresh_card(PI, None, true).unwrap();
    let asked = server.received()[1]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("rather the docs") && !asked.contains("and the tests"), "{asked}");
}

#[test]
fn s001_17_a_damaged_file_counts_as_missing_and_is_written_anew() {
    let world = world(5);
    let server = ChatServer::start(vec![says(&good())]);
    let engine = engine(&world, &server, &[]);
    let path = world.at(&format!(".rethread/cards/{SESSION}.meta.json"));
    world.write(&format!(".rethread/cards/{SESSION}.meta.json"), "{ half a");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.made_by, card.damaged.as_deref()), (None, Some(path.as_path())));
    assert_eq!(refresh(&engine).card.damaged.as_deref(), Some(path.as_path()), "it is reported");
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.damaged, card.made_by.as_deref()), (None, Some("openai/small")), "once");
    assert_eq!(meta(&world, SESSION)["name"], "Mend the parser in parts");
}

#[test]
fn a_model_s_card_survives_a_rebuild_and_the_loss_of_the_store() {
    let world = world(5);
    let server = ChatServer::start(vec![says(&good())]);
    let engine = engine(&world, &server, &[]);
    let made = refresh(&engine).card;
    engine.rebuild(&mut |_| {}).unwrap();
    assert_eq!(engine.card(SESSION).unwrap().fields, made.fields);
    for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(world.at(&format!(".rethread/{file}")));
    }
    world.sync();
    let card = engine.card(SESSION).unwrap();
    assert_eq!((card.fields, card.created_at, card.is_older), (made.fields, made.created_at, false));
}

#[test]
fn a_thread_that_is_deleted_takes_its_card_along() {
    let world = World::new();
    let server = ChatServer::start(vec![Reply::says("Hello."), says(&good())]);
    let engine = engine(&world, &server, &[]);
    let thread = crate::talk::thread(&engine);
    assert_eq!(crate::talk::say(&engine, &thread, "mend the parser").unwrap().messages[1].role, ChatRole::Assistant);
    engine.thread_remember(thread.parse().unwrap()).unwrap();
    assert!(matches!(engine.refresh_card(&thread, None, true).unwrap().outcome, Refresh::Made { .. }));
    assert_eq!(meta(&world, &thread)["name"], "Mend the parser in parts");
    engine.thread_delete(&thread).unwrap();
    assert!(!world.at(&format!(".rethread/cards/{thread}.meta.json")).exists());
    assert!(engine.card(&thread).is_err());
}

#[test]
fn s001_08_e001_05_a_model_is_shown_the_end_of_a_long_session() {
    let world = world(9);
    let server = ChatServer::start(vec![says(&good())]);
    refresh(&engine(&world, &server, &[("cards.max_bytes", "100")]));
    let asked = server.received()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("only the most recent portion is shown"), "{asked}");
    assert!(asked.contains("part 9") && !asked.contains("part 1\n"), "{asked}");
}

#[test]
fn s001_12_l001_03_a_model_without_its_provider_switches_cards_off_and_nothing_else() {
    let world = world(5);
    let server = ChatServer::start(Vec::new());
    let engine = engine(&world, &server, &[("cards.model_keys", "claude-haiku-4-5")]);
    let problems = engine.config().problems();
    assert!(problems.iter().any(|problem| problem.message.contains("provider/model")), "{problems:?}");
    assert!(matches!(refresh(&engine).outcome, Refresh::Off(_)));
    assert!(!engine.card_after_turn(Agent::ClaudeCode, SESSION).unwrap());
    assert_eq!(engine.card(SESSION).unwrap().made_by, None);
    assert!(server.received().is_empty());
}

#[test]
fn s001_11_s001_13_the_first_model_that_can_be_used_writes() {
    let world = world(5);
    let server = ChatServer::start(vec![says(&good())]);
    // Nobody has a key to the first.
    let engine = engine(&world, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5,openai/tiny")]);
    assert_eq!(refresh(&engine).card.made_by.as_deref(), Some("openai/tiny"));
    assert_eq!(server.received()[0]["model"], "tiny");
    let none = self::engine(&world, &server, &[("cards.model_keys", "anthropic/claude-haiku-4-5")]);
    assert!(matches!(none.refresh_card(SESSION, None, true).unwrap().outcome, Refresh::NoModel(_)));
}
