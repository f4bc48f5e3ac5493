//! Two made-up agents, for tests of the storages: one keeps a database, the other a document per session.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rethread_model::Agent;
use rusqlite::Connection;
use serde::Deserialize;

use super::{AgentFormat, Layout, Storage, claude_code};
use crate::parse::ParseContext;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::LenientText;
use crate::source::{DatabaseQueries, SessionDocument, SourceConfig};
use crate::{EventBody, TitleRank, TranscriptEvent};

static ARE_USED: AtomicBool = AtomicBool::new(false);

static DATABASE: AgentFormat = AgentFormat::new(Agent::ClaudeCode, home, &[DATABASE_LAYOUT]);
static DOCUMENT: AgentFormat = AgentFormat::new(Agent::Pi, home, &[DOCUMENT_LAYOUT]);

const DATABASE_LAYOUT: Layout = Layout {
    storage: Storage::Database(&[DatabaseQueries {
        applies: "",
        sessions: "SELECT id, id AS sessionId, directory AS cwd, parent AS parentSessionId, title, updated_at FROM session",
        version: "record.id, record.updated_at",
        columns: "record.data",
        from: "FROM record WHERE session_id = ?1 ORDER BY number",
        finished: "instr(record.data, '\"isUnfinished\":true') = 0",
    }]),
    extension: "db",
    ..Layout::new("~/.made-up/*.db", roots, events)
};

const DOCUMENT_LAYOUT: Layout = Layout {
    storage: Storage::Document { load: |path| SessionDocument::read(path, "messages") },
    extension: "json",
    ..Layout::new("~/.made-up/*.json", roots, events)
};

/// From now on, this process reads the made-up agents in place of Claude Code and pi.
pub fn use_made_up_agents() {
    ARE_USED.store(true, Ordering::Relaxed);
}

/// Creates a database of an agent from SQL, for fixtures.
pub fn create_database(path: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(path)?.execute_batch(sql)
}

/// The writing side of the made-up database.
#[derive(Debug)]
pub struct MadeUpDatabase(Connection);

impl MadeUpDatabase {
    /// An empty database.
    pub fn create(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT, directory TEXT, parent TEXT, title TEXT, updated_at INTEGER);
             CREATE TABLE record (number INTEGER PRIMARY KEY, id TEXT, session_id TEXT, updated_at INTEGER, data TEXT);",
        )?;
        Ok(Self(connection))
    }

    /// A database of any agent, on which SQL was run.
    pub fn with_sql(path: &Path, sql: &str) -> rusqlite::Result<Self> {
        let database = Self(Connection::open(path)?);
        database.run(sql)?;
        Ok(database)
    }

    /// Runs SQL. A transaction stays open until it is committed.
    pub fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.0.execute_batch(sql)
    }

    /// Adds a session.
    pub fn add_session(&self, id: &str, parent: Option<&str>, title: &str) -> rusqlite::Result<usize> {
        let query = "INSERT INTO session VALUES (?1, '/app', ?2, ?3, 0)";
        self.0.execute(query, (id, parent, title))
    }

    /// Adds a record to a session, or changes it in place.
    pub fn put(&self, session: &str, id: &str, updated_at: i64, data: &str) -> rusqlite::Result<usize> {
        self.0.execute("UPDATE session SET updated_at = ?2 WHERE id = ?1", (session, updated_at))?;
        match self.0.execute("UPDATE record SET updated_at = ?2, data = ?3 WHERE id = ?1", (id, updated_at, data))? {
            0 => self.0.execute(
                "INSERT INTO record (id, session_id, updated_at, data) VALUES (?1, ?2, ?3, ?4)",
                (id, session, updated_at, data),
            ),
            changed => Ok(changed),
        }
    }

    /// Deletes a record.
    pub fn delete(&self, id: &str) -> rusqlite::Result<usize> {
        self.0.execute("DELETE FROM record WHERE id = ?1", [id])
    }

    /// Adds sessions without a proper id or time.
    pub fn add_strange_sessions(&self) -> rusqlite::Result<usize> {
        let query = "INSERT INTO session (id, updated_at) VALUES (x'00', 1), ('no time', NULL), ('text time', 'x')";
        self.0.execute(query, [])
    }

    /// Takes the lock for writing, until the connection is closed.
    pub fn lock(&self) -> rusqlite::Result<()> {
        self.0.execute_batch("BEGIN IMMEDIATE")
    }

    /// Takes a lock that also keeps readers out, as databases without a log do while they are written.
    pub fn lock_out_readers(&self) -> rusqlite::Result<()> {
        self.0.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    }
}

pub(super) fn format_of(agent: Agent) -> Option<&'static AgentFormat> {
    let made_up = [&DATABASE, &DOCUMENT].into_iter().find(|format| format.agent == agent);
    made_up.filter(|_| ARE_USED.load(Ordering::Relaxed))
}

fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.home.join(".made-up")
}

fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config), "default location")]
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MadeUpRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    data: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
}

/// The records are lines of Claude Code, in a database as the column `data`.
fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let record: MadeUpRecord<'_> = serde_json::from_str(text)?;
    if !record.kind.as_str().is_empty() {
        return (claude_code::LAYOUT.parse)(text, context);
    }
    if let Some(data) = record.data.non_empty() {
        return (claude_code::LAYOUT.parse)(&data, context);
    }
    let mut out = EventBuilder::new(context.location, None, "header".to_owned());
    out.push(EventBody::Workspace { cwd: record.cwd.non_empty().map(Into::into), branch: None });
    out.add_title(TitleRank::Custom, record.title, None, &mut context.sink);
    Ok(out.events)
}
