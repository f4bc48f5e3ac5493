//! Forgets a text: removes every episode that contains it and rebuilds the sessions.
//!
//! If all transcripts of a session still exist, they are read again without what was forgotten. If one is missing, the
//! stored entries are the only copy: the matching ones are removed and the rest renumbered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_ingest::source::TranscriptReader;
use rethread_ingest::{RemainingEntry, SessionAssembler, blocked_keys, queued_prompt_key, title_key};
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, NativeKey, Session};
use rethread_store::{Batch, ReadStore, SessionKey, SessionNumber, TextMatcher, TextsOf, TranscriptRow};

use super::{ForgetPlan, add_derived, state_contains};
use crate::maintenance::rebuild_from_entries;
use crate::naming::offer_names;
use crate::sessions::partly_forgotten_key;
use crate::sync::read_position;
use crate::{EngineError, ForgetService};

/// Transcripts to read again, by agent.
type TranscriptsToReread = BTreeMap<Agent, Vec<PathBuf>>;

impl ForgetService<'_> {
    /// Plans forgetting a text. A thread that contains it is removed completely, because thread logs are never changed.
    pub(super) fn build_text_plan(self, store: &ReadStore, text: &str) -> Result<ForgetPlan, EngineError> {
        let needle = TextMatcher::new(text).ok_or(EngineError::EmptySearchText)?;
        let mut mentions = store.find_mentions(&needle)?;
        let mut threads: BTreeSet<ThreadId> = self.threads_with(&needle)?.into_iter().collect();
        let mut affected: BTreeSet<SessionNumber> = mentions.entries.keys().copied().collect();
        affected.extend(store.sessions_by_assembler_state(&|memory| state_contains(memory, &needle))?);
        let (mut whole_sessions, mut partial_sessions) = (Vec::new(), Vec::new());
        for number in affected {
            let Some(session) = store.session_by_number(number)? else { continue };
            match session.external_id.parse::<ThreadId>() {
                Ok(id) if session.agent == Agent::Native => {
                    threads.insert(id);
                }
                _ => partial_sessions.push((number, session)),
            }
        }
        for id in &threads {
            whole_sessions.extend(store.session_number(id.session_id())?.map(|_| id.session_id()));
        }
        let whole_sessions = store.sessions_with_descendants(&whole_sessions)?;
        for (number, _) in &whole_sessions {
            // Already counted with the session.
            let entries = mentions.entries.remove(number).map_or(0, |seqs| seqs.len() as u64);
            mentions.row_counts.entry("entries").and_modify(|count| *count -= entries);
        }
        let threads = threads.into_iter().collect();
        let (entries, places) = (mentions.entries, mentions.row_counts);
        let retained = store.count_kept_rows_containing(&needle, &whole_sessions)?;
        let needle = Some(needle);
        let planned_at = self.engine.now();
        let mut plan = ForgetPlan {
            whole_sessions,
            planned_at,
            needle,
            entries,
            partial_sessions,
            threads,
            places,
            retained,
            ..ForgetPlan::default()
        };
        plan.places.insert("names", count_matching_names(store, &plan)?);
        add_derived(store, &mut plan)?;
        Ok(plan)
    }

    /// Removes a text from sessions that are kept. Returns the number of tombstones and the transcripts to read again.
    pub(super) fn remove_mentions(
        self,
        batch: &mut Batch<'_>,
        plan: &ForgetPlan,
        needle: &TextMatcher,
    ) -> Result<(u64, TranscriptsToReread), EngineError> {
        let mut kept_out = 0;
        for title in batch.titles_containing(needle)? {
            kept_out += batch.add_forgotten_keys(Agent::ALL.iter().map(|agent| title_key(*agent, &title)))?;
        }
        batch.remove_text(needle)?;
        let none = BTreeSet::new();
        for (number, session) in &plan.partial_sessions {
            let seqs = plan.entries.get(number).unwrap_or(&none);
            let keys = tombstone_keys(batch, (*number, session), seqs, needle)?;
            kept_out += batch.add_forgotten_keys(keys)?;
            batch.add_forgotten_keys([partly_forgotten_key(session)])?;
            batch.remove_card(SessionKey::of(session))?;
        }
        let mut to_read = TranscriptsToReread::new();
        let mut again = BTreeSet::new();
        for (number, session) in &plan.partial_sessions {
            match self.transcripts_to_reread(batch, *number, session)? {
                Some((root, paths)) => {
                    if again.insert(root) {
                        reset_with_children(batch, root)?;
                        to_read.entry(session.agent).or_default().extend(paths);
                    }
                }
                None => remove_entries_and_rebuild(
                    batch,
                    (*number, session),
                    plan.entries.get(number).unwrap_or(&none),
                    needle,
                )?,
            }
        }
        Ok((kept_out, to_read))
    }

    /// The transcripts of a session, or of its parent if it is stored in the parent's file, and the session they belong
    /// to. `None` if they no longer contain everything that is stored, or are excluded from reading.
    fn transcripts_to_reread(
        self,
        batch: &Batch<'_>,
        number: SessionNumber,
        session: &Session,
    ) -> Result<Option<(SessionNumber, Vec<PathBuf>)>, EngineError> {
        let mut root = number;
        let mut rows = batch.session_transcripts(root)?;
        if let (true, Some((parent, _))) = (rows.is_empty(), session.external_id.split_once('/')) {
            let Some(parent) = batch.find_session(SessionKey { agent: session.agent, external_id: parent })? else {
                return Ok(None);
            };
            root = parent.number;
            rows = batch.session_transcripts(root)?;
        }
        let mut excludes = self.engine.sync().exclude_rules()?;
        let is_agent_read = self.engine.sync().agents_to_read(None).contains(&session.agent);
        let may_be_read = |row: &TranscriptRow| {
            let path = Path::new(&row.path);
            has_all_read_bytes(path, row) && !excludes.is_excluded(path, session.cwd.as_deref())
        };
        let all = !rows.is_empty()
            && is_agent_read
            && rows.iter().all(may_be_read)
            && !batch.has_unrepeatable_entries(number)?;
        Ok(all.then(|| (root, rows.into_iter().map(|row| row.path.into()).collect())))
    }

    /// Threads whose log or metadata contains the text.
    fn threads_with(self, needle: &TextMatcher) -> Result<Vec<ThreadId>, EngineError> {
        let threads = self.engine.thread_store();
        Ok(threads.ids()?.into_iter().filter(|id| threads.contains_text(*id, needle)).collect())
    }
}

/// Keys by which the removed entries and names are recognized if they are read again.
fn tombstone_keys(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    seqs: &BTreeSet<u64>,
    needle: &TextMatcher,
) -> Result<Vec<NativeKey>, EngineError> {
    let mut keys = batch.tombstone_keys(number, session.agent, Some(seqs))?;
    for text in batch.typed_texts(number, seqs)? {
        keys.push(queued_prompt_key(session.agent, &session.external_id, &text));
    }
    let memory = batch.session_with_state(number)?.and_then(|(_, memory)| memory).unwrap_or_default();
    keys.extend(blocked_keys(session.agent, &memory, &|text| needle.matches(text)));
    Ok(keys)
}

/// How many of the kept sessions have a name that contains the text.
fn count_matching_names(store: &ReadStore, plan: &ForgetPlan) -> Result<u64, EngineError> {
    let known = plan.places.get("names").copied().unwrap_or_default();
    let Some(needle) = &plan.needle else { return Ok(known) };
    let mut named = 0;
    for (_, session) in &plan.partial_sessions {
        let memory = store.assembler_state(session.id)?.unwrap_or_default();
        named += u64::from(state_contains(&memory, needle));
    }
    Ok(known + named)
}

/// Whether a file still contains everything that was read from it.
fn has_all_read_bytes(path: &Path, row: &TranscriptRow) -> bool {
    let opened = TranscriptReader::open(row.agent, path);
    opened.is_ok_and(|transcript| transcript.stamp.size > 0 && transcript.has_only_grown(&read_position(&row.cursor)))
}

/// Resets a session and the sub-agents in its file, so that they are read from the start.
fn reset_with_children(batch: &mut Batch<'_>, root: SessionNumber) -> Result<(), EngineError> {
    if let Some((session, _)) = batch.session_with_state(root)? {
        for child in batch.inline_children(session.agent, &session.external_id)? {
            batch.reset_session(child)?;
        }
    }
    Ok(batch.reset_session(root)?)
}

/// Removes entries from a session that cannot be read again, and rebuilds the rest.
fn remove_entries_and_rebuild(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    seqs: &BTreeSet<u64>,
    needle: &TextMatcher,
) -> Result<(), EngineError> {
    let Some((_, Some(state_json))) = batch.session_with_state(number)? else { return Ok(()) };
    let Ok(mut assembler) = SessionAssembler::resume(session.agent, &session.external_id, &state_json) else {
        return Ok(());
    };
    let spoken = batch.entry_texts(number, TextsOf::AllEntries)?;
    let kept: Vec<RemainingEntry<'_>> = spoken
        .iter()
        .filter(|(seq, ..)| !seqs.contains(seq))
        .map(|(seq, speech, text)| RemainingEntry { seq: *seq, kind: *speech, text })
        .collect();
    assembler.retain_entries(&kept, &|text| needle.matches(text));
    batch.remove_entries(number, seqs)?;
    let remaining = kept.iter().zip(0..).map(|(entry, seq)| (seq, entry.kind, entry.text));
    offer_names(&mut assembler, session.agent, session.project.as_deref(), remaining);
    let name = assembler.name();
    let branch = session.branch.clone().filter(|branch| !needle.matches(branch));
    rebuild_from_entries(batch, (number, &Session { branch, ..session.clone() }), assembler, Some(&name))
}
