//! Finds literals in long texts with precomputed tables: slow to build, then several bytes per nanosecond.

use std::collections::BTreeSet;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind};

use super::LiteralHit;

/// An Aho-Corasick automaton in our own tables.
///
/// The crate builds the automaton. In its own search each step waits for the previous one; with tables whose index
/// cannot be out of bounds, four parts of the text are read side by side, which is more than twice as fast.
#[derive(Debug)]
pub(super) struct LiteralTables {
    /// The class of each byte. Bytes of one class lead from every state to the same state.
    classes: [u8; 256],
    /// The next state, indexed by the sum of a state and a class.
    next: Box<[StateIndex; 1 << 16]>,
    start: StateIndex,
    /// The literals that end in each state below `matching`, in steps of `STRIDE`.
    ends: Vec<Vec<LiteralEnd>>,
    max_literal_len: usize,
}

impl LiteralTables {
    /// Builds the tables for a set of literals.
    ///
    /// # Panics
    /// If the set needs more than 1,260 states or 52 classes. It is a constant, and every test compiles it.
    #[expect(clippy::expect_used, reason = "the set is a constant, and every test compiles it")]
    pub(super) fn new(literals: &[&str]) -> Self {
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(literals)
            .expect("some hundred short literals fit a DFA");
        let start = automaton.start_state(Anchored::No).expect("a DFA can start unanchored");
        let bytes = distinct_bytes(literals);
        let states = states_from(&automaton, start, &bytes);
        assert!(states.len() <= (1 << 16) / STRIDE, "too many states for 16 bits");
        // Indexed by the automaton's own id: every process that redacts fills this table, so a tree would be too slow.
        let mut numbers: Vec<StateIndex> = vec![0; states.iter().map(|state| state.as_usize() + 1).max().unwrap_or(0)];
        for (state, number) in states.iter().zip((0..=StateIndex::MAX).step_by(STRIDE)) {
            numbers[state.as_usize()] = number;
        }
        assert!(bytes.len() <= STRIDE, "too many classes for one stride");
        let mut next = vec![0; 1 << 16].into_boxed_slice();
        for (row, state) in states.iter().enumerate() {
            for (class, byte) in bytes.iter().enumerate() {
                let target = automaton.next_state(Anchored::No, *state, *byte);
                next[row * STRIDE + class] = numbers[target.as_usize()];
            }
        }
        let class_of = |byte: u8| bytes.iter().position(|b| *b == byte.to_ascii_lowercase());
        let mut classes = [0; 256];
        for byte in 0..=u8::MAX {
            let class = class_of(byte).unwrap_or(OTHER_CLASS);
            classes[usize::from(byte)] = u8::try_from(class).expect("there are 52 classes at most");
        }
        let ends = states.iter().map_while(|id| literals_ending_in(&automaton, *id)).collect();
        let next = next.try_into().expect("the table has its full size");
        Self { classes, next, start: numbers[start.as_usize()], ends, max_literal_len: automaton.max_pattern_len() }
    }

    /// Every literal in the text, including overlapping ones, in the order of their ends.
    pub(super) fn find(&self, text: &[u8]) -> Vec<LiteralHit> {
        let mut hits: [Vec<LiteralHit>; LANES] = Default::default();
        let mut states = [self.start; LANES];
        let lane = text.len() / LANES;
        if lane > 2 * self.max_literal_len {
            for (number, state) in states.iter_mut().enumerate() {
                *state = self.state_at(text, number * lane);
            }
            let lanes: [&[u8]; LANES] = std::array::from_fn(|number| &text[number * lane..][..lane]);
            let mut at = 0;
            while let Some(after) = self.run_lanes(lanes, at, &mut states) {
                at = after;
                for (number, state) in states.into_iter().enumerate() {
                    self.collect(state, number * lane + at, &mut hits[number]);
                }
            }
        }
        let read = if lane > 2 * self.max_literal_len { lane * LANES } else { 0 };
        let mut state = states[LANES - 1];
        for (at, byte) in text.iter().enumerate().skip(read) {
            state = self.step(state, *byte);
            self.collect(state, at + 1, &mut hits[LANES - 1]);
        }
        hits.into_iter().reduce(join_hits).unwrap_or_default()
    }

    /// Reads all lanes from `at`, and stops after the first byte where a literal ends in one of them. Most of the time
    /// is spent in this loop; in a separate function the states stay in registers.
    #[inline(never)]
    fn run_lanes(&self, lanes: [&[u8]; LANES], at: usize, states: &mut [StateIndex; LANES]) -> Option<usize> {
        let [mut a, mut b, mut c, mut d] = *states;
        let matching = self.matching();
        let rest = lanes.map(|lane| &lane[at..]);
        let (mut found, mut count) = (false, at);
        for (((byte_a, byte_b), byte_c), byte_d) in rest[0].iter().zip(rest[1]).zip(rest[2]).zip(rest[3]) {
            a = self.step(a, *byte_a);
            b = self.step(b, *byte_b);
            c = self.step(c, *byte_c);
            d = self.step(d, *byte_d);
            count += 1;
            if a.min(b).min(c.min(d)) < matching {
                found = true;
                break;
            }
        }
        *states = [a, b, c, d];
        found.then_some(count)
    }

    fn step(&self, state: StateIndex, byte: u8) -> StateIndex {
        let class = self.classes[usize::from(byte)];
        self.next[usize::from(state.wrapping_add(StateIndex::from(class)))]
    }

    /// The state after all bytes before `at`. Only as many of them matter as the longest literal has.
    fn state_at(&self, text: &[u8], at: usize) -> StateIndex {
        let before = &text[at.saturating_sub(self.max_literal_len)..at];
        before.iter().fold(self.start, |state, byte| self.step(state, *byte))
    }

    /// Adds the literals that end at `end`.
    fn collect(&self, state: StateIndex, end: usize, hits: &mut Vec<LiteralHit>) {
        for ending in self.ends.get(usize::from(state) / STRIDE).into_iter().flatten() {
            hits.push(LiteralHit { literal: ending.literal, range: end - ending.length..end });
        }
    }

    /// States below this one end a literal.
    fn matching(&self) -> StateIndex {
        StateIndex::try_from(self.ends.len() * STRIDE).unwrap_or(StateIndex::MAX)
    }
}

/// The number of a state, already multiplied by `STRIDE`.
type StateIndex = u16;

/// A literal that ends in a state.
#[derive(Debug)]
struct LiteralEnd {
    literal: usize,
    length: usize,
}

/// Maximum number of byte classes. The smaller it is, the more states fit.
const STRIDE: usize = 52;

/// Number of parts of the text that are read side by side.
const LANES: usize = 4;

/// The class of all bytes that occur in no literal.
const OTHER_CLASS: usize = 0;

/// One byte per class: one that occurs in no literal, then all that do, in lower case.
fn distinct_bytes(literals: &[&str]) -> Vec<u8> {
    let used: BTreeSet<u8> =
        literals.iter().flat_map(|literal| literal.bytes()).map(|b| b.to_ascii_lowercase()).collect();
    std::iter::once(0).chain(used).collect()
}

/// All states that the automaton can reach; those that end a literal come first.
fn states_from(automaton: &DFA, start: StateID, bytes: &[u8]) -> Vec<StateID> {
    let mut states = vec![start];
    let mut seen = vec![false; start.as_usize() + 1];
    seen[start.as_usize()] = true;
    let mut read = 0;
    while let Some(state) = states.get(read).copied() {
        read += 1;
        for byte in bytes {
            let next = automaton.next_state(Anchored::No, state, *byte);
            if seen.len() <= next.as_usize() {
                seen.resize(next.as_usize() + 1, false);
            }
            if !std::mem::replace(&mut seen[next.as_usize()], true) {
                states.push(next);
            }
        }
    }
    states.sort_by_key(|state| !automaton.is_match(*state));
    states
}

/// The literals that end in a state; `None` if there are none.
fn literals_ending_in(automaton: &DFA, state: StateID) -> Option<Vec<LiteralEnd>> {
    let ending = |index| {
        let literal = automaton.match_pattern(state, index);
        LiteralEnd { literal: literal.as_usize(), length: automaton.pattern_len(literal) }
    };
    automaton.is_match(state).then(|| (0..automaton.match_len(state)).map(ending).collect())
}

fn join_hits(mut first: Vec<LiteralHit>, second: Vec<LiteralHit>) -> Vec<LiteralHit> {
    if first.is_empty() {
        return second;
    }
    first.extend(second);
    first
}
