//! Sessions as a table, and as tab-separated lines for pickers such as fzf.

use rethread_engine::ListedSession;
use rethread_model::{Session, SessionKind, SessionState, Timestamp, short_id};
use unicode_width::UnicodeWidthStr;

use super::format::{age, number};
use super::project_names::project_names;
use super::text_page::truncate_to_width;
use super::{CellAlign, Separator, TextPage, Tone, sanitize_line, separated};

/// Minimum width of the name column.
const MIN_NAME_WIDTH: usize = 16;
/// A narrower name says too little: other columns make room for it.
const WANTED_NAME_WIDTH: usize = 32;
/// Columns that can be left out, the least important first.
const OPTIONAL_COLUMNS: [&str; 2] = ["ERRORS", "PROMPTS"];
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

/// The pin and the tags of a session, after its name.
pub(super) fn label_marks(is_pinned: bool, tags: &[String]) -> String {
    let pin = is_pinned.then(|| "  ★ pinned".to_owned());
    pin.into_iter().chain(tags.iter().map(|tag| format!("  #{}", sanitize_line(tag)))).collect()
}

/// Renders sessions as a table.
pub(crate) fn sessions(page: &mut TextPage, sessions: &[ListedSession], now: Timestamp, with_project: bool) {
    let paths: Vec<&str> = sessions.iter().map(|listed| project_path(&listed.session)).collect();
    let row = |(listed, project): (&ListedSession, String)| {
        let project = with_project.then_some(project);
        let row = SessionTableRow::new(&listed.session, Some(listed.state), now);
        let name = row.name.clone() + &label_marks(listed.is_pinned, &listed.tags);
        SessionTableRow { project, name, ..row }
    };
    let rows: Vec<SessionTableRow> = sessions.iter().zip(project_names(&paths)).map(row).collect();
    session_table(page, &rows, "");
}

/// Renders rows under headings, each line after `indent`.
pub(crate) fn session_table(page: &mut TextPage, rows: &[SessionTableRow], indent: &str) {
    let with_project = rows.iter().any(|row| row.project.is_some());
    let mut lines: Vec<Vec<StyledCell>> = rows.iter().map(|row| row_cells(row, with_project)).collect();
    let mut headings = vec!["ID", "AGE", "AGENT", "PROMPTS", "ERRORS"];
    headings.extend(with_project.then_some("PROJECT"));
    headings.push("NAME");
    lines.insert(0, headings.iter().map(|heading| (Tone::Dim, (*heading).to_owned())).collect());
    let mut widths: Vec<usize> =
        (0..headings.len()).map(|at| lines.iter().map(|line| line[at].1.width()).max().unwrap_or(0)).collect();
    if let Some(width) = page.width() {
        if let Some(project) = headings.iter().position(|heading| *heading == "PROJECT") {
            widths[project] = widths[project].min((width / 7).max("PROJECT".len()));
        }
        let room = |widths: &[usize]| {
            let before: usize = widths[..widths.len() - 1].iter().map(|width| width + 2).sum();
            width.saturating_sub(before + indent.len())
        };
        for column in OPTIONAL_COLUMNS {
            let longest_name = widths[widths.len() - 1];
            let at = headings.iter().position(|heading| *heading == column);
            if let Some(at) = at.filter(|_| room(&widths) < WANTED_NAME_WIDTH.min(longest_name)) {
                headings.remove(at);
                widths.remove(at);
                for line in &mut lines {
                    line.remove(at);
                }
            }
        }
        let name = headings.len() - 1;
        widths[name] = room(&widths).max(MIN_NAME_WIDTH);
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
    ];
    cells.extend(with_project.then(|| (Tone::Dim, row.project.clone().unwrap_or_default())));
    cells.push((if row.is_dim { Tone::Dim } else { Tone::Strong }, row.name.clone()));
    cells
}

/// Renders one line per session: id, age, agent, name, separated by tabs.
pub(crate) fn picker_lines(page: &mut TextPage, sessions: &[ListedSession], now: Timestamp) {
    for ListedSession { session, .. } in sessions {
        let age = age(session.last_activity_at, now);
        page.line(Tone::Plain, &format!("{}\t{age}\t{}\t{}", session.id, session.agent, session_label(session)));
    }
}

/// Sessions as separated values, with a heading.
pub(crate) fn session_rows(separator: Separator, sessions: &[ListedSession]) -> String {
    const HEADING: [&str; 18] = [
        "id",
        "agent",
        "name",
        "project",
        "branch",
        "model",
        "state",
        "started",
        "last_activity",
        "prompts",
        "messages",
        "tool_calls",
        "tool_errors",
        "files_edited",
        "tokens",
        "cost_usd",
        "pinned",
        "tags",
    ];
    let row = |listed: &ListedSession| {
        let session = &listed.session;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let time = |at: Option<Timestamp>| at.map_or_else(String::new, |at| at.to_string());
        let mut cells = vec![session.id.to_string(), session.agent.to_string(), text(&session.name)];
        cells.extend([text(&session.project), text(&session.branch), text(&session.model)]);
        cells.extend([listed.state.as_str().to_owned(), time(session.started_at), time(session.last_activity_at)]);
        let counts = session.counts;
        let numbers = [counts.prompts, counts.messages, counts.tool_calls, counts.tool_errors, counts.files_edited];
        cells.extend(numbers.into_iter().chain([session.tokens.total()]).map(|number| number.to_string()));
        cells.push(session.cost_usd.map_or_else(String::new, |cost| cost.to_string()));
        cells.extend([if listed.is_pinned { "yes" } else { "" }.to_owned(), listed.tags.join(",")]);
        cells
    };
    let heading = HEADING.map(str::to_owned).to_vec();
    separated(separator, std::iter::once(heading).chain(sessions.iter().map(row)))
}

/// The last component of the project path.
pub(crate) fn project_name(session: &Session) -> String {
    let path = project_path(session);
    sanitize_line(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

/// The project of a session, or its directory.
fn project_path(session: &Session) -> &str {
    session.project.as_deref().or(session.cwd.as_deref()).unwrap_or("-")
}

fn age_tone(state: Option<SessionState>) -> Tone {
    match state {
        Some(SessionState::Active) => Tone::Success,
        Some(SessionState::Idle) => Tone::Warning,
        _ => Tone::Plain,
    }
}
