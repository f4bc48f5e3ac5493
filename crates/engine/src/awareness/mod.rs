//! What a session should know of itself and of the sessions beside it, and when.

mod archive;
mod collision;
mod deeds;
mod inject;
mod lifecycle;
mod neighbours;
mod parts;
mod view;
mod warm;

pub(crate) use collision::Intent;
pub(crate) use deeds::Used;
pub(crate) use inject::Caller;
pub use inject::Explained;
pub(crate) use lifecycle::Lifecycle;
