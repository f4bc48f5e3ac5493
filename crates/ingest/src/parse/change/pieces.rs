//! Describes changed lines: the smallest differing part, with the name that it belongs to.

use rethread_model::{clip, one_line};

use super::hunks::ChangedLines;

/// Maximum length of one side of a change, and of an added or removed text, in characters.
const MAX_SIDE_CHARS: usize = 58;
const MAX_ADDED_CHARS: usize = 116;
/// Lines up to this length are shown whole, in characters.
const MAX_WHOLE_LINE_CHARS: usize = 36;
/// How far the text before a difference is searched for a name, in characters.
const MAX_NAME_CHARS: usize = 40;

/// The differing parts of a group of changed lines.
pub(super) fn describe(change: &ChangedLines) -> Vec<String> {
    let (old, new) = (filled(&change.old), filled(&change.new));
    if old.len() == new.len() {
        return old.iter().zip(&new).filter_map(|(old, new)| describe_pair(old, new)).collect();
    }
    // Lines that were only moved or indented say nothing.
    let only_in = |lines: &[String], others: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !others.contains(line)).cloned().collect()
    };
    let (removed, added) = (only_in(&old, &new), only_in(&new, &old));
    describe_pair(&removed.join(" "), &added.join(" ")).into_iter().collect()
}

/// The lines that are not blank, with single spaces; comments only if there is nothing else.
fn filled(lines: &[String]) -> Vec<String> {
    let lines: Vec<String> = lines.iter().map(|line| one_line(line)).filter(|line| !line.is_empty()).collect();
    let is_code = |line: &&String| !["//", "/*", "* ", "# ", "<!--"].iter().any(|start| line.starts_with(start));
    let code: Vec<String> = lines.iter().filter(is_code).cloned().collect();
    if code.is_empty() { lines } else { code }
}

fn describe_pair(old: &str, new: &str) -> Option<String> {
    let ends = |text: &str| text.trim().trim_end_matches([',', ';']).to_owned();
    match (old.trim().is_empty(), new.trim().is_empty()) {
        (true, true) => return None,
        (true, false) => return Some(format!("+ {}", clip(&ends(new), MAX_ADDED_CHARS))),
        (false, true) => return Some(format!("- {}", clip(&ends(old), MAX_ADDED_CHARS))),
        (false, false) if old == new => return None,
        (false, false) => {}
    }
    let is_short = |text: &str| text.chars().count() <= MAX_WHOLE_LINE_CHARS;
    let (old, new) = if is_short(old) && is_short(new) { (old, new) } else { differing_part(old, new) };
    let (old, new) = (ends(old), ends(new));
    match (old.is_empty(), new.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("+ {}", clip(&new, MAX_ADDED_CHARS))),
        (false, true) => Some(format!("- {}", clip(&old, MAX_ADDED_CHARS))),
        // Only the punctuation at the end differs.
        (false, false) if old == new => None,
        (false, false) => Some(format!("{} → {}", clip(&old, MAX_SIDE_CHARS), clip(&new, MAX_SIDE_CHARS))),
    }
}

/// The differing part of two lines, from the name before it to the end of the word in which they differ.
fn differing_part<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    let (old_tokens, new_tokens) = (tokens(old), tokens(new));
    let common = old_tokens.iter().zip(&new_tokens).take_while(|(one, other)| one == other).count();
    let rest = old_tokens.len().min(new_tokens.len()) - common;
    let ending = old_tokens.iter().rev().zip(new_tokens.iter().rev()).take(rest);
    let ending = ending.take_while(|(one, other)| one == other).count();
    let length = |tokens: &[&str]| tokens.iter().map(|token| token.len()).sum::<usize>();
    let start = name_start(&old[..length(&old_tokens[..common])]);
    // What is added at the very beginning is shown with what it precedes.
    let ending =
        if start == length(&old_tokens[..common]) && rest == ending { ending.saturating_sub(1) } else { ending };
    // A quoted value is shown with its closing quote.
    let is_quote = old_tokens.get(old_tokens.len() - ending).is_some_and(|next| matches!(*next, "\"" | "'" | "`"));
    let ending = ending - usize::from(is_quote && ending > 0);
    let end = length(&old_tokens[old_tokens.len() - ending..]);
    (&old[start..old.len() - end], &new[start..new.len() - end])
}

/// Words, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

/// Where the clause begins whose end is the end of the text: `f({ max: ` → the offset of `max`. A value alone would not
/// say what was changed.
fn name_start(text: &str) -> usize {
    let mut start = text.len();
    let mut chars = 0;
    let mut has_name = false;
    for token in tokens(text).into_iter().rev() {
        chars += token.chars().count();
        let is_separator = matches!(token, "{" | "(" | "[" | "," | ";" | "<" | "|" | "&");
        if chars > MAX_NAME_CHARS || (is_separator && has_name) {
            break;
        }
        start -= token.len();
        has_name |= token.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    }
    start + (text[start..].len() - text[start..].trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_differing_part_of_a_line_is_shown() {
        for (old, new, expect) in [
            ("max: 5,", "max: 20,", "max: 5 → max: 20"),
            (
                "const pool = new Pool({ host: config.host, max: 5, idle: 10 })",
                "const pool = new Pool({ host: config.host, max: 20, idle: 10 })",
                "max: 5 → max: 20",
            ),
            ("\"zod\": \"^3.22.0\",", "\"zod\": \"^4.1.0\",", "\"zod\": \"^3.22.0\" → \"zod\": \"^4.1.0\""),
            (
                "import { readFileSync, writeFileSync } from 'node:fs';",
                "import { readFileSync, writeFileSync, existsSync } from 'node:fs';",
                "writeFileSync → writeFileSync, existsSync",
            ),
            (
                "func (c *Client) Fetch(ctx context.Context, id string) error {",
                "func (c *Client) Fetch(ctx context.Context, id string, retries int) error {",
                "id string → id string, retries int",
            ),
        ] {
            assert_eq!(describe_pair(old, new).as_deref(), Some(expect));
        }
    }
}
