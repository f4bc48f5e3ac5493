//! One turn at a time per thread, first come first served, across processes.
//!
//! Each waiting turn is a numbered file in `turns/` that its process keeps locked. The turn starts when no locked file
//! with a lower number is left; an unlocked file belongs to a process that was killed. While a model answers, the text
//! is also written to the file of the turn, so that the next turn can record what a killed process had received.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use rethread_model::thread::ThreadId;
use rustix::fs::OFlags;

use super::{FileThreads, LOG};
use crate::private_files::{OWNER_ONLY_FOLDER, PrivateFolder};
use crate::threads::ThreadError;
use crate::threads::partial_answer::{self, PartialAnswer};

const FOLDER: &str = "turns";
/// Locked briefly to examine the files or to add one.
const QUEUE_LOCK: &str = "lock";
/// How often a waiting turn checks whether it can start.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A place in the turn queue of a thread. Dropping it leaves the queue.
#[derive(Debug)]
pub(in crate::threads) struct FileTicket {
    id: ThreadId,
    number: u64,
    path: PathBuf,
    folder: PrivateFolder,
    file: File,
}

/// The current turn of a thread. No other turn starts until it is dropped.
#[derive(Debug)]
pub(in crate::threads) struct FileTurn {
    ticket: FileTicket,
    /// Numbers of the files that killed processes left.
    abandoned: Vec<u64>,
}

impl FileThreads {
    /// Enters the queue of a thread, in which at most `limit` turns wait behind the current one.
    pub(in crate::threads) fn enter_turn_queue(&self, id: ThreadId, limit: usize) -> Result<FileTicket, ThreadError> {
        let (_, thread) = self.folder(id)?;
        let path = thread.join(FOLDER);
        let disk = || ThreadError::disk(&path, "written");
        let folder = open_queue(&path).map_err(|cause| match cause.kind() {
            // The parent directory was removed with the thread.
            io::ErrorKind::NotFound => ThreadError::Deleted { id },
            _ => disk()(cause),
        })?;
        let _lock = lock(&folder).map_err(disk())?;
        let numbers = numbers(&path).map_err(disk())?;
        let active = numbers.iter().filter(|number| open_abandoned(&folder, **number).is_none()).count();
        if active > limit {
            return Err(ThreadError::QueueFull { id, limit });
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = folder.file(number.to_string(), flags).map_err(disk())?;
        file.lock().map_err(disk())?;
        Ok(FileTicket { id, number, path, folder, file })
    }

    /// Whether a killed process left a partial answer and no turn is queued that would record it.
    pub(in crate::threads) fn has_partial_answer(&self, id: ThreadId) -> bool {
        let path = self.folder_path(id).join(FOLDER);
        let (Ok(folder), Ok(numbers)) = (PrivateFolder::open(&path), numbers(&path)) else { return false };
        let mut has_answer = false;
        for number in numbers {
            // An active turn records the partial answers when it starts.
            let Some(file) = open_abandoned(&folder, number) else { return false };
            has_answer |= matches!(partial_answer(&file), Ok(Some(_)));
        }
        has_answer
    }
}

impl FileTicket {
    pub(in crate::threads) fn id(&self) -> ThreadId {
        self.id
    }

    /// Waits for the turn. Returns it with the partial answers of killed processes; `None` if `is_stopped` returned true
    /// first.
    pub(in crate::threads) fn wait(
        self,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<(FileTurn, Vec<PartialAnswer>)>, ThreadError> {
        loop {
            if let Some((left_behind, abandoned)) = self.try_start().map_err(|cause| self.error(cause))? {
                return Ok(Some((FileTurn { ticket: self, abandoned }, left_behind)));
            }
            if is_stopped() {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// How many active turns are ahead of it.
    pub(in crate::threads) fn turns_ahead(&self) -> usize {
        let is_before = |number: &&u64| **number < self.number && open_abandoned(&self.folder, **number).is_none();
        numbers(&self.path).map_or(0, |numbers| numbers.iter().filter(is_before).count())
    }

    /// Partial answers and file numbers of killed processes ahead of it; None if an active turn is ahead.
    fn try_start(&self) -> io::Result<Option<(Vec<PartialAnswer>, Vec<u64>)>> {
        let _lock = lock(&self.folder)?;
        let (mut answers, mut abandoned) = (Vec::new(), Vec::new());
        for number in numbers(&self.path)?.into_iter().filter(|number| *number < self.number) {
            let Some(file) = open_abandoned(&self.folder, number) else { return Ok(None) };
            answers.extend(partial_answer(&file)?);
            abandoned.push(number);
        }
        Ok(Some((answers, abandoned)))
    }

    fn error(&self, cause: io::Error) -> ThreadError {
        // The directory is removed with the thread.
        if cause.kind() == io::ErrorKind::NotFound {
            return ThreadError::Deleted { id: self.id };
        }
        ThreadError::Disk { path: self.path.clone(), operation: "read", cause }
    }
}

impl Drop for FileTicket {
    fn drop(&mut self) {
        // A file that cannot be removed is unlocked and counts as abandoned.
        let _ = self.folder.remove(self.number.to_string());
    }
}

impl FileTurn {
    /// Removes the partial answers once they are in the log.
    pub(in crate::threads) fn remove_partial_answers(&mut self) {
        for number in self.abandoned.drain(..) {
            let _ = self.ticket.folder.remove(number.to_string());
        }
    }

    /// Starts a new answer. Its text follows in parts.
    pub(in crate::threads) fn begin_answer(&mut self, header: &[u8]) -> Result<(), ThreadError> {
        self.end_answer()?;
        (&self.ticket.file).write_all(header).map_err(self.write_error())
    }

    /// Stores the next part of the answer's text.
    pub(in crate::threads) fn append_answer_text(&mut self, text: &str) -> Result<(), ThreadError> {
        (&self.ticket.file).write_all(text.as_bytes()).map_err(self.write_error())
    }

    /// Drops the stored text, because the answer is in the log.
    pub(in crate::threads) fn end_answer(&mut self) -> Result<(), ThreadError> {
        self.ticket.file.set_len(0).map_err(self.write_error())
    }

    fn write_error(&self) -> impl FnOnce(io::Error) -> ThreadError + use<> {
        ThreadError::disk(&self.ticket.path.with_file_name(LOG), "written")
    }
}

/// Creates the directory of the queue if it is missing. Fails if the thread's directory is missing.
fn open_queue(path: &std::path::Path) -> io::Result<PrivateFolder> {
    match std::fs::DirBuilder::new().mode(OWNER_ONLY_FOLDER).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => PrivateFolder::open(path),
    }
}

fn lock(folder: &PrivateFolder) -> io::Result<File> {
    let file = folder.file(QUEUE_LOCK, OFlags::RDWR | OFlags::CREATE)?;
    file.lock()?;
    Ok(file)
}

/// The numbers in the queue, lowest first.
fn numbers(path: &std::path::Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The file with that number, if no process has it locked.
fn open_abandoned(folder: &PrivateFolder, number: u64) -> Option<File> {
    let file = folder.file(number.to_string(), OFlags::RDWR);
    match file {
        Ok(file) => match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
        },
        // Removed since the listing.
        Err(_) => None,
    }
}

fn partial_answer(mut file: &File) -> io::Result<Option<PartialAnswer>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(partial_answer::parse(&bytes))
}
