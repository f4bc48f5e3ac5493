//! Draws facts from what a reading changed, in the transaction that stores it.

use rethread_ingest::facts::{Carry, RULES_VERSION, draw};
use rethread_model::{Changes, Entry, Timestamp};
use rethread_store::{Batch, SessionNumber, Store, Stretch};

use crate::{Engine, EngineError};

/// So many sessions are drawn from in one transaction, so that other processes need not wait long.
const SESSIONS_AT_ONCE: usize = 8;

/// A session whose facts are drawn.
pub(crate) struct Drawing<'a> {
    pub(crate) session: SessionNumber,
    /// Where the project lies: paths below these directories are named without them. Empty ones are unknown.
    pub(crate) roots: &'a [&'a str],
    /// When we learn it.
    pub(crate) now: Timestamp,
}

impl Drawing<'_> {
    /// Draws from the stretches that a reading touched, and from those after them as long as what is remembered
    /// between stretches changes by it. How many facts there are more than before.
    pub(super) fn after_changes(&self, batch: &mut Batch<'_>, changes: &Changes) -> Result<i64, EngineError> {
        let first_new = changes.entries.first().map(|new| new.entry.seq);
        let Some(first) = changes.outcomes.iter().map(|(seq, _)| *seq).chain(first_new).min() else { return Ok(0) };
        let is_touched = |stretch: Stretch| {
            let is_inside = |seq: u64| (stretch.first_seq..=stretch.last_seq).contains(&seq);
            first_new.is_some_and(|new| stretch.last_seq >= new)
                || changes.outcomes.iter().any(|(seq, _)| is_inside(*seq))
        };
        self.draw(batch, first, Some(changes), is_touched)
    }

    /// Draws all facts of a session anew.
    pub(crate) fn anew(&self, batch: &mut Batch<'_>) -> Result<i64, EngineError> {
        batch.clear_facts(self.session)?;
        self.draw(batch, 0, None, |_| true)
    }

    fn draw(
        &self,
        batch: &mut Batch<'_>,
        from_seq: u64,
        changes: Option<&Changes>,
        is_touched: impl Fn(Stretch) -> bool,
    ) -> Result<i64, EngineError> {
        let stretches = batch.stretches(self.session, from_seq)?;
        let Some(first) = stretches.first() else { return Ok(0) };
        // A memory that cannot be read was written by other rules: the session is drawn anew at the next sync.
        let read = |stored: Option<String>| stored.and_then(|carry| serde_json::from_str(&carry).ok());
        let mut carry: Carry = read(batch.carry_before(self.session, first.first_seq)?).unwrap_or_default();
        let (mut carry_changed, mut more) = (false, 0);
        for stretch in stretches {
            let before = batch.carry_after(self.session, stretch)?;
            if !carry_changed && before.is_some() && !is_touched(stretch) {
                carry = read(before).unwrap_or_default();
                continue;
            }
            let drawn = if let Some(entries) = changes.and_then(|changes| in_memory(changes, stretch)) {
                draw(carry, self.roots, &entries)
            } else {
                let stored = batch.stretch_entries(self.session, stretch)?;
                draw(carry, self.roots, &stored.iter().collect::<Vec<_>>())
            };
            let after = serde_json::to_string(&drawn.carry).map_err(EngineError::Memory)?;
            more += batch.put_facts(self.session, stretch, &drawn.facts, &after, self.now)?;
            carry_changed = before.as_deref() != Some(after.as_str());
            carry = drawn.carry;
        }
        batch.set_fact_rules(self.session, RULES_VERSION)?;
        Ok(more)
    }
}

impl Engine {
    /// Draws the facts of sessions that were read before there were these rules.
    pub(crate) fn draw_older_facts(&self, store: &mut Store) -> Result<(), EngineError> {
        if !self.config.flag("facts.enabled") {
            return Ok(());
        }
        let older = store.sessions_with_other_rules(RULES_VERSION)?;
        for some in older.chunks(SESSIONS_AT_ONCE) {
            let mut batch = store.begin()?;
            for number in some {
                let Some((session, _)) = batch.stored_session(*number)? else { continue };
                let roots = [session.project.as_deref(), session.cwd.as_deref()].map(Option::unwrap_or_default);
                Drawing { session: *number, roots: &roots, now: self.now() }.anew(&mut batch)?;
            }
            batch.commit()?;
        }
        Ok(())
    }
}

/// The entries of a stretch, where all of them came with these changes.
fn in_memory(changes: &Changes, stretch: Stretch) -> Option<Vec<&Entry>> {
    let first = changes.entries.first()?.entry.seq;
    if stretch.first_seq < first || !changes.taken_back.is_empty() {
        return None;
    }
    let inside = |entry: &&Entry| {
        (stretch.first_seq..=stretch.last_seq).contains(&entry.seq)
            && entry.episode == Some(stretch.episode)
            && !entry.abandoned
    };
    Some(changes.entries.iter().map(|new| &new.entry).filter(inside).collect())
}
