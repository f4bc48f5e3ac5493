//! What is done with the selected session: copying, opening, exporting, resuming.

use rethread_model::Entry;

use super::overlay;
use crate::cli::tui::PrintedChoice;
use crate::launch::not_resumable;
use crate::render::{Tone, powershell_resume_command, resume_command};
use crate::tui::effect::{TuiEffect, TuiExit};
use crate::tui::menu::Menu;
use crate::tui::state::{Focus, Overlay, ResumeQuestion, TuiState};

pub(super) fn open_filters(state: &mut TuiState) -> Vec<TuiEffect> {
    state.overlay = Some(Overlay::Menu(Menu::filters(&state.filters, state.tab)));
    Vec::new()
}

pub(super) fn open_copy(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let text = state.list.selected_row().map_or("", |row| &row.subject.text);
    state.overlay = Some(Overlay::Menu(Menu::copy(&session, text)));
    Vec::new()
}

pub(super) fn open_export(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    state.overlay = Some(Overlay::Menu(Menu::export(&session)));
    Vec::new()
}

/// Opens the transcript, after a question if the entry has files too.
pub(super) fn open_editor(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let entry = entry_in_view(state);
    let line = entry.map(|entry| entry.location.line);
    let menu = Menu::open(&session, entry, line.or(state.list.selected_row().and_then(|row| row.subject.line)));
    match menu.items.len() {
        0 => say(state, "this session has no file to open"),
        1 => menu.chosen().map_or_else(Vec::new, |chosen| overlay::act(state, chosen)),
        _ => {
            state.overlay = Some(Overlay::Menu(menu));
            Vec::new()
        }
    }
}

/// The entry of the hit, or the first one shown while the preview is being read.
fn entry_in_view(state: &TuiState) -> Option<&Entry> {
    let doc = state.doc_of_selection()?;
    let line = state.list.selected_row()?.subject.line;
    if state.focus != Focus::Preview
        && let Some(line) = line
    {
        return doc.entries.iter().map(|(_, entry)| entry).find(|entry| entry.location.line == line);
    }
    doc.entries.iter().find(|(row, _)| *row >= state.preview.scroll).map(|(_, entry)| entry)
}

fn selected_session(state: &mut TuiState) -> Option<rethread_model::Session> {
    let session = state.selected_session().cloned();
    if session.is_none() && state.list.selected_row().is_some() {
        say(state, "still loading");
    }
    session
}

fn say(state: &mut TuiState, text: &str) -> Vec<TuiEffect> {
    state.message = Some((Tone::Warning, text.to_owned()));
    Vec::new()
}

/// Enter: prints the choice, or asks before the session is resumed.
pub(super) fn choose(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let command = match state.options.print {
        Some(PrintedChoice::PowerShell) => powershell_resume_command(&session),
        _ => resume_command(&session),
    };
    let problem = command.is_none().then(|| not_resumable(&session).source.to_string());
    match (state.options.print, command) {
        (Some(PrintedChoice::Id), _) => vec![TuiEffect::Leave(TuiExit::Print(session.id.to_string()))],
        (Some(_), Some(command)) => vec![TuiEffect::Leave(TuiExit::Print(command))],
        (Some(_), None) => say(state, &problem.unwrap_or_default()),
        (None, command) => {
            let is_live = state.doc_of_selection().is_some_and(|doc| doc.is_live);
            let session = Box::new(session);
            state.overlay = Some(Overlay::Resume(ResumeQuestion { session, command, problem, is_live }));
            Vec::new()
        }
    }
}
