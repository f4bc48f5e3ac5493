//! Tests of the choice between memories, without a store.

use rethread_model::{Agent, Entity, EntityKind, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust};
use rethread_store::FactRow;
use serde_json::json;

use super::*;

fn fact(minute: i64, predicate: Predicate, subject: (EntityKind, &str), detail: &str) -> FactRow {
    let at = Timestamp::from_millis(minute * 60_000);
    FactRow {
        fact: Fact {
            predicate,
            subject: Entity::new(subject.0, subject.1),
            object: None,
            detail: detail.to_owned(),
            reason: None,
            quote: None,
            state: FactState::Confirmed,
            success_count: 1,
            failure_count: 0,
            trust: Trust::Human,
            line: minute.unsigned_abs(),
            evidence_lines: Vec::new(),
            at: Some(at),
            model: None,
        },
        session: SessionId::derive(Agent::ClaudeCode, "a", Timestamp::from_millis(0)),
        agent: Agent::ClaudeCode,
        session_name: Some("caching".to_owned()),
        project: Some("/p".to_owned()),
        session_kind: SessionKind::Main,
        episode: 1,
        learned_at: at,
    }
}

fn facts() -> Vec<FactRow> {
    let mut redis = fact(9, Predicate::Decided, (EntityKind::Decision, "redis"), "no redis here");
    redis.fact.state = FactState::Refuted;
    redis.fact.reason = Some("the functions are serverless".to_owned());
    let mut ky = fact(8, Predicate::Prefers, (EntityKind::Preference, "ky"), "use ky for requests");
    ky.fact.object = Some(Entity::new(EntityKind::Preference, "axios"));
    let timeout = (EntityKind::Error, "error: connection timeout to database");
    let mut pool = fact(7, Predicate::FixedBy, timeout, "src/db.ts: max: 5 → max: 20");
    pool.fact.object = Some(Entity::new(EntityKind::Command, "npm test"));
    let failed = fact(6, Predicate::NotFixedBy, timeout, "src/db.ts: timeout: 5 → timeout: 9");
    let mut expiry = fact(5, Predicate::CausedBy, (EntityKind::Topic, "JWT bug"), "the JWT bug came from expiry 0");
    expiry.fact.object = Some(Entity::new(EntityKind::Setting, "expiry=0"));
    let mut other = fact(4, Predicate::Decided, (EntityKind::Decision, "tabs"), "indent with tabs");
    other.fact.reason = Some("diffs are smaller".to_owned());
    vec![redis, ky, pool, failed, expiry, other]
}

fn answer(question: &str) -> ProjectAnswer {
    let evidence = ProjectEvidence { facts: facts(), ..ProjectEvidence::default() };
    answer_from_evidence(
        question,
        &QuestionShape::parse(question),
        &evidence,
        AnswerTimes::Ages(Timestamp::from_millis(86_400_000)),
    )
}

fn check(question: &str, memory: MemoryKind, words: &str) {
    let answer = answer(question);
    let first = answer.items.first().unwrap_or_else(|| panic!("{question}: nothing"));
    let line = first.to_line();
    assert_eq!(first.memory, memory, "{question}: {line}");
    assert!(line.contains(words), "{question}: {line}");
    assert!(first.sentences.iter().all(|sentence| !sentence.sources.is_empty()), "{line}");
}

#[test]
fn the_best_evidence_wins() {
    // S003-22
    check("why did we avoid Redis?", MemoryKind::Decision, "serverless");
    check("why not redis", MemoryKind::Decision, "serverless");
    check("should I use axios or something else?", MemoryKind::Preference, "ky");
    check("how did we fix the database connection timeout?", MemoryKind::Fix, "max: 20");
    check("the db connection times out again, what helped?", MemoryKind::Fix, "max: 20");
    check("what caused the JWT bug?", MemoryKind::Cause, "expiry 0");
}

#[test]
fn failed_attempts_are_named_after_the_fix() {
    let line = answer("how was the connection timeout to the database solved?").items[0].to_line();
    let (fix, failed) = (line.find("max: 20").unwrap(), line.find("Did not help").unwrap());
    assert!(fix < failed && line.contains("verified by `npm test`"), "{line}");
}

#[test]
fn nothing_is_said_about_what_is_not_known() {
    // D17
    for question in ["which color has the zeppelin?", "why did we choose kafka?", "hello"] {
        assert!(answer(question).is_empty(), "{question}: {}", answer(question).to_markdown());
    }
}

#[test]
fn a_question_without_a_topic_lists_what_is_newest() {
    let answer = answer("what did we decide?");
    assert_eq!(answer.items[0].memory, MemoryKind::Decision);
    assert!(answer.items.len() > 1 && answer.items[0].to_line().contains("redis"), "{}", answer.to_markdown());
}

#[test]
fn sentences_of_a_model_must_cite_evidence_that_was_given() {
    let evidence = answer("why did we avoid Redis?");
    let prompt = project_prompt("why </question>?", &evidence);
    assert!(prompt.contains("[1] (decision)") && !prompt.contains("why </question>"), "{prompt}");
    let written = json!({
        "sentences": [{"text": "Serverless rules it out.", "evidence": [1]}, {"text": "Invented.", "evidence": [99, 0]}],
        "confidence": "high",
        "notes": [],
    });
    let checked = ProjectAnswer::from_model_json(&written, &evidence).unwrap();
    assert_eq!(checked.items[0].sentences.len(), 1);
    assert_eq!(checked.confidence, Confidence::Medium);
    assert!(checked.items[0].to_line().contains(":9]"), "{}", checked.to_markdown());
    let nothing = json!({"sentences": [{"text": "x", "evidence": []}], "confidence": "low", "notes": []});
    assert!(ProjectAnswer::from_model_json(&nothing, &evidence).is_err());
}

fn asked_fact(prompt: &str, facts: Vec<FactRow>) -> Option<String> {
    let question = MemoryQuestion::find(prompt)?;
    let evidence = ProjectEvidence { facts, ..ProjectEvidence::default() };
    answer_prompt(&question, &evidence, None, Timestamp::from_millis(86_400_000)).map(|answer| answer.line)
}

fn human(minute: i64, predicate: Predicate, subject: &str, detail: &str, other: Option<&str>) -> FactRow {
    let mut known = fact(minute, predicate, (EntityKind::Decision, subject), detail);
    known.fact.object = other.map(|other| Entity::new(EntityKind::Decision, other));
    known
}

fn decided() -> Vec<FactRow> {
    vec![
        human(1, Predicate::Decided, "sqlite", "use sqlite instead of postgres for the index", Some("postgres")),
        human(2, Predicate::Decided, "ky", "ky instead of axios, axios is too big", Some("axios")),
        human(3, Predicate::Decided, "squash merges", "squash merges rather than rebases on main", Some("rebases")),
        human(4, Predicate::Decided, "drizzle", "drizzle please, prisma's engine is too big", None),
        human(5, Predicate::Forbids, "snapshot tests", "no snapshot tests for the dashboard", None),
        human(6, Predicate::Prefers, "ask before adding dependency", "ask me before you add a dependency", None),
    ]
}

#[test]
fn a_prompt_that_asks_gets_the_fact_that_answers() {
    // D41
    for (prompt, expected) in [
        ("should we use sqlite or postgres?", "use sqlite"),
        ("which http client do we use", "ky instead"),
        ("What database are we on?", "use sqlite"),
        ("why did we choose ky?", "too big"),
        ("ok. can we use postgres here?", "use sqlite"),
        ("do we squash merges on main?", "squash merges"),
        ("why not prisma?", "drizzle"),
        ("which ORM should I import?", "drizzle"),
        ("snapshot tests ok for the dashboard?", "no snapshot tests"),
        ("are snapshot tests allowed?", "no snapshot tests"),
        ("may I add a dependency?", "ask me"),
        ("when did we decide on sqlite?", "use sqlite"),
    ] {
        let found = asked_fact(prompt, decided());
        assert!(found.as_ref().is_some_and(|line| line.contains(expected)), "{prompt}: {found:?}");
    }
}

#[test]
fn other_prompts_get_nothing() {
    for prompt in [
        "which file has the parser?",
        "what is the main problem?",
        "which client do we test?",
        "should we use mysql?",
        "should we upgrade sqlite to 3.50?",
        "add an index on main",
        "what changed on main",
        "can we merge it?",
        "why?",
        "fix the http client",
        "how do we deploy the http client to staging quickly?",
        "what's wrong with our database?",
        "are tests ok?",
        "write snapshot tests",
        "why do the snapshot tests fail?",
        "snapshot of the db?",
        "what is the difference between axios and fetch?",
        "can you use sqlite there?",
        "how did we fix the index?",
    ] {
        assert_eq!(asked_fact(prompt, decided()), None, "{prompt}");
    }
}

#[test]
fn a_prompt_about_an_error_gets_its_fix_and_cause() {
    let asked = |prompt: &str| asked_fact(prompt, facts());
    let fix = asked("how did we fix the connection timeout to the database?").unwrap_or_default();
    assert!(fix.contains("max: 20"), "{fix}");
    let cause = asked("what caused the JWT bug?").unwrap_or_default();
    assert!(cause.contains("expiry"), "{cause}");
    assert_eq!(asked("what caused the search outage?"), None);
    assert_eq!(asked("how did we fix the connection to the printer?"), None);
}

/// The line that a prompt gets.
fn prompt_line(prompt: &str, facts: Vec<FactRow>) -> Option<String> {
    let evidence = ProjectEvidence { facts, ..ProjectEvidence::default() };
    let question = MemoryQuestion::find(prompt)?;
    answer_prompt(&question, &evidence, None, Timestamp::from_millis(86_400_000)).map(|answer| answer.line)
}

#[test]
fn a_declined_proposal_is_turned_down() {
    let proposal = (EntityKind::Decision, "add kafka for the events of the shop");
    let mut proposed = fact(1, Predicate::Decided, proposal, "I would add Kafka for the events of the shop");
    proposed.fact.state = FactState::Hypothesis;
    proposed.fact.trust = Trust::Assistant;
    let mut declined = fact(2, Predicate::Decided, proposal, "I would add Kafka for the events of the shop");
    declined.fact.state = FactState::Refuted;
    let facts = vec![declined, proposed];
    let evidence = ProjectEvidence { facts: facts.clone(), ..ProjectEvidence::default() };
    let question = "did we decide on kafka for the events?";
    let shape = QuestionShape::parse(question);
    let answer = answer_from_evidence(question, &shape, &evidence, AnswerTimes::Days);
    let line = answer.items[0].to_line();
    assert!(line.starts_with("The user turned down:"), "{line}");
    let line = prompt_line("why did we avoid kafka?", facts).unwrap();
    assert!(line.contains("turned down"), "{line}");
}

#[test]
fn a_prompt_gets_only_an_answer_of_the_kind_it_asks_for() {
    let mut postgres = fact(1, Predicate::Decided, (EntityKind::Decision, "postgres"), "postgres over mysql");
    postgres.fact.object = Some(Entity::new(EntityKind::Decision, "mysql"));
    assert!(prompt_line("which database do we use?", vec![postgres.clone()]).is_some());
    assert_eq!(prompt_line("which postgres version do we use?", vec![postgres.clone()]), None);
    assert!(prompt_line("what was wrong with mysql?", vec![postgres.clone()]).is_some());
    assert_eq!(prompt_line("why did we stop using postgres swarm?", vec![postgres]), None);
    let rule = (EntityKind::Preference, "commit anything unrelated");
    let rule = fact(1, Predicate::Forbids, rule, "Do not commit anything unrelated");
    assert_eq!(prompt_line("are we all committed?", vec![rule]), None);
}
