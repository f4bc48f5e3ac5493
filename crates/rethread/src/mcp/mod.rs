//! MCP: the memory as a few tools that models call, over standard input or HTTP.
//!
//! `tools` says what there is and does it, `arguments` reads what models pass, `memory` speaks the protocol, `stdio` and
//! `http` are the two ways to it.

mod arguments;
mod http;
mod memory;
mod reading;
mod stdio;
mod tools;

pub(crate) use http::routes;
pub(crate) use stdio::run;
