//! The list: two lines for each row, the selected one with a bar.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::write::Canvas;
use crate::render::{Tone, truncate_to_width};
use crate::tui::layout::ITEM_ROWS;
use crate::tui::row::ListRow;
use crate::tui::state::{Focus, TuiState, TuiTab};

/// Columns before a row: the bar and a blank.
const MARGIN: u16 = 2;
/// Columns of a title before the text at its right is left out.
const MIN_TITLE: usize = 16;

/// What the list shows.
pub(super) fn name(state: &TuiState) -> &'static str {
    match state.tab {
        TuiTab::Search if state.query.is_empty() && state.filters.kind.is_none() => "Recent sessions",
        TuiTab::Search => "Results",
        TuiTab::Fixes => "Errors with fixes",
        TuiTab::Decisions => "Decisions",
        TuiTab::Live => "Active in the last hour",
    }
}

pub(super) fn draw(page: &mut Canvas<'_>, state: &TuiState, area: Rect) {
    if area.is_empty() {
        return;
    }
    if state.list.rows.is_empty() {
        draw_empty(page, state, area);
    }
    let rows = state.list.rows.iter().enumerate().skip(state.list.first);
    for (slot, (at, row)) in rows.take(usize::from(area.height.div_ceil(ITEM_ROWS))).enumerate() {
        let y = area.y + slot as u16 * ITEM_ROWS;
        let place = Rect::new(area.x, y, area.width, ITEM_ROWS).intersection(area);
        draw_row(page, row, place, (at == state.list.selected).then_some(state.focus));
    }
}

fn draw_empty(page: &mut Canvas<'_>, state: &TuiState, area: Rect) {
    if !state.list.is_loaded {
        return;
    }
    let lines = crate::render::wrap(&state.list.empty_note, Some(usize::from(area.width.saturating_sub(4)).max(10)));
    for (at, line) in lines.iter().take(usize::from(area.height.saturating_sub(1))).enumerate() {
        page.text(area.x + MARGIN, area.y + 1 + at as u16, area.width.saturating_sub(MARGIN), line, page.theme.dim());
    }
}

/// Draws a row. `selected` is the current focus if the row is selected.
fn draw_row(page: &mut Canvas<'_>, row: &ListRow, area: Rect, selected: Option<Focus>) {
    let theme = page.theme;
    if let Some(focus) = selected {
        let bar = if focus == Focus::Preview { theme.dim() } else { theme.accent() };
        for y in area.y..area.bottom() {
            page.text(area.x, y, 1, "▌", bar);
        }
    }
    let (x, width) = (area.x + MARGIN, area.width.saturating_sub(MARGIN + 1));
    let is_roomy = usize::from(width) >= MIN_TITLE + row.aside.width() + 2;
    let aside = if is_roomy { row.aside.as_str() } else { "" };
    let room = usize::from(width).saturating_sub(if aside.is_empty() { 0 } else { aside.width() + 2 });
    let title = truncate_to_width(&row.title, room);
    let emphasis = if selected.is_some() { Modifier::BOLD } else { Modifier::empty() };
    page.text(x, area.y, room as u16, &title, theme.tone(row.title_tone).add_modifier(emphasis));
    page.text_to_end(x + width, area.y, aside, theme.dim());
    if area.height > 1 {
        draw_detail(page, row, (x, area.y + 1, width));
    }
}

/// Draws the second line. If the first match would be cut off, the line starts shortly before it.
fn draw_detail(page: &mut Canvas<'_>, row: &ListRow, (x, y, width): (u16, u16, u16)) {
    let (dim, marked) = (page.theme.dim(), page.theme.tone(Tone::Match));
    let text = &row.detail;
    let first = row.matches.first().map_or(0, |range| range.start);
    let start = if text[..first].width() > usize::from(width) * 2 / 3 { start_before(text, first, width) } else { 0 };
    let mut parts: Vec<(Style, &str)> = Vec::new();
    if start > 0 {
        parts.push((dim, "…"));
    }
    let mut at = start;
    for range in row.matches.iter().filter(|range| range.start >= start) {
        let (Some(between), Some(word)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
        parts.push((dim, between));
        parts.push((marked, word));
        at = range.end;
    }
    parts.push((dim, text.get(at..).unwrap_or_default()));
    let used: usize = parts.iter().map(|(_, part)| part.width()).sum();
    page.styled(x, y, width, &parts);
    if used > usize::from(width) && width > 0 {
        page.text(x + width - 1, y, 1, "…", dim);
    }
}

/// A word boundary about a quarter of the width before a place.
fn start_before(text: &str, place: usize, width: u16) -> usize {
    let mut columns = usize::from(width) / 4;
    let mut start = place;
    for (at, c) in text[..place].char_indices().rev() {
        columns = columns.saturating_sub(c.width().unwrap_or(0));
        if columns == 0 {
            break;
        }
        start = at;
    }
    text[start..place].find(' ').map_or(start, |blank| start + blank + 1)
}
