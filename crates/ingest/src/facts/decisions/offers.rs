//! Offers at the end of a model's text, which a bare "yes" accepts.

use std::sync::LazyLock;

use rethread_model::clip;

use super::cues::compile_pattern;
use super::prose::prose_lines;
use super::sentences::split_sentences;
use crate::facts::pattern::CuePattern;

/// Maximum length of the name of an offer, in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum length of a stored offer, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// Verbs of work that decides nothing.
const WORK_VERBS: &str = "commit push run rerun continue proceed test check look investigate review start help explain show deploy open do go \
    dig try verify take read find search list give walk wait stop send share clarify debug analyze explore retry restart \
    rebase merge pull fetch know see save finish submit post reply wrap summarize begin get";

/// Titles that name no decision.
const GENERIC_TITLES: &str =
    "summary plan next overview changes question questions notes result results status files testing done";

/// What a text offers, and the words in which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelOffer {
    pub(super) name: String,
    pub(super) text: String,
}

/// What the end of a text offers to do, or asks to confirm.
pub(super) fn find_offer(text: &str) -> Option<ModelOffer> {
    asked_way(text).or_else(|| checked_section(text))
}

/// What the last question of a text asks to do, if it is more than a step of work: "Should I switch to X?", "If you want,
/// I can add a retry."
fn asked_way(text: &str) -> Option<ModelOffer> {
    static ASKED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:\b(?:want me to|like me to|shall (?:i|we)|should (?:i|we)|do you want (?:me )?to|ok to|okay to|can (?:i|we))|
                ^\W*if you(?:'d)? (?:want|like|prefer|agree|wish),? i(?:'ll| can| could|'d)) (?:just |also |instead |now |next |
                first |go ahead and |proceed to |then )*(?P<way>[a-z]+ .{3,})",
        )
    });
    let is_offer = |line: &str| line.trim_start_matches(['*', '-', ' ']).to_lowercase().starts_with("if you");
    let is_asked = |line: &str| line.trim_end_matches(['*', ' ', ')']).ends_with('?');
    let line = text.trim_end().lines().next_back().filter(|line| is_asked(line) || is_offer(line))?;
    let lines = prose_lines(line);
    let sentences = split_sentences(&lines);
    let last = sentences.last().filter(|last| !last.text.contains(" or "))?;
    let way = ASKED.as_ref()?.captures(&last.masked)?.name("way")?;
    let asked = last.text.get(way.range())?.trim_end_matches(['?', '*', ' ', ')', '.']);
    let verb = asked.split_whitespace().next().unwrap_or_default();
    let is_work = WORK_VERBS.split_whitespace().any(|known| known.eq_ignore_ascii_case(verb));
    (!is_work).then(|| offer(asked, last.text))
}

/// The section that a text asks to confirm with a closing question such as "Does this look right?".
fn checked_section(text: &str) -> Option<ModelOffer> {
    static CHECK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:does (?:this|that|it) (?:look|work|make sense|sound|match|seem)|do (?:these|those) (?:look|work|make sense)|
                looks? (?:good|right|ok)|sounds? (?:good|right|ok)|is (?:this|that) (?:ok|okay|right|what you)|
                are you (?:ok|okay|happy) with|do you agree|agree with)\b.{0,60}\?\W*$",
        )
    });
    let last = text.trim_end().lines().next_back()?;
    if !last.contains('?') || !CHECK.as_ref()?.is_match(last) {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let at = lines.iter().rposition(|line| is_title(line))?;
    let title = lines[at].trim_matches(|c: char| matches!(c, '#' | '*' | ':' | ' ' | '.') || c.is_ascii_digit());
    let first = title.split_whitespace().next().unwrap_or_default();
    let is_generic = GENERIC_TITLES.split_whitespace().any(|known| known.eq_ignore_ascii_case(first));
    if is_generic || title.len() < 4 || title.split_whitespace().count() > 9 {
        return None;
    }
    let body = lines.get(at + 1).map(|line| line.trim_start_matches(['-', '*', ' ']));
    let text = body.map_or_else(|| title.to_owned(), |body| format!("{title}: {body}"));
    Some(offer(title, &text))
}

fn is_title(line: &str) -> bool {
    let is_bold =
        line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && line.matches("**").count() == 2;
    line.starts_with('#') || is_bold
}

fn offer(name: &str, text: &str) -> ModelOffer {
    ModelOffer {
        name: clip(&name.to_lowercase(), MAX_NAME_CHARS).into_owned(),
        text: clip(text, MAX_TEXT_CHARS).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<String> {
        find_offer(text).map(|offer| offer.name)
    }

    #[test]
    fn a_section_that_is_to_be_confirmed_is_named() {
        let text = "## Storage layer\n\nOne SQLite file per project.\n\nDoes this look right so far?";
        let found = find_offer(text).unwrap();
        assert_eq!(
            (found.name.as_str(), found.text.as_str()),
            ("storage layer", "Storage layer: One SQLite file per project.")
        );
        assert_eq!(name("## Summary\nAll done.\n\nLooks good?"), None);
        assert_eq!(name("## Storage\nOne file.\n\nWhich database?"), None);
    }

    #[test]
    fn a_way_that_is_asked_for_is_named() {
        for (text, expected) in [
            ("Done.\n\nShould I switch to `pnpm` for the CI jobs?", Some("switch to `pnpm` for the ci jobs")),
            ("Want me to keep the old route?", Some("keep the old route")),
            ("If you want, I can add a retry with backoff.", Some("add a retry with backoff")),
            ("Want me to commit this?", None),
            ("Should I use A or B?", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }
}
