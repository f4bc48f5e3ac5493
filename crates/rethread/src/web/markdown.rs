//! Renders agent messages: paragraphs, lists, code, tables. The output is safe whatever the text contains.
//!
//! The library only parses. Every tag is written here, from a fixed list; only links have attributes, and they lead to
//! http(s) URLs or nowhere. HTML in the text is escaped; images are not loaded.

use std::borrow::Cow;
use std::fmt::Write;

use maud::{Escaper, Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::render::sanitize;

/// A table in a box that scrolls, because its words may be longer than the page is wide.
const TABLE_BEGIN: &str = "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>";
/// Deepest nesting of lists and quotes that is rendered.
const MAX_DEPTH: usize = 16;

/// Markdown as HTML.
pub(crate) fn markdown(text: &str) -> Markup {
    let text = sanitize(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = HtmlWriter::default();
    for event in Parser::new_ext(&text, options) {
        writer.handle_event(event);
    }
    while let Some(end) = writer.open.pop() {
        writer.out.push_str(&end);
    }
    PreEscaped(writer.out)
}

#[derive(Default)]
struct HtmlWriter {
    out: String,
    /// The end tags of open elements.
    open: Vec<Cow<'static, str>>,
    is_head: bool,
}

impl HtmlWriter {
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open_tag(tag),
            Event::End(_) => {
                if let Some(end) = self.open.pop() {
                    self.out.push_str(&end);
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            // Agents mean their line breaks.
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.out.push_str(if is_done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => self.text(&name),
        }
    }

    fn text(&mut self, text: &str) {
        // Writing to a String cannot fail.
        let _ = Escaper::new(&mut self.out).write_str(text);
    }

    fn open_tag(&mut self, tag: Tag<'_>) {
        if self.open.len() >= MAX_DEPTH {
            return self.open.push(Cow::Borrowed(""));
        }
        match tag {
            Tag::Heading { .. } => self.element("<p class=\"heading\">", "</p>"),
            Tag::BlockQuote(_) => self.element("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => self.code(&kind),
            Tag::HtmlBlock => self.element("<p class=\"raw\">", "</p>"),
            Tag::List(None) => self.element("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                let _ = write!(self.out, "<ol start=\"{first}\">");
                self.open.push(Cow::Borrowed("</ol>"));
            }
            Tag::Item => self.element("<li>", "</li>"),
            Tag::Table(_) => self.element(TABLE_BEGIN, "</tbody></table></div>"),
            Tag::TableHead => {
                self.is_head = true;
                self.element("<thead><tr>", "</tr></thead><tbody>");
            }
            Tag::TableRow => {
                self.is_head = false;
                self.element("<tr>", "</tr>");
            }
            Tag::TableCell if self.is_head => self.element("<th scope=\"col\">", "</th>"),
            Tag::TableCell => self.element("<td>", "</td>"),
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<s>", "</s>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => self.text_with_target("[image: ", &dest_url, "]"),
            _ => self.element("<p>", "</p>"),
        }
    }

    fn element(&mut self, begin: &str, end: &'static str) {
        self.out.push_str(begin);
        self.open.push(Cow::Borrowed(end));
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>) {
        self.out.push_str("<pre>");
        if let CodeBlockKind::Fenced(language) = kind
            && let Some(language) = language.split([' ', ',']).next().filter(|language| !language.is_empty())
        {
            self.out.push_str("<span class=\"language\">");
            self.text(language);
            self.out.push_str("</span>");
        }
        self.out.push_str("<code>");
        self.open.push(Cow::Borrowed("</code></pre>"));
    }

    /// A link to an http(s) URL. For any other, its text and its target are shown as text.
    fn link(&mut self, address: &str) {
        if !is_http_url(address) {
            return self.text_with_target("", address, "");
        }
        self.out.push_str("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
        self.text(address);
        self.out.push_str("\">");
        self.open.push(Cow::Borrowed("</a>"));
    }

    fn text_with_target(&mut self, before: &str, address: &str, after: &str) {
        self.out.push_str(before);
        let mut end = " <code>".to_owned();
        let _ = Escaper::new(&mut end).write_str(address);
        end.push_str("</code>");
        end.push_str(after);
        self.open.push(Cow::Owned(end));
    }
}

fn is_http_url(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(markdown(text).into_string(), expect, "{text}");
    }

    #[test]
    fn common_markdown_is_rendered() {
        check(
            "It **is** `x < y`, *so*:\n\n- one\n- two",
            "<p>It <strong>is</strong> <code>x &lt; y</code>, <em>so</em>:</p><ul><li>one</li><li>two</li></ul>",
        );
        check(
            "```rust\nlet a = \"<b>\";\n```",
            "<pre><span class=\"language\">rust</span><code>let a = &quot;&lt;b&gt;&quot;;\n</code></pre>",
        );
        check("3. c\n4. d", "<ol start=\"3\"><li>c</li><li>d</li></ol>");
        check("# Title\nfirst\nsecond", "<p class=\"heading\">Title</p><p>first<br>second</p>");
        check(
            "|a|b|\n|-|-|\n|1|2|",
            "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table><thead><tr><th \
             scope=\"col\">a</th><th scope=\"col\">b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>",
        );
    }

    #[test]
    fn html_is_escaped_and_links_lead_to_http_urls_only() {
        // T24
        check("<script>alert(1)</script>", "<p class=\"raw\">&lt;script&gt;alert(1)&lt;/script&gt;</p>");
        check("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>");
        check("[go](javascript:alert(1))", "<p>go <code>javascript:alert(1)</code></p>");
        check("[go](JaVaScRiPt://x%0aalert(1))", "<p>go <code>JaVaScRiPt://x%0aalert(1)</code></p>");
        check("![x](http://t.example/p.png)", "<p>[image: x <code>http://t.example/p.png</code>]</p>");
        check(
            "[go](https://a.example/?a=1&b=\"'><script>)",
            "<p><a rel=\"noopener noreferrer nofollow\" target=\"_blank\" \
             href=\"https://a.example/?a=1&amp;b=&quot;'&gt;&lt;script&gt;\">go</a></p>",
        );
        check(
            "```\"><script>\nx\n```",
            "<pre><span class=\"language\">&quot;&gt;&lt;script&gt;</span><code>x\n</code></pre>",
        );
    }

    #[test]
    fn control_characters_become_visible() {
        // T25
        check("\u{1b}]52;c;aGk=\u{7} \u{1b}[31mred\u{1b}[0m", "<p>␛]52;c;aGk=␇ red</p>");
    }

    #[test]
    fn deep_nesting_is_limited() {
        let deep = markdown(&">".repeat(5_000)).into_string();
        assert_eq!(deep.matches("<blockquote>").count(), MAX_DEPTH, "{}", deep.len());
        assert_eq!(deep.matches("</blockquote>").count(), MAX_DEPTH);
    }
}
