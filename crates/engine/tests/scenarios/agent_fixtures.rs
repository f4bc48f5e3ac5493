//! Each agent's hand-written transcripts are read as their `expected.json` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{
    Engine, ListedSession, LogProfile, OriginalEntry, OriginalProblem, SessionListRequest, ShowRequest, SyncRequest,
};
use rethread_ingest::agents::made_up::create_database;
use rethread_model::{Agent, Entry, INJECTION_TAG, SessionCounts, SessionKind, Tokens, ToolOutcome, one_line};
use rethread_testing::{TestHome, skips_server_store};

/// A case in `expected.json` of an agent's fixtures.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ExpectedSession {
    /// The file of the folder to read. SQL is run in a new database.
    transcript: String,
    /// Where the agent would store it, below the home directory.
    path: String,
    /// Other files of the folder, and where the agent would store them.
    #[serde(default)]
    beside: BTreeMap<String, String>,
    /// The agent's id of the session.
    session: String,
    counts: SessionCounts,
    tokens: Tokens,
    title: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    model: Option<String>,
    cost_usd: Option<f64>,
    /// Of the tool calls, in their order.
    exit_codes: Option<Vec<Option<i64>>>,
    /// The stored error lines, in their order.
    errors: Option<Vec<String>>,
    /// How many sub-agents it started.
    children: Option<usize>,
    /// How many records could not be read.
    warnings: Option<usize>,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum ExpectedSessions {
    One(Box<ExpectedSession>),
    Several(Vec<ExpectedSession>),
}

/// A word of the text that fixtures show as injected.
const PLANTED: &str = "kumquat";

/// Hosts that keep something of what our hook or plugin returned.
const HOSTS_THAT_STORE_OUR_TEXT: [Agent; 13] = [
    Agent::Cline,
    Agent::Codex,
    Agent::Copilot,
    Agent::Cursor,
    Agent::Droid,
    Agent::Gemini,
    Agent::Hermes,
    Agent::Kilo,
    Agent::Kimi,
    Agent::OpenClaw,
    Agent::OpenCode,
    Agent::Pi,
    Agent::Qwen,
];

#[test]
fn each_agents_fixture_is_read_as_it_says() {
    // S003-01
    for agent in Agent::ALL {
        let folder = fixture_folder(agent);
        for case in expected_sessions(agent, &folder) {
            check(agent, &folder, &case);
        }
    }
}

/// Agents that write the same lines or the same database: only the place distinguishes them.
const SAME_FORMAT: [&[&str]; 7] = [
    &["claude-code", "claude-desktop"],
    &["pi", "openclaw"],
    &["copilot", "vscode-copilot"],
    &["opencode", "kilo"],
    &["cline", "roo", "kilo"],
    &["continue", "kiro"],
    &["gemini", "qwen"],
];

#[test]
fn a_transcript_in_a_foreign_place_is_not_taken_for_another_agents() {
    let mut wrong = Vec::new();
    for agent in Agent::EXTERNAL {
        let folder = fixture_folder(agent);
        let may_be = |other: Agent| {
            let are_both = |same: &&[&str]| same.contains(&agent.as_str()) && same.contains(&other.as_str());
            other == agent || SAME_FORMAT.iter().any(are_both)
        };
        for case in expected_sessions(agent, &folder) {
            let home = TestHome::new();
            let name = Path::new(&case.path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            store(&home, &folder.join(&case.transcript), &format!("elsewhere/{name}"));
            let request = SyncRequest { paths: vec![home.path("elsewhere")], ..SyncRequest::default() };
            let report = home.engine().sync().run(&request, &mut |_| {});
            let report = report.unwrap_or_else(|error| panic!("{agent}: {error}"));
            let others = report.agents.iter().filter(|run| run.files > 0 && !may_be(run.agent));
            wrong.extend(others.map(|run| format!("{agent}: {} is taken for {}", case.transcript, run.agent)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_is_read_of_a_session_in_an_excluded_directory() {
    let mut read = Vec::new();
    for agent in Agent::EXTERNAL {
        let folder = fixture_folder(agent);
        for case in expected_sessions(agent, &folder) {
            let (home, excluding) = (TestHome::new(), TestHome::new());
            let context = format!("{agent}: {}", case.transcript);
            let request = SyncRequest { agent: Some(agent), ..SyncRequest::default() };
            for home in [&home, &excluding] {
                store(home, &folder.join(&case.transcript), &case.path);
                case.beside.iter().for_each(|(name, path)| store(home, &folder.join(name), path));
            }
            home.engine().sync().run(&request, &mut |_| {}).unwrap_or_else(|error| panic!("{context}: {error}"));
            let Some(cwd) = find(&home, &case, &context).session.cwd else { continue };
            // Some agents store their sessions in the project.
            let root = |home: &TestHome| home.path(".rethread").with_file_name("").display().to_string();
            let cwd = format!("{cwd}/").replace(&root(&home), &root(&excluding));
            let engine = excluding.engine_with(&[("intake.exclude", &cwd)]);
            engine.sync().run(&request, &mut |_| {}).unwrap_or_else(|error| panic!("{context}: {error}"));
            let found = excluding.store().sessions_by_exact_reference(&case.session);
            read.extend(found.unwrap_or_default().iter().map(|_| context.clone()));
        }
    }
    assert!(read.is_empty(), "{read:#?}");
}

#[test]
fn our_own_text_is_never_read_back() {
    let settings = [("filter.omit_tool_outputs", "false"), ("filter.keep_reasoning", "true")];
    for agent in HOSTS_THAT_STORE_OUR_TEXT {
        let folder = fixture_folder(agent);
        let mut planted = 0;
        for case in expected_sessions(agent, &folder) {
            let home = TestHome::new();
            let context = format!("{agent}: {}", case.transcript);
            store(&home, &folder.join(&case.transcript), &case.path);
            case.beside.iter().for_each(|(name, path)| store(&home, &folder.join(name), path));
            let request = SyncRequest { agent: Some(agent), ..SyncRequest::default() };
            let synced = home.engine_with(&settings).sync().run(&request, &mut |_| {});
            synced.unwrap_or_else(|error| panic!("{context}: {error}"));
            let bytes = fs::read(folder.join(&case.transcript)).unwrap_or_default();
            planted += String::from_utf8_lossy(&bytes).matches(PLANTED).count();
            let dump = home.dump();
            let read_back = dump.lines().find(|line| line.contains(PLANTED) || line.contains(INJECTION_TAG));
            assert_eq!(read_back, None, "{context}");
        }
        assert!(planted > 0, "{agent}: no fixture has our text");
    }
}

#[test]
fn every_entry_can_be_read_again_from_its_transcript() {
    let mut wrong = Vec::new();
    for agent in Agent::ALL {
        if agent == Agent::Native && skips_server_store("threads in a database have no file") {
            continue;
        }
        let folder = fixture_folder(agent);
        for case in expected_sessions(agent, &folder) {
            let home = TestHome::new();
            let context = format!("{agent}: {}", case.transcript);
            store(&home, &folder.join(&case.transcript), &case.path);
            case.beside.iter().for_each(|(name, path)| store(&home, &folder.join(name), path));
            let only = [("intake.agents", agent.as_str())];
            let engine = if agent == Agent::Native { home.engine() } else { home.engine_with(&only) };
            engine
                .sync()
                .run(&SyncRequest::default(), &mut |_| {})
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            wrong.extend(unread_entries(&engine).into_iter().map(|entry| format!("{context}: {entry}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The entries of all sessions that are not the same in their transcripts.
fn unread_entries(engine: &Engine) -> Vec<String> {
    let all = SessionListRequest { include_children: true, include_empty: true, ..SessionListRequest::default() };
    let everything = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
    let mut wrong = Vec::new();
    for listed in engine.sessions().list(&all).unwrap_or_default() {
        let log = engine.sessions().show(&listed.session.id.to_string(), everything);
        let entries = log.map(|log| log.entries).unwrap_or_default();
        let mut visit = |entry: &Entry, original: Result<OriginalEntry, OriginalProblem>| {
            let is_same = match (&original, &entry.tool) {
                (Ok(OriginalEntry { call: Some(call), .. }), Some(tool)) => call.has_result == tool.outcome.is_some(),
                // What a program wrote is stored as one line.
                (Ok(original), None) => {
                    let start: String = one_line(&entry.text).chars().take(200).collect();
                    one_line(&original.text).starts_with(&start)
                }
                _ => false,
            };
            let shown = format!("{original:?}");
            if !is_same || shown.contains(PLANTED) || shown.contains(INJECTION_TAG) {
                wrong.push(format!("line {} {:?} {:?}: {shown}", entry.location.line, entry.kind, entry.text));
            }
        };
        engine.sessions().originals(&listed.session, &entries, &mut visit).unwrap_or_default();
    }
    wrong
}

fn expected_sessions(agent: Agent, folder: &Path) -> Vec<ExpectedSession> {
    let text = read(&folder.join("expected.json"));
    match serde_json::from_str(&text).unwrap_or_else(|error| panic!("{agent}: expected.json: {error}")) {
        ExpectedSessions::One(one) => vec![*one],
        ExpectedSessions::Several(several) => several,
    }
}

fn check(agent: Agent, folder: &Path, expected: &ExpectedSession) {
    let home = TestHome::new();
    store(&home, &folder.join(&expected.transcript), &expected.path);
    for (name, path) in &expected.beside {
        store(&home, &folder.join(name), path);
    }
    let context = format!("{agent}: {}", expected.transcript);
    let request = SyncRequest { agent: Some(agent), ..SyncRequest::default() };
    let synced = home.engine().sync().run(&request, &mut |_| {});
    let report = synced.unwrap_or_else(|error| panic!("{context}: {error}"));
    let session = find(&home, expected, &context);
    let ListedSession { session, .. } = &session;
    assert_eq!((session.agent, session.external_id.as_str()), (agent, expected.session.as_str()), "{context}");
    assert_eq!((session.counts, session.tokens), (expected.counts, expected.tokens), "{context}");
    let texts = [
        ("title", &expected.title, &session.name),
        ("cwd", &expected.cwd, &session.cwd),
        ("branch", &expected.branch, &session.branch),
        ("model", &expected.model, &session.model),
    ];
    for (what, expected, found) in texts {
        assert!(expected.is_none() || expected == found, "{context}: {what}: expected {expected:?}, found {found:?}");
    }
    if let Some(cost) = expected.cost_usd {
        let found = session.cost_usd.unwrap_or_default();
        assert!((found - cost).abs() < 1e-9, "{context}: cost: expected {cost}, found {found}");
    }
    if let Some(codes) = &expected.exit_codes {
        assert_eq!(&exit_codes(&home, &expected.session, &context), codes, "{context}: exit codes");
    }
    if let Some(errors) = &expected.errors {
        assert_eq!(&error_lines(&home, &expected.session, &context), errors, "{context}: errors");
    }
    if let Some(children) = expected.children {
        assert_eq!(children_of(&home, session.id), children, "{context}: sub-agents");
    }
    if let Some(warnings) = expected.warnings {
        let found: Vec<_> = report.agents.iter().flat_map(|run| &run.warnings).collect();
        assert_eq!(found.len(), warnings, "{context}: {found:?}");
    }
    let again = home.engine().sync().run(&request, &mut |_| {});
    let read: u64 = again.map(|report| report.agents.iter().map(|run| run.entries).sum()).unwrap_or_default();
    assert_eq!(read, 0, "{context}: a second sync reads nothing");
}

fn fixture_folder(agent: Agent) -> PathBuf {
    let folder = agent.as_str().replace('-', "_");
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/fixtures").join(folder)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Puts a fixture where the agent would store it.
fn store(home: &TestHome, fixture: &Path, path: &str) {
    if fixture.extension().is_none_or(|extension| extension != "sql") {
        let bytes = fs::read(fixture).unwrap_or_else(|error| panic!("{}: {error}", fixture.display()));
        return home.write(path, bytes);
    }
    home.write(path, "");
    create_database(&home.path(path), &read(fixture)).unwrap_or_else(|error| panic!("{}: {error}", fixture.display()));
}

fn find(home: &TestHome, expected: &ExpectedSession, context: &str) -> ListedSession {
    home.engine().sessions().resolve(&expected.session).unwrap_or_else(|error| {
        let at = "is `path` in expected.json where the agent stores it, and `session` its id?";
        panic!("{context}: nothing read from {}: {error}; {at}", expected.path)
    })
}

fn outcomes(home: &TestHome, session: &str, context: &str) -> Vec<Option<ToolOutcome>> {
    let request = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
    let shown = home.engine().sessions().show(session, request).unwrap_or_else(|error| panic!("{context}: {error}"));
    shown.entries.into_iter().filter_map(|entry| entry.tool).map(|tool| tool.outcome).collect()
}

fn exit_codes(home: &TestHome, session: &str, context: &str) -> Vec<Option<i64>> {
    let code = |outcome: Option<ToolOutcome>| outcome.and_then(|outcome| outcome.exit_code).map(i64::from);
    outcomes(home, session, context).into_iter().map(code).collect()
}

fn error_lines(home: &TestHome, session: &str, context: &str) -> Vec<String> {
    outcomes(home, session, context).into_iter().flatten().filter_map(|outcome| outcome.error).collect()
}

fn children_of(home: &TestHome, parent: rethread_model::SessionId) -> usize {
    let request = SessionListRequest { include_children: true, ..SessionListRequest::default() };
    let listed = home.engine().sessions().list(&request).unwrap_or_default();
    let is_child = |one: &&ListedSession| one.session.kind == SessionKind::Child && one.session.parent == Some(parent);
    listed.iter().filter(is_child).count()
}
