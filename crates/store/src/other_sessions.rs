//! Other sessions of a project, and what they did since a reader last saw them.

use std::collections::HashMap;

use rethread_model::{Entry, Session, SessionId, SessionKind, Timestamp};

use crate::sql::{Row, values};
use crate::{ReadStore, SessionKey, SessionNumber, StoreError, entries, sessions};

/// Entries read per session: more than fit into any summary.
const MAX_ENTRIES: u64 = 400;

/// Maximum depth of sub-agents that started sub-agents.
const MAX_NESTING: usize = 8;

/// A main session with its sub-agents: what they do counts as done by the session.
#[derive(Clone, Debug)]
pub struct ActiveSession {
    /// The main session.
    pub session: Session,
    /// The main session first, then its active sub-agents.
    pub parts: Vec<SessionPart>,
}

/// A main session or a sub-agent as part of an active session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPart {
    /// Identifies it in later calls.
    pub number: SessionNumber,
    /// How often its transcript was replaced.
    pub generation: u64,
    /// Time of its last entry.
    pub last_activity_at: Option<Timestamp>,
}

impl ActiveSession {
    /// A session with itself as its only part.
    fn from_row(row: &Row<'_>) -> Result<Option<Self>, StoreError> {
        let Some((number, session)) = sessions::numbered(row)? else { return Ok(None) };
        let (generation, last_activity_at) = (row.u64("generation")?, session.last_activity_at);
        Ok(Some(Self { session, parts: vec![SessionPart { number, generation, last_activity_at }] }))
    }
}

/// What a session did since a reader last saw it.
#[derive(Clone, Debug, Default)]
pub struct EntriesSince {
    /// New entries on the current branch, oldest first.
    pub entries: Vec<Entry>,
    /// Prompts and answers among them; entries of the same API message count once.
    pub message_count: u64,
    /// Seq of the last entry of the session.
    pub last_seq: Option<u64>,
}

impl ReadStore {
    /// Main sessions of a project that were active since a time, themselves or through a sub-agent, most recent first.
    pub fn active_sessions(&self, project: &str, since: Timestamp) -> Result<Vec<ActiveSession>, StoreError> {
        let condition = "session.project = ?2 AND session.last_activity_at >= ?3 AND session.kind IN ('main', 'child')
             AND NOT session.is_empty";
        let found = self.select_sessions(condition, values![project, since], ActiveSession::from_row)?;
        let (mut active, children): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| one.session.kind == SessionKind::Main);
        let mut parents: HashMap<SessionId, SessionId> = HashMap::new();
        parents.extend(children.iter().filter_map(|child| Some((child.session.id, child.session.parent?))));
        for child in children {
            let Some(main) = self.main_session_of(&child.session, &parents)? else { continue };
            if let Some(one) = active.iter_mut().find(|one| one.session.id == main) {
                one.parts.extend(child.parts);
                continue;
            }
            let condition = "session.id = ?2 AND session.kind = 'main'";
            let mut idle = self.select_sessions(condition, values![main.to_string()], ActiveSession::from_row)?;
            for one in &mut idle {
                one.parts.extend(&child.parts);
            }
            active.extend(idle);
        }
        active.sort_by_key(|one| std::cmp::Reverse(one.parts.iter().filter_map(|part| part.last_activity_at).max()));
        Ok(active)
    }

    /// Follows the parents of a sub-agent up to a main session. `parents` has the known steps.
    fn main_session_of(
        &self,
        child: &Session,
        parents: &HashMap<SessionId, SessionId>,
    ) -> Result<Option<SessionId>, StoreError> {
        let mut at = child.parent;
        for _ in 0..MAX_NESTING {
            let Some(id) = at else { return Ok(None) };
            if let Some(parent) = parents.get(&id) {
                at = Some(*parent);
                continue;
            }
            match self.sessions_by_exact_reference(&id.to_string())?.pop() {
                Some(session) if session.kind == SessionKind::Main => return Ok(Some(session.id)),
                found => at = found.and_then(|session| session.parent),
            }
        }
        Ok(None)
    }

    /// What a session and its sub-agents did since a time, oldest first. Prompts and answers of sub-agents are
    /// left out: they are between them and their session.
    pub fn recent_entries(&self, active: &ActiveSession, since: Timestamp) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for (at, part) in active.parts.iter().enumerate().filter(|(_, part)| part.last_activity_at >= Some(since)) {
            let found = self.entries_since(part.number, None, since)?.entries.into_iter();
            entries.extend(found.filter(|entry| at == 0 || entry.tool.is_some()));
        }
        // The entries of one part are in order already, and they may lack times.
        if active.parts.len() > 1 {
            entries.sort_by_key(|entry| entry.at);
        }
        Ok(entries)
    }

    /// The numbers of main sessions of a project that were active since a time.
    pub fn active_session_numbers(&self, project: &str, since: Timestamp) -> Result<Vec<SessionNumber>, StoreError> {
        self.sql.all(
            "SELECT number FROM session WHERE space = ?1 AND project = ?2 AND last_activity_at >= ?3
             AND kind = 'main' ORDER BY number",
            values![project, since],
            |row| row.session("number"),
        )
    }

    /// The session with that external id; `None` until its transcript was read, and if it was removed.
    pub fn session_by_external_id(&self, key: SessionKey<'_>) -> Result<Option<(SessionNumber, Session)>, StoreError> {
        let condition = "session.agent = ?2 AND session.external_id = ?3 AND session.kind <> 'removed'";
        Ok(self.select_sessions(condition, values![key.agent, key.external_id], sessions::numbered)?.pop())
    }

    /// What a session did after an entry and since a time.
    pub fn entries_since(
        &self,
        session: SessionNumber,
        after: Option<u64>,
        moment: Timestamp,
    ) -> Result<EntriesSince, StoreError> {
        let last = "SELECT max(seq) AS seq FROM entry WHERE space = ?1 AND session = ?2";
        let last_seq = self.sql.one(last, values![session], |row| row.opt_u64("seq"))?.flatten();
        if last_seq <= after {
            return Ok(EntriesSince { last_seq, ..EntriesSince::default() });
        }
        let is_new = "space = ?1 AND session = ?2 AND seq > ?3 AND coalesce(at, ?4) >= ?4
             AND NOT (is_abandoned OR is_retracted)";
        let after = after.map_or(-1, |seq| seq as i64);
        let sql = format!(
            "SELECT {} FROM entry WHERE {is_new} AND kind NOT IN ('reasoning', 'command', 'notice', 'injected')
             ORDER BY seq DESC LIMIT ?5",
            entries::COLUMNS
        );
        let mut entries = self.sql.all(&sql, values![session, after, moment, MAX_ENTRIES], entries::from_row)?;
        entries.reverse();
        let sql = format!(
            "SELECT count(CASE WHEN kind = 'prompt' THEN 1 END)
             + count(DISTINCT CASE WHEN kind IN ('assistant', 'call') THEN message_key END)
             FROM entry WHERE {is_new}"
        );
        let message_count = self.sql.count(&sql, values![session, after, moment])?;
        Ok(EntriesSince { entries, message_count, last_seq })
    }
}
