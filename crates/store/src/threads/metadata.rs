//! `metadata.json`: a cache of what the log says, with the few things the log cannot say.

use std::fs::File;
use std::io;

use rethread_model::thread::{Metadata, ThreadId};

use super::files::{Flush, Folder};
use super::{log, read, tally};

/// The name of the file.
pub(super) const NAME: &str = "metadata.json";
/// Where one goes that cannot be read.
const DAMAGED: &str = "metadata.json.damaged";

/// What is known of a thread now: what was written down, and every line of the log after it.
pub(super) fn load(id: ThreadId, folder: &Folder, file: &File, known: Option<Metadata>) -> io::Result<Metadata> {
    let mut metadata = match known {
        Some(known) => known,
        None => stored(id, folder, file)?,
    };
    let from = metadata.log_bytes;
    read::each_line(file, from, &mut |line| {
        tally::count_line(&mut metadata, line);
    })?;
    Ok(metadata)
}

/// What was written down, as far as it fits the log.
fn stored(id: ThreadId, folder: &Folder, file: &File) -> io::Result<Metadata> {
    let size = file.metadata()?.len();
    Ok(match read(id, folder) {
        Some(stored) if fits(&stored, file, size)? => stored,
        // What it says about the log is wrong; what only it says is kept.
        Some(stored) => emptied(stored),
        None => Metadata::new(id, id.drawn_at()),
    })
}

fn read(id: ThreadId, folder: &Folder) -> Option<Metadata> {
    let bytes = folder.bytes(NAME).ok()?;
    serde_json::from_slice::<Metadata>(&bytes).ok().filter(|stored| stored.id == id)
}

/// Takes over what only the file holds.
pub(super) fn adopt_own(metadata: &mut Metadata, folder: &Folder) {
    let Some(stored) = read(metadata.id, folder) else { return };
    if stored.name_from >= metadata.name_from {
        metadata.name = stored.name;
        metadata.name_from = stored.name_from;
    }
    if stored.model_is_chosen {
        metadata.model = stored.model;
    }
    metadata.model_is_chosen = stored.model_is_chosen;
    metadata.title_was_asked |= stored.title_was_asked;
    metadata.system_prompt_override = stored.system_prompt_override;
    metadata.extra = stored.extra;
}

/// Whether there is a file that cannot be read.
pub(super) fn is_damaged(id: ThreadId, folder: &Folder) -> bool {
    folder.bytes(NAME).is_ok() && read(id, folder).is_none()
}

/// Replaces the file. What cannot be read is put aside: a human may still read a name or instructions in it.
pub(super) fn write(folder: &Folder, metadata: &Metadata, flush: Flush) -> io::Result<()> {
    if is_damaged(metadata.id, folder) {
        folder.rename(NAME, DAMAGED)?;
    }
    let mut bytes = serde_json::to_vec_pretty(metadata)?;
    bytes.push(b'\n');
    folder.replace(NAME, &bytes, flush)
}

/// Whether it was counted from the beginning of this log.
fn fits(metadata: &Metadata, file: &File, size: u64) -> io::Result<bool> {
    let end = metadata.log_bytes;
    if end == 0 {
        return Ok(metadata.message_count == 0 && metadata.next_seq == 1);
    }
    if end > size {
        return Ok(false);
    }
    // The last line may be one that is no record, or longer than is read here: then the log is read from its beginning.
    Ok(log::last_seq_before(file, end)?.is_some_and(|seq| seq.saturating_add(1) == metadata.next_seq))
}

fn emptied(stored: Metadata) -> Metadata {
    let mut metadata = Metadata::new(stored.id, stored.created_at);
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
