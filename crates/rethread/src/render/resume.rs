//! How a session is continued: the agent's command, and the list to pick a session from.

use rethread_engine::{AgentCommand, ListedSession};
use rethread_model::{Session, Timestamp, one_line, short_id, truncate_at_word};
use unicode_width::UnicodeWidthStr as _;

use super::format::age;
use super::sessions::session_label;
use super::text_page::truncate_to_width;
use super::{CellAlign, TextPage, Tone};

/// Sessions shown at once to pick from.
pub(crate) const PICKER_ROWS: usize = 20;
/// Maximum length of an argument in a summary. A handoff note is longer.
const ARGUMENT_CHARS: usize = 80;

/// The command line, or `None` if the session cannot be resumed by its id. Safe to display, and never sanitized: that
/// would break its quotes.
pub(crate) fn resume_command(session: &Session) -> Option<String> {
    Some(AgentCommand::resume(session)?.shell_line())
}

/// The same for PowerShell.
pub(crate) fn powershell_resume_command(session: &Session) -> Option<String> {
    Some(AgentCommand::resume(session)?.powershell_line())
}

/// The command line in one line, with long arguments shortened. Only to be read.
pub(crate) fn command_summary(command: &AgentCommand) -> String {
    let words = command.words.iter().map(|word| truncate_at_word(&one_line(word), ARGUMENT_CHARS)).collect();
    AgentCommand { words, ..command.clone() }.shell_line()
}

/// Renders sessions with numbers to pick one by.
pub(crate) fn numbered_sessions(page: &mut TextPage, sessions: &[&ListedSession], now: Timestamp) {
    let rows = sessions.iter().map(|listed| {
        let session = &listed.session;
        let id = short_id(&session.id.to_string()).to_owned();
        [id, age(session.last_activity_at, now), session.agent.as_str().to_owned(), session_label(session)]
    });
    let rows: Vec<[String; 4]> = rows.collect();
    let widths = [0, 1, 2].map(|column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    let before: usize = widths.iter().map(|width| width + 2).sum::<usize>() + 4;
    let room = page.width().map_or(usize::MAX, |width| width.saturating_sub(before).max(ARGUMENT_CHARS / 4));
    for (at, [id, age, agent, name]) in rows.iter().enumerate() {
        page.cell(Tone::Strong, &(at + 1).to_string(), 2, CellAlign::Right).add(Tone::Plain, "  ");
        page.cell(Tone::Dim, id, widths[0], CellAlign::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, age, widths[1], CellAlign::Right).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, agent, widths[2], CellAlign::Left).add(Tone::Plain, "  ");
        page.line(Tone::Plain, &truncate_to_width(name, room));
    }
}

/// Whether a session's name or id contains every word of a text.
pub(crate) fn is_named_like(listed: &ListedSession, text: &str) -> bool {
    let session = &listed.session;
    let name = format!("{} {} {}", session_label(session), session.id, session.external_id).to_lowercase();
    text.to_lowercase().split_whitespace().all(|word| name.contains(word))
}
