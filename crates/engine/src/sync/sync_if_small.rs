//! Reads what grew since the last sync before a search, if that takes no time worth mentioning.

use super::{SyncPlan, SyncRequest, TranscriptJob};
use crate::{EngineError, SyncService};

/// More than this is left to `sync`: reading and indexing it would be felt.
const MAX_SMALL_BYTES: u64 = 4_000_000;

impl SyncService<'_> {
    /// Syncs if little is new. Returns the number of transcripts with content that is still not stored: too much, or
    /// another process holds the store. Never creates a store: before the first sync the user decides.
    pub fn run_if_small(self) -> Result<u64, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(0) };
        let plan = SyncPlan::build(self.engine, Some(&store), &SyncRequest::default())?;
        drop(store);
        let unsynced = plan.jobs.len() as u64;
        let bytes: u64 = plan.jobs.iter().map(TranscriptJob::bytes_to_read).sum();
        if unsynced == 0 || bytes > MAX_SMALL_BYTES {
            return Ok(unsynced);
        }
        match self.run(&SyncRequest::default(), &mut |_| {}) {
            Ok(_) => Ok(0),
            // A read-only or busy store still answers, without the newest lines.
            Err(EngineError::Store(_)) => Ok(unsynced),
            Err(error) => Err(error),
        }
    }
}
