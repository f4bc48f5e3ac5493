//! What a session is told with a prompt: composed from what is new, recorded, and never said twice.

use std::path::PathBuf;
use std::time::Instant;

use rethread_ingest::source::project;
use rethread_model::{Agent, State, Timestamp};
use rethread_recall::{
    Activity, Composed, Part, PartKind, REFERENCE_CUT, SessionView, activity, compose, entities, resume_context,
};
use rethread_store::{Batch, Injected, LifeEvent, SessionKey, SessionNumber, Store, StoreError, Watermark};
use serde_json::json;

use super::Lifecycle;
use super::neighbours::Neighbours;
use super::view::{Own, SessionSummary};
use super::words::{beginning, preview, without_secrets};
use crate::{Engine, EngineError};

/// Texts that machines put into a prompt's place; nobody reads an answer to them.
const MACHINE_PROMPTS: [&str; 5] =
    ["<task-notification", "<teammate-message", "<cross-session-message", "<local-command", "<tick>"];

/// Characters of a prompt that are kept of it as an event.
const PREVIEW_CHARS: usize = 100;
/// Lines so young belong to what happens right now.
const SAME_MOMENT_MILLIS: i64 = 15_000;
/// Where Claude Code says which project it was started in.
const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";
/// Stands among what a session was told while its context is new and it was not told so.
pub(super) const NEW_CONTEXT: &str = "rethread: the context is new";

/// A session, as the agent that works in it names it.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The agent.
    pub(crate) agent: Agent,
    /// The agent's id of the session.
    pub(crate) external_id: String,
    /// Where it works.
    pub(crate) cwd: PathBuf,
    /// Its transcript, if the agent says.
    pub(crate) transcript: Option<PathBuf>,
}

/// What would be told, and why.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The block; nothing if there is nothing to say.
    pub composed: Option<Composed>,
    /// What was looked at and is not told, and why not.
    pub silent: Vec<String>,
    /// The state of the session.
    pub state: State,
    /// The session itself, in numbers and names.
    pub session: SessionSummary,
}

/// Why somebody is told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion<'a> {
    /// A human typed this.
    Prompt(&'a str),
    /// A session is opened again, with all that was said in it.
    Return,
    /// A session goes on with a new context: cleared or compacted.
    NewContext,
}

/// Everything that is known at one moment about a session and those beside it.
pub(super) struct Moment {
    pub(super) own: Own,
    pub(super) project: String,
    pub(super) activity: Option<Activity>,
    /// When something last happened in the session before this moment.
    last_activity: Option<Timestamp>,
    neighbours: Neighbours,
    pub(super) lifecycle: Lifecycle,
    pub(super) state: State,
    pub(super) silence_millis: i64,
    pub(super) now: Timestamp,
}

impl Caller {
    pub(crate) fn key(&self) -> SessionKey<'_> {
        SessionKey { agent: self.agent, external_id: &self.external_id }
    }

    /// The project it works in right now.
    pub(crate) fn project(&self) -> String {
        project::project_of(&self.cwd.to_string_lossy())
    }
}

impl Engine {
    /// What to tell a session with a prompt. Notes that it was told.
    pub(crate) fn told_with_prompt(&self, caller: &Caller, prompt: &str) -> Result<Option<String>, EngineError> {
        let began = Instant::now();
        let mut store = self.writer()?;
        let before = last_activity(&store, caller)?;
        self.read_own(&mut store, caller)?;
        if is_machine_prompt(prompt) {
            return Ok(None);
        }
        let project = self.project_of(&store, caller)?;
        self.catch_up(&mut store, &project, self.now())?;
        let event =
            LifeEvent { at: self.now(), kind: "prompt_submitted".to_owned(), detail: preview(prompt, PREVIEW_CHARS) };
        self.tell(&mut store, caller, Occasion::Prompt(prompt), before, &event, began)
    }

    /// What to tell a session that begins again.
    pub(crate) fn told_on_return(
        &self,
        caller: &Caller,
        source: &str,
        has_forgotten: bool,
    ) -> Result<Option<String>, EngineError> {
        let began = Instant::now();
        let mut store = self.writer()?;
        let before = last_activity(&store, caller)?;
        self.read_own(&mut store, caller)?;
        if has_forgotten {
            let mut batch = store.begin()?;
            batch.untell(caller.key())?;
            batch.commit()?;
        }
        if source == "clear" {
            let project = self.project_of(&store, caller)?;
            Self::pass_over_cleared(&mut store, caller.key(), &project, self.now())?;
        }
        let event =
            LifeEvent { at: self.now(), kind: "session_start".to_owned(), detail: preview(source, PREVIEW_CHARS) };
        let occasion = if has_forgotten { Occasion::NewContext } else { Occasion::Return };
        self.tell(&mut store, caller, occasion, before, &event, began)
    }

    /// Notes that a session's context is new: what it would be told at once, it is told with its next prompt.
    pub(crate) fn note_new_context(&self, caller: &Caller) -> Result<(), EngineError> {
        let mut store = self.recorder()?;
        self.read_own(&mut store, caller)?;
        let mut batch = store.begin()?;
        batch.untell(caller.key())?;
        batch.tell(caller.key(), hash_of(NEW_CONTEXT), self.now())?;
        Ok(batch.commit()?)
    }

    /// What the other sessions did, for a reader; its watermark moves unless somebody only peeks.
    pub fn activity(&self, reference: &str, peek: bool) -> Result<Option<Activity>, EngineError> {
        let mut store = self.writer()?;
        let caller = self.caller(&store, reference)?;
        let now = self.now();
        let project = self.project_of(&store, &caller)?;
        self.catch_up(&mut store, &project, now)?;
        let moment = self.moment_of(&store, &caller, last_activity(&store, &caller)?, now)?;
        if !peek {
            let mut batch = store.begin()?;
            for mark in moment.marks_told().chain(&moment.neighbours.quiet) {
                batch.see(caller.key(), *mark)?;
            }
            batch.commit()?;
        }
        Ok(moment.activity)
    }

    /// What the other sessions did, for a reader, as far as it was read: nothing is read now, moved or noted.
    pub fn activity_at_hand(&self, reference: &str) -> Result<Option<Activity>, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        Ok(self.moment_of(&store, &caller, last_activity(&store, &caller)?, self.now())?.activity)
    }

    /// What the prompt hook would add, and why. Reads what is new in transcripts; moves nothing and notes nothing.
    pub fn explain(&self, reference: &str, prompt: &str) -> Result<Explained, EngineError> {
        let mut store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        let before = last_activity(&store, &caller)?;
        let project = self.project_of(&store, &caller)?;
        if let Err(error) = self.catch_up(&mut store, &project, self.now()) {
            // Who may only read is told what was read before.
            self.note_trouble("inject", &error);
        }
        let moment = self.moment_of(&store, &caller, before, self.now())?;
        let view = moment.own.view(&store, caller.key(), moment.lifecycle, moment.now)?;
        let session = moment.own.summary(&view, moment.state, moment.now);
        if is_machine_prompt(prompt) {
            let silent = vec!["everything: a machine wrote the prompt, or nobody did".to_owned()];
            return Ok(Explained { composed: None, silent, state: moment.state, session });
        }
        let (parts, silent) = self.parts(&store, &caller, &moment, Occasion::Prompt(prompt))?;
        Ok(Explained { composed: self.composed(parts), silent, state: moment.state, session })
    }

    /// The last texts that were given to a session, newest first.
    pub fn told_to(&self, reference: &str, most: u64) -> Result<Vec<Injected>, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        Ok(store.injections(caller.key(), most)?)
    }

    /// The words that would greet a session now.
    pub fn resume_text(&self, reference: &str) -> Result<String, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let caller = self.caller(&store, reference)?;
        let moment = self.moment_of(&store, &caller, last_activity(&store, &caller)?, self.now())?;
        let view = moment.past(&store, caller.key())?;
        Ok(resume_context(&view, moment.silence_millis, moment.now))
    }

    fn tell(
        &self,
        store: &mut Store,
        caller: &Caller,
        occasion: Occasion<'_>,
        before: Option<Timestamp>,
        event: &LifeEvent,
        began: Instant,
    ) -> Result<Option<String>, EngineError> {
        // Looked at before the session is touched: afterwards it is no longer idle.
        let (moment, parts, finished) = store.at_one_moment(|store| -> Result<_, EngineError> {
            let moment = self.moment_of(store, caller, before, event.at)?;
            let (parts, _) = self.parts(store, caller, &moment, occasion)?;
            let finished = self.finished(store, caller.key(), &moment.own, moment.last_activity, moment.now)?;
            Ok((moment, parts, finished))
        })?;
        let mut batch = store.begin()?;
        let named = occasion.entities();
        let ended = moment.lifecycle.touch(&mut batch, caller.key(), moment.last_activity, event, named)?;
        if let Some(period) = finished.filter(|finished| ended == Some(finished.period)) {
            batch.keep_period(&period)?;
        }
        let composed = self.claim(&mut batch, caller, &moment, parts)?;
        if matches!(occasion, Occasion::Prompt(_)) {
            batch.untell_one(caller.key(), hash_of(NEW_CONTEXT))?;
        }
        if let Some(composed) = &composed {
            batch.add_injection(caller.key(), &record(composed, occasion.hook(caller.agent), moment.now, began))?;
        }
        batch.commit()?;
        for part in composed.iter().flat_map(|composed| &composed.parts) {
            if part.kind == PartKind::References {
                let is_cut = part.text.contains(REFERENCE_CUT);
                let fields = [
                    ("outcome", part.reason.as_str().into()),
                    ("bytes", part.text.len().into()),
                    ("truncated", is_cut.into()),
                ];
                self.note("session-reference:inject", None, &fields);
            }
        }
        self.write_archives(store);
        Ok(composed.map(|composed| composed.text))
    }

    /// Puts together what has room, and notes that it is told. What another hook told at the same time is left out.
    fn claim(
        &self,
        batch: &mut Batch<'_>,
        caller: &Caller,
        moment: &Moment,
        parts: Vec<Part>,
    ) -> Result<Option<Composed>, EngineError> {
        for mark in &moment.neighbours.quiet {
            batch.see(caller.key(), *mark)?;
        }
        let Some(composed) = self.composed(parts) else { return Ok(None) };
        let mut fresh = Vec::new();
        for part in &composed.parts {
            let mut is_new = true;
            if part.kind == PartKind::Activity {
                for mark in moment.marks_told() {
                    is_new &= batch.see(caller.key(), *mark)?;
                }
            }
            let mut says_new = part.says.is_empty();
            for said in &part.says {
                says_new |= batch.tell(caller.key(), *said, moment.now)?;
            }
            is_new &= says_new;
            fresh.extend(is_new.then(|| part.clone()));
        }
        Ok(if fresh.len() == composed.parts.len() { Some(composed) } else { self.composed(fresh) })
    }

    /// The project of a session: as its transcript tells it, which a change of directory does not change.
    pub(super) fn project_of(&self, store: &Store, caller: &Caller) -> Result<String, EngineError> {
        if let Some(project) = store.session_of(caller.key())?.and_then(|(_, session)| session.project) {
            return Ok(project);
        }
        let named = self.environment.variables.iter().find(|(name, _)| name == PROJECT_VARIABLE);
        let named = named.map(|(_, folder)| folder.as_str()).filter(|_| caller.agent == Agent::ClaudeCode);
        Ok(project::project_of(named.unwrap_or(&caller.cwd.to_string_lossy())))
    }

    fn moment_of(
        &self,
        store: &Store,
        caller: &Caller,
        before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Moment, EngineError> {
        let own = Own::read(store, caller.key())?;
        let lifecycle = Lifecycle::of(&self.config);
        let at = own.deeds.entries.iter().filter_map(|entry| entry.at);
        // Agents may write lines that belong to a prompt before they tell us of it.
        let last_activity = at.filter(|at| now.millis_since(*at) > SAME_MOMENT_MILLIS).max().max(before);
        let state = if own.life.is_none() && own.stored.is_none() {
            State::Active
        } else {
            lifecycle.state(own.life.as_ref(), last_activity, now)
        };
        let last = last_activity.max(own.life.as_ref().map(|life| life.touched_at));
        let silence_millis = last.map_or(0, |last| now.millis_since(last).max(0));
        let project = self.project_of(store, caller)?;
        let neighbours = Self::neighbours(store, caller.key(), &project, now)?;
        let branch = own.stored.as_ref().and_then(|(_, session)| session.branch.as_deref());
        let activity = activity(&neighbours.others, &own.files(), branch, now);
        Ok(Moment { own, project, activity, last_activity, neighbours, lifecycle, state, silence_millis, now })
    }

    fn composed(&self, parts: Vec<Part>) -> Option<Composed> {
        compose(parts, self.config.number("inject.budget_tokens"), self.config.flag("inject.note"))
    }

    /// Reads what is new in the caller's own transcript, if there is one already.
    pub(crate) fn read_own(&self, store: &mut Store, caller: &Caller) -> Result<(), EngineError> {
        match &caller.transcript {
            Some(path) => self.take_in_with(store, caller.agent, std::slice::from_ref(path)),
            None => Ok(()),
        }
    }

    /// The session a reference means, as its agent names it.
    pub(crate) fn caller(&self, store: &Store, reference: &str) -> Result<Caller, EngineError> {
        let session = self.resolve_in(store, reference)?.session;
        Ok(Caller {
            agent: session.agent,
            cwd: session.cwd.map_or_else(|| self.environment.cwd.clone(), PathBuf::from),
            transcript: session.transcript.map(PathBuf::from),
            external_id: session.external_id,
        })
    }
}

impl Moment {
    /// What the session did before its break.
    pub(super) fn past(&self, store: &Store, key: SessionKey<'_>) -> Result<SessionView, StoreError> {
        let own = match &self.own.life {
            Some(life) => &self.own.clone().of_period(life),
            None => &self.own,
        };
        own.view(store, key, self.lifecycle, self.last_activity.or(own.last()).unwrap_or(self.now))
    }

    /// Since when the session was silent.
    pub(super) fn back_since(&self) -> Timestamp {
        Timestamp::from_millis(self.now.as_millis() - self.silence_millis)
    }

    /// Whether it is about to be told what that session did.
    pub(super) fn tells_of(&self, session: SessionNumber) -> bool {
        self.marks_told().any(|mark| mark.session == session)
    }

    /// How far the reader has seen others once it has been told of them. Who had no room is told of the next time.
    fn marks_told(&self) -> impl Iterator<Item = &Watermark> {
        let told = self.activity.iter().flat_map(|activity| &activity.told);
        told.map(|at| &self.neighbours.marks[*at])
    }
}

impl Occasion<'_> {
    /// What the prompt names, without secrets.
    fn entities(self) -> Vec<String> {
        match self {
            Occasion::Prompt(prompt) => entities(&without_secrets(beginning(prompt))),
            Occasion::Return | Occasion::NewContext => Vec::new(),
        }
    }

    /// The event it is recorded under, as the agent calls it.
    fn hook(&self, agent: Agent) -> &'static str {
        match self {
            Occasion::Prompt(_) if agent == Agent::Pi => "before_agent_start",
            Occasion::Prompt(_) => "UserPromptSubmit",
            Occasion::Return | Occasion::NewContext => "SessionStart",
        }
    }
}

/// When something last happened in a session, as far as that was read.
fn last_activity(store: &Store, caller: &Caller) -> Result<Option<Timestamp>, EngineError> {
    Ok(store.session_of(caller.key())?.and_then(|(_, session)| session.last_activity_at))
}

/// Whether nobody typed it.
fn is_machine_prompt(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    prompt.is_empty() || MACHINE_PROMPTS.iter().any(|start| prompt.starts_with(start))
}

pub(super) fn record(composed: &Composed, hook: &str, now: Timestamp, began: Instant) -> Injected {
    let part = |part: &Part| json!({"kind": part.kind.as_str(), "reason": part.reason, "bytes": part.text.len()});
    let parts: Vec<_> = composed.parts.iter().map(part).collect();
    let left_out: Vec<_> = composed.left_out.iter().map(part).collect();
    Injected {
        at: now,
        event: hook.to_owned(),
        text: composed.text.clone(),
        parts: json!({"told": parts, "leftOut": left_out, "tokens": composed.tokens}).to_string(),
        hash: hash_of(&composed.text),
        micros: began.elapsed().as_micros() as u64,
    }
}

/// A number for a text.
pub(super) fn hash_of(text: &str) -> u64 {
    rethread_model::NativeKey::global(Agent::Native, text).as_stored() as u64
}
