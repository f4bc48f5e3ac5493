//! One session for reading: a page of its entries, and a summary of the whole session.

use rethread_model::{Entry, Fact, Predicate, Session, SessionId, relative_path};
use rethread_recall::{Decision, KnownError, decisions, known_errors};
use rethread_store::{
    EntryFilter, EntryPage, EntryRange, EpisodePrompt, FactQuery, FactRow, FoundEntry, InjectionRow, ReadStore,
    SessionKey, SessionNumber,
};

use crate::{EngineError, ListedSession, SessionCard, SessionService, UsageTotals};

/// Entries of a page.
const MAX_ENTRIES: u64 = 200;
/// Entries of a page that starts at a fixed entry and grows at its end while it is displayed.
const MAX_ENTRIES_WHEN_GROWING: u64 = 600;
/// Text bytes of a page. At least one entry is shown.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Entries that a search within a session returns.
const MAX_FOUND: usize = 200;
/// Words of such a search.
const MAX_WORDS: usize = 20;
/// Injections shown beside the session, newest first.
const MAX_INJECTIONS: u64 = 20;
/// Facts loaded for the summary.
const MAX_FACTS: u64 = 5_000;
/// Facts shown beside the entries.
const SHOWN_PREDICATES: [Predicate; 8] = [
    Predicate::FailedWith,
    Predicate::FixedBy,
    Predicate::NotFixedBy,
    Predicate::Decided,
    Predicate::Prefers,
    Predicate::Forbids,
    Predicate::Committed,
    Predicate::Reverted,
];

/// What to show of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionPageRequest {
    /// Which range of entries.
    pub range: EntryRange,
    /// Also entries of abandoned branches and machine-written texts.
    pub include_all: bool,
    /// Only prompts and the last answer to each.
    pub is_focused: bool,
}

/// The entries of a session that contain some words.
#[derive(Clone, Debug, Default)]
pub struct FoundInSession {
    /// The words, in lower case.
    pub words: Vec<String>,
    /// The first entries that contain all of them.
    pub entries: Vec<FoundEntry>,
    /// How many more there are.
    pub more: u64,
}

/// A page of a session.
#[derive(Clone, Debug)]
pub struct SessionPage {
    /// The session and its current state.
    pub listed: ListedSession,
    /// Name, description, summary and tags.
    pub card: SessionCard,
    /// The requested entries.
    pub page: EntryPage,
    /// The prompts a human typed; in a sub-agent's session, its tasks.
    pub prompts: Vec<EpisodePrompt>,
    /// Errors in the session, with their fixes and failed attempts.
    pub errors: Vec<KnownError>,
    /// Decisions made in the session.
    pub decisions: Vec<Decision>,
    /// The files that `files_edited` counts, most changes first.
    pub files: Vec<ChangedFile>,
    /// Commits made or reverted in the session, oldest first.
    pub commits: Vec<Fact>,
    /// Tokens and cost of its messages.
    pub usage: UsageTotals,
    /// The last injections into the session, newest first.
    pub injections: Vec<InjectionRow>,
    /// Sessions of the subagents it started.
    pub children: Vec<Session>,
    /// The session it was forked from, or that started it.
    pub parent: Option<Session>,
    /// Whether the user pinned it.
    pub is_pinned: bool,
    /// The user's tags.
    pub tags: Vec<String>,
}

/// A file that was changed in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path relative to the project.
    pub name: String,
    /// Number of changes.
    pub times: u64,
    /// Transcript line of the last change.
    pub line: u64,
}

impl SessionService<'_> {
    /// A page of a session. Marks nothing as seen.
    pub fn page(self, id: SessionId, request: SessionPageRequest) -> Result<SessionPage, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let store = store.snapshot()?;
        let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
        self.page_in(&store, number, session, request)
    }

    /// The entries of a session that contain all words of a text, in order.
    pub fn find(self, id: SessionId, text: &str, include_all: bool) -> Result<FoundInSession, EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let number = store.session_number(id)?.ok_or_else(unknown)?;
        let words: Vec<String> = text.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect();
        if words.is_empty() {
            return Ok(FoundInSession::default());
        }
        let (entries, more) = store.entries_with_words(number, &words, include_all, MAX_FOUND)?;
        Ok(FoundInSession { words, entries, more })
    }

    /// The entries around a line, for a preview.
    pub fn around(self, id: SessionId, line: u64, limit: u64) -> Result<(ListedSession, EntryPage), EngineError> {
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = self.engine.reader()?.ok_or_else(unknown)?;
        let store = store.snapshot()?;
        let (number, session) = store.session_by_id(id)?.ok_or_else(unknown)?;
        let range = EntryRange::Around(line);
        let mut page = store.entry_page(number, EntryFilter::default(), range, limit)?;
        trim_to_max_bytes(&mut page, range);
        Ok((self.listed(&store, session)?, page))
    }

    fn page_in(
        self,
        store: &ReadStore,
        number: SessionNumber,
        session: Session,
        request: SessionPageRequest,
    ) -> Result<SessionPage, EngineError> {
        let filter =
            EntryFilter { include_abandoned: request.include_all, include_meta: request.include_all, last: None };
        let max_count =
            if matches!(request.range, EntryRange::From(_)) { MAX_ENTRIES_WHEN_GROWING } else { MAX_ENTRIES };
        let mut page = if request.is_focused {
            store.focused_page(number, request.range, max_count)?
        } else {
            store.entry_page(number, filter, request.range, max_count)?
        };
        trim_to_max_bytes(&mut page, request.range);
        let query = FactQuery {
            session: Some(session.id),
            predicates: &SHOWN_PREDICATES,
            limit: Some(MAX_FACTS),
            ..FactQuery::default()
        };
        let facts = store.facts(&query)?;
        let parent = session.parent.map(|id| store.session_by_id(id)).transpose()?.flatten();
        let key = SessionKey::of(&session);
        let labels = store.session_labels(key)?;
        Ok(SessionPage {
            page,
            is_pinned: labels.pinned_at.is_some(),
            tags: labels.tags,
            prompts: store.episode_prompts(number)?,
            errors: known_errors(facts.clone()),
            decisions: decisions(&facts),
            files: changed_files(store, number, &session)?,
            commits: commits(&facts),
            usage: UsageTotals::for_session(store, number)?,
            injections: store.injections(key, MAX_INJECTIONS)?,
            children: store.child_sessions(&session)?,
            parent: parent.map(|(_, session)| session),
            card: self.engine.cards().of_session(store, number, session.clone())?,
            listed: self.listed(store, session)?,
        })
    }
}

/// Drops entries from the less important end until the page is within the byte limit.
fn trim_to_max_bytes(page: &mut EntryPage, range: EntryRange) {
    let size = |entry: &Entry| {
        let output = entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref()?.output.as_ref());
        entry.text.len() + output.map_or(0, String::len)
    };
    let mut total: usize = page.entries.iter().map(size).sum();
    while total > MAX_TEXT_BYTES && page.entries.len() > 1 {
        let is_middle = |entry: &Entry| Some(entry.seq) == page.center_seq;
        let drops_first = match range {
            EntryRange::Last | EntryRange::Before(_) => true,
            EntryRange::From(_) => false,
            EntryRange::Around(_) => page.entries.last().is_some_and(is_middle),
        };
        let dropped = if drops_first {
            page.has_earlier = true;
            Some(page.entries.remove(0))
        } else {
            page.has_later = true;
            page.entries.pop()
        };
        total -= dropped.as_ref().map_or(0, size);
    }
}

/// The files that a session changed, most changes first.
pub(crate) fn changed_files(
    store: &ReadStore,
    number: SessionNumber,
    session: &Session,
) -> Result<Vec<ChangedFile>, EngineError> {
    let project = session.project.as_deref().or(session.cwd.as_deref());
    let changed = store.changed_paths(number)?.into_iter().map(|changed| ChangedFile {
        name: relative_path(&changed.path, project).to_owned(),
        times: changed.times,
        line: changed.last_line,
    });
    Ok(changed.collect())
}

fn commits(facts: &[FactRow]) -> Vec<Fact> {
    let is_commit = |known: &&FactRow| matches!(known.fact.predicate, Predicate::Committed | Predicate::Reverted);
    let mut commits: Vec<Fact> = facts.iter().filter(is_commit).map(|known| known.fact.clone()).collect();
    commits.sort_by_key(|fact| fact.line);
    commits
}
