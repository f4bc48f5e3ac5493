//! Describes a sentence, or one word of it, by the features that the models weigh.

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::packing::feature_hash;
use super::tokens::SentenceToken;
use super::{SentenceContext, Speaker, StatementKind};

/// Word of the models for words they do not know.
const UNKNOWN: &str = "UNKNOWN";
/// The words at the start of a sentence get features of their own.
const LEADS: [&str; 3] = ["lead0", "lead1", "lead2"];
/// Positions in a sentence; later words share the last one.
const PLACES: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];

/// Visits the features of a sentence, each once: a word that is repeated says no more than the first time. `is_known` says
/// which words the model knows.
pub fn sentence_features(
    tokens: &[SentenceToken],
    context: SentenceContext,
    is_known: impl Fn(&str) -> bool,
    visit: &mut dyn FnMut(Feature<'_>),
) {
    let words: Vec<&str> = tokens.iter().map(|token| known_word(token, &is_known)).collect();
    let speaker = match context.speaker {
        Speaker::Human => "h",
        Speaker::Assistant => "a",
    };
    let mut seen = FxHashSet::with_capacity_and_hasher(tokens.len() * 4 + 8, FxBuildHasher);
    let mut visit_once = |feature: Feature<'_>| {
        if seen.insert(feature.hash) {
            visit(feature);
        }
    };
    let mut features = FeatureVisitor { visit: &mut visit_once };
    features.add(&[speaker, ""]);
    for (at, word) in words.iter().enumerate() {
        features.add(&[speaker, "1", word]);
        let before = at.checked_sub(1).map_or("^", |before| words[before]);
        features.add(&[speaker, "2", before, word]);
        if at >= 2 {
            features.add(&[speaker, "3", words[at - 2], before, word]);
        }
        if let Some(lead) = LEADS.get(at) {
            features.add(&[speaker, lead, word]);
        }
        let starts_clause = at > 0 && (tokens[at - 1].is_break() || is_joining(words[at - 1]));
        if starts_clause {
            features.add(&[speaker, "clause", word, words.get(at + 1).unwrap_or(&"$")]);
        }
    }
    features.add(&[speaker, "2", words.last().unwrap_or(&"^"), "$"]);
    features.add(&[speaker, "length", length_class(tokens.len())]);
    let first = words.first().copied().unwrap_or("^");
    for (name, holds) in [
        ("proposal", context.follows_proposal),
        ("edit", context.follows_edit),
        ("refused", context.is_refusal),
        ("long", context.is_long),
    ] {
        if holds {
            features.add(&[speaker, name, ""]);
            features.add(&[speaker, name, first]);
        }
    }
}

/// Visits the features of one word of a sentence, for marking what the sentence is about. `before` is the mark of the word
/// before it.
pub fn span_features(
    tokens: &[SentenceToken],
    at: usize,
    kind: StatementKind,
    before: &str,
    is_known: impl Fn(&str) -> bool,
    visit: &mut dyn FnMut(Feature<'_>),
) {
    let word = |offset: isize| -> &str {
        let place = at.checked_add_signed(offset);
        place.and_then(|place| tokens.get(place)).map_or("^", |token| known_word(token, &is_known))
    };
    let kind = kind.as_str();
    let (this, last, next) = (word(0), word(-1), word(1));
    let mut features = FeatureVisitor { visit };
    features.add(&[kind, before]);
    features.add(&["0", this, before]);
    features.add(&["-1", last, before]);
    features.add(&["+1", next, before]);
    features.add(&["k", kind, this, before]);
    features.add(&["k-1", kind, last, before]);
    features.add(&["-1+0", last, this]);
    features.add(&["0+1", this, next]);
    features.add(&["-2-1", word(-2), last, before]);
    features.add(&["k-2-1", kind, word(-2), last]);
    features.add(&["+1+2", next, word(2), before]);
    features.add(&["place", kind, PLACES[at.min(PLACES.len() - 1)], before]);
    features.add(&["seen", kind, cue_before(tokens, at)]);
}

/// A feature as its parts, because a sentence has a hundred of them and most are only looked up.
#[derive(Clone, Copy, Debug)]
pub struct Feature<'a> {
    parts: &'a [&'a str],
    hash: u64,
}

impl<'a> Feature<'a> {
    pub(super) fn new(parts: &'a [&'a str]) -> Self {
        Self { parts, hash: feature_hash(parts.iter().copied()) }
    }

    /// Recognizes the feature.
    pub(super) fn hash(self) -> u64 {
        self.hash
    }

    /// The name in the table of weights.
    pub fn name(self) -> String {
        self.parts.join(" ")
    }
}

struct FeatureVisitor<'a> {
    visit: &'a mut dyn FnMut(Feature<'_>),
}

impl FeatureVisitor<'_> {
    fn add(&mut self, parts: &[&str]) {
        (self.visit)(Feature::new(parts));
    }
}

fn known_word<'a>(token: &'a SentenceToken, is_known: &impl Fn(&str) -> bool) -> &'a str {
    if is_known(&token.word) { &token.word } else { UNKNOWN }
}

fn is_joining(word: &str) -> bool {
    matches!(word, "and" | "but" | "so" | "then" | "because" | "since" | "or" | "also" | "actually" | "ok" | "okay")
}

/// The last word before this one that separates the two sides of a statement.
fn cue_before(tokens: &[SentenceToken], at: usize) -> &str {
    let is_cue = |word: &str| {
        matches!(
            word,
            "instead"
                | "over"
                | "than"
                | "not"
                | "because"
                | "since"
                | "for"
                | "with"
                | "requires"
                | "needs"
                | "use"
                | "is"
                | "was"
                | "by"
                | "from"
                | "no"
                | "dont"
                | "never"
                | "so"
                | "to"
        )
    };
    tokens[..at].iter().rev().map(|token| token.word.as_str()).find(|word| is_cue(word)).unwrap_or("^")
}

fn length_class(words: usize) -> &'static str {
    match words {
        0..=2 => "1",
        3..=5 => "3",
        6..=12 => "6",
        13..=24 => "13",
        _ => "25",
    }
}
