//! Finds sentences worth keeping in a summary: the user's constraints, decisions, and planned steps.

use rethread_model::{clip, one_line};

/// Maximum length of a kept sentence, in characters. Longer text was probably pasted.
const MAX_SENTENCE_CHARS: usize = 300;

/// Sentences in which the user says how something is to be done.
pub(crate) fn constraints(text: &str) -> impl Iterator<Item = String> {
    sentences(text).filter(|sentence| {
        let words = words(sentence);
        let says = |word: &str| words.iter().any(|known| known == word);
        let begins = |word: &str| words.iter().find(|known| *known != "please").is_some_and(|first| first == word);
        ["must", "always", "never", "don't", "dont", "mustn't", "shouldn't"].into_iter().any(says)
            || ["use", "prefer", "avoid", "keep", "only"].into_iter().any(begins)
            || words.windows(2).any(|pair| pair == ["do", "not"])
    })
}

/// Sentences that state a decision.
pub(crate) fn decisions(text: &str) -> impl Iterator<Item = String> {
    sentences(text).filter(|sentence| {
        let sentence = normalize_text(sentence);
        ["decided", "let's use", "lets use", "instead of"].iter().any(|cue| sentence.contains(cue))
    })
}

/// Lines of an answer that announce next steps.
pub(crate) fn planned_steps(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().count() <= MAX_SENTENCE_CHARS);
    lines.filter(|line| is_plan(line)).map(|line| one_line(without_list_marker(line)))
}

fn is_plan(line: &str) -> bool {
    let listed = without_list_marker(line).len() < line.len() && line.starts_with(|c: char| c.is_ascii_digit());
    let line = normalize_text(without_list_marker(line));
    listed
        || ["next", "then ", "now ", "i'll ", "i will ", "let me ", "todo", "remaining"]
            .iter()
            .any(|cue| line.starts_with(cue))
}

/// A line without its list marker.
fn without_list_marker(line: &str) -> &str {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = numbered.strip_prefix(['.', ')']).filter(|_| numbered.len() < line.len());
    numbered.or_else(|| line.strip_prefix(['-', '*'])).map_or(line, str::trim_start)
}

/// Whether a request only reacts, such as "ok" or "thanks, go on", and says nothing about the work.
pub(crate) fn is_filler(text: &str) -> bool {
    const MAX_WORDS: usize = 6;
    const WORDS: [&str; 60] = [
        "ok",
        "okay",
        "k",
        "yes",
        "yep",
        "yeah",
        "yup",
        "no",
        "nope",
        "sure",
        "thanks",
        "thank",
        "thx",
        "you",
        "great",
        "good",
        "nice",
        "cool",
        "perfect",
        "fine",
        "awesome",
        "excellent",
        "go",
        "on",
        "ahead",
        "going",
        "keep",
        "continue",
        "proceed",
        "please",
        "next",
        "do",
        "it",
        "that",
        "this",
        "hi",
        "hello",
        "hey",
        "right",
        "correct",
        "agreed",
        "sounds",
        "looks",
        "lgtm",
        "and",
        "now",
        "well",
        "alright",
        "got",
        "again",
        "try",
        "more",
        "commit",
        "push",
        "so",
        "then",
        "all",
        "very",
        "much",
        "a",
    ];
    let words = words(text);
    words.len() <= MAX_WORDS
        && words.iter().all(|word| WORDS.contains(&word.as_str()) || word.chars().all(char::is_numeric))
}

/// Whether an answer reports finished work: it plans nothing, asks nothing and names no failure.
pub(crate) fn is_final_answer(text: &str) -> bool {
    const OPEN: [&str; 22] = [
        "fails",
        "failed",
        "failing",
        "failure",
        "error",
        "errors",
        "blocked",
        "cannot",
        "can't",
        "couldn't",
        "remaining",
        "remains",
        "still",
        "todo",
        "waiting",
        "unclear",
        "investigating",
        "broken",
        "stuck",
        "yet",
        "missing",
        "unresolved",
    ];
    let is_question = text.trim_end().ends_with(['?', ':', '？']);
    let words = words(text);
    let is_without = |word: &String, at: usize| {
        // "no errors" and "without errors" report success.
        at > 0 && ["no", "without", "zero", "0"].contains(&words[at - 1].as_str()) && OPEN.contains(&word.as_str())
    };
    let is_open = words.iter().enumerate().any(|(at, word)| OPEN.contains(&word.as_str()) && !is_without(word, at));
    !is_question && !is_open && planned_steps(text).next().is_none()
}

/// Whether one of the texts mentions most of what an open item names.
pub(crate) fn is_covered_by(item: &str, texts: &[String]) -> bool {
    const MIN_SHARE_PERCENT: usize = 75;
    let distinctive = |text: &str| -> Vec<String> {
        let is_common = |word: &str| is_filler(word) || ["the", "for", "with", "from", "into"].contains(&word);
        let words = words(text).into_iter().filter(|word| word.chars().count() >= 3 && !is_common(word));
        // The beginning of a word is the same in most of its forms.
        words.map(|word| word.chars().take(4).collect()).collect()
    };
    let wanted = distinctive(item);
    wanted.len() >= 2
        && texts.iter().any(|text| {
            let found = distinctive(text);
            wanted.iter().filter(|word| found.contains(word)).count() * 100 >= wanted.len() * MIN_SHARE_PERCENT
        })
}

/// Splits at line ends, periods and semicolons.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(|line| without_list_marker(line.trim()));
    let pieces = lines.flat_map(|line| line.split_inclusive(". ").flat_map(|piece| piece.split_inclusive("; ")));
    pieces
        .map(str::trim)
        .filter(|piece| !piece.is_empty() && piece.len() <= 4 * MAX_SENTENCE_CHARS)
        .map(|piece| clip(&one_line(piece), MAX_SENTENCE_CHARS).into_owned())
}

/// Lower case, with straight apostrophes.
fn normalize_text(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

fn words(text: &str) -> Vec<String> {
    let words = normalize_text(text);
    let words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_final_answers_are_recognized() {
        // D60
        for filler in ["ok", "Thanks!", "yes, go ahead", "👍", "2", "Sounds good, please continue", "ok commit"] {
            assert!(is_filler(filler), "{filler}");
        }
        for request in ["fix it in the parser", "no tabs", "stop", "继续", "add tests"] {
            assert!(!is_filler(request), "{request}");
        }
        for done in ["All is well.", "The parser is fixed and the tests pass without errors."] {
            assert!(is_final_answer(done), "{done}");
        }
        for open in ["One test fails.", "Should I go on?", "Fixed.\n1. Run the tests", "It is still red."] {
            assert!(!is_final_answer(open), "{open}");
        }
        assert!(is_covered_by("Run the tests", &["Fixed the type, then I ran all tests: run is green".to_owned()]));
        assert!(!is_covered_by("Run the tests", &["Wrote the docs".to_owned()]));
    }

    #[test]
    fn constraints_decisions_and_plans_are_recognized() {
        // E004-20
        let check = |found: Vec<String>, expect: &[&str]| assert_eq!(found, expect);
        let prompt = "Fix the parser. Don’t touch the tests; use tabs.\nThe build is red.\n- Always run clippy";
        check(constraints(prompt).collect(), &["Don’t touch the tests;", "use tabs.", "Always run clippy"]);
        let chat = "We decided on SQLite. It is small.\nLet's use a pool instead of threads";
        check(decisions(chat).collect(), &["We decided on SQLite.", "Let's use a pool instead of threads"]);
        let answer = "The parser works.\n1. Write docs\n2) Ship\n- a fact\n- Next: clean up\nI'll run it again";
        check(planned_steps(answer).collect(), &["Write docs", "Ship", "Next: clean up", "I'll run it again"]);
    }
}
