//! An event of a session as it is recorded, or spooled until it can be recorded.

use rethread_model::Timestamp;
use rethread_store::LifecycleEvent;
use serde::{Deserialize, Serialize};

use crate::awareness::HookToolCall;

/// An event reported by a hook. All texts must already be free of secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionEvent {
    /// Kind of the event, such as `tool_executed`.
    pub(crate) kind: String,
    /// Details for the user; may be empty.
    pub(crate) detail: String,
    /// An entry for hot memory.
    pub(crate) hot_text: Option<String>,
    /// Entities that a prompt named.
    pub(crate) entities: Vec<String>,
    /// The tool that was called.
    #[serde(default)]
    pub(crate) tool: Option<String>,
    /// The file the tool was called on.
    #[serde(default)]
    pub(crate) file: Option<String>,
}

impl SessionEvent {
    pub(crate) fn new(kind: &str, detail: String) -> Self {
        Self { kind: kind.to_owned(), detail, hot_text: None, entities: Vec::new(), tool: None, file: None }
    }

    /// The event as it is stored, at the time when it happened.
    pub(crate) fn at(&self, at: Timestamp) -> LifecycleEvent {
        LifecycleEvent::new(at, &self.kind, self.detail.clone())
    }

    /// The event of a tool call, with an entry for hot memory if the call changed something.
    pub(crate) fn of_tool_call(used: &HookToolCall, project: &str) -> Self {
        let event = Self::new("tool_executed", used.event_detail(project));
        let (tool, file) = used.tool_and_file();
        Self { hot_text: used.hot_text(project), tool: Some(tool), file, ..event }
    }
}
