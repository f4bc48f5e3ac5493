//! Searches all sessions.

mod open_stores;
mod similar;

use std::time::Instant;

use jiff::Zoned;
use rethread_index::IndexSnapshot;
use rethread_model::{Agent, Entry, EntryKind, SessionState};
use rethread_recall::{
    FeatureWeights, HitKind, SearchError, SearchHit, SearchInput, SearchQuery, SearchResults, search,
};
use rethread_store::{ReadStore, SessionNumber, SessionScope};

use crate::{EngineError, IndexOutcome, SearchService};

pub(crate) use open_stores::OpenStores;
pub use similar::SimilarWork;

/// What to search for.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query as typed: words, "phrases", -exclusions, filters, time phrases.
    pub text: String,
    /// Only sessions of this project, or of all projects.
    pub scope: SessionScope,
    /// Only the session with this reference.
    pub session: Option<String>,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only entries of these kinds.
    pub kinds: Vec<HitKind>,
    /// Only episodes that touched one of these files.
    pub files: Vec<String>,
    /// Only episodes that used one of these tools.
    pub tools: Vec<String>,
    /// Only sessions in this state, of those that a user started.
    pub state: Option<SessionState>,
    /// Start time: a date, a span such as `7d`, or words such as `last week`.
    pub since: Option<String>,
    /// End time, in the same formats.
    pub until: Option<String>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Return full texts instead of snippets.
    pub full_text: bool,
    /// Also return the prompt and the answer of each hit's episode.
    pub include_exchanges: bool,
    /// Write nothing: neither ask the embedding model, which the ledger would record, nor update the index. Entries
    /// missing from the index are read from the store.
    pub read_only: bool,
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchReport {
    /// Most relevant first.
    pub hits: Vec<HitWithExchange>,
    /// Number of entries with at least one word of the query.
    pub matched: u64,
    /// Number of entries searched.
    pub searched: u64,
    /// What could not be searched and why, if anything.
    pub degraded: Option<String>,
    /// How a time in the query was read, if that is not obvious.
    pub notice: Option<String>,
    /// What was done to the index first.
    pub index: IndexOutcome,
    /// How long it took.
    pub seconds: f64,
    /// The last change of the store that was searched.
    pub change: i64,
}

/// A hit, with the prompt and answer of its episode if requested.
#[derive(Clone, Debug)]
pub struct HitWithExchange {
    /// The matching entry with its score.
    pub hit: SearchHit,
    /// The prompt of the hit's episode.
    pub prompt: Option<String>,
    /// The agent's last message in the hit's episode.
    pub answer: Option<String>,
}

impl SearchService<'_> {
    /// Whether a search sends a request to an embedding model.
    pub fn asks_model(self) -> bool {
        self.engine.embeddings().is_configured()
    }

    /// Searches everything synced so far.
    pub fn run(self, request: &SearchRequest) -> Result<SearchReport, EngineError> {
        self.run_with(request, &FeatureWeights::default())
    }

    /// The same with other weights, to measure the effect of each ranking feature.
    pub fn run_with(self, request: &SearchRequest, weights: &FeatureWeights) -> Result<SearchReport, EngineError> {
        let start = Instant::now();
        let now = self.engine.local_now();
        let query = self.parse_query(request, &now)?;
        let location = self.engine.location();
        let store = match self.engine.open_stores.take(&location) {
            Some(store) => store,
            None => match self.engine.reader()? {
                Some(store) => store,
                None => return Ok(SearchReport::default()),
            },
        };
        let change = store.head()?.change;
        let sessions = self.allowed_sessions(&store, request, &query)?;
        let near = match self.engine.sessions().current_project() {
            SessionScope::Project(project) => store.session_numbers_in_project(&project)?,
            SessionScope::AllProjects => Vec::new(),
        };
        let similarity = if request.read_only { None } else { self.engine.embeddings().similarity(&store, &query) };
        let input = SearchInput {
            query: &query,
            sessions: sessions.as_deref(),
            project_sessions: &near,
            limit: request.limit,
            is_full_text: request.full_text,
            now: &now,
            weights,
            similarity: similarity.as_ref().and_then(|similarity| similarity.as_ref().ok()),
        };
        let work = |snapshot: &IndexSnapshot| search(&store, snapshot, input);
        let (found, index) = if request.read_only {
            (self.engine.index().with_snapshot_read_only(&store, work)?, IndexOutcome::UpToDate)
        } else {
            self.engine.index().with_snapshot(&store, work)?
        };
        let SearchResults { hits, matched, searched, degraded, notice } = found;
        let mut recalled = Vec::with_capacity(hits.len());
        for hit in hits {
            let (prompt, answer) =
                if request.include_exchanges { prompt_and_answer(&store, &hit)? } else { (None, None) };
            recalled.push(HitWithExchange { hit, prompt, answer });
        }
        let (index, degraded) = match index {
            IndexOutcome::Failed(why) => {
                let note = format!("the index could not be used, so all entries were read from the store: {why}");
                (IndexOutcome::Failed(why), degraded.or(Some(note)))
            }
            other => (other, degraded),
        };
        let without = similarity.and_then(Result::err).map(|why| format!("{why}; searched by words only"));
        let degraded = [without, degraded].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        self.engine.open_stores.put(&location, store);
        let seconds = start.elapsed().as_secs_f64();
        Ok(SearchReport { hits: recalled, matched, searched, degraded, notice, index, seconds, change })
    }

    /// Parses the query and adds the filters of the request.
    fn parse_query(self, request: &SearchRequest, now: &Zoned) -> Result<SearchQuery, EngineError> {
        let mut query = SearchQuery::parse(&request.text, now);
        query.agents.extend(request.agent);
        query.kinds.extend(&request.kinds);
        query.files.extend(request.files.iter().cloned());
        query.tools.extend(request.tools.iter().cloned());
        if let Some(since) = &request.since {
            let since = self.engine.parse_time(since, false)?;
            query.after = Some(query.after.map_or(since, |after| after.max(since)));
        }
        if let Some(until) = &request.until {
            let until = self.engine.parse_time(until, true)?;
            query.before = Some(query.before.map_or(until, |before| before.min(until)));
        }
        Ok(query)
    }

    /// The sessions to search. `None` means all.
    fn allowed_sessions(
        self,
        store: &ReadStore,
        request: &SearchRequest,
        query: &SearchQuery,
    ) -> Result<Option<Vec<SessionNumber>>, EngineError> {
        if let Some(reference) = &request.session {
            let listed = self.engine.sessions().resolve_in(store, reference)?;
            return Ok(Some(store.session_number(listed.session.id)?.into_iter().collect()));
        }
        if request.scope == SessionScope::AllProjects && query.agents.is_empty() && request.state.is_none() {
            return Ok(None);
        }
        let mut numbers = store.session_numbers_by_agent(&request.scope, &query.agents)?;
        if let Some(state) = request.state {
            let in_state = self.engine.sessions().numbers_in_state(store, state)?;
            numbers.retain(|number| in_state.contains(number));
        }
        Ok(Some(numbers))
    }
}

/// The best hits in these sessions, as snippets and by words alone.
pub(crate) fn search_in_sessions(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    query: &SearchQuery,
    sessions: &[SessionNumber],
    limit: usize,
    now: &Zoned,
) -> Result<Vec<SearchHit>, SearchError> {
    let input = SearchInput {
        query,
        sessions: Some(sessions),
        project_sessions: &[],
        limit,
        is_full_text: false,
        now,
        weights: &FeatureWeights::default(),
        similarity: None,
    };
    Ok(search(store, snapshot, input)?.hits)
}

/// Prompt and answer of the episode a hit belongs to.
fn prompt_and_answer(store: &ReadStore, hit: &SearchHit) -> Result<(Option<String>, Option<String>), EngineError> {
    let entries = store.episode_entries(hit.key)?;
    Ok((prompt_of(&entries).map(str::to_owned), answer_of(&entries).map(str::to_owned)))
}

/// The prompt of the user, or the task given by a parent session.
pub(crate) fn prompt_of(entries: &[Entry]) -> Option<&str> {
    entries
        .iter()
        .find(|entry| matches!(entry.kind, EntryKind::Prompt | EntryKind::Task))
        .map(|entry| entry.text.as_str())
}

/// The agent's last message.
pub(crate) fn answer_of(entries: &[Entry]) -> Option<&str> {
    entries.iter().rev().find(|entry| entry.kind == EntryKind::AssistantText).map(|entry| entry.text.as_str())
}
