//! Where the server listens, and how to open the web UI.

use super::{TextPage, Tone};
use crate::json::ServerAddressJson;

/// Renders the address and the login link.
pub(crate) fn server_address(page: &mut TextPage, serving: &ServerAddressJson) {
    page.add(Tone::Plain, "listening on ").line(Tone::Strong, &serving.url);
    match &serving.link {
        Some(link) if !link.contains("code=") => {
            page.add(Tone::Plain, "members sign in at ").line(Tone::Strong, link);
        }
        Some(link) => {
            page.add(Tone::Plain, "web UI:      ").line(Tone::Strong, link);
            page.line(
                Tone::Dim,
                "The link works once and expires after ten minutes; run `rethread open` for a new one.",
            );
        }
        // Others may be able to read a log, so it must not contain the link.
        None => {
            page.line(Tone::Plain, "run `rethread open` to open the web UI");
        }
    }
}
