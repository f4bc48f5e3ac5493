//! Word tables: weak words, and the cues that mark next steps.

use rethread_index::words::COMMON_WORDS;

/// Words beyond [`COMMON_WORDS`] that say nothing about a session's topic. Sorted.
const MORE_WEAK_WORDS: [&str; 103] = [
    "actually",
    "add",
    "already",
    "alright",
    "another",
    "anything",
    "ask",
    "available",
    "awesome",
    "back",
    "bye",
    "changes",
    "check",
    "continue",
    "cool",
    "current",
    "default",
    "different",
    "done",
    "else",
    "etc",
    "even",
    "every",
    "everything",
    "find",
    "first",
    "follow",
    "following",
    "get",
    "give",
    "go",
    "going",
    "good",
    "goodbye",
    "got",
    "great",
    "hello",
    "help",
    "heres",
    "hey",
    "hi",
    "hmm",
    "instead",
    "keep",
    "kind",
    "kinda",
    "know",
    "last",
    "later",
    "let",
    "lets",
    "like",
    "ll",
    "longer",
    "look",
    "lot",
    "make",
    "many",
    "maybe",
    "need",
    "new",
    "next",
    "nice",
    "ok",
    "okay",
    "okk",
    "one",
    "perfect",
    "please",
    "possible",
    "put",
    "re",
    "ready",
    "really",
    "right",
    "say",
    "see",
    "set",
    "show",
    "something",
    "start",
    "still",
    "stuff",
    "sure",
    "take",
    "tell",
    "test",
    "thank",
    "thanks",
    "thing",
    "things",
    "think",
    "two",
    "use",
    "using",
    "ve",
    "want",
    "way",
    "well",
    "whats",
    "within",
    "without",
    "work",
];
/// Openings of sentences about remaining work.
const NEXT_STEP_OPENINGS: [&str; 20] = [
    "next step",
    "next:",
    "next,",
    "next up",
    "remaining",
    "still to do",
    "still open",
    "todo",
    "to do:",
    "follow-up",
    "you still need",
    "you'll need to",
    "you will need to",
    "want me to",
    "would you like me to",
    "shall i",
    "should i",
    "let me know",
    "not yet done",
    "not done",
];
/// Openings of headings above remaining work.
const NEXT_STEP_HEADINGS: [&str; 8] =
    ["next", "remaining", "todo", "to do", "open", "pending", "follow-up", "what's left"];

/// The distinctive words of a text, in lower case.
pub(super) fn distinctive_words(text: &str) -> impl Iterator<Item = String> + use<> {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .map(|word| word.trim_matches(|c: char| c == '-' || c == '_'))
        .filter(|word| is_distinctive(word))
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

fn is_distinctive(word: &str) -> bool {
    // In scripts without spaces, two characters already carry meaning.
    let least = if word.is_ascii() { 3 } else { 2 };
    word.chars().count() >= least && word.chars().any(char::is_alphabetic) && !is_weak(word)
}

/// Whether a lower-case word carries no topic by itself.
pub(super) fn is_weak(word: &str) -> bool {
    COMMON_WORDS.binary_search(&word).is_ok() || MORE_WEAK_WORDS.binary_search(&word).is_ok()
}

/// Whether a sentence describes remaining work.
pub(super) fn is_next_step(sentence: &str) -> bool {
    let plain = normalize_text(sentence);
    NEXT_STEP_OPENINGS.iter().any(|cue| plain.starts_with(cue))
}

/// Whether the text below a heading describes remaining work.
pub(super) fn is_next_steps_heading(heading: &str) -> bool {
    let plain = normalize_text(heading);
    NEXT_STEP_HEADINGS.iter().any(|cue| plain.starts_with(cue))
}

/// Lower case, with straight apostrophes.
pub(super) fn normalize_text(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_weak_words_is_sorted() {
        assert!(MORE_WEAK_WORDS.is_sorted());
    }

    #[test]
    fn weak_words_are_dropped() {
        let words: Vec<String> = distinctive_words("Please have a look at the flaky parser-test in CI, ok?").collect();
        assert_eq!(words, ["flaky", "parser-test"]);
        assert_eq!(distinctive_words("日本語 の").count(), 1);
    }

    #[test]
    fn next_steps_are_recognized_by_their_openings() {
        for sentence in ["Next: push the branch", "Remaining: the docs", "Want me to commit it?"] {
            assert!(is_next_step(sentence), "{sentence}");
        }
        assert!(!is_next_step("The next parser works"));
        assert!(is_next_steps_heading("Next Steps") && is_next_steps_heading("Remaining work"));
        assert!(!is_next_steps_heading("What changed"));
    }
}
