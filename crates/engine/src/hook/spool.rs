//! Hook events that could not be stored at once, because another process was writing. They wait in files until the next
//! process that writes delivers them: each once, in the order in which they happened.
//!
//! A delivery records the name of the file in the transaction that stores the event, and removes the file afterwards.
//! The files are not flushed to disk: like all hook events, the latest may be lost in a power cut.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_model::{Agent, Timestamp};
use rethread_store::{Batch, OWNER_ONLY, SessionKey, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::HookService;
use crate::awareness::{Caller, replace_context};
use crate::lifecycle::SessionEvent;
use crate::{EngineError, home};

/// Name of the directory in our home.
const FOLDER: &str = "spool";
/// Locked while events are delivered.
const LOCK: &str = "lock";
/// How often a waiting process tries to get that lock.
const LOCK_POLL: Duration = Duration::from_millis(1);
/// A file with another ending is still being written.
const COMPLETE: &str = "json";

/// An event that waits. Holds no secrets: its texts were redacted like everything that is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SpooledEvent {
    agent: Agent,
    external_id: String,
    /// Milliseconds since 1970.
    at: i64,
    action: SpooledAction,
}

/// What is to be recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SpooledAction {
    /// An event of the session.
    Event(SessionEvent),
    /// The session started with a new context: everything may be injected again.
    StartWithNewContext(SessionEvent),
    /// The session's context was compacted.
    ContextReplaced,
    /// The session ended.
    End { reason: String },
}

/// The file of an event that is being delivered.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    path: PathBuf,
    name: String,
}

impl SpoolFile {
    /// Whether the event is still to be stored with this batch. No other process can deliver it while the batch is open.
    pub(crate) fn claim(&self, batch: &mut Batch<'_>) -> Result<bool, StoreError> {
        // The process that removed the file since it was listed has delivered it.
        Ok(self.path.exists() && batch.claim_spooled_event(&self.name)?)
    }
}

impl HookService<'_> {
    /// Runs `record`. If another process keeps the store locked for too long, the event is spooled and the result is
    /// `None`.
    pub(super) fn or_spool<T>(
        self,
        caller: &Caller,
        action: SpooledAction,
        record: impl FnOnce() -> Result<Option<T>, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        match record() {
            Err(error) if self.engine.hook_wait.is_some() && error.is_locked() => {
                self.spool(caller, action)?;
                let session = caller.external_id.as_str().into();
                self.engine.journal().event(
                    "hook_spooled",
                    None,
                    &[("agent", caller.agent.as_str().into()), ("session", session)],
                );
                Ok(None)
            }
            result => result,
        }
    }

    /// Spools an event whose text was given to the agent although it could not be recorded.
    pub(crate) fn spool_event(self, caller: &Caller, event: SessionEvent) -> Result<(), EngineError> {
        if self.engine.hook_wait.is_none() {
            return Ok(());
        }
        self.spool(caller, SpooledAction::Event(event))
    }

    fn spool(self, caller: &Caller, action: SpooledAction) -> Result<(), EngineError> {
        let folder = self.spool_folder();
        home::ensure_private_folder(&folder)?;
        let event = SpooledEvent {
            agent: caller.agent,
            external_id: caller.external_id.clone(),
            at: self.engine.now().as_millis(),
            action,
        };
        let text = serde_json::to_vec(&event).map_err(EngineError::SerializeState)?;
        // Names sort by the time of this machine, which also runs while the clock of the engine is frozen.
        let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let random = RandomState::new().build_hasher().finish();
        let path = folder.join(format!("{nanos:020}-{random:016x}.part"));
        let write = || -> std::io::Result<()> {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path)?;
            file.write_all(&text)?;
            fs::rename(&path, path.with_extension(COMPLETE))
        };
        write().map_err(|cause| EngineError::Folder { path: path.clone(), cause })
    }

    /// Stores all events that wait, oldest first.
    pub(crate) fn deliver_spooled(self, store: &mut Store) -> Result<(), EngineError> {
        let folder = self.spool_folder();
        if spool_files(&folder).is_empty() {
            return Ok(());
        }
        let _lock = self.lock_spool(&folder)?;
        // Another process may have delivered them meanwhile.
        let files = spool_files(&folder);
        for file in &files {
            match fs::read(&file.path).map(|bytes| serde_json::from_slice::<SpooledEvent>(&bytes)) {
                Ok(Ok(event)) => self.deliver(store, file, event)?,
                // Delivered by another process since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                // Cut off by a power cut.
                Ok(Err(_)) | Err(_) => self.engine.journal().event("spooled_event_unreadable", None, &[]),
            }
            let _ = fs::remove_file(&file.path);
        }
        if files.is_empty() {
            return Ok(());
        }
        let mut batch = store.begin_unflushed()?;
        batch.prune_spooled_events(|name| folder.join(name).exists())?;
        Ok(batch.commit()?)
    }

    /// One process delivers at a time, so that the order is kept. A hook waits as long as it may.
    fn lock_spool(self, folder: &Path) -> Result<fs::File, EngineError> {
        let path = folder.join(LOCK);
        loop {
            if let Some(lock) = home::try_lock_file(&path)? {
                return Ok(lock);
            }
            match &self.engine.hook_wait {
                Some(budget) if budget.is_spent() => return Err(EngineError::SpoolBusy(path)),
                Some(budget) => budget.sleep(LOCK_POLL),
                None => std::thread::sleep(LOCK_POLL),
            }
        }
    }

    fn deliver(self, store: &mut Store, file: &SpoolFile, spooled: SpooledEvent) -> Result<(), EngineError> {
        let SpooledEvent { agent, external_id, at, action } = spooled;
        let key = SessionKey { agent, external_id: &external_id };
        let at = Timestamp::from_millis(at);
        match action {
            SpooledAction::Event(event) => self.engine.lifecycle().record(store, key, at, event, Some(file)).map(drop),
            SpooledAction::StartWithNewContext(event) => {
                // Not claimed before the last step: an interrupted delivery repeats this one.
                replace_context(store, key)?;
                self.engine.lifecycle().record(store, key, at, event, Some(file)).map(drop)
            }
            SpooledAction::ContextReplaced => replace_context(store, key),
            SpooledAction::End { reason } => {
                self.engine.lifecycle().end_in_store(store, key, &reason, at, Some(file)).map(drop)
            }
        }
    }

    /// The number of hook events that wait for delivery.
    pub(crate) fn spooled_count(self) -> u64 {
        spool_files(&self.spool_folder()).len() as u64
    }

    fn spool_folder(self) -> PathBuf {
        self.engine.folder.join(FOLDER)
    }
}

/// The files of complete events, oldest first. A planted link gives none.
fn spool_files(folder: &Path) -> Vec<SpoolFile> {
    if folder.is_symlink() {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let complete = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == COMPLETE));
    let mut files: Vec<_> = complete.map(|name| SpoolFile { path: folder.join(&name), name }).collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Environment};

    #[test]
    fn an_event_whose_file_outlives_its_delivery_is_not_delivered_again() {
        // D69
        let home = tempfile::tempdir().unwrap();
        let engine = Engine::open(Environment::for_home(home.path())).unwrap();
        let caller = Caller {
            agent: Agent::Pi,
            external_id: "x".to_owned(),
            cwd: home.path().to_owned(),
            transcript: None,
            subagent: None,
            is_answer_dropped: false,
        };
        let hook = Engine::open(Environment::for_home(home.path())).unwrap().with_hook_timeout(Duration::ZERO);
        let mut store = engine.writer().unwrap();
        let event = SessionEvent::new("response_completed", String::new());
        hook.ensure_home().unwrap();
        hook.hooks().spool(&caller, SpooledAction::Event(event)).unwrap();
        let file = spool_files(&engine.hooks().spool_folder()).remove(0);
        let spooled: SpooledEvent = serde_json::from_slice(&fs::read(&file.path).unwrap()).unwrap();
        // The process is killed after it stored the event and before it removed the file.
        engine.hooks().deliver(&mut store, &file, spooled).unwrap();
        assert_eq!(engine.hooks().spooled_count(), 1);
        engine.hooks().deliver_spooled(&mut store).unwrap();
        assert_eq!(engine.hooks().spooled_count(), 0);
        let recorded = store.lifecycle_events(caller.key(), 9).unwrap();
        assert_eq!(recorded.iter().filter(|event| event.kind == "response_completed").count(), 1);
    }
}
