//! What the transcript has about one entry: a page of its own, whose content a script shows in the conversation.

use maud::{Markup, Render, html};
use rethread_engine::{DiffSign, FileDiff, OriginalCall, OriginalEntry, OriginalProblem};
use rethread_model::{Entry, Session, SessionId, ToolKind, ToolUse, clip};

use super::super::components::{MultiLine, OneLine, PageContext, count, session_link};
use super::super::layout::{NavPage, WebPage};
use super::super::links::to_line;
use crate::render::{FoldedText, SyntaxKind, about_diff, code_line, highlighted_rows, number, relative_path};
use crate::serve::{ApiError, ServerState};

/// Lines of an output that are shown from its start and from its end before it is unfolded.
const SHOWN_OUTPUT_LINES: usize = 30;
/// Rows of a file's diff on a page.
const MAX_DIFF_ROWS: usize = 2_000;
/// Characters of a line.
const MAX_ROW_CHARS: usize = 2_000;
/// Characters of a heading.
const MAX_TITLE_CHARS: usize = 120;

/// The control that shows what the store does not have of a call. A link, so that it works without a script.
pub(super) fn control(context: PageContext<'_>, session: &Session, entry: &Entry, tool: &ToolUse) -> Markup {
    let what = match tool.kind {
        _ if !context.has_transcripts => return html! {},
        Some(ToolKind::Write | ToolKind::Edit) => "Show change",
        Some(ToolKind::Command) => "Show output",
        _ => "Show result",
    };
    html! {
        dt { "Transcript" }
        dd.load {
            a.plain href={ "/sessions/" (session.id) "/entries/" (entry.seq) } data-load { (what) }
        }
    }
}

/// The page of one entry.
pub(crate) fn page(app: &ServerState, id: SessionId, seq: u64) -> Result<WebPage, ApiError> {
    let found = app.engine.sessions().original(id, seq)?;
    let (entry, session) = (&found.entry, &found.listed.session);
    let title = entry.tool.as_ref().map_or_else(|| entry.text.clone(), |tool| call_title(tool, session));
    let title = clip(title.trim(), MAX_TITLE_CHARS).into_owned();
    let line = entry.location.line;
    let body = html! {
        header.session-head {
            p.trail { a href="/" { "Board" } span aria-hidden="true" { "/" } (session_link(session)) }
            h1.long { (OneLine(&title)) }
            p.about { a href=(to_line(id, line)) { "Line " (number(line)) } " " span { "as recorded in the transcript" } }
        }
        div.original id="original" { (original(session, entry, &found.original)) }
        @if found.original.is_err() { (stored(entry)) }
    };
    Ok(WebPage::new(title, NavPage::Other, body))
}

/// A link to the whole text of a message.
pub(super) fn text_link(context: PageContext<'_>, session: &Session, entry: &Entry) -> Markup {
    html! {
        @if context.has_transcripts { a href={ "/sessions/" (session.id) "/entries/" (entry.seq) } { "Show full text" } }
    }
}

fn call_title(tool: &ToolUse, session: &Session) -> String {
    format!("{} {}", tool.name, relative_path(&tool.target, session))
}

fn original(session: &Session, entry: &Entry, original: &Result<OriginalEntry, OriginalProblem>) -> Markup {
    match original {
        Err(problem) => html! { p.careful { (sentence(&problem.to_string())) } },
        Ok(OriginalEntry { call: Some(call), .. }) if call.hides_secrets => {
            html! { p.careful { "Not shown: this file may hold secrets." } }
        }
        Ok(OriginalEntry { call: Some(call), .. }) => call_content(call, entry, session),
        Ok(OriginalEntry { text, .. }) => html! { div.typed { (MultiLine(text)) } },
    }
}

/// The entry as stored.
fn stored(entry: &Entry) -> Markup {
    let tool = entry.tool.as_ref();
    let outcome = tool.and_then(|tool| tool.outcome.as_ref());
    let parts = [
        Some(entry.text.as_str()),
        tool.and_then(|tool| tool.body.as_deref()),
        outcome.map(|outcome| outcome.summary.as_str()),
        outcome.and_then(|outcome| outcome.error.as_deref()),
        outcome.and_then(|outcome| outcome.output.as_deref()),
    ];
    html! {
        section.original {
            p.part { "Stored text" }
            @for part in parts.into_iter().flatten().filter(|part| !part.is_empty()) { (text_block(part)) }
        }
    }
}

/// A message as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn call_content(call: &OriginalCall, entry: &Entry, session: &Session) -> Markup {
    let tool = entry.tool.as_ref();
    let outcome = tool.and_then(|tool| tool.outcome.as_ref());
    let is_failed = outcome.is_none_or(|outcome| outcome.status.is_error());
    let command = call.command.as_deref().filter(|command| tool.is_none_or(|tool| tool.target != *command));
    html! {
        @if let Some(command) = command { p.part { "Command" } (text_block(command)) }
        @for change in &call.changes { (file_diff(change, is_failed, session)) }
        @for argument in call.arguments.iter().filter(|argument| argument.value.contains('\n')) {
            p.part { (OneLine(&argument.name)) }
            (text_block(&argument.value))
        }
        @match &call.output {
            // What an edit changed says more than the agent's note that it did so.
            Some(_) if !call.changes.is_empty() && !is_failed => {}
            Some(output) => { p.part { "Output" } (text_block(output)) }
            None if !call.has_result => { p.dim { "The transcript has no result." } }
            None if call.changes.is_empty() => { p.dim { "No output." } }
            None => {}
        }
    }
}

/// A long text without its middle, which a fold has.
fn text_block(text: &str) -> Markup {
    let folded = FoldedText::new(text, SHOWN_OUTPUT_LINES);
    let lines = |lines: &[&str]| {
        let lines = lines.iter().map(|line| code_line(line, MAX_ROW_CHARS)).collect::<Vec<_>>().join("\n");
        html! { pre tabindex="0" { code { (MultiLine(lines)) } } }
    };
    let all: Vec<&str> = text.trim_end().lines().collect();
    html! {
        @if folded.hidden == 0 {
            (lines(&all))
        } @else {
            @let (from, to) = (SHOWN_OUTPUT_LINES, all.len() - SHOWN_OUTPUT_LINES);
            (lines(&all[..from]))
            details.hidden-lines {
                summary { (number(folded.hidden)) " lines hidden" }
                (lines(&all[from..to]))
            }
            (lines(&all[to..]))
        }
    }
}

pub(crate) fn file_diff(change: &FileDiff, is_failed: bool, session: &Session) -> Markup {
    let (added, removed) = change.counts();
    let rows: usize = change.hunks.iter().map(|hunk| hunk.rows.len()).sum();
    let hidden = rows.saturating_sub(MAX_DIFF_ROWS) as u64 + change.cut_lines;
    let mut free = MAX_DIFF_ROWS;
    let hunks = change.hunks.iter().map(|hunk| {
        let rows = highlighted_rows(hunk, &change.path, free, MAX_ROW_CHARS);
        free -= rows.len();
        rows
    });
    let hunks: Vec<_> = hunks.collect();
    html! {
        p.part.file {
            code { (OneLine(relative_path(&change.path, session))) }
            @if let Some(path) = &change.moved_to { " → " code { (OneLine(path)) } }
            span.good { "+" (number(added)) } span.bad { "−" (number(removed)) }
            span.dim { (about_diff(change.kind)) }
            @if is_failed { span.bad { "not applied" } }
        }
        div.diff tabindex="0" role="group" aria-label={ "Change of " (OneLine(&change.path)) } {
            @for (at, rows) in hunks.iter().filter(|rows| !rows.is_empty()).enumerate() {
                @if at > 0 { div.gap aria-hidden="true" { "⋮" } }
                table {
                    @for row in rows {
                        tr class=(row_class(row.sign)) {
                            td.at { @if let Some(line) = row.number { (line) } }
                            td.sign { (row.sign.mark()) }
                            td.code { @for (kind, piece) in &row.pieces { (code_piece(*kind, piece)) } }
                        }
                    }
                }
            }
        }
        @if hidden > 0 { p.dim { (count(hidden, "line")) " more: see " code { "rethread show --full" } } }
    }
}

fn row_class(sign: DiffSign) -> &'static str {
    match sign {
        DiffSign::Same => "same",
        DiffSign::Removed => "removed",
        DiffSign::Added => "added",
    }
}

fn code_piece(kind: SyntaxKind, text: &str) -> Markup {
    let text = MultiLine(text).render();
    match kind {
        SyntaxKind::Plain => text,
        SyntaxKind::Keyword => html! { b { (text) } },
        SyntaxKind::Text => html! { span.text { (text) } },
        SyntaxKind::Number => html! { span.digits { (text) } },
        SyntaxKind::Comment => html! { i { (text) } },
    }
}
