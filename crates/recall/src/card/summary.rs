//! The sections of a summary and the description, quoted from what was said and counted from what was done.

use rethread_model::{Entry, Speech, clip};

use super::clean::{Line, Shape, cut, is_language, lines, prose, sentences};
use super::deeds::{Deeds, file_name};
use super::name::{is_lead, sense};
use super::words::{decides, heads_what_is_left, is_left_to_do, plain, telling};
use super::{CARD_DESCRIPTION_CHARS, CARD_SUMMARY_CHARS, CardSource};

/// Characters of a goal or an outcome that is quoted.
const QUOTED: usize = 500;
/// Characters of an item.
const ITEM: usize = 240;
/// Items of a section.
const MOST_ITEMS: usize = 6;
/// Characters of each half of a description.
const HALF: usize = 280;
/// Files and checks that are named.
const NAMED: usize = 4;
/// A prompt that is longer was hardly typed.
const PASTED: usize = 1_500;
/// What an agent adds to its recaps.
const RECAP_HINT: &str = "(disable recaps in /config)";
/// How a model begins when it only says what it does now.
const CHATTER: [&str; 13] = [
    "let me",
    "now let me",
    "now i",
    "i'll ",
    "i will ",
    "wait",
    "actually",
    "let's check",
    "let's see",
    "good",
    "great",
    "perfect",
    "looking at",
];

/// What a session was about, as far as it was said.
#[derive(Debug, Default)]
pub(super) struct Summary {
    goal: Vec<String>,
    decisions: Vec<String>,
    outcome: Vec<String>,
    next: Vec<String>,
}

impl Summary {
    pub(super) fn of(source: &CardSource<'_>, deeds: &Deeds) -> Self {
        let mut summary = Self::default();
        let earlier = source.last_of(Speech::Summary).map(|entry| lines(&entry.text)).unwrap_or_default();
        summary.add_goal(source, &earlier);
        summary.add_decisions(source, &earlier);
        summary.add_outcome(source, &earlier);
        summary.add_deeds(deeds);
        summary.add_open_end(source);
        for section in [&mut summary.goal, &mut summary.decisions, &mut summary.outcome, &mut summary.next] {
            without_repetition(section);
        }
        let Self { decisions, outcome, .. } = &mut summary;
        outcome.retain(|item| !decisions.contains(item));
        summary
    }

    /// As Markdown, only with sections that say something.
    pub(super) fn markdown(&self) -> String {
        let sections = [
            ("Goal", &self.goal),
            ("Key Decisions", &self.decisions),
            ("Outcome", &self.outcome),
            ("Next Steps", &self.next),
        ];
        let written = sections.iter().filter(|(_, items)| !items.is_empty()).map(|(heading, items)| match &items[..] {
            [only] => format!("## {heading}\n{only}"),
            items => format!("## {heading}\n- {}", items.join("\n- ")),
        });
        clip(&written.collect::<Vec<_>>().join("\n\n"), CARD_SUMMARY_CHARS).into_owned()
    }

    /// What was wanted, what came of it, and how much it took.
    pub(super) fn description(&self, source: &CardSource<'_>, deeds: &Deeds, name: &str) -> String {
        let came =
            self.outcome.first().filter(|came| !came.starts_with("Changed ")).map(|came| ended(&cut(came, HALF)));
        let wanted = self.goal.first().map(|goal| ended(&cut(goal, HALF)));
        let wanted = wanted.or_else(|| came.is_none().then(|| ended(name)));
        let mut parts: Vec<String> = wanted.into_iter().collect();
        parts.extend(came.filter(|came| !parts.contains(came)));
        parts.push(measured(source, deeds));
        cut(&parts.join(" "), CARD_DESCRIPTION_CHARS)
    }

    fn add_goal(&mut self, source: &CardSource<'_>, earlier: &[Line]) {
        let told = section(earlier, |heading| heading.contains("goal") || heading.contains("primary request"));
        if told.is_empty() {
            let first = source.prompts().find(|entry| !telling_sentences(&entry.text).is_empty());
            let first = first.or_else(|| source.prompts().find(|entry| !prose(&entry.text).is_empty()));
            self.goal.extend(first.map(|entry| request(&entry.text)).filter(|goal| !goal.is_empty()));
        } else {
            self.goal.extend(told.into_iter().take(MOST_ITEMS).map(|item| cut(&item, ITEM)));
        }
        let last = source.prompts().next_back().filter(|_| source.prompts().count() > 1);
        let last = last.and_then(|entry| sense(&entry.text)).filter(|name| telling(name).count() > 1);
        let is_known = |name: &str| {
            let name = plain(name.trim_end_matches('…'));
            self.goal.iter().any(|goal| plain(goal).contains(&name))
        };
        self.goal.extend(last.filter(|name| !is_known(name)).map(|name| format!("Last asked: {name}")));
    }

    fn add_decisions(&mut self, source: &CardSource<'_>, earlier: &[Line]) {
        let told = section(earlier, |heading| heading.contains("decision"));
        let said = source
            .entries
            .iter()
            .filter(|entry| matches!(entry.speech, Speech::Prompt | Speech::Answer | Speech::Said | Speech::Summary));
        // What is pasted is hardly decided here.
        let said = said.filter(|entry| entry.speech != Speech::Prompt || entry.text.len() < PASTED);
        let decided: Vec<String> = said.flat_map(decisions).collect();
        let newest = decided.len().saturating_sub(MOST_ITEMS.saturating_sub(told.len().min(MOST_ITEMS)));
        self.decisions.extend(told.into_iter().take(MOST_ITEMS).map(|item| cut(&item, ITEM)));
        self.decisions.extend(decided.into_iter().skip(newest));
    }

    fn add_outcome(&mut self, source: &CardSource<'_>, earlier: &[Line]) {
        let answer = source.answers().next_back();
        let recap = source.last_of(Speech::Recap);
        // A recap sums up all of it, an answer only the last exchange; but one that is old misses the end.
        let recap = recap.filter(|recap| answer.is_none_or(|answer| is_near(source, recap, answer)));
        if let Some(recap) = recap {
            let said = prose(recap.text.trim_end_matches(RECAP_HINT).trim());
            let (open, done): (Vec<String>, Vec<String>) = said.into_iter().partition(|said| is_left_to_do(said));
            self.outcome.extend(Some(cut(&done.join(" "), QUOTED)).filter(|done| !done.is_empty()));
            self.next.extend(open.into_iter().map(|open| cut(without_next(&open), ITEM)));
        } else if let Some(answer) = answer {
            self.answer(&lines(&answer.text));
        } else {
            let told = earlier.iter().filter(|line| line.shape != Shape::Heading).map(|line| line.text.clone());
            let told = told.collect::<Vec<_>>().join(" ");
            self.outcome.extend(Some(cut(&told, QUOTED)).filter(|told| !told.is_empty()));
        }
        if self.next.is_empty() && answer.is_none() {
            let left = section(earlier, heads_what_is_left);
            self.next.extend(left.into_iter().take(MOST_ITEMS).map(|item| cut(&item, ITEM)));
        }
    }

    /// What an answer says was done, and what it leaves to do.
    fn answer(&mut self, lines: &[Line]) {
        let mut is_left = false;
        let mut done: Vec<String> = Vec::new();
        let mut items: Vec<String> = Vec::new();
        for line in lines {
            let is_label =
                line.shape == Shape::Text && line.text.split(' ').count() <= 3 && !line.text.ends_with(['.', '!', '?']);
            let heads = line.shape == Shape::Heading || line.text.ends_with(':') || is_label;
            if heads {
                is_left = heads_what_is_left(&line.text);
                continue;
            }
            for sentence in sentences(&line.text) {
                if is_left || is_left_to_do(sentence) {
                    self.next.push(cut(without_next(sentence), ITEM));
                } else if !is_language(sentence) || !sentence.contains(' ') && sentence.contains('/') {
                } else if line.shape == Shape::Item {
                    items.push(sentence.to_owned());
                } else {
                    done.push(sentence.to_owned());
                }
            }
        }
        self.next.truncate(MOST_ITEMS);
        let stated = done.iter().filter(|said| !is_chatter(said)).cloned().collect::<Vec<_>>();
        let stated = if stated.is_empty() { done } else { stated };
        let text = fitting(&stated, QUOTED);
        self.outcome.extend(Some(text).filter(|text| !text.is_empty()));
        self.outcome.extend(items.into_iter().take(NAMED).map(|item| cut(&item, ITEM)));
    }

    fn add_deeds(&mut self, deeds: &Deeds) {
        if !deeds.changed.is_empty() {
            self.outcome.push(format!("Changed {}.", listed(&deeds.changed)));
        }
        let newest = deeds.checks.len().saturating_sub(NAMED);
        let ended = |good: bool| deeds.checks[newest..].iter().filter(move |check| check.1 == good);
        let quoted = |good: bool| ended(good).map(|(command, _)| format!("`{command}`")).collect::<Vec<_>>().join(", ");
        let (passed, failed) = (quoted(true), quoted(false));
        if !passed.is_empty() {
            self.outcome.push(format!("Passed: {passed}."));
        }
        if !failed.is_empty() {
            self.outcome.push(format!("Failed when last run: {failed}."));
        }
    }

    /// A session may end in the middle.
    fn add_open_end(&mut self, source: &CardSource<'_>) {
        let told = |entry: &&Entry| {
            matches!(entry.speech, Speech::Prompt | Speech::Said | Speech::Interruption | Speech::Call)
        };
        let last = source.entries.iter().rev().find(told);
        let asked = source.prompts().next_back().and_then(|entry| sense(&entry.text));
        match (last.map(|entry| entry.speech), asked) {
            (Some(Speech::Prompt), Some(asked)) => self.next.push(format!("Not answered yet: {asked}")),
            (Some(Speech::Interruption), Some(asked)) => self.next.push(format!("Stopped by the user at: {asked}")),
            _ => {}
        }
    }
}

/// A prompt as a goal: its first sentences, without greetings and roles.
fn request(text: &str) -> String {
    let mut said: Vec<String> = Vec::new();
    if let Some(name) = sense(text) {
        said.push(name.clone());
        let rest: Vec<String> = prose(text).into_iter().filter(|sentence| !is_lead(sentence)).collect();
        // The name may be a shortened sentence; then the sentence itself is the better beginning.
        if let Some(whole) = rest.iter().position(|sentence| sense(sentence).as_deref() == Some(&name)) {
            said = rest[whole..].to_vec();
        }
    } else {
        said = prose(text);
    }
    said.retain(|sentence| is_language(sentence));
    capital(&fitting(&said, QUOTED))
}

/// As many whole sentences as fit; the first one is cut if even it does not.
fn fitting(sentences: &[String], most: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        if !text.is_empty() && text.chars().count() + sentence.chars().count() >= most {
            break;
        }
        let join = if text.is_empty() { "" } else { " " };
        text = format!("{text}{join}{sentence}");
        if !text.ends_with(['.', '!', '?', '…', ':']) {
            text.push('.');
        }
    }
    cut(&text, most)
}

fn telling_sentences(text: &str) -> Vec<String> {
    prose(text).into_iter().filter(|sentence| !is_lead(sentence) && telling(sentence).count() > 1).collect()
}

fn decisions(entry: &Entry) -> Vec<String> {
    let told = prose(&entry.text).into_iter().filter(|sentence| {
        decides(sentence)
            && is_language(sentence)
            && !is_chatter(sentence)
            && !sentence.ends_with(':')
            && (4..60).contains(&sentence.split(' ').count())
    });
    told.map(|sentence| capital(&cut(&sentence, ITEM))).collect()
}

fn is_chatter(sentence: &str) -> bool {
    let plain = plain(sentence);
    CHATTER.iter().any(|beginning| plain.starts_with(beginning))
}

/// Whether not much was asked between a recap and the last answer.
fn is_near(source: &CardSource<'_>, recap: &Entry, answer: &Entry) -> bool {
    recap.seq > answer.seq || source.prompts().filter(|entry| entry.seq > recap.seq).count() == 0
}

/// The lines below the first heading that fits, up to the next one.
fn section(lines: &[Line], fits: impl Fn(&str) -> bool) -> Vec<String> {
    let is_heading =
        |line: &Line| line.shape == Shape::Heading || (line.text.ends_with(':') && line.text.split(' ').count() <= 6);
    let Some(at) = lines.iter().position(|line| is_heading(line) && fits(&plain(&line.text))) else {
        return Vec::new();
    };
    let below = lines[at + 1..].iter().take_while(|line| !is_heading(line));
    below.map(|line| line.text.clone()).collect()
}

fn without_next(sentence: &str) -> &str {
    let lower = sentence.to_lowercase();
    let label = ["next steps:", "next step:", "next:", "next,", "remaining:", "todo:"];
    let length = label.iter().find(|label| lower.starts_with(**label)).map_or(0, |label| label.len());
    sentence[length..].trim()
}

/// `a.rs`, `b.rs` and 3 more files.
fn listed(paths: &[String]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        let name = file_name(path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let quoted: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED) {
        0 => joined(&quoted),
        1 => format!("{} and 1 more file", quoted.join(", ")),
        more => format!("{} and {more} more files", quoted.join(", ")),
    }
}

fn joined(all: &[String]) -> String {
    match all {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        all => all.join(""),
    }
}

/// How much a session took.
fn measured(source: &CardSource<'_>, deeds: &Deeds) -> String {
    let counts = source.session.counts;
    let count = |amount: u64, noun: &str| if amount == 1 { format!("1 {noun}") } else { format!("{amount} {noun}s") };
    let calls = counts.tool_calls.max(deeds.calls as u64);
    let mut parts = vec![count(counts.prompts, "prompt")];
    parts.extend((calls > 0).then(|| count(calls, "tool call")));
    parts.extend((counts.files_edited > 0).then(|| format!("{} changed", count(counts.files_edited, "file"))));
    capital(&format!("{}.", joined(&parts)))
}

fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    let first = text.split(' ').next().unwrap_or_default().trim_end_matches([',', '.', ':', ';', '!', '?']);
    let is_word = first.chars().all(|c| c.is_lowercase() || "'’".contains(c));
    match signs.next() {
        Some(sign) if is_word => sign.to_uppercase().chain(signs).collect(),
        _ => text.to_owned(),
    }
}

fn without_repetition(items: &mut Vec<String>) {
    let mut known: Vec<String> = Vec::new();
    items.retain(|item| {
        let is_new = !item.trim().is_empty() && !known.contains(item);
        known.push(item.clone());
        is_new
    });
}
