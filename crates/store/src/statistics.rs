//! Sizes, counts and self-checks of the store.

use rusqlite::params;

use crate::{Store, StoreError};

/// How much there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Sessions of humans.
    pub sessions: u64,
    /// Sessions of sub-agents.
    pub children: u64,
    /// Sessions in which nothing happened.
    pub empty: u64,
    /// Entries.
    pub entries: u64,
    /// Episodes.
    pub episodes: u64,
    /// Facts.
    pub facts: u64,
    /// Transcript files.
    pub transcripts: u64,
    /// Bytes of transcript read.
    pub bytes_read: u64,
    /// Secrets removed, by rule.
    pub redactions: Vec<(String, u64)>,
    /// The last change number.
    pub change: u64,
    /// The database's schema.
    pub schema: u64,
}

/// A line of a transcript that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// Something in the store that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What was checked.
    pub check: &'static str,
    /// What was found.
    pub found: String,
}

/// Checks whose every row is a contradiction.
const CHECKS: [(&str, &str); 6] = [
    (
        "every entry belongs to a session",
        "SELECT 'session ' || session || ' entry ' || seq FROM entry WHERE space = ?1
         AND NOT EXISTS (SELECT 1 FROM session WHERE space = entry.space AND num = entry.session)",
    ),
    (
        "entries are numbered without gaps",
        "SELECT 'session ' || session || ': ' || count(*) || ' entries, last ' || max(seq) FROM entry
         WHERE space = ?1 GROUP BY session HAVING count(*) <> max(seq) + 1",
    ),
    (
        "every episode named by an entry exists",
        "SELECT DISTINCT 'session ' || session || ' episode ' || episode FROM entry
         WHERE space = ?1 AND episode IS NOT NULL AND NOT EXISTS (SELECT 1 FROM episode
         WHERE space = entry.space AND session = entry.session AND number = entry.episode)",
    ),
    (
        "no entry is stored twice in a session",
        "SELECT 'session ' || session || ' native id ' || min(native_id) FROM entry WHERE space = ?1
         GROUP BY session, native HAVING count(*) > 1",
    ),
    (
        "the tokens of a session are the sum of its messages",
        "SELECT 'session ' || id FROM session WHERE space = ?1 AND tokens_output <> coalesce(
         (SELECT sum(output) FROM usage WHERE space = session.space AND session = session.num), 0)",
    ),
    (
        "the counted prompts are stored",
        "SELECT 'session ' || id FROM session WHERE space = ?1 AND kind = 'main' AND prompts <> (SELECT count(*)
         FROM entry WHERE space = session.space AND session = session.num AND speech = 'prompt'
         AND NOT (abandoned OR taken_back))",
    ),
];

impl Store {
    /// How much there is.
    pub fn statistics(&self) -> Result<Statistics, StoreError> {
        let read = || -> rusqlite::Result<Statistics> {
            let space = self.space.as_str();
            let count = |sql: &str| -> rusqlite::Result<u64> {
                self.connection.query_row(sql, params![space], |row| row.get::<_, i64>(0)).map(|number| number as u64)
            };
            Ok(Statistics {
                sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main'")?,
                children: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'child'")?,
                empty: count("SELECT count(*) FROM session WHERE space = ?1 AND empty AND kind <> 'gone'")?,
                entries: count("SELECT count(*) FROM entry WHERE space = ?1")?,
                episodes: count("SELECT count(*) FROM episode WHERE space = ?1")?,
                facts: count("SELECT count(*) FROM fact WHERE space = ?1")?,
                transcripts: count("SELECT count(*) FROM transcript WHERE space = ?1")?,
                bytes_read: count("SELECT coalesce(sum(offset), 0) FROM transcript WHERE space = ?1")?,
                change: count("SELECT coalesce(max(value), 0) FROM counter WHERE space = ?1 AND name = 'change'")?,
                schema: self.connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? as u64,
                redactions: self.redactions()?,
            })
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Lines that could not be read.
    pub fn problems(&self) -> Result<Vec<Problem>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Problem>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT transcript.path, problem.line, problem.message FROM problem JOIN transcript
                 ON transcript.space = problem.space AND transcript.num = problem.transcript
                 WHERE problem.space = ?1 ORDER BY transcript.path, problem.line",
            )?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                Ok(Problem { path: row.get(0)?, line: row.get::<_, i64>(1)? as u64, message: row.get(2)? })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Checks the file and everything in it that must agree.
    pub fn verify(&self) -> Result<Vec<Damage>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Damage>> {
            let mut damage = Vec::new();
            let mut statement = self.connection.prepare("PRAGMA integrity_check")?;
            for line in statement.query_map([], |row| row.get::<_, String>(0))? {
                let found = line?;
                if found != "ok" {
                    damage.push(Damage { check: "the database file is whole", found });
                }
            }
            for (check, sql) in CHECKS {
                let mut statement = self.connection.prepare(sql)?;
                for found in statement.query_map(params![self.space.as_str()], |row| row.get(0))? {
                    damage.push(Damage { check, found: found? });
                }
            }
            Ok(damage)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// What is checked by `verify`.
    pub fn checks() -> impl Iterator<Item = &'static str> {
        std::iter::once("the database file is whole").chain(CHECKS.iter().map(|(check, _)| *check))
    }

    fn redactions(&self) -> rusqlite::Result<Vec<(String, u64)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT rule, count FROM redaction WHERE space = ?1 ORDER BY rule")?;
        let rows =
            statement.query_map(params![self.space.as_str()], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
        rows.collect()
    }
}
