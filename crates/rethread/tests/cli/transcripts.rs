//! Homes with small hand-written transcripts of both agents.

use rethread_testing::TestHome;
use serde_json::{Value, json};

pub(crate) const CLAUDE: &str = "1b0f6a52-3c1d-4e8f-9a07-5d2c8e4b7f10";
pub(crate) const OTHER: &str = "1b0f77aa-0000-4000-8000-000000000002";
pub(crate) const PI: &str = "pi-0001-coupons";

/// The time of the binary's clock.
const NOW: &str = "2026-02-20T12:00:00Z";

/// A home without agents, and a directory beside it that commands are run in.
pub(crate) fn new_home() -> TestHome {
    built_home().install_binary()
}

/// The same for a binary in its build directory.
pub(crate) fn built_home() -> TestHome {
    TestHome::with_binary(env!("CARGO_BIN_EXE_rethread")).separate_work_dir().frozen_at(NOW)
}

/// A home with two agents: a session with everything in it, one with a sub-agent, an empty one, and a branched one.
pub(crate) fn home_with_agents() -> TestHome {
    let home = new_home();
    let folder = ".claude/projects/-home-dev-app";
    home.write(&format!("{folder}/{CLAUDE}.jsonl"), parser_session());
    home.write(&format!("{folder}/{OTHER}.jsonl"), docs_session());
    home.write(&format!("{folder}/{OTHER}/subagents/agent-a1b2c3d4.jsonl"), sub_agent());
    home.write(&format!("{folder}/00000000-0000-4000-8000-0000000000ee.jsonl"), empty_session());
    home.write(&format!(".pi/agent/sessions/--home-dev-api--/2026-02-19T09-00-00-000Z_{PI}.jsonl"), branched_session());
    home
}

/// The same, already synced.
pub(crate) fn read_home() -> TestHome {
    let home = home_with_agents();
    assert!(home.run(&["sync"]).status.success());
    home
}

/// Claude Code lines with the fields every line has. Snapshots depend on their exact bytes.
pub(crate) fn claude(session: &str, lines: &[Value]) -> String {
    let mut last: Option<String> = None;
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        if line.get("message").is_some() {
            let uuid = format!("{}-{at:04}", &session[..8]);
            line["uuid"] = json!(uuid);
            line["parentUuid"] = json!(last);
            line["cwd"] = json!("/home/dev/app");
            line["gitBranch"] = json!("main");
            line["version"] = json!("2.1.80");
            last = Some(uuid);
        }
        line["sessionId"] = json!(session);
        out.extend([line.to_string(), "\n".to_owned()]);
    }
    out
}

pub(crate) fn user(at: &str, content: &Value) -> Value {
    json!({"type": "user", "timestamp": format!("2026-02-20T{at}.000Z"), "message": {"role": "user", "content": content}})
}

pub(crate) fn model(at: &str, id: &str, block: &Value) -> Value {
    json!({"type": "assistant", "timestamp": format!("2026-02-20T{at}.000Z"), "message": {
        "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": [block],
        "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 4},
    }})
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub(crate) fn result(id: &str, content: &str, is_error: bool) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}])
}

fn parser_session() -> String {
    let mut summary = user("11:30:00", &json!("This session is being continued: the parser dropped the last line."));
    summary["isCompactSummary"] = json!(true);
    let mut failure = model("11:31:00", "msg_6", &text("API Error: overloaded"));
    failure["isApiErrorMessage"] = json!(true);
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. \
                   To tell you how to proceed, the user said:\nuse the other file";
    claude(
        CLAUDE,
        &[
            user("11:00:00", &json!("Why does the parser drop the last line?")),
            model("11:00:10", "msg_1", &text("Let me look at it.")),
            model("11:00:10", "msg_1", &call("toolu_1", "Read", &json!({"file_path": "/home/dev/app/src/parser.rs"}))),
            user("11:00:11", &result("toolu_1", "fn parse() {\n    todo\n}\n", false)),
            model("11:01:00", "msg_2", &call("toolu_2", "Bash", &json!({"command": "cargo test parser"}))),
            user(
                "11:01:30",
                &result("toolu_2", "Exit code 101\nerror[E0308]: mismatched types\n  --> src/parser.rs:4", true),
            ),
            model(
                "11:02:00",
                "msg_3",
                &call(
                    "toolu_3",
                    "Edit",
                    &json!({"file_path": "/home/dev/app/src/parser.rs", "old_string": "todo", "new_string": "done"}),
                ),
            ),
            user("11:02:30", &result("toolu_3", refusal, true)),
            model(
                "11:03:00",
                "msg_4",
                &text(
                    "Then the other one.\n\n- `src/lines.rs` cuts the text at every newline and drops what follows the last of them, which is why it is gone",
                ),
            ),
            summary,
            user("11:30:30", &json!("And the tests?")),
            failure,
            model("11:32:00", "msg_7", &call("toolu_4", "Bash", &json!({"command": "cargo test"}))),
            json!({"type": "ai-title", "aiTitle": "Fix the parser's last line"}),
        ],
    )
}

fn docs_session() -> String {
    claude(
        OTHER,
        &[
            user("10:00:00", &json!("Write the parser's documentation")),
            model(
                "10:00:20",
                "msg_a",
                &call("toolu_a", "Task", &json!({"description": "read the parser", "prompt": "Read it"})),
            ),
            user("10:02:00", &result("toolu_a", "It parses.", false)),
            model("10:03:00", "msg_b", &text("Written.")),
        ],
    )
}

fn sub_agent() -> String {
    let lines = claude(OTHER, &[user("10:00:30", &json!("Read it")), model("10:01:00", "msg_s", &text("It parses."))]);
    let side = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["isSidechain"] = json!(true);
        line["agentId"] = json!("a1b2c3d4");
        line["uuid"] = json!(format!("side-{}", line["uuid"].as_str().unwrap()));
        line.to_string() + "\n"
    };
    lines.lines().map(side).collect()
}

fn empty_session() -> String {
    claude("00000000-0000-4000-8000-0000000000ee", &[user("09:00:00", &json!("<command-name>/exit</command-name>"))])
}

/// A pi session whose user went back, so that the first answer is on an abandoned branch.
fn branched_session() -> String {
    let entry = |id: &str, parent: Option<&str>, at: &str, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": format!("2026-02-19T{at}.000Z"), "message": message});
    let prompt = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let answer = |text: &str| {
        json!({"role": "assistant", "content": [{"type": "text", "text": text}], "model": "gpt-5.2", "stopReason": "stop",
            "usage": {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 0, "cost": {"total": 0.25}}})
    };
    let lines = [
        json!({"type": "session", "version": 3, "id": PI, "timestamp": "2026-02-19T09:00:00.000Z", "cwd": "/home/dev/api"}),
        entry("aaaa0001", None, "09:00:00", prompt("Add coupons to the parser of orders")),
        entry("aaaa0002", Some("aaaa0001"), "09:00:30", answer("As XML?")),
        entry("aaaa0003", Some("aaaa0001"), "09:05:00", answer("As JSON, then.")),
    ];
    lines.iter().map(|line| line.to_string() + "\n").collect()
}
