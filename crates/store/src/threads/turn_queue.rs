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
use serde::{Deserialize, Serialize};

use super::{ThreadError, Threads};
use crate::private_files::{OWNER_ONLY_FOLDER, PrivateFolder};

const FOLDER: &str = "turns";
/// Locked briefly to examine the files or to add one.
const QUEUE_LOCK: &str = "lock";
/// How often a waiting turn checks whether it can start.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The part of a model's answer that a process had received when it was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialAnswer {
    /// Id of the run that was interrupted.
    pub run_id: String,
    /// The model that answered.
    pub model: String,
    /// Number of the last record in the log before the answer.
    pub after_seq: u64,
    /// The text received.
    pub text: String,
}

/// The first line of a turn's file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnHeader {
    run_id: String,
    model: String,
    after_seq: u64,
}

/// A place in the turn queue of a thread. Dropping it leaves the queue.
#[derive(Debug)]
pub struct TurnTicket {
    id: ThreadId,
    number: u64,
    path: PathBuf,
    folder: PrivateFolder,
    file: File,
}

/// The current turn of a thread. No other turn starts until it is dropped.
#[derive(Debug)]
pub struct ThreadTurn {
    ticket: TurnTicket,
    /// Partial answers of killed processes that are not in the log yet.
    pub partial_answers: Vec<PartialAnswer>,
    /// Numbers of their files.
    abandoned: Vec<u64>,
}

impl Threads {
    /// Enters the queue of a thread, in which at most `limit` turns wait behind the current one.
    pub fn enter_turn_queue(&self, id: ThreadId, limit: usize) -> Result<TurnTicket, ThreadError> {
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
        Ok(TurnTicket { id, number, path, folder, file })
    }

    /// Whether a killed process left a partial answer and no turn is queued that would record it.
    pub fn has_partial_answer(&self, id: ThreadId) -> bool {
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

impl TurnTicket {
    /// Waits for the turn. `None` if `is_stopped` returned true first.
    pub fn wait(self, is_stopped: &dyn Fn() -> bool) -> Result<Option<ThreadTurn>, ThreadError> {
        loop {
            if let Some((left_behind, abandoned)) = self.try_start().map_err(|cause| self.error(cause))? {
                return Ok(Some(ThreadTurn { ticket: self, partial_answers: left_behind, abandoned }));
            }
            if is_stopped() {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// How many active turns are ahead of it.
    pub fn turns_ahead(&self) -> usize {
        let is_before = |number: &&u64| **number < self.number && open_abandoned(&self.folder, **number).is_none();
        numbers(&self.path).map_or(0, |numbers| numbers.iter().filter(is_before).count())
    }

    /// Whether no active turn is ahead, so that waiting takes no time.
    pub fn is_next(&self) -> bool {
        self.turns_ahead() == 0
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

impl Drop for TurnTicket {
    fn drop(&mut self) {
        // A file that cannot be removed is unlocked and counts as abandoned.
        let _ = self.folder.remove(self.number.to_string());
    }
}

impl ThreadTurn {
    /// Removes the partial answers once they are in the log.
    pub fn remove_partial_answers(&mut self) {
        for number in self.abandoned.drain(..) {
            let _ = self.ticket.folder.remove(number.to_string());
        }
        self.partial_answers.clear();
    }

    /// Starts a new answer. Its text follows in parts.
    pub fn begin_answer(&mut self, run_id: &str, model: &str, after_seq: u64) -> io::Result<()> {
        self.end_answer()?;
        let header = TurnHeader { run_id: run_id.to_owned(), model: model.to_owned(), after_seq };
        let mut line = serde_json::to_vec(&header)?;
        line.push(b'\n');
        (&self.ticket.file).write_all(&line)
    }

    /// Stores the next part of the answer's text.
    pub fn append_answer_text(&mut self, text: &str) -> io::Result<()> {
        (&self.ticket.file).write_all(text.as_bytes())
    }

    /// Drops the stored text, because the answer is in the log.
    pub fn end_answer(&mut self) -> io::Result<()> {
        self.ticket.file.set_len(0)
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
    // A kill may have cut a character.
    let text = String::from_utf8_lossy(&bytes);
    let Some((header, text)) = text.split_once('\n') else { return Ok(None) };
    let Ok(header) = serde_json::from_str::<TurnHeader>(header) else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(None);
    }
    let text = text.trim_end_matches('\u{fffd}').to_owned();
    Ok(Some(PartialAnswer { run_id: header.run_id, model: header.model, after_seq: header.after_seq, text }))
}
