//! Reads the environment of the process: variables, directories, clock, time zone, terminal. Nothing else does.

use std::io::IsTerminal;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rethread_engine::{Clock, Environment};

use crate::failure::{Failure, FailureKind};

/// Our data directory.
const HOME: &str = "RETHREAD_HOME";
/// Freezes the clock, for tests: an RFC 3339 time.
const NOW: &str = "RETHREAD_NOW";
/// Turns color off, whatever its value.
const NO_COLOR: &str = "NO_COLOR";
/// The kind of terminal; `dumb` means no color.
const TERM: &str = "TERM";
/// Overrides the time zone of the machine.
const TZ: &str = "TZ";
/// The time zone of the machine, on all Unix systems.
const LOCAL_TIME: &str = "/etc/localtime";
/// Overrides the width of the terminal.
const COLUMNS: &str = "COLUMNS";

/// Set by completion scripts to the name of the shell.
pub(crate) const COMPLETE_VARIABLE: &str = "COMPLETE";

/// Whether a shell asks for completions instead of running a command.
pub(crate) fn is_completing() -> bool {
    std::env::var_os(COMPLETE_VARIABLE).is_some()
}

/// Which streams are terminals, and how to write to them.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each describes another stream or setting")]
pub(crate) struct Terminal {
    /// Whether the user can answer a question: stdin and stderr are terminals.
    pub(crate) can_ask: bool,
    /// Whether stdout is a terminal.
    pub(crate) stdout: bool,
    /// Whether stderr is a terminal.
    pub(crate) stderr: bool,
    /// Columns. None if stdout is a file or a pipe.
    pub(crate) width: Option<usize>,
    /// Lines. None if stdout is a file or a pipe, or a terminal that cannot move its cursor.
    pub(crate) rows: Option<usize>,
    /// Whether the environment turns color off.
    pub(crate) plain: bool,
}

pub(crate) fn terminal() -> Terminal {
    let stdout = std::io::stdout().is_terminal();
    let stderr = std::io::stderr().is_terminal();
    let configured = variable(COLUMNS).and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let size = terminal_size::terminal_size().filter(|_| stdout);
    let measured = || size.map(|(width, _)| usize::from(width.0));
    let is_dumb = variable(TERM).is_some_and(|term| term == "dumb");
    Terminal {
        can_ask: std::io::stdin().is_terminal() && stderr,
        stdout,
        stderr,
        width: configured.or_else(measured),
        rows: size.filter(|_| !is_dumb).map(|(_, height)| usize::from(height.0)).filter(|rows| *rows > 0),
        plain: variable(NO_COLOR).is_some() || is_dumb,
    }
}

/// The environment for the engine. `home` and `config_overrides` come from the command line.
pub(crate) fn load(home: Option<PathBuf>, config_overrides: Vec<(String, String)>) -> Result<Environment, Failure> {
    // The current directory may have been removed; most commands work without it.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let user_home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let user_home = user_home
        .ok_or_else(|| Failure::new(FailureKind::NoHome, "cannot find your home directory").hint("set HOME"))?;
    let rethread_home = home.or_else(|| variable(HOME).map(PathBuf::from)).map(|path| cwd.join(path));
    let variables = std::env::vars_os();
    let variables = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Environment {
        home: user_home,
        variables: variables.collect(),
        config_overrides,
        rethread_home,
        binary: std::env::current_exe().ok(),
        store: None,
        reads_only_threads: false,
        syncs_unasked: true,
        clock: clock()?,
        time_zone: zone(),
        cwd,
    })
}

/// The time zone of the user.
pub(crate) fn zone() -> TimeZone {
    if variable(TZ).is_some() {
        return TimeZone::system();
    }
    // Looking the zone up by name walks a whole directory tree, which takes longer than most commands.
    let local = std::fs::read(LOCAL_TIME).ok().and_then(|data| TimeZone::tzif("local", &data).ok());
    local.unwrap_or_else(TimeZone::system)
}

fn clock() -> Result<Clock, Failure> {
    let Some(text) = variable(NOW) else { return Ok(Clock::System) };
    text.parse().map(Clock::Frozen).map_err(|_| {
        let hint = format!("set {NOW} to an RFC 3339 time such as 2026-02-20T20:17:15Z, or unset it");
        Failure::new(FailureKind::InvalidTime, format!("invalid {NOW} {text:?}")).hint(hint)
    })
}

/// The value of a variable. Empty counts as unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
