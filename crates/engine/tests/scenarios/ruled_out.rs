//! Decisions that come at the right moment: a prompt or a command names what the user ruled out, or asks about it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::{Agent, EntityKind, Fact, FactState, Predicate, Trust};
use rethread_testing::{TestHome, TranscriptBuilder, confirmed_fact, with_object};
use serde_json::{Value, json};

use crate::session_helpers::{ANNA, BEN, at, engine, hook, prompt, transcript};

const DAY: i64 = 1440;
const LINE: &str = "the user decided on \"ky\" instead of \"axios\"";

fn decided(subject: &str, rejected: &str, sentence: &str) -> Fact {
    let fact = confirmed_fact("2026-03-02T09:00:00Z", Predicate::Decided, (EntityKind::Decision, subject), sentence);
    Fact { trust: Trust::Human, ..with_object(fact, EntityKind::Decision, rejected) }
}

/// A home with one session in which the user decided on ky.
fn home_with(fact: Fact) -> TestHome {
    let home = TestHome::new();
    home.write(
        &transcript(ANNA),
        TranscriptBuilder::new(ANNA).times(at(0), 0).user("the client needs retries").build(),
    );
    home.sync();
    home.store_facts(home.engine().sessions().resolve(ANNA).unwrap().session.id, 0, &[fact]);
    home
}

fn home() -> TestHome {
    home_with(decided("ky", "axios", "use ky instead of axios as the http client"))
}

fn ask(home: &TestHome, session: &str, text: &str) -> String {
    prompt(home, 3 * DAY, session, text).unwrap_or_default()
}

fn run(home: &TestHome, session: &str, command: &str, more: &Value) -> String {
    let mut call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    for (name, value) in more.as_object().unwrap() {
        call[name] = value.clone();
    }
    hook(home, 3 * DAY, session, "PreToolUse", &call).unwrap_or_default()
}

#[test]
fn prompt_that_names_what_was_ruled_out_brings_the_decision_once() {
    // D41
    let home = home();
    let injected = ask(&home, BEN, "let's add axios");
    assert!(
        injected.contains(LINE) && injected.contains("[3d ago]") && injected.contains("rethread show"),
        "{injected}"
    );
    assert!(!ask(&home, BEN, "really, let's add axios").contains(LINE), "once");
    assert!(!run(&home, BEN, "npm install axios", &json!({})).contains(LINE), "nor with the command");
    assert!(!ask(&home, "dddd1011-0000-4000-8000-00000000000d", "let's remove axios").contains(LINE));
}

#[test]
fn command_that_installs_what_was_ruled_out_brings_the_decision_once() {
    // D41
    let home = home();
    assert_eq!(run(&home, BEN, "npm install ky", &json!({})), "");
    assert_eq!(run(&home, BEN, "npm install axios", &json!({"agent_id": "sub1"})), "", "not for sub-agents");
    assert_eq!(run(&home, "subagent-1", "npm install axios", &json!({})), "", "nor for those with their own session");
    assert_eq!(run(&home, BEN, "npm install axios", &json!({"cwd": "/other"})), "", "nor in other projects");
    assert!(run(&home, BEN, "cd web && npm install axios@1.7", &json!({})).contains(LINE));
    assert_eq!(run(&home, BEN, "npm install axios", &json!({})), "", "once");
}

#[test]
fn host_that_drops_text_before_a_call_gets_it_with_the_next_prompt() {
    let home = home();
    let send = |payload: Value| {
        let answer = engine(&home, 3 * DAY).hooks().handle(Agent::Kimi, payload.to_string().as_bytes()).unwrap();
        answer.map(|answer| answer.to_string()).unwrap_or_default()
    };
    let event = |name: &str| json!({"session_id": "k1", "cwd": "/app", "hook_event_name": name, "prompt": "go on"});
    send(event("UserPromptSubmit"));
    let mut call = event("PreToolUse");
    call["tool_name"] = json!("Bash");
    call["tool_input"] = json!({"command": "pnpm add axios"});
    assert_eq!(send(call), "");
    assert!(send(event("UserPromptSubmit")).contains("instead of"));
}

#[test]
fn question_about_a_topic_brings_the_decision() {
    // D41
    for (number, question) in
        ["which http client do we use?", "should we use axios or ky?", "why did we choose ky?"].iter().enumerate()
    {
        let injected = ask(&home(), &format!("ffff1011-0000-4000-8000-00000000000{number}"), question);
        assert!(injected.contains("use ky instead of axios as the http client"), "{question}: {injected}");
    }
    for question in ["which file has the client?", "fix the retries of the client"] {
        assert!(!ask(&home(), BEN, question).contains("use ky"), "{question}");
    }
    let elsewhere = json!({"prompt": "which http client do we use?", "cwd": "/other"});
    assert_eq!(hook(&home(), 3 * DAY, BEN, "UserPromptSubmit", &elsewhere), None, "another project");
}

#[test]
fn only_what_a_human_decided_and_still_holds_is_injected() {
    let check = |change: &dyn Fn(&mut Fact)| {
        let mut fact = decided("ky", "axios", "use ky instead of axios as the http client");
        change(&mut fact);
        ask(&home_with(fact), BEN, "let's add axios").contains("axios as the http client")
    };
    assert!(check(&|_| {}));
    assert!(!check(&|fact| fact.trust = Trust::Assistant));
    assert!(!check(&|fact| fact.model = Some("m".to_owned())));
    assert!(!check(&|fact| fact.state = FactState::Hypothesis));
    assert!(!check(&|fact| fact.state = FactState::Superseded));
}

#[test]
fn decision_that_the_user_took_back_is_not_injected() {
    let home = home();
    let mut again = decided("axios", "ky", "let's go with axios after all instead of ky");
    again.at = Some(at(DAY));
    let other = "dddd1011-0000-4000-8000-00000000000d";
    home.write(&transcript(other), TranscriptBuilder::new(other).times(at(DAY), 0).user("retries again").build());
    home.sync();
    home.store_facts(home.engine().sessions().resolve(other).unwrap().session.id, 0, &[again]);
    assert_eq!(run(&home, BEN, "npm install axios", &json!({})), "");
    assert!(run(&home, BEN, "npm install ky", &json!({})).contains("the user decided on \"axios\" instead of \"ky\""));
}

#[test]
fn rejected_option_that_is_a_description_is_never_named() {
    let home = home_with(decided("streams", "old approach", "use streams instead of the old approach"));
    for text in ["keep the old approach for now", "let's add the old approach", "is the old approach slow?"] {
        assert!(!ask(&home, BEN, text).contains("decided"), "{text}");
    }
}

#[test]
fn decision_about_a_file_needs_its_whole_path_and_a_human() {
    let known = "keep the limits in src/limits.rs";
    let about_file = |trust: Trust, text: &str| {
        let mut fact = decided("one file for limits", "many", known);
        fact.trust = trust;
        ask(&home_with(fact), BEN, text).contains(known)
    };
    assert!(about_file(Trust::Human, "add a value to src/limits.rs"));
    assert!(!about_file(Trust::Assistant, "add a value to src/limits.rs"));
    assert!(!about_file(Trust::Human, "add a value to mits.rs"));
}

#[test]
fn explanation_names_the_reason() {
    let home = home();
    home.write(&transcript(BEN), TranscriptBuilder::new(BEN).times(at(DAY), 0).user("hello there").build());
    home.sync();
    let explained = engine(&home, 3 * DAY).awareness().explain(BEN, "let's add axios").unwrap();
    let sections = explained.composed.unwrap().sections;
    assert!(sections.iter().any(|section| section.reason.contains("ruled out something that the prompt names")));
}

#[test]
fn decision_in_the_words_of_a_user_is_found_in_the_transcript() {
    // D41
    let home = TestHome::new();
    let said = "use ky instead of axios, because axios breaks on the edge runtime";
    home.write(&transcript(ANNA), TranscriptBuilder::new(ANNA).times(at(0), 0).user(said).build());
    home.sync();
    let injected = run(&home, BEN, "npm install --save axios", &json!({}));
    assert!(injected.contains(LINE) && injected.contains("axios breaks on the edge runtime"), "{injected}");
    assert_eq!(run(&home, ANNA, "npm install axios", &json!({})), "", "the session itself knows it");
}
