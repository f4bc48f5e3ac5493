//! The words of a query as they are looked up, and what its wording says about the answer.

use rethread_index::{IndexError, Segment, Snapshot, words};

use crate::cues::{Cues, weight_of};

/// A pair of words that is also written as one counts half.
const JOINED: f32 = 0.5;
/// A joined word must stand in so many entries to be taken for one.
const JOINED_ENTRIES: u32 = 2;
/// Shorter words are not taken apart.
const SHORTEST_COMPOUND: usize = 7;
const SHORTEST_HALF: usize = 3;
/// Forms of one word that are looked up, in each part of the index.
const MOST_FORMS: usize = 8;
/// Words that stand in more than one of so many entries are looked up as they are: their other forms add little.
const COMMON: u64 = 200;
/// In a smaller collection no word is common.
const MANY_ENTRIES: u64 = 20_000;
/// How much longer or shorter another form of a word may be.
const FORM_DIFFERENCE: usize = 4;

/// One word to look for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As it is indexed.
    pub(crate) text: String,
    /// How much it counts: words that only frame a question count less.
    pub(crate) weight: f32,
    /// Whether it is a path, a dotted name or the like, taken as a whole.
    pub(crate) is_compound: bool,
    /// Words that begin alike and are probably forms of it.
    pub(crate) forms: Vec<String>,
}

/// What a query looks for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Its words.
    pub(crate) terms: Vec<Term>,
    /// Names in it that stand before what is said in a chat log, in lower case.
    pub(crate) speakers: Vec<String>,
    /// What its wording says about the answer.
    pub(crate) cues: Cues,
}

impl Wanted {
    /// Reads the words of a query; the index says which words there are.
    pub(crate) fn of(topic: &str, question: &str, snapshot: &Snapshot) -> Result<Self, IndexError> {
        let mut wanted = Self { cues: Cues::of(question), ..Self::default() };
        let spoken: Vec<Spoken> = words::split(topic).iter().map(|word| Spoken::new(topic, &word)).collect();
        for word in &spoken {
            if !word.is_compound && is_speaker(snapshot, &word.raw)? {
                wanted.speakers.push(word.raw.clone());
            } else {
                wanted.add(&word.stem, weight_of(&word.raw), word.is_compound);
            }
        }
        if wanted.terms.is_empty() {
            // Nothing but names: then they are what is looked for.
            for word in &spoken {
                wanted.add(&word.stem, 1.0, word.is_compound);
            }
        }
        wanted.add_joined(&spoken, snapshot)?;
        wanted.add_halves(&spoken, snapshot)?;
        let entries: u64 = snapshot.segments().iter().map(Segment::count).sum();
        for term in &mut wanted.terms {
            if u64::from(frequency(snapshot, &term.text)?) * COMMON <= entries.max(MANY_ENTRIES) {
                term.forms = forms(snapshot, &term.text)?;
            }
        }
        Ok(wanted)
    }

    /// All words that count as a match, forms included.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let terms = self.terms.iter().flat_map(|term| std::iter::once(&term.text).chain(&term.forms));
        terms.map(String::as_str)
    }

    fn add(&mut self, stem: &str, weight: f32, is_compound: bool) {
        if self.terms.iter().all(|known| known.text != stem) {
            self.terms.push(Term { text: stem.to_owned(), weight, is_compound, forms: Vec::new() });
        }
    }

    /// "work out" also finds "workout".
    fn add_joined(&mut self, spoken: &[Spoken], snapshot: &Snapshot) -> Result<(), IndexError> {
        for pair in spoken.windows(2) {
            let [first, second] = pair else { continue };
            let adjacent = second.position == first.position + 1 && !first.is_compound && !second.is_compound;
            if !adjacent || first.raw.len() < SHORTEST_HALF || second.raw.len() < SHORTEST_HALF {
                continue;
            }
            let joined = stem_of(&format!("{}{}", first.raw, second.raw));
            if frequency(snapshot, &joined)? >= JOINED_ENTRIES {
                self.add(&joined, JOINED, false);
            }
        }
        Ok(())
    }

    /// "smartwatch", where nobody wrote it so, is looked up as "smart watch".
    fn add_halves(&mut self, spoken: &[Spoken], snapshot: &Snapshot) -> Result<(), IndexError> {
        for word in spoken {
            let plain = word.raw.len() >= SHORTEST_COMPOUND && word.raw.bytes().all(|byte| byte.is_ascii_lowercase());
            if !plain || self.speakers.contains(&word.raw) || frequency(snapshot, &word.stem)? > 0 {
                continue;
            }
            for at in (SHORTEST_HALF..=word.raw.len() - SHORTEST_HALF).rev() {
                let halves = [stem_of(&word.raw[..at]), stem_of(&word.raw[at..])];
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

/// A word as it was typed and as it is indexed.
struct Spoken {
    raw: String,
    stem: String,
    position: usize,
    is_compound: bool,
}

impl Spoken {
    fn new(text: &str, word: &words::Word<'_>) -> Self {
        let raw = text[word.start..word.end].to_lowercase();
        let is_compound = word.text.contains(|c: char| !c.is_alphanumeric() && c.is_ascii());
        Self { raw, stem: word.text.to_owned(), position: word.position, is_compound }
    }
}

/// The one word a text is; empty for one that says nothing.
fn stem_of(text: &str) -> String {
    words::split(text).iter().next().map_or_else(String::new, |word| word.text.to_owned())
}

fn frequency(snapshot: &Snapshot, word: &str) -> Result<u32, IndexError> {
    if word.is_empty() {
        return Ok(0);
    }
    snapshot.segments().iter().map(|segment| segment.frequency(word)).sum()
}

fn is_speaker(snapshot: &Snapshot, name: &str) -> Result<bool, IndexError> {
    for segment in snapshot.segments() {
        if !segment.with_speaker(name)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Words that share a long beginning with this one: photo and photograph, organise and organize.
fn forms(snapshot: &Snapshot, word: &str) -> Result<Vec<String>, IndexError> {
    let is_plain = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_plain {
        return Ok(Vec::new());
    }
    let shared = (word.len() * 3).div_ceil(4).max(5).min(word.len());
    let mut forms = Vec::new();
    for segment in snapshot.segments() {
        forms.extend(segment.words_beginning(&word[..shared], MOST_FORMS)?);
        for shorter in word.len().saturating_sub(FORM_DIFFERENCE).max(4)..shared {
            forms.extend(known(segment, &word[..shorter])?);
        }
    }
    forms.retain(|form| form != word && is_form(word, form));
    forms.sort();
    forms.dedup();
    Ok(forms)
}

fn known(segment: &Segment, word: &str) -> Result<Option<String>, IndexError> {
    Ok((segment.frequency(word)? > 0).then(|| word.to_owned()))
}

/// Whether two words begin so much alike that one is probably a form of the other.
fn is_form(word: &str, other: &str) -> bool {
    let plain = other.len() >= 4 && other.bytes().all(|byte| byte.is_ascii_lowercase());
    if !plain || word.len().abs_diff(other.len()) > FORM_DIFFERENCE {
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
    fn forms_of_a_word_begin_alike() {
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
