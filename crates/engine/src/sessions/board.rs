//! The board: what runs now, and all sessions newest first, with what a table shows of each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use rethread_ingest::source::LiveStatus;
use rethread_llm::NanoUsd;
use rethread_model::{Agent, Entry, Predicate, Session, SessionState, Timestamp};
use rethread_store::{BoardRow, FactQuery, LifecycleRow, PinAndTags, ReadStore, SessionKey, SessionNumber};

use super::board_order::{BoardColumn, BoardOrder};
use crate::clock::local_time;
use crate::lifecycle::LiveSessions;
use crate::reports::costs_by_session;
use crate::{EngineError, ListedSession, SessionService, UsageTotals};

/// Commits that are counted of one session.
const MAX_COMMITS: u64 = 100;

/// Which sessions to show on the board. Only sessions started by a user; empty ones are never shown.
#[derive(Clone, Debug, Default)]
pub struct BoardRequest {
    /// Only sessions of this project.
    pub project: ProjectFilter,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only sessions in this state.
    pub state: Option<SessionState>,
    /// Only sessions last active at this time or later: a date, a span such as `7d`, or words such as `last week`.
    pub since: Option<String>,
    /// Only sessions last active before the end of this time, in the same formats.
    pub until: Option<String>,
    /// Only sessions with at least this known cost.
    pub min_cost: Option<NanoUsd>,
    /// Only sessions with at least this many failed tool calls.
    pub min_failures: u64,
    /// Only pinned sessions.
    pub only_pinned: bool,
    /// Only sessions with this tag, in any case.
    pub tag: Option<String>,
    /// The order of the matching sessions.
    pub order: BoardOrder,
    /// Which of the matching sessions, in this order.
    pub sessions: ListRange,
    /// Maximum number of running sessions.
    pub max_running: usize,
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

/// What runs, and the sessions that match.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// Sessions that match everything but the state, by state.
    pub states: StateCounts,
    /// Active and idle sessions of the requested project and agent: those that wait for their user first, then the
    /// others that work, then the latest.
    pub running: Vec<BoardSession>,
    /// Number of active and idle sessions, before `running` is limited.
    pub running_count: usize,
    /// The requested sessions.
    pub sessions: Vec<BoardSession>,
    /// Number of matching sessions, before `sessions` is limited.
    pub matching: usize,
    /// Sessions that match everything but the time, by the day of their last activity.
    pub per_day: BTreeMap<Date, u64>,
    /// All projects by name, with their number of sessions. `None` means sessions without a known directory.
    pub all_projects: Vec<(Option<String>, u64)>,
    /// All agents that have sessions.
    pub all_agents: Vec<Agent>,
    /// All tags by name, with their number of sessions.
    pub all_tags: Vec<(String, u64)>,
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
    /// Whether the user pinned it.
    pub is_pinned: bool,
    /// The user's tags.
    pub tags: Vec<String>,
    /// The beginning of the last prompt.
    pub last_prompt: Option<String>,
    /// The last entry of the session.
    pub last_entry: Option<Entry>,
    /// Number of commits made in the session.
    pub commits: u64,
    /// Tokens and cost of the session's messages.
    pub usage: UsageTotals,
}

/// A session with what filters and order depend on.
pub(super) struct Candidate<'g> {
    pub(super) row: &'g BoardRow,
    state: SessionState,
    waits: bool,
    pub(super) pinned_at: Option<Timestamp>,
}

impl SessionService<'_> {
    /// What runs, and the sessions that match.
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
        let rows = store.board_rows()?;
        let candidates = self.candidates(store, &rows, &HashMap::new(), &live)?;
        Ok(candidates.iter().filter(|one| one.state == wanted).map(|one| one.row.number).collect())
    }

    fn board_in(self, store: &ReadStore, request: &BoardRequest) -> Result<Board, EngineError> {
        let rows = store.board_rows()?;
        let marks = marks_by_session(store)?;
        let mut board = Board::default();
        list_choices(&mut board, &rows, &marks);
        let live = self.engine.lifecycle().live_sessions();
        let filter = BoardFilter::new(self, store, request, &marks)?;
        let candidates = self.candidates(store, &rows, &marks, &live)?;
        let mut running = Vec::new();
        let mut shown = Vec::new();
        for one in candidates.into_iter().filter(|one| filter.is_in_scope(one.row)) {
            let is_running = matches!(one.state, SessionState::Active | SessionState::Idle);
            let is_matching = filter.matches(&one);
            let is_in_time = filter.is_in_time(one.row.last_activity_at);
            let is_in_state = request.state.is_none_or(|state| state == one.state);
            if is_matching && is_in_time {
                board.states.add(one.state);
            }
            if is_matching && is_in_state {
                let last = one.row.last_activity_at.and_then(|at| local_time(at, self.engine.time_zone()));
                if let Some(last) = last {
                    *board.per_day.entry(last.date()).or_default() += 1;
                }
            }
            if is_running {
                running.push((one.waits, one.state, one.row));
            }
            if is_matching && is_in_time && is_in_state {
                shown.push(one);
            }
        }
        board.matching = shown.len();
        board.running_count = running.len();
        // Both are sorted by last activity, and stay so among equals.
        filter.sort(&mut shown);
        running.sort_by_key(|(waits, state, _)| (!waits, *state != SessionState::Active));
        let load = |row: &BoardRow, state| load_session(store, (row, state), &marks, &live);
        for (_, state, row) in running.into_iter().take(request.max_running) {
            board.running.extend(load(row, state)?);
        }
        for one in request.sessions.apply(shown) {
            board.sessions.extend(load(one.row, one.state)?);
        }
        Ok(board)
    }

    /// Every session with its state.
    fn candidates<'g>(
        self,
        store: &ReadStore,
        rows: &'g [BoardRow],
        marks: &HashMap<SessionNumber, PinAndTags>,
        live: &LiveSessions,
    ) -> Result<Vec<Candidate<'g>>, EngineError> {
        let (lifecycle, now) = (self.engine.lifecycle().rules(), self.engine.now());
        let live_numbers = live.numbers(store)?;
        let candidates = rows.iter().map(|row| {
            let state = lifecycle.state(life_of(row).as_ref(), row.last_activity_at, now);
            let key = live_numbers.get(&row.number);
            let status = key.and_then(|key| live.of(*key)?.status);
            Candidate {
                row,
                state: key.map_or(state, |key| live.state(*key, state)),
                waits: status == Some(LiveStatus::Waiting),
                pinned_at: marks.get(&row.number).and_then(|marks| marks.pinned_at),
            }
        });
        Ok(candidates.collect())
    }
}

/// The conditions of a request, ready to be compared with thousands of rows.
struct BoardFilter<'r> {
    request: &'r BoardRequest,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// Known costs, if the request limits them or sorts by them.
    costs: Arc<HashMap<SessionNumber, NanoUsd>>,
    marks: &'r HashMap<SessionNumber, PinAndTags>,
}

impl<'r> BoardFilter<'r> {
    fn new(
        service: SessionService<'_>,
        store: &ReadStore,
        request: &'r BoardRequest,
        marks: &'r HashMap<SessionNumber, PinAndTags>,
    ) -> Result<Self, EngineError> {
        let parse = |text: &Option<String>, is_end| {
            text.as_deref().map(|text| service.engine.parse_time(text, is_end)).transpose()
        };
        let costs = if request.min_cost.is_some() || request.order.column == BoardColumn::Cost {
            service.engine.folds.costs.get(store.head()?, (), || costs_by_session(store))?
        } else {
            Arc::default()
        };
        Ok(Self { request, since: parse(&request.since, false)?, until: parse(&request.until, true)?, costs, marks })
    }

    fn is_in_scope(&self, row: &BoardRow) -> bool {
        self.request.project.matches(row.project.as_deref())
            && self.request.agent.is_none_or(|agent| agent == row.agent)
    }

    fn is_in_time(&self, at: Option<Timestamp>) -> bool {
        self.since.is_none_or(|since| at.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| at.is_some_and(|at| at < until))
    }

    /// Sorts sessions that are sorted by last activity.
    fn sort(&self, shown: &mut [Candidate<'_>]) {
        self.request.order.sort(shown, |number| self.costs.get(&number).copied());
    }

    /// All conditions but project, agent, time and state.
    fn matches(&self, one: &Candidate<'_>) -> bool {
        let request = self.request;
        let has_tag = |wanted: &String| {
            let tags = self.marks.get(&one.row.number).map(|marks| marks.tags.iter());
            tags.is_some_and(|mut tags| tags.any(|tag| tag.to_lowercase() == wanted.to_lowercase()))
        };
        one.row.tool_errors >= request.min_failures
            && (!request.only_pinned || one.pinned_at.is_some())
            && request.tag.as_ref().is_none_or(has_tag)
            && request.min_cost.is_none_or(|least| self.costs.get(&one.row.number).is_some_and(|cost| *cost >= least))
    }
}

fn marks_by_session(store: &ReadStore) -> Result<HashMap<SessionNumber, PinAndTags>, EngineError> {
    let marks = store.pins_and_tags()?.into_iter();
    Ok(marks.map(|one| (one.session, one)).collect())
}

/// Lists all projects, agents and tags that one can choose.
fn list_choices(board: &mut Board, rows: &[BoardRow], marks: &HashMap<SessionNumber, PinAndTags>) {
    let mut projects: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let mut tags: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        *projects.entry(row.project.as_deref()).or_default() += 1;
        if !board.all_agents.contains(&row.agent) {
            board.all_agents.push(row.agent);
        }
        let own = marks.get(&row.number).map(|marks| marks.tags.iter());
        for tag in own.into_iter().flatten() {
            *tags.entry(tag).or_default() += 1;
        }
    }
    board.all_agents.sort_unstable();
    board.all_projects = projects.into_iter().map(|(name, count)| (name.map(str::to_owned), count)).collect();
    board.all_tags = tags.into_iter().map(|(tag, count)| (tag.to_owned(), count)).collect();
}

/// What the board shows of a session. `None` if it was removed meanwhile.
fn load_session(
    store: &ReadStore,
    (row, state): (&BoardRow, SessionState),
    marks: &HashMap<SessionNumber, PinAndTags>,
    live: &LiveSessions,
) -> Result<Option<BoardSession>, EngineError> {
    let Some(session) = store.session_by_number(row.number)? else { return Ok(None) };
    let marks = marks.get(&row.number);
    let tail = store.session_tail(row.number)?;
    let parent = session.parent.map(|id| store.session_by_id(id)).transpose()?.flatten();
    let query = FactQuery {
        session: Some(session.id),
        predicates: &[Predicate::Committed],
        limit: Some(MAX_COMMITS),
        ..FactQuery::default()
    };
    Ok(Some(BoardSession {
        parent: parent.map(|(_, session)| session),
        task: store.session_labels(SessionKey::of(&session))?.task,
        commits: store.facts(&query)?.len() as u64,
        listed: ListedSession::new(session, state, live),
        is_pinned: marks.is_some_and(|marks| marks.pinned_at.is_some()),
        tags: marks.map(|marks| marks.tags.clone()).unwrap_or_default(),
        last_prompt: tail.last_prompt,
        last_entry: tail.last_entry,
        usage: UsageTotals::for_session(store, row.number)?,
    }))
}

/// Only as much of a session's lifecycle as its state depends on.
fn life_of(row: &BoardRow) -> Option<LifecycleRow> {
    let touched_at = row.touched_at?;
    Some(LifecycleRow { closed: row.closed, ..LifecycleRow::new(touched_at) })
}
