//! What all pages have around them: head, ways to the others, and the keys.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use rethread_model::{SessionId, Timestamp};

use super::assets::address;
use super::parts::Line;

/// Which of the main pages one is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Board,
    Search,
    Memory,
    Usage,
    Health,
    /// On none of them.
    Elsewhere,
}

/// The main pages: where, what they are called, and the key that leads there after `g`.
const PLACES: [(Place, &str, &str, &str); 5] = [
    (Place::Board, "/", "Board", "b"),
    (Place::Search, "/search", "Search", "s"),
    (Place::Memory, "/memory", "Memory", "m"),
    (Place::Usage, "/usage", "Usage", "u"),
    (Place::Health, "/health", "Health", "h"),
];

/// What the keys do, as it is told to whoever asks.
const KEYS: [(&[&str], &str); 11] = [
    (&["/"], "search"),
    (&["g", "b"], "the board"),
    (&["g", "s"], "search, with filters"),
    (&["g", "m"], "memory"),
    (&["g", "u"], "usage"),
    (&["g", "h"], "health"),
    (&["j", "k"], "the next, the one before"),
    (&["Enter"], "open it"),
    (&["n", "p"], "in a session: the next prompt, the one before"),
    (&["e"], "in a session: unfold or fold all calls"),
    (&["Esc"], "close, or leave a field"),
];

/// A page.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) place: Place,
    /// Whether it is made anew when something was stored.
    pub(super) is_live: bool,
    /// The one session it is about, if it is about one.
    pub(super) session: Option<SessionId>,
    pub(super) body: Markup,
}

impl Page {
    /// A page that stays as it is.
    pub(super) fn new(title: impl Into<String>, place: Place, body: Markup) -> Self {
        Self { title: title.into(), place, is_live: false, session: None, body }
    }

    /// The same, made anew when something was stored.
    pub(super) fn live(self) -> Self {
        Self { is_live: true, ..self }
    }

    /// The same, made anew when something was stored that may be of this session.
    pub(super) fn live_for(self, session: SessionId) -> Self {
        Self { is_live: true, session: Some(session), ..self }
    }

    /// The page as a document.
    pub(super) fn into_string(self, now: Timestamp) -> String {
        let body = html! {
            a.skip href="#main" { "Skip to the content" }
            (header(self.place))
            main id="main" tabindex="-1" data-live[self.is_live] data-session=[self.session] data-now=(now) { (self.body) }
            (keys())
        };
        document(&self.title, None, &html! {}, &body).into_string()
    }
}

/// A document with our look.
pub(super) fn document(title: &str, class: Option<&str>, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (Line(title)) " · Rethread" }
                link rel="icon" type="image/svg+xml" href=(address("icon.svg"));
                link rel="stylesheet" href=(address("page.css"));
                script src=(address("theme.js")) {}
                script src=(address("page.js")) defer {}
                (head)
            }
            body class=[class] { (body) }
        }
    }
}

/// The sign of the house: a thread with a knot at either end.
pub(super) fn sign() -> Markup {
    html! {
        svg.sign viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" {
            path d="M6 22C6 7 16 6 16 16s10 9 10-6" {}
            circle cx="6" cy="23" r="3" {}
            circle cx="26" cy="9" r="3" {}
        }
    }
}

fn header(here: Place) -> Markup {
    html! {
        header.top {
            a.home href="/" aria-label="Rethread, to the board" { (sign()) span { "Rethread" } }
            nav aria-label="Pages" {
                @for (place, path, name, key) in PLACES {
                    a href=(path) data-key=(key) aria-current=[(place == here).then_some("page")] { (name) }
                }
            }
            @if here != Place::Search {
                form.find action="/search" role="search" aria-label="All sessions" {
                    input type="search" name="q" placeholder="Search all sessions" aria-label="Search all sessions"
                        autocomplete="off" data-find;
                    kbd aria-hidden="true" { "/" }
                }
            }
            div.tools {
                span.pulse id="pulse" role="status" hidden { span.sr { "Live" } }
                button.icon type="button" id="theme" hidden aria-label="Theme: as the system has it" { (THEME) }
                button.icon type="button" id="help" hidden aria-label="Keys" aria-haspopup="dialog" { "?" }
            }
        }
    }
}

/// Half light, half dark.
const THEME: PreEscaped<&str> = PreEscaped(
    "<svg viewBox=\"0 0 20 20\" width=\"18\" height=\"18\" aria-hidden=\"true\"><circle cx=\"10\" cy=\"10\" r=\"7\" \
     fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.6\"/><path d=\"M10 3a7 7 0 0 1 0 14z\" fill=\"currentColor\"/></svg>",
);

fn keys() -> Markup {
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { "Keys" }
            dl {
                @for (keys, what) in KEYS {
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
