//! Which thread somebody means: an id, the unique beginning of one, or a name. Only a parsed id becomes a path.

use rethread_model::thread::{Metadata, ThreadId};

use crate::sessions::slug;
use crate::{Engine, EngineError};

/// The shortest beginning of an id that is looked up.
const SHORTEST_PREFIX: usize = 4;

impl Engine {
    /// The one thread a reference means.
    pub fn thread_id(&self, reference: &str) -> Result<ThreadId, EngineError> {
        let reference = reference.trim();
        if let Ok(id) = reference.parse() {
            return Ok(id);
        }
        let (threads, _) = self.threads().list()?;
        let found = fitting(&threads, reference);
        match found.as_slice() {
            [] => Err(EngineError::UnknownThread(reference.chars().take(100).collect())),
            [one] => Ok(one.id),
            _ => Err(EngineError::AmbiguousThread { reference: reference.to_owned(), candidates: found }),
        }
    }
}

/// Threads whose id begins so, else those that are named so.
fn fitting(threads: &[Metadata], reference: &str) -> Vec<Metadata> {
    if reference.is_empty() {
        return Vec::new();
    }
    let upper = reference.to_ascii_uppercase();
    let prefix = |metadata: &&Metadata| upper.len() >= SHORTEST_PREFIX && metadata.id.to_string().starts_with(&upper);
    let found: Vec<Metadata> = threads.iter().filter(prefix).cloned().collect();
    if !found.is_empty() {
        return found;
    }
    let wanted = reference.to_lowercase();
    let exact = named(threads, |name| name.to_lowercase() == wanted);
    // What looks like a path or a program is nobody's slug. Parts of a name are not enough to delete or write by.
    let is_slug = wanted.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c));
    if exact.is_empty() && is_slug { named(threads, |name| slug(name) == slug(&wanted)) } else { exact }
}

fn named(threads: &[Metadata], fits: impl Fn(&str) -> bool) -> Vec<Metadata> {
    threads.iter().filter(|metadata| metadata.name.as_deref().is_some_and(&fits)).cloned().collect()
}
