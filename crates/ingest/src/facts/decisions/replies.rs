//! Decides whether a human accepts or declines what the model has just proposed.

use std::sync::LazyLock;

use super::cues::compile_pattern;
use super::names::leading_name;
use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;

/// The reply to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProposalReply {
    Accepts,
    /// Accepts several proposals at once.
    AcceptsAll,
    Declines,
}

const ACCEPTS_ALL: &str =
    r"^(?:ok |okay |yes |please |pls )*(?:proceed with|do|implement|apply|accept|approve) (?:all|everything|both)\b";
const ACCEPTS: &str = r"^(?:ok |okay |great |good |cool |nice |perfect |sure |alright |fine )*,? ?(?:yes|yep|
    yeah|yup|sounds (?:good|great|right|reasonable|fine)|go ahead|do it|do that|do this|lgtm|looks good|agreed|
    i agree|go for it|let's do (?:it|that|this)|proceed|perfect|go with (?:your|that|this|it)|i approve|
    approved|works for me|make it so|please do|makes sense|love it)\b";
const ACCEPTS_ALONE: &str =
    r"^(?:ok|okay|sure|good|great|fine|cool|nice|thumbs up|alright)(?: please| pls| then| thanks| thx)?[.! ]*$";
const DECLINES: &str = r"^(?:hm+,? |ugh,? |sorry,? |well,? )?(?:no(?:[,.!]|$| (?:thanks|thank|we|i|that|it|
    please|way|use|not|don't|let's)\b)|(?:nope|nah+|i'd rather not|i would rather not|rather not|let's not|
    don't do (?:that|it)|not a fan)\b)";
/// Words after "no" that make it something other than a refusal.
const NOT_DECLINES: &str = r"^no (?:problem|worries|need|idea|rush|hurry|longer|matter|doubt|one|wonder)\b";

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
    TABLE.iter().find(|(row, _)| row.is_match(&first.masked)).and_then(|(_, reply)| *reply)
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
    fn replies_are_classified_by_their_first_words() {
        use ProposalReply::{Accepts, AcceptsAll, Declines};
        for (text, expected) in [
            ("yes", Some(Accepts)),
            ("ok do it", Some(Accepts)),
            ("ok", Some(Accepts)),
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
            ("yes, but why?", None),
            ("thanks", None),
            ("yeah, forget about it", None),
            ("thx, interesting.", None),
        ] {
            assert_eq!(classify_reply(&split_sentences(&[text])[0]), expected, "{text}");
        }
    }
}
