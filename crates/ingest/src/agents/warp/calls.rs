//! Tool calls of Warp's agent and their results, by the numbers of their fields.

use serde_json::{Value, json};

use crate::parse::protobuf::ProtobufMessage;

/// The result of a call, whatever the tool.
#[derive(Debug, Default)]
pub(super) struct WarpResult {
    pub(super) name: Option<&'static str>,
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) is_rejected: bool,
    pub(super) exit_code: Option<i32>,
}

/// The name of a tool, and its arguments as JSON. `None` for calls that only Warp's server understands.
pub(super) fn describe(call: ProtobufMessage<'_>) -> Option<(String, Value)> {
    let (number, tool) =
        call.fields().find_map(|(number, _)| Some((number, call.message(number)?)).filter(|_| number > 1))?;
    let paths = |number: u64| tool.messages(number).map(|file| file.text(1)).collect::<Vec<_>>();
    let (name, input) = match number {
        2 => ("run_shell_command", json!({ "command": tool.text(1) })),
        3 => ("search_codebase", json!({ "query": tool.text(1), "path": tool.text(3) })),
        4 => return None,
        5 => ("read_files", json!({ "path": paths(1).first(), "paths": paths(1) })),
        6 => {
            let files: Vec<&str> = (2..=5).flat_map(paths).collect();
            ("apply_file_diffs", json!({ "path": files.first(), "paths": files, "description": tool.text(1) }))
        }
        7 => ("suggest_plan", json!({ "description": tool.text(1) })),
        9 => ("grep", json!({ "pattern": tool.texts(1).join(" "), "path": tool.text(2) })),
        10 | 15 => ("file_glob", json!({ "pattern": tool.texts(1).join(" "), "path": tool.text(2) })),
        11 => ("read_mcp_resource", json!({ "url": tool.text(1) })),
        12 => return Some((format!("mcp__{}__{}", tool.text(3), tool.text(1)), Value::Null)),
        13 => ("write_to_long_running_shell_command", json!({})),
        19 => ("subagent", json!({ "description": tool.text(2) })),
        23 => ("read_shell_command_output", json!({})),
        24 => ("use_computer", json!({ "description": tool.text(3) })),
        26 => ("read_skill", json!({ "skill": tool.text(3), "path": tool.text(1) })),
        29 => ("start_agent", json!({ "description": tool.text(1), "prompt": tool.text(2) })),
        other => return Some((format!("tool_{other}"), json!({}))),
    };
    Some((name.to_owned(), input))
}

/// What a call gave. Nearly all tools have `success` as their first and `error` as their second case.
pub(super) fn result(result: ProtobufMessage<'_>) -> Option<WarpResult> {
    let mut cases = result.fields().filter(|(number, _)| *number > 1 && *number != 11);
    let (number, tool) = cases.find_map(|(number, _)| Some((number, result.message(number)?)))?;
    Some(match number {
        2 => command_result(tool, (5, 4)),
        4 => return None,
        14 => WarpResult {
            text: "cancelled by the user".to_owned(),
            is_error: true,
            is_rejected: true,
            ..WarpResult::default()
        },
        16 => {
            let texts = tool.message(1).into_iter().flat_map(|success| success.messages(1));
            let texts: Vec<&str> = texts.filter_map(|one| one.message(1)).map(|text| text.text(1)).collect();
            WarpResult { text: texts.join("\n"), ..plain_result(tool) }
        }
        17 | 35 => command_result(tool, (2, 1)),
        23 => WarpResult { text: tool.text(1).to_owned(), ..WarpResult::default() },
        27 => command_result(tool, (3, 2)),
        _ => plain_result(tool),
    })
}

fn plain_result(tool: ProtobufMessage<'_>) -> WarpResult {
    match tool.message(2) {
        Some(error) => WarpResult { text: error.text(1).to_owned(), is_error: true, ..WarpResult::default() },
        None => WarpResult::default(),
    }
}

/// A command that ended or still runs, or that may not run (6).
fn command_result(tool: ProtobufMessage<'_>, (finished, running): (u64, u64)) -> WarpResult {
    let name = Some("run_shell_command");
    if let Some(finished) = tool.message(finished) {
        // Negative numbers are written as if they had 64 bits.
        let exit_code = finished.number(2).unwrap_or_default().cast_signed();
        let text = finished.text(1).to_owned();
        return WarpResult { name, text, exit_code: i32::try_from(exit_code).ok(), ..WarpResult::default() };
    }
    if tool.message(6).is_some() {
        let text = "permission denied".to_owned();
        return WarpResult { name, text, is_error: true, is_rejected: true, ..WarpResult::default() };
    }
    let text = tool.message(running).map_or("", |snapshot| snapshot.text(1)).to_owned();
    WarpResult { name, text, ..WarpResult::default() }
}
