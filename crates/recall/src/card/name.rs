//! A name that a person would give: the title there is, or the sense of the first prompt that has one.

use rethread_model::{Agent, Speech, one_line};

use super::clean::{Shape, cut, is_language, lines, prose, sentences};
use super::deeds::{Deeds, file_name};
use super::words::{is_weak, plain, telling};
use super::{CARD_NAME_CHARS, CardSource};

/// Characters of a name that is made of a sentence.
const SENTENCE_CHARS: usize = 80;
/// A name may end at a comma after so many words.
const LEAST_WORDS: usize = 5;
/// Telling words that a sentence needs to stand for a session.
const ENOUGH: usize = 2;
/// Sentences among which a wish is looked for.
const NEAR: usize = 5;
/// Prompts that are looked at for a better one.
const MOST_PROMPTS: usize = 8;
/// What people put before what they want, longest first where one begins with another.
const OPENINGS: [&str; 50] = [
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
/// How people ask for something.
const WISHES: [&str; 12] = [
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
/// Words that questions begin with.
const QUESTIONS: [&str; 11] = ["how", "what", "why", "where", "which", "who", "when", "is", "are", "does", "should"];
/// Verbs that people begin with when they want something done. Sorted.
const VERBS: [&str; 52] = [
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
/// Words that tell what is done in every project; a name of nothing else says where.
const ROUTINE: [&str; 14] = [
    "change", "changes", "clear", "code", "commit", "file", "files", "fix", "prompt", "pull", "push", "retry", "run",
    "version",
];
/// Labels before what is meant.
const LABELS: [&str; 10] =
    ["task:", "goal:", "goals:", "plan:", "context:", "question:", "request:", "title:", "todo:", "brainstorm:"];
/// Sentences that only say that more is to come.
const LEADS: [&str; 5] =
    ["implement the following plan", "implement this plan", "here is the plan", "see below", "follow these steps"];
/// Sentences that tell a model who it is.
const ROLES: [&str; 4] = ["you are a ", "you are an ", "you are the ", "act as "];
/// Prompts that ask for nothing.
const GREETINGS: [&str; 8] = ["hi", "hello", "hey", "hello there", "hi there", "hey there", "good morning", "yo"];

/// The name of a session: never empty, never longer than it may be.
pub(super) fn name(source: &CardSource<'_>, deeds: &Deeds) -> String {
    let given = source.title.and_then(given);
    let prompts = || source.prompts().take(MOST_PROMPTS);
    let asked = || prompts().find_map(|entry| sense(&entry.text).filter(|name| telling(name).count() >= ENOUGH));
    let recapped = || source.last_of(Speech::Recap).and_then(|entry| sense(&entry.text));
    let weakly = || prompts().filter(|entry| !is_greeting(&entry.text)).find_map(|entry| sense(&entry.text));
    let said = || source.answers().find_map(|entry| stated(&entry.text));
    let found = given.or_else(asked).or_else(recapped).or_else(weakly).or_else(said);
    let name = found.unwrap_or_else(|| without_words(source, deeds));
    let is_routine = source.title.is_none() && telling(&name).all(|word| ROUTINE.contains(&word.as_str()));
    let place = deeds.changed.first().map(String::as_str).or(source.session.project.as_deref()).map(file_name);
    match place.filter(|place| is_routine && !place.is_empty()) {
        Some(place) if !name.contains(place) => {
            cut(&format!("{} in {place}", name.trim_end_matches(['.', '!'])), CARD_NAME_CHARS)
        }
        _ => cut(&name, CARD_NAME_CHARS),
    }
}

/// The sentence of a prompt that says most about it, as a name. Nothing if it has none in words.
pub(super) fn sense(text: &str) -> Option<String> {
    let lines = lines(&without_command(text));
    let headings = || lines.iter().filter(|line| line.shape == Shape::Heading);
    let has_lead = lines.iter().take(2).any(|line| LEADS.iter().any(|lead| plain(&line.text).starts_with(lead)));
    if let Some(heading) = headings().next().filter(|_| has_lead) {
        return named(&heading.text);
    }
    let said = lines.iter().filter(|line| line.shape != Shape::Heading).flat_map(|line| sentences(&line.text));
    let said: Vec<&str> = said.take(12).collect();
    let names: Vec<String> = said.iter().filter_map(|sentence| named(sentence)).collect();
    let is_telling = |name: &&String| telling(name).count() >= ENOUGH;
    // People often say how things are before they say what they want.
    let wished = said.iter().take(NEAR).filter(|sentence| is_wish(sentence));
    let wished: Vec<String> = wished.filter_map(|wish| named(wish_within(wish).unwrap_or(wish))).collect();
    let best = wished.iter().find(is_telling).or_else(|| names.iter().find(is_telling));
    best.or(names.first()).cloned().or_else(|| headings().find_map(|heading| named(&heading.text)))
}

/// Whether somebody wants something in a sentence: by asking, or by a verb at its beginning.
fn is_wish(sentence: &str) -> bool {
    let lower = plain(sentence);
    if WISHES.iter().any(|wish| begins_with(&lower, wish)) || wish_within(sentence).is_some() {
        return true;
    }
    let bare = plain(without_opening(sentence));
    let first = bare.split(' ').next().unwrap_or_default();
    VERBS.binary_search(&first).is_ok() || (bare.ends_with('?') && QUESTIONS.contains(&first))
}

/// A long sentence from where it says what is wanted.
fn wish_within(sentence: &str) -> Option<&str> {
    let lower = plain(sentence);
    let is_long = sentence.chars().count() > SENTENCE_CHARS;
    let wish = WISHES.iter().filter_map(|wish| lower.find(&format!(" {wish} "))).min().filter(|_| is_long)?;
    let from = byte_at(sentence, &lower, wish + 1)?;
    Some(&sentence[from..]).filter(|rest| telling(rest).count() >= ENOUGH)
}

/// Whether a sentence only says that more is to come, or tells a model who it is.
pub(super) fn is_lead(sentence: &str) -> bool {
    let lower = plain(sentence);
    ROLES.iter().chain(&LEADS).any(|lead| lower.starts_with(lead))
}

/// A title as its user or agent gave it, unless it is no title.
fn given(title: &str) -> Option<String> {
    let title = lines(title).into_iter().map(|line| line.text).collect::<Vec<_>>().join(" ");
    let is_title = !title.starts_with('/') && title.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    is_title.then_some(title)
}

/// What a model stated first, as a name. What it asks or offers is none.
fn stated(text: &str) -> Option<String> {
    let statement = prose(text).into_iter().find(|sentence| {
        let lower = plain(sentence);
        let is_offer = ["hi", "hello", "how can i", "what would you", "let me", "i'll", "sure", "done"];
        !lower.ends_with('?')
            && !is_offer.iter().any(|offer| lower.starts_with(offer))
            && telling(sentence).count() >= 3
    });
    statement.and_then(|sentence| named(&sentence))
}

fn is_greeting(text: &str) -> bool {
    let words = one_line(&plain(text));
    GREETINGS.contains(&words.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// A sentence as a name; nothing if it is not in words.
fn named(sentence: &str) -> Option<String> {
    let bare = without_opening(sentence);
    if is_lead(bare) {
        return None;
    }
    let words: Vec<String> = bare.split(' ').filter_map(short_word).collect();
    let text = words.join(" ").replace(['`', '{', '}', '"', '“', '”'], "");
    let text = shortened(text.trim());
    let text = text.trim_matches(|c: char| c.is_whitespace() || ".,:;-–—*_#'".contains(c));
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let is_path = !text.contains(' ') && text.contains('/');
    (letters >= 2 && is_language(text) && !is_path).then(|| sentence_case(text))
}

/// A prompt without the slash command it begins with.
fn without_command(text: &str) -> String {
    let text = text.trim_start();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_command = first.strip_prefix('/').is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
    });
    if is_command { text[first.len()..].to_owned() } else { text.to_owned() }
}

/// Without politeness, labels, and what else comes before what is meant.
fn without_opening(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    loop {
        let lower = plain(rest);
        // The longest opening first, or its beginning would leave the rest of it.
        let opening =
            OPENINGS.iter().chain(&LABELS).filter(|opening| begins_with(&lower, opening)).map(|o| o.len()).max();
        let Some(length) = opening.and_then(|length| byte_at(rest, &lower, length)) else { return rest };
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

/// Where so many characters of the text in lower case end in the text itself.
fn byte_at(text: &str, lower: &str, length: usize) -> Option<usize> {
    let signs = lower.get(..length)?.chars().count();
    Some(text.char_indices().nth(signs).map_or(text.len(), |(at, _)| at))
}

/// A word as it stands in a name: paths by their file, addresses without what everybody knows.
fn short_word(word: &str) -> Option<String> {
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

/// Short enough for a name: ended at a comma, or cut between words.
fn shortened(text: &str) -> String {
    if text.chars().count() <= SENTENCE_CHARS {
        return text.to_owned();
    }
    let pauses = [", ", "; ", " - ", " – ", " — ", ": ", " (", " so that ", " because ", " instead of ", " since "];
    let ends = pauses.iter().flat_map(|pause| text.match_indices(pause).map(|(at, _)| at));
    let fits = |at: &usize| {
        let part = &text[..*at];
        part.chars().count() <= SENTENCE_CHARS
            && part.split(' ').count() >= LEAST_WORDS
            && telling(part).count() > ENOUGH
    };
    if let Some(end) = ends.filter(fits).max() {
        return text[..end].to_owned();
    }
    let cut = cut(text, SENTENCE_CHARS);
    // Half a bracket looks torn off too.
    let open = cut.rfind('(').filter(|at| !cut[*at..].contains(')') && cut[..*at].split(' ').count() > LEAST_WORDS);
    if let Some(open) = open {
        return cut[..open].to_owned();
    }
    let mut words: Vec<&str> = cut.trim_end_matches('…').split(' ').collect();
    // A name that ends in "and the" looks torn off.
    while words.len() > LEAST_WORDS && words.last().is_some_and(|word| is_weak(&plain(word))) {
        words.pop();
    }
    format!("{}…", words.join(" "))
}

/// The first letter large, unless the first word is code.
fn sentence_case(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|c| c.is_lowercase() || "'’-,?!".contains(c));
    let mut signs = text.chars();
    match signs.next() {
        Some(sign) if is_word => sign.to_uppercase().chain(signs).collect(),
        _ => text.to_owned(),
    }
}

/// For sessions in which nothing was said that could name them.
fn without_words(source: &CardSource<'_>, deeds: &Deeds) -> String {
    if source.prompts().any(|entry| is_greeting(&entry.text)) {
        return "Only a greeting".to_owned();
    }
    if let Some(path) = deeds.changed.first() {
        return format!("Changes to {}", file_name(path));
    }
    let agent = match source.session.agent {
        Agent::ClaudeCode => "Claude Code",
        Agent::Pi => "pi",
        Agent::Native => "Rethread",
    };
    let place = source.session.project.as_deref().map(file_name).filter(|name| !name.is_empty());
    place.map_or_else(|| format!("Unnamed {agent} session"), |place| format!("Unnamed {agent} session in {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expect: &str) {
        assert_eq!(sense(prompt).as_deref().unwrap_or_default(), expect, "{prompt:?}");
    }

    #[test]
    fn e001_02_a_prompt_s_sense_is_a_name_in_sentence_case() {
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
        check("We removed the web app. Can you update the README to say so?", "Update the README to say so?");
        check(
            "ok so that was only for you to know what there is by now, but after years I want to mend the broken APIs",
            "Mend the broken APIs",
        );
        check(
            "brainstorm: how do we find duplicated code? follow up: can we guard it",
            "How do we find duplicated code?",
        );
        check("{\"a\": 1}", "");
        check("1", "");
        check("id.Check casts skip validation", "id.Check casts skip validation");
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(VERBS.is_sorted());
    }

    #[test]
    fn titles_are_used_as_they_are_given() {
        assert_eq!(given("kiro-checkpoint-delta-fix").as_deref(), Some("kiro-checkpoint-delta-fix"));
        assert_eq!(given("/init"), None);
        assert_eq!(given("Caveat: The messages below"), None);
        assert_eq!(given("12"), None);
    }
}
