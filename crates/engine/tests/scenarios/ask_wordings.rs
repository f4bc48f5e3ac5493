//! Project questions in other wordings than those that the patterns were written for, and words that nothing is about.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{AskRequest, Engine, ProjectAnswer, SessionScope};

use crate::project_sessions::{PROJECT, engine, project_home};

/// A question with the words that the first item of its answer has. Alternatives are separated by `|`.
const WORDINGS: [(&str, &str); 30] = [
    ("what HTTP library should new code use?", "ky"),
    ("is it fine to commit straight to main?", "pull request|never push"),
    ("TS2345", "money.parse"),
    ("why no redis", "serverless"),
    ("can I use axios", "ky"),
    ("what broke the login", "expiry|expiresin"),
    ("who touched db.ts last", "src/db.ts was edited"),
    ("when did we move to node 22", "2026-03-17"),
    ("what's left to do", "revoke"),
    ("where did I stop yesterday", "jwt"),
    ("whatever happened with the flaky invoice spec?", "utc"),
    ("which object store holds the pictures and why?", "egress"),
    ("is elasticsearch still planned?", "postgres"),
    ("may I add em dashes to the readme", "em dashes"),
    ("which test runner do new tests use", "vitest"),
    ("mail worker exits immediately, why?", "smtp_url"),
    ("ld-linux-x86-64.so.2 missing", "debian|glibc"),
    ("why do stripe calls return 400", "express.json"),
    ("did raising connectTimeout help?", "did not help|not about the time"),
    ("how big is the connection pool now?", "20"),
    ("where do thumbnails get built from, alpine or debian?", "debian"),
    ("what must be set before starting the mail worker?", "smtp_url"),
    ("how should I word commit messages?", "short|one line"),
    ("what was zod added for?", "webhook"),
    ("which package validates the payloads", "zod"),
    ("how long do tokens live now?", "3600|an hour"),
    ("what did formatCents become?", "formatmoney"),
    ("which language did we translate the checkout to?", "dutch"),
    ("who asked for the linter to run before commits", "linter"),
    ("anything unfinished with the refresh tokens?", "revoke"),
];

/// So many of them are not understood: the patterns are not fitted to these wordings.
const MAX_MISSED: usize = 5;

fn ask(engine: &Engine, question: &str) -> ProjectAnswer {
    let request = AskRequest { question: question.to_owned(), ..AskRequest::default() };
    engine.questions().ask_project(&request, &SessionScope::Project(PROJECT.to_owned())).unwrap().answer
}

#[test]
fn other_wordings_of_a_question_find_the_same_answer() {
    // S003-22, D41
    let home = project_home();
    let engine = engine(&home);
    let mut missed = Vec::new();
    for (question, expected) in WORDINGS {
        let first = ask(&engine, question).items.first().map_or_else(String::new, |item| item.to_line().to_lowercase());
        if !expected.split('|').any(|words| first.contains(words)) {
            missed.push(format!("{question}\n    expected {expected}, got {first}"));
        }
    }
    assert!(missed.len() <= MAX_MISSED, "{} of {}:\n{}", missed.len(), WORDINGS.len(), missed.join("\n"));
}

#[test]
fn a_name_that_is_known_nowhere_is_not_answered_with_something_else() {
    // D17
    let home = project_home();
    let engine = engine(&home);
    for question in [
        "is there a zeppelin in the cart?",
        "where is the zeppelin in the catalog?",
        "does the footer have a barometer?",
        "how did we fix the barometer in the worker?",
    ] {
        let answer = ask(&engine, question);
        assert!(answer.is_empty(), "{question}: {}", answer.to_markdown());
    }
    assert!(!ask(&engine, "is redis an option for the zeppelin?").is_empty(), "what is known about redis is asked for");
}
