//! Reads Aider's history: headings of runs, `####` lines with prompts, `>` lines with its own messages, and answers.

use std::collections::HashMap;

use rethread_model::{EntryKind, Timestamp, Tokens};
use serde_json::json;

use crate::parse::folded::{ContentIds, FoldedPart, FoldedRecord, FoldedResult};

pub(super) const HEADING: &str = "# aider chat started at ";
/// Aider ends its own lines with a line break of Markdown; models do not.
const LINE_BREAK: &str = "  ";
/// Commands whose text goes to the model.
const CHAT_COMMANDS: [&str; 6] = ["/ask", "/code", "/architect", "/context", "/help", "/chat-mode"];
/// Commands that run a program.
const SHELL_COMMANDS: [&str; 3] = ["/run", "/test", "/git"];
/// First words of messages about an answer that could not be used.
const FAILURES: [&str; 6] = [
    "The LLM did not conform to the edit format",
    "litellm.",
    "Model ",
    "The API provider",
    "Unable to apply",
    "Only 3 reflections allowed",
];

/// One run of Aider.
#[derive(Debug)]
pub(super) struct AiderRun<'a> {
    /// Written without a time zone.
    pub(super) started_at: Option<Timestamp>,
    pub(super) body: &'a str,
}

/// A run as records.
#[derive(Debug, Default)]
pub(super) struct FoldedRun {
    pub(super) records: Vec<FoldedRecord>,
    /// The model used last.
    pub(super) model: Option<String>,
}

/// The runs of a history with their ids: the project and the time, and a number for runs that began in the same second.
pub(super) fn runs<'a>(text: &'a str, project: &str) -> Vec<(String, AiderRun<'a>)> {
    let mut heads: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(HEADING) {
            heads.push((at, at + line.len()));
        }
        at += line.len();
    }
    let ends = heads.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let mut runs = Vec::new();
    for ((start, body_start), end) in heads.iter().zip(ends) {
        let time = text[start + HEADING.len()..*body_start].trim();
        let count = counts.entry(time).or_default();
        *count += 1;
        let compact = time.replace([':', '-'], "").replace(' ', "-");
        let number = if *count == 1 { String::new() } else { format!("-{count}") };
        let started_at = local_time(time);
        runs.push((format!("{project}-{compact}{number}"), AiderRun { started_at, body: &text[*body_start..end] }));
    }
    runs
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Prompt,
    Own,
    Answer,
}

/// The times in the file with what the user typed: `# 2026-05-04 09:00:02.487844`, then the text with `+` before each
/// line.
pub(super) fn input_times(text: &str) -> Vec<(Timestamp, String)> {
    let mut inputs: Vec<(Timestamp, String)> = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.strip_prefix("# ").and_then(local_time) {
            inputs.push((at, String::new()));
        } else if let (Some(typed), Some((_, text))) = (line.strip_prefix('+'), inputs.last_mut()) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(typed.trim_end());
        }
    }
    inputs
}

/// Aider writes no time zone.
fn local_time(text: &str) -> Option<Timestamp> {
    format!("{}Z", text.trim().replacen(' ', "T", 1)).parse().ok()
}

pub(super) fn fold(run: &AiderRun<'_>, inputs: Vec<(Timestamp, String)>) -> FoldedRun {
    let inputs = inputs.into_iter().filter(|(at, _)| run.started_at.is_some_and(|start| *at >= start)).collect();
    let mut fold = RunFold { at: run.started_at, inputs, ..RunFold::default() };
    for line in run.body.lines() {
        let (kind, text) = classify(line);
        if line.is_empty() && fold.kind == Some(LineKind::Prompt) {
            // Lines of one prompt follow each other.
            fold.flush();
        } else if kind != LineKind::Own {
            if fold.kind != Some(kind) && !text.trim().is_empty() {
                fold.flush();
                fold.kind = Some(kind);
            }
            fold.text.push_str(text);
            fold.text.push('\n');
        } else {
            fold.flush();
            fold.add_own_line(text);
        }
    }
    fold.flush();
    fold.run
}

fn classify(line: &str) -> (LineKind, &str) {
    let is_own = line.ends_with(LINE_BREAK);
    match line.strip_prefix("####").or(line.strip_prefix('>').filter(|_| !line.starts_with(">>"))) {
        Some(text) if is_own && line.starts_with('#') => {
            (LineKind::Prompt, text.strip_prefix(' ').unwrap_or(text).trim_end())
        }
        Some(text) if is_own => (LineKind::Own, text.trim()),
        _ => (LineKind::Answer, line),
    }
}

/// A run while its lines are read.
#[derive(Default)]
struct RunFold {
    run: FoldedRun,
    at: Option<Timestamp>,
    ids: ContentIds,
    kind: Option<LineKind>,
    text: String,
    /// The last answer, which Aider's own lines are about.
    answer: Option<String>,
    /// A command that the model proposed and the user allowed.
    open_command: Option<String>,
    /// Whether a prompt has not been answered.
    is_waiting: bool,
    /// What was typed since the run began, with times.
    inputs: Vec<(Timestamp, String)>,
}

impl RunFold {
    /// Adds the prompt or the answer whose lines were collected.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        let Some(kind) = self.kind.take().filter(|_| !text.is_empty()) else { return };
        let part = match kind {
            LineKind::Prompt => prompt(text),
            _ => Some(FoldedPart::Text(EntryKind::AssistantText, text.to_owned())),
        };
        let id = self.ids.next(text);
        if kind == LineKind::Prompt {
            self.find_time(text);
        }
        self.is_waiting |= matches!(part, Some(FoldedPart::Text(EntryKind::Prompt, _)));
        self.answer = (kind == LineKind::Answer).then(|| id.clone());
        self.open_command = None;
        self.run.records.push(FoldedRecord::new(id, self.at, part.into_iter().collect()));
    }

    /// The time at which a prompt was typed also holds for what follows it.
    fn find_time(&mut self, text: &str) {
        if let Some(at) = self.inputs.iter().position(|(_, typed)| typed.trim() == text) {
            self.at = Some(self.inputs[at].0);
            self.inputs.drain(..=at);
        }
    }

    fn add(&mut self, line: &str, parts: Vec<FoldedPart>) {
        let id = self.ids.next(line);
        let message = Some(self.answer.clone().unwrap_or_else(|| id.clone()));
        self.run.records.push(FoldedRecord { message, ..FoldedRecord::new(id, self.at, parts) });
    }

    fn add_own_line(&mut self, line: &str) {
        if let Some(model) = line.strip_prefix("Main model: ").or(line.strip_prefix("Model: ")) {
            let name = model.split(" with ").next().unwrap_or(model).trim();
            self.run.model = Some(name.to_owned());
        } else if let Some((tokens, cost_usd)) = usage(line) {
            self.is_waiting = false;
            let model = self.run.model.clone();
            self.add(line, vec![FoldedPart::Usage { tokens, model, cost_usd }]);
        } else if let Some(path) = line.strip_prefix("Applied edit to ") {
            self.add_call(line, "edit", &json!({"path": path}), Some("Applied"));
        } else if let Some(command) = line.strip_prefix("Running ").filter(|_| self.answer.is_some()) {
            self.open_command = Some(self.add_call(line, "bash", &json!({"command": command}), None));
        } else if line.starts_with("Added ") && line.contains(" of output to the chat") {
            if let Some(call) = self.open_command.take() {
                let result = FoldedResult { call, tool: "bash".to_owned(), ..FoldedResult::default() };
                self.add(line, vec![FoldedPart::Result(FoldedResult { output: line.to_owned(), ..result })]);
            }
        } else if line.starts_with("Commit ") {
            self.add(line, vec![FoldedPart::Text(EntryKind::Notice, line.to_owned())]);
        } else if line.starts_with("^C") && self.is_waiting {
            self.is_waiting = false;
            self.add(line, vec![FoldedPart::interruption()]);
        } else if is_failure(line) {
            self.add(line, vec![FoldedPart::Text(EntryKind::Failure, line.to_owned())]);
        }
    }

    /// Adds a call, with its result if it is known, and returns its id.
    fn add_call(&mut self, line: &str, name: &str, input: &serde_json::Value, result: Option<&str>) -> String {
        let call = format!("{}-call", self.ids.next(&format!("call {line}")));
        let (name, input) = (name.to_owned(), input.to_string());
        let mut parts = vec![FoldedPart::Call { id: call.clone(), name: name.clone(), input }];
        parts.extend(result.map(|output| {
            let (call, output) = (call.clone(), output.to_owned());
            FoldedPart::Result(FoldedResult { call, tool: name, output, ..FoldedResult::default() })
        }));
        self.add(line, parts);
        call
    }
}

/// What the user typed: a prompt, a command for a program, or one for Aider.
fn prompt(text: &str) -> Option<FoldedPart> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let is_command = first.starts_with('/') && !first[1..].contains('/');
    let is_for_model = CHAT_COMMANDS.contains(&first) && !rest.is_empty();
    let (kind, text) = if let Some(command) = text.strip_prefix('!') {
        (EntryKind::Shell, format!("! {}", command.trim()))
    } else if SHELL_COMMANDS.contains(&first) && !rest.is_empty() {
        let program = if first == "/git" { "git " } else { "" };
        (EntryKind::Shell, format!("! {program}{rest}"))
    } else if is_command && !is_for_model {
        (EntryKind::Command, text.to_owned())
    } else {
        (EntryKind::Prompt, text.to_owned())
    };
    // Aider writes this for an empty line.
    (text != "<blank>").then_some(FoldedPart::Text(kind, text))
}

fn is_failure(line: &str) -> bool {
    let is_named = FAILURES.iter().any(|prefix| line.starts_with(prefix));
    is_named && (!line.starts_with("Model ") || line.contains("token limit"))
}

/// `Tokens: 2.5k sent, 1.1k cache hit, 25 received. Cost: $0.01 message, $0.02 session.`
fn usage(line: &str) -> Option<(Tokens, Option<f64>)> {
    let rest = line.strip_prefix("Tokens: ")?;
    let (counts, cost) = rest.split_once("Cost: $").unwrap_or((rest, ""));
    let mut tokens = Tokens::default();
    let mut sent = 0;
    for item in counts.split(", ") {
        let (number, what) = item.trim().split_once(' ')?;
        let number = token_count(number)?;
        match what.trim_end_matches('.') {
            "sent" => sent = number,
            "received" => tokens.output = number,
            "cache write" => tokens.cache_write = number,
            "cache hit" => tokens.cache_read = number,
            _ => {}
        }
    }
    tokens.input = sent.saturating_sub(tokens.cache_read + tokens.cache_write);
    Some((tokens, cost.split_once(" message").and_then(|(cost, _)| cost.parse().ok())))
}

/// `950`, `2.5k`, `12k`, `1.2M`
fn token_count(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix('k') {
        Some(number) => (number, 1_000.0),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1_000_000.0)),
    };
    let number: f64 = number.replace(',', "").parse().ok()?;
    Some((number * unit).round().max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_the_project_and_their_time() {
        let text = "\n# aider chat started at 2026-04-01 10:15:00\n\na\n# aider chat started at 2026-04-01 10:15:00\n\
                    # aider chat started at sometime\n";
        let ids: Vec<String> = runs(text, "site").into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["site-20260401-101500", "site-20260401-101500-2", "site-sometime"]);
        assert_eq!(runs("no run", "site").len(), 0);
    }

    #[test]
    fn tokens_and_cost_are_read_from_their_line() {
        let tokens = |input, output, cache_read, cache_write| Tokens { input, output, cache_read, cache_write };
        assert_eq!(usage("Tokens: 2.5k sent, 25 received."), Some((tokens(2500, 25, 0, 0), None)));
        assert_eq!(
            usage(
                "Tokens: 12k sent, 1.0k cache write, 8.0k cache hit, 1.2k received. Cost: $0.01 message, $0.3 session."
            ),
            Some((tokens(3000, 1200, 8000, 1000), Some(0.01)))
        );
        assert_eq!(usage("Tokens: many sent"), None);
    }

    #[test]
    fn only_aiders_own_lines_have_a_meaning() {
        let body = "> Main model: gpt-x with diff edit format  \n\n#### fix it  \n####   \n#### now  \n\n\
                    #### A heading\n> a quote\nDone.\n\n> Tokens: 10 sent, 5 received.  \n> Applied edit to a.rs  \n";
        let folded = fold(&AiderRun { started_at: None, body }, Vec::new());
        let parts: Vec<_> = folded.records.iter().flat_map(|record| &record.parts).collect();
        assert_eq!(*parts[0], FoldedPart::Text(EntryKind::Prompt, "fix it\n\nnow".to_owned()));
        assert_eq!(
            *parts[1],
            FoldedPart::Text(EntryKind::AssistantText, "#### A heading\n> a quote\nDone.".to_owned())
        );
        assert!(matches!(parts[2], FoldedPart::Usage { .. }) && matches!(parts[3], FoldedPart::Call { .. }));
        let answer = &folded.records[1].id;
        assert!(folded.records[2..].iter().all(|record| record.message.as_ref() == Some(answer)));
    }

    #[test]
    fn prompts_get_the_time_at_which_they_were_typed() {
        let inputs = "\n# 2026-05-03 08:00:00.1\n+go\n\n# 2026-05-04 09:00:02.487844\n+fix\n+it\n\
                      # 2026-05-04 09:00:02.5\n+fix\n+it\n# 2026-05-04 09:01:00\n+go\n";
        let body = "#### fix  \n#### it  \n\nDone.\n\n#### go  \n\n#### not typed  \n";
        let started_at = "2026-05-04T09:00:00Z".parse().ok();
        let folded = fold(&AiderRun { started_at, body }, input_times(inputs));
        let times: Vec<String> = folded.records.iter().filter_map(|one| Some(one.at?.to_string())).collect();
        let (first, second) = ("2026-05-04T09:00:02.487Z", "2026-05-04T09:01:00.000Z");
        assert_eq!(times, [first, first, second, second]);
    }

    #[test]
    fn commands_for_aider_are_not_prompts() {
        for (text, kind) in [
            ("/add a.rs", EntryKind::Command),
            ("/run ls", EntryKind::Shell),
            ("!ls", EntryKind::Shell),
            ("/ask why?", EntryKind::Prompt),
            ("/ask", EntryKind::Command),
            ("/usr/bin/env is missing", EntryKind::Prompt),
        ] {
            let Some(FoldedPart::Text(found, _)) = prompt(text) else { panic!("{text}") };
            assert_eq!(found, kind, "{text}");
        }
        assert_eq!(prompt("<blank>"), None);
    }
}
