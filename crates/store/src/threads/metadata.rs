//! `metadata.json`: a cache of what the log says about the thread.

use std::fs::File;
use std::io;

use rethread_model::thread::{ThreadId, ThreadMetadata};

use super::{log, read, record_counts};
use crate::private_files::{OWNER_ONLY, PrivateFolder};

pub(super) const NAME: &str = "metadata.json";
/// New name of a file that cannot be parsed.
const DAMAGED: &str = "metadata.json.damaged";

/// Current metadata: `old` or the stored file, plus every line of the log after it.
pub(super) fn load(
    id: ThreadId,
    folder: &PrivateFolder,
    file: &File,
    old: Option<ThreadMetadata>,
) -> io::Result<ThreadMetadata> {
    let mut metadata = match old {
        Some(old) => old,
        None => stored(id, folder, file)?,
    };
    let from = metadata.log_bytes;
    read::each_line(file, from, &mut |line| record_counts::count_line(&mut metadata, line))?;
    Ok(metadata)
}

/// The stored metadata as far as it matches the log.
fn stored(id: ThreadId, folder: &PrivateFolder, file: &File) -> io::Result<ThreadMetadata> {
    let size = file.metadata()?.len();
    Ok(match read(id, folder) {
        Some(stored) if matches_log(&stored, file, size)? => stored,
        // The counts are wrong. The other fields are kept for logs without settings records.
        Some(stored) => without_counts(stored),
        None => ThreadMetadata::new(id, id.created_at()),
    })
}

fn read(id: ThreadId, folder: &PrivateFolder) -> Option<ThreadMetadata> {
    let bytes = folder.bytes(NAME).ok()?;
    serde_json::from_slice::<ThreadMetadata>(&bytes).ok().filter(|stored| stored.id == id)
}

/// Whether there is a file that cannot be parsed.
pub(super) fn is_damaged(id: ThreadId, folder: &PrivateFolder) -> bool {
    folder.bytes(NAME).is_ok() && read(id, folder).is_none()
}

/// Replaces the file. A damaged one is renamed first, so that nothing a user may have put there is lost.
pub(super) fn write(folder: &PrivateFolder, metadata: &ThreadMetadata) -> io::Result<()> {
    if is_damaged(metadata.id, folder) {
        folder.rename(NAME, DAMAGED)?;
    }
    let mut bytes = serde_json::to_vec_pretty(metadata)?;
    bytes.push(b'\n');
    folder.replace(NAME, &bytes, OWNER_ONLY)
}

/// Whether the counts were made from this log.
fn matches_log(metadata: &ThreadMetadata, file: &File, size: u64) -> io::Result<bool> {
    let end = metadata.log_bytes;
    if end == 0 {
        return Ok(metadata.message_count == 0 && metadata.next_seq == 1);
    }
    if end > size {
        return Ok(false);
    }
    // False too if the last line is not a record or too long to read here; then the log is read from its start.
    Ok(log::next_seq_at(file, end)? == Some(metadata.next_seq))
}

fn without_counts(stored: ThreadMetadata) -> ThreadMetadata {
    let mut metadata = ThreadMetadata::new(stored.id, stored.created_at);
    let keeps_name = stored.name_from.is_some_and(|from| from > rethread_model::thread::NameOrigin::FirstWords);
    metadata.name = stored.name.filter(|_| keeps_name);
    metadata.name_from = stored.name_from.filter(|_| keeps_name);
    metadata.model = if stored.model_is_chosen { stored.model } else { String::new() };
    metadata.model_is_chosen = stored.model_is_chosen;
    metadata.title_was_asked = stored.title_was_asked;
    metadata.source = stored.source;
    metadata.cron_job_id = stored.cron_job_id;
    metadata.system_prompt_override = stored.system_prompt_override;
    metadata.extra = stored.extra;
    metadata
}
