//! Our own threads: where their logs are, which session each one is, and its explicit name.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rethread_model::thread::{NameOrigin, ThreadId, ThreadMetadata, ThreadRecord};

use crate::agents::SessionIdentity;
use crate::source::{SourceConfig, TranscriptPeek, file};

/// Name of the log in a thread's directory.
const LOG_FILE: &str = "session.jsonl";
/// Size limit; larger than any metadata we write.
const MAX_METADATA_BYTES: u64 = 4 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.threads_dir.clone()
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config), "Rethread's own threads")]
}

/// Accepts `ULID/session.jsonl` and nothing else.
pub(super) fn is_transcript(below_root: &Path) -> bool {
    thread_id(below_root).is_some() && below_root.components().count() == 2
}

pub(super) fn identify(path: &Path, _: &TranscriptPeek) -> Option<SessionIdentity> {
    Some(SessionIdentity::main(thread_id(path)?.to_string()))
}

/// The name that a user or a model gave a thread: from its metadata or, if those cannot be read, from its log.
pub fn explicit_thread_name(log: &Path) -> Option<String> {
    let (name, name_from) = name_in_metadata(log).or_else(|| name_in_log(log))?;
    name.filter(|_| name_from > Some(NameOrigin::FirstWords))
}

fn name_in_metadata(log: &Path) -> Option<(Option<String>, Option<NameOrigin>)> {
    let (file, stamp) = file::open(&log.with_file_name("metadata.json")).ok()?;
    if stamp.size > MAX_METADATA_BYTES {
        return None;
    }
    let metadata: ThreadMetadata = serde_json::from_reader(BufReader::new(file)).ok()?;
    Some((metadata.name, metadata.name_from))
}

fn name_in_log(log: &Path) -> Option<(Option<String>, Option<NameOrigin>)> {
    let (file, _) = file::open(log).ok()?;
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    let settings = lines.filter_map(|line| match ThreadRecord::parse(&line) {
        Ok(ThreadRecord::Settings(settings)) => Some((settings.name, settings.name_from)),
        _ => None,
    });
    settings.last()
}

fn thread_id(path: &Path) -> Option<ThreadId> {
    if path.file_name()? != LOG_FILE {
        return None;
    }
    path.parent()?.file_name()?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_log_in_a_ulid_directory_is_a_thread() {
        let id = "01JZ0000000000000000000000";
        assert!(is_transcript(Path::new("01JZ0000000000000000000000/session.jsonl")));
        for wrong in [format!("{id}/other.jsonl"), format!("x/{id}/session.jsonl"), "new/session.jsonl".into()] {
            assert!(!is_transcript(Path::new(&wrong)), "{wrong}");
        }
        let log = Path::new("/h/threads/01JZ0000000000000000000000/session.jsonl");
        let found = identify(log, &TranscriptPeek::default());
        assert_eq!(found.map(|identity| identity.external_id).as_deref(), Some(id));
    }
}
