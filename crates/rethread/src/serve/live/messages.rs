//! `POST /api/sessions/{id}/messages`: appends a message, or runs a turn that is queued behind others.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use rethread_engine::{EngineError, NewMessage, SendRequest, ThreadError};
use rethread_model::thread::{ChatRole, ContentBlock, ThreadId, ThreadMessage};
use rethread_model::{Access, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::TurnResultJson;
use super::thread_sync;
use super::turn_queue::{self, AcceptedTurn, BusyGuard, TurnRun, client_id_conflict, thread_error};
use crate::failure::FailureKind;
use crate::json::{CallerToolJson, FrameEventJson, SCHEMA, message_record, to_json_line};
use crate::serve::access::RouteAccess;
use crate::serve::route::{
    IdSegment, NoParams, decode_body, decode_query, parse_id_segment, parse_session_id, run_blocking,
};
use crate::serve::{ApiError, RequestCaller, Route, ServerState, SharedState, require_access};

/// Alternative to `clientId` in the body.
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Longest client id in bytes.
const MAX_CLIENT_ID_BYTES: usize = 128;

/// A message to append (`role` and `content`), or a turn to run (`text` or `run`).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessageBody {
    /// Run a turn with this user message.
    #[serde(default)]
    text: Option<String>,
    /// Run a turn; without `text` the model continues, for example after tool results were appended.
    #[serde(default)]
    run: Option<bool>,
    /// Turns only: wait for the end; defaults to true.
    #[serde(default)]
    wait: Option<bool>,
    /// Turns only: tools that the caller provides.
    #[serde(default)]
    tools: Option<Vec<CallerToolJson>>,
    /// Turns only: let the model search memory.
    #[serde(default)]
    memory: Option<bool>,
    /// Append a message with this role.
    #[serde(default)]
    role: Option<MessageBodyRole>,
    /// Content to append: a string, or a list of blocks.
    #[serde(default)]
    content: Option<Value>,
    /// Tool results only: the call it answers.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Tool results only: whether the tool failed.
    #[serde(default)]
    is_error: Option<bool>,
    /// Idempotency key: a message sent again with the same id is stored and run once.
    #[serde(default)]
    client_id: Option<String>,
}

/// Role of an appended message.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum MessageBodyRole {
    User,
    Assistant,
    ToolResult,
}

/// Result of a posted message.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum MessageResultJson {
    /// The appended record.
    Appended(PostedRecordJson),
    /// An accepted turn that has not run yet.
    Queued(QueuedTurnJson),
    /// The finished turn.
    Turn(TurnResultJson),
}

/// An appended message.
#[derive(Serialize, JsonSchema)]
struct PostedRecordJson {
    schema: u8,
    /// The record as stored in the log. Only its `recordType` and `seq` for a token without read access.
    record: Value,
}

/// An accepted turn that has not run yet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QueuedTurnJson {
    schema: u8,
    session_id: String,
    run_id: String,
    /// Turns ahead of it in the session.
    ahead: usize,
}

/// A validated message body.
#[derive(Debug)]
enum MessageAction {
    Append(NewMessage),
    Run { request: SendRequest, should_wait: bool },
}

pub(super) fn route() -> Route {
    let about = "Append a message to a thread (201), or run a queued turn (200 at its end, or 202 at once). Messages \
                 with the same clientId or Idempotency-Key are stored and run once.";
    let row = Route::custom::<MessageBody, MessageResultJson>(
        Method::POST,
        "/api/sessions/{id}/messages",
        about,
        post(post_message),
    );
    let row =
        row.or_returns::<PostedRecordJson>(StatusCode::CREATED).or_returns::<QueuedTurnJson>(StatusCode::ACCEPTED);
    row.for_callers(RouteAccess::Needs(Access::Write)).with_errors(&[
        StatusCode::NOT_FOUND,
        StatusCode::CONFLICT,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::BAD_GATEWAY,
    ])
}

async fn post_message(
    State(app): State<SharedState>,
    Extension(caller): Extension<RequestCaller>,
    id: IdSegment,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    let NoParams {} = decode_query(query.as_deref())?;
    let thread = to_thread_id(parse_id_segment(&id)?)?;
    let action = parse_action(decode_body(&body)?, &headers)?;
    if matches!(action, MessageAction::Run { .. }) {
        // The answer of the model is content of the space.
        require_access(&caller, &[Access::Read])?;
    }
    match action {
        MessageAction::Append(message) => append(&app, &caller, thread, message).await,
        MessageAction::Run { request, should_wait: waits } => match turn_queue::accept(&app, thread, request).await? {
            AcceptedTurn::Earlier(before) => {
                json_response(StatusCode::OK, &MessageResultJson::Turn(TurnResultJson::from_earlier(thread, &before)))
            }
            AcceptedTurn::New(run, _) if waits => wait_for_end(&run).await,
            AcceptedTurn::New(run, ahead) => {
                let (session_id, run_id) = (thread.to_string(), run.id.clone());
                json_response(
                    StatusCode::ACCEPTED,
                    &MessageResultJson::Queued(QueuedTurnJson { schema: SCHEMA, session_id, run_id, ahead }),
                )
            }
        },
    }
}

/// Parses a thread id before anything uses it as a file name.
pub(super) fn parse_thread_id(text: &str) -> Result<ThreadId, ApiError> {
    to_thread_id(parse_session_id(text)?)
}

fn to_thread_id(id: SessionId) -> Result<ThreadId, ApiError> {
    id.to_string().parse().map_err(|_| ApiError::bad_request("invalid thread id"))
}

/// Checks the length and the characters of a client id.
pub(super) fn check_client_id(client_id: Option<String>) -> Result<Option<String>, ApiError> {
    let is_usable =
        |id: &str| (1..=MAX_CLIENT_ID_BYTES).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_graphic());
    match client_id {
        Some(id) if !is_usable(&id) => {
            let message =
                format!("a client id must have 1 to {MAX_CLIENT_ID_BYTES} printable ASCII characters, no spaces");
            Err(ApiError::bad_request(message))
        }
        client_id => Ok(client_id),
    }
}

/// Rejects a blank text.
pub(super) fn check_text(text: Option<String>) -> Result<Option<String>, ApiError> {
    match text {
        Some(text) if text.trim().is_empty() => {
            Err(ApiError::new(StatusCode::BAD_REQUEST, FailureKind::InvalidContent, "text is empty"))
        }
        text => Ok(text),
    }
}

fn parse_action(body: MessageBody, headers: &HeaderMap) -> Result<MessageAction, ApiError> {
    let named = headers.get(IDEMPOTENCY_HEADER).map(|key| key.to_str().map(|key| key.trim_matches('"').to_owned()));
    let named = named.transpose().map_err(|_| ApiError::bad_request("invalid characters in Idempotency-Key"))?;
    if named.is_some() && body.client_id.is_some() && named != body.client_id {
        return Err(ApiError::bad_request("Idempotency-Key and clientId differ"));
    }
    let client_id = check_client_id(body.client_id.clone().or(named))?;
    let is_turn = body.text.is_some() || body.run.is_some();
    let has_turn = is_turn || body.wait.is_some() || body.tools.is_some() || body.memory.is_some();
    let has_message = body.role.is_some() || body.content.is_some();
    let has_result = body.tool_call_id.is_some() || body.is_error.is_some();
    match (body.role, body.content) {
        (Some(role), Some(content)) if !has_turn => {
            let role = role.into();
            if has_result && role != ChatRole::ToolResult {
                return Err(ApiError::bad_request("toolCallId and isError need the role toolResult"));
            }
            let content = ContentBlock::parse_list(content)
                .map_err(|reason| ApiError::new(StatusCode::BAD_REQUEST, FailureKind::InvalidContent, reason))?;
            let is_error = body.is_error.unwrap_or(false);
            Ok(MessageAction::Append(NewMessage {
                role,
                content,
                tool_call_id: body.tool_call_id,
                is_error,
                client_id,
            }))
        }
        _ if is_turn && !has_message && !has_result && body.run != Some(false) => {
            let tools = body.tools.unwrap_or_default().into_iter().map(CallerToolJson::into_tool).collect();
            let memory = body.memory.unwrap_or(false);
            let request = SendRequest { text: check_text(body.text)?, tools, can_search_memory: memory, client_id };
            Ok(MessageAction::Run { request, should_wait: body.wait.unwrap_or(true) })
        }
        _ => Err(ApiError::bad_request(
            "pass role and content to append a message, or text or \"run\": true to run a turn",
        )),
    }
}

/// Waits for the end of a turn. A client that disconnects does not stop it.
async fn wait_for_end(run: &TurnRun) -> Result<Response, ApiError> {
    let mut ended = run.response.subscribe();
    let ended = ended.wait_for(Option::is_some).await.map_err(|_| ApiError::internal_error())?.clone();
    let ended = ended.ok_or_else(ApiError::internal_error)?;
    Ok((ended.status, [(header::CONTENT_TYPE, "application/json")], ended.body.clone()).into_response())
}

/// Appends at once, even while a turn runs. Completes even if the client disconnects.
async fn append(
    app: &SharedState,
    caller: &RequestCaller,
    thread: ThreadId,
    message: NewMessage,
) -> Result<Response, ApiError> {
    let busy = BusyGuard::unless_closed(app)?;
    let app = Arc::clone(app);
    let appended = tokio::spawn(async move {
        // Under the thread lock, so that events have the order of the log.
        let _lock = app.turns.lock_thread(thread).await;
        let done = run_blocking(Arc::clone(&app), move |app| append_once(app, thread, &message)).await?;
        if let (StatusCode::CREATED, record) = &done {
            app.events.publish_to_session(thread.session_id(), FrameEventJson::from_message(record));
            thread_sync::sync_thread(&app, thread);
        }
        drop(busy);
        Ok(done)
    });
    let (status, record) = appended.await.unwrap_or_else(|_| Err(ApiError::internal_error()))?;
    let mut record = message_record(&record);
    if let (false, Some(fields)) = (caller.allows(Access::Read), record.as_object_mut()) {
        fields.retain(|name, _| ["recordType", "seq"].contains(&name.as_str()));
    }
    json_response(status, &MessageResultJson::Appended(PostedRecordJson { schema: SCHEMA, record }))
}

/// The record with 201, or with 200 if the same client id was appended before.
fn append_once(
    app: &ServerState,
    thread: ThreadId,
    message: &NewMessage,
) -> Result<(StatusCode, ThreadMessage), ApiError> {
    // Opened first: it refuses what another node stores under the same client id from here on.
    let opened = app.engine.threads().open(&thread.to_string()).map_err(|error| thread_error(app, thread, error))?;
    if let Some(record) = find_appended(app, thread, message)? {
        return Ok((StatusCode::OK, record));
    }
    match opened.append(message.clone()) {
        Err(EngineError::Thread(ThreadError::ClientIdTaken { .. })) => {
            let record = find_appended(app, thread, message)?.ok_or_else(client_id_conflict)?;
            Ok((StatusCode::OK, record))
        }
        appended => Ok((StatusCode::CREATED, appended?)),
    }
}

/// The record of a message that was appended before under its client id. Fails if that was another message.
fn find_appended(app: &ServerState, thread: ThreadId, message: &NewMessage) -> Result<Option<ThreadMessage>, ApiError> {
    let Some(client_id) = &message.client_id else { return Ok(None) };
    // A queued turn is not in the log yet.
    if app.turns.find_by_client_id(thread, client_id).is_some() {
        return Err(client_id_conflict());
    }
    let before = app.engine.threads().messages_by_client_id(thread, client_id);
    let Some(record) = before.map_err(|error| thread_error(app, thread, error))?.into_iter().next() else {
        return Ok(None);
    };
    let is_same = record.role == message.role && record.content == message.content && record.run_id.is_none();
    if is_same { Ok(Some(record)) } else { Err(client_id_conflict()) }
}

fn json_response(status: StatusCode, became: &MessageResultJson) -> Result<Response, ApiError> {
    let body = to_json_line(became).map_err(|_| ApiError::internal_error())?;
    Ok((status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

impl From<MessageBodyRole> for ChatRole {
    fn from(role: MessageBodyRole) -> Self {
        match role {
            MessageBodyRole::User => ChatRole::User,
            MessageBodyRole::Assistant => ChatRole::Assistant,
            MessageBodyRole::ToolResult => ChatRole::ToolResult,
        }
    }
}
