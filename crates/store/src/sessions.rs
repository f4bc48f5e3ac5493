//! Reads sessions by filter or reference.

use std::path::PathBuf;

use rethread_model::{Agent, Session, SessionCounts, SessionId, SessionKind, Tokens, estimate_byte_tokens};

use crate::entries::NO_LIMIT;
use crate::sql::{Row, SqlValue, values};
use crate::{ReadStore, SessionNumber, StoreError, cards};

/// Limits a query to the sessions of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// Sessions of all projects.
    #[default]
    AllProjects,
    /// Sessions of the project with this root, or started in this directory or below it.
    Project(String),
}

impl SessionScope {
    /// The project it is limited to.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path),
        }
    }
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
    "session.number, session.id, session.agent, session.external_id, session.kind, parent.id AS parent_id,
     session.alias, session.name, session.cwd, session.project, session.namespace, session.branch, session.model,
     session.started_at, session.last_activity_at, session.transcript_path, session.prompts, session.messages,
     session.tool_calls, session.tool_errors, session.files_edited, session.episodes, session.input_tokens,
     session.output_tokens, session.cache_read_tokens, session.cache_write_tokens, session.cost_nanos,
     session.raw_bytes, session.kept_tokens, session.is_empty, session.generation";
pub(crate) const TABLES: &str = "session LEFT JOIN session AS parent ON parent.space = session.space
     AND parent.agent = session.agent AND parent.external_id = session.parent_external_id";
/// Whether a session belongs to the project `?2`; all do if it is null.
pub(crate) const IN_SCOPE: &str = "(?2 IS NULL OR session.project = ?2 OR session.cwd = ?2
     OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')";

impl ReadStore {
    /// Sessions that match the filter, most recently active first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, StoreError> {
        let condition = format!(
            "session.kind <> 'removed' AND {IN_SCOPE} AND (?3 IS NULL OR session.agent = ?3)
             AND (?4 OR NOT session.is_empty) AND (?5 OR session.kind = 'main') {LATEST_FIRST} LIMIT ?6"
        );
        let (project, limit) = (filter.scope.project(), filter.limit.unwrap_or(NO_LIMIT));
        let values = values![project, filter.agent, filter.include_empty, filter.include_children, limit];
        self.select_sessions(&condition, values, from_row)
    }

    /// Sessions with exactly this external id, alias or id. Matches the last path segment of an external id too.
    pub fn sessions_by_exact_reference(&self, reference: &str) -> Result<Vec<Session>, StoreError> {
        // Scans the indexes of ids, which are much smaller than the session rows.
        let condition = format!(
            "session.kind <> 'removed' AND session.number IN (
             SELECT number FROM session {} WHERE space = ?1 AND id = ?2
             UNION SELECT number FROM session {} WHERE space = ?1 AND alias = ?2
             UNION SELECT number FROM session {} WHERE space = ?1 AND (external_id = ?2
             OR substr(external_id, length(external_id) - length(?2)) = '/' || ?2)) ORDER BY session.number",
            self.sql.index("session_by_id"),
            self.sql.index("session_by_alias"),
            self.sql.index("session_by_external_id"),
        );
        self.select_sessions(&condition, values![reference], from_row)
    }

    /// Sessions whose id or external id starts with `prefix`. Case matters only in external ids that have both.
    pub fn sessions_by_id_prefix(&self, prefix: &str) -> Result<Vec<Session>, StoreError> {
        self.sessions_by_part_of_id(prefix, |column, part| format!("substr({column}, 1, length({part})) = {part}"))
    }

    /// Sessions whose id or external id ends with `suffix`, with the same rule about case.
    pub fn sessions_by_id_suffix(&self, suffix: &str) -> Result<Vec<Session>, StoreError> {
        self.sessions_by_part_of_id(suffix, |column, part| {
            format!("substr({column}, length({column}) - length({part}) + 1) = {part}")
        })
    }

    /// The directory a session started in.
    pub fn session_cwd(&self, session: SessionNumber) -> Result<Option<String>, StoreError> {
        let sql = "SELECT cwd FROM session WHERE space = ?1 AND number = ?2";
        Ok(self.sql.one(sql, values![session], |row| row.opt_string("cwd"))?.flatten())
    }

    /// All directories that sessions started in.
    pub fn work_dirs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT cwd FROM session {} WHERE space = ?1 AND cwd IS NOT NULL",
            self.sql.index("session_by_project")
        );
        let mut found = self.sql.all(&sql, &[], |row| row.text("cwd").map(PathBuf::from))?;
        // A path of another system, such as `C:\app`, would be looked up below the current directory.
        found.retain(|path| path.is_absolute());
        // SQLite would sort all sessions, not only the few different directories.
        found.sort();
        Ok(found)
    }

    /// The stored state of the session assembler, as JSON.
    pub fn assembler_state(&self, id: SessionId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT assembler_state FROM session WHERE space = ?1 AND id = ?2";
        Ok(self.sql.one(sql, values![id.to_string()], |row| row.opt_string("assembler_state"))?.flatten())
    }

    /// The number of main sessions per agent.
    pub fn session_counts_by_agent(&self) -> Result<Vec<(Agent, u64)>, StoreError> {
        let sql = format!(
            "SELECT agent, count(*) AS sessions FROM session {} WHERE space = ?1 AND kind = 'main'
             GROUP BY agent ORDER BY agent",
            self.sql.index("session_by_agent")
        );
        self.sql.known(&sql, &[], |row| Ok(row.parsed("agent")?.zip(Some(row.u64("sessions")?))))
    }

    /// The names of all main sessions, most recently active first.
    pub fn named_sessions(&self) -> Result<Vec<NamedSession>, StoreError> {
        let sql = format!(
            "SELECT session.number, session.name, session.project, card.fields
             FROM session LEFT JOIN card USING (space, agent, external_id)
             WHERE session.space = ?1 AND session.kind = 'main' {LATEST_FIRST}"
        );
        self.sql.all(&sql, &[], |row| {
            Ok(NamedSession {
                number: row.session("number")?,
                name: row.opt_string("name")?,
                card_name: row.opt_text("fields")?.and_then(cards::name_in),
                project: row.opt_string("project")?,
            })
        })
    }

    fn sessions_by_part_of_id(
        &self,
        part: &str,
        matches: impl Fn(&str, &str) -> String,
    ) -> Result<Vec<Session>, StoreError> {
        let condition = format!(
            "session.kind <> 'removed' AND session.number IN (SELECT number FROM session {} WHERE space = ?1 AND {}
             UNION SELECT number FROM session {} WHERE space = ?1 AND ({} OR {})) {LATEST_FIRST} LIMIT 200",
            self.sql.index("session_by_id"),
            matches("id", "?2"),
            self.sql.index("session_by_external_id"),
            matches("external_id", "?3"),
            matches("external_id", "?4"),
        );
        let (upper, lower) = (part.to_ascii_uppercase(), part.to_ascii_lowercase());
        self.select_sessions(&condition, values![upper, part, lower], from_row)
    }

    /// Sessions that match a condition, which may end with an order and a limit.
    pub(crate) fn select_sessions<T>(
        &self,
        condition: &str,
        values: &[SqlValue<'_>],
        read: impl FnMut(&Row<'_>) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.sql.known(
            &format!("SELECT {COLUMNS} FROM {TABLES} WHERE session.space = ?1 AND {condition}"),
            values,
            read,
        )
    }
}

const LATEST_FIRST: &str = "ORDER BY session.last_activity_at DESC NULLS LAST, session.number DESC";

/// A session with its number; None as for `from_row`.
pub(crate) fn numbered(row: &Row<'_>) -> Result<Option<(SessionNumber, Session)>, StoreError> {
    Ok(Some(row.session("number")?).zip(from_row(row)?))
}

/// None for a row of an agent that only a newer version of the program knows.
pub(crate) fn from_row(row: &Row<'_>) -> Result<Option<Session>, StoreError> {
    let (Some(id), Some(agent)) = (row.parsed("id")?, row.parsed("agent")?) else { return Ok(None) };
    Ok(Some(Session {
        id,
        agent,
        external_id: row.string("external_id")?,
        kind: kind(row)?,
        parent: row.opt_text("parent_id")?.and_then(|id| id.parse().ok()),
        alias: row.opt_string("alias")?,
        name: row.opt_string("name")?,
        cwd: row.opt_string("cwd")?,
        project: row.opt_string("project")?,
        namespace: row.opt_string("namespace")?,
        branch: row.opt_string("branch")?,
        model: row.opt_string("model")?,
        started_at: row.opt_time("started_at")?,
        last_activity_at: row.opt_time("last_activity_at")?,
        transcript: row.opt_string("transcript_path")?,
        counts: SessionCounts {
            prompts: row.u64("prompts")?,
            messages: row.u64("messages")?,
            tool_calls: row.u64("tool_calls")?,
            tool_errors: row.u64("tool_errors")?,
            files_edited: row.u64("files_edited")?,
            episodes: row.u64("episodes")?,
        },
        tokens: tokens(row)?,
        cost_usd: row.opt_int("cost_nanos")?.map(|nanos| nanos as f64 / 1e9),
        raw_tokens: estimate_byte_tokens(row.u64("raw_bytes")?),
        kept_tokens: row.u64("kept_tokens")?,
        is_empty: row.flag("is_empty")?,
    }))
}

pub(crate) fn kind(row: &Row<'_>) -> Result<SessionKind, StoreError> {
    Ok(if row.text("kind")? == "child" { SessionKind::Child } else { SessionKind::Main })
}

pub(crate) fn tokens(row: &Row<'_>) -> Result<Tokens, StoreError> {
    Ok(Tokens {
        input: row.u64("input_tokens")?,
        output: row.u64("output_tokens")?,
        cache_read: row.u64("cache_read_tokens")?,
        cache_write: row.u64("cache_write_tokens")?,
    })
}
