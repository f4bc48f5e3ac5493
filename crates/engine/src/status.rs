//! Sizes, counts and versions.

use std::path::PathBuf;

use rethread_store::Statistics;

use crate::{Engine, EngineError};

/// How much there is and where.
#[derive(Clone, Debug)]
pub struct Status {
    /// Our directory.
    pub folder: PathBuf,
    /// Bytes of the database with its side files.
    pub database_bytes: u64,
    /// What the database holds; nothing before the first sync.
    pub statistics: Option<Statistics>,
    /// Version of the program.
    pub version: &'static str,
}

impl Engine {
    /// Sizes, counts and versions.
    pub fn status(&self) -> Result<Status, EngineError> {
        let statistics = match self.reader()? {
            Some(store) => Some(store.statistics()?),
            None => None,
        };
        let database = self.database();
        let sizes = ["", "-wal", "-shm"].iter().map(|suffix| {
            let path = format!("{}{suffix}", database.display());
            std::fs::metadata(path).map_or(0, |data| data.len())
        });
        Ok(Status {
            folder: self.folder.clone(),
            database_bytes: sizes.sum(),
            statistics,
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}
