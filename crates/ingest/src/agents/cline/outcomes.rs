//! Reads the results of Cline's tools: one outcome per command or file of a call, as JSON or as JSON in a string.

use rethread_model::ToolKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::EventBody;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientObject, LenientText};
use crate::parse::outcome::{leading_code, outcome_with_code};
use crate::parse::{TextSink, tool_kind};

const EXIT_CODE: &str = "exited with code ";

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ClineResultBlock<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: LenientBool,
}

/// What became of one command or file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ClineOutcome<'a> {
    #[serde(borrow)]
    result: LenientText<'a>,
    /// Of a sub-agent, and of ordinary text blocks.
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    error: LenientText<'a>,
    success: Option<LenientBool>,
}

/// The outcomes of a call, taken together.
#[derive(Debug, Default, PartialEq, Eq)]
struct ClineReport {
    output: String,
    is_error: bool,
    exit_code: Option<i32>,
}

pub(super) fn add_result(block: ClineResultBlock<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if block.kind.as_str() != "tool_result" {
        return;
    }
    let kind = tool_kind(block.name.as_str());
    let report = read_report(block.content.map_or("null", RawValue::get), kind);
    let is_error = block.is_error.0 || report.is_error;
    let measured = MeasuredResult::from_text(&report.output);
    let outcome = outcome_with_code(measured, is_error, report.exit_code, Some(kind), sink);
    out.push(EventBody::ToolResult { call_id: block.tool_use_id.into_string(), outcome, answer: None });
}

fn read_report(content: &str, kind: ToolKind) -> ClineReport {
    let quoted: Option<String> = serde_json::from_str(content).ok();
    let json = quoted.as_deref().unwrap_or(content);
    let outcomes: Vec<LenientObject<ClineOutcome<'_>>> = match serde_json::from_str(json) {
        Ok(outcomes) => outcomes,
        Err(_) => match serde_json::from_str::<ClineOutcome<'_>>(json) {
            Ok(outcome) => vec![LenientObject(outcome)],
            Err(_) => return ClineReport { output: quoted.unwrap_or_default(), ..ClineReport::default() },
        },
    };
    let mut report = ClineReport::default();
    for LenientObject(outcome) in outcomes {
        let failed = outcome.success.is_some_and(|success| !success.0) || !outcome.error.as_str().is_empty();
        report.is_error |= failed;
        let code = if failed {
            exit_code(outcome.error.as_str()).or_else(|| exit_code(outcome.result.as_str()))
        } else {
            // Only a command that ended with 0 is a success.
            (kind == ToolKind::Command && outcome.success.is_some()).then_some(0)
        };
        // Of several commands, the first one that failed counts.
        report.exit_code = report.exit_code.filter(|code| *code != 0).or(code);
        let result = if outcome.result.as_str().is_empty() { outcome.text } else { outcome.result };
        for text in [result.as_str(), outcome.error.as_str()] {
            if !text.is_empty() && !report.output.is_empty() {
                report.output.push('\n');
            }
            report.output.push_str(text);
        }
    }
    report
}

fn exit_code(text: &str) -> Option<i32> {
    leading_code(&text[text.find(EXIT_CODE)? + EXIT_CODE.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, kind: ToolKind, output: &str, is_error: bool, exit_code: Option<i32>) {
        let expect = ClineReport { output: output.to_owned(), is_error, exit_code };
        assert_eq!(read_report(content, kind), expect, "{content}");
    }

    #[test]
    fn every_form_of_a_result_is_read() {
        check(r#"[{"query":"ls","result":"a\n","success":true}]"#, ToolKind::Command, "a\n", false, Some(0));
        check(r#""{\"result\":\"Edited\",\"success\":true}""#, ToolKind::Edit, "Edited", false, None);
        check(r#""{\"text\":\"done\",\"iterations\":1}""#, ToolKind::Agent, "done", false, None);
        check(r#""plain""#, ToolKind::Other, "plain", false, None);
        check(r#"[{"type":"text","text":"a"},{"type":"image"}]"#, ToolKind::Mcp, "a", false, None);
        check("null", ToolKind::Read, "", false, None);
        check("[1,{}]", ToolKind::Read, "", false, None);
    }

    #[test]
    fn a_failed_command_is_an_error_with_its_code() {
        let failed = r#"{"query":"x","result":"no","error":"Command exited with code 3","success":false}"#;
        let fine = r#"{"query":"y","result":"yes","success":true}"#;
        let output = "no\nCommand exited with code 3";
        check(&format!("[{failed}]"), ToolKind::Command, output, true, Some(3));
        check(&format!("[{failed},{fine}]"), ToolKind::Command, &format!("{output}\nyes"), true, Some(3));
        check(&format!("[{fine},{failed}]"), ToolKind::Command, &format!("yes\n{output}"), true, Some(3));
        check(r#"[{"result":"","error":"ENOENT","success":false}]"#, ToolKind::Read, "ENOENT", true, None);
    }
}
