//! Questions about a whole project: the first item of the answer holds what was asked for, or nothing is said.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{AnsweredProjectQuestion, AskRequest, Confidence, Engine, ForgetTarget, SessionScope};
use rethread_testing::{StubModel, StubReply, TestHome, TranscriptBuilder};
use serde_json::json;

use crate::project_sessions::{PROJECT, engine, project_home};

/// A question with the words that the first item of its answer has. Alternatives are separated by `|`.
type AskedQuestion = (&'static str, &'static str);

const FIXES: [AskedQuestion; 10] = [
    ("how did we fix the connection timeout to the database?", "20"),
    ("Error: connection timeout to database after 7000ms", "max: 20|20 connections"),
    ("the db connection times out again, what helped last time?", "20"),
    ("what solved the database timeouts in the tests", "20"),
    ("how was the TS2345 build error resolved?", "money.parse"),
    ("how do I get rid of error TS2345 in the cart?", "money.parse"),
    ("what fixed the stripe webhook signature?", "express.raw"),
    ("how did we stop the invoice test from being flaky?", "utc"),
    ("users were logged out after signing in, how did we repair it?", "3600|an hour"),
    ("how did we get sharp to work in the image?", "debian"),
];

const DECISIONS: [AskedQuestion; 10] = [
    ("why did we avoid Redis?", "serverless"),
    ("why not redis", "serverless"),
    ("why did we roll back the redis changes?", "serverless"),
    ("should we use redis for the catalog cache?", "serverless"),
    ("what did we decide about product search?", "postgres"),
    ("should I use elasticsearch or postgres for search?", "postgres"),
    ("why R2 and not S3?", "egress"),
    ("which storage did we choose for product images?", "r2"),
    ("what was the reason for going with R2?", "egress"),
    ("did we settle on elasticsearch?", "postgres"),
];

const PREFERENCES: [AskedQuestion; 10] = [
    ("should I use axios?", "ky"),
    ("which library do I want for requests, axios or ky?", "ky"),
    ("am I allowed to push to main?", "pull request|never push"),
    ("can I push directly to main", "pull request|never push"),
    ("do we run the linter before a commit?", "linter"),
    ("how long should commit messages be?", "one line|short"),
    ("what style do I like for commit messages?", "short|one line"),
    ("are em dashes ok in the docs?", "no em dashes|not use em dashes"),
    ("jest or vitest?", "vitest"),
    ("what do we use for tests?", "vitest"),
];

const CAUSES: [AskedQuestion; 10] = [
    ("what caused the JWT bug?", "expiry"),
    ("why were users logged out right after signing in?", "expiry|expiresin"),
    ("what was the root cause of the JWT bug", "expiry"),
    ("why did the stripe webhooks answer 400?", "express.json"),
    ("what broke the stripe signature check?", "express.json"),
    ("why does the invoice test fail on CI?", "utc|local time"),
    ("why was the database connection timing out?", "exhausted|pool|max: 20"),
    ("why did the thumbnail image fail to build on alpine?", "glibc|alpine base"),
    ("how come tokens expired at once?", "expiry|expiresin|token expired"),
    ("what made the invoice test flaky", "utc|local time"),
];

const REQUIREMENTS: [AskedQuestion; 10] = [
    ("what does the mail worker need?", "node 20"),
    ("which node version does the mail worker require?", "node 20"),
    ("what are the prerequisites of the mail worker?", "smtp_url"),
    ("does sharp work with alpine?", "doesn't work|glibc"),
    ("is sharp compatible with the alpine image?", "doesn't work|glibc"),
    ("what conflicts with alpine?", "sharp"),
    ("can we run sharp on alpine?", "doesn't work|glibc"),
    ("which variables have to be set for the mail worker", "smtp_url"),
    ("what does the worker depend on", "node 20"),
    ("which base image does sharp need?", "debian|glibc|alpine"),
];

const FILES: [AskedQuestion; 10] = [
    ("who changed src/db.ts?", "src/db.ts was edited"),
    ("when was src/db.ts last changed?", "src/db.ts was edited"),
    ("what happened to src/auth/token.ts?", "src/auth/token.ts was edited"),
    ("which sessions touched stripe.ts?", "stripe.ts was edited"),
    ("history of src/invoice.ts", "src/invoice.ts was edited"),
    ("who edited cart.ts and what for?", "build is broken"),
    ("what was done to src/auth/refresh.ts?", "refresh.ts was edited"),
    ("when did we touch invoice.ts", "invoice.ts was edited"),
    ("which session modified token.ts?", "token.ts was edited"),
    ("who last changed refresh.ts?", "refresh.ts was edited"),
];

const TIMES: [AskedQuestion; 10] = [
    ("when did we upgrade node?", "2026-03-17"),
    ("when was zod added?", "2026-03-17"),
    ("how long ago did we install zod?", "14d ago"),
    ("when did we roll back redis?", "2026-03-05|26d ago"),
    ("which commit upgraded node?", "upgrade node to 22"),
    ("when was the node upgrade committed?", "2026-03-17"),
    ("when did we decide on R2?", "8d ago"),
    ("when did we switch the shipping client to ky?", "19d ago"),
    ("when was the invoice test fixed?", "10d ago"),
    ("since when do we use postgres for the product search?", "7d ago"),
];

const LAST: [AskedQuestion; 10] = [
    ("what were we working on in the last session?", "jwt"),
    ("what were we working on?", "jwt"),
    ("where did we stop?", "jwt"),
    ("where did we leave off last time", "jwt"),
    ("what did we do yesterday?", "jwt"),
    ("what is left to do?", "revoke the refresh token"),
    ("catch me up on the last session", "jwt"),
    ("what was I doing in the previous session?", "jwt"),
    ("what are the next steps?", "revoke the refresh token"),
    ("which problems are still open?", "logout"),
];

/// Other wordings, of all kinds.
const PARAPHRASES: [AskedQuestion; 10] = [
    ("what did we work on last", "jwt"),
    ("remind me why redis is off the table", "serverless"),
    ("is redis an option for us?", "serverless"),
    ("what's our stance on elasticsearch", "postgres"),
    ("npm test complains about a connection timeout", "20"),
    ("signature verification of stripe failed - what was behind it?", "express.json"),
    ("do I need anything special to start the mail worker", "smtp"),
    ("who worked on src/invoice.ts", "invoice.ts was"),
    ("what was unfinished in authentication?", "revoke"),
    ("what do we store product pictures in?", "r2"),
];

fn ask(engine: &Engine, question: &str) -> AnsweredProjectQuestion {
    let request = AskRequest { question: question.to_owned(), ..AskRequest::default() };
    engine.questions().ask_project(&request, &SessionScope::Project(PROJECT.to_owned())).unwrap()
}

/// The questions whose answers do not have the expected words in the first item.
fn missed(engine: &Engine, questions: &[AskedQuestion; 10]) -> Vec<String> {
    let mut missed = Vec::new();
    for (question, expected) in questions {
        let answer = ask(engine, question).answer;
        let first = answer.items.first().map_or_else(String::new, |item| item.to_line().to_lowercase());
        let sentences: usize = answer.items.iter().map(|item| item.sentences.len()).sum();
        assert!(sentences <= 9, "{question}: {}", answer.to_markdown());
        if !expected.split('|').any(|words| first.contains(words)) {
            missed.push(format!("{question}\n    expected {expected}, got {first}"));
        }
    }
    missed
}

#[test]
fn questions_of_every_kind_are_answered_by_the_first_item() {
    // S003-22, D41
    let home = project_home();
    let engine = engine(&home);
    let kinds = [&FIXES, &DECISIONS, &PREFERENCES, &CAUSES, &REQUIREMENTS, &FILES, &TIMES, &LAST, &PARAPHRASES];
    let missed: Vec<Vec<String>> = kinds.iter().map(|questions| missed(&engine, questions)).collect();
    assert!(missed.iter().all(|kind| kind.len() <= 1), "{}", missed.concat().join("\n"));
}

#[test]
fn what_is_not_known_is_not_answered() {
    // D17
    let home = project_home();
    let engine = engine(&home);
    for question in
        ["which color has the zeppelin?", "why did we choose kafka?", "how did we fix the segfault in ffmpeg?"]
    {
        let answer = ask(&engine, question).answer;
        assert!(answer.is_empty(), "{question}: {}", answer.to_markdown());
    }
    let empty = TestHome::new();
    assert!(ask(&empty.engine(), "why?").answer.is_empty(), "nothing was synced");
}

#[test]
fn prompt_and_reply_are_quoted_together_in_any_language() {
    // D18
    let home = TestHome::new();
    let session = TranscriptBuilder::new("0000beef-0000-4000-8000-000000000000")
        .cwd(PROJECT)
        .user("warum ist die Suche nach Umlauten kaputt?")
        .assistant("Die Suche normalisiert Umlaute nicht, deshalb findet sie keine Treffer.");
    home.write(".claude/projects/-shop/0000beef-0000-4000-8000-000000000000.jsonl", session.build());
    home.sync();
    let answer = ask(&home.engine(), "weshalb findet die Suche keine Umlaute?").answer;
    let line = answer.items[0].to_line();
    assert!(line.contains("normalisiert Umlaute") && line.contains("The user asked: \"warum ist"), "{line}");
}

#[test]
fn model_answers_from_the_evidence_and_the_answer_is_cached() {
    let home = project_home();
    let answer = json!({
        "sentences": [
            {"text": "Redis does not fit serverless functions.", "evidence": [1]},
            {"text": "It is also blue.", "evidence": [400]},
        ],
        "confidence": "high",
        "notes": [],
    });
    let server = StubModel::with_replies(vec![StubReply::text(&answer.to_string())]);
    let engine = crate::turns::engine(&home, &server, &[]);
    let first = ask(&engine, "why did we avoid Redis?");
    assert_eq!(first.model.as_deref(), Some("small"));
    assert_eq!(first.answer.items[0].sentences.len(), 1, "{}", first.answer.to_markdown());
    assert_eq!(first.answer.confidence, Confidence::Medium);
    assert!(!first.answer.items[0].sentences[0].sources.is_empty());
    let sent = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(sent.contains("[1] (") && sent.contains("serverless"), "{sent}");
    // An age would be wrong when the cached answer is read the next day.
    assert!(sent.contains(", 2026-03-") && !sent.contains(" ago)"), "{sent}");
    let again = ask(&engine, "Why did we avoid  redis");
    assert!(again.cached && again.tokens.total() == 0);
    assert_eq!(server.bodies().len(), 1);
    assert!(ask(&engine, "which color has the zeppelin?").model.is_none(), "nothing is sent if nothing is known");
    let session = first.answer.items[0].sentences[0].sources[0].session().unwrap().to_string();
    let other = engine.sessions().list(&rethread_engine::SessionListRequest::default()).unwrap();
    let other = other.into_iter().find(|listed| listed.session.id.to_string() != session).unwrap();
    let target = ForgetTarget::Sessions(vec![other.session.id.to_string()]);
    engine.forget().run(&target).unwrap();
    let request = AskRequest { question: "why did we avoid redis?".to_owned(), ..AskRequest::default() };
    let plan = engine.questions().plan_project(&request, &SessionScope::Project(PROJECT.to_owned())).unwrap();
    assert!(!plan.cached, "an answer may quote a session that was forgotten");
}
