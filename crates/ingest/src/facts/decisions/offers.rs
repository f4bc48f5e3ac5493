//! Offers at the end of a model's text, which a bare "yes" accepts.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::clip;

use super::cues::compile_pattern;
use super::prose::prose_lines;
use super::sentences::split_sentences;

/// Maximum length of the name of an offer, in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum length of a stored offer, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// How far before the closing question its subject is looked for, in lines.
const MAX_LINES_BACK: usize = 14;

/// Verbs of work that decides nothing.
const WORK_VERBS: &str = "commit push run rerun continue proceed test check look investigate review start help explain show deploy open do go \
    dig try verify take read find search list give walk wait stop send share clarify debug analyze explore retry restart \
    rebase merge pull fetch know see save finish submit post reply wrap summarize begin get implement tackle apply draft make write";

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
    match closing_request(text) {
        Some(ClosingRequest::Way(offer)) => Some(offer),
        Some(ClosingRequest::Work) => proposed_change(text).or_else(|| titled_design(text)),
        None => checked_section(text),
    }
}

/// What the last line of a text asks for.
enum ClosingRequest {
    /// A way to do something.
    Way(ModelOffer),
    /// To go on with what the text describes.
    Work,
}

/// What the last line of a text asks to do: "Should I switch to X?", "If you want, I can add a retry.", "Proceed?"
fn closing_request(text: &str) -> Option<ClosingRequest> {
    static ASKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:\b(?:want me to|like me to|shall (?:i|we)|should (?:i|we)|do you want (?:me )?to|would you like (?:me )?to|ready to|ready for me to|
                ok to|okay to|can (?:i|we))|^\W*if (?:you(?:'d)? (?:want|like|prefer|agree|wish|confirm)|useful|so|helpful),? i(?:'ll| will| can| could|'d)) (?:just |
                also |instead |now |next |first |go ahead and |proceed to |then )*(?P<way>[a-z]+(?: .{3,})?)",
        )
    });
    let is_offer = |line: &str| line.trim_start_matches(['*', '-', ' ']).to_lowercase().starts_with("if ");
    let is_asked = |line: &str| line.trim_end_matches(['*', ' ', ')']).ends_with('?');
    let line = text.trim_end().lines().next_back().filter(|line| is_asked(line) || is_offer(line))?;
    let lines = prose_lines(line);
    let sentences = split_sentences(&lines);
    let last = sentences.last()?;
    let way = ASKED.as_ref()?.captures(&last.masked)?.name("way")?;
    let asked = last.text.get(way.range())?.trim_end_matches(['?', '*', ' ', ')', '.']);
    let verb = asked.split_whitespace().next().unwrap_or_default();
    let is_work = WORK_VERBS.split_whitespace().any(|known| known.eq_ignore_ascii_case(verb));
    let is_named = last.text.get(way.range())?.contains('`') || asked.split_whitespace().count() > 3;
    match (is_work || refers_back(asked), last.text.contains(" or ")) {
        (true, _) => Some(ClosingRequest::Work),
        (false, false) if is_named || asked.split_whitespace().count() > 1 => {
            Some(ClosingRequest::Way(offer(asked, last.text)))
        }
        _ => None,
    }
}

/// Whether what is asked for only refers to the text before: "clean that up", "update the test file as well".
fn refers_back(asked: &str) -> bool {
    let words: Vec<String> = asked.split_whitespace().map(str::to_lowercase).collect();
    let refers = |word: &String| matches!(word.as_str(), "this" | "that" | "these" | "those" | "it" | "them");
    let ends_as_well = asked.ends_with("as well") || asked.ends_with(" too");
    (words.len() <= 5 && words.iter().skip(1).any(refers)) || ends_as_well || asked.starts_with("move on")
}

/// The last line of a text that says how something should be done, before the closing question.
fn proposed_change(text: &str) -> Option<ModelOffer> {
    static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:should (?:also )?(?:be|use|move|stay|become|live|go|have|keep|only)|instead of|rather than|replace \S+ with|switch(?:ing)? (?:to|from)|
                i(?:'d| would)? (?:recommend|suggest|propose)|(?:my |the )?(?:recommendation|proposal|plan)(?: is|:)|i'm thinking|best (?:fix|option|approach))",
        )
    });
    // What was done or found already is not offered.
    static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(r"^\W*(?:replaced|removed|added|updated|changed|fixed|moved|renamed|created|implemented|done)\b|\b(?:i've|i have|was|were|already)\b")
    });
    let lines = prose_lines(text.trim_end());
    let before = lines.get(..lines.len().checked_sub(1)?)?;
    let near = &before[before.len().saturating_sub(MAX_LINES_BACK)..];
    let sentences = split_sentences(near);
    let fits = |table: &LazyLock<Option<Regex>>, text: &str| table.as_ref().is_some_and(|table| table.is_match(text));
    let found = sentences.iter().rev().find(|sentence| {
        !sentence.is_question() && fits(&CHANGE, &sentence.masked) && !fits(&DONE, &sentence.masked)
    })?;
    let name = found.text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    Some(offer(&name.replace("**", ""), &found.text.replace("**", "")))
}

/// The design that a text describes under a heading such as "Proposed layout".
fn titled_design(text: &str) -> Option<ModelOffer> {
    static DESIGN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:design|approach|proposal|proposed|architecture|structure|layout|schema|strategy|solution|hierarchy|recommended|recommendation)\b",
        )
    });
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_design = |line: &&str| is_title(line) && DESIGN.as_ref().is_some_and(|design| design.is_match(line));
    let at = lines.iter().rposition(is_design)?;
    section_offer(&lines, at)
}

/// The section that a text asks to confirm with a closing question such as "Does this look right?".
fn checked_section(text: &str) -> Option<ModelOffer> {
    static CHECK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:does (?:this|that|it) (?:look|work|make sense|sound|match|seem)|do (?:these|those) (?:look|work|make sense)|
                looks? (?:good|right|ok)|sounds? (?:good|right|ok)|is (?:this|that) (?:ok|okay|right|what you)|
                are you (?:ok|okay|happy) with|do you agree|agree with)\b.{0,60}\?\W*$",
        )
    });
    if !CHECK.as_ref()?.is_match(text.trim_end().lines().next_back()?) {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let at = lines.iter().rposition(|line| is_title(line))?;
    let offer = section_offer(&lines, at)?;
    let first = offer.name.split_whitespace().next().unwrap_or_default();
    let is_generic = GENERIC_TITLES.split_whitespace().any(|known| known.eq_ignore_ascii_case(first));
    (!is_generic).then_some(offer)
}

/// The section below a title as an offer: its title, and its first line.
fn section_offer(lines: &[&str], at: usize) -> Option<ModelOffer> {
    let title = lines[at].trim_matches(|c: char| matches!(c, '#' | '*' | ':' | ' ' | '.') || c.is_ascii_digit());
    if title.len() < 4 || title.split_whitespace().count() > 9 {
        return None;
    }
    let body = lines.get(at + 1).map(|line| line.trim_start_matches(['-', '*', ' '])).filter(|body| !body.starts_with("```"));
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
            ("All passed. Want me to clean that up too?", None),
            (
                "Two hints:\n- `oldread` should be replaced with `newread`.\n\nWould you like to update the test file as well?",
                Some("`oldread` should be replaced with `newread`."),
            ),
            ("- Replaced `a` with `b` instead of `c`.\n\nShould I continue?", None),
            ("## Proposed layout\n\nOne crate per agent.\n\nShould I proceed?", Some("proposed layout")),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }
}
