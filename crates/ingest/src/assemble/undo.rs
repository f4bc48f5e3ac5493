//! Takes back a part of a session: its entries stay stored, but do not count any more.

use std::collections::HashSet;

use rethread_model::{EntryKind, NativeKey, NewEntry};

use super::{SessionAssembler, StoredState};
use crate::UndoStep;

impl SessionAssembler {
    /// Retracts the entries that a step takes back. `id` identifies the step, so that reading it again changes nothing.
    pub(super) fn undo<K: StoredState>(&mut self, id: &str, step: &UndoStep, stored: &K) -> Result<(), K::Error> {
        let key = self.key(&format!("{id}:undo"));
        if !self.sync.seen_keys.insert(key) || stored.has_queue_step(key)? {
            return Ok(());
        }
        self.changes.queue_steps.push(key);
        let first = match step {
            UndoStep::LastPrompts(count) => self.prompt_from_end(*count, stored)?,
            UndoStep::From(id) => self.first_seq_of(self.key(id), stored)?,
        };
        let Some(first) = first.filter(|first| *first < self.state.next_seq) else { return Ok(()) };
        let known: HashSet<u64> = self.changes.retracted.iter().copied().collect();
        self.changes.retracted.extend((first..self.state.next_seq).filter(|seq| !known.contains(seq)));
        self.changes.should_rebuild_episodes = true;
        // A late result would count an error for a call that does not count.
        self.state.calls.retain(|(_, seq, _)| *seq < first);
        Ok(())
    }

    /// The prompt that is `count`-th from the end, or the first one if there are fewer.
    fn prompt_from_end<K: StoredState>(&self, count: u64, stored: &K) -> Result<Option<u64>, K::Error> {
        let retracted: HashSet<u64> = self.changes.retracted.iter().copied().collect();
        let new = self.changes.entries.iter().rev().map(|new| &new.entry);
        let new = new.filter(|entry| entry.kind == EntryKind::Prompt).map(|entry| entry.seq);
        // What this sync retracted is still stored as it was.
        let known = stored.last_prompts(count.saturating_add(retracted.len() as u64))?;
        let mut prompts = new.chain(known).filter(|seq| !retracted.contains(seq));
        let mut first = None;
        for _ in 0..count {
            let Some(seq) = prompts.next() else { break };
            first = Some(seq);
        }
        Ok(first)
    }

    fn first_seq_of<K: StoredState>(&self, key: NativeKey, stored: &K) -> Result<Option<u64>, K::Error> {
        let is_from = |new: &&NewEntry| new.native_key == key || new.line_key == key;
        match self.changes.entries.iter().find(is_from) {
            Some(new) => Ok(Some(new.entry.seq)),
            None => stored.first_seq_of(key),
        }
    }
}
