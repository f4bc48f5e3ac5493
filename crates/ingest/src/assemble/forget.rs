//! Removes forgotten entries from a session whose transcript is gone, and derives the keys that keep their texts out.

use std::collections::BTreeMap;

use rethread_model::{Agent, EntryKind, EntryOwner, NativeKey, ToolOutcome};

use super::titles::shorten_title;
use super::{AssemblerState, SessionAssembler, StoredState};
use crate::{EventBody, Redactor, TranscriptEvent};

/// An entry that remains after forgetting.
#[derive(Clone, Copy, Debug)]
pub struct RemainingEntry<'a> {
    /// Its `seq` before renumbering.
    pub seq: u64,
    /// Kind of entry.
    pub kind: EntryKind,
    /// Its text.
    pub text: &'a str,
}

/// The key that blocks a forgotten session title, in whichever file it appears again.
pub fn title_key(agent: Agent, title: &str) -> NativeKey {
    NativeKey::global(agent, &format!("title:{}", shorten_title(title).unwrap_or_default()))
}

/// The key that blocks a forgotten queued prompt: its queue step has a different id than the entry it became.
pub fn queued_prompt_key(agent: Agent, external_id: &str, text: &str) -> NativeKey {
    NativeKey::in_session(agent, external_id, &format!("typed:{text}"))
}

/// The key that blocks a forgotten git branch name.
fn branch_key(agent: Agent, branch: &str) -> NativeKey {
    NativeKey::global(agent, &format!("branch:{branch}"))
}

/// All texts in a stored assembler state: titles, the branch, and results whose calls have not been read yet.
pub fn state_texts(state_json: &str) -> Vec<String> {
    let Ok(state) = serde_json::from_str::<AssemblerState>(state_json) else { return Vec::new() };
    let results = state.early_results.iter().flat_map(|(_, outcome)| outcome_texts(outcome));
    let texts = state.titles.all().map(String::as_str).chain(state.info.branch.as_deref()).chain(results);
    texts.map(str::to_owned).collect()
}

/// The keys that block the texts of an assembler state that must be forgotten: titles, the branch, and the calls whose
/// results contain them.
pub fn blocked_keys(agent: Agent, state_json: &str, should_forget: &dyn Fn(&str) -> bool) -> Vec<NativeKey> {
    let Ok(state) = serde_json::from_str::<AssemblerState>(state_json) else { return Vec::new() };
    let titles = state.titles.all().filter(|title| should_forget(title)).map(|title| title_key(agent, title));
    let branch =
        state.info.branch.iter().filter(|branch| should_forget(branch)).map(|branch| branch_key(agent, branch));
    let results = state.early_results.iter().filter(|(_, outcome)| outcome_texts(outcome).any(should_forget));
    titles.chain(branch).chain(results.map(|(call, _)| *call)).collect()
}

impl SessionAssembler {
    /// Retains only these entries, renumbered in their order, and drops the texts that must be forgotten. A derived name
    /// is dropped too: the caller offers the names of the remaining entries again.
    pub fn retain_entries(&mut self, kept: &[RemainingEntry<'_>], should_forget: &dyn Fn(&str) -> bool) {
        let new_seqs: BTreeMap<u64, u64> = kept.iter().map(|entry| entry.seq).zip(0..).collect();
        let new_seq = |seq: u64| new_seqs.get(&seq).copied();
        let state = &mut self.state;
        state.next_seq = kept.len() as u64;
        state.calls = std::mem::take(&mut state.calls)
            .into_iter()
            .filter_map(|(call, seq, episode)| Some((call, new_seq(seq)?, episode)))
            .collect();
        state.prompt_queue.renumber(&new_seq);
        let early = std::mem::take(&mut state.early_results).into_iter();
        let (gone, early): (Vec<_>, Vec<_>) = early.partition(|(_, outcome)| outcome_texts(outcome).any(should_forget));
        state.early_results = early;
        let errors = gone.iter().filter(|(_, outcome)| outcome.status.is_error()).count();
        state.orphan_errors = state.orphan_errors.saturating_sub(errors as u64);
        state.info.branch = state.info.branch.take().filter(|branch| !should_forget(branch));
        state.titles.forget_matching(should_forget);
        (state.real_prompts, state.warm_ups) = (0, 0);
        for entry in kept {
            if matches!(entry.kind, EntryKind::Prompt | EntryKind::Task) {
                self.count_prompt(entry.text);
            }
        }
    }

    /// Whether an event repeats content of a forgotten line. The id of a line is the same in every copy, while ids of
    /// tool calls may be unique only in their session.
    pub(super) fn is_forgotten_line<K: StoredState>(
        &mut self,
        event: &TranscriptEvent,
        stored: &K,
    ) -> Result<bool, K::Error> {
        // A result belongs to its call, which may be on a line that stays.
        if !matches!(event.body, EventBody::Text { .. } | EventBody::ToolCall { .. }) {
            return Ok(false);
        }
        let line = event.location.line;
        let is_forgotten = match self.sync.looked_up_line {
            Some((known, is_forgotten)) if known == line => is_forgotten,
            _ => stored.is_forgotten_key(self.line_key(&event.native_id))?,
        };
        self.sync.looked_up_line = Some((line, is_forgotten));
        if let (true, EventBody::ToolCall { id, .. }) = (is_forgotten, &event.body) {
            self.forget_call(id);
        }
        Ok(is_forgotten)
    }

    /// Keeps the result of a forgotten call out, which is on another line and may be read earlier or later.
    pub(super) fn forget_call(&mut self, id: &str) {
        let call = self.key(id);
        let is_its_error = |(key, outcome): &&(NativeKey, ToolOutcome)| *key == call && outcome.status.is_error();
        self.state.orphan_errors -= self.state.early_results.iter().filter(is_its_error).count() as u64;
        self.state.early_results.retain(|(key, _)| *key != call);
        self.sync.seen_keys.insert(call);
        self.changes.forgotten_calls.push(call);
    }

    /// Sets the most recent branch. A forgotten branch name is dropped.
    pub(super) fn set_branch<K: StoredState>(&mut self, branch: Option<String>, stored: &K) -> Result<(), K::Error> {
        let Some(branch) = branch.map(|branch| Redactor::shared().redact_name(branch)) else { return Ok(()) };
        let is_forgotten = stored.entry_owner(branch_key(self.agent, &branch))? == Some(EntryOwner::Forgotten);
        self.state.info.branch = (!is_forgotten).then_some(branch);
        Ok(())
    }
}

fn outcome_texts(outcome: &ToolOutcome) -> impl Iterator<Item = &str> {
    [Some(outcome.summary.as_str()), outcome.error.as_deref(), outcome.output.as_deref()].into_iter().flatten()
}
