//! Queries over facts: fixes, decisions and rules, workflows, file histories and the graph around an entity.

mod decisions;
mod entities;
mod error_sessions;
mod file_history;
mod fix;
mod naming;
mod rule_files;
mod rule_text;
mod workflows;

use rethread_model::Timestamp;

use crate::{EngineError, FactService};

pub use decisions::DecisionRequest;
pub use entities::{FactsReport, FactsRequest};
pub use file_history::{FileHistory, FileRequest};
pub use fix::{ErrorsReport, ErrorsRequest, FixChange, FixReport, FixRequest};
pub use rule_files::FileRule;
pub use workflows::WorkflowRequest;

impl FactService<'_> {
    /// The inclusive end of an "as of" time; for a date, the end of that day.
    fn parse_as_of(self, text: Option<&str>) -> Result<Option<Timestamp>, EngineError> {
        let Some(text) = text else { return Ok(None) };
        let (from, end) = (self.engine.parse_time(text, false)?, self.engine.parse_time(text, true)?);
        // The parsed end is exclusive.
        Ok(Some(if end > from { Timestamp::from_millis(end.as_millis() - 1) } else { end }))
    }
}
