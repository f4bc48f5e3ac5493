//! Tells the story of one transcript's session, chunk by chunk, into the store.

use std::collections::{BTreeMap, HashMap};

use rethread_ingest::source::{given_name, project};
use rethread_ingest::{Event, Findings, Known, Redactor, Story, Voice, retell, side_name};
use rethread_model::thread::UNNAMED;
use rethread_model::{Agent, Changes, NativeKey, Owner, Session, SessionKind, Timestamp, Warning};
use rethread_store::{
    Batch, Cursor, Fingerprint, SessionKey, SessionNumber, SessionUpdate, StoreError, TranscriptNumber, TranscriptRow,
};

use super::Tally;
use super::facts::Drawing;
use super::plan::{Job, Start, fingerprint};
use super::read::Chunk;
use crate::EngineError;

/// What is noted while transcripts are written.
pub(super) struct Ledger<'a> {
    pub(super) tally: &'a mut Tally,
    /// Whether another pass is needed.
    pub(super) again: bool,
    /// Whether names for sessions in other files were found.
    pub(super) has_titles: bool,
    projects: HashMap<String, String>,
    /// When what is written is learned; nothing when facts are not wanted.
    learned_at: Option<Timestamp>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(tally: &'a mut Tally, learned_at: Option<Timestamp>) -> Self {
        Self { tally, again: false, has_titles: false, projects: HashMap::new(), learned_at }
    }

    /// The project of a directory; asked of the file system once.
    fn project(&mut self, cwd: &str) -> String {
        self.projects.entry(cwd.to_owned()).or_insert_with(|| project::project_of(cwd)).clone()
    }
}

/// One transcript while it is being written.
pub(super) struct Telling<'a> {
    job: &'a Job,
    opened: Option<Opened>,
    given_up: bool,
}

/// What is known after the first chunk.
struct Opened {
    transcript: TranscriptNumber,
    cursor: Cursor,
    kind: SessionKind,
    parent: Option<String>,
    external_id: String,
    main: Told,
    /// Sub-agents inside the same file, by the name of their conversation.
    sides: BTreeMap<String, Told>,
}

/// A session's story and where it is stored.
struct Told {
    number: SessionNumber,
    story: Story,
    /// The memory as last stored, by which another writer is noticed.
    memory: Option<String>,
    project: Option<String>,
    /// Whether nothing was stored before this reading.
    is_new: bool,
    /// Episodes counted so far.
    episodes: u64,
}

/// What the store knows, seen from one session.
struct KnownHere<'a, 's> {
    batch: &'a Batch<'s>,
    agent: Agent,
    session: SessionNumber,
    /// Set while nothing of the session was stored before this reading, so that nothing need be looked up.
    is_new: bool,
}

impl Known for KnownHere<'_, '_> {
    type Error = StoreError;

    fn owner(&self, key: NativeKey) -> Result<Option<Owner>, StoreError> {
        self.batch.owner(self.session, key)
    }

    fn has_queued(&self, key: NativeKey) -> Result<bool, StoreError> {
        Ok(!self.is_new && self.batch.has_queued(self.session, key)?)
    }

    fn has_node(&self, id: NativeKey) -> Result<bool, StoreError> {
        Ok(!self.is_new && self.batch.has_node(self.session, id)?)
    }

    fn is_copied_node(&self, lineage: NativeKey) -> Result<bool, StoreError> {
        self.batch.is_copied_node(self.session, lineage)
    }

    fn is_forgotten(&self, external_id: &str) -> Result<bool, StoreError> {
        is_forgotten(self.batch, self.agent, external_id)
    }

    fn has_edited(&self, path: &str) -> Result<bool, StoreError> {
        self.batch.has_edited(self.session, path)
    }
}

impl<'a> Telling<'a> {
    pub(super) fn new(job: &'a Job) -> Self {
        Self { job, opened: None, given_up: false }
    }

    /// Makes sure, at the beginning of a transaction, that nobody else went on with this transcript meanwhile.
    pub(super) fn check(&mut self, batch: &Batch<'_>, ledger: &mut Ledger<'_>) -> Result<(), EngineError> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let row = batch.transcript(&self.job.path.to_string_lossy())?;
        let stored = batch.stored_session(opened.main.number)?;
        let same = row.is_some_and(|row| row.cursor == opened.cursor)
            && stored.is_some_and(|(_, memory)| memory == opened.main.memory);
        if !same {
            self.give_up(ledger);
        }
        Ok(())
    }

    /// Stores a chunk: entries, episodes, session and cursor together.
    pub(super) fn take(
        &mut self,
        batch: &mut Batch<'_>,
        chunk: Chunk,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), EngineError> {
        if self.given_up {
            return Ok(());
        }
        if self.opened.is_none() {
            self.opened = self.open(batch, &chunk, ledger)?;
        }
        let Some(opened) = self.opened.as_mut() else {
            self.give_up(ledger);
            return Ok(());
        };
        let (bytes, job) = (chunk.bytes, self.job);
        note(batch, opened.transcript, &chunk, job, ledger)?;
        for event in chunk.events {
            opened.tell(batch, job, event)?;
        }
        opened.store(batch, job, bytes, ledger)?;
        opened.cursor = chunk.cursor;
        let stamp =
            chunk.finished.map_or(Fingerprint { inode: job.stamp.inode, ..Fingerprint::default() }, fingerprint);
        batch.set_cursor(opened.transcript, Some(opened.main.number), stamp, chunk.cursor)?;
        let report = ledger.tally.of(job.agent);
        report.bytes_read += bytes;
        report.files_changed += u64::from(chunk.finished.is_some());
        Ok(())
    }

    /// Another process was faster, or the memory is unreadable: what is there now decides, in another pass.
    fn give_up(&mut self, ledger: &mut Ledger<'_>) {
        self.given_up = true;
        ledger.again = true;
    }

    fn open(
        &self,
        batch: &mut Batch<'_>,
        chunk: &Chunk,
        ledger: &mut Ledger<'_>,
    ) -> Result<Option<Opened>, EngineError> {
        let path = self.job.path.to_string_lossy();
        let row = batch.transcript(&path)?;
        let (transcript, number) = match (&self.job.start, row) {
            (Start::New(_), Some(TranscriptRow { session: Some(_), .. })) => return Ok(None),
            // Forgotten since the plan was made.
            (Start::New(identity), _) if is_forgotten(batch, self.job.agent, &identity.external_id)? => {
                return Ok(None);
            }
            (Start::New(identity), row) => {
                let transcript = match row {
                    Some(row) => row.number,
                    None => batch.add_transcript(&path, self.job.agent)?,
                };
                (transcript, batch.open_session(self.job.agent, &identity.external_id)?.number)
            }
            (Start::Known(expected) | Start::Again(expected), Some(row)) if row.cursor == expected.cursor => {
                let Some(session) = row.session else { return Ok(None) };
                (row.number, session)
            }
            _ => return Ok(None),
        };
        let Some((session, memory)) = batch.stored_session(number)? else { return Ok(None) };
        let memory = if chunk.anew {
            forget(batch, number, transcript, &session)?;
            // Other files of the same session must be read anew as well.
            ledger.again = true;
            None
        } else {
            memory
        };
        let (kind, parent) = match &self.job.start {
            Start::New(identity) => (identity.kind, identity.parent.clone()),
            // A name may come and go, so only what the path or the id says is taken from before.
            _ if session.agent == Agent::Pi && !session.external_id.starts_with("subagent-") => {
                (SessionKind::Main, None)
            }
            _ => (session.kind, None),
        };
        let Some(mut main) = Told::new(number, &session, memory) else {
            forget(batch, number, transcript, &session)?;
            return Ok(None);
        };
        if let Some(name) = self.given_name(batch, &session)? {
            main.story.given_name(&name);
        }
        let external_id = session.external_id;
        let cursor = chunk.cursor;
        Ok(Some(Opened { transcript, cursor, kind, parent, external_id, main, sides: BTreeMap::new() }))
    }
}

impl Telling<'_> {
    /// The name the user gave a session, which no transcript holds.
    fn given_name(&self, batch: &Batch<'_>, session: &Session) -> Result<Option<String>, EngineError> {
        if session.agent == Agent::Native {
            let name = given_name(&self.job.path);
            return Ok(name.map(|name| Redactor::shared().clean(&name, &mut Findings::default()).into_owned()));
        }
        let key = SessionKey { agent: session.agent, external_id: &session.external_id };
        Ok(batch.life(key)?.and_then(|life| life.name))
    }
}

impl Opened {
    fn tell(&mut self, batch: &mut Batch<'_>, job: &Job, mut event: Event) -> Result<(), EngineError> {
        if self.kind == SessionKind::Child {
            // The whole file is one sub-agent's.
            event.voice = Voice::Main;
        }
        let told = match side_name(&mut self.main.story, &event) {
            None => &mut self.main,
            Some(name) => {
                if !self.sides.contains_key(&name) {
                    let side = open_side(batch, job, &self.external_id, &name)?;
                    self.sides.extend(side.map(|side| (name.clone(), side)));
                }
                match self.sides.get_mut(&name) {
                    Some(side) => side,
                    None => return Ok(()),
                }
            }
        };
        let known = KnownHere { batch, agent: job.agent, session: told.number, is_new: told.is_new };
        Ok(told.story.take(event, &known)?)
    }

    fn store(
        &mut self,
        batch: &mut Batch<'_>,
        job: &Job,
        bytes: u64,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), EngineError> {
        let is_child = self.kind == SessionKind::Child || self.main.story.is_named_as_child();
        let kind = if is_child { SessionKind::Child } else { SessionKind::Main };
        self.main.store(batch, job, (kind, self.parent.as_deref()), bytes, ledger)?;
        for side in self.sides.values_mut() {
            side.store(batch, job, (SessionKind::Child, Some(&self.external_id)), 0, ledger)?;
        }
        Ok(())
    }
}

impl Told {
    /// Takes a story up; nothing when its memory cannot be read.
    fn new(number: SessionNumber, session: &Session, memory: Option<String>) -> Option<Self> {
        let story = match &memory {
            None => Story::new(session.agent, &session.external_id),
            Some(memory) => Story::resume(session.agent, &session.external_id, memory).ok()?,
        };
        let episodes = story.counts(session.kind).episodes;
        let is_new = memory.is_none();
        Some(Self { number, story, memory, project: session.project.clone(), is_new, episodes })
    }

    fn store(
        &mut self,
        batch: &mut Batch<'_>,
        job: &Job,
        (kind, parent): (SessionKind, Option<&str>),
        bytes: u64,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), EngineError> {
        let changes = self.story.take_changes();
        let report = ledger.tally.of(job.agent);
        report.entries += changes.entries.len() as u64;
        ledger.has_titles |= !changes.titles_elsewhere.is_empty();
        batch.apply(self.number, &changes, self.story.open_episode().as_ref())?;
        if changes.retell {
            let (entries, nodes) = batch.skeletons(self.number)?;
            let retold = retell(&entries, &nodes, self.story.leaf());
            batch.apply_retelling(self.number, &retold.episodes, &retold.placed, retold.edited.iter())?;
            self.story.adopt(&retold);
        }
        let episodes = self.story.counts(kind).episodes;
        ledger.tally.of(job.agent).episodes += episodes.saturating_sub(self.episodes);
        self.episodes = episodes;
        let memory = self.story.save().map_err(EngineError::Memory)?;
        self.save(batch, job, (kind, parent), (&memory, bytes), ledger)?;
        self.memory = Some(memory);
        self.draw_facts(batch, &changes, ledger, job.agent)
    }

    fn draw_facts(
        &self,
        batch: &mut Batch<'_>,
        changes: &Changes,
        ledger: &mut Ledger<'_>,
        agent: Agent,
    ) -> Result<(), EngineError> {
        let Some(now) = ledger.learned_at else { return Ok(()) };
        let roots = [self.project.as_deref(), self.story.setting().cwd.as_deref()];
        let drawing = Drawing { session: self.number, roots: &roots.map(Option::unwrap_or_default), now };
        let more = if changes.retell { drawing.anew(batch)? } else { drawing.after_changes(batch, changes)? };
        let facts = &mut ledger.tally.of(agent).facts;
        *facts = facts.saturating_add_signed(more);
        Ok(())
    }

    fn save(
        &mut self,
        batch: &mut Batch<'_>,
        job: &Job,
        (kind, parent_external): (SessionKind, Option<&str>),
        (memory, bytes_read): (&str, u64),
        ledger: &mut Ledger<'_>,
    ) -> Result<(), EngineError> {
        let setting = self.story.setting();
        // A project once found stays: its directory may be gone by the next reading.
        if let (None, Some(cwd)) = (&self.project, &setting.cwd) {
            self.project = Some(ledger.project(cwd));
        }
        let path = job.path.to_string_lossy();
        let namespace = self.project.as_deref().map(project::namespace_of);
        // The logs of threads are all called the same.
        let stem = match job.agent {
            Agent::Native => UNNAMED.into(),
            _ => job.path.file_stem().unwrap_or_default().to_string_lossy(),
        };
        let update = SessionUpdate {
            kind,
            parent_external,
            name: self.story.name().or(Some(&stem)),
            cwd: setting.cwd.as_deref(),
            project: self.project.as_deref(),
            namespace: namespace.as_deref(),
            branch: setting.branch.as_deref(),
            model: setting.model.as_deref(),
            started_at: setting.started_at,
            last_activity_at: setting.last_activity_at,
            transcript: Some(&path),
            counts: self.story.counts(kind),
            kept_tokens: self.story.kept_tokens(),
            empty: self.story.is_empty(),
            memory,
            bytes_read,
        };
        Ok(batch.save_session(self.number, &update)?)
    }
}

/// Removes what was stored of a session, its sub-agents inside the same file included.
fn forget(
    batch: &mut Batch<'_>,
    number: SessionNumber,
    transcript: TranscriptNumber,
    session: &Session,
) -> Result<(), EngineError> {
    for child in batch.inline_children(session.agent, &session.external_id)? {
        batch.reset_session(child)?;
    }
    batch.reset_session(number)?;
    Ok(batch.clear_problems(transcript)?)
}

fn is_forgotten(batch: &Batch<'_>, agent: Agent, external_id: &str) -> Result<bool, StoreError> {
    batch.is_forgotten(SessionKey { agent, external_id })
}

fn open_side(batch: &mut Batch<'_>, job: &Job, parent: &str, name: &str) -> Result<Option<Told>, EngineError> {
    let external_id = format!("{parent}/{name}");
    if is_forgotten(batch, job.agent, &external_id)? {
        return Ok(None);
    }
    let number = batch.open_session(job.agent, &external_id)?.number;
    let Some((session, memory)) = batch.stored_session(number)? else { return Ok(None) };
    Ok(Told::new(number, &session, memory))
}

/// Notes what was wrong with a chunk's lines and what was taken out of them.
fn note(
    batch: &mut Batch<'_>,
    transcript: TranscriptNumber,
    chunk: &Chunk,
    job: &Job,
    ledger: &mut Ledger<'_>,
) -> Result<(), EngineError> {
    let report = ledger.tally.of(job.agent);
    for (line, message) in &chunk.problems {
        batch.add_problem(transcript, *line, message)?;
        let file = job.path.display().to_string();
        report.warnings.push(Warning { file, line: Some(*line), message: message.clone() });
    }
    for (rule, count) in chunk.findings.iter() {
        batch.add_redactions(rule, count)?;
        report.redactions += count;
    }
    Ok(())
}
