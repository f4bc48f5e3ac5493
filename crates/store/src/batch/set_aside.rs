//! Sets the entries of a session aside while its transcripts are read again, and restores those that were not found.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

use rethread_model::{EntryKind, Timestamp};

use super::{Batch, SessionNumber};
use crate::forgetting::{KEPT_WHEN_READ_AGAIN, SESSION_TABLES};
use crate::sql::{CatalogColumn, Row, columns, values};
use crate::{ReadStore, StoreError, TranscriptNumber};

/// Why a transcript is read again from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RereadKind {
    /// What was read before is still there, so that entries which are not found again were derived by older rules.
    Unchanged,
    /// The agent rewrote the file: it may have dropped entries of which there is no other copy.
    Rewritten,
}

impl RereadKind {
    const fn as_str(self) -> &'static str {
        match self {
            RereadKind::Unchanged => "unchanged",
            RereadKind::Rewritten => "rewritten",
        }
    }
}

/// What a session keeps of before its transcripts were read again.
#[derive(Debug, Default)]
pub struct RestoredEntries {
    /// The assembler state from before, as JSON.
    pub state: Option<String>,
    /// The new `seq` of each entry that was read again, by its `seq` before restoring.
    pub new_seqs: BTreeMap<u64, u64>,
    /// Number of restored entries whose transcript is gone or was not read.
    pub unread: u64,
    /// Number of restored entries that a rewritten transcript no longer has, by its path.
    pub superseded: BTreeMap<String, u64>,
}

impl RestoredEntries {
    /// Whether nothing was restored.
    pub fn is_empty(&self) -> bool {
        self.unread == 0 && self.superseded.is_empty()
    }
}

/// An entry as far as needed to recognize it.
struct KnownEntry {
    seq: i64,
    native_key: i64,
    transcript: Option<i64>,
    is_superseded: bool,
    has_result: bool,
    /// Hash of time, kind and content: agents may give the same entry another id when they migrate a file.
    content: u64,
}

const KNOWN_COLUMNS: &str = "seq, native_key, transcript, is_superseded, status, at, kind, text, tool_name, arguments";

/// What happens to an entry that was not found again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Supersede,
    Drop,
}

impl Batch<'_> {
    /// Removes everything derived from a session's transcripts, because these are read again. The entries are set
    /// aside until [`Batch::restore_set_aside`]. What else comes from other transcripts stays.
    pub fn set_session_aside(
        &mut self,
        session: SessionNumber,
        rereads: &[(TranscriptNumber, RereadKind)],
    ) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE other_session_title SET is_delivered = FALSE WHERE space = ?1
             AND leaf_key IN (SELECT native_key FROM entry WHERE space = ?1 AND session = ?2)",
            values![session],
        )?;
        let columns = self.quoted_entry_columns()?.join(", ");
        let copy = format!(
            "INSERT INTO set_aside_entry ({columns}) SELECT {columns} FROM entry WHERE space = ?1 AND session = ?2"
        );
        self.sql.run(&copy, values![session])?;
        let state = self.session_with_state(session)?.and_then(|(_, state)| state);
        self.begin_set_aside(session, state.as_deref())?;
        let cleared = SESSION_TABLES.into_iter().filter(|table| !table.starts_with("set_aside"));
        self.delete_session_rows(cleared.filter(|table| !KEPT_WHEN_READ_AGAIN.contains(table)), session)?;
        for (transcript, kind) in rereads {
            for table in KEPT_WHEN_READ_AGAIN {
                let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2 AND transcript = ?3");
                self.sql.run(&sql, values![session, transcript])?;
            }
            self.sql.run(
                "UPDATE transcript SET read_offset = 0, read_lines = 0, size = 0, mtime = 0
                 WHERE space = ?1 AND number = ?2",
                values![transcript],
            )?;
            self.mark_reread(*transcript, *kind)?;
        }
        self.mark_rebuilt(session)?;
        let sql = "UPDATE session SET assembler_state = NULL WHERE space = ?1 AND number = ?2";
        self.sql.run(sql, values![session])?;
        self.count_usage(session)
    }

    /// Marks a session whose entries are set aside, with its assembler state.
    pub(crate) fn begin_set_aside(&mut self, session: SessionNumber, state: Option<&str>) -> Result<(), StoreError> {
        self.insert_new("set_aside_session", columns! { session: session, assembler_state: state }).map(drop)
    }

    pub(crate) fn mark_reread(&mut self, transcript: TranscriptNumber, kind: RereadKind) -> Result<(), StoreError> {
        let sql = "UPDATE transcript SET reread = ?3 WHERE space = ?1 AND number = ?2";
        self.sql.run(sql, values![transcript, kind.as_str()])
    }

    /// Sums up the stored usage of a session and the bytes read of its transcripts.
    pub(crate) fn count_usage(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE session SET
             raw_bytes = (SELECT coalesce(sum(read_offset), 0) FROM transcript WHERE space = ?1 AND session = ?2),
             (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos) =
             (SELECT coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
              coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0), sum(cost_nanos)
              FROM usage WHERE space = ?1 AND session = ?2)
             WHERE space = ?1 AND number = ?2",
            values![session],
        )
    }

    /// Whether entries of the session are set aside.
    pub fn is_set_aside(&self, session: SessionNumber) -> Result<bool, StoreError> {
        self.sql.exists("SELECT 1 FROM set_aside_session WHERE space = ?1 AND session = ?2", values![session])
    }

    /// Ends the reading of a session whose entries were set aside: entries that were not found again are restored at
    /// their old places, unless their transcript was read completely and never lost them. Episodes have to be rebuilt
    /// afterwards, unless nothing was restored.
    pub fn restore_set_aside(&mut self, session: SessionNumber) -> Result<RestoredEntries, StoreError> {
        let sql = "SELECT assembler_state FROM set_aside_session WHERE space = ?1 AND session = ?2";
        let state = self.sql.one(sql, values![session], |row| row.opt_string("assembler_state"))?;
        let before = self.known_entries("set_aside_entry", session)?;
        let now = self.known_entries("entry", session)?;
        let rereads = self.finished_rereads()?;
        let found = match_entries(&before, &now);
        let mut restored = RestoredEntries { state: state.flatten(), ..RestoredEntries::default() };
        // Restored entries follow the entry they followed before.
        let mut places: BTreeMap<Option<i64>, Vec<(i64, bool)>> = BTreeMap::new();
        let mut place = None;
        for (entry, found) in before.iter().zip(found) {
            if let Some(at) = found {
                place = Some(now[at].seq);
                if entry.has_result && !now[at].has_result {
                    self.copy_result(session, entry.seq, now[at].seq)?;
                }
                continue;
            }
            match self.fate(session, entry, &rereads)? {
                Fate::Drop => {}
                Fate::Keep => {
                    restored.unread += 1;
                    places.entry(place).or_default().push((entry.seq, entry.is_superseded));
                }
                Fate::Supersede => {
                    let path = entry.transcript.and_then(|number| rereads.get(&number));
                    *restored.superseded.entry(path.map_or("", |(_, path)| path).to_owned()).or_default() += 1;
                    places.entry(place).or_default().push((entry.seq, true));
                }
            }
        }
        if !restored.is_empty() {
            self.insert_restored(session, &now, &places, &mut restored.new_seqs)?;
        }
        self.delete_session_rows(["set_aside_entry", "set_aside_session"], session)?;
        Ok(restored)
    }

    /// Ends the reading again of transcripts that no set aside entry belongs to any more.
    pub fn finish_rereads(&mut self) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE transcript SET reread = NULL WHERE space = ?1 AND reread IS NOT NULL
             AND number NOT IN (SELECT transcript FROM set_aside_entry WHERE space = ?1 AND transcript IS NOT NULL)",
            &[],
        )
    }

    /// Kind, text and time of the prompts, tasks and commands of a session that still belong to it, in order.
    pub fn spoken_entries(
        &self,
        session: SessionNumber,
    ) -> Result<Vec<(EntryKind, String, Option<Timestamp>)>, StoreError> {
        self.sql.all(
            "SELECT kind, text, at FROM entry WHERE space = ?1 AND session = ?2 AND NOT is_superseded
             AND kind IN ('prompt', 'task', 'command') ORDER BY seq",
            values![session],
            |row| Ok((EntryKind::from_stored(row.text("kind")?), row.string("text")?, row.opt_time("at")?)),
        )
    }

    /// Whether a session has entries that its transcripts cannot give again.
    pub fn has_unrepeatable_entries(&self, session: SessionNumber) -> Result<bool, StoreError> {
        self.sql.exists(
            "SELECT 1 FROM entry WHERE space = ?1 AND session = ?2 AND (is_superseded OR transcript IS NULL
             OR NOT EXISTS (SELECT 1 FROM transcript WHERE space = ?1 AND number = entry.transcript)) LIMIT 1",
            values![session],
        )
    }

    fn known_entries(&self, table: &str, session: SessionNumber) -> Result<Vec<KnownEntry>, StoreError> {
        let sql = format!("SELECT {KNOWN_COLUMNS} FROM {table} WHERE space = ?1 AND session = ?2 ORDER BY seq");
        self.sql.all(&sql, values![session], known_from_row)
    }

    /// The transcripts that were read again completely, with the kind of their reread and their path.
    fn finished_rereads(&self) -> Result<HashMap<i64, (RereadKind, String)>, StoreError> {
        let rows = self.sql.all(
            "SELECT number, reread, path FROM transcript WHERE space = ?1 AND reread IS NOT NULL AND size > 0",
            &[],
            |row| {
                let is_rewritten = row.text("reread")? == RereadKind::Rewritten.as_str();
                let kind = if is_rewritten { RereadKind::Rewritten } else { RereadKind::Unchanged };
                Ok((row.int("number")?, (kind, row.string("path")?)))
            },
        )?;
        Ok(rows.into_iter().collect())
    }

    fn fate(
        &self,
        session: SessionNumber,
        entry: &KnownEntry,
        rereads: &HashMap<i64, (RereadKind, String)>,
    ) -> Result<Fate, StoreError> {
        let reread = entry.transcript.and_then(|number| rereads.get(&number)).map(|(kind, _)| *kind);
        // A copy of it was read in another session meanwhile.
        let sql = format!(
            "SELECT 1 FROM entry {} WHERE space = ?1 AND native_key = ?2 AND session <> ?3",
            self.sql.index("entry_by_native_key")
        );
        let is_elsewhere = self.sql.exists(&sql, values![entry.native_key, session])?;
        Ok(match reread {
            _ if is_elsewhere => Fate::Drop,
            None => Fate::Keep,
            Some(_) if entry.is_superseded => Fate::Keep,
            Some(RereadKind::Unchanged) => Fate::Drop,
            Some(RereadKind::Rewritten) => Fate::Supersede,
        })
    }

    /// Copies a result that was in a transcript which cannot be read again.
    fn copy_result(&mut self, session: SessionNumber, from: i64, to: i64) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE entry SET (status, summary, error, exit_code, output_lines, output_bytes, output) =
             (SELECT status, summary, error, exit_code, output_lines, output_bytes, output FROM set_aside_entry
              WHERE space = ?1 AND session = ?2 AND seq = ?3)
             WHERE space = ?1 AND session = ?2 AND seq = ?4",
            values![session, from, to],
        )
    }

    /// Moves the current entries apart and puts the restored ones between them.
    fn insert_restored(
        &mut self,
        session: SessionNumber,
        now: &[KnownEntry],
        places: &BTreeMap<Option<i64>, Vec<(i64, bool)>>,
        new_seqs: &mut BTreeMap<u64, u64>,
    ) -> Result<(), StoreError> {
        let mut next = 0;
        let mut inserts = Vec::new();
        let mut moves = Vec::new();
        for current in std::iter::once(None).chain(now.iter().map(|entry| Some(entry.seq))) {
            if let Some(seq) = current {
                moves.push((seq, next));
                new_seqs.insert(seq as u64, next as u64);
                next += 1;
            }
            for (seq, is_superseded) in places.get(&current).into_iter().flatten() {
                inserts.push((*seq, next, *is_superseded));
                next += 1;
            }
        }
        // From the end, so that each entry moves to a seq that is free by then.
        for (old, new) in moves.into_iter().rev().filter(|(old, new)| old != new) {
            self.sql.run(
                "UPDATE entry SET seq = ?4 WHERE space = ?1 AND session = ?2 AND seq = ?3",
                values![session, old, new],
            )?;
        }
        let sql = self.restore_sql()?;
        for (old, new, is_superseded) in inserts {
            self.sql.run(&sql, values![session, old, new, is_superseded])?;
        }
        Ok(())
    }

    /// Quoted, because databases reserve different words.
    fn quoted_entry_columns(&self) -> Result<Vec<String>, StoreError> {
        let quoted = |column: CatalogColumn| format!("\"{}\"", column.name);
        Ok(self.sql.catalog("entry")?.into_iter().map(quoted).collect())
    }

    /// Inserts one set aside entry under another `seq`.
    fn restore_sql(&self) -> Result<String, StoreError> {
        let columns = self.quoted_entry_columns()?;
        let value = |name: &String| match name.as_str() {
            "\"seq\"" => "?4".to_owned(),
            "\"is_superseded\"" => "?5".to_owned(),
            "\"episode\"" => "NULL".to_owned(),
            _ => name.clone(),
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        Ok(format!(
            "INSERT INTO entry ({}) SELECT {} FROM set_aside_entry WHERE space = ?1 AND session = ?2 AND seq = ?3",
            columns.join(", "),
            values.join(", ")
        ))
    }
}

impl ReadStore {
    /// Sessions whose entries are set aside, because their reading was interrupted.
    pub fn sessions_set_aside(&self) -> Result<Vec<SessionNumber>, StoreError> {
        let sql = "SELECT session FROM set_aside_session WHERE space = ?1 ORDER BY session";
        self.sql.all(sql, &[], |row| row.session("session"))
    }
}

fn known_from_row(row: &Row<'_>) -> Result<KnownEntry, StoreError> {
    let mut hasher = DefaultHasher::new();
    row.opt_int("at")?.hash(&mut hasher);
    for column in ["kind", "text", "tool_name", "arguments"] {
        row.opt_text(column)?.hash(&mut hasher);
    }
    Ok(KnownEntry {
        seq: row.int("seq")?,
        native_key: row.int("native_key")?,
        transcript: row.opt_int("transcript")?,
        is_superseded: row.flag("is_superseded")?,
        has_result: row.opt_text("status")?.is_some(),
        content: hasher.finish(),
    })
}

/// For each entry from before, its position among the current ones: by id, else by content.
fn match_entries(before: &[KnownEntry], now: &[KnownEntry]) -> Vec<Option<usize>> {
    let by_key: HashMap<i64, usize> = now.iter().enumerate().map(|(at, entry)| (entry.native_key, at)).collect();
    let mut found: Vec<Option<usize>> = before.iter().map(|entry| by_key.get(&entry.native_key).copied()).collect();
    let mut is_taken = vec![false; now.len()];
    for at in found.iter().flatten() {
        is_taken[*at] = true;
    }
    let mut by_content: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, entry) in now.iter().enumerate().rev().filter(|(at, _)| !is_taken[*at]) {
        by_content.entry(entry.content).or_default().push(at);
    }
    for (entry, found) in before.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        *found = by_content.get_mut(&entry.content).and_then(Vec::pop);
    }
    found
}
