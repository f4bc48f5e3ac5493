//! Resolves a reference to a thread: an id, a unique part of an id, or a name. Only a parsed id is used in a path.

use rethread_model::thread::{ThreadId, ThreadMetadata};

use crate::resolver::slug;
use crate::{Engine, EngineError};

/// Shortest beginning and shortest end of an id that are looked up.
const MIN_PREFIX_BYTES: usize = 4;
const MIN_SUFFIX_BYTES: usize = 6;

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

/// Threads by a part of the id, otherwise by name.
fn matching_threads(threads: &[ThreadMetadata], reference: &str) -> Vec<ThreadMetadata> {
    if reference.is_empty() {
        return Vec::new();
    }
    let upper = reference.to_ascii_uppercase();
    let has_part = |metadata: &&ThreadMetadata| {
        let id = metadata.id.to_string();
        (upper.len() >= MIN_PREFIX_BYTES && id.starts_with(&upper))
            || (upper.len() >= MIN_SUFFIX_BYTES && id.ends_with(&upper))
    };
    let found: Vec<ThreadMetadata> = threads.iter().filter(has_part).cloned().collect();
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
