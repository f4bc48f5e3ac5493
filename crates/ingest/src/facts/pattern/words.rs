//! The words without which a pattern cannot match, and a search for the words of many patterns in one pass.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::syntax::PatternNode;

/// Words of which every match of a pattern has at least one.
pub(super) type WordGroup = Vec<String>;

/// Finds words in any case, each of which belongs to some groups.
#[derive(Debug, Default)]
pub(super) struct WordFilter {
    automaton: Option<AhoCorasick>,
    /// The groups of each word.
    groups: Vec<u64>,
    all: u64,
}

impl WordFilter {
    pub(super) fn new(groups: &[WordGroup]) -> Self {
        let mut words: Vec<&str> = groups.iter().flatten().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        let groups_of = |word: &&str| {
            let bits = groups.iter().enumerate().filter(|(_, group)| group.iter().any(|one| one == word));
            bits.fold(0, |bits, (at, _)| bits | 1 << at)
        };
        // A full table is faster to search, but slow to build.
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(&words).ok();
        let bits: Vec<u64> = words.iter().map(groups_of).collect();
        Self { automaton, all: bits.iter().fold(0, |all, bits| all | bits), groups: bits }
    }

    /// The groups of which a text has a word.
    pub(super) fn groups_in(&self, text: &str) -> u64 {
        let Some(automaton) = &self.automaton else { return u64::MAX };
        let mut found = 0;
        for one in automaton.find_overlapping_iter(text) {
            found |= self.groups[one.pattern().as_usize()];
            if found == self.all {
                break;
            }
        }
        found
    }
}

/// The groups of words that every match has, best first.
pub(super) fn required_words(node: &PatternNode) -> Vec<WordGroup> {
    let mut groups = match node {
        PatternNode::Capture(_, node) => return required_words(node),
        PatternNode::Repeat { node, min, .. } if *min > 0 => return required_words(node),
        PatternNode::Alternate(branches) => alternatives(branches).into_iter().collect(),
        PatternNode::Concat(parts) => sequence(parts),
        PatternNode::Literal { .. } | PatternNode::Set(_) => sequence(std::slice::from_ref(node)),
        PatternNode::Assert(_) | PatternNode::Repeat { .. } => Vec::new(),
    };
    groups.retain(|group| shortest(group) > 1 || group.iter().all(|word| !word.starts_with(char::is_alphabetic)));
    groups.sort_by_key(|group| (std::cmp::Reverse(shortest(group)), group.len()));
    groups
}

/// One word of each branch; none if a branch has none.
fn alternatives(branches: &[PatternNode]) -> Option<WordGroup> {
    let mut words: WordGroup = Vec::new();
    for branch in branches {
        words.extend(required_words(branch).into_iter().next()?);
    }
    // A word that contains another one is found with it.
    let is_found_with = |word: &String| words.iter().any(|other| other != word && word.contains(other.as_str()));
    let mut kept: WordGroup = words.iter().filter(|word| !is_found_with(word)).cloned().collect();
    kept.sort_unstable();
    kept.dedup();
    Some(kept)
}

/// The runs of letters of a sequence, and the words of its other parts.
fn sequence(parts: &[PatternNode]) -> Vec<WordGroup> {
    let (mut groups, mut run) = (Vec::new(), String::new());
    for part in parts {
        match part {
            PatternNode::Literal { text, .. } => run.push_str(&text.to_ascii_lowercase()),
            PatternNode::Set(set) if set.only_char().is_some() => run.extend(set.only_char()),
            PatternNode::Assert(_) => {}
            _ => {
                groups.push(vec![std::mem::take(&mut run)]);
                if !matches!(part, PatternNode::Set(_)) {
                    groups.extend(required_words(part));
                }
            }
        }
    }
    groups.push(vec![run]);
    groups.retain(|group| shortest(group) > 0);
    groups
}

fn shortest(group: &[String]) -> usize {
    group.iter().map(String::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::syntax::parse;
    use super::*;

    #[test]
    fn required_words_are_derived_from_the_pattern() {
        for (pattern, expected) in [
            (r"(?i)\b(?:want|like) me to\b", vec![vec![" me to"], vec!["like", "want"]]),
            (r"(?i)(?:ask|skip)s?", vec![vec!["ask", "skip"]]),
            (r"(?i)not|nothing|\d", vec![]),
            (r"(?i)not|nothing", vec![vec!["not"]]),
            (r"(?i)does.{0,60}\?$", vec![vec!["does"], vec!["?"]]),
            (r"(?i)(?:maybe )?", vec![]),
            (r"(?i)(?:no){1,2} [xX]\d", vec![vec!["no"], vec![" x"]]),
        ] {
            assert_eq!(required_words(&parse(pattern).unwrap().node), expected, "{pattern}");
        }
    }
}
