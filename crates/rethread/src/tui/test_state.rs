//! States for tests of `update` and `view`, made by hand.

use ratatui::layout::Size;
use rethread_engine::EntryRange;
use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, Session, SessionCounts, SessionId, SessionKind, Timestamp, Tokens,
};

use super::effect::TuiEffect;
use super::request::{LoadedList, PreviewDoc, PreviewStart, WorkerAnswer};
use super::row::{ListRow, RowSubject};
use super::state::{TuiOptions, TuiState};
use super::update::{TuiEvent, load_list, update};
use crate::render::Tone;

pub(super) fn session(name: &str, agent: Agent) -> Session {
    let started = Timestamp::from_millis(1_770_000_000_000);
    Session {
        id: SessionId::derive(agent, name, started),
        agent,
        external_id: format!("id-of-{}", name.len()),
        kind: SessionKind::Main,
        parent: None,
        alias: None,
        name: Some(name.to_owned()),
        cwd: Some("/w/shop".to_owned()),
        project: Some("/w/shop".to_owned()),
        namespace: None,
        branch: Some("main".to_owned()),
        model: None,
        started_at: Some(started),
        last_activity_at: Some(started),
        transcript: Some("/w/shop.jsonl".to_owned()),
        counts: SessionCounts::default(),
        tokens: Tokens::default(),
        cost_usd: None,
        raw_tokens: 0,
        kept_tokens: 0,
        is_empty: false,
    }
}

pub(super) fn row(name: &str, detail: &str) -> ListRow {
    let stored = session(name, Agent::Codex);
    ListRow {
        title: name.to_owned(),
        title_tone: Tone::Plain,
        aside: "codex 3d".to_owned(),
        detail: detail.to_owned(),
        matches: detail.find("pool").map(|at| at..at + 4).into_iter().collect(),
        subject: RowSubject {
            session: stored.id,
            stored: Some(Box::new(stored)),
            line: Some(12),
            is_running: false,
            text: detail.to_owned(),
            fact: None,
        },
    }
}

pub(super) fn entry(seq: u64, kind: EntryKind, text: &str) -> Entry {
    Entry {
        seq,
        native_id: format!("e{seq}"),
        location: EntryLocation { line: seq + 10, ..EntryLocation::default() },
        at: None,
        kind,
        text: text.to_owned(),
        tool: None,
        episode: None,
        is_abandoned: false,
    }
}

/// A preview of `count` entries, each with its author and one line.
pub(super) fn doc(number: u64, row: &ListRow, count: u64) -> PreviewDoc {
    let mut doc = PreviewDoc {
        number,
        session: row.subject.stored.clone().unwrap(),
        header: vec![vec![(Tone::Strong, row.title.clone())], vec![(Tone::Dim, "codex · shop · ended".to_owned())]],
        lines: Vec::new(),
        entries: Vec::new(),
        hit: None,
        earlier: None,
        later: None,
        start: PreviewStart::Hit,
        more: None,
        is_live: false,
    };
    for seq in 0..count {
        let (who, tone, kind) = match seq % 2 {
            0 => ("you", Tone::User, EntryKind::Prompt),
            _ => ("agent", Tone::Agent, EntryKind::AssistantText),
        };
        let text = format!("line {seq} about the pool");
        doc.entries.push((doc.lines.len(), entry(seq, kind, &text)));
        if seq == 2 {
            doc.hit = Some(doc.lines.len());
        }
        doc.lines.push(vec![(tone, who.to_owned()), (Tone::Dim, "  2026-02-02 02:40".to_owned())]);
        doc.lines.push(vec![(Tone::Plain, text)]);
        doc.lines.push(Vec::new());
    }
    doc
}

/// A preview with more entries before and after.
pub(super) fn middle_doc(number: u64, row: &ListRow) -> PreviewDoc {
    PreviewDoc { earlier: Some(EntryRange::Before(0)), later: Some(EntryRange::From(20)), ..doc(number, row, 20) }
}

pub(super) fn rows() -> Vec<ListRow> {
    vec![
        row("Fix the connection pool", "error · shop the pool is exhausted after a minute"),
        row("Explain 日本語 and 👩‍🚀 in names", "prompt · shop why does the pool count wide characters twice"),
        row("Move prices to cents", "answer · shop no pool is needed for this"),
    ]
}

/// A state with three rows and a loaded preview of the first.
pub(super) fn loaded(width: u16, height: u16) -> TuiState {
    let mut state = TuiState {
        size: Size { width, height },
        options: TuiOptions { print: None, has_color: true },
        ..TuiState::default()
    };
    state.filters.current_project = "/w/shop".to_owned();
    load_list(&mut state);
    answer_list(&mut state, rows());
    answer_preview(&mut state, 8);
    state
}

/// Answers the pending list request.
pub(super) fn answer_list(state: &mut TuiState, rows: Vec<ListRow>) -> Vec<TuiEffect> {
    let list = LoadedList {
        number: state.list.pending.unwrap(),
        rows,
        summary: "3 of 40 matching · 7 ms".to_owned(),
        empty_note: "No matches.".to_owned(),
        notice: None,
        words: vec!["pool".to_owned()],
        has_more: false,
    };
    update(state, TuiEvent::Answer(WorkerAnswer::List(list)))
}

/// Answers the pending preview request.
pub(super) fn answer_preview(state: &mut TuiState, entries: u64) {
    let number = state.preview.pending.unwrap();
    let doc = doc(number, state.list.selected_row().unwrap(), entries);
    update(state, TuiEvent::Answer(WorkerAnswer::Preview(doc)));
}
