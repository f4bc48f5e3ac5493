//! What was decided, and what the user always or never wants.

use rethread_model::Predicate;
use rethread_recall::{Decision, decisions};
use rethread_store::{FactQuery, Scope};

use crate::{Engine, EngineError};

/// Which decisions.
#[derive(Clone, Debug, Default)]
pub struct DecisionRequest {
    /// Words they must speak of.
    pub query: String,
    /// Where.
    pub scope: Scope,
    /// Also those that were rejected, or that something else took the place of.
    pub all: bool,
    /// As it was then.
    pub as_of: Option<String>,
}

impl Engine {
    /// Decisions and standing rules, newest first.
    pub fn decisions(&self, request: &DecisionRequest) -> Result<Vec<Decision>, EngineError> {
        let until = self.as_of(request.as_of.as_deref())?;
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let predicates = [Predicate::Decided, Predicate::Prefers, Predicate::Forbids];
        let query = FactQuery { scope: request.scope.clone(), predicates: &predicates, until, ..FactQuery::default() };
        let all = decisions(&store.facts(&query)?).into_iter();
        Ok(all.filter(|one| (request.all || one.is_open()) && one.speaks_of(&request.query)).collect())
    }
}
