//! Status of model-based fact extraction (E003-15, E003-17).

use rethread_model::Timestamp;
use rethread_store::ReadStore;

use super::EnrichFailure;
use crate::{EngineError, EnrichmentService};

/// Maximum number of failures listed.
const MAX_FAILURES_LISTED: usize = 10;

/// Status of model-based fact extraction.
#[derive(Clone, Debug, Default)]
pub struct EnrichmentStatus {
    /// 0: rules and model. 1: the model is unreachable and sessions wait for it. 2: rules only.
    pub level: u8,
    /// Why the level is not 0.
    pub reason: Option<String>,
    /// Sessions in the queue.
    pub queued: u64,
    /// Queued sessions that failed before.
    pub retrying: u64,
    /// Sessions that are no longer retried.
    pub failed: u64,
    /// The ten most recent of those.
    pub last_failures: Vec<EnrichFailure>,
    /// No requests before this time, because the provider failed repeatedly.
    pub paused_until: Option<Timestamp>,
}

impl EnrichmentService<'_> {
    pub(crate) fn status(self, store: Option<&ReadStore>) -> Result<EnrichmentStatus, EngineError> {
        let mut status = EnrichmentStatus::default();
        let mut failures = 0;
        if let Some(store) = store {
            let waiting = store.queued_enrichments()?;
            status.queued = waiting.len() as u64;
            status.retrying = waiting.iter().filter(|row| row.failed_attempts > 0).count() as u64;
            status.last_failures = self.failures()?;
            status.failed = status.last_failures.len() as u64;
            status.last_failures.truncate(MAX_FAILURES_LISTED);
            status.paused_until = self.paused_until(store)?;
            failures = store.enrichment_breaker()?.failures;
        }
        let no_model = || "no language model is configured".to_owned();
        let off =
            self.disabled_reason().or_else(|| self.engine.settings().model.usable_name().is_empty().then(no_model));
        let unreachable = match self.model() {
            Err(error) => Some(error.to_string()),
            Ok(_) if failures > 0 => Some(format!("the model failed {failures} times in a row")),
            Ok(_) => None,
        };
        (status.level, status.reason) = match (off, unreachable) {
            (Some(why), _) => (2, Some(why)),
            (None, Some(why)) => (1, Some(why)),
            (None, None) => (0, None),
        };
        Ok(status)
    }
}
