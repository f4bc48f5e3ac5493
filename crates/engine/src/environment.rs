//! What the caller tells the engine about the world: home, directory, variables, clock.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use rethread_model::Timestamp;

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The machine.
    System,
    /// Always the same moment, for tests and demonstrations.
    Frozen(Timestamp),
}

impl Clock {
    /// The moment it is now.
    pub fn now(self) -> Timestamp {
        match self {
            Clock::Frozen(moment) => moment,
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp::from_millis(since.as_millis() as i64)
            }
        }
    }
}

/// The world as the engine may see it.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The user's home directory.
    pub home: PathBuf,
    /// The directory the user is in.
    pub cwd: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Settings given on the command line, as `key` and `value`.
    pub flags: Vec<(String, String)>,
    /// An explicit directory for our own files.
    pub rethread_home: Option<PathBuf>,
    /// The program itself, for hooks to call; nothing where it is not known.
    pub binary: Option<PathBuf>,
    /// Where the time comes from.
    pub clock: Clock,
    /// Where the user's days begin and end.
    pub zone: TimeZone,
}

impl Environment {
    /// A world with nothing but a home directory; the user is in it.
    pub fn for_home(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            cwd: home.to_owned(),
            variables: Vec::new(),
            flags: Vec::new(),
            rethread_home: None,
            binary: None,
            clock: Clock::System,
            zone: TimeZone::UTC,
        }
    }

    /// The directory for our own files: given, else `RETHREAD_HOME`, else `~/.rethread`.
    pub(crate) fn rethread_folder(&self) -> PathBuf {
        let variable = self.variables.iter().find(|(name, value)| name == "RETHREAD_HOME" && !value.is_empty());
        let named = self.rethread_home.clone().or_else(|| variable.map(|(_, value)| PathBuf::from(value)));
        named.unwrap_or_else(|| self.home.join(".rethread"))
    }
}
