//! Describes a sentence, or one word of it, by the features that the models weigh.

use super::tokens::SentenceToken;
use super::{SentenceContext, Speaker, StatementKind};

/// Word of the models for words they do not know.
const UNKNOWN: &str = "UNKNOWN";
/// Number of words at the start of a sentence that get features of their own.
const LEAD_WORDS: usize = 3;

/// The features of a sentence. `is_known` says which words the model knows.
pub fn sentence_features(
    tokens: &[SentenceToken],
    context: SentenceContext,
    is_known: impl Fn(&str) -> bool,
) -> Vec<String> {
    let words: Vec<&str> = tokens.iter().map(|token| known_word(token, &is_known)).collect();
    let speaker = match context.speaker {
        Speaker::Human => "h",
        Speaker::Assistant => "a",
    };
    let mut features = vec![format!("{speaker} ")];
    let mut add = |feature: String| features.push(format!("{speaker} {feature}"));
    for (at, word) in words.iter().enumerate() {
        add(format!("1 {word}"));
        let before = at.checked_sub(1).map_or("^", |before| words[before]);
        add(format!("2 {before} {word}"));
        if at >= 2 {
            add(format!("3 {} {before} {word}", words[at - 2]));
        }
        if at < LEAD_WORDS {
            add(format!("lead{at} {word}"));
        }
        let starts_clause = at > 0 && (tokens[at - 1].is_break() || is_joining(words[at - 1]));
        if starts_clause {
            add(format!("clause {word} {}", words.get(at + 1).unwrap_or(&"$")));
        }
    }
    add(format!("2 {} $", words.last().unwrap_or(&"^")));
    add(format!("length {}", length_class(tokens.len())));
    let first = words.first().copied().unwrap_or("^");
    for (name, holds) in [
        ("proposal", context.follows_proposal),
        ("edit", context.follows_edit),
        ("refused", context.is_refusal),
        ("long", context.is_long),
    ] {
        if holds {
            add(format!("{name} "));
            add(format!("{name} {first}"));
        }
    }
    features
}

/// The features of one word of a sentence, for marking what the sentence is about. `before` is the mark of the word
/// before it.
pub fn span_features(
    tokens: &[SentenceToken],
    at: usize,
    kind: StatementKind,
    before: &str,
    is_known: impl Fn(&str) -> bool,
) -> Vec<String> {
    let word = |offset: isize| -> &str {
        let place = at.checked_add_signed(offset);
        place.and_then(|place| tokens.get(place)).map_or("^", |token| known_word(token, &is_known))
    };
    let kind = kind.as_str();
    let (this, last, next) = (word(0), word(-1), word(1));
    vec![
        format!("{kind} {before}"),
        format!("0 {this} {before}"),
        format!("-1 {last} {before}"),
        format!("+1 {next} {before}"),
        format!("k {kind} {this} {before}"),
        format!("k-1 {kind} {last} {before}"),
        format!("-1+0 {last} {this}"),
        format!("0+1 {this} {next}"),
        format!("-2-1 {} {last} {before}", word(-2)),
        format!("k-2-1 {kind} {} {last}", word(-2)),
        format!("+1+2 {next} {} {before}", word(2)),
        format!("place {kind} {} {before}", at.min(6)),
        format!("seen {kind} {}", cue_before(tokens, at)),
    ]
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
