//! Builds a card's summary and description from quotes of what was said and counts of what was done.

use rethread_model::{Entry, EntryKind, NameSource, clip, is_greeting, truncate_at_word};

use super::actions::{SessionActions, file_name};
use super::name::{derive_name, is_lead, name_from_prompt, without_command};
use super::outcome::{AnswerParts, OutcomeAnswers};
use super::prose::{ProseLine, ProseLineKind, is_mostly_letters, prose_lines, prose_sentences, without_emphasis};
use super::words::{distinctive_words, is_next_step, is_next_steps_heading, normalize_text};
use super::{CARD_DESCRIPTION_CHARS, CARD_SUMMARY_CHARS, CardSource};

/// Maximum length of a quoted goal or outcome, in characters.
const QUOTE_CHARS: usize = 500;
/// Maximum length of a list item, in characters.
const ITEM_CHARS: usize = 240;
/// Maximum number of items per section.
const MAX_ITEMS: usize = 6;
/// Maximum length of each half of a description, in characters.
const HALF_DESCRIPTION_CHARS: usize = 280;
/// Maximum number of files and checks named.
const MAX_NAMED: usize = 4;
/// A shorter outcome is followed by the next item.
const MIN_OUTCOME_CHARS: usize = 60;
/// An item with an address and more words than this says something about it.
const MAX_LINK_WORDS: usize = 6;
/// Hint that an agent appends to its recaps.
const RECAP_HINT: &str = "(disable recaps in /config)";
/// Items per section, before rendering.
#[derive(Debug, Default)]
pub(super) struct CardSummary {
    goal: Vec<String>,
    decisions: Vec<String>,
    outcome: Vec<String>,
    next_steps: Vec<String>,
}

impl CardSummary {
    pub(super) fn build(source: &CardSource<'_>, session_actions: &SessionActions) -> Self {
        let mut summary = Self::default();
        let earlier =
            source.last_entry_of(EntryKind::Summary).map(|entry| prose_lines(&entry.text)).unwrap_or_default();
        summary.add_goal(source, &earlier);
        summary.add_decisions(source, &earlier);
        summary.add_outcome(source, &earlier);
        summary.add_actions(session_actions);
        summary.add_unfinished(source);
        for section in [&mut summary.goal, &mut summary.decisions, &mut summary.outcome, &mut summary.next_steps] {
            remove_duplicates(section);
        }
        let Self { decisions, outcome, .. } = &mut summary;
        outcome.retain(|item| !decisions.contains(item));
        summary
    }

    /// Renders as Markdown, without empty sections.
    pub(super) fn markdown(&self) -> String {
        let sections = [
            ("Goal", &self.goal),
            ("Key Decisions", &self.decisions),
            ("Outcome", &self.outcome),
            ("Next Steps", &self.next_steps),
        ];
        let written = sections.iter().filter(|(_, items)| !items.is_empty()).map(|(heading, items)| match &items[..] {
            [only] => format!("## {heading}\n{only}"),
            items => format!("## {heading}\n- {}", items.join("\n- ")),
        });
        clip(&written.collect::<Vec<_>>().join("\n\n"), CARD_SUMMARY_CHARS).into_owned()
    }

    /// What came of the session in words, without counts of what was done.
    pub(super) fn stated_outcome(&self) -> Option<&str> {
        self.outcome.first().map(String::as_str).filter(|outcome| !is_count_of_actions(outcome))
    }

    /// The same, with further items if the first says little.
    pub(super) fn stated_outcomes(&self) -> Option<String> {
        let mut text = String::new();
        for item in self.outcome.iter().take_while(|item| !is_count_of_actions(item)) {
            if text.chars().count() >= MIN_OUTCOME_CHARS {
                break;
            }
            let join = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{join}{item}");
        }
        (!text.is_empty()).then_some(text)
    }

    /// What is to be done first.
    pub(super) fn first_next_step(&self) -> Option<&str> {
        self.next_steps.first().map(String::as_str)
    }

    /// What was requested, what came of it, and the size of the session.
    pub(super) fn description(&self, source: &CardSource<'_>, session_actions: &SessionActions, name: &str) -> String {
        let outcome =
            self.stated_outcome().map(|outcome| end_with_period(&truncate_at_word(outcome, HALF_DESCRIPTION_CHARS)));
        let goal_sentence =
            self.goal.first().map(|goal| end_with_period(&truncate_at_word(goal, HALF_DESCRIPTION_CHARS)));
        let goal_sentence = goal_sentence.or_else(|| outcome.is_none().then(|| end_with_period(name)));
        let mut parts: Vec<String> = goal_sentence.into_iter().collect();
        parts.extend(outcome.filter(|outcome| !parts.contains(outcome)));
        parts.push(describe_size(source, session_actions));
        truncate_at_word(&parts.join(" "), CARD_DESCRIPTION_CHARS)
    }

    fn add_goal(&mut self, source: &CardSource<'_>, earlier: &[ProseLine]) {
        let rendered =
            section_below(earlier, |heading| heading.contains("goal") || heading.contains("primary request"));
        if rendered.is_empty() {
            let is_descriptive = |entry: &&Entry| {
                derive_name(entry.kind, &entry.text, None).is_some_and(|name| name.source == NameSource::Prompt)
            };
            let goal = |entry: &Entry| Some(goal_from_prompt(&entry.text)).filter(|goal| !goal.is_empty());
            let first = source.prompts().filter(is_descriptive).find_map(goal);
            let first = first.or_else(|| source.prompts().filter(|entry| !is_greeting(&entry.text)).find_map(goal));
            self.goal.extend(first);
        } else {
            self.goal.extend(rendered.into_iter().take(MAX_ITEMS).map(|item| truncate_at_word(&item, ITEM_CHARS)));
        }
        let last = source.prompts().next_back().filter(|_| source.prompts().count() > 1);
        let last = last.and_then(|entry| derive_name(entry.kind, &entry.text, None));
        let last = last.filter(|name| name.source == NameSource::Prompt).map(|name| name.text);
        let is_known = |name: &str| {
            let name = normalize_text(name.trim_end_matches('…'));
            self.goal.iter().any(|goal| normalize_text(goal).contains(&name))
        };
        self.goal.extend(last.filter(|name| !is_known(name)).map(|name| format!("Last asked: {name}")));
    }

    /// Decisions that were extracted as facts, after those in the agent's own summary of earlier work.
    fn add_decisions(&mut self, source: &CardSource<'_>, earlier: &[ProseLine]) {
        let rendered = section_below(earlier, |heading| heading.contains("decision"));
        let items = rendered.iter().chain(source.decisions).take(MAX_ITEMS);
        self.decisions.extend(items.map(|item| capitalize(&truncate_at_word(&without_emphasis(item), ITEM_CHARS))));
    }

    fn add_outcome(&mut self, source: &CardSource<'_>, earlier: &[ProseLine]) {
        let answers = OutcomeAnswers::find(source);
        let answer = answers.main;
        let recap = source.last_entry_of(EntryKind::Recap);
        // A recap covers the whole session, an answer only the last episode. An outdated recap misses the end.
        let recap = recap.filter(|recap| answer.is_none_or(|answer| is_recap_current(source, recap, answer)));
        if let Some(recap) = recap {
            let sentences = prose_sentences(recap.text.trim_end_matches(RECAP_HINT).trim());
            let (open, done): (Vec<String>, Vec<String>) =
                sentences.into_iter().partition(|sentence| is_next_step(sentence));
            self.outcome.extend(Some(truncate_at_word(&done.join(" "), QUOTE_CHARS)).filter(|done| !done.is_empty()));
            self.next_steps.extend(open.into_iter().map(|open| truncate_at_word(without_label(&open), ITEM_CHARS)));
        } else if let Some(answer) = answer {
            self.add_answer(AnswerParts::of(&prose_lines(&answer.text)));
            self.add_last_answer(answers.last);
        } else {
            let rendered =
                earlier.iter().filter(|line| line.kind != ProseLineKind::Heading).map(|line| line.text.clone());
            let rendered = rendered.collect::<Vec<_>>().join(" ");
            self.outcome.extend(Some(truncate_at_word(&rendered, QUOTE_CHARS)).filter(|rendered| !rendered.is_empty()));
        }
        if self.next_steps.is_empty() && answer.is_none() {
            let left = section_below(earlier, is_next_steps_heading);
            self.next_steps.extend(left.into_iter().take(MAX_ITEMS).map(|item| truncate_at_word(&item, ITEM_CHARS)));
        }
    }

    fn add_answer(&mut self, parts: AnswerParts) {
        let text = join_sentences(&parts.statements, QUOTE_CHARS);
        let text = Some(text).filter(|text| parts.has_result || distinctive_words(text).count() > 1);
        let items: Vec<String> = parts
            .items
            .iter()
            .filter(|item| !is_link(item))
            .take(MAX_NAMED)
            .map(|item| truncate_at_word(item, ITEM_CHARS))
            .collect();
        // Without a result in the text, the list has it and the text is a remark.
        let (first, second) =
            if parts.has_result { (text.into_iter().collect(), items) } else { (items, text.into_iter().collect()) };
        self.outcome.extend::<Vec<String>>(first);
        self.outcome.extend::<Vec<String>>(second);
        let left =
            parts.next_steps.iter().take(MAX_ITEMS).map(|step| truncate_at_word(without_label(step), ITEM_CHARS));
        self.next_steps.extend(left);
        if let Some(question) = parts.question.filter(|_| self.outcome.is_empty()) {
            self.next_steps.push(format!("Waiting for an answer: {}", truncate_at_word(&question, ITEM_CHARS)));
        }
    }

    /// Adds the first statement of an answer that came after the outcome, such as the report of a commit.
    fn add_last_answer(&mut self, last: Option<&Entry>) {
        let parts = last.map(|answer| AnswerParts::of(&prose_lines(&answer.text))).unwrap_or_default();
        let statement = parts.statements.iter().find(|sentence| distinctive_words(sentence).count() > 1);
        self.outcome.extend(statement.map(|sentence| truncate_at_word(sentence, ITEM_CHARS)));
    }

    fn add_actions(&mut self, session_actions: &SessionActions) {
        if !session_actions.changed_paths.is_empty() {
            self.outcome.push(format!("Changed {}.", list_file_names(&session_actions.changed_paths)));
        }
        let newest = session_actions.checks.len().saturating_sub(MAX_NAMED);
        let ended = |good: bool| session_actions.checks[newest..].iter().filter(move |check| check.1 == good);
        let quoted = |good: bool| ended(good).map(|(command, _)| format!("`{command}`")).collect::<Vec<_>>().join(", ");
        let (passed, failed) = (quoted(true), quoted(false));
        if !passed.is_empty() {
            self.outcome.push(format!("Passed: {passed}."));
        }
        if !failed.is_empty() {
            self.outcome.push(format!("Failed when last run: {failed}."));
        }
    }

    /// Adds a next step if the session ended with an unanswered prompt or an interruption.
    fn add_unfinished(&mut self, source: &CardSource<'_>) {
        let rendered = |entry: &&Entry| {
            matches!(
                entry.kind,
                EntryKind::Prompt | EntryKind::AssistantText | EntryKind::Interruption | EntryKind::Call
            )
        };
        let last = source.entries.iter().rev().find(rendered);
        let request = source.prompts().next_back().filter(|entry| !is_greeting(&entry.text));
        let request = request.and_then(|entry| name_from_prompt(&entry.text));
        match (last.map(|entry| entry.kind), request) {
            (Some(EntryKind::Prompt), Some(request)) => self.next_steps.push(format!("Not answered yet: {request}")),
            (Some(EntryKind::Interruption), Some(request)) => {
                self.next_steps.push(format!("Stopped by the user at: {request}"));
            }
            _ => {}
        }
    }
}

/// A prompt as a goal: its first sentences, without greetings and roles.
fn goal_from_prompt(text: &str) -> String {
    let text = &without_command(text);
    let mut sentences: Vec<String> = Vec::new();
    if let Some(name) = name_from_prompt(text) {
        sentences.push(name.clone());
        let rest: Vec<String> = prose_sentences(text).into_iter().filter(|sentence| !is_lead(sentence)).collect();
        // The name may be a shortened sentence; the full sentence is the better start.
        if let Some(whole) = rest.iter().position(|sentence| name_from_prompt(sentence).as_deref() == Some(&name)) {
            sentences = rest[whole..].to_vec();
        }
    } else {
        sentences = prose_sentences(text);
    }
    sentences.retain(|sentence| is_mostly_letters(sentence));
    capitalize(&join_sentences(&sentences, QUOTE_CHARS))
}

/// Joins as many whole sentences as fit. The first one is truncated if it does not fit alone.
fn join_sentences(sentences: &[String], max_chars: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        if !text.is_empty() && text.chars().count() + sentence.chars().count() >= max_chars {
            break;
        }
        let join = if text.is_empty() { "" } else { " " };
        text = format!("{text}{join}{sentence}");
        if !text.ends_with(['.', '!', '?', '…', ':']) {
            text.push('.');
        }
    }
    truncate_at_word(&text, max_chars)
}

/// Whether the recap is newer than the answer, or no prompt followed it.
fn is_recap_current(source: &CardSource<'_>, recap: &Entry, answer: &Entry) -> bool {
    recap.seq > answer.seq || source.prompts().filter(|entry| entry.seq > recap.seq).count() == 0
}

/// The lines below the first matching heading, up to the next heading.
fn section_below(lines: &[ProseLine], fits: impl Fn(&str) -> bool) -> Vec<String> {
    let is_heading = |line: &ProseLine| {
        line.kind == ProseLineKind::Heading || (line.text.ends_with(':') && line.text.split(' ').count() <= 6)
    };
    let Some(at) = lines.iter().position(|line| is_heading(line) && fits(&normalize_text(&line.text))) else {
        return Vec::new();
    };
    let below = lines[at + 1..].iter().take_while(|line| !is_heading(line));
    below.map(|line| line.text.clone()).collect()
}

/// Whether an item is little more than an address.
fn is_link(item: &str) -> bool {
    item.contains("://") && item.split(' ').count() <= MAX_LINK_WORDS
}

/// Whether an item was added by [`CardSummary::add_actions`].
fn is_count_of_actions(item: &str) -> bool {
    ["Changed `", "Passed: `", "Failed when last run: `"].iter().any(|begin| item.starts_with(begin))
}

fn without_label(sentence: &str) -> &str {
    let lower = sentence.to_lowercase();
    let label = ["next steps:", "next step:", "next:", "next,", "remaining:", "todo:"];
    let length = label.iter().find(|label| lower.starts_with(**label)).map_or(0, |label| label.len());
    sentence[length..].trim()
}

/// Formats as `a.rs`, `b.rs` and 3 more files.
fn list_file_names(paths: &[String]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        let name = file_name(path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let quoted: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MAX_NAMED) {
        0 => join_with_and(&quoted),
        1 => format!("{} and 1 more file", quoted.join(", ")),
        more => format!("{} and {more} more files", quoted.join(", ")),
    }
}

fn join_with_and(all: &[String]) -> String {
    match all {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        all => all.join(""),
    }
}

/// The size of a session: prompts, tool calls and files changed.
fn describe_size(source: &CardSource<'_>, session_actions: &SessionActions) -> String {
    let counts = source.session.counts;
    let count = |amount: u64, noun: &str| if amount == 1 { format!("1 {noun}") } else { format!("{amount} {noun}s") };
    let calls = counts.tool_calls.max(session_actions.call_count as u64);
    let mut parts = vec![count(counts.prompts, "prompt")];
    parts.extend((calls > 0).then(|| count(calls, "tool call")));
    parts.extend((counts.files_edited > 0).then(|| format!("{} changed", count(counts.files_edited, "file"))));
    capitalize(&format!("{}.", join_with_and(&parts)))
}

fn end_with_period(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn capitalize(text: &str) -> String {
    let mut signs = text.chars();
    let first = text.split(' ').next().unwrap_or_default().trim_end_matches([',', '.', ':', ';', '!', '?']);
    let is_word = first.chars().all(|c| c.is_lowercase() || "'’".contains(c));
    match signs.next() {
        Some(sign) if is_word => sign.to_uppercase().chain(signs).collect(),
        _ => text.to_owned(),
    }
}

fn remove_duplicates(items: &mut Vec<String>) {
    let mut known: Vec<String> = Vec::new();
    items.retain(|item| {
        let is_new = !item.trim().is_empty() && !known.contains(item);
        known.push(item.clone());
        is_new
    });
}
