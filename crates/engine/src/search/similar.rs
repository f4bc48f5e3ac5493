//! Sessions with work similar to that of a given one.

use std::collections::BTreeSet;

use rethread_model::{Session, SessionId, clip};
use rethread_recall::similar_sessions;
use rethread_store::{ReadStore, SessionNumber};

use crate::sessions::changed_files;
use crate::{ChangedFile, EngineError, SearchService};

/// Characters of all prompts together that say what a session is about.
const MAX_PROMPT_CHARS: usize = 1_000;
/// Changed files that say what a session is about, those with most changes.
const MAX_FILES: usize = 20;

/// A session with similar work.
#[derive(Clone, Debug)]
pub struct SimilarWork {
    /// The session.
    pub session: Session,
    /// How much of the words it covers, 0 to 1, relative to the session it is compared with.
    pub share: f32,
    /// Files that both changed, relative to their projects.
    pub shared_files: Vec<String>,
}

impl SearchService<'_> {
    /// Sessions of any project with similar work, most similar first. Reads the index as it is and writes nothing.
    pub fn similar(self, id: SessionId, limit: usize) -> Result<Vec<SimilarWork>, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
        let files = changed_files(&store, number, &session)?;
        let about = words_about(&store, number, &files)?;
        let work = |snapshot: &_| similar_sessions(&store, snapshot, number, &about, limit);
        let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let mut similar = Vec::new();
        for found in self.engine.index().with_snapshot_read_only(&store, work)? {
            let others = changed_files(&store, found.number, &found.session)?;
            let shared = others.into_iter().map(|file| file.name).filter(|name| names.contains(name.as_str()));
            let shared_files = shared.collect();
            similar.push(SimilarWork { session: found.session, share: found.share, shared_files });
        }
        Ok(similar)
    }
}

/// The prompts of a session and the files it changed.
fn words_about(store: &ReadStore, number: SessionNumber, files: &[ChangedFile]) -> Result<String, EngineError> {
    let prompts = store.episode_prompts(number)?;
    let prompts = prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut about = clip(&prompts, MAX_PROMPT_CHARS).into_owned();
    for file in files.iter().take(MAX_FILES) {
        about.push('\n');
        about.push_str(&file.name);
    }
    Ok(about)
}
