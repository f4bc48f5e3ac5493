//! Something in a transcript that could not be read, with where it is.

use serde::{Deserialize, Serialize};

/// A line or file that was passed over, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The file.
    pub file: String,
    /// The line, counted from 1, if it is about a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong, and what was done about it.
    pub message: String,
}
