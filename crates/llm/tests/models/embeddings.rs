//! Embeddings against the stub: what is sent, what is accepted, what is retried.

use std::time::Duration;

use crate::helpers::{RecordingMeter, SECRET, message, price};
use rethread_llm::{ApiKey, BudgetRefusal, ChatError, Embedder, EmbeddingLimits, Endpoint};
use rethread_testing::{StubModel, StubReply};

fn embedder(server: &StubModel, limits: EmbeddingLimits) -> Embedder {
    let endpoint = Endpoint::parse(&server.openai_url()).unwrap();
    Embedder::new(endpoint, "small", Some(ApiKey::parse(SECRET).unwrap()), limits)
}

fn embed(server: &StubModel, limits: EmbeddingLimits, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError> {
    embedder(server, limits).embed(texts, &RecordingMeter::default())
}

/// One vector per text with its length as the first number, in reverse order.
fn vectors() -> StubReply {
    StubReply::Computed(|request| {
        let texts = request.body["input"].as_array().unwrap();
        let data = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(at, text)| serde_json::json!({"index": at, "embedding": [text.as_str().unwrap().len(), 1]}));
        let usage = serde_json::json!({"prompt_tokens": 5, "total_tokens": 5});
        let body = serde_json::json!({"object": "list", "data": data.collect::<Vec<_>>(), "usage": usage});
        StubReply::http("200 OK", &body.to_string())
    })
}

#[test]
fn vectors_are_in_text_order_and_the_key_is_a_bearer_token() {
    let server = StubModel::with_only(vec![vectors()]);
    let vectors = embed(&server, EmbeddingLimits::BACKGROUND, &["one", "three", "of"]).unwrap();
    assert_eq!(vectors, [[3.0, 1.0], [5.0, 1.0], [2.0, 1.0]]);
    let received = server.requests();
    assert_eq!(received.len(), 1);
    assert!(received[0].head.starts_with("POST /v1/embeddings HTTP/1.1\n"), "{}", received[0].head);
    assert!(received[0].head.contains(&format!("authorization: Bearer {SECRET}\n")));
    let expected = serde_json::json!({"model": "small", "input": ["one", "three", "of"], "encoding_format": "float"});
    assert_eq!(received[0].body, expected);
}

#[test]
fn no_key_sends_no_authorization() {
    let server = StubModel::with_only(vec![vectors()]);
    let endpoint = Endpoint::parse(&server.openai_url()).unwrap();
    let embedder = Embedder::new(endpoint, "small", None, EmbeddingLimits::INTERACTIVE);
    embedder.embed(&["text"], &RecordingMeter::default()).unwrap();
    assert!(!server.requests()[0].head.contains("authorization"));
    let nothing = embedder.embed(&[], &RecordingMeter::default()).unwrap();
    assert!(nothing.is_empty(), "no texts, no request");
}

#[test]
fn texts_are_batched_and_cut_between_characters() {
    let server = StubModel::with_only(vec![vectors(), vectors(), vectors()]);
    let long = format!("x{}", "ä".repeat(3_000));
    let texts: Vec<&str> = (0..130).map(|at| if at == 129 { long.as_str() } else { "short" }).collect();
    let vectors = embed(&server, EmbeddingLimits::BACKGROUND, &texts).unwrap();
    assert_eq!((vectors.len(), vectors[129][0]), (130, 1_999.0));
    let counts: Vec<usize> = server.requests().iter().map(|one| one.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [64, 64, 2]);
}

#[test]
fn busy_server_and_broken_connection_are_retried() {
    let busy = StubReply::Http {
        status: "429 Too Many Requests",
        headers: "retry-after: 0\r\n".to_owned(),
        body: "{}".to_owned(),
    };
    let server = StubModel::with_only(vec![busy, StubReply::Close, vectors()]);
    let meter = RecordingMeter::default();
    let found =
        embedder(&server, EmbeddingLimits::BACKGROUND).with_price(Some(price())).embed(&["text"], &meter).unwrap();
    assert_eq!(found, [[4.0, 1.0]]);
    assert_eq!(server.requests().len(), 3);
    assert_eq!(meter.errors(), ["status 429", "unreachable", ""]);
    let planned = &meter.planned()[0];
    assert_eq!((planned.purpose, planned.input_tokens, planned.output_tokens), ("embeddings", 2, 0));
    let settled = meter.settled();
    let counted: Vec<_> = settled.iter().map(|one| (one.tokens.map(|tokens| tokens.input), one.cost)).collect();
    let cost = |text: &str| Some(text.parse().unwrap());
    assert_eq!(counted, [(Some(0), cost("0")), (None, cost("0.000000002")), (Some(5), cost("0.000000005"))]);
}

#[test]
fn gives_up_after_two_retries() {
    let busy = || {
        let body = r#"{"error":{"message":"loading the model"}}"#;
        StubReply::Http {
            status: "503 Service Unavailable",
            headers: "retry-after: 0\r\n".to_owned(),
            body: body.to_owned(),
        }
    };
    let server = StubModel::with_only(vec![busy(), busy(), busy(), vectors()]);
    let error = embed(&server, EmbeddingLimits::BACKGROUND, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings returned HTTP 503: loading the model");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn quick_limits_do_not_retry() {
    let server = StubModel::with_only(vec![StubReply::http("500 Internal Server Error", "oh"), vectors()]);
    let error = embed(&server, EmbeddingLimits::INTERACTIVE, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings returned HTTP 500");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn refusal_is_final_and_hides_the_key() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {SECRET}"}}}}"#);
    let server = StubModel::with_only(vec![StubReply::http("401 Unauthorized", &echo), vectors()]);
    let error = embed(&server, EmbeddingLimits::BACKGROUND, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings returned HTTP 401");
    assert_eq!(server.requests().len(), 1);

    let echo = format!(r#"{{"error":"{}no model for {SECRET}"}}"#, " ".repeat(170));
    let server = StubModel::with_only(vec![StubReply::http("404 Not Found", &echo)]);
    let error = embed(&server, EmbeddingLimits::BACKGROUND, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings returned HTTP 404: no model for [key]");
}

#[test]
fn refused_admission_sends_no_text() {
    let server = StubModel::with_only(vec![vectors()]);
    let meter = RecordingMeter::admitting(0);
    let error = embedder(&server, EmbeddingLimits::BACKGROUND).embed(&["text"], &meter).unwrap_err();
    assert_eq!(error, ChatError::Budget(BudgetRefusal::NoBudget));
    assert!(server.requests().is_empty());
}

#[test]
fn redirect_is_not_followed() {
    let elsewhere = StubModel::with_only(vec![vectors()]);
    let location = format!("location: {}/v1/embeddings\r\n", elsewhere.url());
    let server = StubModel::with_only(vec![StubReply::Http {
        status: "307 Temporary Redirect",
        headers: location,
        body: String::new(),
    }]);
    let error = embed(&server, EmbeddingLimits::BACKGROUND, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings returned HTTP 307");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn unexpected_answer_is_an_error() {
    for (body, reason) in [
        (r#"{"data":[]}"#.to_owned(), "0 vectors for 1 texts"),
        ("<html>".to_owned(), "expected value at line 1 column 1"),
        (format!(r#"{{"data":"{SECRET}"}}"#), "invalid type: string \"[key]\", expected a sequence"),
    ] {
        let server = StubModel::with_only(vec![StubReply::http("200 OK", &body), vectors()]);
        let error = embed(&server, EmbeddingLimits::BACKGROUND, &["text"]).unwrap_err();
        let reported = message(&server, &error);
        assert!(
            reported.starts_with(&format!("BASE/v1/embeddings returned an unusable response: {reason}")),
            "{reported}"
        );
        assert_eq!(server.requests().len(), 1, "a wrong answer is not retried");
    }
}

#[test]
fn slow_server_times_out() {
    let server = StubModel::with_only(vec![StubReply::StalledEvents(String::new())]);
    let limits = EmbeddingLimits { total: Duration::from_secs(1), ..EmbeddingLimits::BACKGROUND };
    let error = embed(&server, limits, &["text"]).unwrap_err();
    assert_eq!(message(&server, &error), "BASE/v1/embeddings did not answer within 1 s");
    server.wait_for_disconnect();
    assert_eq!(server.requests().len(), 1, "and not tried again");
}

#[test]
fn unreachable_server_is_reported() {
    let server = StubModel::unreachable();
    let meter = RecordingMeter::default();
    let error = embedder(&server, EmbeddingLimits::INTERACTIVE).embed(&["text"], &meter).unwrap_err();
    assert!(matches!(error, ChatError::Unreachable { .. }), "{error:?}");
    assert!(message(&server, &error).starts_with("cannot reach BASE/v1/embeddings: "));
    assert!(!meter.settled()[0].was_sent);
}
