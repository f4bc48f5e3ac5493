//! Messages over HTTP: appended as they are, or run as a turn that is queued behind others.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rethread_engine::{NewMessage, SendRequest};
use rethread_model::SessionId;
use rethread_model::thread::{Block, ChatRole, Message, ThreadId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory;
use super::run::WholeTurn;
use super::turns::{self, Accepted, Busy, Run, not_found, used_otherwise};
use crate::failure::Kind;
use crate::json::{OfferedTool, SCHEMA, Told, record_of, text};
use crate::serve::route::{InPath, Nothing, blocking, id_in, in_body, in_query, session_id};
use crate::serve::{App, Refusal, Route, Shared};

/// The header that names a message, where the body does not.
const KEY: &str = "idempotency-key";
/// The longest name that a client may give a message.
const LONGEST_CLIENT_ID: usize = 128;

/// A message: `role` and `content` are appended as they are; `text`, or `run`, is a turn.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SaidOver {
    /// Run a turn with this text of the user.
    #[serde(default)]
    text: Option<String>,
    /// Run a turn; without a text the model goes on, for example after results of its tools were appended.
    #[serde(default)]
    run: Option<bool>,
    /// Of a turn: whether to wait for its end; true if it is not said.
    #[serde(default)]
    wait: Option<bool>,
    /// Of a turn: tools of the caller.
    #[serde(default)]
    tools: Option<Vec<OfferedTool>>,
    /// Of a turn: whether the model may search memory.
    #[serde(default)]
    memory: Option<bool>,
    /// Append a message of the user, the assistant, or a tool.
    #[serde(default)]
    role: Option<Role>,
    /// What is appended: a text, or a list of blocks.
    #[serde(default)]
    content: Option<Value>,
    /// Of a tool's result: the call it answers.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Of a tool's result: whether the tool failed.
    #[serde(default)]
    is_error: Option<bool>,
    /// What the client calls it: sent again under the same name, it is still stored and run once.
    #[serde(default)]
    client_id: Option<String>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Role {
    User,
    Assistant,
    ToolResult,
}

/// What a message became.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Became {
    /// A record of the log.
    Appended(AppendedRecord),
    /// A turn that will be run.
    Queued(QueuedTurn),
    /// A turn that was run.
    Turn(WholeTurn),
}

/// A message that is on disk.
#[derive(Serialize, JsonSchema)]
struct AppendedRecord {
    schema: u8,
    /// The record, as it stands in the log.
    record: Value,
}

/// A turn that will be run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QueuedTurn {
    schema: u8,
    session_id: String,
    run_id: String,
    /// Turns that are before it in the session.
    ahead: usize,
}

/// What is to be done with a message.
#[derive(Debug)]
enum Wish {
    Append(NewMessage),
    Run { request: SendRequest, waits: bool },
}

/// The route.
pub(super) fn row() -> Route {
    let about = "Appends a message to a thread (201), or runs a turn with it that is queued behind others (200 at its end, \
                 or 202 at once). What was sent under the same clientId, or Idempotency-Key, is stored and run once.";
    let row = Route::own::<SaidOver, Became>(Method::POST, "/api/sessions/{id}/messages", about, post(say));
    let row = row.or_gives::<AppendedRecord>(StatusCode::CREATED).or_gives::<QueuedTurn>(StatusCode::ACCEPTED);
    row.refusing(&[StatusCode::NOT_FOUND, StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY])
}

async fn say(
    State(app): State<Shared>,
    id: InPath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Nothing {} = in_query(query.as_deref())?;
    let thread = thread_of(id_in(&id)?)?;
    let wish = wish(in_body(&body)?, &headers)?;
    match wish {
        Wish::Append(message) => append(&app, thread, message).await,
        Wish::Run { request, waits } => match turns::accept(&app, thread, request).await? {
            Accepted::Before(before) => answer(StatusCode::OK, &Became::Turn(WholeTurn::before(thread, &before))),
            Accepted::Run(run, _) if waits => end_of(&run).await,
            Accepted::Run(run, ahead) => {
                let (session_id, run_id) = (thread.to_string(), run.id.clone());
                answer(StatusCode::ACCEPTED, &Became::Queued(QueuedTurn { schema: SCHEMA, session_id, run_id, ahead }))
            }
        },
    }
}

/// The id of a thread, from the text of a client. It never becomes a path before it is one.
pub(super) fn thread_id(text: &str) -> Result<ThreadId, Refusal> {
    thread_of(session_id(text)?)
}

fn thread_of(id: SessionId) -> Result<ThreadId, Refusal> {
    id.to_string().parse().map_err(|_| Refusal::bad("the id is no session id"))
}

/// What a client calls a message, if it is short enough to be kept with it.
pub(super) fn client_id(given: Option<String>) -> Result<Option<String>, Refusal> {
    let is_usable = |id: &str| (1..=LONGEST_CLIENT_ID).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_graphic());
    match given {
        Some(id) if !is_usable(&id) => {
            let message = format!("a client id has 1 to {LONGEST_CLIENT_ID} letters, digits and signs, without spaces");
            Err(Refusal::bad(message))
        }
        given => Ok(given),
    }
}

/// What is said in a turn, if anything is.
pub(super) fn text_of(text: Option<String>) -> Result<Option<String>, Refusal> {
    match text {
        Some(text) if text.trim().is_empty() => {
            Err(Refusal::new(StatusCode::BAD_REQUEST, Kind::BadContent, "there is nothing to say"))
        }
        text => Ok(text),
    }
}

fn wish(said: SaidOver, headers: &HeaderMap) -> Result<Wish, Refusal> {
    let named = headers.get(KEY).map(|key| key.to_str().map(|key| key.trim_matches('"').to_owned()));
    let named = named.transpose().map_err(|_| Refusal::bad("the Idempotency-Key has signs that are not taken"))?;
    if named.is_some() && said.client_id.is_some() && named != said.client_id {
        return Err(Refusal::bad("the Idempotency-Key is another than the clientId"));
    }
    let client_id = client_id(said.client_id.clone().or(named))?;
    let is_turn = said.text.is_some() || said.run.is_some();
    let has_turn = is_turn || said.wait.is_some() || said.tools.is_some() || said.memory.is_some();
    let has_message = said.role.is_some() || said.content.is_some();
    let has_result = said.tool_call_id.is_some() || said.is_error.is_some();
    match (said.role, said.content) {
        (Some(role), Some(content)) if !has_turn => {
            let role = role.into();
            if has_result && role != ChatRole::ToolResult {
                return Err(Refusal::bad("toolCallId and isError belong to the role toolResult"));
            }
            let content = Block::list(content)
                .map_err(|reason| Refusal::new(StatusCode::BAD_REQUEST, Kind::BadContent, reason))?;
            let is_error = said.is_error.unwrap_or(false);
            Ok(Wish::Append(NewMessage { role, content, tool_call_id: said.tool_call_id, is_error, client_id }))
        }
        _ if is_turn && !has_message && !has_result && said.run != Some(false) => {
            let tools = said.tools.unwrap_or_default().into_iter().map(OfferedTool::into_tool).collect();
            let memory = said.memory.unwrap_or(false);
            let request = SendRequest { text: text_of(said.text)?, tools, memory, client_id };
            Ok(Wish::Run { request, waits: said.wait.unwrap_or(true) })
        }
        _ => Err(Refusal::bad("give role and content to append a message, or text or \"run\": true for a turn")),
    }
}

/// Waits for the end of a turn. Whoever leaves meanwhile does not stop it.
async fn end_of(run: &Run) -> Result<Response, Refusal> {
    let mut ended = run.ended.subscribe();
    let ended = ended.wait_for(Option::is_some).await.map_err(|_| Refusal::bug())?.clone();
    let ended = ended.ok_or_else(Refusal::bug)?;
    Ok((ended.status, [(header::CONTENT_TYPE, "application/json")], ended.body.clone()).into_response())
}

/// Appends at once, also while a turn runs. It is carried through even if whoever asked for it has left.
async fn append(app: &Shared, thread: ThreadId, message: NewMessage) -> Result<Response, Refusal> {
    let busy = Busy::unless_ending(app)?;
    let app = Arc::clone(app);
    let appended = tokio::spawn(async move {
        // Behind the door, so that events come in the order of the log.
        let _door = app.turns.door(thread).await;
        let done = blocking(Arc::clone(&app), move |app| append_once(app, thread, message)).await?;
        if let (StatusCode::CREATED, record) = &done {
            app.events.tell_session(thread.session(), Told::appended(record));
            memory::remember(&app, thread);
        }
        drop(busy);
        Ok(done)
    });
    let (status, record) = appended.await.unwrap_or_else(|_| Err(Refusal::bug()))?;
    answer(status, &Became::Appended(AppendedRecord { schema: SCHEMA, record: record_of(&record) }))
}

/// The record, and whether it is new. What a client sends again is in the log already.
fn append_once(app: &App, thread: ThreadId, message: NewMessage) -> Result<(StatusCode, Message), Refusal> {
    let found = |error| not_found(app, thread, error);
    if let Some(client_id) = &message.client_id {
        // A turn that waits is not in the log yet.
        if app.turns.sent(thread, client_id).is_some() {
            return Err(used_otherwise());
        }
        let before = app.engine.thread_sent_before(thread, client_id).map_err(found)?;
        if let Some(record) = before.into_iter().next() {
            let is_same = record.role == message.role && record.content == message.content && record.run_id.is_none();
            return if is_same { Ok((StatusCode::OK, record)) } else { Err(used_otherwise()) };
        }
    }
    let opened = app.engine.thread_open(&thread.to_string()).map_err(found)?;
    Ok((StatusCode::CREATED, opened.append(message)?))
}

fn answer(status: StatusCode, became: &Became) -> Result<Response, Refusal> {
    let body = text(became).map_err(|_| Refusal::bug())?;
    Ok((status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

impl From<Role> for ChatRole {
    fn from(role: Role) -> Self {
        match role {
            Role::User => ChatRole::User,
            Role::Assistant => ChatRole::Assistant,
            Role::ToolResult => ChatRole::ToolResult,
        }
    }
}
