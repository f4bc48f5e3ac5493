//! Looking at the memory as a page does: all sessions at a glance, one session piece by piece, the errors that were met.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    Board, BoardRequest, EngineError, ErrorsRequest, OfProject, OnBoard, Piece, Portion, Reading, ReadingRequest,
};
use rethread_model::{Agent, SessionId, State};

use crate::learning::Script;
use crate::sessions::{ANNA, BEN, engine, hook, prompt, transcript, work};
use crate::world::{PI_FILE, VERSION_1, World, files_below};

const MANY: Portion = Portion { skip: 0, most: 100 };

fn all() -> BoardRequest {
    BoardRequest { projects: MANY, sessions: MANY, ..BoardRequest::default() }
}

/// A project with what its sessions were asked last, and their states, in order.
type Told = (Option<String>, Vec<(String, State)>);

fn told(board: &Board) -> Vec<Told> {
    let session = |one: &OnBoard| (one.prompt.clone().unwrap_or_default(), one.listed.state);
    let told =
        board.projects.iter().map(|project| (project.project.clone(), project.sessions.iter().map(session).collect()));
    told.collect()
}

fn asked(text: &str, state: State) -> (String, State) {
    (text.to_owned(), state)
}

/// Anna's session ended an hour and more ago, Ben's goes on; a third one lies elsewhere and long ago.
fn world() -> World {
    let world = World::new();
    work(&world, ANNA, 0, "mend the cart", true);
    work(&world, BEN, 100, "write the docs", false);
    world.write(PI_FILE, VERSION_1);
    world.sync();
    world
}

#[test]
fn a_board_has_projects_with_live_sessions_first_and_the_liveliest_first_in_each() {
    let world = world();
    let board = engine(&world, 101).board(&all()).unwrap();
    let projects = told(&board);
    let app = vec![asked("write the docs", State::Active), asked("mend the cart", State::Ended)];
    assert_eq!(projects[0], (Some("/app".to_owned()), app), "{projects:?}");
    assert_eq!(projects.len(), 2);
    assert_eq!((board.states.active, board.states.ended, board.states.all(), board.fitting), (1, 2, 3, 2));
    assert_eq!(board.known_agents, [Agent::ClaudeCode, Agent::Pi]);
    let ben = &board.projects[0].sessions[0];
    assert_eq!(ben.last.as_ref().unwrap().tool.as_ref().unwrap().target, "cargo test");
    assert!(engine(&World::new(), 0).board(&all()).unwrap().projects.is_empty(), "no store is no mistake");
}

#[test]
fn a_board_is_filtered_and_counts_what_fits() {
    let world = world();
    let of = |request: BoardRequest| engine(&world, 101).board(&request).unwrap();
    let board = of(BoardRequest { state: Some(State::Ended), ..all() });
    assert_eq!((board.states.all(), board.projects.len()), (3, 2), "states are counted whichever is wanted");
    assert_eq!(told(&board)[0].1, [asked("mend the cart", State::Ended)], "those that ended come newest first");
    assert_eq!(of(BoardRequest { agent: Some(Agent::Pi), ..all() }).states.all(), 1);
    let app = BoardRequest { project: OfProject::Named("/app".to_owned()), ..all() };
    assert_eq!(
        of(BoardRequest { sessions: Portion { skip: 1, most: 1 }, ..app.clone() }).projects[0].sessions.len(),
        1
    );
    assert_eq!((of(app.clone()).fitting, of(app).known_projects.len()), (1, 2));
    assert_eq!(of(BoardRequest { project: OfProject::Unknown, ..all() }).fitting, 0);
    assert_eq!(of(BoardRequest { projects: Portion { skip: 1, most: 5 }, ..all() }).projects.len(), 1);
}

#[test]
fn a_board_shows_every_session_that_has_not_ended_however_few_are_wanted() {
    let world = World::new();
    for session in [ANNA, BEN] {
        work(&world, session, 100, "go on", false);
    }
    world.sync();
    let one = BoardRequest { sessions: Portion { skip: 0, most: 1 }, ..all() };
    assert_eq!(engine(&world, 101).board(&one).unwrap().projects[0].sessions.len(), 2);
    assert_eq!(engine(&world, 600).board(&one).unwrap().projects[0].sessions.len(), 1);
}

#[test]
fn a_session_that_was_paused_is_suspended_on_the_board() {
    let world = world();
    engine(&world, 101).pause_session(BEN).unwrap();
    let board = engine(&world, 102).board(&all()).unwrap();
    assert_eq!((board.states.suspended, board.states.active), (1, 0));
    assert_eq!(told(&board)[0].1[0], asked("write the docs", State::Suspended));
}

fn reading(world: &World, piece: Piece) -> Reading {
    let session = engine(world, 5_000).resolve(BEN).unwrap().session.id;
    engine(world, 5_000).reading(session, ReadingRequest { piece, everything: false }).unwrap()
}

/// The lines of the first and last entry, and whether there is more before and after.
fn borders(reading: &Reading) -> (u64, u64, bool, bool) {
    let piece = &reading.piece;
    let line = |entry: Option<&rethread_model::Entry>| entry.unwrap().place.line;
    (line(piece.entries.first()), line(piece.entries.last()), piece.has_earlier, piece.has_later)
}

#[test]
fn a_long_session_is_read_piece_by_piece_and_around_a_line() {
    let world = World::new();
    for minute in 0..150 {
        work(&world, BEN, minute, &format!("step {minute}"), false);
    }
    world.sync();
    // Each step has three lines and four entries: prompt, text, edit, command.
    assert_eq!(borders(&reading(&world, Piece::Last)), (301, 449, true, false));
    let cited = reading(&world, Piece::Around(226));
    assert_eq!(borders(&cited), (176, 326, true, true));
    let middle = cited.piece.middle.unwrap();
    assert_eq!(cited.piece.entries.iter().find(|entry| entry.seq == middle).unwrap().text, "step 75");
    // A result has no entry of its own; whoever cites its line means the call before it.
    assert_eq!(reading(&world, Piece::Around(228)).piece.middle.unwrap(), middle + 1);
    assert_eq!(borders(&reading(&world, Piece::From(0))), (1, 449, false, false));
    assert_eq!(borders(&reading(&world, Piece::Before(400))), (151, 299, true, true));
    assert!(reading(&world, Piece::Before(0)).piece.entries.is_empty());
    let asked = reading(&world, Piece::Last).asked;
    assert_eq!((asked.len(), asked[149].line, asked[149].text.as_str()), (150, 448, "step 149"));
}

#[test]
fn what_is_known_of_a_session_comes_with_it() {
    let world = World::new();
    let missing = "Exit code 101\nerror[E0433]: failed to resolve: use of undeclared crate `regex`";
    let script = Script::default()
        .user("Use rustls instead of openssl because it needs no system library.")
        .run("cargo build", missing, true)
        .edit("/app/Cargo.toml")
        .run("cargo build", "Finished", false);
    world.write(&transcript("cccc1011-0000-4000-8000-00000000000c"), script.text());
    world.sync();
    let engine = engine(&world, 50);
    let id = engine.resolve("cccc1011").unwrap().session.id;
    let known = engine.reading(id, ReadingRequest::default()).unwrap();
    assert_eq!((known.errors.len(), known.errors[0].seen), (1, 1));
    assert_eq!(known.errors[0].fixes.fixes[0].what, "edited Cargo.toml");
    assert_eq!(known.decisions[0].choice, "rustls");
    assert_eq!((known.files[0].name.as_str(), known.files[0].times), ("Cargo.toml", 1));
    assert!(known.told.is_empty() && known.children.is_empty() && known.parent.is_none());
    let all = engine.errors(&ErrorsRequest { limit: 10, ..ErrorsRequest::default() }).unwrap();
    assert_eq!(
        (all.total, all.errors[0].line.as_str()),
        (1, "error[E0433]: failed to resolve: use of undeclared crate `regex`")
    );
    let with =
        |query: &str| engine.errors(&ErrorsRequest { query: query.to_owned(), limit: 10, ..ErrorsRequest::default() });
    assert_eq!((with("REGEX cargo.toml").unwrap().total, with("serde").unwrap().total), (1, 0));
}

#[test]
fn what_a_session_was_told_is_shown_and_looking_at_it_tells_nobody_anything() {
    let world = world();
    hook(&world, 101, BEN, "SessionStart", &serde_json::json!({"source": "startup"}));
    work(&world, ANNA, 101, "now the basket", false);
    prompt(&world, 102, BEN, "go on").unwrap();
    let before = stored(&world);
    let engine = engine(&world, 103);
    let id = engine.resolve(BEN).unwrap().session.id;
    let known = engine.reading(id, ReadingRequest::default()).unwrap();
    assert!(known.told[0].text.contains("now the basket"), "{:?}", known.told);
    engine.board(&all()).unwrap();
    assert_eq!(stored(&world), before, "reading changes nothing");
}

#[test]
fn an_id_that_nobody_has_is_unknown() {
    let world = world();
    let id: SessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    for world in [&world, &World::new()] {
        let failed = world.engine().reading(id, ReadingRequest::default());
        assert!(matches!(failed, Err(EngineError::UnknownReference(_))), "{failed:?}");
    }
}

/// Everything below our folder, but for the side files that SQLite makes for whoever reads.
fn stored(world: &World) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = files_below(&world.at(".rethread")).into_iter();
    let kept = files.filter(|path| path.extension().is_none_or(|ending| ending != "db-shm"));
    kept.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}
