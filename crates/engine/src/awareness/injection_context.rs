//! Everything that decides what to inject: the session, the other sessions, and the time.

use rethread_ingest::source::project;
use rethread_model::{SessionState, Timestamp};
use rethread_recall::{ActivityBlock, ActivityReader, SessionView, activity_block};
use rethread_store::{ReadStore, SessionKey, SessionNumber, StoreError, WatermarkMove};

use super::AwarenessService;
use super::caller::Caller;
use super::last_session::LastSessionState;
use super::other_sessions::OtherSessions;
use super::session_view::OwnSession;
use crate::EngineError;
use crate::hook::HostProtocol;
use crate::lifecycle::LifecycleRules;

/// Transcript lines younger than this belong to the event that is being handled.
const SAME_EVENT_MILLIS: i64 = 15_000;

/// Everything needed to decide what to inject: the session, the other sessions, and the time.
pub(super) struct InjectionContext {
    pub(super) own: OwnSession,
    pub(super) project: String,
    pub(super) activity: Option<ActivityBlock>,
    /// Last activity in the session before the current event.
    pub(super) last_activity: Option<Timestamp>,
    pub(super) other_sessions: OtherSessions,
    /// Set by `find_last_session`.
    pub(super) last_session: LastSessionState,
    pub(super) lifecycle: LifecycleRules,
    pub(super) state: SessionState,
    pub(super) silence_millis: i64,
    pub(super) now: Timestamp,
}

impl AwarenessService<'_> {
    /// The project of a session. The transcript decides, so a later change of directory does not change it.
    pub(super) fn project_of(self, store: &ReadStore, caller: &Caller) -> Result<String, EngineError> {
        if let Some(project) = store.session_by_external_id(caller.key())?.and_then(|(_, session)| session.project) {
            return Ok(project);
        }
        let variable = HostProtocol::of(caller.agent).and_then(|host| host.project_variable);
        let named = variable.and_then(|name| self.engine.environment.variable(name));
        Ok(project::project_of(named.unwrap_or(&caller.cwd.to_string_lossy())))
    }

    pub(super) fn injection_context(
        self,
        store: &ReadStore,
        caller: &Caller,
        before: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<InjectionContext, EngineError> {
        let own = OwnSession::load_with_actions(store, caller.key())?;
        let lifecycle = self.engine.lifecycle().rules();
        let at = own.actions.entries.iter().filter_map(|entry| entry.at);
        // Agents may write the lines of a prompt before they call the hook for it.
        let last_activity = at.filter(|at| now.millis_since(*at) > SAME_EVENT_MILLIS).max().max(before);
        let state = if own.life.is_none() && own.stored.is_none() {
            SessionState::Active
        } else {
            lifecycle.state(own.life.as_ref(), last_activity, now)
        };
        let last = last_activity.max(own.life.as_ref().map(|life| life.touched_at));
        let silence_millis = last.map_or(0, |last| now.millis_since(last).max(0));
        let project = self.project_of(store, caller)?;
        let other_sessions = self.other_sessions(store, caller.key(), &project, now)?;
        let branch = own.stored.as_ref().and_then(|(_, session)| session.branch.as_deref());
        let reader = ActivityReader { files: &own.files(), branch };
        let activity = activity_block(&other_sessions.sessions, reader, now);
        Ok(InjectionContext {
            own,
            project,
            activity,
            last_activity,
            other_sessions,
            last_session: LastSessionState::default(),
            lifecycle,
            state,
            silence_millis,
            now,
        })
    }
}

impl InjectionContext {
    /// The session as it was before its break.
    pub(super) fn view_before_break(&self, store: &ReadStore, key: SessionKey<'_>) -> Result<SessionView, StoreError> {
        let own = match &self.own.life {
            Some(life) => &self.own.clone().limited_to_period(life),
            None => &self.own,
        };
        own.view(store, key, self.lifecycle, self.last_activity.or(own.last_event_at()).unwrap_or(self.now))
    }

    /// The time of the last activity before the break.
    pub(super) fn silent_since(&self) -> Timestamp {
        Timestamp::from_millis(self.now.as_millis() - self.silence_millis)
    }

    /// Whether the activity section covers that session.
    pub(super) fn covers_activity_of(&self, session: SessionNumber) -> bool {
        let mut included = self.activity.iter().flat_map(|activity| &activity.included);
        included.any(|at| self.other_sessions.numbers[*at] == session)
    }

    /// The names of the sessions covered by the activity section.
    pub(super) fn injected_names(&self) -> impl Iterator<Item = (&str, SessionNumber)> {
        let included = self.activity.iter().flat_map(|activity| &activity.included);
        included.map(|at| (self.other_sessions.sessions[*at].name.as_str(), self.other_sessions.numbers[*at]))
    }

    /// The watermarks of the sessions covered by the activity section. Sessions that did not fit are shown next time,
    /// except after the first look: then the backlog is not worth more than one block.
    pub(super) fn injected_watermarks(&self) -> impl Iterator<Item = &WatermarkMove> {
        let included = self.activity.iter().flat_map(|activity| &activity.included).copied();
        let has_looked = !self.other_sessions.is_first_look;
        let all = 0..self.activity.as_ref().map_or(0, |_| self.other_sessions.watermarks.len());
        let shown: Vec<usize> = if has_looked { included.collect() } else { all.collect() };
        shown.into_iter().flat_map(|at| &self.other_sessions.watermarks[at])
    }
}

/// Last activity of a session, as far as its transcript has been read.
pub(super) fn last_activity(store: &ReadStore, caller: &Caller) -> Result<Option<Timestamp>, EngineError> {
    Ok(store.session_by_external_id(caller.key())?.and_then(|(_, session)| session.last_activity_at))
}
