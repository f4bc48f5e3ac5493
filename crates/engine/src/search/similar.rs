//! Sessions with work similar to that of a given one.

use rethread_model::{Session, SessionId, clip, relative_path};
use rethread_recall::{SimilarSession, similar_sessions};
use rethread_store::{ReadStore, SessionNumber};

use crate::{EngineError, SearchService};

/// Characters of all prompts together that say what a session is about.
const MAX_PROMPT_CHARS: usize = 1_000;
/// Changed files that say what a session is about, those with most changes.
const MAX_FILES: usize = 20;

impl SearchService<'_> {
    /// Sessions of any project with similar work, most similar first. Reads the index as it is and writes nothing.
    pub fn similar(self, id: SessionId, limit: usize) -> Result<Vec<SimilarSession>, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
        let about = words_about(&store, number, &session)?;
        let now = self.engine.local_now();
        let work = |snapshot: &_| similar_sessions(&store, snapshot, number, &about, &now, limit);
        self.engine.index().with_snapshot_read_only(&store, work)
    }
}

/// The prompts of a session and the files it changed.
fn words_about(store: &ReadStore, number: SessionNumber, session: &Session) -> Result<String, EngineError> {
    let prompts = store.episode_prompts(number)?;
    let prompts = prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut about = clip(&prompts, MAX_PROMPT_CHARS).into_owned();
    let project = session.project.as_deref().or(session.cwd.as_deref());
    for changed in store.changed_paths(number)?.iter().take(MAX_FILES) {
        about.push('\n');
        about.push_str(relative_path(&changed.path, project));
    }
    Ok(about)
}
