//! The two bytes with which a match can begin, and the byte that can follow a repetition.
//!
//! They exclude nearly all places of a text, before a step is tried there.

use super::char_set::CharSet;
use super::steps::MatchStep;

/// The bits of a number are the lowest bits of a byte: letters have the same in both cases.
const BYTE_BITS: u8 = 31;

/// How a match can begin.
#[derive(Clone, Debug)]
pub(super) struct StartBytes {
    /// For each first byte, the bits of the second.
    seconds: [u32; 128],
    /// Whether a match can begin with a character that is not ASCII.
    has_others: bool,
    /// Whether a match can be empty.
    is_anything: bool,
}

impl StartBytes {
    pub(super) fn of(steps: &[MatchStep]) -> Self {
        let (reached, is_anything) = reachable(steps, 0);
        let mut start = Self { seconds: [0; 128], has_others: false, is_anything };
        for at in reached {
            let (mut firsts, has_others) = first_bytes(&steps[at]);
            start.has_others |= has_others;
            let seconds = second_bits(steps, at);
            while firsts != 0 {
                start.seconds[firsts.trailing_zeros() as usize] |= seconds;
                firsts &= firsts - 1;
            }
        }
        start
    }

    /// Whether a match can begin with these bytes.
    pub(super) fn fits(&self, rest: &[u8]) -> bool {
        let seconds = match rest.first() {
            Some(first) if !self.is_anything => self.seconds.get(usize::from(*first)),
            _ => return self.is_anything,
        };
        match (seconds, rest.get(1)) {
            (Some(seconds), Some(second)) => seconds >> (second & BYTE_BITS) & 1 == 1,
            (Some(seconds), None) => *seconds != 0,
            (None, _) => self.has_others,
        }
    }
}

/// The bytes that can follow a repetition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextByte {
    ascii: u128,
    /// Whether anything can follow, also the end of the text.
    is_anything: bool,
}

impl NextByte {
    pub(super) fn fits(self, next: Option<&u8>) -> bool {
        self.is_anything || next.is_some_and(|byte| *byte < 128 && self.ascii >> byte & 1 == 1)
    }
}

/// Records what can follow each repetition.
pub(super) fn set_next_bytes(steps: &mut [MatchStep]) {
    for at in 0..steps.len() {
        if !matches!(steps[at], MatchStep::Repeat { .. }) {
            continue;
        }
        let (reached, can_end) = reachable(steps, at + 1);
        let mut following = NextByte { ascii: 0, is_anything: can_end };
        for (ascii, has_others) in reached.into_iter().map(|at| first_bytes(&steps[at])) {
            following.ascii |= ascii;
            following.is_anything |= has_others;
        }
        if let MatchStep::Repeat { next, .. } = &mut steps[at] {
            *next = following;
        }
    }
}

/// The steps that read a character and can be the next one, and whether the match can end here.
fn reachable(steps: &[MatchStep], from: usize) -> (Vec<usize>, bool) {
    let (mut found, mut can_end) = (Vec::new(), false);
    let (mut open, mut seen) = (vec![from], vec![false; steps.len()]);
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &steps[at] {
            MatchStep::Match => can_end = true,
            MatchStep::Assert(_) | MatchStep::Save(_) => open.push(at + 1),
            MatchStep::Jump(target) => open.push(*target),
            MatchStep::Split { first, second } => open.extend([*first, *second]),
            MatchStep::Switch(switch) => open.extend(&switch.targets),
            MatchStep::Repeat { min, .. } => {
                found.push(at);
                if *min == 0 {
                    open.push(at + 1);
                }
            }
            MatchStep::Literal { .. } | MatchStep::Set(_) => found.push(at),
        }
    }
    (found, can_end)
}

/// The ASCII bytes with which a step can begin, and whether it can begin with others.
fn first_bytes(step: &MatchStep) -> (u128, bool) {
    let of_set = |set: &CharSet| (set.ascii(), set.accepts_others());
    match step {
        MatchStep::Literal { text, is_folded } => {
            let mut set = CharSet::default();
            text.chars().take(1).for_each(|c| set.add_char(c, *is_folded));
            of_set(&set)
        }
        MatchStep::Set(set) | MatchStep::Repeat { set, .. } => of_set(set),
        _ => (0, false),
    }
}

/// The bits of the bytes that can follow the first byte of a step.
fn second_bits(steps: &[MatchStep], at: usize) -> u32 {
    let own = match &steps[at] {
        MatchStep::Literal { text, .. } if text.len() > 1 => return 1 << (text.as_bytes()[1] & BYTE_BITS),
        MatchStep::Repeat { max: 2.., .. } => first_bits(&steps[at]),
        _ => 0,
    };
    let (next, can_end) = reachable(steps, at + 1);
    if can_end { u32::MAX } else { next.iter().fold(own, |bits, next| bits | first_bits(&steps[*next])) }
}

fn first_bits(step: &MatchStep) -> u32 {
    let (ascii, has_others) = first_bytes(step);
    if has_others { u32::MAX } else { (ascii | ascii >> 32 | ascii >> 64 | ascii >> 96) as u32 }
}
