//! JSON of `serve`, `token` and `open`.

use serde::Serialize;

use super::SCHEMA;

/// Where the server listens.
#[derive(Serialize)]
pub(crate) struct ServerAddressJson {
    schema: u8,
    /// Base URL of the HTTP API and the web UI.
    pub(crate) url: String,
    /// One-time link that signs a browser in; only on a terminal, because a log may be read by others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// Path of the Unix socket, for processes of the same user.
    pub(crate) socket: String,
    pid: u32,
}

impl ServerAddressJson {
    pub(crate) fn new(url: String, link: Option<String>, socket: String, pid: u32) -> Self {
        Self { schema: SCHEMA, url, link, socket, pid }
    }
}

/// The API token.
#[derive(Serialize)]
pub(crate) struct ApiTokenJson<'a> {
    schema: u8,
    token: &'a str,
}

impl<'a> ApiTokenJson<'a> {
    pub(crate) fn new(token: &'a str) -> Self {
        Self { schema: SCHEMA, token }
    }
}

/// A one-time link that signs a browser in.
#[derive(Serialize)]
pub(crate) struct LoginLinkJson<'a> {
    schema: u8,
    link: &'a str,
}

impl<'a> LoginLinkJson<'a> {
    pub(crate) fn new(link: &'a str) -> Self {
        Self { schema: SCHEMA, link }
    }
}
