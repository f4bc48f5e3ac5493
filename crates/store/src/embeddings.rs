//! Embeddings of entries: which entries need one, storing them, reading all of them.

use xxhash_rust::xxh3::xxh3_64;

use crate::feed::EPISODE_ENTRIES;
use crate::sql::values;
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
        let _snapshot = self.snapshot()?;
        let done = self.counter(&counter_name(model))?;
        let mut found = PendingEmbeddings { done, head: self.counter("change")?, ..PendingEmbeddings::default() };
        let sql = format!(
            "SELECT entry.session, entry.seq, entry.text, embedding.text_hash
             FROM episode {} {} {EPISODE_ENTRIES} AND {IS_EMBEDDABLE}
             LEFT JOIN embedding ON embedding.space = entry.space AND embedding.session = entry.session
             AND embedding.seq = entry.seq AND embedding.model = ?3
             WHERE episode.space = ?1 AND episode.change > ?2 ORDER BY episode.change DESC",
            self.sql.index("episode_by_change"),
            self.sql.dialect().ordered_join(),
        );
        self.sql.stream_while(&sql, values![done, model], |row| {
            let text = row.text("text")?;
            // Servers reject blank text.
            if row.opt_int("text_hash")? == Some(hash(text)) || text.trim().is_empty() {
                return Ok(true);
            }
            found.has_more = found.entries.len() == limit;
            if !found.has_more {
                let (session, seq) = (row.session("session")?, row.u64("seq")?);
                found.entries.push(EmbeddableEntry { session, seq, text: text.to_owned() });
            }
            Ok::<_, StoreError>(!found.has_more)
        })?;
        Ok(found)
    }

    /// The dimension of this model's embeddings; `None` if there are none.
    pub fn embedding_dimension(&self, model: &str) -> Result<Option<usize>, StoreError> {
        let sql = "SELECT vector FROM embedding WHERE space = ?1 AND model = ?2 LIMIT 1";
        self.sql.one(sql, values![model], |row| Ok(row.bytes("vector")?.len()))
    }

    /// Calls `each` with all embeddings of this model, by session and position.
    pub fn for_each_embedding(
        &self,
        model: &str,
        mut each: impl FnMut(SessionNumber, u64, &[u8]),
    ) -> Result<(), StoreError> {
        self.sql.stream(
            "SELECT session, seq, vector FROM embedding WHERE space = ?1 AND model = ?2 ORDER BY session, seq",
            values![model],
            |row| {
                each(row.session("session")?, row.u64("seq")?, row.bytes("vector")?);
                Ok(())
            },
        )
    }

    pub(crate) fn counter(&self, name: &str) -> Result<i64, StoreError> {
        let sql = "SELECT value FROM counter WHERE space = ?1 AND name = ?2";
        Ok(self.sql.one(sql, values![name], |row| row.int("value"))?.unwrap_or(0))
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
        self.clear_progress(Some(model))?;
        for (entry, vector) in entries.iter().zip(vectors) {
            self.sql.run(
                "INSERT INTO embedding (space, session, seq, model, text_hash, vector)
                 SELECT space, session, seq, ?4, ?5, ?6 FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3
                 ON CONFLICT (space, session, seq) DO UPDATE SET model = excluded.model,
                 text_hash = excluded.text_hash, vector = excluded.vector",
                values![entry.session, entry.seq, model, hash(&entry.text), vector.to_bytes()],
            )?;
        }
        Ok(())
    }

    /// Records that all entries found have their embedding now, so that only later changes are examined next time.
    pub fn mark_embedded(&mut self, model: &str, found: &PendingEmbeddings) -> Result<(), StoreError> {
        if found.has_more { Ok(()) } else { self.set_counter(&counter_name(model), found.head) }
    }

    /// Deletes all embeddings, because another model is behind the same name now.
    pub fn clear_embeddings(&mut self) -> Result<(), StoreError> {
        self.sql.run("DELETE FROM embedding WHERE space = ?1", &[])?;
        self.clear_progress(None)
    }

    fn clear_progress(&self, except: Option<&str>) -> Result<(), StoreError> {
        self.sql.run(
            "DELETE FROM counter WHERE space = ?1 AND substr(name, 1, length(?2)) = ?2 AND name <> ?3",
            values![COUNTER_PREFIX, except.map(counter_name).unwrap_or_default()],
        )
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
