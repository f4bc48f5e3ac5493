//! The design that a model's text describes and asks to confirm, in a few of its own lines.

use std::sync::LazyLock;

use rethread_model::clip;

use super::cues::compile_pattern;
use super::names::leading_name;
use super::proposals::{find_proposal, rejected_option};
use super::prose::prose_lines;
use super::sentences::{ProseSentence, is_list_line, split_sentences};
use crate::facts::pattern::CuePattern;

/// Maximum length of the name of a design, in characters.
const MAX_NAME_CHARS: usize = 60;
/// Maximum length of a stored design, in characters.
const MAX_TEXT_CHARS: usize = 480;
/// Maximum number of lines that describe it.
const MAX_LINES: usize = 8;

/// Titles that say what kind of section follows, and name no design.
const GENERIC_TITLES: &str = "summary plan next overview changes question questions notes result results status files testing done \
    section phase step proposal design structure approach layout architecture recommendation options option limits flow api public";

/// A design: its name, what it replaces, and the lines that describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedDesign {
    pub(super) name: String,
    /// Whether the name is that of an option which the text proposes.
    pub(super) is_option: bool,
    pub(super) rejected: Option<String>,
    pub(super) text: String,
}

/// The design that a text describes; `None` if the text reports what was done, or only explains something.
pub(super) fn described_design(text: &str) -> Option<DescribedDesign> {
    if reports_work(text) || !plans_something(text) {
        return None;
    }
    let lines = design_lines(text);
    // A few lines with a piece of work in them describe a task.
    if lines.len() < 4 && lines.iter().take(2).any(|line| orders_work(line)) {
        return None;
    }
    let first = lines.first()?;
    let prose = prose_lines(text);
    let sentences = split_sentences(&prose);
    let proposed: Vec<(String, &ProseSentence<'_>)> =
        sentences.iter().filter_map(|one| Some((find_proposal(one)?, one))).collect();
    let titles = specific_titles(text);
    let (name, rejected) = match (&proposed[..], &titles[..]) {
        ([(name, sentence)], _) => (name.clone(), rejected_option(sentence)),
        (_, []) => (line_name(first), None),
        // Several sections on one level: none of their titles names the whole.
        (_, [(level, _), rest @ ..]) if rest.iter().any(|(other, _)| other == level) => return None,
        (_, [(_, title), ..]) => (title.clone(), None),
    };
    let text = lines
        .iter()
        .filter(|line| !line.starts_with("If "))
        .take(MAX_LINES)
        .map(|line| line.trim_end_matches(['.', ';', ',']))
        .collect::<Vec<_>>();
    Some(DescribedDesign {
        is_option: proposed.len() == 1,
        name: clip(&name, MAX_NAME_CHARS).trim().to_owned(),
        rejected,
        text: clip(&text.join("; "), MAX_TEXT_CHARS).into_owned(),
    })
}

/// The lines that describe a design: recommendations first, then items, then sentences that say how something will be.
fn design_lines(text: &str) -> Vec<String> {
    let (mut recommended, mut items, mut others, mut rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut is_skipped, mut is_below_heading, mut follows_gap) = (false, false, false);
    for line in prose_lines(text) {
        if line.is_empty() {
            follows_gap = true;
            continue;
        }
        if let Some(title) = title(line) {
            (is_skipped, is_below_heading, follows_gap) = (is_side_topic(title), line.starts_with('#'), false);
            continue;
        }
        // A bold title has one list or paragraph below it.
        is_skipped &= is_below_heading || !std::mem::take(&mut follows_gap) || is_list_line(line);
        let label = line.trim_start_matches(['*', '-', ' ']).split([':', '*']).next().unwrap_or_default();
        if is_skipped || is_side_topic(label) {
            continue;
        }
        let is_item = is_list_line(line);
        // What ends with a colon announces the lines below it.
        let is_said = |one: &ProseSentence<'_>| !one.is_question() && !one.text.ends_with(':');
        for sentence in split_sentences(&[line]).into_iter().filter(is_said) {
            let bare = sentence.text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
            let bare = bare.replace("**", "");
            if recommends(&sentence.masked) {
                recommended.push(bare);
            } else if is_item {
                items.push(bare);
                break;
            } else if says_how_it_will_be(&sentence.masked) {
                others.push(bare);
            } else if sentence.text.split_whitespace().count() > 3 {
                rest.push(bare);
            }
        }
    }
    [recommended, items, others, rest].concat()
}

/// The text of a line that is a title.
pub(super) fn title(line: &str) -> Option<&str> {
    let is_bold =
        line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && line.matches("**").count() == 2;
    (line.starts_with('#') || is_bold).then(|| line.trim_matches(['#', '*', ':', ' ']))
}

/// The titles that name something, each with its level.
fn specific_titles(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().map(str::trim);
    let titles = lines.filter_map(|line| Some((line.bytes().take_while(|byte| *byte == b'#').count(), title(line)?)));
    let bare = titles.map(|(level, title)| (level, title.split_once(": ").map_or(title, |(_, name)| name).trim()));
    let names_something = |title: &str| {
        let words: Vec<&str> = title.split_whitespace().collect();
        (2..=8).contains(&words.len())
            && !is_side_topic(title)
            && !GENERIC_TITLES.split_whitespace().any(|known| known.eq_ignore_ascii_case(words[0]))
    };
    bare.filter(|(_, title)| names_something(title)).map(|(level, title)| (level, title.to_lowercase())).collect()
}

fn line_name(line: &str) -> String {
    let end = [": ", " — ", " – ", " - ", ". ", "; ", ", "].iter().filter_map(|mark| line.find(mark)).min();
    let short = &line[..end.filter(|end| *end > 3).unwrap_or(line.len())];
    leading_name(short, short).filter(|name| name.contains(' ')).unwrap_or_else(|| short.to_lowercase())
}

/// Whether a section is about the circumstances of a design.
fn is_side_topic(title: &str) -> bool {
    static SIDE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:the )?(?:trade-?offs?|pros|cons|risks?|costs?|what (?:this|it) (?:buys|costs)|context|background|problem|current|today|findings?|
                alternatives?|why|requirements|what works|benefits?|downsides?|upsides?|summary of|verification|next steps|open questions|note|caveats?|advantages|disadvantages)\b",
        )
    });
    SIDE.as_ref().is_some_and(|side| side.is_match(title.trim()))
}

/// Whether a line announces a piece of work: "I'd change one line and add a test".
fn orders_work(line: &str) -> bool {
    static WORK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\bi'd (?:just )?(?:change|fix|edit|patch|update|run|check|look|test|write)\b|\b(?:found it|root cause|the bug)\b",
        )
    });
    WORK.as_ref().is_some_and(|work| work.is_match(line))
}

fn recommends(masked: &str) -> bool {
    static CUE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:i|we)(?:'d| would)? (?:strongly )?(?:recommend|suggest|propose|pick|choose|go with|start with|put|use|keep|lean|prefer)\b|
                \b(?:recommendation|proposal)\b|\bslight preference\b|\bi'd\b",
        )
    });
    CUE.as_ref().is_some_and(|cue| cue.is_match(masked))
}

fn says_how_it_will_be(masked: &str) -> bool {
    static CUE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:instead of|rather than|we'll|i'll|we would|would be|will (?:be|use|live|stay|go|have|get)|is stored|are stored|stays?|remains?|lives?|
                becomes?|only|never|always|leave|leaving|drops?|dropped|replaces?|uses?|must|may not|enforces?)\b|^(?:no|one|each|every|unknown|all|there's no|there is no) ",
        )
    });
    CUE.as_ref().is_some_and(|cue| cue.is_match(masked))
}

/// Whether a text is about what will be, rather than about what is.
fn plans_something(text: &str) -> bool {
    static PLAN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:i'd|i would|we'd|we would|we'll|i'll|will be|would be|propos\w+|recommend\w*|suggest\w*|design|approach|plan|architecture|section|phase|
                instead of|rather than|option|structure|layout|strategy|leaving|here's (?:the|how|what)|so the)\b",
        )
    });
    static CHECK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\bdo(?:es)? (?:this|that|it|these|those) .{0,30}?(?:look|work|make sense|sound|match|fit)\b|\bgood to go\b|\bhappy with\b",
        )
    });
    let fits = |table: &LazyLock<Option<CuePattern>>| table.as_ref().is_some_and(|table| table.is_match(text));
    fits(&PLAN) || fits(&CHECK)
}

/// Whether a text reports work that was done.
pub(super) fn reports_work(text: &str) -> bool {
    static DONE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^\W*(?:done|fixed|all (?:done|set|tests|\d+ tests|committed|green)|i(?:'ve| have)|i (?:added|fixed|updated|changed|removed|created|implemented|moved|
                renamed|committed|pushed|ran|refactored)|updated|committed|pushed|implemented|completed?|finished|success|the (?:tests|build|migration|fix|change|refactor) (?:pass|is (?:done|in|complete)|was|now)|the (?:bug|issue|problem|error).{0,40} (?:is|are) (?:fixed|resolved|gone))\b|
                \bhere(?:'s| is) what (?:i|we)(?:'ve)? (?:did|added|changed|fixed|updated|built|created|removed|implemented)\b|\b(?:is|are) (?:all set up|up and running|now working|set up and working)\b",
        )
    });
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    DONE.as_ref().is_none_or(|done| done.is_match(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_is_named_and_described_by_its_lines() {
        let text = "## Storage layer\n\nHere's the plan.\n\n- One SQLite file per project\n- Keys are hashed\n\n\
                    **Trade-offs**\n- slower start\n\nNo server and no daemon.";
        let found = described_design(text).unwrap();
        assert_eq!(found.name, "storage layer");
        assert_eq!(found.text, "One SQLite file per project; Keys are hashed; No server and no daemon");
        let found = described_design("Given your load I'd use Redis instead of a table. It has TTLs.").unwrap();
        assert_eq!((found.name.as_str(), found.rejected.as_deref()), ("redis", Some("table")));
    }

    #[test]
    fn reports_and_explanations_are_no_designs() {
        for text in [
            "Done. I added the retry.\n\n- `a.rs`: loop\n- `b.rs`: test",
            "I've updated the docs:\n- one\n- two",
            "The parser reads a line and splits it.",
        ] {
            assert_eq!(described_design(text), None, "{text}");
        }
    }
}
