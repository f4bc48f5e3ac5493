//! Options that the model offers: lists, and questions with an "or".

use std::sync::LazyLock;

use rethread_model::clip;
use serde::{Deserialize, Serialize};

use super::cues::compile_pattern;
use super::design::reports_work;
use super::names::{is_task, leading_name};
use super::offers::option_at;
use super::prose::prose_lines;
use super::sentences::split_sentences;
use crate::facts::pattern::CuePattern;

/// Maximum number of options in a list.
const MAX_OPTIONS: usize = 8;
/// A reply of so few words may be a name and nothing else.
const MAX_NAME_WORDS: usize = 4;
/// Maximum number of words in the title of an option that no name starts.
const MAX_TITLE_WORDS: usize = 8;
/// Maximum length of a stored option or question, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// A longer reply is an instruction of its own.
const MAX_REPLY_WORDS: usize = 12;
/// With one of these a reply may speak against what it names.
const DENYING_WORDS: [&str; 31] = [
    "not", "no", "don't", "dont", "never", "neither", "both", "why", "what", "how", "instead", "than", "except",
    "without", "hate", "broken", "crash", "crashed", "crashes", "fails", "failed", "failing", "error", "errors",
    "weird", "wrong", "slow", "again", "still", "bug", "anything",
];
/// With one of these a reply chooses what it names.
const CHOOSING_WORDS: [&str; 30] = [
    "use", "go", "with", "take", "prefer", "like", "fine", "please", "pls", "let's", "lets", "pick", "choose", "ok",
    "okay", "better", "want", "then", "yes", "yeah", "do", "try", "enough", "good", "i'd", "just", "it", "keep",
    "sounds", "makes",
];
/// Words of a question that any alternative may have.
const COMMON_WORDS: &str = "the and for you want would like prefer should use using with this that have keep just make here then them they what which \
    when where how are was will can could does did our your its it's only also instead now one first second add both into from i'd i'll \
    we'll let's yes sure okay good fine think please all look looks right sound sounds work works sense";

/// One option of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OfferedOption {
    /// Its letter or number, in lower case.
    pub(super) key: String,
    /// Its short name.
    pub(super) title: String,
    /// The line that lists it.
    pub(super) text: String,
    /// Whether the line marks it as recommended.
    pub(super) is_recommended: bool,
}

/// The options listed in a text, with a letter or number each, or with a bold name. Of two lists with the same keys, the
/// last one is meant.
pub(super) fn find_options(text: &str) -> Vec<OfferedOption> {
    let mut found: Vec<OfferedOption> = Vec::new();
    let mut in_code = false;
    for line in text.lines().map(str::trim) {
        in_code ^= line.starts_with("```");
        let Some((key, rest)) = (!in_code).then(|| keyed_item(line)).flatten() else { continue };
        let is_known = found.iter().any(|known| known.key == key);
        // A table may compare what a list names.
        if is_known && line.starts_with('|') {
            continue;
        }
        if is_known {
            found.clear();
        }
        found.push(offered_option(key, &rest));
    }
    if found.len() < 2 {
        found = text
            .lines()
            .map(str::trim)
            .filter_map(named_item)
            .map(|rest| offered_option(String::new(), rest))
            .collect();
    }
    let tasks = found.iter().filter(|option| is_work(&option.title)).count();
    let is_list = (2..=MAX_OPTIONS).contains(&found.len()) && tasks * 2 < found.len() && !reports_work(text);
    if is_list { found } else { Vec::new() }
}

/// Whether a text lets the human choose, rather than listing what was done, found or comes next.
pub(super) fn offers_alternatives(text: &str) -> bool {
    static CHOICE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:options?|approach(?:es)?|which|prefer(?:ence)?|choose|choices?|pick|decide|decision|alternatives?|candidates?|(?:two|three|four|several|a few|both|different|these|possible) (?:\w+ )?(?:ways|names|layouts|variants|strategies|places|designs|versions|routes|paths|models|levels)|
                ways|either|or should|what should|how do you want|where (?:do you want|should)|we (?:can|could)|i(?:'d| would) (?:recommend|suggest|pick|go with|lean|start with)|recommended|your (?:call|pick))\b",
        )
    });
    static REPORT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:findings|issues found|next steps|summary of changes|what (?:was|i) (?:done|did|changed)|key changes|changes made)\b",
        )
    });
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(text));
    fits(&CHOICE) && !fits(&REPORT)
}

/// Whether an item is a piece of work.
fn is_work(title: &str) -> bool {
    const WORK: [&str; 14] = [
        "triage", "test", "run", "install", "create", "update", "updated", "fix", "fixed", "added", "check", "debug",
        "review", "write",
    ];
    let first = title.split(' ').next().unwrap_or_default();
    is_task(title) && first != "skip" || WORK.contains(&first)
}

/// The key and the text of a line that is an item: `B) text`, `- **2** – text`, `**(c) text**`, `| 3 | text |`.
fn keyed_item(line: &str) -> Option<(String, String)> {
    static POINT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^[\s*_#-]*(?:option |approach |choice )?(?:[(\[](?P<one>[a-h]|[1-9])[)\]]|(?P<two>[a-h]|[fv]?[1-9])(?:\*\*)?(?: ?\(recommended\))?(?: ?[).:—–-]+|
                \*\*))(?:\*\*)?(?: +(?P<text>\S.*)|(?P<tight>[^\s\d].*))$",
        )
    });
    let starts = line.trim_start_matches(['*', '_', '#', '-', ' ', '(', '|', '[']);
    if !starts.starts_with(|c: char| c.is_ascii_digit() || "abcdefghABCDEFGHoOcv".contains(c)) {
        return None;
    }
    if let Some(row) = line.strip_prefix('|') {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let key = cells.first()?.trim_matches('*').to_lowercase();
        let is_key = key.len() == 1 && key.starts_with(|c: char| c.is_ascii_digit() || ('a'..='h').contains(&c));
        return is_key.then(|| (key, cells[1..].join(" – ")));
    }
    let found = POINT.as_ref()?.captures(line)?;
    let key = found.name("one").or(found.name("two"))?.as_str().to_lowercase();
    // A line that ends with a colon introduces something to type: an instruction, not an option.
    let text = found.name("text").or(found.name("tight"))?.as_str().trim().to_owned();
    Some((key, text)).filter(|(_, text)| !text.trim_end_matches('*').ends_with([':', '?']))
}

/// The text of a line that starts with a bold name: `- **Redis**: fast`, `**Use a queue**: slow`.
fn named_item(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(['-', '*', '•', ' ']);
    let rest = line.strip_suffix(bare).filter(|start| start.contains("**")).map(|_| bare)?;
    let (name, after) = rest.split_once("**")?;
    let is_named = !name.ends_with(':') && after.trim_start().starts_with([':', '–', '—', '-', '(']);
    (is_named && !name.is_empty()).then_some(rest)
}

fn offered_option(key: String, text: &str) -> OfferedOption {
    let is_recommended = text.to_lowercase().contains("recommended");
    let title = option_title(text).unwrap_or_else(|| {
        let words: Vec<&str> = text.split_whitespace().take(MAX_TITLE_WORDS).collect();
        words.join(" ").replace("**", "").trim_end_matches([',', '.', ':']).to_lowercase()
    });
    OfferedOption { key, title, text: clip(&text.replace("**", ""), MAX_TEXT_CHARS).into_owned(), is_recommended }
}

/// A short name for an option.
pub(super) fn option_title(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['*', ' ', '`']);
    let text = text.strip_prefix("Recommended: ").unwrap_or(text);
    let end = [" — ", " – ", " - ", ": ", " (", ". ", "**", "; "].iter().filter_map(|mark| text.find(mark)).min();
    let text = &text[..end.unwrap_or(text.len())];
    leading_name(text, text).filter(|name| !is_task(name))
}

/// The last question of a text that asks for one thing or another.
pub(super) fn either_or_question(text: &str) -> Option<String> {
    if !text.contains('?') || !text.contains(" or ") || text.contains("me to ") {
        return None;
    }
    let line = text.lines().rev().find(|line| line.contains('?') && line.contains(" or "))?;
    let lines = prose_lines(line);
    let question = split_sentences(&lines)
        .into_iter()
        .rev()
        .find(|sentence| sentence.is_question() && sentence.text.contains(" or "))?;
    Some(clip(question.text, MAX_TEXT_CHARS).into_owned())
}

/// The keys of the options that a reply chooses: `B`, `option 2, but without the cache`, `1 and 3`.
pub(super) fn chosen_keys(text: &str) -> Vec<String> {
    static TAKES: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|okay|yes|yeah|yep|let's|lets|please|pls|i'd|i|we|just|alright|sure|hm+|good|great|maybe),? )*(?:(?P<verb>go with|go for|go|do|try|
                use|implement|take|pick|choose|prefer|want|like|say|think) )?(?:the )?(?P<named>options?|approach|choice|number)? ?#?[(\[]?
                (?P<keys>(?:[a-h]|[fv]?[1-9])(?:(?:, ?| and | & | \+ |, and | then )(?:option )?#?(?:[a-h]|[fv]?[1-9])\b)*)[)\]]?(?P<rest>$|[^\w%].*$)",
        )
    });
    // A bare letter or number must stand alone: "2 tests fail", "a test".
    static FOLLOWS: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:[.!=):;,—–-]|please|pls|$|\((?:with|but|the)|(?:but|because|since|for now|with|and|is (?:fine|good|ok|better|best)|sounds|looks|seems|makes sense|works|then|for sure)\b)",
        )
    });
    let Some(line) = text.trim().lines().next().filter(|line| !line.trim_end().ends_with('?')) else {
        return Vec::new();
    };
    let Some(found) = TAKES.as_ref().and_then(|takes| takes.captures(line)) else { return Vec::new() };
    let rest = found.name("rest").map_or("", |rest| rest.as_str());
    // "3.12", "2,000 rows" and "b-tree" are not keys.
    let mut after = rest.chars();
    if after.next().is_some_and(|c| !c.is_whitespace()) && after.next().is_some_and(char::is_alphanumeric) {
        return Vec::new();
    }
    // A list of its own is a list of tasks.
    let items = text.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())).count();
    let bare = rest.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    if items > 1 || (rest.starts_with(['.', ')', ':']) && is_task(&bare)) {
        return Vec::new();
    }
    let rest = rest.trim();
    let follows = FOLLOWS.as_ref().is_some_and(|follows| follows.is_match(rest));
    if found.name("named").is_none() && !follows {
        return Vec::new();
    }
    let keys = found["keys"].to_lowercase();
    // "do 1, 2 and 5" orders work.
    if keys.len() > 1 && found.name("verb").is_some_and(|verb| verb.as_str().eq_ignore_ascii_case("do")) {
        return Vec::new();
    }
    keys.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|key| !key.is_empty() && *key != "and" && *key != "then" && *key != "option")
        .map(str::to_owned)
        .collect()
}

/// The option that the first sentence of a reply names: by its place, or by words that no other option has.
pub(super) fn described_option<'a>(text: &str, options: &'a [OfferedOption]) -> Option<&'a OfferedOption> {
    static PLACE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|okay|yes|yeah|let's|i'd|i|go|do|take|with|prefer|like|think|use|for|say),? )*the (?P<place>first|second|third|last|former|latter)\b(?: (?:one|option|approach|way|idea|version))?(?:[,.!;]| but| with| please|$)",
        )
    });
    let line = text.trim().lines().next().filter(|line| !line.trim_end().ends_with('?'))?;
    if let Some(found) = PLACE.as_ref().and_then(|place| place.captures(line)) {
        return option_at(options, &found["place"]);
    }
    let sentence = split_sentences(&[line]).first()?.text.to_owned();
    let reply = words_of(&sentence);
    if reply.len() > MAX_REPLY_WORDS || reply.iter().any(|word| DENYING_WORDS.contains(&word.as_str())) {
        return None;
    }
    if !is_choosing(&reply) {
        return None;
    }
    let titles: Vec<Vec<String>> = options.iter().map(|option| content_words(&option.title)).collect();
    let is_own = |at: usize, word: &String| {
        reply.contains(word) && titles.iter().enumerate().all(|(other, words)| other == at || !words.contains(word))
    };
    let mut named = (0..options.len()).filter(|at| titles[*at].iter().any(|word| is_own(*at, word)));
    let first = named.next()?;
    named.next().is_none().then(|| &options[first])
}

/// Whether a reply names an option as such, so that it may be one of an earlier list.
pub(super) fn names_option(text: &str) -> bool {
    static NAMED: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\b(?:option|approach|choice) #?(?:[a-h]|[1-9])\b"));
    NAMED.as_ref().is_some_and(|named| named.is_match(text))
}

/// The alternative of an either-or question that a reply chooses: by its name alone, or by words that only one of the two
/// has.
pub(super) fn chosen_word(text: &str, question: &str) -> Option<String> {
    let text = text.trim();
    if text.lines().next()?.trim_end().ends_with('?') {
        return None;
    }
    named_alternative(text, question).or_else(|| described_alternative(text, question))
}

/// The alternative that a reply of a few words names.
fn named_alternative(text: &str, question: &str) -> Option<String> {
    let answer = text.split(", ").next().unwrap_or_default().trim_end_matches(['.', '!']);
    if answer.len() < 3 || answer.split_whitespace().count() > 3 {
        return None;
    }
    let name = leading_name(answer, answer).filter(|name| !is_task(name))?;
    let question = words_of(question);
    let name_words: Vec<&str> = name.split(' ').collect();
    let fits = question
        .windows(name_words.len())
        .any(|window| window.iter().zip(&name_words).all(|(one, other)| one == other));
    fits.then_some(name)
}

/// The alternative whose own words the first sentence of a reply has, if it has none of the other one.
fn described_alternative(text: &str, question: &str) -> Option<String> {
    static ASKS_WISH: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\b(?:should|shall|prefer|want|would you|which|do you|like|rather)\b"));
    if !ASKS_WISH.as_ref().is_some_and(|asks| asks.is_match(question)) {
        return None;
    }
    let (first, second) = question.rsplit_once(" or ")?;
    let first =
        first.rsplit_once(", ").filter(|(_, end)| end.split_whitespace().count() > 1).map_or(first, |(_, end)| end);
    let (first_words, second_words) = (content_words(first), content_words(second));
    let sentence = split_sentences(&[text.lines().next()?]).first()?.text.to_owned();
    let reply = words_of(&sentence);
    if reply.len() > MAX_REPLY_WORDS || reply.iter().any(|word| DENYING_WORDS.contains(&word.as_str())) {
        return None;
    }
    if !is_choosing(&reply) {
        return None;
    }
    let own = |side: &[String], other: &[String]| -> Vec<String> {
        side.iter().filter(|word| reply.contains(word) && !other.contains(word)).cloned().collect()
    };
    let (first_own, second_own) = (own(&first_words, &second_words), own(&second_words, &first_words));
    match (first_own.is_empty(), second_own.is_empty()) {
        (false, true) => Some(first_own.join(" ")),
        (true, false) => Some(second_own.join(" ")),
        _ => None,
    }
}

/// Whether a reply consists of a name, or has a word with which people choose.
fn is_choosing(reply: &[String]) -> bool {
    reply.len() <= MAX_NAME_WORDS || reply.iter().any(|word| CHOOSING_WORDS.contains(&word.as_str()))
}

fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The words of an alternative that other alternatives may lack.
fn content_words(text: &str) -> Vec<String> {
    words_of(text)
        .into_iter()
        .filter(|word| word.len() > 2 && !COMMON_WORDS.split(' ').any(|known| known == word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_lists_are_parsed() {
        let found = find_options("Two ways:\n\nA) IndexedDB with a queue.\nB) SQLite in WebAssembly.\n\nWhich?");
        assert_eq!(
            found.iter().map(|offer| offer.title.as_str()).collect::<Vec<_>>(),
            ["indexeddb with queue", "sqlite"]
        );
        let found = find_options("Two options:\n- **A** – SOPS files\n- **B** – a vault\n\n| A | slow |\n| B | dear |");
        assert_eq!((found[0].key.as_str(), found[1].title.as_str()), ("a", "vault"));
        let found = find_options("We could use:\n- **Redis**: fast\n- **Postgres**: known\n- plain");
        assert_eq!((found.len(), found[1].title.as_str()), (2, "postgres"));
        assert_eq!(described_option("postgres is fine", &found).map(|one| one.title.as_str()), Some("postgres"));
        assert_eq!(described_option("the first one, please", &found).map(|one| one.title.as_str()), Some("redis"));
        assert_eq!(described_option("not redis", &found), None);
        assert_eq!(described_option("redis crashed again", &found), None);
        assert_eq!(described_option("anything except redis", &found), None);
        assert_eq!(described_option("redis and postgres", &found), None);
        let found = find_options("Two options:\n**1. Threads (recommended)** — fast\n**2. Processes** — slow");
        assert!(found[0].is_recommended && found[0].title == "threads" && found[1].key == "2");
        let found = find_options("Which?\n1. first cache\n2. first queue\nOr rather:\n1. redis\n2. memcached");
        assert_eq!(found[0].title, "redis");
    }

    #[test]
    fn short_replies_choose_an_option() {
        for (text, key) in [
            ("B", "b"),
            ("option 2", "2"),
            ("ok, let's take 3!", "3"),
            ("go with choice C", "c"),
            ("2, but without the cache", "2"),
            ("B - with retries", "b"),
            ("option A and keep the old flag", "a"),
            ("1 is fine", "1"),
            ("do 1,2 and 5", ""),
            ("A then C", "ac"),
            ("(2)", "2"),
            ("i'd go 3, the others need them", "3"),
            ("go", ""),
            ("a test", ""),
            ("2 tests fail", ""),
            ("1?", ""),
            ("3.12", ""),
            ("b-tree please", ""),
            ("2,000 rows is too slow", ""),
            ("1. fix the login page first\n2. then the docs", ""),
        ] {
            assert_eq!(chosen_keys(text).concat(), key, "{text}");
        }
        assert_eq!(chosen_word("axum", "built on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(chosen_word("axum, we have it", "on axum or on actix-web?").as_deref(), Some("axum"));
        assert_eq!(chosen_word("yes", "axum or yes?"), None);
        let question = "Should the state live in the database or in a JSON file next to the config?";
        assert_eq!(chosen_word("a json file is fine", question).as_deref(), Some("json file"));
        assert_eq!(chosen_word("the database, please.", question).as_deref(), Some("database"));
        assert_eq!(chosen_word("not a json file", question), None);
        assert_eq!(chosen_word("database and a json file", question), None);
    }
}
