//! What a session should know of itself and of the sessions beside it, and when.

mod archive;
mod change;
mod collision;
mod deeds;
mod inject;
mod lifecycle;
mod live;
mod neighbours;
mod news;
mod parts;
mod remedy;
mod upkeep;
mod view;
mod warm;
mod words;

pub use change::{AtHand, Closing, SessionChange};
pub(crate) use collision::Intent;
pub use deeds::Ended;
pub(crate) use inject::Caller;
pub use inject::Explained;
pub(crate) use lifecycle::Lifecycle;
pub use live::LiveActivity;
pub use upkeep::{TierStatus, Upkeep};
pub use view::SessionSummary;
pub(crate) use words::{Used, preview};
