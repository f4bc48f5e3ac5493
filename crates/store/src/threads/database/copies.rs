//! Copies of logs as files, for readers of transcripts. They can be deleted at any time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rethread_model::thread::ThreadId;
use rustix::fs::OFlags;

use super::{DatabaseThreads, rows};
use crate::private_files::{OWNER_ONLY_FOLDER, PrivateFolder, create_folders};
use crate::sql::{Row, values};
use crate::threads::ThreadError;
use crate::threads::files::{LOG, write_metadata};

/// Bytes that are read at first to find the last line of a copy.
const LINE_GUESS: u64 = 4 << 10;
/// Most threads that one call of [`DatabaseThreads::unsynced`] returns.
const MAX_UNSYNCED: u64 = 1_000;

/// Path of a thread's log among the transcripts of the store.
pub(in crate::threads) fn stored_log_path(id: ThreadId) -> String {
    format!("threads/{id}/{LOG}")
}

impl DatabaseThreads {
    /// Threads whose logs are longer than what was synced of them, and how many bytes were.
    pub(in crate::threads) fn unsynced(&self) -> Result<Vec<(ThreadId, u64)>, ThreadError> {
        let select = "SELECT t.id, COALESCE(r.size, 0) AS synced FROM thread AS t
             LEFT JOIN transcript AS r ON r.space = t.space AND r.path = 'threads/' || t.id || ?2
             WHERE t.space = ?1 AND t.is_deleted = 0 AND t.head > COALESCE(r.size, 0) LIMIT ?3";
        let rest = format!("/{LOG}");
        let found = self.connections.read(|sql| {
            let read = |row: &Row<'_>| {
                let id: Option<ThreadId> = row.parsed("id")?;
                Ok(id.map(|id| (id, row.u64("synced"))))
            };
            let found = sql.known(select, values![rest, MAX_UNSYNCED], read)?;
            found.into_iter().map(|(id, synced)| Ok((id, synced?))).collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Brings the copy of a thread up to date and returns its path.
    pub(in crate::threads) fn update_copy(&self, id: ThreadId) -> Result<PathBuf, ThreadError> {
        let metadata = self.metadata(id)?;
        let path = self.copy_folder(id).join(LOG);
        let disk = || ThreadError::disk(&path, "written");
        let (folder, file) = open_copy(&self.copy_folder(id)).map_err(disk())?;
        file.lock().map_err(disk())?;
        let size = file.metadata().map_err(disk())?.len();
        // A log only grows, so that a copy is a part of it if they agree on the last line of the copy. They do not if a
        // fail-over of the database undid the last appends.
        let last = last_line(&file, size).map_err(disk())?;
        let from = size - last.len() as u64;
        let (mut stored_last, mut rest) = (None, Vec::new());
        self.read(id, |sql| {
            rows::each_line(sql, id, from, |at, line| {
                if at < size {
                    stored_last = Some((at, line.to_vec()));
                } else {
                    rest.extend_from_slice(line);
                }
            })
        })?;
        if !last.is_empty() && stored_last != Some((from, last)) {
            file.set_len(0).map_err(disk())?;
            rest = self.log_content(id)?;
        }
        (&file).write_all(&rest).map_err(disk())?;
        write_metadata(&folder, &metadata).map_err(disk())?;
        Ok(path)
    }

    /// Brings all copies up to date.
    pub(in crate::threads) fn update_copies(&self) -> Result<(), ThreadError> {
        for metadata in self.list()?.0 {
            let copy = self.copy_folder(metadata.id).join(LOG);
            if copy.metadata().is_ok_and(|copy| copy.len() == metadata.log_bytes) {
                continue;
            }
            match self.update_copy(metadata.id) {
                // Deleted since the listing.
                Ok(_) | Err(ThreadError::Deleted { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the copies of threads that other nodes deleted. Asks the database only if there are copies.
    pub(in crate::threads) fn sweep_all(&self) -> Result<(), ThreadError> {
        let Ok(entries) = std::fs::read_dir(&self.copies) else { return Ok(()) };
        let copied: BTreeSet<ThreadId> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        if copied.is_empty() {
            return Ok(());
        }
        self.deleted_ids().into_iter().filter(|id| copied.contains(id)).try_for_each(|id| self.remove_copy(id))
    }

    pub(super) fn remove_copy(&self, id: ThreadId) -> Result<(), ThreadError> {
        let folder = self.copy_folder(id);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(ThreadError::disk(&folder, "removed")),
        }
    }

    fn copy_folder(&self, id: ThreadId) -> PathBuf {
        self.copies.join(id.to_string())
    }
}

/// The last line of a file, also if it has no newline.
fn last_line(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut length = LINE_GUESS;
    loop {
        let mut bytes = vec![0; length.min(size) as usize];
        file.read_exact_at(&mut bytes, size.saturating_sub(length))?;
        let before_last = bytes.len().saturating_sub(1);
        if let Some(end) = bytes[..before_last].iter().rposition(|byte| *byte == b'\n') {
            return Ok(bytes.split_off(end + 1));
        }
        if length >= size {
            return Ok(bytes);
        }
        length *= 16;
    }
}

fn open_copy(folder: &Path) -> io::Result<(PrivateFolder, File)> {
    create_folders(folder, OWNER_ONLY_FOLDER)?;
    let folder = PrivateFolder::open(folder)?;
    let file = folder.file(LOG, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
    Ok((folder, file))
}
