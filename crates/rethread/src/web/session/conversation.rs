//! The conversation: messages and tool calls, each with its line.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::{EntryPage, SessionPage};
use rethread_model::{Entry, EntryKind, Session, ToolKind, ToolOutcome, ToolStatus, ToolUse, clip, first_line};

use super::super::components::{MultiLine, OneLine, PageContext, count};
use super::super::links::{to_line, to_session};
use super::super::markdown::markdown;
use super::{SessionPageParams, original, shown_range};
use crate::render::{number, relative_path};

/// Longest run of calls that is not folded into one line.
const MAX_UNFOLDED_CALLS: usize = 5;
/// Longer thinking and machine texts are folded to their first line.
const MAX_MACHINE_BYTES: usize = 400;
const MAX_MACHINE_LINES: usize = 4;
/// Characters of that line.
const FOLDED_CHARS: usize = 140;
/// Characters of one message; the CLI shows the rest.
const MAX_MESSAGE_CHARS: usize = 30_000;
/// Characters of a call's arguments and of its output.
const MAX_DETAIL_CHARS: usize = 8_000;

/// The conversation, with links to earlier and later entries.
pub(super) fn conversation(context: PageContext<'_>, reading: &SessionPage, params: &SessionPageParams) -> Markup {
    let session = &reading.listed.session;
    let page = &reading.page;
    let cited = params.line.filter(|_| page.center_seq.is_some());
    let reader = ConversationView {
        context,
        session,
        cited,
        cited_entry: page.center_seq,
        first_of_line: first_of_line(&page.entries),
    };
    let (first, last) = shown_range(reading);
    html! {
        @if page.has_earlier {
            nav.around aria-label="Earlier" {
                @let before = first.to_string();
                a.plain href=(params.link(session, &[("from", Some("0"))])) { "First" }
                a.plain rel="prev" href=(params.link(session, &[("until", Some(&before))])) { "Earlier" }
            }
        }
        @if page.entries.is_empty() { p.dim { "No messages." } }
        div.entries data-from=(first) {
            @for (day, group) in by_day(context, groups(&page.entries)) {
                @if let Some(day) = day { p.day { (day) } }
                (reader.group(group))
                @if params.is_focused() { (left_out(reading, &group[0])) }
            }
        }
        @if page.has_later {
            nav.around aria-label="Later" {
                @let next = (last + 1).to_string();
                a.plain rel="next" href=(params.link(session, &[("from", Some(&next))])) { "Later" }
                a.plain href=(params.link(session, &[("last", Some("1"))])) { "Last" }
            }
        } @else {
            p.end id="end" { span.dim { "End of the synced transcript." } }
        }
    }
}

/// Some entries without links to others, one of them marked.
pub(super) fn excerpt(context: PageContext<'_>, session: &Session, page: &EntryPage, line: u64) -> Markup {
    let reader = ConversationView {
        context,
        session,
        cited: Some(line),
        cited_entry: page.center_seq,
        first_of_line: first_of_line(&page.entries),
    };
    html! {
        div.entries { @for (day, group) in by_day(context, groups(&page.entries)) { @if let Some(day) = day { p.day { (day) } } (reader.group(group)) } }
    }
}

/// In the focused view: the calls between a prompt and its answer.
fn left_out(reading: &SessionPage, entry: &Entry) -> Markup {
    let of_prompt = reading.prompts.iter().find(|one| one.seq == entry.seq).filter(|one| one.tool_calls > 0);
    html! {
        @if let Some(one) = of_prompt {
            p.left-out {
                (count(one.tool_calls, "call"))
                @if one.tool_errors > 0 { ", " span.bad { (number(one.tool_errors)) " failed" } }
                " · " a href=(to_line(reading.listed.session.id, one.line)) { "show" }
            }
        }
    }
}

/// Groups consecutive tool calls; every other entry is a group of its own.
fn groups(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|one, next| one.tool.is_some() && next.tool.is_some())
}

/// Groups, with the date before the first group of each day.
fn by_day<'e>(
    context: PageContext<'_>,
    groups: impl Iterator<Item = &'e [Entry]>,
) -> impl Iterator<Item = (Option<String>, &'e [Entry])> {
    let mut last = None;
    groups.map(move |group| {
        let day = context.day(group[0].at);
        let is_new = day.is_some() && day != last;
        if is_new {
            last.clone_from(&day);
        }
        (day.filter(|_| is_new), group)
    })
}

/// `seq` of the first entry of each line: a line may have several, and links jump to the first.
fn first_of_line(entries: &[Entry]) -> HashMap<u64, u64> {
    let mut first = HashMap::new();
    for entry in entries {
        first.entry(entry.location.line).or_insert(entry.seq);
    }
    first
}

struct ConversationView<'a> {
    context: PageContext<'a>,
    session: &'a Session,
    /// The requested line.
    cited: Option<u64>,
    /// `seq` of the entry at that line.
    cited_entry: Option<u64>,
    first_of_line: HashMap<u64, u64>,
}

impl ConversationView<'_> {
    fn group(&self, group: &[Entry]) -> Markup {
        if group[0].tool.is_none() {
            return html! { @for entry in group { (self.message(entry)) } };
        }
        let holds_cited = group.iter().any(|entry| Some(entry.seq) == self.cited_entry);
        let calls = html! { @for entry in group { @if let Some(tool) = &entry.tool { (self.call(entry, tool)) } } };
        html! {
            @if group.len() > MAX_UNFOLDED_CALLS {
                details.calls id={ "calls-" (group[0].seq) } open[holds_cited] data-fold {
                    summary { (calls_summary(group)) }
                    (calls)
                }
            } @else {
                div.calls id={ "calls-" (group[0].seq) } { (calls) }
            }
        }
    }

    /// A message: Markdown for the agent's, plain text otherwise. Thinking and long machine texts are folded.
    fn message(&self, entry: &Entry) -> Markup {
        let (who, class) = author(entry.kind);
        let text = clip(&entry.text, MAX_MESSAGE_CHARS);
        let is_cut = text.len() < entry.text.len();
        let is_long = entry.text.len() > MAX_MACHINE_BYTES || entry.text.lines().count() > MAX_MACHINE_LINES;
        let is_folded = class == "machine" && is_long && Some(entry.seq) != self.cited_entry;
        html! {
            article class={ "entry " (class) @if entry.is_abandoned { " left" } } id={ "e-" (entry.seq) } data-item {
                (self.margin(entry))
                div.body {
                    p.who { (who) @if entry.is_abandoned { " · abandoned branch" } }
                    @if is_folded {
                        details.folded id={ "f-" (entry.seq) } {
                            summary { (OneLine(clip(first_line(&entry.text), FOLDED_CHARS))) " " span.dim { (count(entry.text.lines().count() as u64, "line")) } }
                            div.typed { (MultiLine(&text)) }
                        }
                    } @else if matches!(class, "agent" | "summary") { div.md { (markdown(&text)) } }
                    @else { div.typed { (MultiLine(&text)) } }
                    @if is_cut {
                        p.dim { "Cut after " (number(MAX_MESSAGE_CHARS as u64)) " characters. " (original::text_link(self.context, self.session, entry)) }
                    }
                }
            }
        }
    }

    /// Line number, time, and the anchor of citations.
    fn margin(&self, entry: &Entry) -> Markup {
        let line = entry.location.line;
        html! {
            div.margin {
                (self.anchor(entry))
                a.line href={ (to_session(self.session.id)) "?line=" (line) "#L" (line) } aria-label={ "Link to line " (line) } { (line) }
                (self.context.time_of_day(entry.at))
            }
        }
    }

    /// The target of links to a line. A cited line may have no entry: then the entry before it is the target.
    fn anchor(&self, entry: &Entry) -> Markup {
        let line = entry.location.line;
        let is_middle = Some(entry.seq) == self.cited_entry;
        let cited = self.cited.filter(|cited| is_middle && *cited != line);
        html! {
            @if self.first_of_line.get(&line) == Some(&entry.seq) {
                span.anchor id={ "L" (line) } data-cited[is_middle && cited.is_none()] {}
            }
            @if let Some(cited) = cited { span.anchor id={ "L" (cited) } data-cited {} }
        }
    }

    /// A tool call: one line, with its details folded.
    fn call(&self, entry: &Entry, tool: &ToolUse) -> Markup {
        let (how, rendered) = outcome_label(tool.outcome.as_ref());
        let target = relative_path(&tool.target, self.session);
        let error = tool
            .outcome
            .as_ref()
            .filter(|outcome| outcome.status == ToolStatus::Error)
            .and_then(|one| one.error.as_deref());
        html! {
            details class={ "call " (how) @if entry.is_abandoned { " left" } } id={ "e-" (entry.seq) } data-item {
                summary {
                    (self.anchor(entry))
                    span.row {
                        span.tool { (OneLine(&tool.name)) }
                        span.target { (OneLine(clip(&target, 300))) }
                        span.outcome { (rendered) }
                        span.line { (entry.location.line) }
                    }
                    @if let Some(error) = error { span.error { (OneLine(clip(error, 500))) } }
                }
                (self.details(entry, tool))
            }
        }
    }

    fn details(&self, entry: &Entry, tool: &ToolUse) -> Markup {
        let outcome = tool.outcome.as_ref();
        let output = outcome.and_then(|outcome| outcome.output.as_deref());
        let line = entry.location.line;
        html! {
            dl {
                dt { "Line" }
                dd { a href={ (to_session(self.session.id)) "?line=" (line) "#L" (line) } { (line) } " " (self.context.time_of_day(entry.at)) }
                @if let Some(body) = &tool.body {
                    @let is_command = tool.kind == Some(ToolKind::Command);
                    dt.stored-body[!is_command] { @if is_command { "Command" } @else { "Change" } }
                    dd.stored-body[!is_command] { pre { code { (MultiLine(clip(body, MAX_DETAIL_CHARS))) } } }
                }
                @if !tool.target.is_empty() && (tool.body.is_none() || tool.kind != Some(ToolKind::Command)) { dt { "Target" } dd { code { (MultiLine(clip(&tool.target, MAX_DETAIL_CHARS))) } } }
                @if !tool.arguments.is_empty() { dt { "Arguments" } dd { code { (MultiLine(clip(&tool.arguments, MAX_DETAIL_CHARS))) } } }
                @if let Some(outcome) = outcome {
                    dt { "Result" }
                    dd {
                        (OneLine(&outcome.summary))
                        @if let Some(code) = outcome.exit_code { " · exit " (code) }
                    }
                    @if let Some(error) = &outcome.error { dt { "Error" } dd.error { (MultiLine(error)) } }
                }
                (original::control(self.context, self.session, entry, tool))
                @if let Some(output) = output { dt { "Output" } dd { pre { code { (MultiLine(clip(output, MAX_DETAIL_CHARS))) } } } }
            }
        }
    }
}

/// The summary line of folded calls.
fn calls_summary(group: &[Entry]) -> Markup {
    let mut names: Vec<(&str, u64)> = Vec::new();
    for tool in group.iter().filter_map(|entry| entry.tool.as_ref()) {
        match names.iter_mut().find(|(name, _)| *name == tool.name) {
            Some((_, many)) => *many += 1,
            None => names.push((&tool.name, 1)),
        }
    }
    names.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let is_failed = |entry: &&Entry| {
        entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref()).is_some_and(|outcome| outcome.status.is_error())
    };
    let failed = group.iter().filter(is_failed).count() as u64;
    html! {
        span.sum { (count(group.len() as u64, "call")) }
        @for (name, many) in names.iter().take(4) { span.part { (OneLine(name)) " " span.number { (number(*many)) } } }
        @if names.len() > 4 { span.part { "…" } }
        @if failed > 0 { span.bad { (number(failed)) " failed" } }
        @if let Some(line) = group.first().map(|entry| entry.location.line) { span.line { (line) } }
    }
}

/// The CSS class and the label of a call's outcome.
fn outcome_label(outcome: Option<&ToolOutcome>) -> (&'static str, String) {
    let Some(outcome) = outcome else { return ("pending", "no result yet".to_owned()) };
    match outcome.status {
        ToolStatus::Ok if outcome.lines > 1 => ("ok", count(outcome.lines, "line")),
        ToolStatus::Ok => ("ok", "ok".to_owned()),
        ToolStatus::Rejected => ("rejected", "rejected".to_owned()),
        ToolStatus::Error => {
            ("failed", outcome.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}")))
        }
    }
}

pub(super) fn author(speech: EntryKind) -> (&'static str, &'static str) {
    match speech {
        EntryKind::Prompt => ("You", "prompt"),
        EntryKind::Answer => ("You (answer)", "prompt"),
        EntryKind::Task => ("Task", "prompt"),
        EntryKind::Shell => ("You (shell)", "machine"),
        EntryKind::Note => ("You (note)", "machine"),
        EntryKind::Command => ("You (command)", "machine"),
        EntryKind::AssistantText | EntryKind::Call => ("Agent", "agent"),
        EntryKind::Reasoning => ("Agent (thinking)", "machine"),
        EntryKind::Failure => ("Error", "failure"),
        EntryKind::Interruption => ("Interrupted", "failure"),
        EntryKind::Summary => ("Summary of earlier messages", "summary"),
        EntryKind::Recap => ("Recap", "summary"),
        EntryKind::Notice => ("Notice", "machine"),
        EntryKind::Injected => ("Added by an extension", "machine"),
    }
}
