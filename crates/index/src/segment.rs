//! A searchable part of the index: postings by word, columns by document.
//!
//! It is either a tantivy segment on disk or an [`UnindexedSegment`] in memory with entries that are not indexed yet.

use std::sync::{Arc, OnceLock};

use rethread_model::Timestamp;
use rethread_store::EpisodeKey;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{EnableScoring, PhraseQuery, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use crate::document::{NO_TIME, decode_episode, encode_episode};
use crate::error::IndexError;
use crate::hidden::HiddenDocs;
use crate::schema::{IndexFields, path_parts};
use crate::session_fields::SegmentFields;
use crate::traits::EntryTraits;
use crate::unindexed::UnindexedSegment;
use crate::words::WordList;

/// Number of a document within its segment.
pub type DocId = u32;

/// Values of a column that are read at once.
const COLUMN_CHUNK: usize = 1024;

/// One searchable part of the index, on disk or in memory. Clones share the documents; each hides its own.
#[derive(Clone, Debug)]
pub struct IndexSegment {
    storage: SegmentStorage,
    hidden: HiddenDocs,
    /// Read on the first use of any clone.
    fields: Arc<OnceLock<Arc<SegmentFields>>>,
}

#[derive(Clone, Debug)]
enum SegmentStorage {
    Disk(Arc<DiskSegment>),
    Memory(Arc<UnindexedSegment>),
}

struct DiskSegment {
    reader: SegmentReader,
    fields: IndexFields,
    text: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    episode: Column<u64>,
    seq: Column<u64>,
    at: Column<i64>,
    traits: Column<u64>,
}

impl std::fmt::Debug for DiskSegment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").field("documents", &self.reader.max_doc()).finish_non_exhaustive()
    }
}

impl IndexSegment {
    pub(crate) fn open(reader: &SegmentReader, fields: IndexFields) -> Result<Self, IndexError> {
        let columns = reader.fast_fields();
        Ok(Self::new(SegmentStorage::Disk(Arc::new(DiskSegment {
            text: reader.inverted_index(fields.text)?,
            lengths: reader.get_fieldnorms_reader(fields.text)?,
            episode: columns.u64("episode")?,
            seq: columns.u64("seq")?,
            at: columns.i64("at")?,
            traits: columns.u64("traits")?,
            reader: reader.clone(),
            fields,
        }))))
    }

    pub(crate) fn from_unindexed(tail: UnindexedSegment) -> Self {
        Self::new(SegmentStorage::Memory(Arc::new(tail)))
    }

    fn new(storage: SegmentStorage) -> Self {
        Self { storage, hidden: HiddenDocs::default(), fields: Arc::default() }
    }

    /// The documents that are not on disk yet; `None` for a segment on disk.
    pub(crate) fn unindexed(&self) -> Option<&UnindexedSegment> {
        match &self.storage {
            SegmentStorage::Disk(_) => None,
            SegmentStorage::Memory(tail) => Some(tail),
        }
    }

    /// One more than the largest document number.
    pub fn doc_limit(&self) -> DocId {
        match &self.storage {
            SegmentStorage::Disk(disk) => disk.reader.max_doc(),
            SegmentStorage::Memory(tail) => tail.len(),
        }
    }

    /// False if the document was deleted or replaced by a newer version.
    pub fn is_alive(&self, doc: DocId) -> bool {
        self.is_stored(doc) && !self.hidden.contains(doc)
    }

    /// False if the document was deleted before the segment was opened.
    pub(crate) fn is_stored(&self, doc: DocId) -> bool {
        match &self.storage {
            SegmentStorage::Disk(disk) => !disk.reader.is_deleted(doc),
            SegmentStorage::Memory(_) => true,
        }
    }

    /// Documents that were hidden since the segment was opened.
    pub(crate) fn hidden(&self) -> &HiddenDocs {
        &self.hidden
    }

    /// Which field of its session each document belongs to.
    pub(crate) fn fields(&self) -> Arc<SegmentFields> {
        Arc::clone(self.fields.get_or_init(|| Arc::new(SegmentFields::read(self))))
    }

    /// Calls `each` with every document, its session number and its traits. Reads many values at once, which is several
    /// times faster than one at a time; but not all, because fresh memory costs more than reading them.
    pub(crate) fn for_each_session_and_traits(&self, mut each: impl FnMut(DocId, u64, EntryTraits)) {
        match &self.storage {
            SegmentStorage::Disk(disk) => {
                let (mut episodes, mut traits) = ([0; COLUMN_CHUNK], [0; COLUMN_CHUNK]);
                for first in (0..disk.reader.max_doc()).step_by(COLUMN_CHUNK) {
                    let count = COLUMN_CHUNK.min((disk.reader.max_doc() - first) as usize);
                    disk.episode.values.get_range(u64::from(first), &mut episodes[..count]);
                    disk.traits.values.get_range(u64::from(first), &mut traits[..count]);
                    for (doc, (episode, traits)) in (first..).zip(episodes.iter().zip(&traits)).take(count) {
                        each(doc, decode_episode(*episode).session.get(), EntryTraits(*traits));
                    }
                }
            }
            SegmentStorage::Memory(tail) => {
                for doc in 0..tail.len() {
                    let document = tail.document(doc);
                    each(doc, document.episode.session.get(), document.traits);
                }
            }
        }
    }

    /// Appends the documents that contain a word, each with its number of occurrences.
    pub fn postings(&self, word: &str, found: &mut Vec<(DocId, u32)>) -> Result<(), IndexError> {
        let before = found.len();
        match &self.storage {
            SegmentStorage::Disk(disk) => disk.postings(word, found)?,
            SegmentStorage::Memory(tail) => found.extend_from_slice(tail.postings(word)),
        }
        if !self.hidden.is_empty() {
            let mut at = 0;
            found.retain(|(doc, _)| {
                at += 1;
                at <= before || !self.hidden.contains(*doc)
            });
        }
        Ok(())
    }

    /// Documents that contain these words at the same distances as in the text they were split from.
    pub fn with_phrase(&self, words: &WordList) -> Result<Vec<DocId>, IndexError> {
        let places: Vec<(usize, String)> = words.iter().map(|word| (word.position, word.text.to_owned())).collect();
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => disk.with_phrase(disk.fields.text, &places)?,
            SegmentStorage::Memory(tail) => tail.with_phrase(&places),
        }))
    }

    /// Documents of tool calls on files whose path contains these segments in sequence.
    pub fn with_path(&self, path: &str) -> Result<Vec<DocId>, IndexError> {
        // One form per position, as typed: `wal` and `wal.rs` both find `wal.rs`.
        let mut parts = path_parts(path);
        parts.reverse();
        parts.dedup_by_key(|(place, _)| *place);
        parts.reverse();
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => disk.with_phrase(disk.fields.file, &parts)?,
            SegmentStorage::Memory(tail) => tail.with_path(&parts),
        }))
    }

    /// Documents of calls of a tool, given its name or kind in lower case.
    pub fn with_tool(&self, tool: &str) -> Result<Vec<DocId>, IndexError> {
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => disk.with_term(&Term::from_field_text(disk.fields.tool, tool))?,
            SegmentStorage::Memory(tail) => tail.with_tool(tool),
        }))
    }

    /// Documents of this speaker, given in lower case.
    pub fn with_speaker(&self, name: &str) -> Result<Vec<DocId>, IndexError> {
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => disk.with_term(&Term::from_field_text(disk.fields.speaker, name))?,
            SegmentStorage::Memory(tail) => tail.with_speaker(name),
        }))
    }

    /// At most `limit` words with this prefix.
    pub fn words_with_prefix(&self, letters: &str, limit: usize) -> Result<Vec<String>, IndexError> {
        match &self.storage {
            SegmentStorage::Disk(disk) => disk.words_with_prefix(letters, limit),
            SegmentStorage::Memory(tail) => Ok(tail.words_with_prefix(letters, limit)),
        }
    }

    /// Number of documents that contain a word. May include outdated ones.
    pub fn doc_frequency(&self, word: &str) -> Result<u32, IndexError> {
        match &self.storage {
            SegmentStorage::Disk(disk) => Ok(disk.text.doc_freq(&Term::from_field_text(disk.fields.text, word))?),
            SegmentStorage::Memory(tail) => Ok(tail.postings(word).len() as u32),
        }
    }

    /// Documents of a session, given its number.
    pub fn in_session(&self, session: u64) -> Result<Vec<DocId>, IndexError> {
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => disk.with_term(&Term::from_field_u64(disk.fields.session, session))?,
            SegmentStorage::Memory(tail) => tail.in_session(session),
        }))
    }

    fn in_episode(&self, key: EpisodeKey) -> Result<Vec<DocId>, IndexError> {
        Ok(self.visible(match &self.storage {
            SegmentStorage::Disk(disk) => {
                disk.with_term(&Term::from_field_u64(disk.fields.episode, encode_episode(key)))?
            }
            SegmentStorage::Memory(tail) => tail.in_episode(key),
        }))
    }

    /// Without the hidden ones.
    fn visible(&self, mut docs: Vec<DocId>) -> Vec<DocId> {
        if !self.hidden.is_empty() {
            docs.retain(|doc| !self.hidden.contains(*doc));
        }
        docs
    }

    /// Number of words in a document, rounded the way tantivy stores it.
    pub fn word_count(&self, doc: DocId) -> u32 {
        match &self.storage {
            SegmentStorage::Disk(disk) => disk.lengths.fieldnorm(doc),
            SegmentStorage::Memory(tail) => tail.word_count(doc),
        }
    }

    /// Episode of a document.
    pub fn episode(&self, doc: DocId) -> EpisodeKey {
        match &self.storage {
            SegmentStorage::Disk(disk) => decode_episode(disk.episode.first(doc).unwrap_or_default()),
            SegmentStorage::Memory(tail) => tail.document(doc).episode,
        }
    }

    /// Position of the document's entry in its session.
    pub fn seq(&self, doc: DocId) -> u64 {
        match &self.storage {
            SegmentStorage::Disk(disk) => disk.seq.first(doc).unwrap_or_default(),
            SegmentStorage::Memory(tail) => tail.document(doc).seq,
        }
    }

    /// Time of the document's entry, if known.
    pub fn at(&self, doc: DocId) -> Option<Timestamp> {
        let at = match &self.storage {
            SegmentStorage::Disk(disk) => disk.at.first(doc).unwrap_or(NO_TIME),
            SegmentStorage::Memory(tail) => tail.document(doc).at,
        };
        (at != NO_TIME).then(|| Timestamp::from_millis(at))
    }

    /// Kind and text features of the document's entry.
    pub fn traits(&self, doc: DocId) -> EntryTraits {
        match &self.storage {
            SegmentStorage::Disk(disk) => EntryTraits(disk.traits.first(doc).unwrap_or_default()),
            SegmentStorage::Memory(tail) => tail.document(doc).traits,
        }
    }

    /// Number of documents that are not deleted or outdated.
    pub fn live_count(&self) -> u64 {
        let stored = match &self.storage {
            SegmentStorage::Disk(disk) => disk.reader.num_docs(),
            SegmentStorage::Memory(tail) => tail.len(),
        };
        u64::from(stored) - self.hidden.count()
    }

    pub(crate) fn hide_session(&mut self, session: u64) -> Result<(), IndexError> {
        self.in_session(session)?.into_iter().for_each(|doc| self.hidden.add(doc));
        Ok(())
    }

    pub(crate) fn hide_episode(&mut self, key: EpisodeKey) -> Result<(), IndexError> {
        self.in_episode(key)?.into_iter().for_each(|doc| self.hidden.add(doc));
        Ok(())
    }
}

impl DiskSegment {
    fn postings(&self, word: &str, found: &mut Vec<(DocId, u32)>) -> Result<(), IndexError> {
        let term = Term::from_field_text(self.fields.text, word);
        let Some(mut blocks) = self.text.read_block_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let all_alive = !self.reader.has_deletes();
        loop {
            let (docs, counts) = (blocks.docs(), blocks.freqs());
            if docs.is_empty() {
                return Ok(());
            }
            let pairs = docs.iter().copied().zip(counts.iter().copied());
            if all_alive {
                found.extend(pairs);
            } else {
                found.extend(pairs.filter(|(doc, _)| !self.reader.is_deleted(*doc)));
            }
            blocks.advance();
        }
    }

    fn words_with_prefix(&self, letters: &str, limit: usize) -> Result<Vec<String>, IndexError> {
        let mut words = Vec::new();
        let mut stream = self.text.terms().range().ge(letters).into_stream()?;
        while words.len() < limit && stream.advance() {
            match std::str::from_utf8(stream.key()) {
                Ok(word) if word.starts_with(letters) => words.push(word.to_owned()),
                _ => break,
            }
        }
        Ok(words)
    }

    fn with_phrase(&self, field: Field, words: &[(usize, String)]) -> Result<Vec<DocId>, IndexError> {
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

    fn with_term(&self, term: &Term) -> Result<Vec<DocId>, IndexError> {
        let index = self.reader.inverted_index(term.field())?;
        let postings = index.read_postings(term, IndexRecordOption::Basic)?;
        Ok(postings.map(|mut docs| self.collect(&mut docs)).unwrap_or_default())
    }

    fn collect(&self, docs: &mut dyn DocSet) -> Vec<DocId> {
        let mut found = Vec::new();
        while docs.doc() != TERMINATED {
            if !self.reader.is_deleted(docs.doc()) {
                found.push(docs.doc());
            }
            docs.advance();
        }
        found
    }
}
