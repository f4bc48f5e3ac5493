//! Applies several user edits to a session at once. Everything is validated before anything is changed.

use rethread_model::{SessionId, SessionState, Timestamp};
use rethread_store::SessionKey;

use super::LifecycleService;
use super::pins_and_tags::check_tag;
use super::session_commands::{check_alias, check_note};
use crate::EngineError;
use crate::awareness::day_before;

/// Edits to a session. Fields that are `None` leave it unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionChange {
    /// The new name; `""` restores the original name.
    pub name: Option<String>,
    /// The new alias; `""` removes it.
    pub alias: Option<String>,
    /// The current task; `""` clears it.
    pub task: Option<String>,
    /// A note to add to hot memory, where it stays for 24 hours.
    pub note: Option<String>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to remove, in any case.
    pub remove_tags: Vec<String>,
    /// Suspends the session or ends it.
    pub close: Option<CloseAction>,
}

/// How to close the current period of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseAction {
    /// The next prompt resumes the period.
    Suspend,
    /// The next prompt starts a new period.
    End,
}

/// The task and notes that users attached to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskAndNotes {
    /// The current task.
    pub task: Option<String>,
    /// Notes with the time they were added, oldest first.
    pub notes: Vec<(Timestamp, String)>,
    /// Whether the session is pinned.
    pub is_pinned: bool,
    /// The user's tags.
    pub tags: Vec<String>,
}

impl LifecycleService<'_> {
    /// Edits a session or thread. Invalid values and impossible transitions are reported before anything is changed.
    pub fn change(self, id: SessionId, change: &SessionChange) -> Result<(), EngineError> {
        let alias = change.alias.as_deref().map(str::trim);
        alias.filter(|alias| !alias.is_empty()).map_or(Ok(()), check_alias)?;
        change.note.as_deref().map_or(Ok(()), check_note)?;
        change.add_tags.iter().try_for_each(|tag| check_tag(tag).map(drop))?;
        let state = self.engine.conversations().get(id)?.listed.state;
        if change.close == Some(CloseAction::Suspend) && state == SessionState::Ended {
            return Err(EngineError::SessionEnded(id));
        }
        self.engine.conversations().register(id)?;
        if change.close.is_some() {
            self.engine.conversations().start_thread_life(id)?;
        }
        let reference = id.to_string();
        change.name.as_deref().map_or(Ok(()), |name| self.set_name(&reference, name))?;
        match alias {
            None => {}
            Some("") => {
                self.edit(&reference, |batch, caller| batch.clear_alias(caller.agent, &caller.external_id))?;
            }
            Some(alias) => self.set_alias(&reference, alias)?,
        }
        change.task.as_deref().map_or(Ok(()), |task| self.set_task(&reference, task))?;
        change.note.as_deref().map_or(Ok(()), |note| self.add_note(&reference, note))?;
        change.pinned.map_or(Ok(()), |pinned| self.set_pinned(&reference, pinned).map(drop))?;
        if !(change.add_tags.is_empty() && change.remove_tags.is_empty()) {
            self.change_tags(&reference, &change.add_tags, &change.remove_tags)?;
        }
        match change.close {
            None => Ok(()),
            Some(CloseAction::Suspend) => self.pause(&reference).map(drop),
            Some(CloseAction::End) => self.end(&reference).map(drop),
        }
    }

    /// The task of a session and its notes of the last 24 hours.
    pub fn task_and_notes(self, id: SessionId) -> Result<TaskAndNotes, EngineError> {
        let session = self.engine.conversations().get(id)?.listed.session;
        let Some(store) = self.engine.reader()? else { return Ok(TaskAndNotes::default()) };
        let key = SessionKey::of(&session);
        let hot = store.hot_memory(key, day_before(self.engine.now()))?.into_iter();
        let labels = store.session_labels(key)?;
        Ok(TaskAndNotes {
            task: labels.task,
            is_pinned: labels.pinned_at.is_some(),
            tags: labels.tags,
            notes: hot.filter(|hot| hot.is_note).map(|hot| (hot.at, hot.text)).collect(),
        })
    }
}
