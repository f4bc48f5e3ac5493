//! The MCP server: server info, tool list, and tool calls on blocking threads.

use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use jiff::tz::TimeZone;
use rethread_engine::{Engine, SessionScope};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::asking_session::{SessionVariables, asking_session};
use super::background_sync::BackgroundSync;
use super::tools::{self, INSTRUCTIONS, MemoryTool, ToolContext, ToolOutput};
use crate::environment;
use crate::serve::{RequestCaller, SharedState};

/// Serves one stdio client, or all HTTP clients.
#[derive(Clone)]
pub(super) struct McpServer {
    host: EngineHost,
    /// The default scope of tools.
    scope: SessionScope,
    zone: TimeZone,
    /// Which session started this process.
    variables: SessionVariables,
    /// Syncs in the background; `None` where another process does.
    background_sync: Option<Arc<BackgroundSync>>,
}

/// The engine of this process, or the one of the HTTP server.
#[derive(Clone)]
enum EngineHost {
    Process(Arc<Engine>),
    Server(SharedState),
}

impl McpServer {
    /// For the client that started this process, limited to the project of its working directory.
    pub(super) fn for_process(
        engine: Arc<Engine>,
        zone: TimeZone,
        variables: SessionVariables,
        background_sync: Option<Arc<BackgroundSync>>,
    ) -> Self {
        let scope = match engine.sessions().current_project() {
            // A client started in the root directory is not in a project.
            SessionScope::Project(project) if project == "/" => SessionScope::AllProjects,
            scope => scope,
        };
        Self { host: EngineHost::Process(engine), scope, zone, variables, background_sync }
    }

    /// For HTTP clients, which are not in a project.
    pub(super) fn for_server(app: SharedState) -> Self {
        Self {
            host: EngineHost::Server(app),
            scope: SessionScope::AllProjects,
            zone: environment::zone(),
            variables: SessionVariables::default(),
            background_sync: None,
        }
    }

    fn engine(&self) -> &Engine {
        match &self.host {
            EngineHost::Process(engine) => engine,
            EngineHost::Server(app) => &app.engine,
        }
    }
}

impl McpServer {
    /// Whether a model is configured.
    fn has_model(&self) -> bool {
        !self.engine().settings().model.usable_name().is_empty()
    }

    /// Whether the caller may call a tool. On stdio it is the user, who may call all.
    fn is_allowed(&self, tool: &MemoryTool, context: &RequestContext<RoleServer>) -> bool {
        let EngineHost::Server(app) = &self.host else { return true };
        let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<RequestCaller>());
        let needed = tool.needed_access(app.may_ask_a_model());
        caller.is_some_and(|caller| needed.iter().all(|access| caller.allows(*access)))
    }

    /// The name of the calling program: from the request, from the handshake, or from the User-Agent header.
    fn client_name(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let named = match &self.host {
            EngineHost::Process(_) => context.client_info(),
            // HTTP is stateless: there is no stored handshake.
            EngineHost::Server(_) => context.meta.client_info(),
        };
        let agent = || {
            let parts = context.extensions.get::<Parts>()?;
            let agent = parts.headers.get(header::USER_AGENT)?.to_str().ok()?;
            Some(agent.split(['/', ' ']).next()?.to_owned())
        };
        named.map(|client| client.name).or_else(agent)
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rethread", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let has_model = self.has_model();
        let allowed = tools::ALL.iter().filter(|tool| self.is_allowed(tool, &context));
        Ok(ListToolsResult::with_all_items(allowed.map(|tool| tool.definition(has_model)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(|tool| tool.definition(self.has_model()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}", request.name), None));
        };
        if let Some(reading) = &self.background_sync {
            reading.start_if_due();
        }
        let client = self.client_name(&context);
        let asker = asking_session(&context.meta.0.0, client.as_deref(), &self.variables);
        let memory = self.clone();
        let call = move || {
            let tool_context = ToolContext {
                engine: memory.engine(),
                scope: &memory.scope,
                zone: &memory.zone,
                client: client.as_deref(),
                asker: asker.as_ref(),
            };
            tool.call(&tool_context, request.arguments.unwrap_or_default())
        };
        // The HTTP server has other clients: wait for a permit without holding a thread.
        let _permit = match &self.host {
            EngineHost::Process(_) => None,
            EngineHost::Server(app) => app.server.limits.acquire_tool().await,
        };
        let output = tokio::task::spawn_blocking(call).await.unwrap_or_else(|_| ToolOutput::internal_error());
        let content = vec![ContentBlock::text(output.text)];
        let result = if output.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method gets here only if its parameters could not be parsed.
        Err(match request.method.as_str() {
            "tools/call" => ErrorData::invalid_params("tools/call needs a name, and an object as arguments", None),
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }
}
