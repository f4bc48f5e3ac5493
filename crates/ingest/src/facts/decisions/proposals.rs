//! Finds sentences in which the model recommends an option.

use std::sync::LazyLock;

use super::cues::{compile_pattern, may_propose};
use super::names::{is_task, leading_name, span_name};
use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;
use crate::facts::sentence_model::{SentenceContext, Speaker, StatementKind, find_spans, guess_kind};

/// A proposal is accepted if the sentence model considers it at least this likely.
const MIN_LIKELIHOOD: f64 = 0.8;

/// Wordings that start a recommendation, up to what is recommended.
const PROPOSAL_TABLE: &[&str] = &[
    r"\bi(?:'d| would)?(?: strongly| still| really| therefore| also)? (?:recommend|suggest|propose|
        go with) (?:that )?(?P<who>(?:we|you) )?(?:just )?(?P<way>(?:using|use|adopting|adopt|switching to|
        switch to|moving to|going with|go with|keeping|sticking with|sticking to|choosing|picking|staying with|
        storing \w+ (?:as|in)) )?",
    r"^\W*my (?:recommendation|suggestion|proposal)(?: is|\*\*:|:\*\*|:) ?(?:to )?(?P<way>(?:use|using|go with|
        adopt|switch to|keep) )?",
];

static PROPOSAL_ROWS: LazyLock<Vec<CuePattern>> =
    LazyLock::new(|| PROPOSAL_TABLE.iter().filter_map(|table| compile_pattern(table)).collect());

/// What a sentence of the model recommends, if anything. Most sentences have no words for it, so they are looked for first.
pub(super) fn find_proposal(sentence: &ProseSentence<'_>) -> Option<String> {
    if sentence.is_question() {
        return None;
    }
    let may_count = |_: &String| !is_weak(sentence);
    worded_proposal(sentence).filter(may_count).or_else(|| classified_proposal(sentence))
}

/// What the sentence model takes for a recommendation, in a wording that no row of the table knows.
fn classified_proposal(sentence: &ProseSentence<'_>) -> Option<String> {
    if !may_propose(sentence.text) || is_weak(sentence) {
        return None;
    }
    let guess = guess_kind(sentence.text, SentenceContext::of(Speaker::Assistant));
    if guess.kind != StatementKind::Proposes || guess.likelihood < MIN_LIKELIHOOD {
        return None;
    }
    let span = find_spans(sentence.text, guess.kind).subject?;
    span_name(sentence.text.get(span)?).filter(|name| !is_action(name) && !is_work_item(name))
}

/// What a recommendation speaks against: "X instead of Y".
pub(super) fn rejected_option(sentence: &ProseSentence<'_>) -> Option<String> {
    static AGAINST: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r" (?:instead of|rather than|over) "));
    let begins = AGAINST.as_ref()?.find(&sentence.masked)?.end();
    leading_name(sentence.text.get(begins..)?, &sentence.masked[begins..]).filter(|name| !is_action(name))
}

fn worded_proposal(sentence: &ProseSentence<'_>) -> Option<String> {
    PROPOSAL_ROWS.iter().find_map(|row| {
        let found = row.captures(&sentence.masked)?;
        let begins = found.get(0)?.end();
        let (text, masked) = (sentence.text.get(begins..)?, &sentence.masked[begins..]);
        let is_way = found.name("way").is_some();
        if found.name("who").is_some() && !is_way {
            return None;
        }
        leading_name(text, masked).filter(|name| is_way || !is_action(name)).filter(|name| !is_work_item(name))
    })
}

/// Whether a sentence recommends nothing although it has the words for it.
fn is_weak(sentence: &ProseSentence<'_>) -> bool {
    static WEAK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:if you|if we|unless|don't|do not|wouldn't|would not|not yet|could|they|docs?|readme|can i|
                may i|shall i|before i|recommend against|suggest not)\b|\bnot\b.*\b(?:recommend|suggest)",
        )
    });
    WEAK.as_ref().is_none_or(|weak| weak.is_match(&sentence.masked))
}

/// Whether a name starts with an action, which is a step of work and not a decision.
fn is_action(name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    let is_gerund = first.len() > 5 && first.ends_with("ing");
    is_gerund || is_task(name)
}

/// Whether a name is something to read or do next rather than to decide.
fn is_work_item(name: &str) -> bool {
    let last = name.rsplit(' ').next().unwrap_or_default();
    matches!(
        last,
        "change" | "changes" | "order" | "steps" | "fixes" | "fix" | "improvements" | "tests" | "next" | "updates"
    ) || name.starts_with("commit")
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;

    #[test]
    fn recommendations_are_named() {
        for (text, expected) in [
            ("I recommend using Redis with a TTL, because expiry is free.", Some("redis with ttl")),
            ("I suggest switching to simd-json for the ingest path.", Some("simd-json")),
            ("For this volume I recommend RabbitMQ.", Some("rabbitmq")),
            ("I'd recommend Unleash here.", Some("unleash")),
            ("I would suggest a channel, since it has a loop.", Some("channel")),
            ("I propose the prefix `flux-` for all crates.", Some("prefix flux-")),
            ("My recommendation: **Deno** - one binary", Some("deno")),
            ("I suggest storing everything as UTC and more.", Some("utc")),
            ("We could use Meilisearch.", None),
            ("I'd suggest the following edits:", None),
            ("I suggest adding a test.", None),
            ("The README recommends running Postgres 15.", None),
            ("I would not recommend Redis.", None),
            ("I recommend against local storage.", None),
            ("I recommend trying option 2.", None),
        ] {
            assert_eq!(find_proposal(&split_sentences(&[text])[0]).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn every_table_row_compiles() {
        assert_eq!(PROPOSAL_ROWS.len(), PROPOSAL_TABLE.len());
    }
}
