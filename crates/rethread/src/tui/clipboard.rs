//! Copies text: through the terminal (OSC 52, which also works over ssh), and with a clipboard program if there is one.

use std::io::{self, Write as _, stdout};
use std::process::{Command, Stdio};

use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;

use super::variable;
use crate::render::sanitize;

/// Terminals ignore longer sequences.
const MAX_TERMINAL_BYTES: usize = 70_000;

/// Copies text without what a terminal would interpret: it may be pasted into one.
pub(super) fn copy(text: &str, variables: &[(String, String)]) -> io::Result<()> {
    let text = sanitize(text).into_owned();
    if text.len() <= MAX_TERMINAL_BYTES {
        execute!(stdout(), CopyToClipboard::to_clipboard_from(&text))?;
    }
    if let Some(program) = program(variables) {
        // It may stay to serve the clipboard, and must not hold up the interface.
        std::thread::Builder::new().spawn(move || run(program, &text))?;
    }
    Ok(())
}

/// The clipboard program of the desktop.
fn program(variables: &[(String, String)]) -> Option<&'static [&'static str]> {
    let has = |name: &str| variable(variables, name).is_some();
    if cfg!(target_os = "macos") {
        Some(&["pbcopy"])
    } else if has("WAYLAND_DISPLAY") {
        Some(&["wl-copy"])
    } else if has("DISPLAY") {
        Some(&["xclip", "-selection", "clipboard"])
    } else {
        None
    }
}

/// Gives the text to the program. If it is not installed, the terminal has the text anyway.
fn run(program: &[&str], text: &str) {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
}
