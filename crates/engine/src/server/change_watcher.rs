//! Detects changes in the store made by any process, and reports which sessions changed. Reads only.

use std::collections::BTreeMap;

use rethread_model::thread::NameOrigin;
use rethread_model::{Agent, SessionId, Timestamp};
use rethread_store::{ChangedSession, ReadStore, StoreError};

use crate::{Engine, EngineError};

/// With more changed sessions than this, none are named: the subscriber should reload everything.
const MAX_SESSIONS_NAMED: usize = 100;
/// Number of session names remembered to detect renames.
const MAX_NAMES_TRACKED: usize = 4_096;

/// Detects that any process has changed the store.
#[derive(Debug)]
pub struct ChangeWatcher<'e> {
    engine: &'e Engine,
    cursor: Option<ChangeCursor>,
    names: BTreeMap<SessionId, String>,
    /// Whether the store did not exist at the last poll. If so, everything in it is new.
    was_missing: bool,
    /// Whether it was already reported that the store cannot be read. Reported once only.
    is_unavailable_reported: bool,
}

/// Changes since the last poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeReport {
    /// The sessions that were changed or deleted. Empty if only other data changed, such as the ledger. `None` if there
    /// are too many to name: then anything may have changed.
    pub sessions: Option<Vec<SessionId>>,
    /// Sessions with a new name.
    pub renamed: Vec<(SessionId, String)>,
}

/// The state of the store at the last poll.
#[derive(Debug)]
struct ChangeCursor {
    store: ReadStore,
    identity: Option<u64>,
    data_version: i64,
    change: i64,
    touch: Timestamp,
}

impl<'e> ChangeWatcher<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Self { engine, cursor: None, names: BTreeMap::new(), was_missing: false, is_unavailable_reported: false }
    }

    /// Changes since the last call, or `None`. The first call always reports a change; without a store there is none.
    pub fn poll(&mut self) -> Option<ChangeReport> {
        let was_open = self.cursor.is_some();
        // Another store may be in the place of ours by now.
        let cursor = self.cursor.take().filter(|cursor| cursor.identity == self.engine.location().identity());
        let is_first = cursor.is_none();
        let cursor = match cursor {
            Some(cursor) => cursor,
            None => match self.open_cursor().ok().flatten() {
                Some(cursor) => cursor,
                None if was_open => return self.report_unavailable_once(),
                None => return None,
            },
        };
        match self.read_changes(cursor) {
            Ok((cursor, changes)) => {
                (self.cursor, self.is_unavailable_reported) = (Some(cursor), false);
                if is_first { Some(changes.unwrap_or_default()) } else { changes }
            }
            Err(_) => self.report_unavailable_once(),
        }
    }

    /// The store cannot be read, so anything may have changed. Reported once: when it is readable again, everything
    /// counts as new.
    fn report_unavailable_once(&mut self) -> Option<ChangeReport> {
        (!std::mem::replace(&mut self.is_unavailable_reported, true)).then(ChangeReport::default)
    }

    fn open_cursor(&mut self) -> Result<Option<ChangeCursor>, EngineError> {
        let identity = self.engine.location().identity();
        let Some(store) = self.engine.reader()? else {
            self.was_missing = true;
            return Ok(None);
        };
        self.names.clear();
        if std::mem::take(&mut self.was_missing) {
            let (version, change, touch) = (i64::MIN, 0, Timestamp::default());
            return Ok(Some(ChangeCursor { store, identity, data_version: version, change, touch }));
        }
        let (version, change, touch) = (store.data_version()?, store.head()?.change, store.last_touched_at()?);
        for session in store.newest_named_sessions(MAX_NAMES_TRACKED as u64)? {
            self.names.extend(session.name.map(|name| (session.id, name)));
        }
        Ok(Some(ChangeCursor { store, identity, data_version: version, change, touch }))
    }

    fn read_changes(&mut self, mut cursor: ChangeCursor) -> Result<(ChangeCursor, Option<ChangeReport>), StoreError> {
        let version = cursor.store.data_version()?;
        if version == cursor.data_version {
            return Ok((cursor, None));
        }
        let limit = MAX_SESSIONS_NAMED as u64 + 1;
        let (change, touch) = (cursor.store.head()?.change, cursor.store.last_touched_at()?);
        let changed = cursor.store.sessions_changed_after(cursor.change, limit)?;
        let touched =
            if touch > cursor.touch { cursor.store.sessions_touched_since(cursor.touch, limit)? } else { Vec::new() };
        (cursor.data_version, cursor.change, cursor.touch) = (version, change, touch);
        let is_too_much = changed.len() > MAX_SESSIONS_NAMED || touched.len() > MAX_SESSIONS_NAMED;
        let renamed = self.find_renamed(&changed, is_too_much);
        let mut sessions: Vec<SessionId> = changed.iter().chain(&touched).map(|session| session.id).collect();
        sessions.sort_unstable();
        sessions.dedup();
        Ok((cursor, Some(ChangeReport { sessions: (!is_too_much).then_some(sessions), renamed })))
    }

    /// Whether a new thread has a name that it did not have when it was created: its first words or a model's title.
    fn was_named_after_creation(&self, session: &ChangedSession) -> bool {
        let metadata = session.id.to_string().parse().ok().and_then(|id| self.engine.thread_store().metadata(id).ok());
        metadata.is_some_and(|metadata| metadata.name_from.is_some_and(|from| from < NameOrigin::User))
    }

    /// Sessions whose name differs from the last known one. If there are many changes, those without a known name are
    /// left out.
    fn find_renamed(&mut self, changed: &[ChangedSession], is_many: bool) -> Vec<(SessionId, String)> {
        let mut renamed = Vec::new();
        for session in changed {
            let Some(name) = &session.name else {
                self.names.remove(&session.id);
                continue;
            };
            let before = self.names.insert(session.id, name.clone());
            let is_new_thread = before.is_none() && session.agent == Agent::Native && !is_many;
            if is_new_thread && self.was_named_after_creation(session) || before.is_some_and(|before| before != *name) {
                renamed.push((session.id, name.clone()));
            }
        }
        // The oldest sessions are the least likely to be renamed.
        while self.names.len() > MAX_NAMES_TRACKED {
            self.names.pop_first();
        }
        renamed
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::thread::{ChatRole, ContentBlock};

    use super::*;
    use crate::{Environment, NewMessage, NewThread};

    #[test]
    fn only_a_changed_name_is_a_rename() {
        // D59, E004-04
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(Environment::for_home(folder.path())).unwrap();
        drop(engine.writer().unwrap());
        let mut watcher = engine.server().change_watcher();
        let mut renamed = || -> Vec<String> {
            let changes = watcher.poll().unwrap_or_default();
            changes.renamed.into_iter().map(|(_, name)| name).collect()
        };
        renamed();
        let create = |name: Option<&str>| {
            let id = engine
                .threads()
                .create(&NewThread { name: name.map(str::to_owned), ..NewThread::default() })
                .unwrap()
                .id;
            engine.conversations().register(id.session_id()).unwrap();
            id
        };
        let named = create(Some("plans"));
        let unnamed = create(None);
        assert_eq!(renamed(), Vec::<String>::new(), "a new thread is not a renamed one");
        engine.lifecycle().set_name(&named.to_string(), "plans").unwrap();
        assert_eq!(renamed(), Vec::<String>::new(), "the same name");
        engine.lifecycle().set_name(&named.to_string(), "other plans").unwrap();
        let content = vec![ContentBlock::text("fix the parser")];
        let role = ChatRole::User;
        let message = NewMessage { role, content, tool_call_id: None, is_error: false, client_id: None };
        engine.threads().open(&unnamed.to_string()).unwrap().append(message).unwrap();
        engine.threads().sync(unnamed).unwrap();
        let mut names = renamed();
        names.sort();
        assert_eq!(names, ["fix the parser", "other plans"]);
    }

    #[test]
    fn an_unavailable_store_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(Environment::for_home(folder.path())).unwrap();
        let mut watcher = engine.server().change_watcher();
        assert_eq!(watcher.report_unavailable_once(), Some(ChangeReport::default()));
        assert_eq!(watcher.report_unavailable_once(), None);
        drop(engine.writer().unwrap());
        assert!(watcher.poll().is_some(), "readable again: everything counts as new");
        assert_eq!(watcher.poll(), None);
        assert_eq!(
            watcher.report_unavailable_once(),
            Some(ChangeReport::default()),
            "a second failure is reported again"
        );
    }
}
