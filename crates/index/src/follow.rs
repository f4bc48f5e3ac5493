//! Brings the index up to what the store holds. One process at a time; the others leave it to that one.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rethread_store::{Head, Since, Store};
use rustc_hash::FxHashSet;
use tantivy::indexer::UserOperation;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use crate::document::{self, Document, Step, episode_code};
use crate::error::IndexError;
use crate::payload::{Payload, Unusable};
use crate::schema::{self, Fields};

/// From this many entries on it is worth having several threads.
const MANY: u64 = 2_000;
const THREADS_FOR_MANY: usize = 2;
/// Memory of each thread before it writes a segment.
const SMALL_BUDGET: usize = 20 << 20;
const LARGE_BUDGET: usize = 60 << 20;

/// How the index came up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Nothing was missing.
    UpToDate,
    /// Another process is at it.
    Busy,
    /// So many episodes were indexed.
    Caught {
        /// New and changed episodes.
        episodes: u64,
        /// Why everything was indexed anew, if it was.
        anew: Option<Unusable>,
    },
}

/// Whether to wait for another process that is indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Leave it to the other.
    None,
    /// Wait until it is done.
    Wait,
}

/// Indexes what the store has and the index has not.
pub fn follow(folder: &Path, store: &Store, patience: Patience) -> Result<Followed, IndexError> {
    let Some(mut follower) = Follower::begin(folder, store, patience)? else { return Ok(Followed::Busy) };
    match follower.step(store) {
        Err(IndexError::Damaged(_)) if follower.anew.is_none() => {
            follower = follower.start_over(Unusable::Damaged);
            follower.step(store)?;
        }
        other => other.map(drop)?,
    }
    follower.finish()
}

/// Throws the index away, so that the next search or sync makes it again.
pub fn discard(folder: &Path) -> Result<(), IndexError> {
    let _lock = lock(folder, Patience::Wait)?;
    // What an interrupted making left beside it holds the same words.
    remove(&folder.with_extension("new"))?;
    remove(folder)
}

/// Whoever holds the lock and brings the index up, in one step or in many while the store grows.
///
/// An index made from nothing grows beside the old one and is put in its place when it is whole. Dropped before it is
/// finished, a follower leaves no trace.
pub struct Follower {
    /// Held until the follower is gone.
    _lock: File,
    folder: PathBuf,
    fields: Fields,
    /// Opened when there is something to write.
    writer: Option<IndexWriter>,
    /// How far it is.
    reached: Head,
    began_at: i64,
    /// Episodes taken in, so that only what is there is taken out again.
    taken: FxHashSet<u64>,
    anew: Option<Unusable>,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("folder", &self.folder).field("reached", &self.reached).finish_non_exhaustive()
    }
}

impl Follower {
    /// Takes the lock; nothing if another process has it and there is no patience.
    pub fn begin(folder: &Path, store: &Store, patience: Patience) -> Result<Option<Self>, IndexError> {
        let Some(lock) = lock(folder, patience)? else { return Ok(None) };
        let head = store.head()?;
        let known = Payload::load(folder).and_then(|payload| payload.of_store(head));
        let change = known.map_or(0, |payload| payload.change);
        let (_, fields) = schema::schema();
        let reached = Head { identity: head.identity, change };
        let (folder, writer) = (folder.to_owned(), None);
        Ok(Some(Self {
            _lock: lock,
            folder,
            fields,
            writer,
            reached,
            began_at: change,
            taken: FxHashSet::default(),
            anew: known.err(),
        }))
    }

    /// Takes in what the store has and the index has not; how many episodes that were.
    pub fn step(&mut self, store: &Store) -> Result<u64, IndexError> {
        // What was left out as long as it grew is taken in now, if it has not been closed in the meantime.
        self.take(store, Since { closed: self.reached.change, open: self.began_at })
    }

    /// The same while the store is being written. Episodes that may still grow are left for the last step, or they
    /// would be indexed again and again.
    pub fn step_while_growing(&mut self, store: &Store) -> Result<u64, IndexError> {
        if store.entries_after(self.reached.change, MANY)? <= MANY {
            return Ok(0);
        }
        self.take(store, Since { closed: self.reached.change, open: i64::MAX })
    }

    fn take(&mut self, store: &Store, since: Since) -> Result<u64, IndexError> {
        if store.head()?.change == self.began_at {
            return Ok(0);
        }
        let many = store.entries_after(self.reached.change, MANY)? > MANY;
        let (fields, made_anew) = (self.fields, self.anew.is_some());
        let mut taken = std::mem::take(&mut self.taken);
        let writer = self.writer(many)?;
        let mut episodes = 0;
        let head = document::episodes(store, since, |step| {
            match step {
                Step::Retold(session) => {
                    writer.delete_term(Term::from_field_u64(fields.session, session.get()));
                }
                Step::Episode(key, documents) => {
                    episodes += 1;
                    let code = episode_code(key);
                    let known = !taken.insert(code) || !made_anew;
                    let stale = known.then(|| Term::from_field_u64(fields.episode, code));
                    let added = documents.into_iter().map(|one| UserOperation::Add(tantivy_document(fields, one)));
                    // In one go, so that the entries of an episode lie side by side.
                    writer.run(stale.map(UserOperation::Delete).into_iter().chain(added).collect::<Vec<_>>())?;
                }
            }
            Ok(())
        })?;
        self.taken = taken;
        self.reached = head;
        Ok(episodes)
    }

    /// Makes everything that was taken in visible.
    pub fn finish(mut self) -> Result<Followed, IndexError> {
        if self.reached.change == self.began_at && self.anew.is_none() {
            return Ok(Followed::UpToDate);
        }
        let payload = Payload::of(self.reached).to_text();
        self.writer(false)?;
        let Some(mut writer) = self.writer.take() else { return Ok(Followed::UpToDate) };
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        writer.wait_merging_threads()?;
        let place = self.place();
        close_to_others(&place)?;
        if place != self.folder {
            remove(&self.folder)?;
            fs::rename(&place, &self.folder).map_err(|cause| IndexError::File { path: place, cause })?;
        }
        Ok(Followed::Caught { episodes: self.taken.len() as u64, anew: self.anew })
    }

    fn start_over(self, why: Unusable) -> Self {
        let reached = Head { change: 0, ..self.reached };
        Self { writer: None, reached, began_at: 0, taken: FxHashSet::default(), anew: Some(why), ..self }
    }

    /// Where it writes: beside the index that is there, if that is of no use.
    fn place(&self) -> PathBuf {
        if self.anew.is_some() { self.folder.with_extension("new") } else { self.folder.clone() }
    }

    fn writer(&mut self, many: bool) -> Result<&mut IndexWriter, IndexError> {
        if self.writer.is_none() {
            let place = self.place();
            if self.anew.is_some() {
                remove(&place)?;
                let failed = |cause| IndexError::File { path: place.clone(), cause };
                DirBuilder::new().recursive(true).mode(0o700).create(&place).map_err(failed)?;
                Index::create_in_dir(&place, schema::schema().0)?;
            }
            let mut index = Index::open_in_dir(&place)?;
            index.set_tokenizers(schema::tokenizers());
            let (threads, budget) = if many { (THREADS_FOR_MANY, LARGE_BUDGET) } else { (1, SMALL_BUDGET) };
            self.writer = Some(index.writer_with_num_threads(threads, threads * budget)?);
        }
        // It has just been made where there was none.
        self.writer.as_mut().ok_or_else(|| IndexError::from(std::io::Error::other("the index has no writer")))
    }
}

/// The library makes files that anyone may read. Their directory is closed, but a copy of them need not be.
fn close_to_others(folder: &Path) -> Result<(), IndexError> {
    let failed = |cause| IndexError::File { path: folder.to_owned(), cause };
    for file in fs::read_dir(folder).map_err(failed)?.flatten() {
        let closed = fs::Permissions::from_mode(0o600);
        match fs::set_permissions(file.path(), closed) {
            // What a merge has just removed needs no protection.
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(failed(cause)),
            _ => {}
        }
    }
    Ok(())
}

fn tantivy_document(fields: Fields, document: Document) -> TantivyDocument {
    let mut made = TantivyDocument::default();
    made.add_text(fields.text, document.text);
    for file in document.files {
        made.add_text(fields.file, file);
    }
    for tool in document.tools {
        made.add_text(fields.tool, tool);
    }
    if let Some(speaker) = document.speaker {
        made.add_text(fields.speaker, speaker);
    }
    made.add_u64(fields.session, document.episode.session.get());
    made.add_u64(fields.episode, episode_code(document.episode));
    made.add_u64(fields.seq, document.seq);
    made.add_i64(fields.at, document.at);
    made.add_u64(fields.traits, document.traits.0);
    made
}

/// The lock lies beside the index, not in it, so that it outlives the index being replaced.
fn lock(folder: &Path, patience: Patience) -> Result<Option<File>, IndexError> {
    let path: PathBuf = folder.with_extension("lock");
    let failed = |cause| IndexError::File { path: path.clone(), cause };
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(failed)?;
    match patience {
        Patience::Wait => file.lock().map(|()| Some(file)).map_err(failed),
        Patience::None => match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        },
    }
}

fn remove(folder: &Path) -> Result<(), IndexError> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            // A file where the directory should be.
            fs::remove_file(folder).map_err(|_| IndexError::File { path: folder.to_owned(), cause })
        }
        _ => Ok(()),
    }
}
