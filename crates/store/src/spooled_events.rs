//! Which spooled hook events were delivered, so that each is delivered once, also if its file outlives the delivery.

use crate::sql::{columns, values};
use crate::{Batch, StoreError};

impl Batch<'_> {
    /// Records that the event in the spool file of that name is delivered with this batch. Returns false if it was
    /// delivered before.
    pub fn claim_spooled_event(&mut self, file_name: &str) -> Result<bool, StoreError> {
        self.insert_new("delivered_event", columns! { file_name: file_name })
    }

    /// Drops the records of delivered events whose files are gone.
    pub fn prune_spooled_events(&mut self, is_there: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        let sql = "SELECT file_name FROM delivered_event WHERE space = ?1";
        let names = self.sql.all(sql, &[], |row| row.string("file_name"))?;
        for name in names.iter().filter(|name| !is_there(name)) {
            self.sql.run("DELETE FROM delivered_event WHERE space = ?1 AND file_name = ?2", values![name])?;
        }
        Ok(())
    }
}
