//! Flags of the server.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Json;

/// What the server is to do.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen here; serve.listen by default, else 127.0.0.1:7717. Port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// The certificate for TLS, as a PEM file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of that certificate, as a PEM file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
    /// Do not read transcripts as they grow
    #[arg(long)]
    pub(crate) no_watch: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// How to speak MCP.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Do not read what is new in transcripts meanwhile
    #[arg(long)]
    pub(crate) no_sync: bool,
}

/// How to open the page.
#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Print a link that works once, instead of starting a browser
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// What to do with the token.
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Make a new one; the old one and all logins are worth nothing from then on
    #[arg(long)]
    pub(crate) rotate: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}
