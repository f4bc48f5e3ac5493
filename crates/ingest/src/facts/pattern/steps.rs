//! A pattern as a list of steps.

use super::char_set::CharSet;
use super::start_bytes::{NextByte, StartBytes, set_next_bytes};
use super::syntax::{Assertion, ParsedPattern, PatternNode};

/// Longer patterns are left to the regex engine.
const MAX_STEPS: usize = 4_000;
/// An alternative of more branches is decided by its next byte.
const MAX_CHAINED_BRANCHES: usize = 2;
/// Branches are bits of a number.
const MAX_BRANCHES: usize = u64::BITS as usize;

/// A pattern that can be matched step by step.
#[derive(Clone, Debug)]
pub(super) struct StepPattern {
    pub(super) steps: Vec<MatchStep>,
    /// How a match can begin.
    pub(super) start: StartBytes,
    /// Whether it can only match at the start of a text.
    pub(super) is_anchored: bool,
    /// Whether it can only match at the start or end of a word.
    pub(super) starts_word: bool,
    /// The numbers of groups are below this one.
    pub(super) groups: usize,
    pub(super) has_digits: bool,
}

#[derive(Clone, Debug)]
pub(super) enum MatchStep {
    Literal {
        text: Box<str>,
        is_folded: bool,
    },
    Set(CharSet),
    /// A character of a set, as often as possible or as rarely as possible.
    Repeat {
        set: CharSet,
        min: usize,
        max: usize,
        is_greedy: bool,
        /// What can come after it.
        next: NextByte,
    },
    Assert(Assertion),
    /// Tries one step, then the other.
    Split {
        first: usize,
        second: usize,
    },
    /// Tries the branches that can begin with the next byte.
    Switch(Box<ByteSwitch>),
    Jump(usize),
    /// Records the place in a slot.
    Save(usize),
    Match,
}

/// The branches of an alternative, as bits.
#[derive(Clone, Debug)]
pub(super) struct ByteSwitch {
    by_byte: [u64; 128],
    by_other: u64,
    at_end: u64,
    pub(super) targets: Vec<usize>,
}

/// The bytes with which a part of a pattern can begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FirstBytes {
    ascii: u128,
    has_others: bool,
    /// Whether it can match nothing, so that anything may follow.
    is_empty: bool,
}

impl FirstBytes {
    fn contains(self, byte: u8) -> bool {
        self.is_empty || if byte < 128 { self.ascii >> byte & 1 == 1 } else { self.has_others }
    }

    fn of(node: &PatternNode) -> Self {
        match node {
            PatternNode::Literal { text, is_folded } => {
                let mut set = CharSet::default();
                text.chars().take(1).for_each(|c| set.add_char(c, *is_folded));
                Self::of(&PatternNode::Set(set))
            }
            PatternNode::Set(set) => Self { ascii: set.ascii(), has_others: set.accepts_others(), is_empty: false },
            PatternNode::Assert(_) => Self { is_empty: true, ..Self::default() },
            PatternNode::Capture(_, node) => Self::of(node),
            PatternNode::Repeat { node, min, .. } => {
                let first = Self::of(node);
                Self { is_empty: first.is_empty || *min == 0, ..first }
            }
            PatternNode::Concat(parts) => {
                let mut all = Self { is_empty: true, ..Self::default() };
                for part in parts {
                    all = Self { is_empty: false, ..all }.or(Self::of(part));
                    if !all.is_empty {
                        break;
                    }
                }
                all
            }
            PatternNode::Alternate(branches) => branches.iter().map(Self::of).fold(Self::default(), Self::or),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            has_others: self.has_others || other.has_others,
            is_empty: self.is_empty || other.is_empty,
        }
    }
}

impl ByteSwitch {
    fn new(branches: &[PatternNode]) -> Self {
        let mut switch =
            Self { by_byte: [0; 128], by_other: 0, at_end: 0, targets: Vec::with_capacity(branches.len()) };
        for (at, branch) in branches.iter().enumerate() {
            let (first, bit) = (FirstBytes::of(branch), 1 << at);
            let mut bytes = if first.is_empty { u128::MAX } else { first.ascii };
            while bytes != 0 {
                switch.by_byte[bytes.trailing_zeros() as usize] |= bit;
                bytes &= bytes - 1;
            }
            switch.by_other |= if first.contains(u8::MAX) { bit } else { 0 };
            switch.at_end |= if first.is_empty { bit } else { 0 };
        }
        switch
    }

    /// The branches that can match before this byte, or at the end of the text.
    pub(super) fn branches_for(&self, next: Option<u8>) -> u64 {
        match next {
            Some(byte) => self.by_byte.get(usize::from(byte)).copied().unwrap_or(self.by_other),
            None => self.at_end,
        }
    }
}

impl StepPattern {
    /// `None` if the pattern is too long or repeats what may be nothing.
    pub(super) fn new(parsed: &ParsedPattern) -> Option<Self> {
        let mut steps = Vec::new();
        emit(&parsed.node, &mut steps)?;
        steps.push(MatchStep::Match);
        set_next_bytes(&mut steps);
        Some(Self {
            is_anchored: matches!(steps.first(), Some(MatchStep::Assert(Assertion::Start))),
            starts_word: matches!(
                steps.first(),
                Some(MatchStep::Assert(Assertion::AsciiBoundary | Assertion::Boundary))
            ),
            start: StartBytes::of(&steps),
            groups: parsed.group_names.len() + 1,
            has_digits: parsed.has_digits,
            steps,
        })
    }
}

fn emit(node: &PatternNode, steps: &mut Vec<MatchStep>) -> Option<()> {
    if steps.len() > MAX_STEPS {
        return None;
    }
    match node {
        PatternNode::Literal { text, is_folded } => {
            steps.push(MatchStep::Literal { text: text.as_str().into(), is_folded: *is_folded });
        }
        PatternNode::Set(set) => steps.push(MatchStep::Set(set.clone())),
        PatternNode::Assert(assertion) => steps.push(MatchStep::Assert(*assertion)),
        PatternNode::Capture(number, node) => {
            steps.push(MatchStep::Save(number * 2));
            emit(node, steps)?;
            steps.push(MatchStep::Save(number * 2 + 1));
        }
        PatternNode::Concat(parts) => parts.iter().try_for_each(|part| emit(part, steps))?,
        PatternNode::Alternate(branches) if (MAX_CHAINED_BRANCHES + 1..=MAX_BRANCHES).contains(&branches.len()) => {
            emit_switch(branches, steps)?;
        }
        PatternNode::Alternate(branches) => emit_chain(branches, steps)?,
        PatternNode::Repeat { node, min, max, is_greedy } => match single_set(node) {
            Some(set) => {
                let max = max.unwrap_or(usize::MAX);
                steps.push(MatchStep::Repeat { set, min: *min, max, is_greedy: *is_greedy, next: NextByte::default() });
            }
            None => emit_repeat(node, *min, *max, *is_greedy, steps)?,
        },
    }
    Some(())
}

fn emit_switch(branches: &[PatternNode], steps: &mut Vec<MatchStep>) -> Option<()> {
    let (at, mut switch) = (steps.len(), ByteSwitch::new(branches));
    steps.push(MatchStep::Match);
    let mut jumps = Vec::new();
    for branch in branches {
        switch.targets.push(steps.len());
        emit(branch, steps)?;
        jumps.push(steps.len());
        steps.push(MatchStep::Match);
    }
    steps[at] = MatchStep::Switch(Box::new(switch));
    let end = steps.len();
    for jump in jumps {
        steps[jump] = MatchStep::Jump(end);
    }
    Some(())
}

fn emit_chain(branches: &[PatternNode], steps: &mut Vec<MatchStep>) -> Option<()> {
    let (last, rest) = branches.split_last()?;
    let mut jumps = Vec::new();
    for branch in rest {
        let split = steps.len();
        steps.push(MatchStep::Match);
        emit(branch, steps)?;
        jumps.push(steps.len());
        steps.push(MatchStep::Match);
        steps[split] = MatchStep::Split { first: split + 1, second: steps.len() };
    }
    emit(last, steps)?;
    let end = steps.len();
    for jump in jumps {
        steps[jump] = MatchStep::Jump(end);
    }
    Some(())
}

fn emit_repeat(
    node: &PatternNode,
    min: usize,
    max: Option<usize>,
    is_greedy: bool,
    steps: &mut Vec<MatchStep>,
) -> Option<()> {
    // Engines differ in how often they repeat nothing.
    if FirstBytes::of(node).is_empty && max != Some(1) {
        return None;
    }
    for _ in 0..min {
        emit(node, steps)?;
    }
    let start = steps.len();
    let mut splits = Vec::new();
    for _ in 0..max.map_or(1, |max| max - min) {
        splits.push(steps.len());
        steps.push(MatchStep::Match);
        emit(node, steps)?;
    }
    if max.is_none() {
        steps.push(MatchStep::Jump(start));
    }
    let end = steps.len();
    for split in splits {
        let (first, second) = if is_greedy { (split + 1, end) } else { (end, split + 1) };
        steps[split] = MatchStep::Split { first, second };
    }
    Some(())
}

/// The set of a part that is one character.
fn single_set(node: &PatternNode) -> Option<CharSet> {
    match node {
        PatternNode::Set(set) => Some(set.clone()),
        PatternNode::Concat(parts) => {
            if let [one] = &parts[..] {
                single_set(one)
            } else {
                None
            }
        }
        PatternNode::Literal { text, is_folded } => {
            let mut chars = text.chars();
            let (only, None) = (chars.next()?, chars.next()) else { return None };
            let mut set = CharSet::default();
            set.add_char(only, *is_folded);
            Some(set)
        }
        _ => None,
    }
}
