//! Cards that a model wrote, and what is read of a session to make one.

use rethread_model::{Entry, SessionId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::{Batch, SessionKey, SessionNumber, Store, StoreError, entries};

/// A card that a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCard {
    /// Name, description, summary and tags, as JSON.
    pub fields: String,
    /// Who wrote it.
    pub model: String,
    /// When the first card of the session was written.
    pub created_at: Timestamp,
    /// When this one was.
    pub updated_at: Timestamp,
    /// The last entry the model was shown, by the agent's id.
    pub leaf: String,
    /// Prompts of the session at that time.
    pub prompts: u64,
}

const WHO: &str = "space = ?1 AND agent = ?2 AND external_id = ?3";
/// Entries of a session on the branch it is on.
const CURRENT: &str = "space = ?1 AND session = ?2 AND NOT (abandoned OR taken_back)";
/// What human and model said.
const SAID: &str = "speech IN ('prompt', 'task', 'answer', 'said')";

impl Store {
    /// The card that a model wrote of a session.
    pub fn card(&self, key: SessionKey<'_>) -> Result<Option<StoredCard>, StoreError> {
        let sql = format!(
            "SELECT fields, model, created_at, updated_at, leaf, prompts FROM card WHERE {WHO} AND fields IS NOT NULL"
        );
        self.of_card(&sql, key, |row| {
            Ok(StoredCard {
                fields: row.get(0)?,
                model: row.get(1)?,
                created_at: Timestamp::from_millis(row.get(2)?),
                updated_at: Timestamp::from_millis(row.get(3)?),
                leaf: row.get(4)?,
                prompts: row.get::<_, i64>(5)? as u64,
            })
        })
    }

    /// The names that models gave to sessions.
    pub fn card_names(&self) -> Result<Vec<(SessionId, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(SessionId, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session.id, json_extract(card.fields, '$.name') FROM card JOIN session USING (space, agent, external_id)
                 WHERE card.space = ?1 AND card.fields IS NOT NULL AND session.kind <> 'gone' ORDER BY session.num",
            )?;
            let rows = statement.query_map([self.space.as_str()], |row| {
                Ok((row.get::<_, String>(0)?.parse().ok(), row.get::<_, Option<String>>(1)?))
            })?;
            let named = rows.filter_map(|row| row.map(|(id, name)| id.zip(name)).transpose());
            named.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last entry that was shown to a model in vain since the last card.
    pub fn card_tried(&self, key: SessionKey<'_>) -> Result<Option<String>, StoreError> {
        Ok(self.of_card(&format!("SELECT tried FROM card WHERE {WHO}"), key, |row| row.get(0))?.flatten())
    }

    /// The first and the last entries of a session's branch, oldest first, with the last summary between them.
    /// Machines' texts are left out.
    pub fn ends_of_branch(&self, session: SessionNumber, first: u64, last: u64) -> Result<Vec<Entry>, StoreError> {
        let telling = "speech NOT IN ('reasoning', 'command', 'notice', 'injected')";
        let mut all = self.of_branch(&format!("{telling} AND seq >= ?3 ORDER BY seq LIMIT ?4"), session, 0, first)?;
        let Some(border) = all.last().map(|entry| entry.seq) else { return Ok(all) };
        let after = |what: &str| format!("{what} AND seq > ?3 ORDER BY seq DESC LIMIT ?4");
        let mut end = self.of_branch(&after(telling), session, border, last)?;
        end.reverse();
        if end.len() as u64 == last {
            let between = self.of_branch(&after("speech = 'summary'"), session, border, 1)?;
            all.extend(between.into_iter().filter(|entry| end.first().is_some_and(|first| entry.seq < first.seq)));
        }
        all.extend(end);
        Ok(all)
    }

    /// What human and model said on a session's branch, oldest first: so much of its end that it has more bytes than
    /// these, or all of it.
    pub fn conversation(&self, session: SessionNumber, bytes: u64) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!("SELECT {} FROM entry WHERE {CURRENT} AND {SAID} ORDER BY seq DESC", entries::COLUMNS);
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![self.space.as_str(), session.0])?;
            let (mut said, mut size) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let entry = entries::from_row(row)?;
                size += entry.text.len() as u64;
                said.push(entry);
                if size > bytes {
                    break;
                }
            }
            said.reverse();
            Ok(said)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The last thing that human or model said on a session's branch, by the agent's id.
    pub fn leaf(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT native_id FROM entry WHERE {CURRENT} AND {SAID} ORDER BY seq DESC LIMIT 1");
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row(params![self.space.as_str(), session.0], |row| row.get(0)).optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Prompts on a session's branch after an entry; all of them if the entry is not on it (E001-09).
    pub fn prompts_after(&self, session: SessionNumber, leaf: Option<&str>) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM entry WHERE {CURRENT} AND speech = 'prompt'
             AND seq > coalesce((SELECT max(seq) FROM entry WHERE {CURRENT} AND native_id = ?3), -1)"
        );
        let read = || -> rusqlite::Result<i64> {
            let values = params![self.space.as_str(), session.0, leaf];
            self.connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0))
        };
        read().map(|count| count as u64).map_err(|cause| self.err(cause))
    }

    fn of_branch(
        &self,
        condition: &str,
        session: SessionNumber,
        seq: u64,
        most: u64,
    ) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!("SELECT {} FROM entry WHERE {CURRENT} AND {condition}", entries::COLUMNS);
            let values = params![self.space.as_str(), session.0, seq as i64, most as i64];
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn of_card<T>(
        &self,
        sql: &str,
        key: SessionKey<'_>,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let query = || {
            let values = params![self.space.as_str(), key.agent.as_str(), key.external_id];
            self.connection.prepare_cached(sql)?.query_row(values, read).optional()
        };
        query().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// Keeps a card. When the first one was written stays known (E001-07).
    pub fn save_card(&mut self, key: SessionKey<'_>, card: &StoredCard) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO card (space, agent, external_id, fields, model, created_at, updated_at, leaf, prompts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT DO UPDATE SET fields = excluded.fields, model = excluded.model,
             created_at = coalesce(created_at, excluded.created_at), updated_at = excluded.updated_at,
             leaf = excluded.leaf, prompts = excluded.prompts, tried = NULL",
            params![
                self.space(),
                key.agent.as_str(),
                key.external_id,
                card.fields,
                card.model,
                card.created_at.as_millis(),
                card.updated_at.as_millis(),
                card.leaf,
                card.prompts as i64,
            ],
        )
    }

    /// Notes up to where an attempt was made in vain, so that the next one waits for more.
    pub fn note_card_try(&mut self, key: SessionKey<'_>, leaf: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO card (space, agent, external_id, tried) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET tried = excluded.tried",
            params![self.space(), key.agent.as_str(), key.external_id, leaf],
        )
    }
}
