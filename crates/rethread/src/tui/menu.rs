//! Small menus: filters and their values, what to copy, open or export.

use rethread_engine::HitKind;
use rethread_model::{Agent, Entry, Session, is_unsafe_to_display};

use super::TuiTab;
use super::effect::OpenTarget;
use super::filters::{FilterChange, FilterKind, Filters, ProjectChoice, STATES, TIME_CHOICES};
use super::request::MenuChoices;
use crate::cli::transfer::ExportFormat;
use crate::render::{relative_path, resume_command, sanitize_line};

/// A list of choices of which one is selected.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    pub(super) title: String,
    pub(super) items: Vec<MenuItem>,
    /// Index into the items that are shown.
    pub(super) selected: usize,
    /// Typed to show only the items that contain it.
    pub(super) typed: String,
}

#[derive(Clone, Debug)]
pub(super) struct MenuItem {
    /// Chooses the item at once.
    pub(super) key: Option<char>,
    pub(super) label: String,
    pub(super) action: MenuAction,
}

/// What choosing an item does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MenuAction {
    OpenFilter(FilterKind),
    ChangeFilter(FilterChange),
    ClearFilters,
    /// What it is, and the text.
    Copy(&'static str, String),
    Open(OpenTarget),
    /// Writes the session to a file in the current directory.
    Export(Box<Session>, ExportFormat),
    /// Starts this agent with a handoff note.
    HandOver(Box<Session>, Agent),
}

impl Menu {
    fn new(title: &str, items: Vec<MenuItem>) -> Self {
        Self { title: title.to_owned(), items, selected: 0, typed: String::new() }
    }

    /// All filters of a tab with their values.
    pub(super) fn filters(filters: &Filters, tab: TuiTab) -> Self {
        let item = |kind: FilterKind| {
            let value = filters.value(kind).unwrap_or_else(|| "any".to_owned());
            let label = format!("{:<8} {value}", kind.label());
            MenuItem { key: Some(kind_key(kind)), label, action: MenuAction::OpenFilter(kind) }
        };
        let mut items: Vec<MenuItem> =
            FilterKind::ALL.into_iter().filter(|kind| kind.applies_to(tab)).map(item).collect();
        items.push(MenuItem { key: Some('c'), label: "clear filters".to_owned(), action: MenuAction::ClearFilters });
        Self::new("Filters", items)
    }

    /// The values of one filter.
    pub(super) fn filter_values(kind: FilterKind, filters: &Filters, choices: &MenuChoices) -> Self {
        let values = filter_changes(kind, filters, choices);
        let mut menu = Self::new(&format!("Filter by {}", kind.label()), Vec::new());
        for (at, (label, change)) in values.into_iter().enumerate() {
            let mut changed = filters.clone();
            changed.apply(change.clone());
            if changed == *filters {
                menu.selected = at;
            }
            menu.items.push(MenuItem { key: None, label, action: MenuAction::ChangeFilter(change) });
        }
        menu
    }

    /// What can be copied of a session and the selected text.
    pub(super) fn copy(session: &Session, text: &str) -> Self {
        let mut items = vec![copy_item('i', "ID", session.id.to_string())];
        items.extend(resume_command(session).map(|command| copy_item('c', "resume command", command)));
        items.extend((!text.trim().is_empty()).then(|| copy_item('t', "text", text.to_owned())));
        Self::new("Copy", items)
    }

    /// The transcript and the files of an entry.
    pub(super) fn open(session: &Session, entry: Option<&Entry>, line: Option<u64>) -> Self {
        let mut items = Vec::new();
        if let Some(path) = &session.transcript {
            let target = OpenTarget { path: path.clone(), line, folder: None };
            items.push(MenuItem { key: Some('t'), label: "transcript".to_owned(), action: MenuAction::Open(target) });
        }
        let tool = entry.and_then(|entry| entry.tool.as_ref());
        for path in tool.iter().flat_map(|tool| &tool.paths) {
            let target = OpenTarget { path: path.clone(), line: None, folder: session.cwd.clone() };
            let label = relative_path(&sanitize_line(path), session);
            items.push(MenuItem { key: None, label, action: MenuAction::Open(target) });
        }
        Self::new("Open in editor", items)
    }

    /// The formats in which a session can be written to a file.
    pub(super) fn export(session: &Session) -> Self {
        let formats = [
            ('m', "Markdown, to read", ExportFormat::Md),
            ('h', "one HTML page, to read or show", ExportFormat::Html),
            ('j', "JSON lines, for `rethread import`", ExportFormat::Jsonl),
        ];
        let items = formats.map(|(key, label, format)| {
            let action = MenuAction::Export(Box::new(session.clone()), format);
            MenuItem { key: Some(key), label: label.to_owned(), action }
        });
        Self::new("Export to this directory", items.into())
    }

    /// Agents that can continue the work of a session.
    pub(super) fn hand_over(session: &Session, agents: &[Agent]) -> Self {
        let item = |agent: &Agent| {
            let action = MenuAction::HandOver(Box::new(session.clone()), *agent);
            MenuItem { key: None, label: agent.label().to_owned(), action }
        };
        let title = if agents.is_empty() { "No agent is installed" } else { "Continue with a handoff note in" };
        Self::new(title, agents.iter().map(item).collect())
    }

    /// The items that contain what was typed.
    pub(super) fn shown(&self) -> impl Iterator<Item = &MenuItem> {
        let wanted = self.typed.to_lowercase();
        self.items.iter().filter(move |item| item.label.to_lowercase().contains(&wanted))
    }

    /// Whether letters narrow the menu, because they choose nothing.
    pub(super) fn narrows(&self) -> bool {
        self.items.iter().all(|item| item.key.is_none())
    }

    /// Shows only items with one more letter, or all again.
    pub(super) fn narrow(&mut self, letter: Option<char>) {
        match letter {
            Some(letter) => self.typed.extend(Some(letter).filter(|letter| !is_unsafe_to_display(*letter))),
            None => self.typed.clear(),
        }
        self.selected = 0;
    }

    /// Takes the last letter back.
    pub(super) fn widen(&mut self) {
        self.typed.pop();
        self.selected = 0;
    }

    pub(super) fn move_by(&mut self, steps: isize) {
        let last = self.shown().count().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(steps).min(last);
    }

    /// The action of the selected item.
    pub(super) fn chosen(&self) -> Option<MenuAction> {
        self.shown().nth(self.selected).map(|item| item.action.clone())
    }

    /// The action of the item with this key.
    pub(super) fn action_of(&self, key: char) -> Option<MenuAction> {
        self.items.iter().find(|item| item.key == Some(key)).map(|item| item.action.clone())
    }
}

fn copy_item(key: char, what: &'static str, text: String) -> MenuItem {
    let label = format!("{what:<14}  {}", sanitize_line(&text));
    MenuItem { key: Some(key), label, action: MenuAction::Copy(what, text) }
}

const fn kind_key(kind: FilterKind) -> char {
    match kind {
        FilterKind::Project => 'p',
        FilterKind::Agent => 'a',
        FilterKind::Time => 't',
        FilterKind::Kind => 'k',
        FilterKind::State => 's',
    }
}

/// The values of a filter, with the change each makes.
fn filter_changes(kind: FilterKind, filters: &Filters, choices: &MenuChoices) -> Vec<(String, FilterChange)> {
    let any = |change: FilterChange| std::iter::once(("any".to_owned(), change));
    match kind {
        FilterKind::Project => {
            let fixed = [
                (format!("this project ({})", sanitize_line(&filters.current_project)), ProjectChoice::Current),
                ("all projects".to_owned(), ProjectChoice::All),
            ];
            let others = choices.projects.iter().filter(|path| **path != filters.current_project);
            let others = others.map(|path| (sanitize_line(path), ProjectChoice::Named(path.clone())));
            fixed.into_iter().chain(others).map(|(label, choice)| (label, FilterChange::Project(choice))).collect()
        }
        FilterKind::Agent => {
            let agents = choices.agents.iter();
            let agents = agents.map(|agent| (agent.label().to_owned(), FilterChange::Agent(Some(*agent))));
            any(FilterChange::Agent(None)).chain(agents).collect()
        }
        FilterKind::Time => {
            let times = TIME_CHOICES.iter().enumerate();
            let times = times.map(|(at, (_, _, label))| ((*label).to_owned(), FilterChange::Time(Some(at))));
            any(FilterChange::Time(None)).chain(times).collect()
        }
        FilterKind::Kind => {
            let kinds = HitKind::ALL.into_iter();
            let kinds = kinds.map(|kind| (kind.as_str().to_owned(), FilterChange::Kind(Some(kind))));
            any(FilterChange::Kind(None)).chain(kinds).collect()
        }
        FilterKind::State => {
            let states = STATES.into_iter();
            let states = states.map(|state| (state.as_str().to_owned(), FilterChange::State(Some(state))));
            any(FilterChange::State(None)).chain(states).collect()
        }
    }
}
