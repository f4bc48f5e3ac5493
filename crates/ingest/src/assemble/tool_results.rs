//! Tool calls and the results that belong to them, in whichever order a transcript has them.

use rethread_model::{Entry, EntryKind, NativeKey, ToolKind, ToolOutcome, ToolStatus, ToolUse};

use super::{SessionAssembler, StoredState, empty_entry};
use crate::facts::is_read_only;
use crate::parse::describe_tool;
use crate::{EventBody, TranscriptEvent};

/// Maximum number of calls waiting for their results.
const MAX_OPEN_CALLS: usize = 256;
/// Maximum number of results waiting for a call that is written after them.
const MAX_EARLY_RESULTS: usize = 16;

impl SessionAssembler {
    pub(super) fn add_call<K: StoredState>(&mut self, event: TranscriptEvent, stored: &K) -> Result<(), K::Error> {
        let EventBody::ToolCall { id, message_id: message, tool } = event.body else { return Ok(()) };
        // Some models restart call numbers in every message; then the entry is part of the identity.
        let key = if self.format.call_ids_repeat { self.part_key(&event.native_id, &id) } else { self.key(&id) };
        if !self.is_new(key, stored)? {
            return Ok(());
        }
        let text = describe_tool(&tool);
        if stored.is_forgotten_content(event.at, &text, &tool.arguments)? {
            self.forget_call(&id);
            return Ok(());
        }
        self.note_time(event.at);
        if tool.kind.is_some_and(ToolKind::changes_files) {
            self.record_edits(&tool, stored)?;
        }
        let message = message.map(|id| self.key(&id));
        let seq = self.state.next_seq;
        let entry = Entry { text, tool: Some(tool), ..empty_entry(&id, event.location, event.at, EntryKind::Call) };
        let line = self.line_key(&event.native_id);
        let episode = self.push_entry(entry, (key, line), message);
        let call = self.key(&id);
        if let Some(at) = self.state.early_results.iter().position(|(early, _)| *early == call) {
            let (_, outcome) = self.state.early_results.remove(at);
            self.state.orphan_errors -= u64::from(outcome.status.is_error());
            self.set_outcome(seq, episode, outcome);
            return Ok(());
        }
        if self.state.calls.len() == MAX_OPEN_CALLS {
            self.state.calls.pop_front();
        }
        self.state.calls.push_back((call, seq, episode));
        Ok(())
    }

    fn record_edits<K: StoredState>(&mut self, tool: &ToolUse, stored: &K) -> Result<(), K::Error> {
        for path in &tool.paths {
            if !self.changes.edited_paths.contains(path) && !stored.has_edited(path)? {
                self.changes.edited_paths.push(path.clone());
                self.state.episodes.counts.files_edited += 1;
            }
        }
        Ok(())
    }

    pub(super) fn add_result<K: StoredState>(&mut self, event: TranscriptEvent, stored: &K) -> Result<(), K::Error> {
        let EventBody::ToolResult { call_id: call, outcome, answer } = event.body else { return Ok(()) };
        let key = self.key(&call);
        let found = self.state.calls.iter().rposition(|(call, ..)| *call == key);
        let found = found.and_then(|at| self.state.calls.remove(at));
        self.note_time(event.at);
        match found {
            Some((_, seq, episode)) => self.set_outcome(seq, episode, outcome),
            // The call may be on the next line.
            None if self.format.results_may_come_first
                && stored.entry_owner(key)?.is_none()
                && !self.sync.seen_keys.contains(&key) =>
            {
                self.hold_result(key, outcome);
            }
            // A repeated result adds nothing.
            None => return Ok(()),
        }
        if let Some(text) = answer {
            let id = format!("{call}:answer");
            let key = self.key(&id);
            if self.is_new(key, stored)? {
                let line = self.line_key(&event.native_id);
                let entry = Entry { text, ..empty_entry(&id, event.location, event.at, EntryKind::Answer) };
                self.push_entry(entry, (key, line), None);
            }
        }
        Ok(())
    }

    fn hold_result(&mut self, call: NativeKey, outcome: ToolOutcome) {
        if !self.sync.orphan_results.insert(call) || self.state.early_results.iter().any(|(known, _)| *known == call) {
            return;
        }
        self.state.orphan_errors += u64::from(outcome.status.is_error());
        if self.state.early_results.len() == MAX_EARLY_RESULTS {
            self.state.early_results.remove(0);
        }
        self.state.early_results.push((call, outcome));
    }

    fn set_outcome(&mut self, seq: u64, episode: Option<u64>, outcome: ToolOutcome) {
        if outcome.status.is_error() {
            self.state.episodes.count_error(episode);
            self.count_late_error(episode);
        }
        match self.new_entry(seq) {
            Some(new) => {
                if let Some(tool) = new.entry.tool.as_mut() {
                    let mut outcome = outcome;
                    // Errors shown in a log or a file are not errors of the command or the tool that prints it.
                    let is_command = tool.kind == Some(ToolKind::Command);
                    if outcome.status == ToolStatus::Ok
                        && outcome.error.is_some()
                        && (!is_command || is_read_only(&tool.target))
                    {
                        outcome.error = None;
                    }
                    tool.outcome = Some(outcome);
                }
            }
            None => self.changes.outcomes.push((seq, outcome)),
        }
    }

    /// Counts an error in a closed episode: updates it within this batch, else leaves the update to the store.
    fn count_late_error(&mut self, episode: Option<u64>) {
        let Some(number) = episode.filter(|number| Some(*number) != self.state.episodes.open_number()) else { return };
        match self.changes.closed_episodes.iter_mut().find(|closed| closed.number == number) {
            Some(closed) => closed.tool_errors += 1,
            None => *self.changes.late_errors.entry(number).or_default() += 1,
        }
    }
}
