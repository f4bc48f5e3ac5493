//! Tables of words: those that tell nothing by themselves, and those by which decisions and next steps are known.

/// Words that say nothing about what a session is about. Sorted.
const WEAK: [&str; 201] = [
    "a",
    "about",
    "above",
    "actually",
    "add",
    "after",
    "again",
    "all",
    "already",
    "alright",
    "also",
    "am",
    "an",
    "and",
    "another",
    "any",
    "anything",
    "are",
    "as",
    "ask",
    "at",
    "available",
    "back",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "but",
    "by",
    "can",
    "changes",
    "check",
    "continue",
    "could",
    "current",
    "default",
    "did",
    "different",
    "do",
    "does",
    "doing",
    "don",
    "done",
    "each",
    "else",
    "etc",
    "even",
    "every",
    "everything",
    "few",
    "find",
    "first",
    "follow",
    "following",
    "for",
    "from",
    "get",
    "give",
    "go",
    "going",
    "good",
    "got",
    "great",
    "had",
    "has",
    "have",
    "hello",
    "help",
    "here",
    "hey",
    "hi",
    "hmm",
    "how",
    "i",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "just",
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
    "me",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "new",
    "next",
    "no",
    "not",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "please",
    "possible",
    "put",
    "re",
    "ready",
    "really",
    "right",
    "same",
    "say",
    "see",
    "set",
    "should",
    "show",
    "so",
    "some",
    "something",
    "start",
    "still",
    "stuff",
    "such",
    "sure",
    "take",
    "tell",
    "test",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "through",
    "to",
    "too",
    "two",
    "under",
    "up",
    "us",
    "use",
    "using",
    "ve",
    "very",
    "want",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "whats",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "work",
    "would",
    "yes",
    "yet",
    "you",
    "your",
];
/// How a decision is worded.
const DECIDING: [&str; 19] = [
    "decided",
    "decision:",
    "decision is",
    "instead of",
    "rather than",
    "let's use",
    "let's go with",
    "let's keep",
    "let's drop",
    "going with",
    "we will use",
    "we'll use",
    "we should use",
    "we chose",
    "i chose",
    "opted for",
    "we rejected",
    "agreed to",
    "trade-off",
];
/// How a sentence begins that leaves it open.
const UNDECIDED: [&str; 8] = [" if ", " or ", " when ", " unless ", " you ", " could ", " maybe ", " opt-out"];
/// With one of these, a reason makes a decision.
const CHOOSING: [&str; 7] = [" use ", " using ", " keep ", " kept ", " chose ", " drop", " reject"];
/// How a line begins that says what is left to do.
const LEFT_TO_DO: [&str; 20] = [
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
/// How a heading begins over what is left to do.
const LEFT_HEADINGS: [&str; 8] = ["next", "remaining", "todo", "to do", "open", "pending", "follow-up", "what's left"];

/// Words of a text that tell what it is about, in lower case.
pub(super) fn telling(text: &str) -> impl Iterator<Item = String> + use<> {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .map(|word| word.trim_matches(|c: char| c == '-' || c == '_'))
        .filter(|word| is_telling(word))
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

fn is_telling(word: &str) -> bool {
    // Scripts without spaces say much in two signs.
    let least = if word.is_ascii() { 3 } else { 2 };
    word.chars().count() >= least && word.chars().any(char::is_alphabetic) && !is_weak(word)
}

/// Whether a word in lower case says nothing by itself.
pub(super) fn is_weak(word: &str) -> bool {
    WEAK.binary_search(&word).is_ok()
}

/// Whether something is decided in a sentence.
pub(super) fn decides(sentence: &str) -> bool {
    let plain = format!(" {}", plain(sentence));
    let is_condition = UNDECIDED.iter().any(|beginning| plain.starts_with(beginning));
    if plain.ends_with('?') || is_condition {
        return false;
    }
    let has_reason = plain.contains("because ") || plain.contains("so that ");
    DECIDING.iter().any(|cue| plain.contains(cue)) || has_reason && CHOOSING.iter().any(|cue| plain.contains(cue))
}

/// Whether a sentence says what is left to do.
pub(super) fn is_left_to_do(sentence: &str) -> bool {
    let plain = plain(sentence);
    LEFT_TO_DO.iter().any(|cue| plain.starts_with(cue))
}

/// Whether what stands under a heading is left to do.
pub(super) fn heads_what_is_left(heading: &str) -> bool {
    let plain = plain(heading);
    LEFT_HEADINGS.iter().any(|cue| plain.starts_with(cue))
}

/// In lower case, with straight apostrophes.
pub(super) fn plain(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_weak_words_is_sorted() {
        assert!(WEAK.is_sorted());
    }

    #[test]
    fn telling_words_are_what_is_left() {
        let words: Vec<String> = telling("Please have a look at the flaky parser-test in CI, ok?").collect();
        assert_eq!(words, ["flaky", "parser-test"]);
        assert_eq!(telling("日本語 の").count(), 1);
    }

    #[test]
    fn decisions_are_known_by_their_words() {
        for said in [
            "We decided on SQLite.",
            "Let’s use a pool instead of threads",
            "I kept the old flag because scripts rely on it",
            "We rejected hosted queues",
        ] {
            assert!(decides(said), "{said}");
        }
        for said in ["It failed because the file is missing", "Should we use tabs instead of blanks?", "I use vim"] {
            assert!(!decides(said), "{said}");
        }
    }

    #[test]
    fn next_steps_are_known_by_their_beginnings() {
        for said in ["Next: push the branch", "Remaining: the docs", "Want me to commit it?"] {
            assert!(is_left_to_do(said), "{said}");
        }
        assert!(!is_left_to_do("The next parser works"));
        assert!(heads_what_is_left("Next Steps") && heads_what_is_left("Remaining work"));
        assert!(!heads_what_is_left("What changed"));
    }
}
