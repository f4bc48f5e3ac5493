//! Looks up which entries contain which query terms, and scores each entry with BM25.

use rethread_index::{DocId, IndexError, IndexSegment, IndexSnapshot};

use crate::terms::{QueryTerms, SearchTerm};

/// BM25 `k1`: how quickly repetitions of a word stop counting.
const SATURATION: f32 = 0.9;
/// BM25 `b`: how much long entries are penalized.
const LENGTH_PENALTY: f32 = 0.4;
/// BM25 average entry length, in words. A constant: the true average would cost a scan of every entry, changes little,
/// and would let unrelated entries shift scores.
const AVERAGE_WORDS: f32 = 30.0;
/// Maximum number of terms looked up. For a pasted text, this many of its rarest words are enough.
pub(crate) const MAX_TERMS: usize = 32;

/// Added to the total term weight, so that a query of one common word does not score as a sure match.
const WEIGHT_SMOOTHING: f32 = 5.0;

/// All matches of the query terms.
#[derive(Debug)]
pub(crate) struct TermMatches {
    /// Terms, rarest first, with their weights.
    pub(crate) terms: Vec<WeightedTerm>,
    /// Terms beyond [`MAX_TERMS`]. Entries are not scored by them, sessions are.
    pub(crate) further_terms: Vec<WeightedTerm>,
    /// In the order of the snapshot's segments.
    pub(crate) segments: Vec<SegmentMatches>,
    /// Total number of entries in the index.
    pub(crate) entry_count: u64,
}

/// Maximum number of postings sampled to estimate in how many sessions a word occurs; sampled evenly.
const MAX_SAMPLED_POSTINGS: usize = 1_024;

/// A query term with its weight in this collection.
#[derive(Debug)]
pub(crate) struct WeightedTerm {
    pub(crate) term: SearchTerm,
    /// Inverse document frequency over entries.
    pub(crate) idf: f32,
    /// Inverse document frequency over sessions.
    session_idf: f32,
    /// Number of entries that contain it.
    document_count: usize,
    /// Per segment, sorted by document: document and term count.
    pub(crate) postings: Vec<Vec<(DocId, u32)>>,
    /// Per segment: documents that contain another form of the word.
    forms: Vec<Vec<DocId>>,
}

/// Matches in one segment.
#[derive(Debug)]
pub(crate) struct SegmentMatches {
    /// BM25 score per document.
    pub(crate) scores: Vec<f32>,
    /// Per document: one bit for each term it contains.
    pub(crate) masks: Vec<u32>,
    /// Per document: one bit for each term it contains in another form; empty if no term has other forms.
    form_masks: Vec<u32>,
    /// Documents whose speaker the query names, sorted.
    speaker_docs: Vec<DocId>,
    /// Documents that contain any term.
    matched_docs: Vec<DocId>,
}

impl SegmentMatches {
    /// Documents that match anything in the query, each once.
    pub(crate) fn documents(&self) -> impl Iterator<Item = DocId> {
        let has_words = |doc: DocId| self.masks[doc as usize] != 0 || self.other_form_mask(doc) != 0;
        let only_spoken = self.speaker_docs.iter().copied().filter(move |doc| !has_words(*doc));
        self.matched_docs.iter().copied().chain(only_spoken)
    }

    /// Whether the query names the document's speaker.
    pub(crate) fn has_named_speaker(&self, doc: DocId) -> bool {
        self.speaker_docs.binary_search(&doc).is_ok()
    }

    /// First estimate of a document's score: its BM25 score plus small bonuses for other forms and for the speaker.
    pub(crate) fn estimate(&self, doc: DocId) -> f32 {
        const FORM: f32 = 0.5;
        const SPEAKER: f32 = 0.25;
        let spoken = !self.speaker_docs.is_empty() && self.has_named_speaker(doc);
        self.scores[doc as usize]
            + FORM * self.other_form_mask(doc).count_ones() as f32
            + if spoken { SPEAKER } else { 0.0 }
    }

    /// One bit for each term the document contains only in another form.
    pub(crate) fn other_form_mask(&self, doc: DocId) -> u32 {
        self.form_masks.get(doc as usize).copied().unwrap_or(0) & !self.masks[doc as usize]
    }
}

impl TermMatches {
    /// Looks the terms up in all segments.
    pub(crate) fn find(snapshot: &IndexSnapshot, query: &QueryTerms, sessions: u64) -> Result<Self, IndexError> {
        let entries = snapshot.segments().iter().map(IndexSegment::live_count).sum();
        let mut weighted = Vec::with_capacity(query.terms.len());
        for term in &query.terms {
            weighted.push(WeightedTerm::look_up(snapshot, term.clone(), entries)?);
        }
        for one in &mut weighted {
            one.set_session_idf(snapshot, sessions);
        }
        weighted.retain(|one| one.document_count > 0);
        weighted.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        let further_terms = weighted.split_off(weighted.len().min(MAX_TERMS));
        let segments = snapshot.segments().iter().enumerate();
        let mut segments: Vec<SegmentMatches> =
            segments.map(|(at, segment)| score_segment(segment, at, &weighted)).collect();
        for (segment, found) in snapshot.segments().iter().zip(&mut segments) {
            for name in &query.speakers {
                found.speaker_docs.extend(segment.with_speaker(name)?);
            }
            found.speaker_docs.sort_unstable();
        }
        Ok(Self { terms: weighted, further_terms, segments, entry_count: entries })
    }

    /// How often the term occurs in a document.
    pub(crate) fn count(&self, term: usize, segment: usize, doc: DocId) -> u32 {
        if self.segments[segment].masks[doc as usize] & (1 << term) == 0 {
            return 0;
        }
        let postings = &self.terms[term].postings[segment];
        postings.binary_search_by_key(&doc, |(doc, _)| *doc).map_or(0, |at| postings[at].1)
    }

    /// Total weight of all terms: the most an entry can cover.
    pub(crate) fn total_weight(&self) -> f32 {
        self.terms.iter().map(WeightedTerm::weight).sum::<f32>() + WEIGHT_SMOOTHING
    }

    /// The same for a whole session.
    pub(crate) fn total_session_weight(&self) -> f32 {
        self.terms.iter().map(WeightedTerm::session_weight).sum::<f32>() + WEIGHT_SMOOTHING
    }

    /// Total weight of the terms in a mask.
    pub(crate) fn mask_weight(&self, mask: u32) -> f32 {
        let inside = self.terms.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0);
        inside.map(|(_, weighted)| weighted.weight()).sum()
    }
}

impl WeightedTerm {
    /// Weight by rarity and by the word's role in the question.
    pub(crate) fn weight(&self) -> f32 {
        self.idf * self.term.weight
    }

    fn look_up(snapshot: &IndexSnapshot, term: SearchTerm, entries: u64) -> Result<Self, IndexError> {
        let mut postings = Vec::with_capacity(snapshot.segments().len());
        for segment in snapshot.segments() {
            let mut found = Vec::new();
            segment.postings(&term.text, &mut found)?;
            postings.push(found);
        }
        let forms = docs_with_forms(snapshot, &term)?;
        let exact: usize = postings.iter().map(Vec::len).sum();
        // A word that never occurs as typed is as rare as its other forms.
        let document_count = if exact > 0 { exact } else { forms.iter().map(Vec::len).sum() };
        let count = document_count as f32;
        Ok(Self {
            term,
            idf: inverse_frequency(entries as f32, count),
            session_idf: 0.0,
            postings,
            forms,
            document_count,
        })
    }

    /// The same weight with the session frequency.
    pub(crate) fn session_weight(&self) -> f32 {
        self.session_idf * self.term.weight
    }

    fn set_session_idf(&mut self, snapshot: &IndexSnapshot, sessions: u64) {
        let exact: usize = self.postings.iter().map(Vec::len).sum();
        let step = exact.div_ceil(MAX_SAMPLED_POSTINGS).max(1);
        let mut seen = Vec::new();
        for (segment, postings) in snapshot.segments().iter().zip(&self.postings) {
            seen.extend(postings.iter().step_by(step).map(|(doc, _)| segment.episode(*doc).session));
        }
        // Entries of a session are adjacent, so deduplicating first leaves little to sort.
        seen.dedup();
        seen.sort_unstable();
        seen.dedup();
        let all = sessions as f32;
        self.session_idf = inverse_frequency(all, ((seen.len() * step) as f32).min(all));
    }
}

/// BM25 inverse document frequency, where `with` of `all` texts contain the word.
pub(crate) fn inverse_frequency(all: f32, with: f32) -> f32 {
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// Per segment: documents with other forms of a word.
fn docs_with_forms(snapshot: &IndexSnapshot, term: &SearchTerm) -> Result<Vec<Vec<DocId>>, IndexError> {
    let mut by_segment = Vec::with_capacity(snapshot.segments().len());
    for segment in snapshot.segments() {
        let mut found = Vec::new();
        for form in &term.forms {
            segment.postings(form, &mut found)?;
        }
        let mut docs: Vec<DocId> = found.into_iter().map(|(doc, _)| doc).collect();
        docs.sort_unstable();
        docs.dedup();
        by_segment.push(docs);
    }
    Ok(by_segment)
}

fn score_segment(segment: &IndexSegment, at: usize, terms: &[WeightedTerm]) -> SegmentMatches {
    let documents = segment.doc_limit() as usize;
    let mut scores = vec![0.0; documents];
    let mut masks = vec![0; documents];
    let mut touched = Vec::new();
    for (bit, weighted) in terms.iter().enumerate() {
        let weight = weighted.weight();
        for (doc, count) in &weighted.postings[at] {
            if masks[*doc as usize] == 0 {
                touched.push(*doc);
            }
            let length = segment.word_count(*doc) as f32 / AVERAGE_WORDS;
            scores[*doc as usize] += weight * bm25_weight(*count as f32, length, SATURATION, LENGTH_PENALTY);
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
    SegmentMatches { scores, masks, form_masks: forms, speaker_docs: Vec::new(), matched_docs: touched }
}

/// BM25 weight of a word that occurs `count` times in a text of `length` times the average length.
pub(crate) fn bm25_weight(count: f32, length: f32, saturation: f32, by_length: f32) -> f32 {
    count * (saturation + 1.0) / (count + saturation * (1.0 - by_length + by_length * length))
}
