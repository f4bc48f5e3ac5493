//! How it stands with the model that adds facts (E003-15, E003-17).

use rethread_model::Timestamp;
use rethread_store::Store;

use super::EnrichFailure;
use crate::{Engine, EngineError};

/// Failures that are told.
const MOST_FAILURES: usize = 10;

/// How it stands with the model that adds facts.
#[derive(Clone, Debug, Default)]
pub struct EnrichmentStatus {
    /// 0: the model adds to what rules draw. 1: it cannot be reached, and sessions wait for it. 2: rules only.
    pub level: u8,
    /// Why it is not 0.
    pub reason: Option<String>,
    /// Sessions that wait.
    pub waiting: u64,
    /// Of those, sessions that failed before.
    pub retrying: u64,
    /// Sessions that are not tried any more.
    pub failed: u64,
    /// The last ten of those.
    pub last_failures: Vec<EnrichFailure>,
    /// Nobody asks before, because the provider failed too often.
    pub held_until: Option<Timestamp>,
}

impl Engine {
    /// How it stands with the model that adds facts.
    pub(crate) fn enrichment_status(&self, store: Option<&Store>) -> Result<EnrichmentStatus, EngineError> {
        let mut status = EnrichmentStatus::default();
        let mut failures = 0;
        if let Some(store) = store {
            let waiting = store.enrichments_waiting()?;
            status.waiting = waiting.len() as u64;
            status.retrying = waiting.iter().filter(|row| row.tries > 0).count() as u64;
            status.last_failures = self.enrich_failures()?;
            status.failed = status.last_failures.len() as u64;
            status.last_failures.truncate(MOST_FAILURES);
            status.held_until = self.held(store)?;
            failures = store.enrichment_breaker()?.failures;
        }
        let no_model = || "no language model is configured".to_owned();
        let off = self.enrichment_is_off().or_else(|| self.model_name().is_empty().then(no_model));
        let unreachable = match self.enrichment_model() {
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
