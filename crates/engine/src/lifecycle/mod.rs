//! The life of a session: its states, periods and their archive, and what users attach to it.

mod archive;
mod maintenance;
mod session_change;
mod session_commands;
mod session_event;
mod session_events;
mod state;

pub use maintenance::{MaintenanceReport, TierStatus};
pub use session_change::{CloseAction, SessionChange, TaskAndNotes};
pub use session_commands::EndedSession;
pub(crate) use session_event::SessionEvent;
pub use session_events::{EventOrigin, SessionEvents};
pub(crate) use state::{EventContext, LifecycleRules};

use crate::Engine;

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
#[derive(Clone, Copy, Debug)]
pub struct LifecycleService<'e> {
    pub(crate) engine: &'e Engine,
}
