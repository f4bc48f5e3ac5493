//! What has to be done now and then: ends what fell silent, archives it, lets go of what is no longer hot.

use rethread_model::{State, Timestamp};
use rethread_recall::WARM_DAYS;
use rethread_store::{SessionKey, Store, Tiers};

use super::Lifecycle;
use super::view::{Own, day_before};
use crate::{Engine, EngineError};

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Sessions that had fallen silent, and were ended.
    pub ended: u64,
    /// Periods that were written to the archive.
    pub archived: u64,
    /// Hot entries older than a day, which are gone.
    pub evicted: u64,
}

/// How much lies in which tier of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierStatus {
    /// Hot entries, and warm and cold sessions.
    pub tiers: Tiers,
    /// Periods in the archive.
    pub archives: u64,
    /// Bytes of them.
    pub archive_bytes: u64,
}

impl Engine {
    /// Ends sessions that fell silent, archives their periods, and removes what was hot for longer than a day. Every
    /// sync does it too.
    pub fn maintain(&self) -> Result<Upkeep, EngineError> {
        let Some(mut store) = self.reader()? else { return Ok(Upkeep::default()) };
        self.maintain_in(&mut store)
    }

    pub(crate) fn maintain_in(&self, store: &mut Store) -> Result<Upkeep, EngineError> {
        let now = self.now();
        let lifecycle = Lifecycle::of(&self.config);
        let mut done = Upkeep::default();
        let long_ago = Timestamp::from_millis(now.as_millis().saturating_sub(lifecycle.idle_millis.saturating_mul(2)));
        for (agent, external_id) in store.silent_lives(long_ago)? {
            let key = SessionKey { agent, external_id: &external_id };
            let own = Own::find(store, key)?;
            let state = lifecycle.state(own.life.as_ref(), own.last_activity(), now);
            if state == State::Ended && self.end_in(store, key, "silence")?.is_some() {
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
        // What an ended period had at hand is archived by now.
        let mut batch = store.begin()?;
        done.evicted = batch.evict_hot(day_before(now))?;
        batch.commit()?;
        Ok(done)
    }

    /// How much lies in which tier.
    pub(crate) fn tier_status(&self, store: &Store) -> Result<TierStatus, EngineError> {
        let now = self.now();
        let warm_since = Timestamp::from_millis(now.as_millis() - WARM_DAYS * 86_400_000);
        let (archives, archive_bytes) = self.archives();
        Ok(TierStatus { tiers: store.tiers(day_before(now), warm_since)?, archives, archive_bytes })
    }
}
