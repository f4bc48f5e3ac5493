//! Threads in a folder: each has a directory with `session.jsonl`, which is append-only, and `metadata.json`.

mod log;
mod metadata;
mod turn_queue;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rethread_model::thread::{ThreadId, ThreadMetadata};
use rustix::fs::OFlags;

use super::read::{self, ThreadRecords};
use super::{ThreadError, ThreadSummaries, metadata_list};
use crate::private_files::{OWNER_ONLY_FOLDER, PrivateFolder, create_folders};

pub(super) use log::FileLog;
pub(super) use metadata::{parse_metadata, without_counts, write as write_metadata};
pub(super) use turn_queue::{FileTicket, FileTurn};

pub(super) const LOG: &str = "session.jsonl";
/// Prefix of directories that are not complete yet.
const DRAFT_PREFIX: &str = ".new-";
/// Directory with an empty file for each deleted thread, so that none of them comes back.
const DELETED: &str = "deleted";
/// Number of OS threads that read metadata.
const METADATA_READERS: usize = 8;

/// All threads below one directory.
#[derive(Clone, Debug)]
pub(crate) struct FileThreads {
    root: PathBuf,
}

impl FileThreads {
    /// Threads below this directory, which need not exist.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Path of a thread's log.
    pub(super) fn log_path(&self, id: ThreadId) -> PathBuf {
        self.folder_path(id).join(LOG)
    }

    /// Creates a thread: its directory, its log and metadata, all on disk when this returns.
    pub(crate) fn create(&self, metadata: &ThreadMetadata, log: &[u8]) -> Result<FileLog, ThreadError> {
        let path = self.folder_path(metadata.id);
        let draft = self.root.join(format!("{DRAFT_PREFIX}{}", metadata.id));
        self.refuse_link()?;
        let create = || -> io::Result<()> {
            create_folders(&draft, OWNER_ONLY_FOLDER)?;
            let folder = PrivateFolder::open(&draft)?;
            let mut file = folder.file(LOG, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
            file.write_all(log)?;
            file.sync_all()?;
            metadata::write(&folder, metadata)?;
            folder.sync()?;
            // The rename makes the complete directory visible in one step.
            std::fs::rename(&draft, &path)?;
            PrivateFolder::open(&self.root)?.sync()
        };
        if let Err(cause) = create() {
            let _ = std::fs::remove_dir_all(&draft);
            return Err(ThreadError::Disk { path, operation: "created", cause });
        }
        self.open(metadata.id)
    }

    /// Opens a thread for appending.
    pub(super) fn open(&self, id: ThreadId) -> Result<FileLog, ThreadError> {
        let (folder, path) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDWR | OFlags::APPEND)?;
        Ok(FileLog::new(id, path.join(LOG), folder, file))
    }

    /// All records of a thread, and the lines that are not records.
    pub(super) fn read(&self, id: ThreadId) -> Result<ThreadRecords, ThreadError> {
        let (folder, _) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDONLY)?;
        read::records(io::BufReader::with_capacity(read::BUFFER_BYTES, &file))
            .map_err(ThreadError::disk(&self.log_path(id), "read"))
    }

    /// The current metadata of a thread. Does not write, even if the stored metadata is out of date.
    pub(crate) fn metadata(&self, id: ThreadId) -> Result<ThreadMetadata, ThreadError> {
        let (folder, _) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDONLY)?;
        metadata::load(id, &folder, &file, None).map_err(ThreadError::disk(&self.log_path(id), "read"))
    }

    /// Whether the metadata file of a thread cannot be parsed.
    pub(super) fn has_damaged_metadata(&self, id: ThreadId) -> bool {
        self.folder(id).is_ok_and(|(folder, _)| metadata::is_damaged(id, &folder))
    }

    /// The ids of all threads, oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<ThreadId>, ThreadError> {
        self.refuse_link()?;
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(ThreadError::Disk { path: self.root.clone(), operation: "read", cause }),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ids: Vec<ThreadId> = names.filter_map(|name| name.parse().ok()).collect();
        ids.retain(|id| !self.is_deleted(*id));
        ids.sort_unstable();
        Ok(ids)
    }

    /// Metadata of all threads, most recently used first, and the errors of those that cannot be read.
    pub(super) fn list(&self) -> Result<ThreadSummaries, ThreadError> {
        let ids = self.ids()?;
        let share = ids.len().div_ceil(METADATA_READERS).max(1);
        let read: Vec<Result<ThreadMetadata, ThreadError>> = std::thread::scope(|scope| {
            let readers: Vec<_> = ids
                .chunks(share)
                .map(|ids| scope.spawn(|| ids.iter().map(|id| self.metadata(*id)).collect::<Vec<_>>()))
                .collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap_or_default()).collect()
        });
        Ok(metadata_list(read))
    }

    /// The bytes of the log.
    pub(crate) fn log_content(&self, id: ThreadId) -> Result<Vec<u8>, ThreadError> {
        let (folder, _) = self.folder(id)?;
        let mut bytes = Vec::new();
        let read = self.log_file(id, &folder, OFlags::RDONLY)?.read_to_end(&mut bytes);
        read.map_err(ThreadError::disk(&self.log_path(id), "read"))?;
        Ok(bytes)
    }

    /// The bytes of the stored metadata, which may be out of date or damaged.
    pub(super) fn metadata_content(&self, id: ThreadId) -> Result<Vec<u8>, ThreadError> {
        let (folder, _) = self.folder(id)?;
        Ok(folder.bytes(metadata::NAME).unwrap_or_default())
    }

    /// Whether anything is left of a thread, deleted or not.
    pub(crate) fn has_content(&self, id: ThreadId) -> bool {
        self.folder_path(id).exists()
    }

    /// Deletes a thread for good. Processes that have its log open can no longer append.
    pub(super) fn delete(&self, id: ThreadId) -> Result<(), ThreadError> {
        let path = self.folder_path(id);
        let (folder, _) = match self.folder(id) {
            // An earlier deletion was interrupted.
            Err(ThreadError::Deleted { .. }) if path.exists() => return self.sweep(id),
            opened => opened?,
        };
        let file = self.log_file(id, &folder, OFlags::RDWR)?;
        file.lock().map_err(ThreadError::disk(&path, "locked"))?;
        self.mark_deleted(id)?;
        // From here on the thread is deleted; files that are left over are removed by `sweep_all`.
        self.sweep(id)
    }

    /// Notes that a thread was deleted, so that it does not come back.
    pub(crate) fn mark_deleted(&self, id: ThreadId) -> Result<(), ThreadError> {
        let deleted = self.root.join(DELETED);
        let mark = || -> io::Result<()> {
            create_folders(&deleted, OWNER_ONLY_FOLDER)?;
            let deleted = PrivateFolder::open(&deleted)?;
            deleted.file(id.to_string(), OFlags::WRONLY | OFlags::CREATE)?.sync_all()?;
            deleted.sync()
        };
        mark().map_err(ThreadError::disk(&deleted, "written"))
    }

    /// The ids of all deleted threads.
    pub(crate) fn deleted_ids(&self) -> Vec<ThreadId> {
        let Ok(entries) = std::fs::read_dir(self.root.join(DELETED)) else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }

    /// Removes what interrupted deletions and creations left behind.
    pub(super) fn sweep_all(&self) -> Result<(), ThreadError> {
        self.refuse_link()?;
        let Ok(entries) = std::fs::read_dir(&self.root) else { return Ok(()) };
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let deleted = name.parse::<ThreadId>().ok().filter(|id| self.is_deleted(*id));
            if let Some(id) = deleted {
                self.sweep(id)?;
            }
            // Creating a directory takes a moment; an old draft was left by a killed process.
            let draft = self.root.join(&name);
            if name.starts_with(DRAFT_PREFIX) && is_older_than_an_hour(&draft) {
                std::fs::remove_dir_all(&draft).map_err(ThreadError::disk(&draft, "removed"))?;
            }
        }
        Ok(())
    }

    fn sweep(&self, id: ThreadId) -> Result<(), ThreadError> {
        let path = self.folder_path(id);
        // The log first: a process that waits for its lock sees that it was unlinked.
        let removed = PrivateFolder::open(&path).and_then(|folder| folder.remove(LOG));
        match removed.and_then(|()| std::fs::remove_dir_all(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::remove_dir_all(&path).map_err(ThreadError::disk(&path, "removed"))
            }
            other => other.map_err(ThreadError::disk(&path, "removed")),
        }
    }

    /// Whether a thread with this id was deleted.
    pub(super) fn is_deleted(&self, id: ThreadId) -> bool {
        self.root.join(DELETED).join(id.to_string()).symlink_metadata().is_ok()
    }

    /// Fails if the directory of all threads is a link: it would lead our files elsewhere.
    fn refuse_link(&self) -> Result<(), ThreadError> {
        if !self.root.is_symlink() {
            return Ok(());
        }
        let cause = io::Error::other("it is a symbolic link");
        Err(ThreadError::Disk { path: self.root.clone(), operation: "used", cause })
    }

    fn folder_path(&self, id: ThreadId) -> PathBuf {
        self.root.join(id.to_string())
    }

    fn folder(&self, id: ThreadId) -> Result<(PrivateFolder, PathBuf), ThreadError> {
        self.refuse_link()?;
        let path = self.folder_path(id);
        if self.is_deleted(id) {
            return Err(ThreadError::Deleted { id });
        }
        match PrivateFolder::open(&path) {
            Ok(folder) => Ok((folder, path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ThreadError::Missing { id }),
            Err(cause) => Err(ThreadError::Disk { path, operation: "read", cause }),
        }
    }

    fn log_file(&self, id: ThreadId, folder: &PrivateFolder, flags: OFlags) -> Result<std::fs::File, ThreadError> {
        let path = self.log_path(id);
        folder.file(LOG, flags).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => ThreadError::Missing { id },
            io::ErrorKind::InvalidInput => ThreadError::NotRegularFile { path },
            _ => ThreadError::Disk { path, operation: "opened", cause },
        })
    }
}

fn is_older_than_an_hour(path: &Path) -> bool {
    let age =
        path.symlink_metadata().and_then(|attributes| attributes.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 3600)
}
