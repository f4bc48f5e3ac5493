//! Recent memory: finds what other sessions said in the last week that matches a prompt, within a hook's time limit.

use rethread_model::{EntryRole, Timestamp, clip};
use rethread_recall::{
    HitKind, MAX_RECENT_MEMORIES, RECENT_MEMORY_DAYS, RecentMemory, SearchError, SearchHit, SearchQuery,
    should_search_memory,
};
use rethread_store::ReadStore;

use super::caller::Caller;
use super::inject::text_hash;
use super::injection_context::InjectionContext;
use super::other_sessions::display_name;
use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::index::{GuardedError, catch_index_damage};
use crate::search::{answer_of, prompt_of, search_in_sessions};

/// Characters of a prompt used as the query; its topic is clear by then.
const QUERY_CHARS: usize = 600;
/// Number of search hits from which memories are chosen.
const MAX_HITS: usize = 8;

/// The result of searching recent memory.
#[derive(Debug)]
pub(super) enum RecentMemories {
    /// Matching memories, best first; may be empty.
    Found(Vec<RecentMemory>),
    /// The search was not possible, with the reason.
    Unavailable(String),
}

impl AwarenessService<'_> {
    /// What other sessions of the project said in the last week that matches a prompt and was not injected yet.
    pub(super) fn recent_memories(
        self,
        store: &ReadStore,
        caller: &Caller,
        prompt: &str,
        context: &InjectionContext,
    ) -> Result<RecentMemories, EngineError> {
        let prompt = &*clip(prompt, QUERY_CHARS);
        if !should_search_memory(prompt) {
            return Ok(RecentMemories::Found(Vec::new()));
        }
        let unreadable = || Ok(RecentMemories::Unavailable("it could not be read".to_owned()));
        let hits = match catch_index_damage(|| self.recent_hits(store, prompt, context)) {
            Ok(Some(hits)) => hits,
            Ok(None) => return Ok(RecentMemories::Unavailable("the index is too far behind".to_owned())),
            // The next search repairs the index.
            Err(GuardedError::DamagedIndex) => return unreadable(),
            Err(GuardedError::Other(error)) => {
                self.engine.journal().error("memory for a prompt", &error.into());
                return unreadable();
            }
        };
        let mut memories: Vec<RecentMemory> = Vec::new();
        let mut episodes = Vec::new();
        for hit in hits {
            if memories.len() == MAX_RECENT_MEMORIES || episodes.contains(&hit.key) {
                continue;
            }
            let Some(memory) = memory_from_hit(store, &hit)? else { continue };
            if memory.is_relevant_to(prompt) && !store.was_injected(caller.key(), text_hash(&memory.episode))? {
                episodes.push(hit.key);
                memories.push(memory);
            }
        }
        Ok(RecentMemories::Found(memories))
    }

    /// The best hits; `None` if searching would take too long.
    fn recent_hits(
        self,
        store: &ReadStore,
        prompt: &str,
        context: &InjectionContext,
    ) -> Result<Option<Vec<SearchHit>>, SearchError> {
        let here = self.engine.local_now();
        let since = Timestamp::from_millis(context.now.as_millis() - RECENT_MEMORY_DAYS * 86_400_000);
        let mut query = SearchQuery::from_prose(prompt, &here);
        query.after = Some(since);
        query.kinds = vec![HitKind::Prompt, HitKind::Answer];
        // The session still has its own words in context, and active sessions are covered by the activity section.
        let own = context.own.stored.as_ref().map(|(number, _)| *number);
        let mut sessions = store.active_session_numbers(&context.project, since)?;
        sessions.retain(|number| Some(*number) != own && !context.covers_activity_of(*number));
        if sessions.is_empty() {
            return Ok(Some(Vec::new()));
        }
        // A larger backlog is indexed after the turn; until then it shows up as activity.
        let Some(snapshot) = self.engine.index().indexed_snapshot(store)? else { return Ok(None) };
        search_in_sessions(store, &snapshot, &query, &sessions, MAX_HITS, &here).map(Some)
    }
}

/// A hit as a memory, with the prompt before it. A prompt without an answer is skipped. So is what an agent wrote
/// without a prompt: it is found by searching, but injecting it could feed back on itself.
fn memory_from_hit(store: &ReadStore, hit: &SearchHit) -> Result<Option<RecentMemory>, EngineError> {
    let entries = store.episode_entries(hit.key)?;
    let Some(prompt) = prompt_of(&entries) else { return Ok(None) };
    let text = match hit.entry.kind.role() {
        EntryRole::User => answer_of(&entries).map(str::to_owned),
        _ => Some(hit.snippet.text.clone()),
    };
    Ok(text.map(|text| RecentMemory {
        citation: hit.session.citation(hit.entry.location.line),
        episode: hit.session.citation(hit.episode.as_ref().map_or(hit.entry.location.line, |episode| episode.lines.0)),
        at: hit.entry.at,
        session: display_name(&hit.session),
        prompt: Some(prompt.to_owned()),
        text,
        word_share: hit.word_share,
        matched_word_count: hit.matched_word_count,
    }))
}
