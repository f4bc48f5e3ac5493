//! The strip of sessions that run now: what each of them does, and whether it waits for its user.

use maud::{Markup, html};
use rethread_engine::{Board, BoardSession, LiveStatus};
use rethread_model::{Entry, EntryKind, Session, ToolStatus, clip, first_line};

use super::super::components::{self, OneLine, PageContext, cost, count};
use super::super::links::{link, to_session};
use super::short_model;
use crate::render::{number, relative_path, session_label};

/// Characters of a prompt on a card; more would not be visible.
const MAX_PROMPT_CHARS: usize = 220;
const MAX_ACTION_CHARS: usize = 120;

/// Cards of the running sessions, or a line that there are none.
pub(super) fn strip(context: PageContext<'_>, board: &Board, actions: &Markup) -> Markup {
    let more = board.running_count - board.running.len();
    html! {
        section.now aria-labelledby="now-title" {
            header {
                h2 id="now-title" { "Now" }
                @if board.running.is_empty() { p.dim { "No session is active." } }
                @else { p.dim { (count(board.running_count as u64, "session")) " running" } }
                (actions)
            }
            @if !board.running.is_empty() {
                div.cards { @for session in &board.running { (session_card(context, session)) } }
            }
            @if more > 0 { p.more { a.plain href=(link("/", &[("state", Some("idle"))])) { (number(more as u64)) " more idle" } } }
        }
    }
}

fn session_card(context: PageContext<'_>, on_board: &BoardSession) -> Markup {
    let (session, state) = (&on_board.listed.session, on_board.listed.state);
    let prompt = on_board
        .task
        .as_deref()
        .or(on_board.last_prompt.as_deref())
        .map(|text| clip(text, MAX_PROMPT_CHARS).into_owned());
    html! {
        article class={ "card " (crate::render::state_name(state)) } id={ "now-" (session.id) } data-item {
            header {
                h3 { a href=(to_session(session.id)) { (OneLine(session_label(session))) } }
                (context.ago(session.last_activity_at))
            }
            p.about {
                (components::state(state))
                @if let Some((status, reason)) = &on_board.listed.live { (live_status(*status, reason.as_deref())) }
                span { (session.agent.as_str()) }
                @if let Some(branch) = &session.branch { span.branch { (OneLine(branch)) } }
                @if let Some(model) = &session.model { span { (OneLine(short_model(model))) } }
                @if let Some(parent) = &on_board.parent { span { "fork of " (components::session_link(parent)) } }
            }
            @if let Some(prompt) = prompt { p.last-prompt { (OneLine(prompt)) } }
            @if let Some(last) = &on_board.last_entry { (last_action(session, last)) }
            footer { (session_counts(session)) (cost(&on_board.usage)) }
        }
    }
}

/// What the agent says that it does.
pub(in super::super) fn live_status(status: LiveStatus, waiting_for: Option<&str>) -> Markup {
    html! {
        @if status == LiveStatus::Waiting {
            span.waits { "waits for you" @if let Some(reason) = waiting_for { ": " (OneLine(clip(reason, MAX_ACTION_CHARS))) } }
        } @else { span { (status.as_str()) } }
    }
}

/// The last message or action of a session.
fn last_action(session: &Session, last: &Entry) -> Markup {
    html! {
        p.doing {
            @if let Some(tool) = &last.tool {
                @let outcome = tool.outcome.as_ref();
                @let how = outcome.map_or("pending", |outcome| if outcome.status == ToolStatus::Ok { "ok" } else { "failed" });
                span class={ "action-line " (how) } { (OneLine(&tool.name)) " " code { (OneLine(clip(&relative_path(&tool.target, session), MAX_ACTION_CHARS))) } }
                @if how == "pending" { span.dim { "running" } }
                @if how == "failed" { span.bad { "failed" } }
            } @else if last.kind == EntryKind::AssistantText {
                span.action-line { (OneLine(clip(first_line(&last.text), MAX_ACTION_CHARS))) }
            } @else {
                span.action-line.failed { (OneLine(clip(first_line(&last.text), MAX_ACTION_CHARS))) }
            }
        }
    }
}

/// The counts that are not zero.
fn session_counts(session: &Session) -> Markup {
    let counts = session.counts;
    let known = [
        (counts.prompts, "prompt", ""),
        (counts.tool_calls, "call", ""),
        (counts.tool_errors, "failed", "bad"),
        (counts.files_edited, "file", ""),
    ];
    html! {
        span.numbers {
            @for (many, noun, class) in known.into_iter().filter(|(many, ..)| *many > 0) {
                span class=(class) { @if noun == "failed" { (number(many)) " failed" } @else { (count(many, noun)) } }
            }
        }
    }
}
