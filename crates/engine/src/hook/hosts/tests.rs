//! Reads the fixtures of every host: what each payload means, and what the answer to it looks like.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{HOSTS, HostProtocol};
use crate::hook::answer::AnswerForm;
use crate::hook::protocol::HookEventKind;

/// One case of a fixture: `payload`, the `event` it means (null if it is ignored), the `answer` with the text TEXT, and
/// the `notice` with that text (null if none may be given).
fn check(host: &HostProtocol, case: &Value) {
    let payload = case["payload"].as_object().unwrap();
    let is_ignored = host.ignored.iter().any(|condition| condition.is_met(payload));
    let caller = host.caller(payload, Path::new("/default")).filter(|_| !is_ignored);
    let event = host.decode(payload).filter(|event| event.rule.kind != HookEventKind::Ignored);
    let Some((caller, event)) = caller.zip(event) else {
        return assert_eq!(case["event"], Value::Null, "{payload:?} is ignored");
    };
    let mut decoded = json!({
        "kind": format!("{:?}", event.rule.kind),
        "session": caller.external_id,
        "cwd": caller.cwd,
        "transcript": caller.transcript,
        "subagent": caller.subagent,
        "text": event.text,
        "tool": event.call.name,
        "input": event.call.input,
        "outputChars": event.call.output_chars,
        "error": event.call.error,
        "unjudgedOutput": event.call.unjudged_output,
        "interrupted": event.call.is_interrupted,
        "waits": !event.rule.delivers,
    });
    let empty = [Value::Null, json!(""), json!(0), json!(false)];
    decoded.as_object_mut().unwrap().retain(|_, value| !empty.contains(value));
    assert_eq!(decoded, case["event"], "{payload:?}");
    let encode = |form: AnswerForm| form.encode(event.rule.name, "TEXT");
    if let Some(answer) = case.get("answer") {
        assert_eq!(encode(host.context), *answer, "{payload:?}");
    }
    let notice = if event.rule.takes_notice { host.encode_notice(event.rule.name, "TEXT") } else { Value::Null };
    assert_eq!(notice, case["notice"], "{payload:?}");
}

fn fixtures_of(host: &HostProtocol) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts").join(host.agent.as_str())
}

fn cases_of(host: &HostProtocol) -> Vec<Value> {
    let files = fs::read_dir(fixtures_of(host)).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.flat_map(|text| serde_json::from_slice::<Vec<Value>>(&text).unwrap()).collect()
}

#[test]
fn each_payload_gives_its_event_and_its_answer() {
    for host in HOSTS {
        for case in cases_of(host) {
            check(host, &case);
        }
    }
}

#[test]
fn each_rule_of_a_host_has_a_case() {
    for host in HOSTS {
        let cases = cases_of(host).into_iter();
        let events = cases.filter_map(|case| host.decode(case["payload"].as_object()?));
        let used: HashSet<*const _> = events.map(|event| std::ptr::from_ref(event.rule)).collect();
        for rule in host.events {
            assert!(used.contains(&std::ptr::from_ref(rule)), "{}: no case for {rule:?}", host.agent);
        }
    }
}

#[test]
fn values_of_other_types_are_read_as_missing() {
    for host in HOSTS {
        for case in cases_of(host) {
            let payload = case["payload"].as_object().unwrap();
            for name in payload.keys() {
                for other in [json!(null), json!(7), json!([{"a": 1}]), json!({"b": []})] {
                    let mut changed: Map<String, Value> = payload.clone();
                    changed.insert(name.clone(), other);
                    let _ = (host.caller(&changed, Path::new("/")), host.decode(&changed));
                }
            }
        }
    }
}
