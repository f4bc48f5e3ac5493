//! A server, as programs get it.

use serde::Serialize;

use super::SCHEMA;

/// Where it listens.
#[derive(Serialize)]
pub(crate) struct Serving {
    schema: u8,
    /// For programs, and for pages once they are logged in.
    pub(crate) url: String,
    /// Logs a browser in, once; only for somebody who looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// For processes of the same user.
    pub(crate) socket: String,
    pid: u32,
}

impl Serving {
    pub(crate) fn new(url: String, link: Option<String>, socket: String, pid: u32) -> Self {
        Self { schema: SCHEMA, url, link, socket, pid }
    }
}

/// What programs must show.
#[derive(Serialize)]
pub(crate) struct Token<'a> {
    schema: u8,
    token: &'a str,
}

impl<'a> Token<'a> {
    pub(crate) fn new(token: &'a str) -> Self {
        Self { schema: SCHEMA, token }
    }
}

/// The way into the page.
#[derive(Serialize)]
pub(crate) struct Link<'a> {
    schema: u8,
    link: &'a str,
}

impl<'a> Link<'a> {
    pub(crate) fn new(link: &'a str) -> Self {
        Self { schema: SCHEMA, link }
    }
}
