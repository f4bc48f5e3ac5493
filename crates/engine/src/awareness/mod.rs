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
pub(crate) use inject::{prompt_event, start_event};
pub(crate) use lifecycle::{EventContext, Lifecycle};
pub use live_activity::LiveActivity;
pub use maintenance::{MaintenanceReport, TierStatus};
pub use session_change::{CloseAction, SessionChange, TaskAndNotes};
pub use session_commands::EndedSession;
pub(crate) use session_event::SessionEvent;
pub use session_events::{EventOrigin, SessionEvents};
pub use session_view::SessionSummary;
pub(crate) use tool_call_text::{HookToolCall, preview};
