//! Periodic maintenance: ends inactive sessions, archives their periods and evicts old hot entries.

use rethread_model::{SessionState, Timestamp};
use rethread_recall::RECENT_MEMORY_DAYS;
use rethread_store::{MemoryTiers, ReadStore, SessionKey, Store};

use super::LifecycleService;
use crate::EngineError;
use crate::awareness::{OwnSession, day_before};

/// Counts of what one maintenance run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// Sessions that were ended because of inactivity.
    pub ended: u64,
    /// Periods written to the archive.
    pub archived: u64,
    /// Hot entries older than 24 hours that were removed.
    pub evicted: u64,
}

/// How much each memory tier holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierStatus {
    /// Hot entries, and sessions in recent and older memory.
    pub counts: MemoryTiers,
    /// Number of archive files.
    pub archive_count: u64,
    /// Total size of the archive files in bytes.
    pub archive_bytes: u64,
}

impl LifecycleService<'_> {
    /// Ends inactive sessions, archives their periods and removes hot entries older than 24 hours. Every sync does this
    /// too.
    pub fn maintain(self) -> Result<MaintenanceReport, EngineError> {
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(MaintenanceReport::default()) };
        self.maintain_store(&mut store)
    }

    pub(crate) fn maintain_store(self, store: &mut Store) -> Result<MaintenanceReport, EngineError> {
        let now = self.engine.now();
        let (lifecycle, live) = (self.rules(), self.live_sessions());
        let mut done = MaintenanceReport::default();
        let long_ago = Timestamp::from_millis(now.as_millis().saturating_sub(lifecycle.idle_millis.saturating_mul(2)));
        for (agent, external_id) in store.silent_sessions(long_ago)? {
            let key = SessionKey { agent, external_id: &external_id };
            let own = OwnSession::load(store, key)?;
            let state = live.state(key, lifecycle.state(own.life.as_ref(), own.last_activity(), now));
            if state == SessionState::Ended && self.end_in_store(store, key, "silence", now, None)?.is_some() {
                done.ended += 1;
            }
        }
        loop {
            let written = self.write_archives(store).len() as u64;
            done.archived += written;
            if written == 0 {
                break;
            }
        }
        // Hot entries of ended periods are archived by now.
        let mut batch = store.begin()?;
        done.evicted = batch.evict_hot_memory(day_before(now))?;
        batch.commit()?;
        Ok(done)
    }

    pub(crate) fn tier_status(self, store: &ReadStore) -> Result<TierStatus, EngineError> {
        let now = self.engine.now();
        let warm_since = Timestamp::from_millis(now.as_millis() - RECENT_MEMORY_DAYS * 86_400_000);
        let (archive_count, archive_bytes) = self.archive_totals();
        Ok(TierStatus { counts: store.memory_tiers(day_before(now), warm_since)?, archive_count, archive_bytes })
    }
}
