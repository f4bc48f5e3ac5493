//! Which entries have which words of the query, and how well each matches by itself.

use rethread_index::{Doc, IndexError, Segment, Snapshot};

use crate::terms::Term;

/// BM25: how fast repeating a word stops to count.
const SATURATION: f32 = 0.9;
/// BM25: how much long entries are held back.
const LENGTH: f32 = 0.4;
/// A pasted text may have many words; this many of the rarest are enough to find it.
pub(crate) const MOST_TERMS: usize = 32;

/// Everything the words of a query match.
#[derive(Debug)]
pub(crate) struct Matches {
    /// The words, rarest first, with how much each says.
    pub(crate) terms: Vec<Weighted>,
    /// By segment of the snapshot.
    pub(crate) segments: Vec<SegmentMatches>,
    /// Words an entry has on average.
    pub(crate) average_length: f32,
    /// Entries there are.
    pub(crate) entries: u64,
}

/// A word of the query with its weight in this collection.
#[derive(Debug)]
pub(crate) struct Weighted {
    pub(crate) term: Term,
    /// How rare it is: the logarithm of the odds that an entry has it not.
    pub(crate) idf: f32,
    /// By segment, in the order of documents.
    postings: Vec<Vec<(Doc, u32)>>,
}

/// The matches of one segment.
#[derive(Debug)]
pub(crate) struct SegmentMatches {
    /// Score of each document by itself.
    pub(crate) scores: Vec<f32>,
    /// One bit for each word of the query that a document has.
    pub(crate) masks: Vec<u32>,
}

impl Matches {
    /// Looks the words up in all segments.
    pub(crate) fn find(snapshot: &Snapshot, terms: Vec<Term>) -> Result<Self, IndexError> {
        let totals = snapshot.segments().iter().map(Segment::totals);
        let (entries, words) = totals.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let average_length = if entries == 0 { 1.0 } else { (words as f32 / entries as f32).max(1.0) };
        let mut weighted = Vec::with_capacity(terms.len());
        for term in terms {
            weighted.push(Weighted::look_up(snapshot, term, entries)?);
        }
        weighted.retain(|one| one.documents() > 0);
        weighted.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        weighted.truncate(MOST_TERMS);
        let segments = snapshot.segments().iter().enumerate();
        let segments = segments.map(|(at, segment)| score(segment, at, &weighted, average_length)).collect();
        Ok(Self { terms: weighted, segments, average_length, entries })
    }

    /// How often the word stands in a document.
    pub(crate) fn count(&self, term: usize, segment: usize, doc: Doc) -> u32 {
        if self.segments[segment].masks[doc as usize] & (1 << term) == 0 {
            return 0;
        }
        let postings = &self.terms[term].postings[segment];
        postings.binary_search_by_key(&doc, |(doc, _)| *doc).map_or(0, |at| postings[at].1)
    }

    /// BM25 of one word that stands `count` times among `length` words.
    pub(crate) fn bm25(&self, term: usize, count: f32, length: f32, average: f32) -> f32 {
        let weighted = &self.terms[term];
        weighted.idf * weighted.term.weight * saturated(count, length / average)
    }
}

impl Weighted {
    fn look_up(snapshot: &Snapshot, term: Term, entries: u64) -> Result<Self, IndexError> {
        let mut postings = Vec::with_capacity(snapshot.segments().len());
        for segment in snapshot.segments() {
            let mut found = Vec::new();
            segment.postings(&term.text, &mut found)?;
            postings.push(found);
        }
        let documents = postings.iter().map(Vec::len).sum::<usize>() as f32;
        let idf = (1.0 + (entries as f32 - documents + 0.5).max(0.0) / (documents + 0.5)).ln();
        Ok(Self { term, idf, postings })
    }

    /// Entries that have it.
    pub(crate) fn documents(&self) -> usize {
        self.postings.iter().map(Vec::len).sum()
    }
}

fn score(segment: &Segment, at: usize, terms: &[Weighted], average_length: f32) -> SegmentMatches {
    let documents = segment.limit() as usize;
    let mut scores = vec![0.0; documents];
    let mut masks = vec![0; documents];
    for (bit, weighted) in terms.iter().enumerate() {
        let weight = weighted.idf * weighted.term.weight;
        for (doc, count) in &weighted.postings[at] {
            let length = segment.length(*doc) as f32 / average_length;
            scores[*doc as usize] += weight * saturated(*count as f32, length);
            masks[*doc as usize] |= 1 << bit;
        }
    }
    SegmentMatches { scores, masks }
}

/// How much a word counts that stands `count` times in a text of `length` averages.
fn saturated(count: f32, length: f32) -> f32 {
    count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * length))
}
