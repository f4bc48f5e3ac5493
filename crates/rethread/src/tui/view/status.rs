//! The last row: what the last key did, or which keys do what now.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::write::Canvas;
use crate::render::{Tone, sanitize_line};
use crate::tui::state::{Focus, Overlay, TuiState};

type KeyHint = (&'static str, &'static str);

/// Most important first: on a narrow screen the last ones are left out.
const QUERY_HINTS: [KeyHint; 10] = [
    ("F1", "keys"),
    ("↑↓", "select"),
    ("Enter", "resume"),
    ("Tab", "to the list"),
    ("Ctrl-R", "projects"),
    ("Alt-F", "filters"),
    ("Ctrl-Y", "copy"),
    ("Ctrl-O", "open"),
    ("Alt-E", "export"),
    ("Esc", "quit"),
];
const LIST_HINTS: [KeyHint; 11] = [
    ("?", "keys"),
    ("↑↓", "select"),
    ("Enter", "resume"),
    ("Tab", "to the text"),
    ("←→", "tabs"),
    ("f", "filters"),
    ("y", "copy"),
    ("o", "open"),
    ("e", "export"),
    ("/", "find"),
    ("q", "quit"),
];
const PREVIEW_HINTS: [KeyHint; 12] = [
    ("?", "keys"),
    ("↑↓", "scroll"),
    ("Enter", "resume"),
    ("Tab", "to the query"),
    ("/", "find"),
    ("[ ]", "prompts"),
    ("t", "tool details"),
    ("v", "focused"),
    ("y", "copy"),
    ("o", "open"),
    ("e", "export"),
    ("q", "quit"),
];
const FIND_HINTS: [KeyHint; 3] = [("Enter", "keep"), ("↑↓", "previous, next"), ("Esc", "close")];
const MENU_HINTS: [KeyHint; 3] = [("Enter", "choose"), ("↑↓", "select"), ("Esc", "close")];
const NARROWED_HINTS: [KeyHint; 4] = [("Enter", "choose"), ("↑↓", "select"), ("letters", "narrow"), ("Esc", "close")];
const HELP_HINTS: [KeyHint; 2] = [("↑↓", "scroll"), ("Esc", "close")];
const RESUME_HINTS: [KeyHint; 4] =
    [("Enter", "start the agent"), ("c", "copy"), ("a", "another agent"), ("Esc", "go back")];
const STUCK_HINTS: [KeyHint; 2] = [("a", "another agent"), ("Esc", "go back")];

pub(super) fn draw(page: &mut Canvas<'_>, state: &TuiState, area: Rect) {
    if area.is_empty() {
        return;
    }
    if let Some((tone, text)) = &state.message {
        page.text(area.x + 1, area.y, area.width - 1, &sanitize_line(text), page.theme.tone(*tone));
        return;
    }
    let mut x = area.x + 1;
    for (key, what) in hints(state) {
        let what = match (*key, state.options.print) {
            ("Enter", Some(_)) if state.overlay.is_none() => "print",
            _ => what,
        };
        let width = (key.width() + 1 + what.width()) as u16;
        if x + width > area.right() {
            break;
        }
        let used = page.text(x, area.y, width, key, page.theme.tone(Tone::Strong));
        page.text(x + used + 1, area.y, width, what, page.theme.dim());
        x += width + 3;
    }
}

fn hints(state: &TuiState) -> &'static [KeyHint] {
    let is_finding = state.preview.find.as_ref().is_some_and(|find| find.is_editing);
    match (&state.overlay, state.focus) {
        (Some(Overlay::Help(_)), _) => &HELP_HINTS,
        (Some(Overlay::Menu(menu)), _) if menu.narrows() => &NARROWED_HINTS,
        (Some(Overlay::Menu(_)), _) => &MENU_HINTS,
        (Some(Overlay::Resume(question)), _) if question.command.is_none() => &STUCK_HINTS,
        (Some(Overlay::Resume(_)), _) => &RESUME_HINTS,
        _ if is_finding => &FIND_HINTS,
        (None, Focus::Query) => &QUERY_HINTS,
        (None, Focus::List) => &LIST_HINTS,
        (None, Focus::Preview) => &PREVIEW_HINTS,
    }
}
