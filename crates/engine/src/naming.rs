//! Gives sessions their names: offers what was said to the assembler, and recomputes the name after a title changed.

use rethread_ingest::SessionAssembler;
use rethread_model::thread::name_from_first_words;
use rethread_model::{Agent, DerivedName, EntryKind, NameSource};
use rethread_recall::derive_name;
use rethread_store::{Batch, SessionKey, SessionNumber, Store};

use crate::EngineError;

/// Offers the names that entries give their session, in their order. Stops at the first prompt that says what the
/// session is about.
pub(crate) fn offer_names<'a>(
    assembler: &mut SessionAssembler,
    agent: Agent,
    project: Option<&str>,
    entries: impl IntoIterator<Item = (u64, EntryKind, &'a str)>,
) {
    for (seq, kind, text) in entries {
        let known = assembler.derived_name_source();
        if known == Some(NameSource::Prompt) {
            return;
        }
        // Most entries are answers; they can name a session only as long as no prompt does.
        let needs_no_answer = known.is_some_and(|known| known < NameSource::WeakPrompt);
        if kind == EntryKind::AssistantText && needs_no_answer {
            continue;
        }
        let name = match (agent, kind) {
            // A thread is named when it is created, by the same rule.
            (Agent::Native, EntryKind::Prompt) => {
                name_from_first_words(text).map(|text| DerivedName { source: NameSource::Prompt, text })
            }
            (Agent::Native, _) => None,
            _ => derive_name(kind, text, project),
        };
        if let Some(name) = name {
            assembler.offer_name(seq, name);
        }
    }
}

/// Applies what is stored outside the transcript: the name the user gave, and the name on the card.
pub(crate) fn apply_stored_names(
    batch: &Batch<'_>,
    key: SessionKey<'_>,
    assembler: &mut SessionAssembler,
) -> Result<(), EngineError> {
    assembler.set_explicit_name(&batch.session_labels(key)?.name.unwrap_or_default());
    assembler.set_card_name(&batch.card_name(key)?.unwrap_or_default());
    Ok(())
}

/// Recomputes the stored name of a session after the user named it or a model wrote its card.
pub(crate) fn refresh_name(store: &mut Store, key: SessionKey<'_>) -> Result<(), EngineError> {
    let Some((number, _)) = store.session_by_external_id(key)? else { return Ok(()) };
    let mut batch = store.begin()?;
    if let (Some((_, None)), Some(name)) = (batch.session_with_state(number)?, batch.session_labels(key)?.name) {
        // Its transcript was not read yet; reading it takes the name over.
        batch.rename_session(number, &name, None)?;
    }
    rename(&mut batch, number, |batch, assembler| apply_stored_names(batch, key, assembler))?;
    Ok(batch.commit()?)
}

/// Changes the titles of a session and stores the name that results.
pub(crate) fn rename(
    batch: &mut Batch<'_>,
    number: SessionNumber,
    change: impl FnOnce(&Batch<'_>, &mut SessionAssembler) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let Some((session, Some(state_json))) = batch.session_with_state(number)? else { return Ok(()) };
    let Ok(mut assembler) = SessionAssembler::resume(session.agent, &session.external_id, &state_json) else {
        return Ok(());
    };
    change(batch, &mut assembler)?;
    let state_json = assembler.save().map_err(EngineError::SerializeState)?;
    Ok(batch.rename_session(number, &assembler.name(), Some(&state_json))?)
}
