//! The clients against a stub model server on loopback. No request leaves the machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod embeddings;
mod failures;
mod helpers;
mod requests;
mod streams;
mod structured;
