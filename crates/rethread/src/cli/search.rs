//! Arguments of `search` and `timeline`.

use clap::{Args, ValueHint};
use rethread_engine::HitKind;
use rethread_model::Agent;

use super::{JsonArgs, ScopeArgs, values};

/// The long help of `search`. Lines indented by four spaces stay a table in the terminal and in `docs/cli.md`.
pub(super) const SEARCH_HELP: &str = "\
Search sessions, most relevant first.

Results need not contain every word: more matches and rarer words rank higher. Search syntax:

    fix deadlock         any form of the words: fix also finds fixed and fixing
    \"borrow checker\"     exact phrase
    -windows             exclude this word
    file:src/parser.rs   episodes that touched this file; a name or the end of a path is enough
    tool:bash            episodes that used this tool
    agent:pi             sessions of this agent
    kind:error,prompt    only prompt, answer, tool, error, summary, reasoning or note
    after:2026-03-01     on or after this date (also since:)
    before:yesterday     before this day (until: includes the day)
    last week            a bare date boosts results from that time; it does not filter
    since Monday         only since then; also after, before, until and between A and B
    the week before the release
                         only that week; the day of the release is looked up in your sessions

Anything else is treated as plain words. Quote the whole query in a shell. Each result
has a citation that `rethread show` and `rethread timeline --around` accept. An episode is a
prompt and what followed.";

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words and filters; put a query that starts with a dash after `--`
    #[arg(value_name = "QUERY", allow_negative_numbers = true)]
    pub(crate) query: Vec<String>,
    /// Search only these kinds of entries
    #[arg(long = "kind", value_name = "KIND,…", value_delimiter = ',', ignore_case = true, value_parser = values::kind())]
    pub(crate) kinds: Vec<HitKind>,
    /// Search only sessions of this agent, such as codex
    #[arg(long, value_parser = values::agent(), hide_possible_values = true)]
    pub(crate) agent: Option<Agent>,
    /// Search only episodes that touched FILE: a path, the end of one, or a name; can be repeated
    #[arg(long = "file", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<String>,
    /// Search only episodes that used TOOL; can be repeated
    #[arg(long = "tool", value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Search only this session, even in another project
    #[arg(long, value_name = "REF")]
    pub(crate) session: Option<String>,
    /// Show at most N results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = values::limit())]
    pub(crate) limit: u16,
    /// Group results by session
    #[arg(long, conflicts_with = "json")]
    pub(crate) group: bool,
    /// Show whole entries instead of excerpts
    #[arg(long)]
    pub(crate) full: bool,
    /// Also show the prompt and answer around each result
    #[arg(long)]
    pub(crate) exchange: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    /// Show episodes before and after ID: a citation REF:LINE, or an episode ID
    #[arg(long, value_name = "ID")]
    pub(crate) around: Option<String>,
    /// Show only episodes that touched FILE: a path, the end of one, or a name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) file: Option<String>,
    /// Show only this session, even in another project
    #[arg(long, value_name = "REF")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    /// Show at most N episodes
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = values::limit())]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TimeArgs {
    /// Only since WHEN: 7d, yesterday, 'last week', 2026-03, 2026-03-14T12:00
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only until WHEN; a day or week is included whole
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}
