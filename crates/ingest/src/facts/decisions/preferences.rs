//! Finds sentences in which a human states a preference or prohibition that applies from now on.

use std::sync::LazyLock;

use rethread_model::Predicate;

use super::cues::{compile_pattern, is_statement, may_state_preference, spell_pattern};
use super::names::preference_name;
use super::sentences::ProseSentence;
use crate::facts::pattern::{CuePattern, CueTable};

/// A stated preference or prohibition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatedPreference {
    /// `Prefers` or `Forbids`.
    pub(super) predicate: Predicate,
    /// What it is about.
    pub(super) subject: String,
    /// What to use instead of what is forbidden, or what not to use instead of what is preferred.
    pub(super) alternative: Option<String>,
}

/// Verbs that make an instruction; "always" before any other word is a description.
pub(super) const VERBS: &str = r"(?:use|run|write|pin|add|keep|put|make|check|ask|test|commit|format|read|update|include|
    start|name|document|validate|handle|return|create|build|work|do|want|give|show|explain|squash|rebase|sign|
    follow|set|wrap|log|import|respond|answer|reply|push|pull|lint|review|verify|prefix|cite|quote|escape|
    install|save|store|call|mock|edit|change|touch|delete|remove|skip|merge|amend|force|guess|assume|invent|
    hardcode|hard-code|leave|apologi[sz]e|print|throw|catch|nest|deploy|generate|introduce|rely|trust|expose|
    send|open|prefer|try|disable|ignore|rename|refactor|bump|publish|be|have|go|tell|say|mention|let|mark|split|
    avoid|confirm|list|link|provide|specify|state)\b";

/// What may come before "always" or "never" in an instruction: nothing, the addressee, or the speaker.
const INSTRUCTION_LEAD: &str = r"(?:(?:^|[,;:.!—–-] ?)(?:and |but |so |also |ok |okay |again |then |pls |please |
    again, )*(?:you |you should |you must |we should |we must |i want you to |i'd like you to |make sure to |
    make sure you |make sure that you |remember to |be sure to |please )?|^(?:and |but |so |also |no, )?(?:we|
    i) |\b(?:and|please|pls|make sure to|make sure you|remember to) )";

const PREFERENCE_TABLE: &[(&str, Predicate)] = &[
    (r"{lead}(?:never ever|never|don't ever|do not ever|don't you ever) (?P<verb>{verbs}) ", Predicate::Forbids),
    (r"{lead}always (?P<verb>{verbs}) ", Predicate::Prefers),
    (
        r"(?:^|[,;:.!] ?)(?:and |ok |so |also |but )?(?:please |pls |can you )?stop (?:adding|using|writing|
            putting|creating|making|asking|saying|committing|generating|mocking|including|leaving|touching|
            apologi[sz]ing|guessing|inventing|suggesting|explaining|hardcoding|nesting|renaming|summari[sz]ing) ",
        Predicate::Forbids,
    ),
    (
        r"(?:^|[,;:.!] ?)(?:please |pls |ok |and |also )?no (?:more )?(?P<rest>[^,.;]{3,60}),? (?:ever|
            ever again|any ?more|from now on|in general)\b",
        Predicate::Forbids,
    ),
    (r"(?:^|[,;:.!] ?)(?:please |pls |ok )?no more (?P<rest>(?:[a-su-z]|t[a-gi-z]).*)$", Predicate::Forbids),
    (r"^(?:please |pls |in (?:the )?future,? (?:please )?)?prefer ", Predicate::Prefers),
    (
        r"^(?:and |so |ok |also )*(?P<rest>(?:i'd like|i want|please|pls|we should|you should|
            {verbs}) [^.;]{5,120}?),? from now on\b",
        Predicate::Prefers,
    ),
    (
        r"\bfrom now on,? (?:please |pls |you should |always |i want you to |i want )?(?:never|don't|do not|no) ",
        Predicate::Forbids,
    ),
    (
        r"\bfrom now on,? (?:please |pls |you should |always |i want you to |i want |i'd like )?(?:use |write )?",
        Predicate::Prefers,
    ),
    (
        r"(?:^|[,;:.!] ?)(?:in general|generally|as a rule),? (?:please |pls )?(?:i want |i'd like |i prefer |
            we want |we prefer |use |keep )",
        Predicate::Prefers,
    ),
    (r"^by default,? (?:please |pls )?(?:i want |i'd like |i prefer |use |keep )", Predicate::Prefers),
    (
        r"(?:^|[,;:.!] ?|\b(?:and|but|because|so|as) )(?:i|we) (?:really |strongly |generally |usually |much |
            always |still )?prefer (?:to (?:use |have |see )?|using )?",
        Predicate::Prefers,
    ),
    (r"(?:^|[,;:.!] ?|\band )i always (?:want|like|need) (?:to (?:use |have |see )?)?", Predicate::Prefers),
    (
        r"^(?:and |also |please |pls )?(?:whenever|every time|each time|any time|
            anytime) you [^,]{3,80}?(?:,| also| always| please) ?(?:please |also |always |then |you should |
            you must )?(?P<verb>{verbs}) ",
        Predicate::Prefers,
    ),
];

static PREFERENCE_ROWS: LazyLock<CueTable<Predicate>> = LazyLock::new(|| {
    let row = |(table, predicate): &(&str, Predicate)| {
        let table = table.replace("{lead}", INSTRUCTION_LEAD).replace("{verbs}", VERBS);
        (spell_pattern(&table), *predicate)
    };
    CueTable::new(PREFERENCE_TABLE.iter().map(row))
});

/// The preference or prohibition in a sentence, if there is one.
pub(super) fn find_preference(sentence: &ProseSentence<'_>) -> Option<StatedPreference> {
    if !may_state_preference(sentence) || !is_statement(sentence) || is_one_time(sentence) {
        return None;
    }
    PREFERENCE_ROWS.rows_for(&sentence.masked).find_map(|(row, predicate)| {
        let found = row.captures(&sentence.masked)?;
        let whole = found.get(0)?;
        let range = match (found.name("verb"), found.name("rest")) {
            (Some(verb), _) if !is_filler_verb(verb.as_str()) => verb.start()..sentence.masked.len(),
            (None, Some(rest)) => rest.range(),
            _ => whole.end()..sentence.masked.len(),
        };
        let range = strip_lead(&sentence.masked, range);
        let subject = preference_name(sentence.text.get(range.clone())?, &sentence.masked[range])?;
        is_specific(&subject).then_some(StatedPreference { predicate: *predicate, subject, alternative: None })
    })
}

/// The preference or prohibition in a note; every note is one.
pub(super) fn preference_from_note(sentence: &ProseSentence<'_>) -> Option<StatedPreference> {
    static DENIES: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"^(?:please )?(?:never|don't|do not|no) "));
    if let Some(preference) = find_preference(sentence) {
        return Some(preference);
    }
    let denial = DENIES.as_ref()?.find(&sentence.masked);
    let begins = denial.map_or(0, |denial| denial.end());
    let predicate = if denial.is_some() { Predicate::Forbids } else { Predicate::Prefers };
    let subject = preference_name(sentence.text.get(begins..)?, &sentence.masked[begins..])?;
    (!sentence.is_question() && is_specific(&subject)).then_some(StatedPreference {
        predicate,
        subject,
        alternative: None,
    })
}

/// A verb that adds nothing to what follows it.
fn is_filler_verb(verb: &str) -> bool {
    matches!(verb.to_lowercase().as_str(), "use" | "want" | "prefer" | "have" | "do")
}

/// Skips the speaker if the preference comes before its cue.
fn strip_lead(masked: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    static LEAD: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:please |pls |ok |and |so |also )*(?:i'd like |i want you to |i want |you should |we should |use )?",
        )
    });
    let lead = LEAD.as_ref().and_then(|lead| lead.find(&masked[range.clone()])).map_or(0, |lead| lead.end());
    range.start + lead..range.end
}

fn is_one_time(sentence: &ProseSentence<'_>) -> bool {
    static ONCE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:yet|today|right now|this once|in this case|this one|this run|this time|for now|but here|till|until|never (?:works|worked|used|seen|been|
                had|see|know|knew))\b",
        )
    });
    ONCE.as_ref().is_some_and(|once| once.is_match(&sentence.masked))
}

/// Whether a subject contains more than pronouns and fillers.
pub(super) fn is_specific(subject: &str) -> bool {
    const FILLERS: &[&str] =
        &["it", "this", "that", "them", "so", "do", "be", "go", "have", "me", "to", "the", "a", "make", "sure", "use"];
    let words = subject.split(' ').filter(|word| !FILLERS.contains(&word.to_lowercase().as_str()));
    words.map(str::len).sum::<usize>() >= 3
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let preference = find_preference(&split_sentences(&[text])[0])?;
        let sign = if preference.predicate == Predicate::Prefers { "+" } else { "-" };
        Some(format!("{sign}{}", preference.subject))
    }

    #[test]
    fn preferences_are_found_by_their_wording() {
        for (text, expected) in [
            ("always use pnpm in this repo, the lockfile is pnpm's", "+pnpm in this repo"),
            ("never commit to main directly!!", "-commit to main directly"),
            ("I prefer early returns over nesting", "+early returns over nesting"),
            ("From now on write comments in British spelling", "+comments in british spelling"),
            ("please stop adding comments that repeat the code", "-comments"),
            ("don't ever use `any` in the ts code.", "-any in ts code"),
            ("no emojis in commit messages, ever.", "-emojis in commit messages"),
            ("And I always want conventional prefixes.", "+conventional prefixes"),
            ("Before you say done, always run `make check`.", "+run make check"),
            ("in general I want short answers, no summary", "+short answers"),
            ("i'd like every test to use the builder from now on", "+every test to use builder"),
            ("whenever you change an endpoint also update openapi.yaml", "+update openapi.yaml"),
            ("In the future, prefer rg over grep.", "+rg over grep"),
            ("no more inline styles please", "-inline styles"),
            ("we never mock the database in tests.", "-mock database in tests"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn descriptions_and_single_instructions_are_not_preferences() {
        for text in [
            "the dialog always uses the wrong locale and never closes",
            "don't touch schema.sql yet",
            "skip the tests this time",
            "oh great, always nice to see you",
            "never mind, use the old one",
            "i never used this flag before",
            "do we always run it before?",
            "which do you prefer, a or b?",
            "it should never happen",
            "the handler is never called",
            "stop the server",
            "no more than 3 retries",
            "the user should always be logged in",
            "when the name is empty, we always use the id",
            "I changed the menu to always show the date",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn every_table_row_compiles() {
        assert!(PREFERENCE_ROWS.is_complete(PREFERENCE_TABLE.len()));
    }
}
