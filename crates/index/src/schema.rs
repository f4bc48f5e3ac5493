//! The fields of the index and how they are split into words.

use std::borrow::Cow;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

use crate::words::{Splitter, Words};

/// Raised whenever the fields or the splitting of words change: an index of another version is made again.
pub(crate) const VERSION: u32 = 1;

const TEXT: &str = "rethread";
const PATH: &str = "path";

/// One document per entry. Nothing is stored: the text is in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Words of the entry.
    pub text: Field,
    /// Parts of the paths a tool worked on, in order.
    pub file: Field,
    /// Name and kind of the tool.
    pub tool: Field,
    /// Who speaks, in a chat log with names.
    pub speaker: Field,
    /// Number of the session.
    pub session: Field,
    /// Session and number of the episode in one.
    pub episode: Field,
    /// Position in the session.
    pub seq: Field,
    /// Milliseconds since 1970.
    pub at: Field,
    /// What kind of text it is, and what is remarkable about it.
    pub traits: Field,
}

/// The schema and its fields.
pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let positions = IndexRecordOption::WithFreqsAndPositions;
    let words = TextFieldIndexing::default().set_tokenizer(TEXT).set_index_option(positions);
    let parts = TextFieldIndexing::default().set_tokenizer(PATH).set_fieldnorms(false).set_index_option(positions);
    let column = || NumericOptions::default() | FAST;
    let fields = Fields {
        text: schema.add_text_field("text", TextOptions::default().set_indexing_options(words)),
        file: schema.add_text_field("file", TextOptions::default().set_indexing_options(parts)),
        tool: schema.add_text_field("tool", STRING),
        speaker: schema.add_text_field("speaker", STRING),
        session: schema.add_u64_field("session", column() | INDEXED),
        episode: schema.add_u64_field("episode", column() | INDEXED),
        seq: schema.add_u64_field("seq", column()),
        at: schema.add_i64_field("at", column()),
        traits: schema.add_u64_field("traits", column()),
    };
    (schema.build(), fields)
}

/// Our way to split text, known to the index by name.
pub(crate) fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TEXT, TextTokenizer::default());
    tokenizers.register(PATH, PathTokenizer);
    tokenizers
}

/// The parts of a path with their places. A file is known by its name with and without its ending.
pub(crate) fn path_parts(path: &str) -> Vec<(usize, String)> {
    let mut parts = Vec::new();
    for (place, part) in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "~")).enumerate() {
        let part = part.to_lowercase();
        if let Some((stem, _)) = part.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
            parts.push((place, stem.to_owned()));
        }
        parts.push((place, part));
    }
    parts
}

#[derive(Default)]
struct TextTokenizer {
    splitter: Splitter,
    words: Words,
}

// Each indexing thread gets its own; what one remembers is of no use to another.
impl Clone for TextTokenizer {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tokenizer for TextTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.splitter.split(text, &mut self.words);
        let words = self.words.iter().map(|word| Piece {
            text: word.text.into(),
            position: word.position,
            start: word.start,
            end: word.end,
        });
        Stream { pieces: Box::new(words), token: Token::default() }
    }
}

#[derive(Clone)]
struct PathTokenizer;

impl Tokenizer for PathTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, path: &'a str) -> Stream<'a> {
        let parts = path_parts(path).into_iter().map(|(position, part)| Piece {
            text: part.into(),
            position,
            start: 0,
            end: 0,
        });
        Stream { pieces: Box::new(parts), token: Token::default() }
    }
}

struct Piece<'a> {
    text: Cow<'a, str>,
    position: usize,
    start: usize,
    end: usize,
}

/// What tantivy wants to be given: one token at a time, in a buffer that is used again.
struct Stream<'a> {
    pieces: Box<dyn Iterator<Item = Piece<'a>> + 'a>,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.pieces.next() else { return false };
        self.token.text.clear();
        self.token.text.push_str(&piece.text);
        self.token.position = piece.position;
        self.token.offset_from = piece.start;
        self.token.offset_to = piece.end;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
