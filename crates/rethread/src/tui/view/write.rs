//! Writes styled text into a buffer, never beyond the given columns.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::render::Tone;

/// A buffer with coordinates that start at 0, wherever the interface is on the terminal.
pub(super) struct Canvas<'b> {
    buffer: &'b mut Buffer,
    offset: Position,
    pub(super) theme: Theme,
}

impl<'b> Canvas<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, offset: Position, theme: Theme) -> Self {
        Self { buffer, offset, theme }
    }

    /// Writes text from a position on, cut at `width` columns. Returns the columns that were used.
    pub(super) fn text(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        let (x, y) = (self.offset.x + x, self.offset.y + y);
        if !self.buffer.area.contains(Position::new(x, y)) {
            return 0;
        }
        let (end, _) = self.buffer.set_stringn(x, y, text, usize::from(width), style);
        end.saturating_sub(x)
    }

    /// Writes parts one after another, cut at `width` columns.
    pub(super) fn parts(&mut self, x: u16, y: u16, width: u16, parts: &[(Tone, String)]) -> u16 {
        let theme = self.theme;
        let styled: Vec<(Style, &str)> = parts.iter().map(|(tone, text)| (theme.tone(*tone), text.as_str())).collect();
        self.styled(x, y, width, &styled)
    }

    /// Writes styled parts one after another, cut at `width` columns.
    pub(super) fn styled(&mut self, x: u16, y: u16, width: u16, parts: &[(Style, &str)]) -> u16 {
        let mut used = 0;
        for (style, text) in parts {
            used += self.text(x + used, y, width.saturating_sub(used), text, *style);
        }
        used
    }

    /// Writes text that ends at the column before `end`. Returns its first column.
    pub(super) fn text_to_end(&mut self, end: u16, y: u16, text: &str, style: Style) -> u16 {
        let width = (text.width() as u16).min(end);
        self.text(end - width, y, width, text, style);
        end - width
    }

    /// Fills an area with a symbol of one column.
    pub(super) fn fill(&mut self, area: Rect, symbol: &str, style: Style) {
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                self.text(x, y, 1, symbol, style);
            }
        }
    }

    /// Blanks wide symbols left of an area that reach into it: a terminal would draw them over its border.
    fn end_before(&mut self, area: Rect) {
        for y in area.y..area.bottom() {
            let Some(x) = area.x.checked_sub(1) else { return };
            let place = Position::new(self.offset.x + x, self.offset.y + y);
            if let Some(cell) = self.buffer.cell_mut(place).filter(|cell| cell.symbol().width() > 1) {
                cell.set_symbol(" ");
            }
        }
    }

    /// Clears an area and draws a box around it. Returns the area inside.
    pub(super) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        if area.width < 2 || area.height < 2 {
            return Rect::default();
        }
        self.end_before(area);
        let style = self.theme.dim();
        let line = "─".repeat(usize::from(area.width - 2));
        self.fill(area, " ", self.theme.tone(Tone::Plain));
        for y in area.y + 1..area.bottom() - 1 {
            self.text(area.x, y, 1, "│", style);
            self.text(area.right() - 1, y, 1, "│", style);
        }
        self.text(area.x, area.y, area.width, &format!("╭{line}╮"), style);
        self.text(area.x, area.bottom() - 1, area.width, &format!("╰{line}╯"), style);
        self.text(area.x + 2, area.y, area.width.saturating_sub(4), &format!(" {title} "), self.theme.accent());
        Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2)
    }
}
