//! Computes the features of a candidate: what its words, its neighbors, its session, its time and its form say.

use rethread_index::EntryTraits;
use rethread_model::{EntryRole, Timestamp};

use crate::candidates::{CandidateSession, CandidateSet, DocAddress, SearchCandidate};
use crate::matches::bm25_weight;
use crate::rank::{DAY_MILLIS, Ranker};
use crate::session_scores::SessionScores;
use crate::weights::{FeatureValues, ScoreFeature};

/// BM25 parameters for a session treated as one text.
const SESSION_SATURATION: f32 = 1.5;
const SESSION_LENGTH_PENALTY: f32 = 0.5;
/// The recency feature halves after this many days.
const HALF_LIFE_DAYS: f32 = 30.0;
/// Entries up to this many characters are not penalized for length.
const UNPENALIZED_CHARS: f32 = 1_000.0;

/// The features of one set of candidates.
pub(crate) struct CandidateFeatures<'a> {
    ranker: &'a Ranker<'a>,
    candidates: &'a CandidateSet,
    /// In coding work, the scores of sessions as a whole.
    session_scores: Option<&'a SessionScores>,
    /// Average number of words per session, among the loaded sessions.
    average_session_words: f32,
}

impl<'a> CandidateFeatures<'a> {
    pub(crate) fn new(
        ranker: &'a Ranker<'a>,
        candidates: &'a CandidateSet,
        session_scores: Option<&'a SessionScores>,
    ) -> Self {
        let lengths: f32 = candidates.sessions.values().map(|view| view.word_count).sum();
        let average_session_words = (lengths / candidates.sessions.len().max(1) as f32).max(1.0);
        Self { ranker, candidates, session_scores, average_session_words }
    }

    pub(crate) fn of(&self, candidate: &SearchCandidate) -> FeatureValues {
        let mut values = FeatureValues::default();
        let address = candidate.address;
        let segment = self.ranker.segment(address);
        let traits = segment.traits(address.doc);
        if let Some(view) = self.candidates.sessions.get(&candidate.episode.session.get()) {
            self.set_word_features(&mut values, candidate, view, traits);
        }
        // How often a session has a symbol says little about whether it changed it.
        if let Some(scores) = self.session_scores.filter(|_| !self.ranker.terms.is_symbol) {
            let score = scores.of_session(candidate.episode.session.get());
            // Of two sessions that fit alike, the one in a time that the query names. As a factor, because it must count
            // as much for a query of two words as for one of sixty.
            let closeness = segment.at(address.doc).map_or(0.0, |at| self.ranker.query_times.closeness(at).best());
            values.set(ScoreFeature::Work, score / self.ranker.total_session_weight * (1.0 + closeness));
        }
        self.set_time_features(&mut values, segment.at(address.doc));
        self.set_form_features(&mut values, traits);
        let session = candidate.episode.session.get() as usize;
        values.set_if(ScoreFeature::Project, self.ranker.is_project_session.get(session).copied().unwrap_or(false));
        let alike =
            self.ranker.similarity.map(|scores| scores.similarity(candidate.episode.session.get(), candidate.seq));
        values.set(ScoreFeature::Meaning, alike.unwrap_or(0.0));
        let phrases = self.ranker.phrase_docs.get(address.segment);
        let has_phrase = phrases.is_some_and(|docs| docs.binary_search(&address.doc).is_ok());
        values.set_if(ScoreFeature::Phrase, has_phrase);
        if self.session_scores.is_some() {
            values.set(ScoreFeature::Exact, self.exactness(address, has_phrase));
        }
        values.set_if(
            ScoreFeature::Speaker,
            self.ranker.matches.segments[address.segment].has_named_speaker(address.doc),
        );
        values
    }

    /// How close an entry comes to having all words of a longer query: a pasted line that differs in a number or a hash.
    /// At most half of what the same words in the same order count. Falls steeply, because half of the words say nothing.
    /// The words of a shorter query may meet by chance.
    fn exactness(&self, address: DocAddress, has_phrase: bool) -> f32 {
        const MIN_TERMS: usize = 4;
        const MOST: f32 = 0.5;
        const STEEPNESS: i32 = 8;
        if self.ranker.matches.terms.len() < MIN_TERMS {
            return 0.0;
        }
        if has_phrase {
            return 1.0;
        }
        let all = self.ranker.matches.mask_weight(u32::MAX);
        MOST * (self.ranker.matches.mask_weight(self.ranker.term_mask(address)) / all.max(f32::EPSILON)).powi(STEEPNESS)
    }

    /// Sets the features based on words in the entry, its neighbors and its session.
    fn set_word_features(
        &self,
        values: &mut FeatureValues,
        candidate: &SearchCandidate,
        view: &CandidateSession,
        traits: EntryTraits,
    ) {
        let matches = self.ranker.matches;
        let own = self.ranker.term_mask(candidate.address);
        let away = |distance: isize| view.neighbor(candidate.position, distance);
        let masks = |most: isize| self.ranker.term_mask_around(candidate, view, most);
        let question = away(-1).filter(|address| self.ranker.segment(*address).traits(address.doc).has_question());
        values.set(ScoreFeature::Bm25, self.ranker.bm25_score(candidate.address));
        values.set(ScoreFeature::Session, self.session_score(view).sqrt());
        values.set(ScoreFeature::Near, matches.mask_weight(masks(2)) / self.ranker.total_weight);
        values.set(ScoreFeature::Around, matches.mask_weight(masks(4)) / self.ranker.total_weight);
        values.set(
            ScoreFeature::Question,
            matches.mask_weight(own | question.map_or(0, |address| self.ranker.term_mask(address)))
                / self.ranker.total_weight,
        );
        let forms = matches.segments[candidate.address.segment].other_form_mask(candidate.address.doc);
        values.set(ScoreFeature::Forms, matches.mask_weight(forms) / self.ranker.total_weight);
        values.set(ScoreFeature::Before, away(-2).map_or(0.0, |address| self.ranker.bm25_score(address)));
        if self.ranker.compound_mask != 0 {
            values.set(
                ScoreFeature::Path,
                (own & self.ranker.compound_mask).count_ones() as f32 / self.ranker.compound_mask.count_ones() as f32,
            );
        }
        if traits.has_failed() {
            values.set(ScoreFeature::Error, matches.mask_weight(own) / self.ranker.total_weight);
        }
    }

    fn set_time_features(&self, values: &mut FeatureValues, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let closeness = self.ranker.query_times.closeness(at);
        values.set(ScoreFeature::Month, closeness.month);
        values.set(ScoreFeature::Day, closeness.day);
        let now = Timestamp::from_millis(self.ranker.query_times.now.timestamp().as_millisecond());
        let days = now.millis_since(at).max(0) as f32 / DAY_MILLIS as f32;
        values.set(ScoreFeature::Recent, (-days / HALF_LIFE_DAYS).exp2());
    }

    /// Sets the features based on who said it and how.
    fn set_form_features(&self, values: &mut FeatureValues, traits: EntryTraits) {
        let cues = self.ranker.terms.cues;
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

    fn session_score(&self, view: &CandidateSession) -> f32 {
        let length = view.word_count / self.average_session_words;
        let words = self.ranker.matches.terms.iter().zip(&view.term_counts);
        let sum: f32 = words
            .map(|(term, count)| {
                term.session_weight() * bm25_weight(*count, length, SESSION_SATURATION, SESSION_LENGTH_PENALTY)
            })
            .sum();
        sum / self.ranker.total_session_weight
    }
}
