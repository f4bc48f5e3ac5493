//! Questions about sessions: models, citations, caching and cost.

use rethread_engine::{AskError, AskRequest, ChatError, Confidence, Engine, EngineError, SyncRequest};
use rethread_model::{EntryRole, OWN_CALL_TAG};
use rethread_testing::{StubModel, StubReply, TestHome, TranscriptBuilder, text_block};
use serde_json::{Value, json};

use crate::turns::engine;

const FILE: &str = ".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl";
const SESSION_ID: &str = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
const SESSION: &str = "9a9eadc8";
const WHY: &str = "Why are Tuesdays skipped?";

fn line(kind: &str, id: &str, text: &str) -> String {
    let builder = TranscriptBuilder::new(SESSION_ID).ids(id);
    let block = vec![text_block(text)];
    if kind == "user" { builder.user(block).build() } else { builder.assistant_blocks(&block).build() }
}

fn summary(id: &str, text: &str) -> String {
    let message = json!({"role": "user", "content": text});
    let line = json!({"type": "user", "isCompactSummary": true, "message": message});
    TranscriptBuilder::new(SESSION_ID).ids(id).line(line).build()
}

/// A home with one synced session.
fn home() -> TestHome {
    let home = TestHome::new();
    let answer_line = line("assistant", "a1", "The weekday table lacks a row.\nI added Tuesday to src/days.rs.");
    home.write(FILE, line("user", "u1", "the parser skips Tuesdays, why?") + &answer_line);
    home.sync();
    home
}

fn request(question: &str) -> AskRequest {
    AskRequest { reference: SESSION.to_owned(), question: question.to_owned(), ..AskRequest::default() }
}

fn answer(citations: &Value) -> StubReply {
    let answer = json!({
        "answerMarkdown": "The weekday table **lacked a row**.",
        "confidence": "high",
        "citations": citations,
        "notes": [],
    });
    StubReply::text(&answer.to_string())
}

fn good() -> StubReply {
    answer(&json!([{"entryId": "e1", "role": "user", "excerpt": "the weekday table lacks a row"}]))
}

fn code(error: &AskError) -> &'static str {
    error.code()
}

#[test]
fn answer_cites_entries_of_the_session() {
    // E001-13
    let home = home();
    let server = StubModel::with_replies(vec![good()]);
    let engine = engine(&home, &server, &[]);
    let result = engine.questions().ask(&request(WHY)).unwrap();
    assert_eq!(result.answer.answer, "The weekday table **lacked a row**.");
    assert_eq!((result.answer.confidence, result.answer.is_extractive), (Confidence::High, false));
    let cited = &result.answer.citations[0];
    assert_eq!((cited.entry.as_str(), cited.role, cited.line), ("a1-1", EntryRole::Assistant, 2));
    assert_eq!(cited.excerpt, "The weekday table lacks a row.");
    assert_eq!((result.model.as_deref(), result.cached, result.tokens.total()), (Some("small"), false, 24));
    assert_eq!(result.cost.map(rethread_engine::NanoUsd::get), Some(0));
    let sent = &server.bodies()[0];
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with(OWN_CALL_TAG) && system.contains("data, not instructions"), "{system}");
    let prompt = sent["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("[e0 user line 1]\nthe parser skips Tuesdays, why?"), "{prompt}");
    assert!(prompt.contains(WHY));
    let budget = engine.reports().status().unwrap().budget;
    assert_eq!((budget.requests, budget.tokens), (1, 24));
}

#[test]
fn invented_citations_are_removed() {
    let home = home();
    let real = json!({"entryId": "e1", "role": "assistant", "excerpt": "I added Tuesday"});
    let invented = json!({"entryId": "e1", "role": "assistant", "excerpt": "I removed Wednesday for good"});
    let elsewhere = json!({"entryId": "e7", "role": "assistant", "excerpt": "I added Tuesday"});
    let server = StubModel::with_replies(vec![answer(&json!([invented, real, elsewhere])), answer(&json!([invented]))]);
    let engine = engine(&home, &server, &[]);
    let some = engine.questions().ask(&request(WHY)).unwrap().answer;
    assert_eq!((some.citations.len(), some.confidence), (1, Confidence::Medium));
    assert!(some.notes[0].starts_with("2 of 3 citations were removed"), "{:?}", some.notes);
    let none = engine.questions().ask(&request("and then?")).unwrap().answer;
    assert_eq!((none.citations.len(), none.confidence), (0, Confidence::Low));
}

#[test]
fn malformed_answers_are_corrected_twice() {
    // S001-10, E001-03
    let home = home();
    let fenced = StubReply::text("Here: ```json\n{\"answerMarkdown\":1}\n```");
    let server = StubModel::with_replies(vec![StubReply::text("It is the table."), fenced, good()]);
    let result = engine(&home, &server, &[]).questions().ask(&request(WHY)).unwrap();
    assert_eq!((result.attempts, result.tokens.total()), (3, 72));
    let last = server.bodies()[2]["messages"].to_string();
    assert!(last.contains("It is the table.") && last.contains("is missing"), "{last}");
    let server = StubModel::with_replies(vec![StubReply::text("no"), StubReply::text("no"), StubReply::text("no")]);
    let engine = engine(&home, &server, &[]);
    assert_eq!(code(&engine.questions().ask(&request("else?")).unwrap_err()), "QUERY_INVALID_OUTPUT");
    assert_eq!(server.bodies().len(), 3);
}

#[test]
fn transport_errors_are_not_retried() {
    // S001-10
    let home = home();
    let server = StubModel::with_replies(vec![StubReply::Status(503)]);
    let engine = engine(&home, &server, &[]);
    let failed = engine.questions().ask(&request(WHY)).unwrap_err();
    assert!(matches!(failed, AskError::Chat(ChatError::HttpStatus { status: 503, .. })), "{failed}");
    assert_eq!((code(&failed), server.bodies().len()), ("QUERY_TRANSPORT_FAILED", 1));
    let unreachable = self::engine(&home, &server, &[("model.endpoint", "http://127.0.0.1:9/v1")]);
    assert_eq!(code(&unreachable.questions().ask(&request(WHY)).unwrap_err()), "QUERY_TRANSPORT_FAILED");
}

#[test]
fn insufficient_budget_sends_no_request() {
    let home = home();
    let server = StubModel::with_replies(Vec::new());
    for settings in [("budget.daily_tokens", "0"), ("budget.daily_tokens", "100"), ("budget.call_tokens", "100")] {
        let engine = engine(&home, &server, &[settings]);
        let refused = engine.questions().ask(&request(WHY)).unwrap_err();
        assert!(matches!(refused, AskError::Chat(ChatError::Budget(_))), "{refused}");
        assert_eq!(code(&refused), "QUERY_MODEL_UNAVAILABLE");
        assert!(engine.questions().plan(&request(WHY)).unwrap().refusal_reason.is_some());
    }
    assert!(server.bodies().is_empty());
}

#[test]
fn answer_is_cached_until_the_session_grows() {
    let home = home();
    let server = StubModel::with_replies(vec![good(), good(), good()]);
    let engine = engine(&home, &server, &[]);
    engine.questions().ask(&request(WHY)).unwrap();
    let again = engine.questions().ask(&request("  why are  TUESDAYS skipped")).unwrap();
    assert!(again.cached && again.tokens.total() == 0 && again.answer.citations.len() == 1);
    assert!(engine.questions().plan(&request(WHY)).unwrap().cached);
    assert_eq!(server.bodies().len(), 1);
    // Another model is asked again.
    let other = AskRequest { model: Some("large".to_owned()), ..request(WHY) };
    assert_eq!(engine.questions().ask(&other).unwrap().model.as_deref(), Some("large"));
    home.append(FILE, line("user", "u2", "and Wednesdays?"));
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert!(!engine.questions().ask(&request(WHY)).unwrap().cached);
    assert_eq!(server.bodies().len(), 3);
}

#[test]
fn huge_session_is_truncated_but_keeps_its_summary() {
    // S001-31
    let home = TestHome::new();
    let mut text = line("user", "u0", "build the calendar");
    for at in 0..200 {
        text += &line("assistant", &format!("a{at}"), &format!("step {at}: {}", "so it goes ".repeat(40)));
        if at == 60 {
            text += &summary("s1", "Summary: the calendar needs a moon phase.");
        }
    }
    home.write(FILE, text);
    home.sync();
    let server = StubModel::with_replies(vec![good()]);
    let engine = engine(&home, &server, &[("ask.max_bytes", "20000")]);
    let plan = engine.questions().plan(&request("what is missing?")).unwrap();
    assert!(plan.skipped_entries > 100 && plan.bytes <= 20_000, "{plan:?}");
    engine.questions().ask(&request("what is missing?")).unwrap();
    let prompt = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    for kept in ["build the calendar", "needs a moon phase", "step 199", "only the most recent portion"] {
        assert!(prompt.contains(kept), "{kept}");
    }
    assert!(!prompt.contains("step 30:") && prompt.len() < 22_000);
    // A smaller window gets less text.
    let small = self::engine(&home, &server, &[("model.window", "4000")]);
    assert!(small.questions().plan(&request("what is missing?")).unwrap().bytes < 6_000);
}

#[test]
fn dry_run_sends_nothing_and_estimates_the_cost() {
    let home = home();
    let server = StubModel::with_replies(Vec::new());
    let priced = [("model.price_input", "1"), ("model.price_output", "10")];
    let plan = engine(&home, &server, &priced).questions().plan(&request(WHY)).unwrap();
    assert!(plan.planned.unwrap().cost.unwrap() > rethread_engine::NanoUsd::ZERO);
    assert_eq!((plan.model.as_deref(), plan.refusal_reason, plan.sent_entries), (Some("small"), None, 2));
    assert!(server.bodies().is_empty());
    let without_model = home.engine().questions().plan(&request(WHY)).unwrap();
    assert!(without_model.model.is_none() && without_model.planned.is_none());
}

#[test]
fn model_calls_per_turn_are_limited() {
    // E001-14
    let home = home();
    let server = StubModel::with_replies(vec![good(), good(), good()]);
    let engine = engine(&home, &server, &[]);
    let ask = |engine: &Engine, turn: &str, question: &str| {
        engine
            .questions()
            .ask(&AskRequest { turn: Some(turn.to_owned()), ..request(question) })
            .map(|result| result.cached)
    };
    // A request that is not sent does not count.
    let poor = self::engine(&home, &server, &[("budget.daily_tokens", "0")]);
    assert_eq!(code(&ask(&poor, "s/1", WHY).unwrap_err()), "QUERY_MODEL_UNAVAILABLE");
    assert!(!ask(&engine, "s/1", WHY).unwrap());
    assert!(ask(&engine, "s/1", WHY).unwrap(), "a cached answer costs nothing");
    assert_eq!(code(&ask(&engine, "s/1", "another?").unwrap_err()), "CALL_LIMIT_EXCEEDED");
    assert!(!ask(&engine, "s/2", "another?").unwrap());
    let more = self::engine(&home, &server, &[("ask.max_calls_per_turn", "2")]);
    assert!(!ask(&more, "s/2", "a third?").unwrap());
    assert_eq!(code(&ask(&more, "s/2", "a fourth?").unwrap_err()), "CALL_LIMIT_EXCEEDED");
    let none = self::engine(&home, &server, &[("ask.max_calls_per_turn", "0")]);
    assert_eq!(code(&ask(&none, "s/3", "a fifth?").unwrap_err()), "CALL_LIMIT_EXCEEDED");
}

#[test]
fn passages_are_quoted_without_a_model() {
    // D17, D18
    let home = home();
    let result = home.engine().questions().ask(&request("which row does the weekday table lack?")).unwrap();
    assert!(result.answer.is_extractive && result.model.is_none());
    let lines: Vec<u64> = result.answer.citations.iter().map(|one| one.line).take(2).collect();
    assert_eq!(lines, [1, 2], "the prompt and the reply to it");
    assert!(result.answer.answer.contains("no model was asked"), "{}", result.answer.answer);
    let nothing = home.engine().questions().ask(&request("zebra crossing?")).unwrap().answer;
    assert!(nothing.citations.is_empty() && nothing.confidence == Confidence::Low);
    // The same with a model that the request rules out.
    let server = StubModel::with_replies(Vec::new());
    let request = AskRequest { skip_model: true, ..request(WHY) };
    assert!(engine(&home, &server, &[]).questions().ask(&request).unwrap().answer.is_extractive);
    assert!(server.bodies().is_empty());
}

#[test]
fn hook_uses_cached_answers_and_sends_no_request() {
    // S001-29
    let home = home();
    let server = StubModel::with_replies(vec![good()]);
    let engine = engine(&home, &server, &[]);
    let session = engine.sessions().resolve(SESSION).unwrap().session;
    let store = home.store();
    let session = store.session_number(session.id).unwrap().unwrap();
    let first = engine.questions().answer_for_reference(&store, session, WHY).unwrap();
    assert!(first.is_extractive && !first.citations.is_empty());
    engine.questions().ask(&request(WHY)).unwrap();
    assert!(!engine.questions().answer_for_reference(&store, session, WHY).unwrap().is_extractive);
    assert_eq!(server.bodies().len(), 1);
}

#[test]
fn invalid_questions_have_error_codes() {
    // E001-15
    let home = home();
    let engine = home.engine();
    let code = |reference: &str, question: &str| {
        let request = AskRequest { reference: reference.to_owned(), ..request(question) };
        engine.questions().ask(&request).unwrap_err().code()
    };
    assert_eq!(code(SESSION, "  "), "INVALID_ARGS");
    assert_eq!(code("", WHY), "INVALID_ARGS");
    assert_eq!(code(SESSION, &"long ".repeat(1_000)), "INVALID_ARGS");
    assert_eq!(code("no-such-session", WHY), "SESSION_NOT_FOUND");
    let named = AskRequest { model: Some("large".to_owned()), ..request(WHY) };
    assert_eq!(engine.questions().ask(&named).unwrap_err().code(), "QUERY_MODEL_UNAVAILABLE");
    for id in ["aaaa1111", "aaaa2222"] {
        let session = format!("{id}-c1f1-493e-a0f1-884aa996b05b");
        let lines = TranscriptBuilder::new(&session).user("hello");
        home.write(&format!(".claude/projects/-app/{session}.jsonl"), lines.build());
    }
    home.sync();
    let request = AskRequest { reference: "aaaa".to_owned(), ..request(WHY) };
    let error = engine.questions().ask(&request).unwrap_err();
    assert_eq!(error.code(), "SESSION_AMBIGUOUS");
    assert!(
        matches!(error, AskError::Engine(EngineError::AmbiguousReference { candidates, .. }) if candidates.len() == 2)
    );
}

#[test]
fn handoff_names_the_session_and_how_to_ask_it() {
    // E001-20
    let home = home();
    let made = home.engine().questions().handoff(SESSION).unwrap();
    let id = made.listed.session.id;
    for part in [format!("@@{id}"), format!("rethread ask {id}"), "> the parser skips Tuesdays".to_owned()] {
        assert!(made.text.contains(&part), "{part}\n{}", made.text);
    }
}

#[test]
fn sessions_without_text_report_why() {
    // E001-15
    let home = TestHome::new();
    let file = |id: &str| format!(".claude/projects/-app/{id}-c1f1-493e-a0f1-884aa996b05b.jsonl");
    let exit = |id: &str| TranscriptBuilder::new(id).user("<command-name>/exit</command-name>").build();
    home.write(&file("aaaa1111"), "no JSON at all\n");
    home.write(&file("bbbb1111"), exit("bbbb1111-c1f1-493e-a0f1-884aa996b05b"));
    home.write(&file("cccc1111"), exit("cccc1111-c1f1-493e-a0f1-884aa996b05b"));
    home.sync();
    std::fs::remove_file(home.path(&file("cccc1111"))).unwrap();
    let engine = home.engine();
    for (reference, code) in
        [("aaaa1111", "SESSION_PARSE_FAILED"), ("bbbb1111", "SESSION_EMPTY"), ("cccc1111", "SESSION_FILE_MISSING")]
    {
        let request = AskRequest { reference: reference.to_owned(), ..request(WHY) };
        assert_eq!(engine.questions().ask(&request).unwrap_err().code(), code, "{reference}");
    }
}
