//! Spaces and who may use them: members, their tokens, the audit and retention.

mod authorized_space;

pub use authorized_space::AuthorizedSpace;
