//! Counts of what is stored, and consistency checks.

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
        "SELECT 'session ' || session || ' entry ' || seq AS violation FROM entry WHERE space = ?1
         AND NOT EXISTS (SELECT 1 FROM session WHERE space = entry.space AND number = entry.session)",
    ),
    (
        "entry numbers have no gaps",
        "SELECT 'session ' || session || ': ' || count(*) || ' entries, last ' || max(seq) AS violation
         FROM entry WHERE space = ?1 GROUP BY session HAVING count(*) <> max(seq) + 1",
    ),
    (
        "every episode named by an entry exists",
        "SELECT DISTINCT 'session ' || session || ' episode ' || episode AS violation FROM entry
         WHERE space = ?1 AND episode IS NOT NULL AND NOT EXISTS (SELECT 1 FROM episode
         WHERE space = entry.space AND session = entry.session AND number = entry.episode)",
    ),
    (
        "no entry is stored twice in a session",
        "SELECT 'session ' || session || ' native id ' || min(native_id) AS violation FROM entry WHERE space = ?1
         GROUP BY session, native_key HAVING count(*) > 1",
    ),
    (
        "a session's tokens equal the sum of its messages",
        "SELECT 'session ' || id AS violation FROM session WHERE space = ?1 AND output_tokens <> coalesce(
         (SELECT sum(output_tokens) FROM usage WHERE space = session.space AND session = session.number), 0)",
    ),
    (
        "prompt counts match the stored prompts",
        "SELECT 'session ' || id AS violation FROM session WHERE space = ?1 AND kind = 'main' AND prompts <> (SELECT count(*)
         FROM entry WHERE space = session.space AND session = session.number AND kind = 'prompt'
         AND NOT (is_abandoned OR is_retracted))",
    ),
];

impl ReadStore {
    /// Counts of what is stored.
    pub fn statistics(&self) -> Result<StoreStatistics, StoreError> {
        let count = |sql: &str| self.sql.count(sql, &[]);
        let redactions = "SELECT rule, count FROM redaction WHERE space = ?1 ORDER BY rule";
        Ok(StoreStatistics {
            sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'main'")?,
            child_sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND kind = 'child'")?,
            empty_sessions: count("SELECT count(*) FROM session WHERE space = ?1 AND is_empty AND kind <> 'removed'")?,
            entries: count("SELECT count(*) FROM entry WHERE space = ?1")?,
            episodes: count("SELECT count(*) FROM episode WHERE space = ?1")?,
            facts: count("SELECT count(*) FROM fact WHERE space = ?1")?,
            transcripts: count("SELECT count(*) FROM transcript WHERE space = ?1 AND session IS NOT NULL")?,
            bytes_read: count("SELECT CAST(sum(read_offset) AS BIGINT) FROM transcript WHERE space = ?1")?,
            change: self.counter("change")? as u64,
            schema: self.sql.schema_version()? as u64,
            redactions: self.sql.all(redactions, &[], |row| Ok((row.string("rule")?, row.u64("count")?)))?,
        })
    }

    /// Transcript lines that could not be parsed, by path and line.
    pub fn transcript_problems(&self) -> Result<Vec<TranscriptProblem>, StoreError> {
        self.sql.all(
            "SELECT transcript.path, transcript_problem.line, transcript_problem.message
             FROM transcript_problem JOIN transcript
             ON transcript.space = transcript_problem.space AND transcript.number = transcript_problem.transcript
             WHERE transcript_problem.space = ?1 ORDER BY transcript.path, transcript_problem.line",
            &[],
            |row| {
                let (path, line) = (row.string("path")?, row.u64("line")?);
                Ok(TranscriptProblem { path, line, message: row.string("message")? })
            },
        )
    }

    /// Checks the database file and all consistency conditions, and returns the violations.
    pub fn verify(&self) -> Result<Vec<FailedCheck>, StoreError> {
        let failed = |check| move |detail| FailedCheck { check, detail };
        let mut damage: Vec<FailedCheck> = self.sql.file_problems()?.into_iter().map(failed(FILE_CHECK)).collect();
        for (check, sql) in CHECKS {
            let found = self.sql.all(sql, &[], |row| row.string("violation"))?;
            damage.extend(found.into_iter().map(failed(check)));
        }
        if !self.sql.is_schema_intact()? {
            damage.push(failed(SCHEMA_CHECK)("a definition differs".to_owned()));
        }
        damage.extend(self.changed_entries()?.into_iter().map(failed(TEXT_CHECK)));
        Ok(damage)
    }

    /// The conditions that `verify` checks.
    pub fn check_names() -> impl Iterator<Item = &'static str> {
        [FILE_CHECK, SCHEMA_CHECK, TEXT_CHECK].into_iter().chain(CHECKS.iter().map(|(check, _)| *check))
    }
}
