//! An overview of all sessions by project and state, with the last prompt and the last entry of each.

use std::collections::{BTreeMap, HashSet};

use rethread_model::{Agent, Entry, Session, SessionState};
use rethread_store::{BoardRow, LifecycleRow, ReadStore, SessionKey, SessionNumber};

use crate::lifecycle::LiveSessions;
use crate::{EngineError, ListedSession, SessionService, UsageTotals};

/// Up to this many live sessions of a project are shown even if the requested limit is lower.
const MAX_LIVE_ALWAYS_SHOWN: usize = 24;

/// Which sessions to show on the board. Only sessions started by a user; empty ones are never shown.
#[derive(Clone, Debug, Default)]
pub struct BoardRequest {
    /// Only sessions of this project.
    pub project: ProjectFilter,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only sessions in this state.
    pub state: Option<SessionState>,
    /// Which projects, counted in display order.
    pub projects: ListRange,
    /// Which sessions of each project. Live sessions may exceed the limit, see [`Board::projects`].
    pub sessions: ListRange,
}

/// Selects the sessions of a board by project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectFilter {
    /// Sessions of any project.
    #[default]
    Any,
    /// Sessions of this project, or of this directory if it is not in a project.
    Named(String),
    /// Sessions without a known directory.
    Unknown,
}

impl ProjectFilter {
    fn matches(&self, project: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Named(name) => project == Some(name.as_str()),
            Self::Unknown => project.is_none(),
        }
    }
}

/// An offset and a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListRange {
    /// Number of items to skip.
    pub skip: usize,
    /// Maximum number of items after that.
    pub limit: usize,
}

impl ListRange {
    fn apply<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        all.into_iter().skip(self.skip).take(self.limit)
    }
}

/// Number of sessions in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Sessions with recent activity.
    pub active: u64,
    /// Sessions without recent activity.
    pub idle: u64,
    /// Sessions suspended by the user.
    pub suspended: u64,
    /// Sessions that have ended.
    pub ended: u64,
}

impl StateCounts {
    /// The number of sessions in one state.
    pub const fn count(&self, state: SessionState) -> u64 {
        match state {
            SessionState::Active => self.active,
            SessionState::Idle => self.idle,
            SessionState::Suspended => self.suspended,
            SessionState::Ended => self.ended,
        }
    }

    /// The number of sessions in all states.
    pub const fn total(&self) -> u64 {
        self.active + self.idle + self.suspended + self.ended
    }

    fn add(&mut self, state: SessionState) {
        match state {
            SessionState::Active => self.active += 1,
            SessionState::Idle => self.idle += 1,
            SessionState::Suspended => self.suspended += 1,
            SessionState::Ended => self.ended += 1,
        }
    }
}

/// An overview of all sessions.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// Sessions of the requested project and agent, by state.
    pub states: StateCounts,
    /// The requested projects: those with active sessions first, then those with idle or suspended ones, both by name;
    /// then the others, newest first. Each shows its live sessions even beyond the limit, up to a fixed number.
    pub projects: Vec<BoardProject>,
    /// Number of projects with matching sessions, before `projects` is limited.
    pub matching_project_count: usize,
    /// All projects by name, with their number of sessions. `None` means sessions without a known directory.
    pub all_projects: Vec<(Option<String>, u64)>,
    /// All agents that have sessions.
    pub all_agents: Vec<Agent>,
}

/// A project on the board, with its sessions.
#[derive(Clone, Debug)]
pub struct BoardProject {
    /// The project root. `None` for sessions without a known directory.
    pub project: Option<String>,
    /// All matching sessions of the project, by state.
    pub states: StateCounts,
    /// The requested sessions, live ones first.
    pub sessions: Vec<BoardSession>,
}

/// A session on the board.
#[derive(Clone, Debug)]
pub struct BoardSession {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The session it was forked from.
    pub parent: Option<Session>,
    /// The task set by the user, if any.
    pub task: Option<String>,
    /// The beginning of the last prompt.
    pub last_prompt: Option<String>,
    /// The last entry of the session.
    pub last_entry: Option<Entry>,
    /// Tokens and cost of the session's messages.
    pub usage: UsageTotals,
}

type GlanceWithState<'g> = (&'g BoardRow, SessionState);

impl SessionService<'_> {
    /// The sessions started by users, by project and state.
    pub fn board(self, request: &BoardRequest) -> Result<Board, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(Board::default()) };
        self.board_in(&*store.snapshot()?, request)
    }

    /// The sessions started by users that are in a state.
    pub(crate) fn numbers_in_state(
        self,
        store: &ReadStore,
        wanted: SessionState,
    ) -> Result<HashSet<SessionNumber>, EngineError> {
        let live = self.engine.lifecycle().live_sessions();
        let state_of = self.state_of(store, &live)?;
        let rows = store.board_rows()?;
        Ok(rows.iter().filter(|row| state_of(row) == wanted).map(|row| row.number).collect())
    }

    /// The state of a session now: by its events, or as its agent says.
    fn state_of(
        self,
        store: &ReadStore,
        live: &LiveSessions,
    ) -> Result<impl Fn(&BoardRow) -> SessionState, EngineError> {
        let (rules, now) = (self.engine.lifecycle().rules(), self.engine.now());
        let live_numbers = live.numbers(store)?;
        Ok(move |row: &BoardRow| {
            let state = rules.state(life_of(row).as_ref(), row.last_activity_at, now);
            live_numbers.get(&row.number).map_or(state, |key| live.state(*key, state))
        })
    }

    fn board_in(self, store: &ReadStore, request: &BoardRequest) -> Result<Board, EngineError> {
        let glances = store.board_rows()?;
        let live = self.engine.lifecycle().live_sessions();
        let state_of = self.state_of(store, &live)?;
        let mut board = Board::default();
        let mut known: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        let mut by_project: BTreeMap<Option<&str>, Vec<GlanceWithState<'_>>> = BTreeMap::new();
        for glance in &glances {
            let project = glance.project.as_deref();
            *known.entry(project).or_default() += 1;
            if !board.all_agents.contains(&glance.agent) {
                board.all_agents.push(glance.agent);
            }
            let is_included =
                request.project.matches(project) && request.agent.is_none_or(|agent| agent == glance.agent);
            if !is_included {
                continue;
            }
            let state = state_of(glance);
            board.states.add(state);
            if request.state.is_none_or(|wanted| wanted == state) {
                by_project.entry(project).or_default().push((glance, state));
            }
        }
        board.all_agents.sort_unstable();
        board.all_projects = known.into_iter().map(|(name, count)| (name.map(str::to_owned), count)).collect();
        board.matching_project_count = by_project.len();
        for (project, sessions) in request.projects.apply(sort_projects(by_project)) {
            board.projects.push(board_project(store, project, sessions, (request.sessions, &live))?);
        }
        Ok(board)
    }
}

fn board_project(
    store: &ReadStore,
    project: Option<&str>,
    mut sessions: Vec<GlanceWithState<'_>>,
    (range, live): (ListRange, &LiveSessions),
) -> Result<BoardProject, EngineError> {
    let mut states = StateCounts::default();
    for (_, state) in &sessions {
        states.add(*state);
    }
    // Live sessions keep their position while they are live; ended sessions keep the order in which they ended.
    sessions.sort_by_key(|(glance, state)| {
        let place = if *state == SessionState::Ended { 0 } else { glance.number.get() };
        (state_rank(*state), std::cmp::Reverse(place))
    });
    let live_count = (states.total() - states.ended) as usize;
    let range = ListRange { limit: range.limit.max(live_count.min(MAX_LIVE_ALWAYS_SHOWN)), ..range };
    let mut shown = Vec::new();
    for (glance, state) in range.apply(sessions) {
        let Some(session) = store.session_by_number(glance.number)? else { continue };
        let labels = store.session_labels(SessionKey::of(&session))?;
        let words = store.session_tail(glance.number)?;
        let parent = session.parent.map(|id| store.session_by_id(id)).transpose()?.flatten();
        shown.push(BoardSession {
            parent: parent.map(|(_, session)| session),
            listed: ListedSession::new(session, state, live),
            task: labels.task,
            last_prompt: words.last_prompt,
            last_entry: words.last_entry,
            usage: UsageTotals::for_session(store, glance.number)?,
        });
    }
    Ok(BoardProject { project: project.map(str::to_owned), states, sessions: shown })
}

/// Sort order of states: the most active first.
const fn state_rank(state: SessionState) -> u8 {
    match state {
        SessionState::Active => 0,
        SessionState::Idle => 1,
        SessionState::Suspended => 2,
        SessionState::Ended => 3,
    }
}

/// Only as much of a session's lifecycle as its state depends on.
fn life_of(glance: &BoardRow) -> Option<LifecycleRow> {
    let touched_at = glance.touched_at?;
    Some(LifecycleRow { closed: glance.closed, ..LifecycleRow::new(touched_at) })
}

/// Sorts the projects for display. Projects with live sessions are sorted by name, so that they do not move with each
/// new message; the others by their newest session.
fn sort_projects<'g>(
    by_project: BTreeMap<Option<&'g str>, Vec<GlanceWithState<'g>>>,
) -> Vec<(Option<&'g str>, Vec<GlanceWithState<'g>>)> {
    let mut all: Vec<_> = by_project.into_iter().collect();
    all.sort_by_key(|(_, sessions)| {
        let liveliest =
            sessions.iter().map(|(_, state)| state_rank(*state)).min().unwrap_or(state_rank(SessionState::Ended));
        let last = sessions.iter().filter_map(|(glance, _)| glance.last_activity_at).max();
        (liveliest, std::cmp::Reverse(last.filter(|_| liveliest == state_rank(SessionState::Ended))))
    });
    all
}
