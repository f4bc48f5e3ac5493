//! Matches a pattern step by step, and goes back to the last choice when a step fails.
//!
//! The first match in the order of the choices is the one that the regex engine finds. Searches that take too many steps
//! are given up, so that no text is slow.

use super::char_set::{CharSet, is_word};
use super::start_bytes::NextByte;
use super::steps::{MatchStep, StepPattern};
use super::syntax::Assertion;

/// A search may take this many steps, and this many more for each byte of the text.
const BASE_STEPS: usize = 4_000;
const STEPS_PER_BYTE: usize = 48;
/// The place of a slot that was not set.
pub(super) const UNSET: usize = usize::MAX;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// The places of the match and its groups: start and end of each.
    Found(Vec<usize>),
    NotFound,
    /// It took too many steps.
    GivenUp,
}

/// A choice to go back to.
enum Choice {
    Step {
        pc: usize,
        at: usize,
    },
    /// The next branch of a switch.
    Branch {
        pc: usize,
        at: usize,
        branches: u64,
    },
    /// One character less.
    Shorter {
        pc: usize,
        at: usize,
        min_at: usize,
    },
    /// One character more.
    Longer {
        pc: usize,
        at: usize,
        left: usize,
    },
    /// A slot had this place before.
    Slot {
        slot: usize,
        place: usize,
    },
}

struct Matcher<'p, 't> {
    pattern: &'p StepPattern,
    text: &'t str,
    slots: Vec<usize>,
    choices: Vec<Choice>,
    steps_left: usize,
}

impl StepPattern {
    /// The first match in a text, with its groups if they are wanted.
    pub(super) fn search(&self, text: &str, wants_groups: bool) -> Search {
        let slots = if wants_groups { self.groups * 2 } else { 2 };
        let mut matcher = Matcher {
            pattern: self,
            text,
            slots: Vec::new(),
            choices: Vec::new(),
            steps_left: BASE_STEPS + STEPS_PER_BYTE * text.len(),
        };
        let last = if self.is_anchored { 0 } else { text.len() };
        for start in 0..=last {
            let bytes = text.as_bytes();
            let can_start = self.start.fits(&bytes[start..])
                && text.is_char_boundary(start)
                && !(self.starts_word && is_inside_word(bytes, start));
            if !can_start {
                continue;
            }
            if matcher.slots.is_empty() {
                matcher.slots.resize(slots, UNSET);
            }
            matcher.slots[0] = start;
            match matcher.run(start) {
                Some(true) => return Search::Found(matcher.slots),
                Some(false) => {}
                None => return Search::GivenUp,
            }
        }
        Search::NotFound
    }
}

/// Whether a place is between two letters of a word.
fn is_inside_word(bytes: &[u8], at: usize) -> bool {
    bytes[..at].last().is_some_and(|byte| is_word_byte(*byte)) && bytes.get(at).is_some_and(|byte| is_word_byte(*byte))
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Matcher<'_, '_> {
    /// Whether the pattern matches from here; `None` if that took too many steps.
    fn run(&mut self, start: usize) -> Option<bool> {
        let (mut pc, mut at) = (0, start);
        loop {
            self.steps_left = self.steps_left.checked_sub(1)?;
            let next = match &self.pattern.steps[pc] {
                MatchStep::Match => {
                    self.slots[1] = at;
                    return Some(true);
                }
                MatchStep::Literal { text, is_folded } => {
                    self.literal_end(text, *is_folded, at).map(|end| (pc + 1, end))
                }
                MatchStep::Set(set) => set.end_at(self.text, at).map(|end| (pc + 1, end)),
                MatchStep::Assert(assertion) => self.holds(*assertion, at).then_some((pc + 1, at)),
                MatchStep::Jump(target) => Some((*target, at)),
                MatchStep::Split { first, second } => {
                    self.choices.push(Choice::Step { pc: *second, at });
                    Some((*first, at))
                }
                MatchStep::Switch(switch) => {
                    let branches = switch.branches_for(self.text.as_bytes().get(at).copied());
                    self.branch(pc, at, branches)
                }
                MatchStep::Save(slot) => {
                    if let Some(place) = self.slots.get_mut(*slot) {
                        self.choices.push(Choice::Slot { slot: *slot, place: *place });
                        *place = at;
                    }
                    Some((pc + 1, at))
                }
                MatchStep::Repeat { set, min, max, is_greedy, .. } => {
                    self.repeat(pc, at, set, (*min, *max), *is_greedy).map(|end| (pc + 1, end))
                }
            };
            match next.or_else(|| self.go_back()) {
                Some(found) => (pc, at) = found,
                None => return Some(false),
            }
        }
    }

    fn literal_end(&self, literal: &str, is_folded: bool, at: usize) -> Option<usize> {
        let end = at + literal.len();
        let found = self.text.as_bytes().get(at..end)?;
        let literal = literal.as_bytes();
        (if is_folded { found.eq_ignore_ascii_case(literal) } else { found == literal }).then_some(end)
    }

    /// The first of these branches that does not fail at once; the others are tried later.
    fn branch(&mut self, pc: usize, at: usize, mut branches: u64) -> Option<(usize, usize)> {
        let MatchStep::Switch(switch) = &self.pattern.steps[pc] else { return None };
        while branches != 0 {
            let target = *switch.targets.get(branches.trailing_zeros() as usize)?;
            branches &= branches - 1;
            let next = match &self.pattern.steps[target] {
                MatchStep::Literal { text, is_folded } => {
                    self.literal_end(text, *is_folded, at).map(|end| (target + 1, end))
                }
                _ => Some((target, at)),
            };
            if next.is_some() {
                if branches != 0 {
                    self.choices.push(Choice::Branch { pc, at, branches });
                }
                return next;
            }
        }
        None
    }

    /// Where a repetition ends.
    fn repeat(
        &mut self,
        pc: usize,
        start: usize,
        set: &CharSet,
        (min, max): (usize, usize),
        is_greedy: bool,
    ) -> Option<usize> {
        let wanted = if is_greedy { max } else { min };
        let (mut count, mut at, mut min_at) = (0, start, start);
        while count < wanted
            && let Some(end) = set.end_at(self.text, at)
        {
            (count, at) = (count + 1, end);
            if count == min {
                min_at = at;
            }
        }
        self.steps_left = self.steps_left.saturating_sub(count / 8);
        if count < min {
            return None;
        }
        if !is_greedy {
            self.choices.push(Choice::Longer { pc, at, left: max - min });
        } else if at > min_at {
            self.choices.push(Choice::Shorter { pc, at, min_at });
        }
        Some(at)
    }

    /// The last choice that is left.
    fn go_back(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.choices.pop()? {
                Choice::Step { pc, at } => return Some((pc, at)),
                Choice::Branch { pc, at, branches } => match self.branch(pc, at, branches) {
                    None => {}
                    found => return found,
                },
                Choice::Slot { slot, place } => self.slots[slot] = place,
                Choice::Shorter { pc, at, min_at } => {
                    let MatchStep::Repeat { next, .. } = self.pattern.steps[pc] else { continue };
                    let Some(at) = self.shorter(at, min_at, next) else { continue };
                    if at > min_at {
                        self.choices.push(Choice::Shorter { pc, at, min_at });
                    }
                    return Some((pc + 1, at));
                }
                Choice::Longer { pc, at, left } => {
                    let MatchStep::Repeat { set, .. } = &self.pattern.steps[pc] else { continue };
                    let Some(end) = set.end_at(self.text, at).filter(|_| left > 0) else { continue };
                    self.choices.push(Choice::Longer { pc, at: end, left: left - 1 });
                    return Some((pc + 1, end));
                }
            }
        }
    }

    /// The last place before this one at which a repetition can end.
    fn shorter(&self, mut at: usize, min_at: usize, next: NextByte) -> Option<usize> {
        let bytes = self.text.as_bytes();
        while at > min_at {
            at = self.text.floor_char_boundary(at - 1);
            if next.fits(bytes.get(at)) {
                return Some(at);
            }
        }
        None
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let is_ascii_word = |byte: &u8| is_word_byte(*byte);
        let bytes = self.text.as_bytes();
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == bytes.len(),
            Assertion::AsciiBoundary => {
                bytes[..at].last().is_some_and(is_ascii_word) != bytes.get(at).is_some_and(is_ascii_word)
            }
            Assertion::Boundary => {
                let before = self.text[..at].chars().next_back().is_some_and(is_word);
                before != self.text[at..].chars().next().is_some_and(is_word)
            }
        }
    }
}
