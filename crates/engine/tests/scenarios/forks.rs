//! A fork is linked to the session it was forked from, and stays a session of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{BoardRequest, ListRange, ShowRequest};
use rethread_model::{Session, SessionKind};
use rethread_recall::ReferenceOutcome;
use rethread_testing::{CLAUDE_FILE, CLAUDE_SESSION, PiTranscriptBuilder, TestHome, TranscriptBuilder};
use serde_json::{Value, json};

const START: &str = "2026-07-01T10:00:00.000Z";
const FORK: &str = "5e551011-0000-4000-8000-0000000000ff";
const SECOND_FORK: &str = "5e551011-0000-4000-8000-0000000000fe";

fn pi_path(id: &str) -> String {
    format!(".pi/agent/sessions/--p--/2026-07-01T10-00-00-000Z_{id}.jsonl")
}

/// A pi session that was forked from another one: the same entries, another header, and a prompt of its own.
fn pi_fork(original: &str, id: &str, parent: &Value, prompt: &str) -> String {
    // A fork of a fork ends later than the fork.
    let start = format!("2026-07-01T{}:00:00Z", 10 + original.lines().count());
    let header =
        json!({"type": "session", "version": 3, "id": id, "timestamp": START, "cwd": "/p", "parentSession": parent});
    let entries: String = original.split_inclusive('\n').skip(1).collect();
    let own = PiTranscriptBuilder::continued(id, &start).user(prompt).assistant("ok").build();
    format!("{header}\n{entries}{own}")
}

fn session(home: &TestHome, id: &str) -> Session {
    home.engine().sessions().resolve(id).unwrap().session
}

fn assert_parent(home: &TestHome, fork: &str, parent: &str) {
    assert_eq!(session(home, fork).parent, Some(session(home, parent).id), "{fork}");
    assert_eq!(session(home, fork).kind, SessionKind::Main);
}

#[test]
fn pi_fork_is_linked_by_the_path_of_its_parent() {
    // D6
    let original = PiTranscriptBuilder::new("pi-one", "/p", START).user("fix the parser").assistant("done").build();
    for (path, is_known) in [
        ("/other/machine/2026-07-01T10-00-00-000Z_pi-one.jsonl", true),
        ("/other/machine/2026-07-01T10-00-00-000Z_pi-missing.jsonl", false),
        ("/other/machine/notes.jsonl", false),
    ] {
        let home = TestHome::new();
        home.write(&pi_path("pi-two"), pi_fork(&original, "pi-two", &json!(path), "now the lexer"));
        home.sync();
        assert_eq!(session(&home, "pi-two").parent, None, "the parent was not read yet");
        home.write(&pi_path("pi-one"), &original);
        home.sync();
        let expect = is_known.then(|| session(&home, "pi-one").id);
        assert_eq!(session(&home, "pi-two").parent, expect, "{path}");
    }
    // By the path of a transcript whose name has no id.
    let home = TestHome::new();
    home.write(".pi/agent/sessions/--p--/any.jsonl", &original);
    let path = json!(home.path(".pi/agent/sessions/--p--/any.jsonl"));
    home.write(&pi_path("pi-two"), pi_fork(&original, "pi-two", &path, "now the lexer"));
    home.sync();
    assert_parent(&home, "pi-two", "pi-one");
}

#[test]
fn ancestors_of_a_reference_lead_along_forks() {
    // D6, S001-27
    let home = TestHome::new();
    let one = PiTranscriptBuilder::new("pi-one", "/p", START).user("fix the parser").assistant("done").build();
    let two = pi_fork(&one, "pi-two", &json!(home.path(&pi_path("pi-one"))), "now the lexer");
    let three = pi_fork(&two, "pi-three", &json!(home.path(&pi_path("pi-two"))), "and the docs");
    for (id, text) in [("pi-one", &one), ("pi-two", &two), ("pi-three", &three)] {
        home.write(&pi_path(id), text);
    }
    home.sync();
    assert_parent(&home, "pi-two", "pi-one");
    assert_parent(&home, "pi-three", "pi-two");
    let counts = ["pi-one", "pi-two", "pi-three"].map(|id| session(&home, id).counts.prompts);
    assert_eq!(counts, [1, 1, 1], "copied entries count in their original session only");
    let engine = home.engine();
    let found = engine.questions().references(&format!("see @@{}~2", session(&home, "pi-three").id)).unwrap();
    let ReferenceOutcome::Resolved(sessions) = &found.outcomes[0].1 else { panic!("{found:?}") };
    assert_eq!(sessions.len(), 3);
    let shown = engine.sessions().show("pi-three", ShowRequest::default()).unwrap();
    assert_eq!(shown.parent.unwrap().external_id, "pi-two");
    let all = ListRange { skip: 0, limit: 10 };
    let board = engine.sessions().board(&BoardRequest { sessions: all, ..BoardRequest::default() }).unwrap();
    let parents: Vec<Option<String>> =
        board.sessions.iter().map(|session| session.parent.as_ref().map(|parent| parent.external_id.clone())).collect();
    assert_eq!(parents.iter().flatten().count(), 2, "{parents:?}");
}

#[test]
fn claude_code_forks_are_linked_by_their_copied_lines() {
    // D6
    let original = TranscriptBuilder::new(CLAUDE_SESSION).uuids().user("fix the parser").assistant("done").build();
    let own = |text: &str, id: &str, copied: &str| {
        let more = TranscriptBuilder::new(id).ids(id).times("2026-07-02T10:00:00Z".parse().unwrap(), 1);
        format!("{}{}", copied.replace(CLAUDE_SESSION, id), more.user(text).assistant("ok").build())
    };
    let home = TestHome::new();
    let fork = own("now the lexer", FORK, &original);
    home.write(CLAUDE_FILE, &original);
    home.write(&CLAUDE_FILE.replace(CLAUDE_SESSION, FORK), &fork);
    home.sync();
    assert_parent(&home, FORK, CLAUDE_SESSION);
    assert_eq!(session(&home, CLAUDE_SESSION).parent, None);

    let mut declared = String::new();
    for line in original.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["forkedFrom"] = json!({"sessionId": FORK, "messageUuid": line["uuid"]});
        line["uuid"] = json!(line["uuid"].as_str().unwrap().replace("aaaa", "ffff"));
        declared.extend([line.to_string().as_str(), "\n"]);
    }
    home.write(&CLAUDE_FILE.replace(CLAUDE_SESSION, SECOND_FORK), own("and the docs", SECOND_FORK, &declared));
    home.sync();
    assert_parent(&home, SECOND_FORK, FORK);
}

#[test]
fn forgetting_a_session_keeps_its_forks() {
    // D6
    let home = TestHome::new();
    let original = PiTranscriptBuilder::new("pi-one", "/p", START).user("fix the parser").assistant("done").build();
    home.write(&pi_path("pi-one"), &original);
    home.write(&pi_path("pi-two"), pi_fork(&original, "pi-two", &json!(pi_path("pi-one")), "now the lexer"));
    home.sync();
    assert_parent(&home, "pi-two", "pi-one");
    let store = home.store();
    let family = store.sessions_with_descendants(&[session(&home, "pi-one").id]).unwrap();
    assert_eq!(family.len(), 1);
}
