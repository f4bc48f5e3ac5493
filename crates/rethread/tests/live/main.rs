//! Everything live with the real binary and a stub model: events, the WebSocket, turns, queues and the shutdown.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod events;
mod fixture;
mod frame_schema;
mod messages;
mod queue;
mod shutdown;
mod web_socket;
