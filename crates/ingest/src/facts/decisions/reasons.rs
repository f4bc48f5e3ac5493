//! Finds the reason given for a decision or preference.

use std::sync::LazyLock;

use rethread_model::clip;

use super::cues::compile_pattern;
use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;

/// A sentence that states something, and the one after it, which may say why.
#[derive(Clone, Copy)]
pub(super) struct StatedSentence<'a> {
    pub(super) sentence: &'a ProseSentence<'a>,
    pub(super) next: Option<&'a ProseSentence<'a>>,
}

impl StatedSentence<'_> {
    /// The reason that the sentence or the next one gives.
    pub(super) fn reason(&self, subject: &str, is_rejection: bool) -> Option<String> {
        let own = reason_for(subject, self.sentence);
        let added = || reason_after_rejection(self.sentence).filter(|_| is_rejection);
        own.or_else(added).or_else(|| reason_in_next(self.next?))
    }
}

/// The reason in a sentence, unless it only repeats the subject.
pub(super) fn reason_for(subject: &str, sentence: &ProseSentence<'_>) -> Option<String> {
    find_reason(sentence).filter(|reason| !reason.to_lowercase().contains(&subject.to_lowercase()))
}

/// The reason in a sentence: after a word such as "because", or in a clause that follows a comma.
fn find_reason(sentence: &ProseSentence<'_>) -> Option<String> {
    static PROMISED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"(?:^|[,;(]? ?\b)(?:because(?: of)?|since|so that|due to|[,;(] ?otherwise) (?P<why>\S.*)$")
    });
    static ADDED: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"(?:,|,? as) (?P<why>(?:it|it's|we|they|that's|that|there) .*)$"));
    let promised = PROMISED.as_ref()?.captures(&sentence.masked);
    let found = promised.or_else(|| ADDED.as_ref()?.captures(&sentence.masked))?;
    let rest = sentence.text.get(found.name("why")?.start()..)?;
    let is_leading = found.get(0)?.start() == 0;
    let rest = if is_leading { rest.split_once(',')?.0 } else { rest };
    let rest = rest.trim_matches([' ', '.', '!', ',', ')']);
    (rest.len() > 3 && !is_emphasis(rest)).then(|| clip(rest, 240).into_owned())
}

/// Whether a clause only stresses what was said.
fn is_emphasis(clause: &str) -> bool {
    static EMPHASIS: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:that's|it's|that is|it is) (?:a|the|our|just|how) ?(?:house )?(?:rule|policy|standard|convention|we do)",
        )
    });
    EMPHASIS.as_ref().is_some_and(|emphasis| emphasis.is_match(clause))
}

/// The reason in the sentence after a decision, if that sentence explains.
fn reason_in_next(next: &ProseSentence<'_>) -> Option<String> {
    static EXPLAINS: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:because|since|otherwise|it's|it is|it |its |that's|they |too |we can't|we cannot|we don't|our |there's|there are|one |reason)\b",
        )
    });
    if next.is_question() {
        return None;
    }
    find_reason(next).or_else(|| {
        let fits = EXPLAINS.as_ref()?.is_match(&next.masked) && next.text.split_whitespace().count() <= 25;
        let text = next.text.trim_end_matches(['.', '!']);
        fits.then(|| clip(text, 240).into_owned())
    })
}

/// What follows the comma after something that was ruled out: "no redis here, everything runs on Lambda".
fn reason_after_rejection(sentence: &ProseSentence<'_>) -> Option<String> {
    let at = sentence.masked.find(", ")?;
    clause_as_reason(sentence.text.get(at + 2..)?)
}

/// A clause that explains the one before it: long enough, and not an order.
pub(super) fn clause_as_reason(clause: &str) -> Option<String> {
    static NEW_ORDER: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:use|just|let's|lets|go|instead|please|pls|and|or|but|put|keep|make|then|also|we'll|i'll|thanks|ok|for|in|on|at|not)\b",
        )
    });
    let clause = clause.trim_end_matches([',', ';', ' ', '.', '!']);
    let bare =
        ["because of ", "because ", "since ", "as ", "cause ", "cuz "].iter().find_map(|cue| clause.strip_prefix(cue));
    let clause = bare.unwrap_or(clause);
    let is_order = NEW_ORDER.as_ref()?.is_match(clause);
    (!is_order && clause.split_whitespace().count() >= 3 && !is_emphasis(clause))
        .then(|| clip(clause, 240).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    #[test]
    fn reasons_follow_their_cue() {
        for (text, expected) in [
            ("use x because it is fast.", Some("it is fast")),
            ("we settled on x since all servers have it", Some("all servers have it")),
            ("use x, so that we can revoke them", Some("we can revoke them")),
            ("Since it is small, use x", Some("it is small")),
            ("I suggest x, it fits well.", Some("it fits well")),
            ("use x", None),
        ] {
            let sentence = &split_sentences(&[text])[0];
            assert_eq!(find_reason(sentence).as_deref(), expected, "{text}");
        }
    }
}
