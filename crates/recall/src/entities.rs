//! Extracts the names in a prompt: files, `quoted` names, identifiers, tickets. One pass, without a model or word list.

/// Maximum number of names extracted from one text, and remembered per session.
pub const MAX_ENTITIES: usize = 20;
/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 80;
/// Prefixes that look like ticket keys but are not.
const NOT_TICKETS: [&str; 5] = ["UTF", "SHA", "ISO", "RFC", "AES"];
/// Punctuation stripped from both ends of a name.
const SURROUNDING_PUNCTUATION: &[char] =
    &['"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?', '*'];

/// The names in a text, each once, in order of appearance.
pub fn extract_entities(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_quoted = false;
    // Text between two backticks is one name; text outside is examined word by word.
    let mut pieces = text.split('`').peekable();
    while let Some(piece) = pieces.next() {
        if is_quoted && pieces.peek().is_some() {
            add(&mut found, Some(piece.trim()).filter(|name| !name.contains('\n') && name.len() > 1));
        } else {
            piece.split_whitespace().for_each(|word| add(&mut found, entity_in_word(word)));
        }
        is_quoted = !is_quoted;
    }
    found
}

/// Adds names to `known`, without duplicates. The newest are last; the oldest are dropped.
pub fn add_recent_entities(known: &mut Vec<String>, new: Vec<String>) {
    for name in new {
        known.retain(|other| *other != name);
        known.push(name);
    }
    known.drain(..known.len().saturating_sub(MAX_ENTITIES));
}

fn add(found: &mut Vec<String>, name: Option<&str>) {
    let Some(name) = name else { return };
    let fits = name.len() <= MAX_NAME_BYTES && found.len() < MAX_ENTITIES;
    if fits && !name.is_empty() && found.iter().all(|other| other != name) {
        found.push(name.to_owned());
    }
}

/// The name in a word, without surrounding punctuation.
fn entity_in_word(word: &str) -> Option<&str> {
    let word = word.trim_matches(SURROUNDING_PUNCTUATION).trim_end_matches('.').trim_matches(SURROUNDING_PUNCTUATION);
    let is_name = is_ticket(word) || is_path(word) || is_identifier(word);
    is_name.then_some(word)
}

/// `ABC-123`, `#12`.
fn is_ticket(word: &str) -> bool {
    let is_number = |text: &str| (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return is_number(number);
    }
    word.split_once('-').is_some_and(|(key, number)| {
        let is_key = (2..=10).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_uppercase());
        is_key && is_number(number) && !NOT_TICKETS.contains(&key)
    })
}

/// `src/a.rs`, `/etc/hosts`, `~/notes`, `Cargo.toml`; but not a URL, `and/or` or `e.g`.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./~+@".contains(c);
    if word.contains("//") || !word.chars().all(is_plain) {
        return false;
    }
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| word.len() > root.len() + 1 && word.starts_with(root));
    let last = word.rsplit('/').next().unwrap_or(word);
    is_rooted || word.matches('/').count() >= 2 || has_extension(last, if word.contains('/') { 1 } else { 2 })
}

fn has_extension(name: &str, shortest: usize) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let begins = ending.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        let is_short = ending.len() <= 5 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        stem.len() >= shortest && begins && is_short
    })
}

/// `snake_case`, `CamelCase`, `a::b`, with or without a trailing `()`.
fn is_identifier(word: &str) -> bool {
    let mut parts = word.split("::");
    let is_scoped = word.contains("::");
    let is_plain = parts.all(|part| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    let is_snake = word.trim_matches('_').contains('_');
    let bytes = word.as_bytes();
    let is_camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    word.len() > 2 && is_plain && (is_scoped || is_snake || is_camel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(extract_entities(text), expect, "{text}");
    }

    #[test]
    fn files_identifiers_and_tickets_are_extracted() {
        // S002-05, S002-06, S002-29
        check(
            "Look at src/parse/lines.rs and Cargo.toml, see /etc/hosts.",
            &["src/parse/lines.rs", "Cargo.toml", "/etc/hosts"],
        );
        check(
            "why does `read all` call parse_line() in SessionView, std::fs?",
            &["read all", "parse_line", "SessionView", "std::fs"],
        );
        check("ABC-123 is about #12 (and ABC-123 again)", &["ABC-123", "#12"]);
    }

    #[test]
    fn ordinary_words_are_not_names() {
        check("Please fix it, e.g. and/or that one: 3.14 of UTF-8 or SHA-256, see https://example.com/a_b?", &[]);
        check("", &[]);
        check("a ` alone, and [REDACTED:password]", &[]);
    }

    #[test]
    fn the_last_twenty_are_kept_without_duplicates() {
        // S002-19
        let mut known = Vec::new();
        add_recent_entities(&mut known, (0..15).map(|number| format!("a_{number}")).collect());
        add_recent_entities(&mut known, (10..25).map(|number| format!("a_{number}")).collect());
        assert_eq!(known.len(), MAX_ENTITIES);
        assert_eq!((known[0].as_str(), known[19].as_str()), ("a_5", "a_24"));
    }
}
