//! The services of the engine, one accessor each. A service borrows the engine and does one kind of work.

use crate::HookService;
use crate::{Engine, SyncService};

impl Engine {
    /// Answers hook events of agents.
    pub fn hooks(&self) -> HookService<'_> {
        HookService { engine: self }
    }

    /// Reads new transcript lines into the store.
    pub fn sync(&self) -> SyncService<'_> {
        SyncService { engine: self }
    }
}
