//! Derives the outcome of a tool call from its measured result.

use std::borrow::Cow;

use rethread_model::{ToolKind, ToolOutcome, ToolStatus, clip, counted, first_line};

use super::TextSink;
use super::content::{MeasuredResult, ResultShape};
use super::machine_text::strip_hint;
use super::user_text::tag_content;
use crate::facts::{STILL_RUNNING, failure_line, git_note, identifying_line, is_agent_message};

/// Maximum length of a stored error text, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// Bytes of a tool's output that are stored if the filter keeps tool outputs.
const MAX_OUTPUT_BYTES: usize = 1500;
/// Bytes that are shown from the start and the end of a longer output.
const SHOWN_HEAD_BYTES: usize = 768 << 10;
const SHOWN_TAIL_BYTES: usize = 256 << 10;

/// The exit code at the start of a text.
pub(crate) fn leading_code(text: &str) -> Option<i32> {
    let end = text.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The outcome of a call. `kind` is the kind of the tool, if the line reveals it. An exit code is looked for in the text
/// of an error; if the line has a field for it, the caller sets it.
pub(crate) fn tool_outcome(
    mut measured: MeasuredResult,
    is_error: bool,
    kind: Option<ToolKind>,
    sink: &mut TextSink<'_>,
) -> ToolOutcome {
    let status = match (is_error, is_rejection(&measured.head)) {
        (true, true) => ToolStatus::Rejected,
        (true, false) => ToolStatus::Error,
        (false, _) if measured.head.starts_with("The user doesn't want to proceed with this tool use") => {
            ToolStatus::Rejected
        }
        (false, _) => ToolStatus::Ok,
    };
    let is_own = measured.is_own;
    let keeps_output = !sink.filter.omit_tool_outputs && !is_own;
    // A pipe hides the exit code of a command that failed before it. If the line does not reveal the kind of the tool, the
    // assembler drops the error of anything but a command.
    let may_hide_failure = status == ToolStatus::Ok
        && kind.is_none_or(|kind| kind == ToolKind::Command)
        // What failed was found when the result was stored.
        && !sink.reads_originals();
    let trouble = if may_hide_failure { failure_line(&visible_text(&measured)) } else { None };
    let is_cut = measured.bytes > measured.head.len() as u64;
    if status.is_error() || keeps_output {
        measured.head = sink.redact(measured.head);
        if is_cut || status.is_error() {
            measured.tail = sink.redact(measured.tail);
        }
    }
    ToolOutcome {
        status,
        summary: clip(&summary(&measured, kind), sink.filter.max_output_summary_chars).into_owned(),
        error: match status {
            // The line that is stored was found when the result was.
            _ if is_own || sink.reads_originals() => None,
            ToolStatus::Ok => trouble.map(|line| clip(&sink.redact(line), MAX_ERROR_CHARS).into_owned()),
            ToolStatus::Rejected => {
                Some(clip(first_line(strip_error_tag(&measured.head)), MAX_ERROR_CHARS).into_owned())
            }
            ToolStatus::Error => Some(error_line(&measured)),
        },
        exit_code: if is_error { exit_code(&measured) } else { None },
        lines: measured.lines,
        bytes: measured.bytes,
        output: keeps_output.then(|| {
            if sink.reads_originals() {
                return without_middle(std::mem::take(&mut measured.head));
            }
            // The head was cut before redaction, so its end may contain half a secret and is dropped.
            measured.head[..measured.head.floor_char_boundary(MAX_OUTPUT_BYTES)].to_owned()
        }),
    }
}

/// The outcome of a call with a known exit code. A code other than 0 is an error, whatever the flag says.
pub(crate) fn outcome_with_code(
    measured: MeasuredResult,
    is_error: bool,
    code: Option<i32>,
    kind: Option<ToolKind>,
    sink: &mut TextSink<'_>,
) -> ToolOutcome {
    let outcome = tool_outcome(measured, is_error || code.is_some_and(|code| code != 0), kind, sink);
    ToolOutcome { exit_code: code.or(outcome.exit_code), ..outcome }
}

/// The number after a label at the beginning of a line, such as `Exit code: 2`. Programs may print the same words, so the
/// caller says which of the lines counts: the first, or the last one.
pub(crate) fn labeled_code<'a>(mut lines: impl Iterator<Item = &'a str>, label: &str) -> Option<i32> {
    lines.find_map(|line| {
        let start = line.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label))?;
        leading_number(line[start.len()..].trim_start_matches([':', ' ']))
    })
}

/// First words of results that say that the user rejected the call.
const REJECTIONS: [&str; 7] = [
    "The user doesn't want to",
    "User rejected",
    "[Request interrupted",
    "The user rejected permission",
    "The user dismissed this question",
    "The user has declined to run this tool",
    "User denied permission",
];

fn is_rejection(text: &str) -> bool {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    REJECTIONS.iter().any(|start| text.starts_with(start))
}

/// What the user wrote when rejecting the call, if anything.
pub(crate) fn rejection_reason(text: &str) -> Option<&str> {
    let at = text.find("the user said:")?;
    let reason = strip_hint(&text[at + "the user said:".len()..]).trim();
    (!reason.is_empty()).then_some(reason)
}

fn summary(measured: &MeasuredResult, kind: Option<ToolKind>) -> String {
    let size = || format!("{}, {}", counted(measured.lines, "line", "lines"), format_bytes(measured.bytes));
    match &measured.shape {
        ResultShape::Empty => "no output".to_owned(),
        ResultShape::Text if measured.bytes == 0 => "no output".to_owned(),
        ResultShape::Text if kind == Some(ToolKind::Read) => format!("read {}", size()),
        ResultShape::Text if kind == Some(ToolKind::Command) && is_moved_to_background(&measured.head) => {
            format!("{}, {STILL_RUNNING}", size())
        }
        ResultShape::Text if kind == Some(ToolKind::Command) => match git_note(&measured.head) {
            Some(note) => format!("{}, {note}", size()),
            None => size(),
        },
        ResultShape::Text => size(),
        ResultShape::List(items) => counted(*items as u64, "item", "items"),
        ResultShape::Object(keys) => format!("keys: {}", keys.join(", ")),
        ResultShape::Other(name) => (*name).to_owned(),
    }
}

/// Whether a command did not end: the agent or the user moved it to the background.
fn is_moved_to_background(head: &str) -> bool {
    ["Command running in background with ID", "Command was manually backgrounded", "Command did not complete within"]
        .iter()
        .any(|start| head.starts_with(start))
}

/// A redacted output; of a very long one start and end, in whole lines, with a note between them.
fn without_middle(output: String) -> String {
    if output.len() <= SHOWN_HEAD_BYTES + SHOWN_TAIL_BYTES {
        return output;
    }
    let head = &output[..output.floor_char_boundary(SHOWN_HEAD_BYTES)];
    let tail = &output[output.ceil_char_boundary(output.len() - SHOWN_TAIL_BYTES)..];
    let head = head.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let tail = tail.split_once('\n').map_or("", |(_, rest)| rest);
    let hidden = format_bytes((output.len() - head.len() - tail.len()) as u64);
    format!("{head}\n[… {hidden} of {} not shown …]\n{tail}", format_bytes(output.len() as u64))
}

/// The known part of a result's text: its head, plus its tail if the head does not include it.
fn visible_text(measured: &MeasuredResult) -> Cow<'_, str> {
    if measured.bytes <= measured.head.len() as u64 {
        return Cow::Borrowed(&measured.head);
    }
    // Both were cut, perhaps in the middle of a line.
    let head = measured.head.rsplit_once('\n').map_or(measured.head.as_str(), |(whole, _)| whole);
    let tail = measured.tail.split_once('\n').map_or("", |(_, rest)| rest);
    Cow::Owned(format!("{head}\n{tail}"))
}

fn strip_error_tag(head: &str) -> &str {
    tag_content(head, "tool_use_error").unwrap_or(head).trim_start()
}

/// The line that identifies the error: wrappers, progress and a bare exit code say less than what follows them.
fn error_line(measured: &MeasuredResult) -> String {
    let shown = visible_text(measured);
    let text = strip_error_tag(&shown);
    // A message that the agent stopped the command says more than the output before it.
    let after_code = split_exit_code(text).map_or("", |(_, rest)| rest.trim_start());
    let ends = [text.lines().next(), after_code.lines().next(), text.trim_end().lines().next_back()];
    if let Some(line) = ends.into_iter().flatten().find(|line| is_agent_message(line, None)) {
        return clip(line, MAX_ERROR_CHARS).into_owned();
    }
    let after_code = split_exit_code(text).map_or(text, |(_, rest)| if rest.trim().is_empty() { text } else { rest });
    // pi writes this if a command printed nothing; the text after it identifies the error.
    let after_code = after_code
        .trim_start()
        .strip_prefix("(no output)")
        .filter(|rest| !rest.trim().is_empty())
        .unwrap_or(after_code);
    let distinctive = identifying_line(after_code).unwrap_or_else(|| first_line(text).to_owned());
    clip(&distinctive, MAX_ERROR_CHARS).into_owned()
}

fn exit_code(measured: &MeasuredResult) -> Option<i32> {
    if let Some((code, _)) = split_exit_code(measured.head.trim_start()) {
        return Some(code);
    }
    let at = measured.tail.rfind("exited with code ")?;
    leading_number(&measured.tail[at + "exited with code ".len()..])
}

/// `Exit code 2\n…` → the code and what follows.
fn split_exit_code(text: &str) -> Option<(i32, &str)> {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    let rest = text.strip_prefix("Exit code ")?;
    let code = leading_number(rest)?;
    Some((code, rest.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit())))
}

fn leading_number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, is_error: bool, expect: (ToolStatus, &str, Option<&str>, Option<i32>)) {
        let outcome =
            TextSink::with_defaults(|sink| tool_outcome(serde_json::from_str(json).unwrap(), is_error, None, sink));
        assert_eq!((outcome.status, outcome.summary.as_str(), outcome.error.as_deref(), outcome.exit_code), expect);
    }

    #[test]
    fn only_the_identifying_line_of_an_error_is_stored() {
        // S003-13
        check(
            r#""Exit code 2\nerror[E0308]: mismatched types\n  at x""#,
            true,
            (ToolStatus::Error, "3 lines, 49 B", Some("error[E0308]: mismatched types"), Some(2)),
        );
        check(r#""Exit code 1""#, true, (ToolStatus::Error, "1 line, 11 B", Some("Exit code 1"), Some(1)));
        check(
            r#""<tool_use_error>File not found.</tool_use_error>""#,
            true,
            (ToolStatus::Error, "1 line, 48 B", Some("File not found."), None),
        );
        check(
            r#""boom\n\nCommand exited with code 101""#,
            true,
            (ToolStatus::Error, "3 lines, 34 B", Some("boom"), Some(101)),
        );
        check(
            r#""(no output)\n\nCommand exited with code 1""#,
            true,
            (ToolStatus::Error, "3 lines, 39 B", Some("Command exited with code 1"), Some(1)),
        );
        check(
            r#""Exit code 143\nCommand timed out after 2m 0.0s\nerror: x\n""#,
            true,
            (ToolStatus::Error, "3 lines, 55 B", Some("Command timed out after 2m 0.0s"), Some(143)),
        );
        check(r#""fine""#, false, (ToolStatus::Ok, "1 line, 4 B", None, None));
    }

    #[test]
    fn an_exit_code_other_than_0_is_an_error() {
        let outcome = |is_error, code| {
            let outcome = TextSink::with_defaults(|sink| {
                outcome_with_code(MeasuredResult::from_text("Exit code 7\nboom"), is_error, code, None, sink)
            });
            (outcome.status, outcome.exit_code)
        };
        assert_eq!(outcome(false, Some(3)), (ToolStatus::Error, Some(3)));
        assert_eq!(outcome(false, Some(0)), (ToolStatus::Ok, Some(0)));
        assert_eq!(outcome(true, Some(0)), (ToolStatus::Error, Some(0)));
        assert_eq!(outcome(true, None), (ToolStatus::Error, Some(7)), "as the text says");
    }

    #[test]
    fn a_hidden_failure_is_found_if_the_tool_may_be_a_command() {
        let error = |kind| {
            let measured = MeasuredResult::from_text("--- FAIL: TestEnd (0.00s)\nFAIL");
            TextSink::with_defaults(|sink| tool_outcome(measured, false, kind, sink)).error
        };
        assert!(error(Some(ToolKind::Command)).is_some() && error(None).is_some());
        assert_eq!(error(Some(ToolKind::Read)), None);
    }

    #[test]
    fn output_of_our_own_tools_is_not_stored() {
        let rendered = "<rethread-context>\nerror: no session fits \"x\"\n</rethread-context>";
        let codex = format!("Wall time: 0.0091 seconds\nOutput:{rendered}");
        for text in [
            rendered.to_owned(),
            format!("Error: {rendered}"),
            format!("<tool_use_error>{rendered}</tool_use_error>"),
            codex,
        ] {
            for is_error in [true, false] {
                let json = serde_json::to_string(&[serde_json::json!({"type": "text", "text": text})]).unwrap();
                let filter = crate::TranscriptFilter { omit_tool_outputs: false, ..crate::TranscriptFilter::default() };
                let measured = serde_json::from_str(&json).unwrap();
                let outcome = TextSink::with_filter(&filter, |sink| {
                    tool_outcome(measured, is_error, Some(ToolKind::Command), sink)
                });
                assert_eq!((outcome.error, outcome.output), (None, None), "{text}");
                assert_eq!(outcome.status.is_error(), is_error);
            }
        }
    }

    #[test]
    fn error_text_has_at_most_500_characters() {
        // S003-15
        let long = serde_json::to_string(&"é".repeat(900)).unwrap();
        let outcome =
            TextSink::with_defaults(|sink| tool_outcome(serde_json::from_str(&long).unwrap(), true, None, sink));
        assert_eq!(outcome.error.unwrap().chars().count(), 500);
    }

    #[test]
    fn rejection_has_its_own_status_and_may_include_a_reason() {
        let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse jq";
        check(
            &serde_json::to_string(text).unwrap(),
            true,
            (ToolStatus::Rejected, "2 lines, 129 B", Some(text.lines().next().unwrap()), None),
        );
        assert_eq!(rejection_reason(text), Some("use jq"));
    }

    #[test]
    fn the_agents_hint_is_not_part_of_the_users_reason() {
        // D4
        let hint = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention.";
        let said = |words: &str| {
            format!("The tool use was rejected. To tell you how to proceed, the user said:\n{words}{hint}")
        };
        assert_eq!(rejection_reason(&said("use jq\n\nNote: not sed")), Some("use jq\n\nNote: not sed"));
        assert_eq!(rejection_reason(&said("")), None);
    }
}
