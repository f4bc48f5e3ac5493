//! Entries in TOML and YAML, and text that is refused.

use rethread_model::Agent;
use serde_json::json;

use super::*;

const OWNER: Owner<'static> = Owner { agent: Agent::Hermes, binary: Some("/opt/rethread") };

fn entries() -> Vec<SettingsEntry> {
    let server = json!({"command": "/opt/rethread", "args": ["mcp"]});
    vec![
        SettingsEntry::Items(&["plugins", "enabled"], vec![json!("rethread")]),
        SettingsEntry::Member(&["mcp_servers"], server),
    ]
}

fn check(syntax: Syntax, text: &str, expect: &str) {
    let with = syntax.with(text, &entries(), &OWNER).unwrap();
    assert_eq!(with, expect);
    assert_eq!(syntax.with(&with, &entries(), &OWNER).unwrap(), with);
}

#[test]
fn yaml_gets_lines_of_its_own() {
    check(
        Syntax::Yaml,
        "a: 1 # one\n",
        "a: 1 # one\nplugins:\n  enabled: [rethread]\nmcp_servers:\n  rethread:\n    command: /opt/rethread\n    args: [mcp]\n",
    );
    check(
        Syntax::Yaml,
        "plugins:\n    enabled:\n    # these\n    - x\nmcp_servers:\n    x:\n        command: y\nz: 1\n",
        "plugins:\n    enabled:\n    # these\n    - rethread\n    - x\nmcp_servers:\n    rethread:\n      command: /opt/rethread\n      args: [mcp]\n    x:\n        command: y\nz: 1\n",
    );
    check(
        Syntax::Yaml,
        "plugins: {enabled: [x]}\nmcp_servers: {}\n",
        "plugins: {enabled: [\"rethread\", x]}\nmcp_servers: {rethread: {\"command\":\"/opt/rethread\",\"args\":[\"mcp\"]}}\n",
    );
}

#[test]
fn a_server_keeps_what_the_user_added() {
    let text = "plugins:\n  enabled: [rethread]\nmcp_servers:\n  rethread:\n    command: /old/rethread # ours\n    args: [mcp]\n    timeout: 9\n";
    check(Syntax::Yaml, text, &text.replace("/old", "/opt"));
    let text = "{\"plugins\":{\"enabled\":[\"rethread\"]},\"mcp_servers\":{\"rethread\":{\"command\":\"/old/rethread\",\"args\":[\"mcp\"],\"x\":1}}}";
    check(Syntax::Json, text, &text.replace("/old", "/opt"));
    let text = "[plugins]\nenabled = [\"rethread\"]\n\n[mcp_servers.rethread]\ncommand = \"/old/rethread\"\nargs = [\"mcp\"]\nx = 1\n";
    check(Syntax::Toml, text, &text.replace("/old", "/opt"));
}

#[test]
fn yaml_that_is_unclear_is_refused_with_the_lines_to_add() {
    for text in ["plugins: &all {enabled: [x]}\nmcp_servers:\n  - list\n", "a: 1\n...\n", "a: 1\n---\nb: 2\n"] {
        assert!(Syntax::Yaml.with(text, &entries(), &OWNER).is_err(), "{text}");
    }
    let Err(EditError::Unclear { lines }) = Syntax::Yaml.with("a: 1\n...\n", &entries(), &OWNER) else {
        panic!("refused in another way")
    };
    assert_eq!(lines, "plugins:\n  enabled: [rethread]");
}

#[test]
fn toml_with_mixed_line_ends_is_refused() {
    assert!(matches!(Syntax::Toml.with("a = 1\r\nb = 2\n", &entries(), &OWNER), Err(EditError::Unclear { .. })));
}
