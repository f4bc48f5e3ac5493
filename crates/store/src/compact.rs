//! Gives back the disk space that removed rows leave behind.

use crate::{Store, StoreError};

/// Rewriting takes as long as copying the file, so it has to be worth it: this share of the pages must be unused.
const MIN_UNUSED_SHARE: f64 = 0.2;

impl Store {
    /// Rewrites the database without its unused pages, if there are many. A database in use by another process stays
    /// as it is: its pages are used again.
    pub fn compact(&self) -> Result<(), StoreError> {
        let pragma = |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let work = || -> rusqlite::Result<()> {
            if (pragma("freelist_count")? as f64) < pragma("page_count")? as f64 * MIN_UNUSED_SHARE {
                return Ok(());
            }
            // The copy may be larger than the memory.
            self.connection.execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        match work().map_err(|cause| self.err(cause)) {
            Err(StoreError::Locked { .. }) => Ok(()),
            done => done,
        }
    }
}
