//! The services of the engine, one accessor each. A service borrows the engine and does one kind of work.

use crate::{Engine, SyncService};

impl Engine {
    /// Reads new transcript lines into the store.
    pub fn sync(&self) -> SyncService<'_> {
        SyncService { engine: self }
    }
}
