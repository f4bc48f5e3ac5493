//! The parts of sessions, for scoring a session as a whole: which part each document belongs to, and how long each part is.

use crate::segment::{DocId, IndexSegment};

/// What was said or done in a session. Scored apart, because a word in a path means more than the same word in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SessionPart {
    /// What humans wrote, and tasks of parent sessions.
    Prompts,
    /// What agents wrote.
    Replies,
    /// Calls that read or changed files.
    Files,
    /// Other calls and errors.
    Calls,
}

impl SessionPart {
    /// Number of parts.
    pub const COUNT: usize = 4;
}

/// Low bits of a code that hold the part; the others hold the session number.
const PART_BITS: u32 = 3;
/// Part of a document that belongs to none.
const NO_PART: usize = (1 << PART_BITS) - 1;

/// The parts of all sessions in a snapshot.
#[derive(Debug)]
pub struct SessionParts {
    /// Per segment, by document: session number and part in one integer.
    codes: Vec<Vec<u32>>,
    /// Number of words in each part, by session number.
    words: Vec<[u32; SessionPart::COUNT]>,
    averages: [f32; SessionPart::COUNT],
    session_count: usize,
}

impl SessionParts {
    pub(crate) fn read(segments: &[IndexSegment]) -> Self {
        let mut words: Vec<[u32; SessionPart::COUNT]> = Vec::new();
        let mut codes = Vec::with_capacity(segments.len());
        for segment in segments {
            let mut of_segment = Vec::with_capacity(segment.doc_limit() as usize);
            segment.for_each_session_and_traits(|doc, session, traits| {
                let part = traits.session_part().map_or(NO_PART, |part| part as usize);
                of_segment.push((session << PART_BITS) as u32 | part as u32);
                if part == NO_PART || !segment.is_alive(doc) {
                    return;
                }
                if session as usize >= words.len() {
                    words.resize(session as usize + 1, [0; SessionPart::COUNT]);
                }
                words[session as usize][part] += segment.word_count(doc);
            });
            codes.push(of_segment);
        }
        let session_count = words.iter().filter(|parts| parts.iter().any(|count| *count > 0)).count();
        let mut totals = [0_u64; SessionPart::COUNT];
        for parts in &words {
            for (total, count) in totals.iter_mut().zip(parts) {
                *total += u64::from(*count);
            }
        }
        let averages = totals.map(|total| (total as f32 / session_count.max(1) as f32).max(1.0));
        Self { codes, words, averages, session_count }
    }

    /// Session number and part of a document, if it belongs to a part.
    pub fn place(&self, segment: usize, doc: DocId) -> Option<(usize, usize)> {
        let code = self.codes[segment][doc as usize] as usize;
        let part = code & NO_PART;
        (part != NO_PART).then_some((code >> PART_BITS, part))
    }

    /// Number of words in each part of a session.
    pub fn word_counts(&self, session: usize) -> [u32; SessionPart::COUNT] {
        self.words.get(session).copied().unwrap_or_default()
    }

    /// Average number of words in each part, over all sessions.
    pub fn average_words(&self) -> [f32; SessionPart::COUNT] {
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
