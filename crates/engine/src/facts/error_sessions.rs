//! Sessions that have the words of an error, for errors without a known fix.

use rethread_ingest::facts::identifying_line;
use rethread_model::clip;
use rethread_recall::{SearchHit, SearchQuery};

use super::fix::FixRequest;
use crate::search::search_in_sessions;
use crate::{EngineError, FactService};

/// Characters of an error line that are searched.
const MAX_LINE_CHARS: usize = 400;
/// Sessions at most.
const MAX_SESSIONS: usize = 3;
/// Hits from which they are chosen.
const MAX_HITS: usize = 10;
/// Share of the line's words that a session must have in one place. Half of an error line fits many errors.
const MIN_WORD_SHARE: f32 = 0.7;
const MIN_WORDS: u32 = 3;

impl FactService<'_> {
    /// The best hit of each session that has nearly all words of the error. Reads the index as it is.
    pub fn sessions_with_error(self, request: &FixRequest) -> Result<Vec<SearchHit>, EngineError> {
        let line = identifying_line(&request.text);
        let Some(line) = line.or_else(|| request.text.lines().next().map(str::to_owned)) else { return Ok(Vec::new()) };
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let now = self.engine.local_now();
        let sessions = store.session_numbers(&request.scope)?;
        let query = SearchQuery::from_prose(&clip(&line, MAX_LINE_CHARS), &now);
        let work = |snapshot: &_| search_in_sessions(&store, snapshot, &query, &sessions, MAX_HITS, &now);
        let mut hits: Vec<SearchHit> = Vec::new();
        for hit in self.engine.index().with_snapshot_read_only(&store, work)? {
            let is_close = hit.word_share >= MIN_WORD_SHARE && hit.matched_word_count >= MIN_WORDS;
            if is_close && hits.len() < MAX_SESSIONS && hits.iter().all(|known| known.session.id != hit.session.id) {
                hits.push(hit);
            }
        }
        Ok(hits)
    }
}
