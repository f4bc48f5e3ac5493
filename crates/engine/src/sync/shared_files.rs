//! Files with several sessions, such as databases. One in which nothing is new is remembered and not opened again until
//! it changes.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rethread_ingest::source::TranscriptFile;
use rethread_ingest::source::file::FileStamp;
use rethread_model::{Agent, Timestamp};
use rethread_store::{FileFingerprint, ReadCursor, Store, TranscriptNumber, TranscriptRow};

use super::plan::fingerprint;
use crate::EngineError;

/// A file that changed in this time may be changing again.
const QUIET_MILLIS: i64 = 2000;

/// What is stored about transcripts, by path. A file with several sessions has a row without a session.
pub(super) type KnownTranscripts = HashMap<String, TranscriptRow>;

/// A file with several sessions, all of which are read.
#[derive(Debug, Clone)]
pub(crate) struct SettledFile {
    agent: Agent,
    path: PathBuf,
    fingerprint: FileFingerprint,
    row: Option<TranscriptNumber>,
}

/// Decides during a search which files with several sessions are opened.
pub(super) struct SharedFiles<'a> {
    known: &'a KnownTranscripts,
    opened: RefCell<Vec<SettledFile>>,
    skipped: RefCell<Vec<String>>,
}

impl<'a> SharedFiles<'a> {
    pub(super) fn new(known: &'a KnownTranscripts) -> Self {
        Self { known, opened: RefCell::default(), skipped: RefCell::default() }
    }

    /// Whether a file is as it was when there was nothing new in it.
    pub(super) fn is_settled(&self, agent: Agent, path: &Path, stamp: FileStamp) -> bool {
        let name = path.to_string_lossy().into_owned();
        let fingerprint = fingerprint(stamp);
        let row = self.known.get(&name).filter(|row| row.session.is_none());
        // A session with size 0 has to be read again.
        let is_settled = row.is_some_and(|row| row.fingerprint == fingerprint)
            && self.sessions_of(&name).all(|session| session.fingerprint.size > 0);
        if is_settled {
            self.skipped.borrow_mut().push(name);
        } else {
            let row = row.map(|row| row.number);
            self.opened.borrow_mut().push(SettledFile { agent, path: path.to_owned(), fingerprint, row });
        }
        is_settled
    }

    /// The opened files whose sessions are all known as they are. A session that is excluded or too old is not known, so
    /// that its file is opened each time and a changed setting takes effect.
    pub(super) fn settled(&self, found: &[TranscriptFile], now: Timestamp) -> Vec<SettledFile> {
        let is_known = |one: &TranscriptFile| {
            let row = self.known.get(one.path.to_string_lossy().as_ref());
            row.is_some_and(|row| row.session.is_some() && row.fingerprint == fingerprint(one.stamp))
        };
        let mut settled = self.opened.borrow().clone();
        // The time of a file does not show a second write shortly after the first.
        let quiet_since = now.as_millis().saturating_sub(QUIET_MILLIS).saturating_mul(1_000_000);
        settled.retain(|file| file.fingerprint.mtime < quiet_since);
        for unknown in found.iter().filter(|one| !is_known(one)) {
            let address = unknown.path.to_string_lossy();
            settled.retain(|file| !is_session_of(&address, &file.path.to_string_lossy()));
        }
        settled
    }

    /// How many sessions the files have that were not opened.
    pub(super) fn skipped_sessions(&self) -> BTreeMap<Agent, u64> {
        let mut sessions = BTreeMap::new();
        for file in self.skipped.borrow().iter() {
            for row in self.sessions_of(file) {
                *sessions.entry(row.agent).or_default() += 1;
            }
        }
        sessions
    }

    fn sessions_of<'f>(&'f self, file: &'f str) -> impl Iterator<Item = &'f TranscriptRow> {
        self.known.values().filter(move |row| row.session.is_some() && is_session_of(&row.path, file))
    }
}

/// Whether an address is that of a session in a file.
fn is_session_of(address: &str, file: &str) -> bool {
    address.strip_prefix(file).is_some_and(|rest| rest.starts_with('#'))
}

/// Remembers files in which nothing is new.
pub(super) fn remember_settled(store: &mut Store, settled: &[SettledFile]) -> Result<(), EngineError> {
    if settled.is_empty() {
        return Ok(());
    }
    let mut batch = store.begin_unflushed()?;
    for file in settled {
        let number = match file.row {
            Some(number) => number,
            None => batch.add_transcript(&file.path.to_string_lossy(), file.agent)?,
        };
        batch.set_cursor(number, None, file.fingerprint, ReadCursor::default())?;
    }
    Ok(batch.commit()?)
}
