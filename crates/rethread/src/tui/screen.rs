//! Takes the terminal over and gives it back, whatever happens.

use std::io::{self, Stdout, Write, stdout};
use std::sync::atomic::{AtomicU8, Ordering};

use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::state::TuiState;
use super::view;

/// What must be given back, for a panic in any thread.
static TAKEN: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const INLINE: u8 = 1;
const FULL: u8 = 2;

/// Smallest height without `--height`.
const MIN_INLINE_ROWS: u16 = 12;

/// The terminal while the interface has it. Dropping it gives the terminal back.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// Rows below the prompt; without them, the whole terminal is used.
    inline_rows: Option<u16>,
    /// The column of the cursor in the row of the prompt.
    prompt_column: u16,
}

impl Screen {
    /// Takes the terminal: all of it, or some rows below the prompt.
    pub(super) fn enter(inline_rows: Option<u16>) -> io::Result<Self> {
        take(inline_rows.is_some())?;
        match prepare(inline_rows) {
            Ok((terminal, prompt_column)) => Ok(Self { terminal, inline_rows, prompt_column }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws the state. Its size follows the terminal.
    pub(super) fn draw(&mut self, state: &mut TuiState) -> io::Result<()> {
        state.size = self.size();
        self.terminal.draw(|frame| view::draw(frame, state))?;
        Ok(())
    }

    /// Rows and columns of the interface.
    pub(super) fn size(&mut self) -> Size {
        let area = self.terminal.get_frame().area();
        Size { width: area.width, height: area.height }
    }

    /// Takes the new size of the terminal over.
    pub(super) fn follow_resize(&mut self) -> io::Result<()> {
        self.terminal.autoresize()
    }

    /// Gives the terminal to another program while `work` runs.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        if self.inline_rows.is_some() {
            self.leave_rows();
        }
        give_back();
        let result = work();
        take(self.inline_rows.is_some())?;
        // The cursor may be in another row now.
        (self.terminal, self.prompt_column) = prepare(self.inline_rows)?;
        Ok(result)
    }

    /// Clears the rows of the interface and puts the cursor back to where it was.
    fn leave_rows(&mut self) {
        let top = self.terminal.get_frame().area().y;
        let _ = self.terminal.clear();
        let row = if self.prompt_column > 0 { top.saturating_sub(1) } else { top };
        let _ = execute!(stdout(), cursor::MoveTo(self.prompt_column, row));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.inline_rows.is_some() {
            // The rows of the interface make room for the next prompt.
            self.leave_rows();
        }
        give_back();
    }
}

/// An empty interface, and the column in which the cursor was. Inline it starts in a row of its own, because a line
/// editor leaves the cursor behind its prompt.
fn prepare(inline_rows: Option<u16>) -> io::Result<(Terminal<CrosstermBackend<Stdout>>, u16)> {
    let mut prompt_column = 0;
    if inline_rows.is_some() {
        prompt_column = cursor::position()?.0;
        if prompt_column > 0 {
            write!(stdout(), "\r\n")?;
        }
    }
    let viewport = inline_rows.map_or(Viewport::Fullscreen, Viewport::Inline);
    let mut terminal = Terminal::with_options(CrosstermBackend::new(stdout()), TerminalOptions { viewport })?;
    if inline_rows.is_some() {
        // The whole terminal is empty already; to clear it would wait for an answer of the terminal.
        terminal.clear()?;
    }
    Ok((terminal, prompt_column))
}

/// The rows to use with `--inline`.
pub(super) fn inline_rows(requested: Option<u16>) -> io::Result<u16> {
    let (_, rows) = size()?;
    Ok(requested.unwrap_or((rows * 2 / 5).max(MIN_INLINE_ROWS)).min(rows))
}

/// Gives the terminal back before a panic is reported, so that its message can be read.
pub(super) fn restore_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !rethread_engine::expects_panic() {
            give_back();
        }
        report(panic);
    }));
}

fn take(is_inline: bool) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(if is_inline { INLINE } else { FULL }, Ordering::Release);
    execute!(stdout(), EnableBracketedPaste)?;
    if !is_inline {
        // Without the whole screen, the wheel must still scroll the history of the terminal.
        execute!(stdout(), EnterAlternateScreen, EnableMouseCapture)?;
    }
    Ok(())
}

/// Gives the terminal back, once.
fn give_back() {
    let taken = TAKEN.swap(NOTHING, Ordering::AcqRel);
    if taken == NOTHING {
        return;
    }
    if taken == FULL {
        let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen);
    }
    let _ = execute!(stdout(), DisableBracketedPaste, cursor::Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}
