//! The feed of changes since a change number, in the order a search index needs.

use rethread_model::{Agent, EntryKind, Timestamp};

use crate::sessions::IN_SCOPE;
use crate::sql::{Row, values};
use crate::{ReadStore, SessionNumber, SessionScope, StoreError};

/// Identifies a store and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// What it ran or changed, if the target does not say all of it.
    pub body: Option<&'r str>,
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
        let found = self.sql.one(
            "SELECT store_identity.value AS identity, coalesce(
             (SELECT value FROM counter WHERE space = ?1 AND name = 'change'), 0) AS change FROM store_identity",
            &[],
            |row| Ok(StoreHead { identity: row.int("identity")? ^ self.sql.history(), change: row.int("change")? }),
        )?;
        found.ok_or_else(|| self.sql.missing_row())
    }

    /// How many entries the episodes changed since `change` have. Stops counting once there are more than `enough`.
    pub fn count_changed_entries(&self, change: i64, enough: u64) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT last_seq - first_seq + 1 AS entries FROM episode {} WHERE space = ?1 AND change > ?2",
            self.sql.index("episode_by_change")
        );
        let mut sum = 0;
        self.sql.stream_while(&sql, values![change], |row| {
            sum += row.int("entries")?.max(0) as u64;
            Ok::<_, StoreError>(sum <= enough)
        })?;
        Ok(sum)
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
        let sql = format!(
            "SELECT number FROM session {} WHERE space = ?1 AND rebuilt_at_change > ?2 ORDER BY rebuilt_at_change",
            self.sql.index("session_by_rebuild")
        );
        self.sql.all(&sql, values![change], |row| row.session("number"))
    }

    fn feed_entries<E>(&self, since: FeedCursor, each: &mut impl FnMut(FeedItem<'_>) -> Result<(), E>) -> Result<(), E>
    where
        E: From<StoreError>,
    {
        let sql = format!(
            "SELECT episode.session, episode.number, entry.seq, entry.at, entry.kind, entry.text, entry.tool_name,
             entry.tool_kind, entry.target, entry.arguments, entry.script, entry.paths, entry.error, entry.status
             FROM episode {} LEFT JOIN {EPISODE_ENTRIES} AND {IS_SEARCHABLE}
             WHERE episode.space = ?1 AND episode.change > ?4
             AND episode.change > CASE WHEN episode.is_open THEN ?3 ELSE ?2 END ORDER BY episode.change",
            self.sql.index("episode_by_change")
        );
        let FeedCursor { closed_after, open_after } = since;
        let mut last = None;
        self.sql.stream(&sql, values![closed_after, open_after, closed_after.min(open_after)], |row| {
            let key = EpisodeKey::from_row(row)?;
            if last != Some(key) {
                each(FeedItem::EpisodeChanged(key))?;
                last = Some(key);
            }
            feed_entry(row, key)?.map_or(Ok(()), |entry| each(FeedItem::Entry(entry)))
        })
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
        let sql = format!(
            "SELECT number, agent FROM session {} WHERE space = ?1 AND {IN_SCOPE} ORDER BY number",
            self.sql.index("session_by_project")
        );
        self.sql.known(&sql, values![scope.project()], |row| {
            let agent = row.text("agent")?;
            let is_wanted = agents.is_empty() || agents.iter().any(|wanted| wanted.as_str() == agent);
            is_wanted.then(|| row.session("number")).transpose()
        })
    }
}

impl EpisodeKey {
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self { session: row.session("session")?, number: row.u64("number")? })
    }
}

fn feed_entry<'r>(row: &Row<'r>, episode: EpisodeKey) -> Result<Option<FeedEntry<'r>>, StoreError> {
    let Some(seq) = row.opt_u64("seq")? else { return Ok(None) };
    let kind = EntryKind::from_stored(row.text("kind")?);
    Ok(Some(FeedEntry {
        episode,
        seq,
        at: row.opt_time("at")?,
        kind,
        text: row.text("text")?,
        tool_name: row.opt_text("tool_name")?,
        tool_kind: row.opt_text("tool_kind")?,
        target: row.opt_text("target")?,
        arguments: row.opt_text("arguments")?,
        body: row.opt_text("script")?,
        paths: row.opt_text("paths")?,
        error: row.opt_text("error")?,
        is_failure: kind == EntryKind::Failure || row.opt_text("status")? == Some("error"),
    }))
}
