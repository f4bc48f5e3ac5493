//! Prompts that ask about the project get the fact that answers them from the hook; all others get none.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::Agent;
use rethread_testing::TestHome;
use serde_json::json;

use crate::project_sessions::{PROJECT, engine, project_home};

/// Prompts with the words that the first line of memory has. Alternatives are separated by `|`.
const ASKED: [(&str, &str); 11] = [
    ("how did we fix the connection timeout to the database?", "20"),
    ("how was the TS2345 build error resolved?", "money.parse"),
    ("should I use elasticsearch or postgres for search?", "postgres"),
    ("should I use axios?", "ky"),
    ("jest or vitest?", "vitest"),
    ("which test runner do we use?", "vitest"),
    ("which http client do we use?", "ky"),
    ("am I allowed to push to main?", "push"),
    ("are em dashes ok in the docs?", "em dash"),
    ("what caused the JWT bug?", "expiry"),
    ("add axios to the client", "ky"),
];

const NOT_ASKED: [&str; 14] = [
    "add retries to the http client",
    "what is the difference between axios and fetch?",
    "how does jsonb indexing work in postgres?",
    "remove the leftover axios types",
    "why did we drop mongodb?",
    "how did we fix the websocket disconnects?",
    "what caused the search outage?",
    "what's our rule about semicolons?",
    "which payment provider did we choose?",
    "should this function be async?",
    "what happened when you ran the tests?",
    "explain how redis works",
    "thanks, looks good",
    "run the tests again",
];

/// The first line of memory that a prompt brings in a new session.
fn first_memory(home: &TestHome, number: usize, prompt: &str) -> String {
    let payload = json!({"session_id": format!("{number:08x}-1111-4000-8000-000000000000"), "cwd": PROJECT,
        "hook_event_name": "UserPromptSubmit", "prompt": prompt, "transcript_path": "/none.jsonl"});
    let answer = engine(home).hooks().handle(Agent::ClaudeCode, payload.to_string().as_bytes()).unwrap();
    let text = answer.map(|answer| answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned());
    let text = text.unwrap_or_default();
    let memory = text.split_once("[MEMORY CONTEXT]\n").map(|(_, memory)| memory.lines().next().unwrap_or_default());
    memory.unwrap_or_default().to_lowercase()
}

#[test]
fn a_prompt_that_asks_gets_the_answer_and_others_get_none() {
    // D41
    let home = project_home();
    let mut wrong = Vec::new();
    for (number, (prompt, expected)) in ASKED.into_iter().enumerate() {
        let line = first_memory(&home, number, prompt);
        if !expected.split('|').any(|word| line.contains(word)) {
            wrong.push((prompt, line));
        }
    }
    for (number, prompt) in (ASKED.len()..).zip(NOT_ASKED) {
        let line = first_memory(&home, number, prompt);
        // What happened in the last week may be quoted; a fact may not.
        let is_fact = ["decided", "prohibition", "preference", "fixed by", "cause", "ruled out", "the user"];
        if is_fact.iter().any(|word| line.contains(word)) {
            wrong.push((prompt, line));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
