//! Extracts facts from the spans a sync changed, in the transaction that stores the entries.

use rethread_ingest::facts::{ExtractionState, RULES_VERSION, extract};
use rethread_model::{Entry, SessionChanges, Timestamp};
use rethread_store::{Batch, FactSpan, SessionNumber, Store};

use crate::{EngineError, SyncService};

/// How many spans keep their state, from the last one on: the last one grows, and results of the one before may come
/// late. States are large, so a change further back extracts the session from its start.
const STORED_STATES: usize = 3;
/// Sessions per transaction, so that other processes do not wait long.
const SESSIONS_PER_BATCH: usize = 8;

/// Extracts the facts of one session.
pub(crate) struct FactExtraction<'a> {
    pub(crate) session: SessionNumber,
    /// Project root and working directory: paths below them are named relative to them. Empty ones are unknown.
    pub(crate) roots: &'a [&'a str],
    /// The time recorded as when the facts were learned.
    pub(crate) now: Timestamp,
}

impl FactExtraction<'_> {
    /// Extracts facts from the spans a sync changed, and from later spans as long as the state carried between spans
    /// changes. Returns by how much the number of facts grew.
    pub(super) fn extract_after_changes(
        &self,
        batch: &mut Batch<'_>,
        changes: &SessionChanges,
    ) -> Result<i64, EngineError> {
        let first_new = changes.entries.first().map(|new| new.entry.seq);
        let Some(first) = changes.outcomes.iter().map(|(seq, _)| *seq).chain(first_new).min() else { return Ok(0) };
        let is_touched = |span: FactSpan| {
            let is_inside = |seq: u64| (span.first_seq..=span.last_seq).contains(&seq);
            first_new.is_some_and(|new| span.last_seq >= new) || changes.outcomes.iter().any(|(seq, _)| is_inside(*seq))
        };
        self.extract(batch, first, Some(changes), is_touched)
    }

    /// Extracts all facts of a session again.
    pub(crate) fn extract_all(&self, batch: &mut Batch<'_>) -> Result<i64, EngineError> {
        batch.clear_rule_facts(self.session)?;
        self.extract(batch, 0, None, |_| true)
    }

    fn extract(
        &self,
        batch: &mut Batch<'_>,
        from_seq: u64,
        changes: Option<&SessionChanges>,
        is_touched: impl Fn(FactSpan) -> bool,
    ) -> Result<i64, EngineError> {
        let mut spans = batch.fact_spans(self.session, from_seq)?;
        let Some(mut first) = spans.first().copied() else { return Ok(0) };
        // State that cannot be read was written by other rules: the next sync extracts the whole session again.
        let read = |stored: Option<String>| stored.and_then(|carry| serde_json::from_str(&carry).ok());
        let mut stored = batch.extractor_state_before(self.session, first.first_seq)?;
        if stored.is_none() && first.first_seq > 0 {
            spans = batch.fact_spans(self.session, 0)?;
            first = spans.first().copied().unwrap_or(first);
            stored = batch.extractor_state_before(self.session, first.first_seq)?;
        }
        let mut carry: ExtractionState = read(stored).unwrap_or_default();
        let (mut carry_changed, mut more) = (false, 0);
        // Also the spans before the first one that changed keep their states.
        let all = batch.fact_spans(self.session, 0)?;
        let first_stored = all.get(all.len().saturating_sub(STORED_STATES)).map_or(0, |span| span.first_seq);
        for span in spans {
            let before = batch.extractor_state_after(self.session, span)?;
            if !carry_changed && before.is_some() && !is_touched(span) {
                carry = read(before).unwrap_or_default();
                continue;
            }
            let extracted = if let Some(entries) = changes.and_then(|changes| new_entries_of_span(changes, span)) {
                extract(carry, self.roots, &entries)
            } else {
                let stored = batch.span_entries(self.session, span)?;
                extract(carry, self.roots, &stored.iter().collect::<Vec<_>>())
            };
            let is_stored = span.first_seq >= first_stored;
            let after = if is_stored || before.is_some() {
                Some(serde_json::to_string(&extracted.state).map_err(EngineError::SerializeState)?)
            } else {
                None
            };
            let stored = after.as_deref().filter(|_| is_stored);
            more += batch.replace_rule_facts(self.session, span, &extracted.facts, stored, self.now)?;
            carry_changed = before != after || before.is_none();
            carry = extracted.state;
        }
        batch.clear_extractor_states_before(self.session, first_stored)?;
        batch.set_fact_rules_version(self.session, RULES_VERSION)?;
        Ok(more)
    }
}

impl SyncService<'_> {
    /// Extracts the facts of sessions whose facts were extracted by other versions of the rules.
    pub(crate) fn extract_outdated_facts(self, store: &mut Store) -> Result<(), EngineError> {
        if !self.engine.settings().facts.enabled {
            return Ok(());
        }
        let older = store.sessions_with_outdated_facts(RULES_VERSION)?;
        for some in older.chunks(SESSIONS_PER_BATCH) {
            let mut batch = store.begin_unflushed()?;
            for number in some {
                let Some((session, _)) = batch.session_with_state(*number)? else { continue };
                let roots = [session.project.as_deref(), session.cwd.as_deref()].map(Option::unwrap_or_default);
                FactExtraction { session: *number, roots: &roots, now: self.engine.now() }.extract_all(&mut batch)?;
            }
            batch.commit()?;
        }
        Ok(())
    }
}

/// The entries of a span, if all of them are part of these changes.
fn new_entries_of_span(changes: &SessionChanges, span: FactSpan) -> Option<Vec<&Entry>> {
    let first = changes.entries.first()?.entry.seq;
    if span.first_seq < first || !changes.retracted.is_empty() {
        return None;
    }
    let inside = |entry: &&Entry| {
        (span.first_seq..=span.last_seq).contains(&entry.seq)
            && entry.episode == Some(span.episode)
            && !entry.is_abandoned
    };
    Some(changes.entries.iter().map(|new| &new.entry).filter(inside).collect())
}
