//! Adding hooks to settings text and removing them.

use rethread_model::Agent;

use super::super::claude_code::hooks;
use super::*;

const BINARY: &str = "/opt/rethread";
const OWNER: Owner<'static> = Owner { agent: Agent::ClaudeCode, binary: Some(BINARY) };

fn parse(text: &str) -> std::io::Result<Value> {
    Syntax::Json.parse(text)
}

fn installed(text: &str) -> String {
    Syntax::Json.with(text, &[hooks(BINARY)], &OWNER).unwrap()
}

fn removed(text: &str) -> String {
    Syntax::Json.without(text, &[hooks(BINARY)], &OWNER).unwrap()
}

/// Checks an event's groups after installing into `hooks`.
fn check(hooks: &str, event: &str, expect: &str) {
    let text = installed(&format!("{{\"hooks\": {hooks}}}"));
    let value = parse(&text).unwrap();
    assert_eq!(value["hooks"][event].to_string(), expect);
    assert_eq!(installed(&text), text, "installing again changes nothing");
}

fn ours(matcher: &str) -> String {
    let command = "test ! -x /opt/rethread || exec /opt/rethread hook claude-code";
    let hook = format!(r#"{{"type":"command","command":"{command}","timeout":5}}"#);
    format!("{{{matcher}\"hooks\":[{hook}]}}")
}

const MATCHER: &str = r#""matcher":"Write|Edit|MultiEdit|NotebookEdit|Bash","#;

#[test]
fn every_event_gets_one_group() {
    check("{}", "Stop", &format!("[{}]", ours("")));
    check("{}", "PreToolUse", &format!("[{}]", ours(MATCHER)));
    let value = parse(&installed("")).unwrap();
    let events: Vec<_> = value["hooks"].as_object().unwrap().keys().cloned().collect();
    // D31
    let expect = "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure Stop SessionEnd";
    assert_eq!(events.join(" "), expect);
}

#[test]
fn other_hooks_stay_before_ours() {
    let foreign = r#"{"matcher":"Bash","hooks":[{"type":"command","command":"lint"}]}"#;
    check(&format!("{{\"PreToolUse\":[{foreign}]}}"), "PreToolUse", &format!("[{foreign},{}]", ours(MATCHER)));
    check(&format!("{{\"Notification\":[{foreign}]}}"), "Notification", &format!("[{foreign}]"));
}

// D45
#[test]
fn every_earlier_form_is_replaced_in_place() {
    let foreign = r#"{"hooks":[{"type":"command","command":"say"}]}"#;
    for hook in [
        r#"{"type":"command","command":"/old/rethread","args":["hook","claude-code"]}"#,
        r#"{"type":"command","command":"'/old/rethread' hook claude-code"}"#,
        r#"{"type":"command","command":"/bin/sh","args":["-c","exec \"$0\" hook claude-code","/old/rethread"]}"#,
        r#"{"type":"command","command":"test ! -x '/o ld/rethread' || exec '/o ld/rethread' hook claude-code"}"#,
    ] {
        let stale = format!(r#"{{"matcher":"","hooks":[{hook}]}}"#);
        check(&format!("{{\"Stop\":[{stale},{foreign}]}}"), "Stop", &format!("[{},{foreign}]", ours("")));
        check(&format!("{{\"Stop\":[{stale},{foreign},{stale}]}}"), "Stop", &format!("[{},{foreign}]", ours("")));
        check(&format!("{{\"Notification\":[{stale}]}}"), "Notification", "null");
    }
}

#[test]
fn another_hook_in_our_group_keeps_that_group() {
    let shared = r#"{"hooks":[{"command":"/old/rethread","args":["hook","claude-code"]},{"command":"say"}]}"#;
    let kept = r#"{"hooks":[{"command":"say"}]}"#;
    check(&format!("{{\"Stop\":[{shared}]}}"), "Stop", &format!("[{kept},{}]", ours("")));
}

#[test]
fn other_uses_of_the_same_program_are_not_ours() {
    let other = r#"{"hooks":[{"command":"/opt/rethread","args":["sync"]}]}"#;
    check(&format!("{{\"Stop\":[{other}]}}"), "Stop", &format!("[{other},{}]", ours("")));
}

// D55
#[test]
fn only_our_own_entries_change() {
    for text in [
        "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n",
        "{\n    \"z\": [1,2,   3],\n    \"a\": {\"b\": 2}\n}",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "\u{feff}{\n  \"a\": 1\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [ {\"hooks\": [{\"command\": \"say\"}]} ],\n    \"Notification\": []\n  }\n}",
    ] {
        let with = installed(text);
        assert_ne!(with, text);
        for line in text.lines().map(|line| line.trim_end_matches([' ', ',', ']'])) {
            assert!(with.contains(line), "{line:?} in {with}");
        }
        assert_eq!(removed(&with), text);
        assert_eq!(with.ends_with('\n'), text.ends_with('\n'));
        assert_eq!(with.matches('\n').count() == with.matches("\r\n").count(), text.contains('\r'));
    }
    assert_eq!(installed(""), installed("{}\n"));
}

// D55
#[test]
fn a_list_on_one_line_keeps_its_entries_as_they_are() {
    let text = r#"{ "x": {"y":1},  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]} }"#;
    let with = installed(text);
    assert!(with.contains(r#""Stop": [{"hooks": [{"type": "command", "command": "true"}]}"#), "{with}");
    assert!(with.contains(r#""x": {"y":1},"#), "{with}");
    assert_eq!(parse(&removed(&with)).unwrap(), parse(text).unwrap());
}

#[test]
fn other_hooks_are_not_removed() {
    for events in [r#"{"Stop":[]}"#, r#"{"Stop":[{"hooks":[]}]}"#, "{}", "[]", "1", r#"{"Stop":{"a":1}}"#] {
        let text = format!("{{\"hooks\":{events}}}");
        assert_eq!(removed(&text), text);
        assert!(!hooks(BINARY).is_in(&parse(&text).unwrap(), &OWNER));
    }
}

#[test]
fn an_invalid_value_is_reported_with_its_key() {
    let place = |text: &str| match Syntax::Json.with(text, &[hooks(BINARY)], &OWNER) {
        Err(EditError::Unexpected(problem)) => problem.key,
        other => panic!("{other:?}"),
    };
    assert_eq!(place("[]"), "the top level");
    assert_eq!(place(r#"{"hooks":[]}"#), "hooks");
    assert_eq!(place(r#"{"hooks":{"Stop":1}}"#), "hooks.Stop");
    assert_eq!(place(r#"{"hooks":{"Stop":[{"hooks":[]},{"hooks":1}]}}"#), "hooks.Stop[1]");
}
