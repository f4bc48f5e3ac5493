//! Sizes, counts and versions.

use std::path::PathBuf;

use rethread_index::{Lag as IndexLag, lag};
use rethread_store::{Statistics, UsageFilter};

use crate::{BudgetStatus, Engine, EngineError, EnrichmentStatus, Kept, TierStatus, kept};

/// How much there is and where.
#[derive(Clone, Debug)]
pub struct Status {
    /// Our directory.
    pub folder: PathBuf,
    /// Bytes of the database with its side files.
    pub database_bytes: u64,
    /// Bytes of the search index.
    pub index_bytes: u64,
    /// How far the search index is behind the store; what it lacks is read from the store.
    pub index_lag: IndexLag,
    /// What the database holds; nothing before the first sync.
    pub statistics: Option<Statistics>,
    /// How much of the transcripts is kept, by type of session.
    pub kept: Vec<Kept>,
    /// How much lies in which tier of memory.
    pub tiers: TierStatus,
    /// What may be spent on models, and what was today.
    pub budget: BudgetStatus,
    /// How it stands with the model that adds facts.
    pub enrichment: EnrichmentStatus,
    /// Version of the program.
    pub version: &'static str,
}

impl Engine {
    /// Sizes, counts and versions.
    pub fn status(&self) -> Result<Status, EngineError> {
        let (mut statistics, mut index_lag, mut tiers) = (None, IndexLag::None, TierStatus::default());
        let mut kept = Vec::new();
        let store = self.reader()?;
        let budget = self.budget_status(store.as_ref())?;
        let enrichment = self.enrichment_status(store.as_ref())?;
        if let Some(store) = store {
            statistics = Some(store.statistics()?);
            kept = kept::by_kind(&store.work(&UsageFilter::default())?);
            tiers = self.tier_status(&store)?;
            index_lag = lag(&self.index_folder(), &store, u64::MAX)?;
        }
        let database = self.database();
        let sizes = ["", "-wal", "-shm"].iter().map(|suffix| {
            let path = format!("{}{suffix}", database.display());
            std::fs::metadata(path).map_or(0, |data| data.len())
        });
        Ok(Status {
            folder: self.folder.clone(),
            database_bytes: sizes.sum(),
            index_bytes: rethread_index::size(&self.index_folder()),
            index_lag,
            statistics,
            kept,
            tiers,
            budget,
            enrichment,
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}
