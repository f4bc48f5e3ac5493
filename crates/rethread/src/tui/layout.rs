//! Where everything is on the screen. Depends on size, tab and focus only, so that clicks find what was drawn.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::filters::FilterKind;
use super::state::{Focus, TuiState, TuiTab};
use crate::render::truncate_to_width;

/// From this width on, the preview is beside the list.
const SIDE_BY_SIDE_COLUMNS: u16 = 100;
/// From this height on, a narrow screen has the preview below the list.
const STACKED_ROWS: u16 = 24;
/// Up to this height, rules and chips make room for rows.
const COMPACT_ROWS: u16 = 15;
/// The list never gets wider: titles and ages would be too far apart.
const MAX_LIST_COLUMNS: u16 = 110;
/// Lines of the preview never get longer: they would be hard to read.
const MAX_PREVIEW_COLUMNS: usize = 120;
/// On a lower screen, half of the rows are the list's.
const LOW_ROWS: u16 = 30;
/// Columns of the text of a chip.
const MAX_CHIP_COLUMNS: usize = 30;
/// Rows of a list item.
pub(super) const ITEM_ROWS: u16 = 2;
/// Columns of the prompt sign before the query.
pub(super) const PROMPT_COLUMNS: u16 = 3;

/// The parts of the screen. Hidden parts are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenAreas {
    pub(super) tabs: Rect,
    pub(super) query: Rect,
    pub(super) chips: Rect,
    /// The rule above list and preview.
    pub(super) top_rule: Rect,
    pub(super) list: Rect,
    /// Between list and preview: a column beside each other, a row above each other.
    pub(super) divider: Rect,
    pub(super) preview: Rect,
    pub(super) status: Rect,
}

/// Computes the parts of the screen.
pub(super) fn screen_areas(state: &TuiState) -> ScreenAreas {
    let (width, height) = (state.size.width, state.size.height);
    let is_compact = height <= COMPACT_ROWS;
    let row = |y: u16| Rect::new(0, y.min(height), width, u16::from(y < height));
    let mut areas = ScreenAreas { tabs: row(0), query: row(1), ..ScreenAreas::default() };
    let mut top = 2;
    if !is_compact {
        (areas.chips, areas.top_rule) = (row(2), row(3));
        top = 4;
    }
    let bottom = height.saturating_sub(1).max(top);
    areas.status = row(bottom);
    let body = Rect::new(0, top, width, bottom - top);
    place_body(&mut areas, body, state.focus == Focus::Preview, height);
    areas
}

fn place_body(areas: &mut ScreenAreas, body: Rect, is_reading: bool, height: u16) {
    if body.width >= SIDE_BY_SIDE_COLUMNS {
        let list = (body.width * 2 / 5).clamp(42, MAX_LIST_COLUMNS);
        areas.list = Rect { width: list, ..body };
        areas.divider = Rect { x: list, width: 1, ..body };
        areas.preview = Rect { x: list + 1, width: body.width - list - 1, ..body };
    } else if height >= STACKED_ROWS {
        let share = if height < LOW_ROWS { body.height / 2 } else { body.height * 2 / 5 };
        let list = share / ITEM_ROWS * ITEM_ROWS;
        areas.list = Rect { height: list, ..body };
        areas.divider = Rect { y: body.y + list, height: 1, ..body };
        areas.preview = Rect { y: body.y + list + 1, height: body.height - list - 1, ..body };
    } else if is_reading {
        areas.preview = body;
    } else {
        areas.list = body;
    }
}

impl ScreenAreas {
    /// Rows of the list that fit.
    pub(super) fn visible_items(&self) -> usize {
        usize::from((self.list.height / ITEM_ROWS).max(1))
    }

    /// Columns of a line of the preview, also while it is hidden.
    pub(super) fn preview_columns(&self) -> usize {
        let area = if self.preview.is_empty() { self.list } else { self.preview };
        usize::from(area.width.saturating_sub(3)).clamp(10, MAX_PREVIEW_COLUMNS)
    }
}

/// The tabs and the columns they take.
pub(super) fn tab_places(area: Rect) -> Vec<(TuiTab, Rect)> {
    let mut x = area.x + 1;
    let place = |tab: TuiTab| {
        let width = tab.label().width() as u16 + 2;
        let place = Rect::new(x, area.y, width, 1).intersection(area);
        x += width + 1;
        (tab, place)
    };
    TuiTab::ALL.into_iter().map(place).collect()
}

/// The chips and the columns they take: below the query, or at its right on a small screen.
pub(super) fn chip_places(state: &TuiState, areas: &ScreenAreas) -> Vec<(FilterKind, String, Rect)> {
    let mut chips = state.filters.chips(state.tab);
    for (_, label) in &mut chips {
        *label = truncate_to_width(label, MAX_CHIP_COLUMNS);
    }
    let widths: Vec<u16> = chips.iter().map(|(_, label)| label.width() as u16 + 2).collect();
    let total: u16 = widths.iter().map(|width| width + 1).sum();
    let is_compact = areas.chips.is_empty();
    let area = if is_compact { areas.query } else { areas.chips };
    let mut x = if is_compact { area.right().saturating_sub(total) } else { area.x + 1 };
    let query_end = area.x + PROMPT_COLUMNS + state.query.text().width().min(usize::from(area.width)) as u16 + 2;
    let mut places = Vec::new();
    for ((kind, label), width) in chips.into_iter().zip(widths) {
        let place = Rect::new(x, area.y, width, 1).intersection(area);
        // The query comes first.
        if !is_compact || place.x > query_end {
            places.push((kind, label, place));
        }
        x += width + 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Size;

    use super::*;

    fn areas(width: u16, height: u16, focus: Focus) -> ScreenAreas {
        screen_areas(&TuiState { size: Size { width, height }, focus, ..TuiState::default() })
    }

    #[test]
    fn the_preview_is_beside_below_or_instead_of_the_list() {
        let wide = areas(120, 40, Focus::Query);
        assert!(wide.list.y == wide.preview.y && wide.preview.width > wide.list.width);
        let narrow = areas(80, 40, Focus::Query);
        assert!(narrow.list.width == 80 && narrow.preview.y > narrow.list.y);
        let small = areas(80, 20, Focus::Query);
        assert!(small.preview.is_empty() && small.divider.is_empty());
        let reading = areas(80, 20, Focus::Preview);
        assert!(reading.list.is_empty() && reading.preview == small.list);
    }

    #[test]
    fn parts_never_overlap_or_leave_the_screen() {
        for width in [1, 20, 59, 60, 80, 99, 100, 120, 200, 300] {
            for height in [1, 2, 3, 5, 10, 15, 16, 23, 24, 50, 100] {
                let all = areas(width, height, Focus::Query);
                let parts =
                    [all.tabs, all.query, all.chips, all.top_rule, all.list, all.divider, all.preview, all.status];
                let screen = Rect::new(0, 0, width, height);
                for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
                    assert_eq!(part.intersection(screen), *part, "{width}x{height}: {all:?}");
                    let others = parts[at + 1..].iter().filter(|other| !other.is_empty());
                    assert!(others.clone().all(|other| !part.intersects(*other)), "{width}x{height}: {all:?}");
                }
            }
        }
    }
}
