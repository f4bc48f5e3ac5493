//! Finds `@@` references in a prompt; skips code, e-mail addresses and diff hunk headers.

use super::{MAX_REFERENCES, SessionReference};

/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 120;
/// From here on, scripts are written without spaces between words.
const FIRST_CJK: char = '\u{2e80}';
/// Maximum number of ancestors; larger requests are capped.
const MAX_ANCESTORS: u32 = 9;

/// Words that introduce a reference and say nothing without it.
const LEADING_WORDS: [&str; 12] =
    ["as", "at", "by", "from", "in", "like", "of", "per", "see", "session", "the", "with"];

/// The references in a prompt, each once, in order of first appearance. At most one more than [`MAX_REFERENCES`], which
/// shows that there are too many.
pub fn find_references(prompt: &str) -> Vec<SessionReference> {
    let mut found: Vec<SessionReference> = Vec::new();
    if !prompt.contains("@@") {
        return found;
    }
    let mut is_code = false;
    for line in prompt.lines() {
        if is_fence(line) {
            is_code = !is_code;
        } else if !is_code && !is_quoted_or_indented(line) {
            for reference in references_in_line(&without_code(line)) {
                add_unique(&mut found, reference);
            }
        }
        if found.len() > MAX_REFERENCES {
            break;
        }
    }
    found.truncate(MAX_REFERENCES + 1);
    found
}

/// The text without its references and the words that only lead to them (`as in @@name`).
pub(crate) fn without_references(text: &str) -> String {
    if !text.contains("@@") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut from = 0;
        for (start, end) in reference_ranges(line) {
            out.push_str(&line[from..start]);
            drop_leading_words(&mut out);
            from = end;
        }
        out.push_str(&line[from..]);
    }
    out
}

/// Removes the last words of a text as long as they only introduce a reference.
fn drop_leading_words(text: &mut String) {
    loop {
        let kept = text.trim_end().len();
        let word = text[..kept].rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
        if !LEADING_WORDS.contains(&word.to_lowercase().as_str()) {
            return;
        }
        text.truncate(kept - word.len());
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// A quoted line or an indented code line: not the user's own words.
fn is_quoted_or_indented(line: &str) -> bool {
    line.starts_with('>') || line.starts_with("    ") || line.starts_with('\t')
}

/// Replaces inline code, delimited by equal numbers of backticks, with a space.
fn without_code(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].bytes().take_while(|byte| *byte == b'`').count();
        let fence = &rest[open..open + ticks];
        let Some(close) = rest[open + ticks..].find(fence).map(|at| open + ticks + at) else { break };
        out.push_str(&rest[..open]);
        out.push(' ');
        rest = &rest[close + ticks..];
    }
    out.push_str(rest);
    out
}

fn references_in_line(line: &str) -> Vec<SessionReference> {
    parsed_references(line).into_iter().map(|(reference, ..)| reference).collect()
}

fn reference_ranges(line: &str) -> Vec<(usize, usize)> {
    parsed_references(line).into_iter().map(|(_, start, end)| (start, end)).collect()
}

/// The references in a line with the bytes they cover, without their questions.
fn parsed_references(line: &str) -> Vec<(SessionReference, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find("@@").map(|found| at + found) {
        // Scripts without spaces put a reference right after a word.
        let is_joined = |c: char| (c.is_alphanumeric() && c < FIRST_CJK) || "@._-/".contains(c);
        let is_alone = !line[..start].chars().next_back().is_some_and(is_joined);
        let Some((reference, length)) = is_alone.then(|| parse_reference(&line[start + 2..])).flatten() else {
            at = start + 2;
            continue;
        };
        at = start + 2 + length;
        found.push((reference, start, at));
    }
    found
}

/// Parses the reference at the start of a text and returns its length in bytes. Its question is not part of that
/// length.
fn parse_reference(text: &str) -> Option<(SessionReference, usize)> {
    let (target, is_quoted, mut length) = parse_quoted(text).or_else(|| parse_word(text))?;
    let mut ancestors = 0;
    let digits: String =
        text[length..].strip_prefix('~').into_iter().flat_map(str::chars).take_while(char::is_ascii_digit).collect();
    if let Ok(number) = digits.parse::<u32>() {
        ancestors = number.min(MAX_ANCESTORS);
        length += 1 + digits.len();
    }
    let question = text[length..].strip_prefix(':').and_then(parse_question);
    Some((SessionReference { target, is_quoted, ancestors, question }, length))
}

fn parse_quoted(text: &str) -> Option<(String, bool, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' => '"',
        '\u{201c}' => '\u{201d}',
        _ => return None,
    };
    let inside = &text[open.len_utf8()..];
    let end = inside.find(close)?;
    let name = inside[..end].trim();
    let is_name = !name.is_empty() && name.chars().count() <= MAX_NAME_CHARS;
    is_name.then(|| (name.to_owned(), true, open.len_utf8() + end + close.len_utf8()))
}

fn parse_word(text: &str) -> Option<(String, bool, usize)> {
    let is_latin = text.starts_with(|c: char| c < FIRST_CJK);
    let ends = |c: char| (!c.is_alphanumeric() && !"-_.".contains(c)) || (is_latin && c >= FIRST_CJK);
    let end = text.find(ends).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-', '_']);
    let is_name = name.chars().any(char::is_alphanumeric) && name.chars().count() <= MAX_NAME_CHARS;
    is_name.then(|| (name.to_owned(), false, name.len()))
}

/// `: what did we decide?`: up to the last question mark on the line, or before the next reference.
fn parse_question(text: &str) -> Option<String> {
    let own = text.split("@@").next().unwrap_or_default();
    let question = &own[..=own.rfind('?')?];
    let question = question.trim();
    (own.starts_with(char::is_whitespace) && question.len() > 1).then(|| question.to_owned())
}

/// Adds a reference. The same session with the same question is one reference.
fn add_unique(found: &mut Vec<SessionReference>, reference: SessionReference) {
    let is_same = |other: &SessionReference| {
        other.target.to_lowercase() == reference.target.to_lowercase() && other.question == reference.question
    };
    match found.iter_mut().find(|other| is_same(other)) {
        Some(known) => known.ancestors = known.ancestors.max(reference.ancestors),
        None => found.push(reference),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares the references as they could be typed again, with their questions.
    fn check(prompt: &str, expect: &[&str]) {
        let rendered: Vec<String> = find_references(prompt)
            .iter()
            .map(|one| match &one.question {
                Some(question) => format!("{}: {question}", one.as_typed()),
                None => one.as_typed(),
            })
            .collect();
        assert_eq!(rendered, expect, "{prompt}");
    }

    #[test]
    fn references_are_found_between_words() {
        // S001-22
        check("should we do it as in @@confirm-button-refactor?", &["@@confirm-button-refactor"]);
        check("(@@a1b2c3d4) and @@a1b2c3d4, again", &["@@a1b2c3d4"]);
        check("as in @@fix.the.parser.", &["@@fix.the.parser"]);
        check("@@Überarbeitung und @@\"Confirm button\"", &["@@Überarbeitung", "@@\"Confirm button\""]);
        check("@@first\n@@second @@FIRST", &["@@first", "@@second"]);
    }

    #[test]
    fn scripts_without_spaces_need_no_blank_around_a_reference() {
        // D14
        check("请看@@parser-fix的做法", &["@@parser-fix"]);
        check("これは@@解析器 と同じ、@@\"日本語の名前\"も", &["@@解析器", "@@\"日本語の名前\""]);
        check("é@@x", &[]);
    }

    #[test]
    fn a_text_without_its_references_still_reads_well() {
        // D13
        let check = |text: &str, expect: &str| assert_eq!(without_references(text), expect);
        check("as in @@a, do it", ", do it");
        check("do it like in @@\"The plan\"~2 now", "do it  now");
        check("see @@a: why? and @@b", ": why? and ");
        check("mail me@@x.org", "mail me@@x.org");
    }

    #[test]
    fn code_addresses_and_diffs_are_not_references() {
        check("see `@@name` and ``@@other `x` `` and ``` @@x", &["@@x"]);
        check("> as in @@quoted\n    @@indented = 1\n@@real", &["@@real"]);
        check("```ruby\n@@count = 1\n```\nand @@real", &["@@real"]);
        check("me@@example.com, a/@@b, x@@y, @@@z", &[]);
        check("@@ -1,4 +1,4 @@ fn main", &[]);
        check("@@ @@\" \" @@\"open @@-", &[]);
    }

    #[test]
    fn ancestors_are_counted_after_a_tilde() {
        // S001-27
        check("@@plan~2 and @@\"The plan\"~1", &["@@plan~2", "@@\"The plan\"~1"]);
        check("@@plan~ or @@plan~99", &["@@plan~9"]);
    }

    #[test]
    fn a_question_follows_a_colon() {
        // S001-29
        check("@@plan: what did we decide about races?", &["@@plan: what did we decide about races?"]);
        check("@@a: why? @@b: when? please", &["@@a: why?", "@@b: when?"]);
        check("@@plan: do it like that", &["@@plan"]);
        check("@@plan:8080?", &["@@plan"]);
    }

    #[test]
    fn at_most_one_more_than_the_limit_is_found() {
        // E001-12
        let many: Vec<String> = (0..20_000).map(|number| format!("@@x{number} = 1")).collect();
        check(&many.join("\n"), &["@@x0", "@@x1", "@@x2", "@@x3"]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_parsed(text in "\\PC{0,80}") {
            find_references(&text);
        }
    }
}
