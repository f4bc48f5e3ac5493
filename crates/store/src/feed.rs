//! What has changed since a given change number, in the order an index wants it.

use rethread_model::{Agent, Speech, Timestamp};
use rusqlite::{Row, params};

use crate::{Scope, SessionNumber, Store, StoreError};

/// How far the store is, and which store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// A number that no other database has.
    pub identity: i64,
    /// The last change.
    pub change: i64,
}

/// An episode that is new or has changed; its entries follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpisodeKey {
    /// The session.
    pub session: SessionNumber,
    /// The episode's number in it.
    pub number: u64,
}

/// One entry as an index sees it, borrowed from the row it stands in.
#[derive(Clone, Copy, Debug)]
pub struct FeedEntry<'r> {
    /// The episode it belongs to.
    pub episode: EpisodeKey,
    /// Its position in the session.
    pub seq: u64,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// What kind of text it is.
    pub speech: Speech,
    /// The text.
    pub text: &'r str,
    /// The tool's name.
    pub tool: Option<&'r str>,
    /// The tool's kind.
    pub tool_kind: Option<&'r str>,
    /// What the tool worked on.
    pub target: Option<&'r str>,
    /// What else it was given.
    pub arguments: Option<&'r str>,
    /// Files it worked on, as a JSON list.
    pub paths: Option<&'r str>,
    /// The error it gave.
    pub error: Option<&'r str>,
    /// Whether it failed.
    pub failed: bool,
}

/// From which changes on a feed tells: of episodes that are closed, and of those that may still grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// Closed episodes and retold sessions after this change.
    pub closed: i64,
    /// Open episodes after this change.
    pub open: i64,
}

impl Since {
    /// Everything after a change.
    pub const fn change(change: i64) -> Self {
        Self { closed: change, open: change }
    }
}

/// One step of the feed.
#[derive(Clone, Copy, Debug)]
pub enum Feed<'r> {
    /// Everything known of the session is out of date; what is true of it follows.
    Retold(SessionNumber),
    /// Everything known of the episode is out of date; its entries follow.
    Episode(EpisodeKey),
    /// An entry of the episode named last.
    Entry(FeedEntry<'r>),
}

/// Entries that nobody looks for: what machines wrote, what was taken back, branches that were left.
const SEARCHABLE: &str = "NOT (entry.abandoned OR entry.taken_back)
    AND entry.speech NOT IN ('interruption', 'injected', 'notice', 'command')";

/// Entries before the first prompt belong to the first episode here, or nobody would find them.
pub(crate) const ENTRIES: &str = "entry ON entry.space = episode.space AND entry.session = episode.session
    AND entry.seq >= CASE WHEN episode.number = 1 THEN 0 ELSE episode.first_seq END
    AND entry.seq <= episode.last_seq AND coalesce(entry.episode, 1) = episode.number";

impl Store {
    /// How far the store is.
    pub fn head(&self) -> Result<Head, StoreError> {
        let read = || -> rusqlite::Result<Head> {
            let mut statement = self.connection.prepare_cached(
                "SELECT identity.value, coalesce((SELECT value FROM counter WHERE space = ?1 AND name = 'change'), 0)
                 FROM identity",
            )?;
            statement.query_row([self.space.as_str()], |row| Ok(Head { identity: row.get(0)?, change: row.get(1)? }))
        };
        read().map_err(|cause| self.err(cause))
    }

    /// A number that changes whenever another connection stores something, as long as this one is open.
    pub fn version(&self) -> Result<i64, StoreError> {
        let read = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        read.map_err(|cause| self.err(cause))
    }

    /// How many entries changed episodes have, counted no further than needed to know that there are many.
    pub fn entries_after(&self, change: i64, enough: u64) -> Result<u64, StoreError> {
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

    /// Tells everything that changed since then, as of one moment, and where that moment is.
    pub fn feed<E>(&self, since: Since, mut each: impl FnMut(Feed<'_>) -> Result<(), E>) -> Result<Head, E>
    where
        E: From<StoreError>,
    {
        // A read transaction, so that head and rows are of the same moment whoever is writing.
        self.at_one_moment(|store| {
            let head = store.head()?;
            for session in store.retold_after(since.closed)? {
                each(Feed::Retold(session))?;
            }
            store.feed_entries(since, &mut each)?;
            Ok(head)
        })
    }

    fn retold_after(&self, change: i64) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session INDEXED BY session_by_retold WHERE space = ?1 AND retold > ?2 ORDER BY retold",
            )?;
            statement.query_map(params![self.space.as_str(), change], |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn feed_entries<E>(&self, since: Since, each: &mut impl FnMut(Feed<'_>) -> Result<(), E>) -> Result<(), E>
    where
        E: From<StoreError>,
    {
        let err = |cause| StoreError::at(&self.path, cause);
        let sql = format!(
            "SELECT episode.session, episode.number, entry.seq, entry.at, entry.speech, entry.text, entry.tool,
             entry.tool_kind, entry.target, entry.arguments, entry.paths, entry.error, entry.status = 'error'
             FROM episode INDEXED BY episode_by_change LEFT JOIN {ENTRIES} AND {SEARCHABLE}
             WHERE episode.space = ?1 AND episode.change > min(?2, ?3)
             AND episode.change > CASE WHEN episode.open THEN ?3 ELSE ?2 END ORDER BY episode.change"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(err)?;
        let values = params![self.space.as_str(), since.closed, since.open];
        let mut rows = statement.query(values).map_err(err)?;
        let mut last = None;
        while let Some(row) = rows.next().map_err(err)? {
            let key = episode_key(row).map_err(err)?;
            if last != Some(key) {
                each(Feed::Episode(key))?;
                last = Some(key);
            }
            if let Some(entry) = entry(row, key).map_err(err)? {
                each(Feed::Entry(entry))?;
            }
        }
        Ok(())
    }

    /// The numbers of all sessions in a scope.
    pub fn session_numbers(&self, scope: &Scope) -> Result<Vec<SessionNumber>, StoreError> {
        self.session_numbers_of(scope, &[])
    }

    /// The numbers of all sessions in a scope, of these agents or, if none is named, of all.
    pub fn session_numbers_of(&self, scope: &Scope, agents: &[Agent]) -> Result<Vec<SessionNumber>, StoreError> {
        let project = match scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
        };
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session INDEXED BY session_by_project WHERE space = ?1 AND
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

fn entry<'r>(row: &'r Row<'_>, episode: EpisodeKey) -> rusqlite::Result<Option<FeedEntry<'r>>> {
    let text = |at: usize| -> rusqlite::Result<Option<&'r str>> { Ok(row.get_ref(at)?.as_str_or_null()?) };
    let Some(seq) = row.get::<_, Option<i64>>(2)? else { return Ok(None) };
    let speech = Speech::from_stored(text(4)?.unwrap_or_default());
    Ok(Some(FeedEntry {
        episode,
        seq: seq as u64,
        at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
        speech,
        text: text(5)?.unwrap_or_default(),
        tool: text(6)?,
        tool_kind: text(7)?,
        target: text(8)?,
        arguments: text(9)?,
        paths: text(10)?,
        error: text(11)?,
        failed: speech == Speech::Failure || row.get::<_, Option<bool>>(12)?.unwrap_or(false),
    }))
}
