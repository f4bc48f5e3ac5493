//! What the store has and the index has not, split into words in memory.

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;

use crate::document::Document;
use crate::schema::path_parts;
use crate::segment::Doc;
use crate::words::{Splitter, Words};

/// Documents that are not indexed yet.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    documents: Vec<Document>,
    lengths: Vec<u32>,
    postings: FxHashMap<String, Vec<(Doc, u32)>>,
    splitter: Splitter,
    words: Words,
}

impl Tail {
    pub(crate) fn add(&mut self, document: Document) {
        let doc = self.documents.len() as Doc;
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
        // Rounded as on disk, so that an entry ranks the same before and after it is indexed.
        let length = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(self.words.len() as u32));
        self.lengths.push(length);
        self.documents.push(document);
    }

    pub(crate) fn len(&self) -> Doc {
        self.documents.len() as Doc
    }

    pub(crate) fn document(&self, doc: Doc) -> &Document {
        &self.documents[doc as usize]
    }

    pub(crate) fn length(&self, doc: Doc) -> u32 {
        self.lengths[doc as usize]
    }

    pub(crate) fn postings(&self, word: &str) -> &[(Doc, u32)] {
        self.postings.get(word).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn with_phrase(&self, phrase: &[(usize, String)]) -> Vec<Doc> {
        self.filter(|document| {
            let words = crate::words::split(&document.text);
            let places: Vec<(usize, &str)> = words.iter().map(|word| (word.position, word.text)).collect();
            has_phrase(&places, phrase)
        })
    }

    pub(crate) fn with_path(&self, parts: &[(usize, String)]) -> Vec<Doc> {
        self.filter(|document| {
            document.files.iter().any(|file| {
                let places = path_parts(file);
                let places: Vec<(usize, &str)> = places.iter().map(|(place, part)| (*place, part.as_str())).collect();
                has_phrase(&places, parts)
            })
        })
    }

    pub(crate) fn with_tool(&self, tool: &str) -> Vec<Doc> {
        self.filter(|document| document.tools.iter().any(|name| name == tool))
    }

    pub(crate) fn with_speaker(&self, name: &str) -> Vec<Doc> {
        self.filter(|document| document.speaker.as_deref() == Some(name))
    }

    pub(crate) fn words_beginning(&self, letters: &str, most: usize) -> Vec<String> {
        let mut words: Vec<String> = self.postings.keys().filter(|word| word.starts_with(letters)).cloned().collect();
        words.sort();
        words.truncate(most);
        words
    }

    pub(crate) fn of_session(&self, session: u64) -> Vec<Doc> {
        self.filter(|document| document.episode.session.get() == session)
    }

    fn filter(&self, fits: impl Fn(&Document) -> bool) -> Vec<Doc> {
        let all = self.documents.iter().enumerate();
        all.filter(|(_, document)| fits(document)).map(|(doc, _)| doc as Doc).collect()
    }
}

/// Whether the words of the phrase stand in the text at the same distances.
fn has_phrase(places: &[(usize, &str)], phrase: &[(usize, String)]) -> bool {
    let Some((first, word)) = phrase.first() else { return false };
    places
        .iter()
        .filter(|(_, text)| text == word)
        .any(|(start, _)| phrase.iter().all(|(place, word)| places.contains(&(start + place - first, word.as_str()))))
}
