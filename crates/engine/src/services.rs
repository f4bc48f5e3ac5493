//! The services of the engine, one accessor each. A service borrows the engine and does one kind of work.

use crate::embeddings::EmbeddingService;
use crate::index::IndexService;
use crate::models::ModelService;
use crate::{
    AwarenessService, CardService, ConversationService, Engine, EnrichmentService, FactService, ForgetService,
    HookService, InstallService, JournalService, LifecycleService, MaintenanceService, QuestionService, ReportService,
    SearchService, ServerService, SessionService, SyncService, ThreadService, TurnService,
};

/// Gives the engine one accessor per row.
macro_rules! services {
    ($($(#[$doc:meta])* $vis:vis $accessor:ident: $service:ident)*) => {
        impl Engine {
            $(
                $(#[$doc])*
                $vis fn $accessor(&self) -> $service<'_> {
                    $service { engine: self }
                }
            )*
        }
    };
}

services! {
    /// Shows a session what the other sessions did.
    pub awareness: AwarenessService
    /// Changes states, tasks, notes and names of sessions.
    pub lifecycle: LifecycleService
    /// Answers hook events of agents.
    pub hooks: HookService
    /// Installs and removes hooks, plugin, extension and service.
    pub install: InstallService
    /// Creates, reads and deletes threads, also those that hold notes.
    pub threads: ThreadService
    /// Runs turns, compactions and titles of threads.
    pub turns: TurnService
    /// Lists and deletes conversations: sessions of agents, and threads.
    pub conversations: ConversationService
    /// Locks, tokens and the log of the server.
    pub server: ServerService
    /// Reads new transcript lines into the store.
    pub sync: SyncService
    /// The full-text index, which is derived from the store.
    pub(crate) index: IndexService
    /// Searches all sessions.
    pub search: SearchService
    /// Vectors of entries, if an embedding model is configured.
    pub(crate) embeddings: EmbeddingService
    /// Lists sessions, finds the one that is meant, and reads its entries.
    pub sessions: SessionService
    /// What is known about errors, decisions, files and other entities.
    pub facts: FactService
    /// Lets a model add facts to sessions.
    pub enrichment: EnrichmentService
    /// Name, description, summary and tags of a session.
    pub cards: CardService
    /// Answers questions about a session, and resolves `@@session` in a prompt.
    pub questions: QuestionService
    /// Erases sessions and texts for good.
    pub forget: ForgetService
    /// Rebuilds, verifies and replaces the store.
    pub maintenance: MaintenanceService
    /// Status, usage and diagnosis.
    pub reports: ReportService
    /// The configured language model and its budget.
    pub(crate) models: ModelService
    /// Our own log.
    pub journal: JournalService
}
