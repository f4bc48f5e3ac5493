//! Cards written by a model, and the entries a model reads to write one.

use rethread_model::{Entry, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::{Batch, ReadStore, SessionKey, SessionNumber, StoreError, entries};

/// A card written by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardRow {
    /// Name, description, summary and tags, as JSON.
    pub fields_json: String,
    /// The model that wrote it.
    pub model: String,
    /// Time of the session's first card.
    pub created_at: Timestamp,
    /// Time of this card.
    pub updated_at: Timestamp,
    /// Native id of the last entry the model was shown.
    pub leaf_id: String,
    /// How many prompts the session had then.
    pub prompts: u64,
}

/// Entries on the current branch of a session.
const ON_CURRENT_BRANCH: &str = "space = ?1 AND session = ?2 AND NOT (is_abandoned OR is_retracted)";
/// Messages of user and model.
const IS_MESSAGE: &str = "kind IN ('prompt', 'task', 'answer', 'assistant')";

impl ReadStore {
    /// The card of a session, if a model wrote one.
    pub fn card(&self, key: SessionKey<'_>) -> Result<Option<CardRow>, StoreError> {
        let sql = format!(
            "SELECT fields, model, created_at, updated_at, leaf_id, prompts FROM card WHERE {BY_EXTERNAL_ID}
             AND fields IS NOT NULL"
        );
        self.query_card(&sql, key, |row| {
            Ok(CardRow {
                fields_json: row.get(0)?,
                model: row.get(1)?,
                created_at: Timestamp::from_millis(row.get(2)?),
                updated_at: Timestamp::from_millis(row.get(3)?),
                leaf_id: row.get(4)?,
                prompts: row.get::<_, i64>(5)? as u64,
            })
        })
    }

    /// Native id of the last entry at a failed attempt since the last card.
    pub fn failed_card_leaf(&self, key: SessionKey<'_>) -> Result<Option<String>, StoreError> {
        Ok(self
            .query_card(&format!("SELECT failed_leaf_id FROM card WHERE {BY_EXTERNAL_ID}"), key, |row| row.get(0))?
            .flatten())
    }

    /// The first and the last entries of the current branch, oldest first, and the last summary between them. Leaves
    /// out reasoning and text written by machines.
    pub fn branch_ends(&self, session: SessionNumber, first: u64, last: u64) -> Result<Vec<Entry>, StoreError> {
        let is_readable = "kind NOT IN ('reasoning', 'command', 'notice', 'injected')";
        let mut all =
            self.branch_entries(&format!("{is_readable} AND seq >= ?3 ORDER BY seq LIMIT ?4"), session, 0, first)?;
        let Some(border) = all.last().map(|entry| entry.seq) else { return Ok(all) };
        let after = |filter: &str| format!("{filter} AND seq > ?3 ORDER BY seq DESC LIMIT ?4");
        let mut end = self.branch_entries(&after(is_readable), session, border, last)?;
        end.reverse();
        if end.len() as u64 == last {
            let between = self.branch_entries(&after("kind = 'summary'"), session, border, 1)?;
            all.extend(between.into_iter().filter(|entry| end.first().is_some_and(|first| entry.seq < first.seq)));
        }
        all.extend(end);
        Ok(all)
    }

    /// Messages of user and model on the current branch, oldest first: the shortest end of it that has more than
    /// `bytes` bytes, or all of it.
    pub fn branch_messages(&self, session: SessionNumber, bytes: u64) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!(
                "SELECT {} FROM entry WHERE {ON_CURRENT_BRANCH} AND {IS_MESSAGE} ORDER BY seq DESC",
                entries::COLUMNS
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![self.space.as_str(), session.0])?;
            let (mut messages, mut size) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let entry = entries::from_row(row)?;
                size += entry.text.len() as u64;
                messages.push(entry);
                if size > bytes {
                    break;
                }
            }
            messages.reverse();
            Ok(messages)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Native id of the last message of user or model on the current branch.
    pub fn last_message_id(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let sql =
            format!("SELECT native_id FROM entry WHERE {ON_CURRENT_BRANCH} AND {IS_MESSAGE} ORDER BY seq DESC LIMIT 1");
        let read = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            statement.query_row(params![self.space.as_str(), session.0], |row| row.get(0)).optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many prompts the current branch has after an entry; all of them if the entry is not on it (E001-09).
    pub fn prompts_after(&self, session: SessionNumber, leaf: Option<&str>) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM entry WHERE {ON_CURRENT_BRANCH} AND kind = 'prompt'
             AND seq > coalesce((SELECT max(seq) FROM entry WHERE {ON_CURRENT_BRANCH} AND native_id = ?3), -1)"
        );
        let read = || -> rusqlite::Result<i64> {
            let values = params![self.space.as_str(), session.0, leaf];
            self.connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0))
        };
        read().map(|count| count as u64).map_err(|cause| self.err(cause))
    }

    fn branch_entries(
        &self,
        condition: &str,
        session: SessionNumber,
        seq: u64,
        limit: u64,
    ) -> Result<Vec<Entry>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Entry>> {
            let sql = format!("SELECT {} FROM entry WHERE {ON_CURRENT_BRANCH} AND {condition}", entries::COLUMNS);
            let values = params![self.space.as_str(), session.0, seq as i64, limit as i64];
            self.connection.prepare_cached(&sql)?.query_map(values, entries::from_row)?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn query_card<T>(
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
    /// The name on the card that a model wrote.
    pub fn card_name(&self, key: SessionKey<'_>) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT json_extract(fields, '$.name') FROM card WHERE {BY_EXTERNAL_ID}");
        let values = params![self.space(), key.agent.as_str(), key.external_id];
        Ok(self.one(&sql, values, |row| row.get(0))?.flatten())
    }

    /// Stores a card. The creation time of the session's first card is kept (E001-07).
    pub fn save_card(&mut self, key: SessionKey<'_>, card: &CardRow) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO card (space, agent, external_id, fields, model, created_at, updated_at, leaf_id, prompts)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT DO UPDATE SET fields = excluded.fields, model = excluded.model,
             created_at = coalesce(created_at, excluded.created_at), updated_at = excluded.updated_at,
             leaf_id = excluded.leaf_id, prompts = excluded.prompts, failed_leaf_id = NULL",
            params![
                self.space(),
                key.agent.as_str(),
                key.external_id,
                card.fields_json,
                card.model,
                card.created_at.as_millis(),
                card.updated_at.as_millis(),
                card.leaf_id,
                card.prompts as i64,
            ],
        )
    }

    /// Records where an attempt failed, so that the next one waits for new entries.
    pub fn record_failed_card(&mut self, key: SessionKey<'_>, leaf: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO card (space, agent, external_id, failed_leaf_id) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET failed_leaf_id = excluded.failed_leaf_id",
            params![self.space(), key.agent.as_str(), key.external_id, leaf],
        )
    }
}
