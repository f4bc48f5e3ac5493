//! What the engine knows about its surroundings: home, current directory, variables, clock. Set by the caller.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use rethread_model::Timestamp;
use rethread_store::{AuthorizedSpace, StoreLocation};
use xxhash_rust::xxh3;

/// The source of the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The system clock.
    System,
    /// Always the same time, for tests and the demo.
    Frozen(Timestamp),
}

impl Clock {
    /// The current time in milliseconds since the Unix epoch.
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

/// A store on a server, and the space in it that may be used.
#[derive(Clone, Debug)]
pub struct SharedStore {
    /// The database.
    pub location: StoreLocation,
    /// Whose rows are read and written.
    pub space: AuthorizedSpace,
}

impl SharedStore {
    /// The folder, below our own, for what belongs to this store alone, such as the socket of its server.
    pub(crate) fn folder_name(&self) -> PathBuf {
        let place = xxh3::xxh3_64(self.location.to_string().as_bytes());
        Path::new("stores").join(format!("{place:016x}"))
    }

    /// The folder for what belongs to this space of the store alone, such as the index: a path below our own.
    pub fn space_folder_name(&self) -> PathBuf {
        self.folder_name().join(self.space.space().as_str())
    }
}

/// Everything the engine may know about the process and the machine. Nothing else is read.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The user's home directory.
    pub home: PathBuf,
    /// The current directory.
    pub cwd: PathBuf,
    /// Environment variables, as name and value.
    pub variables: Vec<(String, String)>,
    /// Settings from the command line, as key and value.
    pub config_overrides: Vec<(String, String)>,
    /// The directory for our own files, if set explicitly. Overrides `RETHREAD_HOME`.
    pub rethread_home: Option<PathBuf>,
    /// The path of this program, for hooks and detached processes. `None` if unknown.
    pub binary: Option<PathBuf>,
    /// The store, if it is not the local one.
    pub store: Option<SharedStore>,
    /// Whether files of this machine are left alone, such as transcripts and rules, and only threads are read: on a node
    /// of a team.
    pub reads_only_threads: bool,
    /// Whether commands other than `sync` and `watch` may read new transcripts. Not into a store on a server: who shares
    /// it would see the sessions of this machine.
    pub syncs_unasked: bool,
    /// The source of the current time.
    pub clock: Clock,
    /// The time zone in which the user's days start and end.
    pub time_zone: TimeZone,
}

impl Environment {
    /// An environment with only a home directory, which is also the current directory. For tests and examples.
    pub fn for_home(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            cwd: home.to_owned(),
            variables: Vec::new(),
            config_overrides: Vec::new(),
            rethread_home: None,
            binary: None,
            store: None,
            reads_only_threads: false,
            syncs_unasked: true,
            clock: Clock::System,
            time_zone: TimeZone::UTC,
        }
    }

    /// The value of an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(variable, _)| variable == name).map(|(_, value)| value.as_str())
    }

    /// The directory for our own files: the explicit one, else `RETHREAD_HOME`, else `~/.rethread`.
    pub(crate) fn rethread_folder(&self) -> PathBuf {
        let variable = || self.variable("RETHREAD_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let named = self.rethread_home.clone().or_else(variable);
        named.unwrap_or_else(|| self.home.join(".rethread"))
    }
}
