//! Decides whether a commit message or a sentence shows that an event happened.

use crate::when::{EventAction, EventPhrase};
use crate::word_list::is_listed;

/// Maximum number of words of a sentence that reports an event.
const MAX_SENTENCE_WORDS: usize = 40;
/// Maximum number of words of a sentence such as "The migration is complete."
const MAX_DONE_WORDS: usize = 12;

/// Words that make a sentence a plan, a question, a condition or a memory of the event, and not its report.
const HEDGES: &str = "after ago almost aren't assume before can can't cannot could didn't doesn't don't earlier \
     failed fails haven't hope if imagine isn't last later let's lets maybe might must need needs never next no not \
     once perhaps plan previously ready recently said says should since soon suppose todo unless until want wants was \
     wasn't were when whenever will wish won't would yesterday yet";
const DONE_WORDS: &str = "complete completed done finished live out succeeded successful";
/// Words between "we" and the verb: "we have now released".
const VERB_PREFIXES: &str = "and also finally have just now successfully then";
/// Words between the article and the noun of an event: "the database migration".
const EVENT_KINDS: &str = "data database db production prod schema";
/// Words that follow a verb of a commit message that is about something else: "Release notes".
const ATTACHED_NOUNS: &str = "branch checklist ci config doc docs guide job lock notes pipeline plan process \
     script scripts test tests workflow workflows";
/// Number of words at the start of a commit message in which a released version is named.
const VERSION_WORDS: usize = 3;

/// Whether the first line of a commit message records the event.
pub(crate) fn commit_shows(event: &EventPhrase, subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let (prefix, rest) = match lower.split_once(": ") {
        Some((prefix, rest)) if !prefix.contains(' ') => (prefix, rest),
        _ => ("", lower.as_str()),
    };
    let mut words = rest.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let start: Vec<&str> = rest.split_whitespace().take(VERSION_WORDS).collect();
    let starts_with_version = has_version(&start.join(" "));
    let is_scope = event.action == EventAction::Release && prefix.split(['(', ')']).any(|part| part == "release");
    // "fix(release): handle missing tags" is about the script.
    let is_release_scope = is_scope && (starts_with_version || first == "publish");
    let is_moved = event.action == EventAction::Migration && EventAction::Switch.words().is_commit_verb(first);
    let is_named = event.action.words().is_commit_verb(first) && !is_listed(second, ATTACHED_NOUNS);
    if !event.subject.is_empty() {
        return (is_named || is_moved || is_release_scope) && has_subject(event, &lower);
    }
    let is_alone = second.is_empty();
    let names_any = |list: &str| rest.split_whitespace().any(|word| is_listed(word, list));
    // "Release the lock" is about something else.
    match event.action {
        EventAction::Release => is_release_scope || (is_named && (is_alone || starts_with_version)),
        EventAction::Deploy => is_named && (is_alone || names_any("live prod production")),
        EventAction::Migration => is_named && (is_alone || names_any(EVENT_KINDS)),
        _ => is_named,
    }
}

/// Whether a text of a prompt or reply reports the event.
pub(crate) fn statement_shows(event: &EventPhrase, text: &str) -> bool {
    let mut from = 0;
    let mut sentences = Vec::new();
    for (at, letter) in text.char_indices() {
        let next = text[at + letter.len_utf8()..].chars().next();
        let ends = letter == '\n' || (matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace));
        if ends {
            sentences.push(&text[from..at + letter.len_utf8()]);
            from = at + letter.len_utf8();
        }
    }
    sentences.push(&text[from..]);
    sentences.into_iter().any(|sentence| sentence_shows(event, sentence))
}

fn sentence_shows(event: &EventPhrase, sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let trimmed = lower.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let words: Vec<&str> = trimmed.filter(|word| !word.is_empty()).collect();
    let is_hedged = || words.iter().any(|word| is_listed(&word.replace('\u{2019}', "'"), HEDGES));
    if words.len() > MAX_SENTENCE_WORDS
        || sentence.trim_end().ends_with('?')
        || is_hedged()
        || !has_subject(event, &lower)
    {
        return false;
    }
    let (has_verb, is_done) = (reports_own_work(event, &words), is_reported_done(event, &words));
    if !event.subject.is_empty() {
        return has_verb || is_done;
    }
    // A lock is released too: without a subject, something must say what was.
    match event.action {
        EventAction::Release => (has_verb || is_done) && has_version(&lower),
        EventAction::Deploy => {
            (has_verb || is_done) && words.iter().any(|word| matches!(*word, "production" | "prod" | "live"))
        }
        _ => is_done,
    }
}

/// "We released 1.2", "I bumped the version and released 1.2", "Released 1.2.", but not "Vite released 5.2".
fn reports_own_work(event: &EventPhrase, words: &[&str]) -> bool {
    let is_person = |word: &str| matches!(word.replace('\u{2019}', "'").as_str(), "i" | "we" | "i've" | "we've");
    let is_about_us = words.iter().take(2).any(|word| is_person(word));
    let verbs = words.iter().enumerate().filter(|(_, word)| event.action.words().is_past_verb(word));
    verbs.into_iter().any(|(at, _)| {
        let before = &words[..at];
        let lead = before.iter().rposition(|word| !is_listed(word, VERB_PREFIXES)).map(|at| before[at]);
        let follows_and = before.last().is_some_and(|word| matches!(*word, "and" | "then"));
        lead.is_none_or(is_person) || (is_about_us && follows_and)
    })
}

/// "The migration is complete", "The 1.2 release is out", but not "The Vite release 5.2 is out".
fn is_reported_done(event: &EventPhrase, words: &[&str]) -> bool {
    let Some(noun) = words.iter().take(MAX_DONE_WORDS).position(|word| event.action.words().is_noun(word)) else {
        return false;
    };
    let is_own = |word: &&str| {
        matches!(*word, "the" | "our") || has_version(word) || is_listed(word, EVENT_KINDS) || {
            !event.subject.is_empty() && event.subject.iter().any(|name| name == word)
        }
    };
    words.len() <= MAX_DONE_WORDS
        && words[..noun].iter().all(is_own)
        && words[noun..].iter().any(|word| is_listed(word, DONE_WORDS))
}

/// `1.2`, `v2.0.1`.
pub(crate) fn has_version(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let number = word.strip_prefix('v').unwrap_or(word);
        number.contains('.') && number.split('.').take(2).all(|part| part.parse::<u32>().is_ok())
    })
}

/// Whether all words of the event's name occur in a lower-case text.
pub(crate) fn has_subject(event: &EventPhrase, lower: &str) -> bool {
    let is_inner = |letter: char| letter.is_alphanumeric() || letter == '.';
    event.subject.iter().all(|name| {
        let is_version = |rest: &&str| rest.starts_with(|letter: char| letter.is_ascii_digit());
        let name = name.strip_prefix('v').filter(is_version).unwrap_or(name);
        lower.split(|letter: char| !is_inner(letter)).any(|word| {
            let word = word.trim_matches('.');
            let number = word.strip_prefix('v').unwrap_or(word);
            [word, number].iter().any(|word| {
                // "2.0" also names 2.0.1; "database" also names databases.
                *word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') || rest == "s")
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_report_events() {
        let now = "2026-03-18T15:30:00[UTC]".parse().unwrap();
        for (name, text, expect) in [
            ("the release", "All green. Released v1.2.0 to npm.", true),
            ("the release", "- **Published** v1.2.3 to npm.", true),
            ("the release", "Successfully published 1.2.3.", true),
            ("the release", "The release 1.2 is out!", true),
            ("the release", "The 1.2 release is live.", true),
            ("the release", "We have now released 1.2.", true),
            ("the release", "OK, I\u{2019}ve tagged v1.2.0.", true),
            ("the release", "I bumped the version and published 1.2.0.", true),
            ("the release", "The lock is released.", false),
            ("the release", "Should I tag it, or is 1.2 released?", false),
            ("the release", "We will have released 1.2 by then.", false),
            ("the release", "Since 1.2 was released, the parser fails.", false),
            ("the release", "Vite released 5.2 and it breaks our plugin.", false),
            ("the release", "numpy released 2.0 with a new ABI; that explains the crash", false),
            ("the release", "We use numpy, which released 2.0.", false),
            ("the release", "The Vite release 5.2 is out.", false),
            ("the release", "Imagine we released v3.0.0", false),
            ("the release", "Let's get version 1.4 published.", false),
            ("the release", "Let\u{2019}s say we released 1.4.", false),
            ("the release", "When we released 1.4, it broke.", false),
            ("the release", "The changelog says: Released v2.0.0 on Monday.", false),
            ("the deploy", "Deployed to production.", true),
            ("the deploy", "It is not deployed to production.", false),
            ("the deploy", "The deployment to production succeeded.", true),
            ("the migration", "The migration is complete.", true),
            ("the migration", "The database migration is done.", true),
            ("the migration", "The migration is complete once the index exists.", false),
            ("we switched to pnpm", "I switched the repository to pnpm and removed package-lock.json.", true),
            ("we switched to pnpm", "Switched to pnpm.", true),
            ("we switched to pnpm", "Vue switched to pnpm.", false),
            ("we switched to pnpm", "If we switched to pnpm, installs would be faster.", false),
            ("we switched to pnpm", "I switched the repository to bun.", false),
        ] {
            let event = EventPhrase::find(&format!("what changed since {name}"), &now).unwrap();
            assert_eq!(statement_shows(&event, text), expect, "{name}: {text}");
        }
    }
}
