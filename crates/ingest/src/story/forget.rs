//! Takes entries out of a session's story whose transcript is gone, and says by which keys texts stay out of it.

use std::collections::BTreeMap;

use rethread_model::{Agent, NativeKey, Outcome, Owner, Speech};

use super::titles::short;
use super::{Known, Saved, Story};

/// An entry that stays: who speaks, and what is said.
#[derive(Clone, Copy, Debug)]
pub struct KeptEntry<'a> {
    /// Its number until now.
    pub seq: u64,
    /// How it is said.
    pub speech: Speech,
    /// What is said.
    pub text: &'a str,
}

/// The key by which a name of a session is known after it was forgotten, whichever file holds it.
pub fn title_key(agent: Agent, title: &str) -> NativeKey {
    NativeKey::global(agent, &format!("title:{}", short(title).unwrap_or_default()))
}

/// The key by which a text that was typed ahead is known after it was forgotten: its step in the queue has another id
/// than the entry it became.
pub fn typed_key(agent: Agent, external_id: &str, text: &str) -> NativeKey {
    NativeKey::within(agent, external_id, &format!("typed:{text}"))
}

/// The key by which a git branch is known after its name was forgotten.
fn branch_key(agent: Agent, branch: &str) -> NativeKey {
    NativeKey::global(agent, &format!("branch:{branch}"))
}

/// All texts that a story's memory holds: names, the branch, and results whose calls are still to come.
pub fn remembered_texts(memory: &str) -> Vec<String> {
    let Ok(saved) = serde_json::from_str::<Saved>(memory) else { return Vec::new() };
    let results = saved.early_results.iter().flat_map(|(_, outcome)| texts_of(outcome));
    let texts = saved.titles.all().map(String::as_str).chain(saved.setting.branch.as_deref()).chain(results);
    texts.map(str::to_owned).collect()
}

/// The keys that keep out the texts of a story's memory that must go: of names, of the branch, and of the calls whose
/// results hold them.
pub fn keys_of_memory(agent: Agent, memory: &str, must_go: &dyn Fn(&str) -> bool) -> Vec<NativeKey> {
    let Ok(saved) = serde_json::from_str::<Saved>(memory) else { return Vec::new() };
    let titles = saved.titles.all().filter(|title| must_go(title)).map(|title| title_key(agent, title));
    let branch = saved.setting.branch.iter().filter(|branch| must_go(branch)).map(|branch| branch_key(agent, branch));
    let results = saved.early_results.iter().filter(|(_, outcome)| texts_of(outcome).any(must_go));
    titles.chain(branch).chain(results.map(|(call, _)| *call)).collect()
}

impl Story {
    /// Goes on with only these entries, numbered anew in their order, and without the texts that must not stay.
    pub fn keep_only(&mut self, kept: &[KeptEntry<'_>], must_go: &dyn Fn(&str) -> bool) {
        let places: BTreeMap<u64, u64> = kept.iter().map(|entry| entry.seq).zip(0..).collect();
        let place = |seq: u64| places.get(&seq).copied();
        let saved = &mut self.saved;
        saved.next_seq = kept.len() as u64;
        saved.calls = std::mem::take(&mut saved.calls)
            .into_iter()
            .filter_map(|(call, seq, episode)| Some((call, place(seq)?, episode)))
            .collect();
        saved.queue.renumber(&place);
        let early = std::mem::take(&mut saved.early_results).into_iter();
        let (gone, early): (Vec<_>, Vec<_>) = early.partition(|(_, outcome)| texts_of(outcome).any(must_go));
        saved.early_results = early;
        let errors = gone.iter().filter(|(_, outcome)| outcome.status.is_error()).count();
        saved.orphan_errors = saved.orphan_errors.saturating_sub(errors as u64);
        saved.setting.branch = saved.setting.branch.take().filter(|branch| !must_go(branch));
        saved.titles.forget(must_go);
        (saved.real_prompts, saved.warm_ups) = (0, 0);
        for entry in kept {
            match entry.speech {
                Speech::Prompt | Speech::Task => self.prompted(entry.text),
                Speech::Command => self.saved.titles.command(entry.text),
                _ => {}
            }
        }
    }

    /// Notes the branch last seen. One whose name was forgotten is none.
    pub(super) fn on_branch<K: Known>(&mut self, branch: Option<String>, known: &K) -> Result<(), K::Error> {
        let Some(branch) = branch else { return Ok(()) };
        let is_forgotten = known.owner(branch_key(self.agent, &branch))? == Some(Owner::Forgotten);
        self.saved.setting.branch = (!is_forgotten).then_some(branch);
        Ok(())
    }
}

fn texts_of(outcome: &Outcome) -> impl Iterator<Item = &str> {
    [Some(outcome.summary.as_str()), outcome.error.as_deref(), outcome.output.as_deref()].into_iter().flatten()
}
