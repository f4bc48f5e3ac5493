//! Sizes, counts and versions for `status`.

mod agents;
mod doctor;
mod reduction;
mod retention;
mod usage;
mod usage_overview;

use std::path::PathBuf;

use rethread_index::IndexLag;
use rethread_store::{StoreStatistics, UsageFilter};

use crate::{BudgetStatus, EngineError, EnrichmentStatus, ReportService, TierStatus};

pub use agents::{AgentCoverage, FoundAgent};
pub(crate) use doctor::with_cause;
pub use doctor::{Diagnosis, Finding, FindingLevel};
pub use reduction::{SessionType, SessionTypeReduction};
pub use usage::{OwnUsage, UsageGroup, UsageGrouping, UsageReport, UsageRequest, UsageTotals};
pub(crate) use usage_overview::{DetailSums, costs_by_session};
pub use usage_overview::{SessionRank, SessionUsage, TopSessions, UsageDetails, UsageOfDay};

/// Sizes, counts and versions.
#[derive(Clone, Debug)]
pub struct EngineStatus {
    /// The directory of our own files.
    pub folder: PathBuf,
    /// Bytes of the database including its WAL files.
    pub database_bytes: u64,
    /// Bytes of the search index.
    pub index_bytes: u64,
    /// How far the search index is behind the store. Searches read the missing entries from the store.
    pub index_lag: IndexLag,
    /// The agents that were used on this machine.
    pub agents: Vec<FoundAgent>,
    /// Counts of what is stored. `None` before the first sync.
    pub statistics: Option<StoreStatistics>,
    /// How much of the transcripts is kept, by session type.
    pub reductions: Vec<SessionTypeReduction>,
    /// Sizes of the three memory tiers.
    pub tiers: TierStatus,
    /// The daily model budget and today's spending.
    pub budget: BudgetStatus,
    /// The state of fact extraction by a model.
    pub enrichment: EnrichmentStatus,
    /// Version of this program.
    pub version: &'static str,
}

impl ReportService<'_> {
    /// Collects sizes, counts and versions.
    pub fn status(self) -> Result<EngineStatus, EngineError> {
        let (mut statistics, mut index_lag, mut tiers) = (None, IndexLag::None, TierStatus::default());
        let mut reductions = Vec::new();
        let store = self.engine.reader()?;
        let budget = self.engine.models().budget_status(store.as_ref())?;
        let enrichment = self.engine.enrichment().status(store.as_ref())?;
        let agents = self.agents_in(store.as_ref())?;
        if let Some(store) = store {
            statistics = Some(store.statistics()?);
            reductions = reduction::reduction_by_type(&store.work_counts(&UsageFilter::default())?);
            tiers = self.engine.lifecycle().tier_status(&store)?;
            index_lag = rethread_index::index_lag(&self.engine.index().folder(), &store, u64::MAX)?;
        }
        Ok(EngineStatus {
            folder: self.engine.folder.clone(),
            database_bytes: self.engine.location().size_bytes(),
            index_bytes: rethread_index::size_bytes(&self.engine.index().folder()),
            index_lag,
            agents,
            statistics,
            reductions,
            tiers,
            budget,
            enrichment,
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}
