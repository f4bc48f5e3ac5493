//! Parses a search query: words, phrases, exclusions, filters and times.
//!
//! Never fails: what is not recognized is treated as plain words, because people paste commands and error texts.

mod filter;
mod kind;
mod scan;
#[cfg(test)]
mod tests;
mod times;

use jiff::Zoned;
use rethread_model::{Agent, Timestamp};

pub use kind::{HitKind, UnknownHitKind};

use crate::{EventPhrase, TimeBounds, TimePhrase};
use filter::QueryFilter;
use scan::{QueryToken, TokenRole};

/// A parsed query. Texts are as typed; stemming and case folding happen in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Text to rank by: the plain words and the words of phrases, in order, without operators.
    pub words: String,
    /// The same without dates, phrases last: the topic of the answer, whenever it was said.
    pub topic: String,
    /// Whether it is a question in prose. Then quotes are names and phrases are not required.
    pub is_question: bool,
    /// Phrases that must all occur.
    pub phrases: Vec<String>,
    /// Texts that must not occur.
    pub excluded: Vec<String>,
    /// Match any of these files. An empty list matches everything, here and below.
    pub files: Vec<String>,
    /// Match any of these tools.
    pub tools: Vec<String>,
    /// Match any of these agents.
    pub agents: Vec<Agent>,
    /// Match any of these kinds.
    pub kinds: Vec<HitKind>,
    /// Inclusive lower bound.
    pub after: Option<Timestamp>,
    /// Exclusive upper bound.
    pub before: Option<Timestamp>,
    /// Time phrases in the plain words. They boost the rank and do not filter.
    pub times: Vec<TimePhrase>,
    /// Limits in the plain words of a short query, such as "since Monday".
    pub bounds: Option<TimeBounds>,
    /// An event in the plain words of a short query that stands for a time, such as "the week before the release".
    pub event: Option<EventPhrase>,
    /// The topic without the words of that event.
    pub eventless_topic: String,
    /// Entries later than this are not found; entries without a time are.
    pub latest: Option<Timestamp>,
}

impl SearchQuery {
    /// Parses a query; `now` gives the meaning and time zone of "yesterday".
    pub fn parse(text: &str, now: &Zoned) -> SearchQuery {
        let mut tokens = bind_not(text, scan::tokenize(text, now));
        demote_operators(&mut tokens);
        demote_lonely_exclusions(&mut tokens);
        let mut query = SearchQuery::default();
        query.apply_denied_filters(&mut tokens);
        query.apply_tokens(&tokens, now);
        query
    }

    /// Parses text that was not typed as a search: nothing in it is an operator or a filter.
    pub fn from_prose(text: &str, now: &Zoned) -> SearchQuery {
        let mut query = SearchQuery::default();
        query.set_words(text.to_owned(), text, now);
        query
    }

    /// Turns "not this kind" into "any of the other kinds". What would leave none becomes plain words.
    fn apply_denied_filters(&mut self, tokens: &mut [QueryToken<'_>]) {
        self.kinds =
            filter_values(tokens, |filter| if let QueryFilter::Kind(kind) = filter { Some(*kind) } else { None });
        self.agents =
            filter_values(tokens, |filter| if let QueryFilter::Agent(agent) = filter { Some(*agent) } else { None });
        for token in tokens {
            let TokenRole::Denied(filters) = &token.role else { continue };
            let (mut kinds, mut agents) = (self.kinds.clone(), self.agents.clone());
            let is_possible = filters.iter().all(|filter| match filter {
                QueryFilter::Kind(kind) => remove_value(&mut kinds, &HitKind::ALL, *kind),
                QueryFilter::Agent(agent) => remove_value(&mut agents, &Agent::ALL, *agent),
                _ => false,
            });
            if is_possible {
                (self.kinds, self.agents) = (kinds, agents);
            } else {
                token.role = TokenRole::Word;
            }
        }
    }

    fn apply_tokens(&mut self, tokens: &[QueryToken<'_>], now: &Zoned) {
        let is_or =
            |at: Option<usize>| at.and_then(|at| tokens.get(at)).is_some_and(|token| token.role == TokenRole::Or);
        let mut words: Vec<&str> = Vec::new();
        // Plain words separated by something else do not form a time phrase.
        let mut prose: Vec<&str> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match &token.role {
                TokenRole::Word => {
                    words.push(token.raw);
                    prose.push(token.raw);
                    continue;
                }
                TokenRole::And | TokenRole::Or | TokenRole::Not => continue,
                TokenRole::Phrase(phrase) => {
                    words.push(phrase);
                    // Either side of an OR may be missing, so neither is required.
                    if !is_or(at.checked_sub(1)) && !is_or(Some(at + 1)) {
                        self.phrases.push((*phrase).to_owned());
                    }
                }
                TokenRole::Excluded(text) => self.excluded.extend(text.iter().cloned()),
                TokenRole::Filters(filters) => filters.iter().for_each(|filter| self.apply_filter(filter)),
                TokenRole::Denied(_) => {}
            }
            prose.push(";");
        }
        let prose = prose.join(" ");
        self.set_words(words.join(" "), &prose, now);
        self.set_limits(&prose, now);
        for token in tokens {
            if let TokenRole::Phrase(phrase) = &token.role {
                self.topic.push(' ');
                self.topic.push_str(phrase);
                self.eventless_topic.push(' ');
                self.eventless_topic.push_str(phrase);
            }
        }
    }

    fn apply_filter(&mut self, filter: &QueryFilter) {
        match filter {
            QueryFilter::File(file) => self.files.push(file.clone()),
            QueryFilter::Tool(tool) => self.tools.push(tool.clone()),
            // Handled together with the denied filters.
            QueryFilter::Agent(_) | QueryFilter::Kind(_) => {}
            QueryFilter::After(at) => self.after = Some(self.after.map_or(*at, |other| other.max(*at))),
            QueryFilter::Before(at) => self.before = Some(self.before.map_or(*at, |other| other.min(*at))),
        }
    }
}

/// Whether a text is a question.
fn is_question(text: &str) -> bool {
    const ASKING: [&str; 24] = [
        "what", "when", "where", "which", "who", "whom", "whose", "why", "how", "did", "does", "do", "is", "are",
        "was", "were", "would", "could", "should", "can", "has", "have", "had", "will",
    ];
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    text.trim_end().ends_with('?') || ASKING.contains(&first.as_str())
}

/// Makes `NOT x` one exclusion. In "does NOT work" and "NOT NULL" it is only an emphasized word.
fn bind_not<'a>(text: &'a str, tokens: Vec<QueryToken<'a>>) -> Vec<QueryToken<'a>> {
    let mut bound: Vec<QueryToken<'a>> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let before = bound.len().checked_sub(2).map_or("", |at| bound[at].raw);
        let Some(not) = bound.last_mut().filter(|last| last.role == TokenRole::Not) else {
            bound.push(token);
            continue;
        };
        if let Some(part) = negate(before, &token) {
            not.raw = &text[not.start..token.start + token.raw.len()];
            not.role = part;
        } else {
            not.role = TokenRole::Word;
            bound.push(token);
        }
    }
    if let Some(last) = bound.last_mut().filter(|last| last.role == TokenRole::Not) {
        last.role = TokenRole::Word;
    }
    bound
}

fn negate<'a>(before: &str, next: &QueryToken<'a>) -> Option<TokenRole<'a>> {
    const SUBJECTS_AND_VERBS: [&str; 30] = [
        "am", "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "i", "if", "is", "it", "may",
        "might", "must", "shall", "should", "that", "they", "this", "was", "we", "were", "why", "will", "would", "you",
    ];
    if SUBJECTS_AND_VERBS.contains(&before.to_lowercase().as_str()) {
        return None;
    }
    match &next.role {
        TokenRole::Word => {
            let is_loud = next.raw.chars().filter(|letter| letter.is_alphabetic()).all(char::is_uppercase)
                && !next.raw.contains(|letter: char| letter.is_ascii_digit());
            let word = scan::without_punctuation(next.raw);
            let is_word = word.starts_with(char::is_alphanumeric) && !is_loud;
            is_word.then(|| TokenRole::Excluded(vec![word.to_owned()]))
        }
        TokenRole::Phrase(phrase) => Some(TokenRole::Excluded(vec![(*phrase).to_owned()])),
        TokenRole::Filters(filters) => filter::negate_filters(filters),
        _ => None,
    }
}

/// `AND` and `OR` are operators only between two other tokens.
fn demote_operators(tokens: &mut [QueryToken<'_>]) {
    let is_operator = |token: &QueryToken<'_>| matches!(token.role, TokenRole::And | TokenRole::Or);
    let Some(first) = tokens.iter().position(|token| !is_operator(token)) else {
        demote_to_words(tokens);
        return;
    };
    let last = tokens.iter().rposition(|token| !is_operator(token)).unwrap_or(first);
    for (at, token) in tokens.iter_mut().enumerate() {
        if is_operator(token) && !(first..last).contains(&at) {
            token.role = TokenRole::Word;
        }
    }
}

/// A query that only excludes would match everything else; it is more likely a pasted list or flag.
fn demote_lonely_exclusions(tokens: &mut [QueryToken<'_>]) {
    let asks = tokens.iter().any(|token| match &token.role {
        TokenRole::Word => token.raw.contains(char::is_alphanumeric),
        TokenRole::Phrase(_) | TokenRole::Filters(_) | TokenRole::Denied(_) => true,
        TokenRole::Excluded(_) | TokenRole::And | TokenRole::Or | TokenRole::Not => false,
    });
    if !asks {
        demote_to_words(tokens);
    }
}

fn demote_to_words(tokens: &mut [QueryToken<'_>]) {
    for token in tokens {
        token.role = TokenRole::Word;
    }
}

/// The values of one kind of filter, each once.
fn filter_values<T: PartialEq>(tokens: &[QueryToken<'_>], value: impl Fn(&QueryFilter) -> Option<T>) -> Vec<T> {
    let mut values = Vec::new();
    for token in tokens {
        let TokenRole::Filters(filters) = &token.role else { continue };
        for value in filters.iter().filter_map(&value) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

/// Removes a value from the requested ones (all, if none were requested); false if none would remain.
fn remove_value<T: Copy + PartialEq>(values: &mut Vec<T>, all: &[T], value: T) -> bool {
    if values.is_empty() {
        values.extend(all);
    }
    values.retain(|other| *other != value);
    !values.is_empty()
}
