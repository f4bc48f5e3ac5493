//! MCP by standard input and output: one client, until it closes its end. Nothing but the protocol goes to stdout.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};

use super::memory::Memory;
use super::reading::Reading;
use crate::cli::serve::Mcp;
use crate::commands::{Context, Exit};
use crate::failure::Failure;

/// A longer line than this is passed over.
const LONGEST_LINE: usize = 4 << 20;
/// Calls at a time; two more threads read and write.
const MOST_CALLS: usize = 8;
/// Serves until the client closes its end.
pub(crate) fn run(context: &Context, request: &Mcp) -> Result<Exit, Failure> {
    let engine = Arc::new(context.engine()?);
    let reading = if request.no_sync { None } else { Some(Reading::of(context)?) };
    let memory = Memory::own(engine, context.zone.clone(), reading);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(MOST_CALLS + 2).build()?;
    runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_LINE);
        // Whoever leaves before the first request has nothing to complain of.
        if let Ok(running) = memory.serve(Expectant { inner: transport, has_begun: false }).await {
            let _ = running.waiting().await;
        }
    });
    // A call that still waits for a model, or a read of a stream that stays open, must not keep us.
    runtime.shutdown_background();
    Ok(Exit::Done)
}

/// Waits for the first request: what a client says before it is not meant for us.
struct Expectant<T> {
    inner: T,
    has_begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Expectant<T> {
    type Error = T::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            self.has_begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
