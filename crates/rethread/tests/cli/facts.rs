//! `fix`, `decisions`, `workflows`, `files` and `facts`. The facts are written to the store directly, so that this tests
//! the output and not the extraction.

use insta::assert_snapshot;
use rethread_model::{EntityKind, Fact, FactState, Predicate, Trust};
use rethread_store::SessionFilter;
use rethread_testing::{TestHome, confirmed_fact, with_object};
use serde_json::{Value, json};

use crate::transcripts::{claude, new_home, user};

const SESSION: &str = "66666666-0000-4000-8000-000000000006";

/// A home with one session of the current project that has all kinds of facts.
fn home_with_facts() -> TestHome {
    let home = new_home();
    let prompts = [user("09:00:00", &json!("hello")), user("09:30:00", &json!("hello again\nand again"))];
    let lines = claude(SESSION, &prompts).replace("/home/dev/app", &home.work_dir().display().to_string());
    home.write(&format!(".claude/projects/-desk/{SESSION}.jsonl"), &lines);
    assert!(home.run(&["sync"]).status.success());
    let session = home.store().sessions(&SessionFilter::default()).unwrap()[0].id;
    home.store_facts(session, 0, &[error_facts(), action_facts()].concat());
    home.store_facts(session, 1, &[decision_facts(), action_facts()].concat());
    home
}

fn fact(day: u32, predicate: Predicate, subject: (EntityKind, &str), detail: &str) -> Fact {
    let at = format!("2026-02-{day:02}T09:00:00Z");
    Fact { evidence_lines: vec![1, 2], ..confirmed_fact(&at, predicate, subject, detail) }
}

fn error_facts() -> Vec<Fact> {
    let error = (EntityKind::Error, "error: no such table: <value>");
    let test = (EntityKind::Command, "cargo test");
    let failed = fact(10, Predicate::FailedWith, test, "error: no such table: 'orders'\u{1b}[2J");
    let fixed = Fact {
        reason: Some("the schema was older than the code".to_owned()),
        ..fact(11, Predicate::FixedBy, error, "edited src/db.rs; ran `sqlx migrate run`")
    };
    let guessed = Fact {
        state: FactState::Hypothesis,
        ..fact(
            12,
            Predicate::FixedBy,
            error,
            "removed the old database, which nobody needed any more since the tests make their own",
        )
    };
    vec![
        with_object(failed, error.0, error.1),
        fact(10, Predicate::NotFixedBy, error, "edited src/main.rs"),
        with_object(fixed, test.0, test.1),
        guessed,
        Fact { success_count: 9, failure_count: 1, ..fact(11, Predicate::Ran, test, "cargo test") },
        Fact { failure_count: 3, ..fact(11, Predicate::Ran, (EntityKind::Command, "python"), "python x.py") },
        with_object(
            fact(
                11,
                Predicate::FixedBy,
                (EntityKind::Error, "python: command not found"),
                "ran `python3 x.py` instead",
            ),
            EntityKind::Command,
            "python",
        ),
    ]
}

fn action_facts() -> Vec<Fact> {
    let run = |detail: &str| fact(11, Predicate::Sequence, (EntityKind::Command, "edit"), detail);
    vec![
        fact(10, Predicate::Read, (EntityKind::File, "src/db.rs"), ""),
        fact(11, Predicate::Edited, (EntityKind::File, "src/db.rs"), ""),
        run("Read > Edit > test:cargo test! > Edit > test:cargo test! > Edit > test:cargo test > commit:git commit"),
    ]
}

fn decision_facts() -> Vec<Fact> {
    let sqlite = (EntityKind::Decision, "sqlite");
    let postgres = Fact {
        reason: Some("because of its JSON columns".to_owned()),
        trust: Trust::Human,
        ..fact(14, Predicate::Decided, (EntityKind::Decision, "postgres"), "let us use postgres instead of sqlite")
    };
    vec![
        Fact { trust: Trust::Human, ..fact(9, Predicate::Decided, sqlite, "use sqlite for now") },
        with_object(postgres, sqlite.0, sqlite.1),
        Fact {
            trust: Trust::Human,
            ..fact(15, Predicate::Forbids, (EntityKind::Preference, "force push"), "never force push")
        },
        with_object(fact(9, Predicate::Renamed, (EntityKind::File, "src/store.rs"), ""), EntityKind::File, "src/db.rs"),
    ]
}

/// The answer as JSON.
fn answer(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.run(&[arguments, &["--json"]].concat());
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["schema"], 1);
    value
}

#[test]
fn fact_commands_in_an_empty_home_create_nothing() {
    let home = new_home();
    assert_snapshot!("nothing_fix", home.snapshot(&["fix", "error: no such table"]));
    assert_snapshot!("nothing_fix_json", home.snapshot(&["fix", "error: no such table", "--json"]));
    assert_snapshot!("nothing_decisions", home.snapshot(&["decisions"]));
    assert_snapshot!("nothing_workflows", home.snapshot(&["workflows", "--json"]));
    assert_snapshot!("nothing_files", home.snapshot(&["files", "src/main.rs"]));
    assert_snapshot!("nothing_facts", home.snapshot(&["facts"]));
    assert_snapshot!("nothing_facts_svg", home.snapshot(&["facts", "x", "--svg"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn fix_is_shown() {
    // S003-22
    let home = home_with_facts();
    assert_snapshot!("fix", home.snapshot(&["fix", "error: no such table: 'orders'"]));
    assert_snapshot!("fix_similar", home.snapshot(&["fix", "error: no such table: 'carts'"]));
    assert_snapshot!("fix_unknown", home.snapshot(&["fix", "error: linker `cc` not found"]));
    assert_snapshot!("fix_elsewhere", home.snapshot(&["fix", "error: no such table: 'x'", "--project", "/nowhere"]));
    assert_snapshot!("fix_nothing_given", home.snapshot(&["fix", " "]));
    let similar = answer(&home, &["fix", "error: no such table: 'carts'"]);
    assert_eq!((&similar["exact"], &similar["fixes"][0]["state"]), (&json!(false), &json!("hypothesis")));
    let known = answer(&home, &["fix", "error: no such table: 'orders'"]);
    assert_eq!(known["exact"], true);
    assert_eq!(known["fixes"][0]["state"], "confirmed");
    assert_eq!(known["fixes"][0]["sources"][0]["evidence"], json!([1, 2]));
    assert_eq!(known["fixes"][1]["state"], "hypothesis");
    assert_eq!(known["failedAttempts"][0]["what"], "edited src/main.rs");
}

#[test]
fn errors_are_found_by_their_code() {
    // D38
    let home = home_with_facts();
    let session = home.store().sessions(&SessionFilter::default()).unwrap()[0].id;
    let name = "error TS2345: Argument of type <value> is missing";
    let failed =
        fact(1, Predicate::FailedWith, (EntityKind::Command, "tsc"), "error TS2345: Argument of type 'A' is missing");
    let fixed = fact(2, Predicate::FixedBy, (EntityKind::Error, name), "src/a.ts: A → B");
    home.store_facts(session, 0, &[with_object(failed, EntityKind::Error, name), fixed]);
    assert_snapshot!("fix_by_code", home.snapshot(&["fix", "error TS2345"]));
    let known = answer(&home, &["fix", "ts2345"]);
    assert_eq!((&known["exact"], &known["errors"][0]["sharedCode"]), (&json!(false), &json!("TS2345")));
}

#[test]
fn error_can_be_piped_in() {
    let home = home_with_facts();
    let input = b"   Compiling app\n\xff\xfe\nerror: no such table: 'carts'\nnote: run with more\n";
    let output = home.run_with_input(&["fix", "-", "--quiet"], input);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("sqlx migrate run"));
}

#[test]
fn decisions_are_shown_now_and_as_of_a_time() {
    // S003-22
    let home = home_with_facts();
    assert_snapshot!("decisions", home.snapshot(&["decisions"]));
    assert_snapshot!("decisions_all", home.snapshot(&["decisions", "sqlite", "--all"]));
    assert_snapshot!("decisions_as_of", home.snapshot(&["decisions", "--as-of", "2026-02-09"]));
    assert_snapshot!("decisions_closed", home.snapshot(&["decisions", "now"]));
    assert_snapshot!("decisions_bad_time", home.snapshot(&["decisions", "--as-of", "teatime"]));
    let all = answer(&home, &["decisions", "--all"]);
    assert_eq!(all["decisions"].as_array().unwrap().len(), 3);
    assert_eq!(all["decisions"][2]["validTo"], "2026-02-14T09:00:00.000Z");
}

#[test]
fn rules_in_files_are_shown_after_decisions() {
    // D37
    let home = home_with_facts();
    let rules = "# Rules\n\n- Never commit to main\n- Do not use axios, use ky\n\n\u{1b}[2J\n";
    std::fs::write(home.work_dir().join("AGENTS.md"), rules).unwrap();
    assert_snapshot!("decisions_with_rules", home.snapshot(&["decisions", "axios"]));
    let all = answer(&home, &["decisions"]);
    assert_eq!((&all["rules"][0]["file"], &all["rules"][0]["line"]), (&json!("AGENTS.md"), &json!(3)));
    assert_eq!(answer(&home, &["decisions", "--as-of", "2026-02-20"])["rules"], json!([]));
}

#[test]
fn workflows_are_shown() {
    // S003-23
    let home = home_with_facts();
    assert_snapshot!("workflows", home.snapshot(&["workflows"]));
    let known = answer(&home, &["workflows"]);
    assert_eq!(known["projects"][0]["commands"][1]["usuallyFails"], true);
    let sequence = &known["projects"][0]["sequences"][0];
    assert_eq!((&sequence["steps"][0], &sequence["checked"]), (&json!("Edit"), &sequence["times"]));
    assert_eq!(known["projects"][0]["retries"][0]["steps"], json!(["cargo test!", "Edit", "cargo test"]));
}

#[test]
fn file_history_is_shown() {
    // S003-22
    let home = home_with_facts();
    assert_snapshot!("files", home.snapshot(&["files", "db.rs"]));
    assert_snapshot!("files_unknown", home.snapshot(&["files", "src/nobody.rs"]));
    assert_eq!(answer(&home, &["files", "src/store.rs"])["names"], json!(["src/store.rs", "src/db.rs"]));
}

#[test]
fn entities_are_shown_and_drawn() {
    let home = home_with_facts();
    assert_snapshot!("facts", home.snapshot(&["facts"]));
    assert_snapshot!("facts_about", home.snapshot(&["facts", "cargo test"]));
    assert_snapshot!("facts_several", home.snapshot(&["facts", "src", "--kind", "file"]));
    assert_snapshot!("facts_unknown", home.snapshot(&["facts", "nothing like it"]));
    assert_snapshot!("facts_dot", home.snapshot(&["facts", "cargo test", "--dot"]));
    let picture = String::from_utf8(home.run(&["facts", "cargo test", "--svg"]).stdout).unwrap();
    assert!(picture.starts_with("<svg ") && !picture.contains('\u{1b}'), "{picture}");
    assert_eq!(home.run(&["facts", "src", "--kind", "file", "--svg"]).status.code(), Some(1));
    assert_eq!(home.run(&["facts", "--svg"]).status.code(), Some(2));
    let known = answer(&home, &["facts", "cargo test"]);
    assert_eq!(known["entity"]["kind"], "command");
    assert_eq!(known["graph"]["nodes"][0]["name"], "cargo test");
}

#[test]
fn fact_output_contains_no_control_characters() {
    let home = home_with_facts();
    for arguments in [&["fix", "no such table"][..], &["facts", "cargo test"], &["facts", "cargo test", "--dot"]] {
        let output = home.run(arguments);
        assert!(!output.stdout.contains(&0x1b) && output.status.success(), "{arguments:?}");
    }
}
