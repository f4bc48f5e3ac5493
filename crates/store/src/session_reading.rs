//! Reads a long session quickly: only its prompts and final answers, or only the entries with some words.

use rethread_model::{EntryKind, SessionId};

use crate::entries::NO_LIMIT;
use crate::sql::values;
use crate::{EntryPage, EntryRange, ReadStore, SessionNumber, StoreError};

/// An entry that contains what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEntry {
    /// Transcript line of the entry.
    pub line: u64,
    /// What it is.
    pub kind: EntryKind,
    /// The tool, if it is a call.
    pub tool_name: Option<String>,
    /// Text, target, error and output, each on lines of its own.
    pub text: String,
}

/// An edit or a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// Transcript line of the call.
    pub line: u64,
    /// Path as the tool was given it.
    pub path: String,
    /// What changed, as far as it was stored.
    pub text: Option<String>,
}

impl ReadStore {
    /// A page of the prompts of a session and the last answer to each.
    pub fn focused_page(&self, session: SessionNumber, range: EntryRange, limit: u64) -> Result<EntryPage, StoreError> {
        let seqs = self.focused_seqs(session)?;
        let limit = limit as usize;
        let (from, center_seq) = match range {
            EntryRange::Last => (seqs.len().saturating_sub(limit), None),
            EntryRange::From(seq) => (seqs.partition_point(|one| *one < seq), None),
            EntryRange::Before(seq) => (seqs.partition_point(|one| *one < seq).saturating_sub(limit), None),
            EntryRange::Around(line) => {
                let seq = self.last_seq_at(session, line)?.unwrap_or(0);
                let at = seqs.partition_point(|one| *one <= seq).saturating_sub(1);
                (at.saturating_sub(limit / 3), seqs.get(at).copied())
            }
        };
        let end = match range {
            EntryRange::Before(seq) => seqs.partition_point(|one| *one < seq),
            _ => seqs.len().min(from.saturating_add(limit)),
        };
        let mut entries = Vec::new();
        for seq in seqs.get(from..end).unwrap_or_default() {
            entries.extend(self.entry_at(session, *seq)?);
        }
        Ok(EntryPage { entries, has_earlier: from > 0, has_later: end < seqs.len(), center_seq })
    }

    /// `seq` of every prompt and of the last answer to it, in order.
    fn focused_seqs(&self, session: SessionNumber) -> Result<Vec<u64>, StoreError> {
        let mut seqs = Vec::new();
        self.sql.each(
            "SELECT episode.first_seq, (SELECT max(entry.seq) FROM entry WHERE entry.space = ?1 AND entry.session = ?2
             AND entry.seq BETWEEN episode.first_seq AND episode.last_seq AND entry.kind = 'assistant'
             AND NOT (entry.is_abandoned OR entry.is_retracted)) AS answer_seq
             FROM episode WHERE episode.space = ?1 AND episode.session = ?2 AND NOT episode.is_abandoned
             ORDER BY episode.first_seq",
            values![session],
            |row| {
                seqs.push(row.u64("first_seq")?);
                let answer = row.opt_int("answer_seq")?.map(|seq| seq as u64);
                seqs.extend(answer.filter(|answer| seqs.last() != Some(answer)));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(seqs)
    }

    /// The edits of a session at these lines, in order.
    pub fn changes_at_lines(&self, session: SessionId, lines: &[u64]) -> Result<Vec<StoredChange>, StoreError> {
        let (Some(first), Some(last)) = (lines.iter().min(), lines.iter().max()) else { return Ok(Vec::new()) };
        let Some(number) = self.session_number(session)? else { return Ok(Vec::new()) };
        let mut found = self.sql.all(
            "SELECT line, target, script FROM entry WHERE space = ?1 AND session = ?2 AND line BETWEEN ?3 AND ?4
             AND tool_kind IN ('edit', 'write') ORDER BY seq",
            values![number, first, last],
            |row| {
                let (line, path) = (row.u64("line")?, row.opt_string("target")?.unwrap_or_default());
                Ok(StoredChange { line, path, text: row.opt_string("script")? })
            },
        )?;
        found.retain(|change| lines.contains(&change.line));
        Ok(found)
    }

    fn last_seq_at(&self, session: SessionNumber, line: u64) -> Result<Option<u64>, StoreError> {
        let sql =
            "SELECT seq FROM entry WHERE space = ?1 AND session = ?2 AND line <= ?3 ORDER BY line DESC, seq LIMIT 1";
        self.sql.one(sql, values![session, line.min(NO_LIMIT)], |row| row.u64("seq"))
    }

    /// The entries of a session that contain all words, in order, and how many there are beyond `limit`. Words are in
    /// lower case; machine-written texts count only with `include_meta`.
    pub fn entries_with_words(
        &self,
        session: SessionNumber,
        words: &[String],
        include_meta: bool,
        limit: usize,
    ) -> Result<(Vec<FoundEntry>, u64), StoreError> {
        let (mut found, mut total) = (Vec::new(), 0);
        self.sql.each(
            "SELECT line, kind, text, tool_name, target, error, output FROM entry WHERE space = ?1 AND session = ?2
             AND (?3 OR NOT (is_abandoned OR is_retracted))
             AND (?3 OR kind NOT IN ('reasoning', 'command', 'notice', 'injected')) ORDER BY seq",
            values![session, include_meta],
            |row| {
                let own = row.opt_text("text")?.unwrap_or_default();
                // The text of a call names its target.
                let target = row.opt_text("target")?.filter(|target| !own.contains(target));
                let parts = [Some(own), target, row.opt_text("error")?, row.opt_text("output")?];
                let text = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
                let lower = text.to_lowercase();
                if !words.iter().all(|word| lower.contains(word)) {
                    return Ok::<_, StoreError>(());
                }
                total += 1;
                if found.len() < limit {
                    let (line, kind) = (row.u64("line")?, EntryKind::from_stored(row.text("kind")?));
                    found.push(FoundEntry { line, kind, tool_name: row.opt_string("tool_name")?, text });
                }
                Ok(())
            },
        )?;
        Ok((found, total - total.min(limit as u64)))
    }
}
