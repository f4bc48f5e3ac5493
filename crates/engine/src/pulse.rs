//! Hears that something was stored, whoever stored it, and of which sessions. Reads only.

use std::collections::BTreeMap;

use rethread_model::{Agent, SessionId, Timestamp};
use rethread_store::{ChangedSession, Store, StoreError};

use crate::warm::inode_of;
use crate::{Engine, EngineError};

/// So many changed sessions are named; after more than that everything is best looked at again.
const MOST_NAMED: usize = 100;
/// So many names are remembered, to tell when one changes.
const MOST_NAMES: usize = 4_096;

/// Hears when something was stored, whoever stored it.
#[derive(Debug)]
pub struct Pulse<'e> {
    engine: &'e Engine,
    heard: Option<Heard>,
    names: BTreeMap<SessionId, String>,
    /// Whether there was no store when it was looked for last, so that everything in it is new.
    was_missing: bool,
    /// Whether it was said that nothing can be heard, which is said once.
    is_deaf: bool,
}

/// What was stored since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The sessions that changed or are gone; none where something else was stored, such as what was spent. Nothing
    /// where there are too many to name: then everything may have changed.
    pub sessions: Option<Vec<SessionId>>,
    /// Sessions that are called something else now.
    pub renamed: Vec<(SessionId, String)>,
}

/// The store as it was when it was last listened to.
#[derive(Debug)]
struct Heard {
    store: Store,
    inode: Option<u64>,
    version: i64,
    change: i64,
    touch: Timestamp,
}

impl<'e> Pulse<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Self { engine, heard: None, names: BTreeMap::new(), was_missing: false, is_deaf: false }
    }

    /// What was stored since it was asked last. Until there is a store there is nothing to hear.
    pub fn news(&mut self) -> Option<News> {
        let database = self.engine.database();
        // Another file may lie where ours was.
        let heard = self.heard.take().filter(|heard| heard.inode == inode_of(&database));
        let is_first = heard.is_none();
        let heard = match heard {
            Some(heard) => heard,
            None => self.open().ok().flatten()?,
        };
        match self.listen(heard) {
            Ok((heard, news)) => {
                (self.heard, self.is_deaf) = (Some(heard), false);
                if is_first { Some(news.unwrap_or_default()) } else { news }
            }
            Err(_) => self.turn_deaf(),
        }
    }

    /// Everything may have changed and cannot be heard. Once is enough: when it can be, everything is new again.
    fn turn_deaf(&mut self) -> Option<News> {
        (!std::mem::replace(&mut self.is_deaf, true)).then(News::default)
    }

    fn open(&mut self) -> Result<Option<Heard>, EngineError> {
        let inode = inode_of(&self.engine.database());
        let Some(store) = self.engine.reader()? else {
            self.was_missing = true;
            return Ok(None);
        };
        self.names.clear();
        if std::mem::take(&mut self.was_missing) {
            let (version, change, touch) = (i64::MIN, 0, Timestamp::default());
            return Ok(Some(Heard { store, inode, version, change, touch }));
        }
        let (version, change, touch) = (store.version()?, store.head()?.change, store.last_touch()?);
        for session in store.newest_named(MOST_NAMES as u64)? {
            self.names.extend(session.name.map(|name| (session.id, name)));
        }
        Ok(Some(Heard { store, inode, version, change, touch }))
    }

    fn listen(&mut self, mut heard: Heard) -> Result<(Heard, Option<News>), StoreError> {
        let version = heard.store.version()?;
        if version == heard.version {
            return Ok((heard, None));
        }
        let most = MOST_NAMED as u64 + 1;
        let (change, touch) = (heard.store.head()?.change, heard.store.last_touch()?);
        let changed = heard.store.sessions_after(heard.change, most)?;
        let touched = if touch > heard.touch { heard.store.sessions_touched(heard.touch, most)? } else { Vec::new() };
        (heard.version, heard.change, heard.touch) = (version, change, touch);
        let is_too_much = changed.len() > MOST_NAMED || touched.len() > MOST_NAMED;
        let renamed = self.renamed(&changed, is_too_much);
        let mut sessions: Vec<SessionId> = changed.iter().chain(&touched).map(|session| session.id).collect();
        sessions.sort_unstable();
        sessions.dedup();
        Ok((heard, Some(News { sessions: (!is_too_much).then_some(sessions), renamed })))
    }

    /// Which of these are called something else than before. Of many that come at once only those are told whose name
    /// was known.
    fn renamed(&mut self, changed: &[ChangedSession], is_many: bool) -> Vec<(SessionId, String)> {
        let mut renamed = Vec::new();
        for session in changed {
            let Some(name) = &session.name else {
                self.names.remove(&session.id);
                continue;
            };
            let before = self.names.insert(session.id, name.clone());
            let is_new_thread = before.is_none() && session.agent == Agent::Native && !is_many;
            if is_new_thread || before.is_some_and(|before| before != *name) {
                renamed.push((session.id, name.clone()));
            }
        }
        // Those that began first are the least likely to be renamed.
        while self.names.len() > MOST_NAMES {
            self.names.pop_first();
        }
        renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    #[test]
    fn that_nothing_can_be_heard_is_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(Environment::for_home(folder.path())).unwrap();
        let mut pulse = engine.pulse();
        assert_eq!(pulse.turn_deaf(), Some(News::default()));
        assert_eq!(pulse.turn_deaf(), None);
        drop(engine.writer().unwrap());
        assert!(pulse.news().is_some(), "it works again, and everything is new");
        assert_eq!(pulse.news(), None);
        assert_eq!(pulse.turn_deaf(), Some(News::default()), "and may fail again");
    }
}
