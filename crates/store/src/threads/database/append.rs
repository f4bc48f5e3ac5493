//! One append of several records: planned on the head that is known, stored if the head is still the same.

use rethread_model::thread::ThreadRecord;

use super::rows::{self, LogHead, NewLine};
use crate::sql::Sql;
use crate::threads::append_queue::{AppendResult, AppendTicket};
use crate::threads::{ThreadError, new_record, record_counts};

/// Records with their numbers, and the head that they lead to.
#[derive(Debug)]
pub(super) struct PlannedAppend {
    /// Shows whether a commit whose outcome is unknown took effect.
    append_id: String,
    from: u64,
    pub(super) after: LogHead,
    lines: Vec<NewLine>,
    pub(super) results: Vec<(AppendTicket, AppendResult)>,
}

/// An append whose outcome is unknown, because the connection was lost.
#[derive(Debug)]
pub(super) struct UnconfirmedAppend {
    /// As the caller gave it.
    pub(super) record: ThreadRecord,
    /// As it was stored, if it was.
    pub(super) stored: ThreadRecord,
    start: u64,
    append_id: String,
}

impl PlannedAppend {
    pub(super) fn new(head: &LogHead, batch: &[(AppendTicket, ThreadRecord)]) -> Self {
        let mut plan = Self {
            append_id: rows::random_id(),
            from: head.bytes,
            after: head.clone(),
            lines: Vec::new(),
            results: Vec::with_capacity(batch.len()),
        };
        if !plan.after.torn.is_empty() {
            plan.close_torn_line();
        }
        for (ticket, record) in batch {
            let numbered = new_record::numbered(&plan.after.metadata, record.clone());
            let result = numbered.map(|(record, line)| {
                record_counts::count_line(&mut plan.after.metadata, &line);
                plan.add_line(line);
                record
            });
            plan.results.push((*ticket, result));
        }
        plan
    }

    /// A complete line that lacks only its newline becomes a record and counts.
    fn close_torn_line(&mut self) {
        let mut torn = std::mem::take(&mut self.after.torn);
        torn.push(b'\n');
        record_counts::count_line(&mut self.after.metadata, &torn);
        self.add_line(b"\n".to_vec());
    }

    fn add_line(&mut self, line: Vec<u8>) {
        let start = self.after.bytes;
        self.after.bytes += line.len() as u64;
        self.lines.push((start, line));
    }

    pub(super) fn has_refused(&self) -> bool {
        self.results.iter().any(|(_, result)| result.is_err())
    }

    /// Whether all records are refused, so that nothing is stored.
    pub(super) fn is_empty(&self) -> bool {
        self.results.iter().all(|(_, result)| result.is_err())
    }

    /// Stores the lines within a transaction. False if the head has moved since it was read.
    pub(super) fn store(&self, sql: &Sql) -> Result<bool, ThreadError> {
        if !rows::move_head(sql, self.from, &self.after)? {
            return Ok(false);
        }
        rows::add_lines(sql, self.after.metadata.id, &self.append_id, &self.lines)?;
        Ok(true)
    }

    /// Refuses messages whose client ids are already in the log from a position on. The thread must be locked.
    pub(super) fn check_client_ids(&self, sql: &Sql, from: u64) -> Result<(), ThreadError> {
        let new: Vec<&str> = self.results.iter().filter_map(|(_, result)| client_id(result.as_ref().ok()?)).collect();
        if new.is_empty() || from >= self.from {
            return Ok(());
        }
        let (id, mut taken) = (self.after.metadata.id, None);
        rows::each_line(sql, id, from, |start, line| {
            let record = if start < self.from { ThreadRecord::parse(line).ok() } else { None };
            let found = record.as_ref().and_then(client_id).filter(|found| new.contains(found));
            taken = found.map(str::to_owned).or(taken.take());
        })?;
        taken.map_or(Ok(()), |client_id| Err(ThreadError::ClientIdTaken { id, client_id }))
    }

    /// Whether a commit took effect.
    pub(super) fn is_stored(&self, sql: &Sql) -> Result<bool, ThreadError> {
        rows::was_added(sql, self.after.metadata.id, self.from, &self.append_id)
    }

    /// The records whose outcome is unknown.
    pub(super) fn into_unconfirmed(
        self,
        batch: &[(AppendTicket, ThreadRecord)],
    ) -> impl Iterator<Item = UnconfirmedAppend> {
        let (from, append_id) = (self.from, self.append_id);
        let pairs =
            batch.iter().zip(self.results).filter_map(|((_, record), (_, result))| Some((record, result.ok()?)));
        let unconfirmed = pairs.map(|(record, stored)| UnconfirmedAppend {
            record: record.clone(),
            stored,
            start: from,
            append_id: append_id.clone(),
        });
        unconfirmed.collect::<Vec<_>>().into_iter()
    }
}

fn client_id(record: &ThreadRecord) -> Option<&str> {
    record.message()?.client_id.as_deref()
}

impl UnconfirmedAppend {
    /// Whether the record was stored. All lines of an append are stored together, so its first one shows it.
    pub(super) fn is_stored(&self, sql: &Sql, id: rethread_model::thread::ThreadId) -> Result<bool, ThreadError> {
        rows::was_added(sql, id, self.start, &self.append_id)
    }
}
