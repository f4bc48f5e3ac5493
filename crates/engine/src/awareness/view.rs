//! What is known of a session's present period: from hooks where there are any, from its transcript where there are not.

use rethread_model::{Entry, Session, Speech, Timestamp, ToolKind, ToolUse, clip, one_line};
use rethread_recall::{Happening, SessionView};
use rethread_store::{Deeds, Life, SessionKey, SessionNumber, Store, StoreError};

use super::Lifecycle;

/// Hot entries are forgotten after so long.
pub(super) const HOT_MILLIS: i64 = 24 * 3_600_000;
/// Files that are remembered.
const RECENT_FILES: usize = 10;
/// Events that are looked at for a greeting.
const RECENT_EVENTS: u64 = 5;
/// Characters of a command in a hot entry.
const COMMAND_CHARS: usize = 50;
/// Characters of an error in a hot entry.
const ERROR_CHARS: usize = 100;

/// A session as the store knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// Its number and row, once its transcript was read.
    pub(super) stored: Option<(SessionNumber, Session)>,
    /// What only we know.
    pub(super) life: Option<Life>,
    /// What it did in the last day.
    pub(super) deeds: Deeds,
}

impl Own {
    pub(super) fn read(store: &Store, key: SessionKey<'_>, now: Timestamp) -> Result<Self, StoreError> {
        let stored = store.session_of(key)?;
        let since = Timestamp::from_millis(now.as_millis() - HOT_MILLIS);
        let deeds = match &stored {
            Some((number, _)) => store.deeds_since(*number, None, since)?,
            None => Deeds::default(),
        };
        Ok(Self { stored, life: store.life(key)?, deeds })
    }

    /// Files it touched in the last day, newest last.
    pub(super) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for tool in self.deeds.entries.iter().filter_map(|entry| entry.tool.as_ref()) {
            for path in &tool.paths {
                files.retain(|known| known != path);
                files.push(path.clone());
            }
        }
        files.split_off(files.len().saturating_sub(RECENT_FILES))
    }

    /// Tools it used in the last day, newest last.
    pub(super) fn tools(&self) -> Vec<String> {
        let mut tools: Vec<String> = Vec::new();
        for tool in self.deeds.entries.iter().filter_map(|entry| entry.tool.as_ref()) {
            tools.retain(|known| *known != tool.name);
            tools.push(tool.name.clone());
        }
        tools
    }

    /// The session as it is told to itself.
    pub(super) fn view(
        &self,
        store: &Store,
        key: SessionKey<'_>,
        lifecycle: Lifecycle,
        now: Timestamp,
    ) -> Result<SessionView, StoreError> {
        let since = Timestamp::from_millis(now.as_millis() - HOT_MILLIS);
        let mut hot: Vec<Happening> =
            store.hot(key, since)?.into_iter().map(|(at, text)| Happening { at, text }).collect();
        if hot.is_empty() {
            hot = self.deeds.entries.iter().filter_map(hot_entry).collect();
        }
        let kept = hot.len().saturating_sub(lifecycle.hot_entries as usize);
        let events = store.life_events(key, RECENT_EVENTS)?.into_iter().map(|event| Happening {
            at: event.at,
            text: if event.detail.is_empty() { event.kind } else { format!("{}: {}", event.kind, event.detail) },
        });
        let mut recent: Vec<Happening> = events.collect();
        if recent.is_empty() {
            recent = self.deeds.entries.iter().rev().take(RECENT_EVENTS as usize).filter_map(told_entry).collect();
            recent.reverse();
        }
        let project = self.stored.as_ref().and_then(|(_, session)| session.project.as_deref());
        let files = self.files().into_iter().map(|path| relative(&path, project)).collect();
        Ok(SessionView {
            id: key.external_id.chars().take(8).collect(),
            began_at: self.life.as_ref().map(|life| life.period_at).or(self.began_at()),
            events: self.life.as_ref().map_or(self.deeds.entries.len() as u64, |life| life.events),
            files,
            hot: hot.split_off(kept),
            recent,
            task: self.life.as_ref().and_then(|life| life.task.clone()),
        })
    }

    fn began_at(&self) -> Option<Timestamp> {
        self.stored.as_ref().and_then(|(_, session)| session.started_at)
    }
}

/// What a call was, in the words of hot memory, for sessions whose hooks tell nothing.
fn hot_entry(entry: &Entry) -> Option<Happening> {
    let (tool, at) = (entry.tool.as_ref()?, entry.at?);
    Some(Happening { at, text: hot_words(tool)? })
}

/// Created, edited, ran, failed; nothing for calls that change nothing.
pub(super) fn hot_words(tool: &ToolUse) -> Option<String> {
    let outcome = tool.outcome.as_ref();
    if let Some(error) = outcome.filter(|outcome| outcome.status.is_error()).and_then(|outcome| outcome.error.as_ref())
    {
        let target = clip(&one_line(&tool.target), COMMAND_CHARS).into_owned();
        return Some(format!("Failed: {target}: {}", clip(&one_line(error), ERROR_CHARS)));
    }
    match tool.kind? {
        ToolKind::Write => Some(format!("Created {}", tool.target)),
        ToolKind::Edit => Some(format!("Edited {}", tool.target)),
        ToolKind::Command => Some(format!("Ran: {}", clip(&one_line(&tool.target), COMMAND_CHARS))),
        _ => None,
    }
}

fn told_entry(entry: &Entry) -> Option<Happening> {
    let text = match entry.speech {
        Speech::Prompt => format!("prompt_submitted: {}", entry.text),
        Speech::Said => format!("response_completed: {}", entry.text),
        Speech::Call => format!("tool_executed: {}", entry.text),
        _ => return None,
    };
    Some(Happening { at: entry.at?, text })
}

fn relative(path: &str, project: Option<&str>) -> String {
    let inside = project.and_then(|project| path.strip_prefix(project)).and_then(|path| path.strip_prefix('/'));
    inside.unwrap_or(path).to_owned()
}
