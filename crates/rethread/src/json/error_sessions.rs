//! JSON of sessions that have the words of an error.

use rethread_engine::SearchHit;
use schemars::JsonSchema;
use serde::Serialize;

use super::search::SessionNameJson;

/// A session that has the words of an error.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErrorSessionJson<'a> {
    session: SessionNameJson<'a>,
    citation: String,
    snippet: &'a str,
}

impl<'a> ErrorSessionJson<'a> {
    pub(super) fn new(hit: &'a SearchHit) -> Self {
        Self {
            session: SessionNameJson::new(&hit.session),
            citation: hit.session.citation(hit.entry.location.line),
            snippet: &hit.snippet.text,
        }
    }
}
