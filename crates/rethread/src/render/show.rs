//! A session as a conversation: who said what and when, and in short what was done.

use jiff::tz::TimeZone;
use rethread_engine::{Profile, Shown};
use rethread_model::{Entry, Outcome, Session, Speech, State, Status, ToolUse};
use unicode_width::UnicodeWidthStr;

use super::neutral::neutral;
use super::page::fit;
use super::sessions::name_of;
use super::words::{count, moment, period};
use super::wrap::wrap;
use super::{Page, Tone, WIDEST_TEXT, single};

/// A call gets this many columns even on a very narrow terminal.
const NARROWEST_CALL: usize = 24;
/// How many lines of an error are shown.
const ERROR_LINES: usize = 3;
/// How many lines of a kept output are shown.
const OUTPUT_LINES: usize = 10;
/// What stands before the entry that was cited.
const CITED: &str = "▸";

/// Who looks, and how closely.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) zone: &'a TimeZone,
    pub(crate) profile: Profile,
}

/// Puts a session's log on the page.
pub(crate) fn show(page: &mut Page, log: &Shown, reader: &Reader<'_>) {
    header(page, log, reader);
    if log.earlier > 0 {
        let noun = if log.earlier == 1 { "entry" } else { "entries" };
        page.end().line(Tone::Dim, &format!("… {} earlier {noun} (--full shows all)", log.earlier));
    }
    for (at, entry) in log.entries.iter().enumerate() {
        // Calls stand right below what led to them.
        if at == 0 || entry.tool.is_none() {
            page.end();
        }
        let is_cited = log.cited == Some(entry.place.line);
        page.add(Tone::Match, if is_cited { CITED } else { "" });
        if let Some(tool) = &entry.tool {
            page.add(Tone::Plain, if is_cited { " " } else { "  " });
            call(page, entry, tool, &log.listed.session, reader);
        } else {
            page.add(Tone::Dim, if is_cited { "─ " } else { "── " });
            said(page, entry, reader);
        }
    }
}

fn header(page: &mut Page, log: &Shown, reader: &Reader<'_>) {
    let session = &log.listed.session;
    let counts = session.counts;
    page.line(Tone::Strong, &fit(&name_of(session), page.width().unwrap_or(usize::MAX)));
    let place = session.project.as_deref().or(session.cwd.as_deref());
    let known = [Some(session.agent.as_str()), place, session.branch.as_deref(), session.model.as_deref()];
    let about = known.into_iter().flatten().chain([state(log.listed.state)]);
    page.row(&about.map(|part| (Tone::Plain, part.to_owned())).collect::<Vec<_>>(), 0);
    let unless_none = |amount: u64, text: String| if amount > 0 { text } else { String::new() };
    let what = [
        (Tone::Plain, period(session.started_at, session.last_activity_at, reader.zone)),
        (Tone::Plain, count(counts.prompts, "prompt")),
        (Tone::Plain, count(counts.messages, "message")),
        (Tone::Plain, count(counts.tool_calls, "tool call")),
        (Tone::Bad, unless_none(counts.tool_errors, count(counts.tool_errors, "error"))),
        (Tone::Plain, unless_none(counts.files_edited, format!("{} edited", count(counts.files_edited, "file")))),
    ];
    page.row(&what, 0);
    page.row(&[(Tone::Dim, session.id.to_string()), (Tone::Dim, session.external_id.clone())], 0);
}

/// Text under a line that says who, when and where.
fn said(page: &mut Page, entry: &Entry, reader: &Reader<'_>) {
    let (who, tone) = speaker(entry.speech);
    page.add(tone, who).add(Tone::Dim, &where_and_when(entry, reader)).end();
    let text_tone = match entry.speech {
        Speech::Prompt | Speech::Answer | Speech::Said | Speech::Task => Tone::Plain,
        Speech::Failure | Speech::Interruption => Tone::Bad,
        _ => Tone::Dim,
    };
    let text = neutral(&entry.text);
    for line in wrap(&text, page.width().map(|width| width.min(WIDEST_TEXT))) {
        page.line(if entry.abandoned { Tone::Dim } else { text_tone }, &line);
    }
}

/// A tool call on one line: `[Name primary-argument] outcome` (S000-30). An error gets a line of its own where it
/// would not fit.
fn call(page: &mut Page, entry: &Entry, tool: &ToolUse, session: &Session, reader: &Reader<'_>) {
    let place = where_and_when(entry, reader);
    let mut what = call_text(tool, session, reader);
    let (mut outcome, tone) = outcome(tool.outcome.as_ref());
    let mut error = error(tool.outcome.as_ref()).map(single).unwrap_or_default();
    let room = page.width().map(|width| width.saturating_sub("  [] ".len() + place.width()).max(NARROWEST_CALL));
    if !error.is_empty() && room.is_none_or(|room| what.width() + outcome.width() + error.width() + 2 <= room) {
        outcome = format!("{outcome}: {}", std::mem::take(&mut error));
    }
    if let Some(room) = room {
        what = fit(&what, room.saturating_sub(outcome.width()).max(room / 2));
        outcome = fit(&outcome, room.saturating_sub(what.width()));
    }
    page.add(if entry.abandoned { Tone::Dim } else { Tone::Plain }, &format!("[{what}]"));
    page.add(Tone::Plain, " ").add(tone, &outcome).add(Tone::Dim, &place).end();
    below(page, tone, &error, ERROR_LINES);
    let kept = tool.outcome.as_ref().and_then(|outcome| outcome.output.as_deref());
    if let (Profile::Full, Some(output)) = (reader.profile, kept) {
        below(page, Tone::Dim, &neutral(output), OUTPUT_LINES);
    }
}

/// The first lines of a text, indented.
fn below(page: &mut Page, tone: Tone, text: &str, most: usize) {
    let lines = wrap(text, page.width().map(|width| width.saturating_sub(4)));
    for (at, line) in lines.iter().take(most).enumerate() {
        let cut = if at + 1 == most && lines.len() > most { " …" } else { "" };
        page.line(tone, &format!("    {line}{cut}"));
    }
}

/// The tool and what it was used on; with all arguments for those who look closely.
fn call_text(tool: &ToolUse, session: &Session, reader: &Reader<'_>) -> String {
    let target = shortened(&single(&tool.target), session);
    let arguments = if reader.profile == Profile::Full { single(&tool.arguments) } else { String::new() };
    let parts = [single(&tool.name), target, arguments];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn where_and_when(entry: &Entry, reader: &Reader<'_>) -> String {
    let left = if entry.abandoned { " · left branch" } else { "" };
    format!(" · {} · line {}{left}", moment(entry.at, reader.zone), entry.place.line)
}

/// How a call went, in few words.
fn outcome(outcome: Option<&Outcome>) -> (String, Tone) {
    let Some(outcome) = outcome else { return ("pending".to_owned(), Tone::Careful) };
    let size = if outcome.lines > 0 {
        format!(" {}", count(outcome.lines, "line"))
    } else if outcome.summary.is_empty() || outcome.summary == "no output" {
        String::new()
    } else {
        format!(" {}", outcome.summary)
    };
    match outcome.status {
        Status::Ok => (format!("ok{size}"), Tone::Good),
        Status::Rejected => ("rejected".to_owned(), Tone::Careful),
        Status::Error => {
            let code = outcome.exit_code.map_or_else(String::new, |code| format!(" (exit {code})"));
            (format!("error{code}"), Tone::Bad)
        }
    }
}

/// What went wrong. That the user refused needs no words of the machine.
fn error(outcome: Option<&Outcome>) -> Option<&str> {
    outcome.filter(|outcome| outcome.status == Status::Error)?.error.as_deref()
}

/// A path inside the session's project, seen from there.
pub(crate) fn shortened(target: &str, session: &Session) -> String {
    let roots = [session.cwd.as_deref(), session.project.as_deref()];
    let below = roots.into_iter().flatten().find_map(|root| target.strip_prefix(root)?.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(target).to_owned()
}

fn speaker(speech: Speech) -> (&'static str, Tone) {
    match speech {
        Speech::Prompt => ("you", Tone::You),
        Speech::Answer => ("you, answering", Tone::You),
        Speech::Shell => ("you, in the shell", Tone::You),
        Speech::Note => ("you, noting", Tone::You),
        Speech::Command => ("you, by command", Tone::You),
        Speech::Task => ("task", Tone::You),
        Speech::Said => ("agent", Tone::Agent),
        Speech::Call => ("tool", Tone::Agent),
        Speech::Reasoning => ("agent, thinking", Tone::Agent),
        Speech::Failure => ("failure", Tone::Bad),
        Speech::Summary => ("summary of what came before", Tone::Careful),
        Speech::Recap => ("recap", Tone::Careful),
        Speech::Notice => ("notice", Tone::Dim),
        Speech::Interruption => ("interrupted", Tone::Bad),
        Speech::Injected => ("injected", Tone::Dim),
    }
}

pub(crate) fn state(state: State) -> &'static str {
    match state {
        State::Active => "active",
        State::Idle => "idle",
        State::Suspended => "suspended",
        State::Ended => "ended",
    }
}
