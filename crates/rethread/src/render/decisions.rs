//! Decisions and standing rules, for people: what holds, since when, and why.

use jiff::tz::TimeZone;
use rethread_engine::Decision;
use rethread_model::Predicate;

use super::facts::{INDENT, cited, indented, state_tone};
use super::words::moment;
use super::{Page, Tone, single};

/// Decisions, newest first.
pub(crate) fn decisions(page: &mut Page, found: &[Decision], zone: &TimeZone, with_project: bool) {
    for (at, one) in found.iter().enumerate() {
        if at > 0 {
            page.end();
        }
        decision(page, one, zone, with_project);
    }
}

/// One decision.
pub(super) fn decision(page: &mut Page, one: &Decision, zone: &TimeZone, with_project: bool) {
    let state = match one.predicate {
        Predicate::Prefers if one.is_open() => "always",
        Predicate::Forbids if one.is_open() => "never",
        _ => one.state.of_decision(),
    };
    let against = one.against.as_deref().map(|other| format!("not {}", single(other))).unwrap_or_default();
    let until = one.valid_to.map(|at| format!("until {}", moment(Some(at), zone))).unwrap_or_default();
    let parts = [
        (state_tone(one.state), state.to_owned()),
        (Tone::Strong, single(&one.choice)),
        (Tone::Plain, against),
        (Tone::Dim, until),
    ];
    page.row(&parts, 0);
    if !one.what.is_empty() {
        indented(page, Tone::Plain, &one.what, INDENT);
    }
    if let Some(reason) = &one.reason {
        indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
    }
    if let Some(source) = one.sources.first() {
        cited(page, source, zone, with_project);
    }
    if let Some(source) = &one.closed_by {
        indented(page, Tone::Dim, &format!("closed by {}", source.citation()), INDENT);
    }
}
