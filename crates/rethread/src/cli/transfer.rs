//! Arguments of `export` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{JsonArgs, ScopeArgs};

/// How sessions are written to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// JSON lines, which `rethread import` reads
    #[default]
    Jsonl,
    /// Markdown
    Md,
    /// One HTML file without scripts
    Html,
}

impl ExportFormat {
    /// The media type of a file.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            ExportFormat::Jsonl => "application/jsonl; charset=utf-8",
            ExportFormat::Md => "text/markdown; charset=utf-8",
            ExportFormat::Html => "text/html; charset=utf-8",
        }
    }

    /// The end of a file's name.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            ExportFormat::Jsonl => "jsonl",
            ExportFormat::Md => "md",
            ExportFormat::Html => "html",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Sessions: ID or its start or end, alias, name, or words from its name [default: all of the project]
    #[arg(value_name = "REF", conflicts_with_all = ["project", "all_projects"])]
    pub(crate) references: Vec<String>,
    /// Export the sessions that match a search
    #[arg(long, value_name = "QUERY", conflicts_with = "references")]
    pub(crate) search: Option<String>,
    /// Set the format: jsonl for `rethread import`, md or html to read
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File written by `rethread export`; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Show what would be imported; store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
