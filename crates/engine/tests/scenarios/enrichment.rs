//! A model adds facts to ended sessions: which are accepted, what they cost, and what happens when the model fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    Clock, DecisionRequest, Engine, EnrichOutcome, EnrichReport, EnrichStop, ForgetTarget, NanoUsd, SessionScope,
    SessionType, SyncRequest,
};
use rethread_model::{Fact, FactState, Predicate, Timestamp, Trust};
use rethread_store::FactQuery;
use rethread_testing::{StubModel, StubReply, TestHome, TranscriptBuilder};
use serde_json::{Value, json};

use crate::session_helpers::{at, transcript};
use crate::turns::environment;

const ON: (&str, &str) = ("facts.model", "true");

fn id(number: u64) -> String {
    format!("eeee1011-0000-4000-8000-{number:012}")
}

/// Adds a prompt and an answer: two lines, one minute each.
fn exchange(home: &TestHome, session: &str, minute: i64, prompt: &str, answer: &str) {
    let lines = TranscriptBuilder::new(session).ids(&format!("{session}-{minute}")).times(at(minute - 1), 60);
    home.append(&transcript(session), lines.user(prompt).assistant(answer).build());
}

/// A home with that many synced sessions of two exchanges, which ended long ago.
fn home(sessions: u64) -> TestHome {
    let home = TestHome::new();
    for number in 1..=sessions {
        let (session, minute) = (id(number), number as i64 * 10);
        exchange(&home, &session, minute, "where do we keep the parts?", "I would suggest a plain table.");
        exchange(&home, &session, minute + 2, "the table it is, a tree was too slow", "Done.");
    }
    home.sync();
    home
}

/// An engine with model facts switched on and its clock at that minute.
fn engine(home: &TestHome, server: &StubModel, minutes: i64, more: &[(&str, &str)]) -> Engine {
    let settings: Vec<(&str, &str)> = std::iter::once(ON).chain(more.iter().copied()).collect();
    let mut environment = environment(home, server, &settings);
    environment.clock = Clock::Frozen(at(minutes));
    Engine::open(environment).unwrap()
}

fn fact(lines: &Value) -> Value {
    json!({"predicate": "decided", "subject": "plain table", "object": "tree", "state": "accepted",
        "detail": "The parts are kept in a plain table", "reason": "a tree was too slow", "lines": lines})
}

fn facts_reply(facts: &Value) -> StubReply {
    StubReply::json(&json!({"facts": facts}))
}

fn enrich(engine: &Engine) -> EnrichReport {
    engine.enrichment().run(None).unwrap()
}

/// The facts a model added, oldest first.
fn added(home: &TestHome) -> Vec<Fact> {
    let facts = home.store().facts(&FactQuery::default()).unwrap();
    facts.into_iter().rev().map(|known| known.fact).filter(|fact| fact.model.is_some()).collect()
}

fn outcomes(report: &EnrichReport) -> Vec<&EnrichOutcome> {
    report.sessions.iter().map(|reported| &reported.outcome).collect()
}

fn waits_until(report: &EnrichReport) -> Timestamp {
    match outcomes(report)[..] {
        [EnrichOutcome::Retry { until, .. }] => *until,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn model_adds_facts_that_cite_entries() {
    // L003-17
    let home = home(1);
    let mut secret = fact(&json!([3]));
    secret["subject"] = json!("the key");
    secret["detail"] = json!(format!("The key is ghp_{}", "q7Zx".repeat(9)));
    let wrong = [fact(&json!([])), fact(&json!([99])), fact(&json!([2]))];
    let mut reported = vec![fact(&json!([2, 3])), fact(&json!([3])), secret];
    reported.extend(wrong);
    let server = StubModel::with_replies(vec![facts_reply(&json!(reported))]);
    let report = enrich(&engine(&home, &server, 600, &[]));
    assert_eq!((report.sessions[0].added, report.sessions[0].dropped, report.sessions[0].tokens), (2, 4, 24));
    assert_eq!((outcomes(&report), report.queued), (vec![&EnrichOutcome::Done], 0));
    assert_eq!(report.sessions[0].cost, Some(NanoUsd::ZERO));
    let facts = added(&home);
    let chosen = facts.iter().find(|fact| fact.subject.name == "plain table").unwrap();
    assert_eq!(
        (chosen.predicate, chosen.state, chosen.trust),
        (Predicate::Decided, FactState::Confirmed, Trust::Assistant)
    );
    assert_eq!((chosen.line, &chosen.evidence_lines, chosen.model.as_deref()), (3, &vec![2], Some("openai/small")));
    assert_eq!((chosen.at, chosen.reason.as_deref()), (Some(at(12)), Some("a tree was too slow")));
    assert!(facts.iter().all(|fact| !fact.detail.contains("ghp_q7Z")), "{facts:?}");
    let sent = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("[1 human]\nwhere do we keep the parts?\n\n[2 assistant]\nI would suggest"), "{sent}");
    let request = DecisionRequest { scope: SessionScope::AllProjects, ..DecisionRequest::default() };
    let decisions = home.engine().facts().decisions(&request).unwrap();
    assert!(decisions.iter().any(|decision| decision.subject == "plain table" && decision.is_open()), "{decisions:?}");
    // A session is sent again only after it has continued and ended again.
    assert!(enrich(&engine(&home, &server, 601, &[])).sessions.is_empty());
    exchange(&home, &id(1), 620, "never use a tree again", "Understood.");
    home.sync();
    assert!(enrich(&engine(&home, &server, 630, &[])).sessions.is_empty(), "it has not ended");
    let rule = json!([{"predicate": "forbids", "subject": "trees", "object": null, "state": null,
        "detail": "Never use a tree", "reason": null, "lines": [5]}]);
    server.push(facts_reply(&rule));
    assert_eq!(enrich(&engine(&home, &server, 720, &[])).sessions[0].added, 1);
    let sent = server.bodies()[1]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("[5 human]\nnever use a tree again") && !sent.contains("[4 "), "{sent}");
}

#[test]
fn fixes_of_a_model_that_switch_a_check_off_are_dropped() {
    // D36
    let home = home(1);
    let fix = |detail: &str| {
        json!({"predicate": "fixed_by", "subject": "error: the import of parts is unused", "object": "npm run lint",
            "state": null, "detail": detail, "reason": null, "lines": [2]})
    };
    let reported = json!([fix("added // eslint-disable-next-line"), fix("removed the import of parts")]);
    let server = StubModel::with_replies(vec![facts_reply(&reported)]);
    let report = enrich(&engine(&home, &server, 600, &[]));
    assert_eq!((report.sessions[0].added, report.sessions[0].dropped), (1, 1));
    assert!(added(&home).iter().all(|fact| !fact.detail.contains("eslint-disable")));
}

#[test]
fn known_facts_are_not_added_and_re_extraction_keeps_model_facts() {
    // L003-17
    let home = TestHome::new();
    exchange(&home, &id(1), 1, "always use pnpm for the site", "I will.");
    exchange(&home, &id(1), 3, "now write the header", "Written.");
    home.sync();
    let by_rules = home.facts();
    let rule = by_rules.lines().find(|line| line.starts_with("prefers | ")).unwrap().to_owned();
    let subject = rule.split(" | ").nth(1).unwrap();
    let same = json!({"predicate": "prefers", "subject": subject.to_uppercase(), "object": null, "state": null,
        "detail": "Always use pnpm", "reason": null, "lines": [1]});
    let server = StubModel::with_replies(vec![facts_reply(&json!([same, fact(&json!([3]))]))]);
    let report = enrich(&engine(&home, &server, 600, &[]));
    assert_eq!((report.sessions[0].added, report.sessions[0].dropped), (1, 1));
    let both = home.facts();
    assert_eq!(both.lines().count(), by_rules.lines().count() + 1);
    let mut store = home.store();
    let number = store.enrichable_sessions().unwrap();
    assert!(number.is_empty());
    let (session, _) = store
        .session_by_external_id(rethread_store::SessionKey {
            agent: rethread_model::Agent::ClaudeCode,
            external_id: &id(1),
        })
        .unwrap()
        .unwrap();
    let mut batch = store.begin().unwrap();
    batch.set_fact_rules_version(session, 0).unwrap();
    batch.commit().unwrap();
    drop(store);
    home.sync();
    assert_eq!(home.facts(), both);
}

#[test]
fn no_request_when_off_or_without_budget() {
    // L003-17
    let home = home(1);
    let server = StubModel::with_replies(Vec::new());
    for (settings, reported) in [
        ([("facts.model", "false"), ("model.window", "9000")], "facts.model is false"),
        ([("facts.enabled", "false"), ("model.window", "9000")], "facts.enabled is false"),
        ([("budget.daily_tokens", "0"), ("model.window", "9000")], "no budget is set"),
    ] {
        let engine = engine(&home, &server, 600, &settings);
        engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
        let report = enrich(&engine);
        assert!(
            matches!(&report.stop_reason, Some(EnrichStop::Disabled(why)) if why.contains(reported)),
            "{:?}",
            report.stop_reason
        );
        let status = engine.reports().status().unwrap().enrichment;
        assert_eq!((status.level, status.queued), (2, 0), "E003-15");
    }
    let without = engine(&home, &server, 600, &[("model.provider", "none")]);
    assert!(matches!(enrich(&without).stop_reason, Some(EnrichStop::NoModel(_))));
    assert_eq!(without.reports().status().unwrap().enrichment.level, 2);
    let plan = engine(&home, &server, 600, &[]).enrichment().plan(None).unwrap();
    assert_eq!((plan.sessions.len(), plan.sessions[0].requests, plan.refusal_reason), (1, 1, None));
    assert!(plan.sessions[0].planned.input_tokens > 100 && plan.sessions[0].planned.cost == Some(NanoUsd::ZERO));
    assert_eq!(
        engine(&home, &server, 600, &[]).reports().status().unwrap().enrichment.queued,
        0,
        "reading writes nothing"
    );
    assert!(server.bodies().is_empty());
}

#[test]
fn failed_session_is_retried_five_times_with_backoff() {
    // E003-16
    let home = home(1);
    let server = StubModel::with_replies(Vec::new());
    let mut minute = 600;
    for wait in [5, 15, 45, 120, 360] {
        server.push(StubReply::Status(503));
        let report = enrich(&engine(&home, &server, minute, &[]));
        assert_eq!(waits_until(&report), at(minute + wait));
        let early = enrich(&engine(&home, &server, minute + wait - 1, &[]));
        assert!(early.sessions.is_empty());
        minute += wait;
    }
    let level = engine(&home, &server, minute, &[]).reports().status().unwrap().enrichment;
    assert_eq!((level.level, level.queued, level.retrying, level.failed), (1, 1, 1, 0), "E003-15");
    server.push(StubReply::Status(503));
    let last = engine(&home, &server, minute, &[]);
    assert!(matches!(outcomes(&enrich(&last))[..], [EnrichOutcome::GivenUp { .. }]));
    assert_eq!(server.bodies().len(), 6);
    let status = last.reports().status().unwrap().enrichment;
    assert_eq!((status.queued, status.failed, status.last_failures.len()), (0, 1, 1), "E003-17");
    let failures = last.enrichment().failures().unwrap();
    assert_eq!((failures[0].attempts, failures[0].failed_at), (6, at(minute)));
    assert!(failures[0].reason.contains("503"), "{}", failures[0].reason);
    assert!(enrich(&engine(&home, &server, minute + 10_000, &[])).sessions.is_empty());
    // After clearing, the session is queued again.
    server.push(facts_reply(&json!([])));
    assert_eq!(last.enrichment().clear_failures().unwrap(), 1);
    let report = enrich(&engine(&home, &server, minute + 10_000, &[]));
    assert_eq!(outcomes(&report), [&EnrichOutcome::Done]);
    assert_eq!(engine(&home, &server, minute, &[]).reports().status().unwrap().enrichment.level, 0);
}

#[test]
fn three_failures_in_a_row_pause_the_other_sessions() {
    // E003-16
    let home = home(5);
    let server = StubModel::with_replies(vec![StubReply::Status(500), StubReply::Status(500), StubReply::Status(500)]);
    let report = enrich(&engine(&home, &server, 600, &[]));
    assert_eq!((report.sessions.len(), report.queued, server.bodies().len()), (3, 5, 3));
    assert!(
        matches!(report.stop_reason, Some(EnrichStop::Paused { until }) if until == at(605)),
        "{:?}",
        report.stop_reason
    );
    let held = enrich(&engine(&home, &server, 604, &[]));
    assert!(held.sessions.is_empty() && matches!(held.stop_reason, Some(EnrichStop::Paused { .. })));
    // The next request is a probe; if it fails, all sessions wait again.
    server.push(StubReply::Status(500));
    let report = enrich(&engine(&home, &server, 605, &[]));
    assert_eq!((report.sessions.len(), server.bodies().len()), (1, 4));
    assert!(matches!(report.stop_reason, Some(EnrichStop::Paused { .. })));
    for _ in 0..5 {
        server.push(facts_reply(&json!([])));
    }
    let report = enrich(&engine(&home, &server, 700, &[]));
    assert_eq!((report.sessions.len(), report.queued), (5, 0));
    assert!(report.stop_reason.is_none());
    assert_eq!(engine(&home, &server, 700, &[]).reports().status().unwrap().enrichment.level, 0);
}

#[test]
fn unusable_answers_fail_only_their_session() {
    // E003-16
    let home = home(4);
    let server = StubModel::with_replies(vec![StubReply::text("no"); 12]);
    let report = enrich(&engine(&home, &server, 600, &[]));
    assert_eq!((report.sessions.len(), server.bodies().len()), (4, 12));
    assert!(report.stop_reason.is_none());
    assert_eq!(report.queued, 4);
}

#[test]
fn exhausted_budget_waits_for_tomorrow_without_an_attempt() {
    // E003-16
    let home = home(2);
    let server = StubModel::with_replies(Vec::new());
    let poor = engine(&home, &server, 600, &[("budget.daily_tokens", "500")]);
    let report = enrich(&poor);
    let tomorrow: Timestamp = "2026-03-03T00:00:00Z".parse().unwrap();
    for outcome in outcomes(&report) {
        assert!(matches!(outcome, EnrichOutcome::Retry { until, .. } if *until == tomorrow), "{outcome:?}");
    }
    assert_eq!((report.sessions.len(), server.bodies().len()), (2, 0));
    let status = poor.reports().status().unwrap().enrichment;
    assert_eq!((status.queued, status.retrying, status.paused_until), (2, 0, None));
    // An explicit request and the next day do not wait.
    server.push(facts_reply(&json!([])));
    let now = engine(&home, &server, 601, &[]).enrichment().run(Some(&id(1))).unwrap();
    assert_eq!(outcomes(&now), [&EnrichOutcome::Done]);
    server.push(facts_reply(&json!([])));
    assert_eq!(enrich(&engine(&home, &server, 15 * 60, &[])).sessions.len(), 1);
}

#[test]
fn long_session_is_sent_in_parts_and_resumes() {
    // L003-17
    let home = TestHome::new();
    for number in 0..6 {
        exchange(&home, &id(1), number * 2, &"why ".repeat(500), &"because ".repeat(250));
    }
    home.sync();
    // The limit fits the answer, the instructions and little more.
    let small = [("model.window", "8096")];
    let server = StubModel::with_replies(vec![facts_reply(&json!([fact(&json!([1]))])), StubReply::Status(500)]);
    let report = enrich(&engine(&home, &server, 600, &small));
    assert_eq!(report.sessions[0].added, 1);
    let until = waits_until(&report);
    let before = server.bodies().len();
    for _ in 0..9 {
        server.push(facts_reply(&json!([])));
    }
    let report = enrich(&engine(&home, &server, 605, &small));
    assert_eq!((until, outcomes(&report)), (at(605), vec![&EnrichOutcome::Done]));
    let sent = server.bodies()[before]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(!sent.contains("[1 human]"), "the first part is not paid for twice");
    assert_eq!(added(&home).len(), 1);
}

#[test]
fn model_facts_are_forgotten_with_their_session() {
    let home = home(2);
    let server = StubModel::with_replies(vec![facts_reply(&json!([fact(&json!([3]))])), StubReply::Status(500)]);
    enrich(&engine(&home, &server, 600, &[]));
    assert_eq!(added(&home).len(), 1);
    for number in [1, 2] {
        let target = ForgetTarget::Sessions(vec![id(number)]);
        home.engine().forget().run(&target).unwrap();
    }
    assert_eq!(added(&home), []);
    let status = engine(&home, &server, 9_000, &[]).reports().status().unwrap().enrichment;
    assert_eq!((status.queued, status.failed), (0, 0));
    assert!(enrich(&engine(&home, &server, 9_000, &[])).sessions.is_empty());
}

#[test]
fn dry_run_estimates_model_cost_by_session_type() {
    // L003-17
    let home = home(1);
    let server = StubModel::with_replies(Vec::new());
    let request = SyncRequest::default();
    exchange(&home, &id(1), 600, "and then?", "Nothing.");
    exchange(&home, &id(7), 600, "what is new?", "Much.");
    let priced = [("model.price_input", "1"), ("model.price_output", "10")];
    let (runs, estimates) = engine(&home, &server, 601, &priced).sync().plan_with_costs(&request).unwrap();
    assert_eq!(runs.iter().map(|run| run.files_changed).sum::<u64>(), 2);
    let estimates = estimates.unwrap();
    let kinds: Vec<_> = estimates.iter().map(|estimate| (estimate.kind, estimate.sessions)).collect();
    assert_eq!(kinds, [(None, 1), (Some(SessionType::Chat), 1)]);
    for estimate in &estimates {
        assert!((2_100..3_000).contains(&estimate.tokens), "{estimate:?}");
        assert!(estimate.cost.is_some_and(|cost| cost > NanoUsd::ZERO));
    }
    let without = home.engine().sync().plan_with_costs(&request).unwrap().1;
    assert_eq!(without, None, "no model is configured");
    assert!(server.bodies().is_empty());
}

#[test]
fn sync_queues_ended_sessions_without_waiting() {
    // E003-16
    let home = home(1);
    exchange(&home, &id(2), 590, "still here", "Yes.");
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, 600, &[]);
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert_eq!(engine.reports().status().unwrap().enrichment.queued, 1, "the other one has not ended");
    assert!(server.bodies().is_empty());
}
