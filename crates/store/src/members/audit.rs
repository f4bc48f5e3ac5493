//! The audit: who did what in a space, when, and how much. Rows are added and, when old, deleted; never changed.

use rethread_model::{Access, MemberName, Timestamp};

use crate::sql::{Row, columns, values};
use crate::{ReadStore, Store, StoreError};

/// Something a member did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// When.
    pub at: Timestamp,
    /// Who; `None` for the operator and for maintenance.
    pub member: Option<MemberName>,
    /// What kind of access it was.
    pub access: Access,
    /// The route or admin command. Never content.
    pub target: String,
    /// How many rows were read or written.
    pub items: u64,
    /// HTTP status of the answer; 200 for commands.
    pub status: u16,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its number in the space, from 1 without gaps. Numbers of deleted rows are not used again.
    pub number: u64,
    /// The event.
    pub event: AuditEvent,
}

/// Which events to read.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only those of this member.
    pub member: Option<MemberName>,
    /// Only those since this time.
    pub since: Option<Timestamp>,
    /// Only those with a smaller number: the last one of the page before.
    pub before: Option<u64>,
    /// At most this many; 0 means 100.
    pub limit: u64,
}

/// The counter with the number of the last event.
const LAST_NUMBER: &str = "audit";
/// Stored for the operator and for maintenance. No member can have this name.
const OPERATOR: &str = "(operator)";
const DEFAULT_LIMIT: u64 = 100;
const MAX_LIMIT: u64 = 10_000;

impl ReadStore {
    /// Events, newest first.
    pub fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        let member = filter.member.as_ref().map(MemberName::as_str);
        let limit = if filter.limit == 0 { DEFAULT_LIMIT } else { filter.limit.min(MAX_LIMIT) };
        self.sql.known(
            "SELECT number, at, member, action, target, items, status FROM audit WHERE space = ?1
             AND (?2 IS NULL OR member = ?2) AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR number < ?4)
             ORDER BY number DESC LIMIT ?5",
            values![member, filter.since, filter.before, limit],
            audit_row,
        )
    }
}

impl Store {
    /// Adds events, all in one transaction. Callers collect those of several requests, because each transaction waits
    /// for the disk.
    pub fn append_audit(&mut self, events: &[AuditEvent]) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let batch = self.begin()?;
        let mut number = batch.counter(LAST_NUMBER)?;
        for event in events {
            number += 1;
            batch.insert(
                "audit",
                columns! {
                    number: number,
                    at: event.at,
                    member: event.member.as_ref().map_or(OPERATOR, MemberName::as_str),
                    action: event.access.as_str(),
                    target: event.target,
                    items: event.items,
                    status: i64::from(event.status),
                },
            )?;
        }
        batch.set_counter(LAST_NUMBER, number)?;
        batch.commit()
    }

    /// Deletes events before a time. Returns how many.
    pub fn delete_audit_before(&mut self, time: Timestamp) -> Result<u64, StoreError> {
        let batch = self.begin()?;
        let deleted = batch.sql.change("DELETE FROM audit WHERE space = ?1 AND at < ?2", values![time])?;
        batch.commit()?;
        Ok(deleted)
    }
}

fn audit_row(row: &Row<'_>) -> Result<Option<AuditRow>, StoreError> {
    let Some(access) = row.parsed("action")? else { return Ok(None) };
    let event = AuditEvent {
        at: row.time("at")?,
        member: row.parsed("member")?,
        access,
        target: row.string("target")?,
        items: row.u64("items")?,
        status: row.u64("status")? as u16,
    };
    Ok(Some(AuditRow { number: row.u64("number")?, event }))
}
