//! Writes the sessions of one transcript into the store, chunk by chunk.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rethread_ingest::agents::{explicit_thread_name, format_of};
use rethread_ingest::source::{TranscriptReader, project};
use rethread_ingest::{
    EventScope, RedactionFindings, Redactor, SessionAssembler, StoredState, TranscriptEvent, rebuild_episodes,
    subagent_conversation,
};
use rethread_model::{Agent, EntryOwner, NativeKey, Session, SessionChanges, SessionKind, Timestamp, Warning};
use rethread_store::{
    Batch, EntryContent, FileFingerprint, ReadCursor, RereadKind, SessionKey, SessionNumber, SessionUpdate, StoreError,
    TextsOf, TranscriptNumber, TranscriptRow,
};

use super::SyncTotals;
use super::facts::FactExtraction;
use super::kept_entries::restore_set_aside;
use super::plan::{JobStart, TranscriptJob, fingerprint, read_position};
use super::read::TranscriptChunk;
use crate::EngineError;
use crate::naming::{apply_stored_names, offer_names};

/// State of a sync that is shared by all transcripts.
pub(super) struct SyncProgress<'a> {
    pub(super) totals: &'a mut SyncTotals,
    /// Whether another pass is needed.
    pub(super) needs_another_pass: bool,
    projects: HashMap<String, String>,
    /// The time of the sync.
    pub(super) now: Timestamp,
    /// Whether facts are extracted.
    extracts_facts: bool,
}

impl<'a> SyncProgress<'a> {
    pub(super) fn new(totals: &'a mut SyncTotals, now: Timestamp, extracts_facts: bool) -> Self {
        Self { totals, needs_another_pass: false, projects: HashMap::new(), now, extracts_facts }
    }

    /// The project of a directory, cached: finding it needs the file system.
    fn project(&mut self, cwd: &str) -> String {
        self.projects.entry(cwd.to_owned()).or_insert_with(|| project::project_of(cwd)).clone()
    }
}

/// Writes one transcript.
pub(super) struct SessionWriter<'a> {
    job: &'a TranscriptJob,
    opened: Option<OpenTranscript>,
    has_given_up: bool,
}

/// Set after the first chunk.
struct OpenTranscript {
    transcript: TranscriptNumber,
    cursor: ReadCursor,
    kind: SessionKind,
    parent: Option<String>,
    external_id: String,
    main: OpenSession,
    /// Subagents inside the same file, by the name of their conversation.
    side_sessions: BTreeMap<String, OpenSession>,
}

/// The transcript entries come from.
#[derive(Clone, Copy)]
struct TranscriptSource<'a> {
    job: &'a TranscriptJob,
    number: TranscriptNumber,
}

/// A session that is being written.
struct OpenSession {
    number: SessionNumber,
    assembler: SessionAssembler,
    /// The state as last stored. If the stored one differs, another process wrote to the session.
    assembler_state: Option<String>,
    project: Option<String>,
    /// Whether nothing was stored before this sync.
    is_new: bool,
    /// Episodes already counted in the report.
    episodes: u64,
}

/// Answers the assembler's lookups for one session from the store.
struct BatchStoredState<'a, 's> {
    batch: &'a Batch<'s>,
    agent: Agent,
    session: SessionNumber,
    /// Nothing of the session was stored before this sync, so lookups can be skipped.
    is_new: bool,
}

impl StoredState for BatchStoredState<'_, '_> {
    type Error = StoreError;

    fn entry_owner(&self, key: NativeKey) -> Result<Option<EntryOwner>, StoreError> {
        self.batch.entry_owner(self.session, key)
    }

    fn has_queue_step(&self, key: NativeKey) -> Result<bool, StoreError> {
        Ok(!self.is_new && self.batch.has_queue_step(self.session, key)?)
    }

    fn has_node(&self, id: NativeKey) -> Result<bool, StoreError> {
        Ok(!self.is_new && self.batch.has_node(self.session, id)?)
    }

    fn is_copied_node(&self, lineage: NativeKey) -> Result<bool, StoreError> {
        self.batch.is_copied_node(self.session, lineage)
    }

    fn is_forgotten_key(&self, key: NativeKey) -> Result<bool, StoreError> {
        self.batch.has_forgotten(key)
    }

    fn is_forgotten_content(&self, at: Option<Timestamp>, text: &str, arguments: &str) -> Result<bool, StoreError> {
        self.batch.has_forgotten_content(EntryContent { agent: self.agent, at, text, arguments })
    }

    fn has_session(&self, external_id: &str) -> Result<bool, StoreError> {
        Ok(self.batch.find_session(SessionKey { agent: self.agent, external_id })?.is_some())
    }

    fn is_forgotten(&self, external_id: &str) -> Result<bool, StoreError> {
        is_forgotten(self.batch, self.agent, external_id)
    }

    fn last_prompts(&self, count: u64) -> Result<Vec<u64>, StoreError> {
        self.batch.last_prompts(self.session, count)
    }

    fn first_seq_of(&self, key: NativeKey) -> Result<Option<u64>, StoreError> {
        self.batch.first_seq_of(self.session, key)
    }

    fn has_edited(&self, path: &str) -> Result<bool, StoreError> {
        self.batch.has_edited(self.session, path)
    }
}

impl<'a> SessionWriter<'a> {
    pub(super) fn new(job: &'a TranscriptJob) -> Self {
        Self { job, opened: None, has_given_up: false }
    }

    /// Checks, at the start of a transaction, that no other process has continued this transcript in the meantime.
    pub(super) fn check_unchanged(
        &mut self,
        batch: &Batch<'_>,
        progress: &mut SyncProgress<'_>,
    ) -> Result<(), EngineError> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let row = batch.transcript(&self.job.stored_path)?;
        let stored = batch.session_with_state(opened.main.number)?;
        let same = row.is_some_and(|row| row.cursor == opened.cursor)
            && stored.is_some_and(|(_, memory)| memory == opened.main.assembler_state);
        if !same {
            self.give_up(progress);
        }
        Ok(())
    }

    /// Stores a chunk: entries, episodes, session and cursor together.
    pub(super) fn write_chunk(
        &mut self,
        batch: &mut Batch<'_>,
        chunk: TranscriptChunk,
        progress: &mut SyncProgress<'_>,
    ) -> Result<(), EngineError> {
        if self.has_given_up {
            return Ok(());
        }
        if self.opened.is_none() {
            self.opened = self.open(batch, &chunk, progress)?;
        }
        let Some(opened) = self.opened.as_mut() else {
            self.give_up(progress);
            return Ok(());
        };
        let (bytes, job) = (chunk.bytes, self.job);
        record_problems(batch, opened.transcript, &chunk, job, progress)?;
        for event in chunk.events {
            opened.push_event(batch, job, event)?;
        }
        opened.store(batch, job, bytes, progress)?;
        opened.cursor = chunk.cursor;
        let stamp = chunk
            .final_stamp
            .map_or(FileFingerprint { inode: job.stamp.inode, ..FileFingerprint::default() }, fingerprint);
        batch.set_cursor(opened.transcript, Some(opened.main.number), stamp, chunk.cursor)?;
        let report = progress.totals.agent_report(job.agent);
        report.bytes_read += bytes;
        report.files_changed += u64::from(chunk.final_stamp.is_some());
        Ok(())
    }

    /// Another process was faster, or the state cannot be read. Another pass starts from what is stored then.
    fn give_up(&mut self, progress: &mut SyncProgress<'_>) {
        self.has_given_up = true;
        progress.needs_another_pass = true;
    }

    fn open(
        &self,
        batch: &mut Batch<'_>,
        chunk: &TranscriptChunk,
        progress: &mut SyncProgress<'_>,
    ) -> Result<Option<OpenTranscript>, EngineError> {
        let path = &self.job.stored_path;
        let row = batch.transcript(path)?;
        let (transcript, number) = match (&self.job.start, row) {
            (JobStart::New(_), Some(TranscriptRow { session: Some(_), .. })) => return Ok(None),
            // Forgotten since the plan was made.
            (JobStart::New(identity), _) if is_forgotten(batch, self.job.agent, &identity.external_id)? => {
                return Ok(None);
            }
            (JobStart::New(identity), row) => {
                let transcript = match row {
                    Some(row) => row.number,
                    None => batch.add_transcript(path, self.job.agent)?,
                };
                (transcript, batch.open_session(self.job.agent, &identity.external_id)?.number)
            }
            (JobStart::Known(expected) | JobStart::Reread(expected), Some(row)) if row.cursor == expected.cursor => {
                let Some(session) = row.session else { return Ok(None) };
                (row.number, session)
            }
            _ => return Ok(None),
        };
        let Some((session, memory)) = batch.session_with_state(number)? else { return Ok(None) };
        let memory = if chunk.is_reread {
            set_aside_before_reread(batch, (number, &session), transcript, progress)?;
            if chunk.is_replaced {
                batch.start_generation(number)?;
            }
            // Other files of the same session must be read again as well.
            progress.needs_another_pass = true;
            None
        } else if matches!(self.job.start, JobStart::New(_)) && batch.is_only_imported(number)? {
            // The transcript says more than the import: its entries replace those they are equal to.
            set_aside_before_reread(batch, (number, &session), transcript, progress)?;
            None
        } else {
            memory
        };
        let format = format_of(session.agent);
        let (kind, parent) = match &self.job.start {
            JobStart::New(identity) => (identity.kind, identity.parent_external_id.clone()),
            // A name can change, so the kind is kept only if the id determines it.
            _ if format.names_subagents && !(format.is_subagent_id)(&session.external_id) => (SessionKind::Main, None),
            _ => (session.kind, None),
        };
        let Some(mut main) = OpenSession::new(batch, number, &session, memory)? else {
            set_aside_before_reread(batch, (number, &session), transcript, progress)?;
            return Ok(None);
        };
        if session.agent == Agent::Native {
            // An empty name takes back an earlier one.
            let name = explicit_thread_name(&self.job.path).unwrap_or_default();
            main.assembler.set_explicit_name(&Redactor::shared().redact(&name, &mut RedactionFindings::default()));
        } else {
            let key = SessionKey::of(&session);
            apply_stored_names(batch, key, &mut main.assembler)?;
        }
        let external_id = session.external_id;
        let cursor = chunk.cursor;
        Ok(Some(OpenTranscript { transcript, cursor, kind, parent, external_id, main, side_sessions: BTreeMap::new() }))
    }
}

impl OpenTranscript {
    fn push_event(
        &mut self,
        batch: &mut Batch<'_>,
        job: &TranscriptJob,
        mut event: TranscriptEvent,
    ) -> Result<(), EngineError> {
        if self.kind == SessionKind::Child {
            // The whole file belongs to one subagent.
            event.scope = EventScope::Main;
        }
        let session = match subagent_conversation(&mut self.main.assembler, &event) {
            None => &mut self.main,
            Some(name) => {
                if !self.side_sessions.contains_key(&name) {
                    let side = open_side_session(batch, job, &self.external_id, &name)?;
                    self.side_sessions.extend(side.map(|side| (name.clone(), side)));
                }
                match self.side_sessions.get_mut(&name) {
                    Some(side) => side,
                    None => return Ok(()),
                }
            }
        };
        let known = BatchStoredState { batch, agent: job.agent, session: session.number, is_new: session.is_new };
        Ok(session.assembler.apply(event, &known)?)
    }

    fn store(
        &mut self,
        batch: &mut Batch<'_>,
        job: &TranscriptJob,
        bytes: u64,
        progress: &mut SyncProgress<'_>,
    ) -> Result<(), EngineError> {
        let is_child = self.kind == SessionKind::Child || self.main.assembler.has_child_name();
        let kind = if is_child { SessionKind::Child } else { SessionKind::Main };
        let forked_from = match self.parent {
            None => fork_parent(batch, job.agent, &self.main, &self.external_id)?,
            Some(_) => None,
        };
        let parent = self.parent.as_deref().or(forked_from.as_deref());
        let source = TranscriptSource { job, number: self.transcript };
        self.main.store(batch, source, (kind, parent), bytes, progress)?;
        for side in self.side_sessions.values_mut() {
            side.store(batch, source, (SessionKind::Child, Some(&self.external_id)), 0, progress)?;
        }
        Ok(())
    }
}

impl OpenSession {
    /// Restores the assembler. `None` if its stored state cannot be read.
    fn new(
        batch: &Batch<'_>,
        number: SessionNumber,
        session: &Session,
        assembler_state: Option<String>,
    ) -> Result<Option<Self>, StoreError> {
        let assembler = match &assembler_state {
            None => SessionAssembler::new(session.agent, &session.external_id),
            Some(state) => match SessionAssembler::resume(session.agent, &session.external_id, state) {
                Ok(assembler) => assembler,
                Err(_) => return Ok(None),
            },
        };
        let episodes = assembler.counts(session.kind).episodes;
        // A session that is read again may have parts whose transcripts are gone.
        let is_new = assembler_state.is_none() && !batch.is_set_aside(number)?;
        let project = session.project.clone();
        Ok(Some(Self { number, assembler, assembler_state, project, is_new, episodes }))
    }

    fn store(
        &mut self,
        batch: &mut Batch<'_>,
        source: TranscriptSource<'_>,
        (kind, parent): (SessionKind, Option<&str>),
        bytes: u64,
        progress: &mut SyncProgress<'_>,
    ) -> Result<(), EngineError> {
        let job = source.job;
        let changes = self.assembler.take_changes();
        // A known project is kept: its directory may be gone by the next sync.
        if let (None, Some(cwd)) = (&self.project, &self.assembler.info().cwd) {
            self.project = Some(progress.project(cwd));
        }
        let is_name_retracted = self.assembler.retract_name(&changes.retracted);
        let spoken = changes.entries.iter().filter(|new| !changes.retracted.contains(&new.entry.seq));
        let spoken = spoken.map(|new| (new.entry.seq, new.entry.kind, new.entry.text.as_str()));
        offer_names(&mut self.assembler, job.agent, self.project.as_deref(), spoken);
        let report = progress.totals.agent_report(job.agent);
        report.entries += changes.entries.len() as u64;
        batch.apply_changes(self.number, Some(source.number), &changes, self.assembler.open_episode().as_ref())?;
        if is_name_retracted {
            // Another entry gives the name, perhaps one that was passed over before.
            self.assembler.clear_derived_name();
            let texts = batch.entry_texts(self.number, TextsOf::Conversation)?;
            let spoken = texts.iter().map(|(seq, kind, text)| (*seq, *kind, text.as_str()));
            offer_names(&mut self.assembler, job.agent, self.project.as_deref(), spoken);
        }
        if changes.should_rebuild_episodes {
            let (entries, nodes) = batch.entry_outlines(self.number)?;
            let rebuilt = rebuild_episodes(&entries, &nodes, self.assembler.leaf());
            batch.apply_rebuild(self.number, &rebuilt.episodes, &rebuilt.placements, rebuilt.edited_paths.iter())?;
            self.assembler.continue_from(&rebuilt);
        }
        let episodes = self.assembler.counts(kind).episodes;
        progress.totals.agent_report(job.agent).episodes += episodes.saturating_sub(self.episodes);
        self.episodes = episodes;
        let memory = self.assembler.save().map_err(EngineError::SerializeState)?;
        self.save(batch, job, (kind, parent), (&memory, bytes))?;
        self.assembler_state = Some(memory);
        self.extract_facts(batch, &changes, progress, job.agent)
    }

    fn extract_facts(
        &self,
        batch: &mut Batch<'_>,
        changes: &SessionChanges,
        progress: &mut SyncProgress<'_>,
        agent: Agent,
    ) -> Result<(), EngineError> {
        if !progress.extracts_facts {
            return Ok(());
        }
        let now = progress.now;
        let roots = [self.project.as_deref(), self.assembler.info().cwd.as_deref()];
        let extraction = FactExtraction { session: self.number, roots: &roots.map(Option::unwrap_or_default), now };
        let more = if changes.should_rebuild_episodes {
            extraction.extract_all(batch)?
        } else {
            extraction.extract_after_changes(batch, changes)?
        };
        let facts = &mut progress.totals.agent_report(agent).facts;
        *facts = facts.saturating_add_signed(more);
        Ok(())
    }

    fn save(
        &mut self,
        batch: &mut Batch<'_>,
        job: &TranscriptJob,
        (kind, parent_external_id): (SessionKind, Option<&str>),
        (assembler_state, bytes_read): (&str, u64),
    ) -> Result<(), EngineError> {
        let setting = self.assembler.info();
        let path = &job.stored_path;
        let namespace = self.project.as_deref().map(project::namespace_of);
        let name = self.assembler.name();
        let update = SessionUpdate {
            kind,
            parent_external_id,
            name: Some(&name),
            cwd: setting.cwd.as_deref(),
            project: self.project.as_deref(),
            namespace: namespace.as_deref(),
            branch: setting.branch.as_deref(),
            model: setting.model.as_deref(),
            started_at: setting.started_at,
            last_activity_at: setting.last_activity_at,
            transcript_path: Some(path),
            counts: self.assembler.counts(kind),
            kept_tokens: self.assembler.kept_tokens(),
            is_empty: self.assembler.is_empty(),
            assembler_state,
            bytes_read,
        };
        Ok(batch.save_session(self.number, &update)?)
    }
}

/// The agent's id of the session that this one was forked from: as recorded, by the path of its transcript, or as the
/// owner of the entries copied from it.
fn fork_parent(
    batch: &Batch<'_>,
    agent: Agent,
    session: &OpenSession,
    external_id: &str,
) -> Result<Option<String>, EngineError> {
    let info = session.assembler.info();
    let number = match (&info.forked_from, info.copied_entry) {
        (Some(path), _) => batch.transcript(path)?.and_then(|row| row.session),
        (None, Some(entry)) => batch.entry_session(entry)?,
        (None, None) => None,
    };
    let stored = number.map(|number| batch.session_with_state(number)).transpose()?.flatten();
    let stored = stored.map(|(parent, _)| parent).filter(|parent| parent.kind == SessionKind::Main);
    let in_path = || (format_of(agent).session_id_in_path)(info.forked_from.as_deref()?).map(str::to_owned);
    let parent = info.parent_id.clone().or(stored.map(|parent| parent.external_id)).or_else(in_path);
    Ok(parent.filter(|parent| parent != external_id))
}

/// Sets aside what was stored of a session and of its subagents in the same file. What the reading does not give again
/// is restored when it is complete.
fn set_aside_before_reread(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    transcript: TranscriptNumber,
    progress: &mut SyncProgress<'_>,
) -> Result<(), EngineError> {
    let mut rereads = Vec::new();
    for row in batch.session_transcripts(number)? {
        rereads.extend(reread_kind(&row).map(|kind| (row.number, kind)));
    }
    let mut sessions = batch.inline_children(session.agent, &session.external_id)?;
    sessions.push(number);
    for number in sessions {
        // An earlier reading may have been interrupted.
        restore_set_aside(batch, number, progress.totals)?;
        batch.set_session_aside(number, &rereads)?;
        batch.clear_imported_steps(number)?;
        progress.totals.add_set_aside(number);
    }
    Ok(batch.clear_transcript_problems(transcript)?)
}

/// How a transcript will be read again; `None` if it cannot be read now.
pub(crate) fn reread_kind(row: &TranscriptRow) -> Option<RereadKind> {
    let transcript = TranscriptReader::open(row.agent, Path::new(&row.path)).ok();
    let transcript = transcript.filter(|transcript| transcript.stamp.size > 0)?;
    let is_unchanged = transcript.has_only_grown(&read_position(&row.cursor));
    Some(if is_unchanged || row.cursor.offset == 0 { RereadKind::Unchanged } else { RereadKind::Rewritten })
}

fn is_forgotten(batch: &Batch<'_>, agent: Agent, external_id: &str) -> Result<bool, StoreError> {
    batch.is_forgotten(SessionKey { agent, external_id })
}

fn open_side_session(
    batch: &mut Batch<'_>,
    job: &TranscriptJob,
    parent: &str,
    name: &str,
) -> Result<Option<OpenSession>, EngineError> {
    let external_id = format!("{parent}/{name}");
    if is_forgotten(batch, job.agent, &external_id)? {
        return Ok(None);
    }
    let number = batch.open_session(job.agent, &external_id)?.number;
    let Some((session, memory)) = batch.session_with_state(number)? else { return Ok(None) };
    Ok(OpenSession::new(batch, number, &session, memory)?)
}

/// Records the problems and redactions of a chunk.
fn record_problems(
    batch: &mut Batch<'_>,
    transcript: TranscriptNumber,
    chunk: &TranscriptChunk,
    job: &TranscriptJob,
    progress: &mut SyncProgress<'_>,
) -> Result<(), EngineError> {
    let report = progress.totals.agent_report(job.agent);
    for (line, message) in &chunk.problems {
        batch.add_transcript_problem(transcript, *line, message)?;
        let file = job.path.display().to_string();
        report.warnings.push(Warning { file, line: Some(*line), message: message.clone() });
    }
    for (rule, count) in chunk.findings.iter() {
        batch.add_redactions(rule, count)?;
        report.redactions += count;
    }
    Ok(())
}
