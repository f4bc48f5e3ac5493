//! The index: what a snapshot finds, how it is updated and rebuilt, and what happens to an unusable one.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod documents;
mod edges;
mod fixture;
mod rebuild;
mod update;
