//! The persistent queue of sessions that a model adds facts to.

use rethread_model::{Entry, Timestamp};

use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, SessionNumber, StoreError, entries};

/// At most this many sessions are queued; others follow when there is space (E003-16).
pub const MAX_QUEUED_ENRICHMENTS: u64 = 1_000;

/// Counters: failures of the model's provider in a row, and until when it is not asked.
const FAILURE_COUNTER: &str = "enrichment-failures";
const BLOCKED_UNTIL_COUNTER: &str = "enrichment-blocked-until";

/// Progress of a session that is or was in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrichmentRow {
    /// The session to enrich.
    pub session: SessionNumber,
    /// Seq of the last entry the model was shown.
    pub shown_seq: Option<u64>,
    /// Failed attempts since the last success.
    pub failed_attempts: u64,
    /// Time of the next attempt; `None` while the session is not queued.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was given up.
    pub failed_at: Option<Timestamp>,
    /// Error of the last attempt.
    pub error: Option<String>,
    /// When the model had been shown everything.
    pub completed_at: Option<Timestamp>,
}

impl EnrichmentRow {
    /// A queued session of which the model was shown nothing yet.
    pub fn new(session: SessionNumber, next_at: Timestamp) -> Self {
        Self {
            session,
            shown_seq: None,
            failed_attempts: 0,
            next_attempt_at: Some(next_at),
            failed_at: None,
            error: None,
            completed_at: None,
        }
    }
}

/// Circuit breaker: stops requests to a provider that keeps failing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnrichmentBreaker {
    /// Failures in a row.
    pub failures: u64,
    /// No requests before this time.
    pub blocked_until: Option<Timestamp>,
}

/// The entries of a session that a model was not shown yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnshownEntries {
    /// On the current branch, oldest first, without reasoning and text written by machines.
    pub entries: Vec<Entry>,
    /// Change number of the session's last rebuild, to detect one in between; `None` if the session was removed.
    pub rebuilt_at_change: Option<u64>,
}

const COLUMNS: &str = "session, shown_seq, failed_attempts, next_attempt_at, failed_at, error, completed_at";

impl ReadStore {
    /// Main sessions with entries a model was not shown yet that are neither queued nor failed, most recently active
    /// first.
    pub fn enrichable_sessions(&self) -> Result<Vec<SessionNumber>, StoreError> {
        self.sql.all(
            "SELECT number FROM session
             LEFT JOIN enrichment ON enrichment.space = session.space AND enrichment.session = session.number
             WHERE session.space = ?1 AND kind = 'main' AND NOT is_empty AND episodes > 0
             AND next_attempt_at IS NULL AND failed_at IS NULL AND (enrichment.session IS NULL OR EXISTS
                 (SELECT 1 FROM episode WHERE episode.space = ?1 AND episode.session = session.number
                  AND last_seq > coalesce(shown_seq, -1) AND NOT is_abandoned))
             ORDER BY last_activity_at DESC NULLS LAST, number DESC",
            &[],
            |row| row.session("number"),
        )
    }

    /// Queued sessions, most recently active first.
    pub fn queued_enrichments(&self) -> Result<Vec<EnrichmentRow>, StoreError> {
        self.enrichments("next_attempt_at IS NOT NULL", "last_activity_at DESC, number DESC")
    }

    /// Sessions that were given up, latest first.
    pub fn failed_enrichments(&self) -> Result<Vec<EnrichmentRow>, StoreError> {
        self.enrichments("failed_at IS NOT NULL", "failed_at DESC, number DESC")
    }

    /// The progress of one session.
    pub fn enrichment(&self, session: SessionNumber) -> Result<Option<EnrichmentRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM enrichment WHERE space = ?1 AND session = ?2");
        self.sql.one(&sql, values![session], from_row)
    }

    /// The state of the circuit breaker.
    pub fn enrichment_breaker(&self) -> Result<EnrichmentBreaker, StoreError> {
        let (failures, until) = (self.counter(FAILURE_COUNTER)?, self.counter(BLOCKED_UNTIL_COUNTER)?);
        let blocked_until = (until != 0).then_some(Timestamp::from_millis(until));
        Ok(EnrichmentBreaker { failures: failures as u64, blocked_until })
    }

    /// The entries after the last one the model was shown.
    pub fn unshown_entries(&self, session: SessionNumber, shown_to: Option<u64>) -> Result<UnshownEntries, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND episode IS NOT NULL
             AND NOT (is_abandoned OR is_retracted) AND kind NOT IN ('reasoning', 'command', 'notice', 'injected')
             ORDER BY seq",
            entries::COLUMNS
        );
        let snapshot = self.snapshot()?;
        let after = shown_to.map_or(-1, |seq| seq as i64);
        let entries = snapshot.sql.all(&sql, values![session, after], entries::from_row)?;
        Ok(UnshownEntries { entries, rebuilt_at_change: snapshot.rebuilt_at_change(session)? })
    }

    /// Change number of the session's last rebuild: it changes when its transcript is read again from the start or the
    /// session moves to another branch. `None` if the session was removed.
    pub fn rebuilt_at_change(&self, session: SessionNumber) -> Result<Option<u64>, StoreError> {
        self.sql.one(
            "SELECT rebuilt_at_change FROM session WHERE space = ?1 AND number = ?2 AND kind <> 'removed'",
            values![session],
            |row| row.u64("rebuilt_at_change"),
        )
    }

    fn enrichments(&self, condition: &str, order: &str) -> Result<Vec<EnrichmentRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM enrichment JOIN session ON session.space = enrichment.space AND number = session
             WHERE enrichment.space = ?1 AND {condition} ORDER BY {order}"
        );
        self.sql.all(&sql, &[], from_row)
    }
}

impl Batch<'_> {
    /// Queues sessions while there is space and returns how many were added. Sessions that are queued already do not
    /// change.
    pub fn queue_enrichments(&mut self, sessions: &[SessionNumber], now: Timestamp) -> Result<u64, StoreError> {
        let waiting = "SELECT count(*) FROM enrichment WHERE space = ?1 AND next_attempt_at IS NOT NULL";
        let free = MAX_QUEUED_ENRICHMENTS.saturating_sub(self.sql.count(waiting, &[])?);
        let mut added = 0;
        for session in sessions {
            if added == free {
                break;
            }
            added += self.sql.change(
                "INSERT INTO enrichment (space, session, failed_attempts, next_attempt_at)
                 SELECT space, number, 0, ?3 FROM session WHERE space = ?1 AND number = ?2 AND kind <> 'removed'
                 ON CONFLICT (space, session) DO UPDATE SET next_attempt_at = excluded.next_attempt_at,
                 failed_attempts = 0, error = NULL
                 WHERE enrichment.next_attempt_at IS NULL AND enrichment.failed_at IS NULL",
                values![session, now],
            )?;
        }
        Ok(added)
    }

    /// Stores the progress of a session. Does nothing if the session was removed.
    pub fn save_enrichment(&mut self, enrichment: &EnrichmentRow) -> Result<(), StoreError> {
        if self.rebuilt_at_change(enrichment.session)?.is_none() {
            return Ok(());
        }
        self.upsert(
            "enrichment",
            columns! { session: enrichment.session },
            columns! {
                shown_seq: enrichment.shown_seq,
                failed_attempts: enrichment.failed_attempts,
                next_attempt_at: enrichment.next_attempt_at,
                failed_at: enrichment.failed_at,
                error: enrichment.error,
                completed_at: enrichment.completed_at,
            },
        )
    }

    /// Queues the given-up sessions again and returns how many there were.
    pub fn requeue_failed_enrichments(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        self.sql.change(
            "UPDATE enrichment SET failed_at = NULL, error = NULL, failed_attempts = 0, next_attempt_at = ?2
             WHERE space = ?1 AND failed_at IS NOT NULL",
            values![now],
        )
    }

    /// Stores the state of the circuit breaker.
    pub fn set_enrichment_breaker(&mut self, breaker: EnrichmentBreaker) -> Result<(), StoreError> {
        self.set_counter(FAILURE_COUNTER, breaker.failures as i64)?;
        self.set_counter(BLOCKED_UNTIL_COUNTER, breaker.blocked_until.map_or(0, Timestamp::as_millis))
    }
}

fn from_row(row: &Row<'_>) -> Result<EnrichmentRow, StoreError> {
    Ok(EnrichmentRow {
        session: row.session("session")?,
        shown_seq: row.opt_u64("shown_seq")?,
        failed_attempts: row.u64("failed_attempts")?,
        next_attempt_at: row.opt_time("next_attempt_at")?,
        failed_at: row.opt_time("failed_at")?,
        error: row.opt_string("error")?,
        completed_at: row.opt_time("completed_at")?,
    })
}

#[cfg(test)]
mod tests {
    use rethread_model::Agent;

    use super::*;
    use crate::{AuthorizedSpace, Store, StoreLocation};

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn queue(store: &mut Store, sessions: &[SessionNumber]) -> u64 {
        let mut batch = store.begin().unwrap();
        let added = batch.queue_enrichments(sessions, NOW).unwrap();
        batch.commit().unwrap();
        added
    }

    // E003-16
    #[test]
    fn at_most_a_thousand_sessions_are_queued_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local()).unwrap();
        let mut batch = store.begin().unwrap();
        let open = |number: u64| batch.open_session(Agent::Pi, &format!("s{number}")).unwrap().number;
        let sessions: Vec<SessionNumber> = (0..MAX_QUEUED_ENRICHMENTS + 2).map(open).collect();
        batch.commit().unwrap();
        assert_eq!(queue(&mut store, &[sessions[0], sessions[0]]), 1);
        assert_eq!(queue(&mut store, &sessions), MAX_QUEUED_ENRICHMENTS - 1);
        assert_eq!(queue(&mut store, &sessions), 0);
        let first = store.enrichment(sessions[0]).unwrap().unwrap();
        assert_eq!(first, EnrichmentRow::new(sessions[0], NOW));
        let mut batch = store.begin().unwrap();
        let failed = EnrichmentRow {
            next_attempt_at: None,
            failed_at: Some(NOW),
            failed_attempts: 6,
            error: Some("no".into()),
            ..first
        };
        batch.save_enrichment(&failed).unwrap();
        batch.set_enrichment_breaker(EnrichmentBreaker { failures: 3, blocked_until: Some(NOW) }).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.failed_enrichments().unwrap(), [failed]);
        assert_eq!(store.enrichment_breaker().unwrap(), EnrichmentBreaker { failures: 3, blocked_until: Some(NOW) });
        // A given-up session frees its place and is not queued again automatically.
        assert_eq!(queue(&mut store, &sessions), 1);
        assert_eq!(store.queued_enrichments().unwrap().len() as u64, MAX_QUEUED_ENRICHMENTS);
        let mut batch = store.begin().unwrap();
        assert_eq!(batch.requeue_failed_enrichments(NOW).unwrap(), 1);
        batch.set_enrichment_breaker(EnrichmentBreaker::default()).unwrap();
        batch.remove_session(sessions[1]).unwrap();
        batch.save_enrichment(&EnrichmentRow::new(sessions[1], NOW)).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.enrichment(sessions[1]).unwrap(), None, "the progress of a removed session is not stored");
        assert_eq!(store.enrichment(sessions[0]).unwrap(), Some(EnrichmentRow::new(sessions[0], NOW)));
        assert_eq!(store.enrichment_breaker().unwrap(), EnrichmentBreaker::default());
    }
}
