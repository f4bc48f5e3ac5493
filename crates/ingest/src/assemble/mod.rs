//! Assembles the events of many lines into one session: entries with their results, counts, episodes, titles.
//!
//! An assembler can be saved after any line and resumed later: everything it needs is in `AssemblerState`.
//! It never queries the database itself; what was stored before comes through `StoredState`.

mod branch;
mod episodes;
mod forget;
mod kept;
mod prompt_queue;
mod stored_state;
mod subagents;
mod titles;
mod tool_results;
mod undo;

use std::collections::{BTreeMap, HashSet, VecDeque};

use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, EntryOwner, Episode, MessageUsage, NativeKey, NewEntry, SessionChanges,
    SessionCounts, SessionKind, Timestamp, Tokens, ToolOutcome, TreeNode, estimate_byte_tokens,
};
use serde::{Deserialize, Serialize};

use self::episodes::{EpisodeBuilder, EpisodeInput};
use self::prompt_queue::PromptQueue;
use self::titles::SessionTitles;
use crate::agents::{AgentFormat, format_of};
use crate::{EventBody, QueueStep, Redactor, TitleRank, TranscriptEvent};

pub use self::branch::{RebuiltEpisodes, rebuild_episodes};
pub use self::episodes::PART_TOKENS;
pub use self::forget::{RemainingEntry, blocked_keys, queued_prompt_key, state_texts, title_key};
pub use self::kept::KeptEntries;
pub use self::stored_state::StoredState;
pub use self::subagents::subagent_conversation;

/// Number of recent text blocks among which repeats are detected.
const MAX_RECENT_BLOCKS: usize = 64;
/// More than any message has.
const MAX_TOKENS: u64 = 1_000_000_000_000;
/// More than any message costs.
const MAX_COST_USD: f64 = 1e6;

/// Facts about the session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Directory the session started in.
    pub cwd: Option<String>,
    /// Most recent git branch.
    pub branch: Option<String>,
    /// Most recent model.
    pub model: Option<String>,
    /// Time of the first event.
    pub started_at: Option<Timestamp>,
    /// Time of the last event.
    pub last_activity_at: Option<Timestamp>,
    /// Path of the transcript it was forked from.
    pub forked_from: Option<String>,
    /// The agent's id of the session it was forked from, if the agent records it.
    #[serde(default)]
    pub parent_id: Option<String>,
    /// The last entry copied from another session before the first one of its own.
    #[serde(default)]
    pub copied_entry: Option<NativeKey>,
}

/// Assembles one session from its events.
#[derive(Debug)]
pub struct SessionAssembler {
    agent: Agent,
    format: &'static AgentFormat,
    external_id: String,
    state: AssemblerState,
    sync: SyncState,
    changes: SessionChanges,
}

/// The state that is stored between two syncs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct AssemblerState {
    #[serde(rename = "facts")]
    info: SessionInfo,
    episodes: EpisodeBuilder,
    prompt_queue: PromptQueue,
    titles: SessionTitles,
    next_seq: u64,
    leaf: Option<NativeKey>,
    /// Prompts and tasks except warm-ups.
    real_prompts: u64,
    warm_ups: u64,
    /// Calls whose results have not been read, oldest first: key of the call's id, entry, episode.
    calls: VecDeque<(NativeKey, u64, Option<u64>)>,
    /// Text blocks of recent API messages, oldest first.
    recent_blocks: VecDeque<NativeKey>,
    /// Results flagged as errors whose calls are not in the transcript.
    orphan_errors: u64,
    /// Results that were read before their calls, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    early_results: Vec<(NativeKey, ToolOutcome)>,
    /// For sub-agents inside this file: the conversation each of their lines belongs to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    subagent_conversations: BTreeMap<String, String>,
}

/// State that is needed only during one sync.
#[derive(Debug, Default)]
struct SyncState {
    seen_keys: HashSet<NativeKey>,
    seen_nodes: HashSet<NativeKey>,
    orphan_results: HashSet<NativeKey>,
    /// The current line and its node.
    current_node: Option<(u64, NativeKey)>,
    skipped_line: Option<u64>,
    /// The last line that was looked up among the forgotten ones, and whether it is one.
    looked_up_line: Option<(u64, bool)>,
    /// The last session that lines were copied from, and whether it is stored.
    looked_up_origin: Option<(String, bool)>,
}

impl SessionAssembler {
    /// An assembler for a new session.
    pub fn new(agent: Agent, external_id: &str) -> Self {
        Self {
            agent,
            format: format_of(agent),
            external_id: external_id.to_owned(),
            state: AssemblerState::default(),
            sync: SyncState::default(),
            changes: SessionChanges::default(),
        }
    }

    /// Resumes from a stored state. If the state cannot be parsed, the caller must read the file from the start.
    pub fn resume(agent: Agent, external_id: &str, saved: &str) -> Result<Self, serde_json::Error> {
        Ok(Self { state: serde_json::from_str(saved)?, ..Self::new(agent, external_id) })
    }

    /// The state to store, as JSON.
    pub fn save(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.state)
    }

    /// Facts about the session as a whole.
    pub fn info(&self) -> &SessionInfo {
        &self.state.info
    }

    /// Whether the session's name or id marks it as a sub-agent's.
    pub fn has_child_name(&self) -> bool {
        self.state.titles.has_child_title() || (self.format.is_subagent_id)(&self.external_id)
    }

    /// The counts, for a session of that kind.
    pub fn counts(&self, kind: SessionKind) -> SessionCounts {
        let counts = self.state.episodes.counts_for(kind);
        SessionCounts { tool_errors: counts.tool_errors + self.state.orphan_errors, ..counts }
    }

    /// Estimated tokens of the stored text.
    pub fn kept_tokens(&self) -> u64 {
        estimate_byte_tokens(self.state.episodes.kept_bytes)
    }

    /// Whether the session has no content worth listing: no messages at all, or only warm-ups.
    pub fn is_empty(&self) -> bool {
        let saved = &self.state;
        saved.real_prompts == 0 && (saved.episodes.assistant_messages() == 0 || saved.warm_ups > 0)
    }

    /// The last episode, which may still grow.
    pub fn open_episode(&self) -> Option<Episode> {
        self.state.episodes.open_episode()
    }

    /// The current leaf of the agent's entry tree.
    pub fn leaf(&self) -> Option<NativeKey> {
        self.state.leaf
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&mut self) -> SessionChanges {
        std::mem::take(&mut self.changes)
    }

    /// Continues from rebuilt episodes.
    pub fn continue_from(&mut self, rebuilt: &RebuiltEpisodes) {
        self.state.episodes = rebuilt.builder.clone();
        for (_, seq, episode) in &mut self.state.calls {
            if let Ok(at) = rebuilt.placements.binary_search_by_key(seq, |(seq, ..)| *seq) {
                *episode = rebuilt.placements[at].1;
            }
        }
    }

    /// Applies the next event of the session.
    pub fn apply<K: StoredState>(&mut self, event: TranscriptEvent, stored: &K) -> Result<(), K::Error> {
        if matches!(event.body, EventBody::Node { .. } | EventBody::Header(_)) {
            // A damaged line can hold several entries.
            self.sync.skipped_line = None;
        }
        if let (None, Some(from)) = (&self.state.info.parent_id, &event.copied_session_id) {
            self.state.info.parent_id = Some(from.clone());
        }
        // Copied lines also contain the workspace of the copy.
        let is_surroundings = matches!(event.body, EventBody::Workspace { .. });
        if self.sync.skipped_line == Some(event.location.line)
            || (!is_surroundings && self.is_declared_copy(&event, stored)?)
        {
            return Ok(());
        }
        if self.is_forgotten_line(&event, stored)? {
            return Ok(());
        }
        match event.body {
            EventBody::Header(header) => {
                self.state.info.forked_from = header.parent_path;
                self.state.info.parent_id = header.parent_id;
                self.set_cwd(header.cwd);
                self.note_time(event.at);
            }
            EventBody::Workspace { cwd, branch } => {
                self.set_cwd(cwd);
                self.set_branch(branch, stored)?;
            }
            EventBody::Node { ref id, ref parent } => self.add_node(&event, id, parent.as_deref(), stored)?,
            EventBody::Leaf { target } => self.move_leaf(&target),
            EventBody::Text { .. } => self.add_text(event, stored)?,
            EventBody::ToolCall { .. } => self.add_call(event, stored)?,
            EventBody::ToolResult { .. } => self.add_result(event, stored)?,
            EventBody::Usage { message_id: message, tokens, hour_write_tokens, model, cost_usd } => {
                // A deployment or a preset can be named after a token.
                let model = model.map(|model| Redactor::shared().redact_name(model));
                self.add_usage(&message, MessageUsage { tokens, hour_write_tokens, model, at: event.at, cost_usd });
            }
            EventBody::Queue(_) => self.apply_queue_step(event, stored)?,
            EventBody::Undo(step) => self.undo(&event.native_id, &step, stored)?,
            EventBody::Title { rank, text, leaf } => self.set_title(rank, &text, leaf.as_deref(), stored)?,
        }
        Ok(())
    }

    /// The first working directory is the session's. A directory can be named after a token.
    fn set_cwd(&mut self, cwd: Option<String>) {
        if self.state.info.cwd.is_none() {
            self.state.info.cwd = cwd.map(|cwd| Redactor::shared().redact_name(cwd));
        }
    }

    fn key(&self, id: &str) -> NativeKey {
        if (self.format.is_global_id)(id) {
            NativeKey::global(self.agent, id)
        } else {
            NativeKey::in_session(self.agent, &self.external_id, id)
        }
    }

    /// The key of a part of a line, which is as unique as the line: a copied line brings copies of its parts.
    fn part_key(&self, line_id: &str, part: &str) -> NativeKey {
        let id = format!("{line_id}:{part}");
        let line_id = line_id.split(':').next().unwrap_or(line_id);
        if (self.format.is_global_id)(line_id) { NativeKey::global(self.agent, &id) } else { self.key(&id) }
    }

    /// The key of the line an event comes from: further texts of a line have its id with a number.
    fn line_key(&self, native_id: &str) -> NativeKey {
        self.key(native_id.split(':').next().unwrap_or(native_id))
    }

    fn is_declared_copy<K: StoredState>(&mut self, event: &TranscriptEvent, stored: &K) -> Result<bool, K::Error> {
        // A forgotten session may have continued after that; entries copied later have no stored owner.
        if let Some(from) = &event.copied_session_id
            && stored.is_forgotten(from)?
        {
            return Ok(true);
        }
        match (&event.copied_entry_id, &event.copied_session_id) {
            (None, None) => Ok(false),
            (None, Some(from)) => self.is_known_session(from, stored),
            (Some(original), _) => {
                let owner = stored.entry_owner(self.key(original))?;
                Ok(matches!(owner, Some(EntryOwner::OtherSession | EntryOwner::Forgotten)))
            }
        }
    }

    /// Whether the session that lines without ids were copied from is stored, so that they are not stored again.
    fn is_known_session<K: StoredState>(&mut self, external_id: &str, stored: &K) -> Result<bool, K::Error> {
        if let Some((_, is_known)) = self.sync.looked_up_origin.as_ref().filter(|(id, _)| id == external_id) {
            return Ok(*is_known);
        }
        let is_known = external_id != self.external_id && stored.has_session(external_id)?;
        self.sync.looked_up_origin = Some((external_id.to_owned(), is_known));
        Ok(is_known)
    }

    fn is_new<K: StoredState>(&mut self, key: NativeKey, stored: &K) -> Result<bool, K::Error> {
        if !self.sync.seen_keys.insert(key) {
            return Ok(false);
        }
        let owner = stored.entry_owner(key)?;
        if owner == Some(EntryOwner::OtherSession) && self.state.next_seq == 0 {
            self.state.info.copied_entry = Some(key);
        }
        Ok(owner.is_none())
    }

    fn note_time(&mut self, at: Option<Timestamp>) {
        let setting = &mut self.state.info;
        setting.started_at = setting.started_at.or(at);
        setting.last_activity_at = setting.last_activity_at.max(at);
    }

    fn add_node<K: StoredState>(
        &mut self,
        event: &TranscriptEvent,
        id: &str,
        parent: Option<&str>,
        stored: &K,
    ) -> Result<(), K::Error> {
        let key = self.key(id);
        self.sync.current_node = Some((event.location.line, key));
        // Already read: in another copy of the file, or as the unterminated last line of the previous sync.
        if !self.sync.seen_nodes.insert(key) || stored.has_node(key)? {
            return Ok(());
        }
        let moment = event.at.map(|at| at.to_string()).unwrap_or_default();
        let lineage = NativeKey::global(self.agent, &format!("{id}@{moment}"));
        let parent = parent.map(|parent| self.key(parent));
        if let Some(leaf) = self.state.leaf {
            // A leaf that is not in the tree has no branch to continue.
            let is_known = self.sync.seen_nodes.contains(&leaf) || stored.has_node(leaf)?;
            self.changes.should_rebuild_episodes |= parent != Some(leaf) || !is_known;
        }
        self.state.leaf = Some(key);
        self.changes.nodes.push(TreeNode { line: event.location.line, id: key, parent, lineage });
        // A copy need not say where it comes from.
        let is_copy = self.state.info.forked_from.is_some() && stored.is_copied_node(lineage)?;
        if is_copy || stored.is_forgotten_key(lineage)? {
            self.sync.skipped_line = Some(event.location.line);
        }
        Ok(())
    }

    fn move_leaf(&mut self, target: &str) {
        let target = Some(self.key(target));
        if self.state.leaf != target {
            self.state.leaf = target;
            self.changes.should_rebuild_episodes = true;
        }
    }

    fn add_text<K: StoredState>(&mut self, event: TranscriptEvent, stored: &K) -> Result<(), K::Error> {
        let EventBody::Text { kind, text, message_id: message, prompt_origin: typed } = event.body else {
            return Ok(());
        };
        let key = self.key(&event.native_id);
        if !self.is_new(key, stored)? || stored.is_forgotten_content(event.at, &text, "")? {
            return Ok(());
        }
        let message = message.map(|id| self.key(&id));
        if let Some(message) = message {
            // Old versions repeat all earlier blocks of a message on each of its lines.
            let block = NativeKey::in_session(self.agent, &message.as_stored().to_string(), &text);
            if self.state.recent_blocks.contains(&block) {
                return Ok(());
            }
            if self.state.recent_blocks.len() == MAX_RECENT_BLOCKS {
                self.state.recent_blocks.pop_front();
            }
            self.state.recent_blocks.push_back(block);
        }
        self.note_time(event.at);
        match typed.and_then(|typed| self.state.prompt_queue.take_match(typed)) {
            Some(seq) if kind == EntryKind::Prompt => {
                self.set_native_id(seq, event.native_id, key);
                return Ok(());
            }
            Some(seq) => self.retract_machine_text(seq),
            None => {}
        }
        if matches!(kind, EntryKind::Prompt | EntryKind::Task) {
            self.count_prompt(&text);
        }
        let line = self.line_key(&event.native_id);
        let entry = Entry { text, ..empty_entry(&event.native_id, event.location, event.at, kind) };
        self.push_entry(entry, (key, line), message);
        Ok(())
    }

    /// A queued text was stored as a prompt, and its line now shows that a program wrote it.
    fn retract_machine_text(&mut self, seq: u64) {
        self.changes.retracted.push(seq);
        self.changes.should_rebuild_episodes = true;
        self.state.real_prompts = self.state.real_prompts.saturating_sub(1);
    }

    /// Assigns the id of its own line to an entry that was stored without one.
    fn set_native_id(&mut self, seq: u64, native_id: String, key: NativeKey) {
        self.state.episodes.set_native_id(seq, &native_id);
        for closed in self.changes.closed_episodes.iter_mut().filter(|closed| closed.first_seq == seq) {
            closed.id.clone_from(&native_id);
        }
        match self.new_entry(seq) {
            Some(new) => (new.entry.native_id, new.native_key) = (native_id, key),
            None => self.changes.renamed_entries.push((seq, native_id, key)),
        }
    }

    /// An entry of this batch.
    fn new_entry(&mut self, seq: u64) -> Option<&mut NewEntry> {
        let first = self.changes.entries.first()?.entry.seq;
        self.changes.entries.get_mut(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    fn count_prompt(&mut self, text: &str) {
        if text.trim().eq_ignore_ascii_case("warmup") {
            self.state.warm_ups += 1;
        } else {
            self.state.real_prompts += 1;
        }
    }

    fn add_usage(&mut self, message: &str, mut row: MessageUsage) {
        let key = self.key(message);
        // A damaged number must not make the session's sums overflow.
        let Tokens { input, output, cache_read, cache_write } = &mut row.tokens;
        for count in [input, output, cache_read, cache_write, &mut row.hour_write_tokens] {
            *count = (*count).min(MAX_TOKENS);
        }
        row.cost_usd = row.cost_usd.filter(|cost| cost.abs() < MAX_COST_USD);
        match &row.model {
            Some(_) => self.state.info.model.clone_from(&row.model),
            // Some agents name the model only where it changes.
            None => row.model.clone_from(&self.state.info.model),
        }
        let (tokens, hour_write_tokens) = (row.tokens, row.hour_write_tokens);
        let known = self.changes.usage.entry(key).or_insert(row);
        known.tokens = known.tokens.max(tokens);
        known.hour_write_tokens = known.hour_write_tokens.max(hour_write_tokens);
    }

    fn apply_queue_step<K: StoredState>(&mut self, event: TranscriptEvent, stored: &K) -> Result<(), K::Error> {
        let EventBody::Queue(step) = event.body else { return Ok(()) };
        match step {
            QueueStep::Queued { text, fingerprint } => {
                let key = self.key(&event.native_id);
                // The entry will get the id of the line that sends it, so the step is stored under its own key.
                if self.sync.seen_keys.insert(key) && !stored.has_queue_step(key)? {
                    self.changes.queue_steps.push(key);
                    let queued = queued_prompt_key(self.agent, &self.external_id, &text);
                    if stored.is_forgotten_key(queued)? || stored.is_forgotten_content(event.at, &text, "")? {
                        self.state.prompt_queue.add_other();
                        return Ok(());
                    }
                    self.note_time(event.at);
                    if self.state.prompt_queue.queue_again(fingerprint) {
                        return Ok(());
                    }
                    self.state.prompt_queue.add_prompt(fingerprint, self.state.next_seq);
                    self.count_prompt(&text);
                    let entry = empty_entry(&event.native_id, event.location, event.at, EntryKind::Prompt);
                    self.push_entry(Entry { text, ..entry }, (key, key), None);
                }
            }
            QueueStep::QueuedOther => self.state.prompt_queue.add_other(),
            QueueStep::Sent(which) => self.state.prompt_queue.mark_sent(which),
            QueueStep::SentMidTurn(which) => self.state.prompt_queue.mark_sent_mid_turn(which),
            QueueStep::Retracted => {
                let back = self.state.prompt_queue.retract_queued();
                self.changes.should_rebuild_episodes |= !back.is_empty();
                self.changes.retracted.extend(back);
            }
        }
        Ok(())
    }

    fn set_title<K: StoredState>(
        &mut self,
        rank: TitleRank,
        text: &str,
        leaf: Option<&str>,
        stored: &K,
    ) -> Result<(), K::Error> {
        if stored.entry_owner(title_key(self.agent, text))? == Some(EntryOwner::Forgotten) {
            return Ok(());
        }
        let Some(leaf) = leaf else {
            self.state.titles.set(rank, text);
            return Ok(());
        };
        let key = self.key(leaf);
        match stored.entry_owner(key)? {
            Some(EntryOwner::Forgotten) => {}
            owner if owner == Some(EntryOwner::ThisSession) || self.sync.seen_keys.contains(&key) => {
                self.state.titles.set(rank, text);
            }
            _ => self.changes.other_session_titles.push((key, text.to_owned())),
        }
        Ok(())
    }

    /// Adds an entry and returns its episode.
    fn push_entry(
        &mut self,
        mut entry: Entry,
        (native_key, line_key): (NativeKey, NativeKey),
        message: Option<NativeKey>,
    ) -> Option<u64> {
        if entry.kind == EntryKind::AssistantText {
            self.state.prompt_queue.mark_answered();
        }
        entry.seq = self.state.next_seq;
        self.state.next_seq += 1;
        let pushed = self.state.episodes.push(&EpisodeInput {
            seq: entry.seq,
            native_id: &entry.native_id,
            location: entry.location,
            at: entry.at,
            kind: entry.kind,
            message_key: message,
            kept_bytes: kept_bytes(&entry),
            is_error: false,
        });
        self.changes.closed_episodes.extend(pushed.closed_episode);
        entry.episode = pushed.episode;
        let node = self.sync.current_node.filter(|(line, _)| *line == entry.location.line).map(|(_, node)| node);
        // Another file of the session may add to a node that the active branch does not contain.
        self.changes.should_rebuild_episodes |= node.is_some() && node != self.state.leaf;
        self.changes.entries.push(NewEntry { entry, native_key, line_key, message_key: message, node_key: node });
        pushed.episode
    }
}

/// Bytes of an entry that are stored and visible to readers.
pub(crate) fn kept_bytes(entry: &Entry) -> u64 {
    let tool = entry.tool.as_ref().map_or(0, |tool| tool.arguments.len());
    (entry.text.len() + tool) as u64
}

fn empty_entry(native_id: &str, location: EntryLocation, at: Option<Timestamp>, kind: EntryKind) -> Entry {
    Entry {
        seq: 0,
        native_id: native_id.to_owned(),
        location,
        at,
        kind,
        text: String::new(),
        tool: None,
        episode: None,
        is_abandoned: false,
    }
}
