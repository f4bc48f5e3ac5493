//! Orders candidates by a weighted sum of what is known about each.

use jiff::Zoned;
use rethread_index::words::{self, Words};
use rethread_index::{Doc, IndexError, Segment, Snapshot, Traits};
use rethread_model::{Role, Timestamp};
use rethread_store::SessionNumber;

use crate::candidates::{Candidate, Candidates, Spot, View};
use crate::matches::{Matches, saturated};
use crate::terms::Wanted;
use crate::weights::{Part, Values, Weights};
use crate::{Likeness, Query, When};

/// BM25 of a session as one text.
const SESSION_SATURATION: f32 = 1.5;
const SESSION_LENGTH: f32 = 0.5;
/// A recent entry is worth half as much after so many days.
const HALF_LIFE_DAYS: f32 = 30.0;
/// How many characters are no reason to hold an entry back.
const FREE_CHARACTERS: f32 = 1_000.0;
const DAY_MILLIS: i64 = 86_400_000;

/// The times a query speaks of, seen from now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) now: &'a Zoned,
    pub(crate) times: &'a [When],
}

/// A candidate with its score.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) score: f32,
    pub(crate) values: Values,
}

/// How much of the query an entry has, apart from how it compares to others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fit {
    pub(crate) words: u32,
    pub(crate) share: f32,
}

/// Everything that is the same for all candidates.
#[derive(Debug)]
pub(crate) struct Ranker<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) matches: &'a Matches,
    pub(crate) wanted: &'a Wanted,
    pub(crate) candidates: &'a Candidates,
    pub(crate) moment: Moment<'a>,
    pub(crate) weights: &'a Weights,
    likeness: Option<&'a Likeness>,
    /// What all words of the query are worth together.
    ideal: f32,
    session_ideal: f32,
    /// Words a session has on average, among those looked at.
    session_length: f32,
    /// One flag per session number: whether it is of the user's project.
    near: Vec<bool>,
    /// By segment, documents in which the query stands word for word.
    phrases: Vec<Vec<Doc>>,
    /// Bits of the words that are paths or dotted names.
    compounds: u32,
}

impl<'a> Ranker<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        matches: &'a Matches,
        wanted: &'a Wanted,
        candidates: &'a Candidates,
        moment: Moment<'a>,
        weights: &'a Weights,
    ) -> Self {
        let lengths: f32 = candidates.sessions.values().map(|view| view.length).sum();
        let compounds = matches.terms.iter().enumerate().filter(|(_, one)| one.term.is_compound);
        Self {
            snapshot,
            matches,
            wanted,
            candidates,
            moment,
            weights,
            likeness: None,
            ideal: matches.ideal(),
            session_ideal: matches.session_ideal(),
            session_length: (lengths / candidates.sessions.len().max(1) as f32).max(1.0),
            near: Vec::new(),
            phrases: Vec::new(),
            compounds: compounds.fold(0, |mask, (bit, _)| mask | 1 << bit),
        }
    }

    /// Also counts sessions of the user's project.
    pub(crate) fn near(mut self, sessions: &[SessionNumber]) -> Self {
        let most = sessions.iter().map(|session| session.get() as usize + 1).max().unwrap_or(0);
        self.near = vec![false; most];
        for session in sessions {
            self.near[session.get() as usize] = true;
        }
        self
    }

    /// Also counts how alike entries are to the query in meaning, if that is known.
    pub(crate) fn alike(mut self, likeness: Option<&'a Likeness>) -> Self {
        self.likeness = likeness;
        self
    }

    /// Also looks up where the query, or something quoted in it, stands word for word.
    pub(crate) fn look_up(mut self, query: &Query) -> Result<Self, IndexError> {
        let phrases = std::iter::once(&query.words).chain(&query.phrases);
        let phrases: Vec<Words> = phrases.map(|phrase| words::split(phrase)).filter(is_several).collect();
        for segment in self.snapshot.segments() {
            let mut found = Vec::new();
            for phrase in &phrases {
                found.extend(segment.with_phrase(phrase)?);
            }
            found.sort_unstable();
            self.phrases.push(found);
        }
        Ok(self)
    }

    /// All candidates, best first.
    pub(crate) fn rank(&self) -> Vec<Ranked> {
        let all = self.candidates.entries.iter().map(|candidate| {
            let values = self.values(candidate);
            Ranked { candidate: *candidate, score: values.score(self.weights), values }
        });
        let mut ranked: Vec<Ranked> = all.collect();
        ranked.sort_by(|a, b| {
            let place = |one: &Ranked| (one.candidate.episode.session, one.candidate.seq);
            b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
        });
        ranked
    }

    fn values(&self, candidate: &Candidate) -> Values {
        let mut values = Values::default();
        let spot = candidate.spot;
        let segment = self.segment(spot);
        let traits = segment.traits(spot.doc);
        if let Some(view) = self.candidates.sessions.get(&candidate.episode.session.get()) {
            self.by_words(&mut values, candidate, view, traits);
        }
        self.by_time(&mut values, segment.at(spot.doc));
        self.by_form(&mut values, traits);
        let session = candidate.episode.session.get() as usize;
        values.set_if(Part::Project, self.near.get(session).copied().unwrap_or(false));
        let alike = self.likeness.map(|likeness| likeness.share(candidate.episode.session.get(), candidate.seq));
        values.set(Part::Meaning, alike.unwrap_or(0.0));
        let phrases = self.phrases.get(spot.segment);
        values.set_if(Part::Phrase, phrases.is_some_and(|docs| docs.binary_search(&spot.doc).is_ok()));
        values.set_if(Part::Speaker, self.matches.segments[spot.segment].is_spoken(spot.doc));
        values
    }

    /// The words of the entry, of its neighbours and of its session.
    fn by_words(&self, values: &mut Values, candidate: &Candidate, view: &View, traits: Traits) {
        let matches = self.matches;
        let own = self.mask(candidate.spot);
        let away = |distance: isize| view.neighbour(candidate.place, distance);
        let masks = |most: isize| self.mask_around(candidate, view, most);
        let asked = away(-1).filter(|spot| self.segment(*spot).traits(spot.doc).asks());
        values.set(Part::Bm25, self.score(candidate.spot));
        values.set(Part::Session, self.session(view).sqrt());
        values.set(Part::Near, matches.worth(masks(2)) / self.ideal);
        values.set(Part::Around, matches.worth(masks(4)) / self.ideal);
        values.set(Part::Question, matches.worth(own | asked.map_or(0, |spot| self.mask(spot))) / self.ideal);
        let forms = matches.segments[candidate.spot.segment].other_forms(candidate.spot.doc);
        values.set(Part::Forms, matches.worth(forms) / self.ideal);
        values.set(Part::Before, away(-2).map_or(0.0, |spot| self.score(spot)));
        if self.compounds != 0 {
            values.set(Part::Path, (own & self.compounds).count_ones() as f32 / self.compounds.count_ones() as f32);
        }
        if traits.failed() {
            values.set(Part::Error, matches.worth(own) / self.ideal);
        }
    }

    fn by_time(&self, values: &mut Values, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let (month, day) = self.moment.closeness(at);
        values.set(Part::Month, month);
        values.set(Part::Day, day);
        let now = Timestamp::from_millis(self.moment.now.timestamp().as_millisecond());
        let days = now.millis_since(at).max(0) as f32 / DAY_MILLIS as f32;
        values.set(Part::Recent, (-days / HALF_LIFE_DAYS).exp2());
    }

    /// Who said it and how.
    fn by_form(&self, values: &mut Values, traits: Traits) {
        let cues = self.wanted.cues;
        let role = traits.speech().role();
        values.set_if(Part::Asks, traits.ends_asking());
        values.set_if(Part::Human, cues.of_self && role == Role::User);
        values.set_if(Part::Agent, cues.of_agent && role == Role::Assistant);
        values.set_if(Part::When, cues.when && traits.tells_time());
        values.set_if(Part::Self_, traits.of_self());
        values.set(Part::Names, traits.names() as f32 / 2.0);
        values.set(Part::Long, (traits.characters() as f32 / FREE_CHARACTERS).max(1.0).ln());
        values.set_if(Part::Call, role == Role::Tool);
        values.set(Part::New, traits.novelty());
        values.set(Part::Echo, traits.echo());
    }

    fn segment(&self, spot: Spot) -> &Segment {
        &self.snapshot.segments()[spot.segment]
    }

    /// How many telling words of the query stand in an entry or right beside it, and their share of what all are worth.
    pub(crate) fn fit(&self, candidate: &Candidate) -> Fit {
        let Some(view) = self.candidates.sessions.get(&candidate.episode.session.get()) else { return Fit::default() };
        let mask = self.mask_around(candidate, view, 1);
        let all = self.matches.worth(u32::MAX);
        let telling = self.matches.terms.iter().enumerate().filter(|(_, one)| one.term.weight >= 1.0);
        let words = telling.filter(|(bit, _)| mask & (1 << bit) != 0).count() as u32;
        Fit { words, share: if all > 0.0 { self.matches.worth(mask) / all } else { 0.0 } }
    }

    /// The words in an entry or up to `most` entries away.
    fn mask_around(&self, candidate: &Candidate, view: &View, most: isize) -> u32 {
        let away = |distance: isize| view.neighbour(candidate.place, distance);
        let around = (1..=most).flat_map(|distance| [away(distance), away(-distance)]).flatten();
        around.fold(self.mask(candidate.spot), |mask, spot| mask | self.mask(spot))
    }

    fn mask(&self, spot: Spot) -> u32 {
        self.matches.segments[spot.segment].masks[spot.doc as usize]
    }

    fn score(&self, spot: Spot) -> f32 {
        self.matches.segments[spot.segment].scores[spot.doc as usize] / self.ideal
    }

    fn session(&self, view: &View) -> f32 {
        let length = view.length / self.session_length;
        let words = self.matches.terms.iter().zip(&view.counts);
        let sum: f32 = words
            .map(|(term, count)| term.session_worth() * saturated(*count, length, SESSION_SATURATION, SESSION_LENGTH))
            .sum();
        sum / self.session_ideal
    }
}

/// Whether a phrase has more than one word; one is found by itself.
fn is_several(phrase: &Words) -> bool {
    let mut places = phrase.iter().map(|word| word.position);
    places.next().is_some_and(|first| places.any(|place| place != first))
}

impl Moment<'_> {
    /// Whether a time phrase of the query means this moment.
    pub(crate) fn names(&self, at: Timestamp) -> bool {
        self.times.iter().any(|when| when.contains(at, self.now.time_zone()))
    }

    /// How well a moment fits the times of the query: by month, week or span, and by day.
    fn closeness(&self, at: Timestamp) -> (f32, f32) {
        const YEAR_SHARE: f32 = 0.3;
        let zone = self.now.time_zone();
        let (mut month, mut day) = (0.0_f32, 0.0_f32);
        for when in self.times {
            if when.contains(at, zone) {
                let is_year = when.length_millis().is_some_and(|length| length > 200 * DAY_MILLIS);
                month = month.max(if is_year { YEAR_SHARE } else { 1.0 });
            }
            for named in when.days(at, zone) {
                month = month.max(f32::from(u8::from(named.same_month)));
                day = day.max(named.closeness());
            }
        }
        (month, day)
    }
}
