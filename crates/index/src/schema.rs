//! Fields of the index and their tokenizers.

use std::borrow::Cow;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};

use crate::words::{WordList, WordSplitter};

/// Increase when the fields or the word splitting change. An index of another version is rebuilt.
pub(crate) const INDEX_VERSION: u32 = 3;

const TEXT_TOKENIZER: &str = "rethread";
const PATH_TOKENIZER: &str = "path";

/// Fields of a document; there is one document per entry. The text itself is only in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFields {
    /// Searchable text of the entry.
    pub text: Field,
    /// Path segments of the files a tool call worked on, in order.
    pub file: Field,
    /// Name and kind of the tool, in lower case.
    pub tool: Field,
    /// Speaker, in a chat log with names.
    pub speaker: Field,
    /// Session number in the store.
    pub session: Field,
    /// Session and episode number, see `encode_episode`.
    pub episode: Field,
    /// Position of the entry in the session.
    pub seq: Field,
    /// Milliseconds since the Unix epoch.
    pub at: Field,
    /// Packed [`EntryTraits`](crate::EntryTraits).
    pub traits: Field,
}

pub(crate) fn schema() -> (Schema, IndexFields) {
    let mut schema = Schema::builder();
    let positions = IndexRecordOption::WithFreqsAndPositions;
    let words = TextFieldIndexing::default().set_tokenizer(TEXT_TOKENIZER).set_index_option(positions);
    let parts =
        TextFieldIndexing::default().set_tokenizer(PATH_TOKENIZER).set_fieldnorms(false).set_index_option(positions);
    let column = || NumericOptions::default() | FAST;
    let fields = IndexFields {
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

/// Our tokenizers, registered under the names the schema uses.
pub(crate) fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TEXT_TOKENIZER, TextTokenizer::default());
    tokenizers.register(PATH_TOKENIZER, PathTokenizer);
    tokenizers
}

/// The segments of a path with their positions. A file name is indexed with and without its extension.
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
    splitter: WordSplitter,
    words: WordList,
}

// Each indexing thread gets an empty copy; cached stems are not shared.
impl Clone for TextTokenizer {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tokenizer for TextTokenizer {
    type TokenStream<'a> = IndexTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> IndexTokenStream<'a> {
        self.splitter.split(text, &mut self.words);
        let words = self.words.iter().map(|word| IndexToken {
            text: word.text.into(),
            position: word.position,
            start: word.start,
            end: word.end,
        });
        IndexTokenStream { tokens: Box::new(words), token: Token::default() }
    }
}

#[derive(Clone)]
struct PathTokenizer;

impl Tokenizer for PathTokenizer {
    type TokenStream<'a> = IndexTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, path: &'a str) -> IndexTokenStream<'a> {
        let parts = path_parts(path).into_iter().map(|(position, part)| IndexToken {
            text: part.into(),
            position,
            start: 0,
            end: 0,
        });
        IndexTokenStream { tokens: Box::new(parts), token: Token::default() }
    }
}

struct IndexToken<'a> {
    text: Cow<'a, str>,
    position: usize,
    start: usize,
    end: usize,
}

/// Adapter to tantivy, which reads one token at a time from a reused buffer.
struct IndexTokenStream<'a> {
    tokens: Box<dyn Iterator<Item = IndexToken<'a>> + 'a>,
    token: Token,
}

impl TokenStream for IndexTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.tokens.next() else { return false };
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
