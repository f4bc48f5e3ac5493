//! The log of a session, in one of three profiles, with an optional size limit.

use rethread_model::{Entry, EntryKind, EntryRole, Episode, Session, SessionId};
use rethread_store::{ChangedPath, EntryFilter, ReadStore, ToolTotal};

use super::stored_session;
use crate::{EngineError, ListPage, ListedSession, PageRequest, SessionService};

/// How much of a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogProfile {
    /// Only prompts and answers.
    Text,
    /// Also tool calls.
    #[default]
    Structure,
    /// Everything stored, including abandoned branches and machine-written texts.
    Full,
}

/// What to show of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShowRequest {
    /// How much of it.
    pub profile: LogProfile,
    /// Maximum number of entries, counted from the end.
    pub max_entries: Option<u64>,
    /// Maximum bytes of text, counted from the end.
    pub max_bytes: Option<u64>,
}

/// The log of a session.
#[derive(Clone, Debug)]
pub struct SessionLog {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The session it was forked from, or that started it.
    pub parent: Option<Session>,
    /// The files its tools wrote or edited, most changes first.
    pub changed_files: Vec<ChangedPath>,
    /// The tools it called, most calls first.
    pub tools: Vec<ToolTotal>,
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    /// All episodes of the session.
    pub episodes: Vec<Episode>,
    /// Number of matching entries before the first one shown.
    pub earlier_entries: u64,
    /// The line of the citation, if the reference was one.
    pub cited_line: Option<u64>,
}

/// Number of entries shown around a cited line.
const ENTRIES_AROUND_CITATION: u64 = 20;

impl SessionService<'_> {
    /// The log of the session that a reference or citation identifies.
    pub fn show(self, reference: &str, request: ShowRequest) -> Result<SessionLog, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let (listed, cited) = self.resolve_citation(&store, reference)?;
        let mut entries = profile_entries(&store, &listed, request.profile)?;
        if let Some(line) = cited {
            ensure_line_exists(&store, &listed, line)?;
            // For a citation, show what led to that line and what followed.
            keep_around(&mut entries, line, request.max_entries.unwrap_or(ENTRIES_AROUND_CITATION) as usize);
        }
        let all = entries.len();
        if let Some(lines) = request.max_entries {
            entries.drain(..entries.len().saturating_sub(lines as usize));
        }
        if let Some(bytes) = request.max_bytes {
            keep_last_bytes(&mut entries, bytes as usize);
        }
        let episodes = store.episodes(listed.session.id)?;
        let parent = listed.session.parent.map(|id| store.session_by_id(id)).transpose()?.flatten();
        let parent = parent.map(|(_, session)| session);
        let (mut changed_files, mut tools) = (Vec::new(), Vec::new());
        if let Some(number) = store.session_number(listed.session.id)? {
            (changed_files, tools) = (store.changed_paths(number)?, store.tool_totals(number)?);
        }
        let earlier_entries = (all - entries.len()) as u64;
        Ok(SessionLog { listed, parent, changed_files, tools, earlier_entries, entries, episodes, cited_line: cited })
    }

    /// A page of a session's log. `around` starts the page a little before a line of the transcript.
    pub fn entries(
        self,
        id: SessionId,
        profile: LogProfile,
        around: Option<u64>,
        page: PageRequest,
    ) -> Result<(ListedSession, ListPage<Entry>), EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let listed = self.listed(&store, stored_session(&store, id)?.ok_or_else(unknown)?)?;
        let entries = profile_entries(&store, &listed, profile)?;
        if let Some(line) = around {
            ensure_line_exists(&store, &listed, line)?;
        }
        let from = around.and_then(|line| {
            let at = entries.partition_point(|entry| entry.location.line < line);
            entries.get(at.saturating_sub(page.limit / 3)).map(|entry| entry.seq)
        });
        let page = PageRequest { from: page.from.or(from), ..page };
        Ok((listed, page.apply(entries, |entry| entry.seq, entry_bytes)))
    }
}

/// Fails if the transcript ends before a line. Lines without an entry of their own exist, too.
pub(crate) fn ensure_line_exists(store: &ReadStore, listed: &ListedSession, line: u64) -> Result<(), EngineError> {
    let session = listed.session.id;
    let all = store.entries(session, EntryFilter { include_abandoned: true, include_meta: true, last: None })?;
    let last = all.iter().map(|entry| entry.location.line).max().unwrap_or_default();
    // The last entry may span several lines: results, and what was not stored.
    let last = store.episodes(session)?.iter().map(|episode| episode.lines.1).max().unwrap_or_default().max(last);
    if line <= last { Ok(()) } else { Err(EngineError::UnknownLine { session, line, last }) }
}

/// The entries of a session that the profile includes.
fn profile_entries(store: &ReadStore, listed: &ListedSession, profile: LogProfile) -> Result<Vec<Entry>, EngineError> {
    let full = profile == LogProfile::Full;
    let mut entries =
        store.entries(listed.session.id, EntryFilter { include_abandoned: full, include_meta: full, last: None })?;
    if profile == LogProfile::Text {
        entries.retain(|entry| {
            matches!(entry.kind.role(), EntryRole::User | EntryRole::Assistant) && entry.kind != EntryKind::Task
        });
    }
    Ok(entries)
}

/// Size of everything stored for an entry.
fn entry_bytes(entry: &Entry) -> usize {
    let tool = entry.tool.as_ref();
    let outcome = tool.and_then(|tool| tool.outcome.as_ref());
    let output = outcome.and_then(|outcome| outcome.output.as_ref()).map_or(0, String::len);
    entry.text.len() + tool.map_or(0, |tool| tool.arguments.len() + tool.target.len()) + output
}

/// Keeps `count` entries around a line: one third before it, the rest from it on.
fn keep_around(entries: &mut Vec<Entry>, line: u64, count: usize) {
    let at = entries.partition_point(|entry| entry.location.line < line);
    let from = at.saturating_sub(count / 3).min(entries.len().saturating_sub(count));
    entries.truncate(from + count);
    entries.drain(..from);
}

/// Drops the oldest entries until the rest fits. A single entry that is too long loses its beginning.
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
    use rethread_model::EntryLocation;

    use super::*;

    fn entry(text: &str) -> Entry {
        Entry {
            seq: 0,
            native_id: String::new(),
            location: EntryLocation::default(),
            at: None,
            kind: EntryKind::AssistantText,
            text: text.to_owned(),
            tool: None,
            episode: None,
            is_abandoned: false,
        }
    }

    #[test]
    // S001-08
    fn the_newest_part_is_kept_and_no_character_is_split() {
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
