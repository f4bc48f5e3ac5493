//! Records the original of a settings file, so that uninstalling restores it byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::home;

/// The original of a settings file, and a hash of what we wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InstallRecord {
    schema: u32,
    /// Path of the settings file, for users who inspect the record.
    settings: PathBuf,
    /// The original text; `None` if there was no file.
    pub(super) original: Option<String>,
    /// SHA-256 of the text we wrote.
    written: String,
}

impl InstallRecord {
    pub(super) fn new(settings: &Path, original: Option<String>, written: &str) -> Self {
        Self { schema: 1, settings: settings.to_owned(), original, written: digest(written) }
    }

    /// Whether a text is exactly what we wrote.
    pub(super) fn matches_text(&self, text: &str) -> bool {
        self.schema == 1 && self.written == digest(text)
    }

    pub(super) fn write(&self, path: &Path) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::other)?;
        home::write_atomic(path, &text)
    }
}

/// Reads a record. An unreadable one counts as missing, because our hooks can be recognized without it.
pub(super) fn read(path: &Path) -> Option<InstallRecord> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
