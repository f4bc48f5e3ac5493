//! Speaks the protocol: says who we are, lists the tools, calls one where it may block.

use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use jiff::tz::TimeZone;
use rethread_engine::{Engine, Scope};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::reading::Reading;
use super::tools::{self, Desk, INSTRUCTIONS, Told};
use crate::environment;
use crate::serve::Shared;

/// The memory, for one client or for all.
#[derive(Clone)]
pub(super) struct Memory {
    host: Host,
    /// Where is looked unless somebody asks for everything.
    scope: Scope,
    zone: TimeZone,
    /// Who keeps it fresh, where nobody else does.
    reading: Option<Arc<Reading>>,
}

/// Whose engine it is.
#[derive(Clone)]
enum Host {
    Process(Arc<Engine>),
    Server(Shared),
}

impl Memory {
    /// For the client that started this process, in the project it works in.
    pub(super) fn own(engine: Arc<Engine>, zone: TimeZone, reading: Option<Arc<Reading>>) -> Self {
        let scope = match engine.current_project() {
            // Who is started at the root works nowhere.
            Scope::Project(project) if project == "/" => Scope::AllProjects,
            scope => scope,
        };
        Self { host: Host::Process(engine), scope, zone, reading }
    }

    /// For whoever asks the server, which is in no project.
    pub(super) fn served(app: Shared) -> Self {
        Self { host: Host::Server(app), scope: Scope::AllProjects, zone: environment::zone(), reading: None }
    }

    fn engine(&self) -> &Engine {
        match &self.host {
            Host::Process(engine) => engine,
            Host::Server(app) => &app.engine,
        }
    }
}

impl Memory {
    /// Whether a model may be asked, if the budget allows it.
    fn has_model(&self) -> bool {
        !self.engine().model_name().is_empty()
    }

    /// The program that asks, as it names itself: with the request, when it said hello, or as HTTP has it.
    fn client(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let named = match &self.host {
            Host::Process(_) => context.client_info(),
            // Who comes by HTTP says hello to nobody who remembers it.
            Host::Server(_) => context.meta.client_info(),
        };
        let agent = || {
            let parts = context.extensions.get::<Parts>()?;
            let agent = parts.headers.get(header::USER_AGENT)?.to_str().ok()?;
            Some(agent.split(['/', ' ']).next()?.to_owned())
        };
        named.map(|client| client.name).or_else(agent)
    }
}

impl ServerHandler for Memory {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rethread", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let has_model = self.has_model();
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(|tool| tool.definition(has_model)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::named(name).map(|tool| tool.definition(self.has_model()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        };
        if let Some(reading) = &self.reading {
            reading.look();
        }
        let client = self.client(&context);
        let memory = self.clone();
        let call = move || {
            let desk =
                Desk { engine: memory.engine(), scope: &memory.scope, zone: &memory.zone, client: client.as_deref() };
            tool.call(&desk, request.arguments.unwrap_or_default())
        };
        // A server has others to answer too: who waits here waits without a thread.
        let _place = match &self.host {
            Host::Process(_) => None,
            Host::Server(app) => app.room.for_tool().await,
        };
        let told = tokio::task::spawn_blocking(call).await.unwrap_or_else(|_| Told::mistake());
        let content = vec![ContentBlock::text(told.text)];
        let result = if told.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request of a known name that is here nevertheless could not be read as what it says it is.
        Err(match request.method.as_str() {
            "tools/call" => {
                ErrorData::invalid_params("a tool is called by its name, with an object as arguments", None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }
}
