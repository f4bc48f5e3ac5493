//! Injections, activity of other sessions and hot memory.

mod activity;
mod asking_session;
mod caller;
mod catch_up;
mod collision;
mod inject;
mod injection_context;
mod known_decision;
mod known_fix;
mod last_session;
mod live_activity;
mod other_sessions;
mod pending_notes;
mod recent_memory;
mod sections;
mod session_view;
mod tool_call_text;
mod turn_history;

pub use activity::InjectionExplanation;
pub use asking_session::AskingSession;
pub(crate) use caller::Caller;
pub(crate) use inject::{StartingSession, prompt_event, replace_context, start_event, text_hash};
pub use live_activity::LiveActivity;
pub(crate) use pending_notes::task_key;
pub use session_view::SessionSummary;
pub(crate) use session_view::{OwnSession, day_before};
pub(crate) use tool_call_text::{HookToolCall, preview, without_secrets};

use crate::AwarenessService;
