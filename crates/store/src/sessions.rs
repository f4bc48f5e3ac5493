//! Reads sessions by filter or reference.

use std::path::PathBuf;

use rethread_model::{Agent, Session, SessionCounts, SessionId, SessionKind, Timestamp, Tokens, estimate_byte_tokens};
use rusqlite::{Params, Row, params};

use crate::{ReadStore, SessionNumber, StoreError};

/// Limits a query to the sessions of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// Sessions of all projects.
    #[default]
    AllProjects,
    /// Sessions of the project with this root, or started in this directory or below it.
    Project(String),
}

/// Selects sessions.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only sessions in this scope.
    pub scope: SessionScope,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Include sessions in which nothing happened.
    pub include_empty: bool,
    /// Include sessions of sub-agents.
    pub include_children: bool,
    /// Return at most this many.
    pub limit: Option<u64>,
}

/// What a session can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSession {
    /// Number of the session.
    pub number: SessionNumber,
    /// The name that is shown.
    pub name: Option<String>,
    /// The name on the card a model wrote, if there is one.
    pub card_name: Option<String>,
    /// The project of the session.
    pub project: Option<String>,
}

impl NamedSession {
    /// Its names, the shown one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name, &self.card_name].into_iter().filter_map(Option::as_deref)
    }
}

pub(crate) const COLUMNS: &str =
    "session.id, session.agent, session.external_id, session.kind, parent.id, session.alias, session.name,
     session.cwd, session.project, session.namespace, session.branch, session.model, session.started_at,
     session.last_activity_at, session.transcript_path, session.prompts, session.messages, session.tool_calls,
     session.tool_errors, session.files_edited, session.episodes, session.input_tokens, session.output_tokens,
     session.cache_read_tokens, session.cache_write_tokens, session.cost_nanos, session.raw_bytes,
     session.kept_tokens, session.is_empty";
pub(crate) const COLUMN_COUNT: usize = 29;
/// No reference is longer, and SQLite rejects very long GLOB patterns.
const MAX_REFERENCE_BYTES: usize = 4_096;
pub(crate) const TABLES: &str = "session LEFT JOIN session AS parent ON parent.space = session.space
     AND parent.agent = session.agent AND parent.external_id = session.parent_external_id";

impl ReadStore {
    /// Sessions that match the filter, most recently active first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, StoreError> {
        let project = match &filter.scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        self.select(
            "(?2 IS NULL OR session.project = ?2 OR session.cwd = ?2 OR substr(session.cwd, 1,
             length(?2) + 1) = ?2 || '/')
             AND (?3 IS NULL OR session.agent = ?3) AND (?4 OR NOT session.is_empty) AND (?5 OR session.kind = 'main')
             ORDER BY session.last_activity_at DESC, session.number DESC LIMIT ?6",
            params![
                self.space.as_str(),
                project,
                filter.agent.map(Agent::as_str),
                filter.include_empty,
                filter.include_children,
                filter.limit.map_or(-1, |limit| limit as i64),
            ],
        )
    }

    /// Sessions with exactly this external id, alias or id. Matches the last path segment of an external id too.
    pub fn sessions_by_exact_reference(&self, reference: &str) -> Result<Vec<Session>, StoreError> {
        if reference.len() > MAX_REFERENCE_BYTES {
            return Ok(Vec::new());
        }
        self.select(
            // Scans the indexes of ids, which are much smaller than the session rows.
            "session.number IN (SELECT number FROM session INDEXED BY session_by_id WHERE space = ?1 AND id = ?2
             UNION SELECT number FROM session INDEXED BY session_by_alias WHERE space = ?1 AND alias = ?2
             UNION SELECT number FROM session INDEXED BY session_by_external_id WHERE space = ?1 AND (external_id = ?2
             OR external_id GLOB '*/' || replace(replace(?2, '[', '?'), '*', '?')))",
            params![self.space.as_str(), reference],
        )
    }

    /// Sessions whose id or external id starts with `prefix`, which must not contain GLOB wildcards.
    pub fn sessions_by_id_prefix(&self, prefix: &str) -> Result<Vec<Session>, StoreError> {
        if prefix.len() > MAX_REFERENCE_BYTES {
            return Ok(Vec::new());
        }
        self.select(
            "session.number IN (SELECT number FROM session INDEXED BY session_by_id WHERE space = ?1
             AND id GLOB upper(?2) || '*'
             UNION SELECT number FROM session INDEXED BY session_by_external_id WHERE space = ?1
             AND (external_id GLOB ?2 || '*' OR external_id GLOB lower(?2) || '*'))
             ORDER BY session.last_activity_at DESC, session.number DESC LIMIT 200",
            params![self.space.as_str(), prefix],
        )
    }

    /// The directory a session started in.
    pub fn session_cwd(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let mut statement =
                self.connection.prepare_cached("SELECT cwd FROM session WHERE space = ?1 AND number = ?2")?;
            let mut rows = statement.query_map(params![self.space.as_str(), session.0], |row| row.get(0))?;
            Ok(rows.next().transpose()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// All directories that sessions started in.
    pub fn work_dirs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let read = || -> rusqlite::Result<Vec<PathBuf>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT DISTINCT cwd FROM session INDEXED BY session_by_project WHERE space = ?1 AND cwd IS NOT NULL",
            )?;
            let rows = statement.query_map(params![self.space.as_str()], |row| row.get::<_, String>(0))?;
            rows.map(|cwd| cwd.map(PathBuf::from)).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The stored state of the session assembler, as JSON.
    pub fn assembler_state(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let mut statement =
                self.connection.prepare_cached("SELECT assembler_state FROM session WHERE space = ?1 AND id = ?2")?;
            let mut rows = statement.query_map(params![self.space.as_str(), id.to_string()], |row| row.get(0))?;
            Ok(rows.next().transpose()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// The number of main sessions per agent.
    pub fn session_counts_by_agent(&self) -> Result<Vec<(Agent, u64)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Agent, u64)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT agent, count(*) FROM session INDEXED BY session_by_agent
                 WHERE space = ?1 AND kind = 'main' GROUP BY agent",
            )?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                let agent = row.get_ref(0)?.as_str()?.parse().ok();
                Ok(agent.map(|agent| (agent, row.get::<_, i64>(1).unwrap_or(0) as u64)))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Sessions whose id or external id ends with `suffix`, which must not contain GLOB wildcards.
    pub fn sessions_by_id_suffix(&self, suffix: &str) -> Result<Vec<Session>, StoreError> {
        if suffix.len() > MAX_REFERENCE_BYTES {
            return Ok(Vec::new());
        }
        self.select(
            "session.number IN (SELECT number FROM session INDEXED BY session_by_id WHERE space = ?1
             AND id GLOB '*' || upper(?2)
             UNION SELECT number FROM session INDEXED BY session_by_external_id WHERE space = ?1
             AND (external_id GLOB '*' || ?2 OR external_id GLOB '*' || lower(?2)))
             ORDER BY session.last_activity_at DESC, session.number DESC LIMIT 200",
            params![self.space.as_str(), suffix],
        )
    }

    /// The names of all main sessions, most recently active first.
    pub fn named_sessions(&self) -> Result<Vec<NamedSession>, StoreError> {
        let read = || -> rusqlite::Result<Vec<NamedSession>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT session.number, session.name, session.project, json_extract(card.fields, '$.name')
                 FROM session LEFT JOIN card USING (space, agent, external_id)
                 WHERE session.space = ?1 AND session.kind = 'main'
                 ORDER BY session.last_activity_at DESC, session.number DESC",
            )?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                Ok(NamedSession {
                    number: SessionNumber(row.get(0)?),
                    name: row.get(1)?,
                    project: row.get(2)?,
                    card_name: row.get(3)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn select(&self, condition: &str, values: impl Params) -> Result<Vec<Session>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Session>> {
            let sql = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE session.space = ?1 AND session.kind <> 'removed' AND {}",
                parenthesize(condition)
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(values, from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// Puts the condition in parentheses, without a trailing ORDER BY or LIMIT.
fn parenthesize(condition: &str) -> String {
    let end = ["ORDER BY", "LIMIT"].iter().filter_map(|word| condition.find(word)).min().unwrap_or(condition.len());
    format!("({}) {}", condition[..end].trim(), &condition[end..])
}

/// None for a row of an agent that only a newer version of the program knows.
pub(crate) fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Session>> {
    let Ok(agent) = row.get_ref(1)?.as_str()?.parse() else { return Ok(None) };
    let Ok(id) = row.get_ref(0)?.as_str()?.parse() else { return Ok(None) };
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let time = |at: usize| row.get::<_, Option<i64>>(at).map(|millis| millis.map(Timestamp::from_millis));
    let kind = if row.get_ref(3)?.as_str()? == "child" { SessionKind::Child } else { SessionKind::Main };
    Ok(Some(Session {
        id,
        agent,
        external_id: row.get(2)?,
        kind,
        parent: row.get::<_, Option<String>>(4)?.and_then(|id| id.parse().ok()),
        alias: row.get(5)?,
        name: row.get(6)?,
        cwd: row.get(7)?,
        project: row.get(8)?,
        namespace: row.get(9)?,
        branch: row.get(10)?,
        model: row.get(11)?,
        started_at: time(12)?,
        last_activity_at: time(13)?,
        transcript: row.get(14)?,
        counts: SessionCounts {
            prompts: count(15)?,
            messages: count(16)?,
            tool_calls: count(17)?,
            tool_errors: count(18)?,
            files_edited: count(19)?,
            episodes: count(20)?,
        },
        tokens: Tokens { input: count(21)?, output: count(22)?, cache_read: count(23)?, cache_write: count(24)? },
        cost_usd: row.get::<_, Option<i64>>(25)?.map(|nanos| nanos as f64 / 1e9),
        raw_tokens: estimate_byte_tokens(count(26)?),
        kept_tokens: count(27)?,
        is_empty: row.get(28)?,
    }))
}
