//! How work is done in a project: commands, how they go, and sequences that come back.

use rethread_model::Predicate;
use rethread_recall::{Workflow, workflows};
use rethread_store::{FactQuery, Scope};

use crate::{Engine, EngineError};

/// Whose workflows.
#[derive(Clone, Debug, Default)]
pub struct WorkflowRequest {
    /// Where.
    pub scope: Scope,
    /// As it was then.
    pub as_of: Option<String>,
}

impl Engine {
    /// How work is done, by project.
    pub fn workflows(&self, request: &WorkflowRequest) -> Result<Vec<Workflow>, EngineError> {
        let until = self.as_of(request.as_of.as_deref())?;
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let predicates = [Predicate::Ran, Predicate::Sequence, Predicate::FixedBy];
        let query = FactQuery { scope: request.scope.clone(), predicates: &predicates, until, ..FactQuery::default() };
        Ok(workflows(&store.facts(&query)?))
    }
}
