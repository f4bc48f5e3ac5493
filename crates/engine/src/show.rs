//! The log of a session, in one of three profiles and within a size.

use rethread_model::{Entry, Episode, Role, SessionId, Speech};
use rethread_store::{EntryFilter, Store};

use crate::sessions::stored;
use crate::{Engine, EngineError, Listed, Page, Paged};

/// How much of a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profile {
    /// What human and model said.
    Text,
    /// That, and what was done.
    #[default]
    Structure,
    /// Everything that is stored, left branches and machine texts included.
    Full,
}

/// What to show of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShowRequest {
    /// How much of it.
    pub profile: Profile,
    /// At most this many entries, counted from the end.
    pub lines: Option<u64>,
    /// At most this many bytes of text, counted from the end.
    pub bytes: Option<u64>,
}

/// A session's log.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The session.
    pub listed: Listed,
    /// Its entries, oldest first.
    pub entries: Vec<Entry>,
    /// Its episodes.
    pub episodes: Vec<Episode>,
    /// How many fitting entries come before the first one shown.
    pub earlier: u64,
    /// The line that was cited, if one was.
    pub cited: Option<u64>,
}

/// Entries shown around a cited line.
const AROUND: u64 = 20;

impl Engine {
    /// The log of the session a reference means.
    pub fn show(&self, reference: &str, request: ShowRequest) -> Result<Shown, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let (listed, cited) = self.resolve_citation(&store, reference)?;
        let mut entries = fitting(&store, &listed, request.profile)?;
        if let Some(line) = cited {
            // Whoever follows a citation wants to see what led there and what came of it.
            keep_around(&mut entries, line, request.lines.unwrap_or(AROUND) as usize);
        }
        let all = entries.len();
        if let Some(lines) = request.lines {
            entries.drain(..entries.len().saturating_sub(lines as usize));
        }
        if let Some(bytes) = request.bytes {
            keep_last_bytes(&mut entries, bytes as usize);
        }
        let episodes = store.episodes(listed.session.id)?;
        Ok(Shown { listed, earlier: (all - entries.len()) as u64, entries, episodes, cited })
    }

    /// A piece of the log of a session; `from` may be named by a line of its transcript, with some of what led there.
    pub fn entries(
        &self,
        id: SessionId,
        profile: Profile,
        around: Option<u64>,
        page: Page,
    ) -> Result<(Listed, Paged<Entry>), EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.reader()?.ok_or_else(unknown)?;
        let listed = self.listed(&store, stored(&store, id)?.ok_or_else(unknown)?)?;
        let entries = fitting(&store, &listed, profile)?;
        let from = around.and_then(|line| {
            let at = entries.partition_point(|entry| entry.place.line < line);
            entries.get(at.saturating_sub(page.limit / 3)).map(|entry| entry.seq)
        });
        let page = Page { from: page.from.or(from), ..page };
        Ok((listed, page.of(entries, |entry| entry.seq, bytes_of)))
    }
}

/// The entries of a session that a profile shows.
fn fitting(store: &Store, listed: &Listed, profile: Profile) -> Result<Vec<Entry>, EngineError> {
    let full = profile == Profile::Full;
    let mut entries = store.entries(listed.session.id, EntryFilter { abandoned: full, meta: full, last: None })?;
    if profile == Profile::Text {
        entries.retain(|entry| {
            matches!(entry.speech.role(), Role::User | Role::Assistant) && entry.speech != Speech::Task
        });
    }
    Ok(entries)
}

/// All that is stored of an entry.
fn bytes_of(entry: &Entry) -> usize {
    let tool = entry.tool.as_ref();
    let outcome = tool.and_then(|tool| tool.outcome.as_ref());
    let output = outcome.and_then(|outcome| outcome.output.as_ref()).map_or(0, String::len);
    entry.text.len() + tool.map_or(0, |tool| tool.arguments.len() + tool.target.len()) + output
}

/// Keeps so many entries around a line: one third before it, the rest from it on.
fn keep_around(entries: &mut Vec<Entry>, line: u64, count: usize) {
    let at = entries.partition_point(|entry| entry.place.line < line);
    let from = at.saturating_sub(count / 3).min(entries.len().saturating_sub(count));
    entries.truncate(from + count);
    entries.drain(..from);
}

/// Drops the oldest entries until the rest fits; a single entry that is too long loses its beginning.
fn keep_last_bytes(entries: &mut Vec<Entry>, limit: usize) {
    let mut total = 0;
    let fitting = entries.iter().rev().take_while(|entry| {
        total += entry.text.len();
        total <= limit
    });
    let keep = fitting.count();
    if let (0, Some(last)) = (keep, entries.last_mut()) {
        let from = last.text.ceil_char_boundary(last.text.len().saturating_sub(limit));
        last.text.replace_range(..from, "");
    }
    let kept = keep.max(usize::from(!entries.is_empty()));
    entries.drain(..entries.len() - kept);
}

#[cfg(test)]
mod tests {
    use rethread_model::Place;

    use super::*;

    fn entry(text: &str) -> Entry {
        Entry {
            seq: 0,
            native_id: String::new(),
            place: Place::default(),
            at: None,
            speech: Speech::Said,
            text: text.to_owned(),
            tool: None,
            episode: None,
            abandoned: false,
        }
    }

    #[test]
    fn s001_08_the_most_recent_part_is_kept_and_no_character_is_cut() {
        let check = |limit, expect: &[&str]| {
            let mut entries = vec![entry("one"), entry("zwei"), entry("drü")];
            keep_last_bytes(&mut entries, limit);
            let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
            assert_eq!(texts, expect, "{limit}");
        };
        check(100, &["one", "zwei", "drü"]);
        check(8, &["zwei", "drü"]);
        check(4, &["drü"]);
        check(2, &["ü"]);
        check(1, &[""]);
    }
}
