//! Test helpers for the integration tests of all crates. Never a dependency of shipped code.
//!
//! Only integration tests use this crate. A unit test inside a crate that this one depends on would see two
//! copies of its own types.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
#![expect(clippy::missing_panics_doc, reason = "every helper panics when the test cannot go on")]

mod api_client;
mod api_socket;
mod backend;
mod facts;
mod files;
mod fixtures;
mod home;
mod postgres;
mod server;
mod snapshot;
mod statements;
mod stub_model;
mod terminal;
mod transcript;
mod wait;

pub use api_client::{ApiClient, ClientResponse, exchange};
pub use api_socket::{ApiSocket, EventClient};
pub use backend::{skips_server_store, uses_server_store};
pub use facts::{confirmed_fact, with_object};
pub use files::{contents_below, files_below};
pub use fixtures::{
    BRANCHES, CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, NATIVE_THREAD, PI_FILE, PI_VERSION_1, SUB_AGENT,
};
pub use home::{TestHome, assert_same_dump, dump_of};
pub use postgres::{TestPostgres, new_space_name};
pub use server::TestServer;
pub use statements::{check_statements, names_one_space, operator_statement};
pub use stub_model::{StubModel, StubReply, StubRequest, events};
pub use transcript::{PiTranscriptBuilder, TranscriptBuilder, text_block, tool_call_block, tool_result_block};
pub use wait::{WAIT_LIMIT, wait_until};
