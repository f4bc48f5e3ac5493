//! Removes secrets and private parts from text before anything is stored. Knows nothing about agents or storage.
//!
//! One Aho-Corasick pass finds the literals that can start a secret; only the rules of a literal that was found are
//! tried, and only where it was found. A second, cheaper pass looks for long random runs that match no rule. Text with
//! neither costs these two passes and no allocation.
//!
//! ```
//! # use rethread_ingest::{Redactor, RedactionFindings};
//! let redactor = Redactor::new();
//! let mut found = RedactionFindings::default();
//! let text = redactor.redact("export DB_PASSWORD=tr0ub4dor", &mut found);
//! assert_eq!(text, "export DB_PASSWORD=[REDACTED:password]");
//! assert_eq!(found.total(), 1);
//! ```

mod blob;
mod entropy;
mod keys;
mod literals;
mod pairs;
mod placeholder;
mod private;
mod rule_table;
mod rules;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_ordinary;
#[cfg(test)]
mod tests_planted;
#[cfg(test)]
mod tests_tokens;
mod values;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use literals::LiteralSet;
use rule_table::RULES;

/// Removes secrets from text. Build it once and share it: it is `Sync` and has no mutable state.
#[derive(Debug)]
pub struct Redactor {
    literals: LiteralSet,
    /// The detectors to try for each literal, by its index in `literals`.
    detectors: Vec<Vec<SecretDetector>>,
    /// One regex per row of `RULES`, anchored at its start. Most are never needed, and compiling all of them would take
    /// longer than everything else here.
    patterns: [OnceLock<Regex>; RULES.len()],
}

impl Redactor {
    /// Compiles the literals of the rule table, which takes a few milliseconds.
    #[must_use]
    pub fn new() -> Self {
        let mut table: BTreeMap<&'static str, Vec<SecretDetector>> = BTreeMap::new();
        for (number, rule) in RULES.iter().enumerate() {
            for trigger in rule.triggers {
                let detectors = table.entry(trigger.get(..MAX_TRIGGER_BYTES).unwrap_or(trigger)).or_default();
                if !matches!(detectors.last(), Some(SecretDetector::Rule(last)) if *last == number) {
                    detectors.push(SecretDetector::Rule(number));
                }
            }
        }
        for literal in keys::TRIGGERS {
            table.entry(literal).or_default().push(SecretDetector::Pair);
        }
        table.entry(private::OPEN_TAG).or_default().push(SecretDetector::Private);
        let (literals, detectors): (Vec<_>, Vec<_>) = table.into_iter().unzip();
        Self { literals: LiteralSet::new(literals), detectors, patterns: [const { OnceLock::new() }; RULES.len()] }
    }

    /// The shared instance of this process, created on first use.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &SHARED
    }

    /// Replaces every secret with `[REDACTED:rule]` and drops `<private>…</private>` parts. Returns borrowed text if
    /// nothing was found. Adds what was found to `found`.
    pub fn redact<'a>(&self, text: &'a str, found: &mut RedactionFindings) -> Cow<'a, str> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_PASSES {
            match self.redact_pass(&current, found) {
                Some(cleaner) => current = Cow::Owned(cleaner),
                None => break,
            }
        }
        current
    }

    /// Removes secrets with a known format from a path or the name of a branch. Random parts stay: temporary folders and
    /// generated branches have them, and sessions are matched by these names.
    pub fn redact_name(&self, name: String) -> String {
        self.redact_id(name, &mut RedactionFindings::default())
    }

    /// Like [`Redactor::redact_name`], for an id, whose random parts are no secrets either. Adds what was found to
    /// `found`.
    pub fn redact_id(&self, id: String, found: &mut RedactionFindings) -> String {
        let mut spans = Vec::new();
        self.find_by_rules(&id, &mut spans);
        if spans.is_empty() { id } else { replace_spans(&id, spans, found) }
    }

    /// One pass over the text; `None` if there was nothing to remove.
    fn redact_pass(&self, text: &str, found: &mut RedactionFindings) -> Option<String> {
        let mut spans = Vec::new();
        if self.find_by_rules(text, &mut spans) == PrivateTag::Seen
            && let Some((public, parts)) = private::strip_private(text)
        {
            found.add("private", parts);
            // Removing private parts joins the remaining text, so secrets are searched only now.
            return Some(self.redact_pass(&public, found).unwrap_or(public));
        }
        entropy::scan(text, |range, name| spans.push(SecretSpan { range, rank: usize::MAX, name }));
        (!spans.is_empty()).then(|| replace_spans(text, spans, found))
    }

    /// Collects matches of the rule table and the key names.
    fn find_by_rules(&self, text: &str, spans: &mut Vec<SecretSpan>) -> PrivateTag {
        // A literal inside a match of its own rule is not tried again. This keeps `sk-sk-sk-…` linear.
        let mut done = [0; RULES.len()];
        let mut pairs_done = 0;
        let mut private = PrivateTag::Unseen;
        for hit in self.literals.find(text.as_bytes()) {
            for attempt in &self.detectors[hit.literal] {
                match *attempt {
                    SecretDetector::Private => private = PrivateTag::Seen,
                    SecretDetector::Pair if hit.range.start < pairs_done => {}
                    SecretDetector::Pair => {
                        if let Some((range, name)) = pairs::find(text, hit.range.clone()) {
                            pairs_done = range.end;
                            spans.push(SecretSpan { range, rank: RULES.len(), name });
                        }
                    }
                    SecretDetector::Rule(number) if hit.range.start < done[number] => {}
                    SecretDetector::Rule(number) => {
                        let rule = &RULES[number];
                        let pattern = || self.patterns[number].get_or_init(|| rule.compile());
                        if let Some(range) = rule.find(pattern, text, hit.range.start) {
                            done[number] = range.end;
                            spans.push(SecretSpan { range, rank: number, name: rule.name });
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

/// Number of secrets removed, by rule.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct RedactionFindings {
    counts: BTreeMap<&'static str, u64>,
}

impl RedactionFindings {
    /// The sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Whether nothing was found.
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

    /// The rules that found something, in alphabetical order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(name, count)| (*name, *count))
    }

    fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }
}

/// How much of a trigger is searched for; the rule's pattern checks the rest. Longer ones would not fit the tables of
/// `literals`.
const MAX_TRIGGER_BYTES: usize = 7;

/// A replacement can split a run so that one part now looks like a secret. Ordinary text needs one pass and another
/// that finds nothing; the limit keeps hostile text linear.
const MAX_PASSES: usize = 6;

/// A detector to try where a literal was found.
#[derive(Debug, Clone, Copy)]
enum SecretDetector {
    Rule(usize),
    Pair,
    Private,
}

#[derive(PartialEq, Eq)]
enum PrivateTag {
    Seen,
    Unseen,
}

/// A secret in the text. If two overlap, the lower rank gives the name.
struct SecretSpan {
    range: Range<usize>,
    rank: usize,
    name: &'static str,
}

/// Replaces the spans with placeholders. Overlapping spans are merged, so that no part of either is left over.
fn replace_spans(text: &str, mut spans: Vec<SecretSpan>, found: &mut RedactionFindings) -> String {
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<SecretSpan> = Vec::with_capacity(spans.len());
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
