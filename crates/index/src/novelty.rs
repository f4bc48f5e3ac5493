//! Measures how many words of an entry are new in its session and how many repeat the previous entry.

use std::sync::LazyLock;

use rethread_model::EntryKind;
use rethread_store::{ReadStore, SessionNumber};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::IndexError;
use crate::words::stop_words;

/// A word is new if none of this many previous texts contained it.
const WINDOW_TEXTS: u32 = 16;
/// Sessions whose recent words are cached. For others, the last texts are read from the store again.
const MAX_SESSIONS: usize = 64;
/// Bytes of a long text that are analyzed.
const MAX_TEXT_BYTES: usize = 4_000;
/// Repeated words are counted up to this.
const MAX_ECHOES: u64 = 4;

/// How new a text is in its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Novelty {
    /// Share of new words in fifteenths, 0 to 15, so that it fits into 4 bits.
    pub new_fifteenths: u64,
    /// Words shared with the previous text, at most 4.
    pub echoes: u64,
}

/// Recent words of each session.
#[derive(Debug, Default)]
pub(crate) struct SessionWords {
    sessions: FxHashMap<SessionNumber, RecentWords>,
}

/// For each word hash, the number of the last text that contained it.
#[derive(Debug, Default)]
struct RecentWords {
    last_text: FxHashMap<u32, u32>,
    text_count: u32,
}

/// Whether an entry is part of the conversation. Tool calls and notes are not.
pub(crate) fn is_conversation(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Prompt | EntryKind::Task | EntryKind::Answer | EntryKind::AssistantText)
}

impl SessionWords {
    /// Loads the recent words of a session before its entries from `seq` on are added.
    pub(crate) fn prepare(&mut self, store: &ReadStore, session: SessionNumber, seq: u64) -> Result<(), IndexError> {
        if self.sessions.contains_key(&session) {
            return Ok(());
        }
        if self.sessions.len() >= MAX_SESSIONS {
            self.sessions.clear();
        }
        let mut recent = RecentWords::default();
        for text in store.messages_before(session, seq, u64::from(WINDOW_TEXTS))? {
            recent.add(&text);
        }
        self.sessions.insert(session, recent);
        Ok(())
    }

    /// Adds a text and returns how new it is.
    pub(crate) fn add(&mut self, session: SessionNumber, text: &str) -> Novelty {
        self.sessions.entry(session).or_default().add(text)
    }
}

impl RecentWords {
    fn add(&mut self, text: &str) -> Novelty {
        self.text_count += 1;
        let now = self.text_count;
        let (mut all, mut new, mut echoes) = (0_u64, 0_u64, 0);
        for word in word_hashes(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)]) {
            let before = self.last_text.insert(word, now);
            match before {
                Some(at) if at == now => continue,
                Some(at) if now - at <= WINDOW_TEXTS => echoes += u64::from(now - at == 1),
                _ => new += 1,
            }
            all += 1;
        }
        let fifteenths = (new * 15 + all / 2).checked_div(all).unwrap_or(0);
        Novelty { new_fifteenths: fifteenths, echoes: echoes.min(MAX_ECHOES) }
    }
}

/// Hashes of the words of a text, without stop words. Coarser than the words of the index, because this only has to
/// detect repetition.
fn word_hashes(text: &str) -> impl Iterator<Item = u32> {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
    runs.map(hash_word).filter(|number| !STOP_WORD_HASHES.contains(number))
}

static STOP_WORD_HASHES: LazyLock<FxHashSet<u32>> = LazyLock::new(|| stop_words().map(hash_word).collect());

/// FNV-1a of a word in lower case without a plural `s`. Keys are short and not chosen by an attacker.
fn hash_word(word: &str) -> u32 {
    let bare = word.strip_suffix(['s', 'S']).unwrap_or(word);
    let lower = bare.bytes().map(|byte| byte.to_ascii_lowercase());
    lower.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_words_are_not_new() {
        let mut recent = RecentWords::default();
        let mut check = |text: &str, new_fifteenths: u64, echoes: u64| {
            assert_eq!(recent.add(text), Novelty { new_fifteenths, echoes }, "{text:?}");
        };
        check("The parser fails on tabs", 15, 0);
        check("parser fails", 0, 2);
        check("is it the tab?", 0, 0);
        check("cache or tabs", 8, 1);
        check("", 0, 0);
        for _ in 0..WINDOW_TEXTS {
            check("so", 0, 0);
        }
        check("parser", 15, 0);
    }
}
