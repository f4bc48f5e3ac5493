//! Appends to the log of one thread. An acknowledged record is on disk.
//!
//! Within a process, the next writer writes the records of all waiting calls with one flush. Between processes, a lock
//! on the log file gives the order. The log is append-only: an incomplete last line is closed with a newline and
//! skipped by readers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rethread_model::Timestamp;
use rethread_model::thread::{ThreadId, ThreadMetadata, ThreadRecord};

use super::metadata;
use crate::private_files::PrivateFolder;
use crate::threads::append_queue::{AppendQueue, AppendResult, AppendTicket};
use crate::threads::{ThreadError, new_record, record_counts};

/// The log of one thread, open for appending. It can be shared between threads of a process.
#[derive(Debug)]
pub(crate) struct FileLog {
    id: ThreadId,
    path: PathBuf,
    folder: PrivateFolder,
    queue: AppendQueue,
    writer: Mutex<LogWriter>,
}

/// The right to write within this process.
#[derive(Debug)]
struct LogWriter {
    file: File,
    /// Metadata of the log as far as it was read; `None` before the first read.
    metadata: Option<ThreadMetadata>,
    /// Whether `metadata` is newer than `metadata.json`.
    has_unsaved_metadata: bool,
    /// Whether a flush failed: from then on it is unknown what is on disk.
    has_failed_flush: bool,
    flush: fn(&File) -> std::io::Result<()>,
}

impl FileLog {
    pub(super) fn new(id: ThreadId, path: PathBuf, folder: PrivateFolder, file: File) -> Self {
        let writer = LogWriter {
            file,
            metadata: None,
            has_unsaved_metadata: false,
            has_failed_flush: false,
            flush: File::sync_data,
        };
        Self { id, path, folder, queue: AppendQueue::default(), writer: Mutex::new(writer) }
    }

    pub(in crate::threads) fn id(&self) -> ThreadId {
        self.id
    }

    /// Numbers the record and writes it. When this returns `Ok`, the record is on disk.
    pub(in crate::threads) fn append(&self, record: ThreadRecord) -> AppendResult {
        self.queue.append(record, &self.writer, |writer, batch| self.write_batch(writer, batch))
    }

    pub(in crate::threads) fn metadata(&self) -> Result<ThreadMetadata, ThreadError> {
        self.locked(|log, writer| log.refresh_metadata(writer).cloned())
    }

    /// Changes the settings. They are written to the log first, so that a lost `metadata.json` loses nothing.
    pub(in crate::threads) fn update_settings(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut ThreadMetadata),
    ) -> Result<ThreadMetadata, ThreadError> {
        self.locked(|log, writer| {
            log.prepare(writer)?;
            if let Some(settings) = new_record::changed_settings(log.refresh_metadata(writer)?, now, change) {
                log.write_one(writer, settings)?;
                log.flush(writer)?;
            }
            log.save_metadata(writer)
        })
    }

    fn save_metadata(&self, writer: &mut LogWriter) -> Result<ThreadMetadata, ThreadError> {
        let current = self.refresh_metadata(writer)?.clone();
        metadata::write(&self.folder, &current)
            .map_err(ThreadError::disk(&self.path.with_file_name(metadata::NAME), "written"))?;
        writer.has_unsaved_metadata = false;
        Ok(current)
    }

    /// Saves the metadata, so that the next process to open the log does not have to read all of it.
    pub(in crate::threads) fn save_unsaved_metadata(&self) -> Result<(), ThreadError> {
        let is_unsaved = self.writer.lock().unwrap_or_else(PoisonError::into_inner).has_unsaved_metadata;
        if is_unsaved { self.locked(|log, writer| log.save_metadata(writer).map(drop)) } else { Ok(()) }
    }

    /// Runs `action` while no other thread or process writes to the log.
    fn locked<T>(
        &self,
        action: impl FnOnce(&Self, &mut LogWriter) -> Result<T, ThreadError>,
    ) -> Result<T, ThreadError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.lock(&writer)?;
        let result = action(self, &mut writer);
        drop(lock);
        result
    }

    /// The lock between processes. It is released with the value, also when the process is killed.
    fn lock(&self, writer: &LogWriter) -> Result<LogLock, ThreadError> {
        let file = writer.file.try_clone().map_err(ThreadError::disk(&self.path, "locked"))?;
        file.lock().map_err(ThreadError::disk(&self.path, "locked"))?;
        let lock = LogLock(file);
        // Deletion happens under the same lock and leaves an unlinked file.
        let attributes = lock.0.metadata().map_err(ThreadError::disk(&self.path, "read"))?;
        if std::os::unix::fs::MetadataExt::nlink(&attributes) == 0 {
            return Err(ThreadError::Deleted { id: self.id });
        }
        Ok(lock)
    }

    fn write_batch(
        &self,
        writer: &mut LogWriter,
        batch: Vec<(AppendTicket, ThreadRecord)>,
    ) -> Vec<(AppendTicket, AppendResult)> {
        let prepared = self.lock(writer).and_then(|lock| self.prepare(writer).map(|()| lock));
        let lock = match prepared {
            Ok(lock) => lock,
            Err(error) => return refuse_all(batch, &error),
        };
        let mut results: Vec<(AppendTicket, AppendResult)> = Vec::with_capacity(batch.len());
        let mut batch = batch.into_iter();
        while let Some((owner, record)) = batch.next() {
            let written = self.write_one(writer, record);
            let has_disk_error = matches!(written, Err(ThreadError::Disk { .. }));
            results.push((owner, written));
            if has_disk_error {
                results.extend(
                    batch
                        .by_ref()
                        .map(|(owner, _)| (owner, Err(ThreadError::FailedEarlier { path: self.path.clone() }))),
                );
            }
        }
        if results.iter().any(|(_, result)| result.is_ok())
            && let Err(error) = self.flush(writer)
        {
            let mut error = Some(error);
            for (_, result) in results.iter_mut().filter(|(_, result)| result.is_ok()) {
                let failed_earlier = || ThreadError::FailedEarlier { path: self.path.clone() };
                *result = Err(error.take().unwrap_or_else(failed_earlier));
            }
        }
        drop(lock);
        results
    }

    fn flush(&self, writer: &mut LogWriter) -> Result<(), ThreadError> {
        (writer.flush)(&writer.file).map_err(|cause| {
            writer.has_failed_flush = true;
            ThreadError::Disk { path: self.path.clone(), operation: "written", cause }
        })
    }

    /// Reads what other processes wrote, and closes an incomplete last line.
    fn prepare(&self, writer: &mut LogWriter) -> Result<(), ThreadError> {
        if writer.has_failed_flush {
            return Err(ThreadError::FailedEarlier { path: self.path.clone() });
        }
        let end = self.refresh_metadata(writer)?.log_bytes;
        let size = self.size(writer)?;
        if end == size {
            return Ok(());
        }
        // If only the newline is missing, closing the line makes it a readable record, so it counts.
        let mut torn = vec![0; (size - end) as usize];
        let mut file = &writer.file;
        file.seek(SeekFrom::Start(end))
            .and_then(|_| file.read_exact(&mut torn))
            .map_err(ThreadError::disk(&self.path, "read"))?;
        file.write_all(b"\n").map_err(ThreadError::disk(&self.path, "written"))?;
        torn.push(b'\n');
        if let Some(metadata) = &mut writer.metadata {
            record_counts::count_line(metadata, &torn);
        }
        Ok(())
    }

    /// Writes a record with a single write. A failed write leaves an incomplete line, which the next one closes.
    fn write_one(&self, writer: &mut LogWriter, record: ThreadRecord) -> AppendResult {
        let Some(metadata) = &mut writer.metadata else { return Err(ThreadError::Missing { id: self.id }) };
        let (record, line) = new_record::numbered(metadata, record)?;
        let mut file = &writer.file;
        if let Err(cause) = file.write_all(&line) {
            // The next read finds out how much of the line was written.
            writer.metadata = None;
            return Err(ThreadError::Disk { path: self.path.clone(), operation: "written", cause });
        }
        record_counts::count_line(metadata, &line);
        writer.has_unsaved_metadata = true;
        Ok(record)
    }

    /// Brings the metadata up to date with the log.
    fn refresh_metadata<'w>(&self, writer: &'w mut LogWriter) -> Result<&'w ThreadMetadata, ThreadError> {
        let disk = ThreadError::disk(&self.path, "read");
        let size = self.size(writer)?;
        let is_current = writer.metadata.as_ref().is_some_and(|metadata| metadata.log_bytes == size);
        if !is_current {
            let old = writer.metadata.take().filter(|metadata| metadata.log_bytes <= size);
            let current = metadata::load(self.id, &self.folder, &writer.file, old).map_err(disk)?;
            writer.metadata = Some(current);
        }
        writer.metadata.as_ref().ok_or(ThreadError::Missing { id: self.id })
    }

    fn size(&self, writer: &LogWriter) -> Result<u64, ThreadError> {
        writer.file.metadata().map(|attributes| attributes.len()).map_err(ThreadError::disk(&self.path, "read"))
    }
}

impl Drop for FileLog {
    fn drop(&mut self) {
        // If this fails, the next reader counts the records again.
        let _ = self.save_unsaved_metadata();
    }
}

/// Releases the lock when dropped.
struct LogLock(File);

impl Drop for LogLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn refuse_all(batch: Vec<(AppendTicket, ThreadRecord)>, error: &ThreadError) -> Vec<(AppendTicket, AppendResult)> {
    batch.into_iter().map(|(owner, _)| (owner, Err(error.repeated()))).collect()
}

#[cfg(test)]
mod tests;
