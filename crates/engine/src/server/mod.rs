//! What a server keeps in the home: the lock that makes it the only one, its token, socket and log-in page.

mod change_watcher;
mod token;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

use serde_json::Value;

use crate::{EngineError, ServerService, home};

pub use change_watcher::{ChangeReport, ChangeWatcher};
pub use token::random_secret;

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

    /// The Unix socket where the server accepts processes of the same user.
    pub fn socket_path(self) -> PathBuf {
        self.engine.folder.join("serve.sock")
    }

    /// Writes the one-time sign-in link as an HTML redirect that only the user can read.
    pub fn write_login_page(self, link: &str) -> std::io::Result<PathBuf> {
        let path = self.engine.folder.join("open.html");
        let text = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\">\n");
        home::write_atomic(&path, &text)?;
        Ok(path)
    }

    /// Detects changes of the store from now on.
    pub fn change_watcher(self) -> ChangeWatcher<'e> {
        ChangeWatcher::new(self.engine)
    }

    fn lock_path(self) -> PathBuf {
        self.engine.folder.join("serve.lock")
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
