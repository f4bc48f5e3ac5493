//! Reading sessions: by filter, by reference.

use rethread_model::{Agent, Counts, Session, SessionId, SessionKind, Timestamp, Tokens, estimate_tokens};
use rusqlite::{Params, Row, params};

use crate::{SessionNumber, Store, StoreError};

/// Where sessions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere.
    #[default]
    AllProjects,
    /// In one project: its root, or a directory below it.
    Project(String),
}

/// Which sessions are wanted; newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Where.
    pub scope: Scope,
    /// Of one agent.
    pub agent: Option<Agent>,
    /// Also those in which nothing happened.
    pub include_empty: bool,
    /// Also those of sub-agents.
    pub include_children: bool,
    /// At most this many.
    pub limit: Option<u64>,
}

pub(crate) const COLUMNS: &str =
    "session.id, session.agent, session.external_id, session.kind, parent.id, session.alias, session.name,
     session.cwd, session.project, session.namespace, session.branch, session.model, session.started_at,
     session.last_at, session.transcript, session.prompts, session.messages, session.tool_calls,
     session.tool_errors, session.files_edited, session.episodes, session.tokens_input, session.tokens_output,
     session.cache_read, session.cache_write, session.cost_nanos, session.raw_bytes, session.kept_tokens, session.empty";
pub(crate) const COLUMN_COUNT: usize = 29;
/// Nobody is called anything longer, and SQLite compares no pattern of any length.
const LONGEST_REFERENCE: usize = 4_096;
pub(crate) const TABLES: &str = "session LEFT JOIN session AS parent ON parent.space = session.space
     AND parent.agent = session.agent AND parent.external_id = session.parent_external";

impl Store {
    /// Sessions that fit the filter, newest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, StoreError> {
        let project = match &filter.scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
        };
        self.select(
            "(?2 IS NULL OR session.project = ?2 OR session.cwd = ?2 OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')
             AND (?3 IS NULL OR session.agent = ?3) AND (?4 OR NOT session.empty) AND (?5 OR session.kind = 'main')
             ORDER BY session.last_at DESC, session.num DESC LIMIT ?6",
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

    /// Sessions with exactly that id of the agent, that alias, or that id of ours.
    pub fn sessions_by_exact_reference(&self, reference: &str) -> Result<Vec<Session>, StoreError> {
        if reference.len() > LONGEST_REFERENCE {
            return Ok(Vec::new());
        }
        self.select(
            // Ids are looked through in their indexes, which are a fraction of the sessions themselves.
            "session.num IN (SELECT num FROM session INDEXED BY session_by_id WHERE space = ?1 AND id = ?2
             UNION SELECT num FROM session INDEXED BY session_by_alias WHERE space = ?1 AND alias = ?2
             UNION SELECT num FROM session INDEXED BY session_by_external WHERE space = ?1 AND (external_id = ?2
             OR external_id GLOB '*/' || replace(replace(?2, '[', '?'), '*', '?')))",
            params![self.space.as_str(), reference],
        )
    }

    /// Sessions whose id, of ours or of the agent, begins so. The text must be free of wildcards.
    pub fn sessions_by_id_prefix(&self, prefix: &str) -> Result<Vec<Session>, StoreError> {
        if prefix.len() > LONGEST_REFERENCE {
            return Ok(Vec::new());
        }
        self.select(
            "session.num IN (SELECT num FROM session INDEXED BY session_by_id WHERE space = ?1 AND id GLOB upper(?2) || '*'
             UNION SELECT num FROM session INDEXED BY session_by_external WHERE space = ?1
             AND (external_id GLOB ?2 || '*' OR external_id GLOB lower(?2) || '*'))
             ORDER BY session.last_at DESC, session.num DESC LIMIT 200",
            params![self.space.as_str(), prefix],
        )
    }

    /// Where a session began.
    pub fn cwd(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let mut statement =
                self.connection.prepare_cached("SELECT cwd FROM session WHERE space = ?1 AND num = ?2")?;
            let mut rows = statement.query_map(params![self.space.as_str(), session.0], |row| row.get(0))?;
            Ok(rows.next().transpose()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What a session's story must remember.
    pub fn memory(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let mut statement =
                self.connection.prepare_cached("SELECT memory FROM session WHERE space = ?1 AND id = ?2")?;
            let mut rows = statement.query_map(params![self.space.as_str(), id.to_string()], |row| row.get(0))?;
            Ok(rows.next().transpose()?.flatten())
        };
        read().map_err(|cause| self.err(cause))
    }

    /// How many sessions of humans there are, by agent.
    pub fn sessions_by_agent(&self) -> Result<Vec<(Agent, u64)>, StoreError> {
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

    /// The name of every session that has one, newest first, for looking names up.
    pub fn session_names(&self) -> Result<Vec<(SessionNumber, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(SessionNumber, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num, name FROM session WHERE space = ?1 AND name IS NOT NULL AND kind = 'main'
                 ORDER BY last_at DESC, num DESC",
            )?;
            let rows = statement
                .query_map(params![self.space.as_str()], |row| Ok((SessionNumber(row.get(0)?), row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn select(&self, condition: &str, values: impl Params) -> Result<Vec<Session>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Session>> {
            // The condition comes first in brackets when it has no ORDER BY of its own to protect.
            let sql = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE session.space = ?1 AND session.kind <> 'gone' AND {}",
                bracket(condition)
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(values, from_row)?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

/// Puts the condition in brackets and leaves what orders and limits the answer outside.
fn bracket(condition: &str) -> String {
    let end = ["ORDER BY", "LIMIT"].iter().filter_map(|word| condition.find(word)).min().unwrap_or(condition.len());
    format!("({}) {}", condition[..end].trim(), &condition[end..])
}

/// A row, or nothing when a newer program wrote it for an agent unknown here.
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
        counts: Counts {
            prompts: count(15)?,
            messages: count(16)?,
            tool_calls: count(17)?,
            tool_errors: count(18)?,
            files_edited: count(19)?,
            episodes: count(20)?,
        },
        tokens: Tokens { input: count(21)?, output: count(22)?, cache_read: count(23)?, cache_write: count(24)? },
        cost_usd: row.get::<_, Option<i64>>(25)?.map(|nanos| nanos as f64 / 1e9),
        raw_tokens: estimate_tokens(count(26)?),
        kept_tokens: count(27)?,
        empty: row.get(28)?,
    }))
}
