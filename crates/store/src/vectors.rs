//! Meanings of entries as numbers: which entries have none yet, keeping them, reading them all.

use rusqlite::{OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use crate::feed::ENTRIES;
use crate::{Batch, Numbers, SessionNumber, Store, StoreError};

/// What people and agents say to each other. Calls and errors are found by their words.
const CONVERSATION: &str = "entry.speech IN ('prompt', 'task', 'answer', 'said', 'summary', 'recap')
    AND NOT (entry.abandoned OR entry.taken_back)";

/// An entry that needs numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wordy {
    /// Its session.
    pub session: SessionNumber,
    /// Its position there.
    pub seq: u64,
    /// What it says.
    pub text: String,
}

/// Entries that need numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unembedded {
    /// Those changed last first.
    pub entries: Vec<Wordy>,
    /// Whether there are more.
    pub more: bool,
    /// The change up to which everything had numbers before.
    done: i64,
    /// The change up to which everything has numbers once these have.
    head: i64,
}

impl Unembedded {
    /// Whether nothing was found and nothing changed since that was noted.
    pub fn is_settled(&self) -> bool {
        self.done == self.head
    }
}

impl Store {
    /// Entries without numbers of this model, or whose text is no longer the one they were made from.
    pub fn unembedded(&self, model: &str, most: usize) -> Result<Unembedded, StoreError> {
        let read = || -> rusqlite::Result<Unembedded> {
            let moment = self.connection.unchecked_transaction()?;
            let done = self.counter(&name_of(model))?;
            let mut found = Unembedded { done, head: self.counter("change")?, ..Unembedded::default() };
            let sql = format!(
                "SELECT entry.session, entry.seq, entry.text, vector.text
                 FROM episode INDEXED BY episode_by_change CROSS JOIN {ENTRIES} AND {CONVERSATION}
                 LEFT JOIN vector ON vector.space = entry.space AND vector.session = entry.session
                 AND vector.seq = entry.seq AND vector.model = ?3
                 WHERE episode.space = ?1 AND episode.change > ?2 ORDER BY episode.change DESC"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![self.space.as_str(), done, model])?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(2)?.as_str()?;
                let is_current = row.get::<_, Option<i64>>(3)? == Some(hash(text));
                // There is no meaning in nothing, and servers refuse it.
                if is_current || text.trim().is_empty() {
                    continue;
                }
                if found.entries.len() == most {
                    found.more = true;
                    break;
                }
                let (session, seq) = (SessionNumber(row.get(0)?), row.get::<_, i64>(1)? as u64);
                found.entries.push(Wordy { session, seq, text: text.to_owned() });
            }
            drop(rows);
            drop(statement);
            moment.finish()?;
            Ok(found)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many numbers this model gave for a text; nothing if it never did.
    pub fn vector_length(&self, model: &str) -> Result<Option<usize>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT length(numbers) FROM vector WHERE space = ?1 AND model = ?2 LIMIT 1")?
                .query_row(params![self.space.as_str(), model], |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|length| length.map(|length| length as usize)).map_err(|cause| self.err(cause))
    }

    /// Reads all numbers of this model, by session and position.
    pub fn each_vector(&self, model: &str, mut each: impl FnMut(SessionNumber, u64, &[u8])) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session, seq, numbers FROM vector WHERE space = ?1 AND model = ?2 ORDER BY session, seq",
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
    /// Keeps the numbers of entries, instead of any they had. An entry that is gone by now gets none.
    pub fn put_vectors(&mut self, model: &str, entries: &[Wordy], numbers: &[Numbers]) -> Result<(), StoreError> {
        // An entry has numbers of one model only: what another one had done is undone.
        self.run(
            "DELETE FROM counter WHERE space = ?1 AND substr(name, 1, length(?2)) = ?2 AND name <> ?3",
            params![self.space(), COUNTER, name_of(model)],
        )?;
        for (entry, numbers) in entries.iter().zip(numbers) {
            self.run(
                "INSERT OR REPLACE INTO vector (space, session, seq, model, text, numbers)
                 SELECT space, session, seq, ?4, ?5, ?6 FROM entry WHERE space = ?1 AND session = ?2 AND seq = ?3",
                params![self.space(), entry.session.0, entry.seq as i64, model, hash(&entry.text), numbers.to_bytes()],
            )?;
        }
        Ok(())
    }

    /// Notes that every entry found has its numbers now, so that only what changes later is looked at again.
    pub fn note_embedded(&mut self, model: &str, found: &Unembedded) -> Result<(), StoreError> {
        if found.more {
            return Ok(());
        }
        self.run(
            "INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, ?3)",
            params![self.space(), name_of(model), found.head],
        )
    }

    /// Forgets all numbers, because the model behind a name has become another one.
    pub fn clear_vectors(&mut self) -> Result<(), StoreError> {
        self.run("DELETE FROM vector WHERE space = ?1", params![self.space()])?;
        let sql = "DELETE FROM counter WHERE space = ?1 AND substr(name, 1, length(?2)) = ?2";
        self.run(sql, params![self.space(), COUNTER])
    }
}

/// Begins the names of the counters that say how far a model has come.
const COUNTER: &str = "vectors:";

fn name_of(model: &str) -> String {
    format!("{COUNTER}{model}")
}

fn hash(text: &str) -> i64 {
    xxh3_64(text.as_bytes()).cast_signed()
}
