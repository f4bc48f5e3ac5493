//! Finds the session that is about a word, although its name does not have it. The last step of resolving.

use std::collections::BTreeMap;

use rethread_model::SessionKind;
use rethread_recall::{HitKind, SearchError, SearchQuery};
use rethread_store::{ReadStore, SessionNumber};

use super::name_match::slug;
use crate::search::{catch_index_damage, search_in_sessions};
use crate::{EngineError, SessionService};

/// Prompts that are looked at.
const MAX_HITS: usize = 60;
/// A session is about a word if one of its first prompts has it, or this many.
const MIN_PROMPTS: usize = 2;
/// Entries at the start of a session that say what it is about.
const FIRST_ENTRIES: u64 = 6;
/// Words that are variables rather than topics. Sorted.
const CODE_WORDS: [&str; 30] = [
    "array",
    "class",
    "config",
    "count",
    "counter",
    "data",
    "default",
    "error",
    "flag",
    "global",
    "identity",
    "index",
    "instance",
    "instances",
    "item",
    "items",
    "length",
    "list",
    "name",
    "options",
    "param",
    "params",
    "rowcount",
    "session",
    "state",
    "total",
    "user",
    "value",
    "variable",
    "version",
];

impl SessionService<'_> {
    /// Sessions of a project whose prompts are about a word. Empty if the index is too far behind.
    pub(super) fn sessions_about(
        self,
        store: &ReadStore,
        word: &str,
        project: &str,
    ) -> Result<Vec<SessionNumber>, EngineError> {
        if CODE_WORDS.binary_search(&word).is_ok() {
            return Ok(Vec::new());
        }
        let sessions = store.session_numbers_in_project(project)?;
        let here = self.engine.local_now();
        let query = SearchQuery { kinds: vec![HitKind::Prompt], ..SearchQuery::from_prose(word, &here) };
        let found = catch_index_damage(|| -> Result<_, SearchError> {
            let Some(snapshot) = self.engine.index().quick_snapshot(store)? else { return Ok(Vec::new()) };
            search_in_sessions(store, &snapshot, &query, &sessions, MAX_HITS, &here)
        });
        // The next search rebuilds a damaged index.
        let hits = found.unwrap_or_default();
        let mut prompts: BTreeMap<SessionNumber, (usize, bool)> = BTreeMap::new();
        for hit in hits.iter().filter(|hit| hit.session.kind == SessionKind::Main) {
            if slug(&hit.entry.text).split('-').any(|other| other == word) {
                let known = prompts.entry(hit.key.session).or_default();
                known.0 += 1;
                known.1 |= hit.entry.seq < FIRST_ENTRIES;
            }
        }
        let is_about = |(count, is_early): (usize, bool)| is_early || count >= MIN_PROMPTS;
        Ok(prompts.into_iter().filter(|(_, seen)| is_about(*seen)).map(|(number, _)| number).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CODE_WORDS.is_sorted());
    }
}
