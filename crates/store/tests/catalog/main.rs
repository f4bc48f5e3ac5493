//! The schema: the same in a file and on a server, every key with its space, texts ordered by bytes, ready for Citus.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod citus;
mod schema;
mod text_order;
