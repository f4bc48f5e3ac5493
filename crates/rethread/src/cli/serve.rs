//! Arguments of `serve`, `mcp`, `open` and `token`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::JsonArgs;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen on ADDRESS; port 0 picks a free one [default: `serve.listen`, else 127.0.0.1:7717]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Use this TLS certificate (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Use this TLS private key (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
    /// Do not sync while serving
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Create or update the schema of the store first
    #[arg(long)]
    pub(crate) migrate: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Do not sync in the background
    #[arg(long)]
    pub(crate) no_sync: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Print a one-time link instead of starting a browser
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// Create a new token; the old one and all sign-ins stop working
    #[arg(long)]
    pub(crate) rotate: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
