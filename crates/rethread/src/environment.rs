//! What the process was given: environment variables, directories, clock, time zone, terminal. Read here, nowhere else.

use std::io::IsTerminal;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rethread_engine::{Clock, Environment};

use crate::failure::{Failure, Kind};

/// Where Rethread keeps its files.
const HOME: &str = "RETHREAD_HOME";
/// Freezes the clock.
const NOW: &str = "RETHREAD_NOW";
/// Turns colour off when it is set to anything.
const NO_COLOR: &str = "NO_COLOR";
/// The kind of terminal; a `dumb` one has no colour.
const TERM: &str = "TERM";
/// The time zone, where it is not that of the machine.
const TZ: &str = "TZ";
/// The time zone of the machine, on every Unix.
const LOCAL_TIME: &str = "/etc/localtime";
/// The width of the output, where it is not that of the terminal.
const COLUMNS: &str = "COLUMNS";

/// What the streams of the process are, and what their owner wishes.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is about another stream or wish")]
pub(crate) struct Terminal {
    /// Whether somebody can answer a question.
    pub(crate) can_ask: bool,
    /// Whether answers are read on a screen.
    pub(crate) stdout: bool,
    /// Whether notes are read on a screen.
    pub(crate) stderr: bool,
    /// Columns; none when the output goes into a file or another program.
    pub(crate) width: Option<usize>,
    /// Whether the owner of the terminal wants no colour.
    pub(crate) plain: bool,
}

/// The streams as they are.
pub(crate) fn terminal() -> Terminal {
    let stdout = std::io::stdout().is_terminal();
    let stderr = std::io::stderr().is_terminal();
    let named = variable(COLUMNS).and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let measured = || terminal_size::terminal_size().filter(|_| stdout).map(|(width, _)| usize::from(width.0));
    Terminal {
        can_ask: std::io::stdin().is_terminal() && stderr,
        stdout,
        stderr,
        width: named.or_else(measured),
        plain: variable(NO_COLOR).is_some() || variable(TERM).is_some_and(|term| term == "dumb"),
    }
}

/// The world as the engine may see it. `home` and `flags` come from the command line.
pub(crate) fn world(home: Option<PathBuf>, flags: Vec<(String, String)>) -> Result<Environment, Failure> {
    // A directory that was removed under us is no reason to refuse work.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let user_home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let user_home = user_home.ok_or_else(|| {
        Failure::new(Kind::NoHome, "the home directory is not known")
            .hint("set HOME, or start again as a user with one")
    })?;
    let own = home.or_else(|| variable(HOME).map(PathBuf::from)).map(|path| cwd.join(path));
    let variables = std::env::vars_os();
    let variables = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Environment {
        home: user_home,
        variables: variables.collect(),
        flags,
        rethread_home: own,
        binary: std::env::current_exe().ok(),
        clock: clock()?,
        zone: zone(),
        cwd,
    })
}

/// The time zone people here live in.
pub(crate) fn zone() -> TimeZone {
    if variable(TZ).is_some() {
        return TimeZone::system();
    }
    // Looking the zone up by its name walks a whole directory tree, which takes longer than most of our work.
    let local = std::fs::read(LOCAL_TIME).ok().and_then(|data| TimeZone::tzif("local", &data).ok());
    local.unwrap_or_else(TimeZone::system)
}

fn clock() -> Result<Clock, Failure> {
    match variable(NOW) {
        None => Ok(Clock::System),
        Some(text) => match text.parse() {
            Ok(moment) => Ok(Clock::Frozen(moment)),
            Err(error) => {
                let hint = format!("{NOW} must read like 2026-02-20T20:17:15Z, or be unset");
                Err(Failure::new(Kind::BadTime, format!("{NOW} is {error}")).hint(hint))
            }
        },
    }
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
