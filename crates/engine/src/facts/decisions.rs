//! Decisions, preferences and prohibitions.

use std::sync::Arc;

use rethread_recall::{DECISION_PREDICATES, Decision, decisions};
use rethread_store::{FactQuery, SessionScope};

use crate::{EngineError, FactService};

/// Selects decisions, preferences and prohibitions.
#[derive(Clone, Debug, Default)]
pub struct DecisionRequest {
    /// Words they must contain.
    pub query: String,
    /// One project or all.
    pub scope: SessionScope,
    /// Include superseded ones.
    pub include_inactive: bool,
    /// Show the state at this time instead of now.
    pub as_of: Option<String>,
}

impl FactService<'_> {
    /// Decisions, preferences and prohibitions, newest first.
    pub fn decisions(self, request: &DecisionRequest) -> Result<Vec<Decision>, EngineError> {
        let until = self.parse_as_of(request.as_of.as_deref())?;
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let query =
            FactQuery { scope: request.scope.clone(), predicates: &DECISION_PREDICATES, until, ..FactQuery::default() };
        let fold = || Ok(decisions(&store.facts(&query)?));
        let all = match until {
            None => self.engine.folds.decisions.get(store.head()?, request.scope.clone(), fold)?,
            Some(_) => Arc::new(fold()?),
        };
        let is_shown = |one: &Decision| request.include_inactive || one.is_open() || one.is_ruled_out();
        Ok(all.iter().filter(|one| is_shown(one) && one.mentions_all(&request.query)).cloned().collect())
    }
}
