//! The life of a session: its states, periods and their archive, and what users attach to it.

mod archive;
mod live;
mod maintenance;
mod pins_and_tags;
mod session_change;
mod session_commands;
mod session_event;
mod session_events;
mod state;

pub(crate) use live::LiveSessions;
pub use maintenance::{MaintenanceReport, TierStatus};
pub(crate) use pins_and_tags::clean_tags;
pub use pins_and_tags::{ChangedTags, InvalidTag};
pub use session_change::{CloseAction, SessionChange, TaskAndNotes};
pub use session_commands::EndedSession;
pub(crate) use session_event::SessionEvent;
pub use session_events::{EventOrigin, SessionEvents};
pub(crate) use state::{EventContext, LifecycleRules};

use crate::LifecycleService;
