//! Tombstones of forgotten entries: by id, by line, and by content for copies that have other ids.

use std::collections::BTreeSet;

use hmac::{Hmac, Mac};
use rethread_model::{Agent, NativeKey, Timestamp};
use rusqlite::params;
use sha2::Sha256;

use super::{Batch, SessionNumber};
use crate::StoreError;

/// A text without a time is recognized only if it is too long to be typed again by chance.
const MIN_UNTIMED_BYTES: usize = 64;

/// What identifies the content of an entry. Copies keep the time of the original.
#[derive(Clone, Copy, Debug)]
pub struct EntryContent<'a> {
    /// The agent that wrote it.
    pub agent: Agent,
    /// Time of the entry.
    pub at: Option<Timestamp>,
    /// Its text.
    pub text: &'a str,
    /// Arguments of a tool call.
    pub arguments: &'a str,
}

impl Batch<'_> {
    /// Whether an entry, line, node or title with this key was forgotten.
    pub fn has_forgotten(&self, key: NativeKey) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM forgotten_key WHERE space = ?1 AND key = ?2", params![self.space, key.as_stored()])
    }

    /// Whether an entry with this content was forgotten.
    pub fn has_forgotten_content(&self, content: EntryContent<'_>) -> Result<bool, StoreError> {
        let Some(salt) = self.salt()? else { return Ok(false) };
        content.key(&salt).map_or(Ok(false), |key| self.has_forgotten(key))
    }

    /// The keys by which entries of a session are recognized in any transcript: all of them, or those in `seqs`.
    pub fn tombstone_keys(
        &mut self,
        session: SessionNumber,
        agent: Agent,
        seqs: Option<&BTreeSet<u64>>,
    ) -> Result<Vec<NativeKey>, StoreError> {
        self.run(
            "INSERT OR IGNORE INTO tombstone_salt (space, value) VALUES (?1, randomblob(32))",
            params![self.space],
        )?;
        let salt = self.salt()?.unwrap_or_default();
        let keys = self.all(
            "SELECT seq, native_key, line_key, at, text, arguments FROM entry WHERE space = ?1 AND session = ?2",
            params![self.space, session.0],
            |row| {
                let seq = row.get::<_, i64>(0)? as u64;
                if seqs.is_some_and(|seqs| !seqs.contains(&seq)) {
                    return Ok([None; 3]);
                }
                let content = EntryContent {
                    agent,
                    at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
                    text: row.get_ref(4)?.as_str()?,
                    arguments: row.get_ref(5)?.as_str_or_null()?.unwrap_or_default(),
                };
                let line: Option<i64> = row.get(2)?;
                Ok([Some(NativeKey::from_stored(row.get(1)?)), line.map(NativeKey::from_stored), content.key(&salt)])
            },
        )?;
        Ok(keys.into_iter().flatten().flatten().collect())
    }

    fn salt(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.one("SELECT value FROM tombstone_salt WHERE space = ?1", params![self.space], |row| row.get(0))
    }
}

impl EntryContent<'_> {
    /// A keyed hash. `None` for a content that others may have, too.
    fn key(self, salt: &[u8]) -> Option<NativeKey> {
        let length = self.text.len() + self.arguments.len();
        if length == 0 || (self.at.is_none() && length < MIN_UNTIMED_BYTES) {
            return None;
        }
        let mut hash = Hmac::<Sha256>::new_from_slice(salt).ok()?;
        let at = self.at.map_or(0, Timestamp::as_millis).to_be_bytes();
        for part in [self.agent.as_str().as_bytes(), &at, self.text.as_bytes(), self.arguments.as_bytes()] {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize().into_bytes();
        Some(NativeKey::from_stored(i64::from_be_bytes(digest[..8].try_into().ok()?)))
    }
}
