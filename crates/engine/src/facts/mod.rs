//! What is known from what happened: fixes, decisions, workflows, the story of a file, the graph around a thing.

mod decisions;
mod files;
mod fix;
mod naming;
mod things;
mod workflows;

use rethread_model::Timestamp;

use crate::{Engine, EngineError};

pub use decisions::DecisionRequest;
pub use files::{FileHistory, FileRequest};
pub(crate) use fix::errors_in;
pub use fix::{ErrorsReport, ErrorsRequest, FixReport, FixRequest, KnownError};
pub use things::{FactsReport, FactsRequest};
pub use workflows::WorkflowRequest;

impl Engine {
    /// The last moment that counts when somebody asks what was known then: of a day, its end.
    fn as_of(&self, text: Option<&str>) -> Result<Option<Timestamp>, EngineError> {
        let Some(text) = text else { return Ok(None) };
        let (from, end) = (self.moment(text, false)?, self.moment(text, true)?);
        // The end of a span is the first moment after it.
        Ok(Some(if end > from { Timestamp::from_millis(end.as_millis() - 1) } else { end }))
    }
}
