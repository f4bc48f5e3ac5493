//! Sessions and their entries as programs get them.

use rethread_engine::{EpisodeText, Listed, Shown as Log};
use rethread_model::{Entry, Outcome, SessionKind, State, Timestamp, Tokens, ToolKind, ToolUse, estimate_tokens};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::shape::{Moment, SessionKindName, StateName, TokensShape};

/// A list of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sessions<'a> {
    schema: u8,
    sessions: Vec<Session<'a>>,
}

impl<'a> Sessions<'a> {
    pub(crate) fn new(sessions: &'a [Listed]) -> Self {
        Self { schema: SCHEMA, sessions: sessions.iter().map(Session::new).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session<'a> {
    pub(super) id: String,
    agent: &'static str,
    external_id: &'a str,
    #[schemars(with = "SessionKindName")]
    kind: SessionKind,
    pub(super) name: Option<&'a str>,
    alias: Option<&'a str>,
    parent: Option<String>,
    project: Option<&'a str>,
    namespace: Option<&'a str>,
    cwd: Option<&'a str>,
    branch: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    #[schemars(with = "StateName")]
    state: State,
    #[schemars(with = "Option<Moment>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    last_activity_at: Option<Timestamp>,
    transcript: Option<&'a str>,
    empty: bool,
    prompts: u64,
    messages: u64,
    tool_calls: u64,
    tool_errors: u64,
    files_edited: u64,
    episodes: u64,
    facts: u64,
    #[schemars(with = "TokensShape")]
    tokens: Tokens,
    cost_usd: Option<f64>,
    raw_tokens: u64,
    kept_tokens: u64,
}

impl<'a> Session<'a> {
    pub(super) fn new(listed: &'a Listed) -> Self {
        let session = &listed.session;
        let counts = session.counts;
        Self {
            id: session.id.to_string(),
            agent: session.agent.as_str(),
            external_id: &session.external_id,
            kind: session.kind,
            name: session.name.as_deref(),
            alias: session.alias.as_deref(),
            parent: session.parent.map(|id| id.to_string()),
            project: session.project.as_deref(),
            namespace: session.namespace.as_deref(),
            cwd: session.cwd.as_deref(),
            branch: session.branch.as_deref(),
            model: session.model.as_deref(),
            state: listed.state,
            started_at: session.started_at,
            last_activity_at: session.last_activity_at,
            transcript: session.transcript.as_deref(),
            empty: session.empty,
            prompts: counts.prompts,
            messages: counts.messages,
            tool_calls: counts.tool_calls,
            tool_errors: counts.tool_errors,
            files_edited: counts.files_edited,
            episodes: counts.episodes,
            facts: 0,
            tokens: session.tokens,
            cost_usd: session.cost_usd,
            raw_tokens: session.raw_tokens,
            kept_tokens: session.kept_tokens,
        }
    }
}

/// A session exchange by exchange.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Episodes")]
pub(crate) struct Exchanges<'a> {
    schema: u8,
    session: Session<'a>,
    episodes: Vec<Exchange<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Episode")]
#[serde(rename_all = "camelCase")]
struct Exchange<'a> {
    id: &'a str,
    name: &'a str,
    number: u64,
    #[schemars(with = "Option<Moment>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    ended_at: Option<Timestamp>,
    lines: (u64, u64),
    bytes: (u64, u64),
    parts: &'a [u64],
    tool_calls: u64,
    tool_errors: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    open: bool,
    text: &'a str,
}

impl<'a> Exchanges<'a> {
    pub(crate) fn new(listed: &'a Listed, episodes: &'a [EpisodeText]) -> Self {
        let episodes = episodes.iter().map(|EpisodeText { name, episode, text }| Exchange {
            id: &episode.id,
            name,
            number: episode.number,
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            lines: episode.lines,
            bytes: episode.bytes,
            parts: &episode.parts,
            tool_calls: episode.tool_calls,
            tool_errors: episode.tool_errors,
            raw_tokens: estimate_tokens(episode.bytes.1 - episode.bytes.0),
            kept_tokens: episode.kept_tokens,
            open: episode.open,
            text,
        });
        Self { schema: SCHEMA, session: Session::new(listed), episodes: episodes.collect() }
    }
}

/// The log of a session.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Shown<'a> {
    schema: u8,
    session: Session<'a>,
    earlier: u64,
    cited: Option<u64>,
    entries: Vec<Said<'a>>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(log: &'a Log) -> Self {
        Self {
            schema: SCHEMA,
            session: Session::new(&log.listed),
            earlier: log.earlier,
            cited: log.cited,
            entries: log.entries.iter().map(Said::new).collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
#[serde(rename_all = "camelCase")]
pub(super) struct Said<'a> {
    /// Its place among the session's entries.
    seq: u64,
    line: u64,
    native_id: &'a str,
    #[schemars(with = "Option<Moment>")]
    at: Option<Timestamp>,
    role: &'static str,
    speech: &'static str,
    episode: Option<u64>,
    abandoned: bool,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Used<'a>>,
}

impl<'a> Said<'a> {
    pub(super) fn new(entry: &'a Entry) -> Self {
        Self {
            seq: entry.seq,
            line: entry.place.line,
            native_id: &entry.native_id,
            at: entry.at,
            role: entry.speech.role().as_str(),
            speech: entry.speech.as_str(),
            episode: entry.episode,
            abandoned: entry.abandoned,
            text: &entry.text,
            tool: entry.tool.as_ref().map(Used::new),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolUse")]
#[serde(rename_all = "camelCase")]
struct Used<'a> {
    name: &'a str,
    kind: &'static str,
    target: &'a str,
    outcome: &'static str,
    arguments: &'a str,
    paths: &'a [String],
    summary: Option<&'a str>,
    error: Option<&'a str>,
    exit_code: Option<i32>,
    lines: Option<u64>,
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

impl<'a> Used<'a> {
    fn new(tool: &'a ToolUse) -> Self {
        let outcome: Option<&Outcome> = tool.outcome.as_ref();
        Self {
            name: &tool.name,
            kind: tool.kind.unwrap_or(ToolKind::Other).as_str(),
            target: &tool.target,
            outcome: outcome.map_or("pending", |outcome| outcome.status.as_str()),
            arguments: &tool.arguments,
            paths: &tool.paths,
            summary: outcome.map(|outcome| outcome.summary.as_str()),
            error: outcome.and_then(|outcome| outcome.error.as_deref()),
            exit_code: outcome.and_then(|outcome| outcome.exit_code),
            lines: outcome.map(|outcome| outcome.lines),
            bytes: outcome.map(|outcome| outcome.bytes),
            output: outcome.and_then(|outcome| outcome.output.as_deref()),
        }
    }
}
