//! The only place that writes to the terminal: answers to stdout, everything else to stderr.

use std::io::{self, BufRead, Write};

use clap::builder::StyledStr;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rethread_engine::Progress;
use serde::Serialize;

use crate::cli::Colour;
use crate::environment::Terminal;
use crate::json;
use crate::render::{Page, Tone, neutral};

/// Writes to both streams as their owner wishes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Printer {
    terminal: Terminal,
    colour: Colour,
    quiet: bool,
    verbosity: u8,
}

impl Printer {
    /// A printer for these streams.
    pub(crate) fn new(terminal: Terminal, colour: Colour, quiet: bool, verbosity: u8) -> Self {
        Self { terminal, colour, quiet, verbosity }
    }

    /// How much is to be told: 0 as usual, 1 and 2 more.
    pub(crate) fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// An empty page for an answer.
    pub(crate) fn page(&self) -> Page {
        Page::new(self.has_colour(self.terminal.stdout), self.terminal.width)
    }

    /// An empty page for a note.
    pub(crate) fn side_page(&self) -> Page {
        Page::new(self.has_colour(self.terminal.stderr), self.terminal.width)
    }

    /// Gives an answer.
    pub(crate) fn answer(&self, page: &Page) -> io::Result<()> {
        self.raw(page.as_str().as_bytes())
    }

    /// Gives an answer to a program: one JSON object on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = json::text(value).map_err(io::Error::other)?;
        text.push('\n');
        self.raw(text.as_bytes())
    }

    /// Gives out bytes of our own making: a script, a manual.
    #[expect(clippy::unused_self, reason = "whoever writes must hold the printer")]
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        write_all(&mut io::stdout().lock(), bytes)
    }

    /// Says something on the side, unless nobody wants to hear it.
    pub(crate) fn note(&self, page: &Page) {
        if !self.quiet {
            self.complain(page);
        }
    }

    /// Says one line on the side.
    pub(crate) fn note_line(&self, text: &str) {
        let mut page = self.side_page();
        page.line(Tone::Plain, text);
        self.note(&page);
    }

    /// Says what to do next.
    pub(crate) fn hint(&self, text: &str) {
        let mut page = self.side_page();
        page.add(Tone::Strong, "hint: ").line(Tone::Plain, text);
        self.note(&page);
    }

    /// Says what is not as it should be.
    pub(crate) fn warn(&self, text: &str) {
        let mut page = self.side_page();
        page.add(Tone::Careful, "warning: ").line(Tone::Plain, text);
        self.note(&page);
    }

    /// Says something that must be heard. A stderr that is closed is nobody's business.
    #[expect(clippy::unused_self, reason = "whoever writes must hold the printer")]
    pub(crate) fn complain(&self, page: &Page) {
        let _ = write_all(&mut io::stderr().lock(), page.as_str().as_bytes());
    }

    /// What the parser of the command line says: help as an answer, mistakes on the side.
    pub(crate) fn parser_says(&self, text: &StyledStr, is_mistake: bool) -> io::Result<()> {
        let colour = self.has_colour(if is_mistake { self.terminal.stderr } else { self.terminal.stdout });
        let text = if colour { text.ansi().to_string() } else { neutral(&text.to_string()).into_owned() };
        if is_mistake {
            let _ = write_all(&mut io::stderr().lock(), text.as_bytes());
            return Ok(());
        }
        self.raw(text.as_bytes())
    }

    /// Whether answers are read on a screen.
    pub(crate) fn is_read(&self) -> bool {
        self.terminal.stdout
    }

    /// Whether somebody is there to be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.terminal.can_ask
    }

    /// Asks a question that Enter answers with yes.
    pub(crate) fn confirm(&self, question: &str) -> io::Result<bool> {
        let mut page = self.side_page();
        page.add(Tone::Strong, question).add(Tone::Plain, " [Y/n] ");
        self.complain(&page);
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer)?;
        let answer = answer.trim().to_lowercase();
        Ok(read > 0 && matches!(answer.as_str(), "" | "y" | "yes"))
    }

    /// A bar that grows as transcripts are read; only where somebody watches.
    pub(crate) fn bar(&self) -> Bar {
        if self.quiet || !self.terminal.stderr {
            return Bar(None);
        }
        let template = if self.has_colour(true) {
            "{bar:30.cyan/dim} {decimal_bytes}/{decimal_total_bytes} · {msg} · {eta}"
        } else {
            "{bar:30} {decimal_bytes}/{decimal_total_bytes} · {msg} · {eta}"
        };
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(12));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━─"));
        }
        Bar(Some(bar))
    }

    fn has_colour(&self, is_terminal: bool) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && !self.terminal.plain,
        }
    }
}

/// A progress bar, or nothing.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    /// Shows how far the reading is.
    pub(crate) fn show(&self, progress: Progress) {
        if let Some(bar) = &self.0 {
            bar.set_length(progress.of_bytes);
            bar.set_position(progress.bytes);
            bar.set_message(format!("{}/{} files", progress.files, progress.of_files));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Makes a panic say what to do about it instead of how to debug it.
pub(crate) fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // A damaged index is being mended right now; what comes of it is told by whoever searches.
        if rethread_engine::expects_panic() {
            return;
        }
        let message = panic.payload_as_str().unwrap_or("unknown");
        let place = panic.location().map_or_else(String::new, |place| format!(" ({}:{})", place.file(), place.line()));
        let mut page = Page::new(false, None);
        page.line(Tone::Plain, &format!("error: a mistake in rethread itself: {message}{place}"));
        let version = env!("CARGO_PKG_VERSION");
        page.line(
            Tone::Plain,
            &format!("hint: please report it with the line above, your command, and the version {version}"),
        );
        let _ = write_all(&mut io::stderr().lock(), page.as_str().as_bytes());
    }));
}

fn write_all(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_on_the_command_line_is_stronger_than_the_terminal() {
        let screen = Terminal { stdout: true, ..Terminal::default() };
        let plain = Terminal { plain: true, ..screen };
        let coloured = |terminal, colour| Printer::new(terminal, colour, false, 0).has_colour(terminal.stdout);
        assert!(coloured(screen, Colour::Auto));
        assert!(!coloured(plain, Colour::Auto));
        assert!(coloured(plain, Colour::Always));
        assert!(!coloured(screen, Colour::Never));
        assert!(!coloured(Terminal::default(), Colour::Auto));
    }
}
