//! All sessions at a glance: by project and state, with what each was last asked and did.

use std::collections::BTreeMap;

use rethread_model::{Agent, Entry, State};
use rethread_store::{Glance, Life, SessionKey, Store};

use crate::awareness::Lifecycle;
use crate::{Engine, EngineError, Listed, Used};

/// So many sessions of a project that have not ended are shown, however few are wanted.
const MOST_LIVE: usize = 24;

/// Which sessions of humans are looked over. Those in which nothing happened never are.
#[derive(Clone, Debug, Default)]
pub struct BoardRequest {
    /// Where.
    pub project: OfProject,
    /// Of one agent.
    pub agent: Option<Agent>,
    /// In one state.
    pub state: Option<State>,
    /// Which projects, counted in the order they are shown.
    pub projects: Portion,
    /// Which sessions of each of them; of those that have not ended more, if there are more.
    pub sessions: Portion,
}

/// Where sessions on a board come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OfProject {
    /// From anywhere.
    #[default]
    Any,
    /// From this project, or this directory where there is no project.
    Named(String),
    /// From nowhere that was noted.
    Unknown,
}

impl OfProject {
    fn fits(&self, project: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Named(name) => project == Some(name.as_str()),
            Self::Unknown => project.is_none(),
        }
    }
}

/// A part of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Portion {
    /// So many are left out before it.
    pub skip: usize,
    /// At most so many.
    pub most: usize,
}

impl Portion {
    fn of<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        all.into_iter().skip(self.skip).take(self.most)
    }
}

/// How many sessions are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// At work.
    pub active: u64,
    /// Quiet for a while.
    pub idle: u64,
    /// Paused on purpose.
    pub suspended: u64,
    /// Over.
    pub ended: u64,
}

impl StateCounts {
    /// How many are in this state.
    pub const fn of(&self, state: State) -> u64 {
        match state {
            State::Active => self.active,
            State::Idle => self.idle,
            State::Suspended => self.suspended,
            State::Ended => self.ended,
        }
    }

    /// How many there are.
    pub const fn all(&self) -> u64 {
        self.active + self.idle + self.suspended + self.ended
    }

    fn add(&mut self, state: State) {
        match state {
            State::Active => self.active += 1,
            State::Idle => self.idle += 1,
            State::Suspended => self.suspended += 1,
            State::Ended => self.ended += 1,
        }
    }
}

/// All sessions at a glance.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// Sessions of the wanted project and agent, by state.
    pub states: StateCounts,
    /// The wanted projects: those with active sessions first, then those with idle or suspended ones, by name; then the
    /// others, newest first.
    pub projects: Vec<BoardProject>,
    /// How many projects have sessions that fit.
    pub fitting: usize,
    /// All projects there are, by name, with how many sessions each has.
    pub known_projects: Vec<(Option<String>, u64)>,
    /// All agents there are.
    pub known_agents: Vec<Agent>,
}

/// A project on the board.
#[derive(Clone, Debug)]
pub struct BoardProject {
    /// Its root; nothing for sessions of no known place.
    pub project: Option<String>,
    /// Its sessions that fit, by state.
    pub states: StateCounts,
    /// The wanted ones: those that have not ended first.
    pub sessions: Vec<OnBoard>,
}

/// A session on the board.
#[derive(Clone, Debug)]
pub struct OnBoard {
    /// The session.
    pub listed: Listed,
    /// What it is working on, where somebody said it.
    pub task: Option<String>,
    /// The beginning of what it was asked last.
    pub prompt: Option<String>,
    /// What it said or did last.
    pub last: Option<Entry>,
    /// What its messages took and cost.
    pub used: Used,
}

type Placed<'g> = (&'g Glance, State);

impl Engine {
    /// The sessions of humans by project and state.
    pub fn board(&self, request: &BoardRequest) -> Result<Board, EngineError> {
        let Some(store) = self.reader()? else { return Ok(Board::default()) };
        store.at_one_moment(|store| self.board_in(store, request))
    }

    fn board_in(&self, store: &Store, request: &BoardRequest) -> Result<Board, EngineError> {
        let glances = store.glances()?;
        let (lifecycle, now) = (Lifecycle::of(&self.config), self.now());
        let mut board = Board::default();
        let mut known: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        let mut by_project: BTreeMap<Option<&str>, Vec<Placed<'_>>> = BTreeMap::new();
        for glance in &glances {
            let project = glance.project.as_deref();
            *known.entry(project).or_default() += 1;
            if !board.known_agents.contains(&glance.agent) {
                board.known_agents.push(glance.agent);
            }
            let is_wanted = request.project.fits(project) && request.agent.is_none_or(|agent| agent == glance.agent);
            if !is_wanted {
                continue;
            }
            let state = lifecycle.state(life_of(glance).as_ref(), glance.last_at, now);
            board.states.add(state);
            if request.state.is_none_or(|wanted| wanted == state) {
                by_project.entry(project).or_default().push((glance, state));
            }
        }
        board.known_agents.sort_unstable();
        board.known_projects = known.into_iter().map(|(name, count)| (name.map(str::to_owned), count)).collect();
        board.fitting = by_project.len();
        for (project, sessions) in request.projects.of(in_order(by_project)) {
            board.projects.push(self.board_project(store, project, sessions, request.sessions)?);
        }
        Ok(board)
    }

    fn board_project(
        &self,
        store: &Store,
        project: Option<&str>,
        mut sessions: Vec<Placed<'_>>,
        wanted: Portion,
    ) -> Result<BoardProject, EngineError> {
        let mut states = StateCounts::default();
        sessions.iter().for_each(|(_, state)| states.add(*state));
        // Those at work keep their places while they are; those that ended stay in the order they did.
        sessions.sort_by_key(|(glance, state)| {
            let place = if *state == State::Ended { 0 } else { glance.number.get() };
            (rank(*state), std::cmp::Reverse(place))
        });
        let live = (states.all() - states.ended) as usize;
        let wanted = Portion { most: wanted.most.max(live.min(MOST_LIVE)), ..wanted };
        let mut shown = Vec::new();
        for (glance, state) in wanted.of(sessions) {
            let Some(session) = store.session_by_number(glance.number)? else { continue };
            let life = store.life(SessionKey { agent: session.agent, external_id: &session.external_id })?;
            let words = store.last_words(glance.number)?;
            shown.push(OnBoard {
                listed: Listed { session, state },
                task: life.and_then(|life| life.task),
                prompt: words.prompt,
                last: words.entry,
                used: Used::of_session(store, glance.number)?,
            });
        }
        Ok(BoardProject { project: project.map(str::to_owned), states, sessions: shown })
    }
}

/// The liveliest first.
const fn rank(state: State) -> u8 {
    match state {
        State::Active => 0,
        State::Idle => 1,
        State::Suspended => 2,
        State::Ended => 3,
    }
}

/// As much of a session's life as its state depends on.
fn life_of(glance: &Glance) -> Option<Life> {
    let touched_at = glance.touched_at?;
    Some(Life { closed: glance.closed, ..Life::begin(touched_at) })
}

/// Projects in the order they are shown. Those at work stay where they are, whoever speaks last; sessions come newest
/// first.
fn in_order<'g>(by_project: BTreeMap<Option<&'g str>, Vec<Placed<'g>>>) -> Vec<(Option<&'g str>, Vec<Placed<'g>>)> {
    let mut all: Vec<_> = by_project.into_iter().collect();
    all.sort_by_key(|(_, sessions)| {
        let liveliest = sessions.iter().map(|(_, state)| rank(*state)).min().unwrap_or(rank(State::Ended));
        let last = sessions.iter().filter_map(|(glance, _)| glance.last_at).max();
        (liveliest, std::cmp::Reverse(last.filter(|_| liveliest == rank(State::Ended))))
    });
    all
}
