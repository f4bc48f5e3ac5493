//! How a session stands or ended, in one or two words.

use maud::{Markup, html};
use rethread_engine::BoardSession;
use rethread_model::{EntryKind, SessionState, ToolStatus};

use super::super::components::{self, count};
use super::now::live_status;

/// The state of a session that goes on; of one that has ended, what came out of it.
pub(super) fn outcome(one: &BoardSession) -> Markup {
    let state = one.listed.state;
    if state != SessionState::Ended {
        return html! {
            (components::state(state))
            @if let Some((status, reason)) = &one.listed.live { " " (live_status(*status, reason.as_deref())) }
        };
    }
    let (class, text) = result(one);
    html! { span class={ "outcome-of " (class) } { i aria-hidden="true" {} (text) } }
}

/// Commits say most; then how the last answer ended.
fn result(one: &BoardSession) -> (&'static str, String) {
    if one.commits > 0 {
        return ("good", count(one.commits, "commit"));
    }
    let Some(last) = &one.last_entry else { return ("none", "no answer".to_owned()) };
    let text = match (last.kind, last.tool.as_ref().map(|tool| tool.outcome.as_ref().map(|outcome| outcome.status))) {
        (EntryKind::Interruption, _) => return ("careful", "interrupted".to_owned()),
        (EntryKind::Failure, _) => return ("bad", "stopped by an error".to_owned()),
        (_, Some(None)) => return ("careful", "ended during a call".to_owned()),
        (_, Some(Some(ToolStatus::Rejected))) => return ("careful", "call rejected".to_owned()),
        (_, Some(Some(ToolStatus::Error))) => return ("careful", "last call failed".to_owned()),
        (_, Some(Some(ToolStatus::Ok))) => "no final answer",
        (_, None) => "answered",
    };
    ("done", text.to_owned())
}
