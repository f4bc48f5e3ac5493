//! Queries for facts: errors, decisions, workflows, files and entities.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    DecisionRequest, Engine, EngineError, Environment, FactsReport, FactsRequest, FileRequest, FixRequest, GraphItem,
    SessionScope, WorkflowRequest,
};
use rethread_model::{EntityKind, Fact, FactState, Predicate};
use rethread_testing::{TestHome, TranscriptBuilder, confirmed_fact, with_object};

const ANNA: &str = "aaaa1011-0000-4000-8000-00000000000a";
const BEN: &str = "bbbb1011-0000-4000-8000-00000000000b";
const ERROR: &str = "error: no such table: <value>";

/// Writes and syncs a session with one prompt a minute.
fn session(home: &TestHome, id: &str, project: &str, prompts: &[&str]) {
    let start = "2026-03-01T09:59:00.000Z".parse().unwrap();
    let builder = TranscriptBuilder::new(id).cwd(project).times(start, 60);
    let builder = prompts.iter().fold(builder, |builder, prompt| builder.user(*prompt));
    home.write(&format!(".claude/projects/-p/{id}.jsonl"), builder.build());
    home.sync();
}

fn store_facts(home: &TestHome, id: &str, span: usize, facts: &[Fact]) {
    home.store_facts(home.engine().sessions().resolve(id).unwrap().session.id, span, facts);
}

fn fact(day: u32, predicate: Predicate, subject: (EntityKind, &str), detail: &str) -> Fact {
    confirmed_fact(&format!("2026-03-{day:02}T12:00:00Z"), predicate, subject, detail)
}

fn here() -> SessionScope {
    SessionScope::Project("/p".to_owned())
}

/// A session with an error, a failed attempt and the fix.
fn home_with_fix() -> TestHome {
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["the tests fail", "and now the docs"]);
    let failed = fact(1, Predicate::FailedWith, (EntityKind::Command, "cargo test"), "error: no such table: 'orders'");
    let facts = [
        with_object(failed, EntityKind::Error, ERROR),
        fact(1, Predicate::NotFixedBy, (EntityKind::Error, ERROR), "edited src/db.rs"),
        with_object(
            fact(2, Predicate::FixedBy, (EntityKind::Error, ERROR), "ran `sqlx migrate run`"),
            EntityKind::Command,
            "cargo test",
        ),
    ];
    store_facts(&home, ANNA, 0, &facts);
    home
}

fn fix(engine: &Engine, text: &str) -> rethread_engine::FixReport {
    engine.facts().fix(&FixRequest { text: text.to_owned(), scope: here() }).unwrap()
}

#[test]
fn fix_is_reported_with_failed_attempts_and_sources() {
    // S003-22
    let home = home_with_fix();
    let report = fix(&home.engine(), "running 12 tests\nthread ok\nerror: no such table: 'carts'\n");
    let found = &report.errors[0];
    assert_eq!(found.signature, ERROR);
    assert_eq!(found.line, "error: no such table: 'orders'");
    assert_eq!(found.fixes.fixes[0].description, "ran `sqlx migrate run`");
    assert_eq!(found.fixes.fixes[0].command.as_deref(), Some("cargo test"));
    assert_eq!(found.fixes.failed_attempts[0].description, "edited src/db.rs");
    let source = &found.fixes.fixes[0].sources[0];
    assert!(home.engine().sessions().resolve(source.citation().split(':').next().unwrap()).is_ok());
}

#[test]
fn similar_error_is_found_and_unrelated_error_is_not() {
    let home = home_with_fix();
    let alike = fix(&home.engine(), "sqlite says: no such table orders");
    assert!(alike.errors[0].similarity < 1.0 && !alike.is_empty());
    let other = fix(&home.engine(), "error: linker `cc` not found");
    assert!(other.errors.is_empty());
    assert_eq!(other.known_errors, 1);
    assert!(fix(&home.engine(), "error: exit status 1").errors.is_empty());
    let elsewhere =
        FixRequest { text: "error: no such table: 'x'".to_owned(), scope: SessionScope::Project("/q".to_owned()) };
    assert!(home.engine().facts().fix(&elsewhere).unwrap().is_empty());
}

#[test]
fn assertion_about_other_values_is_another_error() {
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["the tests fail", "and now the docs"]);
    let name = "AssertionError: expected N to be N";
    let mut fixed = fact(2, Predicate::FixedBy, (EntityKind::Error, name), "src/a.ts: 1 → 2");
    fixed.quote = Some("AssertionError: expected 5 to be 6".to_owned());
    store_facts(&home, ANNA, 0, &[with_object(fixed, EntityKind::Command, "npm test")]);
    assert!(fix(&home.engine(), "AssertionError: expected 3 to be 4").is_empty());
    let same = fix(&home.engine(), "AssertionError: expected 5 to be 6");
    assert_eq!(same.errors[0].fixes.fixes[0].state, FactState::Confirmed);
}

#[test]
fn fix_of_a_similar_error_is_a_hypothesis() {
    let home = home_with_fix();
    let similar = fix(&home.engine(), "error: no such table: 'carts'");
    assert!(similar.errors[0].similarity < 1.0);
    assert_eq!(similar.errors[0].fixes.fixes[0].state, FactState::Hypothesis);
    let same = fix(&home.engine(), "error: no such table: 'orders'");
    assert_eq!((same.errors[0].similarity, same.errors[0].fixes.fixes[0].state), (1.0, FactState::Confirmed));
}

#[test]
fn error_is_found_by_its_code() {
    // D38
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["check the types", "and the docs"]);
    let errors = [
        ("error TS2345: Argument of type <value> is missing", "error TS2345: Argument of type 'A' is missing"),
        ("error TS2345: Type <value> has no call", "error TS2345: Type 'B' has no call"),
        ("error TS2304: Cannot find name <value>", "error TS2304: Cannot find name 'c'"),
    ];
    let mut facts: Vec<Fact> = errors
        .iter()
        .map(|(name, line)| {
            let failed = fact(1, Predicate::FailedWith, (EntityKind::Command, "tsc"), line);
            with_object(failed, EntityKind::Error, name)
        })
        .collect();
    facts.push(fact(2, Predicate::FixedBy, (EntityKind::Error, errors[1].0), "edited src/b.ts"));
    store_facts(&home, ANNA, 0, &facts);
    for query in ["error TS2345", "ts2345"] {
        let report = fix(&home.engine(), query);
        let found: Vec<&str> = report.errors.iter().map(|error| error.signature.as_str()).collect();
        assert_eq!(found, [errors[1].0, errors[0].0], "what was fixed comes first");
        assert_eq!(report.errors[0].shared_code.as_deref(), Some("TS2345"));
    }
    let other = fix(&home.engine(), "a.ts(1,2): error TS2345: Argument of type 'X' is not assignable to 'Y'");
    assert_eq!(other.errors[0].signature, errors[1].0, "the fix of an error with the same code");
    assert!(fix(&home.engine(), "error TS9999").errors.is_empty());
}

#[test]
fn error_is_found_in_very_long_output() {
    let noise = "   Compiling some-crate v0.1.0\n".repeat(5_000);
    let report = fix(&home_with_fix().engine(), &format!("{noise}error: no such table: 'x'\n"));
    assert_eq!(report.errors[0].signature, ERROR);
}

#[test]
fn facts_of_another_session_count_until_they_are_removed() {
    let home = home_with_fix();
    session(&home, BEN, "/p", &["again"]);
    let again = fact(5, Predicate::NotFixedBy, (EntityKind::Error, ERROR), "ran `sqlx migrate run`");
    store_facts(&home, BEN, 0, &[again]);
    assert!(fix(&home.engine(), ERROR).errors[0].fixes.fixes.is_empty(), "it helped once and failed once");
    store_facts(&home, BEN, 0, &[]);
    assert_eq!(fix(&home.engine(), ERROR).errors[0].fixes.fixes.len(), 1);
}

#[test]
fn decisions_are_reported_as_of_a_time() {
    // S003-22
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["use mysql", "no, postgres"]);
    let mysql = fact(1, Predicate::Decided, (EntityKind::Decision, "mysql"), "let us use mysql");
    let postgres = Fact {
        reason: Some("because of its JSON columns".to_owned()),
        ..fact(9, Predicate::Decided, (EntityKind::Decision, "postgres"), "postgres instead of mysql")
    };
    store_facts(&home, ANNA, 0, &[mysql]);
    store_facts(&home, ANNA, 1, &[with_object(postgres, EntityKind::Decision, "mysql")]);
    let reported = |request: DecisionRequest| -> Vec<(String, &'static str)> {
        let found = home.engine().facts().decisions(&DecisionRequest { scope: here(), ..request }).unwrap();
        found.into_iter().map(|one| (one.subject, one.state.decision_name())).collect()
    };
    assert_eq!(reported(DecisionRequest::default()), [("postgres".to_owned(), "accepted")]);
    let all = DecisionRequest { include_inactive: true, ..DecisionRequest::default() };
    assert_eq!(reported(all), [("postgres".to_owned(), "accepted"), ("mysql".to_owned(), "superseded")]);
    let then = DecisionRequest { as_of: Some("2026-03-05".to_owned()), ..DecisionRequest::default() };
    assert_eq!(reported(then), [("mysql".to_owned(), "accepted")]);
    let that_day = DecisionRequest { as_of: Some("2026-03-09".to_owned()), ..DecisionRequest::default() };
    assert_eq!(reported(that_day), [("postgres".to_owned(), "accepted")], "a day counts to its end");
    let about = DecisionRequest { query: "json".to_owned(), ..DecisionRequest::default() };
    assert_eq!(reported(about).len(), 1);
    let wrong = DecisionRequest { as_of: Some("teatime".to_owned()), ..DecisionRequest::default() };
    assert!(matches!(home.engine().facts().decisions(&wrong), Err(EngineError::InvalidTime(_))));
}

#[test]
fn workflows_report_sequences_and_failing_commands() {
    // S003-23
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["one", "two", "three"]);
    let ran = Fact { failure_count: 2, ..fact(1, Predicate::Ran, (EntityKind::Command, "python"), "python x.py") };
    for exchange in 0..3 {
        let edit = (EntityKind::Command, "edit");
        let sequence = fact(1, Predicate::Sequence, edit, "Read > Edit > test:cargo test > commit:git commit");
        store_facts(&home, ANNA, exchange, &[sequence, ran.clone()]);
    }
    let found = home.engine().facts().workflows(&WorkflowRequest { scope: here(), as_of: None }).unwrap();
    assert_eq!(found[0].sequences[0].steps, ["Read", "Edit", "cargo test", "git commit"]);
    assert_eq!(found[0].sequences[0].count, 3);
    assert!(found[0].commands[0].usually_fails());
    let elsewhere = WorkflowRequest { scope: SessionScope::Project("/q".to_owned()), as_of: None };
    assert!(home.engine().facts().workflows(&elsewhere).unwrap().is_empty());
}

/// A file that was created, renamed and edited.
fn home_with_renamed_file() -> TestHome {
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["write the parser\nin Rust", "call it reader"]);
    let created = fact(1, Predicate::Created, (EntityKind::File, "src/parser.rs"), "");
    let moved = fact(2, Predicate::Renamed, (EntityKind::File, "src/parser.rs"), "");
    let edited = fact(3, Predicate::Edited, (EntityKind::File, "src/reader.rs"), "");
    let error = (EntityKind::Error, "error: unexpected end");
    let fixed = fact(3, Predicate::FixedBy, error, "edited src/reader.rs");
    let rule = fact(3, Predicate::Decided, (EntityKind::Decision, "no unsafe"), "no unsafe in reader.rs");
    store_facts(&home, ANNA, 0, &[created]);
    store_facts(&home, ANNA, 1, &[with_object(moved, EntityKind::File, "src/reader.rs"), edited, fixed, rule]);
    home
}

#[test]
fn file_history_covers_all_names_of_the_file() {
    // S003-22
    let home = home_with_renamed_file();
    let request = FileRequest { path: "src/reader.rs".to_owned(), scope: here(), limit: 20, ..FileRequest::default() };
    let found = home.engine().facts().file_history(&request).unwrap();
    assert_eq!(found.names, ["src/reader.rs", "src/parser.rs"]);
    let reported: Vec<_> = found
        .touches
        .iter()
        .map(|touch| (touch.prompt.as_deref(), touch.actions.iter().map(|action| action.predicate).collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        reported,
        [
            (Some("call it reader"), vec![Predicate::Renamed, Predicate::Edited]),
            (Some("write the parser"), vec![Predicate::Created]),
        ]
    );
    assert_eq!(found.fixes[0].0, "error: unexpected end");
    assert_eq!(found.decisions[0].subject, "no unsafe");
    let later = FileRequest { since: Some("2026-03-02".to_owned()), ..request.clone() };
    assert_eq!(home.engine().facts().file_history(&later).unwrap().touches.len(), 1);
    let first = FileRequest { limit: 1, ..request };
    let found = home.engine().facts().file_history(&first).unwrap();
    assert_eq!((found.touches.len(), found.total), (1, 2));
}

#[test]
fn file_is_found_by_any_form_of_its_path() {
    let home = home_with_renamed_file();
    let below = Environment { cwd: "/p/src".into(), ..home.environment() };
    let below = Engine::open(below).unwrap();
    let name = |engine: &Engine, path: &str| {
        let request = FileRequest { path: path.to_owned(), scope: here(), limit: 5, ..FileRequest::default() };
        engine.facts().file_history(&request).map(|found| found.names.into_iter().next())
    };
    for path in ["reader.rs", "./reader.rs", "../src/reader.rs", "src/reader.rs", "/p/src/reader.rs"] {
        assert_eq!(name(&below, path).unwrap().as_deref(), Some("src/reader.rs"), "{path}");
    }
    assert_eq!(name(&below, "other.rs").unwrap(), None);
    store_facts(&home, ANNA, 0, &[fact(1, Predicate::Read, (EntityKind::File, "old/reader.rs"), "")]);
    let found = name(&home.engine(), "reader.rs");
    assert!(matches!(found, Err(EngineError::AmbiguousFile { candidates, .. }) if candidates.len() == 2));
}

#[test]
fn entity_is_reported_with_evidence_as_of_a_time() {
    let home = home_with_fix();
    let about = |entity: Option<&str>, as_of: Option<&str>| {
        let request = FactsRequest {
            entity: entity.map(str::to_owned),
            as_of: as_of.map(str::to_owned),
            scope: here(),
            limit: 10,
            ..FactsRequest::default()
        };
        home.engine().facts().about(&request).unwrap()
    };
    let FactsReport::About { subject: thing, facts, graph, .. } = about(Some("cargo test --workspace"), None) else {
        panic!("a command is known by its program and subcommand")
    };
    assert_eq!((thing.entity.name.as_str(), thing.facts, facts.len()), ("cargo test", 2, 2));
    assert!(matches!(&graph.nodes[1].item, GraphItem::Entity(error) if error.name == ERROR));
    let predicates: Vec<&str> =
        graph.edges.iter().filter(|edge| edge.to == 0 || edge.from == 0).map(|edge| edge.predicate.as_str()).collect();
    assert_eq!(predicates, ["fixed_by", "failed_with"]);
    let FactsReport::About { facts, .. } = about(Some("cargo test"), Some("2026-03-01")) else {
        panic!("it had failed")
    };
    assert_eq!(facts.len(), 1, "the fix came a day later");
    let FactsReport::Entities(things) = about(None, None) else { panic!("nothing was named") };
    assert_eq!(
        things.iter().map(|thing| thing.entity.kind).collect::<Vec<_>>(),
        [EntityKind::Command, EntityKind::Error]
    );
    assert!(about(Some("nothing like it"), None).is_empty());
}

#[test]
fn queries_in_an_empty_home_create_nothing() {
    let home = TestHome::new();
    let engine = home.engine();
    assert!(fix(&engine, "error: x").is_empty());
    assert!(engine.facts().decisions(&DecisionRequest::default()).unwrap().is_empty());
    assert!(engine.facts().workflows(&WorkflowRequest::default()).unwrap().is_empty());
    assert!(engine.facts().file_history(&FileRequest::default()).unwrap().names.is_empty());
    assert!(engine.facts().about(&FactsRequest::default()).unwrap().is_empty());
    assert!(!home.path(".rethread").exists());
}

#[test]
fn graph_of_a_busy_file_shows_decisions_fixes_and_causes_first() {
    // S003-21
    let home = TestHome::new();
    session(&home, ANNA, "/p", &["the pool is too small", "and now the docs"]);
    let file = (EntityKind::File, "src/db.ts");
    let error = (EntityKind::Error, ERROR);
    let mut facts: Vec<Fact> = (1..20).map(|day| fact(day, Predicate::Edited, file, "")).collect();
    let fixed = fact(3, Predicate::FixedBy, error, "src/db.ts: max: 5 → max: 20");
    facts.push(with_object(fixed, EntityKind::Command, "npm test"));
    facts.push(fact(2, Predicate::Decided, (EntityKind::Decision, "pool"), "keep the pool in src/db.ts"));
    facts.push(fact(2, Predicate::Decided, (EntityKind::Decision, "other"), "keep it in lib/src/db.ts"));
    facts.push(with_object(fact(2, Predicate::CausedBy, error, "the pool is too small"), file.0, file.1));
    store_facts(&home, ANNA, 0, &facts);
    let entity = Some(file.1.to_owned());
    let request = FactsRequest { entity, scope: here(), limit: 4, ..FactsRequest::default() };
    let FactsReport::About { facts, graph, .. } = home.engine().facts().about(&request).unwrap() else {
        panic!("the file is not found");
    };
    let shown = |predicate: Predicate| predicate.as_str();
    let edges: Vec<_> = graph.edges.iter().take(4).map(|edge| (shown(edge.predicate), edge.detail.as_str())).collect();
    let expected = [
        ("decided", "keep the pool in src/db.ts"),
        ("fixed_by", "src/db.ts: max: 5 → max: 20"),
        ("caused_by", "the pool is too small"),
        ("edited", ""),
    ];
    assert_eq!(edges, expected);
    let listed: Vec<_> = facts.iter().map(|known| shown(known.fact.predicate)).collect();
    assert_eq!(listed, ["decided", "fixed_by", "caused_by", "edited"]);
    let past = FactsRequest { as_of: Some("2026-03-02".to_owned()), ..request };
    let FactsReport::About { graph, .. } = home.engine().facts().about(&past).unwrap() else {
        panic!("the file is not found");
    };
    assert!(graph.edges.iter().all(|edge| edge.predicate != Predicate::FixedBy), "it was not fixed yet");
}
