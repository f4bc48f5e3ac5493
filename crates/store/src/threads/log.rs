//! Appending to one thread's log. Acknowledged means on disk.
//!
//! Within a process, whoever comes while others write waits, and the next writer takes all who wait along: one flush
//! for many records. Between processes a lock on the log itself gives the order. Nothing that stands in the log is ever
//! changed: a torn end is closed by a newline and passed over by readers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError, TryLockError};

use rethread_model::thread::{ChatRole, Metadata, Record, ThreadId};

use super::files::{Flush, Folder};
use super::{ThreadError, metadata, read, tally};

/// The longest record taken. A text of this length is no conversation any more.
pub const LONGEST_RECORD: usize = 8 << 20;

/// One thread's log, open for appending. Many threads of a process may share it.
#[derive(Debug)]
pub struct ThreadLog {
    id: ThreadId,
    path: PathBuf,
    folder: Folder,
    waiting: Mutex<Waiting>,
    answered: Condvar,
    writer: Mutex<Writer>,
}

/// Records that wait for the next writer, and answers that wait for their owners.
#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    records: Vec<(u64, Record)>,
    answers: Vec<(u64, Result<Record, ThreadError>)>,
}

/// Who holds this may write.
#[derive(Debug)]
struct Writer {
    file: File,
    /// What the log said when it was last looked at; nothing before the first look.
    known: Option<Metadata>,
    /// Whether what is known is not in `metadata.json` yet.
    is_unsettled: bool,
    /// Whether a flush failed: from then on nobody can say what is on disk.
    is_unsure: bool,
    flush: fn(&File) -> std::io::Result<()>,
}

impl ThreadLog {
    pub(super) fn new(id: ThreadId, path: PathBuf, folder: Folder, file: File) -> Self {
        let writer = Writer { file, known: None, is_unsettled: false, is_unsure: false, flush: File::sync_data };
        Self { id, path, folder, waiting: Mutex::default(), answered: Condvar::new(), writer: Mutex::new(writer) }
    }

    /// The thread.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Numbers the record and writes it. When this returns well, the record is on disk.
    ///
    /// A tool's result must answer a call that waits for one; it gets the tool's name from it.
    pub fn append(&self, record: Record) -> Result<Record, ThreadError> {
        let ticket = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.last += 1;
            let ticket = waiting.last;
            waiting.records.push((ticket, record));
            ticket
        };
        loop {
            // Whoever gets the writer writes for all who wait; the others find their answers.
            match self.writer.try_lock() {
                Ok(mut writer) => self.write_waiting(&mut writer),
                Err(TryLockError::Poisoned(writer)) => self.write_waiting(&mut writer.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = waiting.answers.iter().position(|(owner, _)| *owner == ticket) {
                return waiting.answers.swap_remove(at).1;
            }
            // The time is a guard against a writer that finished between the two locks.
            let pause = std::time::Duration::from_millis(1);
            drop(self.answered.wait_timeout(waiting, pause).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// What is known of the thread now, everything others wrote included.
    pub fn metadata(&self) -> Result<Metadata, ThreadError> {
        self.locked(|log, writer| {
            let mut now = log.look(writer)?.clone();
            metadata::adopt_own(&mut now, &log.folder);
            Ok(now)
        })
    }

    /// Changes what only `metadata.json` holds: name, model, instructions.
    pub fn change(&self, change: impl FnOnce(&mut Metadata)) -> Result<Metadata, ThreadError> {
        self.keep(change, Flush::Now)
    }

    fn keep(&self, change: impl FnOnce(&mut Metadata), flush: Flush) -> Result<Metadata, ThreadError> {
        self.locked(|log, writer| {
            log.look(writer)?;
            let known = writer.known.as_mut().ok_or(ThreadError::Missing { id: log.id })?;
            // Another process may have changed a name meanwhile.
            metadata::adopt_own(known, &log.folder);
            change(known);
            metadata::write(&log.folder, known, flush)
                .map_err(ThreadError::disk(&log.path.with_file_name(metadata::NAME), "written"))?;
            writer.is_unsettled = false;
            Ok(known.clone())
        })
    }

    /// Writes down what is known, so that the next one to open the log need not read all of it.
    pub fn settle(&self) -> Result<(), ThreadError> {
        let is_unsettled = self.writer.lock().unwrap_or_else(PoisonError::into_inner).is_unsettled;
        if is_unsettled { self.keep(|_| {}, Flush::Later).map(drop) } else { Ok(()) }
    }

    /// Does something while nobody else, in this process or another, writes to the thread.
    fn locked<T>(&self, act: impl FnOnce(&Self, &mut Writer) -> Result<T, ThreadError>) -> Result<T, ThreadError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.lock(&writer)?;
        let done = act(self, &mut writer);
        drop(lock);
        done
    }

    /// The lock between processes. It goes with the value, also when the process is killed.
    fn lock(&self, writer: &Writer) -> Result<Lock, ThreadError> {
        let file = writer.file.try_clone().map_err(ThreadError::disk(&self.path, "locked"))?;
        file.lock().map_err(ThreadError::disk(&self.path, "locked"))?;
        let lock = Lock(file);
        // Whoever deletes holds the same lock, and leaves a log without a name.
        let links = lock.0.metadata().map_err(ThreadError::disk(&self.path, "read"))?;
        if std::os::unix::fs::MetadataExt::nlink(&links) == 0 {
            return Err(ThreadError::Deleted { id: self.id });
        }
        Ok(lock)
    }

    fn write_waiting(&self, writer: &mut Writer) {
        let batch = std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner).records);
        if batch.is_empty() {
            return;
        }
        let answers = self.write_batch(writer, batch);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).answers.extend(answers);
        self.answered.notify_all();
    }

    fn write_batch(&self, writer: &mut Writer, batch: Vec<(u64, Record)>) -> Vec<(u64, Result<Record, ThreadError>)> {
        let begun = self.lock(writer).and_then(|lock| self.begin(writer).map(|()| lock));
        let lock = match begun {
            Ok(lock) => lock,
            Err(error) => return refuse_all(batch, &error),
        };
        let mut answers: Vec<(u64, Result<Record, ThreadError>)> = Vec::with_capacity(batch.len());
        let mut batch = batch.into_iter();
        while let Some((owner, record)) = batch.next() {
            let written = self.write_one(writer, record);
            let is_stuck = matches!(written, Err(ThreadError::Disk { .. }));
            answers.push((owner, written));
            if is_stuck {
                answers.extend(
                    batch.by_ref().map(|(owner, _)| (owner, Err(ThreadError::Unsure { path: self.path.clone() }))),
                );
            }
        }
        if answers.iter().any(|(_, answer)| answer.is_ok())
            && let Err(cause) = (writer.flush)(&writer.file)
        {
            writer.is_unsure = true;
            let mut cause = Some(cause);
            for (_, answer) in answers.iter_mut().filter(|(_, answer)| answer.is_ok()) {
                *answer = Err(match cause.take() {
                    Some(cause) => ThreadError::Disk { path: self.path.clone(), doing: "written", cause },
                    None => ThreadError::Unsure { path: self.path.clone() },
                });
            }
        }
        drop(lock);
        answers
    }

    /// Learns what others wrote, and closes a torn end.
    fn begin(&self, writer: &mut Writer) -> Result<(), ThreadError> {
        if writer.is_unsure {
            return Err(ThreadError::Unsure { path: self.path.clone() });
        }
        let end = self.look(writer)?.log_bytes;
        let size = self.size(writer)?;
        if end == size {
            return Ok(());
        }
        // What is torn may be whole but for its newline; then it counts, because from now on it can be read.
        let mut torn = vec![0; (size - end) as usize];
        let mut file = &writer.file;
        file.seek(SeekFrom::Start(end))
            .and_then(|_| file.read_exact(&mut torn))
            .map_err(ThreadError::disk(&self.path, "read"))?;
        file.write_all(b"\n").map_err(ThreadError::disk(&self.path, "written"))?;
        torn.push(b'\n');
        if let Some(known) = &mut writer.known {
            tally::count_line(known, &torn);
        }
        Ok(())
    }

    /// One record, one write. Whatever a failed write leaves is a torn end, and the next one closes it.
    fn write_one(&self, writer: &mut Writer, mut record: Record) -> Result<Record, ThreadError> {
        let Some(known) = &mut writer.known else { return Err(ThreadError::Missing { id: self.id }) };
        record.set_seq(known.next_seq);
        if let Record::Message(message) = &mut record
            && message.role == ChatRole::ToolResult
        {
            let call = message.tool_call_id.clone().unwrap_or_default();
            let Some(found) = known.waiting_calls.iter().find(|waiting| waiting.id == call) else {
                return Err(ThreadError::NoSuchCall { id: self.id, call });
            };
            message.tool_name = Some(found.name.clone());
        }
        let line = record.to_line();
        if line.len() > LONGEST_RECORD {
            return Err(ThreadError::TooLong { bytes: line.len(), limit: LONGEST_RECORD });
        }
        let mut file = &writer.file;
        if let Err(cause) = file.write_all(&line) {
            // How much of it is there is found out by the next look.
            writer.known = None;
            return Err(ThreadError::Disk { path: self.path.clone(), doing: "written", cause });
        }
        tally::count_line(known, &line);
        writer.is_unsettled = true;
        Ok(record)
    }

    /// Brings what is known up to what the log says.
    fn look<'w>(&self, writer: &'w mut Writer) -> Result<&'w Metadata, ThreadError> {
        let disk = ThreadError::disk(&self.path, "read");
        let size = self.size(writer)?;
        let is_current = writer.known.as_ref().is_some_and(|known| known.log_bytes == size);
        if !is_current {
            let known = writer.known.take().filter(|known| known.log_bytes <= size);
            let fresh = metadata::load(self.id, &self.folder, &writer.file, known).map_err(disk)?;
            writer.known = Some(fresh);
        }
        writer.known.as_ref().ok_or(ThreadError::Missing { id: self.id })
    }

    fn size(&self, writer: &Writer) -> Result<u64, ThreadError> {
        writer.file.metadata().map(|about| about.len()).map_err(ThreadError::disk(&self.path, "read"))
    }
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        // What is lost here is counted again by the next reader.
        let _ = self.settle();
    }
}

/// Gives the lock back when dropped.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The first one learns why; the others that nothing of theirs was written either.
fn refuse_all(batch: Vec<(u64, Record)>, error: &ThreadError) -> Vec<(u64, Result<Record, ThreadError>)> {
    let again = || match error {
        ThreadError::Deleted { id } => ThreadError::Deleted { id: *id },
        ThreadError::Missing { id } => ThreadError::Missing { id: *id },
        ThreadError::Unsure { path } => ThreadError::Unsure { path: path.clone() },
        ThreadError::Disk { path, doing, cause } => {
            ThreadError::Disk { path: path.clone(), doing, cause: cause.kind().into() }
        }
        _ => ThreadError::Unsure { path: PathBuf::new() },
    };
    batch.into_iter().map(|(owner, _)| (owner, Err(again()))).collect()
}

/// A whole line before a position, for whoever checks that metadata fits the log.
pub(super) fn last_seq_before(file: &File, end: u64) -> std::io::Result<Option<u64>> {
    let line = read::line_before(file, end)?;
    Ok(line.and_then(|line| Record::parse(&line).ok()).and_then(|record| record.seq()))
}

#[cfg(test)]
mod tests;
