//! The feed of changes since a change number, in the order a search index needs.

use rethread_model::{Agent, EntryKind, Timestamp};
use rusqlite::{Row, params};

use crate::{ReadStore, SessionNumber, SessionScope, StoreError};

/// Identifies a store and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreHead {
    /// Random number of the database file.
    pub identity: i64,
    /// The last change number.
    pub change: i64,
}

/// Identifies an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpisodeKey {
    /// The session it is in.
    pub session: SessionNumber,
    /// Its number within the session, from 1.
    pub number: u64,
}

/// An entry as an index needs it, borrowed from its row.
#[derive(Clone, Copy, Debug)]
pub struct FeedEntry<'r> {
    /// The episode it belongs to.
    pub episode: EpisodeKey,
    /// Its position in the session.
    pub seq: u64,
    /// Time of the entry.
    pub at: Option<Timestamp>,
    /// What the entry is: prompt, answer, call and so on.
    pub kind: EntryKind,
    /// Text of the entry.
    pub text: &'r str,
    /// Name of the tool, for a call.
    pub tool_name: Option<&'r str>,
    /// Kind of the tool, as stored.
    pub tool_kind: Option<&'r str>,
    /// What the tool was used on, such as a path or a command.
    pub target: Option<&'r str>,
    /// Its other arguments.
    pub arguments: Option<&'r str>,
    /// Files it was used on, as a JSON list.
    pub paths: Option<&'r str>,
    /// Its error message.
    pub error: Option<&'r str>,
    /// Whether the call failed, or the entry is a failure itself.
    pub is_failure: bool,
}

/// Where a feed starts: one change number for closed episodes, one for those that may still grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    /// Closed episodes and rebuilt sessions after this change.
    pub closed_after: i64,
    /// Open episodes after this change.
    pub open_after: i64,
}

impl FeedCursor {
    /// Everything after a change.
    pub const fn after_change(change: i64) -> Self {
        Self { closed_after: change, open_after: change }
    }
}

/// One item of the feed.
#[derive(Clone, Copy, Debug)]
pub enum FeedItem<'r> {
    /// Drop everything known about the session; its current episodes follow.
    SessionRebuilt(SessionNumber),
    /// Drop everything known about the episode; its current entries follow.
    EpisodeChanged(EpisodeKey),
    /// An entry of the last episode in the feed.
    Entry(FeedEntry<'r>),
}

/// Leaves out what machines wrote, retracted prompts and abandoned branches. What an agent dropped from a transcript by
/// rewriting it is still found.
const IS_SEARCHABLE: &str = "(entry.is_superseded OR NOT (entry.is_abandoned OR entry.is_retracted))
    AND entry.kind NOT IN ('interruption', 'injected', 'notice', 'command')";

/// Joins the entries of an episode. Entries before the first prompt count to the first episode, or they would not be
/// found.
pub(crate) const EPISODE_ENTRIES: &str = "entry ON entry.space = episode.space AND entry.session = episode.session
    AND entry.seq >= CASE WHEN episode.number = 1 THEN 0 ELSE episode.first_seq END
    AND entry.seq <= episode.last_seq AND coalesce(entry.episode, 1) = episode.number";

impl ReadStore {
    /// The state of the store.
    pub fn head(&self) -> Result<StoreHead, StoreError> {
        let read = || -> rusqlite::Result<StoreHead> {
            let mut statement = self.connection.prepare_cached(
                "SELECT store_identity.value, coalesce(
                 (SELECT value FROM counter WHERE space = ?1 AND name = 'change'), 0) FROM store_identity",
            )?;
            statement
                .query_row([self.space.as_str()], |row| Ok(StoreHead { identity: row.get(0)?, change: row.get(1)? }))
        };
        read().map_err(|cause| self.err(cause))
    }

    /// A number that changes when another connection commits. Only comparable while this connection is open.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        let read = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        read.map_err(|cause| self.err(cause))
    }

    /// How many entries the episodes changed since `change` have. Stops counting once there are more than `enough`.
    pub fn count_changed_entries(&self, change: i64, enough: u64) -> Result<u64, StoreError> {
        let read = || -> rusqlite::Result<u64> {
            let mut statement = self.connection.prepare_cached(
                "SELECT last_seq - first_seq + 1 FROM episode INDEXED BY episode_by_change
                 WHERE space = ?1 AND change > ?2",
            )?;
            let mut rows = statement.query(params![self.space.as_str(), change])?;
            let mut sum = 0;
            while let Some(row) = rows.next()? {
                sum += row.get::<_, i64>(0)?.max(0) as u64;
                if sum > enough {
                    break;
                }
            }
            Ok(sum)
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Calls `each` with everything that changed since then, and returns the state of the store it read.
    pub fn feed<E>(
        &self,
        since: FeedCursor,
        mut each: impl FnMut(FeedItem<'_>) -> Result<(), E>,
    ) -> Result<StoreHead, E>
    where
        E: From<StoreError>,
    {
        // Head and rows belong to the same state.
        let snapshot = self.snapshot()?;
        let head = snapshot.head()?;
        for session in snapshot.rebuilt_after(since.closed_after)? {
            each(FeedItem::SessionRebuilt(session))?;
        }
        snapshot.feed_entries(since, &mut each)?;
        Ok(head)
    }

    fn rebuilt_after(&self, change: i64) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number FROM session INDEXED BY session_by_rebuild WHERE space = ?1
                 AND rebuilt_at_change > ?2 ORDER BY rebuilt_at_change",
            )?;
            statement.query_map(params![self.space.as_str(), change], |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn feed_entries<E>(&self, since: FeedCursor, each: &mut impl FnMut(FeedItem<'_>) -> Result<(), E>) -> Result<(), E>
    where
        E: From<StoreError>,
    {
        let err = |cause| self.err(cause);
        let sql = format!(
            "SELECT episode.session, episode.number, entry.seq, entry.at, entry.kind, entry.text, entry.tool_name,
             entry.tool_kind, entry.target, entry.arguments, entry.paths, entry.error, entry.status = 'error'
             FROM episode INDEXED BY episode_by_change LEFT JOIN {EPISODE_ENTRIES} AND {IS_SEARCHABLE}
             WHERE episode.space = ?1 AND episode.change > min(?2, ?3)
             AND episode.change > CASE WHEN episode.is_open THEN ?3 ELSE ?2 END ORDER BY episode.change"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(err)?;
        let values = params![self.space.as_str(), since.closed_after, since.open_after];
        let mut rows = statement.query(values).map_err(err)?;
        let mut last = None;
        while let Some(row) = rows.next().map_err(err)? {
            let key = episode_key(row).map_err(err)?;
            if last != Some(key) {
                each(FeedItem::EpisodeChanged(key))?;
                last = Some(key);
            }
            if let Some(entry) = feed_entry(row, key).map_err(err)? {
                each(FeedItem::Entry(entry))?;
            }
        }
        Ok(())
    }

    /// The numbers of all sessions in a scope.
    pub fn session_numbers(&self, scope: &SessionScope) -> Result<Vec<SessionNumber>, StoreError> {
        self.session_numbers_by_agent(scope, &[])
    }

    /// The numbers of all sessions in a scope, of these agents; of all agents if the list is empty.
    pub fn session_numbers_by_agent(
        &self,
        scope: &SessionScope,
        agents: &[Agent],
    ) -> Result<Vec<SessionNumber>, StoreError> {
        let project = match scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number FROM session INDEXED BY session_by_project WHERE space = ?1 AND
                 (?2 IS NULL OR project = ?2 OR cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')
                 AND (?3 = '' OR instr(?3, ' ' || agent || ' ') > 0)",
            )?;
            let agents: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            let agents = if agents.is_empty() { String::new() } else { format!(" {} ", agents.join("  ")) };
            let values = params![self.space.as_str(), project, agents];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

fn episode_key(row: &Row<'_>) -> rusqlite::Result<EpisodeKey> {
    Ok(EpisodeKey { session: SessionNumber(row.get(0)?), number: row.get::<_, i64>(1)? as u64 })
}

fn feed_entry<'r>(row: &'r Row<'_>, episode: EpisodeKey) -> rusqlite::Result<Option<FeedEntry<'r>>> {
    let text = |at: usize| -> rusqlite::Result<Option<&'r str>> { Ok(row.get_ref(at)?.as_str_or_null()?) };
    let Some(seq) = row.get::<_, Option<i64>>(2)? else { return Ok(None) };
    let kind = EntryKind::from_stored(text(4)?.unwrap_or_default());
    Ok(Some(FeedEntry {
        episode,
        seq: seq as u64,
        at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
        kind,
        text: text(5)?.unwrap_or_default(),
        tool_name: text(6)?,
        tool_kind: text(7)?,
        target: text(8)?,
        arguments: text(9)?,
        paths: text(10)?,
        error: text(11)?,
        is_failure: kind == EntryKind::Failure || row.get::<_, Option<bool>>(12)?.unwrap_or(false),
    }))
}
