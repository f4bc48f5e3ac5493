//! Where the last session of a project stopped, for the first prompt of a new one. Once per session.

use rethread_model::{Agent, Session, SessionKind, SessionState, Timestamp};
use rethread_recall::{ActivityReader, CardSource, LastSession, StoppingPoint, activity_block, asks_for_last_session};
use rethread_store::{ReadStore, SessionFilter, SessionKey, SessionNumber, SessionScope};

use super::AwarenessService;
use super::caller::Caller;
use super::inject::{InjectionTrigger, text_hash};
use super::injection_context::InjectionContext;
use super::other_sessions::{display_name, is_action_or_answer, is_other_session};
use crate::EngineError;

/// An older session says little about what to do now.
const MAX_AGE_MILLIS: i64 = 30 * 24 * 3_600_000;
/// Number of sessions examined, newest first: some have nothing to continue.
const MAX_CANDIDATES: u64 = 6;
/// Entries read from the end of a session.
const LAST_ENTRIES: u64 = 200;
/// Bytes of an entry that are used.
const MAX_ENTRY_BYTES: usize = 8_000;
/// Number of events among which the start of a session is looked for.
const MAX_EVENTS_SCANNED: u64 = 50;
/// Words of hosts for a start that continues an earlier conversation. What it was about is known or was cleared.
const CONTINUING_STARTS: [&str; 4] = ["clear", "compact", "resume", "fork"];

/// Whether the last session is injected.
#[derive(Clone, Debug, Default)]
pub(super) enum LastSessionState {
    /// It is injected.
    Found(Box<LastSession>, SessionNumber),
    /// It is not, with the reason.
    Skipped(&'static str),
    /// The event is not the first prompt of a session.
    #[default]
    NotDue,
}

impl LastSessionState {
    /// Identifies it in the record of what was injected. It does not change: each session gets it once.
    pub(super) fn dedupe_key() -> u64 {
        text_hash("last session")
    }

    pub(super) fn session(&self) -> Option<(&LastSession, SessionNumber)> {
        match self {
            Self::Found(last, number) => Some((last, *number)),
            _ => None,
        }
    }
}

impl AwarenessService<'_> {
    /// Finds the last session if the event begins a new one. What it did is then not reported as activity too.
    pub(super) fn find_last_session(
        self,
        store: &ReadStore,
        caller: &Caller,
        context: &mut InjectionContext,
        trigger: InjectionTrigger<'_>,
    ) -> Result<(), EngineError> {
        if !is_due(store, caller, context, trigger)? {
            return Ok(());
        }
        context.last_session = self.last_session(store, caller, context)?;
        if let Some((_, number)) = context.last_session.session() {
            let at = context.other_sessions.numbers.iter().position(|other| *other == number);
            let Some(at) = at else { return Ok(()) };
            let others = &mut context.other_sessions;
            others.sessions.remove(at);
            others.numbers.remove(at);
            others.quiet_watermarks.extend(others.watermarks.remove(at));
            let branch = context.own.stored.as_ref().and_then(|(_, session)| session.branch.as_deref());
            let reader = ActivityReader { files: &context.own.files(), branch };
            context.activity = activity_block(&context.other_sessions.sessions, reader, context.now);
        }
        Ok(())
    }

    fn last_session(
        self,
        store: &ReadStore,
        caller: &Caller,
        context: &InjectionContext,
    ) -> Result<LastSessionState, EngineError> {
        if !self.engine.settings().inject.last_session {
            return Ok(LastSessionState::Skipped("disabled by inject.last_session"));
        }
        if store.was_injected(caller.key(), LastSessionState::dedupe_key())? {
            return Ok(LastSessionState::Skipped("already injected"));
        }
        let since = Timestamp::from_millis(context.now.as_millis() - MAX_AGE_MILLIS);
        let scope = SessionScope::Project(context.project.clone());
        let filter = SessionFilter { scope, limit: Some(MAX_CANDIDATES), ..SessionFilter::default() };
        let live = self.engine.lifecycle().live_sessions();
        for mut session in store.sessions(&filter)? {
            // The filter also returns sessions of projects in directories below.
            let is_here = session.project.as_deref() == Some(&context.project);
            let is_recent = session.last_activity_at.is_some_and(|at| at >= since);
            if !is_here || !is_recent || !is_other_session(&session, caller.key()) || session.counts.prompts == 0 {
                continue;
            }
            let key = SessionKey::of(&session);
            let life = store.lifecycle(key)?;
            let state = context.lifecycle.state(life.as_ref(), session.last_activity_at, context.now);
            if live.state(key, state) == SessionState::Active {
                return Ok(LastSessionState::Skipped("the last session is still active"));
            }
            live.rename(&mut session);
            if let Some((last, number)) = stopped_session(store, &session)? {
                return Ok(LastSessionState::Found(Box::new(last), number));
            }
        }
        Ok(LastSessionState::Skipped("no session of the last 30 days has something to continue"))
    }
}

/// Whether an event is the first prompt of a session of its own, the start of one in a host that may report no prompt,
/// or a prompt that asks for the last session.
fn is_due(
    store: &ReadStore,
    caller: &Caller,
    context: &InjectionContext,
    trigger: InjectionTrigger<'_>,
) -> Result<bool, EngineError> {
    let may_begin = matches!(trigger, InjectionTrigger::Prompt(_) | InjectionTrigger::StartWithActivity);
    let stored = context.own.stored.as_ref().map(|(_, session)| session);
    let is_main = stored.is_none_or(|session| session.kind == SessionKind::Main);
    // The prompt itself may be in the transcript already, but nothing that follows it.
    let has_prompts = stored.is_some_and(|session| session.counts.prompts > 1)
        || context.own.actions.entries.iter().any(is_action_or_answer);
    let is_subagent = caller.is_subagent() || !is_main;
    if !may_begin || is_subagent || caller.agent == Agent::Native {
        return Ok(false);
    }
    if matches!(trigger, InjectionTrigger::Prompt(prompt) if asks_for_last_session(prompt)) {
        return Ok(true);
    }
    if has_prompts {
        return Ok(false);
    }
    let events = store.lifecycle_events(caller.key(), MAX_EVENTS_SCANNED)?;
    let continues = |detail: &str| CONTINUING_STARTS.contains(&detail);
    Ok(!events
        .iter()
        .any(|event| event.kind == "prompt_submitted" || (event.kind == "session_start" && continues(&event.detail))))
}

/// A session and where it stopped; `None` if there is nothing to continue.
fn stopped_session(store: &ReadStore, session: &Session) -> Result<Option<(LastSession, SessionNumber)>, EngineError> {
    let Some(number) = store.session_number(session.id)? else { return Ok(None) };
    let mut entries = store.branch_ends(number, 1, LAST_ENTRIES)?;
    for entry in entries.iter_mut().filter(|entry| entry.text.len() > MAX_ENTRY_BYTES) {
        entry.text.truncate(entry.text.floor_char_boundary(MAX_ENTRY_BYTES));
    }
    let stopped = StoppingPoint::find(&CardSource { session, entries: &entries, decisions: &[] });
    let last = LastSession {
        id: session.id.to_string(),
        name: display_name(session),
        last_active_at: session.last_activity_at,
        stopped,
    };
    Ok(Some((last, number)).filter(|(last, _)| !last.stopped.is_empty()))
}
