//! Sentences of answers without a model: what a fact says, who said it, where and when.

use std::borrow::Cow;

use rethread_model::{FactState, Predicate, Timestamp, Trust, relative_path};

use super::{AnswerSentence, SentenceSource};
use crate::facts::{Cause, Decision, FileAction, FileTouch, Fix, KnownError};
use crate::quote::{format_age, quote_short};
use crate::{FactSource, quote};

/// Maximum lengths, in characters, of a statement, a reason, an error line, and names.
const STATEMENT_CHARS: usize = 320;
const REASON_CHARS: usize = 200;
const ERROR_CHARS: usize = 160;
const NAME_CHARS: usize = 60;
/// Maximum number of failed attempts listed.
const MAX_FAILED_ATTEMPTS: usize = 3;

/// How the times in sentences are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTimes {
    /// As ages, counted from this time: for what is shown now.
    Ages(Timestamp),
    /// As days, such as `2026-05-04`: for what is kept, because an age is wrong the next day.
    Days,
}

impl AnswerTimes {
    fn format(self, at: Option<Timestamp>) -> String {
        match self {
            Self::Ages(now) => format_age(at, now),
            Self::Days => at.map_or_else(|| "recently".to_owned(), day),
        }
    }
}

/// The day of a time, such as `2026-05-04`.
pub(super) fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// `(session "login", 3d ago)`.
pub(super) fn origin(name: Option<&str>, at: Option<Timestamp>, times: AnswerTimes) -> String {
    let name = name.map(|name| format!("session \"{}\", ", quote_short(name, NAME_CHARS)));
    format!("({}{})", name.unwrap_or_default(), times.format(at))
}

fn origin_of(source: &FactSource, times: AnswerTimes) -> String {
    origin(source.session_name.as_deref(), source.at, times)
}

/// What fixed an error, what did not, and how often it occurred.
pub(super) fn fix_sentences(error: &KnownError, times: AnswerTimes) -> Vec<AnswerSentence> {
    let line = quote_short(&error.line, ERROR_CHARS);
    let mut sentences = Vec::new();
    if let Some(fix) = error.fixes.fixes.first() {
        sentences.extend(fix_sentence(&line, fix, times));
    } else if let Some(last) = &error.last_source {
        let text = format!("No fix is known for \"{line}\" {}.", origin_of(last, times));
        sentences.push(AnswerSentence::new(text, SentenceSource::of_fact(last)));
    }
    if let Some(other) = error.fixes.fixes.get(1).filter(|fix| fix.state == FactState::Confirmed) {
        let text = format!("Another time, fixed by {}.", done_words(&other.description));
        sentences.extend(cited(text, other.sources.first()));
    }
    let failed: Vec<&Fix> = error.fixes.failed_attempts.iter().take(MAX_FAILED_ATTEMPTS).collect();
    if let Some(first) = failed.first() {
        let tried: Vec<String> = failed.iter().map(|fix| quote_short(&fix.description, REASON_CHARS)).collect();
        sentences.extend(cited(format!("Did not help: {}.", tried.join("; ")), first.sources.first()));
    }
    sentences
}

fn fix_sentence(line: &str, fix: &Fix, times: AnswerTimes) -> Option<AnswerSentence> {
    let source = fix.sources.first()?;
    let done = done_words(&fix.description);
    let command = fix.command.as_deref().map(|command| quote_short(command, NAME_CHARS));
    let reason = fix.reason.as_deref().map(|reason| format!(" Reason: {}.", phrase(reason, REASON_CHARS)));
    let (verb, proof) = match (fix.state, command) {
        (FactState::Confirmed, Some(command)) => ("Fixed by", format!(", verified by `{command}`")),
        (FactState::Confirmed, None) => ("Fixed by", String::new()),
        _ => ("Possibly fixed by", ", not verified".to_owned()),
    };
    let reason = reason.unwrap_or_default();
    let text = format!("{verb} {done}{proof} {}: \"{line}\".{reason}", origin_of(source, times));
    cited(text, Some(source))
}

/// What was done, as it reads after "fixed by": `running ...`, `changing src/db.ts: max: 5 → max: 20`.
fn done_words(description: &str) -> String {
    const FORMS: [(&str, &str); 3] = [("ran ", "running "), ("wrote ", "writing "), ("edited ", "editing ")];
    let parts = description.split("; ").map(|part| {
        let form = FORMS.iter().find_map(|(past, form)| Some(format!("{form}{}", part.strip_prefix(past)?)));
        let is_change = || part.split_once(": ").is_some_and(|(file, _)| !file.contains(' '));
        form.unwrap_or_else(|| if is_change() { format!("changing {part}") } else { part.to_owned() })
    });
    quote_short(&parts.collect::<Vec<_>>().join("; "), STATEMENT_CHARS)
}

/// A text on one line without the stop at its end, because what follows it has one.
pub(super) fn phrase(text: &str, chars: usize) -> String {
    let text = quote_short(text, chars);
    let bare = text.trim_end_matches('.');
    if text.ends_with("..") || bare.is_empty() { text } else { bare.to_owned() }
}

/// A text without the path of the project before the names of its files.
pub(super) fn without_project<'t>(text: &'t str, project: Option<&str>) -> Cow<'t, str> {
    match project.map(|project| project.trim_end_matches('/')).filter(|project| project.len() > 1) {
        Some(project) if text.contains(project) => text.replace(&format!("{project}/"), "").into(),
        _ => text.into(),
    }
}

/// What was decided, instead of what, why, by whom and when; and what became of it.
pub(super) fn decision_sentences(one: &Decision, all: &[Decision], times: AnswerTimes) -> Vec<AnswerSentence> {
    let Some(source) = one.sources.first() else { return Vec::new() };
    let statement = phrase(&without_project(&one.statement, one.project.as_deref()), STATEMENT_CHARS);
    let has = |part: &str| contains_words(&statement, part);
    let subject = quote_short(&one.subject, NAME_CHARS);
    let other = one.rejected_option.as_deref().map(|other| quote_short(other, NAME_CHARS)).filter(|other| !has(other));
    let reason = one.reason.as_deref().map(|reason| phrase(reason, REASON_CHARS)).filter(|reason| !has(reason));
    let what = if has(&subject) || subject.is_empty() { String::new() } else { format!(" {subject}:") };
    let quoted = if statement.is_empty() { String::new() } else { format!(" \"{statement}\"") };
    let instead = other.map(|other| match one.predicate {
        Predicate::Decided => format!(", instead of {other}"),
        _ => format!("; use {other} instead"),
    });
    let because = reason.map(|reason| format!(", because {reason}"));
    // What was said with a refusal says what to use.
    let is_refusal = one.state == FactState::Refuted && one.closed_by.is_none() && one.trust == Trust::Human;
    let with_it = all.iter().find(|other| {
        other.state == FactState::Confirmed
            && other.trust == Trust::Human
            && other.sources.first() == one.sources.first()
    });
    let with_it = with_it.filter(|_| is_refusal && because.is_none());
    let with_it = with_it.map(|other| format!("; also: \"{}\"", phrase(&other.statement, REASON_CHARS)));
    let because = because.or(with_it).unwrap_or_default();
    let verb = decision_verb(one);
    let text = format!("{verb}{what}{quoted}{}{because} {}.", instead.unwrap_or_default(), origin_of(source, times));
    let mut sentences: Vec<AnswerSentence> = cited(text, Some(source)).into_iter().collect();
    if let (true, Some(by)) = (one.is_declined, &one.closed_by) {
        let said = all.iter().find(|other| other.sources.contains(by) && other.subject != one.subject);
        let said = said.map(|said| format!("In that reply: \"{}\".", phrase(&said.statement, REASON_CHARS)));
        sentences.extend(said.and_then(|said| cited(said, Some(by))));
    } else if let Some(by) = &one.closed_by {
        let later = all.iter().find(|other| other.sources.contains(by) && other.subject != one.subject);
        let later = later.map(|later| format!(" by \"{}\"", phrase(&later.statement, REASON_CHARS)));
        let verb = if one.state == FactState::Refuted { "Rejected later" } else { "Superseded" };
        sentences.extend(cited(format!("{verb}{} {}.", later.unwrap_or_default(), origin_of(by, times)), Some(by)));
    }
    sentences
}

/// Whether a statement itself says what is not wanted.
fn denies(statement: &str) -> bool {
    const DENIALS: [&str; 14] = [
        "no", "not", "never", "don't", "dont", "without", "drop", "dropping", "avoid", "skip", "forget", "scrap",
        "isn't", "won't",
    ];
    let lower = statement.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| DENIALS.contains(&word))
}

fn decision_verb(one: &Decision) -> &'static str {
    let is_human = one.trust == Trust::Human;
    match (one.predicate, one.state) {
        (Predicate::Prefers, _) => "Preference:",
        (Predicate::Forbids, _) => "Prohibition:",
        (_, FactState::Hypothesis) => "Proposed, not decided:",
        (_, FactState::Refuted) if one.is_declined => "The user turned down:",
        // "The user rejected: let's not use X" would read as the opposite.
        (_, FactState::Refuted) if one.closed_by.is_none() && is_human && denies(&one.statement) => "The user decided:",
        (_, FactState::Refuted) if one.closed_by.is_none() && is_human => "The user rejected",
        (_, FactState::Refuted) if one.closed_by.is_none() => "Rejected:",
        _ if is_human => "The user decided:",
        _ => "Decided:",
    }
}

/// Why something happens, what it needs, or what it conflicts with.
pub(super) fn cause_sentence(cause: &Cause, times: AnswerTimes) -> Option<AnswerSentence> {
    let source = cause.sources.first()?;
    let label = match cause.relation {
        Predicate::Requires => "Requirement",
        Predicate::ConflictsWith => "Conflict",
        _ => "Cause",
    };
    let state = match cause.state {
        FactState::Confirmed => "",
        FactState::Hypothesis => " (not verified)",
        FactState::Refuted | FactState::Superseded => " (turned out to be wrong)",
    };
    let project = cause.project.as_deref();
    let statement = phrase(&without_project(&cause.statement, project), STATEMENT_CHARS);
    let object = cause.object.as_ref().map(|object| quote_short(relative_path(&object.name, project), NAME_CHARS));
    let object = object.filter(|object| !contains_words(&statement, object)).map(|object| format!(" {object}:"));
    let error = cause.printed.as_deref().map(|line| quote_short(&without_project(line, project), ERROR_CHARS));
    let error = error.filter(|line| !contains_words(&statement, line)).map(|line| format!("; error: \"{line}\""));
    let text = format!(
        "{label}{state}:{} \"{statement}\"{} {}.",
        object.unwrap_or_default(),
        error.unwrap_or_default(),
        origin_of(source, times)
    );
    cited(text, Some(source))
}

/// What an episode did to a file, and what it was asked for.
pub(super) fn touch_sentence(name: &str, touch: &FileTouch, times: AnswerTimes) -> AnswerSentence {
    let mut actions: Vec<&FileAction> = touch.actions.iter().collect();
    actions.sort_by_key(|action| action.predicate == Predicate::Read);
    let done: Vec<String> = actions.into_iter().map(action_words).collect();
    let asked = touch.prompt.as_deref().map(|prompt| format!(", asked: \"{}\"", phrase(prompt, REASON_CHARS)));
    let source = &touch.source;
    let origin = origin(source.session_name.as_deref(), touch.last_at.or(source.at), times);
    let file = quote_short(name, STATEMENT_CHARS);
    let text = format!("{file} was {} {origin}{}.", done.join(", "), asked.unwrap_or_default());
    AnswerSentence::new(text, SentenceSource::of_fact(source))
}

fn action_words(action: &FileAction) -> String {
    let times = if action.count > 1 { format!(" {} times", action.count) } else { String::new() };
    match &action.renamed_to {
        Some(new) => format!("renamed to {}", quote_short(new, NAME_CHARS)),
        None => format!("{}{times}", action.predicate.as_str()),
    }
}

fn cited(text: String, source: Option<&FactSource>) -> Option<AnswerSentence> {
    Some(AnswerSentence::new(text, SentenceSource::of_fact(source?)))
}

/// Whether a text says the same as a part, apart from case, spaces and punctuation.
fn contains_words(text: &str, part: &str) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    quote::repeats(part, text) || letters(text).contains(&letters(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_reads_as_what_was_done() {
        for (description, expected) in [
            ("ran `cargo add regex`", "running `cargo add regex`"),
            ("src/db.ts: max: 5 → max: 20; wrote b.ts", "changing src/db.ts: max: 5 → max: 20; writing b.ts"),
            ("edited a.rs", "editing a.rs"),
            ("restarted the daemon: it hung", "restarted the daemon: it hung"),
        ] {
            assert_eq!(done_words(description), expected);
        }
    }

    #[test]
    fn a_phrase_has_no_stop_at_its_end() {
        assert_eq!(phrase("The pool is too small.", 80), "The pool is too small");
        assert_eq!([phrase("wait...", 80), phrase(".", 80)], ["wait...", "."]);
    }

    #[test]
    fn times_that_are_kept_are_days() {
        let at = Timestamp::from_millis(1_772_000_000_000);
        let later = Timestamp::from_millis(at.as_millis() + 3 * 86_400_000);
        assert_eq!(origin(Some("login"), Some(at), AnswerTimes::Ages(later)), "(session \"login\", 3d ago)");
        assert_eq!(origin(None, Some(at), AnswerTimes::Days), "(2026-02-25)");
    }

    #[test]
    fn files_are_named_without_the_project() {
        let text = "src/a.ts imports /home/dev/shop/src/b.ts";
        assert_eq!(without_project(text, Some("/home/dev/shop")), "src/a.ts imports src/b.ts");
        assert_eq!(without_project(text, Some("/")), text);
    }
}
