//! The sidebar of a session: summary, numbers, files, errors, decisions and injections.

use maud::{Markup, html};
use rethread_engine::{InjectionRow, SessionPage, SimilarWork};
use rethread_model::{Predicate, clip};
use serde_json::Value;

use super::super::components::{MultiLine, OneLine, PageContext, count, long_cost, project};
use super::super::links::{to_entity, to_line, to_session};
use super::super::markdown::markdown;
use super::super::memory;
use crate::render::{number, session_label, short_number};
use crate::serve::{ApiError, ServerState};

/// Most files, errors and other items shown per section.
const MAX_ITEMS: usize = 40;
/// Characters of an injection that are shown.
const MAX_INJECTION_CHARS: usize = 6_000;

/// The sidebar.
pub(super) fn sidebar(app: &ServerState, reading: &SessionPage, similar: &[SimilarWork]) -> Result<Markup, ApiError> {
    let context = PageContext::new(app);
    let errors = memory::error_cards(app, &reading.errors[..reading.errors.len().min(MAX_ITEMS)], true)?;
    Ok(html! {
        aside.about-session aria-label="About this session" {
            (card(context, reading))
            (usage(reading))
            (files(reading))
            @if !reading.errors.is_empty() {
                section { (section_title("Errors", reading.errors.len()))
                    @for error in errors { (error) } }
            }
            @if !reading.decisions.is_empty() {
                section { (section_title("Decisions", reading.decisions.len()))
                    @for one in reading.decisions.iter().take(MAX_ITEMS) { (memory::decision_card(context, one, true)) } }
            }
            (commits(reading))
            (children(reading))
            (similar_work(context, similar))
            (injections(context, reading))
        }
    })
}

fn section_title(text: &str, many: usize) -> Markup {
    html! { h2 { (text) " " span.number { (number(many as u64)) } } }
}

/// The session's card.
fn card(context: PageContext<'_>, reading: &SessionPage) -> Markup {
    let card = &reading.card;
    html! {
        section.summary {
            h2 { "Summary" }
            @if !card.fields.description.trim().is_empty() { p { (OneLine(&card.fields.description)) } }
            details.more {
                summary { "Full summary" }
                div.md { (markdown(&card.fields.summary)) }
            }
            @if !card.fields.tags.is_empty() {
                ul.tags { @for tag in &card.fields.tags { li { (OneLine(tag)) } } }
            }
            p.dim {
                @match &card.model {
                    Some(model) => { "written by " (OneLine(model)) ", " (context.since(Some(card.updated_at))) }
                    None => { "generated without a model" }
                }
                @if card.is_outdated { "; the session has continued since" }
            }
        }
    }
}

fn usage(reading: &SessionPage) -> Markup {
    let tokens = reading.usage.tokens;
    let session = &reading.listed.session;
    let left_out = crate::render::reduction_percent(session.raw_tokens, session.kept_tokens);
    html! {
        section {
            h2 { "Tokens and cost" }
            dl.numbers {
                dt { "Cost" } dd { @if reading.usage.cost().is_some() { (long_cost(&reading.usage)) } @else { "unknown" } }
                dt { "Input" } dd { (short_number(tokens.input)) }
                dt { "Output" } dd { (short_number(tokens.output)) }
                dt { "Cache reads" } dd { (short_number(tokens.cache_read)) }
                dt { "Cache writes" } dd { (short_number(tokens.cache_write)) }
                dt { "Messages" } dd { (number(session.counts.messages)) }
                @if let Some(percent) = left_out { dt title="of the transcript" { "Filtered out" } dd { (format!("{percent:.0} %")) } }
            }
        }
    }
}

fn files(reading: &SessionPage) -> Markup {
    let id = reading.listed.session.id;
    html! {
        @if !reading.files.is_empty() {
            section {
                (section_title("Files changed", reading.files.len()))
                ul.files {
                    @for file in reading.files.iter().take(MAX_ITEMS) {
                        li {
                            a href=(to_entity("file", &file.name)) { (OneLine(&file.name)) }
                            a.at href=(to_line(id, file.line)) title="last change" { (count(file.times, "change")) }
                        }
                    }
                }
                @if reading.files.len() > MAX_ITEMS { p.dim { "… and " (number((reading.files.len() - MAX_ITEMS) as u64)) " more" } }
            }
        }
    }
}

fn commits(reading: &SessionPage) -> Markup {
    let id = reading.listed.session.id;
    html! {
        @if !reading.commits.is_empty() {
            section {
                (section_title("Commits", reading.commits.len()))
                ul.plain-list {
                    @for fact in reading.commits.iter().take(MAX_ITEMS) {
                        li {
                            a href=(to_line(id, fact.line)) { (OneLine(&fact.subject.name)) }
                            @if fact.predicate == Predicate::Reverted { " " span.bad { "reverted" } }
                        }
                    }
                }
            }
        }
    }
}

fn children(reading: &SessionPage) -> Markup {
    html! {
        @if !reading.children.is_empty() {
            section {
                (section_title("Sub-agents", reading.children.len()))
                ul.plain-list {
                    @for child in reading.children.iter().take(MAX_ITEMS) {
                        li {
                            a href=(to_session(child.id)) { (OneLine(clip(&session_label(child), 120))) }
                            " " span.dim { (count(child.counts.tool_calls, "call")) }
                        }
                    }
                }
            }
        }
    }
}

/// Sessions that worked on the same.
fn similar_work(context: PageContext<'_>, similar: &[SimilarWork]) -> Markup {
    html! {
        @if !similar.is_empty() {
            section {
                (section_title("Similar work", similar.len()))
                ul.plain-list {
                    @for one in similar {
                        @let session = &one.session;
                        li {
                            a href=(to_session(session.id)) { (OneLine(clip(&session_label(session), 120))) }
                            " " span.dim { (project(session.project.as_deref().or(session.cwd.as_deref()))) " " (context.ago(session.last_activity_at)) }
                            @if let Some(file) = one.shared_files.first() {
                                " " span.dim {
                                    "also changed " (OneLine(file))
                                    @if one.shared_files.len() > 1 { " and " (count(one.shared_files.len() as u64 - 1, "more file")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The injections of the session, with their reasons.
fn injections(context: PageContext<'_>, reading: &SessionPage) -> Markup {
    html! {
        @if !reading.injections.is_empty() {
            section {
                (section_title("Injections", reading.injections.len()))
                p.dim { "Text that Rethread added to its context, newest first." }
                @for (at, one) in reading.injections.iter().enumerate() { (injection(context, one, reading.injections.len() - at)) }
            }
        }
    }
}

fn injection(context: PageContext<'_>, one: &InjectionRow, number_of: usize) -> Markup {
    let parts: Value = serde_json::from_str(&one.sections_json).unwrap_or_default();
    let reasons = parts.get("included").and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    html! {
        details.injection id={ "injection-" (number_of) "-" (format!("{:x}", one.text_hash)) } {
            summary { (OneLine(&one.event)) " " (context.since(Some(one.at))) " " span.dim { (count(reasons.len() as u64, "section")) } }
            ul.plain-list { @for part in &reasons { li { strong { (OneLine(word(part, "kind"))) } " " (OneLine(word(part, "reason"))) } } }
            pre { code { (MultiLine(clip(&one.text, MAX_INJECTION_CHARS))) } }
        }
    }
}
