//! A few entries around a line, for the pane beside search results.

use maud::html;
use rethread_model::SessionId;
use serde::Deserialize;

use super::super::components::{self, OneLine, PageContext};
use super::super::layout::{NavPage, WebPage};
use super::super::links::to_line;
use super::super::viewer::Viewer;
use super::conversation;
use crate::render::session_label;
use crate::serve::ApiError;

/// Entries of a preview.
const ENTRIES: u64 = 14;

/// Query parameters of a preview.
#[derive(Debug, Default, Deserialize)]
pub(in super::super) struct PreviewParams {
    line: u64,
}

pub(in super::super) fn page(app: &Viewer<'_>, id: SessionId, params: &PreviewParams) -> Result<WebPage, ApiError> {
    let (listed, page) = app.engine.sessions().around(id, params.line, ENTRIES)?;
    let (context, session) = (PageContext::new(app), &listed.session);
    let body = html! {
        article.preview-body {
            h2 { a href=(to_line(id, params.line)) { (OneLine(session_label(session))) } }
            p.about {
                (components::state(listed.state))
                span { (session.agent.as_str()) }
                span { (components::project(session.project.as_deref().or(session.cwd.as_deref()))) }
                (context.since(session.last_activity_at))
            }
            (conversation::excerpt(context, session, &page, params.line))
        }
    };
    Ok(WebPage::new("Preview", NavPage::Other, body))
}
