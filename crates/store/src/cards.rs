//! Cards written by a model, and the entries a model reads to write one.

use rethread_model::{Entry, Timestamp};

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
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
        self.sql.one(&sql, values![key.agent, key.external_id], |row| {
            Ok(CardRow {
                fields_json: row.string("fields")?,
                model: row.string("model")?,
                created_at: row.time("created_at")?,
                updated_at: row.time("updated_at")?,
                leaf_id: row.string("leaf_id")?,
                prompts: row.u64("prompts")?,
            })
        })
    }

    /// The name on the card that a model wrote.
    pub fn card_name(&self, key: SessionKey<'_>) -> Result<Option<String>, StoreError> {
        Ok(self.card(key)?.and_then(|card| name_in(&card.fields_json)))
    }

    /// Native id of the last entry at a failed attempt since the last card.
    pub fn failed_card_leaf(&self, key: SessionKey<'_>) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT failed_leaf_id FROM card WHERE {BY_EXTERNAL_ID}");
        let found = self.sql.one(&sql, values![key.agent, key.external_id], |row| row.opt_string("failed_leaf_id"))?;
        Ok(found.flatten())
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
        let sql = format!(
            "SELECT {} FROM entry WHERE {ON_CURRENT_BRANCH} AND {IS_MESSAGE} ORDER BY seq DESC",
            entries::COLUMNS
        );
        let (mut messages, mut size) = (Vec::new(), 0);
        self.sql.each_while(&sql, values![session], |row| {
            let entry = entries::from_row(row)?;
            size += entry.text.len() as u64;
            messages.push(entry);
            Ok::<_, StoreError>(size <= bytes)
        })?;
        messages.reverse();
        Ok(messages)
    }

    /// Native id of the last message of user or model on the current branch.
    pub fn last_message_id(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let sql =
            format!("SELECT native_id FROM entry WHERE {ON_CURRENT_BRANCH} AND {IS_MESSAGE} ORDER BY seq DESC LIMIT 1");
        self.sql.one(&sql, values![session], |row| row.string("native_id"))
    }

    /// How many prompts the current branch has after an entry; all of them if the entry is not on it (E001-09).
    pub fn prompts_after(&self, session: SessionNumber, leaf: Option<&str>) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM entry WHERE {ON_CURRENT_BRANCH} AND kind = 'prompt'
             AND seq > coalesce((SELECT max(seq) FROM entry WHERE {ON_CURRENT_BRANCH} AND native_id = ?3), -1)"
        );
        self.sql.count(&sql, values![session, leaf])
    }

    fn branch_entries(
        &self,
        condition: &str,
        session: SessionNumber,
        seq: u64,
        limit: u64,
    ) -> Result<Vec<Entry>, StoreError> {
        let sql = format!("SELECT {} FROM entry WHERE {ON_CURRENT_BRANCH} AND {condition}", entries::COLUMNS);
        self.sql.all(&sql, values![session, seq, limit], entries::from_row)
    }
}

impl Batch<'_> {
    /// Stores a card. The creation time of the session's first card is kept (E001-07).
    pub fn save_card(&mut self, key: SessionKey<'_>, card: &CardRow) -> Result<(), StoreError> {
        let first = self.card(key)?.map_or(card.created_at, |first| first.created_at);
        self.upsert(
            "card",
            columns! { agent: key.agent, external_id: key.external_id },
            columns! {
                fields: card.fields_json,
                model: card.model,
                created_at: first,
                updated_at: card.updated_at,
                leaf_id: card.leaf_id,
                prompts: card.prompts,
                failed_leaf_id: None::<&str>,
            },
        )
    }

    /// Records where an attempt failed, so that the next one waits for new entries.
    pub fn record_failed_card(&mut self, key: SessionKey<'_>, leaf: &str) -> Result<(), StoreError> {
        let columns = columns! { failed_leaf_id: leaf };
        self.upsert("card", columns! { agent: key.agent, external_id: key.external_id }, columns)
    }
}

/// The name in the fields of a card.
pub(crate) fn name_in(fields: &str) -> Option<String> {
    let mut fields: serde_json::Value = serde_json::from_str(fields).ok()?;
    match fields.get_mut("name")?.take() {
        serde_json::Value::String(name) => Some(name),
        _ => None,
    }
}
