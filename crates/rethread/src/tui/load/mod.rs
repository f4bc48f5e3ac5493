//! Loads lists and previews with the services of the engine. Runs on worker threads.

mod conversation;
mod facts;
mod fold_line;
mod hits;
mod preview;
mod sessions;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, EngineError};

use super::request::{FilterChoices, ListRequest, LoadedList};
use super::state::TuiTab;

pub(super) use preview::load_preview;

/// Rows of a list at most.
const MAX_ROWS: usize = 200;

/// What loading needs besides the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadContext<'e> {
    pub(super) engine: &'e Engine,
    pub(super) zone: &'e TimeZone,
}

/// Loads the rows of a tab.
pub(super) fn load_list(context: LoadContext<'_>, request: &ListRequest) -> Result<LoadedList, EngineError> {
    let loaded = match request.tab {
        TuiTab::Search if request.query.is_empty() && request.filters.kind.is_none() => {
            sessions::recent(context, request)
        }
        TuiTab::Search => hits::search(context, request),
        TuiTab::Fixes => facts::fixes(context, request),
        TuiTab::Decisions => facts::decisions(context, request),
        TuiTab::Live => sessions::live(context, request),
    }?;
    Ok(LoadedList { number: request.number, ..loaded })
}

/// Loads what the filter menu offers.
pub(super) fn load_choices(engine: &Engine) -> Result<FilterChoices, EngineError> {
    Ok(FilterChoices { agents: engine.sessions().agents()?, projects: engine.sessions().projects()? })
}

/// The words of a query as they are highlighted.
fn query_words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// Joins the parts that are not empty.
fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests;
