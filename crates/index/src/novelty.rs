//! How much of what an entry says is new in its conversation, and how much only repeats what was said right before.

use std::sync::LazyLock;

use rethread_model::Speech;
use rethread_store::{SessionNumber, Store};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::IndexError;
use crate::words::STOP;

/// A word counts as new when this many texts before did not have it.
const REMEMBERED: u32 = 16;
/// Sessions kept in mind while many are indexed; of the others the last texts are read again.
const SESSIONS: usize = 64;
/// How much of a long text is looked at.
const LOOKED_AT: usize = 4_000;
/// So many repeated words are as much of an echo as there can be.
const FULL_ECHO: u64 = 4;

/// What one text adds to its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Novelty {
    /// Share of its words that are new, in fifteenths.
    pub fifteenths: u64,
    /// Words it shares with the text before, at most four.
    pub echoes: u64,
}

/// The words that were said last, by session.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    sessions: FxHashMap<SessionNumber, Said>,
}

/// When each word was said last, counted in texts.
#[derive(Debug, Default)]
struct Said {
    last: FxHashMap<u32, u32>,
    texts: u32,
}

/// Whether a text is part of the conversation: calls and notes are not.
pub(crate) fn is_said(speech: Speech) -> bool {
    matches!(speech, Speech::Prompt | Speech::Task | Speech::Answer | Speech::Said)
}

impl Conversations {
    /// Gets a session ready for its entries from `seq` on.
    pub(crate) fn prepare(&mut self, store: &Store, session: SessionNumber, seq: u64) -> Result<(), IndexError> {
        if self.sessions.contains_key(&session) {
            return Ok(());
        }
        if self.sessions.len() >= SESSIONS {
            self.sessions.clear();
        }
        let mut said = Said::default();
        for text in store.said_before(session, seq, u64::from(REMEMBERED))? {
            said.add(&text);
        }
        self.sessions.insert(session, said);
        Ok(())
    }

    /// What a text adds; it is remembered.
    pub(crate) fn add(&mut self, session: SessionNumber, text: &str) -> Novelty {
        self.sessions.entry(session).or_default().add(text)
    }

    /// Forgets a session whose entries are told again.
    pub(crate) fn forget(&mut self, session: SessionNumber) {
        self.sessions.remove(&session);
    }
}

impl Said {
    fn add(&mut self, text: &str) -> Novelty {
        self.texts += 1;
        let now = self.texts;
        let (mut all, mut new, mut echoes) = (0_u64, 0_u64, 0);
        for word in words(&text[..text.floor_char_boundary(LOOKED_AT)]) {
            let before = self.last.insert(word, now);
            match before {
                Some(at) if at == now => continue,
                Some(at) if now - at <= REMEMBERED => echoes += u64::from(now - at == 1),
                _ => new += 1,
            }
            all += 1;
        }
        let fifteenths = (new * 15 + all / 2).checked_div(all).unwrap_or(0);
        Novelty { fifteenths, echoes: echoes.min(FULL_ECHO) }
    }
}

/// The words of a text as numbers: letters in lower case, ends of plurals cut. Coarser than the words of the index,
/// because it is only asked whether something was said before.
fn words(text: &str) -> impl Iterator<Item = u32> {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
    runs.map(number).filter(|number| !STOP_NUMBERS.contains(number))
}

static STOP_NUMBERS: LazyLock<FxHashSet<u32>> = LazyLock::new(|| STOP.iter().map(|word| number(word)).collect());

/// FNV-1a of a word in lower case without the end of a plural: short keys, no attacker.
fn number(word: &str) -> u32 {
    let bare = word.strip_suffix(['s', 'S']).unwrap_or(word);
    let lower = bare.bytes().map(|byte| byte.to_ascii_lowercase());
    lower.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_is_not_new() {
        let mut said = Said::default();
        let mut check = |text: &str, fifteenths: u64, echoes: u64| {
            assert_eq!(said.add(text), Novelty { fifteenths, echoes }, "{text:?}");
        };
        check("The parser fails on tabs", 15, 0);
        check("parser fails", 0, 2);
        check("is it the tab?", 0, 0);
        check("cache or tabs", 8, 1);
        check("", 0, 0);
        for _ in 0..REMEMBERED {
            check("so", 0, 0);
        }
        check("parser", 15, 0);
    }
}
