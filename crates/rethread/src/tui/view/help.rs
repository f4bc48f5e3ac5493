//! The list of keys.

use ratatui::layout::Size;

use super::overlay::centered;
use super::write::Canvas;
use crate::render::Tone;

/// Groups of keys and what they do.
const KEYS: [(&str, &[(&str, &str)]); 5] = [
    (
        "Everywhere",
        &[
            ("Up Down, Ctrl-P Ctrl-N", "select a row"),
            ("PgUp PgDn", "select a page up or down"),
            ("Shift-Up Shift-Down", "scroll the conversation"),
            ("Enter", "resume the session, after a question"),
            ("Tab Shift-Tab", "move between query, list and conversation"),
            ("Alt-1 to Alt-4", "open a tab"),
            ("Ctrl-R", "switch between this project and all"),
            ("Alt-F", "filters"),
            ("Alt-P Alt-A Alt-T", "filter by project, agent, time"),
            ("Alt-K Alt-S", "filter by kind of hit, state of the session"),
            ("Ctrl-Y", "copy the ID, the resume command or the text"),
            ("Ctrl-O", "open the transcript or a file in $EDITOR"),
            ("Alt-E", "export the session to a file"),
            ("Ctrl-F", "find in the conversation"),
            ("Ctrl-T", "show or hide details of tool calls"),
            ("Alt-V", "only prompts and the last answer to each, or everything"),
            ("F1", "this list"),
            ("Esc, Ctrl-G", "close what is open, else quit"),
            ("Ctrl-C", "quit with exit code 130"),
        ],
    ),
    (
        "In the query",
        &[
            ("letters", "search as you type"),
            ("Left Right Home End", "move the cursor"),
            ("Ctrl-Left Ctrl-Right", "move by words"),
            ("Ctrl-A Ctrl-E", "start, end"),
            ("Ctrl-W Ctrl-K Ctrl-U", "delete a word, the rest, everything"),
        ],
    ),
    (
        "In the list",
        &[
            ("j k g G", "down, up, first, last"),
            ("Left Right, 1 to 4", "tabs"),
            ("f y o e / t v", "filters, copy, open, export, find, tool details, focused"),
            ("i", "to the query"),
            ("q", "quit"),
        ],
    ),
    (
        "In the conversation",
        &[
            ("j k Space b", "line down, line up, page down, page up"),
            ("g G", "start and end of the session"),
            ("[ ]", "previous and next prompt"),
            ("/ n N", "find, next place, previous place"),
            ("f y o e t v i q", "as in the list"),
        ],
    ),
    (
        "Search syntax",
        &[
            ("\"exact words\"", "this exact phrase"),
            ("retry -cache", "without the word after the minus"),
            ("agent:pi kind:error", "filters: agent, kind, file, tool, since, before"),
            ("migration last week", "a time makes results from then come first"),
        ],
    ),
];
const WIDTH: u16 = 86;
const KEY_COLUMNS: u16 = 25;

/// How far the list can be scrolled.
pub(in crate::tui) fn max_help_scroll(size: Size) -> usize {
    let lines = lines().len();
    lines.saturating_sub(usize::from(centered(size, WIDTH, lines as u16 + 2).height.saturating_sub(2)))
}

/// Headings, and keys with what they do.
fn lines() -> Vec<(Option<&'static str>, &'static str)> {
    let mut lines = Vec::new();
    for (at, (heading, keys)) in KEYS.iter().enumerate() {
        if at > 0 {
            lines.push((None, ""));
        }
        lines.push((None, heading));
        lines.extend(keys.iter().map(|(key, what)| (Some(*key), *what)));
    }
    lines
}

pub(super) fn draw(page: &mut Canvas<'_>, size: Size, scroll: usize) {
    let lines = lines();
    let inside = page.frame(centered(size, WIDTH, lines.len() as u16 + 2), "Keys");
    for (row, (key, what)) in lines.iter().skip(scroll).take(usize::from(inside.height)).enumerate() {
        let (x, y) = (inside.x + 1, inside.y + row as u16);
        let room = inside.width.saturating_sub(2);
        match key {
            None => page.text(x, y, room, what, page.theme.accent()),
            Some(key) => {
                page.text(x, y, room.min(KEY_COLUMNS), key, page.theme.tone(Tone::Strong));
                page.text(x + KEY_COLUMNS, y, room.saturating_sub(KEY_COLUMNS), what, page.theme.tone(Tone::Plain))
            }
        };
    }
}
