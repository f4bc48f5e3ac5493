//! The configuration of a running engine: reloaded when its files change, and kept if the new content is invalid.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::{Config, project_file};
use crate::Environment;

/// The current configuration. Earlier ones stay valid for those who still read them.
#[derive(Debug)]
pub(crate) struct LiveConfig {
    first: ConfigGeneration,
    files: Mutex<ConfigFiles>,
}

#[derive(Debug)]
struct ConfigFiles {
    /// The files as they were when they were last loaded.
    stamps: Vec<ConfigStamp>,
    /// Why their content does not apply.
    rejected: Option<String>,
}

#[derive(Debug)]
struct ConfigGeneration {
    config: Config,
    next: OnceLock<Box<ConfigGeneration>>,
}

/// Path, size and modification time of a file; `None` if it is missing.
type ConfigStamp = (PathBuf, Option<(u64, SystemTime)>);

/// The result of checking the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigReload {
    /// The files have not changed.
    Unchanged,
    /// The new configuration applies from now on.
    Reloaded,
    /// The new content is invalid, for this reason; the last valid configuration still applies.
    Rejected(String),
}

impl LiveConfig {
    pub(crate) fn new(config: Config, environment: &Environment) -> Self {
        let files = ConfigFiles { stamps: stamps(&config, environment), rejected: None };
        Self { first: ConfigGeneration { config, next: OnceLock::new() }, files: Mutex::new(files) }
    }

    /// Loads the files again if they changed. All of the new content must be valid.
    pub(crate) fn reload(&self, environment: &Environment, folder: &Path) -> ConfigReload {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamps(self, environment);
        if files.stamps == now {
            return ConfigReload::Unchanged;
        }
        files.stamps = now;
        let config = match self.load_valid(environment, folder) {
            Ok(config) => config,
            Err(reason) => {
                files.rejected = Some(reason.clone());
                return ConfigReload::Rejected(reason);
            }
        };
        files.rejected = None;
        let mut last = &self.first;
        while let Some(next) = last.next.get() {
            last = next;
        }
        // Only this function adds one, and it holds the lock.
        let _ = last.next.set(Box::new(ConfigGeneration { config, next: OnceLock::new() }));
        ConfigReload::Reloaded
    }

    /// Why the present content of the files does not apply, if it does not.
    pub(crate) fn rejected(&self) -> Option<String> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).rejected.clone()
    }

    /// Loads the files, unless they have a problem that the current configuration does not have.
    fn load_valid(&self, environment: &Environment, folder: &Path) -> Result<Config, String> {
        let config = Config::load(environment, folder).map_err(|error| error.to_string())?;
        match config.problems().iter().find(|problem| !self.problems().contains(problem)) {
            Some(problem) => Err(format!("{}: {}", problem.location, problem.message)),
            None => Ok(config),
        }
    }
}

impl Deref for LiveConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        let mut last = &self.first;
        while let Some(next) = last.next.get() {
            last = next;
        }
        &last.config
    }
}

fn stamps(config: &Config, environment: &Environment) -> Vec<ConfigStamp> {
    let paths = [Some(config.path().to_owned()), project_file(environment)];
    let stamp = |path: PathBuf| {
        let about = std::fs::metadata(&path).ok();
        let stamp = about.and_then(|about| Some((about.len(), about.modified().ok()?)));
        (path, stamp)
    };
    paths.into_iter().flatten().map(stamp).collect()
}
