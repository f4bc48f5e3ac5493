//! Secrets, filters and excludes; and the names by which a session resolves.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use rethread_engine::{Engine, EngineError, SessionListRequest, SessionScope, SyncRequest};
use rethread_model::Agent;
use rethread_testing::{CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, PI_FILE, TestHome, assert_same_dump, files_below};

/// Concatenated, so that secret scanners do not report this file.
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
fn no_planted_secret_reaches_a_stored_file() {
    // L002-14
    let secrets = secrets();
    let home = TestHome::new();
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
    home.write(CLAUDE_FILE, &lines);
    let report = home.sync();
    assert!(report.agents[0].redactions >= 6, "{}", report.agents[0].redactions);
    let dump = home.dump();
    assert!(dump.contains("[REDACTED:") && dump.contains("before  after"));
    for file in files_below(&home.path(".rethread")) {
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
fn stored_files_are_readable_only_by_the_owner() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path(".rethread")), 0o700);
    for file in files_below(&home.path(".rethread")) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    fs::set_permissions(home.path(".rethread"), fs::Permissions::from_mode(0o755)).unwrap();
    home.sync();
    assert_eq!(mode(&home.path(".rethread")), 0o700, "a loose directory is closed again");
}

#[test]
fn filters_change_what_is_stored_but_not_the_counts() {
    // S003-17
    let plain = TestHome::new();
    plain.write(CLAUDE_FILE, CONVERSATION);
    plain.sync();
    let counts = plain.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts;
    let kept = |flags: &[(&str, &str)]| {
        let home = TestHome::new();
        home.write(CLAUDE_FILE, CONVERSATION);
        home.engine_with(flags).sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
        assert_eq!(home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session.counts, counts, "{flags:?}");
        home.dump()
    };
    assert!(!kept(&[("filter.keep_user_messages", "false")]).contains("text: \"The lexer loses"));
    assert!(!kept(&[("filter.keep_agent_responses", "false")]).contains("I'll look at the lexer"));
    assert!(!kept(&[("filter.keep_tool_structure", "false")]).contains("cargo test lexer"));
    assert!(kept(&[("filter.omit_tool_outputs", "false")]).contains("src/lexer.rs:12:fn next()"));
    assert!(kept(&[("filter.omit_file_contents", "false")]).contains("while !done {}"));
    assert!(kept(&[("filter.keep_reasoning", "true")]).contains("Perhaps the loop ends early"));
}

#[test]
fn excluded_sessions_are_never_synced() {
    // S003-04
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    let engine = home.engine_with(&[("intake.exclude", "/home/dev/pars*")]);
    let dry = engine.sync().plan(&SyncRequest::default()).unwrap();
    assert_eq!((dry[0].files, dry[0].files_changed, dry[0].excluded), (1, 0, 1));
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert!(matches!(engine.sessions().resolve(CLAUDE_SESSION), Err(EngineError::UnknownReference(_))));
}

#[test]
fn later_exclusion_stops_further_sync() {
    let home = TestHome::new();
    let (first, rest) = CONVERSATION.split_at(CONVERSATION.find("Which name is better").unwrap());
    home.write(CLAUDE_FILE, first);
    home.sync();
    let before = home.dump();
    home.append(CLAUDE_FILE, rest);
    let engine = home.engine_with(&[("intake.exclude", "/home/dev/parser")]);
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn settings_have_layers_and_projects_may_set_only_some() {
    // E004-16
    let home = TestHome::new();
    home.write(
        ".rethread/config.toml",
        "[intake]\nexclude = [\"/a\"]\nmode = \"batch\"\nagents = [\"cobol\"]\n[no]\nsuch = 1\n",
    );
    home.write("project/.rethread.toml", "[intake]\nexclude = [\"/b\"]\n[filter]\nomit_tool_outputs = false\n");
    let mut environment = home.environment();
    environment.cwd = home.path("project");
    environment.variables = vec![("RETHREAD_INTAKE_MODE".to_owned(), "realtime".to_owned())];
    environment.config_overrides = vec![("filter.keep_reasoning".to_owned(), "true".to_owned())];
    let config = Engine::open(environment).unwrap().config().clone();
    let of =
        |name: &str| config.get(name).map(|setting| (setting.value.to_string(), setting.layer.to_string())).unwrap();
    assert_eq!(of("intake.exclude").0, "/a,/b", "excludes add up");
    assert_eq!(of("intake.mode"), ("realtime".to_owned(), "$RETHREAD_INTAKE_MODE".to_owned()));
    assert_eq!(of("filter.keep_reasoning"), ("true".to_owned(), "command line".to_owned()));
    assert_eq!(of("filter.omit_tool_outputs").0, "true", "a project cannot store more");
    assert_eq!(of("intake.agents").1, "default", "an unknown agent is ignored");
    assert_eq!(config.problems().len(), 3, "{:?}", config.problems());
}

#[test]
fn a_project_cannot_turn_on_agents_but_the_user_can_add_one_to_the_default() {
    let home = TestHome::new();
    let agents = |user: &str, project: &str| {
        home.write(".rethread/config.toml", user);
        home.write("project/.rethread.toml", project);
        let mut environment = home.environment();
        environment.cwd = home.path("project");
        Engine::open(environment).unwrap().settings().intake.agents.clone()
    };
    let added = agents("[intake]\nagents = [\"+hermes\"]\n", "");
    assert!(added.contains(&Agent::Hermes) && added.contains(&Agent::Codex) && !added.contains(&Agent::OpenClaw));
    for project in ["[\"hermes\", \"codex\"]", "[\"codex\", \"openclaw\"]"] {
        assert_eq!(agents("", &format!("[intake]\nagents = {project}\n")), [Agent::Codex]);
    }
    let chosen = agents("[intake]\nagents = [\"hermes\", \"pi\"]\n", "[intake]\nagents = [\"+openclaw\"]\n");
    assert_eq!(chosen, [Agent::Pi], "hermes is not in the default");
}

#[test]
fn dry_run_writes_nothing() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    let dry = home.engine().sync().plan(&SyncRequest::default()).unwrap();
    assert_eq!((dry[0].files_changed, dry[0].bytes), (1, CONVERSATION.len() as u64));
    assert!(!home.path(".rethread").exists());
}

#[test]
fn session_resolves_by_any_of_its_names() {
    // S000-05: a name resolves to a session, explicit id files included.
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write(PI_FILE, rethread_testing::BRANCHES);
    home.write(".volute/sessions/parser.json", format!("{{\"sessionId\":\"{CLAUDE_SESSION}\"}}"));
    home.sync();
    let engine = home.engine();
    let id = engine.sessions().resolve(CLAUDE_SESSION).unwrap().session.id.to_string();
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
        assert_eq!(engine.sessions().resolve(reference).unwrap().session.id.to_string(), id, "{reference}");
    }
    for reference in ["nothing of the kind", "", "zzzz", "*", "e"] {
        assert!(matches!(engine.sessions().resolve(reference), Err(EngineError::UnknownReference(_))), "{reference:?}");
    }
    let all = engine.sessions().list(&SessionListRequest::default()).unwrap();
    let other = all.iter().map(|one| one.session.id.to_string()).find(|other| *other != id).unwrap();
    engine.lifecycle().set_name(&other, "Fix the lost last token").unwrap();
    match engine.sessions().resolve("fix the lost last token") {
        Err(EngineError::AmbiguousReference { candidates, .. }) => assert_eq!(candidates.len(), 2),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_filter_by_project_and_hide_empty_and_child_sessions() {
    // S003-02: transcripts are matched to projects without configuration.
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write(".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl", rethread_testing::SUB_AGENT);
    home.write(PI_FILE, rethread_testing::BRANCHES);
    home.write(
        ".claude/projects/-x/5e551011-0000-4000-8000-0000000000cc.jsonl",
        "{\"type\":\"mode\",\"mode\":\"x\"}\n",
    );
    home.sync();
    let list = |request: SessionListRequest| home.engine().sessions().list(&request).unwrap().len();
    assert_eq!(list(SessionListRequest::default()), 2);
    assert_eq!(list(SessionListRequest { include_children: true, ..SessionListRequest::default() }), 3);
    assert_eq!(list(SessionListRequest { include_empty: true, ..SessionListRequest::default() }), 3);
    assert_eq!(list(SessionListRequest { limit: Some(1), ..SessionListRequest::default() }), 1);
    let scope = |path: &str| SessionListRequest {
        scope: SessionScope::Project(path.to_owned()),
        ..SessionListRequest::default()
    };
    assert_eq!(list(scope("/home/dev/parser")), 1);
    assert_eq!(list(scope("/home/dev/pars")), 0);
}

#[test]
fn one_session_in_two_files_is_one_session() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let alone = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session;
    let more = r#"{"type":"user","uuid":"ffffffff-1111-4222-8333-000000000009","timestamp":"2026-03-04T00:00:00.000Z","message":{"role":"user","content":"from the worktree"}}"#;
    home.write(&CLAUDE_FILE.replace("-parser", "-parser-worktree"), format!("{CONVERSATION}{more}\n"));
    home.sync();
    let both = home.engine().sessions().resolve(CLAUDE_SESSION).unwrap().session;
    assert_eq!(both.counts.prompts, alone.counts.prompts + 1);
    assert_eq!(both.tokens, alone.tokens);
    let before = home.dump();
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn relative_exclude_pattern_is_resolved_or_refused() {
    // D8, E003-03
    let home = TestHome::new();
    let cwd = home.path("work/secret/app");
    home.write(CLAUDE_FILE, CONVERSATION.replace("/home/dev/parser", &cwd.display().to_string()));
    for pattern in ["work/secret", "./work/secret/", "work/*/app", "secret", "~/work/secret"] {
        let engine = home.engine_with(&[("intake.exclude", pattern)]);
        let dry = engine.sync().plan(&SyncRequest::default()).unwrap();
        assert_eq!(dry[0].excluded, 1, "{pattern}");
    }
    for pattern in ["../secret", "~dev/secret"] {
        let engine = home.engine_with(&[("intake.exclude", pattern)]);
        assert!(
            matches!(engine.sync().run(&SyncRequest::default(), &mut |_| {}), Err(EngineError::Exclude(_))),
            "{pattern}"
        );
        assert!(home.engine().config().set("intake.exclude", pattern).is_err(), "{pattern}");
    }
}

#[test]
fn old_transcripts_can_be_left_unread() {
    // E003-02
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = std::fs::File::options().write(true).open(home.path(CLAUDE_FILE)).unwrap();
    file.set_modified(long_ago).unwrap();
    let changed = |days: &str, request: &SyncRequest| {
        let plan = home.engine_with(&[("intake.max_age_days", days)]).sync().plan(request).unwrap();
        plan.iter().map(|agent| agent.files_changed).sum::<u64>()
    };
    assert_eq!(changed("30", &SyncRequest::default()), 0);
    assert_eq!(changed("0", &SyncRequest::default()), 1, "by default everything is read");
    let explicit = SyncRequest { paths: vec![home.path(CLAUDE_FILE)], ..SyncRequest::default() };
    assert_eq!(changed("30", &explicit), 1, "a file that was asked for is read");
}
