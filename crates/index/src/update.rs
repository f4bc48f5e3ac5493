//! Updates the index from the store. Only one process does so at a time; others skip or wait.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rethread_store::{FeedCursor, ReadStore, StoreHead};
use rustc_hash::FxHashSet;
use tantivy::indexer::UserOperation;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use crate::document::{self, IndexChange, IndexDocument, encode_episode};
use crate::error::IndexError;
use crate::payload::{CommitPayload, IndexProblem};
use crate::schema::{self, IndexFields};

/// Above this many entries, several threads are worth it.
const MANY_ENTRIES: u64 = 2_000;
const THREADS_FOR_MANY: usize = 2;
/// Bytes each thread may buffer before it writes a segment.
const SMALL_BUFFER_BYTES: usize = 20 << 20;
const LARGE_BUFFER_BYTES: usize = 60 << 20;

/// Result of updating the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUpdate {
    /// Nothing to do.
    UpToDate,
    /// Another process is updating the index.
    Busy,
    /// Episodes were indexed.
    Updated {
        /// Number of new and changed episodes.
        episodes: u64,
        /// Why the index was rebuilt from scratch, if it was.
        rebuild_reason: Option<IndexProblem>,
    },
}

/// What to do while another process holds the index lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Do not wait.
    Skip,
    /// Wait for the lock.
    Wait,
}

/// Indexes everything in the store that is not in the index yet.
pub fn update_index(folder: &Path, store: &ReadStore, wait: LockWait) -> Result<IndexUpdate, IndexError> {
    let Some(mut updater) = IndexUpdater::begin(folder, store, wait)? else { return Ok(IndexUpdate::Busy) };
    // Damage may show only when the commit reads the segments.
    match updater.index_new(store).and_then(|_| updater.commit()) {
        Err(IndexError::Damaged(_)) if updater.rebuild_reason.is_none() => {
            updater = updater.restart(IndexProblem::Damaged);
            updater.index_new(store)?;
            updater.commit()
        }
        done => done,
    }
}

/// Deletes the index. The next search or sync rebuilds it.
pub fn delete_index(folder: &Path) -> Result<(), IndexError> {
    let _lock = lock(folder, LockWait::Wait)?;
    // An interrupted rebuild may have left a copy with the same text.
    remove(&folder.with_extension("new"))?;
    remove(folder)
}

/// Holds the index lock and updates the index, in one step or in several while the store grows.
///
/// A rebuilt index is written to a folder beside the old one and replaces it when it is complete. Dropping an updater
/// before it is finished changes nothing.
pub struct IndexUpdater {
    /// Released on drop.
    _lock: File,
    folder: PathBuf,
    fields: IndexFields,
    /// Opened on the first write.
    writer: Option<IndexWriter>,
    /// Change number up to which the store has been indexed.
    indexed_up_to: StoreHead,
    start_change: i64,
    /// Episodes added by this updater. In a rebuild, only these can have stale documents to delete.
    indexed_episodes: FxHashSet<u64>,
    rebuild_reason: Option<IndexProblem>,
}

impl std::fmt::Debug for IndexUpdater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("folder", &self.folder)
            .field("reached", &self.indexed_up_to)
            .finish_non_exhaustive()
    }
}

impl IndexUpdater {
    /// Takes the lock. `None` if another process holds it and we do not wait.
    pub fn begin(folder: &Path, store: &ReadStore, wait: LockWait) -> Result<Option<Self>, IndexError> {
        let Some(lock) = lock(folder, wait)? else { return Ok(None) };
        let head = store.head()?;
        let known = CommitPayload::load(folder).and_then(|payload| payload.check_store(head));
        let start_change = known.map_or(0, |payload| payload.change);
        let (_, fields) = schema::schema();
        let indexed_up_to = StoreHead { identity: head.identity, change: start_change };
        let (folder, writer) = (folder.to_owned(), None);
        Ok(Some(Self {
            _lock: lock,
            folder,
            fields,
            writer,
            indexed_up_to,
            start_change,
            indexed_episodes: FxHashSet::default(),
            rebuild_reason: known.err(),
        }))
    }

    /// Indexes what is new in the store. Returns the number of episodes.
    pub fn index_new(&mut self, store: &ReadStore) -> Result<u64, IndexError> {
        // Open episodes that earlier steps skipped are indexed now.
        self.index_since(store, FeedCursor { closed_after: self.indexed_up_to.change, open_after: self.start_change })
    }

    /// Indexes what is new while the store is still being written. Episodes that may still grow are left for the last
    /// step, because otherwise they would be indexed repeatedly.
    pub fn index_closed_episodes(&mut self, store: &ReadStore) -> Result<u64, IndexError> {
        if store.count_changed_entries(self.indexed_up_to.change, MANY_ENTRIES)? <= MANY_ENTRIES {
            return Ok(0);
        }
        self.index_since(store, FeedCursor { closed_after: self.indexed_up_to.change, open_after: i64::MAX })
    }

    fn index_since(&mut self, store: &ReadStore, since: FeedCursor) -> Result<u64, IndexError> {
        if store.head()?.change == self.start_change {
            return Ok(0);
        }
        let many = store.count_changed_entries(self.indexed_up_to.change, MANY_ENTRIES)? > MANY_ENTRIES;
        let (fields, is_rebuild) = (self.fields, self.rebuild_reason.is_some());
        let mut taken = std::mem::take(&mut self.indexed_episodes);
        let writer = self.writer(many)?;
        let mut episodes = 0;
        let head = document::for_each_change(store, since, |step| {
            match step {
                IndexChange::SessionReset(session) => {
                    writer.delete_term(Term::from_field_u64(fields.session, session.get()));
                }
                IndexChange::Episode(key, documents) => {
                    episodes += 1;
                    let code = encode_episode(key);
                    let known = !taken.insert(code) || !is_rebuild;
                    let stale = known.then(|| Term::from_field_u64(fields.episode, code));
                    let added = documents.into_iter().map(|one| UserOperation::Add(tantivy_document(fields, one)));
                    // In one batch, so that the entries of an episode are stored next to each other.
                    writer.run(stale.map(UserOperation::Delete).into_iter().chain(added).collect::<Vec<_>>())?;
                }
            }
            Ok(())
        })?;
        self.indexed_episodes = taken;
        self.indexed_up_to = head;
        Ok(episodes)
    }

    /// Commits the update and makes it visible to searches.
    pub fn finish(mut self) -> Result<IndexUpdate, IndexError> {
        self.commit()
    }

    fn commit(&mut self) -> Result<IndexUpdate, IndexError> {
        if self.indexed_up_to.change == self.start_change && self.rebuild_reason.is_none() {
            return Ok(IndexUpdate::UpToDate);
        }
        let payload = CommitPayload::for_head(self.indexed_up_to).to_text();
        self.writer(false)?;
        let Some(mut writer) = self.writer.take() else { return Ok(IndexUpdate::UpToDate) };
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        writer.wait_merging_threads()?;
        let place = self.target_folder();
        make_private(&place)?;
        if place != self.folder {
            remove(&self.folder)?;
            fs::rename(&place, &self.folder).map_err(|cause| IndexError::File { path: place, cause })?;
        }
        Ok(IndexUpdate::Updated { episodes: self.indexed_episodes.len() as u64, rebuild_reason: self.rebuild_reason })
    }

    fn restart(self, why: IndexProblem) -> Self {
        let indexed_up_to = StoreHead { change: 0, ..self.indexed_up_to };
        Self {
            writer: None,
            indexed_up_to,
            start_change: 0,
            indexed_episodes: FxHashSet::default(),
            rebuild_reason: Some(why),
            ..self
        }
    }

    /// Folder to write to: beside the existing index if that one is unusable.
    fn target_folder(&self) -> PathBuf {
        if self.rebuild_reason.is_some() { self.folder.with_extension("new") } else { self.folder.clone() }
    }

    fn writer(&mut self, many: bool) -> Result<&mut IndexWriter, IndexError> {
        if self.writer.is_none() {
            let place = self.target_folder();
            if self.rebuild_reason.is_some() {
                remove(&place)?;
                let failed = |cause| IndexError::File { path: place.clone(), cause };
                DirBuilder::new().recursive(true).mode(0o700).create(&place).map_err(failed)?;
                Index::create_in_dir(&place, schema::schema().0)?;
            }
            let mut index = Index::open_in_dir(&place)?;
            index.set_tokenizers(schema::tokenizers());
            let (threads, budget) =
                if many { (threads_for_many(), LARGE_BUFFER_BYTES) } else { (1, SMALL_BUFFER_BYTES) };
            self.writer = Some(index.writer_with_num_threads(threads, threads * budget)?);
        }
        // Always set at this point.
        self.writer.as_mut().ok_or_else(|| IndexError::from(std::io::Error::other("the index has no writer")))
    }
}

/// One thread on one core: two would only make the order of entries in the index depend on chance.
fn threads_for_many() -> usize {
    std::thread::available_parallelism().map_or(THREADS_FOR_MANY, |cores| THREADS_FOR_MANY.min(cores.get()))
}

/// Tantivy creates files readable by everyone. Their folder is private, but a copy of them might not be.
fn make_private(folder: &Path) -> Result<(), IndexError> {
    let failed = |cause| IndexError::File { path: folder.to_owned(), cause };
    for file in fs::read_dir(folder).map_err(failed)?.flatten() {
        let closed = fs::Permissions::from_mode(0o600);
        match fs::set_permissions(file.path(), closed) {
            // A merge may have just removed the file.
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(failed(cause)),
            _ => {}
        }
    }
    Ok(())
}

fn tantivy_document(fields: IndexFields, document: IndexDocument) -> TantivyDocument {
    let mut tantivy_doc = TantivyDocument::default();
    tantivy_doc.add_text(fields.text, document.text);
    for file in document.files {
        tantivy_doc.add_text(fields.file, file);
    }
    for tool in document.tools {
        tantivy_doc.add_text(fields.tool, tool);
    }
    if let Some(speaker) = document.speaker {
        tantivy_doc.add_text(fields.speaker, speaker);
    }
    tantivy_doc.add_u64(fields.session, document.episode.session.get());
    tantivy_doc.add_u64(fields.episode, encode_episode(document.episode));
    tantivy_doc.add_u64(fields.seq, document.seq);
    tantivy_doc.add_i64(fields.at, document.at);
    tantivy_doc.add_u64(fields.traits, document.traits.0);
    tantivy_doc
}

/// The lock file is beside the index folder, because the folder is replaced by a rebuild.
fn lock(folder: &Path, wait: LockWait) -> Result<Option<File>, IndexError> {
    let path: PathBuf = folder.with_extension("lock");
    let failed = |cause| IndexError::File { path: path.clone(), cause };
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(failed)?;
    match wait {
        LockWait::Wait => file.lock().map(|()| Some(file)).map_err(failed),
        LockWait::Skip => match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        },
    }
}

fn remove(folder: &Path) -> Result<(), IndexError> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            // There may be a file instead of a folder.
            fs::remove_file(folder).map_err(|_| IndexError::File { path: folder.to_owned(), cause })
        }
        _ => Ok(()),
    }
}
