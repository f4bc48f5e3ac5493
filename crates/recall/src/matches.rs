//! Which entries have which words of the query, and how well each matches by itself.

use rethread_index::{Doc, IndexError, Segment, Snapshot};

use crate::terms::{Term, Wanted};

/// BM25: how fast repeating a word stops to count.
const SATURATION: f32 = 0.9;
/// BM25: how much long entries are held back.
const LENGTH: f32 = 0.4;
/// BM25: words an entry has on average. A constant, because the true average of a collection costs a look at every
/// entry, differs little in effect, and would let unrelated entries move scores.
const USUAL_LENGTH: f32 = 30.0;
/// A pasted text may have many words; this many of the rarest are enough to find it.
pub(crate) const MOST_TERMS: usize = 32;

/// What is added to the worth of all words, so that a query of one common word is not taken for a sure sign.
const DOUBT: f32 = 5.0;

/// Everything the words of a query match.
#[derive(Debug)]
pub(crate) struct Matches {
    /// The words, rarest first, with how much each says.
    pub(crate) terms: Vec<Weighted>,
    /// By segment of the snapshot.
    pub(crate) segments: Vec<SegmentMatches>,
    /// Entries there are.
    pub(crate) entries: u64,
}

/// Postings looked at to learn in how many sessions a word stands; of more, as many evenly spread ones.
const SAMPLE: usize = 1_024;

/// A word of the query with its weight in this collection.
#[derive(Debug)]
pub(crate) struct Weighted {
    pub(crate) term: Term,
    /// How rare it is: the logarithm of the odds that an entry has it not.
    pub(crate) idf: f32,
    /// The same by sessions.
    session_idf: f32,
    /// Entries that have it.
    documents: usize,
    /// By segment, in the order of documents.
    postings: Vec<Vec<(Doc, u32)>>,
    /// By segment, documents that have another form of the word.
    forms: Vec<Vec<Doc>>,
}

/// The matches of one segment.
#[derive(Debug)]
pub(crate) struct SegmentMatches {
    /// Score of each document by itself.
    pub(crate) scores: Vec<f32>,
    /// One bit for each word of the query that a document has.
    pub(crate) masks: Vec<u32>,
    /// One bit for each word that it has in another form; empty if there are no other forms.
    forms: Vec<u32>,
    /// Documents in which someone speaks whom the query names, sorted.
    speaking: Vec<Doc>,
    /// Documents that have any of the words.
    touched: Vec<Doc>,
}

impl SegmentMatches {
    /// Documents with anything the query asks for, each once.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Doc> {
        let has_words = |doc: Doc| self.masks[doc as usize] != 0 || self.other_forms(doc) != 0;
        let only_spoken = self.speaking.iter().copied().filter(move |doc| !has_words(*doc));
        self.touched.iter().copied().chain(only_spoken)
    }

    /// Whether someone speaks whom the query names.
    pub(crate) fn is_spoken(&self, doc: Doc) -> bool {
        self.speaking.binary_search(&doc).is_ok()
    }

    /// A first guess at how good a document is: its words, and a little for other forms and for who speaks.
    pub(crate) fn guess(&self, doc: Doc) -> f32 {
        const FORM: f32 = 0.5;
        const SPEAKER: f32 = 0.25;
        let spoken = !self.speaking.is_empty() && self.is_spoken(doc);
        self.scores[doc as usize]
            + FORM * self.other_forms(doc).count_ones() as f32
            + if spoken { SPEAKER } else { 0.0 }
    }

    /// One bit for each word that the document has only in another form.
    pub(crate) fn other_forms(&self, doc: Doc) -> u32 {
        self.forms.get(doc as usize).copied().unwrap_or(0) & !self.masks[doc as usize]
    }
}

impl Matches {
    /// Looks the words up in all segments.
    pub(crate) fn find(snapshot: &Snapshot, wanted: &Wanted, sessions: u64) -> Result<Self, IndexError> {
        let entries = snapshot.segments().iter().map(Segment::count).sum();
        let mut weighted = Vec::with_capacity(wanted.terms.len());
        for term in &wanted.terms {
            weighted.push(Weighted::look_up(snapshot, term.clone(), entries)?);
        }
        for one in &mut weighted {
            one.weigh_by_session(snapshot, sessions);
        }
        weighted.retain(|one| one.documents > 0);
        weighted.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        weighted.truncate(MOST_TERMS);
        let segments = snapshot.segments().iter().enumerate();
        let mut segments: Vec<SegmentMatches> = segments.map(|(at, segment)| score(segment, at, &weighted)).collect();
        for (segment, found) in snapshot.segments().iter().zip(&mut segments) {
            for name in &wanted.speakers {
                found.speaking.extend(segment.with_speaker(name)?);
            }
            found.speaking.sort_unstable();
        }
        Ok(Self { terms: weighted, segments, entries })
    }

    /// How often the word stands in a document.
    pub(crate) fn count(&self, term: usize, segment: usize, doc: Doc) -> u32 {
        if self.segments[segment].masks[doc as usize] & (1 << term) == 0 {
            return 0;
        }
        let postings = &self.terms[term].postings[segment];
        postings.binary_search_by_key(&doc, |(doc, _)| *doc).map_or(0, |at| postings[at].1)
    }

    /// What all words together are worth: the most an entry could cover.
    pub(crate) fn ideal(&self) -> f32 {
        self.terms.iter().map(Weighted::worth).sum::<f32>() + DOUBT
    }

    /// The same for a whole session.
    pub(crate) fn session_ideal(&self) -> f32 {
        self.terms.iter().map(Weighted::session_worth).sum::<f32>() + DOUBT
    }

    /// What the words in a mask are worth.
    pub(crate) fn worth(&self, mask: u32) -> f32 {
        let inside = self.terms.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0);
        inside.map(|(_, weighted)| weighted.worth()).sum()
    }
}

impl Weighted {
    /// How much it says, by rarity and by its part in the question.
    pub(crate) fn worth(&self) -> f32 {
        self.idf * self.term.weight
    }

    fn look_up(snapshot: &Snapshot, term: Term, entries: u64) -> Result<Self, IndexError> {
        let mut postings = Vec::with_capacity(snapshot.segments().len());
        for segment in snapshot.segments() {
            let mut found = Vec::new();
            segment.postings(&term.text, &mut found)?;
            postings.push(found);
        }
        let forms = forms(snapshot, &term)?;
        let exact: usize = postings.iter().map(Vec::len).sum();
        // A word that stands nowhere as it was typed is as rare as its other forms.
        let documents = if exact > 0 { exact } else { forms.iter().map(Vec::len).sum() };
        let count = documents as f32;
        Ok(Self { term, idf: rarity(entries as f32, count), session_idf: 0.0, postings, forms, documents })
    }

    /// How much it says about a whole session.
    pub(crate) fn session_worth(&self) -> f32 {
        self.session_idf * self.term.weight
    }

    fn weigh_by_session(&mut self, snapshot: &Snapshot, sessions: u64) {
        let exact: usize = self.postings.iter().map(Vec::len).sum();
        let step = exact.div_ceil(SAMPLE).max(1);
        let mut seen = Vec::new();
        for (segment, postings) in snapshot.segments().iter().zip(&self.postings) {
            seen.extend(postings.iter().step_by(step).map(|(doc, _)| segment.episode(*doc).session));
        }
        // Entries of a session lie side by side, so most of the work is done before the sorting.
        seen.dedup();
        seen.sort_unstable();
        seen.dedup();
        let all = sessions as f32;
        self.session_idf = rarity(all, ((seen.len() * step) as f32).min(all));
    }
}

/// The logarithm of the odds that a text has a word not, where `with` of `all` have it.
fn rarity(all: f32, with: f32) -> f32 {
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// Documents with other forms of a word, by segment.
fn forms(snapshot: &Snapshot, term: &Term) -> Result<Vec<Vec<Doc>>, IndexError> {
    let mut by_segment = Vec::with_capacity(snapshot.segments().len());
    for segment in snapshot.segments() {
        let mut found = Vec::new();
        for form in &term.forms {
            segment.postings(form, &mut found)?;
        }
        let mut docs: Vec<Doc> = found.into_iter().map(|(doc, _)| doc).collect();
        docs.sort_unstable();
        docs.dedup();
        by_segment.push(docs);
    }
    Ok(by_segment)
}

fn score(segment: &Segment, at: usize, terms: &[Weighted]) -> SegmentMatches {
    let documents = segment.limit() as usize;
    let mut scores = vec![0.0; documents];
    let mut masks = vec![0; documents];
    let mut touched = Vec::new();
    for (bit, weighted) in terms.iter().enumerate() {
        let weight = weighted.worth();
        for (doc, count) in &weighted.postings[at] {
            if masks[*doc as usize] == 0 {
                touched.push(*doc);
            }
            let length = segment.length(*doc) as f32 / USUAL_LENGTH;
            scores[*doc as usize] += weight * saturated(*count as f32, length, SATURATION, LENGTH);
            masks[*doc as usize] |= 1 << bit;
        }
    }
    let mut forms = Vec::new();
    for (bit, weighted) in terms.iter().enumerate().filter(|(_, weighted)| !weighted.forms[at].is_empty()) {
        forms.resize(documents, 0);
        for doc in &weighted.forms[at] {
            if masks[*doc as usize] == 0 && forms[*doc as usize] == 0 {
                touched.push(*doc);
            }
            forms[*doc as usize] |= 1 << bit;
        }
    }
    SegmentMatches { scores, masks, forms, speaking: Vec::new(), touched }
}

/// BM25: how much a word counts that stands `count` times in a text of `length` averages.
pub(crate) fn saturated(count: f32, length: f32, saturation: f32, by_length: f32) -> f32 {
    count * (saturation + 1.0) / (count + saturation * (1.0 - by_length + by_length * length))
}
