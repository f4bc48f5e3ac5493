//! The clients against a small server that speaks as providers do. Nothing here leaves the machine.

#![expect(clippy::unwrap_used, reason = "a server that cannot be set up must stop the test")]

mod embeddings;
mod failures;
mod requests;
mod scripted;
mod streams;
mod structured;
