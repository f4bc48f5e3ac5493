//! Decisions, preferences and prohibitions as text: what is valid, since when, and why.

use jiff::tz::TimeZone;
use rethread_engine::{Decision, FileRule};
use rethread_model::Predicate;

use super::facts::{INDENT, indented, source_line, state_tone};
use super::format::local_time;
use super::{TextPage, Tone, sanitize_line};

pub(crate) fn decisions(page: &mut TextPage, found: &[Decision], zone: &TimeZone, with_project: bool) {
    for (at, one) in found.iter().enumerate() {
        if at > 0 {
            page.end_line();
        }
        decision(page, one, zone, with_project);
    }
}

pub(super) fn decision(page: &mut TextPage, one: &Decision, zone: &TimeZone, with_project: bool) {
    let state = match one.predicate {
        Predicate::Prefers if one.is_open() => "always",
        Predicate::Forbids if one.is_open() => "never",
        _ => one.state.decision_name(),
    };
    let against =
        one.rejected_option.as_deref().map(|other| format!("not {}", sanitize_line(other))).unwrap_or_default();
    let replacement =
        one.replacement.as_deref().map(|other| format!("use {}", sanitize_line(other))).unwrap_or_default();
    let until = one.valid_to.map(|at| format!("until {}", local_time(Some(at), zone))).unwrap_or_default();
    let parts = [
        (state_tone(one.state), state.to_owned()),
        (Tone::Strong, sanitize_line(&one.subject)),
        (Tone::Plain, against),
        (Tone::Plain, replacement),
        (Tone::Dim, until),
    ];
    page.row(&parts, 0);
    if !one.statement.is_empty() {
        indented(page, Tone::Plain, &one.statement, INDENT);
    }
    if let Some(reason) = &one.reason {
        indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
    }
    if let Some(source) = one.sources.first() {
        source_line(page, source, zone, with_project);
    }
    if let Some(source) = &one.closed_by {
        indented(page, Tone::Dim, &format!("closed by {}", source.citation()), INDENT);
    }
}

/// The rules in files for agents, in a group of their own.
pub(crate) fn file_rules(page: &mut TextPage, rules: &[FileRule], follows_decisions: bool) {
    if rules.is_empty() {
        return;
    }
    if follows_decisions {
        page.end_line();
    }
    page.row(&[(Tone::Strong, "Rules in files".to_owned())], 0);
    for one in rules {
        let state = if one.rule.predicate == Predicate::Forbids { "never" } else { "always" };
        let instead = one.rule.instead.as_deref().map(|other| format!("use {}", sanitize_line(other)));
        let parts = [
            (Tone::Success, state.to_owned()),
            (Tone::Strong, sanitize_line(&one.rule.subject)),
            (Tone::Plain, instead.unwrap_or_default()),
        ];
        page.row(&parts, 0);
        indented(page, Tone::Plain, &one.statement, INDENT);
        indented(page, Tone::Dim, &one.origin(), INDENT);
    }
}
