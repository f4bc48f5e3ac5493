//! Sessions as rows: the newest ones, or those that are active now.

use rethread_engine::{EngineError, ListedSession, SessionListRequest};
use rethread_model::{Session, SessionState};

use super::{LoadContext, empty_note, joined, query_words};
use crate::render::{Tone, age, count, describe_state, project_name, session_label};
use crate::tui::request::{ListRequest, LoadedList};
use crate::tui::row::{ListRow, RowSubject};

/// The newest sessions.
pub(super) fn recent(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let filters = &request.filters;
    let wanted = SessionListRequest {
        scope: filters.scope(),
        agent: filters.agent,
        state: filters.state,
        limit: Some(request.limit as u64),
        ..SessionListRequest::default()
    };
    let now = context.engine.now();
    let mut found = context.engine.sessions().list(&wanted)?;
    let is_cut = found.len() == request.limit;
    // The list is newest first, so the limit hides nothing within the time.
    found.retain(|listed| filters.includes_time(listed.session.last_activity_at, now));
    let has_more = is_cut && found.len() == request.limit;
    let newest = if has_more { "newest " } else { "" };
    Ok(LoadedList {
        summary: format!("{newest}{}", count(found.len() as u64, "session")),
        empty_note: empty_note("No sessions with these filters. Remove some", filters),
        has_more,
        rows: found.iter().map(|listed| row(context, listed, "")).collect(),
        ..LoadedList::default()
    })
}

/// Sessions that were active in the last hour, whose name has all words of the query.
pub(super) fn live(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let filters = &request.filters;
    let activity = context.engine.awareness().live_activity(&filters.scope())?;
    let words = query_words(&request.query);
    let has_words = |session: &Session| {
        let name = session_label(session).to_lowercase();
        words.iter().all(|word| name.contains(word))
    };
    let is_wanted = |listed: &&ListedSession| {
        filters.includes_agent(listed.session.agent)
            && filters.state.is_none_or(|state| state == listed.state)
            && has_words(&listed.session)
    };
    let found: Vec<&ListedSession> = activity.sessions.iter().filter(is_wanted).collect();
    Ok(LoadedList {
        summary: count(found.len() as u64, "session"),
        empty_note: "No session was active in the last hour. This list updates by itself.".to_owned(),
        rows: found.iter().map(|listed| row(context, listed, &describe_state(listed))).collect(),
        words,
        ..LoadedList::default()
    })
}

fn row(context: LoadContext<'_>, listed: &ListedSession, state: &str) -> ListRow {
    let session = &listed.session;
    let counts = session.counts;
    let errors = if counts.tool_errors > 0 { count(counts.tool_errors, "error") } else { String::new() };
    let files = if counts.files_edited > 0 { count(counts.files_edited, "file") } else { String::new() };
    let prompts = count(counts.prompts, "prompt");
    let detail = joined(&[state, &project_name(session), &prompts, &files, &errors]);
    let is_running = matches!(listed.state, SessionState::Active | SessionState::Idle);
    ListRow {
        title: session_label(session),
        title_tone: if listed.state == SessionState::Active { Tone::Success } else { Tone::Plain },
        aside: format!("{} {}", session.agent, age(session.last_activity_at, context.engine.now())),
        detail,
        matches: Vec::new(),
        subject: RowSubject {
            session: session.id,
            stored: Some(Box::new(session.clone())),
            line: None,
            is_running,
            text: session_label(session),
            fact: None,
        },
    }
}
