//! Adding hooks to settings text and removing them.

use super::*;

const BINARY: &str = "/opt/rethread";

fn installed(text: &str) -> String {
    let value = parse(text.as_bytes()).unwrap();
    to_text(&with_hooks(&value, BINARY).unwrap(), text)
}

fn removed(text: &str) -> String {
    to_text(&without_hooks(&parse(text.as_bytes()).unwrap(), Some(BINARY)), text)
}

/// Checks an event's groups after installing into `hooks`.
fn check(hooks: &str, event: &str, expect: &str) {
    let text = installed(&format!("{{\"hooks\": {hooks}}}"));
    let value = parse(text.as_bytes()).unwrap();
    assert_eq!(value["hooks"][event].to_string(), expect);
    assert_eq!(installed(&text), text, "installing again changes nothing");
}

fn ours(matcher: &str) -> String {
    let hook = r#"{"type":"command","command":"/opt/rethread","args":["hook","claude-code"],"timeout":5}"#;
    format!("{{{matcher}\"hooks\":[{hook}]}}")
}

const MATCHER: &str = r#""matcher":"Write|Edit|MultiEdit|NotebookEdit|Bash","#;

#[test]
fn every_event_gets_one_group() {
    check("{}", "Stop", &format!("[{}]", ours("")));
    check("{}", "PreToolUse", &format!("[{}]", ours(MATCHER)));
    let value = with_hooks(&json!({}), BINARY).unwrap();
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

#[test]
fn an_outdated_hook_is_replaced_in_place() {
    let stale =
        r#"{"matcher":"","hooks":[{"type":"command","command":"/old/rethread","args":["hook","claude-code"]}]}"#;
    let foreign = r#"{"hooks":[{"type":"command","command":"say"}]}"#;
    check(&format!("{{\"Stop\":[{stale},{foreign}]}}"), "Stop", &format!("[{},{foreign}]", ours("")));
    check(&format!("{{\"Stop\":[{stale},{foreign},{stale}]}}"), "Stop", &format!("[{},{foreign}]", ours("")));
    check(&format!("{{\"Notification\":[{stale}]}}"), "Notification", "null");
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

#[test]
fn the_style_of_the_file_is_kept() {
    for text in
        ["{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n", "{\n    \"z\": 1,\n    \"a\": 2\n}", "{\r\n  \"a\": 1\r\n}\r\n"]
    {
        let with = installed(text);
        assert!(with.starts_with(&text[..text.find('1').unwrap()]), "{with}");
        assert_eq!(with.ends_with('\n'), text.ends_with('\n'));
        assert_eq!(with.matches('\n').count() == with.matches("\r\n").count(), text.contains('\r'));
        assert_eq!(removed(&with), text);
    }
    assert_eq!(installed(""), installed("{}\n"));
}

#[test]
fn other_hooks_are_not_removed() {
    for hooks in [r#"{"Stop":[]}"#, r#"{"Stop":[{"hooks":[]}]}"#, "{}", "[]", "1", r#"{"Stop":{"a":1}}"#] {
        let value = parse(format!("{{\"hooks\":{hooks}}}").as_bytes()).unwrap();
        assert_eq!(without_hooks(&value, Some(BINARY)), value);
        assert!(!has_hooks(&value, Some(BINARY)));
    }
}

#[test]
fn an_invalid_value_is_reported_with_its_key() {
    let place = |text: &str| with_hooks(&parse(text.as_bytes()).unwrap(), BINARY).unwrap_err().key;
    assert_eq!(place("[]"), "the top level");
    assert_eq!(place(r#"{"hooks":[]}"#), "hooks");
    assert_eq!(place(r#"{"hooks":{"Stop":1}}"#), "hooks.Stop");
    assert_eq!(place(r#"{"hooks":{"Stop":[{"hooks":[]},{"hooks":1}]}}"#), "hooks.Stop[1]");
}
