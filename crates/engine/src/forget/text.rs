//! Forgetting a text: whole exchanges with it go, and what is left of their sessions is told again.
//!
//! A session whose transcripts are all there is read again without what was forgotten, as a rebuild would do it. Where
//! one is gone, its entries are all there is: they are taken out and the others numbered anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_ingest::source::file;
use rethread_ingest::{KeptEntry, Story, keys_of_memory, title_key, typed_key};
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, NativeKey, Session};
use rethread_store::{Batch, Needle, SessionKey, SessionNumber, Store, TranscriptRow};

use super::{Doom, complete, remembers};
use crate::maintain::retell_kept;
use crate::sync::hashes_of;
use crate::{Engine, EngineError};

/// Transcripts to be read again, by agent.
type ToRead = BTreeMap<Agent, Vec<PathBuf>>;

impl Engine {
    /// Everything with a text in it. A thread of ours goes whole: what stands in its log is never changed.
    pub(super) fn doom_of_text(&self, store: &Store, text: &str) -> Result<Doom, EngineError> {
        let needle = Needle::new(text).ok_or(EngineError::NoText)?;
        let mut mentions = store.mentions(&needle)?;
        let mut threads: BTreeSet<ThreadId> = self.threads_with(&needle)?.into_iter().collect();
        let mut affected: BTreeSet<SessionNumber> = mentions.entries.keys().copied().collect();
        affected.extend(store.sessions_by_memory(&|memory| remembers(memory, &needle))?);
        let (mut whole, mut shortened) = (Vec::new(), Vec::new());
        for number in affected {
            let Some(session) = store.session_by_number(number)? else { continue };
            match session.external_id.parse::<ThreadId>() {
                Ok(id) if session.agent == Agent::Native => {
                    threads.insert(id);
                }
                _ => shortened.push((number, session)),
            }
        }
        for id in &threads {
            whole.extend(store.session_number(id.session())?.map(|_| id.session()));
        }
        let whole = store.family(&whole)?;
        for (number, _) in &whole {
            // They are counted among what goes with the session.
            let entries = mentions.entries.remove(number).map_or(0, |seqs| seqs.len() as u64);
            mentions.places.entry("entries").and_modify(|count| *count -= entries);
        }
        let threads = threads.into_iter().collect();
        let (entries, places) = (mentions.entries, mentions.places);
        let staying = store.staying_with(&needle, &whole)?;
        let needle = Some(needle);
        let asked_at = self.now();
        let mut doom =
            Doom { whole, asked_at, needle, entries, shortened, threads, places, staying, ..Doom::default() };
        doom.places.insert("names", names_with(store, &doom)?);
        complete(store, &mut doom)?;
        Ok(doom)
    }

    /// Removes a text from sessions that stay: how many keys keep it out, and which transcripts are to be read again.
    pub(super) fn remove_mentions(
        &self,
        batch: &mut Batch<'_>,
        doom: &Doom,
        needle: &Needle,
    ) -> Result<(u64, ToRead), EngineError> {
        let mut kept_out = 0;
        for title in batch.titles_with(needle)? {
            kept_out += batch.keep_out(Agent::ALL.iter().map(|agent| title_key(*agent, &title)))?;
        }
        batch.remove_text(needle)?;
        let none = BTreeSet::new();
        for (number, session) in &doom.shortened {
            let seqs = doom.entries.get(number).unwrap_or(&none);
            kept_out += batch.keep_out(keys_to_keep_out(batch, (*number, session), seqs, needle)?)?;
            batch.remove_card(SessionKey { agent: session.agent, external_id: &session.external_id })?;
        }
        let mut to_read = ToRead::new();
        let mut again = BTreeSet::new();
        for (number, session) in &doom.shortened {
            match self.files_to_read_again(batch, *number, session)? {
                Some((root, paths)) => {
                    if again.insert(root) {
                        reset_with_children(batch, root)?;
                        to_read.entry(session.agent).or_default().extend(paths);
                    }
                }
                None => take_out(batch, (*number, session), doom.entries.get(number).unwrap_or(&none), needle)?,
            }
        }
        Ok((kept_out, to_read))
    }

    /// The transcripts of a session, or of its parent if it lives in that one's file, and the session they are of.
    /// Nothing if they do not hold all that is stored any more, or must not be read.
    fn files_to_read_again(
        &self,
        batch: &Batch<'_>,
        number: SessionNumber,
        session: &Session,
    ) -> Result<Option<(SessionNumber, Vec<PathBuf>)>, EngineError> {
        let mut root = number;
        let mut rows = batch.transcripts_of(root)?;
        if let (true, Some((parent, _))) = (rows.is_empty(), session.external_id.split_once('/')) {
            let Some(parent) = batch.number_of(SessionKey { agent: session.agent, external_id: parent })? else {
                return Ok(None);
            };
            root = parent;
            rows = batch.transcripts_of(root)?;
        }
        let mut excludes = self.excludes()?;
        let is_wanted = self.wanted_agents(None)?.contains(&session.agent);
        let may_be_read = |row: &TranscriptRow| {
            let path = Path::new(&row.path);
            is_whole(path, row) && !excludes.covers(path, session.cwd.as_deref())
        };
        let all = !rows.is_empty() && is_wanted && rows.iter().all(may_be_read);
        Ok(all.then(|| (root, rows.into_iter().map(|row| row.path.into()).collect())))
    }

    /// Threads whose log or metadata contain a text.
    fn threads_with(&self, needle: &Needle) -> Result<Vec<ThreadId>, EngineError> {
        let threads = self.threads();
        let has_it = |id: &ThreadId| {
            let log = threads.log_path(*id);
            [log.with_file_name("metadata.json"), log].iter().any(|path| {
                std::fs::read(path).is_ok_and(|bytes| {
                    let text = String::from_utf8_lossy(&bytes);
                    text.lines().any(|line| needle.is_in_json(line)) || needle.is_in_json(&text)
                })
            })
        };
        Ok(threads.ids()?.into_iter().filter(has_it).collect())
    }
}

/// By what the entries and names that go are recognised when they are met again.
fn keys_to_keep_out(
    batch: &Batch<'_>,
    (number, session): (SessionNumber, &Session),
    seqs: &BTreeSet<u64>,
    needle: &Needle,
) -> Result<Vec<NativeKey>, EngineError> {
    let mut keys = Vec::new();
    for (key, typed) in batch.keys_of(number, seqs)? {
        keys.push(key);
        keys.extend(typed.map(|text| typed_key(session.agent, &session.external_id, &text)));
    }
    let memory = batch.stored_session(number)?.and_then(|(_, memory)| memory).unwrap_or_default();
    keys.extend(keys_of_memory(session.agent, &memory, &|text| needle.is_in(text)));
    Ok(keys)
}

/// How many of the sessions that stay have a name with the text.
fn names_with(store: &Store, doom: &Doom) -> Result<u64, EngineError> {
    let known = doom.places.get("names").copied().unwrap_or_default();
    let Some(needle) = &doom.needle else { return Ok(known) };
    let mut named = 0;
    for (_, session) in &doom.shortened {
        let memory = store.memory(session.id)?.unwrap_or_default();
        named += u64::from(remembers(&memory, needle));
    }
    Ok(known + named)
}

/// Whether a file still holds what was read of it.
fn is_whole(path: &Path, row: &TranscriptRow) -> bool {
    let opened = file::open(path);
    opened.is_ok_and(|(file, stamp)| {
        stamp.size > 0 && file::has_only_grown(&file, stamp.size, row.cursor.offset, hashes_of(&row.cursor))
    })
}

/// Lets a session and the sub-agents in its file be read from the beginning.
fn reset_with_children(batch: &mut Batch<'_>, root: SessionNumber) -> Result<(), EngineError> {
    if let Some((session, _)) = batch.stored_session(root)? {
        for child in batch.inline_children(session.agent, &session.external_id)? {
            batch.reset_session(child)?;
        }
    }
    Ok(batch.reset_session(root)?)
}

/// Takes entries out of a session that cannot be read again, and tells the rest.
fn take_out(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    seqs: &BTreeSet<u64>,
    needle: &Needle,
) -> Result<(), EngineError> {
    let Some((_, Some(memory))) = batch.stored_session(number)? else { return Ok(()) };
    let Ok(mut story) = Story::resume(session.agent, &session.external_id, &memory) else { return Ok(()) };
    let spoken = batch.spoken(number)?;
    let kept: Vec<KeptEntry<'_>> = spoken
        .iter()
        .filter(|(seq, ..)| !seqs.contains(seq))
        .map(|(seq, speech, text)| KeptEntry { seq: *seq, speech: *speech, text })
        .collect();
    story.keep_only(&kept, &|text| needle.is_in(text));
    batch.remove_entries(number, seqs)?;
    let name = story.name().map(str::to_owned).or_else(|| session.name.clone().filter(|name| !needle.is_in(name)));
    let branch = session.branch.clone().filter(|branch| !needle.is_in(branch));
    retell_kept(batch, (number, &Session { branch, ..session.clone() }), story, name.as_deref())
}
