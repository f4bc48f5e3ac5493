//! Menus and the question before resuming, in a box in the middle.

use ratatui::layout::{Position, Rect, Size};
use rethread_model::quote_for_shell;
use unicode_width::UnicodeWidthStr;

use super::write::Canvas;
use crate::render::{Tone, sanitize_line, session_label, truncate_to_width, wrap};
use crate::tui::menu::Menu;
use crate::tui::state::ResumeQuestion;

/// Columns of a box, if there is room.
const RESUME_COLUMNS: u16 = 76;
const MENU_COLUMNS: u16 = 70;
/// Columns for what was typed into a menu, and how many items are shown.
const MENU_COUNT_COLUMNS: u16 = 16;

/// An area of this size in the middle, or as much of it as fits above the status line.
pub(super) fn centered(size: Size, width: u16, height: u16) -> Rect {
    let rows = size.height.saturating_sub(1);
    let (width, height) = (width.min(size.width), height.min(rows));
    Rect::new((size.width - width) / 2, (rows - height) / 2, width, height)
}

fn menu_area(size: Size, menu: &Menu) -> Rect {
    let columns = |text: &str| u16::try_from(text.width() + 8).unwrap_or(u16::MAX);
    let labels = menu.items.iter().map(|item| columns(&item.label));
    let widest = labels.chain([columns(&menu.title) + MENU_COUNT_COLUMNS]).max().unwrap_or(0);
    let rows = u16::try_from(menu.items.len() + 2).unwrap_or(u16::MAX);
    centered(size, widest.clamp(24, MENU_COLUMNS), rows)
}

/// The first item shown.
fn first_item(area: Rect, menu: &Menu) -> usize {
    (menu.selected + 1).saturating_sub(usize::from(area.height.saturating_sub(2)))
}

/// The item of a menu at a place of the screen.
pub(in crate::tui) fn menu_item_at(size: Size, menu: &Menu, at: Position) -> Option<usize> {
    let area = menu_area(size, menu);
    let is_inside = at.x > area.x && at.x + 1 < area.right() && at.y > area.y && at.y + 1 < area.bottom();
    is_inside.then(|| first_item(area, menu) + usize::from(at.y - area.y - 1))
}

pub(super) fn draw_menu(page: &mut Canvas<'_>, size: Size, menu: &Menu) {
    let area = menu_area(size, menu);
    let inside = page.frame(area, &menu_title(menu, usize::from(area.height.saturating_sub(2))));
    let first = first_item(area, menu);
    for (row, item) in menu.shown().skip(first).take(usize::from(inside.height)).enumerate() {
        let y = inside.y + row as u16;
        let is_selected = first + row == menu.selected;
        let style = if is_selected { page.theme.inverse() } else { page.theme.tone(Tone::Plain) };
        if is_selected {
            page.fill(Rect::new(inside.x, y, inside.width, 1), " ", style);
        }
        let key = item.key.map_or_else(|| "  ".to_owned(), |key| format!("{key} "));
        let label = truncate_to_width(&item.label, usize::from(inside.width.saturating_sub(5)));
        let key_style = if is_selected { style } else { page.theme.accent() };
        page.styled(inside.x + 1, y, inside.width.saturating_sub(1), &[(key_style, &key), (style, &label)]);
    }
}

/// The title with what was typed, and where the selection is if not all items are visible.
fn menu_title(menu: &Menu, rows: usize) -> String {
    let shown = menu.shown().count();
    let typed = if menu.typed.is_empty() { String::new() } else { format!(": {}", menu.typed) };
    match shown {
        0 => format!("{}{typed} · none", menu.title),
        _ if shown > rows || !menu.typed.is_empty() => {
            format!("{}{typed} · {}/{shown}", menu.title, menu.selected + 1)
        }
        _ => menu.title.clone(),
    }
}

pub(super) fn draw_resume(page: &mut Canvas<'_>, size: Size, question: &ResumeQuestion) {
    let session = &question.session;
    let width = RESUME_COLUMNS.min(size.width);
    let room = usize::from(width.saturating_sub(4)).max(10);
    let name = truncate_to_width(&session_label(session), room);
    let mut lines = vec![(Tone::Strong, name), (Tone::Plain, String::new())];
    let folder = session.cwd.as_deref().map(sanitize_line);
    if let Some(folder) = &folder {
        lines.extend(wrap(&format!("in {folder}"), Some(room)).into_iter().map(|line| (Tone::Dim, line)));
    }
    let mut add = |tone: Tone, text: &str| lines.extend(wrap(text, Some(room)).into_iter().map(|line| (tone, line)));
    if let Some(command) = &question.command {
        // The directory has its own line, so the command does not repeat it.
        let prefix = session.cwd.as_deref().map(|folder| format!("cd {} && ", quote_for_shell(folder)));
        let command = prefix.and_then(|prefix| command.strip_prefix(&prefix)).unwrap_or(command);
        add(Tone::Plain, &format!("$ {}", sanitize_line(command)));
    }
    if question.is_live {
        add(Tone::Warning, "This session is still running in another terminal.");
    }
    if let Some(problem) = &question.problem {
        add(Tone::Error, &sanitize_line(problem));
    }
    let inside = page.frame(centered(size, width, lines.len() as u16 + 2), "Resume");
    for (row, line) in lines.iter().take(usize::from(inside.height)).enumerate() {
        page.parts(inside.x + 1, inside.y + row as u16, inside.width.saturating_sub(1), std::slice::from_ref(line));
    }
}
