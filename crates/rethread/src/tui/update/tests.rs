//! Keys, clicks and answers change the state as users expect.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use rethread_engine::{EntryRange, SessionScope};
use rethread_model::Agent;

use super::*;
use crate::cli::transfer::ExportFormat;
use crate::cli::tui::PrintedChoice;
use crate::render::Tone;
use crate::tui::effect::TuiExit;
use crate::tui::filters::ProjectChoice;
use crate::tui::request::{
    FoundPlaces, ListRequest, LoadedList, MenuChoices, PreviewDoc, PreviewRequest, PreviewStart,
};
use crate::tui::row::ListRow;
use crate::tui::state::ResumeQuestion;
use crate::tui::test_state::{answer_list, answer_preview, doc, loaded, middle_doc, row, rows};

fn key(state: &mut TuiState, code: KeyCode) -> Vec<TuiEffect> {
    update(state, TuiEvent::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn control(state: &mut TuiState, letter: char) -> Vec<TuiEffect> {
    update(state, TuiEvent::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)))
}

fn alt(state: &mut TuiState, letter: char) -> Vec<TuiEffect> {
    update(state, TuiEvent::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT)))
}

fn type_text(state: &mut TuiState, text: &str) -> Vec<TuiEffect> {
    text.chars().flat_map(|letter| key(state, KeyCode::Char(letter))).collect()
}

fn list_requests(effects: &[TuiEffect]) -> Vec<&ListRequest> {
    effects
        .iter()
        .filter_map(|effect| if let TuiEffect::LoadList(request) = effect { Some(request) } else { None })
        .collect()
}

fn preview_request(effects: &[TuiEffect]) -> &PreviewRequest {
    let mut found = effects
        .iter()
        .filter_map(|effect| if let TuiEffect::LoadPreview(request) = effect { Some(request) } else { None });
    found.next().unwrap()
}

fn exit(effects: &[TuiEffect]) -> Option<&TuiExit> {
    effects.iter().find_map(|effect| if let TuiEffect::Leave(exit) = effect { Some(exit) } else { None })
}

#[test]
fn each_letter_of_the_query_searches() {
    let mut state = loaded(120, 40);
    let effects = type_text(&mut state, "q y");
    let queries: Vec<&str> = list_requests(&effects).iter().map(|request| request.query.as_str()).collect();
    assert_eq!(queries, ["q", "q", "q y"]);
    assert!(state.overlay.is_none(), "letters type while the query has the focus");
}

#[test]
fn answers_to_older_requests_are_ignored() {
    let mut state = loaded(120, 40);
    type_text(&mut state, "a");
    let old = state.list.pending.unwrap();
    type_text(&mut state, "b");
    let stale = LoadedList { number: old, ..LoadedList::default() };
    update(&mut state, TuiEvent::Answer(WorkerAnswer::List(stale)));
    assert_eq!(state.list.rows.len(), 3);
    answer_list(&mut state, vec![row("other", "")]);
    assert_eq!((state.list.rows.len(), state.list.pending), (1, None));
}

#[test]
fn moving_the_selection_loads_its_preview() {
    let mut state = loaded(120, 40);
    let effects = key(&mut state, KeyCode::Down);
    let request = preview_request(&effects);
    assert_eq!(request.range, EntryRange::Around(12));
    assert_eq!(request.subject.session, state.list.rows[1].subject.session);
    assert!(key(&mut state, KeyCode::PageDown).len() == 1 && state.list.selected == 2);
    assert!(key(&mut state, KeyCode::Down).is_empty(), "there is no row below");
    control(&mut state, 'p');
    assert_eq!(state.list.selected, 1);
}

#[test]
fn a_refresh_keeps_the_selected_row() {
    let mut state = loaded(120, 40);
    key(&mut state, KeyCode::Down);
    answer_preview(&mut state, 4);
    update(&mut state, TuiEvent::Answer(WorkerAnswer::StoreChanged));
    let mut newer = vec![row("A new session", "")];
    newer.extend(rows());
    assert!(answer_list(&mut state, newer).is_empty(), "the preview is shown already");
    assert_eq!(state.list.selected, 2);
}

#[test]
fn a_new_query_selects_the_first_row() {
    let mut state = loaded(120, 40);
    key(&mut state, KeyCode::Down);
    type_text(&mut state, "x");
    answer_list(&mut state, rows());
    assert_eq!(state.list.selected, 0);
}

#[test]
fn no_rows_means_no_preview() {
    let mut state = loaded(120, 40);
    type_text(&mut state, "x");
    answer_list(&mut state, Vec::new());
    assert!(state.preview.doc.is_none() && state.list.is_loaded && !state.is_waiting());
    for code in [KeyCode::Enter, KeyCode::Down, KeyCode::PageUp, KeyCode::Tab, KeyCode::Tab, KeyCode::End] {
        assert!(exit(&key(&mut state, code)).is_none());
    }
}

#[test]
fn letters_act_when_the_list_has_the_focus() {
    let mut state = loaded(120, 40);
    key(&mut state, KeyCode::Tab);
    type_text(&mut state, "jj");
    assert_eq!((state.list.selected, state.query.text()), (2, ""));
    type_text(&mut state, "g?");
    assert!(matches!(state.overlay, Some(Overlay::Help(0))));
    key(&mut state, KeyCode::Esc);
    assert!(matches!(exit(&type_text(&mut state, "q")), Some(TuiExit::Quit)));
}

#[test]
fn tab_moves_the_focus_around() {
    let mut state = loaded(120, 40);
    for expect in [Focus::List, Focus::Preview, Focus::Query] {
        key(&mut state, KeyCode::Tab);
        assert_eq!(state.focus, expect);
    }
    key(&mut state, KeyCode::BackTab);
    assert_eq!(state.focus, Focus::Preview);
}

#[test]
fn escape_closes_what_is_open_and_then_leaves() {
    let mut state = loaded(120, 40);
    control(&mut state, 'f');
    assert!(exit(&key(&mut state, KeyCode::Esc)).is_none());
    alt(&mut state, 'f');
    assert!(exit(&key(&mut state, KeyCode::Esc)).is_none());
    assert!(matches!(exit(&key(&mut state, KeyCode::Esc)), Some(TuiExit::Quit)));
}

#[test]
fn control_c_interrupts_whatever_is_open() {
    let mut state = loaded(120, 40);
    alt(&mut state, 'f');
    assert!(matches!(exit(&control(&mut state, 'c')), Some(TuiExit::Interrupted)));
}

#[test]
fn enter_shows_the_command_before_it_runs() {
    let mut state = loaded(120, 40);
    assert!(key(&mut state, KeyCode::Enter).is_empty());
    let command = question(&state).command.clone().unwrap();
    assert!(command.contains("codex resume id-of-23"), "{command}");
    assert!(alt(&mut state, 'y').is_empty(), "a chord is no answer");
    let effects = control(&mut state, 'y');
    assert!(matches!(&effects[..], [TuiEffect::Copy(_, text)] if *text == command));
    let effects = key(&mut state, KeyCode::Enter);
    assert!(matches!(&effects[..], [TuiEffect::Resume(session)] if session.agent == Agent::Codex));
    assert!(state.overlay.is_some(), "in case the agent cannot be started");
}

fn question(state: &TuiState) -> &ResumeQuestion {
    let Some(Overlay::Resume(question)) = &state.overlay else { panic!("{:?}", state.overlay) };
    question
}

#[test]
fn keys_typed_before_the_list_is_there_wait_for_it() {
    let mut state = loaded(120, 40);
    state.options.print = Some(PrintedChoice::Id);
    type_text(&mut state, "pool");
    assert!(key(&mut state, KeyCode::Down).is_empty());
    assert!(key(&mut state, KeyCode::Enter).is_empty());
    let found = vec![row("First", "found"), row("Second", "found")];
    let second = found[1].subject.session.to_string();
    let effects = answer_list(&mut state, found);
    assert!(matches!(exit(&effects), Some(TuiExit::Print(text)) if *text == second), "{effects:?}");
}

#[test]
fn typing_on_drops_keys_that_wait() {
    let mut state = loaded(120, 40);
    type_text(&mut state, "po");
    key(&mut state, KeyCode::Enter);
    type_text(&mut state, "ol");
    answer_list(&mut state, rows());
    assert!(state.overlay.is_none());
}

#[test]
fn chords_without_a_meaning_do_nothing() {
    let mut state = loaded(120, 40);
    state.focus = Focus::List;
    for letter in ['q', 'x', 'i', 'l'] {
        assert!(control(&mut state, letter).is_empty(), "{letter}");
    }
    assert!(state.overlay.is_none() && state.focus == Focus::List && state.tab == TuiTab::Search);
}

#[test]
fn the_end_of_the_list_loads_more_rows() {
    let mut state = loaded(120, 40);
    type_text(&mut state, "x");
    answer_list(&mut state, rows());
    state.list.has_more = true;
    key(&mut state, KeyCode::Down);
    let effects = key(&mut state, KeyCode::Down);
    let request = list_requests(&effects)[0];
    assert_eq!((request.limit, state.list.keeps_selection), (120, true));
    let selected = state.list.rows[2].clone();
    answer_list(&mut state, [rows(), vec![row("Fourth", "more")]].concat());
    assert!(state.list.selected == 2 && state.list.rows[2].is_same(&selected));
}

#[test]
fn another_agent_continues_what_an_agent_cannot_resume() {
    let mut state = loaded(120, 40);
    state.choices.startable = vec![Agent::ClaudeCode, Agent::Pi];
    let stored = crate::tui::test_state::session("old", Agent::Warp);
    state.list.rows[0].subject.session = stored.id;
    state.list.rows[0].subject.stored = Some(Box::new(stored));
    key(&mut state, KeyCode::Enter);
    assert!(question(&state).problem.as_deref().unwrap().starts_with("Warp cannot resume"));
    assert!(key(&mut state, KeyCode::Enter).is_empty(), "there is nothing to start");
    key(&mut state, KeyCode::Char('a'));
    type_text(&mut state, "pi");
    let effects = key(&mut state, KeyCode::Enter);
    assert!(matches!(exit(&effects), Some(TuiExit::HandOver(session, Agent::Pi)) if session.agent == Agent::Warp));
}

#[test]
fn with_print_enter_leaves_with_the_choice() {
    let mut state = loaded(120, 40);
    state.options.print = Some(PrintedChoice::Id);
    let id = state.list.rows[0].subject.session.to_string();
    assert!(matches!(exit(&key(&mut state, KeyCode::Enter)), Some(TuiExit::Print(text)) if *text == id));
    state.options.print = Some(PrintedChoice::Command);
    let effects = key(&mut state, KeyCode::Enter);
    assert!(matches!(exit(&effects), Some(TuiExit::Print(text)) if text.starts_with("cd /w/shop && codex")));
    state.options.print = Some(PrintedChoice::PowerShell);
    let effects = key(&mut state, KeyCode::Enter);
    let start = "Set-Location -LiteralPath '/w/shop' && codex";
    assert!(matches!(exit(&effects), Some(TuiExit::Print(text)) if text.starts_with(start)));
}

#[test]
fn control_r_cycles_the_projects() {
    let mut state = loaded(120, 40);
    let effects = control(&mut state, 'r');
    assert_eq!(list_requests(&effects)[0].filters.scope(), SessionScope::AllProjects);
    let effects = control(&mut state, 'r');
    assert_eq!(list_requests(&effects)[0].filters.scope(), SessionScope::Project("/w/shop".to_owned()));
}

#[test]
fn filters_are_chosen_in_menus() {
    let mut state = loaded(120, 40);
    let choices = MenuChoices {
        agents: vec![Agent::Codex, Agent::Pi],
        projects: vec!["/w/api".to_owned()],
        ..MenuChoices::default()
    };
    update(&mut state, TuiEvent::Answer(WorkerAnswer::Choices(choices)));
    alt(&mut state, 'f');
    key(&mut state, KeyCode::Char('a'));
    key(&mut state, KeyCode::Down);
    key(&mut state, KeyCode::Down);
    let effects = key(&mut state, KeyCode::Enter);
    assert_eq!(list_requests(&effects)[0].filters.agent, Some(Agent::Pi));
    alt(&mut state, 'p');
    type_text(&mut state, "API");
    key(&mut state, KeyCode::Enter);
    assert_eq!(state.filters.project, ProjectChoice::Named("/w/api".to_owned()));
    alt(&mut state, 'f');
    key(&mut state, KeyCode::Char('c'));
    assert_eq!(state.filters.agent, None);
}

#[test]
fn copying_offers_id_command_and_text() {
    let mut state = loaded(120, 40);
    control(&mut state, 'y');
    let effects = key(&mut state, KeyCode::Char('t'));
    assert!(matches!(&effects[..], [TuiEffect::Copy("text", text)] if text.contains("exhausted")));
    control(&mut state, 'y');
    let effects = key(&mut state, KeyCode::Char('i'));
    assert!(matches!(&effects[..], [TuiEffect::Copy("ID", _)]));
}

#[test]
fn a_session_is_exported_in_the_chosen_format() {
    let mut state = loaded(120, 40);
    alt(&mut state, 'e');
    let effects = key(&mut state, KeyCode::Char('h'));
    assert!(matches!(&effects[..], [TuiEffect::Export(_, ExportFormat::Html)]), "{effects:?}");
    let written = Err("cannot write to /w: permission denied".to_owned());
    update(&mut state, TuiEvent::Answer(WorkerAnswer::Exported(written)));
    assert!(state.message.as_ref().unwrap().1.starts_with("cannot write"));
}

#[test]
fn diffs_follow_the_conversation_and_keep_the_place() {
    let mut state = loaded(120, 20);
    let row = state.list.selected_row().unwrap().clone();
    let number = state.last_request + 1;
    state.preview.pending = Some(number);
    let request = PreviewRequest { number, has_originals: true, ..reading(&row) };
    let stored = PreviewDoc { more: Some(Box::new(request)), ..doc(number, &row, 20) };
    let effects = update(&mut state, TuiEvent::Answer(WorkerAnswer::Preview(stored)));
    assert!(preview_request(&effects).has_originals);
    state.focus = Focus::Preview;
    type_text(&mut state, "jjjjjj");
    let shown = state.preview.scroll;

    let mut with_diffs = doc(number, &row, 20);
    let diff = vec![vec![(Tone::Added, "+ one".to_owned())]; 5];
    with_diffs.lines.splice(3..3, diff);
    for (line, _) in &mut with_diffs.entries[1..] {
        *line += 5;
    }
    update(&mut state, TuiEvent::Answer(WorkerAnswer::Preview(with_diffs)));
    assert_eq!((state.preview.scroll, state.preview.pending_originals), (shown + 5, None));
}

/// A request for the stored conversation of a row.
fn reading(row: &ListRow) -> PreviewRequest {
    PreviewRequest {
        number: 0,
        subject: row.subject.clone(),
        range: EntryRange::From(0),
        width: 60,
        is_unfolded: false,
        has_originals: false,
        is_focused: false,
        start: PreviewStart::Hit,
    }
}

#[test]
fn the_transcript_opens_at_the_line_of_the_hit() {
    let mut state = loaded(120, 40);
    let effects = control(&mut state, 'o');
    let [TuiEffect::Open(target)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((target.path.as_str(), target.line), ("/w/shop.jsonl", Some(12)));
}

#[test]
fn tabs_are_opened_by_keys_and_load_their_list() {
    let mut state = loaded(120, 40);
    let effects = alt(&mut state, '3');
    assert_eq!(list_requests(&effects)[0].tab, TuiTab::Decisions);
    assert!(state.list.rows.is_empty());
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Right);
    key(&mut state, KeyCode::Right);
    assert_eq!(state.tab, TuiTab::Search);
}

#[test]
fn only_live_activity_is_loaded_again_by_time() {
    let mut state = loaded(120, 40);
    assert!(update(&mut state, TuiEvent::Tick).is_empty());
    alt(&mut state, '4');
    assert!(update(&mut state, TuiEvent::Tick).is_empty(), "the first load is not answered yet");
    answer_list(&mut state, rows());
    assert_eq!(list_requests(&update(&mut state, TuiEvent::Tick)).len(), 1);
}

#[test]
fn finding_goes_through_the_matching_lines() {
    let mut state = loaded(120, 20);
    control(&mut state, 'f');
    type_text(&mut state, "LINE 7");
    let find = state.preview.find.clone().unwrap();
    assert_eq!(find.hits, [22]);
    assert!(state.preview.scroll > 0);
    control(&mut state, 'u');
    type_text(&mut state, "you");
    key(&mut state, KeyCode::Enter);
    assert_eq!(state.focus, Focus::Preview);
    let before = state.preview.find.clone().unwrap().at;
    type_text(&mut state, "n");
    let find = state.preview.find.clone().unwrap();
    assert_eq!(find.at, (before + 1) % find.hits.len());
    assert_eq!(state.query.text(), "");
}

#[test]
fn finding_continues_beyond_the_loaded_part() {
    let mut state = loaded(120, 24);
    let row = state.list.selected_row().unwrap().clone();
    let number = state.last_request + 1;
    state.preview.pending = Some(number);
    update(&mut state, TuiEvent::Answer(WorkerAnswer::Preview(middle_doc(number, &row))));
    control(&mut state, 'f');
    let effects = type_text(&mut state, "x");
    let Some(TuiEffect::FindInSession(request)) = effects.last() else { panic!("{effects:?}") };
    assert_eq!(request.text, "x");
    let found = FoundPlaces { number: request.number, lines: vec![4, 900, 950], more: 0 };
    let effects = update(&mut state, TuiEvent::Answer(WorkerAnswer::Found(found)));
    let request = preview_request(&effects);
    assert_eq!((request.range, request.start), (EntryRange::Around(900), PreviewStart::Line(900)));
    let effects = key(&mut state, KeyCode::Up);
    assert_eq!(preview_request(&effects).range, EntryRange::Around(4));
}

#[test]
fn scrolling_beyond_the_loaded_part_loads_the_next() {
    let mut state = loaded(120, 20);
    key(&mut state, KeyCode::Down);
    let doc = middle_doc(state.preview.pending.unwrap(), &state.list.rows[1]);
    update(&mut state, TuiEvent::Answer(WorkerAnswer::Preview(doc)));
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    assert!(key(&mut state, KeyCode::PageUp).is_empty() && state.preview.scroll == 0);
    let effects = key(&mut state, KeyCode::Up);
    assert_eq!(preview_request(&effects).range, EntryRange::Before(0));
    state.preview.pending = None;
    for _ in 0..100 {
        let effects = key(&mut state, KeyCode::PageDown);
        if !effects.is_empty() {
            assert_eq!(preview_request(&effects).range, EntryRange::From(20));
            return;
        }
    }
    panic!("the end was not reached");
}

#[test]
fn pasting_never_acts() {
    let mut state = loaded(120, 40);
    key(&mut state, KeyCode::Tab);
    let effects = update(&mut state, TuiEvent::Paste("q\ny\u{1b}[2J".to_owned()));
    assert_eq!(list_requests(&effects)[0].query, "q y[2J");
    assert_eq!(state.focus, Focus::Query);
}

#[test]
fn clicks_select_and_the_wheel_scrolls_below_the_pointer() {
    let mut state = loaded(120, 24);
    let mouse = |kind, column, row| TuiEvent::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    let click = MouseEventKind::Down(MouseButton::Left);
    let effects = update(&mut state, mouse(click, 10, 7));
    assert_eq!((state.list.selected, state.focus), (1, Focus::List));
    assert_eq!(preview_request(&effects).subject.session, state.list.rows[1].subject.session);
    answer_preview(&mut state, 30);
    let before = state.preview.scroll;
    update(&mut state, mouse(MouseEventKind::ScrollDown, 100, 10));
    assert_eq!(state.preview.scroll, before + 3);
    update(&mut state, mouse(click, 100, 10));
    assert_eq!(state.focus, Focus::Preview);
    let effects = update(&mut state, mouse(click, 12, 0));
    assert_eq!((list_requests(&effects)[0].tab, state.tab), (TuiTab::Fixes, TuiTab::Fixes));
    update(&mut state, mouse(click, 3, 2));
    assert!(matches!(&state.overlay, Some(Overlay::Menu(menu)) if menu.title == "Filter by project"));
    update(&mut state, mouse(click, 0, 23));
    assert!(state.overlay.is_none());
}

#[test]
fn a_new_width_loads_the_preview_again() {
    let mut state = loaded(120, 40);
    let size = Size { width: 120, height: 30 };
    assert!(update(&mut state, TuiEvent::Resize(size)).is_empty());
    let size = Size { width: 80, height: 30 };
    let effects = update(&mut state, TuiEvent::Resize(size));
    assert_eq!(preview_request(&effects).width, 77);
}

#[test]
fn showing_details_keeps_the_place() {
    let mut state = loaded(120, 20);
    state.focus = Focus::Preview;
    type_text(&mut state, "gjjjj");
    let effects = type_text(&mut state, "t");
    let request = preview_request(&effects);
    assert_eq!((request.range, request.start), (EntryRange::From(0), PreviewStart::Entry(1)));
    assert!(request.is_unfolded);
}

#[test]
fn a_failed_request_is_reported_once() {
    let mut state = loaded(120, 40);
    type_text(&mut state, "x");
    let number = state.list.pending.unwrap();
    let failed = || TuiEvent::Answer(WorkerAnswer::Failed { number, message: "the store is locked".to_owned() });
    update(&mut state, failed());
    assert_eq!((state.list.pending, state.message.take().unwrap().1.as_str()), (None, "the store is locked"));
    update(&mut state, failed());
    assert!(state.message.is_none());
}
