//! Derives a session's name from what was said: the most informative sentence of a prompt, a recap or an answer.

use rethread_model::{DerivedName, EntryKind, MAX_NAME_CHARS, NameSource, is_greeting, truncate_at_word};

use super::actions::file_name;
use super::prose::{ProseLineKind, is_mostly_letters, prose_lines, prose_sentences, sentences};
use super::result_name::result_sentence;
use super::words::{distinctive_words, is_weak, normalize_text};
use crate::reference::without_references;

/// Minimum number of words before a name may end at a comma.
const MIN_WORDS_BEFORE_PAUSE: usize = 5;
/// Minimum number of distinctive words a sentence needs to serve as a name.
const MIN_DISTINCTIVE_WORDS: usize = 2;
/// Number of leading sentences searched for a request.
const LEADING_SENTENCES: usize = 5;
/// Phrases removed from the start of a request. The longest match wins.
const OPENINGS: [&str; 62] = [
    "heres your new task",
    "here's your new task",
    "here is your new task",
    "heres your task",
    "here's your task",
    "here is your task",
    "this is ur next task",
    "this is your next task",
    "as you know",
    "okk",
    "nice",
    "cool",
    "hey claude",
    "hi claude",
    "hello",
    "hey",
    "hi",
    "alright",
    "okay",
    "ok",
    "so",
    "well",
    "yes",
    "yeah",
    "hmm",
    "now",
    "please",
    "can you please",
    "could you please",
    "can you help me",
    "can you",
    "could you",
    "would you",
    "can we",
    "could we",
    "do you think we could",
    "do you think you could",
    "i'd like your help with",
    "i'd like you to",
    "i'd like to",
    "i would like you to",
    "i would like to",
    "i want you to",
    "i want to",
    "iwant to",
    "i need you to",
    "i need to",
    "we need to",
    "we should",
    "you should",
    "i'll need you to",
    "i think we can",
    "i think we should",
    "i think",
    "help me to",
    "help me",
    "let's",
    "lets",
    "let us",
    "also",
    "then",
    "go ahead and",
];
/// Phrases that mark a sentence as a request.
const REQUEST_PHRASES: [&str; 12] = [
    "please",
    "can you",
    "could you",
    "can we",
    "could we",
    "i want",
    "i'd like",
    "i would like",
    "i need",
    "let's",
    "help me",
    "we need to",
];
/// Words that start a question.
const QUESTION_WORDS: [&str; 11] =
    ["how", "what", "why", "where", "which", "who", "when", "is", "are", "does", "should"];
/// Verbs that start a request. Sorted.
const REQUEST_VERBS: [&str; 52] = [
    "add",
    "analyze",
    "build",
    "change",
    "check",
    "choose",
    "clean",
    "commit",
    "compare",
    "convert",
    "create",
    "debug",
    "demonstrate",
    "deploy",
    "describe",
    "design",
    "document",
    "explain",
    "find",
    "fix",
    "generate",
    "implement",
    "improve",
    "install",
    "investigate",
    "list",
    "look",
    "make",
    "mend",
    "merge",
    "migrate",
    "move",
    "package",
    "plan",
    "port",
    "read",
    "record",
    "refactor",
    "remove",
    "rename",
    "replace",
    "review",
    "rewrite",
    "run",
    "show",
    "simplify",
    "spawn",
    "summarize",
    "test",
    "update",
    "use",
    "write",
];
/// Words that fit any project. A name with no other distinctive words gets the file or project appended.
const ROUTINE_WORDS: [&str; 14] = [
    "change", "changes", "clear", "code", "commit", "file", "files", "fix", "prompt", "pull", "push", "retry", "run",
    "version",
];
/// Labels removed from the start of a sentence.
const LABELS: [&str; 10] =
    ["task:", "goal:", "goals:", "plan:", "context:", "question:", "request:", "title:", "todo:", "brainstorm:"];
/// Sentences that only announce what follows.
const ANNOUNCEMENTS: [&str; 5] =
    ["implement the following plan", "implement this plan", "here is the plan", "see below", "follow these steps"];
/// Openings that assign a role to the model.
const ROLES: [&str; 4] = ["you are a ", "you are an ", "you are the ", "act as "];

/// The name that an entry gives its session; `None` if it says nothing about it. A name without words of its own gets
/// the project appended.
pub fn derive_name(kind: EntryKind, text: &str, project: Option<&str>) -> Option<DerivedName> {
    let (mut source, name) = match kind {
        EntryKind::Prompt | EntryKind::Task if is_greeting(text) => return None,
        EntryKind::Prompt | EntryKind::Task => (NameSource::Prompt, name_from_prompt(text)?),
        EntryKind::Recap => (NameSource::Recap, name_from_prompt(text)?),
        EntryKind::AssistantText => match result_sentence(text).and_then(|result| name_from_sentence(&result)) {
            Some(name) => (NameSource::Result, name),
            None => (NameSource::Answer, name_from_answer(text)?),
        },
        _ => return None,
    };
    let words: Vec<String> = distinctive_words(&name).collect();
    let is_routine = words.iter().all(|word| ROUTINE_WORDS.contains(&word.as_str()));
    if words.is_empty() {
        return None;
    }
    if source == NameSource::Prompt && (words.len() < MIN_DISTINCTIVE_WORDS || is_routine) {
        source = NameSource::WeakPrompt;
    }
    let place = project.map(file_name).filter(|place| is_routine && !place.is_empty() && !name.contains(place));
    let name = match place {
        Some(place) => format!("{} in {place}", name.trim_end_matches(['.', '!', '?'])),
        None => name,
    };
    Some(DerivedName { source, text: truncate_at_word(&name, MAX_NAME_CHARS) })
}

/// The most informative sentence of a prompt as a name. `None` if the prompt has no usable sentence.
pub(super) fn name_from_prompt(text: &str) -> Option<String> {
    let lines = prose_lines(&without_references(&without_command(text)));
    let headings = || lines.iter().filter(|line| line.kind == ProseLineKind::Heading);
    let has_lead =
        lines.iter().take(2).any(|line| ANNOUNCEMENTS.iter().any(|lead| normalize_text(&line.text).starts_with(lead)));
    if let Some(heading) = headings().next().filter(|_| has_lead) {
        return name_from_sentence(&heading.text);
    }
    let all_sentences =
        lines.iter().filter(|line| line.kind != ProseLineKind::Heading).flat_map(|line| sentences(&line.text));
    let all_sentences: Vec<&str> = all_sentences.take(12).collect();
    let names: Vec<String> = all_sentences.iter().filter_map(|sentence| name_from_sentence(sentence)).collect();
    let is_distinctive = |name: &&String| distinctive_words(name).count() >= MIN_DISTINCTIVE_WORDS;
    // People often describe the situation before they say what they want.
    let requests = all_sentences.iter().take(LEADING_SENTENCES).filter(|sentence| is_request(sentence));
    let requests: Vec<String> =
        requests.filter_map(|request| name_from_sentence(request_within(request).unwrap_or(request))).collect();
    let best = requests.iter().find(is_distinctive).or_else(|| names.iter().find(is_distinctive));
    best.or(names.first()).cloned().or_else(|| headings().find_map(|heading| name_from_sentence(&heading.text)))
}

/// Whether a sentence asks for something, by phrase or by its first verb.
fn is_request(sentence: &str) -> bool {
    let lower = normalize_text(sentence);
    if REQUEST_PHRASES.iter().any(|phrase| begins_with(&lower, phrase)) || request_within(sentence).is_some() {
        return true;
    }
    let bare = normalize_text(without_opening(sentence));
    let first = bare.split(' ').next().unwrap_or_default();
    REQUEST_VERBS.binary_search(&first).is_ok() || (bare.ends_with('?') && QUESTION_WORDS.contains(&first))
}

/// For a long sentence: the part that starts at the request.
fn request_within(sentence: &str) -> Option<&str> {
    let lower = normalize_text(sentence);
    let is_long = sentence.chars().count() > MAX_NAME_CHARS;
    if REQUEST_PHRASES.iter().any(|phrase| begins_with(&lower, phrase)) {
        return None;
    }
    let phrase =
        REQUEST_PHRASES.iter().filter_map(|phrase| lower.find(&format!(" {phrase} "))).min().filter(|_| is_long)?;
    let from = byte_offset(sentence, &lower, phrase + 1)?;
    Some(&sentence[from..]).filter(|rest| distinctive_words(rest).count() >= MIN_DISTINCTIVE_WORDS)
}

/// Whether a sentence only announces what follows, or assigns a role to the model.
pub(super) fn is_lead(sentence: &str) -> bool {
    let lower = normalize_text(sentence);
    ROLES.iter().chain(&ANNOUNCEMENTS).any(|lead| lower.starts_with(lead))
}

/// The first statement of an answer as a name. Questions and offers are skipped.
fn name_from_answer(text: &str) -> Option<String> {
    let statement = prose_sentences(text).into_iter().find(|sentence| {
        let lower = normalize_text(sentence);
        let is_offer = ["hi", "hello", "how can i", "what would you", "let me", "i'll", "sure", "done"];
        !lower.ends_with('?')
            && !is_offer.iter().any(|offer| lower.starts_with(offer))
            && distinctive_words(sentence).count() >= 3
    });
    statement.and_then(|sentence| name_from_sentence(&sentence))
}

/// A sentence as a name; `None` if it is not prose.
fn name_from_sentence(sentence: &str) -> Option<String> {
    let bare = without_opening(sentence);
    if is_lead(bare) {
        return None;
    }
    // "Can you update it?" asks for something; it is not a question.
    let first = normalize_text(bare.split(' ').next().unwrap_or_default());
    let is_request = bare.len() < sentence.trim().len() && REQUEST_VERBS.binary_search(&first.as_str()).is_ok();
    let bare = if is_request { bare.trim_end_matches('?') } else { bare };
    let bare = if is_long_name(bare) { without_parentheses(bare) } else { bare.to_owned() };
    let words: Vec<String> = bare.split(' ').filter_map(shorten_word).collect();
    let text = words.join(" ").replace(['`', '{', '}', '"', '“', '”'], "");
    let text = shorten_name(text.trim());
    let text = text.trim_matches(|c: char| c.is_whitespace() || ".,:;-–—*_#'".contains(c));
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let is_path = !text.contains(' ') && text.contains('/');
    (letters >= 2 && is_mostly_letters(text) && !is_path).then(|| sentence_case(text))
}

fn is_long_name(text: &str) -> bool {
    text.chars().count() > MAX_NAME_CHARS
}

/// The text without its remarks in parentheses.
fn without_parentheses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (inside, after))) =
        rest.split_once(" (").and_then(|(before, after)| Some((before, after.split_once(')')?)))
    {
        if inside.contains('(') {
            break;
        }
        out.push_str(before);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A prompt without a leading slash command.
pub(super) fn without_command(text: &str) -> String {
    let text = text.trim_start();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_command = first.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
    });
    if is_command { text[first.len()..].to_owned() } else { text.to_owned() }
}

/// Removes polite openings and labels.
fn without_opening(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let lower = normalize_text(rest);
        // Longest match first; a shorter one would leave part of the opening behind.
        let opening =
            OPENINGS.iter().chain(&LABELS).filter(|opening| begins_with(&lower, opening)).map(|o| o.len()).max();
        let Some(length) = opening.and_then(|length| byte_offset(rest, &lower, length)) else { return rest };
        let shorter = rest[length..].trim_start_matches(|c: char| c.is_whitespace() || ",:;.!-–".contains(c));
        if shorter.is_empty() {
            return rest;
        }
        rest = shorter;
    }
}

fn begins_with(text: &str, opening: &str) -> bool {
    let after = text.strip_prefix(opening);
    after.is_some_and(|after| {
        opening.ends_with(':') || after.is_empty() || after.starts_with([' ', ',', '!', '.', ':', ';'])
    })
}

/// Byte offset in `text` of the first `length` bytes of its lower-case form.
fn byte_offset(text: &str, lower: &str, length: usize) -> Option<usize> {
    let signs = lower.get(..length)?.chars().count();
    Some(text.char_indices().nth(signs).map_or(text.len(), |(at, _)| at))
}

/// A word as shown in a name: paths become file names, URLs are shortened.
fn shorten_word(word: &str) -> Option<String> {
    let bare = word.trim_matches(|c: char| "'\"()<>,`".contains(c));
    let end: String = word.chars().rev().take_while(|c| ",?!".contains(*c)).collect();
    if let Some(address) = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://")) {
        let address = address.split(['?', '#']).next().unwrap_or(address).trim_end_matches('/');
        let host = address.split('/').next().unwrap_or(address);
        let last = file_name(address);
        let host = host.trim_start_matches("www.");
        return Some(if host == last || address.len() == last.len() {
            format!("{host}{end}")
        } else if last.bytes().all(|byte| byte.is_ascii_digit()) {
            let kept: Vec<&str> = address.rsplitn(4, '/').collect();
            let kept: Vec<&str> = kept.into_iter().take(3).rev().collect();
            format!("{}{end}", kept.join("/"))
        } else {
            format!("{last}{end}")
        });
    }
    let path = bare.trim_start_matches('@').trim_end_matches(['.', ':', ';', '?']);
    let is_path = path.matches('/').count() >= 2 || (bare.starts_with('@') && path.len() > 1) || path.starts_with("~/");
    if is_path && !path.contains("/skill:") {
        return Some(format!("{}{end}", file_name(path)));
    }
    Some(word.to_owned()).filter(|word| !word.is_empty())
}

/// Shortens text to a name: ends it at a pause, or cuts between words.
fn shorten_name(text: &str) -> String {
    if text.chars().count() <= MAX_NAME_CHARS {
        return text.to_owned();
    }
    let pauses = [", ", "; ", " - ", " – ", " — ", ": ", " (", " so that ", " because ", " instead of ", " since "];
    let ends = pauses.iter().flat_map(|pause| text.match_indices(pause).map(|(at, _)| at));
    let fits = |at: &usize| {
        let part = &text[..*at];
        part.chars().count() <= MAX_NAME_CHARS
            && part.split(' ').count() >= MIN_WORDS_BEFORE_PAUSE
            && distinctive_words(part).count() > MIN_DISTINCTIVE_WORDS
    };
    if let Some(end) = ends.filter(fits).max() {
        return text[..end].to_owned();
    }
    let cut = truncate_at_word(text, MAX_NAME_CHARS);
    // An unclosed bracket looks cut off.
    let open =
        cut.rfind('(').filter(|at| !cut[*at..].contains(')') && cut[..*at].split(' ').count() > MIN_WORDS_BEFORE_PAUSE);
    if let Some(open) = open {
        return cut[..open].to_owned();
    }
    let mut words: Vec<&str> = cut.trim_end_matches('…').split(' ').collect();
    // A name ending in "and the" looks cut off.
    while words.len() > MIN_WORDS_BEFORE_PAUSE && words.last().is_some_and(|word| is_weak(&normalize_text(word))) {
        words.pop();
    }
    format!("{}…", words.join(" "))
}

/// Capitalizes the first letter, unless the first word is code.
fn sentence_case(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|c| c.is_lowercase() || "'’-,?!".contains(c));
    let mut signs = text.chars();
    match signs.next() {
        Some(sign) if is_word => sign.to_uppercase().chain(signs).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expect: &str) {
        assert_eq!(name_from_prompt(prompt).as_deref().unwrap_or_default(), expect, "{prompt:?}");
    }

    #[test]
    fn a_prompt_is_summarized_as_a_name_in_sentence_case() {
        // E001-02
        check(
            "please read the research and the resources directories. then talk",
            "Read the research and the resources directories",
        );
        check(
            "can we add one more thing? the author of the commits is not set",
            "The author of the commits is not set",
        );
        check(
            "Implement the following plan:\n\n# Plan: Remove the plugin layer\n\n## Context\nx",
            "Remove the plugin layer",
        );
        check("/review", "");
        check("/superpowers:brainstorming how hard would a logo be?", "How hard would a logo be?");
        check(
            "<!-- t -->\nYou are a fresh instance.\n\nTask:\nReview the current diff. Do not edit.",
            "Review the current diff",
        );
        check(
            "update @.claude/skills/e2e-debug/SKILL.md to be useful in this repo",
            "Update SKILL.md to be useful in this repo",
        );
        check(
            "tell me whats going on https://github.com/entireio/skills/issues/3",
            "Tell me whats going on skills/issues/3",
        );
        check(
            "Hey Claude, I'd like your help with refactoring the timeline filtering so that we hide the group instead of all items",
            "Refactoring the timeline filtering so that we hide the group",
        );
        check("We removed the web app. Can you update the README to say so?", "Update the README to say so");
        check(
            "ok so that was only for you to know what there is by now, but after years I want to mend the broken APIs",
            "Mend the broken APIs",
        );
        check(
            "brainstorm: how do we find duplicated code? follow up: can we guard it",
            "How do we find duplicated code?",
        );
        check(
            "We've just done a big refactoring (Phase 2 from @docs/REVIEW.md) and many of the browser tests fail now",
            "We've just done a big refactoring and many of the browser tests fail now",
        );
        check("{\"a\": 1}", "");
        check("1", "");
        check("id.Check casts skip validation", "id.Check casts skip validation");
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(REQUEST_VERBS.is_sorted());
    }

    #[test]
    fn a_name_says_what_it_was_taken_from() {
        // D11
        let check = |kind, text, expect: Option<(NameSource, &str)>| {
            let found = derive_name(kind, text, Some("/home/dev/app"));
            let found = found.as_ref().map(|name| (name.source, name.text.as_str()));
            assert_eq!(found, expect, "{text:?}");
        };
        check(EntryKind::Prompt, "fix the flaky parser", Some((NameSource::Prompt, "Fix the flaky parser")));
        check(EntryKind::Prompt, "commit and push", Some((NameSource::WeakPrompt, "Commit and push in app")));
        check(
            EntryKind::AssistantText,
            "The parser drops Tuesdays.",
            Some((NameSource::Answer, "The parser drops Tuesdays")),
        );
        for nothing in ["hi", "Hello!", "1", "yes", "ok, thanks", "/mode", "<skill name=\"x\">", "@@parser-fix"] {
            check(EntryKind::Prompt, nothing, None);
        }
    }

    #[test]
    fn references_are_not_part_of_a_name() {
        // D13
        check("as in @@parser-fix, add a retry to the uploader", "Add a retry to the uploader");
        check("rename the columns like we did in @@\"Table names\"~2 please", "Rename the columns like we did please");
    }
}
