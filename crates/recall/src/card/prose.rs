//! Extracts prose from prompts and answers: drops markup, machine output and pasted data.

use rethread_model::one_line;

/// Elements that agents insert into user text. They are removed with their content.
const MACHINE_ELEMENTS: [&str; 8] = [
    "system-reminder",
    "command-name",
    "command-message",
    "local-command-stdout",
    "local-command-stderr",
    "task-notification",
    "bash-stdout",
    "ide_selection",
];
/// Prefixes of lines that were not typed by a person, in lower case.
const MACHINE_LINES: [&str; 22] = [
    "caveat:",
    "[request interrupted",
    "this session is being continued",
    "{",
    "}",
    "[{",
    "]",
    "\"",
    "|",
    "---",
    "===",
    "+++",
    "@@ ",
    "```",
    "├",
    "│",
    "└",
    "$ ",
    "% ",
    "at /",
    "traceback (",
    "#!/",
];
/// Prefixes of bracketed placeholders that agents insert, in lower case.
const PLACEHOLDERS: [&str; 4] = ["image", "pasted text", "request interrupted", "redacted"];
/// Abbreviations whose period does not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "resp", "incl"];
/// A line with at least this many characters was probably wrapped by width, not by its author.
const WRAPPED_LINE_CHARS: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProseLineKind {
    Heading,
    ListItem,
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProseLine {
    pub(super) kind: ProseLineKind,
    pub(super) text: String,
}

/// The prose lines of a text, without markup.
pub(super) fn prose_lines(text: &str) -> Vec<ProseLine> {
    let text = without_tags(&without_escapes(text));
    let mut lines: Vec<ProseLine> = Vec::new();
    let (mut is_code, mut goes_on, mut is_aside) = (false, false, false);
    for raw in text.lines() {
        let line = raw.trim().trim_end_matches('\\').trim_end();
        // An explanation that a style of Claude Code frames with lines; it is beside the work.
        let is_frame = line.contains("────");
        if is_frame || is_aside {
            is_aside = if is_frame { line.contains('★') } else { true };
            goes_on = false;
            continue;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        // The rest of the text is the pasted patch.
        if line.starts_with("diff --git") {
            break;
        }
        if is_code || line.is_empty() || is_machine_line(line) {
            goes_on = false;
            continue;
        }
        let (shape, rest) = classify_line(line);
        let rest = one_line(&without_emphasis(&without_links(rest)));
        match lines.last_mut() {
            Some(last) if goes_on && shape == ProseLineKind::Text && last.kind != ProseLineKind::Heading => {
                last.text = format!("{} {rest}", last.text);
            }
            _ if rest.is_empty() => {}
            _ => lines.push(ProseLine { kind: shape, text: rest }),
        }
        goes_on = raw.chars().count() >= WRAPPED_LINE_CHARS;
    }
    lines
}

/// Splits a line into sentences, keeping their punctuation.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, sign) in line.char_indices().filter(|(_, sign)| matches!(sign, '.' | '?' | '!')) {
        let end = at + sign.len_utf8();
        let before = &line[from..at];
        let word = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let is_short = sign == '.'
            && (word.chars().count() < 2
                || word.bytes().all(|byte| byte.is_ascii_digit())
                || ABBREVIATIONS.contains(&word.trim_start_matches('(')));
        if line[end..].starts_with(' ') && !is_short {
            sentences.push(line[from..end].trim());
            from = end;
        }
    }
    sentences.push(line[from..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// All sentences of a text, without headings.
pub(super) fn prose_sentences(text: &str) -> Vec<String> {
    let lines = prose_lines(text).into_iter().filter(|line| line.kind != ProseLineKind::Heading);
    lines.flat_map(|line| sentences(&line.text).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Whether at least two thirds of the non-blank characters are letters.
pub(super) fn is_mostly_letters(text: &str) -> bool {
    let (mut letters, mut others) = (0, 0);
    for sign in text.chars().filter(|sign| !sign.is_whitespace()) {
        if sign.is_alphabetic() { letters += 1 } else { others += 1 }
    }
    letters > 2 * others
}

/// Removes terminal escape sequences and replaces dangerous characters with spaces.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign == '\u{1b}' {
            if signs.next_if_eq(&'[').is_some() {
                while signs.next_if(|c| c.is_ascii_digit() || ";?".contains(*c)).is_some() {}
                signs.next();
            }
        } else {
            out.push(if rethread_model::is_unsafe_to_display(sign) { ' ' } else { sign });
        }
    }
    out
}

/// Removes comments, machine elements and all other tags. `Vec<String>` is not a tag.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match element_length(from) {
            Some(length) if !before.ends_with(|c: char| c.is_alphanumeric()) || from.starts_with("</") => {
                out.push(' ');
                rest = &from[length..];
            }
            _ => {
                out.push('<');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Length in bytes of the comment, element or tag at the start of a text.
fn element_length(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return Some(text.find("-->").map_or(text.len(), |at| at + 3));
    }
    let inside = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = text.find(['>', '\n']).filter(|at| text[*at..].starts_with('>'))? + 1;
    let name: String = inside.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    if MACHINE_ELEMENTS.contains(&name.as_str()) && !text.starts_with("</") {
        let closing = format!("</{name}>");
        return Some(text.find(&closing).map_or(end, |at| at + closing.len()));
    }
    Some(end)
}

fn is_machine_line(line: &str) -> bool {
    let lower = line.to_lowercase();
    MACHINE_LINES.iter().any(|beginning| lower.starts_with(beginning))
        || line.ends_with(['{', '}', ';', '\\'])
        || !line.chars().any(char::is_alphanumeric)
}

/// The kind of a line, and its text without the Markdown marker.
fn classify_line(line: &str) -> (ProseLineKind, &str) {
    let bare = line.trim_start_matches('#');
    if bare.len() < line.len() && bare.starts_with(' ') {
        return (ProseLineKind::Heading, bare.trim());
    }
    let line = line.trim_start_matches(['>', ' ']);
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(['.', ')']).filter(|rest| digits.len() < line.len() && rest.starts_with(' '));
    let listed = ["- ", "* ", "• ", "– "].iter().find_map(|sign| line.strip_prefix(sign));
    match numbered.or(listed) {
        Some(item) => {
            let item = item.trim();
            let unticked = ["[ ] ", "[x] ", "[X] "].iter().find_map(|sign| item.strip_prefix(sign));
            (ProseLineKind::ListItem, unticked.unwrap_or(item))
        }
        None => (ProseLineKind::Text, line),
    }
}

/// Replaces links with their text and removes agent placeholders.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        rest = from;
        let Some(close) = from.find(']') else { break };
        let words = &from[1..close];
        let after = &from[close + 1..];
        let link = after.strip_prefix('(').and_then(|link| link.find(')'));
        let lower = words.to_lowercase();
        if PLACEHOLDERS.iter().any(|beginning| lower.starts_with(beginning)) {
            out.push(' ');
        } else if link.is_some() {
            out.push_str(words);
        } else {
            out.push_str(&from[..=close]);
        }
        rest = link.map_or(after, |end| &after[end + 2..]);
    }
    out.push_str(rest);
    out
}

/// The text without emphasis and pictures.
pub(super) fn without_emphasis(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "");
    let is_picture = |c: char| matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}');
    text.replace(is_picture, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<String> = prose_lines(text).into_iter().map(|line| line.text).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn only_prose_is_left() {
        check("Caveat: The messages below were generated\n\nfix it", &["fix it"]);
        check("<system-reminder>do this</system-reminder>fix <b>it</b>", &["fix it"]);
        check("<!-- task:1 -->\nuse Vec<String> here", &["use Vec<String> here"]);
        check(
            "\u{1b}[31mred\u{1b}[0m\n[Image #1] see [the docs](https://x.example/y) **now**",
            &["red", "see the docs now"],
        );
        check("look:\n```\ncode\n```\n{\"a\": 1}\n| a | b |\n- [ ] one\n2. two", &["look:", "one", "two"]);
        check("fix this\ndiff --git a b\n+x", &["fix this"]);
        check("[Request interrupted by user]", &[]);
        check("🚫 No **copies**: removed it 🎉", &["No copies: removed it"]);
        check("Fixed.\n`★ Insight ───────`\nWhy it is so\n`──────────`\nPushed.", &["Fixed.", "Pushed."]);
        check(
            &format!("{}\nand goes on", "a long line that was broken by its width ".repeat(2).trim()),
            &["a long line that was broken by its width a long line that was broken by its width and goes on"],
        );
    }

    #[test]
    fn sentences_end_at_sentence_punctuation() {
        let check = |line: &str, expect: &[&str]| assert_eq!(sentences(line), expect);
        check("One more thing? the author is wrong. fix it", &["One more thing?", "the author is wrong.", "fix it"]);
        check("See e.g. index.html, v1.2. Then stop!", &["See e.g. index.html, v1.2.", "Then stop!"]);
        check("1. first", &["1. first"]);
    }

    #[test]
    fn code_is_not_prose() {
        assert!(is_mostly_letters("fix the parser") && !is_mostly_letters("a=1; b={2}; c[3]"));
    }
}
