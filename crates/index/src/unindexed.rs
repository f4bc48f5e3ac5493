//! In-memory segment of stored entries that are not in the index yet.

use rethread_store::EpisodeKey;
use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;

use crate::document::IndexDocument;
use crate::schema::path_parts;
use crate::segment::DocId;
use crate::words::{WordList, WordSplitter};

/// Documents that are not in the index on disk yet.
#[derive(Debug, Default)]
pub(crate) struct UnindexedSegment {
    documents: Vec<IndexDocument>,
    lengths: Vec<u32>,
    postings: FxHashMap<String, Vec<(DocId, u32)>>,
    splitter: WordSplitter,
    words: WordList,
}

impl UnindexedSegment {
    pub(crate) fn add(&mut self, document: IndexDocument) {
        let doc = self.documents.len() as DocId;
        self.splitter.split(&document.text, &mut self.words);
        for word in self.words.iter() {
            let known = self.postings.get_mut(word.text);
            match known {
                Some(found) => match found.last_mut() {
                    Some((last, count)) if *last == doc => *count += 1,
                    _ => found.push((doc, 1)),
                },
                None => {
                    self.postings.insert(word.text.to_owned(), vec![(doc, 1)]);
                }
            }
        }
        // Rounded as on disk, so that indexing an entry does not change its rank.
        let length = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(self.words.len() as u32));
        self.lengths.push(length);
        self.documents.push(document);
    }

    pub(crate) fn len(&self) -> DocId {
        self.documents.len() as DocId
    }

    pub(crate) fn document(&self, doc: DocId) -> &IndexDocument {
        &self.documents[doc as usize]
    }

    pub(crate) fn word_count(&self, doc: DocId) -> u32 {
        self.lengths[doc as usize]
    }

    pub(crate) fn postings(&self, word: &str) -> &[(DocId, u32)] {
        self.postings.get(word).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn with_phrase(&self, phrase: &[(usize, String)]) -> Vec<DocId> {
        self.filter(|document| {
            let words = crate::words::split(&document.text);
            let places: Vec<(usize, &str)> = words.iter().map(|word| (word.position, word.text)).collect();
            has_phrase(&places, phrase)
        })
    }

    pub(crate) fn with_path(&self, parts: &[(usize, String)]) -> Vec<DocId> {
        self.filter(|document| {
            document.files.iter().any(|file| {
                let places = path_parts(file);
                let places: Vec<(usize, &str)> = places.iter().map(|(place, part)| (*place, part.as_str())).collect();
                has_phrase(&places, parts)
            })
        })
    }

    pub(crate) fn with_tool(&self, tool: &str) -> Vec<DocId> {
        self.filter(|document| document.tools.iter().any(|name| name == tool))
    }

    pub(crate) fn with_speaker(&self, name: &str) -> Vec<DocId> {
        self.filter(|document| document.speaker.as_deref() == Some(name))
    }

    pub(crate) fn words_with_prefix(&self, letters: &str, limit: usize) -> Vec<String> {
        let mut words: Vec<String> = self.postings.keys().filter(|word| word.starts_with(letters)).cloned().collect();
        words.sort();
        words.truncate(limit);
        words
    }

    pub(crate) fn in_session(&self, session: u64) -> Vec<DocId> {
        self.filter(|document| document.episode.session.get() == session)
    }

    pub(crate) fn in_episode(&self, key: EpisodeKey) -> Vec<DocId> {
        self.filter(|document| document.episode == key)
    }

    fn filter(&self, fits: impl Fn(&IndexDocument) -> bool) -> Vec<DocId> {
        let all = self.documents.iter().enumerate();
        all.filter(|(_, document)| fits(document)).map(|(doc, _)| doc as DocId).collect()
    }
}

/// Whether the text contains the words of the phrase at the same distances.
fn has_phrase(places: &[(usize, &str)], phrase: &[(usize, String)]) -> bool {
    let Some((first, word)) = phrase.first() else { return false };
    places
        .iter()
        .filter(|(_, text)| text == word)
        .any(|(start, _)| phrase.iter().all(|(place, word)| places.contains(&(start + place - first, word.as_str()))))
}
