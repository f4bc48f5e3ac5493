//! Sessions as a table, and as tab-separated lines for pickers such as fzf.

use rethread_engine::ListedSession;
use rethread_model::{Session, SessionKind, SessionState, Timestamp, short_id};
use unicode_width::UnicodeWidthStr;

use crate::cli::sessions::SessionOrder;

use super::format::{age, duration, number, short_number};
use super::project_names::project_names;
use super::text_page::truncate_to_width;
use super::{CellAlign, Separator, TextPage, Tone, sanitize_line, separated};

/// Minimum width of the name column.
const MIN_NAME_WIDTH: usize = 16;
/// A narrower name says too little: other columns make room for it.
const WANTED_NAME_WIDTH: usize = 32;
/// Columns that can be left out, the least important first. Never the one that the rows are sorted by.
const OPTIONAL_COLUMNS: [&str; 3] = ["ERRORS", "PROMPTS", "PROJECT"];
/// Columns of numbers.
const NUMBERS: [&str; 6] = ["AGE", "PROMPTS", "ERRORS", "TOKENS", "COST", "TIME"];
/// A column is not wider than this, also in a file or pipe: one long path would pad every row.
const MAX_COLUMN_WIDTH: usize = 80;
const NO_NAME: &str = "(no name)";

type StyledCell = (Tone, String);

pub(crate) struct SessionTableRow {
    id: String,
    age: String,
    state: Option<SessionState>,
    agent: &'static str,
    prompts: u64,
    errors: u64,
    /// What the rows are sorted by, if no other column shows it.
    sorted_by: Option<String>,
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
            sorted_by: None,
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

/// Renders sessions as a table, newest first.
pub(crate) fn sessions(page: &mut TextPage, sessions: &[ListedSession], now: Timestamp, with_project: bool) {
    sorted_sessions(page, sessions, now, (SessionOrder::Recent, with_project));
}

/// The same in another order, with a column for what they are sorted by.
pub(crate) fn sorted_sessions(
    page: &mut TextPage,
    sessions: &[ListedSession],
    now: Timestamp,
    (order, with_project): (SessionOrder, bool),
) {
    let paths: Vec<&str> = sessions.iter().map(|listed| project_path(&listed.session)).collect();
    let row = |(listed, project): (&ListedSession, String)| {
        let project = with_project.then_some(project);
        let row = SessionTableRow::new(&listed.session, Some(listed.state), now);
        let name = row.name.clone() + &label_marks(listed.is_pinned, &listed.tags);
        SessionTableRow { project, name, sorted_by: sorted_value(order, &listed.session), ..row }
    };
    let rows: Vec<SessionTableRow> = sessions.iter().zip(project_names(&paths)).map(row).collect();
    table(page, &rows, "", sorted_heading(order));
}

/// The heading of the column that shows the order, unless the sessions themselves do.
fn sorted_heading(order: SessionOrder) -> Option<&'static str> {
    match order {
        SessionOrder::Recent | SessionOrder::Name => None,
        SessionOrder::Prompts => Some("PROMPTS"),
        SessionOrder::Errors => Some("ERRORS"),
        SessionOrder::Tokens => Some("TOKENS"),
        SessionOrder::Cost => Some("COST"),
        SessionOrder::Duration => Some("TIME"),
    }
}

/// The value in that column, if it is not one that every table has.
fn sorted_value(order: SessionOrder, session: &Session) -> Option<String> {
    match order {
        SessionOrder::Recent | SessionOrder::Name | SessionOrder::Prompts | SessionOrder::Errors => None,
        SessionOrder::Tokens => Some(short_number(session.tokens.total())),
        SessionOrder::Cost => Some(session.cost_usd.map_or_else(|| "–".to_owned(), |cost| format!("${cost:.2}"))),
        SessionOrder::Duration => Some(duration(duration_millis(session))),
    }
}

/// Milliseconds from the first entry to the last.
pub(crate) fn duration_millis(session: &Session) -> i64 {
    let both = session.started_at.zip(session.last_activity_at);
    both.map_or(0, |(start, end)| end.as_millis().saturating_sub(start.as_millis()).max(0))
}

/// Renders rows under headings, each line after `indent`.
pub(crate) fn session_table(page: &mut TextPage, rows: &[SessionTableRow], indent: &str) {
    table(page, rows, indent, None);
}

fn table(page: &mut TextPage, rows: &[SessionTableRow], indent: &str, sorted: Option<&'static str>) {
    let with_project = rows.iter().any(|row| row.project.is_some());
    let mut lines: Vec<Vec<StyledCell>> = rows.iter().map(|row| row_cells(row, with_project)).collect();
    let mut headings = vec!["ID", "AGE", "AGENT", "PROMPTS", "ERRORS"];
    headings.extend(sorted.filter(|heading| !headings.contains(heading)));
    headings.extend(with_project.then_some("PROJECT"));
    headings.push("NAME");
    lines.insert(0, headings.iter().map(|heading| (Tone::Dim, (*heading).to_owned())).collect());
    let widest = |at: usize| lines.iter().map(|line| line[at].1.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..headings.len()).map(widest).collect();
    let name = headings.len() - 1;
    widths[..name].iter_mut().for_each(|width| *width = (*width).min(MAX_COLUMN_WIDTH));
    if let Some(width) = page.width() {
        if let Some(project) = headings.iter().position(|heading| *heading == "PROJECT") {
            widths[project] = widths[project].min((width / 7).max("PROJECT".len()));
        }
        let room = |widths: &[usize]| {
            let before: usize = widths[..widths.len() - 1].iter().map(|width| width + 2).sum();
            width.saturating_sub(before + indent.len())
        };
        for column in OPTIONAL_COLUMNS.into_iter().filter(|column| sorted != Some(column)) {
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
            let side = if NUMBERS.contains(&headings[at]) { CellAlign::Right } else { CellAlign::Left };
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
    cells.extend(row.sorted_by.clone().map(|text| (Tone::Plain, text)));
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
    const HEADING: [&str; 20] = [
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
        "alias",
        "duration_seconds",
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
        cells.extend([text(&session.alias), (duration_millis(session) / 1000).to_string()]);
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
