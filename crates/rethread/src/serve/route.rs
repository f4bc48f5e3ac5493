//! API routes as values: parameters, response, documentation and the one engine call.
//!
//! The router, the `OpenAPI` document and the tests that cover every route are built from them.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use rethread_model::{Access, SessionId};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::access::RouteAccess;
use super::guard::AnsweredJson;
use super::{ApiError, ServerState, SharedState, query};
use crate::failure::FailureKind;
use crate::json;

pub(crate) type ApiResult = Result<ApiResponse, ApiError>;
/// Generates the JSON schema of a parameter or response type.
pub(crate) type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// An API route.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path, with `{id}` for a session id.
    pub(crate) path: &'static str,
    /// First sentence: the `OpenAPI` summary, verb first. Further sentences: the description.
    pub(crate) description: &'static str,
    /// Schema of the query of a GET, of the body otherwise.
    pub(crate) request_schema: SchemaFn,
    /// Schema of the response.
    pub(crate) response_schema: SchemaFn,
    /// Status on success.
    pub(crate) status: StatusCode,
    /// Other successful statuses with their schemas.
    pub(crate) other_responses: Vec<(StatusCode, SchemaFn)>,
    /// Error statuses beyond those that every route can return.
    pub(crate) error_statuses: &'static [StatusCode],
    /// Who may use it. By default readers a GET, and everything else those who may also write.
    pub(super) access: RouteAccess,
    handler: MethodRouter<SharedState>,
}

/// No parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// A name with all bytes but letters, digits, dots and dashes as `%XX`.
fn percent_encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A successful response.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    status: StatusCode,
    body: String,
    location: Option<String>,
    /// Media type and name of a file that is not JSON.
    file: Option<(&'static str, String)>,
}

impl ApiResponse {
    /// 200 with a file that a browser saves and never shows.
    pub(crate) fn file(content_type: &'static str, name: &str, body: String) -> Self {
        // A header is ASCII; browsers prefer the encoded name.
        let ascii: String = name.chars().filter(char::is_ascii).collect();
        let disposition = if ascii == name {
            format!("attachment; filename=\"{name}\"")
        } else {
            let ascii = ascii.trim_start_matches('-');
            format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{}", percent_encoded(name))
        };
        Self { status: StatusCode::OK, body, location: None, file: Some((content_type, disposition)) }
    }

    /// 200 with a JSON body.
    pub(crate) fn json(what: &impl Serialize) -> ApiResult {
        Self::with_status(StatusCode::OK, what)
    }

    /// 201 with a JSON body.
    pub(crate) fn created(what: &impl Serialize) -> ApiResult {
        Self::with_status(StatusCode::CREATED, what)
    }

    /// 204.
    #[expect(clippy::unnecessary_wraps, reason = "handlers return it like the other constructors")]
    pub(crate) fn no_content() -> ApiResult {
        Ok(Self { status: StatusCode::NO_CONTENT, body: String::new(), location: None, file: None })
    }

    /// A JSON body with an explicit status.
    pub(crate) fn with_status(status: StatusCode, what: &impl Serialize) -> ApiResult {
        let body = json::to_json_line(what);
        let body = body.map_err(|error| {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, FailureKind::Internal, error.to_string())
        })?;
        Ok(Self { status, body, location: None, file: None })
    }

    /// Adds a `Location` header.
    pub(crate) fn with_location(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }
}

impl IntoResponse for ApiResponse {
    fn into_response(self) -> Response {
        if self.body.is_empty() {
            return self.status.into_response();
        }
        if let Some((kind, disposition)) = self.file {
            let about = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
            return (self.status, about, self.body).into_response();
        }
        let kind = [(header::CONTENT_TYPE, "application/json")];
        let body = Bytes::from(self.body);
        let json = axum::Extension(AnsweredJson(body.clone()));
        match self.location {
            Some(location) => (self.status, kind, json, [(header::LOCATION, location)], body).into_response(),
            None => (self.status, kind, json, body).into_response(),
        }
    }
}

impl Route {
    /// A route that only reads, with its parameters in the query.
    pub(crate) fn get<Q, A>(path: &'static str, about: &'static str, call: fn(&ServerState, Q) -> ApiResult) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<SharedState>, RawQuery(query): RawQuery| async move {
            let params: Q = decode_query(query.as_deref())?;
            run_blocking(app, move |app| call(app, params)).await
        };
        Self::custom::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
    }

    /// A route that only reads one session.
    pub(crate) fn get_for_session<Q, A>(
        path: &'static str,
        about: &'static str,
        call: fn(&ServerState, SessionId, Q) -> ApiResult,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<SharedState>, id: IdSegment, RawQuery(query): RawQuery| async move {
            let (id, params): (_, Q) = (parse_id_segment(&id)?, decode_query(query.as_deref())?);
            run_blocking(app, move |app| call(app, id, params)).await
        };
        Self::custom::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
    }

    /// A route with a JSON body.
    pub(crate) fn with_body<B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        call: fn(&ServerState, B) -> ApiResult,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<SharedState>, RawQuery(query): RawQuery, body: Bytes| async move {
            let NoParams {} = decode_query(query.as_deref())?;
            let params: B = decode_body(&body)?;
            run_blocking(app, move |app| call(app, params)).await
        };
        let taken = method_filter(&method);
        Self::custom::<B, A>(method, path, about, on(taken, handler))
    }

    /// A route with a JSON body, about one session.
    pub(crate) fn with_body_for_session<B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        call: fn(&ServerState, SessionId, B) -> ApiResult,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<SharedState>, id: IdSegment, RawQuery(query): RawQuery, body: Bytes| async move {
            let NoParams {} = decode_query(query.as_deref())?;
            let (id, params): (_, B) = (parse_id_segment(&id)?, decode_body(&body)?);
            run_blocking(app, move |app| call(app, id, params)).await
        };
        let taken = method_filter(&method);
        Self::custom::<B, A>(method, path, about, on(taken, handler))
    }

    /// A route with a custom handler; `T` and `A` only document it.
    pub(crate) fn custom<T: JsonSchema, A: JsonSchema>(
        method: Method,
        path: &'static str,
        description: &'static str,
        handler: MethodRouter<SharedState>,
    ) -> Self {
        // Query parameters are listed one by one, so the schema is inlined; a body refers to a named schema.
        let request_schema: SchemaFn =
            if method == Method::GET { T::json_schema } else { SchemaGenerator::subschema_for::<T> };
        let response_schema: SchemaFn = SchemaGenerator::subschema_for::<A>;
        let error_statuses: &[StatusCode] = if path.contains("{id}") { &[StatusCode::NOT_FOUND] } else { &[] };
        let is_read = method == Method::GET;
        Self {
            access: if is_read { RouteAccess::Needs(Access::Read) } else { RouteAccess::ReadAndWrite },
            method,
            path,
            description,
            request_schema,
            response_schema,
            status: StatusCode::OK,
            other_responses: Vec::new(),
            error_statuses,
            handler,
        }
    }

    /// Sets who may use it.
    pub(super) fn for_callers(self, access: RouteAccess) -> Self {
        Self { access, ..self }
    }

    /// Sets the status on success.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds another successful response.
    pub(crate) fn or_returns<A: JsonSchema>(mut self, status: StatusCode) -> Self {
        self.other_responses.push((status, SchemaGenerator::subschema_for::<A>));
        self
    }

    /// Sets the error statuses beyond those that every route can return.
    pub(crate) fn with_errors(self, refuses: &'static [StatusCode]) -> Self {
        Self { error_statuses: refuses, ..self }
    }

    pub(crate) fn add_to(router: Router<SharedState>, route: Self) -> Router<SharedState> {
        router.route(route.path, route.handler)
    }
}

/// The `{id}` segment of a path; `Err` if it is not UTF-8.
pub(crate) type IdSegment = Result<Path<String>, PathRejection>;

/// Parses the id segment of a path.
pub(crate) fn parse_id_segment(path: &IdSegment) -> Result<SessionId, ApiError> {
    parse_session_id(path.as_ref().map_or("", |Path(text)| text))
}

/// Parses a session id. Only the canonical spelling is accepted, and the text is never used as a file path.
pub(crate) fn parse_session_id(text: &str) -> Result<SessionId, ApiError> {
    text.parse().map_err(|_| {
        ApiError::new(StatusCode::BAD_REQUEST, FailureKind::BadRequest, "invalid session id")
            .hint("ids have 26 characters: GET /api/sessions lists them")
    })
}

/// Runs work that may wait for disk, database or a model on a blocking thread.
pub(crate) async fn run_blocking<T: Send + 'static>(
    app: SharedState,
    work: impl FnOnce(&ServerState) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    done.unwrap_or_else(|_| Err(ApiError::internal_error()))
}

/// Decodes the query.
pub(crate) fn decode_query<Q: DeserializeOwned>(query: Option<&str>) -> Result<Q, ApiError> {
    query::decode(query.unwrap_or_default()).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// Decodes the body. An empty body counts as `{}`.
pub(crate) fn decode_body<B: DeserializeOwned>(body: &[u8]) -> Result<B, ApiError> {
    let body = if body.is_empty() { b"{}" } else { body };
    // serde would read an array as the fields in order, which no client means.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(ApiError::bad_request("the body must be a JSON object"));
    }
    serde_json::from_slice(body).map_err(|error| ApiError::bad_request(format!("invalid request body: {error}")))
}

fn method_filter(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::POST)
}
