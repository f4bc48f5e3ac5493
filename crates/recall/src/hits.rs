//! Collects the hits of a search: loads entries, cuts snippets, and shows nearly equal sessions once.

use rethread_index::searchable_text;
use rethread_model::{Entry, Episode, Session, SessionId};
use rethread_store::{EpisodeKey, ReadStore, SessionNumber, StoreError};
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// Sessions that are nearly the same and therefore not shown themselves: copies and forks.
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

/// How many sessions after the last hit are examined for copies of those shown. Copies have nearly equal scores.
const MAX_LOOKAHEAD: usize = 10;

/// The hits found so far.
pub(crate) struct HitList<'a> {
    pub(crate) hits: Vec<SearchHit>,
    store: &'a ReadStore,
    request: SearchInput<'a>,
    /// Indexed words to highlight.
    words: Vec<&'a str>,
    groups: SessionGroups<'a>,
    /// Sessions loaded so far; one may have many hits.
    sessions: FxHashMap<SessionNumber, Session>,
    /// Sessions that are nearly the same as one that is shown, with the number of that one.
    copies: Vec<(SessionNumber, Session)>,
    /// Entries that were added, or left out because another one shows the same.
    seen: FxHashSet<DocAddress>,
}

impl<'a> HitList<'a> {
    pub(crate) fn new(store: &'a ReadStore, request: SearchInput<'a>, words: Vec<&'a str>) -> Self {
        Self {
            hits: Vec::new(),
            store,
            request,
            words,
            groups: SessionGroups::new(store),
            sessions: FxHashMap::default(),
            copies: Vec::new(),
            seen: FxHashSet::default(),
        }
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
        let (mut behind, mut looked_ahead) = (Vec::new(), 0);
        for one in ordered.leading {
            looked_ahead += usize::from(self.is_full());
            if looked_ahead > MAX_LOOKAHEAD {
                return Ok(());
            }
            if self.seen.contains(&one.candidate.address) {
                continue;
            }
            let number = one.candidate.episode.session;
            let Some(session) = self.session(number)? else { continue };
            let leader = self.groups.leader(number, &session)?;
            if leader != number {
                self.copies.push((leader, session));
                behind.push(one);
            } else if !self.is_full() {
                self.push(&one, fit(&one))?;
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

    fn session(&mut self, number: SessionNumber) -> Result<Option<Session>, StoreError> {
        if let Some(known) = self.sessions.get(&number) {
            return Ok(Some(known.clone()));
        }
        let loaded = self.store.session_by_number(number)?;
        self.sessions.extend(loaded.clone().map(|session| (number, session)));
        Ok(loaded)
    }

    fn push(&mut self, one: &RankedCandidate, fit: QueryFit) -> Result<(), StoreError> {
        if !self.seen.insert(one.candidate.address) {
            return Ok(());
        }
        let Some(session) = self.session(one.candidate.episode.session)? else { return Ok(()) };
        let Some(hit) = load_hit(self.store, session, one, fit, &self.words, self.request)? else { return Ok(()) };
        match self.groups.shown_by(hit.key.session, &hit.session, &searchable_text(&hit.entry))? {
            Some(other) => self.copies.push((other, hit.session)),
            None => self.hits.push(hit),
        }
        Ok(())
    }

    /// The hits. The first one of a session names its copies that have no hit themselves.
    pub(crate) fn finish(mut self) -> Vec<SearchHit> {
        let listed: FxHashSet<SessionId> = self.hits.iter().map(|hit| hit.session.id).collect();
        for (shown, copy) in self.copies {
            let first = self.hits.iter_mut().find(|hit| hit.key.session == shown);
            let Some(hit) = first.filter(|_| !listed.contains(&copy.id)) else { continue };
            if hit.also_in.iter().all(|known| known.id != copy.id) {
                hit.also_in.push(copy);
            }
        }
        self.hits
    }
}

/// Loads a hit of a session from the store; `None` if it was deleted in the meantime.
pub(crate) fn load_hit(
    store: &ReadStore,
    session: Session,
    ranked: &RankedCandidate,
    fit: QueryFit,
    words: &[&str],
    request: SearchInput<'_>,
) -> Result<Option<SearchHit>, StoreError> {
    let &RankedCandidate { candidate, score, features: values } = ranked;
    let key = candidate.episode;
    let Some(entry) = store.entry_at(key.session, candidate.seq)? else { return Ok(None) };
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
