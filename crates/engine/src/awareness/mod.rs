//! Injections, activity of other sessions and hot memory.

mod activity;
mod caller;
mod catch_up;
mod collision;
mod inject;
mod injection_context;
mod known_fix;
mod live_activity;
mod other_sessions;
mod pending_notes;
mod recent_memory;
mod sections;
mod session_view;
mod tool_call_text;
mod turn_history;

pub use activity::InjectionExplanation;
pub(crate) use caller::Caller;
pub(crate) use collision::CollisionIntent;
pub(crate) use inject::{prompt_event, replace_context, start_event};
pub use live_activity::LiveActivity;
pub(crate) use pending_notes::task_key;
pub use session_view::SessionSummary;
pub(crate) use session_view::{OwnSession, day_before};
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
