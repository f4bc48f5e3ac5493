//! Serves a client although the memory cannot be opened: agents show users an error if a server does not start.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::tools::{self, ToolOutput};
use crate::failure::Failure;

/// Lists all tools; each call returns why the memory cannot be used.
pub(super) struct UnavailableServer {
    reason: String,
}

impl UnavailableServer {
    pub(super) fn new(failure: &Failure) -> Self {
        Self { reason: ToolOutput::unavailable(failure).text }
    }
}

impl ServerHandler for UnavailableServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rethread", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(|tool| tool.definition(false)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(|tool| tool.definition(false))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::error(vec![ContentBlock::text(self.reason.clone())]).into())
    }
}
