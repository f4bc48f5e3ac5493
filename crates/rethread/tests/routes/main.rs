//! Every route of the API with the real binary: what is refused, what is answered, and that a refusal changes nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod docs;
mod fixture;
mod guard;
mod json_schema;
mod responses;
mod sessions;
