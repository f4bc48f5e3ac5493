//! Passages of one session that fit a question, found in the index; nobody outside is asked.

use rethread_index::Snapshot;
use rethread_model::Entry;
use rethread_recall::{Answer, Hit, Kind, Query, Request, SearchError, Weights, extracted, search};
use rethread_store::{SessionNumber, Store};

use crate::search::{Broken, guarded};
use crate::{Engine, EngineError};

/// Hits among which passages are chosen.
const LOOKED_AT: usize = 12;

/// A hit, and the exchange it is part of.
type Found = (Hit, Vec<Entry>);

impl Engine {
    /// The passages that fit, in everything that was read up to now.
    pub(super) fn passages(
        &self,
        store: &Store,
        session: SessionNumber,
        question: &str,
    ) -> Result<Answer, EngineError> {
        let (hits, _) = self.with_snapshot(store, |snapshot| self.hits_within(store, snapshot, session, question))?;
        Ok(extracted(&hits, question))
    }

    /// The same for somebody who cannot wait: where the index is far behind or damaged, nothing is looked up.
    pub(super) fn passages_at_hand(
        &self,
        store: &Store,
        session: SessionNumber,
        question: &str,
    ) -> Result<Answer, EngineError> {
        let found = guarded(|| -> Result<Option<Vec<Found>>, SearchError> {
            let Some(snapshot) = self.quick_snapshot(store)? else { return Ok(None) };
            self.hits_within(store, &snapshot, session, question).map(Some)
        });
        let (hits, note) = match found {
            Ok(Some(hits)) => (hits, None),
            Ok(None) => (Vec::new(), Some("Much is not indexed yet, so nothing was looked up.")),
            // The next search mends it.
            Err(Broken::Index) => (Vec::new(), Some("The index could not be read, so nothing was looked up.")),
            Err(Broken::Other(error)) => return Err(error.into()),
        };
        let mut answer = extracted(&hits, question);
        answer.notes.extend(note.map(str::to_owned));
        Ok(answer)
    }

    fn hits_within(
        &self,
        store: &Store,
        snapshot: &Snapshot,
        session: SessionNumber,
        question: &str,
    ) -> Result<Vec<Found>, SearchError> {
        let here = self.here_and_now();
        let query = Query::of_prose(question, &here);
        let request = Request {
            query: &query,
            sessions: Some(&[session]),
            near: &[],
            limit: LOOKED_AT,
            full: false,
            now: &here,
            weights: &Weights::default(),
            likeness: None,
        };
        let mut found = Vec::new();
        for hit in search(store, snapshot, request)?.hits {
            // Only what answers a request is read beside it.
            let exchange = if hit.kind == Kind::Prompt { store.entries_of(hit.key)? } else { Vec::new() };
            found.push((hit, exchange));
        }
        Ok(found)
    }
}
