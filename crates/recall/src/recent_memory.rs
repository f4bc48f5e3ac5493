//! Decides which entries are relevant enough for recent memory, and renders the `[MEMORY CONTEXT]` block.

use std::collections::HashSet;

use rethread_index::words;
use rethread_model::Timestamp;

use crate::InjectionDetail;
use crate::cues::word_weight;
use crate::quote::{format_age, quote_short, repeats};

/// Older memories are only found by explicit search, never injected.
pub const RECENT_MEMORY_DAYS: i64 = 7;
/// Maximum number of memories injected with one prompt, at any level of detail.
pub const MAX_RECENT_MEMORIES: usize = 2;
/// Minimum weighted share of the prompt's words that a memory must contain, without and with a cue in the prompt.
const MIN_SHARE: f32 = 0.7;
const MIN_SHARE_WITH_CUE: f32 = 0.5;
/// Minimum number of words in common; fewer are chance.
const MIN_COMMON_WORDS: u32 = 3;
/// A prompt with more words than this counts as a cue.
const MANY_WORDS: usize = 10;
/// Maximum length of the reason why memory could not be searched, in characters.
const REASON_CHARS: usize = 80;
/// Maximum length of a session name, in characters.
const NAME_CHARS: usize = 40;

/// Something said in another session that matches the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentMemory {
    /// Citation, as accepted by `show`.
    pub citation: String,
    /// Citation of the start of its episode; identifies what was already injected.
    pub episode: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// Name of the session.
    pub session: String,
    /// The prompt of its episode, unless that is the found text.
    pub prompt: Option<String>,
    /// The found excerpt.
    pub text: String,
    /// Weighted share of the prompt's words it contains, 0 to 1.
    pub word_share: f32,
    /// Number of the prompt's words it contains.
    pub matched_word_count: u32,
}

impl RecentMemory {
    /// Whether it is close enough to be injected. A cue in the prompt lowers the threshold but is never enough alone.
    pub fn is_relevant_to(&self, prompt: &str) -> bool {
        let close = if has_cue(prompt) { MIN_SHARE_WITH_CUE } else { MIN_SHARE };
        self.matched_word_count >= MIN_COMMON_WORDS && self.word_share >= close
    }
}

/// Whether a prompt has enough distinctive words to be worth a memory search. Most prompts do not.
pub fn should_search_memory(prompt: &str) -> bool {
    let mut common_words = HashSet::new();
    for word in words::split(prompt).iter() {
        if word_weight(&prompt[word.start..word.end].to_lowercase()) >= 1.0 {
            common_words.insert(word.text.to_owned());
        }
    }
    common_words.len() >= MIN_COMMON_WORDS as usize
}

/// `[MEMORY CONTEXT] … [END MEMORY]` around the given lines.
pub fn memory_block(lines: &[String]) -> String {
    format!("[MEMORY CONTEXT]\n{}\n[END MEMORY]", lines.join("\n"))
}

/// The block for when memory could not be searched.
pub fn memory_unavailable_block(why: &str) -> String {
    format!("[MEMORY CONTEXT]\nwarm unavailable: {}\n[END MEMORY]", quote_short(why, REASON_CHARS))
}

/// `- [2d ago] name: "prompt" -> "answer" (rethread show 01K…:12)`. The name is omitted if it repeats the prompt.
pub fn memory_line(memory: &RecentMemory, detail: InjectionDetail, now: Timestamp) -> String {
    let limits = detail.limits();
    let name = quote_short(&memory.session, NAME_CHARS);
    let prompt = memory.prompt.as_ref().map(|prompt| quote_short(prompt, limits.memory_prompt_chars));
    let is_named_so = prompt.as_ref().is_some_and(|prompt| repeats(&name, prompt));
    let name = if is_named_so { String::new() } else { format!(" {name}:") };
    let prompt = prompt.map_or_else(String::new, |prompt| format!("\"{prompt}\" -> "));
    let (age, text) = (format_age(memory.at, now), quote_short(&memory.text, limits.memory_text_chars));
    format!("- [{age}]{name} {prompt}\"{text}\" (rethread show {})", memory.citation)
}

/// Whether a prompt asks or refers back: a question mark, many words, a word for past time, or a file.
fn has_cue(prompt: &str) -> bool {
    const PAST_WORDS: [&str; 5] = ["yesterday", "earlier", "before", "previously", "again"];
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
        || words.iter().any(|word| PAST_WORDS.contains(word))
        || words.windows(2).any(|pair| PAST_PHRASES.iter().any(|phrase| phrase == pair))
        || words.iter().any(is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(word_share: f32, matched_word_count: u32) -> RecentMemory {
        RecentMemory {
            citation: "01KA7M0Z:12".to_owned(),
            episode: "01KA7M0Z:9".to_owned(),
            at: Some(Timestamp::from_millis(0)),
            session: "login".to_owned(),
            prompt: Some("why does \"login\" fail?".to_owned()),
            text: "The proxy drops\nthe <cookie>.".to_owned(),
            word_share,
            matched_word_count,
        }
    }

    #[test]
    fn cues_are_whole_words_and_phrases() {
        // L002-18
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
    fn cues_lower_the_threshold_and_the_score_decides() {
        // E002-02, E002-22
        assert!(memory(0.6, 3).is_relevant_to("what about the login?"));
        assert!(!memory(0.6, 3).is_relevant_to("fix the login"));
        assert!(memory(0.8, 3).is_relevant_to("fix the login"), "no cue is needed");
        assert!(!memory(0.3, 3).is_relevant_to("what about the login?"), "a cue alone is not enough");
        assert!(!memory(1.0, 2).is_relevant_to("commit the spec"), "two words in common are chance");
    }

    #[test]
    fn most_prompts_are_not_worth_a_search() {
        for (prompt, expect) in [
            ("go on", false),
            ("yes, please do it", false),
            ("run the tests again", false),
            ("", false),
            ("why does the login cookie expire?", true),
            ("look at src/auth/cookie.rs", true),
        ] {
            assert_eq!(should_search_memory(prompt), expect, "{prompt}");
        }
    }

    #[test]
    fn the_block_quotes_and_cites() {
        // E002-09
        let now = Timestamp::from_millis(2 * 86_400_000);
        let expected = "[MEMORY CONTEXT]\n- [2d ago] login: \"why does 'login' fail?\" -> \"The proxy drops the ‹cookie>.\" \
                        (rethread show 01KA7M0Z:12)\n[END MEMORY]";
        assert_eq!(memory_block(&[memory_line(&memory(1.0, 2), InjectionDetail::Normal, now)]), expected);
        assert_eq!(memory_unavailable_block("x"), "[MEMORY CONTEXT]\nwarm unavailable: x\n[END MEMORY]");
    }
}
