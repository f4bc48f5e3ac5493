//! Sessions as a table for people and as lines for pickers.

use rethread_engine::Listed;
use rethread_model::{Session, SessionKind, State, Timestamp};
use unicode_width::UnicodeWidthStr;

use super::page::fit;
use super::words::{age, number};
use super::{Page, Side, Tone, id_length, single};

/// Names shorter than this are not worth a column.
const NARROWEST_NAME: usize = 16;
/// The widest project column.
const WIDEST_PROJECT: usize = 24;
const NO_NAME: &str = "(no name)";

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
    let widest =
        |cell: &dyn Fn(&Row) -> usize, heading: &str| rows.iter().map(cell).max().unwrap_or(0).max(heading.len());
    let ages = widest(&|row| row.age.width(), "AGE");
    let agents = widest(&|row| row.agent.len(), "AGENT");
    let projects = rows.iter().filter_map(|row| row.project.as_deref().map(str::width)).max();
    let projects = projects.map(|width| width.clamp("PROJECT".len(), WIDEST_PROJECT));
    let counts = ["PROMPTS", "ERRORS"].map(str::len);
    let before =
        indent.len() + id_width + ages + agents + counts[0] + counts[1] + projects.map_or(0, |width| width + 2) + 10;
    let names = page.width().map(|width| width.saturating_sub(before).max(NARROWEST_NAME));
    let between = |page: &mut Page| {
        page.add(Tone::Plain, "  ");
    };
    page.add(Tone::Plain, indent).cell(Tone::Dim, "ID", id_width, Side::Left);
    between(page);
    page.cell(Tone::Dim, "AGE", ages, Side::Right);
    between(page);
    page.cell(Tone::Dim, "AGENT", agents, Side::Left);
    between(page);
    page.cell(Tone::Dim, "PROMPTS", counts[0], Side::Right);
    between(page);
    page.cell(Tone::Dim, "ERRORS", counts[1], Side::Right);
    between(page);
    if let Some(width) = projects {
        page.cell(Tone::Dim, "PROJECT", width, Side::Left);
        between(page);
    }
    page.line(Tone::Dim, "NAME");
    for row in rows {
        page.add(Tone::Plain, indent).cell(Tone::Dim, &row.id[..id_width.min(row.id.len())], id_width, Side::Left);
        between(page);
        page.cell(age_tone(row.state), &row.age, ages, Side::Right);
        between(page);
        page.cell(Tone::Plain, row.agent, agents, Side::Left);
        between(page);
        page.cell(Tone::Plain, &number(row.prompts), counts[0], Side::Right);
        between(page);
        let tone = if row.errors > 0 { Tone::Bad } else { Tone::Dim };
        page.cell(tone, &number(row.errors), counts[1], Side::Right);
        between(page);
        if let Some(width) = projects {
            page.cell(Tone::Dim, &fit(row.project.as_deref().unwrap_or_default(), width), width, Side::Left);
            between(page);
        }
        let tone = if row.faint { Tone::Dim } else { Tone::Strong };
        page.line(tone, &names.map_or_else(|| row.name.clone(), |width| fit(&row.name, width)));
    }
}

/// One line per session for pickers: id, age, agent, name, separated by tabs.
pub(crate) fn for_pickers(page: &mut Page, sessions: &[Listed], now: Timestamp) {
    for Listed { session, .. } in sessions {
        let age = age(session.last_activity_at, now);
        page.line(Tone::Plain, &format!("{}\t{age}\t{}\t{}", session.id, session.agent, name_of(session)));
    }
}

/// The last part of the project's path.
fn project_name(session: &Session) -> String {
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
