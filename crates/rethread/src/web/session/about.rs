//! What is known of a session as a whole: summary, numbers, files, errors, decisions, and what it was told.

use maud::{Markup, html};
use rethread_engine::{Injected, Reading};
use rethread_model::{Agent, Predicate, clip};
use serde_json::Value;

use super::super::links::{to_line, to_session, to_thing};
use super::super::markdown::markdown;
use super::super::memory;
use super::super::parts::{Here, Line, Text, command, count};
use crate::render::{name_of, number, resume_command, rough_cost, short_number};

/// Files, errors and the like that are told; of more the rest is counted.
const MOST: usize = 40;
/// Characters of a text it was told.
const LONGEST_TOLD: usize = 6_000;

/// What is known of all of it.
pub(super) fn about(here: Here<'_>, reading: &Reading) -> Markup {
    html! {
        aside.about-session id="about" aria-label="About this session" {
            (card(here, reading))
            (going_on(reading))
            (used(reading))
            (files(reading))
            @if !reading.errors.is_empty() {
                section { (title("Errors", reading.errors.len()))
                    @for error in reading.errors.iter().take(MOST) { (memory::error(here, error, true)) } }
            }
            @if !reading.decisions.is_empty() {
                section { (title("Decisions", reading.decisions.len()))
                    @for one in reading.decisions.iter().take(MOST) { (memory::decision(here, one, true)) } }
            }
            (commits(reading))
            (children(reading))
            (told(here, reading))
        }
    }
}

fn title(text: &str, many: usize) -> Markup {
    html! { h2 { (text) " " span.number { (number(many as u64)) } } }
}

/// What the card says.
fn card(here: Here<'_>, reading: &Reading) -> Markup {
    let card = &reading.card;
    html! {
        section.summary {
            h2 { "Summary" }
            @if !card.fields.description.trim().is_empty() { p { (Line(&card.fields.description)) } }
            details.more {
                summary { "All of it" }
                div.md { (markdown(&card.fields.summary)) }
            }
            @if !card.fields.tags.is_empty() {
                ul.tags { @for tag in &card.fields.tags { li { (Line(tag)) } } }
            }
            p.dim {
                @match &card.made_by {
                    Some(model) => { "written by " (Line(model)) ", " (here.since(Some(card.updated_at))) }
                    None => { "made by rules" }
                }
                @if card.is_older { "; the session has gone on since" }
            }
        }
    }
}

fn going_on(reading: &Reading) -> Markup {
    let session = &reading.listed.session;
    html! {
        section {
            h2 { "Go on" }
            @if let Some(text) = resume_command(session) { p { (command(&text)) } }
            @if session.agent == Agent::Native { p { (command(&format!("rethread thread send {} 'go on'", session.id))) } }
            p { (command(&format!("rethread handoff {}", session.id))) }
            p.dim { "In a prompt: " code { "@@" (Line(session.alias.clone().unwrap_or_else(|| session.id.to_string()))) } }
        }
    }
}

fn used(reading: &Reading) -> Markup {
    let tokens = reading.used.tokens;
    let session = &reading.listed.session;
    let left_out = crate::render::reduction(session.raw_tokens, session.kept_tokens);
    html! {
        section {
            h2 { "Tokens and cost" }
            dl.numbers {
                dt { "Cost" } dd { @if reading.used.cost().is_some() { (rough_cost(&reading.used)) } @else { "unknown" } }
                dt { "Input" } dd { (short_number(tokens.input)) }
                dt { "Output" } dd { (short_number(tokens.output)) }
                dt { "From the cache" } dd { (short_number(tokens.cache_read)) }
                dt { "Into the cache" } dd { (short_number(tokens.cache_write)) }
                dt { "Messages" } dd { (number(session.counts.messages)) }
                @if let Some(percent) = left_out { dt title="of the transcript" { "Left out of memory" } dd { (format!("{percent:.0} %")) } }
            }
        }
    }
}

fn files(reading: &Reading) -> Markup {
    let id = reading.listed.session.id;
    html! {
        @if !reading.files.is_empty() {
            section {
                (title("Files changed", reading.files.len()))
                ul.files {
                    @for file in reading.files.iter().take(MOST) {
                        li {
                            a href=(to_thing("file", &file.name)) { (Line(&file.name)) }
                            a.at href=(to_line(id, file.line)) title="where it was changed last" { (count(file.times, "change")) }
                        }
                    }
                }
                @if reading.files.len() > MOST { p.dim { "… and " (number((reading.files.len() - MOST) as u64)) " more" } }
            }
        }
    }
}

fn commits(reading: &Reading) -> Markup {
    let id = reading.listed.session.id;
    html! {
        @if !reading.commits.is_empty() {
            section {
                (title("Commits", reading.commits.len()))
                ul.plain-list {
                    @for fact in reading.commits.iter().take(MOST) {
                        li {
                            a href=(to_line(id, fact.line)) { (Line(&fact.subject.name)) }
                            @if fact.predicate == Predicate::Reverted { " " span.bad { "taken back" } }
                        }
                    }
                }
            }
        }
    }
}

fn children(reading: &Reading) -> Markup {
    html! {
        @if !reading.children.is_empty() {
            section {
                (title("Sub-agents", reading.children.len()))
                ul.plain-list {
                    @for child in reading.children.iter().take(MOST) {
                        li {
                            a href=(to_session(child.id)) { (Line(clip(&name_of(child), 120))) }
                            " " span.dim { (count(child.counts.tool_calls, "call")) }
                        }
                    }
                }
            }
        }
    }
}

/// What Rethread told it, and why.
fn told(here: Here<'_>, reading: &Reading) -> Markup {
    html! {
        @if !reading.told.is_empty() {
            section {
                (title("What it was told", reading.told.len()))
                p.dim { "Texts that Rethread added to its prompts, newest first." }
                @for (at, one) in reading.told.iter().enumerate() { (injection(here, one, reading.told.len() - at)) }
            }
        }
    }
}

fn injection(here: Here<'_>, one: &Injected, number_of: usize) -> Markup {
    let parts: Value = serde_json::from_str(&one.parts).unwrap_or_default();
    let reasons = parts.get("told").and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    html! {
        details.told id={ "told-" (number_of) "-" (format!("{:x}", one.hash)) } {
            summary { (Line(&one.event)) " " (here.since(Some(one.at))) " " span.dim { (count(reasons.len() as u64, "part")) } }
            ul.plain-list { @for part in &reasons { li { strong { (Line(word(part, "kind"))) } " " (Line(word(part, "reason"))) } } }
            pre { code { (Text(clip(&one.text, LONGEST_TOLD))) } }
        }
    }
}
