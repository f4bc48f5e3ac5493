//! Memories a prompt calls for: which of what was found is close enough, and how it is told. Pure.

use std::collections::HashSet;

use rethread_index::words;
use rethread_model::Timestamp;

use crate::cues::weight_of;
use crate::quote::{age, short};

/// Older memories are told only to those who ask.
pub const WARM_DAYS: i64 = 7;
/// Memories that are told with one prompt.
pub const WARM_MEMORIES: usize = 2;

/// How much of the prompt's words, by their worth, a memory must have; less is enough if the prompt has a cue.
const CLOSE: f32 = 0.7;
const CLOSE_WITH_CUE: f32 = 0.5;
/// One or two words in common are chance.
const FEWEST_WORDS: u32 = 3;
/// A prompt with more words says what it is about.
const MANY_WORDS: usize = 10;
/// Characters of what was asked, and of what was said.
const ASKED_CHARS: usize = 80;
const SAID_CHARS: usize = 220;
/// Characters of a session's name.
const NAME_CHARS: usize = 40;

/// Something that was said in another session.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Where it can be read: a citation.
    pub citation: String,
    /// Where the exchange begins that it is part of: by this it is known that it was told.
    pub exchange: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// The name of the session.
    pub session: String,
    /// What had been asked, if that is not what was found.
    pub asked: Option<String>,
    /// The piece that was found.
    pub text: String,
    /// How much of the prompt's words it has, by their worth: 0 to 1.
    pub share: f32,
    /// How many of the words.
    pub words: u32,
}

impl Memory {
    /// Whether it is close enough to the prompt to be told unasked. Cues let more through, and alone let nothing through.
    pub fn is_called_for(&self, prompt: &str) -> bool {
        let close = if has_cue(prompt) { CLOSE_WITH_CUE } else { CLOSE };
        self.words >= FEWEST_WORDS && self.share >= close
    }
}

/// Whether any memory could be called for by a prompt: most say too little to be worth a search.
pub fn may_call_for_memory(prompt: &str) -> bool {
    let mut telling = HashSet::new();
    for word in words::split(prompt).iter() {
        if weight_of(&prompt[word.start..word.end].to_lowercase()) >= 1.0 {
            telling.insert(word.text.to_owned());
        }
    }
    telling.len() >= FEWEST_WORDS as usize
}

/// `[MEMORY CONTEXT] … [END MEMORY]` around the lines of memories and of what is known.
pub fn memory_block(lines: &[String]) -> String {
    format!("[MEMORY CONTEXT]\n{}\n[END MEMORY]", lines.join("\n"))
}

/// The same where memory could not be looked into.
pub fn memory_unavailable(why: &str) -> String {
    format!("[MEMORY CONTEXT]\nwarm unavailable: {}\n[END MEMORY]", short(why, ASKED_CHARS))
}

/// `- [2d ago] name: "asked" -> "said" (rethread show 01K…:12)`. A session named by what was asked is not named again.
pub fn memory_line(memory: &Memory, now: Timestamp) -> String {
    let name = short(&memory.session, NAME_CHARS);
    let asked = memory.asked.as_ref().map(|asked| short(asked, ASKED_CHARS));
    let is_named_so = asked.as_ref().is_some_and(|asked| asked.starts_with(name.trim_end_matches('…')));
    let name = if is_named_so { String::new() } else { format!(" {name}:") };
    let asked = asked.map_or_else(String::new, |asked| format!("\"{asked}\" -> "));
    let (age, text) = (age(memory.at, now), short(&memory.text, SAID_CHARS));
    format!("- [{age}]{name} {asked}\"{text}\" (rethread show {})", memory.citation)
}

/// Whether a prompt looks back or asks: a question, many words, a word of past time, a file.
fn has_cue(prompt: &str) -> bool {
    const PAST: [&str; 5] = ["yesterday", "earlier", "before", "previously", "again"];
    const PAST_PHRASES: [[&str; 2]; 4] = [["last", "week"], ["last", "time"], ["last", "session"], ["days", "ago"]];
    let lower = prompt.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')')).collect();
    let words: Vec<&str> = words.iter().map(|word| word.trim_matches(['.', '!', '?', ':', '"', '\''])).collect();
    let is_file = |word: &&str| {
        let (stem, end) = word.rsplit_once('.').unwrap_or_default();
        word.contains('/')
            || (!stem.is_empty() && (1..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    prompt.contains('?')
        || words.iter().filter(|word| !word.is_empty()).count() > MANY_WORDS
        || words.iter().any(|word| PAST.contains(word))
        || words.windows(2).any(|pair| PAST_PHRASES.iter().any(|phrase| phrase == pair))
        || words.iter().any(is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(share: f32, words: u32) -> Memory {
        Memory {
            citation: "01KA7M0Z:12".to_owned(),
            exchange: "01KA7M0Z:9".to_owned(),
            at: Some(Timestamp::from_millis(0)),
            session: "login".to_owned(),
            asked: Some("why does \"login\" fail?".to_owned()),
            text: "The proxy drops\nthe <cookie>.".to_owned(),
            share,
            words,
        }
    }

    #[test]
    fn l002_18_cues_are_whole_words_and_phrases() {
        for (prompt, expect) in [
            ("fix the login", false),
            ("print the last line", false),
            ("as we did last week", true),
            ("do it as before", true),
            ("beforehand", false),
            ("why?", true),
            ("look at src/main.rs", true),
            ("look at main.rs", true),
            ("Done. Go on", false),
            ("one two three four five six seven eight nine ten eleven", true),
        ] {
            assert_eq!(has_cue(prompt), expect, "{prompt}");
        }
    }

    #[test]
    fn e002_02_e002_22_cues_raise_and_the_score_decides() {
        assert!(memory(0.6, 3).is_called_for("what about the login?"));
        assert!(!memory(0.6, 3).is_called_for("fix the login"));
        assert!(memory(0.8, 3).is_called_for("fix the login"), "no cue is needed");
        assert!(!memory(0.3, 3).is_called_for("what about the login?"), "a cue alone is not enough");
        assert!(!memory(1.0, 2).is_called_for("commit the spec"), "two words in common are chance");
    }

    #[test]
    fn most_prompts_say_too_little_to_be_worth_a_search() {
        for (prompt, expect) in [
            ("go on", false),
            ("yes, please do it", false),
            ("run the tests again", false),
            ("", false),
            ("why does the login cookie expire?", true),
            ("look at src/auth/cookie.rs", true),
        ] {
            assert_eq!(may_call_for_memory(prompt), expect, "{prompt}");
        }
    }

    #[test]
    fn e002_09_the_block_quotes_and_cites() {
        let now = Timestamp::from_millis(2 * 86_400_000);
        let expected = "[MEMORY CONTEXT]\n- [2d ago] login: \"why does 'login' fail?\" -> \"The proxy drops the ‹cookie>.\" \
                        (rethread show 01KA7M0Z:12)\n[END MEMORY]";
        assert_eq!(memory_block(&[memory_line(&memory(1.0, 2), now)]), expected);
        assert_eq!(memory_unavailable("x"), "[MEMORY CONTEXT]\nwarm unavailable: x\n[END MEMORY]");
    }
}
