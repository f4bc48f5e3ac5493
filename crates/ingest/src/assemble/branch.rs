//! Determines the active branch of a session and rebuilds its episodes after the branch changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_model::{EntryOutline, Episode, NativeKey, TreeNode};

use super::episodes::{EpisodeBuilder, EpisodeInput};

/// The episodes of a session, rebuilt from its stored entries.
#[derive(Debug, Default)]
pub struct RebuiltEpisodes {
    /// All episodes, including those of abandoned branches.
    pub episodes: Vec<Episode>,
    /// For each entry: its `seq`, its episode, and whether it is abandoned.
    pub placements: Vec<(u64, Option<u64>, bool)>,
    /// Paths edited on the active branch.
    pub edited_paths: HashSet<String>,
    pub(crate) builder: EpisodeBuilder,
}

/// Nodes on the path from the leaf to the root. Cycles and missing parents end the path.
fn active_nodes(nodes: &[TreeNode], leaf: Option<NativeKey>) -> HashSet<NativeKey> {
    let parents: HashMap<NativeKey, Option<NativeKey>> = nodes.iter().map(|node| (node.id, node.parent)).collect();
    let last = nodes.last().map(|node| node.id);
    let mut at = leaf.filter(|id| parents.contains_key(id)).or(last);
    let mut active = HashSet::new();
    while let Some(id) = at.filter(|id| parents.contains_key(id) && active.insert(*id)) {
        at = parents.get(&id).copied().flatten();
    }
    active
}

/// Rebuilds the episodes of a session from its entries. `nodes` is empty for agents without a tree.
pub fn rebuild_episodes(entries: &[EntryOutline], nodes: &[TreeNode], leaf: Option<NativeKey>) -> RebuiltEpisodes {
    let active = active_nodes(nodes, leaf);
    let known: HashSet<NativeKey> = nodes.iter().map(|node| node.id).collect();
    // A node that is not stored was lost with a damaged store. Its entries are shown rather than hidden.
    let is_abandoned = |entry: &EntryOutline| {
        entry.is_retracted || entry.node_key.is_some_and(|node| known.contains(&node) && !active.contains(&node))
    };
    let mut superseded = SupersededRun::default();

    let mut numbers = EpisodeNumbers::new(nodes);
    let mut rebuilt = RebuiltEpisodes::default();
    let mut abandoned: BTreeMap<u64, EpisodeBuilder> = BTreeMap::new();
    for entry in entries {
        let input = EpisodeInput {
            seq: entry.seq,
            native_id: &entry.native_id,
            location: entry.location,
            at: entry.at,
            kind: entry.kind,
            message_key: entry.message_key,
            kept_bytes: entry.kept_bytes,
            is_error: entry.is_error,
        };
        if entry.is_superseded {
            let episode =
                superseded.push(&input, numbers.last.max(rebuilt.builder.last_number()), &mut rebuilt.episodes);
            numbers.last = numbers.last.max(episode.unwrap_or(0));
            rebuilt.placements.push((entry.seq, episode, true));
            continue;
        }
        rebuilt.builder.continue_numbering_after(superseded.end(&mut rebuilt.episodes));
        if is_abandoned(entry) {
            // Abandoned branches belong to the episode they branch off from; their own prompts start new episodes.
            let number = numbers.abandoned_episode(entry, rebuilt.builder.open_number());
            if let Some(number) = number.filter(|_| entry.kind.starts_episode()) {
                abandoned.entry(number).or_default().continue_numbering_after(number - 1);
                rebuilt.builder.continue_numbering_after(number);
            }
            if let Some(builder) = number.and_then(|number| abandoned.get_mut(&number)) {
                builder.push(&input);
            }
            rebuilt.placements.push((entry.seq, number, true));
        } else {
            rebuilt.edited_paths.extend(entry.edited_paths.iter().cloned());
            let pushed = rebuilt.builder.push(&input);
            rebuilt.episodes.extend(pushed.closed_episode);
            numbers.record(entry, pushed.episode);
            numbers.undone = None;
            rebuilt.placements.push((entry.seq, pushed.episode, false));
        }
    }
    rebuilt.builder.continue_numbering_after(superseded.end(&mut rebuilt.episodes));
    rebuilt.episodes.extend(rebuilt.builder.open_episode());
    for builder in abandoned.into_values() {
        rebuilt.episodes.extend(builder.open_episode().map(abandoned_episode));
    }
    rebuilt.episodes.sort_by_key(|episode| episode.number);
    rebuilt.builder.counts.files_edited = rebuilt.edited_paths.len() as u64;
    rebuilt
}

/// Consecutive entries that their transcript no longer has. They get episodes of their own, so that they are found.
#[derive(Default)]
struct SupersededRun {
    builder: EpisodeBuilder,
    last_number: u64,
}

impl SupersededRun {
    fn push(&mut self, entry: &EpisodeInput<'_>, last_number: u64, episodes: &mut Vec<Episode>) -> Option<u64> {
        self.builder.continue_numbering_after(last_number);
        let pushed = self.builder.push(entry);
        episodes.extend(pushed.closed_episode.map(abandoned_episode));
        self.last_number = self.last_number.max(pushed.episode.unwrap_or(0));
        pushed.episode
    }

    /// Ends the run and returns the highest number used so far.
    fn end(&mut self, episodes: &mut Vec<Episode>) -> u64 {
        episodes.extend(std::mem::take(&mut self.builder).open_episode().map(abandoned_episode));
        self.last_number
    }
}

fn abandoned_episode(episode: Episode) -> Episode {
    Episode { is_abandoned: true, is_open: false, ..episode }
}

/// The episode of each node, and the highest number assigned so far.
struct EpisodeNumbers {
    parents: HashMap<NativeKey, Option<NativeKey>>,
    episodes: HashMap<NativeKey, Option<u64>>,
    last: u64,
    /// The episode of the retracted prompt before this entry, if nothing that counts is between them.
    undone: Option<u64>,
}

impl EpisodeNumbers {
    fn new(nodes: &[TreeNode]) -> Self {
        let parents = nodes.iter().map(|node| (node.id, node.parent)).collect();
        Self { parents, episodes: HashMap::new(), last: 0, undone: None }
    }

    fn record(&mut self, entry: &EntryOutline, episode: Option<u64>) {
        self.last = self.last.max(episode.unwrap_or(0));
        if let Some(node) = entry.node_key {
            self.episodes.insert(node, episode);
        }
    }

    /// The episode of an entry that was abandoned: a new one for a prompt, else that of its nearest ancestor, or of the
    /// prompt before it.
    fn abandoned_episode(&mut self, entry: &EntryOutline, current: Option<u64>) -> Option<u64> {
        let episode = match entry.node_key {
            _ if entry.kind.starts_episode() => Some(self.last.max(current.unwrap_or(0)) + 1),
            Some(node) => self.ancestor_episode(node),
            None => self.undone.or(current),
        };
        if entry.kind.starts_episode() {
            self.undone = episode;
        }
        self.record(entry, episode);
        episode
    }

    fn ancestor_episode(&self, node: NativeKey) -> Option<u64> {
        let mut at = Some(node);
        // A walk longer than the tree means a cycle.
        for _ in 0..=self.parents.len() {
            match at.and_then(|node| self.episodes.get(&node)) {
                Some(episode) => return *episode,
                None => at = at.and_then(|node| self.parents.get(&node).copied().flatten()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::{EntryKind, EntryLocation};

    use super::*;

    fn node(line: u64, id: i64, parent: Option<i64>) -> TreeNode {
        let key = NativeKey::from_stored;
        TreeNode { line, id: key(id), parent: parent.map(key), lineage: key(id) }
    }

    fn entry(line: u64, kind: EntryKind) -> EntryOutline {
        EntryOutline {
            seq: line - 1,
            native_id: format!("n{line}"),
            location: EntryLocation { line, offset: line * 10, length: 9 },
            at: None,
            kind,
            message_key: Some(NativeKey::from_stored(line as i64)),
            node_key: Some(NativeKey::from_stored(line as i64)),
            kept_bytes: 4,
            is_error: false,
            edited_paths: Vec::new(),
            is_retracted: false,
            is_superseded: false,
        }
    }

    #[test]
    fn active_branch_leads_from_root_to_leaf() {
        // S001-05
        let nodes =
            [node(1, 1, None), node(2, 2, Some(1)), node(3, 3, Some(2)), node(4, 4, Some(1)), node(5, 5, Some(4))];
        let entries = [
            entry(1, EntryKind::Prompt),
            entry(2, EntryKind::AssistantText),
            entry(3, EntryKind::Prompt),
            entry(4, EntryKind::AssistantText),
            entry(5, EntryKind::Prompt),
        ];
        let rebuilt = rebuild_episodes(&entries, &nodes, Some(NativeKey::from_stored(5)));
        assert_eq!(
            rebuilt.placements,
            vec![(0, Some(1), false), (1, Some(1), true), (2, Some(2), true), (3, Some(1), false), (4, Some(3), false)]
        );
        assert_eq!(
            (rebuilt.builder.counts.prompts, rebuilt.builder.counts.messages, rebuilt.builder.counts.episodes),
            (2, 3, 2)
        );
        let flags: Vec<(u64, bool, bool)> =
            rebuilt.episodes.iter().map(|e| (e.number, e.is_open, e.is_abandoned)).collect();
        assert_eq!(flags, vec![(1, false, false), (2, false, true), (3, true, false)]);
    }

    #[test]
    fn cycles_and_missing_parents_end_the_walk() {
        // E001-17
        let circle = [node(1, 1, Some(2)), node(2, 2, Some(1))];
        assert_eq!(active_nodes(&circle, None).len(), 2);
        let orphan = [node(1, 1, None), node(2, 2, Some(99))];
        assert_eq!(active_nodes(&orphan, None), HashSet::from([NativeKey::from_stored(2)]));
        let entries = [entry(1, EntryKind::AssistantText), entry(2, EntryKind::AssistantText)];
        assert_eq!(rebuild_episodes(&entries, &circle, Some(NativeKey::from_stored(77))).placements.len(), 2);
    }

    #[test]
    fn what_followed_an_undone_prompt_is_in_its_episode() {
        let mut entries = [
            entry(1, EntryKind::Prompt),
            entry(2, EntryKind::AssistantText),
            entry(3, EntryKind::Prompt),
            entry(4, EntryKind::Call),
            entry(5, EntryKind::Prompt),
        ];
        for entry in &mut entries {
            entry.node_key = None;
            entry.is_retracted = matches!(entry.seq, 2 | 3);
        }
        let rebuilt = rebuild_episodes(&entries, &[], None);
        let expected =
            [(0, Some(1), false), (1, Some(1), false), (2, Some(2), true), (3, Some(2), true), (4, Some(3), false)];
        assert_eq!(rebuilt.placements, expected);
        let counts = rebuilt.builder.counts;
        assert_eq!((counts.prompts, counts.messages, counts.tool_calls, counts.episodes), (2, 3, 0, 2));
        let flags: Vec<_> = rebuilt.episodes.iter().map(|e| (e.number, e.last_seq, e.is_abandoned)).collect();
        assert_eq!(flags, [(1, 1, false), (2, 3, true), (3, 4, false)]);
    }

    #[test]
    fn retracted_prompt_does_not_split_its_episode() {
        let mut retracted = entry(3, EntryKind::Prompt);
        retracted.is_retracted = true;
        let mut entries = [
            entry(1, EntryKind::Prompt),
            entry(2, EntryKind::AssistantText),
            retracted,
            entry(4, EntryKind::AssistantText),
        ];
        for entry in &mut entries {
            entry.node_key = None;
        }
        let rebuilt = rebuild_episodes(&entries, &[], None);
        assert_eq!(rebuilt.placements[3], (3, Some(1), false));
        assert_eq!(rebuilt.builder.counts.prompts, 1);
        assert_eq!(rebuilt.episodes.len(), 2);
    }
}
