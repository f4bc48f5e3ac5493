//! Counts of what is stored, and consistency checks.

use rusqlite::params;

use crate::{ReadStore, StoreError};

/// Counts of what is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreStatistics {
    /// Main sessions.
    pub sessions: u64,
    /// Sessions of sub-agents.
    pub child_sessions: u64,
    /// Sessions in which nothing happened, included in the counts above.
    pub empty_sessions: u64,
    /// Entries of all sessions.
    pub entries: u64,
    /// Episodes of all sessions.
    pub episodes: u64,
    /// Facts of all sessions.
    pub facts: u64,
    /// Transcript files.
    pub transcripts: u64,
    /// Bytes of transcript read.
    pub bytes_read: u64,
    /// Number of secrets removed, by rule.
    pub redactions: Vec<(String, u64)>,
    /// The last change number.
    pub change: u64,
    /// Schema version of the database.
    pub schema: u64,
}

/// A transcript line that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptProblem {
    /// Path of the transcript.
    pub path: String,
    /// Line number, from 1.
    pub line: u64,
    /// Why it could not be parsed.
    pub message: String,
}

/// A failed consistency check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// The condition that does not hold.
    pub check: &'static str,
    /// Where it does not hold.
    pub detail: String,
}

const FILE_CHECK: &str = "the database file is intact";
const SCHEMA_CHECK: &str = "the tables are as they were created";
const TEXT_CHECK: &str = "stored entries are as they were written";

/// Conditions, and queries that return one row for each violation.
const CHECKS: [(&str, &str); 6] = [
    (
        "every entry belongs to a session",
        "SELECT 'session ' || session || ' entry ' || seq FROM entry WHERE space = ?1
         AND NOT EXISTS (SELECT 1 FROM session WHERE space = entry.space AND number = entry.session)",
    ),
    (
        "entry numbers have no gaps",
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
         GROUP BY session, native_key HAVING count(*) > 1",
    ),
    (
        "a session's tokens equal the sum of its messages",
        "SELECT 'session ' || id FROM session WHERE space = ?1 AND output_tokens <> coalesce(
         (SELECT sum(output_tokens) FROM usage WHERE space = session.space AND session = session.number), 0)",
    ),
    (
        "prompt counts match the stored prompts",
        "SELECT 'session ' || id FROM session WHERE space = ?1 AND kind = 'main' AND prompts <> (SELECT count(*)
         FROM entry WHERE space = session.space AND session = session.number AND kind = 'prompt'
         AND NOT (is_abandoned OR is_retracted))",
    ),
];

impl ReadStore {
    /// Counts of what is stored.
    pub fn statistics(&self) -> Result<StoreStatistics, StoreError> {
        let read = || -> rusqlite::Result<StoreStatistics> {
            let space = self.space.as_str();
            let count = |sql: &str| -> rusqlite::Result<u64> {
                self.connection.query_row(sql, params![space], |row| row.get::<_, i64>(0)).map(|number| number as u64)
            };
            Ok(StoreStatistics {
                sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main'")?,
                child_sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'child'")?,
                empty_sessions: count(
                    "SELECT count(*) FROM session WHERE space = ?1 AND is_empty AND kind <> 'removed'",
                )?,
                entries: count("SELECT count(*) FROM entry WHERE space = ?1")?,
                episodes: count("SELECT count(*) FROM episode WHERE space = ?1")?,
                facts: count("SELECT count(*) FROM fact WHERE space = ?1")?,
                transcripts: count("SELECT count(*) FROM transcript WHERE space = ?1")?,
                bytes_read: count("SELECT coalesce(sum(read_offset), 0) FROM transcript WHERE space = ?1")?,
                change: count("SELECT coalesce(max(value), 0) FROM counter WHERE space = ?1 AND name = 'change'")?,
                schema: self.connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? as u64,
                redactions: self.redactions()?,
            })
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Transcript lines that could not be parsed, by path and line.
    pub fn transcript_problems(&self) -> Result<Vec<TranscriptProblem>, StoreError> {
        let read = || -> rusqlite::Result<Vec<TranscriptProblem>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT transcript.path, transcript_problem.line, transcript_problem.message
                 FROM transcript_problem JOIN transcript
                 ON transcript.space = transcript_problem.space AND transcript.number = transcript_problem.transcript
                 WHERE transcript_problem.space = ?1 ORDER BY transcript.path, transcript_problem.line",
            )?;
            let rows = statement.query_map(params![self.space.as_str()], |row| {
                Ok(TranscriptProblem { path: row.get(0)?, line: row.get::<_, i64>(1)? as u64, message: row.get(2)? })
            })?;
            rows.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Checks the database file and all consistency conditions, and returns the violations.
    pub fn verify(&self) -> Result<Vec<FailedCheck>, StoreError> {
        let read = || -> rusqlite::Result<Vec<FailedCheck>> {
            let mut damage = Vec::new();
            let mut statement = self.connection.prepare("PRAGMA integrity_check")?;
            for line in statement.query_map([], |row| row.get::<_, String>(0))? {
                let found = line?;
                if found != "ok" {
                    damage.push(FailedCheck { check: FILE_CHECK, detail: found });
                }
            }
            for (check, sql) in CHECKS {
                let mut statement = self.connection.prepare(sql)?;
                for found in statement.query_map(params![self.space.as_str()], |row| row.get(0))? {
                    damage.push(FailedCheck { check, detail: found? });
                }
            }
            if !crate::schema::is_intact(&self.connection)? {
                damage.push(FailedCheck { check: SCHEMA_CHECK, detail: "a definition differs".to_owned() });
            }
            Ok(damage)
        };
        let mut damage = read().map_err(|cause| self.err(cause))?;
        damage.extend(self.changed_entries()?.into_iter().map(|detail| FailedCheck { check: TEXT_CHECK, detail }));
        Ok(damage)
    }

    /// The conditions that `verify` checks.
    pub fn check_names() -> impl Iterator<Item = &'static str> {
        [FILE_CHECK, SCHEMA_CHECK, TEXT_CHECK].into_iter().chain(CHECKS.iter().map(|(check, _)| *check))
    }

    fn redactions(&self) -> rusqlite::Result<Vec<(String, u64)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT rule, count FROM redaction WHERE space = ?1 ORDER BY rule")?;
        let rows =
            statement.query_map(params![self.space.as_str()], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
        rows.collect()
    }
}
