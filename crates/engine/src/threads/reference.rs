//! Resolves a reference to a thread: an id, a unique part of one, an alias or a name. Only a parsed id is used in a
//! path.

use rethread_model::Agent;
use rethread_model::thread::{ThreadId, ThreadMetadata};
use rethread_recall::slug;

use crate::EngineError;
use crate::threads::ThreadService;

/// Shortest beginning and shortest end of an id that are looked up.
const MIN_PREFIX_BYTES: usize = 4;
const MIN_SUFFIX_BYTES: usize = 6;

impl ThreadService<'_> {
    /// The thread that a reference identifies.
    pub fn id(self, reference: &str) -> Result<ThreadId, EngineError> {
        let reference = reference.trim();
        if let Ok(id) = reference.parse() {
            return Ok(id);
        }
        let (threads, _) = self.engine.thread_store().list()?;
        let mut found = by_part_of_id(&threads, reference);
        if found.is_empty()
            && let Some(id) = self.by_alias(reference)
        {
            return Ok(id);
        }
        if found.is_empty() {
            found = by_name(&threads, reference);
        }
        match found.as_slice() {
            [] => Err(EngineError::UnknownThread(reference.chars().take(100).collect())),
            [one] => Ok(one.id),
            _ => Err(EngineError::AmbiguousThread { reference: reference.to_owned(), candidates: found }),
        }
    }

    /// Threads work without a store, so one that cannot be read has no aliases.
    fn by_alias(self, reference: &str) -> Option<ThreadId> {
        let sessions = self.engine.reader().ok()??.sessions_by_exact_reference(reference).ok()?;
        let mut named = sessions.iter().filter(|session| session.alias.as_deref() == Some(reference));
        named.find_map(|session| (session.agent == Agent::Native).then(|| session.external_id.parse().ok())?)
    }
}

/// Threads whose id starts or ends with the reference.
fn by_part_of_id(threads: &[ThreadMetadata], reference: &str) -> Vec<ThreadMetadata> {
    let upper = reference.to_ascii_uppercase();
    let fits = |thread: &&ThreadMetadata| {
        let id = thread.id.to_string();
        (upper.len() >= MIN_PREFIX_BYTES && id.starts_with(&upper))
            || (upper.len() >= MIN_SUFFIX_BYTES && id.ends_with(&upper))
    };
    threads.iter().filter(fits).cloned().collect()
}

fn by_name(threads: &[ThreadMetadata], reference: &str) -> Vec<ThreadMetadata> {
    if reference.is_empty() {
        return Vec::new();
    }
    let lower = reference.to_lowercase();
    let exact = named(threads, |name| name.to_lowercase() == lower);
    // A text with other characters, such as a path, is not a slug. Parts of a name are too weak to delete or write by.
    let is_slug = lower.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c));
    if exact.is_empty() && is_slug { named(threads, |name| slug(name) == slug(&lower)) } else { exact }
}

fn named(threads: &[ThreadMetadata], fits: impl Fn(&str) -> bool) -> Vec<ThreadMetadata> {
    threads.iter().filter(|thread| thread.name.as_deref().is_some_and(&fits)).cloned().collect()
}
