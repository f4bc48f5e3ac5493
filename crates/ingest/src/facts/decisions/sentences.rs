//! Splits prose into sentences, each with a copy in which quotes and code are masked.

/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 12] = ["e.g", "i.e", "etc", "vs", "approx", "incl", "resp", "cf", "mr", "dr", "no", "fig"];

/// One sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProseSentence<'a> {
    /// As written.
    pub(super) text: &'a str,
    /// Same length as `text`, with code and quotes masked.
    pub(super) masked: String,
    /// Whether it is part of a list.
    pub(super) is_list_item: bool,
}

impl<'a> ProseSentence<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, masked: mask(text), is_list_item: false }
    }

    pub(super) fn is_question(&self) -> bool {
        self.text.trim_end_matches([')', '"', '*', ' ']).ends_with('?')
    }
}

/// Splits lines into sentences. Each list item and each heading is a sentence.
pub(super) fn split_sentences<'a>(lines: &[&'a str]) -> Vec<ProseSentence<'a>> {
    let list = lines.iter().filter(|line| is_list_line(line)).count();
    let mut found = Vec::new();
    for line in lines {
        let is_list_item = list > 1 && is_list_line(line);
        let sentence = |text| ProseSentence { is_list_item, ..ProseSentence::new(text) };
        found.extend(split_line(strip_bullet(line)).into_iter().map(sentence));
    }
    found
}

/// The sentences of [`split_sentences`] as written.
pub(super) fn sentence_texts<'a>(lines: &[&'a str]) -> impl Iterator<Item = &'a str> {
    lines.iter().flat_map(|line| split_line(strip_bullet(line)))
}

/// Whether a line starts with a bullet or a number.
pub(super) fn is_list_line(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = (1..=2).contains(&digits) && line[digits..].starts_with(['.', ')']);
    is_numbered || (line.starts_with(['-', '*', '•', '+']) && !line.starts_with("**"))
}

fn strip_bullet(line: &str) -> &str {
    line.trim_start_matches(['-', '*', '•', '#', '+']).trim_start()
}

fn split_line(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    for (at, c) in line.char_indices() {
        in_code ^= c == '`';
        if in_code || !matches!(c, '.' | '!' | '?' | '。' | '？' | '！') {
            continue;
        }
        let end = at + c.len_utf8();
        let after = &line[end..];
        // People who type quickly separate sentences by two dots.
        let is_pause = c == '.' && is_pause(&line[start..at], after);
        let ends_here = c.len_utf8() > 1 || after.is_empty() || is_pause || after.starts_with([' ', '"', ')', '*']);
        if ends_here && !(c == '.' && is_abbreviation(&line[start..at])) {
            push_sentence(&mut found, &line[start..end]);
            start = end;
        }
    }
    push_sentence(&mut found, &line[start..]);
    found
}

/// Whether the second of two dots stands between words, not in a range such as `1..n`.
fn is_pause(before: &str, after: &str) -> bool {
    let letters = |text: &mut dyn Iterator<Item = char>| text.take_while(|c| c.is_alphabetic()).count();
    before.strip_suffix('.').is_some_and(|word| letters(&mut word.chars().rev()) > 1) && letters(&mut after.chars()) > 1
}

fn push_sentence<'a>(found: &mut Vec<&'a str>, text: &'a str) {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == ')');
    if text.chars().any(char::is_alphanumeric) {
        found.push(text);
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) && word.len() <= 2;
    let is_list_number = is_number && word.len() == before.trim().len();
    is_list_number || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Masks code and quotes byte by byte, so that offsets in the copy are offsets in the text.
fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    if text.is_ascii() && memchr::memchr3(b'`', b'"', b'\'', bytes).is_none() {
        return text.to_owned();
    }
    let mut masked = bytes.to_vec();
    let mut at = 0;
    // If nothing closes one of them, nothing closes the next: a text may have thousands.
    let mut may_close_single = true;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'`' => find_closing(bytes, at, b'`').map(|end| (end, b'x')),
            b'"' => find_closing(bytes, at, b'"').map(|end| (end, b'q')),
            b'\'' if may_close_single && is_word_start(bytes, at) => {
                let end = find_closing_single(bytes, at);
                may_close_single = end.is_some();
                end.map(|end| (end, b'q'))
            }
            _ => None,
        };
        if let Some((end, fill)) = end {
            masked[at + 1..end].fill(fill);
            at = end;
        }
        at += 1;
    }
    // Typographic quotes are longer than a byte, so they are searched as text.
    let mut masked = String::from_utf8(masked).unwrap_or_else(|_| text.to_owned());
    if let (Some(open), Some(close)) = (masked.find('“'), masked.find('”'))
        && open < close
    {
        let inside = open + '“'.len_utf8()..close;
        let fill = "q".repeat(inside.len());
        masked.replace_range(inside, &fill);
    }
    // A typographic apostrophe is not replaced: replacing three bytes by one would shift offsets.
    masked
}

fn find_closing(bytes: &[u8], from: usize, mark: u8) -> Option<usize> {
    bytes[from + 1..].iter().position(|&byte| byte == mark).map(|at| from + 1 + at)
}

fn is_word_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || matches!(bytes[at - 1], b' ' | b'(' | b'[')
}

fn find_closing_single(bytes: &[u8], from: usize) -> Option<usize> {
    let ends = |at: usize| bytes[at] == b'\'' && bytes.get(at + 1).is_none_or(|next| !next.is_ascii_alphanumeric());
    (from + 1..bytes.len()).find(|&at| ends(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_expected() {
        for (text, expected) in [
            ("Use tabs. Why? Because!", vec!["Use tabs.", "Why?", "Because!"]),
            ("use e.g. tabs in main.rs and v1.2", vec!["use e.g. tabs in main.rs and v1.2"]),
            ("- one\n- two", vec!["one", "two"]),
            ("1. use it. 2. drop it", vec!["1. use it.", "2. drop it"]),
            ("the build times... no", vec!["the build times...", "no"]),
            ("not that one..use the small logo", vec!["not that one..", "use the small logo"]),
            ("see ../src and 1..n", vec!["see ../src and 1..n"]),
            ("说明。好的", vec!["说明。", "好的"]),
            ("run `a. b` now", vec!["run `a. b` now"]),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let found: Vec<&str> = split_sentences(&lines).iter().map(|sentence| sentence.text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn code_and_quotes_are_masked() {
        for (text, expected) in [
            ("use `never x` here", "use `xxxxxxx` here"),
            ("Tom wrote \"use x\" there", "Tom wrote \"qqqqq\" there"),
            ("the 'use strict' line", "the 'qqqqqqqqqq' line"),
            ("don't and can't", "don't and can't"),
            ("“use ü” he said", "“qqqqqq” he said"),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn mask_has_the_length_of_its_text(text in "[a-zé`\"'“” ]{0,40}") {
            let masked = mask(&text);
            proptest::prop_assert_eq!(masked.len(), text.len());
        }
    }
}
