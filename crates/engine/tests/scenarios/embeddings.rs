//! Search with embeddings: only with a model the user configured, and in addition to word search.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rethread_engine::{EmbeddingReport, Engine, SearchReport, SearchRequest, SyncRequest};
use rethread_testing::{StubModel, StubRequest, TestHome, TranscriptBuilder, text_block};

const TESTS: &str = ".claude/projects/-app/5e551011-0000-4000-8000-0000000000a1.jsonl";
const TABLES: &str = ".claude/projects/-app/5e551011-0000-4000-8000-0000000000a2.jsonl";
const QUESTION: &str = "The authentication suite is unreliable";
const ANSWER: &str = "They raced for one port; now each asks for a free one.";

fn transcript(name: &str, texts: &[&str]) -> String {
    let mut builder = TranscriptBuilder::new(name).times("2026-03-02T09:00:00Z".parse().unwrap(), 1);
    for (number, text) in texts.iter().enumerate() {
        let block = vec![text_block(text)];
        builder = if number.is_multiple_of(2) { builder.user(block) } else { builder.assistant_blocks(&block) };
    }
    builder.build()
}

/// Two sessions about different topics.
fn two_sessions() -> TestHome {
    let home = TestHome::new();
    home.write(TESTS, transcript("tests", &[QUESTION, ANSWER]));
    home.write(TABLES, transcript("tables", &["Make the postgres table smaller", "I dropped two columns."]));
    home
}

/// An engine with an embedding model at that endpoint.
fn engine(home: &TestHome, endpoint: &str, more: &[(&str, &str)]) -> Engine {
    let mut environment = home.environment();
    let settings =
        [("embeddings.endpoint", endpoint), ("embeddings.model", "ideas"), ("budget.daily_tokens", "9999999")];
    for (key, value) in settings.iter().chain(more) {
        environment.config_overrides.push(((*key).to_owned(), (*value).to_owned()));
    }
    environment.variables.push(("MODEL_KEY".to_owned(), "hush-hush-123".to_owned()));
    Engine::open(environment).unwrap()
}

fn sync(engine: &Engine) -> EmbeddingReport {
    let report = engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    report.embeddings.unwrap()
}

fn search(engine: &Engine, text: &str) -> SearchReport {
    engine.search().run(&SearchRequest { text: text.to_owned(), limit: 10, ..SearchRequest::default() }).unwrap()
}

/// The texts sent to the model since the last call, sorted.
fn take_texts(server: &StubModel) -> Vec<String> {
    let texts = |request: &StubRequest| request.body["input"].as_array().unwrap().clone();
    let requests = server.take_requests();
    let mut all: Vec<String> = requests.iter().flat_map(texts).map(|text| text.as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

fn texts(report: &SearchReport) -> Vec<&str> {
    report.hits.iter().map(|one| one.hit.entry.text.as_str()).collect()
}

#[test]
fn query_finds_similar_text_without_shared_words() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let engine = engine(&home, &server.openai_url(), &[]);
    let report = sync(&engine);
    assert_eq!((report.embedded, report.has_more, report.error), (4, false, None));
    let found = search(&engine, "sporadic login trouble");
    assert_eq!(texts(&found), [QUESTION], "{found:#?}");
    assert_eq!(found.degraded, None);
    assert!(found.hits[0].hit.why.iter().any(|why| why.feature == "meaning" && why.points > 4.0));
    let model_and_count = |request: &StubRequest| {
        let body = &request.body;
        (body["model"].as_str().unwrap().to_owned(), body["input"].as_array().unwrap().len())
    };
    let counts: Vec<_> = server.take_requests().iter().map(model_and_count).collect();
    assert_eq!(counts, [("ideas".to_owned(), 4), ("ideas".to_owned(), 1)]);
    // Filters apply to embedding matches too.
    assert!(texts(&search(&engine, "sporadic login trouble kind:answer")).is_empty());
    assert!(texts(&search(&engine, "sporadic login trouble -suite")).is_empty());

    let off = home.engine();
    assert_eq!(off.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap().embeddings, None);
    let found = search(&off, "sporadic login trouble");
    assert!(found.hits.is_empty() && found.degraded.is_none());
    let with_words = texts(&search(&off, "unreliable suite")).join("\n");
    assert!(with_words.starts_with(QUESTION));
    assert!(search(&off, "unreliable suite").hits[0].hit.why.iter().all(|why| why.feature != "meaning"));
}

#[test]
fn read_only_search_sends_no_request() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let engine = engine(&home, &server.openai_url(), &[]);
    sync(&engine);
    server.take_requests();
    let spent = || engine.reports().status().unwrap().budget.requests;
    let before = spent();
    let request = SearchRequest { text: "unreliable suite".into(), limit: 10, read_only: true, ..Default::default() };
    let found = engine.search().run(&request).unwrap();
    assert_eq!((texts(&found)[0], found.degraded.as_deref()), (QUESTION, None));
    assert!(server.take_requests().is_empty() && spent() == before, "no request is sent or entered in the ledger");
}

#[test]
fn each_text_is_embedded_once() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let engine = engine(&home, &server.openai_url(), &[]);
    assert_eq!(sync(&engine).embedded, 4);
    server.take_requests();
    assert_eq!(sync(&engine).embedded, 0);
    assert!(server.take_requests().is_empty(), "no new text, no request");

    let more = transcript("tests", &[QUESTION, ANSWER, "And the font?", "  "]);
    home.write(TESTS, &more);
    assert_eq!(sync(&engine).embedded, 1);
    assert_eq!(take_texts(&server), ["And the font?"], "only new text, and no blank text");

    home.write(TESTS, transcript("tests", &["The authentication suite is flaky", ANSWER]));
    assert_eq!(sync(&engine).embedded, 2);
    assert_eq!(take_texts(&server), ["The authentication suite is flaky", ANSWER], "a rewritten file is read again");
    let found = search(&engine, "sporadic login trouble");
    assert_eq!(texts(&found), ["The authentication suite is flaky"]);
}

#[test]
fn sync_limits_embeddings_and_the_next_sync_continues() {
    let (home, server) = (TestHome::new(), StubModel::with_embeddings(|| 1));
    let lines: Vec<String> = (0..600).map(|at| format!("text number {at}")).collect();
    home.write(TESTS, transcript("many", &lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let engine = engine(&home, &server.openai_url(), &[]);
    let first = sync(&engine);
    assert_eq!((first.embedded, first.has_more), (512, true));
    let second = sync(&engine);
    assert_eq!((second.embedded, second.has_more), (88, false));
    let mut sent = take_texts(&server);
    sent.dedup();
    assert_eq!(sent.len(), 600, "each of them once");
    assert_eq!(sync(&engine).embedded, 0);
}

#[test]
fn unreachable_model_degrades_to_word_search() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let away = engine(&home, &StubModel::unreachable().openai_url(), &[]);
    let report = sync(&away);
    assert_eq!((report.embedded, report.has_more), (0, true));
    assert!(report.error.is_some_and(|why| why.starts_with("cannot reach http://127.0.0.1:")));
    assert_eq!(search(&away, "authentication").degraded, None, "without vectors no request is sent");

    assert_eq!(sync(&engine(&home, &server.openai_url(), &[])).embedded, 4, "entries that failed are embedded now");
    let found = search(&away, "authentication");
    assert_eq!(texts(&found)[0], QUESTION);
    let degraded = found.degraded.unwrap();
    assert!(degraded.starts_with("the embedding request failed: cannot reach http://127.0.0.1:"), "{degraded}");
    assert!(degraded.ends_with("; searched by words only"), "{degraded}");
}

#[test]
fn each_model_has_its_own_vectors() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let first = engine(&home, &server.openai_url(), &[]);
    sync(&first);
    let second = engine(&home, &server.openai_url(), &[("embeddings.model", "other")]);
    assert!(
        search(&second, "sporadic login trouble").hits.is_empty(),
        "vectors of different models are not comparable"
    );
    assert_eq!(sync(&second).embedded, 4);
    assert_eq!(texts(&search(&second, "sporadic login trouble")), [QUESTION]);
    assert_eq!(sync(&first).embedded, 4, "and back again");
}

#[test]
fn changed_vector_length_is_noticed() {
    let padding = Arc::new(AtomicUsize::new(1));
    let shared = Arc::clone(&padding);
    let (home, server) = (two_sessions(), StubModel::with_embeddings(move || shared.load(Ordering::Relaxed)));
    let engine = engine(&home, &server.openai_url(), &[]);
    sync(&engine);
    padding.store(3, Ordering::Relaxed);
    let found = search(&engine, "sporadic authentication");
    assert_eq!(texts(&found)[0], QUESTION, "words still find it");
    let degraded = found.degraded.unwrap();
    assert!(
        degraded.starts_with("the embedding model returns 7 dimensions, but stored vectors have 5; "),
        "{degraded}"
    );

    home.append(TABLES, transcript("later", &["Also the index"]));
    let report = sync(&engine);
    assert_eq!((report.embedded, report.has_more), (1, true), "the others are out of date now");
    let report = sync(&engine);
    assert_eq!((report.embedded, report.has_more), (4, false));
    assert_eq!(texts(&search(&engine, "sporadic login trouble")), [QUESTION]);
}

#[test]
fn key_is_sent_but_never_shown() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let with_key = engine(&home, &server.openai_url(), &[("embeddings.key_env", "MODEL_KEY")]);
    assert_eq!(sync(&with_key).error, None);
    assert!(server.take_requests()[0].head.contains("authorization: Bearer hush-hush-123\n"));
    assert!(!format!("{:?}", with_key.config()).contains("hush"), "the settings name the variable only");

    let away = engine(
        &home,
        &StubModel::unreachable().openai_url(),
        &[("embeddings.key_env", "MODEL_KEY"), ("embeddings.model", "new")],
    );
    let why = sync(&away).error.unwrap();
    assert!(why.contains("cannot reach http://127.0.0.1:") && !why.contains("hush"), "{why}");

    let unset = engine(&home, &server.openai_url(), &[("embeddings.key_env", "NO_SUCH_KEY")]);
    assert!(
        search(&unset, "authentication")
            .degraded
            .unwrap()
            .starts_with("$NO_SUCH_KEY (from embeddings.key_env) is not set")
    );
    assert!(server.take_requests().is_empty(), "nothing is sent without the configured key");
}

#[test]
fn no_secret_leaves_the_machine() {
    let (home, server) = (TestHome::new(), StubModel::with_embeddings(|| 1));
    let secret = ["ghp", "_", "Zx9Kq3Lm8Wp2Rt7Vb5Nc1Hd6Jf4Gs0Tyabcd"].concat();
    home.write(TESTS, transcript("tests", &[&format!("the login {secret} is refused"), ANSWER]));
    let engine = engine(&home, &server.openai_url(), &[]);
    sync(&engine);
    search(&engine, &format!("who uses {secret} here"));
    let sent = take_texts(&server).join("\n");
    assert!(sent.contains("is refused") && sent.contains("who uses"), "{sent}");
    assert!(!sent.contains(&secret), "{sent}");
}

#[test]
fn project_settings_cannot_set_the_endpoint() {
    let (home, server) = (two_sessions(), StubModel::with_embeddings(|| 1));
    let project = format!("[embeddings]\nendpoint = \"{}\"\nmodel = \"ideas\"\n", server.openai_url());
    home.write(".rethread.toml", &project);
    let engine = home.engine();
    assert_eq!(engine.config().problems().len(), 2, "{:?}", engine.config().problems());
    assert_eq!(engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap().embeddings, None);
    assert!(server.take_requests().is_empty());

    home.write(".rethread/config.toml", format!("{project}[budget]\ndaily_tokens = 99999\n"));
    assert_eq!(sync(&home.engine()).embedded, 4);

    let plain = self::engine(&home, "http://model.example.com/v1", &[("embeddings.model", "far")]);
    assert!(sync(&plain).error.unwrap().ends_with("http is allowed for this machine only; use https"));
    let half = self::engine(&home, "", &[]);
    let mut problems = half.config().problems().iter().map(ToString::to_string);
    assert!(problems.any(|problem| problem.contains("both embeddings.endpoint and embeddings.model")));
}
