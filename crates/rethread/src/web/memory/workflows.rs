//! How work is done in a project: commands with how they go, and sequences that come back.

use maud::{Markup, html};
use rethread_engine::{CommandUse, Pattern, Workflow};

use super::super::chart;
use super::super::links::{to_line, to_thing};
use super::super::parts::{Here, Line, count, headings, project};
use crate::render::number;

/// A project, with so many of its commands and sequences.
pub(super) fn workflow(here: Here<'_>, one: &Workflow, most: usize) -> Markup {
    let longest = one.commands.iter().map(CommandUse::runs).max().unwrap_or(1).max(1);
    html! {
        section.workflow {
            h3 { (project(one.project.as_deref())) }
            @if !one.commands.is_empty() {
                table.commands {
                    (headings(&["Command", "Runs", "Good", "Last"]))
                    tbody { @for command in one.commands.iter().take(most) { (row(here, command, longest)) } }
                }
                @if one.commands.len() > most { p.dim { "… and " (number((one.commands.len() - most) as u64)) " more" } }
            }
            @if !one.patterns.is_empty() {
                h4 { "Sequences that come back" }
                ul.plain-list { @for pattern in one.patterns.iter().take(most) { (sequence(pattern)) } }
            }
        }
    }
}

fn row(here: Here<'_>, one: &CommandUse, longest: u64) -> Markup {
    let share = one.success_rate();
    html! {
        tr data-item {
            th scope="row" {
                a href=(to_thing("command", &one.command)) { code { (Line(&one.command)) } }
                @if one.usually_fails() { " " span.bad { "usually fails" } }
                @for (what, often) in one.instead.iter().take(2) { " " span.good { (Line(what)) " (" (number(*often)) "×)" } }
                (chart::bar(one.runs() as f64 / longest as f64))
            }
            td { (number(one.runs())) }
            td { @if let Some(share) = share { (percent(share)) } @else { "–" } }
            td { a href=(to_line(one.last.session, one.last.line)) { (here.ago(one.last.at)) } }
        }
    }
}

fn sequence(pattern: &Pattern) -> Markup {
    html! {
        li {
            p.sequence {
                @for (at, command) in pattern.commands.iter().enumerate() {
                    @if at > 0 { span.arrow { " → " } }
                    code { (Line(command)) }
                }
            }
            p.dim {
                (number(pattern.times)) "× in " (count(pattern.sessions, "session"))
                " · ends well " (percent(pattern.success_rate())) " · "
                a href=(to_line(pattern.last.session, pattern.last.line)) { "the last time" }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 100.0).round() as u64)
}
