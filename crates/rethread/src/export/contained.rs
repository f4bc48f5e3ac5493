//! Markdown from a session that stays within its place in a document: it formats itself, and nothing else.
//!
//! What could reach further is escaped: HTML, images, which load, links to programs, headings that look like ours, and a
//! code block that is still open at the end. A change may give the text after it another meaning, so the result is
//! parsed again until nothing is left to change.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::fenced;

/// How often a text is parsed again. Text that needs more is hostile.
const MAX_ROUNDS: usize = 12;
/// Levels 1 to 3 are those of the document.
const FIRST_FREE_LEVEL: usize = 4;

/// The text as Markdown that stays within its place.
pub(super) fn contained_markdown(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_ROUNDS {
        let edits = find_edits(&text);
        if edits.is_empty() {
            return match open_fence(&text) {
                None => text,
                Some(fence) => format!("{text}\n{fence}"),
            };
        }
        for (range, replacement) in edits.into_iter().rev() {
            text.replace_range(range, &replacement);
        }
    }
    fenced(&text, "")
}

/// What a human typed, for a quote: nothing of it is formatted that could load, run or open something.
pub(super) fn plain_line(line: &str) -> String {
    let line = line.replace('<', "\\<").replace("![", "\\![").replace("](", "]\\(");
    let mark = line.trim_start();
    if mark.starts_with("```") || mark.starts_with("~~~") {
        return format!("{}\\{mark}", &line[..line.len() - mark.len()]);
    }
    line
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}

/// What has to be replaced, in the order of the text, without overlaps.
fn find_edits(text: &str) -> Vec<(Range<usize>, String)> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut is_code = false;
    for (event, range) in parser(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Start(Tag::Heading { level, .. }) => edits.extend(lower_heading(text, range, level)),
            Event::Start(Tag::Image { .. }) => edits.push((range.start..range.start, "\\".to_owned())),
            Event::Start(Tag::Link { dest_url, link_type, .. }) if !is_harmless(&dest_url, link_type) => {
                edits.push((range.start..range.start, "\\".to_owned()));
            }
            Event::Text(_) | Event::Html(_) | Event::InlineHtml(_) if !is_code => {
                let marks = text[range.clone()].match_indices('<').map(|(at, _)| range.start + at);
                edits.extend(marks.filter(|at| !is_escaped(text, *at)).map(|at| (at..at + 1, "&lt;".to_owned())));
            }
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    edits.dedup_by(|next, one| next.0.start < one.0.end || next.0 == one.0);
    edits
}

/// Whether an odd number of backslashes is before it.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// A heading of a level that the document does not use; one that is underlined becomes a paragraph.
fn lower_heading(text: &str, range: Range<usize>, level: HeadingLevel) -> Option<(Range<usize>, String)> {
    if level as usize >= FIRST_FREE_LEVEL {
        return None;
    }
    let heading = &text[range.clone()];
    if heading.starts_with('#') {
        return Some((
            range.start..range.start,
            "#".repeat(FIRST_FREE_LEVEL - 1).chars().take(6 - level as usize).collect(),
        ));
    }
    let line = heading.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let mark = heading[line..].find(['=', '-'])?;
    let at = range.start + line + mark;
    Some((at..at, "\\".to_owned()))
}

/// Whether a link opens a page or a mail, or leads to a place in a document or folder.
fn is_harmless(target: &str, kind: LinkType) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    kind == LinkType::Email
        || scheme.is_none_or(|scheme| ["http", "https", "mailto"].contains(&scheme.as_str()) || scheme.contains('/'))
}

/// The mark that ends a code block which is open at the end of the text.
fn open_fence(text: &str) -> Option<String> {
    const PROBE: &str = "\n\nprobe";
    let probed = format!("{text}{PROBE}");
    let mut last = None;
    for (event, range) in parser(&probed).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            last = Some(range);
        }
    }
    let block = &probed[last.filter(|range| range.end > text.len() + 2)?];
    let mark = block.chars().next()?;
    Some(block.chars().take_while(|c| *c == mark).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(contained_markdown(text), expect);
        assert_eq!(contained_markdown(expect), expect, "again");
    }

    #[test]
    fn text_that_stays_in_its_place_is_not_changed() {
        for text in [
            "plain\n\n- a list\n- **of** `a < b`\n",
            "```html\n<b># not a heading</b>\n```",
            "#### small\n\n[a](https://example.org) <https://example.org> [b](src/a.rs)",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "a &lt; b",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_reaches_further_is_escaped() {
        check("```\ncode", "```\ncode\n```");
        check("a\n\n~~~~sh\ncode\n```", "a\n\n~~~~sh\ncode\n```\n~~~~");
        check("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>");
        check("<!-- open\n\n# title", "&lt;!-- open\n\n#### title");
        check("<div>\n## Prompt · 2026", "&lt;div>\n##### Prompt · 2026");
        check("Prompt\n===\ntext", "Prompt\n\\===\ntext");
        check("![a](http://127.0.0.1/x.png)", "\\![a](http://127.0.0.1/x.png)");
        check("[a](javascript:alert(1))", "\\[a](javascript:alert(1))");
        check("a <img src=x> b", "a &lt;img src=x> b");
    }

    #[test]
    fn hostile_text_ends_in_a_code_block_or_stays_contained() {
        let nested = "> - ".repeat(50) + "<!--\n" + &"# a\n<x>\n~~~\n".repeat(40);
        let contained = contained_markdown(&nested);
        assert!(open_fence(&contained).is_none());
        assert!(find_edits(&contained).is_empty());
    }

    #[test]
    fn a_typed_line_is_plain() {
        assert_eq!(plain_line("<b> ![a](b) [c](javascript:d)"), "\\<b> \\![a]\\(b) [c]\\(javascript:d)");
        assert_eq!(plain_line("  ```sh"), "  \\```sh");
    }
}
