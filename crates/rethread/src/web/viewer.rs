//! Who looks at a page: the state of the server, and what the caller may change from it.

use std::ops::Deref;

use rethread_model::Access;

use crate::serve::{RequestCaller, ServerState};

/// The server as one caller sees it. Controls that the caller may not use are not rendered; the routes behind them
/// refuse anyway.
pub(super) struct Viewer<'a> {
    app: &'a ServerState,
    /// Whether pins, tags, names and messages may be changed.
    pub(super) may_write: bool,
}

impl<'a> Viewer<'a> {
    pub(super) fn new(app: &'a ServerState, caller: &RequestCaller) -> Self {
        Self { app, may_write: caller.allows(Access::Write) }
    }
}

impl Deref for Viewer<'_> {
    type Target = ServerState;

    fn deref(&self) -> &ServerState {
        self.app
    }
}
