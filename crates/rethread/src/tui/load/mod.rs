//! Loads lists and previews with the services of the engine. Runs on worker threads.

mod conversation;
mod facts;
mod fold_line;
mod hits;
mod preview;
mod sessions;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, EngineError};

use super::filters::{Filters, ProjectChoice};
use super::request::{FindRequest, FoundPlaces, ListRequest, LoadedList, MenuChoices};
use super::state::TuiTab;
use crate::launch::installed_agents;

pub(super) use preview::load_preview;

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

/// Loads what menus offer.
pub(super) fn load_choices(engine: &Engine) -> Result<MenuChoices, EngineError> {
    Ok(MenuChoices {
        agents: engine.sessions().agents()?,
        projects: engine.sessions().projects()?,
        startable: installed_agents(engine.environment()),
    })
}

/// Finds the entries of a session that have all words of a text.
pub(super) fn find_in_session(context: LoadContext<'_>, request: &FindRequest) -> Result<FoundPlaces, EngineError> {
    let found = context.engine.sessions().find(request.session, &request.text, false)?;
    let lines = found.entries.iter().map(|entry| entry.line).collect();
    Ok(FoundPlaces { number: request.number, lines, more: found.more })
}

/// What to try if nothing was found, besides `first`.
fn empty_note(first: &str, filters: &Filters) -> String {
    match filters.project {
        ProjectChoice::All => format!("{first}."),
        _ => format!("{first}, or press Ctrl-R for all projects."),
    }
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
