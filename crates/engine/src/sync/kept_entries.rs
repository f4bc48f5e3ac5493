//! Restores entries that are no longer in any transcript after their session was read again.
//!
//! Agents delete and rewrite transcripts, so the store is often the only copy. Only `forget` removes an entry.

use std::path::Path;

use rethread_ingest::{KeptEntries, SessionAssembler, source};
use rethread_model::{Session, Warning};
use rethread_store::{Batch, SessionNumber, Store, TextsOf};

use super::SyncTotals;
use crate::EngineError;
use crate::maintenance::rebuild_from_entries;
use crate::naming::offer_names;

/// Completes all sessions that were read again, including those of an interrupted sync.
pub(crate) fn restore_all_set_aside(store: &mut Store, tally: &mut SyncTotals) -> Result<(), EngineError> {
    let sessions = store.sessions_set_aside()?;
    restore_sessions(store, &sessions, tally)
}

/// Completes these sessions, one transaction each.
pub(super) fn restore_sessions(
    store: &mut Store,
    sessions: &[SessionNumber],
    tally: &mut SyncTotals,
) -> Result<(), EngineError> {
    for number in sessions {
        let mut batch = store.begin()?;
        restore_set_aside(&mut batch, *number, tally)?;
        batch.commit()?;
    }
    if !sessions.is_empty() {
        let mut batch = store.begin()?;
        batch.finish_rereads()?;
        batch.commit()?;
    }
    Ok(())
}

/// Restores what was not read again of one session, and rebuilds its episodes if there was anything.
pub(crate) fn restore_set_aside(
    batch: &mut Batch<'_>,
    number: SessionNumber,
    tally: &mut SyncTotals,
) -> Result<(), EngineError> {
    if !batch.is_set_aside(number)? {
        return Ok(());
    }
    let restored = batch.restore_set_aside(number)?;
    let Some((session, state)) = batch.session_with_state(number)?.filter(|_| !restored.is_empty()) else {
        return Ok(());
    };
    let resumed = state.and_then(|state| SessionAssembler::resume(session.agent, &session.external_id, &state).ok());
    let mut assembler = resumed.unwrap_or_else(|| SessionAssembler::new(session.agent, &session.external_id));
    let entries = batch.entry_outlines(number)?.0.len() as u64;
    assembler.adopt_kept(&KeptEntries {
        earlier_state: restored.state.as_deref(),
        new_seqs: &restored.new_seqs,
        entries,
        has_unread: restored.unread > 0,
        spoken: &batch.spoken_entries(number)?,
    });
    tally.kept_entries += restored.unread;
    for (path, count) in &restored.superseded {
        tally.kept_entries += count;
        // Agents with a database delete what the user undid.
        if source::is_in_database(session.agent, Path::new(path)) {
            continue;
        }
        let noun = if *count == 1 { "entry is" } else { "entries are" };
        let message = format!("was rewritten: {count} {noun} no longer in it; kept as an abandoned branch");
        let warning = Warning { file: path.clone(), line: None, message };
        tally.agent_report(session.agent).warnings.push(warning);
    }
    let info = assembler.info().clone();
    assembler.clear_derived_name();
    let texts = batch.entry_texts(number, TextsOf::Conversation)?;
    let spoken = texts.iter().map(|(seq, kind, text)| (*seq, *kind, text.as_str()));
    offer_names(&mut assembler, session.agent, session.project.as_deref(), spoken);
    let name = assembler.name();
    let session = Session {
        cwd: info.cwd.or(session.cwd),
        branch: info.branch.or(session.branch),
        model: info.model.or(session.model),
        started_at: info.started_at.or(session.started_at),
        last_activity_at: info.last_activity_at.max(session.last_activity_at),
        ..session
    };
    rebuild_from_entries(batch, (number, &session), assembler, Some(&name))
}
