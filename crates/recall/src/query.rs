//! Reads what was typed into the search: words, phrases, exclusions, filters and times.
//!
//! Never fails: what it does not understand is plain words, because people paste commands and error texts.

mod filter;
mod kind;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::Zoned;
use rethread_index::words;
use rethread_model::{Agent, Timestamp};

pub use kind::{Kind, UnknownKind};

use crate::When;
use filter::Filter;
use scan::{Part, Piece};

/// A query, understood. Its texts are as typed; stemming and folding are the index's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What is ranked: the plain words and the words of phrases, in order, without operators.
    pub words: String,
    /// The same without time phrases, phrases last: what the answer must be about, whenever it was said.
    pub topic: String,
    /// Whether it is a question in prose: then quotes name things, and nothing is demanded.
    pub is_question: bool,
    /// Each of them must occur.
    pub phrases: Vec<String>,
    /// None of them may occur.
    pub excluded: Vec<String>,
    /// Any of these files; empty means every one, here as below.
    pub files: Vec<String>,
    /// Any of these tools.
    pub tools: Vec<String>,
    /// Any of these agents.
    pub agents: Vec<Agent>,
    /// Any of these kinds.
    pub kinds: Vec<Kind>,
    /// Not before this moment.
    pub after: Option<Timestamp>,
    /// Before this moment.
    pub before: Option<Timestamp>,
    /// The time phrases in the plain words. They raise the rank and never filter.
    pub times: Vec<When>,
}

impl Query {
    /// Reads a query; `now` says what "yesterday" is, and where.
    pub fn parse(text: &str, now: &Zoned) -> Query {
        let mut pieces = bind_not(text, scan::scan(text, now));
        demote_operators(&mut pieces);
        demote_lonely_exclusions(&mut pieces);
        let mut query = Query::default();
        query.deny(&mut pieces);
        query.fill(&pieces, now);
        query
    }

    /// The same for a text that was not typed into a search: nothing in it is an operator or a filter.
    pub fn of_prose(text: &str, now: &Zoned) -> Query {
        let mut query = Query::default();
        query.take_words(text.to_owned(), text, now);
        query
    }

    /// Turns "not this kind" into "any of the others". What would leave none is plain words instead.
    fn deny(&mut self, pieces: &mut [Piece<'_>]) {
        self.kinds = asked(pieces, |filter| if let Filter::Kind(kind) = filter { Some(*kind) } else { None });
        self.agents = asked(pieces, |filter| if let Filter::Agent(agent) = filter { Some(*agent) } else { None });
        for piece in pieces {
            let Part::Denied(filters) = &piece.part else { continue };
            let (mut kinds, mut agents) = (self.kinds.clone(), self.agents.clone());
            let is_possible = filters.iter().all(|filter| match filter {
                Filter::Kind(kind) => remove(&mut kinds, &Kind::ALL, *kind),
                Filter::Agent(agent) => remove(&mut agents, &Agent::ALL, *agent),
                _ => false,
            });
            if is_possible {
                (self.kinds, self.agents) = (kinds, agents);
            } else {
                piece.part = Part::Word;
            }
        }
    }

    fn fill(&mut self, pieces: &[Piece<'_>], now: &Zoned) {
        let is_or = |at: Option<usize>| at.and_then(|at| pieces.get(at)).is_some_and(|piece| piece.part == Part::Or);
        let mut words: Vec<&str> = Vec::new();
        // Where something else stood between two plain words, they do not make a time phrase together.
        let mut prose: Vec<&str> = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            match &piece.part {
                Part::Word => {
                    words.push(piece.raw);
                    prose.push(piece.raw);
                    continue;
                }
                Part::And | Part::Or | Part::Not => continue,
                Part::Phrase(phrase) => {
                    words.push(phrase);
                    // Either side of an OR may be missing, so that neither is required.
                    if !is_or(at.checked_sub(1)) && !is_or(Some(at + 1)) {
                        self.phrases.push((*phrase).to_owned());
                    }
                }
                Part::Excluded(text) => self.excluded.extend(text.iter().cloned()),
                Part::Filters(filters) => filters.iter().for_each(|filter| self.narrow(filter)),
                Part::Denied(_) => {}
            }
            prose.push(";");
        }
        self.take_words(words.join(" "), &prose.join(" "), now);
        for piece in pieces {
            if let Part::Phrase(phrase) = &piece.part {
                self.topic.push(' ');
                self.topic.push_str(phrase);
            }
        }
    }

    /// What is ranked, and the times it names; `prose` are the plain words among it.
    fn take_words(&mut self, words: String, prose: &str, now: &Zoned) {
        self.words = words;
        self.times = When::find(prose, now);
        let located = When::locate(prose, now);
        let dated = located.iter().filter(|one| !one.is_relative);
        // "A year ago" may also be what was said; a date hardly ever is. Where nothing else is asked for, it is a time.
        let timeless = without(prose, located.iter().map(|one| one.place.clone()));
        let has_words = words::split(&timeless).iter().next().is_some();
        self.topic = if has_words { without(prose, dated.map(|one| one.place.clone())) } else { String::new() };
        self.is_question = is_question(prose);
    }

    fn narrow(&mut self, filter: &Filter) {
        match filter {
            Filter::File(file) => self.files.push(file.clone()),
            Filter::Tool(tool) => self.tools.push(tool.clone()),
            // Taken together with the denied ones.
            Filter::Agent(_) | Filter::Kind(_) => {}
            Filter::After(at) => self.after = Some(self.after.map_or(*at, |other| other.max(*at))),
            Filter::Before(at) => self.before = Some(self.before.map_or(*at, |other| other.min(*at))),
        }
    }
}

/// Whether a text asks in a sentence.
fn is_question(text: &str) -> bool {
    const ASKING: [&str; 24] = [
        "what", "when", "where", "which", "who", "whom", "whose", "why", "how", "did", "does", "do", "is", "are",
        "was", "were", "would", "could", "should", "can", "has", "have", "had", "will",
    ];
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    text.trim_end().ends_with('?') || ASKING.contains(&first.as_str())
}

/// The text without those places.
fn without(text: &str, places: impl Iterator<Item = Range<usize>>) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for place in places {
        rest.push_str(&text[from..place.start.max(from)]);
        rest.push(' ');
        from = place.end.max(from);
    }
    rest.push_str(&text[from..]);
    rest
}

/// Makes `NOT x` one exclusion. In "does NOT work" and "NOT NULL" it is only a loud word.
fn bind_not<'a>(text: &'a str, pieces: Vec<Piece<'a>>) -> Vec<Piece<'a>> {
    let mut bound: Vec<Piece<'a>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let before = bound.len().checked_sub(2).map_or("", |at| bound[at].raw);
        let Some(not) = bound.last_mut().filter(|last| last.part == Part::Not) else {
            bound.push(piece);
            continue;
        };
        if let Some(part) = negate(before, &piece) {
            not.raw = &text[not.start..piece.start + piece.raw.len()];
            not.part = part;
        } else {
            not.part = Part::Word;
            bound.push(piece);
        }
    }
    if let Some(last) = bound.last_mut().filter(|last| last.part == Part::Not) {
        last.part = Part::Word;
    }
    bound
}

fn negate<'a>(before: &str, next: &Piece<'a>) -> Option<Part<'a>> {
    const SUBJECTS_AND_VERBS: [&str; 30] = [
        "am", "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "i", "if", "is", "it", "may",
        "might", "must", "shall", "should", "that", "they", "this", "was", "we", "were", "why", "will", "would", "you",
    ];
    if SUBJECTS_AND_VERBS.contains(&before.to_lowercase().as_str()) {
        return None;
    }
    match &next.part {
        Part::Word => {
            let is_loud = next.raw.chars().filter(|letter| letter.is_alphabetic()).all(char::is_uppercase)
                && !next.raw.contains(|letter: char| letter.is_ascii_digit());
            let word = scan::without_punctuation(next.raw);
            let is_word = word.starts_with(char::is_alphanumeric) && !is_loud;
            is_word.then(|| Part::Excluded(vec![word.to_owned()]))
        }
        Part::Phrase(phrase) => Some(Part::Excluded(vec![(*phrase).to_owned()])),
        Part::Filters(filters) => filter::denied(filters),
        _ => None,
    }
}

/// `AND` and `OR` are operators only between two other things.
fn demote_operators(pieces: &mut [Piece<'_>]) {
    let is_operator = |piece: &Piece<'_>| matches!(piece.part, Part::And | Part::Or);
    let Some(first) = pieces.iter().position(|piece| !is_operator(piece)) else {
        make_words(pieces);
        return;
    };
    let last = pieces.iter().rposition(|piece| !is_operator(piece)).unwrap_or(first);
    for (at, piece) in pieces.iter_mut().enumerate() {
        if is_operator(piece) && !(first..last).contains(&at) {
            piece.part = Part::Word;
        }
    }
}

/// A query that only excludes would ask for everything else; it was more likely a pasted list or flag.
fn demote_lonely_exclusions(pieces: &mut [Piece<'_>]) {
    let asks = pieces.iter().any(|piece| match &piece.part {
        Part::Word => piece.raw.contains(char::is_alphanumeric),
        Part::Phrase(_) | Part::Filters(_) | Part::Denied(_) => true,
        Part::Excluded(_) | Part::And | Part::Or | Part::Not => false,
    });
    if !asks {
        make_words(pieces);
    }
}

fn make_words(pieces: &mut [Piece<'_>]) {
    for piece in pieces {
        piece.part = Part::Word;
    }
}

/// The values of one sort of filter, each once.
fn asked<T: PartialEq>(pieces: &[Piece<'_>], value: impl Fn(&Filter) -> Option<T>) -> Vec<T> {
    let mut values = Vec::new();
    for piece in pieces {
        let Part::Filters(filters) = &piece.part else { continue };
        for value in filters.iter().filter_map(&value) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

/// Takes a value out of those asked for, all when none were; false when none would remain.
fn remove<T: Copy + PartialEq>(asked: &mut Vec<T>, all: &[T], value: T) -> bool {
    if asked.is_empty() {
        asked.extend(all);
    }
    asked.retain(|other| *other != value);
    !asked.is_empty()
}
