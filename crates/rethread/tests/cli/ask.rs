//! Questions and handoffs through the real binary: with a model, without one, and where neither helps.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use insta::assert_snapshot;
use serde_json::json;

use crate::transcripts::{CLAUDE, read_home};
use crate::world::World;

const QUESTION: &str = "why was the last line dropped?";

/// A model that says this once, and where it is.
fn model_that_says(text: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let message = json!({"role": "assistant", "content": text});
    let usage = json!({"prompt_tokens": 1200, "completion_tokens": 80});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim_end().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    base
}

/// The same question with a model at that address, and a budget.
fn ask(world: &World, base: &str, more: &[&str]) -> String {
    let endpoint = format!("model.endpoint={base}");
    let flags = ["-c", "model.provider=openai", "-c", "model.name=small", "-c", endpoint.as_str()];
    let prices = ["-c", "model.price_input=1", "-c", "model.price_output=5", "-c", "budget.daily_usd=1"];
    world.tell(&[&flags[..], &prices, &["ask", CLAUDE, QUESTION], more].concat()).replace(base, "[MODEL]")
}

#[test]
fn e001_13_an_answer_is_told_with_what_it_rests_on() {
    let world = read_home();
    let answer = json!({
        "answerMarkdown": "The reader waited for a line break that never came.",
        "confidence": "high",
        "citations": [
            {"entryId": "e0", "role": "user", "excerpt": "the last line"},
            {"entryId": "e0", "role": "user", "excerpt": "nobody ever said this there"},
        ],
        "notes": ["The fix itself is not shown."],
    });
    let base = model_that_says(&format!("```json\n{answer}\n```"));
    assert_snapshot!("dry_run", ask(&world, &base, &["--dry-run"]));
    assert_snapshot!("answered", ask(&world, &base, &[]));
    assert_snapshot!("answered_before", ask(&world, &base, &["--json"]));
    assert_snapshot!("known_dry_run", ask(&world, &base, &["--dry-run", "--json"]));
}

#[test]
fn without_a_model_passages_are_quoted() {
    let world = read_home();
    assert_snapshot!("passages", world.tell(&["ask", CLAUDE, QUESTION]));
    assert_snapshot!("passages_json", world.tell(&["ask", CLAUDE, QUESTION, "--json", "--no-model"]));
    assert_snapshot!("passages_dry_run", world.tell(&["ask", CLAUDE, QUESTION, "--dry-run"]));
    assert_snapshot!("no_passages", world.tell(&["ask", CLAUDE, "zebra crossing"]));
}

#[test]
fn e001_15_failures_have_their_codes() {
    let world = read_home();
    assert_snapshot!("unknown", world.tell(&["ask", "nobody", QUESTION, "--json"]));
    assert_snapshot!("ambiguous", world.tell(&["ask", "1b0f", QUESTION, "--json"]));
    assert_snapshot!("nothing_asked", world.tell(&["ask", CLAUDE, " ", "--json"]));
    let empty = ["ask", "00000000-0000-4000-8000-0000000000ee", QUESTION, "--json"];
    assert_snapshot!("empty", world.tell(&empty));
    assert_snapshot!("no_provider", world.tell(&["ask", CLAUDE, QUESTION, "--model", "large", "--json"]));
    let flags = ["-c", "model.provider=anthropic", "-c", "model.name=claude-haiku-4-5"];
    let output = world.command(&[&flags[..], &["ask", CLAUDE, QUESTION, "--json"]].concat());
    assert_snapshot!("no_budget", world.told(&{ output }.env("ANTHROPIC_API_KEY", "sk-hush").output().unwrap()));
}

#[test]
fn e001_20_a_handoff_is_markdown() {
    let world = read_home();
    assert_snapshot!("handoff", world.tell(&["handoff", CLAUDE]));
    assert_snapshot!("handoff_json", world.tell(&["handoff", CLAUDE, "--json"]));
}

#[test]
fn s001_22_references_in_a_text_are_shown() {
    let world = read_home();
    assert_snapshot!("resolve", world.tell(&["resolve", "as in @@1b0f6a52 and", "@@nobody"]));
    assert_snapshot!("resolve_json", world.tell(&["resolve", "--json", "@@\"last line\": why?"]));
    assert_snapshot!("resolve_nothing", world.tell(&["resolve", "mail me@@example.com"]));
}
