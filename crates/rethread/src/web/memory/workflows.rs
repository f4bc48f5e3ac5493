//! The workflow of a project: commands with success rates, and recurring sequences.

use maud::{Markup, html};
use rethread_engine::{CommandSequence, CommandStats, Workflow};

use super::super::chart;
use super::super::components::{OneLine, PageContext, count, headings, project};
use super::super::links::{to_entity, to_line};
use crate::render::number;

/// A project with at most `limit` commands and sequences.
pub(super) fn workflow(context: PageContext<'_>, one: &Workflow, limit: usize) -> Markup {
    let longest = one.commands.iter().map(CommandStats::runs).max().unwrap_or(1).max(1);
    html! {
        section.workflow {
            h3 { (project(one.project.as_deref())) }
            @if !one.commands.is_empty() {
                table.commands {
                    (headings(&["Command", "Runs", "Success", "Last"]))
                    tbody { @for command in one.commands.iter().take(limit) { (command_row(context, command, longest)) } }
                }
                @if one.commands.len() > limit { p.dim { "… and " (number((one.commands.len() - limit) as u64)) " more" } }
            }
            @if !one.sequences.is_empty() {
                h4 { "Recurring sequences" }
                ul.plain-list { @for pattern in one.sequences.iter().take(limit) { (sequence(pattern)) } }
            }
        }
    }
}

fn command_row(context: PageContext<'_>, one: &CommandStats, longest: u64) -> Markup {
    let share = one.success_rate();
    html! {
        tr data-item {
            th scope="row" {
                a href=(to_entity("command", &one.command)) { code { (OneLine(&one.command)) } }
                @if one.usually_fails() { " " span.bad { "usually fails" } }
                @for (what, often) in one.alternatives.iter().take(2) { " " span.good { (OneLine(what)) " (" (number(*often)) "×)" } }
                (chart::bar(one.runs() as f64 / longest as f64))
            }
            td { (number(one.runs())) }
            td { @if let Some(share) = share { (percent(share)) } @else { "–" } }
            td { a href=(to_line(one.last_source.session, one.last_source.line)) { (context.ago(one.last_source.at)) } }
        }
    }
}

fn sequence(pattern: &CommandSequence) -> Markup {
    html! {
        li {
            p.sequence {
                @for (at, command) in pattern.commands.iter().enumerate() {
                    @if at > 0 { span.arrow { " → " } }
                    code { (OneLine(command)) }
                }
            }
            p.dim {
                (number(pattern.count)) "× in " (count(pattern.session_count, "session"))
                " · " (percent(pattern.success_rate())) " succeeded · "
                a href=(to_line(pattern.last_source.session, pattern.last_source.line)) { "last run" }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 100.0).round() as u64)
}
