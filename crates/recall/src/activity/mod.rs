//! Builds the `[Session Activity]` block: what an agent's other sessions did recently, in a few lines. Uses no model.
//!
//! All quoted text comes from other sessions. It is data: flattened to one line and unable to close the enclosing
//! block.

mod actions;
mod bullet;
mod key_command;
#[cfg(test)]
mod tests;

use rethread_model::{Agent, Entry, SessionState, Timestamp};

use bullet::{BulletDetail, bullet};

/// First line of the block.
pub const ACTIVITY_HEADER: &str = "[Session Activity]";
/// Maximum length of the whole block, in characters.
pub const ACTIVITY_CHARS: usize = 500;
/// Maximum length of one bullet. Leaves space for the header and the "+N more sessions" line.
const BULLET_CHARS: usize = ACTIVITY_CHARS - 42;

/// Maximum number of turns in a list of them.
const MAX_TURNS: usize = 50;

/// What another session did since the reader last saw it.
#[derive(Clone, Debug)]
pub struct OtherSession {
    /// Display name: alias or name.
    pub name: String,
    /// A short id that commands and `@@` accept.
    pub id: String,
    /// The agent that runs it.
    pub agent: Agent,
    /// Whether it is still at work.
    pub state: SessionState,
    /// Whether it waits for an answer of its user.
    pub is_waiting: bool,
    /// Git branch it works on.
    pub branch: Option<String>,
    /// Project directory; paths inside it are shown relative to it.
    pub project: Option<String>,
    /// New messages. Entries that share one API message count once.
    pub messages: u64,
    /// New entries, oldest first.
    pub entries: Vec<Entry>,
}

/// The session that reads the block.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActivityReader<'a> {
    /// The files it touched. Sessions that changed one of them come first.
    pub files: &'a [String],
    /// Its git branch. Other branches are shown.
    pub branch: Option<&'a str>,
}

/// The rendered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityBlock {
    /// Block text without a trailing newline.
    pub text: String,
    /// Indexes, into the given sessions, of those included.
    pub included: Vec<usize>,
    /// Number of sessions that did not fit.
    pub left_out: usize,
}

/// Renders the block, most relevant session first. `None` if nothing is new.
///
/// As many sessions as possible are included with the least detail; then the most relevant ones get more, as long as
/// there is room.
pub fn activity_block(others: &[OtherSession], reader: ActivityReader<'_>, now: Timestamp) -> Option<ActivityBlock> {
    let mut listed: Vec<(Relevance, usize)> = others
        .iter()
        .enumerate()
        .filter(|(_, other)| !other.entries.is_empty())
        .map(|(at, other)| (relevance(other, reader.files), at))
        .collect();
    listed.sort_by(|(a, at), (b, other)| b.cmp(a).then_with(|| others[*at].name.cmp(&others[*other].name)));
    let render = |at: usize, detail: BulletDetail| bullet(&others[at], reader, detail, now);
    let mut bullets: Vec<(usize, String)> =
        listed.iter().map(|(_, at)| (*at, render(*at, BulletDetail::ALL[0]))).collect();
    bullets.truncate(count_that_fits(&bullets));
    let left_out = listed.len() - bullets.len();
    for detail in &BulletDetail::ALL[1..] {
        for place in 0..bullets.len() {
            let longer = render(bullets[place].0, *detail);
            let shorter = std::mem::replace(&mut bullets[place].1, longer);
            if block_text(&bullets, left_out).chars().count() > ACTIVITY_CHARS {
                bullets[place].1 = shorter;
            }
        }
    }
    let text = block_text(&bullets, left_out);
    (!bullets.is_empty()).then(|| ActivityBlock {
        text,
        included: bullets.into_iter().map(|(at, _)| at).collect(),
        left_out,
    })
}

/// Lists turns of other sessions in full detail, newest first. `None` if there are none.
pub fn turn_list(turns: &[OtherSession], own_branch: Option<&str>, now: Timestamp) -> Option<String> {
    let mut newest: Vec<&OtherSession> = turns.iter().collect();
    newest.sort_by_key(|turn| std::cmp::Reverse(last_activity_at(turn)));
    let reader = ActivityReader { branch: own_branch, ..ActivityReader::default() };
    let full = BulletDetail::ALL[BulletDetail::ALL.len() - 1];
    let bullets: Vec<(usize, String)> =
        newest.iter().take(MAX_TURNS).map(|turn| (0, bullet(turn, reader, full, now))).collect();
    (!bullets.is_empty()).then(|| block_text(&bullets, 0))
}

/// Sort key: shares a file with the reader, has a failing command, time of the last entry.
type Relevance = (bool, bool, Option<Timestamp>);

fn relevance(other: &OtherSession, own_files: &[String]) -> Relevance {
    let shared = actions::changed_files(other).iter().any(|path| own_files.iter().any(|own| own == path));
    (shared, !actions::failures(other).is_empty(), last_activity_at(other))
}

/// How many bullets fit, from the first. One always does.
fn count_that_fits(bullets: &[(usize, String)]) -> usize {
    let fits = |count: &usize| {
        block_text(&bullets[..*count], bullets.len() - count).chars().count() <= ACTIVITY_CHARS || *count <= 1
    };
    (0..=bullets.len()).rev().find(fits).unwrap_or(0)
}

fn block_text(bullets: &[(usize, String)], left_out: usize) -> String {
    let mut text = ACTIVITY_HEADER.to_owned();
    for (_, bullet) in bullets {
        text.push('\n');
        text.push_str(bullet);
    }
    if left_out > 0 {
        text = format!("{text}\n+{left_out} more session{}", if left_out == 1 { "" } else { "s" });
    }
    text
}

fn last_activity_at(other: &OtherSession) -> Option<Timestamp> {
    other.entries.iter().filter_map(|entry| entry.at).max()
}
