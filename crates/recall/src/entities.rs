//! What a prompt names: files, `quoted` names, identifiers, tickets. One pass, no model, no list of words.

/// Names that are taken from one text, and that are kept in all.
pub const ENTITIES_KEPT: usize = 20;
/// Characters of a name. What is longer is no name.
const LONGEST: usize = 80;
/// What looks like the key of a ticket and is none.
const STANDARDS: [&str; 5] = ["UTF", "SHA", "ISO", "RFC", "AES"];
/// What may stand around a name without belonging to it.
const AROUND: &[char] = &['"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?', '*'];

/// What a text names, each once, in the order of the text.
pub fn entities(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_quoted = false;
    // What stands between two backticks is a name as a whole; what stands outside is looked at word by word.
    let mut pieces = text.split('`').peekable();
    while let Some(piece) = pieces.next() {
        if is_quoted && pieces.peek().is_some() {
            add(&mut found, Some(piece.trim()).filter(|name| !name.contains('\n') && name.len() > 1));
        } else {
            piece.split_whitespace().for_each(|word| add(&mut found, name_in(word)));
        }
        is_quoted = !is_quoted;
    }
    found
}

/// Adds names to those that are known: no name twice, the newest last, the oldest go.
pub fn remember_entities(known: &mut Vec<String>, new: Vec<String>) {
    for name in new {
        known.retain(|other| *other != name);
        known.push(name);
    }
    known.drain(..known.len().saturating_sub(ENTITIES_KEPT));
}

fn add(found: &mut Vec<String>, name: Option<&str>) {
    let Some(name) = name else { return };
    let fits = name.len() <= LONGEST && found.len() < ENTITIES_KEPT;
    if fits && !name.is_empty() && found.iter().all(|other| other != name) {
        found.push(name.to_owned());
    }
}

/// The name that a word is, without what stands around it.
fn name_in(word: &str) -> Option<&str> {
    let word = word.trim_matches(AROUND).trim_end_matches('.').trim_matches(AROUND);
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
        is_key && is_number(number) && !STANDARDS.contains(&key)
    })
}

/// `src/a.rs`, `/etc/hosts`, `~/notes`, `Cargo.toml`; no address, no `and/or`, no `e.g`.
fn is_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./~+@".contains(c);
    if word.contains("//") || !word.chars().all(is_plain) {
        return false;
    }
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| word.len() > root.len() + 1 && word.starts_with(root));
    let last = word.rsplit('/').next().unwrap_or(word);
    is_rooted || word.matches('/').count() >= 2 || has_ending(last, if word.contains('/') { 1 } else { 2 })
}

fn has_ending(name: &str, shortest: usize) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let begins = ending.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        let is_short = ending.len() <= 5 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        stem.len() >= shortest && begins && is_short
    })
}

/// `snake_case`, `CamelCase`, `a::b`, with or without `()` behind it.
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
        assert_eq!(entities(text), expect, "{text}");
    }

    #[test]
    fn s002_05_s002_06_s002_29_a_prompt_names_files_identifiers_and_tickets() {
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
    fn ordinary_words_name_nothing() {
        check("Please mend it, e.g. and/or that one: 3.14 of UTF-8 or SHA-256, see https://example.com/a_b?", &[]);
        check("", &[]);
        check("a ` alone, and [REDACTED:password]", &[]);
    }

    #[test]
    fn s002_19_the_last_twenty_are_kept_and_none_twice() {
        let mut known = Vec::new();
        remember_entities(&mut known, (0..15).map(|number| format!("a_{number}")).collect());
        remember_entities(&mut known, (10..25).map(|number| format!("a_{number}")).collect());
        assert_eq!(known.len(), ENTITIES_KEPT);
        assert_eq!((known[0].as_str(), known[19].as_str()), ("a_5", "a_24"));
    }
}
