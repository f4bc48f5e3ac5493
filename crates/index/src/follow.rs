//! Brings the index up to what the store holds. One process at a time; the others leave it to that one.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rethread_store::Store;
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
    let Some(_lock) = lock(folder, patience)? else { return Ok(Followed::Busy) };
    let head = store.head()?;
    match Payload::load(folder).and_then(|payload| payload.of_store(head)) {
        Ok(payload) if payload.change == head.change => Ok(Followed::UpToDate),
        Ok(payload) => match extend(folder, store, payload.change) {
            Ok(episodes) => Ok(Followed::Caught { episodes, anew: None }),
            Err(IndexError::Damaged(_)) => anew(folder, store, Unusable::Damaged),
            Err(error) => Err(error),
        },
        Err(why) => anew(folder, store, why),
    }
}

/// Throws the index away, so that the next search or sync makes it again.
pub fn discard(folder: &Path) -> Result<(), IndexError> {
    let _lock = lock(folder, Patience::Wait)?;
    remove(folder)
}

/// Makes the index from nothing beside the old one and puts it in its place when it is whole.
fn anew(folder: &Path, store: &Store, why: Unusable) -> Result<Followed, IndexError> {
    let fresh = folder.with_extension("new");
    remove(&fresh)?;
    let failed = |cause| IndexError::File { path: fresh.clone(), cause };
    DirBuilder::new().recursive(true).mode(0o700).create(&fresh).map_err(failed)?;
    let (schema, _) = schema::schema();
    Index::create_in_dir(&fresh, schema)?;
    let episodes = extend(&fresh, store, 0)?;
    remove(folder)?;
    fs::rename(&fresh, folder).map_err(failed)?;
    Ok(Followed::Caught { episodes, anew: Some(why) })
}

fn extend(folder: &Path, store: &Store, after: i64) -> Result<u64, IndexError> {
    let mut index = Index::open_in_dir(folder)?;
    index.set_tokenizers(schema::tokenizers());
    let (_, fields) = schema::schema();
    let many = store.entries_after(after, MANY)? > MANY;
    let (threads, budget) = if many { (THREADS_FOR_MANY, LARGE_BUDGET) } else { (1, SMALL_BUDGET) };
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, threads * budget)?;
    let mut episodes = 0;
    let head = document::episodes(store, after, |step| {
        match step {
            Step::Retold(session) => {
                writer.delete_term(Term::from_field_u64(fields.session, session.get()));
            }
            Step::Episode(key, documents) => {
                episodes += 1;
                let stale = (after > 0).then(|| Term::from_field_u64(fields.episode, episode_code(key)));
                let added = documents.into_iter().map(|one| UserOperation::Add(tantivy_document(fields, one)));
                // In one go, so that the entries of an episode lie side by side.
                writer.run(stale.map(UserOperation::Delete).into_iter().chain(added).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    })?;
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&Payload::of(head).to_text());
    commit.commit()?;
    writer.wait_merging_threads()?;
    close_to_others(folder)?;
    Ok(episodes)
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
