//! The list of sessions beside an open one: those of its project first, then the latest of others.

use maud::{Markup, html};
use rethread_engine::{ListedSession, SessionListRequest, SessionScope};
use rethread_model::{Session, SessionState};

use super::super::components::{OneLine, PageContext, last_part};
use super::super::links::to_session;
use super::super::viewer::Viewer;
use crate::render::{session_label, state_name};
use crate::serve::ApiError;

/// Sessions of the project, and of others.
const OF_PROJECT: usize = 60;
const OF_OTHERS: usize = 40;

pub(super) fn rail(app: &Viewer<'_>, context: PageContext<'_>, current: &Session) -> Result<Markup, ApiError> {
    let place = current.project.as_deref().or(current.cwd.as_deref());
    let list = |scope, limit: usize| {
        app.engine.sessions().list(&SessionListRequest {
            scope,
            limit: Some(limit as u64),
            ..SessionListRequest::default()
        })
    };
    let own = place.map(|path| list(SessionScope::Project(path.to_owned()), OF_PROJECT)).transpose()?;
    let own = own.unwrap_or_default();
    let is_other = |one: &ListedSession| own.iter().all(|own| own.session.id != one.session.id);
    let mut others = list(SessionScope::AllProjects, OF_OTHERS + own.len())?;
    others.retain(is_other);
    others.truncate(OF_OTHERS);
    Ok(html! {
        nav.rail id="rail" popover aria-label="Sessions" {
            label.script-only { span.sr { "Filter the list" } input type="search" placeholder="Filter sessions" autocomplete="off" data-filter-list; }
            div.rail-list {
                @if !own.is_empty() { (group(context, place.map_or("This project", last_part), &own, current)) }
                @if !others.is_empty() { (group(context, "Latest elsewhere", &others, current)) }
                // Filled by the script: matches that are not in the lists.
                section hidden data-keep data-more-sessions { h2 { "All sessions" } ol {} }
            }
        }
    })
}

fn group(context: PageContext<'_>, title: &str, sessions: &[ListedSession], current: &Session) -> Markup {
    html! {
        h2 { (OneLine(title)) }
        ol {
            @for one in sessions {
                @let session = &one.session;
                li {
                    a href=(to_session(session.id)) aria-current=[(session.id == current.id).then_some("page")] {
                        span.name { (OneLine(session_label(session))) }
                        span.sub {
                            @if one.state != SessionState::Ended { span class={ "state " (state_name(one.state)) } { i aria-hidden="true" {} (state_name(one.state)) } }
                            span { (session.agent.as_str()) }
                            (context.ago(session.last_activity_at))
                        }
                    }
                }
            }
        }
    }
}
