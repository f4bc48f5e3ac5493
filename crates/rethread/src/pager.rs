//! Shows long results through the user's pager, as git does: only on a terminal, only if they do not fit on it.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rethread_engine::Engine;
use signal_hook::consts::SIGINT;

use crate::commands::CommandContext;

/// Overrides the other ways to name a pager. Empty or `cat` turns paging off.
const OWN_VARIABLE: &str = "RETHREAD_PAGER";
const VARIABLE: &str = "PAGER";
const DEFAULT_PAGER: &str = "less -FRX";
/// Options of less where neither the user nor the command says otherwise: quit if it fits, keep colors and the screen.
const LESS_OPTIONS: &str = "FRX";
/// The pager that shows everything at once.
const NO_PAGER: &str = "cat";
/// Lines of the prompt that the shell shows afterwards.
const PROMPT_LINES: usize = 1;

/// The command of the pager, and the height of the terminal.
struct Pager {
    command: String,
    rows: usize,
    /// Whether the user chose the options of less.
    has_less_options: bool,
}

static PAGER: OnceLock<Pager> = OnceLock::new();

/// Turns paging on for this run, if the user has a pager.
pub(crate) fn enable(context: &CommandContext) {
    let Some(rows) = context.printer.rows() else { return };
    if let Some(command) = chosen_pager(context) {
        let has_less_options = context.variable("LESS").is_some();
        let _ = PAGER.set(Pager { command, rows, has_less_options });
    }
}

/// The command; `None` if paging is off.
fn chosen_pager(context: &CommandContext) -> Option<String> {
    let variable = |name: &str| {
        let found = context.environment.variables.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.trim().to_owned())
    };
    let configured = || {
        let engine = Engine::open(context.environment.clone()).ok()?;
        Some(engine.settings().display.pager.trim().to_owned()).filter(|command| !command.is_empty())
    };
    let chosen = variable(OWN_VARIABLE).or_else(configured).or_else(|| variable(VARIABLE));
    let chosen = chosen.unwrap_or_else(|| DEFAULT_PAGER.to_owned());
    (!chosen.is_empty() && chosen != NO_PAGER).then_some(chosen)
}

/// Shows a text in the pager. Returns whether it did: not if it fits on the screen, or there is no pager.
pub(crate) fn show(text: &str) -> io::Result<bool> {
    let Some(pager) = PAGER.get() else { return Ok(false) };
    if text.lines().count() + PROMPT_LINES < pager.rows {
        return Ok(false);
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&pager.command).stdin(Stdio::piped());
    if !pager.has_less_options {
        shell.env("LESS", LESS_OPTIONS);
    }
    // Ctrl-C is for the pager, which may stop a search with it. Without us it would lose the terminal.
    signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
    let Ok(mut child) = shell.spawn() else { return Ok(false) };
    if let Some(mut input) = child.stdin.take() {
        // A reader who has seen enough closes it.
        let _ = input.write_all(text.as_bytes());
    }
    let status = child.wait()?;
    // 126 and 127 mean that the shell cannot run the pager, so nothing was shown.
    Ok(!matches!(status.code(), Some(126 | 127)))
}
