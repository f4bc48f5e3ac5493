//! Arguments of `store …`: work on a whole store.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::JsonArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy a store into an empty one.
    ///
    /// FROM and TO are the folder of a store (such as ~/.rethread), its file, or a database on a server:
    /// `postgres://USER@HOST/DATABASE`. Each may end with ?space=NAME. Without it, all spaces of FROM are copied under
    /// their names; a single one becomes the space `local` of a folder. FROM is only read, and may be in use.
    ///
    /// Copies sessions, facts, notes, names, cards, what forgetting left behind, vectors, spending and threads, and
    /// compares both sides before anything becomes visible; exits with 3 if they differ. A copy that was interrupted
    /// leaves nothing to clean up: run it again. Settings, archives and the search index are not copied; the index is
    /// built by the first search.
    ///
    /// Passwords: `RETHREAD_STORE_PASSWORD` or `RETHREAD_STORE_PASSWORD_FILE`, or a file for each side.
    #[command(
        after_long_help = "Examples:\n  rethread store copy ~/.rethread 'postgres://me@db.example.org/memory?space=acme'\n  rethread store copy 'postgres://me@db.example.org/memory?space=acme' ~/acme-backup"
    )]
    Copy(StoreCopyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StoreCopyArgs {
    /// Store to read: folder, file or postgres://…
    #[arg(value_name = "FROM", value_hint = ValueHint::AnyPath)]
    pub(crate) from: String,
    /// Store to write: folder, file or postgres://…
    #[arg(value_name = "TO", value_hint = ValueHint::AnyPath)]
    pub(crate) to: String,
    /// Create or migrate the tables of TO on a server
    #[arg(long)]
    pub(crate) migrate: bool,
    /// Read the password of FROM from this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from_password_file: Option<PathBuf>,
    /// Read the password of TO from this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) to_password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

impl StoreCommand {
    /// Whether `--json` was given.
    pub(crate) fn wants_json(&self) -> bool {
        let Self::Copy(args) = self;
        args.json.json
    }
}
