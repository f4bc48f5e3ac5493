//! Finds the reason given for a decision or preference.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::clip;

use super::cues::compile_pattern;
use super::sentences::ProseSentence;

/// The reason in a sentence, unless it only repeats the subject.
pub(super) fn reason_for(subject: &str, sentence: &ProseSentence<'_>) -> Option<String> {
    find_reason(sentence).filter(|reason| !reason.to_lowercase().contains(&subject.to_lowercase()))
}

/// The reason in a sentence: after a word such as "because", or in a clause that follows a comma.
fn find_reason(sentence: &ProseSentence<'_>) -> Option<String> {
    static PROMISED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(r"(?:^|[,;(]? ?\b)(?:because(?: of)?|since|so that|due to|otherwise) (?P<why>\S.*)$")
    });
    static ADDED: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile_pattern(r"(?:,|,? as) (?P<why>(?:it|it's|we|they|that's|that|there) .*)$"));
    let promised = PROMISED.as_ref()?.captures(&sentence.masked);
    let found = promised.or_else(|| ADDED.as_ref()?.captures(&sentence.masked))?;
    let rest = sentence.text.get(found.name("why")?.start()..)?;
    let is_leading = found.get(0)?.start() == 0;
    let rest = if is_leading { rest.split_once(',')?.0 } else { rest };
    let rest = rest.trim_matches([' ', '.', '!', ',', ')']);
    (rest.len() > 3).then(|| clip(rest, 240).into_owned())
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
