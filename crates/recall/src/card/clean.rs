//! Makes prose of what people and models type into a terminal: no markup, no machine output, no pasted data.

use rethread_model::one_line;

/// Elements that machines write into texts of humans; what is in them goes with them.
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
/// How lines begin that nobody typed.
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
/// How remarks in brackets begin that an agent put in place of something else.
const PLACEHOLDERS: [&str; 4] = ["image", "pasted text", "request interrupted", "redacted"];
/// Words after which a full stop ends no sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "resp", "incl"];
/// A line at least this long was broken by width, not by its author.
const WRAPPED: usize = 60;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Heading,
    Item,
    Text,
}

/// A line of prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) shape: Shape,
    pub(super) text: String,
}

/// The lines of a text that are prose, without markup.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let text = without_elements(&without_escapes(text));
    let mut lines: Vec<Line> = Vec::new();
    let (mut is_code, mut goes_on) = (false, false);
    for raw in text.lines() {
        let line = raw.trim().trim_end_matches('\\').trim_end();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        // What follows a pasted patch is the patch.
        if line.starts_with("diff --git") {
            break;
        }
        if is_code || line.is_empty() || is_of_machine(line) {
            goes_on = false;
            continue;
        }
        let (shape, rest) = shaped(line);
        let rest = one_line(&without_emphasis(&without_brackets(rest)));
        match lines.last_mut() {
            Some(last) if goes_on && shape == Shape::Text && last.shape != Shape::Heading => {
                last.text = format!("{} {rest}", last.text);
            }
            _ if rest.is_empty() => {}
            _ => lines.push(Line { shape, text: rest }),
        }
        goes_on = raw.chars().count() >= WRAPPED;
    }
    lines
}

/// The sentences of a line, with their full stops.
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

/// All sentences of a text, headings left out.
pub(super) fn prose(text: &str) -> Vec<String> {
    let lines = lines(text).into_iter().filter(|line| line.shape != Shape::Heading);
    lines.flat_map(|line| sentences(&line.text).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A text of at most so many characters, cut between words; a cut is shown by `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let whole = text[..end].rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", text[..whole].trim_end_matches(|c: char| c.is_whitespace() || ",;:-–(".contains(c)))
}

/// Whether most of a text is letters of words.
pub(super) fn is_language(text: &str) -> bool {
    let (mut letters, mut others) = (0, 0);
    for sign in text.chars().filter(|sign| !sign.is_whitespace()) {
        if sign.is_alphabetic() { letters += 1 } else { others += 1 }
    }
    letters > 2 * others
}

/// Without escape sequences of terminals.
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
            out.push(if rethread_model::is_dangerous(sign) { ' ' } else { sign });
        }
    }
    out
}

/// Without comments, elements of machines, and all other tags. `Vec<String>` is no tag.
fn without_elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match element(from) {
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

/// How long the comment, element or tag is that a text begins with.
fn element(text: &str) -> Option<usize> {
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

fn is_of_machine(line: &str) -> bool {
    let lower = line.to_lowercase();
    MACHINE_LINES.iter().any(|beginning| lower.starts_with(beginning))
        || line.ends_with(['{', '}', ';', '\\'])
        || !line.chars().any(char::is_alphanumeric)
}

/// What a line is, and its text without what marks it as that.
fn shaped(line: &str) -> (Shape, &str) {
    let bare = line.trim_start_matches('#');
    if bare.len() < line.len() && bare.starts_with(' ') {
        return (Shape::Heading, bare.trim());
    }
    let line = line.trim_start_matches(['>', ' ']);
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(['.', ')']).filter(|rest| digits.len() < line.len() && rest.starts_with(' '));
    let listed = ["- ", "* ", "• ", "– "].iter().find_map(|sign| line.strip_prefix(sign));
    match numbered.or(listed) {
        Some(item) => {
            let item = item.trim();
            let unticked = ["[ ] ", "[x] ", "[X] "].iter().find_map(|sign| item.strip_prefix(sign));
            (Shape::Item, unticked.unwrap_or(item))
        }
        None => (Shape::Text, line),
    }
}

/// Links become their words; placeholders of agents go.
fn without_brackets(text: &str) -> String {
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

fn without_emphasis(text: &str) -> String {
    text.replace("**", "").replace("__", "").replace("✅", "").replace("❌", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<String> = lines(text).into_iter().map(|line| line.text).collect();
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
        check("mend this\ndiff --git a b\n+x", &["mend this"]);
        check("[Request interrupted by user]", &[]);
        check(
            &format!("{}\nand goes on", "a long line that was broken by its width ".repeat(2).trim()),
            &["a long line that was broken by its width a long line that was broken by its width and goes on"],
        );
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let check = |line: &str, expect: &[&str]| assert_eq!(sentences(line), expect);
        check("One more thing? the author is wrong. mend it", &["One more thing?", "the author is wrong.", "mend it"]);
        check("See e.g. index.html, v1.2. Then stop!", &["See e.g. index.html, v1.2.", "Then stop!"]);
        check("1. first", &["1. first"]);
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(cut("one two three", 100), "one two three");
        assert_eq!(cut("one two three four", 12), "one two…");
        assert_eq!(cut("ööööööööööööööö", 5), "öööö…");
        assert!(is_language("mend the parser") && !is_language("a=1; b={2}; c[3]"));
    }
}
