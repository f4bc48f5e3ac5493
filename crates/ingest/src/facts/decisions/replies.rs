//! Decides whether a human accepts or declines what the model has just proposed.

use std::sync::LazyLock;

use rethread_model::FactState;

use super::cues::compile_pattern;
use super::names::leading_name;
use super::sentences::ProseSentence;
use super::statements::StatedDecision;
use crate::facts::pattern::CuePattern;

/// The reply to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProposalReply {
    Accepts,
    /// Accepts several proposals at once.
    AcceptsAll,
    Declines,
}

/// A longer clause says more than that it agrees.
const MAX_AGREEING_WORDS: usize = 6;

const ACCEPTS_ALL: &str =
    r"^(?:ok |okay |yes |please |pls )*(?:proceed with|do|implement|apply|accept|approve) (?:all|everything|both)\b";
const ACCEPTS: &str = r"^(?:(?:ok|okay|great|good|cool|nice|perfect|sure|alright|fine|yes),? )*(?:yes|yep|
    yeah|yup|sounds (?:good|great|right|reasonable|fine)|go ahead|do it|do that|do this|lgtm|looks? (?:good|right|fine|great|ok|okay|correct|perfect)|agreed|
    i agree|go for it|let's do (?:it|that|this)|proceed|perfect|go with (?:your|that|this|it)|i approve|
    approved|works for me|make it so|please do|makes sense|love (?:it|that|this|the)|ship it|fits|exactly|your call|as you say|start implementing|implement it|build it|
    let's try (?:it|that|this)|(?:this|that|it|these|everything)(?: all)? (?:looks?|sounds?|is|are|seems?) (?:good|great|right|amazing|perfect|
    fine|reasonable|excellent|awesome|correct|solid))\b";
const ACCEPTS_ALONE: &str = r"^(?:(?:ok|okay|sure|good|great|fine|cool|nice|thumbs up|alright|go|y|yes|👍),? ?)+(?: ?please| ?pls| ?then| ?thanks| ?thx)?[.! ]*$";
const DECLINES: &str = r"^(?:hm+,? |ugh,? |sorry,? |well,? )?(?:no(?:[,.!]|$| (?:thanks|thank|we|i|that|it|
    please|way|use|not|don't|let's)\b)|(?:nope|nah+|absolutely not|definitely not|neither|none of|i'd rather not|i would rather not|rather not|let's not|
    don't do (?:that|it)|not a fan)\b)";
/// Words after "no" that make it something other than a refusal.
const NOT_DECLINES: &str = r"^no (?:problem|worries|need|idea|rush|hurry|longer|matter|doubt|one|wonder)\b";

/// Words of which one makes a short reply an acceptance.
const ACCEPTING_WORDS: &str = "yes yep yeah yup y ok okay sure good great fine nice cool perfect correct right exactly agreed agree approved \
    approve acceptable accepted happy love lgtm go start proceed ship works convinced deal absolutely definitely fits 👍 👌 reviewed";
/// Words that a short reply may have besides them.
const FILLING_WORDS: &str = "do it that this like so please pls thanks thx sounds looks all for me i i'm we we're are is let's lets ahead with next continue \
    of course indeed then the very really thats that's to then you your as a lot makes sense implement build now";

/// Whether the first clause of a reply consists of words of agreement only.
fn agrees(masked: &str) -> bool {
    let clause = masked.split([',', '.', ';', '!', '—', '–']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let clause = clause.split(" but ").next().unwrap_or(clause).to_lowercase();
    let words: Vec<&str> = clause.split_whitespace().collect();
    // "ok, now fix the other bug" changes the subject.
    let is_weak =
        matches!(words[..], ["ok" | "okay" | "good" | "great" | "nice" | "cool" | "fine" | "right" | "sure" | "y"]);
    if is_weak && masked.trim_end_matches(['.', '!', ' ']).len() > clause.trim().len() && !masked.contains(" but ") {
        return false;
    }
    let is_in = |table: &str, word: &str| table.split_whitespace().any(|known| known == word);
    (1..=MAX_AGREEING_WORDS).contains(&words.len())
        && words.iter().any(|word| is_in(ACCEPTING_WORDS, word))
        && words.iter().all(|word| is_in(ACCEPTING_WORDS, word) || is_in(FILLING_WORDS, word))
}

/// Whether a reply starts with a word of agreement, but goes on about something else.
fn continues_otherwise(masked: &str) -> bool {
    static OTHERWISE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:exactly|perfect|build it|implement it|ship it|love the) (?:the same|storm|failed|fails|\w+ (?:failed|again|is broken))|^(?:yes|yeah|yep|ok),? i (?:saw|see|know|get|got|had|have)\b|
                \bexcept\b|\bnow i ?want\b|\b(?:failed|error|errors|broken|crashed)\b",
        )
    });
    OTHERWISE.as_ref().is_none_or(|otherwise| otherwise.is_match(masked))
}

/// Classifies a reply by its first sentence.
pub(super) fn classify_reply(first: &ProseSentence<'_>) -> Option<ProposalReply> {
    static TAKES_BACK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"^(?:ok|okay|yes|yeah|yep|sure)\b.*\b(?:scratch|scrap|forget|wait|cancel|instead|later)\b")
    });
    static TABLE: LazyLock<Vec<(CuePattern, Option<ProposalReply>)>> = LazyLock::new(|| {
        let rows = [
            (NOT_DECLINES, None),
            (ACCEPTS_ALL, Some(ProposalReply::AcceptsAll)),
            (ACCEPTS, Some(ProposalReply::Accepts)),
            (ACCEPTS_ALONE, Some(ProposalReply::Accepts)),
            (DECLINES, Some(ProposalReply::Declines)),
        ];
        rows.into_iter().filter_map(|(table, reply)| Some((compile_pattern(table)?, reply))).collect()
    });
    let takes_back =
        |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_none_or(|back| back.is_match(&first.masked));
    if first.is_question() || takes_back(&TAKES_BACK) {
        return None;
    }
    if continues_otherwise(&first.masked) {
        return None;
    }
    let worded = TABLE.iter().find(|(row, _)| row.is_match(&first.masked));
    // "No, it is installed already" and "no, do the tests first" refuse the moment, not the thing.
    let is_about_time =
        |word: &str| matches!(word.trim_matches(|c: char| !c.is_alphanumeric()), "already" | "first" | "later" | "yet");
    if worded.is_some_and(|(_, reply)| *reply == Some(ProposalReply::Declines))
        && first.masked.split_whitespace().any(is_about_time)
    {
        return None;
    }
    worded.map_or_else(|| agrees(&first.masked).then_some(ProposalReply::Accepts), |(_, reply)| *reply)
}

/// The condition under which a reply accepts something: "ok, but skip the cache", "yes, but make the link valid for a week".
pub(super) fn remark(sentence: &ProseSentence<'_>) -> Option<StatedDecision> {
    static BUT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:^|[\s,—–-])(?:but|except that|just)\b,? (?:please |pls |then |do |we )*(?P<verb>(?:skip|drop|without|leave out|don't|dont|do not|no|not|omit|forget) )?
                (?P<keep>(?:keep|make|use|with|add|rename|put|call|store|let's use|have) )?(?P<rest>\S.*)$",
        )
    });
    static WORK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:run|test|check|commit|push|explain|show|first|wait|fix|let me|i |what|why|how|can|could|is|are|it|that|this|there|they|first)\b)|\bfirst\b",
        )
    });
    if sentence.is_question() || sentence.masked.contains("for now") {
        return None;
    }
    let found = BUT.as_ref()?.captures(&sentence.masked)?;
    let (is_against, is_kept) = (found.name("verb").is_some(), found.name("keep").is_some());
    let rest = found.name("rest")?;
    let is_work = !is_against && !is_kept && WORK.as_ref().is_none_or(|work| work.is_match(rest.as_str()));
    let is_bare = !is_against && !is_kept;
    let chosen = leading_name(sentence.text.get(rest.range())?, rest.as_str()).filter(|_| !is_work && !is_bare)?;
    let state = if is_against { FactState::Refuted } else { FactState::Confirmed };
    Some(StatedDecision { chosen, rejected: None, state })
}

/// The existing alternative named in a refusal: "no, we use X".
pub(super) fn existing_alternative(sentence: &ProseSentence<'_>) -> Option<String> {
    static HAVE: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"^(?:no|nope|nah),? (?:we|i)(?: already| always)? (?:use|are on|run on) "));
    let begins = HAVE.as_ref()?.find(&sentence.masked)?.end();
    leading_name(sentence.text.get(begins..)?, &sentence.masked[begins..])
}

/// The option that a reply repeats from a proposal: "let's do X".
pub(super) fn repeated_option(sentence: &ProseSentence<'_>) -> Option<String> {
    static ECHO: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"\b(?:let's|we'll|we can|i'd|i'll|please|just) (?:do|try|take|have) "));
    if sentence.is_question() {
        return None;
    }
    let begins = ECHO.as_ref()?.find(&sentence.masked)?.end();
    leading_name(sentence.text.get(begins..)?, &sentence.masked[begins..])
}

/// What is retracted without a replacement.
pub(super) fn retracted_subject(sentence: &ProseSentence<'_>) -> Option<String> {
    static BACK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|no|actually|hm|please|so|and|let's|we),? )*(?:forget(?: about)?|scrap|drop|ditch|
                abandon|changed my mind (?:about|on)) ",
        )
    });
    if sentence.is_question() {
        return None;
    }
    let begins = BACK.as_ref()?.find(&sentence.masked)?.end();
    leading_name(sentence.text.get(begins..)?, &sentence.masked[begins..])
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    #[test]
    fn remarks_of_a_reply_are_decisions_of_their_own() {
        for (text, expected) in [
            ("ok go ahead but skip the cache", Some("-cache")),
            ("yes, but keep jenkins until monday", Some("+jenkins")),
            ("2 - but use tabs", Some("+tabs")),
            ("yes, but run the tests first", None),
            ("ok but why", None),
        ] {
            let found = remark(&split_sentences(&[text])[0])
                .map(|made| format!("{}{}", if made.state == FactState::Confirmed { "+" } else { "-" }, made.chosen));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn replies_are_classified_by_their_first_words() {
        use ProposalReply::{Accepts, AcceptsAll, Declines};
        for (text, expected) in [
            ("yes", Some(Accepts)),
            ("ok do it", Some(Accepts)),
            ("ok", Some(Accepts)),
            ("nice go", Some(Accepts)),
            ("ok, this looks amazing, start implementing", Some(Accepts)),
            ("go to the next file", None),
            ("all good, thx", Some(Accepts)),
            ("happy. start", Some(Accepts)),
            ("acceptable, 17 is ok for us", Some(Accepts)),
            ("start the server", None),
            ("exactly the same error again", None),
            ("build it failed with exit 1", None),
            ("everything is fine except the pnpm part", None),
            ("good point about the cache", None),
            ("sounds good, but keep it small", Some(Accepts)),
            ("perfect, do that", Some(Accepts)),
            ("go with your suggestion", Some(Accepts)),
            ("apply all of them", Some(AcceptsAll)),
            ("no", Some(Declines)),
            ("nah, graphql is overkill", Some(Declines)),
            ("I'd rather not, too big", Some(Declines)),
            ("no tests are running", None),
            ("no problem", None),
            ("ok, now fix the other bug", None),
            ("yeah ok scrtach that now i want a rust client", None),
            ("yes, but why?", None),
            ("thanks", None),
            ("yeah, forget about it", None),
            ("thx, interesting.", None),
        ] {
            assert_eq!(classify_reply(&split_sentences(&[text])[0]), expected, "{text}");
        }
    }
}
