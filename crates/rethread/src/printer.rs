//! The only place that writes to the terminal: results to stdout, everything else to stderr.

use std::io::{self, BufRead, Write};

use clap::builder::StyledStr;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rethread_engine::ReadProgress;
use serde::Serialize;

use crate::cli::ColorMode;
use crate::environment::Terminal;
use crate::render::{TextPage, Tone, sanitize};
use crate::{json, pager};

/// Writes to stdout and stderr, with color and notes as requested.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Printer {
    terminal: Terminal,
    color: ColorMode,
    quiet: bool,
    verbosity: u8,
}

impl Printer {
    pub(crate) fn new(terminal: Terminal, color: ColorMode, quiet: bool, verbosity: u8) -> Self {
        Self { terminal, color, quiet, verbosity }
    }

    /// How often `-v` was given.
    pub(crate) fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// An empty page for stdout.
    pub(crate) fn page(&self) -> TextPage {
        TextPage::new(self.has_color(self.terminal.stdout), self.terminal.width)
    }

    /// An empty page for stderr.
    pub(crate) fn side_page(&self) -> TextPage {
        TextPage::new(self.has_color(self.terminal.stderr), self.terminal.width)
    }

    /// Prints a result to stdout, through the pager if it is long and paging is on.
    pub(crate) fn answer(&self, page: &TextPage) -> io::Result<()> {
        if pager::show(page.as_str())? { Ok(()) } else { self.raw(page.as_str().as_bytes()) }
    }

    /// Lines of the terminal; `None` if stdout is not one that a pager can use.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.terminal.rows
    }

    /// Prints one JSON object on one line to stdout.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = json::to_json_line(value).map_err(io::Error::other)?;
        text.push('\n');
        self.raw(text.as_bytes())
    }

    /// Prints bytes that need no escaping to stdout: a script, a man page, a number.
    #[expect(clippy::unused_self, reason = "writing takes a printer, so that all output goes through one")]
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        write_all(&mut io::stdout().lock(), bytes)
    }

    /// Prints a note to stderr, unless `--quiet` was given.
    pub(crate) fn note(&self, page: &TextPage) {
        if !self.quiet {
            self.error(page);
        }
    }

    /// Prints one line to stderr, unless `--quiet` was given.
    pub(crate) fn note_line(&self, text: &str) {
        let mut page = self.side_page();
        page.line(Tone::Plain, text);
        self.note(&page);
    }

    /// Prints what to do next to stderr, unless `--quiet` was given.
    pub(crate) fn hint(&self, text: &str) {
        let mut page = self.side_page();
        page.add(Tone::Strong, "hint: ").line(Tone::Plain, text);
        self.note(&page);
    }

    /// Prints a warning to stderr, unless `--quiet` was given.
    pub(crate) fn warn(&self, text: &str) {
        let mut page = self.side_page();
        page.add(Tone::Warning, "warning: ").line(Tone::Plain, text);
        self.note(&page);
    }

    /// Prints to stderr, also with `--quiet`. A closed stderr is ignored.
    #[expect(clippy::unused_self, reason = "writing takes a printer, so that all output goes through one")]
    pub(crate) fn error(&self, page: &TextPage) {
        let _ = write_all(&mut io::stderr().lock(), page.as_str().as_bytes());
    }

    /// Prints what clap rendered: help to stdout, errors to stderr.
    pub(crate) fn clap_output(&self, text: &StyledStr, is_error: bool) -> io::Result<()> {
        let color = self.has_color(if is_error { self.terminal.stderr } else { self.terminal.stdout });
        let text = if color { text.ansi().to_string() } else { sanitize(&text.to_string()).into_owned() };
        if is_error {
            let _ = write_all(&mut io::stderr().lock(), text.as_bytes());
            return Ok(());
        }
        self.raw(text.as_bytes())
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_read(&self) -> bool {
        self.terminal.stdout
    }

    /// Whether the user can answer a question.
    pub(crate) fn can_ask(&self) -> bool {
        self.terminal.can_ask
    }

    /// Asks a yes/no question. Enter and anything unclear mean no.
    pub(crate) fn confirm(&self, question: &str) -> io::Result<bool> {
        let answer = self.ask(question, "[y/N]")?;
        Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks a yes/no question that Enter answers with yes. The end of the input means no.
    pub(crate) fn confirm_yes(&self, question: &str) -> io::Result<bool> {
        let answer = self.ask_line(question, "[Y/n]")?;
        Ok(answer.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "" | "y" | "yes")))
    }

    /// Asks for a number to confirm what cannot be undone, so that answering `y` out of habit is not enough.
    pub(crate) fn confirm_number(&self, question: &str, number: usize) -> io::Result<bool> {
        let number = number.to_string();
        Ok(self.ask(question, &format!("Type {number} to confirm:"))? == number)
    }

    /// The line that the user types, trimmed; empty if there is none.
    fn ask(&self, question: &str, choices: &str) -> io::Result<String> {
        Ok(self.ask_line(question, choices)?.unwrap_or_default())
    }

    /// The line that the user types, trimmed; `None` at the end of the input.
    pub(crate) fn ask_line(&self, question: &str, choices: &str) -> io::Result<Option<String>> {
        let mut page = self.side_page();
        page.add(Tone::Strong, question).add(Tone::Plain, &format!(" {choices} "));
        self.error(&page);
        let mut answer = String::new();
        let length = io::stdin().lock().read_line(&mut answer)?;
        Ok((length > 0).then(|| answer.trim().to_owned()))
    }

    /// A progress bar for a sync or an import. Hidden if stderr is not a terminal or `--quiet` was given.
    pub(crate) fn bar(&self) -> SyncBar {
        if self.quiet || !self.terminal.stderr {
            return SyncBar(None);
        }
        let template = if self.has_color(true) {
            "{bar:30.cyan/dim} {decimal_bytes}/{decimal_total_bytes} · {msg} · {eta}"
        } else {
            "{bar:30} {decimal_bytes}/{decimal_total_bytes} · {msg} · {eta}"
        };
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(12));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━─"));
        }
        SyncBar(Some(bar))
    }

    /// Whether to use color on a stream that is a terminal or not.
    pub(crate) fn has_color(&self, is_terminal: bool) -> bool {
        match self.color {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => is_terminal && !self.terminal.plain,
        }
    }
}

/// The progress bar of a sync or an import. None if it is hidden.
#[derive(Debug)]
pub(crate) struct SyncBar(Option<ProgressBar>);

impl SyncBar {
    pub(crate) fn show(&self, progress: ReadProgress) {
        if let Some(bar) = &self.0 {
            bar.set_length(progress.total_bytes);
            bar.set_position(progress.bytes);
            bar.set_message(format!("{}/{} files", progress.files, progress.total_files));
        }
    }

    /// For one file. A `total` of 0 is unknown.
    pub(crate) fn show_bytes(&self, bytes: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total.max(bytes));
            bar.set_position(bytes);
            bar.set_message("importing");
        }
    }
}

impl Drop for SyncBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Replaces the panic message with one for users: what happened and where to report it.
pub(crate) fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // Opening a damaged index may panic. The engine catches that, repairs the index and reports it.
        if rethread_engine::expects_panic() {
            return;
        }
        let message = panic.payload_as_str().unwrap_or("unknown");
        let place = panic.location().map_or_else(String::new, |place| format!(" ({}:{})", place.file(), place.line()));
        let mut page = TextPage::new(false, None);
        page.line(Tone::Plain, &format!("error: internal error (a bug): {message}{place}"));
        let version = env!("CARGO_PKG_VERSION");
        page.line(
            Tone::Plain,
            &format!("hint: please report it with the line above, your command and version {version}"),
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
    fn the_color_flag_overrides_the_terminal() {
        let screen = Terminal { stdout: true, ..Terminal::default() };
        let plain = Terminal { plain: true, ..screen };
        let colored = |terminal, color| Printer::new(terminal, color, false, 0).has_color(terminal.stdout);
        assert!(colored(screen, ColorMode::Auto));
        assert!(!colored(plain, ColorMode::Auto));
        assert!(colored(plain, ColorMode::Always));
        assert!(!colored(screen, ColorMode::Never));
        assert!(!colored(Terminal::default(), ColorMode::Auto));
    }
}
