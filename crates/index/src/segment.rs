//! A part of the index that is read: postings by word, columns by document.
//!
//! On disk it is a segment of tantivy; what the index has not seen yet is a [`Tail`] in memory. Both answer alike.

use std::sync::Arc;

use rethread_model::Timestamp;
use rethread_store::EpisodeKey;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use crate::document::{NO_TIME, episode_code, episode_of};
use crate::error::IndexError;
use crate::schema::{Fields, path_parts};
use crate::tail::Tail;
use crate::traits::Traits;
use crate::words::Words;

/// A document's number in its segment.
pub type Doc = u32;

/// One part of the index.
#[derive(Debug)]
pub struct Segment(Kind);

#[derive(Debug)]
enum Kind {
    Disk(Box<Disk>),
    Tail(Box<Tail>),
}

struct Disk {
    reader: SegmentReader,
    fields: Fields,
    text: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    episode: Column<u64>,
    seq: Column<u64>,
    at: Column<i64>,
    traits: Column<u64>,
    /// One bit per document that is out of date; empty when none is.
    hidden: Vec<u64>,
    hidden_count: u64,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").field("documents", &self.reader.max_doc()).finish_non_exhaustive()
    }
}

impl Segment {
    pub(crate) fn open(reader: &SegmentReader, fields: Fields) -> Result<Self, IndexError> {
        let columns = reader.fast_fields();
        Ok(Self(Kind::Disk(Box::new(Disk {
            text: reader.inverted_index(fields.text)?,
            lengths: reader.get_fieldnorms_reader(fields.text)?,
            episode: columns.u64("episode")?,
            seq: columns.u64("seq")?,
            at: columns.i64("at")?,
            traits: columns.u64("traits")?,
            hidden: Vec::new(),
            hidden_count: 0,
            reader: reader.clone(),
            fields,
        }))))
    }

    pub(crate) fn of_tail(tail: Tail) -> Self {
        Self(Kind::Tail(Box::new(tail)))
    }

    /// One more than the largest document number.
    pub fn limit(&self) -> Doc {
        match &self.0 {
            Kind::Disk(disk) => disk.reader.max_doc(),
            Kind::Tail(tail) => tail.len(),
        }
    }

    /// Whether the document is still true.
    pub fn is_alive(&self, doc: Doc) -> bool {
        match &self.0 {
            Kind::Disk(disk) => disk.is_alive(doc),
            Kind::Tail(_) => true,
        }
    }

    /// Adds the documents with that word, and how often each has it.
    pub fn postings(&self, word: &str, found: &mut Vec<(Doc, u32)>) -> Result<(), IndexError> {
        match &self.0 {
            Kind::Disk(disk) => disk.postings(word, found),
            Kind::Tail(tail) => {
                found.extend_from_slice(tail.postings(word));
                Ok(())
            }
        }
    }

    /// Documents in which these words follow each other as in the text they were split from.
    pub fn with_phrase(&self, words: &Words) -> Result<Vec<Doc>, IndexError> {
        let places: Vec<(usize, String)> = words.iter().map(|word| (word.position, word.text.to_owned())).collect();
        match &self.0 {
            Kind::Disk(disk) => disk.with_phrase(disk.fields.text, &places),
            Kind::Tail(tail) => Ok(tail.with_phrase(&places)),
        }
    }

    /// Documents of tool calls on files whose path contains these parts next to each other.
    pub fn with_path(&self, path: &str) -> Result<Vec<Doc>, IndexError> {
        // Each place once: what is typed is matched as typed, `wal` and `wal.rs` both find `wal.rs`.
        let mut parts = path_parts(path);
        parts.reverse();
        parts.dedup_by_key(|(place, _)| *place);
        parts.reverse();
        match &self.0 {
            Kind::Disk(disk) => disk.with_phrase(disk.fields.file, &parts),
            Kind::Tail(tail) => Ok(tail.with_path(&parts)),
        }
    }

    /// Documents of calls of a tool, by its name or kind in lower case.
    pub fn with_tool(&self, tool: &str) -> Result<Vec<Doc>, IndexError> {
        match &self.0 {
            Kind::Disk(disk) => disk.with_term(&Term::from_field_text(disk.fields.tool, tool)),
            Kind::Tail(tail) => Ok(tail.with_tool(tool)),
        }
    }

    /// Documents in which this name, in lower case, stands before what is said.
    pub fn with_speaker(&self, name: &str) -> Result<Vec<Doc>, IndexError> {
        match &self.0 {
            Kind::Disk(disk) => disk.with_term(&Term::from_field_text(disk.fields.speaker, name)),
            Kind::Tail(tail) => Ok(tail.with_speaker(name)),
        }
    }

    /// Words that begin with these letters, at most `most` of them.
    pub fn words_beginning(&self, letters: &str, most: usize) -> Result<Vec<String>, IndexError> {
        match &self.0 {
            Kind::Disk(disk) => disk.words_beginning(letters, most),
            Kind::Tail(tail) => Ok(tail.words_beginning(letters, most)),
        }
    }

    /// In how many documents a word stands, counting some that are out of date.
    pub fn frequency(&self, word: &str) -> Result<u32, IndexError> {
        match &self.0 {
            Kind::Disk(disk) => Ok(disk.text.doc_freq(&Term::from_field_text(disk.fields.text, word))?),
            Kind::Tail(tail) => Ok(tail.postings(word).len() as u32),
        }
    }

    /// Documents of a session.
    pub fn of_session(&self, session: u64) -> Result<Vec<Doc>, IndexError> {
        match &self.0 {
            Kind::Disk(disk) => disk.with_term(&Term::from_field_u64(disk.fields.session, session)),
            Kind::Tail(tail) => Ok(tail.of_session(session)),
        }
    }

    /// The number of words a document has, rounded as the index rounds it.
    pub fn length(&self, doc: Doc) -> u32 {
        match &self.0 {
            Kind::Disk(disk) => disk.lengths.fieldnorm(doc),
            Kind::Tail(tail) => tail.length(doc),
        }
    }

    /// The episode a document belongs to.
    pub fn episode(&self, doc: Doc) -> EpisodeKey {
        match &self.0 {
            Kind::Disk(disk) => episode_of(disk.episode.first(doc).unwrap_or_default()),
            Kind::Tail(tail) => tail.document(doc).episode,
        }
    }

    /// The entry's position in its session.
    pub fn seq(&self, doc: Doc) -> u64 {
        match &self.0 {
            Kind::Disk(disk) => disk.seq.first(doc).unwrap_or_default(),
            Kind::Tail(tail) => tail.document(doc).seq,
        }
    }

    /// When it was said, if known.
    pub fn at(&self, doc: Doc) -> Option<Timestamp> {
        let at = match &self.0 {
            Kind::Disk(disk) => disk.at.first(doc).unwrap_or(NO_TIME),
            Kind::Tail(tail) => tail.document(doc).at,
        };
        (at != NO_TIME).then(|| Timestamp::from_millis(at))
    }

    /// What kind of text it is.
    pub fn traits(&self, doc: Doc) -> Traits {
        match &self.0 {
            Kind::Disk(disk) => Traits(disk.traits.first(doc).unwrap_or_default()),
            Kind::Tail(tail) => tail.document(doc).traits,
        }
    }

    /// How many living documents there are.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Kind::Disk(disk) => u64::from(disk.reader.num_docs()) - disk.hidden_count,
            Kind::Tail(tail) => u64::from(tail.len()),
        }
    }

    pub(crate) fn hide_session(&mut self, session: u64) -> Result<(), IndexError> {
        let Kind::Disk(disk) = &mut self.0 else { return Ok(()) };
        disk.hide(&Term::from_field_u64(disk.fields.session, session))
    }

    pub(crate) fn hide_episode(&mut self, key: EpisodeKey) -> Result<(), IndexError> {
        let Kind::Disk(disk) = &mut self.0 else { return Ok(()) };
        disk.hide(&Term::from_field_u64(disk.fields.episode, episode_code(key)))
    }
}

impl Disk {
    fn is_alive(&self, doc: Doc) -> bool {
        let hidden = self.hidden.get(doc as usize / 64).is_some_and(|bits| bits & (1 << (doc % 64)) != 0);
        !hidden && !self.reader.is_deleted(doc)
    }

    fn all_alive(&self) -> bool {
        self.hidden.is_empty() && !self.reader.has_deletes()
    }

    fn postings(&self, word: &str, found: &mut Vec<(Doc, u32)>) -> Result<(), IndexError> {
        let term = Term::from_field_text(self.fields.text, word);
        let Some(mut blocks) = self.text.read_block_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let all_alive = self.all_alive();
        loop {
            let (docs, counts) = (blocks.docs(), blocks.freqs());
            if docs.is_empty() {
                return Ok(());
            }
            let pairs = docs.iter().copied().zip(counts.iter().copied());
            if all_alive {
                found.extend(pairs);
            } else {
                found.extend(pairs.filter(|(doc, _)| self.is_alive(*doc)));
            }
            blocks.advance();
        }
    }

    fn words_beginning(&self, letters: &str, most: usize) -> Result<Vec<String>, IndexError> {
        let mut words = Vec::new();
        let mut stream = self.text.terms().range().ge(letters).into_stream()?;
        while words.len() < most && stream.advance() {
            match std::str::from_utf8(stream.key()) {
                Ok(word) if word.starts_with(letters) => words.push(word.to_owned()),
                _ => break,
            }
        }
        Ok(words)
    }

    fn with_phrase(&self, field: Field, words: &[(usize, String)]) -> Result<Vec<Doc>, IndexError> {
        let terms = words.iter().map(|(place, word)| (*place, Term::from_field_text(field, word)));
        let terms: Vec<(usize, Term)> = terms.collect();
        match terms.as_slice() {
            [] => Ok(Vec::new()),
            [(_, term)] => self.with_term(term),
            _ => {
                let query = PhraseQuery::new_with_offset(terms);
                let weight = query.weight(EnableScoring::disabled_from_schema(self.reader.schema()))?;
                let mut docs = weight.scorer(&self.reader, 1.0)?;
                Ok(self.collect(&mut *docs))
            }
        }
    }

    fn with_term(&self, term: &Term) -> Result<Vec<Doc>, IndexError> {
        let index = self.reader.inverted_index(term.field())?;
        let postings = index.read_postings(term, IndexRecordOption::Basic)?;
        Ok(postings.map(|mut docs| self.collect(&mut docs)).unwrap_or_default())
    }

    fn collect(&self, docs: &mut dyn DocSet) -> Vec<Doc> {
        let mut found = Vec::new();
        while docs.doc() != TERMINATED {
            if self.is_alive(docs.doc()) {
                found.push(docs.doc());
            }
            docs.advance();
        }
        found
    }

    fn hide(&mut self, term: &Term) -> Result<(), IndexError> {
        for doc in self.with_term(term)? {
            if self.hidden.is_empty() {
                self.hidden = vec![0; self.reader.max_doc() as usize / 64 + 1];
            }
            // Only living ones are found here, so each is counted once.
            self.hidden[doc as usize / 64] |= 1 << (doc % 64);
            self.hidden_count += 1;
        }
        Ok(())
    }
}
