//! Keeps answers that are folded from all facts or messages of a store.
//!
//! They are kept until anything is stored: a server shows them again and again, and most requests find the store as it
//! was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rethread_llm::NanoUsd;
use rethread_recall::{Decision, KnownError, Workflow};
use rethread_store::{EntityFacts, FactRow, SessionNumber, SessionScope, StoreHead, UsageFilter};

use crate::EngineError;
use crate::reports::DetailSums;

/// Most answers of one kind that are kept: all projects, and those that were shown last.
const MAX_KEPT: usize = 6;

/// The answers that are kept.
#[derive(Debug, Default)]
pub(crate) struct FoldCaches {
    pub(crate) errors: FoldCache<SessionScope, Vec<KnownError>>,
    pub(crate) decisions: FoldCache<SessionScope, Vec<Decision>>,
    pub(crate) workflows: FoldCache<SessionScope, Vec<Workflow>>,
    pub(crate) entities: FoldCache<SessionScope, Vec<EntityFacts>>,
    /// All facts of what was learned.
    pub(crate) learned: FoldCache<SessionScope, Vec<FactRow>>,
    /// The newest facts that can answer a question.
    pub(crate) knowledge: FoldCache<SessionScope, Vec<FactRow>>,
    pub(crate) usage: FoldCache<UsageFilter, DetailSums>,
    pub(crate) changed_entries: FoldCache<(), usize>,
    pub(crate) costs: FoldCache<(), HashMap<SessionNumber, NanoUsd>>,
}

/// One kind of answer, by what it depends on besides the store.
#[derive(Debug)]
pub(crate) struct FoldCache<K, V>(Mutex<Vec<KeptFold<K, V>>>);

#[derive(Debug)]
struct KeptFold<K, V> {
    head: StoreHead,
    key: K,
    answer: Arc<V>,
}

impl<K, V> Default for FoldCache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq, V> FoldCache<K, V> {
    /// The answer for the state `head` of the store, which must have been read before `fold` reads. Others who ask
    /// meanwhile wait instead of folding too.
    pub(crate) fn get(
        &self,
        head: StoreHead,
        key: K,
        fold: impl FnOnce() -> Result<V, EngineError>,
    ) -> Result<Arc<V>, EngineError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.head == head);
        let one = match kept.iter().position(|one| one.key == key) {
            Some(at) => kept.remove(at),
            None => KeptFold { head, key, answer: Arc::new(fold()?) },
        };
        let answer = Arc::clone(&one.answer);
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        // The one that was asked for last is the last one to go.
        kept.push(one);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for an answer and returns it, and whether it was folded for that.
    fn ask(cache: &FoldCache<u8, String>, change: i64, key: u8) -> (Arc<String>, bool) {
        let mut is_folded = false;
        let answer = cache.get(StoreHead { identity: 1, change }, key, || {
            is_folded = true;
            Ok(format!("{change}.{key}"))
        });
        (answer.unwrap(), is_folded)
    }

    #[test]
    fn an_answer_is_kept_until_something_is_stored() {
        let cache = FoldCache::default();
        assert!(ask(&cache, 1, 1).1);
        assert!(!ask(&cache, 1, 1).1);
        let (answer, is_folded) = ask(&cache, 2, 1);
        assert_eq!((answer.as_str(), is_folded), ("2.1", true));
    }

    #[test]
    fn the_answers_that_were_asked_for_last_are_kept() {
        let cache = FoldCache::default();
        for key in 0..MAX_KEPT as u8 {
            ask(&cache, 1, key);
        }
        assert!(!ask(&cache, 1, 0).1);
        assert!(ask(&cache, 1, 100).1, "it takes the place of the second one");
        assert!(!ask(&cache, 1, 0).1 && ask(&cache, 1, 1).1);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache: FoldCache<u8, String> = FoldCache::default();
        let failed = cache.get(StoreHead::default(), 1, || Err(EngineError::UnknownReference("x".to_owned())));
        assert!(failed.is_err());
        assert!(ask(&cache, 0, 1).1);
    }
}
