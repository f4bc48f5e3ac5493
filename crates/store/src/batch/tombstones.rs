//! Tombstones of forgotten entries: by id, by line, and by content for copies that have other ids.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use hmac::{Hmac, Mac};
use rethread_model::{Agent, NativeKey, Timestamp};
use sha2::Sha256;

use super::{Batch, SessionNumber};
use crate::StoreError;
use crate::sql::values;

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

/// What a batch knows about the tombstones of its space. No other process writes to the space meanwhile.
#[derive(Debug, Default)]
pub(super) struct KnownTombstones {
    has_keys: OnceCell<bool>,
    salt: OnceCell<Option<Vec<u8>>>,
}

impl KnownTombstones {
    /// For a batch that is about to add some.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Batch<'_> {
    /// Whether an entry, line, node or title with this key was forgotten.
    pub fn has_forgotten(&self, key: NativeKey) -> Result<bool, StoreError> {
        // Most spaces have no tombstones, and a sync asks for every entry.
        let known = self.tombstones.has_keys.get().copied();
        let has_keys =
            known.map_or_else(|| self.sql.exists("SELECT 1 FROM forgotten_key WHERE space = ?1 LIMIT 1", &[]), Ok)?;
        let _ = self.tombstones.has_keys.set(has_keys);
        if !has_keys {
            return Ok(false);
        }
        self.sql.exists("SELECT 1 FROM forgotten_key WHERE space = ?1 AND key = ?2", values![key])
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
        let random = self.sql.dialect().random_bytes(32);
        let sql = format!("INSERT INTO tombstone_salt (space, value) VALUES (?1, {random}) ON CONFLICT DO NOTHING");
        self.sql.run(&sql, &[])?;
        self.tombstones.reset();
        let salt = self.salt()?.unwrap_or_default();
        let mut keys = Vec::new();
        self.sql.each(
            "SELECT seq, native_key, line_key, at, text, arguments FROM entry WHERE space = ?1 AND session = ?2",
            values![session],
            |row| {
                let seq = row.u64("seq")?;
                if seqs.is_some_and(|seqs| !seqs.contains(&seq)) {
                    return Ok(());
                }
                let (at, text) = (row.opt_time("at")?, row.text("text")?);
                let content =
                    EntryContent { agent, at, text, arguments: row.opt_text("arguments")?.unwrap_or_default() };
                keys.push(row.key("native_key")?);
                keys.extend(row.opt_key("line_key")?);
                keys.extend(content.key(&salt));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(keys)
    }

    fn salt(&self) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(known) = self.tombstones.salt.get() {
            return Ok(known.clone());
        }
        let sql = "SELECT value FROM tombstone_salt WHERE space = ?1";
        let salt = self.sql.one(sql, &[], |row| row.bytes("value").map(<[u8]>::to_vec))?;
        let _ = self.tombstones.salt.set(salt.clone());
        Ok(salt)
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
