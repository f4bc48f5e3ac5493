//! Which spooled hook events were delivered, so that each is delivered once, also if its file outlives the delivery.

use rusqlite::params;

use crate::{Batch, StoreError};

impl Batch<'_> {
    /// Records that the event in the spool file of that name is delivered with this batch. Returns false if it was
    /// delivered before.
    pub fn claim_spooled_event(&mut self, file_name: &str) -> Result<bool, StoreError> {
        self.insert(
            "INSERT OR IGNORE INTO delivered_event (space, file_name) VALUES (?1, ?2)",
            params![self.space(), file_name],
        )
    }

    /// Drops the records of delivered events whose files are gone.
    pub fn prune_spooled_events(&mut self, is_there: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        let names: Vec<String> =
            self.all("SELECT file_name FROM delivered_event WHERE space = ?1", params![self.space()], |row| {
                row.get(0)
            })?;
        for name in names.iter().filter(|name| !is_there(name)) {
            let values = params![self.space(), name];
            self.run("DELETE FROM delivered_event WHERE space = ?1 AND file_name = ?2", values)?;
        }
        Ok(())
    }
}
