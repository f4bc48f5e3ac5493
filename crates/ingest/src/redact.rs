//! Removes secrets and private parts from text before anything is stored. Knows nothing of agents or storage.
//!
//! One Aho-Corasick pass finds the literals with which a secret can begin; only the rules behind a
//! literal that was seen are tried, and only where it was seen. A second, cheaper pass looks for
//! long random runs that no rule names. Text without either costs these two passes and no allocation.
//!
//! ```
//! # use rethread_ingest::{Findings, Redactor};
//! let redactor = Redactor::new();
//! let mut found = Findings::default();
//! let text = redactor.clean("export DB_PASSWORD=tr0ub4dor", &mut found);
//! assert_eq!(text, "export DB_PASSWORD=[REDACTED:password]");
//! assert_eq!(found.total(), 1);
//! ```

mod entropy;
mod keys;
mod literals;
mod pairs;
mod placeholder;
mod private;
mod rules;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_ordinary;
#[cfg(test)]
mod tests_planted;
mod values;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use literals::Literals;
use rules::RULES;

/// Finds secrets in text and takes them out. Build it once and share it: it is `Sync` and holds no state.
#[derive(Debug)]
pub struct Redactor {
    literals: Literals,
    /// What to try for each literal, by its number in `literals`.
    attempts: Vec<Vec<Attempt>>,
    /// One regex for each row of `RULES`, anchored at its start. Most are never needed, and compiling all of them
    /// would take longer than everything else here.
    patterns: [OnceLock<Regex>; RULES.len()],
}

impl Redactor {
    /// Compiles the literals of the rule table, which takes some milliseconds.
    #[must_use]
    pub fn new() -> Self {
        let mut table: BTreeMap<&'static str, Vec<Attempt>> = BTreeMap::new();
        for (number, rule) in RULES.iter().enumerate() {
            for literal in rule.triggers {
                table.entry(literal).or_default().push(Attempt::Rule(number));
            }
        }
        for literal in keys::TRIGGERS {
            table.entry(literal).or_default().push(Attempt::Pair);
        }
        table.entry(private::OPEN).or_default().push(Attempt::Private);
        let (literals, attempts): (Vec<_>, Vec<_>) = table.into_iter().unzip();
        Self { literals: Literals::new(literals), attempts, patterns: [const { OnceLock::new() }; RULES.len()] }
    }

    /// The one of this process, made when it is first needed.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &SHARED
    }

    /// The text with every secret replaced by `[REDACTED:rule]` and `<private>…</private>` parts dropped.
    /// Borrowed when nothing was found. What was found is added to `found`.
    pub fn clean<'a>(&self, text: &'a str, found: &mut Findings) -> Cow<'a, str> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..PASSES {
            match self.pass(&current, found) {
                Some(cleaner) => current = Cow::Owned(cleaner),
                None => break,
            }
        }
        current
    }

    /// One pass over the text, or `None` when there was nothing to take out.
    fn pass(&self, text: &str, found: &mut Findings) -> Option<String> {
        let mut spans = Vec::new();
        if self.find_named(text, &mut spans) == Private::Seen
            && let Some((public, parts)) = private::drop_parts(text)
        {
            found.add("private", parts);
            // The parts that are left have come together, so only now can secrets be looked for.
            return Some(self.pass(&public, found).unwrap_or(public));
        }
        entropy::scan(text, |range, name| spans.push(Span { range, rank: usize::MAX, name }));
        (!spans.is_empty()).then(|| replace(text, spans, found))
    }

    /// Collects what the rule table and the key names find.
    fn find_named(&self, text: &str, spans: &mut Vec<Span>) -> Private {
        // A literal inside what its own rule has just found is not tried again. This keeps `sk-sk-sk-…` linear.
        let mut done = [0; RULES.len()];
        let mut pairs_done = 0;
        let mut private = Private::Unseen;
        for hit in self.literals.find(text.as_bytes()) {
            for attempt in &self.attempts[hit.literal] {
                match *attempt {
                    Attempt::Private => private = Private::Seen,
                    Attempt::Pair if hit.range.start < pairs_done => {}
                    Attempt::Pair => {
                        if let Some((range, name)) = pairs::find(text, hit.range.clone()) {
                            pairs_done = range.end;
                            spans.push(Span { range, rank: RULES.len(), name });
                        }
                    }
                    Attempt::Rule(number) if hit.range.start < done[number] => {}
                    Attempt::Rule(number) => {
                        let rule = &RULES[number];
                        let pattern = || self.patterns[number].get_or_init(|| rule.compile());
                        if let Some(range) = rule.find(pattern, text, hit.range.start) {
                            done[number] = range.end;
                            spans.push(Span { range, rank: number, name: rule.name });
                        }
                    }
                }
            }
        }
        private
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

/// How many secrets of each rule were taken out.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    counts: BTreeMap<&'static str, u64>,
}

impl Findings {
    /// All findings together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// True when nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds the counts of `other`, for example those of another thread.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in other.iter() {
            self.add(name, count);
        }
    }

    /// The names of the rules that found something, in alphabetical order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(name, count)| (*name, *count))
    }

    fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }
}

/// A replacement can cut a run in two of which one part now looks like a secret of its own. Ordinary text needs
/// one pass and one that finds nothing more; the limit keeps hostile text linear.
const PASSES: usize = 6;

/// What a literal gives reason to try.
#[derive(Debug, Clone, Copy)]
enum Attempt {
    Rule(usize),
    Pair,
    Private,
}

#[derive(PartialEq, Eq)]
enum Private {
    Seen,
    Unseen,
}

/// A secret in the text. Where two overlap, the lower rank gives the name.
struct Span {
    range: Range<usize>,
    rank: usize,
    name: &'static str,
}

/// Puts markers in place of the spans. Overlapping spans become one, so that no end of either is left over.
fn replace(text: &str, mut spans: Vec<Span>, found: &mut Findings) -> String {
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if span.rank < last.rank {
                    (last.rank, last.name) = (span.rank, span.name);
                }
            }
            _ => merged.push(span),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for span in merged {
        out.push_str(&text[copied..span.range.start]);
        out.push_str("[REDACTED:");
        out.push_str(span.name);
        out.push(']');
        copied = span.range.end;
        found.add(span.name, 1);
    }
    out.push_str(&text[copied..]);
    out
}
