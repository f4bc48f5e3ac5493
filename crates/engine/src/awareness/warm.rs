//! Memories of the last week that fit a prompt, found within a hook's time.

use rethread_model::{Role, Timestamp, clip};
use rethread_recall::{
    Hit, Kind, Memory, Query, Request, SearchError, WARM_DAYS, WARM_MEMORIES, Weights, may_call_for_memory, search,
};
use rethread_store::Store;

use super::inject::{Caller, Moment, hash_of};
use super::neighbours::name_of;
use crate::search::{Broken, answer_of, guarded, prompt_of};
use crate::{Engine, EngineError};

/// Characters of a prompt that are looked for. Who says more has said by then what it is about.
const LOOKED_FOR_CHARS: usize = 600;
/// Hits among which the memories are chosen.
const LOOKED_AT: usize = 8;

/// What memory says to a prompt.
#[derive(Debug)]
pub(super) enum Remembered {
    /// These, closest first; there may be none.
    Memories(Vec<Memory>),
    /// It could not be looked into, and why.
    Unavailable(String),
}

impl Engine {
    /// What other sessions of the project said in the last week that fits a prompt, and was not told yet.
    pub(super) fn remembered(
        &self,
        store: &Store,
        caller: &Caller,
        prompt: &str,
        moment: &Moment,
    ) -> Result<Remembered, EngineError> {
        let prompt = &*clip(prompt, LOOKED_FOR_CHARS);
        if !may_call_for_memory(prompt) {
            return Ok(Remembered::Memories(Vec::new()));
        }
        let unreadable = || Ok(Remembered::Unavailable("it could not be read".to_owned()));
        let hits = match guarded(|| self.hits(store, prompt, moment)) {
            Ok(Some(hits)) => hits,
            Ok(None) => return Ok(Remembered::Unavailable("much is not indexed yet".to_owned())),
            // The next search mends it.
            Err(Broken::Index) => return unreadable(),
            Err(Broken::Other(error)) => {
                self.note_trouble("memory for a prompt", &error.into());
                return unreadable();
            }
        };
        let mut memories: Vec<Memory> = Vec::new();
        let mut episodes = Vec::new();
        for hit in hits {
            if memories.len() == WARM_MEMORIES || episodes.contains(&hit.key) {
                continue;
            }
            let Some(memory) = memory(store, &hit)? else { continue };
            if memory.is_called_for(prompt) && !store.was_told(caller.key(), hash_of(&memory.exchange))? {
                episodes.push(hit.key);
                memories.push(memory);
            }
        }
        Ok(Remembered::Memories(memories))
    }

    /// What fits best; nothing if looking for it would take too long.
    fn hits(&self, store: &Store, prompt: &str, moment: &Moment) -> Result<Option<Vec<Hit>>, SearchError> {
        let here = self.here_and_now();
        let since = Timestamp::from_millis(moment.now.as_millis() - WARM_DAYS * 86_400_000);
        let mut query = Query::of_prose(prompt, &here);
        query.after = Some(since);
        query.kinds = vec![Kind::Prompt, Kind::Answer];
        // What the session itself said it still knows, and of those who are at work it is told what they do.
        let own = moment.own.stored.as_ref().map(|(number, _)| *number);
        let mut sessions = store.sessions_since(&moment.project, since)?;
        sessions.retain(|number| Some(*number) != own && !moment.tells_of(*number));
        if sessions.is_empty() {
            return Ok(Some(Vec::new()));
        }
        // More than is left to be read from the store is indexed after the turn, and told as activity until then.
        let Some(snapshot) = self.indexed_snapshot(store)? else { return Ok(None) };
        let request = Request {
            query: &query,
            sessions: Some(&sessions),
            near: &[],
            limit: LOOKED_AT,
            full: false,
            now: &here,
            weights: &Weights::default(),
            likeness: None,
        };
        Ok(Some(search(store, &snapshot, request)?.hits))
    }
}

/// What was found, with what was asked before it. A question without an answer is no memory; what an agent noted without
/// being asked anything is told only to those who look for it, or it could feed on itself.
fn memory(store: &Store, hit: &Hit) -> Result<Option<Memory>, EngineError> {
    let entries = store.entries_of(hit.key)?;
    let Some(asked) = prompt_of(&entries) else { return Ok(None) };
    let text = match hit.entry.speech.role() {
        Role::User => answer_of(&entries).map(str::to_owned),
        _ => Some(hit.snippet.text.clone()),
    };
    Ok(text.map(|text| Memory {
        citation: hit.session.citation(hit.entry.place.line),
        exchange: hit.session.citation(hit.episode.as_ref().map_or(hit.entry.place.line, |episode| episode.lines.0)),
        at: hit.entry.at,
        session: name_of(&hit.session),
        asked: Some(asked.to_owned()),
        text,
        share: hit.share,
        words: hit.words,
    }))
}
