//! What a session should know of itself and of the sessions beside it, and when.

mod archive;
mod collision;
mod inject;
mod lifecycle;
mod neighbours;
mod view;

pub use inject::{Explained, InjectRequest};
pub use lifecycle::{Lifecycle, Touched};
