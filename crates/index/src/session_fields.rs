//! The fields of sessions, for scoring a session as a whole: which field each document belongs to, and how long each field is.

use std::sync::Arc;

use crate::segment::{DocId, IndexSegment};
use crate::traits::EntryTraits;

/// What was said or done in a session. Scored apart, because a word in a path means more than the same word in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SessionField {
    /// What humans wrote, and tasks of parent sessions.
    Prompts,
    /// What agents wrote.
    Replies,
    /// Calls that changed files.
    Changes,
    /// Calls that read files.
    Reads,
    /// Calls that searched for files or text.
    Searches,
    /// Other calls and errors.
    Calls,
}

impl SessionField {
    /// Number of fields.
    pub const COUNT: usize = 6;
}

/// Low bits of a code that hold the field; the others hold the session number. Must have room for [`NO_FIELD`].
const FIELD_BITS: u32 = 3;
/// Field of a document that belongs to none.
const NO_FIELD: usize = (1 << FIELD_BITS) - 1;

/// The fields of the documents of one segment, hidden ones included. Shared by all snapshots that have the segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentFields {
    /// By document: session number and field in one integer.
    codes: Vec<u32>,
    /// Number of words in each field, by session number.
    words: Vec<[u32; SessionField::COUNT]>,
}

/// The fields of all sessions in a snapshot.
#[derive(Debug)]
pub struct SessionFields {
    segments: Vec<Arc<SegmentFields>>,
    /// Number of words in each field, by session number.
    words: Vec<[u32; SessionField::COUNT]>,
    averages: [f32; SessionField::COUNT],
    session_count: usize,
}

impl SegmentFields {
    pub(crate) fn read(segment: &IndexSegment) -> Self {
        let mut found = Self { codes: Vec::with_capacity(segment.doc_limit() as usize), words: Vec::new() };
        // Looked up for every document of the index, so it is worth a table.
        let field_by_code =
            EntryTraits::fields_by_code().map(|field| field.map_or(NO_FIELD, |field| field as usize) as u8);
        segment.for_each_session_and_traits(|doc, session, traits| {
            let field = usize::from(field_by_code[traits.field_code()]);
            found.codes.push((session << FIELD_BITS) as u32 | field as u32);
            if field == NO_FIELD || !segment.is_stored(doc) {
                return;
            }
            if session as usize >= found.words.len() {
                found.words.resize(session as usize + 1, [0; SessionField::COUNT]);
            }
            found.words[session as usize][field] += segment.word_count(doc);
        });
        found
    }

    /// Session number and field of a document, if it belongs to a field.
    fn place(&self, doc: DocId) -> Option<(usize, usize)> {
        let code = self.codes[doc as usize] as usize;
        let field = code & NO_FIELD;
        (field != NO_FIELD).then_some((code >> FIELD_BITS, field))
    }
}

impl SessionFields {
    pub(crate) fn read(segments: &[IndexSegment]) -> Self {
        let fields: Vec<Arc<SegmentFields>> = segments.iter().map(IndexSegment::fields).collect();
        let limit = fields.iter().map(|fields| fields.words.len()).max().unwrap_or(0);
        let mut words = vec![[0; SessionField::COUNT]; limit];
        for (segment, fields) in segments.iter().zip(&fields) {
            for (sum, part) in words.iter_mut().zip(&fields.words) {
                for (sum, count) in sum.iter_mut().zip(part) {
                    *sum += count;
                }
            }
            for doc in segment.hidden().iter() {
                if let Some((session, field)) = fields.place(doc) {
                    words[session][field] -= segment.word_count(doc);
                }
            }
        }
        let session_count = words.iter().filter(|fields| fields.iter().any(|count| *count > 0)).count();
        let mut totals = [0_u64; SessionField::COUNT];
        for fields in &words {
            for (total, count) in totals.iter_mut().zip(fields) {
                *total += u64::from(*count);
            }
        }
        let averages = totals.map(|total| (total as f32 / session_count.max(1) as f32).max(1.0));
        Self { segments: fields, words, averages, session_count }
    }

    /// Session number and field of a document, if it belongs to a field.
    pub fn place(&self, segment: usize, doc: DocId) -> Option<(usize, usize)> {
        self.segments[segment].place(doc)
    }

    /// Number of words in each field of a session.
    pub fn word_counts(&self, session: usize) -> [u32; SessionField::COUNT] {
        self.words.get(session).copied().unwrap_or_default()
    }

    /// Average number of words in each field, over all sessions.
    pub fn average_words(&self) -> [f32; SessionField::COUNT] {
        self.averages
    }

    /// Number of sessions that have words.
    pub fn session_count(&self) -> usize {
        self.session_count
    }

    /// One more than the largest session number.
    pub fn session_limit(&self) -> usize {
        self.words.len()
    }
}
