//! `ask`, `handoff` and `resolve`: with a model, without one, and with errors.

use insta::assert_snapshot;
use rethread_testing::{StubModel, StubReply, TestHome};
use serde_json::json;

use crate::transcripts::{CLAUDE, read_home};

const QUESTION: &str = "why was the last line dropped?";

/// A model that answers this, with usage that costs something.
fn model_answering(text: &str) -> StubModel {
    let message = json!({"role": "assistant", "content": text});
    let usage = json!({"prompt_tokens": 1200, "completion_tokens": 80});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    StubModel::with_only(vec![StubReply::http("200 OK", &body.to_string())])
}

/// Asks with this model and a budget.
fn ask(home: &TestHome, model: &StubModel, more: &[&str]) -> String {
    let base = model.openai_url();
    let endpoint = format!("model.endpoint={base}");
    let flags = ["-c", "model.provider=openai", "-c", "model.name=small", "-c", endpoint.as_str()];
    let prices = ["-c", "model.price_input=1", "-c", "model.price_output=5", "-c", "budget.daily_usd=1"];
    home.snapshot(&[&flags[..], &prices, &["ask", CLAUDE, QUESTION], more].concat()).replace(&base, "[MODEL]")
}

#[test]
fn answer_is_shown_with_its_citations() {
    // E001-13
    let home = read_home();
    let answer = json!({
        "answerMarkdown": "The reader waited for a line break that never came.",
        "confidence": "high",
        "citations": [
            {"entryId": "e0", "role": "user", "excerpt": "the last line"},
            {"entryId": "e0", "role": "user", "excerpt": "nobody ever said this there"},
        ],
        "notes": ["The fix itself is not shown."],
    });
    let model = model_answering(&format!("```json\n{answer}\n```"));
    assert_snapshot!("dry_run", ask(&home, &model, &["--dry-run"]));
    assert_snapshot!("answered", ask(&home, &model, &[]));
    assert_snapshot!("answered_before", ask(&home, &model, &["--json"]));
    assert_snapshot!("known_dry_run", ask(&home, &model, &["--dry-run", "--json"]));
}

#[test]
fn passages_are_quoted_without_a_model() {
    let home = read_home();
    assert_snapshot!("passages", home.snapshot(&["ask", CLAUDE, QUESTION]));
    assert_snapshot!("passages_json", home.snapshot(&["ask", CLAUDE, QUESTION, "--json", "--no-model"]));
    assert_snapshot!("passages_dry_run", home.snapshot(&["ask", CLAUDE, QUESTION, "--dry-run"]));
    assert_snapshot!("no_passages", home.snapshot(&["ask", CLAUDE, "zebra crossing"]));
}

#[test]
fn one_argument_asks_the_whole_project() {
    // S003-22, D17
    let home = read_home();
    assert_snapshot!("project", home.snapshot(&["ask", QUESTION, "--all-projects"]));
    assert_snapshot!("project_json", home.snapshot(&["ask", QUESTION, "--all-projects", "--json", "--no-model"]));
    assert_snapshot!("project_dry_run", home.snapshot(&["ask", QUESTION, "--all-projects", "--dry-run"]));
    assert_snapshot!("project_nothing", home.snapshot(&["ask", "zebra crossing", "--all-projects"]));
    assert_snapshot!("project_session", home.snapshot(&["ask", CLAUDE, "--all-projects"]));
}

#[test]
fn project_questions_may_be_typed_without_quotes() {
    let home = read_home();
    let words: Vec<&str> = QUESTION.split(' ').collect();
    let unquoted = home.snapshot(&[&["ask"], &words[..], &["--all-projects"]].concat());
    assert_eq!(unquoted, home.snapshot(&["ask", QUESTION, "--all-projects"]));
    assert_snapshot!("unquoted_statement", home.snapshot(&["ask", "last", "line", "dropped"]));
}

#[test]
fn failures_have_error_codes() {
    // E001-15
    let home = read_home();
    assert_snapshot!("unknown", home.snapshot(&["ask", "nobody", QUESTION, "--json"]));
    assert_snapshot!("ambiguous", home.snapshot(&["ask", "1b0f", QUESTION, "--json"]));
    assert_snapshot!("nothing_asked", home.snapshot(&["ask", CLAUDE, " ", "--json"]));
    let empty = ["ask", "00000000-0000-4000-8000-0000000000ee", QUESTION, "--json"];
    assert_snapshot!("empty", home.snapshot(&empty));
    assert_snapshot!("no_provider", home.snapshot(&["ask", CLAUDE, QUESTION, "--model", "large", "--json"]));
    let flags = ["-c", "model.provider=anthropic", "-c", "model.name=claude-haiku-4-5"];
    let output = home.command(&[&flags[..], &["ask", CLAUDE, QUESTION, "--json"]].concat());
    assert_snapshot!("no_budget", home.snapshot_of(&{ output }.env("ANTHROPIC_API_KEY", "sk-hush").output().unwrap()));
}

#[test]
fn handoff_is_markdown() {
    // E001-20
    let home = read_home();
    assert_snapshot!("handoff", home.snapshot(&["handoff", CLAUDE]));
    assert_snapshot!("handoff_json", home.snapshot(&["handoff", CLAUDE, "--json"]));
}

#[test]
fn references_in_a_text_are_resolved() {
    // S001-22
    let home = read_home();
    assert_snapshot!("resolve", home.snapshot(&["resolve", "as in @@1b0f6a52 and", "@@nobody"]));
    assert_snapshot!("resolve_json", home.snapshot(&["resolve", "--json", "@@\"last line\": why?"]));
    assert_snapshot!("resolve_nothing", home.snapshot(&["resolve", "mail me@@example.com"]));
}
