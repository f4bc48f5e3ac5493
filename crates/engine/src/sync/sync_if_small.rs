//! Reads what grew since the last sync before a search, if that takes no time worth mentioning.

use super::{SyncPlan, SyncRequest, TranscriptJob};
use crate::{EngineError, SyncService};

/// More than this is left to `sync`: reading and indexing it would be felt.
const MAX_SMALL_BYTES: u64 = 4_000_000;

/// What was written since the last sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsyncedContent {
    /// Number of transcripts with new content.
    pub transcripts: u64,
    /// Size of that content.
    pub bytes: u64,
    /// The last change of the store it was compared with.
    pub change: i64,
}

impl SyncService<'_> {
    /// Finds transcripts with new content, without reading it, where they may be synced unasked.
    pub fn unsynced(self) -> Result<UnsyncedContent, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(UnsyncedContent::default()) };
        if !self.engine.syncs_unasked() {
            return Ok(UnsyncedContent { change: store.head()?.change, ..UnsyncedContent::default() });
        }
        let plan = SyncPlan::build(self.engine, Some(&store), &SyncRequest::default())?;
        let bytes = plan.jobs.iter().map(TranscriptJob::bytes_to_read).sum();
        Ok(UnsyncedContent { transcripts: plan.jobs.len() as u64, bytes, change: store.head()?.change })
    }

    /// Syncs if little is new. Returns whether it did: not if there is nothing, too much, or if another process holds the
    /// store. Never creates a store: before the first sync the user decides.
    pub fn run_if_small(self, unsynced: UnsyncedContent) -> Result<bool, EngineError> {
        if unsynced.transcripts == 0 || unsynced.bytes > MAX_SMALL_BYTES {
            return Ok(false);
        }
        match self.run(&SyncRequest::default(), &mut |_| {}) {
            Ok(_) => Ok(true),
            // A read-only or busy store still answers, without the newest lines.
            Err(EngineError::Store(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
