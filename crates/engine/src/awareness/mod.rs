//! Injections, activity of other sessions, session lifecycle and hot memory.

mod archive;
mod caller;
mod catch_up;
mod collision;
mod inject;
mod known_fix;
mod lifecycle;
mod live_activity;
mod maintenance;
mod other_sessions;
mod pending_notes;
mod recent_memory;
mod sections;
mod session_change;
mod session_commands;
mod session_event;
mod session_events;
mod session_view;
mod tool_call_text;
mod turn_history;

pub(crate) use caller::Caller;
pub(crate) use collision::CollisionIntent;
pub use inject::InjectionExplanation;
pub(crate) use inject::{prompt_event, replace_context, start_event};
pub(crate) use lifecycle::{EventContext, Lifecycle};
pub use live_activity::LiveActivity;
pub use maintenance::{MaintenanceReport, TierStatus};
pub use session_change::{CloseAction, SessionChange, TaskAndNotes};
pub use session_commands::EndedSession;
pub(crate) use session_event::SessionEvent;
pub use session_events::{EventOrigin, SessionEvents};
pub use session_view::SessionSummary;
pub(crate) use tool_call_text::{HookToolCall, preview, without_secrets};

use crate::Engine;

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
#[derive(Clone, Copy, Debug)]
pub struct AwarenessService<'e> {
    pub(crate) engine: &'e Engine,
}

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
