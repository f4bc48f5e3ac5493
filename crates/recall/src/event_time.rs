//! Finds when an event of a query happened: the latest command that is the event, else a text that reports it.
//!
//! Reads only entries with a word of the event, newest first, and gives up after a fixed number.

use rethread_index::{DocId, IndexSegment, IndexSnapshot, words};
use rethread_model::{Entry, EntryKind, Session, Timestamp, ToolKind, ToolStatus, ToolUse};
use rethread_store::{EpisodeKey, ReadStore, SessionNumber};
use rustc_hash::FxHashSet;

use crate::event_commands::{command_shows, commit_command_shows};
use crate::event_evidence::statement_shows;
use crate::search::{SearchError, SearchInput};
use crate::when::{EventAction, EventPhrase};

/// Maximum number of entries that are read from the store for each kind of evidence.
const MAX_ENTRIES: usize = 600;

/// When an event happened, and the session that shows it.
#[derive(Debug)]
pub(crate) struct EventTime {
    pub(crate) at: Timestamp,
    pub(crate) session: Session,
}

/// An entry that may show the event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PossibleEvidence {
    at: Timestamp,
    session: SessionNumber,
    seq: u64,
    is_text: bool,
}

/// Looks up when the event happened, in the sessions that are searched; those of the user's project come first.
pub(crate) fn find_event(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    event: &EventPhrase,
    input: SearchInput<'_>,
) -> Result<Option<EventTime>, SearchError> {
    let mut possible = possible_evidence(snapshot, event, input)?;
    possible.sort_unstable_by(|a, b| b.cmp(a));
    let near: FxHashSet<SessionNumber> = input.project_sessions.iter().copied().collect();
    let (own, other): (Vec<&PossibleEvidence>, Vec<&PossibleEvidence>) =
        possible.iter().partition(|one| near.contains(&one.session));
    for project in [own, other] {
        for is_text in [false, true] {
            let mut group: Vec<_> = project.iter().copied().filter(|one| one.is_text == is_text).collect();
            group.truncate(MAX_ENTRIES);
            // Reports of an event are repeated later; the first is closest to it. A release happens again and again.
            if is_text && event.is_clause {
                group.reverse();
            }
            if let Some(found) = first_evidence(store, event, &group)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

fn first_evidence(
    store: &ReadStore,
    event: &EventPhrase,
    possible: &[&PossibleEvidence],
) -> Result<Option<EventTime>, SearchError> {
    for one in possible {
        let Some(entry) = store.entry_at(one.session, one.seq)? else { continue };
        if !shows(event, &entry) {
            continue;
        }
        let Some(session) = store.session_by_number(one.session)? else { continue };
        // In a conversation, an event is something that was talked about, often much later.
        if session.counts.tool_calls > 0 {
            return Ok(Some(EventTime { at: one.at, session }));
        }
    }
    Ok(None)
}

fn shows(event: &EventPhrase, entry: &Entry) -> bool {
    match (entry.kind, &entry.tool) {
        (EntryKind::Call, Some(tool)) => {
            tool.kind == Some(ToolKind::Command) && has_succeeded(tool) && {
                // The body may leave out the message of a commit; the target joins all lines.
                let command = tool.body.as_deref().unwrap_or(&tool.target);
                command_shows(event, command) || commit_command_shows(event, command, &tool.target)
            }
        }
        (EntryKind::Call, None) => false,
        (EntryKind::Shell, tool) => {
            let is_failed = tool.as_ref().is_some_and(|tool| tool.outcome.is_some() && !has_succeeded(tool));
            !is_failed && command_shows(event, entry.text.trim_start_matches(['!', ' ']))
        }
        _ => statement_shows(event, &entry.text),
    }
}

/// Whether the call ended and nothing in its output says that it failed, even if the exit code is hidden.
fn has_succeeded(tool: &ToolUse) -> bool {
    tool.outcome.as_ref().is_some_and(|outcome| outcome.status == ToolStatus::Ok && outcome.error.is_none())
}

/// The entries with a word of the event that may show it.
fn possible_evidence(
    snapshot: &IndexSnapshot,
    event: &EventPhrase,
    input: SearchInput<'_>,
) -> Result<Vec<PossibleEvidence>, SearchError> {
    let now = Timestamp::from_millis(input.now.timestamp().as_millisecond());
    let sessions: Option<FxHashSet<SessionNumber>> = input.sessions.map(|sessions| sessions.iter().copied().collect());
    let terms = evidence_terms(event);
    let mut found = Vec::new();
    for segment in snapshot.segments() {
        for doc in docs_with_any(segment, &terms)? {
            let EpisodeKey { session, .. } = segment.episode(doc);
            let is_possible = |at: &Timestamp| *at <= now && event.may_be_at(*at, input.now);
            let Some(at) = segment.at(doc).filter(is_possible) else { continue };
            let Some(is_text) = evidence_kind(segment, doc) else { continue };
            if sessions.as_ref().is_none_or(|sessions| sessions.contains(&session)) {
                found.push(PossibleEvidence { at, session, seq: segment.seq(doc), is_text });
            }
        }
    }
    Ok(found)
}

/// Whether an entry is a text or a command; `None` for what shows nothing.
fn evidence_kind(segment: &IndexSegment, doc: DocId) -> Option<bool> {
    let traits = segment.traits(doc);
    if !segment.is_alive(doc) || traits.has_failed() {
        return None;
    }
    match traits.kind() {
        EntryKind::Call | EntryKind::Shell => Some(false),
        EntryKind::Prompt | EntryKind::AssistantText => Some(true),
        _ => None,
    }
}

fn docs_with_any(segment: &IndexSegment, terms: &[String]) -> Result<Vec<DocId>, SearchError> {
    let mut postings = Vec::new();
    for term in terms {
        segment.postings(term, &mut postings)?;
    }
    let mut docs: Vec<DocId> = postings.into_iter().map(|(doc, _)| doc).collect();
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
}

/// The indexed words of which evidence has at least one.
fn evidence_terms(event: &EventPhrase) -> Vec<String> {
    let commands: &[&str] = match event.action {
        EventAction::Release => &["tag", "tags", "publish", "upload", "docker", "goreleaser"],
        EventAction::Deploy => {
            &["kubectl", "terraform", "helm", "heroku", "dokku", "production", "vercel", "netlify", "pulumi"]
        }
        EventAction::Migration => &["alembic", "dbmate", "flyway", "goose"],
        EventAction::Rollback => &["rollout"],
        _ => &[],
    };
    // "Use" and "add" are in half of all texts. A subject is in all evidence, but a version may be part of a longer one.
    let is_name = |word: &&String| !word.contains(|letter: char| letter.is_ascii_digit());
    let mut seeds: Vec<&str> = match event.subject.iter().find(is_name) {
        Some(name) => vec![name],
        None => event.action.words().all().collect(),
    };
    seeds.extend(commands);
    let mut terms: Vec<String> = Vec::new();
    for word in seeds {
        terms.extend(words::split(word).iter().map(|word| word.text.to_owned()));
    }
    terms.sort();
    terms.dedup();
    terms
}
