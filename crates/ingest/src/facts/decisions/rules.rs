//! Recognizes rules in instructions that a user wrote for agents, such as a line of `AGENTS.md`.

use std::sync::LazyLock;

use rethread_model::Predicate;

use super::cues::compile_pattern;
use super::names::{leading_name, preference_name};
use super::preferences::{VERBS, find_preference, is_specific};
use super::reasons::reason_for;
use super::sentences::{ProseSentence, split_sentences};
use crate::facts::pattern::CuePattern;

/// A rule: what to do, or what not to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedRule {
    /// `Prefers` or `Forbids`.
    pub predicate: Predicate,
    /// What it is about.
    pub subject: String,
    /// What to use instead, for something that is forbidden.
    pub instead: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// Wordings of instructions: in a text that consists of rules, a bare imperative is one.
const RULE_TABLE: &[(&str, Predicate)] = &[
    (
        r"^(?:please |you )?(?:never|don't|do not|must not|should not|shouldn't|mustn't|avoid|no|not) (?:ever )?",
        Predicate::Forbids,
    ),
    (r"^(?:please |you )?(?:always|must|should|prefer|only|make sure to|ensure that|ensure) ", Predicate::Prefers),
    (r"^(?:please )?(?P<verb>{verbs}) ", Predicate::Prefers),
    (r"\b(?:must|should) (?:never|not) (?:be )?", Predicate::Forbids),
    (r"\b(?:must|should) (?:always )?(?:be )?(?P<verb>[a-z]{3,})", Predicate::Prefers),
];

static RULE_ROWS: LazyLock<Vec<(CuePattern, Predicate)>> = LazyLock::new(|| {
    let row =
        |(table, predicate): &(&str, Predicate)| Some((compile_pattern(&table.replace("{verbs}", VERBS))?, *predicate));
    RULE_TABLE.iter().filter_map(row).collect()
});
static INSTEAD: LazyLock<Option<CuePattern>> =
    LazyLock::new(|| compile_pattern(r"(?:[,;.:—–-] ?| and )(?:instead,? |always )?(?:use|prefer) "));
static LABEL: LazyLock<Option<CuePattern>> = LazyLock::new(|| compile_pattern(r"^[\w `/&-]{2,40}: "));

/// The rule that a sentence or list item of an instruction states; `None` if it describes something.
pub fn preference_in(text: &str) -> Option<StatedRule> {
    let text = text.replace("**", "");
    let sentences = split_sentences(&[text.trim()]);
    // "Don't forget to" wants something; "don't hesitate to" and "no need to" allow it.
    let sentences = match text.trim().to_lowercase().find("forget to ").filter(|at| *at < "please do not forget".len())
    {
        Some(at) => split_sentences(&[text.trim().get(at + "forget to ".len()..)?]),
        None => sentences,
    };
    let sentence = sentences.first()?;
    let lower = sentence.masked.to_lowercase();
    if sentence.is_question() || lower.contains("hesitate") || lower.starts_with("no need") {
        return None;
    }
    let (predicate, subject) = match stated(sentence, 0) {
        Some(found) => found,
        // "Tests: use vitest".
        None => stated(sentence, LABEL.as_ref()?.find(&sentence.masked)?.end())?,
    };
    let instead = sentences.iter().take(2).find_map(instead_in).filter(|_| predicate == Predicate::Forbids);
    let reason = sentences.iter().take(2).find_map(|sentence| reason_for(&subject, sentence));
    is_specific(&subject).then_some(StatedRule { predicate, subject, instead, reason })
}

/// The rule in a sentence of a long prompt. Only a plain prohibition or "always" counts there, because the rest describes
/// a task.
pub(super) fn rule_in_long_text(text: &str) -> Option<StatedRule> {
    static LASTING: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"^(?:please )?(?:never|always|do not|don't|must not|avoid) "));
    static ONE_TIME: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:yet|now|until|tonight|today|this (?:task|step|time|session|turn|pass|phase)|(?:do|change|touch|edit|write|run) anything|any (?:code|files|changes|tools?)|worry|hesitate|need to|have to)\b",
        )
    });
    let bare = text.replace("**", "");
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(bare.trim()));
    if !fits(&LASTING) || fits(&ONE_TIME) {
        return None;
    }
    preference_in(&bare)
}

/// The predicate and the subject of an instruction that begins at a position of the sentence.
fn stated(sentence: &ProseSentence<'_>, from: usize) -> Option<(Predicate, String)> {
    if from == 0
        && let Some(found) = find_preference(sentence)
    {
        return Some((found.predicate, found.subject));
    }
    let masked = &sentence.masked[from..];
    RULE_ROWS.iter().find_map(|(row, predicate)| {
        let found = row.captures(masked)?;
        let begins = match found.name("verb") {
            Some(verb) if matches!(verb.as_str().to_lowercase().as_str(), "use" | "prefer") => found.get(0)?.end(),
            Some(verb) => verb.start(),
            None => found.get(0)?.end(),
        };
        let begins = skip_use(masked, begins);
        let subject = preference_name(sentence.text.get(from + begins..)?, &masked[begins..])?;
        Some((*predicate, subject))
    })
}

/// Skips "use" after "never" or "always".
fn skip_use(masked: &str, begins: usize) -> usize {
    let rest = &masked[begins..];
    let skipped = ["use ", "using "].iter().find(|verb| rest.to_lowercase().starts_with(**verb));
    begins + skipped.map_or(0, |verb| verb.len())
}

fn instead_in(sentence: &ProseSentence<'_>) -> Option<String> {
    let cue = INSTEAD.as_ref()?.find(&sentence.masked)?;
    leading_name(sentence.text.get(cue.end()..)?, &sentence.masked[cue.end()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let rule = preference_in(text)?;
        let sign = if rule.predicate == Predicate::Prefers { "+" } else { "-" };
        let instead = rule.instead.map(|instead| format!(" / {instead}")).unwrap_or_default();
        Some(format!("{sign}{}{instead}", rule.subject))
    }

    #[test]
    fn imperatives_are_rules() {
        for (text, expected) in [
            ("Never commit to main directly.", "-commit to main directly"),
            ("Use pnpm, not npm", "+pnpm"),
            ("Don't forget to run prettier", "+run prettier"),
            ("**Do not** use axios, use ky.", "-axios / ky"),
            ("Tests: use vitest", "+vitest"),
            ("No em dashes in prose", "-em dashes in prose"),
            ("Run `make check` before each commit.", "+run make check before each commit"),
            ("Avoid `any` in TypeScript", "-any in typescript"),
            ("Migrations must be reversible", "+reversible"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn descriptions_are_not_rules() {
        for text in [
            "The API server is in src/api.",
            "`npm test` - runs the tests",
            "Architecture",
            "This repository contains the client and the server.",
            "Why do we use pnpm?",
            "src/db: database access",
            "",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn every_table_row_compiles() {
        assert_eq!(RULE_ROWS.len(), RULE_TABLE.len());
    }
}
