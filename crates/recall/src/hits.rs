//! Collects the hits of a search: loads entries, cuts snippets, and shows nearly equal sessions once.

use rethread_index::searchable_text;
use rethread_model::{Entry, Episode, Session};
use rethread_store::{EpisodeKey, ReadStore, SessionNumber, StoreError};
use rustc_hash::FxHashSet;

use crate::candidates::DocAddress;
use crate::rank::{QueryFit, RankedCandidate};
use crate::result_order::OrderedResults;
use crate::search_filters::hit_kind;
use crate::session_groups::SessionGroups;
use crate::weights::ScoreContribution;
use crate::{HitKind, SearchInput, Snippet, highlight, snippet};

/// One entry that was found.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// Session of the entry.
    pub session: Session,
    /// Episode of the entry.
    pub episode: Option<Episode>,
    /// Key of that episode.
    pub key: EpisodeKey,
    /// The entry itself.
    pub entry: Entry,
    /// Kind of entry.
    pub kind: HitKind,
    /// Score; comparable only within one result.
    pub score: f32,
    /// Sessions that are nearly the same and therefore not shown themselves: copies, forks, sub-agents.
    pub also_in: Vec<Session>,
    /// Contributions to the score, largest first.
    pub why: Vec<ScoreContribution>,
    /// Excerpt with the matches.
    pub snippet: Snippet,
    /// Number of distinctive query words in the entry or directly next to it.
    pub matched_word_count: u32,
    /// Their weighted share of the query's words, 0 to 1; comparable across results.
    pub word_share: f32,
}

/// The hits found so far.
pub(crate) struct HitList<'a> {
    pub(crate) hits: Vec<SearchHit>,
    store: &'a ReadStore,
    request: SearchInput<'a>,
    /// Indexed words to highlight.
    words: Vec<&'a str>,
    groups: SessionGroups<'a>,
    /// Entries that were added, or left out because another one shows the same.
    seen: FxHashSet<DocAddress>,
}

impl<'a> HitList<'a> {
    pub(crate) fn new(store: &'a ReadStore, request: SearchInput<'a>, words: Vec<&'a str>) -> Self {
        let (groups, seen) = (SessionGroups::new(store), FxHashSet::default());
        Self { hits: Vec::new(), store, request, words, groups, seen }
    }

    /// Whether there are as many hits as requested.
    pub(crate) fn is_full(&self) -> bool {
        self.hits.len() >= self.request.limit
    }

    /// Number of entries that were looked at.
    pub(crate) fn seen_count(&self) -> usize {
        self.seen.len()
    }

    /// Adds results until the list is full.
    pub(crate) fn add(
        &mut self,
        ordered: OrderedResults,
        fit: impl Fn(&RankedCandidate) -> QueryFit,
    ) -> Result<(), StoreError> {
        let mut behind = Vec::new();
        for one in ordered.leading {
            if self.is_full() {
                return Ok(());
            }
            if self.seen.contains(&one.candidate.address) {
                continue;
            }
            let number = one.candidate.episode.session;
            let Some(session) = self.store.session_by_number(number)? else { continue };
            let leader = self.groups.leader(number, &session)?;
            if leader == number {
                self.push(&one, fit(&one))?;
            } else {
                self.note_copy(leader, session);
                behind.push(one);
            }
        }
        for one in behind.into_iter().chain(ordered.following) {
            if self.is_full() {
                break;
            }
            self.push(&one, fit(&one))?;
        }
        Ok(())
    }

    fn push(&mut self, one: &RankedCandidate, fit: QueryFit) -> Result<(), StoreError> {
        if !self.seen.insert(one.candidate.address) {
            return Ok(());
        }
        let Some(hit) = load_hit(self.store, one, fit, &self.words, self.request)? else { return Ok(()) };
        if let Some(other) = self.groups.shown_by(hit.key.session, &hit.session, &hit.entry.text)? {
            self.note_copy(other, hit.session);
            return Ok(());
        }
        for shown in &mut self.hits {
            shown.also_in.retain(|copy| copy.id != hit.session.id);
        }
        self.hits.push(hit);
        Ok(())
    }

    /// Notes at the first hit of a session that another one is nearly the same.
    fn note_copy(&mut self, shown: SessionNumber, copy: Session) {
        let Some(hit) = self.hits.iter_mut().find(|hit| hit.key.session == shown) else { return };
        if hit.also_in.iter().all(|known| known.id != copy.id) {
            hit.also_in.push(copy);
        }
    }
}

/// Loads a hit from the store; `None` if it was deleted in the meantime.
pub(crate) fn load_hit(
    store: &ReadStore,
    ranked: &RankedCandidate,
    fit: QueryFit,
    words: &[&str],
    request: SearchInput<'_>,
) -> Result<Option<SearchHit>, StoreError> {
    let &RankedCandidate { candidate, score, features: values } = ranked;
    let key = candidate.episode;
    let Some(entry) = store.entry_at(key.session, candidate.seq)? else { return Ok(None) };
    let Some(session) = store.session_by_number(key.session)? else { return Ok(None) };
    let text = searchable_text(&entry);
    let why = values.explain(request.weights);
    let snippet = if request.is_full_text { highlight(&text, words) } else { snippet(&text, words) };
    let episode = store.episode_at(key)?;
    let kind = hit_kind(entry.kind);
    Ok(Some(SearchHit {
        session,
        episode,
        key,
        entry,
        kind,
        score,
        also_in: Vec::new(),
        why,
        snippet,
        matched_word_count: fit.words,
        word_share: fit.share,
    }))
}
