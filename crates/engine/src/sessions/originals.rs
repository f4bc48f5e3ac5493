//! Entries as their transcripts have them: read when a user asks, redacted, never stored.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use rethread_ingest::source::TranscriptReader;
use rethread_ingest::source::exclude::ExcludeRules;
use rethread_ingest::{OriginalEntry, read_originals};
use rethread_model::{Agent, Entry, NativeKey, Session, SessionId};
use rethread_store::{ReadStore, ThreadError, TranscriptNumber, TranscriptRow};

use crate::sync::thread_of_log;
use crate::{EngineError, ListedSession, SessionService};

/// An entry of a session, as stored and as its transcript has it.
#[derive(Clone, Debug)]
pub struct EntryOriginal {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The entry as stored.
    pub entry: Entry,
    /// The entry as written.
    pub original: Result<OriginalEntry, OriginalProblem>,
}

/// Why an entry cannot be shown as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginalProblem {
    /// The file does not exist any more.
    #[error("the transcript is gone; showing what is stored")]
    Gone,
    /// The agent rewrote the file, or the user replaced it.
    #[error("the transcript has changed and this entry is no longer in it; showing what is stored")]
    Changed,
    /// The file exists and cannot be read now.
    #[error("the transcript cannot be read now ({0}); showing what is stored")]
    Unreadable(String),
    /// The configuration says that it must not be read.
    #[error("this transcript is excluded from reading; showing what is stored")]
    Excluded,
    /// A text of the session was forgotten. Its transcript may still have it, and it is unknown where: the text is not
    /// kept.
    #[error("a text was forgotten in this session, and its transcript may still have it; showing what is stored")]
    Forgotten,
    /// Together with others it is too long for one answer.
    #[error("too long to show with everything else; ask for this entry alone")]
    TooLarge,
    /// A node of a team reads no files.
    #[error("transcripts stay on the machines of their users; showing what is stored")]
    OtherMachine,
}

impl OriginalProblem {
    /// The name in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            OriginalProblem::Gone => "gone",
            OriginalProblem::Changed => "changed",
            OriginalProblem::Unreadable(_) => "unreadable",
            OriginalProblem::Excluded => "excluded",
            OriginalProblem::Forgotten => "forgotten",
            OriginalProblem::TooLarge => "too-large",
            OriginalProblem::OtherMachine => "other-machine",
        }
    }
}

/// The tombstone of a session that lost a text, but stays.
pub(crate) fn partly_forgotten_key(session: &Session) -> NativeKey {
    NativeKey::in_session(session.agent, &session.external_id, "a text was forgotten")
}

/// Gets each entry with its original, in no particular order.
type OriginalVisitor<'v> = dyn FnMut(&Entry, Result<OriginalEntry, OriginalProblem>) + 'v;

impl SessionService<'_> {
    /// One entry of a session as its transcript has it.
    pub fn original(self, id: SessionId, seq: u64) -> Result<EntryOriginal, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
        let entry = store.entry_at(number, seq)?.ok_or(EngineError::UnknownEntry { session: id, seq })?;
        let mut original = Err(OriginalProblem::Changed);
        self.originals_in(&store, &session, std::slice::from_ref(&entry), &mut |_, found| original = found)?;
        Ok(EntryOriginal { listed: self.listed(&store, session)?, entry, original })
    }

    /// Entries of a session as their transcripts have them. `visit` gets each of them once, in no particular order.
    pub fn originals(
        self,
        session: &Session,
        entries: &[Entry],
        visit: &mut dyn FnMut(&Entry, Result<OriginalEntry, OriginalProblem>),
    ) -> Result<(), EngineError> {
        match self.engine.reader()? {
            Some(store) => self.originals_in(&store, session, entries, visit),
            None => Ok(()),
        }
    }

    fn originals_in(
        self,
        store: &ReadStore,
        session: &Session,
        entries: &[Entry],
        visit: &mut OriginalVisitor<'_>,
    ) -> Result<(), EngineError> {
        let (Some(first), Some(last)) =
            (entries.iter().map(|entry| entry.seq).min(), entries.iter().map(|entry| entry.seq).max())
        else {
            return Ok(());
        };
        let refused = if self.engine.environment.reads_only_threads && session.agent != Agent::Native {
            Some(OriginalProblem::OtherMachine)
        } else if store.is_key_forgotten(partly_forgotten_key(session))? {
            Some(OriginalProblem::Forgotten)
        } else {
            None
        };
        if let Some(problem) = refused {
            for entry in entries {
                visit(entry, Err(problem.clone()));
            }
            return Ok(());
        }
        let number = store.session_number(session.id)?;
        let places =
            number.map(|number| store.entry_transcripts(number, first..=last)).transpose()?.unwrap_or_default();
        let mut groups: HashMap<Option<TranscriptNumber>, Vec<&Entry>> = HashMap::new();
        for entry in entries {
            groups.entry(places.get(&entry.seq).copied()).or_default().push(entry);
        }
        let mut excludes = self.engine.sync().exclude_rules()?;
        for (transcript, entries) in groups {
            let row = transcript.map(|number| store.transcript_by_number(number)).transpose()?.flatten();
            match row {
                None => entries.iter().for_each(|entry| visit(entry, Err(OriginalProblem::Changed))),
                Some(row) => self.read_group(&row, session, &entries, &mut excludes, visit),
            }
        }
        Ok(())
    }

    /// Reads the entries of one transcript.
    fn read_group(
        self,
        row: &TranscriptRow,
        session: &Session,
        entries: &[&Entry],
        excludes: &mut ExcludeRules,
        visit: &mut OriginalVisitor<'_>,
    ) {
        let mut missing: HashMap<u64, &Entry> = entries.iter().map(|entry| (entry.seq, *entry)).collect();
        let problem = match self.open_original(row, session, excludes) {
            Err(problem) => problem,
            Ok(transcript) => {
                let filter = self.engine.settings().filter.transcript_filter();
                let mut give = |entry: &Entry, original: OriginalEntry| {
                    missing.remove(&entry.seq);
                    visit(entry, Ok(original));
                };
                let read = read_originals(row.agent, &transcript, entries, &filter, &mut give);
                read.err().map_or(OriginalProblem::Changed, |error| OriginalProblem::Unreadable(error.to_string()))
            }
        };
        for entry in missing.into_values() {
            visit(entry, Err(problem.clone()));
        }
    }

    fn open_original(
        self,
        row: &TranscriptRow,
        session: &Session,
        excludes: &mut ExcludeRules,
    ) -> Result<TranscriptReader, OriginalProblem> {
        let path = self.transcript_path(row)?;
        let is_read = row.agent == Agent::Native || self.engine.sync().agents_to_read(None).contains(&row.agent);
        if !is_read || excludes.is_excluded(&path, session.cwd.as_deref()) {
            return Err(OriginalProblem::Excluded);
        }
        TranscriptReader::open(row.agent, &path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OriginalProblem::Gone,
            _ => OriginalProblem::Unreadable(error.to_string()),
        })
    }

    /// Where a transcript is. Of a thread in a database it is a copy of its log, which is brought up to date first.
    fn transcript_path(self, row: &TranscriptRow) -> Result<PathBuf, OriginalProblem> {
        let path = PathBuf::from(&row.path);
        let threads = self.engine.thread_store();
        if row.agent != Agent::Native || !threads.is_in_database() {
            return Ok(path);
        }
        let thread = thread_of_log(&path).ok_or(OriginalProblem::Gone)?;
        threads.log_file(thread).map_err(|error| match error {
            ThreadError::Missing { .. } | ThreadError::Deleted { .. } => OriginalProblem::Gone,
            error => OriginalProblem::Unreadable(error.to_string()),
        })
    }
}
