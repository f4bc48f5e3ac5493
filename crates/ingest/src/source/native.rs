//! Our own threads: where their logs are, which session each is, and the name its owner gave it.

use std::path::{Path, PathBuf};

use rethread_model::thread::{Metadata, NameOrigin, ThreadId};
use rethread_model::{Agent, SessionKind};

use super::{Identity, Root, Surroundings, file};

/// The log in a thread's directory.
const LOG: &str = "session.jsonl";
/// Larger than any metadata of ours.
const LONGEST_METADATA: u64 = 4 << 20;

pub(super) fn roots(surroundings: &Surroundings) -> Vec<Root> {
    let root = |path: &PathBuf| Root { agent: Agent::Native, path: path.clone(), reason: "our own threads".to_owned() };
    surroundings.threads.iter().map(root).collect()
}

/// `ULID/session.jsonl`, and nothing else.
pub(super) fn is_transcript(below_root: &Path) -> bool {
    thread_of(below_root).is_some() && below_root.components().count() == 2
}

pub(super) fn identify(path: &Path) -> Option<Identity> {
    let id = thread_of(path)?;
    Some(Identity { external_id: id.to_string(), kind: SessionKind::Main, parent: None })
}

/// The name that a user or a model gave a thread, which only its metadata has.
pub fn given_name(log: &Path) -> Option<String> {
    let (file, stamp) = file::open(&log.with_file_name("metadata.json")).ok()?;
    if stamp.size > LONGEST_METADATA {
        return None;
    }
    let metadata: Metadata = serde_json::from_reader(std::io::BufReader::new(file)).ok()?;
    metadata.name.filter(|_| metadata.name_from > Some(NameOrigin::FirstWords))
}

fn thread_of(path: &Path) -> Option<ThreadId> {
    if path.file_name()? != LOG {
        return None;
    }
    path.parent()?.file_name()?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_log_in_a_directory_of_a_ulid_is_a_thread() {
        let id = "01JZ0000000000000000000000";
        assert!(is_transcript(Path::new("01JZ0000000000000000000000/session.jsonl")));
        for wrong in [format!("{id}/other.jsonl"), format!("x/{id}/session.jsonl"), "new/session.jsonl".into()] {
            assert!(!is_transcript(Path::new(&wrong)), "{wrong}");
        }
        let found = identify(Path::new("/h/threads/01JZ0000000000000000000000/session.jsonl"));
        assert_eq!(found.map(|identity| identity.external_id).as_deref(), Some(id));
    }
}
