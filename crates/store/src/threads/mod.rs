//! Threads: conversations whose logs are ours. One directory each: `session.jsonl`, never rewritten, `metadata.json`.

mod error;
mod files;
mod log;
mod metadata;
mod read;
mod tally;
mod turns;

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::thread::{Metadata, ThreadId};
use rustix::fs::OFlags;

use files::{Flush, Folder};

pub use error::ThreadError;
pub use log::{LONGEST_RECORD, ThreadLog};
pub use read::{LineProblem, LoggedRecords};
pub use turns::{Spoken, Ticket, Turn};

/// The log's file in a thread's directory.
const LOG: &str = "session.jsonl";
/// Begins the names of directories that are being made.
const DRAFT: &str = ".new-";
/// Names of deleted threads, so that none of them ever comes back.
const DELETED: &str = "deleted";
/// Threads whose metadata is read at once.
const AT_ONCE: usize = 8;

/// All threads of one home.
#[derive(Clone, Debug)]
pub struct Threads {
    root: PathBuf,
}

impl Threads {
    /// Those below this directory, which need not exist.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The directory that holds them.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a thread's log is.
    pub fn log_path(&self, id: ThreadId) -> PathBuf {
        self.folder_path(id).join(LOG)
    }

    /// Makes a thread: its directory, an empty log and metadata, all on disk when this returns.
    pub fn create(&self, metadata: &Metadata) -> Result<ThreadLog, ThreadError> {
        let path = self.folder_path(metadata.id);
        let draft = self.root.join(format!("{DRAFT}{}", metadata.id));
        let made = || -> io::Result<()> {
            files::make_folder(&self.root)?;
            files::make_folder(&draft)?;
            let folder = Folder::open(&draft)?;
            folder.file(LOG, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?.sync_all()?;
            metadata::write(&folder, metadata, Flush::Now)?;
            folder.sync()?;
            // Nobody ever sees a directory that is half made.
            std::fs::rename(&draft, &path)?;
            Folder::open(&self.root)?.sync()
        };
        if let Err(cause) = made() {
            let _ = std::fs::remove_dir_all(&draft);
            return Err(ThreadError::Disk { path, doing: "created", cause });
        }
        self.open(metadata.id)
    }

    /// Opens a thread for appending.
    pub fn open(&self, id: ThreadId) -> Result<ThreadLog, ThreadError> {
        let (folder, path) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDWR | OFlags::APPEND)?;
        Ok(ThreadLog::new(id, path.join(LOG), folder, file))
    }

    /// All records of a thread.
    pub fn read(&self, id: ThreadId) -> Result<LoggedRecords, ThreadError> {
        let (folder, _) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDONLY)?;
        read::records(&file).map_err(ThreadError::disk(&self.log_path(id), "read"))
    }

    /// What is known of a thread. Nothing is written, however old the stored metadata is.
    pub fn metadata(&self, id: ThreadId) -> Result<Metadata, ThreadError> {
        let (folder, _) = self.folder(id)?;
        let file = self.log_file(id, &folder, OFlags::RDONLY)?;
        metadata::load(id, &folder, &file, None).map_err(ThreadError::disk(&self.log_path(id), "read"))
    }

    /// Whether what only the metadata of a thread hold cannot be read.
    pub fn has_damaged_metadata(&self, id: ThreadId) -> bool {
        self.folder(id).is_ok_and(|(folder, _)| metadata::is_damaged(id, &folder))
    }

    /// The ids of all threads, oldest first.
    pub fn ids(&self) -> Result<Vec<ThreadId>, ThreadError> {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(ThreadError::Disk { path: self.root.clone(), doing: "read", cause }),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ids: Vec<ThreadId> = names.filter_map(|name| name.parse().ok()).collect();
        ids.retain(|id| !self.is_deleted(*id));
        ids.sort_unstable();
        Ok(ids)
    }

    /// All threads, the one last spoken in first. One that cannot be read is left out, with the reason.
    pub fn list(&self) -> Result<(Vec<Metadata>, Vec<ThreadError>), ThreadError> {
        let ids = self.ids()?;
        let share = ids.len().div_ceil(AT_ONCE).max(1);
        let read: Vec<Result<Metadata, ThreadError>> = std::thread::scope(|scope| {
            let readers: Vec<_> = ids
                .chunks(share)
                .map(|ids| scope.spawn(|| ids.iter().map(|id| self.metadata(*id)).collect::<Vec<_>>()))
                .collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap_or_default()).collect()
        });
        let (mut found, mut problems) = (Vec::with_capacity(read.len()), Vec::new());
        for one in read {
            match one {
                Ok(metadata) => found.push(metadata),
                // Deleted while we looked.
                Err(ThreadError::Missing { .. } | ThreadError::Deleted { .. }) => {}
                Err(error) => problems.push(error),
            }
        }
        found.sort_by_key(|metadata| (std::cmp::Reverse(metadata.last_message_at), std::cmp::Reverse(metadata.id)));
        Ok((found, problems))
    }

    /// Deletes a thread for good. Who holds its log open can append no more.
    pub fn delete(&self, id: ThreadId) -> Result<(), ThreadError> {
        let path = self.folder_path(id);
        let (folder, _) = match self.folder(id) {
            // An earlier deletion was interrupted.
            Err(ThreadError::Deleted { .. }) if path.exists() => return self.sweep(id),
            opened => opened?,
        };
        let file = self.log_file(id, &folder, OFlags::RDWR)?;
        file.lock().map_err(ThreadError::disk(&path, "locked"))?;
        let tombs = self.root.join(DELETED);
        let buried = || -> io::Result<()> {
            files::make_folder(&tombs)?;
            let tombs = Folder::open(&tombs)?;
            tombs.file(&id.to_string(), OFlags::WRONLY | OFlags::CREATE)?.sync_all()?;
            tombs.sync()
        };
        buried().map_err(ThreadError::disk(&tombs, "written"))?;
        // From here on it is gone, whatever happens; what stays of its files is swept at the next occasion.
        self.sweep(id)
    }

    /// The ids of all threads that were deleted.
    pub fn deleted_ids(&self) -> Vec<ThreadId> {
        let Ok(entries) = std::fs::read_dir(self.root.join(DELETED)) else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    }

    /// Removes what interrupted deletions and creations left behind.
    pub fn sweep_all(&self) -> Result<(), ThreadError> {
        let Ok(entries) = std::fs::read_dir(&self.root) else { return Ok(()) };
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            let deleted = name.parse::<ThreadId>().ok().filter(|id| self.is_deleted(*id));
            if let Some(id) = deleted {
                self.sweep(id)?;
            }
            // A directory is made in moments; one that has been in the making for longer never will be.
            let draft = self.root.join(&name);
            if name.starts_with(DRAFT) && is_older_than_an_hour(&draft) {
                std::fs::remove_dir_all(&draft).map_err(ThreadError::disk(&draft, "removed"))?;
            }
        }
        Ok(())
    }

    fn sweep(&self, id: ThreadId) -> Result<(), ThreadError> {
        let path = self.folder_path(id);
        // The log goes first: whoever waits for its lock sees by it that the thread is gone.
        let gone = Folder::open(&path).and_then(|folder| folder.remove(LOG));
        match gone.and_then(|()| std::fs::remove_dir_all(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::remove_dir_all(&path).map_err(ThreadError::disk(&path, "removed"))
            }
            other => other.map_err(ThreadError::disk(&path, "removed")),
        }
    }

    /// Whether a thread was deleted.
    pub fn is_deleted(&self, id: ThreadId) -> bool {
        self.root.join(DELETED).join(id.to_string()).symlink_metadata().is_ok()
    }

    fn folder_path(&self, id: ThreadId) -> PathBuf {
        self.root.join(id.to_string())
    }

    fn folder(&self, id: ThreadId) -> Result<(Folder, PathBuf), ThreadError> {
        let path = self.folder_path(id);
        if self.is_deleted(id) {
            return Err(ThreadError::Deleted { id });
        }
        match Folder::open(&path) {
            Ok(folder) => Ok((folder, path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ThreadError::Missing { id }),
            Err(cause) => Err(ThreadError::Disk { path, doing: "read", cause }),
        }
    }

    fn log_file(&self, id: ThreadId, folder: &Folder, flags: OFlags) -> Result<std::fs::File, ThreadError> {
        let path = self.log_path(id);
        folder.file(LOG, flags).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => ThreadError::Missing { id },
            io::ErrorKind::InvalidInput => ThreadError::Foreign { path },
            _ => ThreadError::Disk { path, doing: "opened", cause },
        })
    }
}

fn is_older_than_an_hour(path: &Path) -> bool {
    let age = path.symlink_metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 3600)
}
