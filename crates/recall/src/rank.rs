//! Ranks candidates by a weighted sum of features.

use jiff::Zoned;
use rethread_index::words::{self, WordList};
use rethread_index::{DocId, EntryTraits, IndexError, IndexSegment, IndexSnapshot};
use rethread_model::{EntryRole, Timestamp};
use rethread_store::SessionNumber;

use crate::candidates::{CandidateSession, CandidateSet, DocAddress, SearchCandidate};
use crate::matches::{TermMatches, bm25_weight};
use crate::session_scores::SessionScores;
use crate::terms::QueryTerms;
use crate::weights::{FeatureValues, FeatureWeights, ScoreFeature};
use crate::{SearchQuery, SimilarityScores, TimePhrase};

/// BM25 parameters for a session treated as one text.
const SESSION_SATURATION: f32 = 1.5;
const SESSION_LENGTH_PENALTY: f32 = 0.5;
/// The recency feature halves after this many days.
const HALF_LIFE_DAYS: f32 = 30.0;
/// Entries up to this many characters are not penalized for length.
const UNPENALIZED_CHARS: f32 = 1_000.0;
const DAY_MILLIS: i64 = 86_400_000;

/// The current time and the time phrases of the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryTimes<'a> {
    pub(crate) now: &'a Zoned,
    pub(crate) times: &'a [TimePhrase],
}

#[derive(Clone, Debug)]
pub(crate) struct RankedCandidate {
    pub(crate) candidate: SearchCandidate,
    pub(crate) score: f32,
    pub(crate) features: FeatureValues,
}

/// How much of the query an entry contains, independent of other entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueryFit {
    pub(crate) words: u32,
    pub(crate) share: f32,
}

/// The inputs shared by all candidates.
#[derive(Debug)]
pub(crate) struct Ranker<'a> {
    pub(crate) snapshot: &'a IndexSnapshot,
    pub(crate) matches: &'a TermMatches,
    pub(crate) terms: &'a QueryTerms,
    pub(crate) candidates: &'a CandidateSet,
    pub(crate) query_times: QueryTimes<'a>,
    pub(crate) weights: &'a FeatureWeights,
    similarity: Option<&'a SimilarityScores>,
    session_scores: Option<&'a SessionScores>,
    /// Total weight of all query terms.
    total_weight: f32,
    total_session_weight: f32,
    /// Average number of words per session, among the loaded sessions.
    average_session_words: f32,
    /// One flag per session number: whether it belongs to the user's project.
    is_project_session: Vec<bool>,
    /// Per segment: documents that contain the query or a quoted phrase word for word.
    phrase_docs: Vec<Vec<DocId>>,
    /// Bits of the terms that are paths or dotted names.
    compound_mask: u32,
}

impl<'a> Ranker<'a> {
    pub(crate) fn new(
        snapshot: &'a IndexSnapshot,
        matches: &'a TermMatches,
        terms: &'a QueryTerms,
        candidates: &'a CandidateSet,
        query_times: QueryTimes<'a>,
        weights: &'a FeatureWeights,
    ) -> Self {
        let lengths: f32 = candidates.sessions.values().map(|view| view.word_count).sum();
        let compounds = matches.terms.iter().enumerate().filter(|(_, one)| one.term.is_compound);
        Self {
            snapshot,
            matches,
            terms,
            candidates,
            query_times,
            weights,
            similarity: None,
            session_scores: None,
            total_weight: matches.total_weight(),
            total_session_weight: matches.total_session_weight(),
            average_session_words: (lengths / candidates.sessions.len().max(1) as f32).max(1.0),
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

    /// Enables the feature for the score of a session as a whole.
    pub(crate) fn with_session_scores(mut self, scores: &'a SessionScores) -> Self {
        self.session_scores = Some(scores);
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

    /// All candidates, best first.
    pub(crate) fn rank(&self) -> Vec<RankedCandidate> {
        let all = self.candidates.entries.iter().map(|candidate| {
            let values = self.features(candidate);
            RankedCandidate { candidate: *candidate, score: values.score(self.weights), features: values }
        });
        let mut ranked: Vec<RankedCandidate> = all.collect();
        ranked.sort_by(|a, b| {
            let place = |one: &RankedCandidate| (one.candidate.episode.session, one.candidate.seq);
            b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
        });
        ranked
    }

    fn features(&self, candidate: &SearchCandidate) -> FeatureValues {
        let mut values = FeatureValues::default();
        let address = candidate.address;
        let segment = self.segment(address);
        let traits = segment.traits(address.doc);
        if let Some(view) = self.candidates.sessions.get(&candidate.episode.session.get()) {
            self.set_word_features(&mut values, candidate, view, traits);
        }
        if let Some(scores) = self.session_scores {
            let score = scores.of_session(candidate.episode.session.get());
            values.set(ScoreFeature::Work, score / self.total_session_weight);
        }
        self.set_time_features(&mut values, segment.at(address.doc));
        self.set_form_features(&mut values, traits);
        let session = candidate.episode.session.get() as usize;
        values.set_if(ScoreFeature::Project, self.is_project_session.get(session).copied().unwrap_or(false));
        let alike = self.similarity.map(|scores| scores.similarity(candidate.episode.session.get(), candidate.seq));
        values.set(ScoreFeature::Meaning, alike.unwrap_or(0.0));
        let phrases = self.phrase_docs.get(address.segment);
        let has_phrase = phrases.is_some_and(|docs| docs.binary_search(&address.doc).is_ok());
        values.set_if(ScoreFeature::Phrase, has_phrase);
        if self.session_scores.is_some() {
            values.set(ScoreFeature::Exact, self.exactness(address, has_phrase));
        }
        values.set_if(ScoreFeature::Speaker, self.matches.segments[address.segment].has_named_speaker(address.doc));
        values
    }

    /// How close an entry comes to having all words of a longer query: a pasted line that differs in a number or a hash.
    /// At most half of what the same words in the same order count. Falls steeply, because half of the words say nothing.
    /// The words of a shorter query may meet by chance.
    fn exactness(&self, address: DocAddress, has_phrase: bool) -> f32 {
        const MIN_TERMS: usize = 4;
        const MOST: f32 = 0.5;
        const STEEPNESS: i32 = 8;
        if self.matches.terms.len() < MIN_TERMS {
            return 0.0;
        }
        if has_phrase {
            return 1.0;
        }
        let all = self.matches.mask_weight(u32::MAX);
        MOST * (self.matches.mask_weight(self.term_mask(address)) / all.max(f32::EPSILON)).powi(STEEPNESS)
    }

    /// Sets the features based on words in the entry, its neighbors and its session.
    fn set_word_features(
        &self,
        values: &mut FeatureValues,
        candidate: &SearchCandidate,
        view: &CandidateSession,
        traits: EntryTraits,
    ) {
        let matches = self.matches;
        let own = self.term_mask(candidate.address);
        let away = |distance: isize| view.neighbor(candidate.position, distance);
        let masks = |most: isize| self.term_mask_around(candidate, view, most);
        let question = away(-1).filter(|address| self.segment(*address).traits(address.doc).has_question());
        values.set(ScoreFeature::Bm25, self.bm25_score(candidate.address));
        values.set(ScoreFeature::Session, self.session_score(view).sqrt());
        values.set(ScoreFeature::Near, matches.mask_weight(masks(2)) / self.total_weight);
        values.set(ScoreFeature::Around, matches.mask_weight(masks(4)) / self.total_weight);
        values.set(
            ScoreFeature::Question,
            matches.mask_weight(own | question.map_or(0, |address| self.term_mask(address))) / self.total_weight,
        );
        let forms = matches.segments[candidate.address.segment].other_form_mask(candidate.address.doc);
        values.set(ScoreFeature::Forms, matches.mask_weight(forms) / self.total_weight);
        values.set(ScoreFeature::Before, away(-2).map_or(0.0, |address| self.bm25_score(address)));
        if self.compound_mask != 0 {
            values.set(
                ScoreFeature::Path,
                (own & self.compound_mask).count_ones() as f32 / self.compound_mask.count_ones() as f32,
            );
        }
        if traits.has_failed() {
            values.set(ScoreFeature::Error, matches.mask_weight(own) / self.total_weight);
        }
    }

    fn set_time_features(&self, values: &mut FeatureValues, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let (month, day) = self.query_times.closeness(at);
        values.set(ScoreFeature::Month, month);
        values.set(ScoreFeature::Day, day);
        let now = Timestamp::from_millis(self.query_times.now.timestamp().as_millisecond());
        let days = now.millis_since(at).max(0) as f32 / DAY_MILLIS as f32;
        values.set(ScoreFeature::Recent, (-days / HALF_LIFE_DAYS).exp2());
    }

    /// Sets the features based on who said it and how.
    fn set_form_features(&self, values: &mut FeatureValues, traits: EntryTraits) {
        let cues = self.terms.cues;
        let role = traits.kind().role();
        values.set_if(ScoreFeature::Asks, traits.ends_with_question());
        values.set_if(ScoreFeature::Human, cues.asks_about_self && role == EntryRole::User);
        values.set_if(ScoreFeature::Agent, cues.asks_about_agent && role == EntryRole::Assistant);
        values.set_if(ScoreFeature::When, cues.asks_when && traits.mentions_time());
        values.set_if(ScoreFeature::Self_, traits.is_first_person());
        values.set(ScoreFeature::Names, traits.name_count() as f32 / 2.0);
        values.set(ScoreFeature::Long, (traits.char_count() as f32 / UNPENALIZED_CHARS).max(1.0).ln());
        values.set_if(ScoreFeature::Call, role == EntryRole::Tool);
        values.set(ScoreFeature::New, traits.novelty());
        values.set(ScoreFeature::Echo, traits.echo());
    }

    fn segment(&self, address: DocAddress) -> &IndexSegment {
        &self.snapshot.segments()[address.segment]
    }

    /// Counts the distinctive query words in an entry or directly next to it, and their share of the total weight.
    pub(crate) fn fit(&self, candidate: &SearchCandidate) -> QueryFit {
        let Some(view) = self.candidates.sessions.get(&candidate.episode.session.get()) else {
            return QueryFit::default();
        };
        let mask = self.term_mask_around(candidate, view, 1);
        let all = self.matches.mask_weight(u32::MAX);
        let distinctive_terms = self.matches.terms.iter().enumerate().filter(|(_, one)| one.term.weight >= 1.0);
        let words = distinctive_terms.filter(|(bit, _)| mask & (1 << bit) != 0).count() as u32;
        QueryFit { words, share: if all > 0.0 { self.matches.mask_weight(mask) / all } else { 0.0 } }
    }

    /// The terms in an entry or up to `max_distance` entries away.
    fn term_mask_around(&self, candidate: &SearchCandidate, view: &CandidateSession, max_distance: isize) -> u32 {
        let away = |distance: isize| view.neighbor(candidate.position, distance);
        let around = (1..=max_distance).flat_map(|distance| [away(distance), away(-distance)]).flatten();
        around.fold(self.term_mask(candidate.address), |mask, address| mask | self.term_mask(address))
    }

    fn term_mask(&self, address: DocAddress) -> u32 {
        self.matches.segments[address.segment].masks[address.doc as usize]
    }

    fn bm25_score(&self, address: DocAddress) -> f32 {
        self.matches.segments[address.segment].scores[address.doc as usize] / self.total_weight
    }

    fn session_score(&self, view: &CandidateSession) -> f32 {
        let length = view.word_count / self.average_session_words;
        let words = self.matches.terms.iter().zip(&view.term_counts);
        let sum: f32 = words
            .map(|(term, count)| {
                term.session_weight() * bm25_weight(*count, length, SESSION_SATURATION, SESSION_LENGTH_PENALTY)
            })
            .sum();
        sum / self.total_session_weight
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

    /// How well a time fits the query, 0 to 1: by month, week or span, and by day.
    fn closeness(&self, at: Timestamp) -> (f32, f32) {
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
        (month, day)
    }
}
