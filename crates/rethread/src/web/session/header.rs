//! The head of a session: name, tags and numbers, its views, and what one can do with it.

use maud::{Markup, html};
use rethread_engine::{AgentCommand, SessionPage};
use rethread_model::{Agent, Session, SessionKind};

use super::super::board::{live_status, short_model};
use super::super::components::{self, OneLine, PageContext, command, non_blank, session_link};
use super::super::edit::{pin_button, rename_button, tag_list};
use super::super::links::{link, to_session};
use super::{FOCUSED, SessionPageParams};
use crate::render::{duration, number, resume_command, sanitize_line, session_label, short_number, time_range};
use crate::serve::has_read_route;

const EXPORT_ROUTE: &str = "/api/sessions/{id}/export";
const EXPORT_FORMATS: [(&str, &str); 3] =
    [("html", "Web page (HTML)"), ("md", "Markdown"), ("jsonl", "JSON Lines (for rethread import)")];

/// Longer names get a smaller heading.
const LONG_NAME_CHARS: usize = 60;

pub(super) fn header(
    context: PageContext<'_>,
    reading: &SessionPage,
    params: &SessionPageParams,
    used: &[Agent],
    may_write: bool,
) -> Markup {
    let session = &reading.listed.session;
    let name = session_label(session);
    html! {
        header.session-head {
            (trail(reading))
            div.title {
                (pin_button(session.id, &name, reading.is_pinned, may_write))
                h1.long[name.chars().count() > LONG_NAME_CHARS] id="name" { (OneLine(&name)) }
                @if may_write { (rename_button(session.id, session.name.as_deref())) }
            }
            (tag_list(session.id, &reading.tags, may_write.then_some("editor")))
            p.about {
                (components::state(reading.listed.state))
                @if let Some((status, reason)) = &reading.listed.live { (live_status(*status, reason.as_deref())) }
                span { (session.agent.as_str()) @if session.kind == SessionKind::Child { ", sub-agent" } @else if reading.parent.is_some() { ", fork" } }
                @if let Some(branch) = &session.branch { span.branch { (OneLine(branch)) } }
                @if let Some(model) = &session.model { span { (OneLine(short_model(model))) } }
                span { (time_range(session.started_at, session.last_activity_at, context.zone)) }
            }
            (numbers(reading))
            div.actions {
                (views(session, params))
                (resume_menu(session, used))
                (export_menu(session))
                (find_form(session, params))
            }
        }
    }
}

fn trail(reading: &SessionPage) -> Markup {
    let session = &reading.listed.session;
    let place = session.project.as_deref().or(session.cwd.as_deref());
    html! {
        p.trail {
            button.plain.rail-toggle type="button" popovertarget="rail" { "Sessions" }
            a href="/" { "Board" } span aria-hidden="true" { "/" }
            @if let Some(project) = place { a href=(link("/", &[("project", Some(project))])) { (components::project(Some(project))) } }
            @else { (components::project(None)) }
            @if let Some(parent) = &reading.parent { span aria-hidden="true" { "/" } (session_link(parent)) }
        }
    }
}

/// Tokens, cost, steps and duration, as counted everywhere else.
fn numbers(reading: &SessionPage) -> Markup {
    let session = &reading.listed.session;
    let (counts, tokens) = (session.counts, reading.usage.tokens);
    let cached = tokens.cache_read + tokens.cache_write;
    let time = session.started_at.zip(session.last_activity_at).map(|(from, to)| duration(to.millis_since(from)));
    html! {
        dl.key-numbers {
            div { dt { "Prompts" } dd { (number(counts.prompts)) } }
            div {
                dt { "Calls" }
                dd { (number(counts.tool_calls)) @if counts.tool_errors > 0 { " " span.bad { (number(counts.tool_errors)) " failed" } } }
            }
            div { dt { "Files" } dd { (number(counts.files_edited)) } }
            div {
                dt { "Tokens" }
                dd title="input, output, and read from or written to the cache" {
                    @if tokens.total() == 0 { "unknown" } @else {
                        (short_number(tokens.input)) span.unit { " in " } (short_number(tokens.output)) span.unit { " out " }
                    }
                    @if cached > 0 { (short_number(cached)) span.unit { " cached" } }
                }
            }
            div { dt { "Cost" } dd { @if reading.usage.cost().is_some() { (components::long_cost(&reading.usage)) } @else { "unknown" } } }
            @if let Some(time) = time { div { dt { "Duration" } dd { (time) } } }
        }
    }
}

/// The views of the conversation. "About" shows what is beside the conversation on wide screens.
fn views(session: &Session, params: &SessionPageParams) -> Markup {
    let page = to_session(session.id);
    let words = non_blank(params.find.as_ref());
    let of = |name, value| link(&page, &[(name, Some(value)), ("find", words)]);
    let (is_focused, is_all) = (params.is_focused(), params.shows_everything());
    let current = |is_it: bool| is_it.then_some("true");
    html! {
        nav.tabs.views aria-label="View" {
            a href={ (link(&page, &[("find", words)])) "#talk" } aria-current=[current(!is_focused && !is_all)] { "Conversation" }
            a href=(of("view", FOCUSED)) aria-current=[current(is_focused)] title="Prompts and final answers only" { "Focused" }
            a href=(of("all", "1")) aria-current=[current(is_all && !is_focused)] title="Also thinking, machine text and abandoned branches" { "Everything" }
            a.narrow-only href="#about" { "About" }
        }
    }
}

/// Other agents that have sessions here and can start with the handoff note.
fn other_agents(session: &Session, used: &[Agent]) -> Vec<Agent> {
    AgentCommand::startable_agents().filter(|agent| *agent != session.agent && used.contains(agent)).collect()
}

/// How to go on with the session, and what names it.
fn resume_menu(session: &Session, used: &[Agent]) -> Markup {
    let reference = session.alias.clone().unwrap_or_else(|| session.id.to_string());
    html! {
        details.menu {
            summary.plain { "Resume" }
            div.menu-box {
                @if let Some(text) = resume_command(session) { h3 { "Continue in " (session.agent.label()) } p { (command(&text)) } }
                @if session.agent == Agent::Native { h3 { "Continue" } p { (command(&format!("rethread thread send {} 'continue'", session.id))) } }
                @let agents = other_agents(session, used);
                @if !agents.is_empty() {
                    h3 { "Continue in another agent" }
                    ul.hand-over { @for agent in agents { li { (command(&format!("rethread resume {} --in {agent}", session.id))) } } }
                }
                h3 { "Only the handoff note" }
                p { (command(&format!("rethread handoff {}", session.id))) }
                h3 { "Refer to it in a prompt" }
                p { (command(&format!("@@{}", sanitize_line(&reference)))) }
                p.copies {
                    button.plain.copy-text type="button" data-copy-text=(session.id) hidden { "Copy ID" }
                    button.plain.copy-text type="button" data-copy-text=(OneLine(&session.external_id)) hidden { "Copy agent session ID" }
                    button.plain.copy-text type="button" data-copy-link=(to_session(session.id)) hidden { "Copy link" }
                }
            }
        }
    }
}

/// Downloads of the session, if this server can export it.
fn export_menu(session: &Session) -> Markup {
    let route = format!("/api/sessions/{}/export", session.id);
    let to = |format| link(&route, &[("format", Some(format)), ("download", Some("true"))]);
    // The lossless export of a thread is its log.
    let is_offered = |format| session.agent != Agent::Native || format != "jsonl";
    html! {
        @if has_read_route(EXPORT_ROUTE) {
            details.menu {
                summary.plain { "Export" }
                ul.menu-box.export-formats {
                    @for (format, name) in EXPORT_FORMATS.into_iter().filter(|(format, _)| is_offered(*format)) { li { a href=(to(format)) download { (name) } } }
                }
            }
        }
    }
}

fn find_form(session: &Session, params: &SessionPageParams) -> Markup {
    html! {
        form.find-within action=(to_session(session.id)) role="search" aria-label="Search this session" {
            @if params.shows_everything() { input type="hidden" name="all" value="1"; }
            @if params.is_focused() { input type="hidden" name="view" value=(FOCUSED); }
            input type="search" name="find" value=(OneLine(params.find.as_deref().unwrap_or_default()))
                placeholder="Search this session" aria-label="Search this session" autocomplete="off" data-find-within;
            kbd aria-hidden="true" { "f" }
        }
    }
}
