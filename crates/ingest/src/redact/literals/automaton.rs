//! Finds literals in long texts: tables that take a while to make, and then read several bytes in a nanosecond.

use std::collections::BTreeSet;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind};

use super::Hit;

/// An Aho-Corasick automaton, in tables of our own.
///
/// The crate builds the automaton. Its own search waits in each step for the step before; with tables whose index
/// cannot be out of bounds, four parts of the text can be read side by side, which is more than twice as fast.
#[derive(Debug)]
pub(super) struct Tables {
    /// The class of each byte. Bytes of one class lead from every state to the same state.
    classes: [u8; 256],
    /// The next state, for the sum of a state and a class.
    next: Box<[State; 1 << 16]>,
    start: State,
    /// The literals that end in each state below `matching`, in steps of `STRIDE`.
    ends: Vec<Vec<Ending>>,
    longest: usize,
}

impl Tables {
    /// Compiles the set.
    ///
    /// # Panics
    /// If the set needs more than 1,024 states or 64 classes. It is a constant, and every test compiles it.
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
        // By the automaton's own number: every process that redacts fills this table, so it is not looked up in a tree.
        let mut numbers: Vec<State> = vec![0; states.iter().map(|state| state.as_usize() + 1).max().unwrap_or(0)];
        for (state, number) in states.iter().zip((0..=State::MAX).step_by(STRIDE)) {
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
            let class = class_of(byte).unwrap_or(OTHER);
            classes[usize::from(byte)] = u8::try_from(class).expect("there are 64 classes at most");
        }
        let ends = states.iter().map_while(|id| endings(&automaton, *id)).collect();
        let next = next.try_into().expect("the table has its full size");
        Self { classes, next, start: numbers[start.as_usize()], ends, longest: automaton.max_pattern_len() }
    }

    /// Every literal in the text, also where they overlap, in the order of their ends.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits: [Vec<Hit>; LANES] = Default::default();
        let mut states = [self.start; LANES];
        let lane = text.len() / LANES;
        if lane > 2 * self.longest {
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
        let read = if lane > 2 * self.longest { lane * LANES } else { 0 };
        let mut state = states[LANES - 1];
        for (at, byte) in text.iter().enumerate().skip(read) {
            state = self.step(state, *byte);
            self.collect(state, at + 1, &mut hits[LANES - 1]);
        }
        hits.into_iter().reduce(joined).unwrap_or_default()
    }

    /// Reads all lanes from `at` on, and stops after the first byte where a literal ends in one of them.
    /// This loop is where most of the time goes, and in a function of its own the states stay in registers.
    #[inline(never)]
    fn run_lanes(&self, lanes: [&[u8]; LANES], at: usize, states: &mut [State; LANES]) -> Option<usize> {
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

    fn step(&self, state: State, byte: u8) -> State {
        let class = self.classes[usize::from(byte)];
        self.next[usize::from(state.wrapping_add(State::from(class)))]
    }

    /// The state after all bytes before `at`. Only as many of them count as the longest literal has.
    fn state_at(&self, text: &[u8], at: usize) -> State {
        let before = &text[at.saturating_sub(self.longest)..at];
        before.iter().fold(self.start, |state, byte| self.step(state, *byte))
    }

    /// Adds the literals that end at `end`.
    fn collect(&self, state: State, end: usize, hits: &mut Vec<Hit>) {
        for ending in self.ends.get(usize::from(state) / STRIDE).into_iter().flatten() {
            hits.push(Hit { literal: ending.literal, range: end - ending.length..end });
        }
    }

    /// States below this one end a literal.
    fn matching(&self) -> State {
        State::try_from(self.ends.len() * STRIDE).unwrap_or(State::MAX)
    }
}

/// The number of a state, already multiplied by `STRIDE`.
type State = u16;

/// A literal that ends in a state.
#[derive(Debug)]
struct Ending {
    literal: usize,
    length: usize,
}

/// The most classes of bytes there can be.
const STRIDE: usize = 64;

/// How many parts of the text are read side by side.
const LANES: usize = 4;

/// The class of all bytes that are in no literal.
const OTHER: usize = 0;

/// One byte of each class: one that is in no literal, then all that are, in small letters.
fn distinct_bytes(literals: &[&str]) -> Vec<u8> {
    let used: BTreeSet<u8> =
        literals.iter().flat_map(|literal| literal.bytes()).map(|b| b.to_ascii_lowercase()).collect();
    std::iter::once(0).chain(used).collect()
}

/// All states that the automaton can reach, those that end a literal first.
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

/// The literals that end in a state; `None` for a state that ends none.
fn endings(automaton: &DFA, state: StateID) -> Option<Vec<Ending>> {
    let ending = |index| {
        let literal = automaton.match_pattern(state, index);
        Ending { literal: literal.as_usize(), length: automaton.pattern_len(literal) }
    };
    automaton.is_match(state).then(|| (0..automaton.match_len(state)).map(ending).collect())
}

fn joined(mut first: Vec<Hit>, second: Vec<Hit>) -> Vec<Hit> {
    if first.is_empty() {
        return second;
    }
    first.extend(second);
    first
}
