//! The data behind the web pages: the board, one session in pages, known errors.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    BoardColumn, BoardOrder, BoardRequest, BoardSession, EngineError, EntryRange, ErrorsRequest, InvalidTag, ListRange,
    NanoUsd, ProjectFilter, SessionPage, SessionPageRequest,
};
use rethread_model::{Agent, SessionId, SessionState};

use crate::session_helpers::{ANNA, BEN, at, engine, hook, prompt, transcript, work};
use rethread_testing::{PI_FILE, PI_VERSION_1, TestHome, TranscriptBuilder, contents_below};

fn all() -> BoardRequest {
    BoardRequest { sessions: ListRange { skip: 0, limit: 100 }, max_running: 10, ..BoardRequest::default() }
}

/// The last prompt and the state of each session.
fn rows(sessions: &[BoardSession]) -> Vec<(&str, SessionState)> {
    sessions.iter().map(|one| (one.last_prompt.as_deref().unwrap_or_default(), one.listed.state)).collect()
}

/// Anna's session ended over an hour ago, Ben's is active, and an old one is in another project.
fn home() -> TestHome {
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the cart", true);
    work(&home, BEN, 100, "write the docs", false);
    home.write(PI_FILE, PI_VERSION_1);
    home.sync();
    home
}

#[test]
fn board_lists_what_runs_and_all_sessions_newest_first() {
    let home = home();
    let board = engine(&home, 101).sessions().board(&all()).unwrap();
    assert_eq!(rows(&board.running), [("write the docs", SessionState::Active)]);
    assert_eq!(board.running[0].last_entry.as_ref().unwrap().tool.as_ref().unwrap().target, "cargo test");
    let first = [("write the docs", SessionState::Active), ("fix the cart", SessionState::Ended)];
    assert_eq!(rows(&board.sessions)[..2], first);
    assert_eq!((board.states.active, board.states.ended, board.states.total(), board.matching), (1, 2, 3, 3));
    assert_eq!(board.all_agents, [Agent::ClaudeCode, Agent::Pi]);
    assert_eq!(board.per_day.values().sum::<u64>(), 3);
    let empty = engine(&TestHome::new(), 0).sessions().board(&all()).unwrap();
    assert!(empty.sessions.is_empty(), "a missing store is not an error");
}

#[test]
fn board_filters_and_counts_matches() {
    let home = home();
    let of = |request: BoardRequest| engine(&home, 101).sessions().board(&request).unwrap();
    let board = of(BoardRequest { state: Some(SessionState::Ended), ..all() });
    assert_eq!((board.states.total(), board.matching), (3, 2), "states are counted whatever the state filter");
    assert_eq!(rows(&board.sessions)[0], ("fix the cart", SessionState::Ended));
    assert_eq!(of(BoardRequest { agent: Some(Agent::Pi), ..all() }).states.total(), 1);
    let app = BoardRequest { project: ProjectFilter::Named("/app".to_owned()), ..all() };
    assert_eq!((of(app.clone()).matching, of(app.clone()).all_projects.len()), (2, 2));
    let second = of(BoardRequest { sessions: ListRange { skip: 1, limit: 1 }, ..app });
    assert_eq!((rows(&second.sessions), second.matching), (vec![("fix the cart", SessionState::Ended)], 2));
    assert_eq!(of(BoardRequest { project: ProjectFilter::Unknown, ..all() }).matching, 0);
    let last = of(all()).per_day.last_key_value().map(|(day, _)| day.to_string());
    let of_day = of(BoardRequest { since: last.clone(), until: last, ..all() });
    assert_eq!(
        (of_day.matching, of_day.per_day.values().sum::<u64>()),
        (2, 3),
        "the days are counted whatever the time"
    );
    let every = of(all()).sessions;
    let failing = every.iter().filter(|one| one.listed.session.counts.tool_errors > 0).count();
    assert_eq!(
        (
            of(BoardRequest { min_failures: 1, ..all() }).matching,
            of(BoardRequest { min_failures: 99, ..all() }).matching
        ),
        (failing, 0)
    );
    let costly = every.iter().filter(|one| one.usage.cost().is_some_and(|cost| cost >= NanoUsd::new(1))).count();
    assert_eq!(of(BoardRequest { min_cost: Some(NanoUsd::new(1)), ..all() }).matching, costly);
    let failed = engine(&home, 101).sessions().board(&BoardRequest { since: Some("teatime".to_owned()), ..all() });
    assert!(matches!(failed, Err(EngineError::InvalidTime(_))), "{failed:?}");
}

#[test]
fn sessions_can_be_sorted_by_a_column_in_both_directions() {
    type Key = fn(&BoardSession) -> (Option<String>, u64);
    let home = home();
    engine(&home, 101).lifecycle().set_pinned(ANNA, true).unwrap();
    let of = |column, is_reversed| {
        let order = BoardOrder { column, is_reversed };
        engine(&home, 102).sessions().board(&BoardRequest { order, ..all() }).unwrap().sessions
    };
    let keys: [(BoardColumn, Key); 4] = [
        (BoardColumn::Agent, |one| (Some(one.listed.session.agent.to_string()), 0)),
        (BoardColumn::Failures, |one| (None, u64::MAX - one.listed.session.counts.tool_errors)),
        (BoardColumn::Files, |one| (None, u64::MAX - one.listed.session.counts.files_edited)),
        (BoardColumn::Cost, |one| (None, u64::MAX - one.usage.cost().map_or(0, NanoUsd::get))),
    ];
    for (column, key) in keys {
        let sorted: Vec<_> = of(column, false).iter().map(key).collect();
        assert!(sorted.len() == 3 && sorted.is_sorted(), "{column:?}: {sorted:?}");
        let reversed: Vec<_> = of(column, true).iter().map(key).collect();
        let has_cost = |one: &(Option<String>, u64)| one.1 < u64::MAX;
        let known = if column == BoardColumn::Cost { reversed.iter().filter(|one| has_cost(one)).count() } else { 3 };
        assert!(reversed[..known].is_sorted_by(|one, next| one >= next), "{column:?}: {reversed:?}");
    }
    let times: Vec<_> = of(BoardColumn::Activity, true).iter().map(|one| one.listed.session.last_activity_at).collect();
    assert!(times.is_sorted(), "oldest first, pinned or not: {times:?}");
}

#[test]
fn pinned_sessions_come_first_and_tags_can_be_chosen() {
    let home = home();
    let lifecycle = |minute| engine(&home, minute);
    lifecycle(101).lifecycle().set_pinned(ANNA, true).unwrap();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    lifecycle(101).lifecycle().change_tags(ANNA, &words(&["Release", "needs  review", "release"]), &[]).unwrap();
    let board = |request: BoardRequest| engine(&home, 102).sessions().board(&request).unwrap();
    let all_of_them = board(all());
    assert_eq!(rows(&all_of_them.sessions)[0].0, "fix the cart");
    assert!(all_of_them.sessions[0].is_pinned && !all_of_them.sessions[1].is_pinned);
    assert_eq!(all_of_them.sessions[0].tags, ["Release", "needs review"], "equal tags are stored once");
    assert_eq!(all_of_them.all_tags, [("Release".to_owned(), 1), ("needs review".to_owned(), 1)]);
    assert_eq!(board(BoardRequest { only_pinned: true, ..all() }).matching, 1);
    assert_eq!(board(BoardRequest { tag: Some("RELEASE".to_owned()), ..all() }).matching, 1);
    lifecycle(103).lifecycle().change_tags(ANNA, &[], &words(&["RELEASE"])).unwrap();
    lifecycle(103).lifecycle().set_pinned(ANNA, false).unwrap();
    let after = board(all());
    assert_eq!(
        (rows(&after.sessions)[0].0, &after.all_tags[..]),
        ("write the docs", &[("needs review".to_owned(), 1)][..])
    );
    for invalid in ["", " ", "a,b", "\u{202e}b", "\u{1b}[2J", &"x".repeat(41)] {
        let failed = lifecycle(104).lifecycle().change_tags(ANNA, &words(&[invalid]), &[]);
        assert!(matches!(failed, Err(EngineError::Tag(InvalidTag::Text(_)))), "{invalid:?}: {failed:?}");
    }
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    let failed = lifecycle(104).lifecycle().change_tags(ANNA, &many, &[]);
    assert!(matches!(failed, Err(EngineError::Tag(InvalidTag::TooMany))), "{failed:?}");
    assert_eq!(board(all()).all_tags.len(), 1, "nothing was added");
}

#[test]
fn board_limits_what_runs_and_counts_the_rest() {
    let home = TestHome::new();
    for session in [ANNA, BEN] {
        work(&home, session, 100, "go on", false);
    }
    home.sync();
    let board = engine(&home, 101).sessions().board(&BoardRequest { max_running: 1, ..all() }).unwrap();
    assert_eq!((board.running.len(), board.running_count), (1, 2));
    assert_eq!(engine(&home, 600).sessions().board(&all()).unwrap().running_count, 0);
}

#[test]
fn paused_session_is_suspended_on_the_board() {
    let home = home();
    engine(&home, 101).lifecycle().pause(BEN).unwrap();
    let board = engine(&home, 102).sessions().board(&all()).unwrap();
    assert_eq!((board.states.suspended, board.states.active, board.running.len()), (1, 0, 0));
    assert_eq!(rows(&board.sessions)[0], ("write the docs", SessionState::Suspended));
}

fn reading(home: &TestHome, piece: EntryRange) -> SessionPage {
    let session = engine(home, 5_000).sessions().resolve(BEN).unwrap().session.id;
    engine(home, 5_000)
        .sessions()
        .page(session, SessionPageRequest { range: piece, ..SessionPageRequest::default() })
        .unwrap()
}

/// First and last line, and whether there are earlier and later entries.
fn borders(reading: &SessionPage) -> (u64, u64, bool, bool) {
    let piece = &reading.page;
    let line = |entry: Option<&rethread_model::Entry>| entry.unwrap().location.line;
    (line(piece.entries.first()), line(piece.entries.last()), piece.has_earlier, piece.has_later)
}

#[test]
fn long_session_is_paged_and_centered_on_a_line() {
    let home = TestHome::new();
    for minute in 0..150 {
        work(&home, BEN, minute, &format!("step {minute}"), false);
    }
    home.sync();
    // Each step has three lines and four entries: prompt, text, edit, command.
    assert_eq!(borders(&reading(&home, EntryRange::Last)), (301, 449, true, false));
    let cited = reading(&home, EntryRange::Around(226));
    assert_eq!(borders(&cited), (176, 326, true, true));
    let middle = cited.page.center_seq.unwrap();
    assert_eq!(cited.page.entries.iter().find(|entry| entry.seq == middle).unwrap().text, "step 75");
    // A result has no entry; citing its line means the call before it.
    assert_eq!(reading(&home, EntryRange::Around(228)).page.center_seq.unwrap(), middle + 1);
    assert_eq!(borders(&reading(&home, EntryRange::From(0))), (1, 449, false, false));
    assert_eq!(borders(&reading(&home, EntryRange::Before(400))), (151, 299, true, true));
    assert!(reading(&home, EntryRange::Before(0)).page.entries.is_empty());
    let prompts = reading(&home, EntryRange::Last).prompts;
    assert_eq!((prompts.len(), prompts[149].line, prompts[149].text.as_str()), (150, 448, "step 149"));
}

#[test]
fn focused_page_has_prompts_and_the_last_answer_to_each() {
    let home = TestHome::new();
    let script = TranscriptBuilder::new(BEN)
        .times(at(0), 60)
        .user("first question")
        .assistant("let me look")
        .command("cargo test", "ok", false)
        .assistant("first answer")
        .user("second question")
        .assistant("second answer")
        .user("third question");
    home.write(&transcript(BEN), script.text());
    home.sync();
    let id = engine(&home, 50).sessions().resolve(BEN).unwrap().session.id;
    let page = |range| {
        let request = SessionPageRequest { range, is_focused: true, ..SessionPageRequest::default() };
        engine(&home, 50).sessions().page(id, request).unwrap().page
    };
    let texts = |range| page(range).entries.into_iter().map(|entry| entry.text).collect::<Vec<_>>();
    let all = ["first question", "first answer", "second question", "second answer", "third question"];
    assert_eq!(texts(EntryRange::Last), all);
    assert_eq!(texts(EntryRange::From(0)), all);
    let second = page(EntryRange::Last).entries[2].seq;
    assert_eq!(texts(EntryRange::Before(second)), all[..2]);
    assert_eq!(texts(EntryRange::From(second)), all[2..]);
    let around = page(EntryRange::Around(3));
    assert_eq!(around.center_seq, Some(around.entries[0].seq), "a call belongs to the prompt before it");
}

#[test]
fn entries_of_a_session_are_found_by_all_words_in_any_case() {
    let home = TestHome::new();
    let script = TranscriptBuilder::new(BEN)
        .times(at(0), 60)
        .user("Why does the Größe of the cart differ?")
        .command("cargo test cart", "error: size differs", true)
        .assistant("The cart was rounded.");
    home.write(&transcript(BEN), script.text());
    home.sync();
    let id = engine(&home, 50).sessions().resolve(BEN).unwrap().session.id;
    let lines = |text: &str| {
        let found = engine(&home, 50).sessions().find(id, text, false).unwrap();
        (found.entries.iter().map(|one| one.line).collect::<Vec<_>>(), found.more)
    };
    assert_eq!(lines("CART"), (vec![1, 2, 4], 0));
    assert_eq!(lines("größe cart"), (vec![1], 0));
    assert_eq!(lines("differs size"), (vec![2], 0), "errors of calls are searched");
    assert_eq!(lines("100%_nothing"), (vec![], 0));
    assert_eq!(lines("  "), (vec![], 0));
    let (listed, page) = engine(&home, 50).sessions().around(id, 2, 2).unwrap();
    assert_eq!((listed.session.id, page.entries.len(), page.has_earlier), (id, 2, true));
    let named = |text: &str| engine(&home, 50).sessions().by_name(text, 5).unwrap().len();
    assert_eq!((named("GRÖSSE"), named("größe app"), named("")), (0, 1, 1), "the name is the prompt, the project /app");
}

#[test]
fn session_page_includes_its_facts() {
    let home = TestHome::new();
    let missing = "Exit code 101\nerror[E0433]: failed to resolve: use of undeclared crate `regex`";
    let script = TranscriptBuilder::new("cccc1011-0000-4000-8000-00000000000c")
        .times(at(0), 60)
        .user("Use rustls instead of openssl because it needs no system library.")
        .command("cargo build", missing, true)
        .edit("/app/Cargo.toml")
        .command("cargo build", "Finished", false);
    home.write(&transcript("cccc1011-0000-4000-8000-00000000000c"), script.text());
    home.sync();
    let engine = engine(&home, 50);
    let id = engine.sessions().resolve("cccc1011").unwrap().session.id;
    let known = engine.sessions().page(id, SessionPageRequest::default()).unwrap();
    assert_eq!((known.errors.len(), known.errors[0].occurrences), (1, 1));
    let fix = &known.errors[0].fixes.fixes[0];
    assert_eq!(fix.description, "Cargo.toml: a → b");
    let changes = engine.facts().changes(&[fix]).unwrap().remove(0);
    assert_eq!((changes.len(), changes[0].path.as_str(), changes[0].text.as_deref()), (1, "Cargo.toml", Some("a → b")));
    assert_eq!(known.decisions[0].subject, "rustls");
    assert_eq!((known.files[0].name.as_str(), known.files[0].times), ("Cargo.toml", 1));
    assert!(known.injections.is_empty() && known.children.is_empty() && known.parent.is_none());
    let all = engine.facts().errors(&ErrorsRequest { limit: 10, ..ErrorsRequest::default() }).unwrap();
    assert_eq!(
        (all.total, all.errors[0].line.as_str()),
        (1, "error[E0433]: failed to resolve: use of undeclared crate `regex`")
    );
    let with = |query: &str| {
        engine.facts().errors(&ErrorsRequest { query: query.to_owned(), limit: 10, ..ErrorsRequest::default() })
    };
    assert_eq!((with("REGEX cargo.toml").unwrap().total, with("serde").unwrap().total), (1, 0));
}

#[test]
fn session_page_shows_injections_and_changes_nothing() {
    let home = home();
    hook(&home, 101, BEN, "SessionStart", &serde_json::json!({"source": "startup"}));
    work(&home, ANNA, 101, "now the basket", false);
    prompt(&home, 102, BEN, "go on").unwrap();
    let before = contents_below(&home.path(".rethread"));
    let engine = engine(&home, 103);
    let id = engine.sessions().resolve(BEN).unwrap().session.id;
    let known = engine.sessions().page(id, SessionPageRequest::default()).unwrap();
    assert!(known.injections[0].text.contains("now the basket"), "{:?}", known.injections);
    engine.sessions().board(&all()).unwrap();
    assert_eq!(contents_below(&home.path(".rethread")), before, "reading changes nothing");
}

#[test]
fn unassigned_id_is_unknown() {
    let home = home();
    let id: SessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    for home in [&home, &TestHome::new()] {
        let failed = home.engine().sessions().page(id, SessionPageRequest::default());
        assert!(matches!(failed, Err(EngineError::UnknownReference(_))), "{failed:?}");
    }
}

#[test]
fn lists_of_a_session_agree_with_its_counts() {
    // D7, E003-13
    let home = TestHome::new();
    // The session continues without a prompt; a command renames a file, which is not a change by a tool.
    let script = TranscriptBuilder::new(BEN)
        .times(at(0), 60)
        .assistant("Continuing.")
        .user("fix the cart")
        .edit("/app/cart.rs")
        .command("git mv a.rs b.rs && rm c.rs", "", false)
        .edit("/app/cart.rs")
        .tool_call("t9", "mcp__github__create_issue", &serde_json::json!({"title": "x"}))
        .tool_result("t9", "no", true)
        .user("and the docs")
        .edit("/app/README.md")
        .assistant("done");
    home.write(&transcript(BEN), script.text());
    home.sync();
    let engine = engine(&home, 50);
    let session = engine.sessions().resolve(BEN).unwrap().session;
    let page = engine.sessions().page(session.id, SessionPageRequest::default()).unwrap();
    assert_eq!((page.prompts.len() as u64, session.counts.prompts), (2, 2));
    let files: Vec<(&str, u64)> = page.files.iter().map(|file| (file.name.as_str(), file.times)).collect();
    assert_eq!(files, [("cart.rs", 2), ("README.md", 1)]);
    assert_eq!(session.counts.files_edited, 2);
    let log = engine.sessions().show(BEN, rethread_engine::ShowRequest::default()).unwrap();
    assert_eq!(log.changed_files.len(), 2);
    let tools: Vec<(&str, u64, u64)> =
        log.tools.iter().map(|tool| (tool.name.as_str(), tool.calls, tool.errors)).collect();
    assert_eq!(tools, [("Edit", 3, 0), ("Bash", 1, 0), ("mcp__github__create_issue", 1, 1)]);
    assert_eq!(tools.iter().map(|(_, calls, _)| calls).sum::<u64>(), session.counts.tool_calls);
}
