//! Tool inputs and results in the format of Claude Code.

use std::fmt::Write as _;

use crate::actions::{SyntheticAction, SyntheticCommand};
use crate::json::JsonObjectWriter;
use crate::workspace::SyntheticEdit;

/// Result of a call the user rejected.
pub(super) const REJECTED: &str = "The user doesn't want to proceed with this tool use.";

/// Claude Code's name of the tool.
pub(super) const fn tool_name(action: &SyntheticAction) -> &'static str {
    match action {
        SyntheticAction::Read(_) | SyntheticAction::Image { .. } => "Read",
        SyntheticAction::Edit(_) => "Edit",
        SyntheticAction::Write(_) => "Write",
        SyntheticAction::Run(_) => "Bash",
        SyntheticAction::Search(_) => "Grep",
        SyntheticAction::Fetch { .. } => "WebFetch",
        SyntheticAction::Plan(_) => "TodoWrite",
        SyntheticAction::Delegate { .. } => "Task",
    }
}

/// Writes the fields of `input`.
pub(super) fn write_input(action: &SyntheticAction, input: &mut JsonObjectWriter) {
    match action {
        SyntheticAction::Read(file) => input.text("file_path", &file.path),
        SyntheticAction::Image { path, .. } => input.text("file_path", path),
        SyntheticAction::Edit(change) => {
            input.flag("replace_all", false);
            input.text("file_path", &change.path);
            input.text("old_string", &change.old);
            input.text("new_string", &change.new);
        }
        SyntheticAction::Write(file) => {
            input.text("file_path", &file.path);
            input.text("content", &file.content);
        }
        SyntheticAction::Run(command) => input.text("command", &command.line),
        SyntheticAction::Search(search) => {
            input.text("pattern", &search.pattern);
            input.text("output_mode", "content");
        }
        SyntheticAction::Fetch { url, prompt, .. } => {
            input.text("url", url);
            input.text("prompt", prompt);
        }
        SyntheticAction::Plan(items) => write_todos(input, "todos", items),
        SyntheticAction::Delegate { prompt, .. } => {
            input.text("subagent_type", "Explore");
            input.text("prompt", prompt);
        }
    }
}

/// Writes `content` of the result block, and `is_error` where Claude Code does.
pub(super) fn write_content(action: &SyntheticAction, block: &mut JsonObjectWriter) {
    match action {
        SyntheticAction::Read(file) => block.text("content", &with_line_numbers(&file.content, 1)),
        SyntheticAction::Image { data, .. } => block.list("content", |list| {
            list.object(|image| {
                image.text("type", "image");
                image.object("source", |source| {
                    source.text("type", "base64");
                    source.text("data", data);
                    source.text("media_type", "image/png");
                });
            });
        }),
        SyntheticAction::Edit(change) => block.text("content", &edit_text(change)),
        SyntheticAction::Write(file) => {
            block.text("content", &format!("File created successfully at: {}", file.path));
        }
        SyntheticAction::Run(command) => {
            block.text("content", &shell_text(command));
            block.flag("is_error", command.exit > 0);
        }
        SyntheticAction::Search(search) => block.text("content", &search.matches),
        SyntheticAction::Fetch { result, .. } => block.text("content", result),
        SyntheticAction::Plan(_) => block.text("content", "Todos have been modified successfully."),
        SyntheticAction::Delegate { report, .. } => {
            block.list("content", |list| list.text_block(report));
        }
    }
}

/// Writes `toolUseResult`: an object, or a string when a command failed.
pub(super) fn write_result(action: &SyntheticAction, agent: &str, line: &mut JsonObjectWriter) {
    if let SyntheticAction::Run(command) = action
        && command.exit > 0
    {
        line.text("toolUseResult", &format!("Error: {}", shell_text(command)));
    } else {
        line.object("toolUseResult", |result| write_result_fields(action, agent, result));
    }
}

fn write_result_fields(action: &SyntheticAction, agent: &str, result: &mut JsonObjectWriter) {
    match action {
        SyntheticAction::Read(file) => {
            result.text("type", "text");
            result.object("file", |object| {
                let lines = file.content.matches('\n').count() as u64;
                object.text("filePath", &file.path);
                object.text("content", &file.content);
                object.number("numLines", lines);
                object.number("startLine", 1);
                object.number("totalLines", lines);
            });
        }
        SyntheticAction::Image { data, .. } => {
            result.text("type", "image");
            result.object("file", |file| {
                file.text("base64", data);
                file.text("type", "image/png");
                file.number("originalSize", data.len() as u64 / 4 * 3);
            });
        }
        SyntheticAction::Edit(change) => write_edit_fields(change, result),
        SyntheticAction::Write(file) => {
            result.text("type", "create");
            result.text("filePath", &file.path);
            result.text("content", &file.content);
            result.raw("structuredPatch", "[]");
            result.optional_text("originalFile", None);
        }
        SyntheticAction::Run(command) => {
            result.text("stdout", &command.output);
            result.text("stderr", "");
            result.flag("interrupted", false);
            result.flag("isImage", false);
        }
        SyntheticAction::Search(search) => {
            result.text("mode", "content");
            result.number("numFiles", search.files.len() as u64);
            result.list("filenames", |list| search.files.iter().for_each(|name| list.text(name)));
            result.text("content", &search.matches);
            result.number("numLines", search.matches.matches('\n').count() as u64);
        }
        SyntheticAction::Fetch { url, result: text, .. } => {
            result.number("bytes", text.len() as u64);
            result.number("code", 200);
            result.text("codeText", "OK");
            result.text("result", text);
            result.number("durationMs", 900);
            result.text("url", url);
        }
        SyntheticAction::Plan(items) => {
            result.raw("oldTodos", "[]");
            write_todos(result, "newTodos", items);
        }
        SyntheticAction::Delegate { prompt, report } => {
            result.text("status", "completed");
            result.text("prompt", prompt);
            result.text("agentId", agent);
            result.list("content", |list| list.text_block(report));
            result.number("totalDurationMs", 61_000);
            result.number("totalTokens", 24_000);
            result.number("totalToolUseCount", 14);
        }
    }
}

fn write_edit_fields(change: &SyntheticEdit, result: &mut JsonObjectWriter) {
    let rows = |text: &str| text.matches('\n').count() as u64;
    result.text("filePath", &change.path);
    result.text("oldString", &change.old);
    result.text("newString", &change.new);
    result.text("originalFile", &change.original);
    result.list("structuredPatch", |list| {
        list.object(|hunk| {
            hunk.number("oldStart", change.line);
            hunk.number("oldLines", rows(&change.old));
            hunk.number("newStart", change.line);
            hunk.number("newLines", rows(&change.new));
            hunk.list("lines", |list| {
                change.old.lines().for_each(|row| list.text(&format!("-{row}")));
                change.new.lines().for_each(|row| list.text(&format!("+{row}")));
            });
        });
    });
    result.flag("userModified", false);
    result.flag("replaceAll", false);
}

fn write_todos(object: &mut JsonObjectWriter, key: &str, items: &[String]) {
    object.list(key, |list| {
        for item in items {
            list.object(|todo| {
                todo.text("content", item);
                todo.text("status", "pending");
                todo.text("activeForm", item);
            });
        }
    });
}

fn shell_text(command: &SyntheticCommand) -> String {
    match command.exit {
        0 => command.output.clone(),
        exit => format!("Exit code {exit}\n{}", command.output),
    }
}

fn edit_text(change: &SyntheticEdit) -> String {
    let path = &change.path;
    format!("The file {path} has been updated.\n{}", with_line_numbers(&change.new, change.line))
}

/// `text` with line numbers, as the tools show files to the model.
fn with_line_numbers(text: &str, first: u64) -> String {
    let mut shown = String::with_capacity(text.len() * 5 / 4);
    for (number, row) in (first..).zip(text.lines()) {
        let _ = writeln!(shown, "{number:>6}\u{2192}{row}");
    }
    shown
}
