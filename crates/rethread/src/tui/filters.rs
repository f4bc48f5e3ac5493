//! What restricts the list: project, agent, time, kind and state, shown as chips.

use rethread_engine::{HitKind, SessionScope};
use rethread_model::{Agent, SessionState, Timestamp};

use super::TuiTab;
use crate::render::sanitize_line;

/// Choices of the time filter: days back, as the search takes them, and their label.
pub(super) const TIME_CHOICES: [(i64, &str, &str); 5] = [
    (1, "1d", "last day"),
    (7, "7d", "last week"),
    (30, "30d", "last month"),
    (90, "90d", "last 3 months"),
    (365, "365d", "last year"),
];

pub(super) const STATES: [SessionState; 4] =
    [SessionState::Active, SessionState::Idle, SessionState::Suspended, SessionState::Ended];

/// Which projects are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ProjectChoice {
    /// The project of the current directory.
    #[default]
    Current,
    All,
    Named(String),
}

/// A property by which the list can be restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterKind {
    Project,
    Agent,
    Time,
    Kind,
    State,
}

impl FilterKind {
    pub(super) const ALL: [FilterKind; 5] =
        [FilterKind::Project, FilterKind::Agent, FilterKind::Time, FilterKind::Kind, FilterKind::State];

    pub(super) const fn label(self) -> &'static str {
        match self {
            FilterKind::Project => "project",
            FilterKind::Agent => "agent",
            FilterKind::Time => "time",
            FilterKind::Kind => "kind",
            FilterKind::State => "state",
        }
    }

    /// Whether it has an effect on a tab.
    pub(super) const fn applies_to(self, tab: TuiTab) -> bool {
        match self {
            FilterKind::Project | FilterKind::Agent => true,
            FilterKind::Time => !matches!(tab, TuiTab::Live),
            FilterKind::Kind => matches!(tab, TuiTab::Search),
            FilterKind::State => matches!(tab, TuiTab::Search | TuiTab::Live),
        }
    }
}

/// A new value of one filter. `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FilterChange {
    Project(ProjectChoice),
    Agent(Option<Agent>),
    /// An index into [`TIME_CHOICES`].
    Time(Option<usize>),
    Kind(Option<HitKind>),
    State(Option<SessionState>),
}

/// The current filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    pub(super) project: ProjectChoice,
    /// The project of the current directory.
    pub(super) current_project: String,
    pub(super) agent: Option<Agent>,
    /// An index into [`TIME_CHOICES`].
    pub(super) time: Option<usize>,
    pub(super) kind: Option<HitKind>,
    pub(super) state: Option<SessionState>,
}

impl Filters {
    /// Switches between the current project and all.
    pub(super) fn cycle_project(&mut self) {
        self.project = if self.project == ProjectChoice::All { ProjectChoice::Current } else { ProjectChoice::All };
    }

    pub(super) fn apply(&mut self, change: FilterChange) {
        match change {
            FilterChange::Project(project) => self.project = project,
            FilterChange::Agent(agent) => self.agent = agent,
            FilterChange::Time(time) => self.time = time,
            FilterChange::Kind(kind) => self.kind = kind,
            FilterChange::State(state) => self.state = state,
        }
    }

    /// Removes everything but the project.
    pub(super) fn clear(&mut self) {
        let (project, current_project) = (self.project.clone(), self.current_project.clone());
        *self = Self { project, current_project, ..Self::default() };
    }

    pub(super) fn scope(&self) -> SessionScope {
        match &self.project {
            ProjectChoice::Current => SessionScope::Project(self.current_project.clone()),
            ProjectChoice::Named(path) => SessionScope::Project(path.clone()),
            ProjectChoice::All => SessionScope::AllProjects,
        }
    }

    /// The start time in the form that the search takes.
    pub(super) fn since(&self) -> Option<&'static str> {
        self.time.map(|at| TIME_CHOICES[at].1)
    }

    /// Whether a time is within the time filter.
    pub(super) fn includes_time(&self, at: Option<Timestamp>, now: Timestamp) -> bool {
        const DAY_MILLIS: i64 = 86_400_000;
        self.time.is_none_or(|choice| at.is_some_and(|at| now.millis_since(at) <= TIME_CHOICES[choice].0 * DAY_MILLIS))
    }

    pub(super) fn includes_agent(&self, agent: Agent) -> bool {
        self.agent.is_none_or(|wanted| wanted == agent)
    }

    /// The value of a filter in words; `None` if it restricts nothing.
    pub(super) fn value(&self, kind: FilterKind) -> Option<String> {
        match kind {
            FilterKind::Project => match &self.project {
                ProjectChoice::Current => Some(last_part(&self.current_project)),
                ProjectChoice::Named(path) => Some(last_part(path)),
                ProjectChoice::All => None,
            },
            FilterKind::Agent => self.agent.map(|agent| agent.as_str().to_owned()),
            FilterKind::Time => self.time.map(|at| TIME_CHOICES[at].2.to_owned()),
            FilterKind::Kind => self.kind.map(|kind| kind.as_str().to_owned()),
            FilterKind::State => self.state.map(|state| state.as_str().to_owned()),
        }
    }

    /// What is shown above the list: the project always, the other filters if they are set.
    pub(super) fn chips(&self, tab: TuiTab) -> Vec<(FilterKind, String)> {
        let chip = |kind: FilterKind| {
            let value = match (kind, self.value(kind)) {
                // Before the current directory was looked at.
                (FilterKind::Project, Some(name)) if name.is_empty() => return None,
                (FilterKind::Project, None) => "all projects".to_owned(),
                (FilterKind::Project, Some(name)) => format!("project {name}"),
                (_, value) => format!("{} {}", kind.label(), value?),
            };
            Some((kind, value))
        };
        FilterKind::ALL.into_iter().filter(|kind| kind.applies_to(tab)).filter_map(chip).collect()
    }
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> String {
    let trimmed = path.trim_end_matches(['/', '\\']);
    sanitize_line(trimmed.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_show_what_has_an_effect() {
        let mut filters = Filters { current_project: "/w/app".to_owned(), ..Filters::default() };
        filters.apply(FilterChange::Kind(Some(HitKind::Error)));
        filters.apply(FilterChange::Time(Some(1)));
        let labels = |tab| filters.chips(tab).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(TuiTab::Search), ["project app", "time last week", "kind error"]);
        assert_eq!(labels(TuiTab::Fixes), ["project app", "time last week"]);
        assert_eq!(labels(TuiTab::Live), ["project app"]);
    }

    #[test]
    fn the_last_part_of_a_path_names_a_project() {
        let check = |path: &str, expect: &str| assert_eq!(last_part(path), expect);
        check("/w/app/", "app");
        check("C:\\work\\app", "app");
        check("/", "/");
        check("/w/a\u{1b}[2Jb", "ab");
    }

    #[test]
    fn scope_cycles_and_clearing_keeps_it() {
        let mut filters = Filters { current_project: "/w/app".to_owned(), ..Filters::default() };
        filters.cycle_project();
        filters.apply(FilterChange::Agent(Some(Agent::Pi)));
        filters.clear();
        assert_eq!((filters.scope(), filters.agent), (SessionScope::AllProjects, None));
        filters.cycle_project();
        assert_eq!(filters.scope(), SessionScope::Project("/w/app".to_owned()));
    }

    #[test]
    fn an_unknown_time_is_outside_every_time_filter() {
        let now = Timestamp::from_millis(10 * 86_400_000);
        let mut filters = Filters::default();
        assert!(filters.includes_time(None, now));
        filters.apply(FilterChange::Time(Some(0)));
        assert!(!filters.includes_time(None, now));
        assert!(filters.includes_time(Some(Timestamp::from_millis(9 * 86_400_000)), now));
    }
}
