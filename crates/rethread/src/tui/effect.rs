//! What an update asks for beyond a new state: work for the workers, and what needs the terminal.

use rethread_model::{Agent, Session};

use super::request::{FindRequest, ListRequest, PreviewRequest};
use crate::cli::transfer::ExportFormat;

/// Something to do after an update.
#[derive(Clone, Debug)]
pub(super) enum TuiEffect {
    LoadList(ListRequest),
    LoadPreview(PreviewRequest),
    FindInSession(FindRequest),
    /// Copies text; the word says what it is.
    Copy(&'static str, String),
    Open(OpenTarget),
    Export(Box<Session>, ExportFormat),
    /// Leaves and starts the agent, if that is possible.
    Resume(Box<Session>),
    /// Lets the shell have the terminal until it continues us.
    Suspend,
    Leave(TuiExit),
}

/// A file to open in the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenTarget {
    pub(super) path: String,
    pub(super) line: Option<u64>,
    /// What a relative path is relative to.
    pub(super) folder: Option<String>,
}

/// How the interface ends.
#[derive(Clone, Debug)]
pub(super) enum TuiExit {
    Quit,
    /// Ctrl-C.
    Interrupted,
    /// By a signal.
    Terminated,
    /// Starts the agent of the session.
    Resume(Box<Session>),
    /// Starts this agent with a handoff note.
    HandOver(Box<Session>, Agent),
    /// Prints a text to stdout.
    Print(String),
}
