//! Sessions as a table for people and as lines for pickers.

use rethread_engine::Listed;
use rethread_model::{Session, SessionKind, State, Timestamp};
use unicode_width::UnicodeWidthStr;

use super::page::fit;
use super::words::{age, number};
use super::{Page, Side, Tone, id_length, single};

/// Names shorter than this are not worth a column.
const NARROWEST_NAME: usize = 16;
/// Where the project stands, if it does.
const PROJECT_COLUMN: usize = 5;
const NO_NAME: &str = "(no name)";

/// A text and how it looks.
type Cell = (Tone, String);

/// One session in a table.
pub(crate) struct Row {
    id: String,
    age: String,
    state: Option<State>,
    agent: &'static str,
    prompts: u64,
    errors: u64,
    project: Option<String>,
    name: String,
    faint: bool,
}

impl Row {
    /// A session as seen now; with its state, if that matters.
    pub(crate) fn new(session: &Session, state: Option<State>, now: Timestamp) -> Self {
        let indent = if session.kind == SessionKind::Child { "↳ " } else { "" };
        Self {
            id: session.id.to_string(),
            age: age(session.last_activity_at, now),
            state,
            agent: session.agent.as_str(),
            prompts: session.counts.prompts,
            errors: session.counts.tool_errors,
            project: None,
            name: format!("{indent}{}", name_of(session)),
            faint: session.empty,
        }
    }
}

/// The name people know a session by.
pub(crate) fn name_of(session: &Session) -> String {
    let name = session.name.as_deref().map(single).filter(|name| !name.is_empty());
    match (&session.alias, name) {
        (Some(alias), Some(name)) => format!("{}: {name}", single(alias)),
        (Some(alias), None) => single(alias),
        (None, name) => name.unwrap_or_else(|| NO_NAME.to_owned()),
    }
}

/// Sessions as a table; with their projects where there may be several.
pub(crate) fn sessions(page: &mut Page, sessions: &[Listed], now: Timestamp, with_project: bool) {
    let row = |listed: &Listed| {
        let project = with_project.then(|| project_name(&listed.session));
        Row { project, ..Row::new(&listed.session, Some(listed.state), now) }
    };
    let rows: Vec<Row> = sessions.iter().map(row).collect();
    table(page, &rows, "");
}

/// Rows under their headings, each line after `indent`.
pub(crate) fn table(page: &mut Page, rows: &[Row], indent: &str) {
    let id_width = id_length(&rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    let with_project = rows.iter().any(|row| row.project.is_some());
    let mut lines: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, id_width, with_project)).collect();
    let mut headings = vec!["ID", "AGE", "AGENT", "PROMPTS", "ERRORS", "NAME"];
    if with_project {
        headings.insert(PROJECT_COLUMN, "PROJECT");
    }
    lines.insert(0, headings.iter().map(|heading| (Tone::Dim, (*heading).to_owned())).collect());
    let mut widths: Vec<usize> =
        (0..headings.len()).map(|at| lines.iter().map(|line| line[at].1.width()).max().unwrap_or(0)).collect();
    if let Some(width) = page.width() {
        if with_project {
            widths[PROJECT_COLUMN] = widths[PROJECT_COLUMN].min((width / 7).max("PROJECT".len()));
        }
        let name = headings.len() - 1;
        let before: usize = widths[..name].iter().map(|width| width + 2).sum();
        widths[name] = width.saturating_sub(before + indent.len()).max(NARROWEST_NAME);
    }
    for line in lines {
        page.add(Tone::Plain, indent);
        for (at, (tone, text)) in line.iter().enumerate() {
            let side = if matches!(headings[at], "AGE" | "PROMPTS" | "ERRORS") { Side::Right } else { Side::Left };
            page.cell(*tone, &fit(text, widths[at]), widths[at], side).add(Tone::Plain, "  ");
        }
        page.end();
    }
}

fn cells(row: &Row, id_width: usize, with_project: bool) -> Vec<Cell> {
    let id = row.id.chars().take(id_width).collect();
    let errors = if row.errors > 0 { Tone::Bad } else { Tone::Dim };
    let mut cells = vec![
        (Tone::Dim, id),
        (age_tone(row.state), row.age.clone()),
        (Tone::Plain, row.agent.to_owned()),
        (Tone::Plain, number(row.prompts)),
        (errors, number(row.errors)),
        (if row.faint { Tone::Dim } else { Tone::Strong }, row.name.clone()),
    ];
    if with_project {
        cells.insert(PROJECT_COLUMN, (Tone::Dim, row.project.clone().unwrap_or_default()));
    }
    cells
}

/// One line per session for pickers: id, age, agent, name, separated by tabs.
pub(crate) fn for_pickers(page: &mut Page, sessions: &[Listed], now: Timestamp) {
    for Listed { session, .. } in sessions {
        let age = age(session.last_activity_at, now);
        page.line(Tone::Plain, &format!("{}\t{age}\t{}\t{}", session.id, session.agent, name_of(session)));
    }
}

/// The last part of the project's path.
pub(crate) fn project_name(session: &Session) -> String {
    let path = session.project.as_deref().or(session.cwd.as_deref()).unwrap_or("-");
    single(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

fn age_tone(state: Option<State>) -> Tone {
    match state {
        Some(State::Active) => Tone::Good,
        Some(State::Idle) => Tone::Careful,
        _ => Tone::Plain,
    }
}
