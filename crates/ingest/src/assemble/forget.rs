//! Removes forgotten entries from a session whose transcript is gone, and derives the keys that keep their texts out.

use std::collections::BTreeMap;

use rethread_model::{Agent, EntryKind, EntryOwner, NativeKey, ToolOutcome};

use super::titles::shorten_title;
use super::{AssemblerState, SessionAssembler, StoredState};

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

    /// Sets the most recent branch. A forgotten branch name is dropped.
    pub(super) fn set_branch<K: StoredState>(&mut self, branch: Option<String>, stored: &K) -> Result<(), K::Error> {
        let Some(branch) = branch else { return Ok(()) };
        let is_forgotten = stored.entry_owner(branch_key(self.agent, &branch))? == Some(EntryOwner::Forgotten);
        self.state.info.branch = (!is_forgotten).then_some(branch);
        Ok(())
    }
}

fn outcome_texts(outcome: &ToolOutcome) -> impl Iterator<Item = &str> {
    [Some(outcome.summary.as_str()), outcome.error.as_deref(), outcome.output.as_deref()].into_iter().flatten()
}
