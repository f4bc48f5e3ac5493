//! One row for each route: what it takes, what it gives, and the one call that does it.
//!
//! The router, the document of the API and the tests of every route are made from these rows.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use rethread_model::SessionId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{App, Refusal, Shared, query};
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
    /// What it does, in one sentence; more sentences say what else there is to know.
    pub(crate) about: &'static str,
    /// What it takes: in the query of a GET, as the body of all others.
    pub(crate) takes: Shape,
    /// What it gives.
    pub(crate) gives: Shape,
    /// The status of a good answer.
    pub(crate) status: StatusCode,
    /// Further statuses of good answers.
    pub(crate) also: Vec<(StatusCode, Shape)>,
    /// Refusals that not every route has.
    pub(crate) refuses: &'static [StatusCode],
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
    location: Option<String>,
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
    #[expect(clippy::unnecessary_wraps, reason = "calls end with it as with all others")]
    pub(crate) fn done() -> Outcome {
        Ok(Self { status: StatusCode::NO_CONTENT, body: String::new(), location: None })
    }

    /// An answer with a status of its own.
    pub(crate) fn with(status: StatusCode, what: &impl Serialize) -> Outcome {
        let body = json::text(what);
        let body =
            body.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Bug, error.to_string()))?;
        Ok(Self { status, body, location: None })
    }

    /// The same, and where what was made can be found.
    pub(crate) fn at(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        if self.body.is_empty() {
            return self.status.into_response();
        }
        let kind = [(header::CONTENT_TYPE, "application/json")];
        match self.location {
            Some(location) => (self.status, kind, [(header::LOCATION, location)], self.body).into_response(),
            None => (self.status, kind, self.body).into_response(),
        }
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
        Self::own::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
    }

    /// A route that reads of one session.
    pub(crate) fn get_of<Q, A>(path: &'static str, about: &'static str, call: fn(&App, SessionId, Q) -> Outcome) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        A: JsonSchema,
    {
        let handler = move |State(app): State<Shared>, id: InPath, RawQuery(query): RawQuery| async move {
            let (id, asked): (_, Q) = (id_in(&id)?, in_query(query.as_deref())?);
            blocking(app, move |app| call(app, id, asked)).await
        };
        Self::own::<Q, A>(Method::GET, path, about, on(MethodFilter::GET, handler))
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
        let handler = move |State(app): State<Shared>, RawQuery(query): RawQuery, body: Bytes| async move {
            let Nothing {} = in_query(query.as_deref())?;
            let asked: B = in_body(&body)?;
            blocking(app, move |app| call(app, asked)).await
        };
        let taken = filter(&method);
        Self::own::<B, A>(method, path, about, on(taken, handler))
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
        let handler = move |State(app): State<Shared>, id: InPath, RawQuery(query): RawQuery, body: Bytes| async move {
            let Nothing {} = in_query(query.as_deref())?;
            let (id, asked): (_, B) = (id_in(&id)?, in_body(&body)?);
            blocking(app, move |app| call(app, id, asked)).await
        };
        let taken = filter(&method);
        Self::own::<B, A>(method, path, about, on(taken, handler))
    }

    /// A route with a handler of its own, which takes and gives what is said here.
    pub(crate) fn own<T: JsonSchema, A: JsonSchema>(
        method: Method,
        path: &'static str,
        about: &'static str,
        handler: MethodRouter<Shared>,
    ) -> Self {
        // Each parameter of a query is told by itself; a body is told by its name.
        let takes: Shape = if method == Method::GET { T::json_schema } else { SchemaGenerator::subschema_for::<T> };
        let gives: Shape = SchemaGenerator::subschema_for::<A>;
        let refuses: &[StatusCode] = if path.contains("{id}") { &[StatusCode::NOT_FOUND] } else { &[] };
        Self { method, path, about, takes, gives, status: StatusCode::OK, also: Vec::new(), refuses, handler }
    }

    /// The same with another status for a good answer.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same with one more good answer, by a status of its own.
    pub(crate) fn or_gives<A: JsonSchema>(mut self, status: StatusCode) -> Self {
        self.also.push((status, SchemaGenerator::subschema_for::<A>));
        self
    }

    /// The same with refusals that not every route has.
    pub(crate) fn refusing(self, refuses: &'static [StatusCode]) -> Self {
        Self { refuses, ..self }
    }

    /// Adds it to a router.
    pub(crate) fn join(router: Router<Shared>, route: Self) -> Router<Shared> {
        router.route(route.path, route.handler)
    }
}

/// What stands in a path in an id's place; it may be no text at all.
pub(crate) type InPath = Result<Path<String>, PathRejection>;

/// The id in a path.
pub(crate) fn id_in(path: &InPath) -> Result<SessionId, Refusal> {
    session_id(path.as_ref().map_or("", |Path(text)| text))
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
    done.unwrap_or_else(|_| Err(Refusal::bug()))
}

/// What stands in a query.
pub(crate) fn in_query<Q: DeserializeOwned>(given: Option<&str>) -> Result<Q, Refusal> {
    query::decode(given.unwrap_or_default()).map_err(|error| Refusal::bad(error.to_string()))
}

/// What stands in a body. An empty one says nothing, like `{}`.
pub(crate) fn in_body<B: DeserializeOwned>(body: &[u8]) -> Result<B, Refusal> {
    let body = if body.is_empty() { b"{}" } else { body };
    // A list could be read as the fields in their order, which nobody means.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refusal::bad("the body must be a JSON object"));
    }
    serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the body is not what is taken here: {error}")))
}

fn filter(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::POST)
}
