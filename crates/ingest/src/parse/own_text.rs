//! Removes our own text from what a host stores: what was injected into a prompt or a tool result is not memory.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use rethread_model::{INJECTION_TAG, TOOL_RESULT_NOTE};

/// Tags that hosts put around what a hook returned.
pub(super) const HOOK_TAGS: [&str; 6] = [
    "hook_context",
    "hook_result",
    "qwen:user-prompt-submit-context",
    "system_reminder",
    "system-reminder",
    "user-prompt-submit-hook",
];

/// Bytes that agents may put before the output of one of our own tools: an error flag, the duration.
const WRAPPER_BYTES: usize = 100;
/// What agents put there.
const OUTPUT_PREFIXES: [&str; 3] = ["Error:", "<tool_use_error>", "Wall time:"];
/// How the last line of an injection begins. The last line of a tool's output is [`TOOL_RESULT_NOTE`].
const INJECTION_ENDS: [&str; 2] = ["(as of ", "(rethread, "];
/// Words in the line that a host writes in place of what it cut out of a long output.
const CUT_MARKS: [&str; 2] = ["truncated", "omitted"];

/// Removes every injection with the tags that a host put around it. Of one that the host cut, what is left is removed:
/// from its beginning to the end, or from where the text was cut to its end.
pub(crate) fn without_own_text(text: &str) -> Cow<'_, str> {
    if !mentions_tag(text) {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut rest, mut separator) = (String::new(), text, "");
    while let Some(own) = find_injection(rest) {
        let own = with_hook_tags(rest, own);
        let (before, after) = (rest[..own.start].trim_end(), rest[own.end..].trim_start());
        if !before.is_empty() {
            if !kept.is_empty() {
                kept.push_str(separator);
            }
            kept.push_str(before);
            separator = "";
        }
        let gap = [&rest[before.len()..own.start], &rest[own.end..rest.len() - after.len()]];
        separator = match separator {
            _ if gap.iter().any(|space| space.contains('\n')) => "\n",
            "" if gap.iter().any(|space| !space.is_empty()) => " ",
            known => known,
        };
        rest = after;
    }
    if kept.is_empty() {
        return Cow::Borrowed(rest);
    }
    if !rest.is_empty() {
        kept.push_str(separator);
        kept.push_str(rest);
    }
    Cow::Owned(kept)
}

/// A tool's output without what we injected. The output of our own tools stays as it is, so that it is recognized.
pub(crate) fn without_injections(output: &str) -> Cow<'_, str> {
    if is_tool_output(output) { Cow::Borrowed(output) } else { without_own_text(output) }
}

/// Whether one of our own tools wrote this output. It only quotes memory. An injection may follow an output that is as
/// short as what agents put before ours.
pub(super) fn is_tool_output(text: &str) -> bool {
    let beginning = &text[..text.floor_char_boundary(WRAPPER_BYTES + INJECTION_TAG.len())];
    if !mentions_tag(beginning) {
        return false;
    }
    let Some(own) = find_injection(text) else { return false };
    let inside = text[own.clone()].trim_end_matches(&close_tag()).trim_end();
    let is_injection =
        inside.lines().next_back().is_some_and(|line| INJECTION_ENDS.iter().any(|end| line.starts_with(end)));
    let before = text[..own.start].trim();
    text.contains(TOOL_RESULT_NOTE)
        || !is_injection && (before.is_empty() || OUTPUT_PREFIXES.iter().any(|prefix| before.starts_with(prefix)))
}

/// Almost no text has our tag, and long outputs are searched for it.
fn mentions_tag(text: &str) -> bool {
    memmem::find(text.as_bytes(), INJECTION_TAG.as_bytes()).is_some()
}

/// The first injection, or what is left of one.
fn find_injection(text: &str) -> Option<Range<usize>> {
    let close = close_tag();
    if let Some(cut) = find_cut_beginning(text, &close) {
        return Some(cut);
    }
    let open = format!("<{INJECTION_TAG}");
    let last_close = text.rfind(&close);
    let mut from = 0;
    while let Some(start) = text[from..].find(&open).map(|at| from + at) {
        from = start + open.len();
        let after = &text[from..];
        if !after.starts_with(|c: char| c == '>' || c.is_whitespace()) {
            continue;
        }
        if last_close > Some(start) {
            let end = after.find(&close).map_or(text.len(), |at| from + at + close.len());
            return Some(start..end);
        }
        // A program may print the name of the tag; our text begins on a new line.
        if after.strip_prefix('>').is_some_and(|inside| inside.is_empty() || inside.starts_with('\n')) {
            return Some(start..text.len());
        }
    }
    None
}

/// The end of an injection whose beginning the host cut: everything before it is ours, back to the line that says so.
fn find_cut_beginning(text: &str, close: &str) -> Option<Range<usize>> {
    let at = text.find(close)?;
    let is_own_line = at == 0 || text[..at].ends_with('\n');
    if !is_own_line || text[..at].contains(&format!("<{INJECTION_TAG}")) {
        return None;
    }
    let mut start = 0;
    let mut line_start = 0;
    for line in text[..at].split_inclusive('\n') {
        line_start += line.len();
        if CUT_MARKS.iter().any(|mark| line.contains(mark)) {
            start = line_start;
        }
    }
    Some(start..at + close.len())
}

/// The range with the tags around it that contain nothing else.
fn with_hook_tags(text: &str, mut own: Range<usize>) -> Range<usize> {
    loop {
        let (before, after) = (text[..own.start].trim_end(), text[own.end..].trim_start());
        let Some((start, name)) = last_open_tag(before).filter(|(_, name)| HOOK_TAGS.contains(name)) else {
            return own;
        };
        let rest = match after.strip_prefix(&format!("</{name}>")) {
            Some(rest) => rest,
            // The host may have cut the end.
            None if after.is_empty() => after,
            None => return own,
        };
        own = start..text.len() - rest.len();
    }
}

/// Where the tag that ends a text begins, and its name.
fn last_open_tag(text: &str) -> Option<(usize, &str)> {
    let start = text.strip_suffix('>')?.rfind('<')?;
    let inside = &text[start + 1..text.len() - 1];
    Some((start, inside.split_whitespace().next()?))
}

fn close_tag() -> String {
    format!("</{INJECTION_TAG}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "<rethread-context>\nerror: planted\n\n(as of 2026-03-02 09:08 UTC)\n</rethread-context>";

    fn check(text: &str, expect: &str) {
        assert_eq!(without_own_text(text), expect, "{text}");
    }

    #[test]
    fn only_our_text_is_removed() {
        for text in ["", "fine\n", "  two\n\nlines  ", "a rethread-context here", "what is <rethread-context> for?"] {
            check(text, text);
        }
        check(&format!("boom\n\n{OWN}"), "boom");
        check(&format!("{OWN}\n\nfix it"), "fix it");
        check(&format!("one\n{OWN}\n\n{OWN}\ntwo\n{OWN}"), "one\ntwo");
        check(OWN, "");
        check("a <rethread-context>x</rethread-context> b", "a b");
        check("{\"a\":\"<rethread-context>x</rethread-context>\"}", "{\"a\":\"\"}");
    }

    #[test]
    fn tags_of_hosts_around_our_text_are_removed_with_it() {
        check(&format!("boom\n<hook_context>{OWN}</hook_context>"), "boom");
        check(&format!("<hook_result hook_event=\"UserPromptSubmit\">\n{OWN}\n</hook_result>"), "");
        check(
            &format!("go\n<system_reminder>\n<hook_context source=\"x\">{OWN}</hook_context>\n</system_reminder>"),
            "go",
        );
        check(&format!("<hook_context>theirs {OWN}</hook_context>"), "<hook_context>theirs </hook_context>");
        check(&format!("go<hook_context>{}", &OWN[..40]), "go");
    }

    #[test]
    fn what_is_left_of_a_cut_injection_is_removed() {
        check(&format!("boom\n\n{}", &OWN[..40]), "boom");
        check("boom\n\n<rethread-context>", "boom");
        check("error: planted\n(as of now)\n</rethread-context>", "");
        check(
            "boom\n[... 900 characters truncated ...]\nnted\n</rethread-context>\n",
            "boom\n[... 900 characters truncated ...]",
        );
        check("let close = \"</rethread-context>\";\nmore", "let close = \"</rethread-context>\";\nmore");
        check("let open = \"<rethread-context>\";\nmore", "let open = \"<rethread-context>\";\nmore");
    }

    #[test]
    fn output_of_our_tools_differs_from_an_injection() {
        let output = format!("<rethread-context>\n1  a hit\n{TOOL_RESULT_NOTE}\n</rethread-context>");
        for (text, expect) in [
            (output.clone(), true),
            (format!("Error: {output}"), true),
            (format!("Wall time: 0.1 seconds\nOutput:{output}"), true),
            (format!("{output}\n\n{OWN}"), true),
            (output[..30].to_owned(), true),
            (OWN.to_owned(), false),
            (format!("Exit code 1\n{OWN}"), false),
            (format!("{}{output}", "x".repeat(200)), false),
            ("what is <rethread-context>?".to_owned(), false),
        ] {
            assert_eq!(is_tool_output(&text), expect, "{text}");
        }
    }
}
