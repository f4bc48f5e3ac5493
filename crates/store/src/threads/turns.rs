//! One turn at a time in a thread, in the order they came, over all processes.
//!
//! Whoever wants a turn puts a numbered file into `turns/` and keeps it locked. Its turn comes when no locked file with
//! a lower number is left; a file that is not locked belongs to a process that was killed. While a model speaks, its
//! words are noted in the speaker's file, so that whoever comes next can write down what a killed process had heard.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use rethread_model::thread::ThreadId;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::files::{self, Folder};
use super::{ThreadError, Threads};

const FOLDER: &str = "turns";
/// Taken for a moment by whoever looks at the files or adds one.
const LOCK: &str = "lock";
/// How often somebody who waits looks whether it is his turn.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What a model had said when the process that listened was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The turn it belongs to.
    pub run_id: String,
    /// The model.
    pub model: String,
    /// The last record of the log before the answer.
    pub after_seq: u64,
    /// Its words.
    pub text: String,
}

/// The first line of a speaker's file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Heading {
    run_id: String,
    model: String,
    after_seq: u64,
}

/// A place in the queue of a thread. Dropped, it is given up.
#[derive(Debug)]
pub struct Ticket {
    id: ThreadId,
    number: u64,
    path: PathBuf,
    folder: Folder,
    file: File,
}

/// The turn in a thread: until it is dropped nobody else speaks.
#[derive(Debug)]
pub struct Turn {
    ticket: Ticket,
    /// What killed processes had heard and nobody has written down.
    pub left_behind: Vec<Spoken>,
    dead: Vec<u64>,
}

impl Threads {
    /// Takes a place in the queue of a thread in which so many may wait behind the one who speaks.
    pub fn queue(&self, id: ThreadId, limit: usize) -> Result<Ticket, ThreadError> {
        let (_, thread) = self.folder(id)?;
        let path = thread.join(FOLDER);
        let disk = || ThreadError::disk(&path, "written");
        let folder = open_queue(&path).map_err(|cause| match cause.kind() {
            // The directory above went with the thread.
            io::ErrorKind::NotFound => ThreadError::Deleted { id },
            _ => disk()(cause),
        })?;
        let _lock = lock(&folder).map_err(disk())?;
        let numbers = numbers(&path).map_err(disk())?;
        let living = numbers.iter().filter(|number| dead(&folder, **number).is_none()).count();
        if living > limit {
            return Err(ThreadError::QueueFull { id, limit });
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = folder.file(&number.to_string(), flags).map_err(disk())?;
        file.lock().map_err(disk())?;
        Ok(Ticket { id, number, path, folder, file })
    }

    /// Whether a killed process left words behind in a thread, and nobody else is there to write them down.
    pub fn has_left_behind(&self, id: ThreadId) -> bool {
        let path = self.folder_path(id).join(FOLDER);
        let (Ok(folder), Ok(numbers)) = (Folder::open(&path), numbers(&path)) else { return false };
        let mut has_words = false;
        for number in numbers {
            // Who is alive writes down what the dead have heard when its turn comes.
            let Some(file) = dead(&folder, number) else { return false };
            has_words |= matches!(spoken(&file), Ok(Some(_)));
        }
        has_words
    }
}

impl Ticket {
    /// Waits for the turn. Nothing if whoever waits was told to stop.
    pub fn wait(self, is_stopped: &dyn Fn() -> bool) -> Result<Option<Turn>, ThreadError> {
        loop {
            if let Some((left_behind, dead)) = self.look().map_err(|cause| self.failed(cause))? {
                return Ok(Some(Turn { ticket: self, left_behind, dead }));
            }
            if is_stopped() {
                return Ok(None);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// How many living ones are before it.
    pub fn ahead(&self) -> usize {
        let is_before = |number: &&u64| **number < self.number && dead(&self.folder, **number).is_none();
        numbers(&self.path).map_or(0, |numbers| numbers.iter().filter(is_before).count())
    }

    /// Whether no living one is before it, so that waiting for the turn would take no time.
    pub fn is_next(&self) -> bool {
        self.ahead() == 0
    }

    /// What the dead before it left, if no living one is before it.
    fn look(&self) -> io::Result<Option<(Vec<Spoken>, Vec<u64>)>> {
        let _lock = lock(&self.folder)?;
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        for number in numbers(&self.path)?.into_iter().filter(|number| *number < self.number) {
            let Some(file) = dead(&self.folder, number) else { return Ok(None) };
            left.extend(spoken(&file)?);
            gone.push(number);
        }
        Ok(Some((left, gone)))
    }

    fn failed(&self, cause: io::Error) -> ThreadError {
        // The directory goes with the thread.
        if cause.kind() == io::ErrorKind::NotFound {
            return ThreadError::Deleted { id: self.id };
        }
        ThreadError::Disk { path: self.path.clone(), doing: "read", cause }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // If it cannot be removed it counts as that of a dead process, which it then is.
        let _ = self.folder.remove(&self.number.to_string());
    }
}

impl Turn {
    /// Forgets what was left behind, once it is written down.
    pub fn settle_left_behind(&mut self) {
        for number in self.dead.drain(..) {
            let _ = self.ticket.folder.remove(&number.to_string());
        }
        self.left_behind.clear();
    }

    /// An answer begins: from now on its words are noted.
    pub fn begin_answer(&mut self, run_id: &str, model: &str, after_seq: u64) -> io::Result<()> {
        self.end_answer()?;
        let heading = Heading { run_id: run_id.to_owned(), model: model.to_owned(), after_seq };
        let mut line = serde_json::to_vec(&heading)?;
        line.push(b'\n');
        (&self.ticket.file).write_all(&line)
    }

    /// Notes some words of the answer.
    pub fn note(&mut self, words: &str) -> io::Result<()> {
        (&self.ticket.file).write_all(words.as_bytes())
    }

    /// The answer is in the log.
    pub fn end_answer(&mut self) -> io::Result<()> {
        self.ticket.file.set_len(0)
    }
}

/// The queue's directory, made if it is missing; the one above is not.
fn open_queue(path: &std::path::Path) -> io::Result<Folder> {
    match files::make_one_folder(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Folder::open(path),
    }
}

fn lock(folder: &Folder) -> io::Result<File> {
    let file = folder.file(LOCK, OFlags::RDWR | OFlags::CREATE)?;
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

/// The file of that number if nobody holds it.
fn dead(folder: &Folder, number: u64) -> Option<File> {
    let file = folder.file(&number.to_string(), OFlags::RDWR);
    match file {
        Ok(file) => match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
        },
        // Given up between listing and looking.
        Err(_) => None,
    }
}

fn spoken(mut file: &File) -> io::Result<Option<Spoken>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    // A kill may have cut a character.
    let text = String::from_utf8_lossy(&bytes);
    let Some((heading, text)) = text.split_once('\n') else { return Ok(None) };
    let Ok(heading) = serde_json::from_str::<Heading>(heading) else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(None);
    }
    let text = text.trim_end_matches('\u{fffd}').to_owned();
    Ok(Some(Spoken { run_id: heading.run_id, model: heading.model, after_seq: heading.after_seq, text }))
}
