//! A problem found while reading a transcript, with its position.

use serde::{Deserialize, Serialize};

/// A line or file that was skipped, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Path of the file.
    pub file: String,
    /// Line number, counted from 1; `None` if it is about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong and how it was handled.
    pub message: String,
}
