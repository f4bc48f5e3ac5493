//! Lists and previews of a real store in a temporary home.

use rethread_engine::{EntryRange, SyncRequest};
use rethread_model::{SessionState, Timestamp};
use rethread_testing::{TestHome, TranscriptBuilder};

use super::*;
use crate::render::Tone;
use crate::tui::filters::{FilterChange, Filters, ProjectChoice};
use crate::tui::request::{PreviewDoc, PreviewRequest, PreviewStart};
use crate::tui::row::{ListRow, RowFact};

const SESSION: &str = "6f0a1c44-1111-4e8f-9a07-5d2c8e4b7f10";
const ERROR: &str = "error[E0425]: cannot find value `total` in this scope";

/// A session in which an error is fixed, and which has text that a terminal would act on.
fn home() -> TestHome {
    let home = TestHome::new();
    let start: Timestamp = "2026-02-20T10:00:00Z".parse().unwrap();
    let transcript = TranscriptBuilder::new(SESSION)
        .cwd("/w/shop")
        .times(start, 10)
        .user("the checkout loses a cent\u{1b}]52;c;aGk=\u{7}, please find out why")
        .assistant("I will use integer cents instead of floats.")
        .command("cargo test", &format!("Exit code 101\n{ERROR}"), true)
        .edit("/w/shop/src/cart.rs")
        .command("cargo test", "ok", false)
        .assistant("The rounding is fixed\u{1b}[2J.")
        .build();
    home.write(&format!(".claude/projects/-w-shop/{SESSION}.jsonl"), transcript);
    home.engine().sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    home
}

fn request(tab: TuiTab, query: &str) -> ListRequest {
    let filters = Filters { project: ProjectChoice::All, ..Filters::default() };
    ListRequest { number: 7, tab, query: query.to_owned(), filters, limit: 200 }
}

fn engine(home: &TestHome) -> Engine {
    home.engine_at("2026-02-20T10:02:00Z".parse().unwrap())
}

fn load(engine: &Engine, request: &ListRequest) -> LoadedList {
    load_list(LoadContext { engine, zone: &TimeZone::UTC }, request).unwrap()
}

fn preview(engine: &Engine, row: &ListRow, range: EntryRange) -> PreviewDoc {
    preview_with(engine, row, range, |_| {})
}

fn preview_with(
    engine: &Engine,
    row: &ListRow,
    range: EntryRange,
    change: impl FnOnce(&mut PreviewRequest),
) -> PreviewDoc {
    let mut request = PreviewRequest {
        number: 9,
        subject: row.subject.clone(),
        range,
        width: 60,
        is_unfolded: false,
        has_originals: false,
        is_focused: false,
        start: PreviewStart::Hit,
    };
    change(&mut request);
    load_preview(LoadContext { engine, zone: &TimeZone::UTC }, &request).unwrap()
}

fn text(doc: &PreviewDoc) -> String {
    let line = |line: &Vec<(Tone, String)>| line.iter().map(|(_, part)| part.as_str()).collect::<String>();
    doc.header.iter().chain(&doc.lines).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_newest_sessions_are_listed_without_a_query() {
    let home = home();
    let engine = engine(&home);
    let loaded = load(&engine, &request(TuiTab::Search, ""));
    assert_eq!((loaded.number, loaded.summary.as_str(), loaded.rows.len()), (7, "1 session", 1));
    assert!(loaded.rows[0].detail.contains("1 prompt") && loaded.rows[0].detail.contains("1 error"));
    assert!(!loaded.rows[0].title.contains('\u{1b}'));
}

#[test]
fn a_search_marks_words_and_its_preview_starts_at_the_hit() {
    let home = home();
    let engine = engine(&home);
    let loaded = load(&engine, &request(TuiTab::Search, "rounding"));
    let row = &loaded.rows[0];
    assert_eq!(&row.detail[row.matches[0].clone()], "rounding");
    assert_eq!(loaded.words, ["rounding"]);
    let doc = preview(&engine, row, EntryRange::Around(row.subject.line.unwrap()));
    let hit: String = doc.lines[doc.hit.unwrap()].iter().map(|(_, part)| part.as_str()).collect();
    assert!(hit.starts_with("▶ agent"), "{hit}");
}

#[test]
fn filters_apply_to_hits_and_sessions() {
    let home = home();
    let engine = engine(&home);
    let count = |query: &str, change: FilterChange| {
        let mut request = request(TuiTab::Search, query);
        request.filters.apply(change);
        load(&engine, &request).rows.len()
    };
    for query in ["", "cents"] {
        let expect = count(query, FilterChange::State(None));
        assert!(expect > 0);
        assert_eq!(count(query, FilterChange::State(Some(SessionState::Active))), expect);
        assert_eq!(count(query, FilterChange::State(Some(SessionState::Suspended))), 0);
        assert_eq!(count(query, FilterChange::Agent(Some(rethread_model::Agent::Pi))), 0);
        assert_eq!(count(query, FilterChange::Time(Some(0))), expect);
        assert_eq!(count(query, FilterChange::Project(ProjectChoice::Named("/w/other".to_owned()))), 0);
    }
    assert_eq!(count("kind:prompt", FilterChange::Kind(None)), 1);
    assert_eq!(count("", FilterChange::Kind(Some(rethread_engine::HitKind::Error))), 1);
}

#[test]
fn a_fix_is_shown_above_the_conversation_it_comes_from() {
    let home = home();
    let engine = engine(&home);
    for query in ["", "E0425", ERROR] {
        let loaded = load(&engine, &request(TuiTab::Fixes, query));
        assert_eq!(loaded.rows.len(), 1, "{query}");
        let row = &loaded.rows[0];
        assert!(matches!(row.subject.fact, Some(RowFact::Error(_))) && row.title.contains("E0425"));
        let doc = preview(&engine, row, EntryRange::Around(row.subject.line.unwrap()));
        let shown = text(&doc);
        assert!(shown.contains("helped 1×") && shown.contains("✗ Bash cargo test"), "{shown}");
        assert_eq!(doc.hit, None, "the fix comes first");
    }
    assert!(load(&engine, &request(TuiTab::Fixes, "another error")).rows.is_empty());
}

#[test]
fn sessions_of_the_last_hour_are_live() {
    let home = home();
    let loaded = load(&engine(&home), &request(TuiTab::Live, ""));
    assert_eq!(loaded.rows.len(), 1);
    assert!(loaded.rows[0].subject.is_running && loaded.rows[0].detail.starts_with("active"));
    let later = home.engine_at("2026-02-20T15:00:00Z".parse().unwrap());
    assert!(load(&later, &request(TuiTab::Live, "")).rows.is_empty());
}

#[test]
fn nothing_that_a_terminal_would_act_on_is_left() {
    let home = home();
    let engine = engine(&home);
    for query in ["", "checkout", "rounding"] {
        let loaded = load(&engine, &request(TuiTab::Search, query));
        for row in &loaded.rows {
            let shown = text(&preview(&engine, row, EntryRange::Last));
            for part in [row.title.as_str(), &row.detail, &row.aside, &shown.replace('\n', "")] {
                assert!(!part.contains(rethread_model::is_unsafe_to_display), "{part:?}");
            }
        }
    }
}

#[test]
fn a_conversation_folds_calls_to_one_line() {
    let home = home();
    let engine = engine(&home);
    let loaded = load(&engine, &request(TuiTab::Search, ""));
    insta::assert_snapshot!(text(&preview(&engine, &loaded.rows[0], EntryRange::From(0))));
}

#[test]
fn diffs_and_outputs_are_read_from_the_transcript() {
    let home = home();
    let engine = engine(&home);
    let loaded = load(&engine, &request(TuiTab::Search, ""));
    let row = &loaded.rows[0];
    let stored = preview(&engine, row, EntryRange::From(0));
    assert!(stored.more.is_some_and(|request| request.has_originals), "an edit has more");
    let folded = preview_with(&engine, row, EntryRange::From(0), |request| request.has_originals = true);
    assert!(folded.more.is_none());
    let unfolded = preview_with(&engine, row, EntryRange::From(0), |request| {
        (request.has_originals, request.is_unfolded) = (true, true);
    });
    insta::assert_snapshot!(format!("{}\n\n{}", text(&folded), text(&unfolded)));
}

#[test]
fn without_the_transcript_the_stored_conversation_is_shown() {
    let home = home();
    let engine = engine(&home);
    let loaded = load(&engine, &request(TuiTab::Search, ""));
    let row = &loaded.rows[0];
    std::fs::remove_file(home.path(&format!(".claude/projects/-w-shop/{SESSION}.jsonl"))).unwrap();
    let shown = text(&preview_with(&engine, row, EntryRange::From(0), |request| request.has_originals = true));
    assert!(shown.contains("the transcript is gone") && shown.contains("The rounding is fixed"), "{shown}");
}
