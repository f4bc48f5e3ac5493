//! `metadata.json`: a cache of what the log says about the thread.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};

use rethread_model::thread::{NameOrigin, ThreadId, ThreadMetadata, ThreadRecord};

use crate::private_files::{OWNER_ONLY, PrivateFolder};
use crate::threads::{read, record_counts};

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
    let mut file = file;
    file.seek(SeekFrom::Start(metadata.log_bytes))?;
    let reader = BufReader::with_capacity(read::BUFFER_BYTES, file);
    read::each_line(reader, &mut |line| record_counts::count_line(&mut metadata, line))?;
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
    parse_metadata(id, &folder.bytes(NAME).ok()?)
}

/// The stored metadata of a thread; `None` if they are damaged or those of another thread.
pub(in crate::threads) fn parse_metadata(id: ThreadId, bytes: &[u8]) -> Option<ThreadMetadata> {
    serde_json::from_slice::<ThreadMetadata>(bytes).ok().filter(|stored| stored.id == id)
}

/// Whether there is a file that cannot be parsed.
pub(super) fn is_damaged(id: ThreadId, folder: &PrivateFolder) -> bool {
    folder.bytes(NAME).is_ok() && read(id, folder).is_none()
}

/// Replaces the file. A damaged one is renamed first, so that nothing a user may have put there is lost.
pub(in crate::threads) fn write(folder: &PrivateFolder, metadata: &ThreadMetadata) -> io::Result<()> {
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
    Ok(next_seq_at(file, end)? == Some(metadata.next_seq))
}

/// What is kept of metadata whose counts are wrong.
pub(in crate::threads) fn without_counts(stored: ThreadMetadata) -> ThreadMetadata {
    let mut metadata = ThreadMetadata::new(stored.id, stored.created_at);
    let keeps_name = stored.name_from.is_some_and(|from| from > NameOrigin::FirstWords);
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

/// The number of the next record after the one that ends at a position, if there is one.
fn next_seq_at(file: &File, end: u64) -> io::Result<Option<u64>> {
    let line = read::line_before(file, end)?;
    let last_seq = line.and_then(|line| match ThreadRecord::parse(&line).ok()? {
        ThreadRecord::Settings(settings) => Some(settings.seq),
        record => record.seq(),
    });
    Ok(last_seq.map(|seq| seq.saturating_add(1)))
}
