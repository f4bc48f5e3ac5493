//! The layout of all pages: head, navigation and the list of keyboard shortcuts.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use rethread_model::{SessionId, Timestamp};

use super::assets::asset_url;
use super::components::OneLine;

/// The current entry of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NavPage {
    Board,
    Search,
    Memory,
    Usage,
    Health,
    /// A page that is not in the navigation.
    Other,
}

/// The navigation: page, path, name, and the shortcut key after `g`.
const NAV_PAGES: [(NavPage, &str, &str, &str); 5] = [
    (NavPage::Board, "/", "Board", "b"),
    (NavPage::Search, "/search", "Search", "s"),
    (NavPage::Memory, "/memory", "Memory", "m"),
    (NavPage::Usage, "/usage", "Usage", "u"),
    (NavPage::Health, "/health", "Health", "h"),
];

/// The keyboard shortcuts.
const SHORTCUTS: [(&[&str], &str); 15] = [
    (&["/"], "search"),
    (&["Ctrl", "K"], "go to a session, page or search"),
    (&["g", "b"], "board"),
    (&["g", "s"], "search, with filters"),
    (&["g", "m"], "memory"),
    (&["g", "u"], "usage"),
    (&["g", "h"], "health"),
    (&["j", "k"], "next item, previous item"),
    (&["Enter"], "open item"),
    (&["n", "p"], "in a session: next prompt, previous prompt"),
    (&["e"], "in a session: expand or collapse all calls"),
    (&["f"], "in a session: search it"),
    (&["Enter", "Shift"], "in that search: next match, with Shift the previous"),
    (&["[", "]", "<", ">"], "in a session: previous, next session in the list"),
    (&["Esc"], "close dialog, leave field"),
];

pub(super) struct WebPage {
    pub(super) title: String,
    pub(super) nav_page: NavPage,
    /// Whether the browser reloads it when something was stored.
    pub(super) is_live: bool,
    /// Limits reloads to changes of this session.
    pub(super) session: Option<SessionId>,
    pub(super) body: Markup,
}

impl WebPage {
    /// A page without live updates.
    pub(super) fn new(title: impl Into<String>, nav_page: NavPage, body: Markup) -> Self {
        Self { title: title.into(), nav_page, is_live: false, session: None, body }
    }

    /// Updates when anything was stored.
    pub(super) fn live(self) -> Self {
        Self { is_live: true, ..self }
    }

    /// Updates when something was stored in this session.
    pub(super) fn live_for_session(self, session: SessionId) -> Self {
        Self { is_live: true, session: Some(session), ..self }
    }

    /// The complete HTML document, with the names of the member and the space, if a member is signed in.
    pub(super) fn into_string(self, now: Timestamp, member: Option<(&str, &str)>) -> String {
        let body = html! {
            a.skip href="#main" { "Skip to content" }
            (header(self.nav_page, member))
            main id="main" tabindex="-1" data-live[self.is_live] data-session=[self.session] data-now=(now) { (self.body) }
            (shortcuts_dialog())
            (palette_dialog())
        };
        document(&self.title, None, &html! {}, &body).into_string()
    }
}

/// An HTML document with our styles and scripts.
pub(super) fn document(title: &str, class: Option<&str>, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (OneLine(title)) " · Rethread" }
                link rel="icon" type="image/svg+xml" href=(asset_url("icon.svg"));
                link rel="stylesheet" href=(asset_url("page.css"));
                script src=(asset_url("theme.js")) {}
                script src=(asset_url("page.js")) defer {}
                (head)
            }
            body class=[class] { (body) }
        }
    }
}

/// The logo: a thread with a knot at either end.
pub(super) fn logo() -> Markup {
    html! {
        svg.sign viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" {
            path d="M6 22C6 7 16 6 16 16s10 9 10-6" {}
            circle cx="6" cy="23" r="3" {}
            circle cx="26" cy="9" r="3" {}
        }
    }
}

fn header(current: NavPage, member: Option<(&str, &str)>) -> Markup {
    // The health of the machine is for its operator.
    let is_shown = |place| member.is_none() || place != NavPage::Health;
    html! {
        header.top {
            a.home href="/" aria-label="Rethread, go to the board" { (logo()) span { "Rethread" } }
            nav aria-label="Pages" {
                @for (place, path, name, key) in NAV_PAGES.into_iter().filter(|(place, ..)| is_shown(*place)) {
                    a href=(path) data-key=(key) aria-current=[(place == current).then_some("page")] { (name) }
                }
            }
            @if current != NavPage::Search {
                form.find action="/search" role="search" aria-label="Search" {
                    input type="search" name="q" placeholder="Search all sessions" aria-label="Search all sessions"
                        autocomplete="off" data-find;
                    kbd aria-hidden="true" { "/" }
                }
            }
            div.tools {
                span.pulse id="pulse" role="status" hidden { span.sr { "Live" } }
                @if let Some((name, space)) = member {
                    span.member title={ "Space " (space) } { (name) }
                    form.sign-out method="post" action="/logout" { button.plain type="submit" { "Sign out" } }
                }
                button.icon type="button" id="open-palette" hidden aria-haspopup="dialog" title="Go to a session, page or search" { "Ctrl K" }
                button.icon type="button" id="theme" hidden aria-label="Theme: system" { (THEME_ICON) }
                button.icon type="button" id="help" hidden aria-label="Keyboard shortcuts" aria-haspopup="dialog" { "?" }
            }
        }
    }
}

/// The icon of the theme button: half light, half dark.
const THEME_ICON: PreEscaped<&str> = PreEscaped(
    "<svg viewBox=\"0 0 20 20\" width=\"18\" height=\"18\" aria-hidden=\"true\"><circle cx=\"10\" cy=\"10\" r=\"7\" \
     fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.6\"/><path d=\"M10 3a7 7 0 0 1 0 14z\" \
     fill=\"currentColor\"/></svg>",
);

/// Jumps to pages, sessions and searches. Filled by the script.
fn palette_dialog() -> Markup {
    html! {
        dialog.palette id="palette" aria-label="Go to a session, page or search" {
            input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
                aria-label="Go to a session, page or search" placeholder="Go to a session, page or search" autocomplete="off" spellcheck="false";
            ul id="palette-list" role="listbox" aria-label="Results" {}
        }
    }
}

fn shortcuts_dialog() -> Markup {
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { "Keyboard shortcuts" }
            dl {
                @for (keys, what) in SHORTCUTS {
                    div {
                        dt { @for key in keys { kbd { (key) } " " } }
                        dd { (what) }
                    }
                }
            }
            form method="dialog" { button.plain { "Close" } }
        }
    }
}
