//! Completes what the sentence model marked as the name of a statement: it often marks too little of a phrase.

use std::ops::Range;

use super::names::{contains_word, strip_punctuation};
use crate::facts::sentence_model::is_technology;

/// At most this many words are added before a name.
const MAX_WORDS_BEFORE: usize = 2;

/// Words that belong to no name, so that a name is not extended over them.
const FUNCTION_WORDS: &str = "a an the this that these those my your our their its his her it them us me you we i they he she who what which \
    and or but so then than as if when while where because since until unless for of in on at by to from with into onto over under about \
    after before between without within per via through off out up down behind across around against not no never none only just also too very really please pls ok okay yes yeah all any some \
    every each both either more most less few is are was were be been being am do does did have has had will would should could can may \
    might must shall let lets let's don't dont doesn't didn't won't wont can't cant cannot isn't aren't i'd i'll i'm we'd we'll we're it's that's there here \
    now again instead rather maybe always ever else still already how why";

/// Verbs that order something. What follows them is named.
const ORDERING_VERBS: &str = "use using add adding avoid avoiding keep keeping make making put putting go going want wants need needs needed prefer \
    choose pick take taking get getting give run running write writing set setting stop drop dropping skip skipping remove removing replace \
    switch move moving call name rename store save show showing send fix fixing start stick stay try follow follows do doing build create \
    change update ask say says commit push pull merge rebase test check verify read open close delete stash like likes love hate work works";

/// What follows a subject if the statement is about what it does or where it goes.
const PREDICATES: &str =
    "should would must needs need will goes go gets stays stay lives live belongs becomes has shows opens closes";

/// The marked range with the words that complete it: those of the same phrase before it, and what is said about it.
pub(super) fn completed(masked: &str, marked: &Range<usize>, is_wish: bool) -> Range<usize> {
    let (Some(before), Some(after)) = (masked.get(..marked.start), masked.get(marked.end..)) else {
        return marked.clone();
    };
    // A technology, a file or a number is a name of its own: "we speak grpc" is about grpc.
    let first = masked[marked.clone()].split_whitespace().next().unwrap_or_default();
    let is_ordinary = first.bytes().all(|byte| byte.is_ascii_lowercase()) && !is_technology(first);
    let start = if is_ordinary { marked.start - phrase_before(before) } else { marked.start };
    let end = if is_wish { marked.end + predicate_after(after) } else { marked.end };
    start..end
}

/// Length of the words right before a name that belong to it: "root" in "fix root causes".
fn phrase_before(before: &str) -> usize {
    let mut rest = before.trim_end();
    if rest.len() == before.len() {
        return 0;
    }
    let mut length = 0;
    for _ in 0..MAX_WORDS_BEFORE {
        let word = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_part = word.chars().all(|c| c.is_alphanumeric() || c == '-')
            && word.chars().any(char::is_alphabetic)
            && !contains_word(word, FUNCTION_WORDS)
            && !contains_word(word, ORDERING_VERBS)
            && !word.ends_with("ly")
            && !word.ends_with("ing");
        // The first word of a sentence is often a verb.
        if !is_part || word.len() == rest.len() {
            break;
        }
        rest = rest[..rest.len() - word.len()].trim_end();
        length = before.len() - rest.len();
        length -= before[rest.len()..].len() - before[rest.len()..].trim_start().len();
    }
    length
}

/// Length of what is said about a name right after it, up to the end of the clause: "should go under the map".
fn predicate_after(after: &str) -> usize {
    let first = after.split_whitespace().next().unwrap_or_default();
    if !after.starts_with(' ') || !contains_word(first, PREDICATES) {
        return 0;
    }
    let end = after.find([',', ';', '.', ':', '(', '—', '–', '!', '?']).unwrap_or(after.len());
    let clause = &after[..end];
    let end = [" because ", " since ", " so that ", " but ", " and "].iter().filter_map(|mark| clause.find(mark)).min();
    clause[..end.unwrap_or(clause.len())].trim_end().len()
}

/// Whether a name says little without the words around it: "login" in "only google login", "detect this case".
pub(super) fn is_weak_name(name: &str, before: &str) -> bool {
    const CHOOSING: &str = "use using prefer choose pick keep called adopt install add drop avoid";
    const LINKING: &str = "to the a an our into on as be is are with";
    const REFERRING: &str = "this that these those it them such";
    let mut words = before.split_whitespace().rev().map(|word| strip_punctuation(word).to_lowercase());
    let (last, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_chosen = contains_word(&last, CHOOSING)
        || (contains_word(&last, LINKING)
            && (contains_word(&second, CHOOSING)
                || contains_word(&second, "go going switch move back stick stay start to into with be is")));
    let is_ordinary = name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_lowercase()) && !is_technology(name);
    let refers = name.split(' ').count() <= 3 && name.split(' ').any(|word| contains_word(word, REFERRING));
    refers || (is_ordinary && !is_chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_completed_by_its_phrase_and_by_what_is_said_of_it() {
        for (text, marked, expected) in [
            ("fix root causes, not symptoms", "causes", "root causes"),
            ("dates in ISO format everywhere", "format", "ISO format"),
            ("use the standard library", "library", "standard library"),
            ("don't add comments", "comments", "comments"),
            ("and then the last page would show the total, ok", "page", "last page would show the total"),
            ("the logs go to stdout because of docker", "logs", "logs go to stdout"),
            ("between services we speak grpc", "grpc", "grpc"),
            ("keep redis", "redis", "redis"),
        ] {
            let start = text.find(marked).unwrap();
            let found = completed(text, &(start..start + marked.len()), true);
            assert_eq!(&text[found], expected, "{text}");
        }
    }

    #[test]
    fn an_ordinary_word_is_weak_unless_it_is_chosen() {
        for (name, before, expected) in [
            ("login", "only google", true),
            ("case", "we should detect this", true),
            ("detect this case", "we should", true),
            ("speed", "i want the", true),
            ("tabs", "use", false),
            ("polling", "switch to", false),
            ("postgres", "we have", false),
        ] {
            assert_eq!(is_weak_name(name, before), expected, "{name}");
        }
    }
}
