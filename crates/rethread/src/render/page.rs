//! Text on its way to a person. Everything that goes on a page is made harmless first, so no caller can forget it.

use anstyle::{AnsiColor, Style};
use rethread_model::one_line;
use unicode_width::UnicodeWidthStr;

use super::neutral::neutral;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Dim,
    Good,
    Bad,
    Careful,
    You,
    Agent,
    Match,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Good => colour(AnsiColor::Green),
            Tone::Bad => colour(AnsiColor::Red),
            Tone::Careful => colour(AnsiColor::Yellow),
            Tone::You => colour(AnsiColor::Cyan).bold(),
            Tone::Agent => colour(AnsiColor::Magenta).bold(),
            Tone::Match => colour(AnsiColor::Yellow).bold(),
        }
    }
}

/// Text being put together: harmless, and coloured only where colour is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    text: String,
    colour: bool,
    width: Option<usize>,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(colour: bool, width: Option<usize>) -> Self {
        Self { text: String::new(), colour, width }
    }

    /// Columns there are; none where nothing should be cut or broken.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// What is on it.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds text that may have several lines.
    pub(crate) fn add(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.put(tone, &neutral(text))
    }

    /// Adds text and a line break.
    pub(crate) fn line(&mut self, tone: Tone, text: &str) -> &mut Self {
        self.add(tone, text).end()
    }

    /// Adds text padded to a column: to the left edge, or to the right one.
    pub(crate) fn cell(&mut self, tone: Tone, text: &str, width: usize, side: Side) -> &mut Self {
        let text = single(text);
        let room = " ".repeat(width.saturating_sub(text.width()));
        match side {
            Side::Left => self.put(tone, &text).put(Tone::Plain, &room),
            Side::Right => self.put(Tone::Plain, &room).put(tone, &text),
        }
    }

    /// Adds parts in a row from column `indent` on, broken between parts where the line is full, and ends the line.
    pub(crate) fn row(&mut self, parts: &[(Tone, String)], indent: usize) -> &mut Self {
        const BETWEEN: &str = " · ";
        let width = self.width.unwrap_or(usize::MAX);
        let mut used = indent;
        for (tone, part) in parts.iter().map(|(tone, part)| (*tone, single(part))).filter(|(_, part)| !part.is_empty())
        {
            if used > indent && used + BETWEEN.width() + part.width() > width {
                self.end().put(Tone::Plain, &" ".repeat(indent));
                used = indent;
            } else if used > indent {
                self.put(Tone::Dim, BETWEEN);
                used += BETWEEN.width();
            }
            self.put(tone, &part);
            used += part.width();
        }
        self.end()
    }

    /// Ends the line; blanks at its end go.
    pub(crate) fn end(&mut self) -> &mut Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }

    fn put(&mut self, tone: Tone, text: &str) -> &mut Self {
        if self.colour && tone != Tone::Plain && !text.is_empty() {
            let style = tone.style();
            self.text.extend([style.render().to_string().as_str(), text, style.render_reset().to_string().as_str()]);
        } else {
            self.text.push_str(text);
        }
        self
    }
}

/// The edge a cell's text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Harmless text on one line.
pub(crate) fn single(text: &str) -> String {
    one_line(&neutral(text))
}

/// Harmless text on one line, at most so many columns wide; a cut is shown by `…`.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let text = single(text);
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
    fn foreign_text_is_harmless_however_it_gets_on_the_page() {
        let mut page = Page::new(false, None);
        page.add(Tone::Bad, "a\u{1b}[2Jb").cell(Tone::Dim, "c\u{7}\nd", 6, Side::Left).line(Tone::Plain, "\u{202e}");
        assert_eq!(page.as_str(), "abc␇ d  \\u{202e}\n");
    }

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        let mut page = Page::new(true, None);
        page.line(Tone::Good, "x");
        assert_eq!(page.as_str(), "\u{1b}[32mx\u{1b}[0m\n");
    }

    #[test]
    fn a_row_breaks_between_its_parts() {
        let parts = ["one two", "", "three", "four"].map(|part| (Tone::Plain, part.to_owned()));
        let mut page = Page::new(false, Some(17));
        page.add(Tone::Plain, "x ").row(&parts, 2);
        assert_eq!(page.as_str(), "x one two · three\n  four\n");
        let mut page = Page::new(false, None);
        assert_eq!(page.row(&parts, 0).as_str(), "one two · three · four\n");
    }

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(fit("日本語の名前", 6), "日本…");
        assert_eq!(fit("name", 4), "name");
        assert_eq!(fit("names", 4), "nam…");
        assert_eq!(fit("names", 0), "");
    }
}
