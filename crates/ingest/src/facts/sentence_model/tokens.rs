//! Splits a sentence into words as the models see them: lower case, with names, files and numbers as classes.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Names of technologies. They are one word to the models, so that what is learned of one holds for all.
static TECHNOLOGIES: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| include_str!("technologies.txt").split_whitespace().collect());

/// Whether a word in lower case is the name of a technology.
pub fn is_technology(word: &str) -> bool {
    TECHNOLOGIES.contains(word)
}

/// A word or punctuation mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceToken {
    /// Byte offset of its start.
    pub start: usize,
    /// Byte offset of its end.
    pub end: usize,
    /// As the models see it.
    pub word: String,
}

impl SentenceToken {
    /// Whether it is a mark and not a word.
    pub fn is_punctuation(&self) -> bool {
        matches!(self.word.as_str(), "," | ";" | ":" | "." | "?" | "!" | "(" | ")" | "-" | "→" | "\"")
    }

    /// Whether it separates two clauses.
    pub(super) fn is_break(&self) -> bool {
        matches!(self.word.as_str(), "," | ";" | ":" | "." | "?" | "!" | "(" | ")" | "-")
    }
}

/// The words and marks of a sentence, in order.
pub fn tokenize(text: &str) -> Vec<SentenceToken> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let end = match c {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '`' => code_end(text, at),
            c if starts_word(c) => word_end(text, at),
            c => at + c.len_utf8(),
        };
        push_token(&mut tokens, text, at, end);
        at = end;
    }
    tokens
}

fn push_token(tokens: &mut Vec<SentenceToken>, text: &str, start: usize, end: usize) {
    let raw = &text[start..end];
    if let Some(word) = normalize(raw) {
        tokens.push(SentenceToken { start, end, word });
    }
}

fn code_end(text: &str, start: usize) -> usize {
    text[start + 1..].find('`').map_or(start + 1, |at| start + 1 + at + 1)
}

fn starts_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '/' | '@' | '$' | '#' | '~' | '.' | '<')
}

/// Where a word ends. Marks inside of it belong to it, at its end they do not.
fn word_end(text: &str, start: usize) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || "_/@$#~.-+'’:=*%&<>\\".contains(c);
    let end = text[start..].find(|c: char| !is_part(c)).map_or(text.len(), |at| start + at);
    let word = text[start..end].trim_end_matches(['.', ':', '\'', '’', '-', '=', '*', '/', '>', '&']);
    let end = start + word.len();
    if end > start { end } else { start + text[start..].chars().next().map_or(1, char::len_utf8) }
}

fn normalize(raw: &str) -> Option<String> {
    if is_plain(raw) {
        let lower = raw.to_ascii_lowercase();
        return Some(if TECHNOLOGIES.contains(lower.as_str()) { "TECH".to_owned() } else { lower });
    }
    if raw.len() > 1 && raw.starts_with('`') {
        return Some("CODE".to_owned());
    }
    if !raw.chars().any(char::is_alphanumeric) {
        return mark(raw).map(str::to_owned);
    }
    if raw.contains("://") || raw.starts_with("www.") {
        return Some("URL".to_owned());
    }
    let lower: String = raw.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’')).collect();
    if TECHNOLOGIES.contains(lower.trim_start_matches('@')) {
        return Some("TECH".to_owned());
    }
    Some(class_of(raw, &lower).map_or(lower, str::to_owned))
}

/// Whether a word consists of ASCII letters, of which only the first may be a capital: most words do.
fn is_plain(raw: &str) -> bool {
    let (first, rest) = raw.as_bytes().split_first().unwrap_or((&b' ', b""));
    first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase)
}

fn mark(raw: &str) -> Option<&'static str> {
    Some(match raw {
        "," => ",",
        ";" => ";",
        ":" => ":",
        "." | "…" | "。" => ".",
        "?" | "？" => "?",
        "!" | "！" => "!",
        "(" => "(",
        ")" => ")",
        "—" | "–" | "-" => "-",
        "→" => "→",
        "\"" | "“" | "”" => "\"",
        _ => return None,
    })
}

/// The class of a word that is not a plain word.
fn class_of(raw: &str, lower: &str) -> Option<&'static str> {
    let digits = lower.strip_prefix('v').unwrap_or(lower);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
    let letters = digits.chars().filter(|c| c.is_alphabetic()).count();
    if is_number && letters <= 2 {
        return Some(if lower.matches('.').count() > 1 { "VERSION" } else { "NUMBER" });
    }
    if lower.chars().any(|c| c.is_alphabetic() && u32::from(c) > 0x24F) {
        return Some("FOREIGN");
    }
    let has_extension = lower.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    if lower.matches('/').count() > 1 || lower.starts_with(['/', '~', '@', '.']) || has_extension {
        return Some("FILE");
    }
    let has_inner_capital = raw.chars().skip(1).any(char::is_uppercase) && raw.chars().any(char::is_lowercase);
    let has_sign = raw.contains(['_', '#', '$', '=', '<', ':', '+']);
    let is_mixed = raw.chars().any(|c| c.is_ascii_digit()) && letters > 1;
    (has_inner_capital || has_sign || is_mixed).then_some("NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_normalized_and_keep_their_place() {
        for (text, expected) in [
            ("Let's use `a b` here", "lets use CODE here"),
            ("don’t edit src/db.ts, ok?", "dont edit FILE , ok ?"),
            ("go with Postgres 16 over v1.2.3", "go with TECH NUMBER over VERSION"),
            ("set maxRetries to 5", "set NAME to NUMBER"),
            ("see https://x.dev/a.", "see URL ."),
            ("no — never", "no - never"),
            ("日本語 で", "FOREIGN FOREIGN"),
        ] {
            let tokens = tokenize(text);
            let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
            assert_eq!(words.join(" "), expected, "{text}");
            assert!(tokens.iter().all(|token| text.get(token.start..token.end).is_some()));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_in_order(text in "(?s).{0,80}") {
            let tokens = tokenize(&text);
            proptest::prop_assert!(tokens.windows(2).all(|pair| pair[0].end <= pair[1].start));
            proptest::prop_assert!(tokens.iter().all(|token| text.get(token.start..token.end).is_some()));
        }
    }
}
