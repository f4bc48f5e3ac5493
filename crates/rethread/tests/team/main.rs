//! Nodes in front of a shared database, with the real binary: who may do what, and that every node answers alike.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod access;
mod fixture;
mod limits;
mod nodes;
mod pages;
