//! What people put before a session from outside, a note or a task, and whether it has heard of it.

use rethread_model::Timestamp;
use rethread_recall::{Happening, SessionView, session_news};
use rethread_store::{SessionKey, Store, StoreError};

use super::inject::hash_of;
use super::view::{Own, day_before, happenings};

/// Something a session has not heard of yet.
pub(super) struct News {
    /// The block that tells it.
    pub(super) text: String,
    /// What it says, so that it is said once.
    pub(super) says: Vec<u64>,
}

/// Notes of the last day, and the task, that a session was not told of and does not hear with the rest.
pub(super) fn unheard(
    store: &Store,
    key: SessionKey<'_>,
    own: &Own,
    heard: &[u64],
    now: Timestamp,
) -> Result<Option<News>, StoreError> {
    let mut notes = store.hot(key, day_before(now))?;
    notes.retain(|hot| hot.is_note);
    let is_heard = |hash: u64| -> Result<bool, StoreError> { Ok(heard.contains(&hash) || store.was_told(key, hash)?) };
    let mut says = Vec::new();
    let mut fresh = Vec::new();
    for note in happenings(notes) {
        let hash = hash_of_note(&note);
        if !is_heard(hash)? {
            says.push(hash);
            fresh.push(note);
        }
    }
    let mut task = own.life.as_ref().and_then(|life| life.task.as_deref());
    if let Some(text) = task {
        let hash = hash_of_task(text);
        if is_heard(hash)? { task = None } else { says.push(hash) }
    }
    Ok(session_news(&fresh, task).map(|text| News { text, says }))
}

/// The notes and the task that a block about this view tells.
pub(super) fn told_by(view: &SessionView) -> Vec<u64> {
    view.notes.iter().map(hash_of_note).chain(view.task.as_deref().map(hash_of_task)).collect()
}

pub(super) fn hash_of_task(task: &str) -> u64 {
    hash_of(&format!("task:{task}"))
}

fn hash_of_note(note: &Happening) -> u64 {
    hash_of(&format!("note:{}:{}", note.at.as_millis(), note.text))
}
