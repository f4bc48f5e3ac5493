//! Styles in the colors of the terminal's own palette, so that light and dark themes both work. Without color, weight
//! and underlines say the same.

use ratatui::style::{Color, Modifier, Style};

use crate::render::Tone;

#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    has_color: bool,
}

impl Theme {
    pub(super) const fn new(has_color: bool) -> Self {
        Self { has_color }
    }

    pub(super) fn tone(self, tone: Tone) -> Style {
        let plain = Style::reset();
        match tone {
            Tone::Plain => plain,
            Tone::Strong => plain.add_modifier(Modifier::BOLD),
            Tone::Dim => self.dim(),
            Tone::Success | Tone::Added => self.colored(Color::Green),
            Tone::AddedStrong => self.colored(Color::Green).add_modifier(Modifier::BOLD),
            Tone::AddedDim => self.colored(Color::Green).add_modifier(Modifier::DIM),
            Tone::Error | Tone::Removed => self.colored(Color::Red),
            Tone::RemovedStrong => self.colored(Color::Red).add_modifier(Modifier::BOLD),
            Tone::RemovedDim => self.colored(Color::Red).add_modifier(Modifier::DIM),
            Tone::Warning | Tone::Literal => self.colored(Color::Yellow),
            Tone::Keyword => self.colored(Color::Magenta),
            Tone::Number => self.colored(Color::Cyan),
            Tone::User => self.colored(Color::Cyan).add_modifier(Modifier::BOLD),
            Tone::Agent => self.colored(Color::Magenta).add_modifier(Modifier::BOLD),
            Tone::Match => {
                let style = self.colored(Color::Yellow).add_modifier(Modifier::BOLD);
                if self.has_color { style } else { style.add_modifier(Modifier::UNDERLINED) }
            }
        }
    }

    #[expect(clippy::unused_self, reason = "every style comes from a theme")]
    pub(super) fn dim(self) -> Style {
        Style::reset().add_modifier(Modifier::DIM)
    }

    /// What has the focus or is selected.
    pub(super) fn accent(self) -> Style {
        self.colored(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The open tab, the selected item of a menu, a place that was found.
    #[expect(clippy::unused_self, reason = "every style comes from a theme")]
    pub(super) fn inverse(self) -> Style {
        Style::reset().add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    fn colored(self, color: Color) -> Style {
        if self.has_color { Style::reset().fg(color) } else { Style::reset() }
    }
}
