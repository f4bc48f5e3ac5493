//! What a server keeps in the home: the lock that makes it the only one, its token, socket and log-in page.

mod change_watcher;
mod token;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use rethread_model::Space;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{EngineError, ServerService, home};

pub use change_watcher::{ChangeReport, ChangeWatcher};
pub(crate) use token::is_token;
pub use token::random_secret;

/// A server first ends its requests and a running sync.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The lock held by the running server. Released when dropped or when the process dies.
#[derive(Debug)]
pub struct ServerLock {
    file: File,
}

impl<'e> ServerService<'e> {
    /// Takes the server lock. Fails if another server runs.
    pub fn lock(self) -> Result<ServerLock, EngineError> {
        self.engine.ensure_home()?;
        match home::try_lock_file(&self.lock_path())? {
            Some(file) => Ok(ServerLock { file }),
            None => Err(EngineError::ServerAlreadyRunning { server_info: self.running_info() }),
        }
    }

    /// What the running server published about itself. `None` if no server runs.
    pub fn running_info(self) -> Option<Value> {
        let mut file = File::open(self.lock_path()).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Starts the server as a process of its own, which outlives this one. It takes a moment until it runs. `None` if it
    /// could not be started. It serves the local store, also where the setting names another for nodes.
    pub fn start_in_background(self) -> Option<Child> {
        self.engine.spawn_detached(&["-c", "store.url=", "serve"])
    }

    /// Stops the running server and waits until it has ended. Does nothing if none runs.
    pub fn stop(self) -> Result<(), EngineError> {
        let start = Instant::now();
        let mut is_asked = false;
        while let Some(info) = self.running_info() {
            let pid = info.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
            let Some(pid) = pid.and_then(Pid::from_raw).filter(|_| start.elapsed() < STOP_TIMEOUT) else {
                return Err(EngineError::ServerNotStopped { server_info: info });
            };
            // A second signal would end it at once, in the middle of a sync.
            if !is_asked && kill_process(pid, Signal::TERM).is_err() {
                return Err(EngineError::ServerNotStopped { server_info: info });
            }
            is_asked = true;
            std::thread::sleep(STOP_POLL_INTERVAL);
        }
        Ok(())
    }

    /// The Unix socket where the server accepts processes of the same user.
    pub fn socket_path(self) -> PathBuf {
        self.engine.server_folder().join("serve.sock")
    }

    /// Writes the one-time sign-in link as an HTML redirect that only the user can read.
    pub fn write_login_page(self, link: &str) -> std::io::Result<PathBuf> {
        let path = self.engine.folder.join("open.html");
        let text = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\">\n");
        home::write_atomic(&path, &text)?;
        Ok(path)
    }

    /// Fails if the store cannot be used: its server cannot be reached, or its schema is another one, or missing.
    pub fn check_store(self) -> Result<(), EngineError> {
        self.engine.location().check_schema()?;
        if self.engine.environment.store.is_some()
            && let Some(store) = self.engine.reader()?
        {
            store.head()?;
        }
        Ok(())
    }

    /// Removes the files of spaces that were not used here for some time: they can be made again from the store.
    pub fn remove_unused_spaces(self, age: Duration, is_open: &dyn Fn(&Space) -> bool) {
        let Ok(folders) = std::fs::read_dir(self.engine.server_folder()) else { return };
        for folder in folders.flatten() {
            let space: Option<Space> = folder.file_name().to_str().and_then(|name| name.parse().ok());
            let is_old = || {
                let index = folder.path().join("index").metadata().and_then(|about| about.modified());
                index.is_ok_and(|at| at.elapsed().is_ok_and(|elapsed| elapsed > age))
            };
            if space.is_some_and(|space| !is_open(&space)) && is_old() {
                // What cannot be removed now is tried again later.
                let _ = std::fs::remove_dir_all(folder.path());
            }
        }
    }

    /// Notes that the index of the space was used until now, so that its files are kept for a while.
    pub fn mark_index_used(self) {
        // If that fails, the index may be removed early, and is built again when it is needed.
        let folder = std::fs::File::open(self.engine.index().folder());
        let _ = folder.and_then(|folder| folder.set_modified(std::time::SystemTime::now()));
    }

    /// How far the search index is behind the store. Searches read the rest from the store.
    pub fn index_lag(self) -> Result<u64, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(0) };
        self.engine.index().lag(&store)
    }

    /// Detects changes of the store from now on.
    pub fn change_watcher(self) -> ChangeWatcher<'e> {
        ChangeWatcher::new(self.engine)
    }

    fn lock_path(self) -> PathBuf {
        self.engine.server_folder().join("serve.lock")
    }
}

impl ServerLock {
    /// Publishes the server's address and process id in the lock file.
    pub fn publish_info(&mut self, what: &Value) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(format!("{what}\n").as_bytes())
    }
}
