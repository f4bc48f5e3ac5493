//! Writes the rows of an old store into a new one: tombstones first, then what only Rethread knows, then sessions.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rethread_model::Agent;

use super::tables::{NamedRow, OldStore};
use crate::batch::{KnownRow, insert_sql};
use crate::forgetting::EXTERNAL_ID_TABLES;
use crate::sql::DriverErrorKind;
use crate::sql::{AsValue, Column, OwnedValue, SqlValue, values};
use crate::{
    Batch, FileFingerprint, ReadCursor, RereadKind, SessionKey, SessionNumber, Store, StoreError, StoreLocation,
    TranscriptNumber, TranscriptRow,
};

/// Rows per transaction, so that other processes do not wait long.
const ROWS_PER_BATCH: usize = 2000;
/// Added to the position of entries that the old store had set aside itself, so that they keep a place of their own.
const SECOND_PLACE: i64 = 1 << 40;
/// Columns of a session that belong to its new row.
const OWN_SESSION_COLUMNS: [&str; 9] = [
    "space",
    "number",
    "agent",
    "external_id",
    "alias",
    "assembler_state",
    "change",
    "rebuilt_at_change",
    "fact_rules_version",
];

/// What was carried over from an old store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedOver {
    /// Sessions found in the old store.
    pub sessions: u64,
    /// Entries found in the old store.
    pub entries: u64,
    /// Tombstones of forgotten sessions and entries.
    pub tombstones: u64,
    /// Names, notes, tasks, cards, events, injections and ledger rows.
    pub own_rows: u64,
    /// Tables of which some rows could not be read.
    pub damaged_tables: Vec<String>,
    /// Rows that do not fit into the new store.
    pub rejected_rows: u64,
}

/// How transcripts of the old store are read now; `None` if one cannot be.
pub type RereadDecision<'a> = &'a dyn Fn(&TranscriptRow) -> Option<RereadKind>;

/// One run of carrying over.
struct CarryOver<'a> {
    old: Rc<OldStore>,
    store: &'a mut Store,
    report: CarriedOver,
    numbers: NewNumbers,
}

/// The numbers that rows of the old store have in the new one.
#[derive(Default)]
struct NewNumbers {
    /// New numbers by old ones. `None` for sessions that stay out.
    sessions: HashMap<i64, Option<SessionNumber>>,
    transcripts: HashMap<i64, TranscriptNumber>,
    /// New numbers of the transcripts that are read again.
    reread: HashSet<i64>,
    /// Old numbers of transcripts whose session is lost, but which can be read again: they give it back.
    readable_without_session: HashSet<i64>,
    /// The transcripts of an old session, to attribute entries of stores that did not record it.
    transcripts_of: HashMap<i64, Vec<i64>>,
}

impl Store {
    /// Carries over the tombstones of an old store, so that nothing forgotten is read again. Quick.
    pub fn carry_over_tombstones(&mut self, old: &StoreLocation) -> Result<CarriedOver, StoreError> {
        let mut run = CarryOver::new(old, self);
        run.tombstones()?;
        Ok(run.report)
    }

    /// Carries over everything that can be read from an old store. Its sessions get the state in which their
    /// transcripts are read again: the next sync completes them. Can be repeated after an interruption.
    pub fn carry_over(&mut self, old: &StoreLocation, reread: RereadDecision<'_>) -> Result<CarriedOver, StoreError> {
        let mut run = CarryOver::new(old, self);
        run.tombstones()?;
        run.own_tables(old)?;
        run.all_sessions()?;
        run.all_transcripts(reread)?;
        run.link_transcripts()?;
        for table in ["usage", "tree_node", "queue_step"] {
            run.session_rows(table)?;
        }
        run.entries("entry", 0)?;
        run.entries("set_aside_entry", SECOND_PLACE)?;
        run.count_usage()?;
        Ok(run.report)
    }
}

impl<'a> CarryOver<'a> {
    fn new(old: &StoreLocation, store: &'a mut Store) -> Self {
        Self {
            old: Rc::new(OldStore::open(old.path())),
            store,
            report: CarriedOver::default(),
            numbers: NewNumbers::default(),
        }
    }

    /// All rows of our space in a table, a limited number at a time.
    fn each_chunk(
        &mut self,
        table: &str,
        mut write: impl FnMut(&mut Self, Vec<NamedRow>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let space = OwnedValue::Text(self.store.sql.space().to_owned());
        let (mut rows, mut written) = (Vec::new(), Ok(()));
        let old = Rc::clone(&self.old);
        let is_whole = old.rows(table, &mut |row| {
            if row.get("space").is_none_or(|owner| *owner == space) {
                rows.push(row);
            }
            if rows.len() >= ROWS_PER_BATCH && written.is_ok() {
                written = write(self, std::mem::take(&mut rows));
            }
        });
        written?;
        if !is_whole {
            self.report.damaged_tables.push(table.to_owned());
        }
        write(self, rows)
    }

    fn tombstones(&mut self) -> Result<(), StoreError> {
        for table in ["forgotten_session", "forgotten_key", "tombstone_salt"] {
            self.copy_table(table, |report, rows| report.tombstones += rows)?;
        }
        Ok(())
    }

    /// Copies what only Rethread knows. Once: the ledger has no key by which a second copy would be recognized.
    fn own_tables(&mut self, old: &StoreLocation) -> Result<(), StoreError> {
        let mark = format!("carried over {old}");
        if self.store.counter(&mark)? > 0 {
            return Ok(());
        }
        let tables = EXTERNAL_ID_TABLES.iter().filter(|table| **table != "watermark");
        for table in tables.chain(&["ledger", "other_session_title", "redaction"]) {
            self.copy_table(table, |report, rows| report.own_rows += rows)?;
        }
        let batch = self.store.begin()?;
        batch.set_counter(&mark, 1)?;
        batch.commit()
    }

    fn copy_table(&mut self, table: &str, count: impl Fn(&mut CarriedOver, u64)) -> Result<(), StoreError> {
        self.each_chunk(table, |run, rows| {
            let mut batch = run.store.begin()?;
            for mut row in rows {
                if let ("ledger" | "injection", Some(OwnedValue::Int(number))) = (table, row.get_mut("number")) {
                    *number = batch.next_number(table)?;
                }
                if let Some(label) = label_of(table, &row) {
                    batch.insert_named("session_label", label)?;
                }
                match batch.insert_named(table, row)? {
                    InsertOutcome::Inserted => count(&mut run.report, 1),
                    InsertOutcome::Known => {}
                    InsertOutcome::Rejected => run.report.rejected_rows += 1,
                }
            }
            batch.commit()
        })
    }

    fn all_sessions(&mut self) -> Result<(), StoreError> {
        self.each_chunk("session", |run, rows| {
            let mut batch = run.store.begin()?;
            for row in rows {
                let Some(OwnedValue::Int(number)) = row.get("number").cloned() else { continue };
                let new = batch.carry_session(&row)?;
                run.report.sessions += u64::from(new.is_some() && !run.numbers.sessions.contains_key(&number));
                run.numbers.sessions.insert(number, new);
            }
            batch.commit()
        })
    }

    fn all_transcripts(&mut self, reread: RereadDecision<'_>) -> Result<(), StoreError> {
        self.each_chunk("transcript", |run, rows| {
            let mut batch = run.store.begin()?;
            for row in rows {
                let (Some(mut known), Some(OwnedValue::Int(session))) =
                    (transcript_row(&row), row.get("session").cloned())
                else {
                    continue;
                };
                let old = known.number.0;
                let Some(Some(session)) = run.numbers.sessions.get(&session) else {
                    if !run.numbers.sessions.contains_key(&session) && reread(&known).is_some() {
                        run.numbers.readable_without_session.insert(old);
                    }
                    continue;
                };
                known.session = Some(*session);
                let kind = reread(&known);
                let (number, is_new) = batch.carry_transcript(&known, kind)?;
                run.numbers.transcripts.insert(old, number);
                if kind.is_some() && is_new {
                    run.numbers.reread.insert(number.0);
                }
            }
            batch.commit()
        })
    }

    fn link_transcripts(&mut self) -> Result<(), StoreError> {
        self.each_chunk("transcript", |run, rows| {
            for row in rows {
                if let (Some(OwnedValue::Int(number)), Some(OwnedValue::Int(session))) =
                    (row.get("number"), row.get("session"))
                {
                    let of = run.numbers.transcripts_of.entry(*session).or_default();
                    if !of.contains(number) {
                        of.push(*number);
                    }
                }
            }
            Ok(())
        })
    }

    /// Copies rows of transcripts that are not read again.
    fn session_rows(&mut self, table: &str) -> Result<(), StoreError> {
        self.each_chunk(table, |run, rows| {
            let mut batch = run.store.begin()?;
            for mut row in rows {
                let (Some(session), transcript) = run.numbers.place(&row) else { continue };
                if transcript.is_some_and(|number| run.numbers.reread.contains(&number.0)) {
                    continue;
                }
                row.insert("session".to_owned(), OwnedValue::Int(session.0));
                row.insert(
                    "transcript".to_owned(),
                    transcript.map_or(OwnedValue::Null, |number| OwnedValue::Int(number.0)),
                );
                let outcome = batch.insert_named(table, row)?;
                run.report.rejected_rows += u64::from(outcome == InsertOutcome::Rejected);
            }
            batch.commit()
        })
    }

    fn entries(&mut self, table: &str, place: i64) -> Result<(), StoreError> {
        self.each_chunk(table, |run, rows| {
            let mut batch = run.store.begin()?;
            for mut row in rows {
                let (Some(OwnedValue::Int(old)), Some(OwnedValue::Int(key))) =
                    (row.get("session").cloned(), row.get("native_key").cloned())
                else {
                    continue;
                };
                if batch.has_forgotten(rethread_model::NativeKey::from_stored(key))? {
                    continue;
                }
                let transcript = row.get("transcript").and_then(|number| match number {
                    OwnedValue::Int(number) => Some(*number),
                    _ => None,
                });
                let is_known = run.numbers.sessions.contains_key(&old);
                if !is_known && transcript.is_some_and(|it| run.numbers.readable_without_session.contains(&it)) {
                    continue;
                }
                if let std::collections::hash_map::Entry::Vacant(unknown) = run.numbers.sessions.entry(old) {
                    // Its own row is lost: the entries stay together under a name of ours.
                    let found = batch.open_session(Agent::ClaudeCode, &format!("recovered-{old}"))?.number;
                    batch.begin_set_aside(found, None)?;
                    unknown.insert(Some(found));
                }
                let (Some(session), transcript) = run.numbers.place(&row) else { continue };
                row.insert("session".to_owned(), OwnedValue::Int(session.0));
                row.insert(
                    "transcript".to_owned(),
                    transcript.map_or(OwnedValue::Null, |number| OwnedValue::Int(number.0)),
                );
                if let Some(OwnedValue::Int(seq)) = row.get_mut("seq") {
                    *seq += place;
                }
                match batch.insert_named("set_aside_entry", row)? {
                    InsertOutcome::Inserted => run.report.entries += 1,
                    InsertOutcome::Known => {}
                    InsertOutcome::Rejected => run.report.rejected_rows += 1,
                }
            }
            batch.commit()
        })
    }

    fn count_usage(&mut self) -> Result<(), StoreError> {
        let sessions: Vec<SessionNumber> = self.numbers.sessions.values().copied().flatten().collect();
        for some in sessions.chunks(ROWS_PER_BATCH) {
            let mut batch = self.store.begin()?;
            for session in some {
                batch.count_usage(*session)?;
            }
            batch.commit()?;
        }
        Ok(())
    }
}

impl NewNumbers {
    /// The new numbers of the session and the transcript a row belongs to.
    fn place(&self, row: &NamedRow) -> (Option<SessionNumber>, Option<TranscriptNumber>) {
        let Some(OwnedValue::Int(old)) = row.get("session") else { return (None, None) };
        let session = self.sessions.get(old).copied().flatten();
        let recorded = match row.get("transcript") {
            Some(OwnedValue::Int(number)) => Some(*number),
            // A session with one transcript leaves no doubt.
            _ => self.transcripts_of.get(old).filter(|all| all.len() == 1).map(|all| all[0]),
        };
        (session, recorded.and_then(|number| self.transcripts.get(&number).copied()))
    }
}

/// What became of a row.
/// The name and task that older stores kept with the life of a session.
fn label_of(table: &str, row: &NamedRow) -> Option<NamedRow> {
    let is_set = |name: &str| row.get(name).is_some_and(|value| *value != OwnedValue::Null);
    let has_label = table == "lifecycle" && (is_set("name") || is_set("task"));
    let columns = ["space", "agent", "external_id", "name", "task"];
    has_label.then(|| columns.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone()))).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InsertOutcome {
    Inserted,
    /// A row with its key is already there.
    Known,
    Rejected,
}

impl Batch<'_> {
    /// Inserts a row by column names: unknown columns are left out, missing ones get a neutral value. A row that another
    /// one contradicts, or that belongs to a forgotten session, counts as known.
    fn insert_named(&mut self, table: &str, mut row: NamedRow) -> Result<InsertOutcome, StoreError> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in self.sql.catalog(table)?.into_iter().filter(|column| column.name != "space") {
            let neutral = || match column.kind.as_str() {
                "INTEGER" => OwnedValue::Int(0),
                "BLOB" => OwnedValue::Bytes(Vec::new()),
                _ => OwnedValue::Text(String::new()),
            };
            match row.remove(&column.name) {
                Some(OwnedValue::Null) | None if column.is_required => values.push(neutral()),
                Some(value) => values.push(value),
                None => continue,
            }
            names.push(column.name);
        }
        let values: Vec<SqlValue<'_>> = values.iter().map(AsValue::as_value).collect();
        let columns: Vec<Column<'_>> = names.iter().map(String::as_str).zip(values.iter().copied()).collect();
        if self.refuses(table, columns.iter().copied())? {
            return Ok(InsertOutcome::Known);
        }
        let sql = insert_sql(table, &[], &columns, KnownRow::Keep);
        Ok(match self.unless_contradictory(&sql, &values)? {
            None => InsertOutcome::Rejected,
            Some(0) => InsertOutcome::Known,
            Some(_) => InsertOutcome::Inserted,
        })
    }

    /// The number of changed rows; `None` if a constraint forbids the change.
    fn unless_contradictory(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<Option<u64>, StoreError> {
        match self.sql.try_change(sql, values) {
            Err(cause) if cause.kind() == DriverErrorKind::Constraint => Ok(None),
            changed => changed.map(Some).map_err(|cause| self.sql.error(cause)),
        }
    }

    /// Creates a session with the columns of an old one, unless it was read in the meantime. `None` if it was removed
    /// or forgotten.
    fn carry_session(&mut self, row: &NamedRow) -> Result<Option<SessionNumber>, StoreError> {
        let text = |name: &str| match row.get(name) {
            Some(OwnedValue::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let (Some(Ok(agent)), Some(external_id)) = (text("agent").map(str::parse::<Agent>), text("external_id")) else {
            return Ok(None);
        };
        if text("kind") == Some("removed") || self.is_forgotten(SessionKey { agent, external_id })? {
            return Ok(None);
        }
        let found = self.open_session(agent, external_id)?;
        let is_unread = found.assembler_state.is_none() && !self.is_set_aside(found.number)?;
        if is_unread {
            let known = self.sql.catalog("session")?;
            let is_known = |name: &String| known.iter().any(|column| column.name == *name);
            let columns: Vec<(&String, &OwnedValue)> = row
                .iter()
                .filter(|(name, _)| is_known(name) && !OWN_SESSION_COLUMNS.contains(&name.as_str()))
                .collect();
            let sets: Vec<String> = columns.iter().zip(3..).map(|((name, _), at)| format!("{name} = ?{at}")).collect();
            let sql = format!("UPDATE OR IGNORE session SET {} WHERE space = ?1 AND number = ?2", sets.join(", "));
            let number = [found.number.as_value()].into_iter();
            let values: Vec<_> = number.chain(columns.into_iter().map(|(_, value)| value.as_value())).collect();
            self.unless_contradictory(&sql, &values)?;
        }
        self.begin_set_aside(found.number, text("assembler_state"))?;
        if let Some(alias) = text("alias") {
            let sql = "UPDATE OR IGNORE session SET alias = coalesce(alias, ?3) WHERE space = ?1 AND number = ?2";
            self.sql.run(sql, values![found.number, alias])?;
        }
        Ok(Some(found.number))
    }

    /// Adds a transcript of an old store. One that is read again starts over; another keeps its position.
    fn carry_transcript(
        &mut self,
        row: &TranscriptRow,
        reread: Option<RereadKind>,
    ) -> Result<(TranscriptNumber, bool), StoreError> {
        if let Some(known) = self.transcript(&row.path)? {
            return Ok((known.number, false));
        }
        let number = self.add_transcript(&row.path, row.agent)?;
        match reread {
            Some(kind) => {
                self.set_cursor(number, row.session, FileFingerprint::default(), ReadCursor::default())?;
                self.mark_reread(number, kind)?;
            }
            None => self.set_cursor(number, row.session, row.fingerprint, row.cursor)?,
        }
        Ok((number, true))
    }
}

fn transcript_row(row: &NamedRow) -> Option<TranscriptRow> {
    let number = |name: &str| match row.get(name) {
        Some(OwnedValue::Int(number)) => *number,
        _ => 0,
    };
    let (Some(OwnedValue::Text(path)), Some(OwnedValue::Text(agent))) = (row.get("path"), row.get("agent")) else {
        return None;
    };
    Some(TranscriptRow {
        number: TranscriptNumber(number("number")),
        path: path.clone(),
        agent: agent.parse().ok()?,
        session: None,
        fingerprint: FileFingerprint {
            device: number("device") as u64,
            inode: number("inode") as u64,
            size: number("size") as u64,
            mtime: number("mtime"),
        },
        cursor: ReadCursor {
            offset: number("read_offset") as u64,
            lines: number("read_lines") as u64,
            head_hash: number("head_hash") as u64,
            tail_hash: number("tail_hash") as u64,
        },
    })
}
