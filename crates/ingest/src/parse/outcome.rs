//! One line on how a tool call went, from its measured result.

use std::borrow::Cow;

use rethread_model::{INJECTION_TAG, Outcome, Status, ToolKind, clip, first_line};

use super::Scribe;
use super::content::{Measured, Shape};
use super::human::tag;
use crate::facts::{git_note, is_of_the_agent, names_failure, telling_line};

/// The longest error text that is kept, in characters.
const ERROR_CHARS: usize = 500;
/// How much of a tool's output is kept when the filter asks for it.
const OUTPUT_BYTES: usize = 1500;

/// How much agents put before what a tool gave: that it failed, how long it took.
const WRAPPER_BYTES: usize = 100;

/// What a result says about its call. `kind` is the call's, where the line tells it.
pub(super) fn outcome(
    mut measured: Measured,
    is_error: bool,
    kind: Option<ToolKind>,
    scribe: &mut Scribe<'_>,
) -> Outcome {
    let status = match (is_error, is_refusal(&measured.head)) {
        (true, true) => Status::Rejected,
        (true, false) => Status::Error,
        (false, _) if measured.head.starts_with("The user doesn't want to proceed with this tool use") => {
            Status::Rejected
        }
        (false, _) => Status::Ok,
    };
    let is_own = is_own(&measured.head);
    let keeps_output = !scribe.filter.omit_tool_outputs && !is_own;
    // A pipe hides the exit code of what failed before it.
    let may_hide_failure = status == Status::Ok && kind == Some(ToolKind::Command);
    let trouble = if may_hide_failure { names_failure(&shown(&measured)) } else { None };
    if status.is_error() || keeps_output {
        measured.head = scribe.clean(measured.head);
        measured.tail = scribe.clean(measured.tail);
    }
    Outcome {
        status,
        summary: clip(&summary(&measured, kind), scribe.filter.max_output_summary_chars).into_owned(),
        error: match status {
            _ if is_own => None,
            Status::Ok => trouble.map(|line| clip(&scribe.clean(line), ERROR_CHARS).into_owned()),
            Status::Rejected => Some(clip(first_line(bare(&measured.head)), ERROR_CHARS).into_owned()),
            Status::Error => Some(error_line(&measured)),
        },
        exit_code: if is_error { exit_code(&measured) } else { None },
        lines: measured.lines,
        bytes: measured.bytes,
        // The head was cut before it was cleaned, so its end may hold half a secret and is left out.
        output: keeps_output.then(|| measured.head[..measured.head.floor_char_boundary(OUTPUT_BYTES)].to_owned()),
    }
}

/// Whether one of our own tools gave it: what it quotes was read where it was said. Agents put a few words before it.
fn is_own(head: &str) -> bool {
    let beginning = &head[..head.floor_char_boundary(WRAPPER_BYTES + INJECTION_TAG.len())];
    beginning.contains(&format!("<{INJECTION_TAG}"))
}

fn is_refusal(text: &str) -> bool {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    text.starts_with("The user doesn't want to")
        || text.starts_with("User rejected")
        || text.starts_with("[Request interrupted")
}

/// What the user said when refusing, if anything.
pub(super) fn reason_for_refusing(text: &str) -> Option<&str> {
    let at = text.find("the user said:")?;
    let said = text[at + "the user said:".len()..].trim();
    (!said.is_empty()).then_some(said)
}

fn summary(measured: &Measured, kind: Option<ToolKind>) -> String {
    let size = || format!("{}, {}", plural(measured.lines, "line"), human_bytes(measured.bytes));
    match &measured.shape {
        Shape::Nothing => "no output".to_owned(),
        Shape::Text if measured.bytes == 0 => "no output".to_owned(),
        Shape::Text if kind == Some(ToolKind::Read) => format!("read {}", size()),
        Shape::Text if kind == Some(ToolKind::Command) => match git_note(&measured.head) {
            Some(note) => format!("{}, {note}", size()),
            None => size(),
        },
        Shape::Text => size(),
        Shape::List(items) => plural(*items as u64, "item"),
        Shape::Object(keys) => format!("keys: {}", keys.join(", ")),
        Shape::Other(name) => (*name).to_owned(),
    }
}

/// What is known of a result's text: its beginning, and its end where that is not part of it.
fn shown(measured: &Measured) -> Cow<'_, str> {
    if measured.bytes <= measured.head.len() as u64 {
        return Cow::Borrowed(&measured.head);
    }
    // Both were cut, perhaps in the middle of a line.
    let head = measured.head.rsplit_once('\n').map_or(measured.head.as_str(), |(whole, _)| whole);
    let tail = measured.tail.split_once('\n').map_or("", |(_, rest)| rest);
    Cow::Owned(format!("{head}\n{tail}"))
}

fn bare(head: &str) -> &str {
    tag(head, "tool_use_error").unwrap_or(head).trim_start()
}

/// The line that names the error: wrappers, progress and a bare exit code say less than what follows them.
fn error_line(measured: &Measured) -> String {
    let shown = shown(measured);
    let text = bare(&shown);
    // That the agent stopped it says more than whatever was printed until then.
    let ends = [text.lines().next(), text.trim_end().lines().next_back()];
    if let Some(line) = ends.into_iter().flatten().find(|line| is_of_the_agent(line, None)) {
        return clip(line, ERROR_CHARS).into_owned();
    }
    let after_code = split_exit_code(text).map_or(text, |(_, rest)| if rest.trim().is_empty() { text } else { rest });
    // pi says this where a command printed nothing; what follows names the error.
    let after_code = after_code
        .trim_start()
        .strip_prefix("(no output)")
        .filter(|rest| !rest.trim().is_empty())
        .unwrap_or(after_code);
    let telling = telling_line(after_code).unwrap_or_else(|| first_line(text).to_owned());
    clip(&telling, ERROR_CHARS).into_owned()
}

fn exit_code(measured: &Measured) -> Option<i32> {
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

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn human_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, is_error: bool, expect: (Status, &str, Option<&str>, Option<i32>)) {
        let outcome =
            Scribe::with_defaults(|scribe| outcome(serde_json::from_str(json).unwrap(), is_error, None, scribe));
        assert_eq!((outcome.status, outcome.summary.as_str(), outcome.error.as_deref(), outcome.exit_code), expect);
    }

    #[test]
    fn s003_13_only_the_first_line_of_an_error_is_kept() {
        check(
            r#""Exit code 2\nerror[E0308]: mismatched types\n  at x""#,
            true,
            (Status::Error, "3 lines, 49 B", Some("error[E0308]: mismatched types"), Some(2)),
        );
        check(r#""Exit code 1""#, true, (Status::Error, "1 line, 11 B", Some("Exit code 1"), Some(1)));
        check(
            r#""<tool_use_error>File not found.</tool_use_error>""#,
            true,
            (Status::Error, "1 line, 48 B", Some("File not found."), None),
        );
        check(
            r#""boom\n\nCommand exited with code 101""#,
            true,
            (Status::Error, "3 lines, 34 B", Some("boom"), Some(101)),
        );
        check(
            r#""(no output)\n\nCommand exited with code 1""#,
            true,
            (Status::Error, "3 lines, 39 B", Some("Command exited with code 1"), Some(1)),
        );
        check(r#""fine""#, false, (Status::Ok, "1 line, 4 B", None, None));
    }

    #[test]
    fn what_our_own_tools_gave_is_not_kept() {
        let told = "<rethread-context>\nerror: no session fits \"x\"\n</rethread-context>";
        let codex = format!("Wall time: 0.0091 seconds\nOutput:{told}");
        for text in
            [told.to_owned(), format!("Error: {told}"), format!("<tool_use_error>{told}</tool_use_error>"), codex]
        {
            for is_error in [true, false] {
                let json = serde_json::to_string(&[serde_json::json!({"type": "text", "text": text})]).unwrap();
                let filter = crate::Filter { omit_tool_outputs: false, ..crate::Filter::default() };
                let measured = serde_json::from_str(&json).unwrap();
                let outcome =
                    Scribe::with_filter(&filter, |scribe| outcome(measured, is_error, Some(ToolKind::Command), scribe));
                assert_eq!((outcome.error, outcome.output), (None, None), "{text}");
                assert_eq!(outcome.status.is_error(), is_error);
            }
        }
    }

    #[test]
    fn s003_15_error_text_is_at_most_500_characters() {
        let long = serde_json::to_string(&"é".repeat(900)).unwrap();
        let outcome = Scribe::with_defaults(|scribe| outcome(serde_json::from_str(&long).unwrap(), true, None, scribe));
        assert_eq!(outcome.error.unwrap().chars().count(), 500);
    }

    #[test]
    fn a_refusal_is_its_own_status_and_may_carry_words() {
        let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse jq";
        check(
            &serde_json::to_string(text).unwrap(),
            true,
            (Status::Rejected, "2 lines, 129 B", Some(text.lines().next().unwrap()), None),
        );
        assert_eq!(reason_for_refusing(text), Some("use jq"));
    }
}
