//! What a server needs of its home: to be the only one, and to be found.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

use serde_json::Value;

use crate::{Engine, EngineError, Pulse, home};

/// The lock of whoever serves. Dropped, or when its process dies, another may.
#[derive(Debug)]
pub struct Served {
    file: File,
}

impl Engine {
    /// Makes this process the one that serves.
    pub fn only_server(&self) -> Result<Served, EngineError> {
        home::prepare(&self.folder)?;
        match home::lock(&self.server_lock())? {
            Some(file) => Ok(Served { file }),
            None => Err(EngineError::AlreadyServed { says: self.server_says() }),
        }
    }

    /// What the server that runs says of itself; nothing if none does.
    pub fn server_says(&self) -> Option<Value> {
        let mut file = File::open(self.server_lock()).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Where a server listens for processes of the same user.
    pub fn socket_path(&self) -> PathBuf {
        self.folder.join("serve.sock")
    }

    /// Keeps a link into the page where only its user can read it, as a page that leads there.
    pub fn keep_link(&self, link: &str) -> std::io::Result<PathBuf> {
        let path = self.folder.join("open.html");
        let text = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\">\n");
        home::write_whole(&path, &text)?;
        Ok(path)
    }

    /// Hears from now on when something is stored.
    pub fn pulse(&self) -> Pulse<'_> {
        Pulse::new(self)
    }

    /// Notes a request that changed something, or was refused. Neither texts nor secrets are in it.
    pub fn note_request(&self, fields: &[(&str, Value)]) {
        self.note("request", None, fields);
    }

    /// Notes that somebody came to talk, or left.
    pub fn note_socket(&self, event: &str, fields: &[(&str, Value)]) {
        self.note(event, None, fields);
    }

    fn server_lock(&self) -> PathBuf {
        self.folder.join("serve.lock")
    }
}

impl Served {
    /// Tells others who serves, and where.
    pub fn say(&mut self, what: &Value) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(format!("{what}\n").as_bytes())
    }
}
