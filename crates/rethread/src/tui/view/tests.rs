//! What the screen looks like, as snapshots of a terminal in memory.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use ratatui::style::Color;
use rethread_model::Agent;

use super::*;
use crate::render::resume_command;
use crate::tui::filters::FilterKind;
use crate::tui::menu::Menu;
use crate::tui::query_line::QueryLine;
use crate::tui::request::MenuChoices;
use crate::tui::state::{PreviewFind, ResumeQuestion, TuiTab};
use crate::tui::test_state::{loaded, session};

fn drawn(state: &TuiState) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(state.size.width, state.size.height)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    terminal
}

fn screen(state: &TuiState) -> String {
    drawn(state).backend().to_string()
}

#[test]
fn a_wide_screen_has_the_preview_beside_the_list() {
    let mut state = loaded(120, 24);
    state.query = QueryLine::new("connection pool");
    assert_snapshot!(screen(&state));
}

#[test]
fn a_narrow_screen_has_the_preview_below_the_list() {
    let mut state = loaded(70, 26);
    state.query = QueryLine::new("pool");
    state.focus = Focus::List;
    state.filters.agent = Some(Agent::Pi);
    state.list.notice = Some("the index is being rebuilt".to_owned());
    assert_snapshot!(screen(&state));
}

#[test]
fn a_small_screen_shows_list_or_preview() {
    let mut state = loaded(60, 15);
    state.query = QueryLine::new("pool");
    let list = screen(&state);
    state.focus = Focus::Preview;
    assert_snapshot!(format!("{list}\n{}", screen(&state)));
}

#[test]
fn before_anything_is_loaded_the_frame_is_there() {
    let state = TuiState { size: Size { width: 100, height: 16 }, ..TuiState::default() };
    assert_snapshot!(screen(&state));
}

#[test]
fn an_empty_list_says_what_to_do() {
    let mut state = loaded(100, 16);
    state.query = QueryLine::new("nothing has this");
    state.list.rows.clear();
    state.preview.doc = None;
    assert_snapshot!(screen(&state));
}

#[test]
fn menus_and_the_question_before_resuming_are_in_the_middle() {
    let mut state = loaded(100, 20);
    let choices = MenuChoices { agents: vec![Agent::Codex, Agent::Pi], ..MenuChoices::default() };
    state.overlay = Some(Overlay::Menu(Menu::filter_values(FilterKind::Agent, &state.filters, &choices)));
    let menu = screen(&state);
    let resumed = session("Fix the connection pool", Agent::Codex);
    let command = resume_command(&resumed);
    let problem = Some("cannot find the program \"codex\" of Codex".to_owned());
    state.overlay =
        Some(Overlay::Resume(ResumeQuestion { session: Box::new(resumed), command, problem, is_live: true }));
    assert_snapshot!(format!("{menu}\n{}", screen(&state)));
}

#[test]
fn all_keys_are_listed() {
    let mut state = loaded(100, 50);
    state.overlay = Some(Overlay::Help(0));
    assert_snapshot!(screen(&state));
}

#[test]
fn found_text_and_query_words_stand_out() {
    let mut state = loaded(120, 24);
    state.preview.find = Some(PreviewFind { line: QueryLine::new("about"), ..PreviewFind::default() });
    let terminal = drawn(&state);
    let buffer = terminal.backend().buffer();
    let style_of = |text: &str, letter: usize| {
        let width = usize::from(buffer.area.width);
        let cells: Vec<&str> = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        let letters: Vec<String> = text.chars().map(String::from).collect();
        // The preview only: the list has the words, too.
        let at =
            (0..cells.len() - letters.len()).find(|at| at % width > 50 && cells[*at..*at + letters.len()] == letters);
        buffer.content[at.unwrap() + letter].style()
    };
    assert_eq!(style_of("pool", 0).fg, Some(Color::Reset), "the title is not searched");
    assert!(style_of("about", 0).add_modifier.contains(ratatui::style::Modifier::REVERSED));
    assert_eq!(style_of("the pool", 4).fg, Some(Color::Yellow));
}

#[test]
fn without_color_no_color_is_used() {
    let mut state = loaded(120, 24);
    state.options.has_color = false;
    state.tab = TuiTab::Fixes;
    let terminal = drawn(&state);
    let cells = &terminal.backend().buffer().content;
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#[test]
fn every_size_can_be_drawn() {
    for width in [1, 2, 5, 20, 60, 99, 100, 300] {
        for height in [1, 2, 3, 6, 15, 16, 24, 60] {
            let mut state = loaded(width, height);
            state.query = QueryLine::new(&"日本語 and more ".repeat(20));
            state.preview.find = Some(PreviewFind { line: QueryLine::new("pool"), ..PreviewFind::default() });
            for focus in [Focus::Query, Focus::List, Focus::Preview] {
                state.focus = focus;
                drawn(&state);
            }
            state.overlay = Some(Overlay::Help(3));
            drawn(&state);
            state.overlay = Some(Overlay::Menu(Menu::filters(&state.filters, TuiTab::Search)));
            drawn(&state);
        }
    }
}
