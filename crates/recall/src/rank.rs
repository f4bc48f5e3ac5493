//! Ranks candidates by a weighted sum of features.

use std::cmp::Ordering;

use jiff::Zoned;
use rethread_index::words::{self, WordList};
use rethread_index::{DocId, IndexError, IndexSegment, IndexSnapshot};
use rethread_model::Timestamp;
use rethread_store::SessionNumber;

use crate::candidates::{CandidateSession, CandidateSet, DocAddress, SearchCandidate};
use crate::features::CandidateFeatures;
use crate::matches::TermMatches;
use crate::session_scores::SessionScores;
use crate::terms::QueryTerms;
use crate::weights::{FeatureValues, FeatureWeights};
use crate::{SearchQuery, SimilarityScores, TimePhrase};

pub(crate) const DAY_MILLIS: i64 = 86_400_000;

/// The current time and the time phrases of the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryTimes<'a> {
    pub(crate) now: &'a Zoned,
    pub(crate) times: &'a [TimePhrase],
}

/// How well a time fits the times of a query, 0 to 1: by month, week or span, and by day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeCloseness {
    pub(crate) month: f32,
    pub(crate) day: f32,
}

impl TimeCloseness {
    pub(crate) fn best(self) -> f32 {
        self.month.max(self.day)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RankedCandidate {
    pub(crate) candidate: SearchCandidate,
    pub(crate) score: f32,
    pub(crate) features: FeatureValues,
}

impl RankedCandidate {
    /// Best first; of equal ones the older.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let place = |one: &Self| (one.candidate.episode.session, one.candidate.seq);
        other.score.total_cmp(&self.score).then_with(|| place(self).cmp(&place(other)))
    }
}

/// How much of the query an entry contains, independent of other entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueryFit {
    pub(crate) words: u32,
    pub(crate) share: f32,
}

/// The inputs shared by all candidates of a search.
#[derive(Debug)]
pub(crate) struct Ranker<'a> {
    pub(crate) snapshot: &'a IndexSnapshot,
    pub(crate) matches: &'a TermMatches,
    pub(crate) terms: &'a QueryTerms,
    pub(crate) query_times: QueryTimes<'a>,
    pub(crate) weights: &'a FeatureWeights,
    pub(crate) similarity: Option<&'a SimilarityScores>,
    /// Total weight of all query terms.
    pub(crate) total_weight: f32,
    pub(crate) total_session_weight: f32,
    /// One flag per session number: whether it belongs to the user's project.
    pub(crate) is_project_session: Vec<bool>,
    /// Per segment: documents that contain the query or a quoted phrase word for word.
    pub(crate) phrase_docs: Vec<Vec<DocId>>,
    /// Bits of the terms that are paths or dotted names.
    pub(crate) compound_mask: u32,
}

impl<'a> Ranker<'a> {
    pub(crate) fn new(
        snapshot: &'a IndexSnapshot,
        matches: &'a TermMatches,
        terms: &'a QueryTerms,
        query_times: QueryTimes<'a>,
        weights: &'a FeatureWeights,
    ) -> Self {
        let compounds = matches.terms.iter().enumerate().filter(|(_, one)| one.term.is_compound);
        Self {
            snapshot,
            matches,
            terms,
            query_times,
            weights,
            similarity: None,
            total_weight: matches.total_weight(),
            total_session_weight: matches.total_session_weight(),
            is_project_session: Vec::new(),
            phrase_docs: Vec::new(),
            compound_mask: compounds.fold(0, |mask, (bit, _)| mask | 1 << bit),
        }
    }

    /// Enables the feature for sessions of the user's project.
    pub(crate) fn with_project_sessions(mut self, sessions: &[SessionNumber]) -> Self {
        let length = sessions.iter().map(|session| session.get() as usize + 1).max().unwrap_or(0);
        self.is_project_session = vec![false; length];
        for session in sessions {
            self.is_project_session[session.get() as usize] = true;
        }
        self
    }

    /// Enables the embedding similarity feature, if scores are available.
    pub(crate) fn with_similarity(mut self, similarity: Option<&'a SimilarityScores>) -> Self {
        self.similarity = similarity;
        self
    }

    /// Looks up where the query, or a phrase quoted in it, occurs word for word.
    pub(crate) fn with_phrases(mut self, query: &SearchQuery) -> Result<Self, IndexError> {
        let phrases = std::iter::once(&query.words).chain(&query.phrases);
        let phrases: Vec<WordList> = phrases.map(|phrase| words::split(phrase)).filter(has_several_words).collect();
        for segment in self.snapshot.segments() {
            let mut found = Vec::new();
            for phrase in &phrases {
                found.extend(segment.with_phrase(phrase)?);
            }
            found.sort_unstable();
            self.phrase_docs.push(found);
        }
        Ok(self)
    }

    /// All candidates, best first. Scores of sessions are given in coding work only.
    pub(crate) fn rank(
        &self,
        candidates: &CandidateSet,
        session_scores: Option<&SessionScores>,
    ) -> Vec<RankedCandidate> {
        let features = CandidateFeatures::new(self, candidates, session_scores);
        let all = candidates.entries.iter().map(|candidate| {
            let values = features.of(candidate);
            RankedCandidate { candidate: *candidate, score: values.score(self.weights), features: values }
        });
        let mut ranked: Vec<RankedCandidate> = all.collect();
        ranked.sort_by(RankedCandidate::order);
        ranked
    }

    pub(crate) fn segment(&self, address: DocAddress) -> &IndexSegment {
        &self.snapshot.segments()[address.segment]
    }

    /// Counts the distinctive query words in an entry or directly next to it, and their share of the total weight.
    pub(crate) fn fit(&self, candidates: &CandidateSet, candidate: &SearchCandidate) -> QueryFit {
        let Some(view) = candidates.sessions.get(&candidate.episode.session.get()) else {
            return QueryFit::default();
        };
        let mask = self.term_mask_around(candidate, view, 1);
        let all = self.matches.mask_weight(u32::MAX);
        let distinctive_terms = self.matches.terms.iter().enumerate().filter(|(_, one)| one.term.weight >= 1.0);
        let words = distinctive_terms.filter(|(bit, _)| mask & (1 << bit) != 0).count() as u32;
        QueryFit { words, share: if all > 0.0 { self.matches.mask_weight(mask) / all } else { 0.0 } }
    }

    /// The terms in an entry or up to `max_distance` entries away.
    pub(crate) fn term_mask_around(
        &self,
        candidate: &SearchCandidate,
        view: &CandidateSession,
        max_distance: isize,
    ) -> u32 {
        let away = |distance: isize| view.neighbor(candidate.position, distance);
        let around = (1..=max_distance).flat_map(|distance| [away(distance), away(-distance)]).flatten();
        around.fold(self.term_mask(candidate.address), |mask, address| mask | self.term_mask(address))
    }

    pub(crate) fn term_mask(&self, address: DocAddress) -> u32 {
        self.matches.segments[address.segment].masks[address.doc as usize]
    }

    pub(crate) fn bm25_score(&self, address: DocAddress) -> f32 {
        self.matches.segments[address.segment].scores[address.doc as usize] / self.total_weight
    }
}

/// Whether a phrase has more than one word; a single word is already matched as a term.
fn has_several_words(phrase: &WordList) -> bool {
    let mut places = phrase.iter().map(|word| word.position);
    places.next().is_some_and(|first| places.any(|place| place != first))
}

impl QueryTimes<'_> {
    /// Whether a time phrase of the query includes this time.
    pub(crate) fn includes(&self, at: Timestamp) -> bool {
        self.times.iter().any(|when| when.contains(at, self.now.time_zone()))
    }

    /// How well a time fits the query.
    pub(crate) fn closeness(&self, at: Timestamp) -> TimeCloseness {
        const YEAR_SHARE: f32 = 0.3;
        let zone = self.now.time_zone();
        let (mut month, mut day) = (0.0_f32, 0.0_f32);
        for when in self.times {
            if when.contains(at, zone) {
                let is_year = when.length_millis().is_some_and(|length| length > 200 * DAY_MILLIS);
                month = month.max(if is_year { YEAR_SHARE } else { 1.0 });
            }
            for named in when.named_days(at, zone) {
                month = month.max(f32::from(u8::from(named.same_month)));
                day = day.max(named.closeness());
            }
        }
        TimeCloseness { month, day }
    }
}
