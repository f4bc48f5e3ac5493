//! The active branch of a session, and its story told again after the branch changed.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_model::{Episode, NativeKey, NodeRow, Skeleton};

use super::teller::{Teller, Told};

/// The story told again.
#[derive(Debug, Default)]
pub struct Retold {
    /// All episodes, those of left branches too.
    pub episodes: Vec<Episode>,
    /// For each entry: its episode and whether it was abandoned.
    pub placed: Vec<(u64, Option<u64>, bool)>,
    /// Paths edited on the active branch.
    pub edited: HashSet<String>,
    pub(crate) teller: Teller,
}

/// Nodes on the way from the leaf to the root. Cycles and missing parents end the way.
fn active_nodes(nodes: &[NodeRow], leaf: Option<NativeKey>) -> HashSet<NativeKey> {
    let parents: HashMap<NativeKey, Option<NativeKey>> = nodes.iter().map(|node| (node.id, node.parent)).collect();
    let last = nodes.last().map(|node| node.id);
    let mut at = leaf.filter(|id| parents.contains_key(id)).or(last);
    let mut active = HashSet::new();
    while let Some(id) = at.filter(|id| parents.contains_key(id) && active.insert(*id)) {
        at = parents.get(&id).copied().flatten();
    }
    active
}

/// Tells the story of a session from its entries. `nodes` is empty for agents without a tree.
pub fn retell(entries: &[Skeleton], nodes: &[NodeRow], leaf: Option<NativeKey>) -> Retold {
    let active = active_nodes(nodes, leaf);
    let is_left = |entry: &Skeleton| entry.taken_back || entry.node.is_some_and(|node| !active.contains(&node));

    let mut numbers = Numbers::new(nodes);
    let mut retold = Retold::default();
    let mut left: BTreeMap<u64, Teller> = BTreeMap::new();
    for entry in entries {
        let told = Told {
            seq: entry.seq,
            native_id: &entry.native_id,
            place: entry.place,
            at: entry.at,
            speech: entry.speech,
            message: entry.message,
            kept_bytes: entry.kept_bytes,
            is_error: entry.is_error,
        };
        if is_left(entry) {
            // Left branches are grouped by the episode they hang on; their own prompts begin episodes of their own.
            let number = numbers.of_left(entry, retold.teller.open_number());
            if let Some(number) = number.filter(|_| entry.speech.starts_episode()) {
                left.entry(number).or_default().number_from(number - 1);
                retold.teller.number_from(number);
            }
            if let Some(teller) = number.and_then(|number| left.get_mut(&number)) {
                teller.tell(&told);
            }
            retold.placed.push((entry.seq, number, true));
        } else {
            retold.edited.extend(entry.edited.iter().cloned());
            let telling = retold.teller.tell(&told);
            retold.episodes.extend(telling.closed);
            numbers.note(entry, telling.episode);
            retold.placed.push((entry.seq, telling.episode, false));
        }
    }
    retold.episodes.extend(retold.teller.open_episode());
    for teller in left.into_values() {
        retold.episodes.extend(teller.open_episode().map(|episode| Episode {
            abandoned: true,
            open: false,
            ..episode
        }));
    }
    retold.episodes.sort_by_key(|episode| episode.number);
    retold.teller.counts.files_edited = retold.edited.len() as u64;
    retold
}

/// Which episode each node belongs to, and the numbers given so far.
struct Numbers {
    parents: HashMap<NativeKey, Option<NativeKey>>,
    episodes: HashMap<NativeKey, Option<u64>>,
    last: u64,
}

impl Numbers {
    fn new(nodes: &[NodeRow]) -> Self {
        let parents = nodes.iter().map(|node| (node.id, node.parent)).collect();
        Self { parents, episodes: HashMap::new(), last: 0 }
    }

    fn note(&mut self, entry: &Skeleton, episode: Option<u64>) {
        self.last = self.last.max(episode.unwrap_or(0));
        if let Some(node) = entry.node {
            self.episodes.insert(node, episode);
        }
    }

    /// The episode of an entry on a left branch: a new one for a prompt, else that of the nearest entry above it.
    fn of_left(&mut self, entry: &Skeleton, current: Option<u64>) -> Option<u64> {
        let episode = if entry.speech.starts_episode() {
            Some(self.last.max(current.unwrap_or(0)) + 1)
        } else {
            entry.node.map_or(current, |node| self.above(node))
        };
        self.note(entry, episode);
        episode
    }

    fn above(&self, node: NativeKey) -> Option<u64> {
        let mut at = Some(node);
        // A walk longer than the tree has gone in a circle.
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
    use rethread_model::{Place, Speech};

    use super::*;

    fn node(line: u64, id: i64, parent: Option<i64>) -> NodeRow {
        let key = NativeKey::from_stored;
        NodeRow { line, id: key(id), parent: parent.map(key), lineage: key(id) }
    }

    fn entry(line: u64, speech: Speech) -> Skeleton {
        Skeleton {
            seq: line - 1,
            native_id: format!("n{line}"),
            place: Place { line, offset: line * 10, length: 9 },
            at: None,
            speech,
            message: Some(NativeKey::from_stored(line as i64)),
            node: Some(NativeKey::from_stored(line as i64)),
            kept_bytes: 4,
            is_error: false,
            edited: Vec::new(),
            taken_back: false,
        }
    }

    #[test]
    fn s001_05_the_story_is_the_branch_from_root_to_leaf() {
        let nodes =
            [node(1, 1, None), node(2, 2, Some(1)), node(3, 3, Some(2)), node(4, 4, Some(1)), node(5, 5, Some(4))];
        let entries = [
            entry(1, Speech::Prompt),
            entry(2, Speech::Said),
            entry(3, Speech::Prompt),
            entry(4, Speech::Said),
            entry(5, Speech::Prompt),
        ];
        let retold = retell(&entries, &nodes, Some(NativeKey::from_stored(5)));
        assert_eq!(
            retold.placed,
            vec![(0, Some(1), false), (1, Some(1), true), (2, Some(2), true), (3, Some(1), false), (4, Some(3), false)]
        );
        assert_eq!(
            (retold.teller.counts.prompts, retold.teller.counts.messages, retold.teller.counts.episodes),
            (2, 3, 2)
        );
        let flags: Vec<(u64, bool, bool)> = retold.episodes.iter().map(|e| (e.number, e.open, e.abandoned)).collect();
        assert_eq!(flags, vec![(1, false, false), (2, false, true), (3, true, false)]);
    }

    #[test]
    fn e001_17_cycles_and_missing_parents_end_the_walk() {
        let circle = [node(1, 1, Some(2)), node(2, 2, Some(1))];
        assert_eq!(active_nodes(&circle, None).len(), 2);
        let orphan = [node(1, 1, None), node(2, 2, Some(99))];
        assert_eq!(active_nodes(&orphan, None), HashSet::from([NativeKey::from_stored(2)]));
        let entries = [entry(1, Speech::Said), entry(2, Speech::Said)];
        assert_eq!(retell(&entries, &circle, Some(NativeKey::from_stored(77))).placed.len(), 2);
    }

    #[test]
    fn a_text_taken_back_leaves_the_story_around_it_whole() {
        let mut taken = entry(3, Speech::Prompt);
        taken.taken_back = true;
        let mut entries = [entry(1, Speech::Prompt), entry(2, Speech::Said), taken, entry(4, Speech::Said)];
        for entry in &mut entries {
            entry.node = None;
        }
        let retold = retell(&entries, &[], None);
        assert_eq!(retold.placed[3], (3, Some(1), false));
        assert_eq!(retold.teller.counts.prompts, 1);
        assert_eq!(retold.episodes.len(), 2);
    }
}
