//! Decides whether a sentence is for or against what it names, by the words around the name.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::cues::compile_pattern;
use crate::facts::pattern::CuePattern;

/// Words that turn what follows them down.
const DENIES: &str = r"\b(?:no|not|never|don't|do not|dont|doesn't|won't|will not|wont|can't|cannot|cant|shouldn't|should not|mustn't|
    must not|avoid|stop|quit|without|drop|dropping|dropped|skip|skipping|scrap|scratch|ditch|ditching|forget|remove|removing|kill|killing|rid of|rid|rip out|isn't|aren't|nobod\w|nah|nope|neither|nothing|less|rather than|instead of|against|hate|dislike|refrain|leave out|
    hold off|hands off|moving off|move off|moving away from|no more|ban|banned|(?:roll back|rollback|revert) (?:the|all|our|those|that|this|it)|out with|
    enough of|tired of|sick of|rule out|ruled out|ruling out|hard pass|pass on|turn down|turned down|declined|considered and|no go)\b";

/// Words right after a name that turn it down.
const DENIED: &str = r"^[`'\x22)]* (?:(?:is|are|was|would be|feels|seems) (?:out|overkill|banned|gone|forbidden|dead|off the table|not|no longer|too|
    way too|just too)|isn't|aren't|won't|can't|(?:idea|thing|plan|approach) is (?:dead|out|gone)|is nice but no)\b";

/// Whether a sentence is against what it names at this place.
pub(super) fn is_against(masked: &str, name: &Range<usize>) -> bool {
    static BEFORE: LazyLock<Option<CuePattern>> = LazyLock::new(|| compile_pattern(DENIES));
    static AFTER: LazyLock<Option<CuePattern>> = LazyLock::new(|| compile_pattern(DENIED));
    let fits =
        |table: &LazyLock<Option<CuePattern>>, text: &str| table.as_ref().is_some_and(|table| table.is_match(text));
    let before = masked.get(..name.start).unwrap_or_default();
    // The clause may begin inside of the name: "no redis" is marked as a whole.
    let clause = before.rfind([',', ';', ':', '.', '—', '–']).map_or(0, |at| at + 1);
    let clause = before.get(clause..).unwrap_or(before);
    let clause = clause.get(new_wish(clause)..).unwrap_or(clause);
    let clause = without_interjection(clause);
    let inside = masked.get(name.clone()).and_then(|name| name.split_whitespace().next()).unwrap_or_default();
    let is_strengthened = clause.trim_end().to_lowercase().ends_with("why not");
    let after = masked.get(name.end..).unwrap_or_default();
    (fits(&BEFORE, clause) && !is_strengthened) || fits(&BEFORE, inside) || fits(&AFTER, after)
}

/// A clause without the "no" that answers something and denies nothing: "no this should be the default".
fn without_interjection(clause: &str) -> &str {
    static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\s*(?:no|nope|nah) (?:this|that|it|i|we|you|they|the|use|put|make|keep|let's|lets|go)\b").ok()
    });
    let is_answer = NO.as_ref().is_some_and(|no| no.is_match(clause));
    if is_answer { clause.trim_start().split_once(' ').map_or(clause, |(_, rest)| rest) } else { clause }
}

/// Where the last wish of a clause begins: "get rid of x and use y" denies only x.
fn new_wish(clause: &str) -> usize {
    static WISH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:and|but|then|so) (?:(?:just|then|please|instead|rather|only) )*(?:use|keep|go (?:with|for|back)|switch|replace (?:it|them|this|that)|let's|lets|we|i|do (?:the|it|this|that|your|all))\b",
        )
        .ok()
    });
    let last = WISH.as_ref().and_then(|wish| wish.find_iter(clause).last());
    last.map_or(0, |found| found.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_or_right_after_a_name_turn_it_down() {
        for (text, name, expected) in [
            ("no redis here", "redis", true),
            ("no this should be the default view", "default view", false),
            ("no the login is not needed", "login", true),
            ("for the record: no redis in this project", "no redis", true),
            ("we're dropping support for node 16", "node 16", true),
            ("graphql is overkill for this", "graphql", true),
            ("passport isn't allowed", "passport", true),
            ("keep sessions in dynamodb", "sessions in dynamodb", false),
            ("please use british spelling", "british spelling", false),
            ("dates are always iso, none of that us stuff", "dates", false),
            ("not redis, postgres", "postgres", false),
            ("flags live in a table, not in launchdarkly", "flags live in a table", false),
            ("let's revert to cookie auth", "cookie auth", false),
            ("get rid of the slider and do the layout with just grid css", "grid css", false),
            ("drop the absolute layout and replace it with flex boxes", "flex boxes", false),
            ("try to get rid of the library", "rid of the library", true),
            ("don't use redis and memcached", "memcached", true),
            ("hands off the prod database", "prod database", true),
            ("hard pass on styled components", "styled components", true),
            ("the wizard idea is dead", "wizard", true),
        ] {
            let start = text.find(name).unwrap();
            assert_eq!(is_against(text, &(start..start + name.len())), expected, "{text}");
        }
    }
}
