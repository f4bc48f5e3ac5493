//! Failures of providers: what is retried, what is paid, and what is reported.

use std::time::Duration;

use crate::helpers::{RecordingMeter, SECRET, client, message, price, request, retrying};
use rethread_llm::{
    Admission, ApiKey, Budget, BudgetRefusal, ChatError, ChatLimits, ChatModel, Meter, NanoUsd, Price, Provider,
    RequestEstimate, RequestSettlement, SpentToday,
};
use rethread_model::Tokens;
use rethread_testing::{StubModel, StubReply, events};

const GOOD: &str = r#"{"content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}"#;

fn busy(status: &'static str) -> StubReply {
    let body = r#"{"type":"error","error":{"type":"x","message":"not now"}}"#;
    StubReply::Http { status, headers: "retry-after: 0\r\n".to_owned(), body: body.to_owned() }
}

fn usd(text: &str) -> NanoUsd {
    text.parse().unwrap()
}

#[test]
fn busy_provider_is_retried_and_every_request_admitted() {
    // E004-15
    let statuses = ["408 Request Timeout", "409 Conflict", "429 Too Many Requests", "500 Internal Server Error"];
    let more = ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "529 Overloaded"];
    for status in statuses.into_iter().chain(more) {
        let server = StubModel::with_only(vec![busy(status), StubReply::http("200 OK", GOOD)]);
        let meter = RecordingMeter::default();
        let answer = client(&server, Provider::Anthropic, retrying(1)).complete(&request("x"), &meter).unwrap();
        assert_eq!(answer.content[0].as_text(), Some("yes"), "{status}");
        assert_eq!((server.requests().len(), meter.planned().len()), (2, 2), "{status}");
        assert_eq!(meter.errors(), [format!("status {}", &status[..3]), String::new()]);
    }
}

#[test]
fn client_errors_are_not_retried() {
    // E004-15
    let statuses = ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "413 Too Large"];
    for status in statuses {
        let server = StubModel::with_only(vec![busy(status), StubReply::http("200 OK", GOOD)]);
        let error = client(&server, Provider::Anthropic, retrying(3))
            .complete(&request("x"), &RecordingMeter::default())
            .unwrap_err();
        let reason = if matches!(&status[..3], "401" | "403") { "" } else { ": not now" };
        let reported = format!("BASE/v1/messages returned HTTP {}{reason}", &status[..3]);
        assert_eq!(message(&server, &error), reported);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn broken_connection_is_retried() {
    // E004-15
    let server = StubModel::with_only(vec![StubReply::Close, StubReply::http("200 OK", GOOD)]);
    let meter = RecordingMeter::default();
    client(&server, Provider::Anthropic, retrying(1)).complete(&request("x"), &meter).unwrap();
    assert_eq!(meter.errors(), ["unreachable", ""]);
    assert_eq!(meter.settled()[0].tokens, None, "it may have been answered, so the estimate is kept");
    assert_eq!(meter.settled()[0].cost, meter.planned()[0].cost);
}

#[test]
fn retries_are_limited_and_each_needs_admission() {
    // E004-15
    let server = StubModel::with_only((0..4).map(|_| busy("529 Overloaded")).collect());
    let meter = RecordingMeter::default();
    let error = client(&server, Provider::Anthropic, retrying(2)).complete(&request("x"), &meter).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/messages returned HTTP 529: not now");
    assert_eq!((server.requests().len(), meter.settled().len()), (3, 3));

    let server = StubModel::with_only((0..2).map(|_| busy("529 Overloaded")).collect());
    let meter = RecordingMeter::admitting(1);
    let error = client(&server, Provider::Anthropic, retrying(2)).complete(&request("x"), &meter).unwrap_err();
    assert_eq!(error, ChatError::Budget(BudgetRefusal::NoBudget));
    assert_eq!((server.requests().len(), meter.settled().len()), (1, 1));
}

#[test]
fn refused_request_costs_nothing_and_counted_request_its_price() {
    let server = StubModel::with_only(vec![busy("429 Too Many Requests"), StubReply::http("200 OK", GOOD)]);
    let meter = RecordingMeter::default();
    client(&server, Provider::Anthropic, retrying(1)).complete(&request("x"), &meter).unwrap();
    let settled = meter.settled();
    assert_eq!((settled[0].tokens.unwrap().total(), settled[0].cost), (0, Some(NanoUsd::ZERO)));
    assert_eq!((settled[1].tokens.unwrap().total(), settled[1].cost), (11, Some(NanoUsd::new(9 + 2 * 3))));
    assert!(settled.iter().all(|settled| settled.was_sent));
    assert!(meter.planned()[0].cost.unwrap() > settled[1].cost.unwrap());
}

#[test]
fn unsent_request_is_settled_as_not_sent() {
    let server = StubModel::unreachable();
    let meter = RecordingMeter::default();
    let error = client(&server, Provider::Gemini, retrying(0)).complete(&request("x"), &meter).unwrap_err();
    let reported = message(&server, &error);
    assert!(reported.starts_with("cannot reach BASE/v1beta/models/small:generateContent: "), "{reported}");
    let nothing = RequestSettlement {
        tokens: Some(Tokens::default()),
        cost: Some(NanoUsd::ZERO),
        ..RequestSettlement::default()
    };
    assert_eq!(meter.settled(), [RequestSettlement { error: Some("unreachable".to_owned()), ..nothing }]);
}

#[test]
fn no_error_contains_the_key() {
    for provider in Provider::ALL {
        let echo = format!(r#"{{"error":{{"message":"{} Incorrect API key {SECRET}"}}}}"#, "x".repeat(160));
        let stream = StubReply::Events { text: events(&[&echo]), chunk: 7 };
        let replies = vec![
            StubReply::http("401 Unauthorized", &echo),
            StubReply::http("400 Bad Request", &echo),
            StubReply::http("200 OK", &echo),
            stream,
        ];
        let server = StubModel::with_only(replies);
        let model = client(&server, provider, retrying(0));
        for _ in 0..3 {
            let error = model.complete(&request("x"), &RecordingMeter::default()).unwrap_err();
            message(&server, &error);
        }
        let error = model.stream(&request("x"), &RecordingMeter::default(), &|| false, &mut |_| {}).unwrap_err();
        assert!(message(&server, &error).contains(" was interrupted: xxx"), "{error}");
        assert_eq!(server.requests().len(), 4);
        assert!(!format!("{model:?}").contains(SECRET));
    }
}

#[test]
fn key_in_the_query_is_sent_and_never_shown() {
    let server = StubModel::with_only(vec![StubReply::http("400 Bad Request", r#"{"error":{"message":"no"}}"#)]);
    let base = format!("{}/v1?key={SECRET}", server.url());
    let model = ChatModel::new(Provider::OpenAi, &base, "small", None, None, retrying(0)).unwrap();
    let error = model.complete(&request("x"), &RecordingMeter::default()).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/chat/completions returned HTTP 400: no");
    assert_eq!(model.endpoint().replace(&server.url(), "BASE"), "BASE/v1/chat/completions");
    assert!(server.requests()[0].head.starts_with(&format!("POST /v1/chat/completions?key={SECRET} HTTP/1.1\n")));
}

#[test]
fn other_hosts_need_https() {
    let make = |base: &str| ChatModel::new(Provider::OpenAi, base, "small", None, None, ChatLimits::BACKGROUND);
    let error = make("http://example.com/v1").unwrap_err();
    assert!(error.to_string().ends_with("http is allowed for this machine only; use https"), "{error}");
    assert!(make("https://me:hush@example.com/v1").is_err_and(|error| !error.to_string().contains("hush")));
    assert!(ApiKey::parse("two words").is_err());
}

#[test]
fn provider_redirect_is_not_followed() {
    let elsewhere = StubModel::with_only(vec![StubReply::http("200 OK", GOOD)]);
    let location = format!("location: {}/v1/messages\r\n", elsewhere.url());
    let server = StubModel::with_only(vec![StubReply::Http {
        status: "307 Temporary Redirect",
        headers: location,
        body: String::new(),
    }]);
    let error = client(&server, Provider::Anthropic, retrying(0))
        .complete(&request("x"), &RecordingMeter::default())
        .unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/messages returned HTTP 307");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn silent_provider_times_out() {
    let server = StubModel::with_only(vec![StubReply::StalledEvents(String::new())]);
    let limits = ChatLimits { idle: Duration::from_secs(1), ..retrying(1) };
    let meter = RecordingMeter::default();
    let error = client(&server, Provider::OpenAi, limits).complete(&request("x"), &meter).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/chat/completions did not answer within 1 s");
    server.wait_for_disconnect();
    assert_eq!(meter.errors(), ["timed out"]);
}

#[test]
fn endless_answer_is_cut() {
    let endless = format!(r#"{{"content":[{{"type":"text","text":"{}"#, "x".repeat(9 << 20));
    let server = StubModel::with_only(vec![StubReply::http("200 OK", &endless)]);
    let error = client(&server, Provider::Anthropic, retrying(1))
        .complete(&request("x"), &RecordingMeter::default())
        .unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/messages returned an unusable response: response too long");
}

/// A budget with fixed spending.
struct FixedBudget(Budget, SpentToday);

impl Meter for FixedBudget {
    fn admit(&self, planned: &RequestEstimate) -> Result<Admission, BudgetRefusal> {
        self.0.check(&self.1, planned).map(|()| Admission(1))
    }

    fn settle(&self, _: Admission, _: &RequestSettlement) {}
}

#[test]
fn no_budget_sends_no_request_to_any_provider() {
    let server = StubModel::with_only(vec![StubReply::http("200 OK", GOOD)]);
    let daily = Budget { daily_tokens: 1_000_000, ..Budget::default() };
    let spent = SpentToday { tokens: 999_990, cost: usd("0.99") };
    let dollars = Budget { daily_usd: usd("0.99"), ..Budget::default() };
    for (budget, price, expected) in [
        (Budget::default(), Some(Price::FREE), ["no budget is set", "budget.daily_tokens"]),
        (daily, Some(price()), ["999990 of 1000000 spent", "(budget.daily_tokens)"]),
        (dollars, Some(price()), ["$0.99 of $0.99 spent", "(budget.daily_usd)"]),
        (Budget { call_tokens: 100, ..daily }, Some(price()), ["limit 100,", "(budget.call_tokens)"]),
        (Budget { call_usd: usd("0.0000001"), ..dollars }, Some(price()), ["limit $0.0000001,", "(budget.call_usd)"]),
        (dollars, None, ["the price of small is unknown", "budget.daily_usd"]),
    ] {
        let base = server.openai_url();
        let model = ChatModel::new(Provider::OpenAi, &base, "small", None, price, retrying(3)).unwrap();
        let meter = FixedBudget(budget, spent);
        let schema = rethread_llm::AnswerSchema { name: "x", schema: &serde_json::json!({"type": "object"}) };
        let errors = [
            model.complete(&request("x"), &meter).unwrap_err(),
            model.stream(&request("x"), &meter, &|| false, &mut |_| {}).unwrap_err(),
            model.complete_json(&request("x"), &schema, &meter).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, ChatError::Budget(_)), "{error:?}");
            let reported = error.to_string();
            assert!(expected.iter().all(|part| reported.contains(part)), "{reported}");
        }
    }
    assert!(server.requests().is_empty());
}
