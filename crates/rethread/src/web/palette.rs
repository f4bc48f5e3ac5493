//! What the palette offers beyond pages and searches: sessions whose name or project contains all typed words.

use maud::html;
use serde::Deserialize;

use super::components::{OneLine, PageContext, last_part, non_blank};
use super::layout::{NavPage, WebPage};
use super::links::to_session;
use super::viewer::Viewer;
use crate::render::session_label;
use crate::serve::ApiError;

/// Sessions that are offered.
const MAX_SESSIONS: usize = 8;

/// Query parameters of the palette.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PaletteParams {
    q: Option<String>,
}

pub(super) fn page(app: &Viewer<'_>, params: &PaletteParams) -> Result<WebPage, ApiError> {
    let found = app.engine.sessions().by_name(non_blank(params.q.as_ref()).unwrap_or_default(), MAX_SESSIONS)?;
    let context = PageContext::new(app);
    let body = html! {
        ul {
            @for one in &found {
                @let session = &one.session;
                li {
                    a href=(to_session(session.id)) {
                        span.name { (OneLine(session_label(session))) }
                        span.dim {
                            (session.agent.as_str()) " · "
                            (OneLine(last_part(session.project.as_deref().or(session.cwd.as_deref()).unwrap_or("no project"))))
                            " · " (context.ago(session.last_activity_at))
                        }
                    }
                }
            }
        }
    };
    Ok(WebPage::new("Sessions", NavPage::Other, body))
}
