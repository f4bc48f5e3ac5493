//! Reduces a text to what its author wrote: without code, quotes, logs, tables and pasted documents.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::cues::compile_pattern;
use crate::facts::pattern::CuePattern;

/// Texts longer than this, in bytes, are mostly pasted or generated; only their first and last paragraphs are used.
const LONG_TEXT_BYTES: usize = 1500;
/// A longer text is a document.
const MAX_INSTRUCTIONS_BYTES: usize = 12_000;
/// Maximum length of such a paragraph, in bytes, to be considered typed.
const MAX_TYPED_PARAGRAPH_BYTES: usize = 400;
/// A line longer than this, in bytes, is not prose.
const MAX_PROSE_LINE_BYTES: usize = 2000;

/// The lines of prose in a human's text, in order. An empty line replaces whatever was removed.
pub(super) fn human_prose(text: &str) -> Vec<&str> {
    let text = text.split("\n\nNote: The user's next message may").next().unwrap_or(text);
    if text.starts_with("The user wants to clarify these questions") {
        return Vec::new();
    }
    let lines: Vec<&str> =
        prose_lines(text).into_iter().map(|line| if is_reported(line) { "" } else { line }).collect();
    let lines = strip_pasted(&lines);
    if text.len() <= LONG_TEXT_BYTES { lines } else { end_paragraphs(&lines) }
}

/// Whether a prompt contains a ticket: a report of a problem with its parts, or a longer text after "fix this issue".
pub(super) fn is_ticket(text: &str) -> bool {
    // Some words are cut off, because their spelling differs.
    const PARTS: [&str; 19] = [
        "reproduction steps",
        "minimal working example",
        "describe the workflow",
        "traceback (most recent call last)",
        "steps to reproduce",
        "to reproduce:",
        "how to reproduce",
        "minimal example",
        "minimal reproducible",
        "expected behavio",
        "expected result",
        "expected output",
        "actual behavio",
        "actual result",
        "describe the bug",
        "problem_statement",
        "bug report",
        "acceptance criteria",
        "\n>>> ",
    ];
    static ORDER: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:please |pls |can you |could you |help me )*(?:fix|solve|resolve|address|implement|tackle|work on|handle|triage|look at|look into) [^\n]{0,60}\b(?:bug|issue|ticket|problem|feature request|story)\b",
        )
    });
    let lower = text.to_lowercase();
    let is_longer = text.lines().nth(3).is_some();
    PARTS.iter().any(|part| lower.contains(part))
        || (is_longer && ORDER.as_ref().is_some_and(|order| order.is_match(text)))
}

/// The lines of a long text of a human, such as a template of instructions; none if the text is short enough to be read
/// as a whole.
pub(super) fn long_prose(text: &str) -> Vec<&str> {
    let is_document = text.len() > MAX_INSTRUCTIONS_BYTES || text.trim_start().starts_with(['#', '<', '-', '>']);
    if text.len() <= LONG_TEXT_BYTES || is_document {
        return Vec::new();
    }
    strip_pasted(&prose_lines(text))
}

/// The lines of prose in a model's text, in order. An empty line replaces whatever was removed.
pub(super) fn prose_lines(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut fence: Option<&str> = None;
    let mut tag: Option<String> = None;
    // Most texts have no elements.
    let closed = LazyCell::new(|| closing_tag_names(text));
    for line in text.lines() {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if let Some(mark) = fence {
            fence = if is_fence && trimmed.starts_with(mark) { None } else { fence };
        } else if let Some(end) = &tag {
            tag = if trimmed.contains(end.as_str()) { None } else { tag };
        } else if is_fence {
            fence = trimmed.get(..3);
        } else if let Some(name) = opening_tag_name(trimmed) {
            let end = format!("</{name}>");
            let is_closed = trimmed.contains(&end) || !closed.contains(name);
            tag = (!is_closed).then_some(end);
        } else if is_prose(line) {
            kept.push(trimmed);
            continue;
        }
        kept.push("");
    }
    kept
}

/// Whether a line reports what someone else said: `he said: "use redis"`, `the error says: never …`.
fn is_reported(line: &str) -> bool {
    static REPORTED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(r#"(?i)\b(say|says|said|told|writes|wrote|reads|states)\b[^"'“]{0,30}(["“]|:\s)"#)
    });
    line.contains(['"', '“', ':']) && REPORTED.as_ref().is_some_and(|reported| reported.is_match(line))
}

/// The names of all elements that end somewhere in a text. Collected once, because a text may have thousands of them.
fn closing_tag_names(text: &str) -> HashSet<&str> {
    let names = text.match_indices("</").filter_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
            .filter(|end| rest[*end..].starts_with('>'))
            .map(|end| &rest[..end])
    });
    names.collect()
}

/// The name of an element that starts the line.
fn opening_tag_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('<')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// Whether a line begins like a log or has one of its signs. Most sentences do not.
fn may_be_log(trimmed: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, b':' | b'[' | b'(' | b'{' | b'"');
    let has_name = |name: &str| trimmed.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    !trimmed.starts_with(|c: char| c.is_ascii_alphabetic())
        || has_name("npm")
        || has_name("diff")
        || trimmed.bytes().any(is_sign)
}

fn is_prose(line: &str) -> bool {
    static LOG: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?x)^\s*(
              > | \| | \$\s | ➜ | [+-]\s?\S*[{}();=] | \[?\d{2,4}[-:/.]\d\d | \d+(\.\d+)?\s+(npm|error|warn)
              | (?i:npm|error|warning|warn|fatal|traceback|exception|caused\ by|info|debug)\b\s?[:\[({]
              | (?i:npm)\ (?:warn|error) | \w*(?:Error|Exception)\b\s?: | at\ \S+\ ?[\(:] | File\ \x22 | diff\ --git | @@ | [│┌└├─⏺⎿✗✘] | \#!
            )",
        )
    });
    let trimmed = line.trim();
    if trimmed.is_empty() || line.len() > MAX_PROSE_LINE_BYTES || line.starts_with("     ") || line.starts_with('\t') {
        return false;
    }
    if may_be_log(trimmed) && LOG.as_ref().is_some_and(|log| log.is_match(line)) {
        return false;
    }
    let is_sign = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b';' | b'=' | b'|' | b'\\' | b'$' | b'#' | b'@' | b'^' | b'~'
        )
    };
    let signs = trimmed.bytes().filter(is_sign).count();
    signs * 10 <= trimmed.len() + 20
}

/// Removes everything after a line that announces a pasted text.
fn strip_pasted<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    static MARK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?ix)(\b(here(\ is|\ are|'?s)|this\ is|see|following|below|review|summari[sz]e|translate|implement|from|read|check)\b.{0,60}
              \b(doc|docs|document|log|logs|e?mail|plan|spec|adr|draft|text|message|output|comment|comments|report|page|article|ticket|issue|transcript|findings|review|skill|prompt|readme|file|error|guide|policy|rules|changelog|this|it)\b.{0,40}:$)
              | \b(say|says|said|writes|wrote|reads|states|reports?)\s*:$
              | ^\s*(e?mail|log|output|error|result|doc|document|context|findings|plan)s?\s*:$",
        )
    });
    let is_mark = |line: &&str| {
        let line = line.trim();
        line.ends_with(':') && MARK.as_ref().is_some_and(|mark| mark.is_match(line))
    };
    let end = lines.iter().position(is_mark).unwrap_or(lines.len());
    lines[..end].to_vec()
}

/// The first and the last paragraph, if they are short enough to have been typed.
fn end_paragraphs<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let paragraphs: Vec<&[&str]> =
        lines.split(|line| line.is_empty()).filter(|paragraph| !paragraph.is_empty()).collect();
    let is_typed = |paragraph: &&[&str]| {
        let length: usize = paragraph.iter().map(|line| line.len()).sum();
        let is_list = paragraph.iter().any(|line| line.starts_with(['#', '-', '*', '•', '|']) || line.contains("**"));
        length <= MAX_TYPED_PARAGRAPH_BYTES && !is_list
    };
    let first = paragraphs.first().copied().filter(is_typed).unwrap_or_default();
    let last = paragraphs.last().copied().filter(|_| paragraphs.len() > 1).filter(is_typed).unwrap_or_default();
    [first, &[""], last].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        human_prose(text).into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn tickets_are_recognized_and_requests_are_not() {
        for (text, expected) in [
            ("Fix this bug based on the notes:\n  title: wrong sum\n  sums should be exact\n  cents are lost", true),
            ("look at this\n\nSteps to reproduce\n1. open the page\n2. the list should be sorted", true),
            ("fix the login bug, and use cookies instead of tokens", false),
            ("Let's plan the shop.\n- use postgres\n- no redis\n- sessions in cookies", false),
        ] {
            assert_eq!(is_ticket(text), expected, "{text}");
        }
    }

    #[test]
    fn only_typed_text_remains() {
        for (text, expected) in [
            ("use tabs", "use tabs"),
            ("look:\n```\nuse tabs\n```\nwhy", "look:/why"),
            ("> use tabs\nno", "no"),
            ("<system-reminder>\nuse tabs\n</system-reminder>\nhello", "hello"),
            ("<b>x</b>\nhello", "hello"),
            ("| a | b |\nhello", "hello"),
            ("npm error code 1\nwhat is it", "what is it"),
            ("Error: no such file\n    at run (x.js:1:1)\nhm", "hm"),
            ("summarise this for me:\n\nwe decided on tabs", ""),
            ("no\n\nNote: The user's next message may contain a preference", "no"),
        ] {
            assert_eq!(kept(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_of_logs_are_no_prose() {
        for line in [
            "NPM warn old lockfile",
            "diff --git a/x b/x",
            "File \"a.py\", line 3",
            "at run (a.js:1:1)",
            "at run :1",
            "ValueError : bad",
            "Exception: bad",
            "info[1] ready",
            "debug {x}",
            "12 error x",
            "2026-01-01 started",
            "$ ls",
            "✗ failed",
            "#!/bin/sh",
        ] {
            assert!(!is_prose(line) && is_prose(&format!("so {line}")), "{line}");
        }
    }

    #[test]
    fn long_text_is_reduced_to_its_ends() {
        let long = format!("use tabs\n\n{}\n\n# Rules\n\nthanks", "- always do it\n".repeat(200));
        assert_eq!(kept(&long), "use tabs/thanks");
    }
}
