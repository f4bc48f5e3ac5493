//! `get_memory` and `read_session`: what was said and done at a place, or at the end of a session.

use rethread_engine::{Profile, ShowRequest, Shown};
use rethread_model::clip;

use super::{Desk, explained};
use crate::failure::{Failure, Kind};
use crate::mcp::arguments::Arguments;
use crate::render::{self, Reader, Tone};

/// Ids that are looked at in one call.
const MOST_IDS: usize = 10;
/// Entries around an id.
const AROUND: u64 = 12;
/// Entries of a session, unless a model asks for more or less.
const USUAL_LINES: u64 = 30;
const MOST_LINES: u64 = 200;
/// Bytes of all texts together; who speaks and when comes to it.
const TEXT_BYTES: usize = 12_000;
/// No entry is cut shorter, however many there are.
const SHORTEST_ENTRY: usize = 160;

/// Shows what stands around each id.
pub(super) fn get(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let mut ids: Vec<&str> = arguments.texts("ids").iter().map(|id| id.trim()).filter(|id| !id.is_empty()).collect();
    ids.dedup();
    if ids.is_empty() || ids.len() > MOST_IDS {
        let message = format!("give 1 to {MOST_IDS} ids, not {}", ids.len());
        return Err(Failure::new(Kind::Usage, message).hint("ids read SESSION:LINE, as search_memory gives them"));
    }
    let room = TEXT_BYTES / ids.len();
    let (mut texts, mut failures) = (Vec::new(), Vec::new());
    for id in &ids {
        match shown(desk, id, AROUND, room) {
            Ok(text) => texts.push(text),
            Err(failure) => failures.push(failure),
        }
    }
    // One that is not known hides no other; if none is, that is the answer.
    if texts.is_empty() && !failures.is_empty() {
        return Err(failures.remove(0));
    }
    texts.extend(failures.into_iter().map(|failure| explained(desk, failure)));
    Ok(texts.join("\n"))
}

/// Shows the end of a session, or what stands around a line of it.
pub(super) fn session(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let lines = arguments.number("lines", USUAL_LINES, MOST_LINES);
    shown(desk, arguments.text("session"), lines, TEXT_BYTES)
}

fn shown(desk: &Desk<'_>, reference: &str, lines: u64, room: usize) -> Result<String, Failure> {
    let wanted = ShowRequest { profile: Profile::Structure, lines: Some(lines), bytes: None };
    let mut log = desk.engine.show(reference, wanted)?;
    let mut page = Desk::page();
    fit(&mut log, room);
    log.entries.iter_mut().for_each(|entry| entry.text = quoted(&entry.text));
    let earlier = std::mem::take(&mut log.earlier);
    render::show(&mut page, &log, &Reader { zone: desk.zone, profile: Profile::Structure });
    if log.entries.is_empty() {
        page.line(Tone::Plain, "Nothing was said in it.");
    }
    if earlier > 0 {
        page.end().line(Tone::Plain, &format!("({earlier} earlier entries are not shown)"));
    }
    Ok(page.as_str().to_owned())
}

/// A text that cannot be taken for the line above the next one, whatever it says.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Makes a log fit. Around a line, that line keeps most and all others are cut alike; at the end of a session the newest
/// entries stay.
fn fit(log: &mut Shown, room: usize) {
    let cited = log.cited.and_then(|line| log.entries.iter().position(|entry| entry.place.line >= line));
    if let Some(cited) = cited {
        let share = room / 2 / log.entries.len().saturating_sub(1).max(1);
        for (at, entry) in log.entries.iter_mut().enumerate() {
            let most = if at == cited { room / 2 } else { share };
            entry.text = clip(&entry.text, most.max(SHORTEST_ENTRY)).into_owned();
        }
        return;
    }
    let mut left = room;
    let mut keep = log.entries.len();
    for (at, entry) in log.entries.iter_mut().enumerate().rev() {
        if left < SHORTEST_ENTRY {
            break;
        }
        entry.text = clip(&entry.text, left).into_owned();
        left = left.saturating_sub(entry.text.len());
        keep = at;
    }
    log.earlier += keep as u64;
    log.entries.drain(..keep);
}
