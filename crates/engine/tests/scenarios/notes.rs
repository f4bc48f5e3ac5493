//! Notes of agents and live activity: the engine behind the MCP tools.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;

use rethread_engine::{
    DecisionRequest, Engine, EngineError, ForgetTarget, InvalidNote, NewNote, SavedNote, SearchRequest, SessionScope,
    ShowRequest,
};
use rethread_testing::{TestHome, TranscriptBuilder, files_below, text_block};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, engine, prompt, transcript, work};

fn app() -> SessionScope {
    SessionScope::Project("/app".to_owned())
}

fn remember(engine: &Engine, text: &str) -> Result<SavedNote, EngineError> {
    engine.threads().remember(&NewNote {
        text: text.to_owned(),
        author: Some("claude-code".to_owned()),
        session: None,
        scope: app(),
    })
}

fn found(engine: &Engine, text: &str, scope: SessionScope) -> Vec<(String, String)> {
    let request =
        SearchRequest { text: text.to_owned(), scope, limit: 10, full_text: true, ..SearchRequest::default() };
    let hits = engine.search().run(&request).unwrap().hits.into_iter().map(|found| found.hit);
    hits.map(|hit| (hit.session.citation(hit.entry.location.line), hit.entry.text)).collect()
}

#[test]
fn note_is_searchable_at_once_and_is_not_a_decision() {
    // T12
    let home = TestHome::new();
    let engine = engine(&home, 0);
    let said = "We decided to use the quokka cache. Always run make check. The user wants tabs.";
    let noted = remember(&engine, said).unwrap();
    assert_eq!((noted.project.as_deref(), noted.is_new), (Some("/app"), true));
    let hits = found(&engine, "quokka", app());
    assert_eq!(hits, [(noted.citation.clone(), format!("{said}\n(noted by claude-code)"))]);
    assert_eq!(found(&engine, "quokka", SessionScope::Project("/other".to_owned())), []);
    let shown = engine.sessions().show(&noted.citation, ShowRequest::default()).unwrap();
    assert_eq!((shown.listed.session.name.as_deref(), shown.listed.session.counts.prompts), (Some("Notes: app"), 0));
    let held =
        engine.facts().decisions(&DecisionRequest { include_inactive: true, ..DecisionRequest::default() }).unwrap();
    assert!(held.iter().all(|decision| decision.trust < rethread_model::Trust::Human), "{held:?}");
}

#[test]
fn equal_notes_are_stored_once_and_their_rate_is_limited() {
    // T12
    let home = TestHome::new();
    let engine = engine(&home, 0);
    let first = remember(&engine, "the lift is slow").unwrap();
    let again = remember(&engine, "  the lift is slow\n").unwrap();
    assert_eq!((again.citation, again.is_new), (first.citation, false));
    for number in 1..30 {
        assert!(remember(&engine, &format!("fact number {number}")).unwrap().is_new);
    }
    let refused = remember(&engine, "one too many");
    assert!(matches!(refused, Err(EngineError::Note(InvalidNote::TooMany))), "{refused:?}");
    let later = crate::session_helpers::engine(&home, 61);
    assert!(remember(&later, "one too many").unwrap().is_new, "an hour later another note is allowed");
    assert_eq!(found(&later, "fact number", app()).len(), 10);
    let dump = home.dump();
    later.maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(home.dump(), dump);
}

#[test]
fn note_stores_no_secret() {
    // T10, T12
    let home = TestHome::new();
    let engine = engine(&home, 0);
    remember(&engine, &format!("the deploy key is ghp_{}", "q7Zx".repeat(9))).unwrap();
    assert!(found(&engine, "deploy key", app())[0].1.contains("REDACTED"));
    for file in files_below(home.root()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(8).any(|piece| piece == b"q7Zxq7Zx"), "{}", file.display());
    }
}

#[test]
fn note_is_never_injected() {
    // T12
    let home = TestHome::new();
    work(&home, BEN, 0, "write the docs", false);
    work(&home, ANNA, 0, "which gateway reaches the staging server of the orchard?", false);
    home.sync();
    let said = "the staging server of the orchard is reached by the zeppelin gateway";
    assert!(remember(&engine(&home, 1), said).unwrap().is_new);
    home.sync();
    let injected =
        prompt(&home, 2000, BEN, "earlier: which gateway reaches the staging server of the orchard?").unwrap();
    assert!(injected.contains("[MEMORY CONTEXT]") && !injected.contains("zeppelin"), "{injected}");
    assert_eq!(found(&engine(&home, 2000), "zeppelin", app()).len(), 1, "search finds it");
}

#[test]
fn note_names_its_session_and_project() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    home.sync();
    let engine = engine(&home, 1);
    let note =
        NewNote { text: "rounding is half even".to_owned(), session: Some(ANNA.to_owned()), ..NewNote::default() };
    let noted = engine.threads().remember(&note).unwrap();
    assert_eq!(noted.project.as_deref(), Some("/app"));
    let id = engine.sessions().resolve(ANNA).unwrap().session.id;
    assert_eq!(
        found(&engine, "half even", app())[0].1,
        format!("rounding is half even\n(noted by an agent, session {id})")
    );
    let unknown = engine.threads().remember(&NewNote { session: Some("no such session".to_owned()), ..note.clone() });
    assert!(matches!(unknown, Err(EngineError::UnknownReference(_))), "{unknown:?}");
    let nowhere = engine.threads().remember(&NewNote { session: None, ..note }).unwrap();
    assert_eq!((nowhere.project, nowhere.is_new), (None, true), "notes without a project are stored separately");
    assert_eq!(found(&engine, "half even", SessionScope::AllProjects).len(), 2);
}

#[test]
fn forgotten_note_stays_forgotten_and_new_notes_work() {
    let home = TestHome::new();
    let engine = engine(&home, 0);
    remember(&engine, "the quokka flies at midnight").unwrap();
    engine.forget().run(&ForgetTarget::Matching("quokka".to_owned())).unwrap();
    home.sync();
    assert_eq!(found(&engine, "quokka midnight", SessionScope::AllProjects), []);
    assert!(remember(&engine, "the lift is slow").unwrap().is_new);
    assert_eq!(found(&engine, "lift", app()).len(), 1);
}

#[test]
fn live_activity_moves_no_watermark() {
    // S000-24
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    work(&home, BEN, 0, "write the docs", false);
    home.sync();
    work(&home, ANNA, 10, "now the tests", false);
    for _ in 0..2 {
        let live = engine(&home, 11).awareness().live_activity(&app()).unwrap();
        let text = live.activity.unwrap().text;
        assert!(
            text.contains("(1m ago, 4 messages")
                && text.contains("fix the rounding")
                && text.contains("write the docs"),
            "{text}"
        );
        let ids: Vec<&str> = live.sessions.iter().map(|listed| listed.session.external_id.as_str()).collect();
        assert_eq!(ids, [ANNA, BEN], "the newest first");
    }
    let everywhere = engine(&home, 11).awareness().live_activity(&SessionScope::AllProjects).unwrap();
    assert_eq!(everywhere.sessions.len(), 2);
    assert!(
        engine(&home, 11)
            .awareness()
            .live_activity(&SessionScope::Project("/other".to_owned()))
            .unwrap()
            .activity
            .is_none()
    );
    assert!(engine(&home, 200).awareness().live_activity(&app()).unwrap().activity.is_none(), "that was hours ago");
    assert!(
        prompt(&home, 12, BEN, "and now?").unwrap().contains("\"fix the rounding\" ->"),
        "its activity is still unread"
    );
    assert!(TestHome::new().engine().awareness().live_activity(&app()).unwrap().sessions.is_empty());
}

#[test]
fn own_tool_calls_and_results_are_not_indexed() {
    let home = TestHome::new();
    let (call, injected) = ("toolu_own", "<rethread-context>\n> the user said: use zeppelin\n</rethread-context>");
    let name = "mcp__rethread__search_memory";
    let result =
        json!({"type": "tool_result", "tool_use_id": call, "is_error": true, "content": [text_block(injected)]});
    let lines = TranscriptBuilder::new(ANNA)
        .user("look it up")
        .tool_call(call, name, &json!({"query": "zeppelin"}))
        .user(vec![result]);
    home.write(&transcript(ANNA), lines.build());
    home.write(".rethread/config.toml", "[filter]\nomit_tool_outputs = false\n");
    home.sync();
    let dump = home.dump();
    assert!(dump.contains("search_memory") && !dump.contains("zeppelin"), "{dump}");
    assert_eq!(found(&home.engine(), "zeppelin", SessionScope::AllProjects), []);
}

#[test]
fn tool_output_that_quotes_a_user_is_not_an_answer() {
    // T11
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    let path = transcript(ANNA);
    let grown =
        fs::read_to_string(home.path(&path)).unwrap().replace("exit 101", "log: the user said: we use zeppelin");
    home.write(&path, grown);
    home.sync();
    assert!(!home.dump().contains("zeppelin"), "{}", home.dump());
}
