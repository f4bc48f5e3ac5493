//! Resolves a reference to a thread: an id, a unique id prefix, or a name. Only a parsed id is used in a path.

use rethread_model::thread::{ThreadId, ThreadMetadata};

use crate::sessions::slug;
use crate::{Engine, EngineError};

/// Shortest prefix of an id that is looked up.
const MIN_PREFIX_BYTES: usize = 4;

impl Engine {
    /// The thread that a reference identifies.
    pub fn thread_id(&self, reference: &str) -> Result<ThreadId, EngineError> {
        let reference = reference.trim();
        if let Ok(id) = reference.parse() {
            return Ok(id);
        }
        let (threads, _) = self.threads().list()?;
        let found = matching_threads(&threads, reference);
        match found.as_slice() {
            [] => Err(EngineError::UnknownThread(reference.chars().take(100).collect())),
            [one] => Ok(one.id),
            _ => Err(EngineError::AmbiguousThread { reference: reference.to_owned(), candidates: found }),
        }
    }
}

/// Threads by id prefix, otherwise by name.
fn matching_threads(threads: &[ThreadMetadata], reference: &str) -> Vec<ThreadMetadata> {
    if reference.is_empty() {
        return Vec::new();
    }
    let upper = reference.to_ascii_uppercase();
    let prefix =
        |metadata: &&ThreadMetadata| upper.len() >= MIN_PREFIX_BYTES && metadata.id.to_string().starts_with(&upper);
    let found: Vec<ThreadMetadata> = threads.iter().filter(prefix).cloned().collect();
    if !found.is_empty() {
        return found;
    }
    let lower = reference.to_lowercase();
    let exact = threads_by_name(threads, |name| name.to_lowercase() == lower);
    // A text with other characters, such as a path, is not a slug. Parts of a name are too weak to delete or write by.
    let is_slug = lower.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c));
    if exact.is_empty() && is_slug { threads_by_name(threads, |name| slug(name) == slug(&lower)) } else { exact }
}

fn threads_by_name(threads: &[ThreadMetadata], fits: impl Fn(&str) -> bool) -> Vec<ThreadMetadata> {
    threads.iter().filter(|metadata| metadata.name.as_deref().is_some_and(&fits)).cloned().collect()
}
