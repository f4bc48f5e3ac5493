//! Where the server listens, and how to open its page.

use super::{Page, Tone};
use crate::json::Serving;

/// Tells where it listens and how to get in.
pub(crate) fn serving(page: &mut Page, serving: &Serving) {
    page.add(Tone::Plain, "listening on ").line(Tone::Strong, &serving.url);
    page.add(Tone::Plain, "open the page ").line(Tone::Strong, &serving.link);
    page.line(Tone::Dim, "the link works once, for ten minutes; `rethread open` makes another");
}
