//! What is kept and what is not: secrets, filters, excludes; and by which names a session is found.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{CLAUDE_FILE, CONVERSATION, PI_FILE, SESSION, World, assert_same, files_below};
use rethread_engine::{Engine, EngineError, Environment, ListRequest, Scope, SyncRequest};

/// Assembled here, so that no scanner takes this file for a leak.
fn secrets() -> Vec<String> {
    let tail = "Zx9Kq3Lm8Wp2Rt7Vb5Nc1Hd6Jf4Gs0Ty";
    vec![
        ["sk-ant-", "api03-", tail, tail].concat(),
        ["ghp", "_", &tail[..36.min(tail.len())], "abcd"].concat(),
        ["AK", "IA", "Z7Q2M4N5P5R2T6V3"].concat(),
        ["hunter", "2-", "Correct-Horse"].concat(),
        [
            "eyJhbGciOiJIUzI1NiJ9",
            ".",
            "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
            ".",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ]
        .concat(),
    ]
}

#[test]
fn l002_14_no_planted_secret_reaches_any_file_we_write() {
    let secrets = secrets();
    let world = World::new();
    let mut lines = String::new();
    let mut line = |number: usize, content: serde_json::Value| {
        let kind = if number.is_multiple_of(2) { "user" } else { "assistant" };
        let message = serde_json::json!({"role": kind, "id": format!("m{number}"), "model": "m", "content": content});
        let line = serde_json::json!({"type": kind, "uuid": format!("u{number}"), "cwd": "/p", "message": message});
        writeln!(lines, "{line}").unwrap();
    };
    line(0, serde_json::json!(format!("use {} and {}", secrets[0], secrets[1])));
    line(1, serde_json::json!([{"type": "text", "text": format!("key {} noted", secrets[2])}]));
    line(
        3,
        serde_json::json!([{"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": format!("curl -H 'Authorization: Bearer {}' https://x.test", secrets[4]), "password": secrets[3]}}]),
    );
    line(
        2,
        serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true,
        "content": format!("bad login: password={} rejected {}", secrets[3], secrets[0])}]),
    );
    line(
        5,
        serde_json::json!([{"type": "tool_use", "id": "t2", "name": "Write",
        "input": {"file_path": "/p/.env", "content": format!("TOKEN={}", secrets[1])}}]),
    );
    line(4, serde_json::json!("before <private>my diary</private> after"));
    writeln!(lines, "{}", serde_json::json!({"type": "ai-title", "aiTitle": format!("Rotate {}", secrets[0])}))
        .unwrap();
    world.write(CLAUDE_FILE, &lines);
    let report = world.sync();
    assert!(report.agents[0].redactions >= 6, "{}", report.agents[0].redactions);
    let dump = world.dump();
    assert!(dump.contains("[REDACTED:") && dump.contains("before  after"));
    for file in files_below(&world.at(".rethread")) {
        let bytes = fs::read(&file).unwrap();
        for secret in secrets.iter().map(String::as_str).chain(["my diary"]) {
            assert!(memchr_find(&bytes, secret.as_bytes()).is_none(), "{secret} in {}", file.display());
        }
    }
}

fn memchr_find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[test]
fn our_files_are_for_the_owner_only() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.at(".rethread")), 0o700);
    for file in files_below(&world.at(".rethread")) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    fs::set_permissions(world.at(".rethread"), fs::Permissions::from_mode(0o755)).unwrap();
    world.sync();
    assert_eq!(mode(&world.at(".rethread")), 0o700, "a loose directory is closed again");
}

#[expect(clippy::unwrap_used, reason = "an engine that does not open fails the test")]
fn engine_with(world: &World, flags: &[(&str, &str)]) -> Engine {
    let mut environment = Environment::for_home(world.home.path());
    environment.flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Engine::open(environment).unwrap()
}

#[test]
fn s003_17_the_switches_decide_what_is_stored_but_not_what_is_counted() {
    let plain = World::new();
    plain.write(CLAUDE_FILE, CONVERSATION);
    plain.sync();
    let counts = plain.engine().resolve(SESSION).unwrap().session.counts;
    let kept = |flags: &[(&str, &str)]| {
        let world = World::new();
        world.write(CLAUDE_FILE, CONVERSATION);
        engine_with(&world, flags).sync(&SyncRequest::default(), &mut |_| {}).unwrap();
        assert_eq!(world.engine().resolve(SESSION).unwrap().session.counts, counts, "{flags:?}");
        world.dump()
    };
    assert!(!kept(&[("filter.keep_user_messages", "false")]).contains("text: \"The lexer loses"));
    assert!(!kept(&[("filter.keep_agent_responses", "false")]).contains("I'll look at the lexer"));
    assert!(!kept(&[("filter.keep_tool_structure", "false")]).contains("cargo test lexer"));
    assert!(kept(&[("filter.omit_tool_outputs", "false")]).contains("src/lexer.rs:12:fn next()"));
    assert!(kept(&[("filter.omit_file_contents", "false")]).contains("while !done {}"));
    assert!(kept(&[("filter.keep_reasoning", "true")]).contains("Perhaps the loop ends early"));
}

#[test]
fn s003_04_excluded_sessions_are_never_read() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    let engine = engine_with(&world, &[("intake.exclude", "/home/dev/pars*")]);
    let dry = engine.sync_dry_run(&SyncRequest::default()).unwrap();
    assert_eq!((dry[0].files, dry[0].files_changed, dry[0].excluded), (1, 0, 1));
    engine.sync(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert!(matches!(engine.resolve(SESSION), Err(EngineError::UnknownReference(_))));
}

#[test]
fn what_is_excluded_later_is_read_no_further() {
    let world = World::new();
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("Which name is better").unwrap());
    world.write(CLAUDE_FILE, first);
    world.sync();
    let before = world.dump();
    world.append(CLAUDE_FILE, rest);
    let engine = engine_with(&world, &[("intake.exclude", "/home/dev/parser")]);
    engine.sync(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert_same(&world.dump(), &before);
}

#[test]
fn e004_16_layers_of_settings_and_what_a_project_may_not_set() {
    let world = World::new();
    world.write(
        ".rethread/config.toml",
        "[intake]\nexclude = [\"/a\"]\nmode = \"batch\"\nagents = [\"cobol\"]\n[no]\nsuch = 1\n",
    );
    world.write("project/.rethread.toml", "[intake]\nexclude = [\"/b\"]\n[filter]\nomit_tool_outputs = false\n");
    let mut environment = Environment::for_home(world.home.path());
    environment.cwd = world.at("project");
    environment.variables = vec![("RETHREAD_INTAKE_MODE".to_owned(), "realtime".to_owned())];
    environment.flags = vec![("filter.keep_reasoning".to_owned(), "true".to_owned())];
    let config = Engine::open(environment).unwrap().config().clone();
    let of =
        |name: &str| config.get(name).map(|setting| (setting.value.to_string(), setting.layer.to_string())).unwrap();
    assert_eq!(of("intake.exclude").0, "/a,/b", "excludes add up");
    assert_eq!(of("intake.mode"), ("realtime".to_owned(), "$RETHREAD_INTAKE_MODE".to_owned()));
    assert_eq!(of("filter.keep_reasoning"), ("true".to_owned(), "command line".to_owned()));
    assert_eq!(of("filter.omit_tool_outputs").0, "true", "a project cannot have more kept");
    assert_eq!(of("intake.agents").1, "default", "an unknown agent is passed over");
    assert_eq!(config.problems().len(), 3, "{:?}", config.problems());
}

#[test]
fn a_dry_run_writes_nothing_at_all() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    let dry = world.engine().sync_dry_run(&SyncRequest::default()).unwrap();
    assert_eq!((dry[0].files_changed, dry[0].bytes), (1, CONVERSATION.len() as u64));
    assert!(!world.at(".rethread").exists());
}

#[test]
fn a_session_is_found_by_any_of_its_names() {
    // S000-05: a name resolves to a session, explicit id files included.
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.write(PI_FILE, crate::world::BRANCHES);
    world.write(".volute/sessions/parser.json", format!("{{\"sessionId\":\"{SESSION}\"}}"));
    world.sync();
    let engine = world.engine();
    let id = engine.resolve(SESSION).unwrap().session.id.to_string();
    for reference in [
        id.as_str(),
        &id[..12],
        "5e55",
        "parser",
        "Fix the lost last token",
        "fix THE lost last token",
        "fix-the-lost-last-token",
        "lost token",
    ] {
        assert_eq!(engine.resolve(reference).unwrap().session.id.to_string(), id, "{reference}");
    }
    for reference in ["nothing of the kind", "", "zzzz", "*"] {
        assert!(matches!(engine.resolve(reference), Err(EngineError::UnknownReference(_))), "{reference:?}");
    }
    match engine.resolve("e") {
        Err(EngineError::AmbiguousReference { candidates, .. }) => assert_eq!(candidates.len(), 2),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_about_a_project_and_hide_what_is_empty_or_a_child() {
    // S003-02: projects and transcripts find each other without any configuration.
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.write(".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl", crate::world::SUB_AGENT);
    world.write(PI_FILE, crate::world::BRANCHES);
    world.write(
        ".claude/projects/-x/5e551011-0000-4000-8000-0000000000cc.jsonl",
        "{\"type\":\"mode\",\"mode\":\"x\"}\n",
    );
    world.sync();
    let list = |request: ListRequest| world.engine().sessions(&request).unwrap().len();
    assert_eq!(list(ListRequest::default()), 2);
    assert_eq!(list(ListRequest { include_children: true, ..ListRequest::default() }), 3);
    assert_eq!(list(ListRequest { include_empty: true, ..ListRequest::default() }), 3);
    assert_eq!(list(ListRequest { limit: Some(1), ..ListRequest::default() }), 1);
    let scope = |path: &str| ListRequest { scope: Scope::Project(path.to_owned()), ..ListRequest::default() };
    assert_eq!(list(scope("/home/dev/parser")), 1);
    assert_eq!(list(scope("/home/dev/pars")), 0);
}

#[test]
fn one_session_in_two_files_is_one_session() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    let alone = world.engine().resolve(SESSION).unwrap().session;
    let more = r#"{"type":"user","uuid":"ffffffff-1111-4222-8333-000000000009","timestamp":"2026-03-04T00:00:00.000Z","message":{"role":"user","content":"from the worktree"}}"#;
    world.write(&CLAUDE_FILE.replace("-parser", "-parser-worktree"), format!("{CONVERSATION}{more}\n"));
    world.sync();
    let both = world.engine().resolve(SESSION).unwrap().session;
    assert_eq!(both.counts.prompts, alone.counts.prompts + 1);
    assert_eq!(both.tokens, alone.tokens);
    let before = world.dump();
    world.engine().rebuild(&mut |_| {}).unwrap();
    assert_same(&world.dump(), &before);
}
