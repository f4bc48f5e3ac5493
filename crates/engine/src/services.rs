//! The services of the engine. A service borrows the engine and does one kind of work; its methods are in its own module.

use crate::Engine;

/// Declares a service per row, and the method of the engine that returns it.
macro_rules! services {
    ($($(#[$doc:meta])* $vis:vis $accessor:ident: $service:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            $vis struct $service<'e> {
                pub(crate) engine: &'e Engine,
            }
        )*

        impl Engine {
            $(
                #[doc = concat!("The [`", stringify!($service), "`].")]
                $vis fn $accessor(&self) -> $service<'_> {
                    $service { engine: self }
                }
            )*
        }
    };
}

services! {
    /// What a session should know about the other sessions of its project, and what was injected into it.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    /// use rethread_model::Agent;
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let event = br#"{"session_id": "0c6a2f1e", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": "fix the parser"}"#;
    /// engine.hooks().handle(Agent::ClaudeCode, event)?;
    /// assert!(engine.awareness().activity("0c6a2f1e", true)?.is_none(), "there is no other session");
    /// assert!(engine.awareness().injections("0c6a2f1e", 10)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub awareness: AwarenessService

    /// States, tasks, notes, names and events of sessions.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    /// use rethread_model::Agent;
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let event = br#"{"session_id": "0c6a2f1e", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": "fix the parser"}"#;
    /// engine.hooks().handle(Agent::ClaudeCode, event)?;
    /// engine.lifecycle().add_note("0c6a2f1e", "the lexer is fine")?;
    /// assert!(engine.lifecycle().end("0c6a2f1e")?.is_some());
    /// assert!(engine.lifecycle().end("0c6a2f1e")?.is_none(), "it has already ended");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub lifecycle: LifecycleService

    /// Hook events of agents.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    /// use rethread_model::Agent;
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let event = br#"{"session_id": "s1", "cwd": "/app", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}"#;
    /// assert_eq!(engine.hooks().handle(Agent::ClaudeCode, event)?, None, "no other session did anything yet");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub hooks: HookService

    /// Hooks, plugin, extension and service: what is installed, and what would change.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, InstallLocation};
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// assert!(engine.install().plan_removal(&InstallLocation::Service)?.is_none(), "it is not installed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub install: InstallService

    /// Threads, our own conversations, and their logs.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, NewThread};
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let thread = engine.threads().create(&NewThread { name: Some("Plan".to_owned()), ..NewThread::default() })?;
    /// assert_eq!(engine.threads().id("plan")?, thread.id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub threads: ThreadService

    /// What asks a model about a thread: turns, compaction, titles.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, NewThread};
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let thread = engine.threads().create(&NewThread::default())?;
    /// assert!(!engine.turns().needs_title(thread.id)?, "there is no answer yet");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub turns: TurnService

    /// Sessions of agents and threads, in one list.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, NewThread, SessionListRequest};
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let thread = engine.threads().create(&NewThread::default())?;
    /// let found = engine.conversations().get(thread.id.session_id())?;
    /// assert!(found.thread.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub conversations: ConversationService

    /// Files of the server in the home, its API token and its log.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    ///
    /// let home = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(home.path()))?;
    /// let token = engine.server().token()?;
    /// assert_eq!(engine.server().token()?, token);
    /// assert_ne!(engine.server().rotate_token()?, token);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub server: ServerService

    /// Reads new transcript lines into the store: once, before a search, or continuously.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, SyncRequest};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let plan = engine.sync().plan(&SyncRequest::default())?;
    /// assert_eq!(plan.iter().map(|agent| agent.files).sum::<u64>(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub sync: SyncService

    /// Builds the full-text index and opens it for searches.
    pub(crate) index: IndexService

    /// Searches everything that was synced.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, SearchRequest};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let request = SearchRequest { text: "parser".to_owned(), limit: 10, ..SearchRequest::default() };
    /// assert!(engine.search().run(&request)?.hits.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub search: SearchService

    /// Requests the vectors of entries and queries from the configured embedding model.
    pub(crate) embeddings: EmbeddingService

    /// Lists sessions, finds the one that is meant, and reads its entries.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, SessionListRequest};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// assert!(engine.sessions().list(&SessionListRequest::default())?.is_empty());
    /// assert!(engine.sessions().resolve("the-parser").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub sessions: SessionService

    /// Answers questions from facts: what fixed an error, what was decided, what happened to a file.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, FixRequest};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let request = FixRequest { text: "error[E0425]: cannot find value `x`".to_owned(), ..FixRequest::default() };
    /// let report = engine.facts().fix(&request)?;
    /// assert!(report.signature.is_some() && report.errors.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub facts: FactService

    /// Lets a model add facts to sessions, if the user turned that on.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// assert!(engine.enrichment().failures()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enrichment: EnrichmentService

    /// Makes the cards of sessions: by rules, or by a model.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, EngineError};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let card = engine.cards().get("the-parser");
    /// assert!(matches!(card, Err(EngineError::UnknownReference(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub cards: CardService

    /// Answers questions about a session from its entries, and resolves `@@session` in a prompt.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let found = engine.questions().references("continue like @@the-parser")?;
    /// assert_eq!(found.outcomes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub questions: QuestionService

    /// Erases sessions, or every episode with a text, together with everything derived from them.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, ForgetTarget};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let report = engine.forget().plan(&ForgetTarget::Matching("hunter2".to_owned()))?;
    /// assert!(report.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub forget: ForgetService

    /// Sessions as a file that another store can take.
    ///
    /// ```
    /// use rethread_engine::{Engine, EngineError, Environment, ImportError, ImportMode};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let report = engine.transfer().export::<EngineError>(&[], &mut |_| Ok(()))?;
    /// assert_eq!(report.sessions, 0);
    /// let outcome = engine.transfer().import(&mut "not an export".as_bytes(), ImportMode::Store, &mut |_| {});
    /// assert!(matches!(outcome, Err(EngineError::Import(ImportError::NotAnExport))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub transfer: TransferService

    /// Rebuilds what is derived, checks that it is consistent, and replaces a store that cannot be used.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// assert!(engine.maintenance().verify()?.damage.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub maintenance: MaintenanceService

    /// Reports on the installation: status, usage, and what is wrong.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// assert!(engine.reports().status()?.statistics.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub reports: ReportService

    /// Spaces, members, tokens, audit and retention of a memory that is shared.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, MemberLimits, NewMember, TokenRequest};
    /// use rethread_model::Role;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// let alice = NewMember {
    ///     name: "alice".parse()?,
    ///     role: Role::Admin,
    ///     limits: MemberLimits::default(),
    ///     token: TokenRequest::default(),
    /// };
    /// let token = engine.members().add_member(&alice)?;
    /// let signed_in = engine.members().sign_in(&token.text.reveal())?;
    /// assert_eq!((signed_in.member, signed_in.role), (alice.name, Role::Admin));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub members: MemberService

    /// The configured language model, its key, its price and its budget.
    pub(crate) models: ModelService

    /// Our own log: events, and errors that cannot be reported to the user.
    ///
    /// ```
    /// use rethread_engine::{Engine, Environment, EngineError};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let engine = Engine::open(Environment::for_home(folder.path()))?;
    /// engine.journal().error("example", &EngineError::InvalidTime("teatime".to_owned()));
    /// assert!(engine.folder().join("logs").is_dir());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub journal: JournalService
}
