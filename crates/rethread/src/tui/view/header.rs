//! Tabs, counts, the query and the filters.

use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr;

use super::write::Canvas;
use crate::render::Tone;
use crate::tui::filters::FilterKind;
use crate::tui::layout::{PROMPT_COLUMNS, ScreenAreas, chip_places, tab_places};
use crate::tui::state::{Focus, TuiState, TuiTab};

/// Draws the rows above the list. Returns where the cursor of the query is.
pub(super) fn draw(page: &mut Canvas<'_>, state: &TuiState, areas: &ScreenAreas) -> Option<Position> {
    draw_tabs(page, state, areas);
    let cursor = draw_query(page, state, areas);
    draw_chips(page, state, areas);
    cursor
}

fn draw_tabs(page: &mut Canvas<'_>, state: &TuiState, areas: &ScreenAreas) {
    let mut end = 0;
    for (tab, place) in tab_places(areas.tabs) {
        let style = if tab == state.tab { page.theme.inverse() } else { page.theme.tone(Tone::Plain) };
        page.text(place.x, place.y, place.width, &format!(" {} ", tab.label()), style);
        end = place.right();
    }
    let is_loading = state.list.pending.is_some() && !state.list.is_loaded;
    let summary = if is_loading { "loading" } else { state.list.summary.as_str() };
    // On a narrow screen, the numbers alone.
    let numbers = summary.split(" matching").next().unwrap_or_default();
    let fits = |text: &&str| end + text.width() as u16 + 3 <= areas.tabs.right();
    if let Some(shown) = [summary, numbers].into_iter().find(fits) {
        page.text_to_end(areas.tabs.right() - 1, areas.tabs.y, shown, page.theme.dim());
    }
}

fn draw_query(page: &mut Canvas<'_>, state: &TuiState, areas: &ScreenAreas) -> Option<Position> {
    let area = areas.query;
    let style = if state.focus == Focus::Query { page.theme.accent() } else { page.theme.dim() };
    page.text(area.x, area.y, area.width, " ❯ ", style);
    let room = usize::from(area.width.saturating_sub(PROMPT_COLUMNS + 1)).max(1);
    let left = area.x + PROMPT_COLUMNS;
    if state.query.text().is_empty() {
        page.text(left, area.y, room as u16, placeholder(state.tab), page.theme.dim());
        return (!area.is_empty()).then(|| Position::new(left, area.y));
    }
    // A query that is too long is shown around its cursor.
    let column = state.query.cursor_column();
    let hidden = (column + 1).saturating_sub(room);
    let (shown, hidden) = skip_columns(state.query.text(), hidden);
    page.text(left, area.y, room as u16, shown, page.theme.tone(Tone::Plain));
    (!area.is_empty()).then(|| Position::new(left + (column - hidden.min(column)) as u16, area.y))
}

const fn placeholder(tab: TuiTab) -> &'static str {
    match tab {
        TuiTab::Search => "Search all sessions, or pick a recent one",
        TuiTab::Fixes => "Paste an error, or type words of it",
        TuiTab::Decisions => "Words of decisions, preferences and prohibitions",
        TuiTab::Live => "Words of a session's name",
    }
}

/// The text without its first columns, and how many were skipped: whole characters only.
fn skip_columns(text: &str, columns: usize) -> (&str, usize) {
    let mut skipped = 0;
    for (at, c) in text.char_indices() {
        if skipped >= columns {
            return (&text[at..], skipped);
        }
        skipped += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
    }
    ("", skipped)
}

fn draw_chips(page: &mut Canvas<'_>, state: &TuiState, areas: &ScreenAreas) {
    let mut end = areas.chips.x;
    for (kind, label, place) in chip_places(state, areas) {
        let is_set = kind != FilterKind::Project;
        let style = if is_set { page.theme.tone(Tone::Warning) } else { page.theme.dim() };
        page.text(place.x, place.y, place.width, &format!("[{label}]"), style);
        end = place.right();
    }
    if let Some(notice) = state.list.notice.as_deref().filter(|_| !areas.chips.is_empty()) {
        let room = areas.chips.right().saturating_sub(end + 3);
        let notice = crate::render::truncate_to_width(notice, usize::from(room));
        page.text(end + 2, areas.chips.y, room, &notice, page.theme.tone(Tone::Warning));
    }
}
