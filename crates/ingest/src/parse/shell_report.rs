//! What the result of a shell tool says about a command, and the form in which Gemini CLI and Qwen Code write it.

/// What a report says about a command.
#[derive(Debug, PartialEq, Eq)]
pub struct ShellReport<'a> {
    /// The command's own output.
    pub output: &'a str,
    /// The exit code. Some agents leave out 0.
    pub exit_code: Option<i32>,
}

/// Lines that may follow the output. Older versions write each of them, newer ones only those that matter.
const TRAILING_FIELDS: [&str; 5] =
    ["Signal: ", "Background PIDs: ", "Process Group PGID: ", "Error: (none)", "</untrusted_context>"];
const EXIT_CODE: &str = "Exit Code: ";
/// Start of the output; before it, older versions repeat the command and the directory.
const OUTPUT_FIELDS: [&str; 2] = ["Output: ", "Stdout: "];

impl<'a> ShellReport<'a> {
    /// Parses a report. `None` if the text is something else, such as the message that a command was not run.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim().trim_start_matches("<untrusted_context>").trim_start();
        let begins = |name: &&&str| text.starts_with(**name);
        let start = match OUTPUT_FIELDS.iter().find(begins) {
            Some(name) => name.len(),
            None if text.starts_with("Command: ") => {
                OUTPUT_FIELDS.iter().filter_map(|name| Some(text.find(&format!("\n{name}"))? + 1 + name.len())).min()?
            }
            None => return None,
        };
        let (mut rest, mut exit_code) = (&text[start..], None);
        // A hook may have added text after the report; the field before it is still the report's.
        if let Some(end) = end_of_fields(rest) {
            rest = &rest[..end];
        }
        while let Some((before, line)) = rest.trim_end().rsplit_once('\n').or(Some(("", rest))) {
            if let Some(code) = line.strip_prefix(EXIT_CODE) {
                exit_code = exit_code.or_else(|| code.trim().parse().ok());
            } else if !TRAILING_FIELDS.iter().any(|field| line.starts_with(field)) {
                break;
            }
            rest = before;
            if rest.is_empty() {
                break;
            }
        }
        let output = rest.trim_end();
        Some(Self { output: if output == "(empty)" { "" } else { output }, exit_code })
    }
}

/// The end of the report's last line, `Process Group PGID`, if text follows it.
fn end_of_fields(text: &str) -> Option<usize> {
    let at = text.rfind("\nProcess Group PGID: ")?;
    text[at + 1..].find('\n').map(|length| at + 1 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, output: &str, exit_code: Option<i32>) {
        assert_eq!(ShellReport::parse(text), Some(ShellReport { output, exit_code }), "{text}");
    }

    #[test]
    fn output_and_exit_code_are_separated() {
        check("Output: ok\nProcess Group PGID: 17", "ok", None);
        check(
            "<untrusted_context>\nOutput: ls: no such file\nExit Code: 3\nProcess Group PGID: 17\n</untrusted_context>",
            "ls: no such file",
            Some(3),
        );
        check("Output: (empty)\nExit Code: 3\nProcess Group PGID: 1", "", Some(3));
        check("Output: a\nError: spawn failed\nExit Code: 127", "a\nError: spawn failed", Some(127));
    }

    #[test]
    fn older_reports_repeat_the_command() {
        let fields = "Error: (none)\nExit Code: 2\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 9";
        check(&format!("Command: make\nDirectory: (root)\nOutput: boom\n{fields}"), "boom", Some(2));
        check(&format!("Command: make\nDirectory: (root)\nStdout: boom\n{fields}\n\nadded by a hook"), "boom", Some(2));
    }

    #[test]
    fn a_quoted_exit_code_is_output() {
        check("Output: Exit Code: 7\nlast line", "Exit Code: 7\nlast line", None);
        assert_eq!(ShellReport::parse("Command rejected by policy."), None);
    }
}
