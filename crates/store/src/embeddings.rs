//! Embeddings of entries: which entries need one, storing them, reading all of them.

use rusqlite::{OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use crate::feed::EPISODE_ENTRIES;
use crate::{Batch, QuantizedVector, ReadStore, SessionNumber, StoreError};

/// Entries that get an embedding: messages and summaries. Calls and errors are found by full-text search.
const IS_EMBEDDABLE: &str = "entry.kind IN ('prompt', 'task', 'answer', 'assistant', 'summary', 'recap')
    AND NOT (entry.is_abandoned OR entry.is_retracted)";

/// An entry that needs an embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddableEntry {
    /// The session it is in.
    pub session: SessionNumber,
    /// Its position in the session.
    pub seq: u64,
    /// The text to embed.
    pub text: String,
}

/// Entries that need an embedding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingEmbeddings {
    /// Most recently changed first.
    pub entries: Vec<EmbeddableEntry>,
    /// True if the limit was reached and there are more.
    pub has_more: bool,
    /// The change up to which all entries had embeddings before.
    done: i64,
    /// The change up to which all entries have embeddings once these do.
    head: i64,
}

impl PendingEmbeddings {
    /// Whether nothing has changed since the last time all entries had embeddings.
    pub fn is_up_to_date(&self) -> bool {
        self.done == self.head
    }
}

impl ReadStore {
    /// Entries without an embedding of this model, or with one of an older text.
    pub fn pending_embeddings(&self, model: &str, limit: usize) -> Result<PendingEmbeddings, StoreError> {
        let read = || -> rusqlite::Result<PendingEmbeddings> {
            let snapshot = self.connection.unchecked_transaction()?;
            let done = self.counter(&counter_name(model))?;
            let mut found = PendingEmbeddings { done, head: self.counter("change")?, ..PendingEmbeddings::default() };
            let sql = format!(
                "SELECT entry.session, entry.seq, entry.text, embedding.text_hash
                 FROM episode INDEXED BY episode_by_change CROSS JOIN {EPISODE_ENTRIES} AND {IS_EMBEDDABLE}
                 LEFT JOIN embedding ON embedding.space = entry.space AND embedding.session = entry.session
                 AND embedding.seq = entry.seq AND embedding.model = ?3
                 WHERE episode.space = ?1 AND episode.change > ?2 ORDER BY episode.change DESC"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![self.space.as_str(), done, model])?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(2)?.as_str()?;
                let is_current = row.get::<_, Option<i64>>(3)? == Some(hash(text));
                // Servers reject blank text.
                if is_current || text.trim().is_empty() {
                    continue;
                }
                if found.entries.len() == limit {
                    found.has_more = true;
                    break;
                }
                let (session, seq) = (SessionNumber(row.get(0)?), row.get::<_, i64>(1)? as u64);
                found.entries.push(EmbeddableEntry { session, seq, text: text.to_owned() });
            }
            drop(rows);
            drop(statement);
            snapshot.finish()?;
            Ok(found)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The dimension of this model's embeddings; `None` if there are none.
    pub fn embedding_dimension(&self, model: &str) -> Result<Option<usize>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT length(vector) FROM embedding WHERE space = ?1 AND model = ?2 LIMIT 1")?
                .query_row(params![self.space.as_str(), model], |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|length| length.map(|length| length as usize)).map_err(|cause| self.err(cause))
    }

    /// Calls `each` with all embeddings of this model, by session and position.
    pub fn for_each_embedding(
        &self,
        model: &str,
        mut each: impl FnMut(SessionNumber, u64, &[u8]),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session, seq, vector FROM embedding WHERE space = ?1 AND model = ?2 ORDER BY session, seq",
            )?;
            let mut rows = statement.query(params![self.space.as_str(), model])?;
            while let Some(row) = rows.next()? {
                let seq: i64 = row.get(1)?;
                each(SessionNumber(row.get(0)?), seq as u64, row.get_ref(2)?.as_blob()?);
            }
            Ok(())
        };
        read().map_err(|cause| self.err(cause))
    }

    fn counter(&self, name: &str) -> rusqlite::Result<i64> {
        let mut statement =
            self.connection.prepare_cached("SELECT value FROM counter WHERE space = ?1 AND name = ?2")?;
        let found = statement.query_row(params![self.space.as_str(), name], |row| row.get(0)).optional()?;
        Ok(found.unwrap_or(0))
    }
}

impl Batch<'_> {
    /// Stores the embeddings of entries and replaces older ones. Skips entries that no longer exist.
    pub fn save_embeddings(
        &mut self,
        model: &str,
        entries: &[EmbeddableEntry],
        vectors: &[QuantizedVector],
    ) -> Result<(), StoreError> {
        // An entry has an embedding of one model only, so the progress of other models is lost.
        self.run(
            "DELETE FROM counter WHERE space = ?1 AND substr(name, 1, length(?2)) = ?2 AND name <> ?3",
            params![self.space(), COUNTER_PREFIX, counter_name(model)],
        )?;
        for (entry, vector) in entries.iter().zip(vectors) {
            self.run(
                "INSERT OR REPLACE INTO embedding (space, session, seq, model, text_hash, vector)
                 SELECT space, session, seq, ?4, ?5, ?6 FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space(), entry.session.0, entry.seq as i64, model, hash(&entry.text), vector.to_bytes()],
            )?;
        }
        Ok(())
    }

    /// Records that all entries found have their embedding now, so that only later changes are examined next time.
    pub fn mark_embedded(&mut self, model: &str, found: &PendingEmbeddings) -> Result<(), StoreError> {
        if found.has_more {
            return Ok(());
        }
        self.run(
            "INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, ?3)",
            params![self.space(), counter_name(model), found.head],
        )
    }

    /// Deletes all embeddings, because another model is behind the same name now.
    pub fn clear_embeddings(&mut self) -> Result<(), StoreError> {
        self.run("DELETE FROM embedding WHERE space = ?1", params![self.space()])?;
        let sql = "DELETE FROM counter WHERE space = ?1 AND substr(name, 1, length(?2)) = ?2";
        self.run(sql, params![self.space(), COUNTER_PREFIX])
    }
}

/// The counter of a model holds the change up to which all entries have embeddings.
const COUNTER_PREFIX: &str = "vectors:";

fn counter_name(model: &str) -> String {
    format!("{COUNTER_PREFIX}{model}")
}

fn hash(text: &str) -> i64 {
    xxh3_64(text.as_bytes()).cast_signed()
}
