//! Sessions as a table, and as tab-separated lines for pickers such as fzf.

use rethread_engine::ListedSession;
use rethread_model::{Session, SessionKind, SessionState, Timestamp, short_id};
use unicode_width::UnicodeWidthStr;

use super::format::{age, number};
use super::text_page::truncate_to_width;
use super::{CellAlign, TextPage, Tone, sanitize_line};

/// Minimum width of the name column.
const MIN_NAME_WIDTH: usize = 16;
/// Index of the project column, if there is one.
const PROJECT_COLUMN: usize = 5;
const NO_NAME: &str = "(no name)";

type StyledCell = (Tone, String);

pub(crate) struct SessionTableRow {
    id: String,
    age: String,
    state: Option<SessionState>,
    agent: &'static str,
    prompts: u64,
    errors: u64,
    project: Option<String>,
    name: String,
    is_dim: bool,
}

impl SessionTableRow {
    /// `state` only sets the color of the age.
    pub(crate) fn new(session: &Session, state: Option<SessionState>, now: Timestamp) -> Self {
        let indent = if session.kind == SessionKind::Child { "↳ " } else { "" };
        Self {
            id: session.id.to_string(),
            age: age(session.last_activity_at, now),
            state,
            agent: session.agent.as_str(),
            prompts: session.counts.prompts,
            errors: session.counts.tool_errors,
            project: None,
            name: format!("{indent}{}", session_label(session)),
            is_dim: session.is_empty,
        }
    }
}

/// Alias and name of a session, or a placeholder.
pub(crate) fn session_label(session: &Session) -> String {
    let name = session.name.as_deref().map(sanitize_line).filter(|name| !name.is_empty());
    match (&session.alias, name) {
        (Some(alias), Some(name)) => format!("{}: {name}", sanitize_line(alias)),
        (Some(alias), None) => sanitize_line(alias),
        (None, name) => name.unwrap_or_else(|| NO_NAME.to_owned()),
    }
}

/// Renders sessions as a table.
pub(crate) fn sessions(page: &mut TextPage, sessions: &[ListedSession], now: Timestamp, with_project: bool) {
    let row = |listed: &ListedSession| {
        let project = with_project.then(|| project_name(&listed.session));
        SessionTableRow { project, ..SessionTableRow::new(&listed.session, Some(listed.state), now) }
    };
    let rows: Vec<SessionTableRow> = sessions.iter().map(row).collect();
    session_table(page, &rows, "");
}

/// Renders rows under headings, each line after `indent`.
pub(crate) fn session_table(page: &mut TextPage, rows: &[SessionTableRow], indent: &str) {
    let with_project = rows.iter().any(|row| row.project.is_some());
    let mut lines: Vec<Vec<StyledCell>> = rows.iter().map(|row| row_cells(row, with_project)).collect();
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
        widths[name] = width.saturating_sub(before + indent.len()).max(MIN_NAME_WIDTH);
    }
    for line in lines {
        page.add(Tone::Plain, indent);
        for (at, (tone, text)) in line.iter().enumerate() {
            let side =
                if matches!(headings[at], "AGE" | "PROMPTS" | "ERRORS") { CellAlign::Right } else { CellAlign::Left };
            page.cell(*tone, &truncate_to_width(text, widths[at]), widths[at], side).add(Tone::Plain, "  ");
        }
        page.end_line();
    }
}

fn row_cells(row: &SessionTableRow, with_project: bool) -> Vec<StyledCell> {
    let id = short_id(&row.id).to_owned();
    let errors = if row.errors > 0 { Tone::Error } else { Tone::Dim };
    let mut cells = vec![
        (Tone::Dim, id),
        (age_tone(row.state), row.age.clone()),
        (Tone::Plain, row.agent.to_owned()),
        (Tone::Plain, number(row.prompts)),
        (errors, number(row.errors)),
        (if row.is_dim { Tone::Dim } else { Tone::Strong }, row.name.clone()),
    ];
    if with_project {
        cells.insert(PROJECT_COLUMN, (Tone::Dim, row.project.clone().unwrap_or_default()));
    }
    cells
}

/// Renders one line per session: id, age, agent, name, separated by tabs.
pub(crate) fn picker_lines(page: &mut TextPage, sessions: &[ListedSession], now: Timestamp) {
    for ListedSession { session, .. } in sessions {
        let age = age(session.last_activity_at, now);
        page.line(Tone::Plain, &format!("{}\t{age}\t{}\t{}", session.id, session.agent, session_label(session)));
    }
}

/// The last component of the project path.
pub(crate) fn project_name(session: &Session) -> String {
    let path = session.project.as_deref().or(session.cwd.as_deref()).unwrap_or("-");
    sanitize_line(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

fn age_tone(state: Option<SessionState>) -> Tone {
    match state {
        Some(SessionState::Active) => Tone::Success,
        Some(SessionState::Idle) => Tone::Warning,
        _ => Tone::Plain,
    }
}
