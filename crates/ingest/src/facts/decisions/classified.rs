//! Finds statements with the sentence model, where no rule knows the wording.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::cues::{compile_pattern, is_foreign};
use super::marked_names::{completed, is_weak_name};
use super::names::{span_name, statement_name};
use super::polarity::is_against;
use super::sentences::ProseSentence;
use crate::facts::pattern::CuePattern;
use crate::facts::sentence_model::{
    SentenceContext, SentenceGuess, StatementKind, find_spans, guess_kind, is_known_language,
};

/// A statement is accepted if the model considers it at least this likely.
const MIN_LIKELIHOOD: f64 = 0.72;
/// The model has little to go by in a short sentence, so it is never very sure of one: (words, how much less is enough).
const SHORT_SENTENCES: [(usize, f64); 3] = [(6, 0.2), (10, 0.12), (16, 0.05)];
/// A lasting wish is easily confused with a task.
const MIN_PREFERENCE_LIKELIHOOD: f64 = 0.5;
/// A clause is taken out of its sentence, so the model has to be surer.
const MIN_CLAUSE_LIKELIHOOD: f64 = 0.78;
/// What may well be a task, or holds only for a while, needs a surer model.
const MIN_DOUBTFUL_LIKELIHOOD: f64 = 0.86;
/// Words of a report or a task do not matter if the model is at least this sure.
const CERTAIN_LIKELIHOOD: f64 = 0.93;
/// Longer sentences are descriptions.
const MAX_WORDS: usize = 45;
/// A longer statement is not named by its own words.
const MAX_NAMED_WORDS: usize = 20;
/// A shorter clause names nothing.
const MIN_CLAUSE_WORDS: usize = 4;

/// A statement that the model recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassifiedStatement {
    pub(super) kind: StatementKind,
    /// What it is about.
    pub(super) subject: String,
    /// The alternative.
    pub(super) other: Option<String>,
}

/// What a human's sentence states, if the model is sure enough: the sentence as a whole, or one of its clauses.
pub(super) fn classify(sentence: &ProseSentence<'_>, context: SentenceContext) -> Option<ClassifiedStatement> {
    if is_foreign(&sentence.masked) || !is_known_language(sentence.text) || is_output(sentence.text) {
        return None;
    }
    if let Some(request) = polite_request(sentence) {
        return classify_part(sentence, request, context, MIN_CLAUSE_LIKELIHOOD);
    }
    if sentence.is_question() || is_open(&sentence.masked) {
        return classify_beside_request(sentence, context);
    }
    let words = sentence.text.split_whitespace().count();
    let whole = (words <= MAX_WORDS && !is_hedged(&sentence.masked)).then_some(0..sentence.text.len());
    let enough =
        MIN_LIKELIHOOD - SHORT_SENTENCES.iter().find(|(most, _)| words <= *most).map_or(0.0, |(_, less)| *less);
    whole.and_then(|whole| classify_part(sentence, whole, context, enough)).or_else(|| {
        clauses(&sentence.masked)
            .into_iter()
            .filter(|clause| is_main_clause(&sentence.masked[clause.clone()]))
            .find_map(|clause| classify_part(sentence, clause, context, MIN_CLAUSE_LIKELIHOOD))
    })
}

/// What a sentence states before or after a request: "can you fix the header, I want it on the left".
fn classify_beside_request(sentence: &ProseSentence<'_>, context: SentenceContext) -> Option<ClassifiedStatement> {
    static REQUEST: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| compile_pattern(r"(?:^|[,;—–.]| )(?:can|could|would|will) (?:you|u)\b"));
    let masked = &sentence.masked;
    let request = REQUEST.as_ref()?.find(masked)?;
    let (before, after) = (masked.get(..request.start())?, masked.get(request.end()..)?);
    let after = after.find([',', ';']).filter(|_| !sentence.is_question()).map(|at| request.end() + at + 1);
    let parts = [Some(0..before.len()), after.map(|start| start..masked.len())];
    parts.into_iter().flatten().flat_map(|part| clauses_in(masked, &part)).find_map(|clause| {
        is_main_clause(&masked[clause.clone()])
            .then(|| classify_part(sentence, clause, context, MIN_CLAUSE_LIKELIHOOD))
            .flatten()
    })
}

/// The clauses of a part of a sentence, or the part itself if it is one clause, without spaces around them.
fn clauses_in(masked: &str, part: &Range<usize>) -> Vec<Range<usize>> {
    let text = &masked[part.clone()];
    let mut found = clauses(text);
    if found.is_empty() && text.split_whitespace().count() >= MIN_CLAUSE_WORDS {
        found.push(0..text.len());
    }
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let place = |clause: Range<usize>| {
        let words = &text[clause.clone()];
        let start = clause.end - words.trim_start_matches(is_mark).len();
        let end = clause.start + words.trim_end_matches(is_mark).len();
        part.start + start..part.start + end
    };
    found.into_iter().map(place).filter(|clause| clause.start < clause.end).collect()
}

/// What a part of a sentence states.
fn classify_part(
    sentence: &ProseSentence<'_>,
    part: Range<usize>,
    context: SentenceContext,
    min_likelihood: f64,
) -> Option<ClassifiedStatement> {
    // What announces a statement is not part of it.
    let lead = lead_in(sentence.masked.get(part.clone())?);
    let part = part.start + lead..part.end;
    let (text, masked) = (sentence.text.get(part.clone())?, sentence.masked.get(part)?);
    let guess = guess_kind(text, context);
    let (wish, likelihood) = guess.wish();
    let is_sure = likelihood >= min_likelihood
        && (wish != StatementKind::Prefers
            || guess.likelihood_of([StatementKind::Prefers, StatementKind::Forbids]) >= MIN_PREFERENCE_LIKELIHOOD);
    let is_certain = likelihood >= CERTAIN_LIKELIHOOD;
    if !is_sure || (is_report(masked) && !is_certain) || is_open(masked) || is_hedged(masked) {
        return None;
    }
    let spans = find_spans(text, wish);
    let name = |span: Option<Range<usize>>| span_name(text.get(span?)?);
    let marked = spans.subject.clone().filter(|marked| name(Some(marked.clone())).is_some());
    let kind = kind_by_words(guess, marked.as_ref(), masked);
    let is_wish = matches!(kind, StatementKind::Chooses | StatementKind::Prefers) && spans.other.is_none();
    let subject = marked.and_then(|marked| name(Some(completed(masked, &marked, is_wish))));
    // Items of a list are steps of a task or parts of a specification; only rules are listed as well.
    let is_rule = matches!(kind, StatementKind::Prefers | StatementKind::Forbids);
    if kind == StatementKind::Chooses && lead == 0 && is_task(masked) && !is_certain {
        return None;
    }
    let is_item = sentence.is_list_item && !is_rule;
    let is_short_lived = is_passing(masked) && kind != StatementKind::Rejects;
    // Someone who stops the agent often means only what it was about to do.
    let is_one_off = kind == StatementKind::Forbids && context.is_refusal;
    let is_doubtful = is_item || is_short_lived || is_one_off;
    if is_doubtful && likelihood < MIN_DOUBTFUL_LIKELIHOOD {
        return None;
    }
    let other = name(spans.other.clone())
        .filter(|_| kind != StatementKind::Forbids || is_replacement(masked, spans.other.clone()));
    let is_weak = |name: &String| {
        matches!(kind, StatementKind::Chooses | StatementKind::Prefers)
            && other.is_none()
            && spans
                .subject
                .as_ref()
                .and_then(|span| masked.get(..span.start))
                .is_some_and(|before| is_weak_name(name, before))
    };
    match subject.filter(|subject| !is_weak(subject)) {
        Some(subject) => Some(ClassifiedStatement { kind, subject, other }),
        // Without a name for the thing, the statement is named by its own words, and it is for what they say.
        None => contrast(text, kind).or_else(|| {
            let subject = statement_name(text.get(named_part(masked, spans.subject.as_ref())?)?)?;
            Some(ClassifiedStatement { kind, subject, other: None })
        }),
    }
}

/// The part that names a statement: all of a short one, otherwise the clause around the marked word.
fn named_part(masked: &str, marked: Option<&Range<usize>>) -> Option<Range<usize>> {
    if masked.split_whitespace().count() <= MAX_NAMED_WORDS {
        return Some(0..masked.len());
    }
    clauses(masked).into_iter().find(|clause| marked.is_some_and(|marked| clause.contains(&marked.start)))
}

/// The two sides of "not mongo, postgres".
fn contrast(text: &str, kind: StatementKind) -> Option<ClassifiedStatement> {
    let (against, chosen) = text.strip_prefix("not ").or_else(|| text.strip_prefix("Not "))?.split_once(", ")?;
    let is_name = |part: &str| part.split_whitespace().count() <= 3;
    let (subject, other) = (span_name(chosen)?, span_name(against)?);
    (is_name(against) && is_name(chosen)).then_some(ClassifiedStatement { kind, subject, other: Some(other) })
}

/// Whether something is put off, left out of a commit, or tried again.
fn is_passing(masked: &str) -> bool {
    static PASSING: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(r"\b(?:try again|out of (?:the|this|that) (?:commit|pr|branch|diff)|for now)\b")
    });
    PASSING.as_ref().is_some_and(|passing| passing.is_match(masked))
}

/// The part of a question that is a polite request for a certain way: "can you use X instead?"
fn polite_request(sentence: &ProseSentence<'_>) -> Option<Range<usize>> {
    static POLITE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:^|[,.;:] |\b(?:and|so|but|ok|okay|btw|please),? )(?:can|could|would) (?:you|we)(?: please| pls| also| just| maybe| instead| then| rather)* (?P<wish>[a-z].+)$",
        )
    });
    static WAY: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:instead|rather than|replace .+ (?:with|by)|keep|without|only|get rid of|rename|switch to|by default|no longer|separate|call (?:it|this|that))\b|^use\b",
        )
    });
    let wish = POLITE.as_ref()?.captures(&sentence.masked)?.name("wish")?;
    let is_way = WAY.as_ref().is_some_and(|way| way.is_match(wish.as_str()));
    let end = wish.end() - wish.as_str().len() + wish.as_str().trim_end_matches(['?', ' ', '!']).len();
    is_way.then_some(wish.start()..end)
}

/// The clauses of a sentence with at least a few words, if it has several.
fn clauses(masked: &str) -> Vec<Range<usize>> {
    static SPLIT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[,;—–] ?(?:and |but |so |then )?| - |  +| but ").ok());
    let Some(split) = SPLIT.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut start = 0;
    for mark in split.find_iter(masked) {
        found.push(start..mark.start());
        start = mark.end();
    }
    if found.is_empty() {
        return found;
    }
    found.push(start..masked.len());
    found.retain(|part| masked[part.clone()].split_whitespace().count() >= MIN_CLAUSE_WORDS);
    found
}

/// Whether a clause stands on its own: a part of another one describes something.
fn is_main_clause(masked: &str) -> bool {
    static MAIN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:and|but|so|then|also|please|pls|rather|instead|actually|yes|no|nah),? )*(?:i|i'd|i'll|we|we'll|we'd|it|they|this|that|these|let's|
                lets|use|keep|make|put|no|not|don't|dont|do not|never|just|only|call|drop|skip|leave|rename|replace|stick|stay|go|move|
                (?:the|our|all|every|each|my) [\w`-]+(?: [\w`-]+)? (?:should|must|needs?|goes|stays?|is|are))\b",
        )
    });
    MAIN.as_ref().is_some_and(|main| main.is_match(masked))
}

/// Whether a part of a prohibition says what to use instead.
fn is_replacement(masked: &str, span: Option<Range<usize>>) -> bool {
    let Some(span) = span else { return false };
    let to_end = masked.get(..span.end).unwrap_or_default().to_lowercase();
    let from = to_end.floor_char_boundary(span.start.saturating_sub("instead of that prefer ".len()));
    ["use ", "prefer ", "instead", "go with ", "stick to ", "write ", "just "]
        .iter()
        .any(|cue| to_end[from..].contains(cue))
}

/// The kind of a statement. The model knows decisions from preferences; whether they are for or against something, the
/// words around the name say more reliably.
fn kind_by_words(guess: SentenceGuess, subject: Option<&Range<usize>>, masked: &str) -> StatementKind {
    use StatementKind::{Chooses, Forbids, Prefers, Rejects};
    let is_against = subject.is_some_and(|subject| is_against(masked, subject));
    let is_lasting = guess.likelihood_of([Prefers, Forbids]) > guess.likelihood_of([Chooses, Rejects]);
    // "You keep adding comments" is a complaint, whatever it names.
    let is_complaint = subject.is_some()
        && (masked.to_lowercase().starts_with("you keep ") || masked.to_lowercase().starts_with("you always "));
    match (is_lasting, is_against || is_complaint) {
        (true, true) => Forbids,
        (true, false) => Prefers,
        (false, true) => Rejects,
        (false, false) => Chooses,
    }
}

/// Whether a line looks like printed output: columns, prompts or signs instead of words.
fn is_output(text: &str) -> bool {
    let signs = text.chars().filter(|c| "|=<>{}[]()#$%&*\\/_~^·•│─".contains(*c)).count();
    text.trim().contains("   ") || text.starts_with(['$', '>', '[', '│', '|']) || signs * 6 > text.chars().count()
}

/// Length of what announces a statement: "for the record:", "decision:", "fyi,".
fn lead_in(masked: &str) -> usize {
    static LEAD: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:so|ok|okay|and|just|also|oh|btw|fyi|hey|alright|right|well|hm+),? )*(?:for the record|fyi|btw|note|reminder|heads up|
                decision|decided|update|important|ps|one more thing|general rule|rule|house rule|after thinking about it|on second thought)[:,] ?",
        )
    });
    LEAD.as_ref().and_then(|lead| lead.find(masked)).map_or(0, |lead| lead.end())
}

/// Whether a sentence only orders a piece of work, without saying how it has to be.
fn is_task(masked: &str) -> bool {
    static TASK: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:(?:ok|okay|and|so|now|then|also|please|pls|just|go|lets|let's|yes|yeah),? )*(?:build|create|add|write|implement|fix|run|rerun|
                check|look|update|test|deploy|open|show|explain|refactor|investigate|commit|push|merge|rebase|review|find|debug|
                clean|generate|list|read|continue|start|restart|try|help|copy|search|give|verify|audit|tackle|compute|compare|call the|turn|scan|install|bring|perform|scrape|summarize) ",
        )
    });
    TASK.as_ref().is_some_and(|task| task.is_match(masked)) && !says_how(masked)
}

/// Whether a sentence says in which way something has to be.
fn says_how(masked: &str) -> bool {
    static DESIGN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"(?:^|[ ,(])(?:instead|rather|not|only|should|must|always|never|by default|default|over|no|without|separate|same|opt-in|opt in|cross-\w+|because|
                since|so that)\b",
        )
    });
    DESIGN.as_ref().is_some_and(|design| design.is_match(masked))
}

/// Whether a sentence leaves open what will be done: it asks without a question mark, or supposes something.
fn is_open(masked: &str) -> bool {
    static OPEN: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"^(?:hm+|so+ |and |but |ok |okay |also |then )*,? ?(?:why|how|what|what's|whats|which|where|who|can you|could you|
                could we|can we|should we|should i|is it|is there|do we|do you|does|did|are we|would it|if|for example|e\.g|
                imagine|suppose|let me know|let's see|lets see|you are|the (?:issue|problem|bug|error|cause) (?:is|was)|turns out)\b|
                (?:,? no| right|,? correct| or not| or what)[.! ]*$",
        )
    });
    OPEN.as_ref().is_none_or(|open| open.is_match(masked))
}

/// Whether a sentence, or a clause of it, only weighs something up.
fn is_hedged(masked: &str) -> bool {
    static HEDGE: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:maybe|perhaps|probably|shall|might|hmm+|not sure|unsure|i guess|i wonder|wondering|i suppose|i worry|i believe|what if|
                just show|only show|could be|either way|i think[.!]*$|don't know|dont know|no idea|at some point|some day|someday|used to|
                feel free|don't mind|dont mind|do not mind|inclined to|agreed on (?:that|this|it)|it (?:feels|seems|looks)|seems like|feels like|looks like|afaik|we can expect|
                i'm pretty sure)\b|^(?:and |so |also |but )*(?:that way|this would|that would|the reason)\b",
        )
    });
    HEDGE.as_ref().is_none_or(|hedge| hedge.is_match(masked))
}

/// Whether a sentence reports that something is broken.
fn is_report(masked: &str) -> bool {
    static REPORT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        compile_pattern(
            r"\b(?:fails?|failed|failing|broken|breaks|crash(?:es|ed|ing)?|throws?|threw|errors? (?:out|with|in)|doesn't work|
                does not work|not working|still (?:shows?|gets?|says|has|see)|i (?:get|got|see|saw|deleted|made|added|changed|ran|tried)|
                (?:not|isn't|wasn't) the (?:problem|issue|cause|culprit|reason|bug)|i (?:don't|do not) (?:have|care)|the other one|out of (?:date|sync|memory|space|order)|
                dead code|this time|(?:always|never) (?:returns|fails|shows|throws|crashes|happens|works|breaks|gets|takes|prints|runs|comes|goes|says|ends)|on (?:this|my|your) (?:laptop|machine|computer|mac|box)|(?:customers?|clients?|competitors?|vendors?|boss|manager|colleagues?|team|everyone|people|someone|they|he|she) (?:does|do|did|doesn't|don't|wants?|decided|asks?|asked|said|says|thinks?|suggests?|suggested|likes?|hates?)|
                i(?:'m| am) (?:trying|working on|having|getting|seeing|looking)|previously|(?:is|are|was|were|get|gets) (?:lost|gone|logged out|missing|empty|stuck|blank|slow|null|undefined)|
                (?:tonight|tomorrow|asap|by friday|immediately|for this (?:phase|task|session|turn|round|pr|commit|run)))\b",
        )
    });
    REPORT.as_ref().is_none_or(|report| report.is_match(masked))
}

#[cfg(test)]
mod tests {
    use super::super::sentences::split_sentences;
    use super::*;
    use crate::facts::sentence_model::Speaker;

    fn shown(text: &str) -> Option<String> {
        let found = classify(&split_sentences(&[text])[0], SentenceContext::of(Speaker::Human))?;
        let other = found.other.map(|other| format!(" / {other}")).unwrap_or_default();
        Some(format!("{} {}{other}", found.kind.as_str(), found.subject))
    }

    #[test]
    fn plain_sentences_without_a_known_wording_are_recognized() {
        // D37
        for (text, expected) in [
            ("no redis here, we are serverless", "reject redis"),
            ("don't use axios, use ky", "forbid axios / ky"),
            ("no em dashes please", "forbid em dashes"),
            ("stop adding comments everywhere", "forbid adding comments"),
            ("so for the record: no Redis in this project, everything runs on Lambda", "reject redis"),
            ("not mongo, postgres", "choose postgres / mongo"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_wish_beside_a_request_is_recognized() {
        for (text, expected) in [
            ("Can you fix the header, I want the logo to sit on the left", Some("logo to sit on left")),
            ("can you look at the header, it is broken again", None),
            ("can you explain the header, I want to understand it", None),
        ] {
            let found = shown(text);
            let name = found.as_deref().and_then(|found| found.split_once(' ')).map(|(_, name)| name);
            assert_eq!(name, expected, "{text}");
        }
    }

    #[test]
    fn what_is_turned_down_never_reads_like_a_wish() {
        for text in ["no more than 3 retries", "no more than 80 columns please", "not jest", "never mind the tests"] {
            let found = shown(text);
            assert!(
                found.as_ref().is_none_or(|found| !found.starts_with("choose") && !found.starts_with("prefer")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn hedges_questions_and_tasks_are_not_statements() {
        for text in [
            "hmm maybe redis",
            "should we use redis instead",
            "if we drop redis, what happens to the sessions",
            "fix the login test",
            "i worry about redis here",
            "wir nehmen Postgres und nicht MySQL",
            "we could get rid of the cache, no",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
