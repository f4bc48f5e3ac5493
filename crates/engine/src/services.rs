//! The services of the engine, one accessor each. A service borrows the engine and does one kind of work.

use crate::{
    AwarenessService, ConversationService, HookService, InstallService, LifecycleService, ServerService, ThreadService,
    TurnService,
};
use crate::{Engine, SyncService};

impl Engine {
    /// Tells a session what the other sessions did.
    pub fn awareness(&self) -> AwarenessService<'_> {
        AwarenessService { engine: self }
    }

    /// Changes states, tasks, notes and names of sessions.
    pub fn lifecycle(&self) -> LifecycleService<'_> {
        LifecycleService { engine: self }
    }

    /// Answers hook events of agents.
    pub fn hooks(&self) -> HookService<'_> {
        HookService { engine: self }
    }

    /// Installs and removes hooks, plugin, extension and service.
    pub fn install(&self) -> InstallService<'_> {
        InstallService { engine: self }
    }

    /// Creates, reads and deletes threads.
    pub fn threads(&self) -> ThreadService<'_> {
        ThreadService { engine: self }
    }

    /// Runs turns, compactions and titles of threads.
    pub fn turns(&self) -> TurnService<'_> {
        TurnService { engine: self }
    }

    /// Lists and deletes conversations: sessions of agents, and threads.
    pub fn conversations(&self) -> ConversationService<'_> {
        ConversationService { engine: self }
    }

    /// Locks, tokens and the log of the server.
    pub fn server(&self) -> ServerService<'_> {
        ServerService { engine: self }
    }

    /// Reads new transcript lines into the store.
    pub fn sync(&self) -> SyncService<'_> {
        SyncService { engine: self }
    }
}
