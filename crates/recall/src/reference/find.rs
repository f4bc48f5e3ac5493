//! Finds references in a prompt: not in code, not in e-mail addresses, not in the hunk headers of a diff.

use super::{MOST_REFERENCES, Reference};

/// A name is not longer.
const LONGEST_NAME: usize = 120;
/// More ancestors than this are nobody's wish.
const MOST_ANCESTORS: u32 = 9;

/// The references in a prompt, each once, in the order in which they first stand there: as many as are looked up, and one
/// more if there are more.
pub fn references(prompt: &str) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    if !prompt.contains("@@") {
        return found;
    }
    let mut is_code = false;
    for line in prompt.lines() {
        if is_fence(line) {
            is_code = !is_code;
        } else if !is_code && !is_foreign(line) {
            for reference in in_line(&without_code(line)) {
                add(&mut found, reference);
            }
        }
        if found.len() > MOST_REFERENCES {
            break;
        }
    }
    found.truncate(MOST_REFERENCES + 1);
    found
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// A quotation or an indented line of code: somebody else's words.
fn is_foreign(line: &str) -> bool {
    line.starts_with('>') || line.starts_with("    ") || line.starts_with('\t')
}

/// The line with blanks where code stands in it, between equally many backquotes.
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

fn in_line(line: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find("@@").map(|found| at + found) {
        let after = &line[start + 2..];
        let is_alone = line[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"@._-/".contains(c));
        let Some((reference, length)) = is_alone.then(|| read(after)).flatten() else {
            at = start + 2;
            continue;
        };
        found.push(reference);
        at = start + 2 + length;
    }
    found
}

/// The reference at the beginning of a text, and how many bytes it takes. What is asked about it is left to be read on.
fn read(text: &str) -> Option<(Reference, usize)> {
    let (target, is_quoted, mut length) = quoted(text).or_else(|| word(text))?;
    let mut ancestors = 0;
    let digits: String =
        text[length..].strip_prefix('~').into_iter().flat_map(str::chars).take_while(char::is_ascii_digit).collect();
    if let Ok(number) = digits.parse::<u32>() {
        ancestors = number.min(MOST_ANCESTORS);
        length += 1 + digits.len();
    }
    let question = text[length..].strip_prefix(':').and_then(question);
    Some((Reference { target, is_quoted, ancestors, question }, length))
}

fn quoted(text: &str) -> Option<(String, bool, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '"' => '"',
        '\u{201c}' => '\u{201d}',
        _ => return None,
    };
    let inside = &text[open.len_utf8()..];
    let end = inside.find(close)?;
    let name = inside[..end].trim();
    let is_name = !name.is_empty() && name.chars().count() <= LONGEST_NAME;
    is_name.then(|| (name.to_owned(), true, open.len_utf8() + end + close.len_utf8()))
}

fn word(text: &str) -> Option<(String, bool, usize)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && !"-_.".contains(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-', '_']);
    let is_name = name.chars().any(char::is_alphanumeric) && name.chars().count() <= LONGEST_NAME;
    is_name.then(|| (name.to_owned(), false, name.len()))
}

/// `: what did we decide?`: up to the last question mark on the line, or before the next reference.
fn question(text: &str) -> Option<String> {
    let own = text.split("@@").next().unwrap_or_default();
    let asked = &own[..=own.rfind('?')?];
    let asked = asked.trim();
    (own.starts_with(char::is_whitespace) && asked.len() > 1).then(|| asked.to_owned())
}

/// The same session with the same question is one reference.
fn add(found: &mut Vec<Reference>, reference: Reference) {
    let is_same = |other: &Reference| {
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

    /// What is found, as it could be typed again, with its question.
    fn check(prompt: &str, expect: &[&str]) {
        let told: Vec<String> = references(prompt)
            .iter()
            .map(|one| match &one.question {
                Some(question) => format!("{}: {question}", one.typed()),
                None => one.typed(),
            })
            .collect();
        assert_eq!(told, expect, "{prompt}");
    }

    #[test]
    fn s001_22_references_stand_between_words() {
        check("should we do it as in @@confirm-button-refactor?", &["@@confirm-button-refactor"]);
        check("(@@a1b2c3d4) and @@a1b2c3d4, again", &["@@a1b2c3d4"]);
        check("as in @@fix.the.parser.", &["@@fix.the.parser"]);
        check("@@Überarbeitung und @@\"Confirm button\"", &["@@Überarbeitung", "@@\"Confirm button\""]);
        check("@@first\n@@second @@FIRST", &["@@first", "@@second"]);
    }

    #[test]
    fn code_addresses_and_diffs_are_no_references() {
        check("see `@@name` and ``@@other `x` `` and ``` @@x", &["@@x"]);
        check("> as in @@quoted\n    @@indented = 1\n@@real", &["@@real"]);
        check("```ruby\n@@count = 1\n```\nand @@real", &["@@real"]);
        check("me@@example.com, a/@@b, x@@y, @@@z", &[]);
        check("@@ -1,4 +1,4 @@ fn main", &[]);
        check("@@ @@\" \" @@\"open @@-", &[]);
    }

    #[test]
    fn s001_27_ancestors_are_counted_behind_a_tilde() {
        check("@@plan~2 and @@\"The plan\"~1", &["@@plan~2", "@@\"The plan\"~1"]);
        check("@@plan~ or @@plan~99", &["@@plan~9"]);
    }

    #[test]
    fn s001_29_a_question_follows_a_colon() {
        check("@@plan: what did we decide about races?", &["@@plan: what did we decide about races?"]);
        check("@@a: why? @@b: when? please", &["@@a: why?", "@@b: when?"]);
        check("@@plan: do it like that", &["@@plan"]);
        check("@@plan:8080?", &["@@plan"]);
    }

    #[test]
    fn e001_12_no_more_are_found_than_are_looked_up_and_one() {
        let many: Vec<String> = (0..20_000).map(|number| format!("@@x{number} = 1")).collect();
        check(&many.join("\n"), &["@@x0", "@@x1", "@@x2", "@@x3"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,80}") {
            references(&text);
        }
    }
}
