//! The workflow of a project: commands with success rates, recurring sequences, and what follows a failure.

use maud::{Markup, html};
use rethread_engine::{CommandStats, StepSequence, Workflow};

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
                ul.plain-list { @for found in one.sequences.iter().take(limit) { (sequence(found)) } }
            }
            @if !one.retries.is_empty() {
                h4 { "After a failure" }
                ul.plain-list { @for found in one.retries.iter().take(limit) { (sequence(found)) } }
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

fn sequence(found: &StepSequence) -> Markup {
    html! {
        li {
            p.sequence {
                @for (at, step) in found.steps.iter().enumerate() {
                    @if at > 0 { span.arrow { " → " } }
                    code { (OneLine(step)) }
                }
            }
            p.dim {
                (number(found.count)) "× in " (count(found.session_count, "session"))
                @if let Some(share) = found.success_rate() { " · " (percent(share)) " passed" }
                " · "
                a href=(to_line(found.last_source.session, found.last_source.line)) { "last run" }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 100.0).round() as u64)
}
