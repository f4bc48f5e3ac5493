//! Passages of one session that match a question, found in the index. No model is asked.

use rethread_index::IndexSnapshot;
use rethread_model::Entry;
use rethread_recall::{CitedAnswer, SearchError, SearchHit, SearchQuery, extractive_answer};
use rethread_store::{ReadStore, SessionNumber};

use crate::index::{GuardedError, catch_index_damage};
use crate::search::search_in_sessions;
use crate::{EngineError, QuestionService};

/// Hits from which passages are chosen.
const MAX_HITS: usize = 12;

/// A hit, with the entries of its episode.
type HitWithEntries = (SearchHit, Vec<Entry>);

impl QuestionService<'_> {
    /// The matching passages, from everything synced so far.
    pub(super) fn passages(
        self,
        store: &ReadStore,
        session: SessionNumber,
        question: &str,
    ) -> Result<CitedAnswer, EngineError> {
        let (hits, _) = self
            .engine
            .index()
            .with_snapshot(store, |snapshot| self.hits_in_session(store, snapshot, session, question))?;
        Ok(extractive_answer(&hits, question))
    }

    /// The same for callers that cannot wait: if the index is far behind or damaged, nothing is searched.
    pub(super) fn quick_passages(
        self,
        store: &ReadStore,
        session: SessionNumber,
        question: &str,
    ) -> Result<CitedAnswer, EngineError> {
        let found = catch_index_damage(|| -> Result<Option<Vec<HitWithEntries>>, SearchError> {
            let Some(snapshot) = self.engine.index().quick_snapshot(store)? else { return Ok(None) };
            self.hits_in_session(store, &snapshot, session, question).map(Some)
        });
        let (hits, note) = match found {
            Ok(Some(hits)) => (hits, None),
            Ok(None) => (Vec::new(), Some("Too many entries are not indexed yet, so nothing was searched.")),
            // The next search rebuilds it.
            Err(GuardedError::DamagedIndex) => {
                (Vec::new(), Some("The index could not be read, so nothing was searched."))
            }
            Err(GuardedError::Other(error)) => return Err(error.into()),
        };
        let mut answer = extractive_answer(&hits, question);
        answer.notes.extend(note.map(str::to_owned));
        Ok(answer)
    }

    fn hits_in_session(
        self,
        store: &ReadStore,
        snapshot: &IndexSnapshot,
        session: SessionNumber,
        question: &str,
    ) -> Result<Vec<HitWithEntries>, SearchError> {
        let here = self.engine.local_now();
        let query = SearchQuery::from_prose(question, &here);
        let mut found = Vec::new();
        for hit in search_in_sessions(store, snapshot, &query, &[session], MAX_HITS, &here)? {
            let exchange = store.episode_entries(hit.key)?;
            found.push((hit, exchange));
        }
        Ok(found)
    }
}
