//! Notes and tasks that users attached to a session and that have not been injected yet.

use rethread_model::Timestamp;
use rethread_recall::{SessionView, TimedText, session_update};
use rethread_store::{ReadStore, SessionKey, StoreError};

use super::inject::text_hash;
use super::session_view::{OwnSession, day_before, happenings};

/// Notes and a task that are still to be injected.
pub(super) struct PendingNotes {
    /// The block to inject.
    pub(super) text: String,
    /// Dedupe keys of the notes and the task in `text`.
    pub(super) dedupe_keys: Vec<u64>,
}

/// Notes of the last 24 hours and the task, except what was injected before or is part of the same injection
/// (`included`).
pub(super) fn find_pending_notes(
    store: &ReadStore,
    key: SessionKey<'_>,
    own: &OwnSession,
    included: &[u64],
    now: Timestamp,
) -> Result<Option<PendingNotes>, StoreError> {
    let mut notes = store.hot_memory(key, day_before(now))?;
    notes.retain(|hot| hot.is_note);
    let is_known =
        |hash: u64| -> Result<bool, StoreError> { Ok(included.contains(&hash) || store.was_injected(key, hash)?) };
    let mut dedupe_keys = Vec::new();
    let mut fresh = Vec::new();
    for note in happenings(notes) {
        let hash = note_key(&note);
        if !is_known(hash)? {
            dedupe_keys.push(hash);
            fresh.push(note);
        }
    }
    let mut task = own.labels.task.as_deref();
    if let Some(text) = task {
        let hash = task_key(text);
        if is_known(hash)? { task = None } else { dedupe_keys.push(hash) }
    }
    Ok(session_update(&fresh, task).map(|text| PendingNotes { text, dedupe_keys }))
}

/// Dedupe keys of the notes and the task that a block for this view contains.
pub(super) fn note_and_task_keys(view: &SessionView) -> Vec<u64> {
    view.notes.iter().map(note_key).chain(view.task.as_deref().map(task_key)).collect()
}

pub(crate) fn task_key(task: &str) -> u64 {
    text_hash(&format!("task:{task}"))
}

fn note_key(note: &TimedText) -> u64 {
    text_hash(&format!("note:{}:{}", note.at.as_millis(), note.text))
}
