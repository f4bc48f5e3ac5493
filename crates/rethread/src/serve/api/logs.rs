//! The log of a session: records or entries, episodes, and the messages a model would get.

use axum::http::{Method, StatusCode};
use rethread_engine::{CompactRequest, EngineError, EpisodeText, LogProfile, PageRequest};
use rethread_model::{SessionId, clip};
use schemars::JsonSchema;
use serde::Deserialize;

use super::existing_reference;
use super::sessions::position_value;
use crate::json::{
    CompactReportJson, EntryOriginalJson, EpisodeListJson, LogPageJson, SessionEventsJson, ThreadContextJson,
};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedText, ChoiceParam, LogPosition, ResultLimit, optional_string};
use crate::serve::route::{ApiResult, NoParams};
use crate::serve::{ApiResponse, Route, ServerState};

/// Bytes of records per page; a longer record is returned alone.
pub(super) const PAGE_BYTES: usize = 4 << 20;
/// Characters of an episode that are returned.
const MAX_EPISODE_CHARS: usize = 100_000;

pub(super) fn routes() -> Vec<Route> {
    const THREAD_ERRORS: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get_for_session::<RecordsParams, LogPageJson<'_>>(
            "/api/sessions/{id}/records",
            "Read a page of a session's log, in order. Returns the records of a thread or the entries of an agent \
             session. With `from`, the page starts there, otherwise it ends at the end. A page has at most 4 MiB, or \
             one longer record.",
            records,
        ),
        Route::get_for_session::<OriginalParams, EntryOriginalJson<'_>>(
            "/api/sessions/{id}/original",
            "Read an entry from its transcript: whole text, diffs, command output. Redacted, and not stored. An output \
             has at most 1 MiB. If the transcript is gone or was rewritten, `problem` says so. Not available on a server \
             of a team, because transcripts stay on the machines of their users.",
            original,
        )
        .for_callers(RouteAccess::LocalOnly),
        Route::get_for_session::<EpisodesParams, EpisodeListJson<'_>>(
            "/api/sessions/{id}/episodes",
            "List the episodes of a session as plain text. At most 100,000 characters of each.",
            episodes,
        ),
        Route::get_for_session::<NoParams, SessionEventsJson<'_>>(
            "/api/sessions/{id}/events",
            "List the last 50 events of a session: start, prompts, tool calls, answers, idle, resume and end. Without \
             hooks they are inferred from the transcript.",
            events,
        ),
        Route::get_for_session::<ContextParams, ThreadContextJson<'_>>(
            "/api/sessions/{id}/context",
            "Show the messages a model would get for a thread. Never compacts.",
            context,
        )
        .with_errors(THREAD_ERRORS),
        Route::with_body_for_session::<CompactBody, CompactReportJson<'_>>(
            Method::POST,
            "/api/sessions/{id}/compact",
            "Compact a thread. Summarizes its beginning and appends the summary to the log; nothing is rewritten. \
             Waits for a running turn. `record` is null if everything is recent.",
            compact,
        )
        .with_errors(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
    ]
}

/// Which page of the log.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordsParams {
    /// Start at this number (`seq`).
    from: Option<LogPosition>,
    /// End before this number.
    before: Option<LogPosition>,
    /// Agent sessions only: center on this transcript line, as citations name it.
    line: Option<LogPosition>,
    /// Agent sessions only: messages, also tool calls, or everything that is stored.
    profile: Option<ChoiceParam<LogProfile>>,
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<100, 1000>,
}

fn records(app: &ServerState, id: SessionId, params: RecordsParams) -> ApiResult {
    let page = PageRequest {
        from: position_value(params.from),
        before: position_value(params.before),
        limit: params.limit.get(),
        max_bytes: PAGE_BYTES,
    };
    match app.engine.threads().records(id, false, page) {
        Ok(found) => ApiResponse::json(&LogPageJson::from_thread(&found)),
        Err(EngineError::NotAThread(_)) => {
            let profile = params.profile.map_or(LogProfile::Structure, |ChoiceParam(profile)| profile);
            let (_, found) = app.engine.sessions().entries(id, profile, position_value(params.line), page)?;
            ApiResponse::json(&LogPageJson::from_session(id, &found))
        }
        Err(error) => Err(error.into()),
    }
}

/// Which entry.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OriginalParams {
    /// Position among the entries of the session, as in the log; by default the first one.
    seq: Option<LogPosition>,
}

fn original(app: &ServerState, id: SessionId, params: OriginalParams) -> ApiResult {
    let seq = position_value(params.seq).unwrap_or(0);
    ApiResponse::json(&EntryOriginalJson::new(&app.engine.sessions().original(id, seq)?))
}

/// Which episodes.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EpisodesParams {
    /// Start at this episode number.
    from: Option<LogPosition>,
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<20, 200>,
}

fn episodes(app: &ServerState, id: SessionId, params: EpisodesParams) -> ApiResult {
    let (listed, all) = app.engine.sessions().episodes(&existing_reference(app, id)?)?;
    let from = position_value(params.from).unwrap_or(0);
    let episodes = all.into_iter().filter(|one| one.episode.number >= from).take(params.limit.get());
    let episodes = episodes.map(|one| EpisodeText { text: clip(&one.text, MAX_EPISODE_CHARS).into_owned(), ..one });
    let episodes: Vec<EpisodeText> = fit_page(episodes, |one| one.text.len()).collect();
    ApiResponse::json(&EpisodeListJson::new(&listed, &episodes))
}

/// As many items as fit into [`PAGE_BYTES`], and at least one.
fn fit_page<T>(items: impl Iterator<Item = T>, bytes: impl Fn(&T) -> usize) -> impl Iterator<Item = T> {
    let mut total = 0;
    items
        .enumerate()
        .take_while(move |(at, item)| {
            total += bytes(item);
            *at == 0 || total <= PAGE_BYTES
        })
        .map(|(_, item)| item)
}

fn events(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    ApiResponse::json(&SessionEventsJson::new(&app.engine.lifecycle().events_by_id(id)?))
}

/// How much of the context to return.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextParams {
    /// Return at most this many of the last messages, up to 4 MiB; `leftOut` counts the earlier ones.
    #[serde(default)]
    limit: ResultLimit<1000, 10_000>,
}

fn context(app: &ServerState, id: SessionId, params: ContextParams) -> ApiResult {
    let id = app.engine.conversations().require_thread(id)?;
    let found = app.engine.threads().context(&id.to_string())?;
    let latest = found.messages.iter().rev().take(params.limit.get());
    let limit = fit_page(latest, |message| crate::json::to_json_line(message).map_or(0, |text| text.len())).count();
    ApiResponse::json(&ThreadContextJson::with_last_messages(&found, limit))
}

/// How to compact.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CompactBody {
    /// What the summary should focus on.
    focus: Option<BoundedText<0, 4_000>>,
    /// Only estimate effect and cost; send and write nothing.
    #[serde(default)]
    dry_run: bool,
}

fn compact(app: &ServerState, id: SessionId, params: CompactBody) -> ApiResult {
    let id = app.engine.conversations().require_thread(id)?;
    let reference = id.to_string();
    let request = CompactRequest { focus: optional_string(params.focus) };
    let report = if params.dry_run {
        app.engine.turns().plan_compaction(&reference, &request)?
    } else {
        let _permit = app.server.limits.acquire_slow()?;
        let is_ending = || *app.server.shutdown.borrow();
        let report = app.engine.turns().compact(&reference, &request, &is_ending, &mut |_| {})?;
        // The log is already written; if this fails, the next sync reads it.
        let _ = app.engine.threads().sync(id);
        report
    };
    let answer = report.as_ref().map_or_else(CompactReportJson::nothing_to_compact, CompactReportJson::new);
    ApiResponse::json(&answer)
}
