//! Sessions that a model is to add facts to: a queue that outlives every process.

use rethread_model::{Entry, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::{Batch, SessionNumber, Store, StoreError, entries};

/// So many sessions wait at the most; others are put in the queue when there is room (E003-16).
pub const MOST_WAITING: u64 = 1_000;

/// How often a model's provider failed in a row, and until when nobody asks it.
const FAILURES: &str = "enrichment-failures";
const HELD_UNTIL: &str = "enrichment-held-until";

/// A session in the queue, or one that has left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrichment {
    /// The session.
    pub session: SessionNumber,
    /// The last entry the model was shown.
    pub shown_to: Option<u64>,
    /// How often it failed since it last went well.
    pub tries: u64,
    /// When it is tried next; nothing where it does not wait.
    pub next_at: Option<Timestamp>,
    /// When it failed for good.
    pub failed_at: Option<Timestamp>,
    /// Why it failed or waits.
    pub error: Option<String>,
    /// When all of it had been shown.
    pub done_at: Option<Timestamp>,
}

impl Enrichment {
    /// A session of which nothing was shown yet.
    pub fn new(session: SessionNumber, next_at: Timestamp) -> Self {
        Self { session, shown_to: None, tries: 0, next_at: Some(next_at), failed_at: None, error: None, done_at: None }
    }
}

/// What keeps failing providers from being asked again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    /// Failures in a row.
    pub failures: u64,
    /// Nobody asks before.
    pub until: Option<Timestamp>,
}

/// What a model was not shown yet of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unshown {
    /// Its entries that still count, oldest first, without what machines wrote.
    pub entries: Vec<Entry>,
    /// Which telling of the session they are of.
    pub telling: Option<u64>,
}

const COLUMNS: &str = "session, upto_seq, tries, next_at, failed_at, error, done_at";

impl Store {
    /// Sessions of humans with something a model was not shown yet, that neither wait nor failed; newest first.
    pub fn enrichable(&self) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session
                 LEFT JOIN enrichment ON enrichment.space = session.space AND enrichment.session = session.num
                 WHERE session.space = ?1 AND kind = 'main' AND NOT empty AND episodes > 0
                 AND next_at IS NULL AND failed_at IS NULL AND (enrichment.session IS NULL OR EXISTS
                     (SELECT 1 FROM episode WHERE episode.space = ?1 AND episode.session = session.num
                      AND last_seq > coalesce(upto_seq, -1) AND NOT abandoned))
                 ORDER BY last_at DESC, num DESC",
            )?;
            statement.query_map([self.space.as_str()], |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions in the queue, those that went on last first.
    pub fn enrichments_waiting(&self) -> Result<Vec<Enrichment>, StoreError> {
        self.enrichments("next_at IS NOT NULL", "last_at DESC, num DESC")
    }

    /// Sessions that failed for good, the last one first.
    pub fn enrichments_failed(&self) -> Result<Vec<Enrichment>, StoreError> {
        self.enrichments("failed_at IS NOT NULL", "failed_at DESC, num DESC")
    }

    /// What is noted of one session.
    pub fn enrichment(&self, session: SessionNumber) -> Result<Option<Enrichment>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM enrichment WHERE space = ?1 AND session = ?2");
        let read = || {
            let values = params![self.space.as_str(), session.0];
            self.connection.prepare_cached(&sql)?.query_row(values, from_row).optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How the provider fared last.
    pub fn enrichment_breaker(&self) -> Result<Breaker, StoreError> {
        let read = || -> rusqlite::Result<Breaker> {
            let sql = "SELECT name, value FROM counter WHERE space = ?1 AND name IN (?2, ?3)";
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![self.space.as_str(), FAILURES, HELD_UNTIL])?;
            let mut breaker = Breaker::default();
            while let Some(row) = rows.next()? {
                let value: i64 = row.get(1)?;
                match row.get_ref(0)?.as_str()? {
                    FAILURES => breaker.failures = value as u64,
                    _ => breaker.until = Some(Timestamp::from_millis(value)),
                }
            }
            Ok(breaker)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The entries after the last one a model was shown.
    pub fn unshown(&self, session: SessionNumber, shown_to: Option<u64>) -> Result<Unshown, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq > ?3 AND episode IS NOT NULL
             AND NOT (abandoned OR taken_back) AND speech NOT IN ('reasoning', 'command', 'notice', 'injected')
             ORDER BY seq",
            entries::COLUMNS
        );
        let read = || -> rusqlite::Result<Unshown> {
            let values = params![self.space.as_str(), session.0, shown_to.map_or(-1, |seq| seq as i64)];
            let mut statement = self.connection.prepare_cached(&sql)?;
            let entries = statement.query_map(values, entries::from_row)?.collect::<rusqlite::Result<_>>()?;
            Ok(Unshown { entries, telling: telling(&self.connection, self.space.as_str(), session)? })
        };
        read().map_err(|cause| self.err(cause))
    }

    fn enrichments(&self, condition: &str, order: &str) -> Result<Vec<Enrichment>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM enrichment JOIN session ON session.space = enrichment.space AND num = session
             WHERE enrichment.space = ?1 AND {condition} ORDER BY {order}"
        );
        let read = || -> rusqlite::Result<Vec<Enrichment>> {
            self.connection.prepare_cached(&sql)?.query_map([self.space.as_str()], from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Puts sessions into the queue as long as there is room; how many. One that waits already is left as it is.
    pub fn queue_enrichments(&mut self, sessions: &[SessionNumber], now: Timestamp) -> Result<u64, StoreError> {
        let waiting: Option<i64> = self.one(
            "SELECT count(*) FROM enrichment WHERE space = ?1 AND next_at IS NOT NULL",
            params![self.space()],
            |row| row.get(0),
        )?;
        let room = MOST_WAITING.saturating_sub(waiting.unwrap_or(0) as u64);
        let mut added = 0;
        for session in sessions {
            if added == room {
                break;
            }
            let is_new = self.insert(
                "INSERT INTO enrichment (space, session, tries, next_at)
                 SELECT space, num, 0, ?3 FROM session WHERE space = ?1 AND num = ?2 AND kind <> 'gone'
                 ON CONFLICT DO UPDATE SET next_at = excluded.next_at, tries = 0, error = NULL
                 WHERE next_at IS NULL AND failed_at IS NULL",
                params![self.space(), session.0, now.as_millis()],
            )?;
            added += u64::from(is_new);
        }
        Ok(added)
    }

    /// Notes how it stands with a session. Of one that was forgotten meanwhile nothing is noted.
    pub fn save_enrichment(&mut self, enrichment: &Enrichment) -> Result<(), StoreError> {
        let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
        self.run(
            "INSERT OR REPLACE INTO enrichment (space, session, upto_seq, tries, next_at, failed_at, error, done_at)
             SELECT space, num, ?3, ?4, ?5, ?6, ?7, ?8 FROM session WHERE space = ?1 AND num = ?2 AND kind <> 'gone'",
            params![
                self.space(),
                enrichment.session.0,
                enrichment.shown_to.map(|seq| seq as i64),
                enrichment.tries as i64,
                millis(enrichment.next_at),
                millis(enrichment.failed_at),
                enrichment.error,
                millis(enrichment.done_at),
            ],
        )
    }

    /// Lets sessions that failed for good wait again; how many.
    pub fn clear_failed_enrichments(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        self.count_changed(
            "UPDATE enrichment SET failed_at = NULL, error = NULL, tries = 0, next_at = ?2
             WHERE space = ?1 AND failed_at IS NOT NULL",
            params![self.space(), now.as_millis()],
        )
    }

    /// Notes how the provider fares.
    pub fn set_enrichment_breaker(&mut self, breaker: Breaker) -> Result<(), StoreError> {
        let failures = (breaker.failures > 0).then_some(breaker.failures as i64);
        for (name, value) in [(FAILURES, failures), (HELD_UNTIL, breaker.until.map(Timestamp::as_millis))] {
            match value {
                Some(value) => self.run(
                    "INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, ?3)",
                    params![self.space(), name, value],
                )?,
                None => {
                    self.run("DELETE FROM counter WHERE space = ?1 AND name = ?2", params![self.space(), name])?;
                }
            }
        }
        Ok(())
    }

    /// Which telling of a session this is: it changes when its transcript is read anew or another branch is taken.
    /// Nothing if the session is gone.
    pub fn telling(&self, session: SessionNumber) -> Result<Option<u64>, StoreError> {
        telling(self.connection(), self.space(), session).map_err(|cause| self.err(cause))
    }
}

fn telling(connection: &rusqlite::Connection, space: &str, session: SessionNumber) -> rusqlite::Result<Option<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT retold FROM session WHERE space = ?1 AND num = ?2 AND kind <> 'gone'")?;
    let found = statement.query_row(params![space, session.0], |row| row.get::<_, i64>(0)).optional()?;
    Ok(found.map(|change| change as u64))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Enrichment> {
    let count = |at: usize| row.get::<_, Option<i64>>(at).map(|number| number.map(|number| number as u64));
    let time = |at: usize| row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis));
    Ok(Enrichment {
        session: SessionNumber(row.get(0)?),
        shown_to: count(1)?,
        tries: count(2)?.unwrap_or(0),
        next_at: time(3)?,
        failed_at: time(4)?,
        error: row.get(5)?,
        done_at: time(6)?,
    })
}

#[cfg(test)]
mod tests {
    use rethread_model::{Agent, Space};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn queue(store: &mut Store, sessions: &[SessionNumber]) -> u64 {
        let mut batch = store.begin().unwrap();
        let added = batch.queue_enrichments(sessions, NOW).unwrap();
        batch.commit().unwrap();
        added
    }

    #[test]
    fn e003_16_a_thousand_sessions_wait_at_the_most_and_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("memory.db"), Space::local()).unwrap();
        let mut batch = store.begin().unwrap();
        let open = |number: u64| batch.open_session(Agent::Pi, &format!("s{number}")).unwrap().number;
        let sessions: Vec<SessionNumber> = (0..MOST_WAITING + 2).map(open).collect();
        batch.commit().unwrap();
        assert_eq!(queue(&mut store, &[sessions[0], sessions[0]]), 1);
        assert_eq!(queue(&mut store, &sessions), MOST_WAITING - 1);
        assert_eq!(queue(&mut store, &sessions), 0);
        let first = store.enrichment(sessions[0]).unwrap().unwrap();
        assert_eq!(first, Enrichment::new(sessions[0], NOW));
        let mut batch = store.begin().unwrap();
        let failed = Enrichment { next_at: None, failed_at: Some(NOW), tries: 6, error: Some("no".into()), ..first };
        batch.save_enrichment(&failed).unwrap();
        batch.set_enrichment_breaker(Breaker { failures: 3, until: Some(NOW) }).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.enrichments_failed().unwrap(), [failed]);
        assert_eq!(store.enrichment_breaker().unwrap(), Breaker { failures: 3, until: Some(NOW) });
        // What failed for good leaves its place to another, and does not come back by itself.
        assert_eq!(queue(&mut store, &sessions), 1);
        assert_eq!(store.enrichments_waiting().unwrap().len() as u64, MOST_WAITING);
        let mut batch = store.begin().unwrap();
        assert_eq!(batch.clear_failed_enrichments(NOW).unwrap(), 1);
        batch.set_enrichment_breaker(Breaker::default()).unwrap();
        batch.forget_session(sessions[1]).unwrap();
        batch.save_enrichment(&Enrichment::new(sessions[1], NOW)).unwrap();
        batch.commit().unwrap();
        assert_eq!(store.enrichment(sessions[1]).unwrap(), None, "nothing is noted of a session that is gone");
        assert_eq!(store.enrichment(sessions[0]).unwrap(), Some(Enrichment::new(sessions[0], NOW)));
        assert_eq!(store.enrichment_breaker().unwrap(), Breaker::default());
    }
}
