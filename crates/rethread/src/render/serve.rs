//! Where the server listens, and how to open its page.

use super::{Page, Tone};
use crate::json::Serving;

/// Tells where it listens and how to get in.
pub(crate) fn serving(page: &mut Page, serving: &Serving) {
    page.add(Tone::Plain, "listening on ").line(Tone::Strong, &serving.url);
    match &serving.link {
        Some(link) => {
            page.add(Tone::Plain, "the page:    ").line(Tone::Strong, link);
            page.line(Tone::Dim, "This link works once, for ten minutes; `rethread open` makes another.");
        }
        // What is written to a log may be read by others.
        None => {
            page.line(Tone::Plain, "`rethread open` opens the page");
        }
    }
}
