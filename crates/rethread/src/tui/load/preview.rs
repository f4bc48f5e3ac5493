//! The preview: a header, what is known about a fix or decision, and the conversation around it.

use rethread_engine::{EngineError, EntryPage, EntryRange, FixReport, SessionPage, SessionPageRequest};
use rethread_model::{Entry, ToolKind};

use super::LoadContext;
use super::conversation::{self, EntryView};
use super::fold_line::fold_line;
use crate::render::{self, LogOriginals, TextPage, Tone, count, describe_state, session_label, time_range};
use crate::tui::request::{PreviewDoc, PreviewRequest, TonedLine};
use crate::tui::row::{RowFact, RowSubject};

/// Loads a preview and wraps it to its width.
pub(in crate::tui) fn load_preview(
    context: LoadContext<'_>,
    request: &PreviewRequest,
) -> Result<PreviewDoc, EngineError> {
    let wanted = SessionPageRequest { range: request.range, include_all: false, is_focused: request.is_focused };
    let loaded = context.engine.sessions().page(request.subject.session, wanted)?;
    let page = &loaded.page;
    let session = &loaded.listed.session;
    let (first, last) = (page.entries.first(), page.entries.last());
    let mut doc = PreviewDoc {
        number: request.number,
        session: Box::new(session.clone()),
        header: header(context, &loaded, request.width),
        lines: fact_lines(context, &request.subject, request.width),
        entries: Vec::new(),
        hit: None,
        earlier: first.filter(|_| page.has_earlier).map(|entry| EntryRange::Before(entry.seq)),
        later: last.filter(|_| page.has_later).map(|entry| EntryRange::From(entry.seq + 1)),
        start: request.start,
        more: None,
        is_live: loaded.listed.live.is_some(),
    };
    let cited = cited_entry(page, &request.subject);
    let wanted: Vec<Entry> = page.entries.iter().filter(|entry| has_more(entry, cited, request)).cloned().collect();
    let mut originals = LogOriginals::default();
    if request.has_originals {
        let mut add = |entry: &Entry, original| originals.add(entry, original);
        context.engine.sessions().originals(session, &wanted, &mut add)?;
    } else if !wanted.is_empty() {
        doc.more = Some(Box::new(PreviewRequest { has_originals: true, ..request.clone() }));
    }
    let mut problems = TextPage::new(false, Some(request.width));
    originals.render_problems(&mut problems);
    doc.lines.extend(problems.toned_lines());
    if page.has_earlier {
        doc.lines.push(vec![(Tone::Dim, "… scroll up for earlier entries".to_owned())]);
    }
    for entry in &page.entries {
        let is_cited = cited == Some(entry.seq);
        let view = EntryView {
            zone: context.zone,
            is_unfolded: request.is_unfolded || is_cited,
            is_cited,
            originals: &originals,
        };
        add_entry(&mut doc, entry, &view, request.width);
    }
    if page.has_later {
        doc.lines.push(vec![(Tone::Dim, "… scroll down for later entries".to_owned())]);
    }
    // What is known comes first, so the preview of a fix or decision starts there.
    doc.hit = doc.hit.filter(|_| request.subject.fact.is_none());
    Ok(doc)
}

/// The entry that was found.
fn cited_entry(page: &EntryPage, subject: &RowSubject) -> Option<u64> {
    let line = subject.line?;
    page.center_seq.or_else(|| Some(page.entries.iter().find(|entry| entry.location.line == line)?.seq))
}

/// Whether the transcript may have more about an entry than the store, and it is to be shown.
fn has_more(entry: &Entry, cited: Option<u64>, request: &PreviewRequest) -> bool {
    let changes_files = entry.tool.as_ref().and_then(|tool| tool.kind).is_some_and(ToolKind::changes_files);
    request.is_unfolded || changes_files || cited == Some(entry.seq)
}

fn add_entry(doc: &mut PreviewDoc, entry: &Entry, view: &EntryView<'_>, width: usize) {
    // No blank line between tool calls, so that they follow the message that led to them.
    if entry.tool.is_none() && !doc.lines.is_empty() {
        doc.lines.push(Vec::new());
    }
    doc.entries.push((doc.lines.len(), entry.clone()));
    if view.is_cited {
        doc.hit = Some(doc.lines.len());
    }
    let mut text = TextPage::new(false, Some(width));
    conversation::add_entry(&mut text, entry, &doc.session, view);
    doc.lines.extend(text.toned_lines().into_iter().flat_map(|line| fold_line(line, width)));
}

fn header(context: LoadContext<'_>, loaded: &SessionPage, width: usize) -> Vec<TonedLine> {
    let listed = &loaded.listed;
    let session = &listed.session;
    let mut page = TextPage::new(false, Some(width));
    page.line(Tone::Strong, &render::truncate_to_width(&session_label(session), width));
    let place = session.project.as_deref().or(session.cwd.as_deref()).map(crate::tui::filters::last_part);
    let state = describe_state(listed);
    let known = [Some(session.agent.as_str()), place.as_deref(), session.branch.as_deref(), session.model.as_deref()];
    let known: Vec<String> = known.into_iter().flatten().chain([state.as_str()]).map(render::sanitize_line).collect();
    page.line(Tone::Dim, &render::truncate_to_width(&known.join(" · "), width));
    let counts = session.counts;
    let some = |amount: u64, noun: &str| (amount > 0).then(|| count(amount, noun));
    let parts = [
        Some(time_range(session.started_at, session.last_activity_at, context.zone)),
        some(counts.prompts, "prompt"),
        some(counts.tool_calls, "tool call"),
        some(counts.tool_errors, "error"),
        some(counts.files_edited, "file"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    page.line(Tone::Dim, &render::truncate_to_width(&parts.join(" · "), width));
    page.toned_lines()
}

/// The error with its fixes, or the decision, above the conversation it comes from.
fn fact_lines(context: LoadContext<'_>, subject: &RowSubject, width: usize) -> Vec<TonedLine> {
    let Some(fact) = &subject.fact else { return Vec::new() };
    let mut page = TextPage::new(false, Some(width));
    match fact {
        RowFact::Error(error) => {
            let report = FixReport { errors: vec![(**error).clone()], ..FixReport::default() };
            render::fix(&mut page, &report, context.engine.now());
        }
        RowFact::Decision(decision) => {
            render::decisions(&mut page, std::slice::from_ref(&**decision), context.zone, false);
        }
    }
    page.end_line().line(Tone::Dim, &"─".repeat(width));
    page.toned_lines()
}
