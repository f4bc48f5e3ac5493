//! Turns the words of a query into index terms.

use rethread_index::{IndexError, IndexSegment, IndexSnapshot, words};

use crate::cues::{QuestionCues, word_weight};

/// Weight of two query words joined into one ("work out" as "workout").
const JOINED_WEIGHT: f32 = 0.5;
/// Minimum number of entries with the joined word for it to be used.
const MIN_JOINED_ENTRIES: u32 = 2;
/// Minimum length of a word that may be split, and of its halves, in bytes.
const MIN_COMPOUND_BYTES: usize = 7;
const MIN_HALF_BYTES: usize = 3;
/// Maximum number of other forms looked up per word and segment.
const MAX_FORMS: usize = 8;
/// Other forms are not looked up for a word that occurs in more than one of this many entries: they add little.
const COMMON_WORD_RATIO: u64 = 200;
/// In a collection with fewer entries than this, the same absolute limit applies as at this size.
const MIN_COLLECTION_SIZE: u64 = 20_000;
/// Maximum difference in length between two forms of a word, in bytes.
const MAX_FORM_DIFFERENCE: usize = 4;

/// One term to look up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchTerm {
    /// Text as indexed (stemmed).
    pub(crate) text: String,
    /// Weight, 0 to 1; words that only frame a question weigh less.
    pub(crate) weight: f32,
    /// Whether it is a path, a dotted name or similar, matched as a whole.
    pub(crate) is_compound: bool,
    /// Indexed words with a common prefix that are probably forms of it.
    pub(crate) forms: Vec<String>,
}

/// The terms of a query.
#[derive(Debug, Default)]
pub(crate) struct QueryTerms {
    pub(crate) terms: Vec<SearchTerm>,
    /// Names of chat-log speakers in the query, in lower case.
    pub(crate) speakers: Vec<String>,
    pub(crate) cues: QuestionCues,
    /// Whether the query is one name of code, such as `read_rows` or `RowReader`.
    pub(crate) is_symbol: bool,
}

impl QueryTerms {
    /// Derives the terms of a query; the index decides which compounds and forms exist.
    pub(crate) fn from_query(topic: &str, question: &str, snapshot: &IndexSnapshot) -> Result<Self, IndexError> {
        let cues = QuestionCues::parse(question);
        let mut terms = Self { cues, is_symbol: is_symbol(topic.trim()), ..Self::default() };
        let spoken: Vec<TypedWord> = words::split(topic).iter().map(|word| TypedWord::new(topic, &word)).collect();
        for word in &spoken {
            if !word.is_compound && is_speaker(snapshot, &word.raw)? {
                terms.speakers.push(word.raw.clone());
            } else {
                terms.add(&word.stem, word_weight(&word.raw), word.is_compound);
            }
        }
        if terms.terms.is_empty() {
            // The query consists only of names, so they are the terms.
            for word in &spoken {
                terms.add(&word.stem, 1.0, word.is_compound);
            }
        }
        terms.add_joined(&spoken, snapshot)?;
        terms.add_halves(&spoken, snapshot)?;
        let entries: u64 = snapshot.segments().iter().map(IndexSegment::live_count).sum();
        for term in &mut terms.terms {
            if u64::from(frequency(snapshot, &term.text)?) * COMMON_WORD_RATIO <= entries.max(MIN_COLLECTION_SIZE) {
                term.forms = find_forms(snapshot, &term.text)?;
            }
        }
        Ok(terms)
    }

    /// All indexed words that count as a match, including other forms.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let terms = self.terms.iter().flat_map(|term| std::iter::once(&term.text).chain(&term.forms));
        terms.map(String::as_str)
    }

    fn add(&mut self, stem: &str, weight: f32, is_compound: bool) {
        if self.terms.iter().all(|known| known.text != stem) {
            self.terms.push(SearchTerm { text: stem.to_owned(), weight, is_compound, forms: Vec::new() });
        }
    }

    /// Makes "work out" also find "workout".
    fn add_joined(&mut self, spoken: &[TypedWord], snapshot: &IndexSnapshot) -> Result<(), IndexError> {
        for pair in spoken.windows(2) {
            let [first, second] = pair else { continue };
            let adjacent = second.position == first.position + 1 && !first.is_compound && !second.is_compound;
            if !adjacent || first.raw.len() < MIN_HALF_BYTES || second.raw.len() < MIN_HALF_BYTES {
                continue;
            }
            let joined = stem(&format!("{}{}", first.raw, second.raw));
            if frequency(snapshot, &joined)? >= MIN_JOINED_ENTRIES {
                self.add(&joined, JOINED_WEIGHT, false);
            }
        }
        Ok(())
    }

    /// Looks up "smartwatch" as "smart watch" if it is not indexed as one word.
    fn add_halves(&mut self, spoken: &[TypedWord], snapshot: &IndexSnapshot) -> Result<(), IndexError> {
        for word in spoken {
            let plain = word.raw.len() >= MIN_COMPOUND_BYTES && word.raw.bytes().all(|byte| byte.is_ascii_lowercase());
            if !plain || self.speakers.contains(&word.raw) || frequency(snapshot, &word.stem)? > 0 {
                continue;
            }
            for at in (MIN_HALF_BYTES..=word.raw.len() - MIN_HALF_BYTES).rev() {
                let halves = [stem(&word.raw[..at]), stem(&word.raw[at..])];
                if frequency(snapshot, &halves[0])? > 0 && frequency(snapshot, &halves[1])? > 0 {
                    for half in &halves {
                        self.add(half, 1.0, false);
                    }
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Whether a text is one name with an underscore, or a capital letter after a small one.
fn is_symbol(text: &str) -> bool {
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_camel_case =
        text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    is_name && (text.contains('_') || is_camel_case)
}

/// A word as typed and as indexed.
struct TypedWord {
    raw: String,
    stem: String,
    position: usize,
    is_compound: bool,
}

impl TypedWord {
    fn new(text: &str, word: &words::IndexedWord<'_>) -> Self {
        let raw = text[word.start..word.end].to_lowercase();
        let is_compound = word.text.contains(|c: char| !c.is_alphanumeric() && c.is_ascii());
        Self { raw, stem: word.text.to_owned(), position: word.position, is_compound }
    }
}

/// The stem of a one-word text; empty if it has no indexable word.
fn stem(text: &str) -> String {
    words::split(text).iter().next().map_or_else(String::new, |word| word.text.to_owned())
}

fn frequency(snapshot: &IndexSnapshot, word: &str) -> Result<u32, IndexError> {
    if word.is_empty() {
        return Ok(0);
    }
    snapshot.segments().iter().map(|segment| segment.doc_frequency(word)).sum()
}

fn is_speaker(snapshot: &IndexSnapshot, name: &str) -> Result<bool, IndexError> {
    for segment in snapshot.segments() {
        if !segment.with_speaker(name)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Indexed words that share a long prefix with this one: photo and photograph, organise and organize.
fn find_forms(snapshot: &IndexSnapshot, word: &str) -> Result<Vec<String>, IndexError> {
    let is_plain = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_plain {
        return Ok(Vec::new());
    }
    let shared = (word.len() * 3).div_ceil(4).max(5).min(word.len());
    let mut forms = Vec::new();
    for segment in snapshot.segments() {
        forms.extend(segment.words_with_prefix(&word[..shared], MAX_FORMS)?);
        for shorter in word.len().saturating_sub(MAX_FORM_DIFFERENCE).max(4)..shared {
            forms.extend(if_indexed(segment, &word[..shorter])?);
        }
    }
    forms.retain(|form| form != word && is_form(word, form));
    forms.sort();
    forms.dedup();
    Ok(forms)
}

fn if_indexed(segment: &IndexSegment, word: &str) -> Result<Option<String>, IndexError> {
    Ok((segment.doc_frequency(word)? > 0).then(|| word.to_owned()))
}

/// Whether two words share such a long prefix that one is probably a form of the other.
fn is_form(word: &str, other: &str) -> bool {
    let plain = other.len() >= 4 && other.bytes().all(|byte| byte.is_ascii_lowercase());
    if !plain || word.len().abs_diff(other.len()) > MAX_FORM_DIFFERENCE {
        return false;
    }
    let common = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let (short, long) = (word.len().min(other.len()), word.len().max(other.len()));
    common == short || (common >= 5 && common * 4 >= long * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_symbols() {
        for symbol in ["read_rows", "RowReader", "__init__", "useEffect"] {
            assert!(is_symbol(symbol), "{symbol}");
        }
        for other in ["", "redis", "README", "wal.rs", "read rows", "src/read_rows.rs", "Parser"] {
            assert!(!is_symbol(other), "{other}");
        }
    }

    #[test]
    fn forms_of_a_word_share_a_prefix() {
        for (word, other, expect) in [
            ("photo", "photograph", false),
            ("photo", "photogra", true),
            ("organis", "organiz", true),
            ("educ", "educaton", true),
            ("pars", "parser", true),
            ("cache", "cached", true),
            ("test", "text", false),
            ("store", "story", false),
            ("auth", "author", true),
            ("auth", "authenticated", false),
        ] {
            assert_eq!(is_form(word, other), expect, "{word} {other}");
        }
    }
}
