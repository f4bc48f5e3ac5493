//! One row for each route: what it takes, what it gives, and the one call that does it.
//!
//! The router, the OpenAPI document and the tests of every route are made from these rows.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use rethread_model::SessionId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{App, Refusal, Shared};
use crate::failure::Kind;
use crate::json;

/// What a call gives.
pub(crate) type Outcome = Result<Answer, Refusal>;
/// How the shape of something is told.
pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// One route.
pub(crate) struct Route {
    /// The method.
    pub(crate) method: Method,
    /// The path, with `{id}` where a session is named.
    pub(crate) path: &'static str,
    /// What it does, in one sentence.
    pub(crate) about: &'static str,
    /// What it takes: in the query of a GET, as the body of all others.
    pub(crate) takes: Shape,
    /// What it gives.
    pub(crate) gives: Shape,
    /// The status of a good answer.
    pub(crate) status: StatusCode,
    handler: MethodRouter<Shared>,
}

/// Nothing need be said.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// A good answer.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: String,
}

impl Answer {
    /// What was asked for.
    pub(crate) fn json(what: &impl Serialize) -> Outcome {
        Self::with(StatusCode::OK, what)
    }

    /// Something was made.
    pub(crate) fn made(what: &impl Serialize) -> Outcome {
        Self::with(StatusCode::CREATED, what)
    }

    /// It is done, and there is nothing to say.
    pub(crate) fn done() -> Outcome {
        Ok(Self { status: StatusCode::NO_CONTENT, body: String::new() })
    }

    /// An answer with a status of its own.
    pub(crate) fn with(status: StatusCode, what: &impl Serialize) -> Outcome {
        let body = json::text(what);
        let body =
            body.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Bug, error.to_string()))?;
        Ok(Self { status, body })
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        if self.body.is_empty() {
            return self.status.into_response();
        }
        (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}

impl Route {
    /// A route that reads. What it takes stands in the query.
    pub(crate) fn get<Q, A>(path: &'static str, about: &'static str, call: fn(&App, Q) -> Outcome) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<Shared>, RawQuery(query): RawQuery| async move {
            let asked: Q = in_query(query.as_deref())?;
            blocking(app, move |app| call(app, asked)).await
        };
        Self::row::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
    }

    /// A route that reads of one session.
    pub(crate) fn get_of<Q, A>(path: &'static str, about: &'static str, call: fn(&App, SessionId, Q) -> Outcome) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<Shared>, Path(id): Path<String>, RawQuery(query): RawQuery| async move {
            let (id, asked): (_, Q) = (session_id(&id)?, in_query(query.as_deref())?);
            blocking(app, move |app| call(app, id, asked)).await
        };
        Self::row::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
    }

    /// A route that is told something, by the method and with the status of a good answer.
    pub(crate) fn tell<B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        call: fn(&App, B) -> Outcome,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<Shared>, body: Bytes| async move {
            let asked: B = in_body(&body)?;
            blocking(app, move |app| call(app, asked)).await
        };
        Self::row::<B, A>(method.clone(), path, about, on(filter(&method), handler))
    }

    /// A route that is told something of one session.
    pub(crate) fn tell_of<B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        call: fn(&App, SessionId, B) -> Outcome,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<Shared>, Path(id): Path<String>, body: Bytes| async move {
            let (id, asked): (_, B) = (session_id(&id)?, in_body(&body)?);
            blocking(app, move |app| call(app, id, asked)).await
        };
        Self::row::<B, A>(method.clone(), path, about, on(filter(&method), handler))
    }

    /// The same with another status for a good answer.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds it to a router.
    pub(crate) fn join(router: Router<Shared>, route: Self) -> Router<Shared> {
        router.route(route.path, route.handler)
    }

    /// A route with a handler of its own.
    pub(crate) fn row<T: JsonSchema, A: JsonSchema>(
        method: Method,
        path: &'static str,
        about: &'static str,
        handler: MethodRouter<Shared>,
    ) -> Self {
        let (takes, gives): (Shape, Shape) = (SchemaGenerator::subschema_for::<T>, SchemaGenerator::subschema_for::<A>);
        Self { method, path, about, takes, gives, status: StatusCode::OK, handler }
    }
}

/// The id in a path. Only its one spelling is taken, and it never becomes a path.
pub(crate) fn session_id(text: &str) -> Result<SessionId, Refusal> {
    text.parse().map_err(|_| {
        Refusal::new(StatusCode::BAD_REQUEST, Kind::BadRequest, "the id in the path is no session id")
            .hint("an id has 26 characters, as /api/sessions gives them")
    })
}

/// Does something that may wait for disk, database or model, where nobody else waits with it.
pub(crate) async fn blocking<T: Send + 'static>(
    app: Shared,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    done.unwrap_or_else(|_| {
        let refusal = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Bug, "a mistake in rethread itself");
        Err(refusal.hint("please report it"))
    })
}

/// What stands in a query.
pub(crate) fn in_query<Q: DeserializeOwned>(query: Option<&str>) -> Result<Q, Refusal> {
    let uri = format!("/?{}", query.unwrap_or_default()).parse();
    let uri = uri.map_err(|_| Refusal::bad("the query cannot be read"))?;
    let asked = axum::extract::Query::try_from_uri(&uri);
    asked.map(|axum::extract::Query(asked)| asked).map_err(|error| Refusal::bad(error.body_text()))
}

/// What stands in a body. An empty one says nothing, like `{}`.
pub(crate) fn in_body<B: DeserializeOwned>(body: &[u8]) -> Result<B, Refusal> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body is not what is taken here: {error}")))
}

fn filter(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::POST)
}

/// The app, for handlers that are no rows.
pub(crate) fn shared(app: &Shared) -> Shared {
    Arc::clone(app)
}
