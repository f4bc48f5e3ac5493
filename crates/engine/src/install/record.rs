//! What a settings file was before our first change, kept so that it can come back byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::home;

/// What was there, and what we made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    schema: u32,
    /// The settings file, for people who look here.
    settings: PathBuf,
    /// The text before; nothing if there was no file.
    pub(super) original: Option<String>,
    /// SHA-256 of the text we wrote.
    written: String,
}

impl Record {
    /// A record of a file that is about to be written.
    pub(super) fn new(settings: &Path, original: Option<String>, written: &str) -> Self {
        Self { schema: 1, settings: settings.to_owned(), original, written: digest(written) }
    }

    /// Whether a text is what we wrote, and nobody touched it since.
    pub(super) fn describes(&self, text: &str) -> bool {
        self.schema == 1 && self.written == digest(text)
    }

    /// Keeps it.
    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
        home::write_whole(path, &text)
    }
}

/// The record in a file; one that cannot be read is as good as none, because our hooks can be told without it.
pub(super) fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
