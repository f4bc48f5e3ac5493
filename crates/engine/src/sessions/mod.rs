//! Lists sessions and the projects they belong to.

mod agent_command;
mod board;
mod board_order;
mod episodes;
mod originals;
mod page;
mod resolve;
mod show;
mod timeline;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use rethread_ingest::source::{LiveStatus, project};
use rethread_model::{Agent, Session, SessionId, SessionState, Timestamp};
use rethread_store::{PinAndTags, ReadStore, SessionFilter, SessionKey, SessionScope};

use crate::lifecycle::LiveSessions;
use crate::{EngineError, SessionService};

pub use agent_command::AgentCommand;
pub use board::{Board, BoardRequest, BoardSession, ListRange, ProjectFilter, StateCounts};
pub use board_order::{BoardColumn, BoardOrder};
pub use episodes::EpisodeText;
pub(crate) use originals::partly_forgotten_key;
pub use originals::{EntryOriginal, OriginalProblem};
pub(crate) use page::changed_files;
pub use page::{ChangedFile, FoundInSession, SessionPage, SessionPageRequest};
pub(crate) use resolve::{number_of, stored_session};
pub use show::{LogProfile, SessionLog, ShowRequest};
pub use timeline::{Timeline, TimelineEpisode, TimelineRequest};

/// Which sessions to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionListRequest {
    /// Only sessions of this project, or of all projects.
    pub scope: SessionScope,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only sessions in this state.
    pub state: Option<SessionState>,
    /// Also sessions without any prompt or answer.
    pub include_empty: bool,
    /// Also sessions of subagents.
    pub include_children: bool,
    /// Only sessions that were active since this time, as typed by the user.
    pub since: Option<String>,
    /// Only sessions that are pinned.
    pub only_pinned: bool,
    /// Only sessions with all of these tags, in any case.
    pub tags: Vec<String>,
    /// Maximum number of sessions.
    pub limit: Option<u64>,
}

/// A session with its state, which depends on the current time.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSession {
    /// The session as stored.
    pub session: Session,
    /// The state at the time of the request.
    pub state: SessionState,
    /// What it does right now, if its agent says so, and what it waits for.
    pub live: Option<(LiveStatus, Option<String>)>,
    /// Whether the user pinned it.
    pub is_pinned: bool,
    /// The user's tags.
    pub tags: Vec<String>,
}

impl SessionListRequest {
    fn has_labels_of(&self, listed: &ListedSession) -> bool {
        let has = |wanted: &String| listed.tags.iter().any(|tag| tag.to_lowercase() == wanted.to_lowercase());
        (!self.only_pinned || listed.is_pinned) && self.tags.iter().all(has)
    }

    /// Whether the store cannot apply the limit, because what is left out is not known to its query.
    fn limits_late(&self) -> bool {
        self.state.is_some() || self.only_pinned || !self.tags.is_empty()
    }
}

impl ListedSession {
    /// A session with what its agent says about it. The state follows from its events.
    pub(crate) fn new(mut session: Session, state: SessionState, live: &LiveSessions) -> Self {
        live.rename(&mut session);
        let key = SessionKey::of(&session);
        let now = live.of(key).and_then(|live| Some((live.status?, live.waiting_for.clone())));
        Self { state: live.state(key, state), live: now, session, is_pinned: false, tags: Vec::new() }
    }

    pub(crate) fn labeled(self, pinned_at: Option<Timestamp>, tags: Vec<String>) -> Self {
        Self { is_pinned: pinned_at.is_some(), tags, ..self }
    }
}

impl SessionService<'_> {
    /// The project of the current directory.
    pub fn current_project(self) -> SessionScope {
        self.project_of_folder(&self.engine.environment.cwd)
    }

    /// The project of a directory given by the user.
    pub fn project_at(self, path: &Path) -> SessionScope {
        let path = self.engine.environment.cwd.join(path);
        self.project_of_folder(&path.canonicalize().unwrap_or(path))
    }

    /// Whether a scope has any session that is listed by default.
    pub fn has_any(self, scope: &SessionScope) -> Result<bool, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(false) };
        let filter = SessionFilter { scope: scope.clone(), limit: Some(1), ..SessionFilter::default() };
        Ok(!store.sessions(&filter)?.is_empty())
    }

    /// The repository of a folder. Outside one: the nearest folder above it where sessions were started, if there were
    /// none in the folder itself. The home directory is above everything, so it does not count.
    fn project_of_folder(self, folder: &Path) -> SessionScope {
        let root = project::project_of(&folder.to_string_lossy());
        let known = if folder.join(".git").exists() || Path::new(&root) != folder {
            Vec::new()
        } else {
            self.projects().unwrap_or_default()
        };
        let has_own = known.iter().any(|project| Path::new(project).starts_with(folder));
        let above =
            folder.ancestors().take_while(|above| *above != self.engine.environment.home && above.parent().is_some());
        let nearest = above.map(Path::to_string_lossy).find(|above| known.iter().any(|project| project == above));
        SessionScope::Project(nearest.filter(|_| !has_own).map_or(root, Cow::into_owned))
    }

    /// All projects with sessions, by name. Sessions outside a project count under their directory.
    pub fn projects(self) -> Result<Vec<String>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        Ok(store.projects()?)
    }

    /// The agents of which sessions are stored.
    pub fn agents(self) -> Result<Vec<Agent>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let counts = store.session_counts_by_agent()?;
        Ok(Agent::ALL.into_iter().filter(|agent| counts.iter().any(|(owner, _)| owner == agent)).collect())
    }

    /// Sessions whose name or project contains all words of a text, newest first; without words, the newest.
    pub fn by_name(self, text: &str, limit: usize) -> Result<Vec<ListedSession>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(Vec::new()) };
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let live = self.engine.lifecycle().live_sessions();
        let mut found = Vec::new();
        for named in store.named_sessions()? {
            let all = named.names().chain(named.project.as_deref()).collect::<Vec<_>>().join(" ").to_lowercase();
            if !words.iter().all(|word| all.contains(word)) {
                continue;
            }
            let session = store.session_by_number(named.number)?.filter(|session| !session.is_empty);
            if let Some(session) = session {
                found.push(self.listed_with(&store, session, &live)?);
            }
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }

    /// Matching sessions, newest first.
    pub fn list(self, request: &SessionListRequest) -> Result<Vec<ListedSession>, EngineError> {
        match self.engine.reader()? {
            Some(store) => self.list_in(&store, request),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn list_in(
        self,
        store: &ReadStore,
        request: &SessionListRequest,
    ) -> Result<Vec<ListedSession>, EngineError> {
        let since = request.since.as_deref().map(|since| self.engine.parse_time(since, false)).transpose()?;
        let filter = SessionFilter {
            scope: request.scope.clone(),
            agent: request.agent,
            include_empty: request.include_empty,
            include_children: request.include_children,
            // The state depends on the clock, so the limit can only be applied after it. The newest come first, so it does
            // not matter for the time.
            limit: if request.limits_late() { None } else { request.limit },
        };
        let (mut all, live) = (Vec::new(), self.engine.lifecycle().live_sessions());
        let mut labels: HashMap<SessionId, PinAndTags> =
            store.pins_and_tags()?.into_iter().map(|one| (one.id, one)).collect();
        for session in store.sessions(&filter)? {
            if since.is_some_and(|since| session.last_activity_at.is_none_or(|at| at < since)) {
                continue;
            }
            let labels = labels.remove(&session.id).map(|one| (one.pinned_at, one.tags)).unwrap_or_default();
            all.push(self.listed_with(store, session, &live)?.labeled(labels.0, labels.1));
        }
        let is_wanted = |listed: &ListedSession| {
            request.state.is_none_or(|state| listed.state == state) && request.has_labels_of(listed)
        };
        let sessions = all.into_iter().filter(is_wanted);
        Ok(sessions.take(request.limit.map_or(usize::MAX, |limit| limit as usize)).collect())
    }

    pub(crate) fn listed(self, store: &ReadStore, session: Session) -> Result<ListedSession, EngineError> {
        let labels = store.session_labels(SessionKey::of(&session))?;
        let listed = self.listed_with(store, session, &self.engine.lifecycle().live_sessions())?;
        Ok(listed.labeled(labels.pinned_at, labels.tags))
    }

    fn listed_with(
        self,
        store: &ReadStore,
        session: Session,
        live: &LiveSessions,
    ) -> Result<ListedSession, EngineError> {
        let life = store.lifecycle(SessionKey::of(&session))?;
        let state = self.engine.lifecycle().rules().state(life.as_ref(), session.last_activity_at, self.engine.now());
        Ok(ListedSession::new(session, state, live))
    }
}
