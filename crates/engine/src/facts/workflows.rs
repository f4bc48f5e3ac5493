//! Workflows of a project: commands, their results, and recurring sequences.

use rethread_model::Predicate;
use rethread_recall::{Workflow, workflows};
use rethread_store::{FactQuery, SessionScope};

use crate::{EngineError, FactService};

/// Selects workflows.
#[derive(Clone, Debug, Default)]
pub struct WorkflowRequest {
    /// One project or all.
    pub scope: SessionScope,
    /// Show the state at this time instead of now.
    pub as_of: Option<String>,
}

impl FactService<'_> {
    /// Workflows by project.
    pub fn workflows(self, request: &WorkflowRequest) -> Result<Vec<Workflow>, EngineError> {
        let until = self.parse_as_of(request.as_of.as_deref())?;
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let predicates = [Predicate::Ran, Predicate::Sequence, Predicate::FixedBy];
        let query = FactQuery { scope: request.scope.clone(), predicates: &predicates, until, ..FactQuery::default() };
        let fold = || Ok(workflows(&store.facts(&query)?));
        match until {
            None => Ok(self.engine.folds.workflows.get(store.head()?, request.scope.clone(), fold)?.to_vec()),
            Some(_) => fold(),
        }
    }
}
