//! JSON of sessions, their episodes and their entries.

use std::collections::HashMap;

use rethread_engine::{EpisodeText, ListedSession, OriginalEntry, OriginalProblem, SessionLog};
use rethread_model::{
    Entry, SessionKind, SessionState, Timestamp, Tokens, ToolKind, ToolOutcome, ToolUse, estimate_byte_tokens,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::original::OriginalJson;
use super::schema::{SessionKindJson, SessionStateJson, TimestampJson, TokensJson};

/// Sessions, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionListJson<'a> {
    schema: u8,
    sessions: Vec<SessionJson<'a>>,
}

impl<'a> SessionListJson<'a> {
    pub(crate) fn new(sessions: &'a [ListedSession]) -> Self {
        Self { schema: SCHEMA, sessions: sessions.iter().map(SessionJson::new).collect() }
    }
}

/// A session with its counts. `prompts` are texts a human typed, `messages` are prompts and assistant messages.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionJson<'a> {
    pub(super) id: String,
    agent: &'static str,
    external_id: &'a str,
    #[schemars(with = "SessionKindJson")]
    kind: SessionKind,
    pub(super) name: Option<&'a str>,
    alias: Option<&'a str>,
    /// The session that this one was forked from, or that started this sub-agent.
    parent: Option<String>,
    project: Option<&'a str>,
    namespace: Option<&'a str>,
    cwd: Option<&'a str>,
    branch: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    #[schemars(with = "SessionStateJson")]
    state: SessionState,
    /// What it does right now, if its agent says so: busy, idle or waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<&'static str>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<&'a str>,
    #[schemars(with = "Option<TimestampJson>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    last_activity_at: Option<Timestamp>,
    transcript: Option<&'a str>,
    /// Whether the user pinned it.
    pinned: bool,
    /// The user's tags.
    tags: &'a [String],
    /// Whether it has no content worth listing, such as a lone `/exit`.
    empty: bool,
    prompts: u64,
    messages: u64,
    tool_calls: u64,
    tool_errors: u64,
    files_edited: u64,
    episodes: u64,
    facts: u64,
    #[schemars(with = "TokensJson")]
    tokens: Tokens,
    /// As recorded by the agent; null if it recorded none.
    cost_usd: Option<f64>,
    /// Estimated size of the transcript.
    raw_tokens: u64,
    /// Estimated size after filtering.
    kept_tokens: u64,
}

impl<'a> SessionJson<'a> {
    pub(super) fn new(listed: &'a ListedSession) -> Self {
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
            activity: listed.live.as_ref().map(|(status, _)| status.as_str()),
            waiting_for: listed.live.as_ref().and_then(|(_, reason)| reason.as_deref()),
            started_at: session.started_at,
            last_activity_at: session.last_activity_at,
            transcript: session.transcript.as_deref(),
            pinned: listed.is_pinned,
            tags: &listed.tags,
            empty: session.is_empty,
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

/// A session by episodes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EpisodeListJson<'a> {
    schema: u8,
    session: SessionJson<'a>,
    episodes: Vec<EpisodeJson<'a>>,
}

/// One episode: a human prompt and what followed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EpisodeJson<'a> {
    id: &'a str,
    name: &'a str,
    number: u64,
    #[schemars(with = "Option<TimestampJson>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    ended_at: Option<Timestamp>,
    /// First and last line in the transcript.
    lines: (u64, u64),
    /// Start and end offset in the transcript.
    bytes: (u64, u64),
    parts: &'a [u64],
    tool_calls: u64,
    tool_errors: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    /// Whether it may still grow.
    open: bool,
    text: &'a str,
}

impl<'a> EpisodeListJson<'a> {
    pub(crate) fn new(listed: &'a ListedSession, episodes: &'a [EpisodeText]) -> Self {
        let episodes = episodes.iter().map(|EpisodeText { name, episode, text }| EpisodeJson {
            id: &episode.id,
            name,
            number: episode.number,
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            lines: episode.lines,
            bytes: episode.bytes,
            parts: &episode.part_starts,
            tool_calls: episode.tool_calls,
            tool_errors: episode.tool_errors,
            raw_tokens: estimate_byte_tokens(episode.bytes.1 - episode.bytes.0),
            kept_tokens: episode.kept_tokens,
            open: episode.is_open,
            text,
        });
        Self { schema: SCHEMA, session: SessionJson::new(listed), episodes: episodes.collect() }
    }
}

/// The entries of a session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionLogJson<'a> {
    schema: u8,
    session: SessionJson<'a>,
    /// Entries before the first one listed.
    earlier: u64,
    /// The line that was asked for, if one was.
    cited: Option<u64>,
    /// The files that `filesEdited` counts, most changes first.
    changed_files: Vec<ChangedFileJson<'a>>,
    /// The tools that were called, those of MCP servers included, most calls first.
    tools: Vec<ToolTotalJson<'a>>,
    entries: Vec<EntryJson<'a>>,
}

/// A file that tools wrote or edited.
#[derive(Serialize, JsonSchema)]
struct ChangedFileJson<'a> {
    path: &'a str,
    changes: u64,
    /// Line of the last change in the transcript.
    line: u64,
}

/// How often a tool was called.
#[derive(Serialize, JsonSchema)]
struct ToolTotalJson<'a> {
    name: &'a str,
    calls: u64,
    errors: u64,
}

impl<'a> SessionLogJson<'a> {
    /// `originals` has what the transcripts have about the entries, by `seq`.
    pub(crate) fn new(
        log: &'a SessionLog,
        originals: &'a HashMap<u64, Result<OriginalEntry, OriginalProblem>>,
    ) -> Self {
        let entry = |entry: &'a Entry| EntryJson {
            original: originals.get(&entry.seq).map(|original| OriginalJson::new(entry, original)),
            ..EntryJson::new(entry)
        };
        Self {
            schema: SCHEMA,
            session: SessionJson::new(&log.listed),
            earlier: log.earlier_entries,
            cited: log.cited_line,
            changed_files: log
                .changed_files
                .iter()
                .map(|file| ChangedFileJson { path: &file.path, changes: file.times, line: file.last_line })
                .collect(),
            tools: log
                .tools
                .iter()
                .map(|tool| ToolTotalJson { name: &tool.name, calls: tool.calls, errors: tool.errors })
                .collect(),
            entries: log.entries.iter().map(entry).collect(),
        }
    }
}

/// One message or tool call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryJson<'a> {
    /// Position among the entries of the session.
    seq: u64,
    /// Line in the transcript.
    line: u64,
    native_id: &'a str,
    #[schemars(with = "Option<TimestampJson>")]
    at: Option<Timestamp>,
    role: &'static str,
    kind: &'static str,
    episode: Option<u64>,
    /// Whether it is on a branch that was left.
    abandoned: bool,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<ToolUseJson<'a>>,
    /// The entry as its transcript has it, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) original: Option<OriginalJson<'a>>,
}

impl<'a> EntryJson<'a> {
    pub(super) fn new(entry: &'a Entry) -> Self {
        Self {
            seq: entry.seq,
            line: entry.location.line,
            native_id: &entry.native_id,
            at: entry.at,
            role: entry.kind.role().as_str(),
            kind: entry.kind.as_str(),
            episode: entry.episode,
            abandoned: entry.is_abandoned,
            text: &entry.text,
            tool: entry.tool.as_ref().map(ToolUseJson::new),
            original: None,
        }
    }
}

/// A tool call and its outcome: `ok`, `error`, `rejected` or `pending`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolUseJson<'a> {
    name: &'a str,
    kind: &'static str,
    target: &'a str,
    outcome: &'static str,
    arguments: &'a str,
    paths: &'a [String],
    summary: Option<&'a str>,
    error: Option<&'a str>,
    exit_code: Option<i32>,
    /// Lines of output.
    lines: Option<u64>,
    /// Bytes of output.
    bytes: Option<u64>,
    /// The output itself, where it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

impl<'a> ToolUseJson<'a> {
    fn new(tool: &'a ToolUse) -> Self {
        let outcome: Option<&ToolOutcome> = tool.outcome.as_ref();
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
