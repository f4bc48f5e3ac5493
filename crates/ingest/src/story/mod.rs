//! Makes the events of many lines one session: entries joined with their results, counts, episodes, names.
//!
//! A story can be put down after any line and taken up again: what it must remember is `Saved`.
//! It never asks the database itself; what was stored before comes through `Known`.

mod branch;
mod forget;
mod queue;
mod teller;
mod titles;

use std::collections::{BTreeMap, HashSet, VecDeque};

use rethread_model::{
    Agent, Changes, Counts, Entry, Episode, NativeKey, NewEntry, NodeRow, Outcome, Owner, Place, SessionKind, Speech,
    Status, Timestamp, ToolKind, ToolUse, UsageRow, estimate_tokens,
};
use serde::{Deserialize, Serialize};

use self::queue::Queue;
use self::teller::{Teller, Told};
use self::titles::Titles;
pub use self::titles::given_title;
use crate::facts::only_looks;
use crate::parse::{describe_tool, native_key};
use crate::{Event, QueueStep, TitleRank, Voice, What};

pub use self::branch::{Retold, retell};
pub use self::forget::{KeptEntry, keys_of_memory, remembered_texts, title_key, typed_key};
pub use self::teller::PART_TOKENS;

/// How many text blocks back a repetition of one is recognised.
const SAID_BLOCKS: usize = 64;
/// How many calls may wait for their results.
const OPEN_CALLS: usize = 256;
/// How many results may wait for a call that is written after them.
const EARLY_RESULTS: usize = 16;

/// What the store already holds, as far as a story must know it.
pub trait Known {
    /// Why the store could not answer.
    type Error;

    /// Who has an entry with this native key.
    fn owner(&self, key: NativeKey) -> Result<Option<Owner>, Self::Error>;
    /// Whether this session has met this step of its queue.
    fn has_queued(&self, key: NativeKey) -> Result<bool, Self::Error>;
    /// Whether this session has a node with this id.
    fn has_node(&self, id: NativeKey) -> Result<bool, Self::Error>;
    /// Whether another session has a node with this lineage.
    fn is_copied_node(&self, lineage: NativeKey) -> Result<bool, Self::Error>;
    /// Whether the agent's session with this id was forgotten.
    fn is_forgotten(&self, external_id: &str) -> Result<bool, Self::Error>;
    /// Whether this session is known to have edited the path.
    fn has_edited(&self, path: &str) -> Result<bool, Self::Error>;
}

/// What is known of the session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Where it began.
    pub cwd: Option<String>,
    /// Git branch last seen.
    pub branch: Option<String>,
    /// Model last used.
    pub model: Option<String>,
    /// First moment.
    pub started_at: Option<Timestamp>,
    /// Last moment.
    pub last_activity_at: Option<Timestamp>,
    /// The transcript it was forked from.
    pub forked_from: Option<String>,
}

/// One session while it is being written.
#[derive(Debug)]
pub struct Story {
    agent: Agent,
    external_id: String,
    saved: Saved,
    run: Run,
    changes: Changes,
}

/// What must be remembered between two readings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Saved {
    #[serde(rename = "facts")]
    setting: Setting,
    teller: Teller,
    queue: Queue,
    titles: Titles,
    next_seq: u64,
    leaf: Option<NativeKey>,
    /// Prompts and tasks other than warm-ups.
    real_prompts: u64,
    warm_ups: u64,
    /// Calls whose results are still to come, oldest first: key of the call's id, entry, episode.
    calls: VecDeque<(NativeKey, u64, Option<u64>)>,
    /// Text blocks of recent API messages, oldest first.
    said: VecDeque<NativeKey>,
    /// Results flagged as errors whose calls are not in the transcript.
    orphan_errors: u64,
    /// Results that stood before their calls, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    early_results: Vec<(NativeKey, Outcome)>,
    /// Sub-agents inside this file: which conversation each of their lines belongs to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sides: BTreeMap<String, String>,
}

/// What is remembered only while this reading lasts.
#[derive(Debug, Default)]
struct Run {
    seen: HashSet<NativeKey>,
    nodes: HashSet<NativeKey>,
    orphans: HashSet<NativeKey>,
    /// The line being read and its node.
    node: Option<(u64, NativeKey)>,
    skipped_line: Option<u64>,
}

impl Story {
    /// A session met for the first time.
    pub fn new(agent: Agent, external_id: &str) -> Self {
        Self {
            agent,
            external_id: external_id.to_owned(),
            saved: Saved::default(),
            run: Run::default(),
            changes: Changes::default(),
        }
    }

    /// A session put down before. An unreadable memory is refused, so that the caller reads the file anew.
    pub fn resume(agent: Agent, external_id: &str, saved: &str) -> Result<Self, serde_json::Error> {
        Ok(Self { saved: serde_json::from_str(saved)?, ..Self::new(agent, external_id) })
    }

    /// What to store so that the story can be taken up again.
    pub fn save(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.saved)
    }

    /// What is known of the session as a whole.
    pub fn setting(&self) -> &Setting {
        &self.saved.setting
    }

    /// The best name there is.
    pub fn name(&self) -> Option<&str> {
        self.saved.titles.best()
    }

    /// A name that another file holds for this session.
    pub fn named_elsewhere(&mut self, text: &str) {
        self.saved.titles.set(TitleRank::Summary, text);
    }

    /// The name its owner gave it, where the transcript does not say.
    pub fn given_name(&mut self, name: &str) {
        self.saved.titles.set(TitleRank::Custom, name);
    }

    /// Whether the session's own name marks it as a sub-agent's.
    pub fn is_named_as_child(&self) -> bool {
        self.saved.titles.names_a_child() || self.external_id.starts_with("subagent-")
    }

    /// The counts of a session of that kind.
    pub fn counts(&self, kind: SessionKind) -> Counts {
        let counts = self.saved.teller.counts_as(kind);
        Counts { tool_errors: counts.tool_errors + self.saved.orphan_errors, ..counts }
    }

    /// Estimated tokens of the kept text.
    pub fn kept_tokens(&self) -> u64 {
        estimate_tokens(self.saved.teller.kept_bytes)
    }

    /// Whether nothing worth listing happened: no word at all, or only warm-ups.
    pub fn is_empty(&self) -> bool {
        let saved = &self.saved;
        saved.real_prompts == 0 && (saved.teller.spoken() == 0 || saved.warm_ups > 0)
    }

    /// The episode that may still grow.
    pub fn open_episode(&self) -> Option<Episode> {
        self.saved.teller.open_episode()
    }

    /// The leaf of the agent's tree.
    pub fn leaf(&self) -> Option<NativeKey> {
        self.saved.leaf
    }

    /// The changes since the last call.
    pub fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// Goes on from a story told again.
    pub fn adopt(&mut self, retold: &Retold) {
        self.saved.teller = retold.teller.clone();
        for (_, seq, episode) in &mut self.saved.calls {
            if let Ok(at) = retold.placed.binary_search_by_key(seq, |(seq, ..)| *seq) {
                *episode = retold.placed[at].1;
            }
        }
    }

    /// Takes in the next event of the session.
    pub fn take<K: Known>(&mut self, event: Event, known: &K) -> Result<(), K::Error> {
        // Where a copy was made is told by the lines that were copied too.
        let is_surroundings = matches!(event.what, What::Surroundings { .. });
        if self.run.skipped_line == Some(event.place.line)
            || (!is_surroundings && self.is_declared_copy(&event, known)?)
        {
            return Ok(());
        }
        match event.what {
            What::Header(header) => {
                self.saved.setting.forked_from = header.parent;
                self.saved.setting.cwd = self.saved.setting.cwd.take().or(header.cwd);
                self.note_time(event.at);
            }
            What::Surroundings { cwd, branch } => {
                self.saved.setting.cwd = self.saved.setting.cwd.take().or(cwd);
                self.on_branch(branch, known)?;
            }
            What::Node { ref id, ref parent } => self.node(&event, id, parent.as_deref(), known)?,
            What::Leaf { target } => self.move_leaf(&target),
            What::Text { .. } => self.text(event, known)?,
            What::Call { .. } => self.call(event, known)?,
            What::Result { .. } => self.result(event, known)?,
            What::Usage { message, tokens, model, cost_usd } => {
                self.usage(&message, UsageRow { tokens, model, at: event.at, cost_usd });
            }
            What::Queue(_) => self.queue_step(event, known)?,
            What::Title { rank, text, leaf } => self.title(rank, &text, leaf.as_deref(), known)?,
        }
        Ok(())
    }

    fn key(&self, id: &str) -> NativeKey {
        match self.agent {
            Agent::ClaudeCode => native_key(self.agent, &self.external_id, id),
            // Eight hex digits repeat from session to session; copies are told by lineage instead.
            Agent::Pi if !id.starts_with("line-") => NativeKey::within(self.agent, &self.external_id, id),
            // A record's number is its id, and nobody copies threads.
            Agent::Native => NativeKey::within(self.agent, &self.external_id, id),
            // Version 1 has no ids; a line that stands in two files with the same time and content is a copy.
            Agent::Pi => NativeKey::global(self.agent, id),
        }
    }

    fn is_declared_copy<K: Known>(&self, event: &Event, known: &K) -> Result<bool, K::Error> {
        // A forgotten session may have gone on after it was forgotten: what was copied then is known by nobody.
        if let Some(from) = &event.copied_from
            && known.is_forgotten(from)?
        {
            return Ok(true);
        }
        match &event.copy_of {
            None => Ok(false),
            Some(original) => {
                let owner = known.owner(self.key(original))?;
                Ok(matches!(owner, Some(Owner::Elsewhere | Owner::Forgotten)))
            }
        }
    }

    fn is_new<K: Known>(&mut self, key: NativeKey, known: &K) -> Result<bool, K::Error> {
        Ok(self.run.seen.insert(key) && known.owner(key)?.is_none())
    }

    fn note_time(&mut self, at: Option<Timestamp>) {
        let setting = &mut self.saved.setting;
        setting.started_at = setting.started_at.or(at);
        setting.last_activity_at = setting.last_activity_at.max(at);
    }

    fn node<K: Known>(&mut self, event: &Event, id: &str, parent: Option<&str>, known: &K) -> Result<(), K::Error> {
        let key = self.key(id);
        self.run.node = Some((event.place.line, key));
        // Met before: in another copy of the file, or as the unterminated last line of the previous reading.
        if !self.run.nodes.insert(key) || known.has_node(key)? {
            return Ok(());
        }
        let moment = event.at.map(|at| at.to_string()).unwrap_or_default();
        let lineage = NativeKey::global(self.agent, &format!("{id}@{moment}"));
        let parent = parent.map(|parent| self.key(parent));
        if self.saved.leaf.is_some() && parent != self.saved.leaf {
            self.changes.retell = true;
        }
        self.saved.leaf = Some(key);
        self.changes.nodes.push(NodeRow { line: event.place.line, id: key, parent, lineage });
        if self.saved.setting.forked_from.is_some() && known.is_copied_node(lineage)? {
            self.run.skipped_line = Some(event.place.line);
        }
        Ok(())
    }

    fn move_leaf(&mut self, target: &str) {
        let target = Some(self.key(target));
        if self.saved.leaf != target {
            self.saved.leaf = target;
            self.changes.retell = true;
        }
    }

    fn text<K: Known>(&mut self, event: Event, known: &K) -> Result<(), K::Error> {
        let What::Text { speech, text, message, typed } = event.what else { return Ok(()) };
        let key = self.key(&event.native_id);
        if !self.is_new(key, known)? {
            return Ok(());
        }
        let message = message.map(|id| self.key(&id));
        if let Some(message) = message {
            // Old versions repeat all earlier blocks of a message on each of its lines.
            let block = NativeKey::within(self.agent, &message.as_stored().to_string(), &text);
            if self.saved.said.contains(&block) {
                return Ok(());
            }
            if self.saved.said.len() == SAID_BLOCKS {
                self.saved.said.pop_front();
            }
            self.saved.said.push_back(block);
        }
        self.note_time(event.at);
        if let Some(seq) = typed.and_then(|typed| self.saved.queue.repeats(typed)) {
            self.rename(seq, event.native_id, key);
            return Ok(());
        }
        match speech {
            Speech::Prompt | Speech::Task => self.prompted(&text),
            Speech::Command => self.saved.titles.command(&text),
            _ => {}
        }
        self.push(Entry { text, ..blank(&event.native_id, event.place, event.at, speech) }, key, message);
        Ok(())
    }

    /// Gives an entry that was stored without an id of its own the one its line has.
    fn rename(&mut self, seq: u64, native_id: String, key: NativeKey) {
        self.saved.teller.rename(seq, &native_id);
        for closed in self.changes.closed.iter_mut().filter(|closed| closed.first_seq == seq) {
            closed.id.clone_from(&native_id);
        }
        match self.new_entry(seq) {
            Some(new) => (new.entry.native_id, new.key) = (native_id, key),
            None => self.changes.renamed.push((seq, native_id, key)),
        }
    }

    /// An entry of this batch.
    fn new_entry(&mut self, seq: u64) -> Option<&mut NewEntry> {
        let first = self.changes.entries.first()?.entry.seq;
        self.changes.entries.get_mut(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    fn prompted(&mut self, text: &str) {
        if text.trim().eq_ignore_ascii_case("warmup") {
            self.saved.warm_ups += 1;
        } else {
            self.saved.real_prompts += 1;
        }
        self.saved.titles.prompt(text);
    }

    fn call<K: Known>(&mut self, event: Event, known: &K) -> Result<(), K::Error> {
        let What::Call { id, message, tool } = event.what else { return Ok(()) };
        // Some models number their calls anew in every message, so outside Claude Code the entry is part of a call's identity.
        let key = match self.agent {
            Agent::ClaudeCode => self.key(&id),
            Agent::Pi | Agent::Native => self.key(&format!("{}:{id}", event.native_id)),
        };
        if !self.is_new(key, known)? {
            return Ok(());
        }
        self.note_time(event.at);
        if tool.kind.is_some_and(ToolKind::changes_files) {
            self.edited(&tool, known)?;
        }
        let message = message.map(|id| self.key(&id));
        let seq = self.saved.next_seq;
        let entry =
            Entry { text: describe_tool(&tool), tool: Some(tool), ..blank(&id, event.place, event.at, Speech::Call) };
        let episode = self.push(entry, key, message);
        let call = self.key(&id);
        if let Some(at) = self.saved.early_results.iter().position(|(early, _)| *early == call) {
            let (_, outcome) = self.saved.early_results.remove(at);
            self.saved.orphan_errors -= u64::from(outcome.status.is_error());
            self.settle(seq, episode, outcome);
            return Ok(());
        }
        if self.saved.calls.len() == OPEN_CALLS {
            self.saved.calls.pop_front();
        }
        self.saved.calls.push_back((call, seq, episode));
        Ok(())
    }

    fn edited<K: Known>(&mut self, tool: &ToolUse, known: &K) -> Result<(), K::Error> {
        for path in &tool.paths {
            if !self.changes.edited.contains(path) && !known.has_edited(path)? {
                self.changes.edited.push(path.clone());
                self.saved.teller.counts.files_edited += 1;
            }
        }
        Ok(())
    }

    fn result<K: Known>(&mut self, event: Event, known: &K) -> Result<(), K::Error> {
        let What::Result { call, outcome, answer } = event.what else { return Ok(()) };
        let key = self.key(&call);
        let found = self.saved.calls.iter().rposition(|(call, ..)| *call == key);
        let found = found.and_then(|at| self.saved.calls.remove(at));
        self.note_time(event.at);
        match found {
            Some((_, seq, episode)) => self.settle(seq, episode, outcome),
            // Parallel calls are flushed in any order, so the call may stand on the next line.
            None if self.agent == Agent::ClaudeCode && known.owner(key)?.is_none() && !self.run.seen.contains(&key) => {
                self.hold_result(key, outcome);
            }
            // A result met a second time says nothing new.
            None => return Ok(()),
        }
        if let Some(text) = answer {
            let id = format!("{call}:answer");
            let key = self.key(&id);
            if self.is_new(key, known)? {
                self.push(Entry { text, ..blank(&id, event.place, event.at, Speech::Answer) }, key, None);
            }
        }
        Ok(())
    }

    fn hold_result(&mut self, call: NativeKey, outcome: Outcome) {
        if !self.run.orphans.insert(call) || self.saved.early_results.iter().any(|(known, _)| *known == call) {
            return;
        }
        self.saved.orphan_errors += u64::from(outcome.status.is_error());
        if self.saved.early_results.len() == EARLY_RESULTS {
            self.saved.early_results.remove(0);
        }
        self.saved.early_results.push((call, outcome));
    }

    fn settle(&mut self, seq: u64, episode: Option<u64>, outcome: Outcome) {
        if outcome.status.is_error() {
            self.saved.teller.failed(episode);
            self.late_error(episode);
        }
        match self.new_entry(seq) {
            Some(new) => {
                if let Some(tool) = new.entry.tool.as_mut() {
                    let mut outcome = outcome;
                    // What a log or a file says of errors is no error of the command that shows it.
                    if outcome.status == Status::Ok && outcome.error.is_some() && only_looks(&tool.target) {
                        outcome.error = None;
                    }
                    tool.outcome = Some(outcome);
                }
            }
            None => self.changes.outcomes.push((seq, outcome)),
        }
    }

    /// An error in an episode that has ended: in this batch it can still be set right, else the store must.
    fn late_error(&mut self, episode: Option<u64>) {
        let Some(number) = episode.filter(|number| Some(*number) != self.saved.teller.open_number()) else { return };
        match self.changes.closed.iter_mut().find(|closed| closed.number == number) {
            Some(closed) => closed.tool_errors += 1,
            None => *self.changes.late_errors.entry(number).or_default() += 1,
        }
    }

    fn usage(&mut self, message: &str, row: UsageRow) {
        let key = self.key(message);
        if row.model.is_some() {
            self.saved.setting.model.clone_from(&row.model);
        }
        let tokens = row.tokens;
        let known = self.changes.usage.entry(key).or_insert(row);
        known.tokens = known.tokens.max(tokens);
    }

    fn queue_step<K: Known>(&mut self, event: Event, known: &K) -> Result<(), K::Error> {
        let What::Queue(step) = event.what else { return Ok(()) };
        match step {
            QueueStep::Typed { text, fingerprint } => {
                let key = self.key(&event.native_id);
                // Its entry gets the id of the line that sends it, so the step itself is remembered apart.
                if self.run.seen.insert(key) && !known.has_queued(key)? {
                    self.changes.queued.push(key);
                    if known.owner(typed_key(self.agent, &self.external_id, &text))? == Some(Owner::Forgotten) {
                        self.saved.queue.filled();
                        return Ok(());
                    }
                    self.note_time(event.at);
                    self.saved.queue.typed(fingerprint, self.saved.next_seq);
                    self.prompted(&text);
                    let entry = blank(&event.native_id, event.place, event.at, Speech::Prompt);
                    self.push(Entry { text, ..entry }, key, None);
                }
            }
            QueueStep::Filled => self.saved.queue.filled(),
            QueueStep::Sent(which) => self.saved.queue.sent(which),
            QueueStep::Slipped(which) => self.saved.queue.slipped(which),
            QueueStep::TakenBack => {
                let back = self.saved.queue.taken_back();
                self.changes.retell |= !back.is_empty();
                self.changes.taken_back.extend(back);
            }
        }
        Ok(())
    }

    fn title<K: Known>(&mut self, rank: TitleRank, text: &str, leaf: Option<&str>, known: &K) -> Result<(), K::Error> {
        if known.owner(title_key(self.agent, text))? == Some(Owner::Forgotten) {
            return Ok(());
        }
        let Some(leaf) = leaf else {
            self.saved.titles.set(rank, text);
            return Ok(());
        };
        let key = self.key(leaf);
        match known.owner(key)? {
            Some(Owner::Forgotten) => {}
            owner if owner == Some(Owner::Here) || self.run.seen.contains(&key) => self.saved.titles.set(rank, text),
            _ => self.changes.titles_elsewhere.push((key, text.to_owned())),
        }
        Ok(())
    }

    /// Adds an entry to the story; the episode it falls into.
    fn push(&mut self, mut entry: Entry, key: NativeKey, message: Option<NativeKey>) -> Option<u64> {
        entry.seq = self.saved.next_seq;
        self.saved.next_seq += 1;
        let telling = self.saved.teller.tell(&Told {
            seq: entry.seq,
            native_id: &entry.native_id,
            place: entry.place,
            at: entry.at,
            speech: entry.speech,
            message,
            kept_bytes: kept_bytes(&entry),
            is_error: false,
        });
        self.changes.closed.extend(telling.closed);
        entry.episode = telling.episode;
        let node = self.run.node.filter(|(line, _)| *line == entry.place.line).map(|(_, node)| node);
        self.changes.entries.push(NewEntry { entry, key, message, node });
        telling.episode
    }
}

/// The name of the conversation a sub-agent's line inside its parent's file belongs to.
pub fn side_name(main: &mut Story, event: &Event) -> Option<String> {
    let Voice::Side { agent_id, parent } = &event.voice else { return None };
    if let Some(agent_id) = agent_id {
        // As its file is named, for versions that write both.
        return Some(format!("agent-{agent_id}"));
    }
    let sides = &mut main.saved.sides;
    let above = parent.as_ref().and_then(|parent| sides.get(parent)).cloned();
    // The first line of a conversation has no parent and names it.
    let name = above.unwrap_or_else(|| event.native_id.clone());
    sides.insert(event.native_id.clone(), name.clone());
    Some(name)
}

/// How many bytes are kept of an entry, as far as a reader would see them.
pub(crate) fn kept_bytes(entry: &Entry) -> u64 {
    let tool = entry.tool.as_ref().map_or(0, |tool| tool.arguments.len());
    (entry.text.len() + tool) as u64
}

fn blank(native_id: &str, place: Place, at: Option<Timestamp>, speech: Speech) -> Entry {
    Entry {
        seq: 0,
        native_id: native_id.to_owned(),
        place,
        at,
        speech,
        text: String::new(),
        tool: None,
        episode: None,
        abandoned: false,
    }
}
