//! The conversation around the hit, below a header that stays.

use ratatui::layout::{Position, Rect};

use super::highlight::highlighted;
use super::write::Canvas;
use crate::render::Tone;
use crate::tui::layout::{PROMPT_COLUMNS, screen_areas};
use crate::tui::request::PreviewDoc;
use crate::tui::state::{Focus, TuiState};

/// The header takes at most this part of the rows.
const HEADER_SHARE: u16 = 4;
/// From this height on, a blank row follows the header.
const ROOMY_ROWS: u16 = 14;

/// Rows of the part that scrolls.
pub(in crate::tui) fn preview_rows(state: &TuiState) -> usize {
    usize::from(body_area(state, screen_areas(state).preview).height)
}

fn header_rows(doc: Option<&PreviewDoc>, area: Rect) -> u16 {
    doc.map_or(0, |doc| (doc.header.len() as u16).min(area.height / HEADER_SHARE))
}

fn body_area(state: &TuiState, area: Rect) -> Rect {
    let blank = u16::from(area.height >= ROOMY_ROWS);
    let above = header_rows(state.preview.doc.as_ref(), area) + blank;
    let below = u16::from(state.preview.find.is_some());
    let rows = area.height.saturating_sub(above + below);
    Rect { y: area.y + above.min(area.height), height: rows, ..area }
}

/// Draws the preview. Returns where the cursor is while a text to find is typed.
pub(super) fn draw(page: &mut Canvas<'_>, state: &TuiState, area: Rect) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let (x, width) = (area.x + 1, area.width.saturating_sub(2));
    let Some(doc) = &state.preview.doc else {
        let text = if state.preview.pending.is_some() { "loading" } else { "" };
        page.text(x, area.y, width, text, page.theme.dim());
        return None;
    };
    for (row, line) in doc.header.iter().take(usize::from(header_rows(Some(doc), area))).enumerate() {
        page.parts(x, area.y + row as u16, width, line);
    }
    let body = body_area(state, area);
    draw_body(page, state, doc, body);
    draw_position(page, state, doc, body);
    draw_find(page, state, area)
}

fn draw_body(page: &mut Canvas<'_>, state: &TuiState, doc: &PreviewDoc, body: Rect) {
    let found = state.preview.find.as_ref().map(|find| find.line.text().trim()).filter(|text| !text.is_empty());
    let lines = doc.lines.iter().skip(state.preview.scroll).take(usize::from(body.height));
    for (row, line) in lines.enumerate() {
        let parts = highlighted(page.theme, line, &state.list.words, found);
        let parts: Vec<_> = parts.iter().map(|(style, text)| (*style, text.as_str())).collect();
        page.styled(body.x + 1, body.y + row as u16, body.width.saturating_sub(2), &parts);
    }
}

/// A bar at the right edge that shows which part of the lines is visible.
fn draw_position(page: &mut Canvas<'_>, state: &TuiState, doc: &PreviewDoc, body: Rect) {
    let (all, rows) = (doc.lines.len(), usize::from(body.height));
    if all <= rows || rows == 0 {
        return;
    }
    let length = (rows * rows / all).max(1);
    let start = state.preview.scroll * (rows - length) / (all - rows).max(1);
    let style = if state.focus == Focus::Preview { page.theme.accent() } else { page.theme.dim() };
    let bar = Rect::new(body.right() - 1, body.y + start as u16, 1, length as u16).intersection(body);
    page.fill(bar, "▐", style);
}

fn draw_find(page: &mut Canvas<'_>, state: &TuiState, area: Rect) -> Option<Position> {
    let find = state.preview.find.as_ref()?;
    let y = area.bottom() - 1;
    let style = if find.is_editing { page.theme.accent() } else { page.theme.dim() };
    page.text(area.x, y, area.width, " / ", style);
    let room = area.width.saturating_sub(PROMPT_COLUMNS);
    page.text(area.x + PROMPT_COLUMNS, y, room, find.line.text(), page.theme.tone(Tone::Plain));
    let column = (find.line.cursor_column() as u16).min(room.saturating_sub(1));
    find.is_editing.then(|| Position::new(area.x + PROMPT_COLUMNS + column, y))
}
