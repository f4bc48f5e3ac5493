//! The text of a command that a human ran with `!`: the command, its exit code, and the line that identifies a failure.

use super::user_text::{tag_content, without_tags};
use crate::facts::{failure_line, identifying_line};

/// How the text of a command begins; the line about a failure that an agent stores separately does not.
pub(crate) const COMMAND_MARK: &str = "! ";
/// More of an output is not looked at, in bytes.
const MAX_OUTPUT_BYTES: usize = 32_000;

/// A command as it is stored. Without an exit code, a failure is recognized by the output.
pub(crate) fn shell_text(command: &str, exit_code: Option<i32>, output: &str) -> String {
    let output = first_lines(output);
    let message = match exit_code {
        Some(0) => None,
        Some(_) => identifying_line(output),
        None => failure_line(output),
    };
    let code = exit_code.filter(|code| *code != 0).map_or(String::new(), |code| format!(" (exit {code})"));
    let message = message.map_or(String::new(), |message| format!("\n{message}"));
    format!("{COMMAND_MARK}{}{code}{message}", command.trim())
}

/// The line that identifies the failure of a command whose output Claude Code writes after it; `None` if it shows none.
pub(super) fn failure_of_output(text: &str) -> Option<String> {
    let is_output = ["<bash-stdout>", "<bash-stderr>"].iter().any(|tag| text.trim_start().starts_with(tag));
    if !is_output || !without_tags(text, &["bash-stdout", "bash-stderr"]).trim().is_empty() {
        return None;
    }
    let shown = |tag: &str| tag_content(text, tag).unwrap_or_default();
    let output = format!("{}\n{}", shown("bash-stdout"), shown("bash-stderr"));
    failure_line(first_lines(&output))
}

/// The whole lines at the start of an output. Half a line may have half a secret, which would not be recognized.
fn first_lines(output: &str) -> &str {
    if output.len() <= MAX_OUTPUT_BYTES {
        return output;
    }
    let start = &output[..output.floor_char_boundary(MAX_OUTPUT_BYTES)];
    start.rsplit_once('\n').map_or("", |(lines, _)| lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_stored_with_its_command() {
        assert_eq!(shell_text("make", Some(2), "x\nerror: no rule"), "! make (exit 2)\nerror: no rule");
        assert_eq!(shell_text("make", Some(0), "error: handled"), "! make");
        assert_eq!(
            shell_text(" npm test ", None, "TypeError: a is not a function"),
            "! npm test\nTypeError: a is not a function"
        );
        assert_eq!(shell_text("ls", None, "a.c"), "! ls");
    }

    #[test]
    fn output_that_follows_its_command_is_reduced_to_the_failure() {
        let output = |out: &str, err: &str| {
            failure_of_output(&format!("<bash-stdout>{out}</bash-stdout><bash-stderr>{err}</bash-stderr>"))
        };
        assert_eq!(output("", "ValueError: no key").as_deref(), Some("ValueError: no key"));
        assert_eq!(output("all good", ""), None);
        assert_eq!(failure_of_output("<bash-stdout>error: x</bash-stdout>\nwhy?"), None);
    }
}
