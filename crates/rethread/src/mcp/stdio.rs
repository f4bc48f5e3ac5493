//! MCP over stdio: one client, until it closes its end. Only protocol messages go to stdout.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServerHandler, ServiceExt};

use super::asking_session::SessionVariables;
use super::background_sync::BackgroundSync;
use super::server::McpServer;
use super::unavailable::UnavailableServer;
use crate::cli::serve::McpArgs;
use crate::commands::{CommandContext, Exit};
use crate::failure::Failure;

/// Longest line in bytes; longer ones are skipped.
const MAX_LINE_BYTES: usize = 4 << 20;
/// Concurrent tool calls; two more threads read and write.
const MAX_CALLS: usize = 8;

/// Serves until the client closes its end.
pub(crate) fn run(context: &CommandContext, request: &McpArgs) -> Result<Exit, Failure> {
    match memory(context, request) {
        Ok(memory) => serve(memory)?,
        Err(failure) => serve(UnavailableServer::new(&failure))?,
    }
    Ok(Exit::Done)
}

fn memory(context: &CommandContext, request: &McpArgs) -> Result<McpServer, Failure> {
    let engine = Arc::new(context.engine()?);
    let reading = if request.no_sync { None } else { Some(BackgroundSync::start(context)?) };
    let variables = SessionVariables::from_environment(&context.environment);
    Ok(McpServer::for_process(engine, context.zone.clone(), variables, reading))
}

fn serve(server: impl ServerHandler) -> Result<(), Failure> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(MAX_CALLS + 2).build()?;
    runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE_BYTES);
        // A client that disconnects before its first request is not an error.
        if let Ok(running) = server.serve(SkipUntilRequest { inner: transport, has_begun: false }).await {
            let _ = running.waiting().await;
        }
    });
    // Do not wait for calls to a model or for reads of an open stream.
    runtime.shutdown_background();
    Ok(())
}

/// Skips messages before the first request: they are not meant for us.
struct SkipUntilRequest<T> {
    inner: T,
    has_begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for SkipUntilRequest<T> {
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
