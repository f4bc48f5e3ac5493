//! MCP: memory as tools for models, over stdio or HTTP.
//!
//! `tools` defines and runs the tools, `arguments` parses what models pass, `asking_session` recognizes the session that
//! calls, `server` implements the protocol, `stdio` and `http` are the transports.

mod arguments;
mod asking_session;
mod background_sync;
mod http;
mod server;
mod stdio;
mod tools;
mod unavailable;

pub(crate) use http::{CalledTool, routes};
pub(crate) use stdio::run;
