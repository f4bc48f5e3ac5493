//! Sessions and threads: list, create, show, change, delete.

use axum::http::{Method, StatusCode};
use rethread_engine::{CloseAction, Engine, ForgetReport, NewThread, PageRequest, SessionChange, SessionListRequest};
use rethread_model::{Access, Agent, SessionId, SessionState};
use schemars::JsonSchema;
use serde::Deserialize;

use super::logs::PAGE_BYTES;
use crate::failure::FailureKind;
use crate::json::{ConversationDetailsJson, ConversationListJson, SimilarSessionsJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{
    BoundedList, BoundedNumber, BoundedText, ChoiceParam, LogPosition, NamedChoice, ProjectParam, ResultLimit,
    optional_string, scope,
};
use crate::serve::route::{ApiResult, NoParams};
use crate::serve::{ApiError, ApiResponse, Route, ServerState};

/// Messages of a thread that are returned by default.
const DEFAULT_MESSAGES: u64 = 100;

pub(super) fn routes() -> Vec<Route> {
    let one = "/api/sessions/{id}";
    vec![
        Route::get::<SessionListParams, ConversationListJson<'_>>(
            "/api/sessions",
            "List sessions and threads, most recently active first. Threads are always listed; empty agent sessions \
             only with `includeEmpty`.",
            list,
        ),
        Route::with_body::<NewThreadBody, ConversationDetailsJson<'_>>(
            Method::POST,
            "/api/sessions",
            "Create a thread: a conversation whose log Rethread stores. The server assigns the id.",
            create,
        )
        .for_callers(RouteAccess::Needs(Access::Write))
        .with_status(StatusCode::CREATED),
        Route::get_for_session::<SessionParams, ConversationDetailsJson<'_>>(
            one,
            "Show a session. For a thread, also its metadata and last messages.",
            show,
        ),
        Route::get_for_session::<SimilarParams, SimilarSessionsJson<'_>>(
            "/api/sessions/{id}/similar",
            "List sessions with similar work, of any project, most similar first. Copies, forks and sub-agents of the \
             session are left out.",
            similar,
        ),
        Route::with_body_for_session::<SessionChangeBody, ConversationDetailsJson<'_>>(
            Method::PATCH,
            one,
            "Change name, alias, task, note, pin, tags or state of a session. All fields are checked before any is changed; \
             missing fields stay unchanged.",
            change,
        )
        .with_errors(&[StatusCode::NOT_FOUND, StatusCode::CONFLICT]),
        Route::with_body_for_session::<NoParams, ()>(
            Method::DELETE,
            one,
            "Delete a thread, or forget an agent session. Like `rethread forget`, this erases everything derived from \
             the session, including sub-agents, and leaves a tombstone so that sync does not read it again. The \
             agent's own transcript stays. 503 means the session is forgotten, but its bytes could not be wiped yet \
             because another process reads the database; the next sync or deletion wipes them.",
            delete,
        )
        .for_callers(RouteAccess::Needs(Access::Admin))
        .with_status(StatusCode::NO_CONTENT),
    ]
}

/// Which sessions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionListParams {
    /// Only sessions in this state.
    state: Option<ChoiceParam<SessionState>>,
    /// Only sessions of this agent; `native` means threads.
    agent: Option<ChoiceParam<Agent>>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Also list empty agent sessions.
    #[serde(default)]
    include_empty: bool,
    /// Also list sub-agent sessions.
    #[serde(default)]
    children: bool,
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<100, 1000>,
    /// Skip this many first.
    offset: Option<BoundedNumber<0, 1_000_000>>,
}

fn list(app: &ServerState, params: SessionListParams) -> ApiResult {
    let SessionListParams { state, agent, project, include_empty, children: include_children, limit, offset } = params;
    let (limit, offset) = (limit.get(), offset.map_or(0, |BoundedNumber(offset)| offset as usize));
    let request = SessionListRequest {
        scope: scope(project.as_ref()),
        agent: agent.map(|ChoiceParam(agent)| agent),
        state: state.map(|ChoiceParam(state)| state),
        include_empty,
        include_children,
        // One extra row shows whether there are more.
        limit: Some((offset + limit + 1) as u64),
        ..SessionListRequest::default()
    };
    let mut found: Vec<_> = app.engine.conversations().list(&request)?.into_iter().skip(offset).collect();
    let more = found.len() > limit;
    found.truncate(limit);
    ApiResponse::json(&ConversationListJson::new(&found, more))
}

/// A new thread.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewThreadBody {
    /// Name; by default derived from the first message.
    name: Option<BoundedText<0, 200>>,
    /// System prompt.
    system_prompt: Option<BoundedText<0, 100_000>>,
    /// Model; by default the configured one.
    model: Option<BoundedText<0, 200>>,
    /// Id of the cron job that starts it, if any.
    cron_job_id: Option<BoundedText<1, 200>>,
}

fn create(app: &ServerState, params: NewThreadBody) -> ApiResult {
    let metadata = app.engine.threads().create(&NewThread {
        name: optional_string(params.name),
        model: optional_string(params.model),
        system_prompt: optional_string(params.system_prompt),
        cron_job: optional_string(params.cron_job_id),
    })?;
    let id = metadata.id.session_id();
    // The thread is on disk; a failure here only delays its entry in memory until the next sync.
    let _ = app.engine.conversations().register(id);
    Ok(session_response(&app.engine, id, DEFAULT_MESSAGES, StatusCode::CREATED)?
        .with_location(format!("/api/sessions/{id}")))
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionParams {
    /// Return this many of a thread's last messages; defaults to 100.
    messages: Option<BoundedNumber<0, 1000>>,
}

fn show(app: &ServerState, id: SessionId, params: SessionParams) -> ApiResult {
    session_response(
        &app.engine,
        id,
        params.messages.map_or(DEFAULT_MESSAGES, |BoundedNumber(most)| most),
        StatusCode::OK,
    )
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SimilarParams {
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<5, 50>,
}

fn similar(app: &ServerState, id: SessionId, params: SimilarParams) -> ApiResult {
    ApiResponse::json(&SimilarSessionsJson::new(&app.engine.search().similar(id, params.limit.get())?))
}

fn session_response(engine: &Engine, id: SessionId, messages: u64, status: StatusCode) -> ApiResult {
    let found = engine.conversations().get(id)?;
    let hand = engine.lifecycle().task_and_notes(id)?;
    let page = PageRequest { from: None, before: None, limit: messages as usize, max_bytes: PAGE_BYTES };
    let log = found.thread.as_ref().map(|_| engine.threads().records(id, true, page)).transpose()?;
    ApiResponse::with_status(status, &ConversationDetailsJson::new(&found, &hand, log.as_ref()))
}

/// Tags of a request.
type RequestedTags = BoundedList<BoundedText<1, 40>, 20>;

/// Changes to a session.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionChangeBody {
    /// Name; "" restores the original.
    name: Option<BoundedText<0, 200>>,
    /// Alias of letters, digits, dashes, dots and underscores, removed from any other session that has it; "" removes
    /// it.
    alias: Option<BoundedText<0, 100>>,
    /// Current task; "" clears it.
    task: Option<BoundedText<0, 2_000>>,
    /// Note to keep for a day.
    note: Option<BoundedText<1, 2_000>>,
    /// Whether the session is pinned.
    pinned: Option<bool>,
    /// Tags to add. A session can have 20.
    #[serde(default)]
    add_tags: RequestedTags,
    /// Tags to remove, in any case.
    #[serde(default)]
    remove_tags: RequestedTags,
    /// Close the session: a `suspended` one resumes with its next prompt, an `ended` one starts over.
    state: Option<ChoiceParam<CloseAction>>,
}

impl NamedChoice for CloseAction {
    const NOUN: &'static str = "state";

    fn choices() -> Vec<(&'static str, Self)> {
        vec![("suspended", CloseAction::Suspend), ("ended", CloseAction::End)]
    }
}

fn change(app: &ServerState, id: SessionId, params: SessionChangeBody) -> ApiResult {
    let change = SessionChange {
        name: optional_string(params.name),
        alias: optional_string(params.alias),
        task: optional_string(params.task),
        note: optional_string(params.note),
        pinned: params.pinned,
        add_tags: strings(params.add_tags),
        remove_tags: strings(params.remove_tags),
        close: params.state.map(|ChoiceParam(closing)| closing),
    };
    if change == SessionChange::default() {
        return Err(ApiError::bad_request("no change given"));
    }
    app.engine.lifecycle().change(id, &change)?;
    session_response(&app.engine, id, DEFAULT_MESSAGES, StatusCode::OK)
}

fn strings(BoundedList(texts): RequestedTags) -> Vec<String> {
    texts.into_iter().map(|BoundedText(text)| text).collect()
}

fn delete(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    let forgotten = app.engine.conversations().delete(id)?;
    let left: Vec<&str> = forgotten.iter().flat_map(ForgetReport::remaining).map(|left| left.place).collect();
    if left.is_empty() {
        return ApiResponse::no_content();
    }
    let message = format!("the session is forgotten, but its bytes remain in: {}", left.join(", "));
    let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, FailureKind::StoreLocked, message);
    Err(error.hint("the next sync or deletion wipes them, once no other process reads the database"))
}

pub(super) fn position_value(position: Option<LogPosition>) -> Option<u64> {
    position.map(|BoundedNumber(position)| position)
}
