//! The buffer for terminal output. Everything added to it is sanitized, so no caller can forget to.

use std::ops::Range;

use anstyle::{AnsiColor, Style};
use rethread_model::one_line;
use unicode_width::UnicodeWidthStr;

use super::sanitize::sanitize;
use super::wrap::wrap_words;

/// Columns of a wrapped text, even if the terminal is narrower.
const MIN_BLOCK_WIDTH: usize = 20;

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Dim,
    Success,
    Error,
    Warning,
    User,
    Agent,
    Match,
    Keyword,
    Literal,
    Number,
    Added,
    AddedStrong,
    AddedDim,
    Removed,
    RemovedStrong,
    RemovedDim,
}

impl Tone {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Success | Tone::Added => color(AnsiColor::Green),
            Tone::AddedStrong => color(AnsiColor::Green).bold(),
            Tone::AddedDim => color(AnsiColor::Green).dimmed(),
            Tone::Error | Tone::Removed => color(AnsiColor::Red),
            Tone::RemovedStrong => color(AnsiColor::Red).bold(),
            Tone::RemovedDim => color(AnsiColor::Red).dimmed(),
            Tone::Warning | Tone::Literal => color(AnsiColor::Yellow),
            Tone::Keyword => color(AnsiColor::Magenta),
            Tone::Number => color(AnsiColor::Cyan),
            Tone::User => color(AnsiColor::Cyan).bold(),
            Tone::Agent => color(AnsiColor::Magenta).bold(),
            Tone::Match => color(AnsiColor::Yellow).bold(),
        }
    }
}

/// Sanitized output, colored only if colors are enabled.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextPage {
    text: String,
    has_color: bool,
    width: Option<usize>,
    /// Parts of `text` with a tone, in order. Only kept without color, because colors say the same.
    tones: Vec<(Range<usize>, Tone)>,
}

impl TextPage {
    /// `width` is the terminal width in columns; `None` turns truncating and wrapping off.
    pub(crate) fn new(color: bool, width: Option<usize>) -> Self {
        Self { text: String::new(), has_color: color, width, tones: Vec::new() }
    }

    /// Terminal width in columns; `None` if nothing should be truncated or wrapped.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The lines, each in parts with a tone. Only for a page without color, which its reader colors itself.
    pub(crate) fn toned_lines(&self) -> Vec<Vec<(Tone, String)>> {
        let mut tones = self.tones.iter().peekable();
        let (mut at, mut lines) = (0, Vec::new());
        for line in self.text.split_inclusive('\n') {
            let end = at + line.trim_end_matches('\n').len();
            let mut parts = Vec::new();
            while at < end {
                while tones.next_if(|(range, _)| range.end <= at).is_some() {}
                let (until, tone) = match tones.peek() {
                    Some((range, tone)) if range.start <= at => (range.end.min(end), *tone),
                    Some((range, _)) => (range.start.min(end), Tone::Plain),
                    None => (end, Tone::Plain),
                };
                parts.push((tone, self.text[at..until].to_owned()));
                at = until;
            }
            lines.push(parts);
            at = end + 1;
        }
        lines
    }

    /// Adds text that may have several lines.
    pub(crate) fn add(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.push_styled(tone, &sanitize(text))
    }

    /// Adds text and a line break.
    pub(crate) fn line(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.add(tone, text).end_line()
    }

    /// Adds text on one line, padded to `width` columns.
    pub(crate) fn cell(&mut self, tone: Tone, text: &str, width: usize, side: CellAlign) -> &mut Self {
        let text = sanitize_line(text);
        let padding = " ".repeat(width.saturating_sub(text.width()));
        match side {
            CellAlign::Left => self.push_styled(tone, &text).push_styled(Tone::Plain, &padding),
            CellAlign::Right => self.push_styled(Tone::Plain, &padding).push_styled(tone, &text),
        }
    }

    /// Adds parts separated by ` · `, wrapped between parts and indented by `indent`, and ends the line. Empty parts are
    /// skipped.
    pub(crate) fn row(&mut self, parts: &[(Tone, String)], indent: usize) -> &mut Self {
        const BETWEEN: &str = " · ";
        let width = self.width.unwrap_or(usize::MAX);
        let mut used = indent;
        for (tone, part) in
            parts.iter().map(|(tone, part)| (*tone, sanitize_line(part))).filter(|(_, part)| !part.is_empty())
        {
            if used > indent && used + BETWEEN.width() + part.width() > width {
                self.end_line().push_styled(Tone::Plain, &" ".repeat(indent));
                used = indent;
            } else if used > indent {
                self.push_styled(Tone::Dim, BETWEEN);
                used += BETWEEN.width();
            }
            self.push_styled(tone, &part);
            used += part.width();
        }
        self.end_line()
    }

    /// Adds text that starts at column `indent` and is wrapped between words, and ends the line.
    pub(crate) fn block(&mut self, tone: Tone, text: &str, indent: usize) -> &mut Self {
        let width = self.width.map(|width| width.saturating_sub(indent).max(MIN_BLOCK_WIDTH));
        for (at, line) in wrap_words(&sanitize(text), width).iter().enumerate() {
            if at > 0 {
                self.push_styled(Tone::Plain, &" ".repeat(indent));
            }
            self.push_styled(tone, line).end_line();
        }
        self
    }

    /// Ends the line and removes trailing blanks.
    pub(crate) fn end_line(&mut self) -> &mut Self {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        while self.tones.pop_if(|(range, _)| range.start >= end).is_some() {}
        if let Some((range, _)) = self.tones.last_mut() {
            range.end = range.end.min(end);
        }
        self.text.push('\n');
        self
    }

    fn push_styled(&mut self, tone: Tone, text: &str) -> &mut Self {
        if self.has_color && tone != Tone::Plain && !text.is_empty() {
            let style = tone.style();
            self.text.extend([style.render().to_string().as_str(), text, style.render_reset().to_string().as_str()]);
            return self;
        }
        let start = self.text.len();
        self.text.push_str(text);
        if !self.has_color && tone != Tone::Plain && !text.is_empty() {
            self.tones.push((start..self.text.len(), tone));
        }
        self
    }
}

/// Alignment of the text in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellAlign {
    Left,
    Right,
}

/// Sanitizes text and joins it into one line.
pub(crate) fn sanitize_line(text: &str) -> String {
    one_line(&sanitize(text))
}

/// Sanitizes text, joins it into one line and truncates it to `width` columns, ending in `…`.
pub(crate) fn truncate_to_width(text: &str, width: usize) -> String {
    let text = sanitize_line(text);
    if text.width() <= width {
        return text;
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide >= width {
            break;
        }
        used += wide;
        out.push(c);
    }
    if width > 0 {
        out.truncate(out.trim_end().len());
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_sanitized_however_it_is_added() {
        let mut page = TextPage::new(false, None);
        page.add(Tone::Error, "a\u{1b}[2Jb")
            .cell(Tone::Dim, "c\u{7}\nd", 6, CellAlign::Left)
            .line(Tone::Plain, "\u{202e}");
        assert_eq!(page.as_str(), "abc␇ d  \\u{202e}\n");
    }

    #[test]
    fn colors_are_used_only_if_enabled() {
        let mut page = TextPage::new(true, None);
        page.line(Tone::Success, "x");
        assert_eq!(page.as_str(), "\u{1b}[32mx\u{1b}[0m\n");
    }

    #[test]
    fn a_page_without_color_remembers_tones() {
        let mut page = TextPage::new(false, None);
        page.add(Tone::Error, "a\nb").add(Tone::Plain, "c").line(Tone::Dim, "d  ").end_line().line(Tone::User, "e");
        let line = |parts: &[(Tone, &str)]| parts.iter().map(|(tone, text)| (*tone, (*text).to_owned())).collect();
        let expect: [Vec<(Tone, String)>; 4] = [
            line(&[(Tone::Error, "a")]),
            line(&[(Tone::Error, "b"), (Tone::Plain, "c"), (Tone::Dim, "d")]),
            line(&[]),
            line(&[(Tone::User, "e")]),
        ];
        assert_eq!(page.toned_lines(), expect);
    }

    #[test]
    fn row_wraps_between_parts() {
        let parts = ["one two", "", "three", "four"].map(|part| (Tone::Plain, part.to_owned()));
        let mut page = TextPage::new(false, Some(17));
        page.add(Tone::Plain, "x ").row(&parts, 2);
        assert_eq!(page.as_str(), "x one two · three\n  four\n");
        let mut page = TextPage::new(false, None);
        assert_eq!(page.row(&parts, 0).as_str(), "one two · three · four\n");
    }

    // D51
    #[test]
    fn block_wraps_between_words_and_keeps_its_column() {
        let mut page = TextPage::new(false, Some(26));
        page.add(Tone::Plain, "ok  ").block(Tone::Plain, "all entries are indexed", 4);
        assert_eq!(page.as_str(), "ok  all entries are\n    indexed\n");
    }

    #[test]
    fn text_is_truncated_by_columns_not_characters() {
        assert_eq!(truncate_to_width("日本語の名前", 6), "日本…");
        assert_eq!(truncate_to_width("name", 4), "name");
        assert_eq!(truncate_to_width("names", 4), "nam…");
        assert_eq!(truncate_to_width("names", 0), "");
    }
}
