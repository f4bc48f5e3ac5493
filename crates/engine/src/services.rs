//! The services of the engine, one accessor each. A service borrows the engine and does one kind of work.

use crate::{
    AwarenessService, CardService, ConversationService, EmbeddingService, Engine, EnrichmentService, FactService,
    ForgetService, HookService, IndexService, InstallService, JournalService, LifecycleService, MaintenanceService,
    ModelService, NoteService, QuestionService, ReportService, SearchService, ServerService, SessionService,
    SyncService, ThreadService, TurnService,
};

impl Engine {
    /// Shows a session what the other sessions did.
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

    /// The full-text index, which is derived from the store.
    pub fn index(&self) -> IndexService<'_> {
        IndexService { engine: self }
    }

    /// Searches all sessions.
    pub fn search(&self) -> SearchService<'_> {
        SearchService { engine: self }
    }

    /// Vectors of entries, if an embedding model is configured.
    pub(crate) fn embeddings(&self) -> EmbeddingService<'_> {
        EmbeddingService { engine: self }
    }

    /// Lists sessions, finds the one that is meant, and reads its entries.
    pub fn sessions(&self) -> SessionService<'_> {
        SessionService { engine: self }
    }

    /// What is known about errors, decisions, files and other entities.
    pub fn facts(&self) -> FactService<'_> {
        FactService { engine: self }
    }

    /// Lets a model add facts to sessions.
    pub fn enrichment(&self) -> EnrichmentService<'_> {
        EnrichmentService { engine: self }
    }

    /// Name, description, summary and tags of a session.
    pub fn cards(&self) -> CardService<'_> {
        CardService { engine: self }
    }

    /// Answers questions about a session, and resolves `@@session` in a prompt.
    pub fn questions(&self) -> QuestionService<'_> {
        QuestionService { engine: self }
    }

    /// Notes that an agent or a user wants to keep.
    pub fn notes(&self) -> NoteService<'_> {
        NoteService { engine: self }
    }

    /// Erases sessions and texts for good.
    pub fn forget(&self) -> ForgetService<'_> {
        ForgetService { engine: self }
    }

    /// Rebuilds, verifies and replaces the store.
    pub fn maintenance(&self) -> MaintenanceService<'_> {
        MaintenanceService { engine: self }
    }

    /// Status, usage and diagnosis.
    pub fn reports(&self) -> ReportService<'_> {
        ReportService { engine: self }
    }

    /// The configured language model and its budget.
    pub fn models(&self) -> ModelService<'_> {
        ModelService { engine: self }
    }

    /// Our own log.
    pub fn journal(&self) -> JournalService<'_> {
        JournalService { engine: self }
    }
}
