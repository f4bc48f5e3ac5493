//! The configuration of a running engine: reloaded when its files change, and kept if the new content is invalid.

use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rethread_ingest::source::exclude::ExcludeRules;

use super::{Config, project_file};
use crate::Environment;
use crate::error::error_with_cause;

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

/// Path, size and last change of a file; `None` if it is missing. Permissions count as well: they may prevent reading.
type ConfigStamp = (PathBuf, Option<(u64, i64, i64)>);

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
        // Only this function adds one, and it holds the lock.
        let _ = self.last().next.set(Box::new(ConfigGeneration { config, next: OnceLock::new() }));
        ConfigReload::Reloaded
    }

    fn last(&self) -> &ConfigGeneration {
        let mut last = &self.first;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }

    /// Why the present content of the files does not apply, if it does not.
    pub(crate) fn rejected(&self) -> Option<String> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).rejected.clone()
    }

    /// Loads the files, unless they have a problem that the current configuration does not have.
    fn load_valid(&self, environment: &Environment, folder: &Path) -> Result<Config, String> {
        let config = Config::load(environment, folder).map_err(error_with_cause)?;
        ExcludeRules::new(&config.settings.intake.exclude, Path::new("/"), &[]).map_err(error_with_cause)?;
        match config.problems().iter().find(|problem| !self.problems().contains(problem)) {
            Some(problem) => Err(format!("{}: {}", problem.location, problem.message)),
            None => Ok(config),
        }
    }
}

impl Deref for LiveConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.last().config
    }
}

fn stamps(config: &Config, environment: &Environment) -> Vec<ConfigStamp> {
    let paths = [Some(config.path().to_owned()), project_file(environment)];
    let stamp = |path: PathBuf| {
        let about = std::fs::metadata(&path).ok();
        (path, about.map(|about| (about.len(), about.ctime(), about.ctime_nsec())))
    };
    paths.into_iter().flatten().map(stamp).collect()
}
