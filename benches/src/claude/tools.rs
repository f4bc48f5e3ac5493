//! How Claude Code writes its tools' inputs and results, field by field.

use std::fmt::Write as _;

use crate::json::Object;
use crate::work::{Action, Command};
use crate::workspace::Change;

/// What stands in place of a result that the person did not allow.
pub(super) const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

/// The name of the tool.
pub(super) const fn name(action: &Action) -> &'static str {
    match action {
        Action::Read(_) | Action::Picture { .. } => "Read",
        Action::Edit(_) => "Edit",
        Action::Write(_) => "Write",
        Action::Run(_) => "Bash",
        Action::Search(_) => "Grep",
        Action::Fetch { .. } => "WebFetch",
        Action::Plan(_) => "TodoWrite",
        Action::Delegate { .. } => "Task",
    }
}

/// The fields of `input`.
pub(super) fn input(action: &Action, input: &mut Object) {
    match action {
        Action::Read(file) => input.text("file_path", &file.path),
        Action::Picture { path, .. } => input.text("file_path", path),
        Action::Edit(change) => {
            input.flag("replace_all", false);
            input.text("file_path", &change.path);
            input.text("old_string", &change.old);
            input.text("new_string", &change.new);
        }
        Action::Write(file) => {
            input.text("file_path", &file.path);
            input.text("content", &file.content);
        }
        Action::Run(command) => input.text("command", &command.line),
        Action::Search(search) => {
            input.text("pattern", &search.pattern);
            input.text("output_mode", "content");
        }
        Action::Fetch { url, prompt, .. } => {
            input.text("url", url);
            input.text("prompt", prompt);
        }
        Action::Plan(items) => todos(input, "todos", items),
        Action::Delegate { prompt, .. } => {
            input.text("subagent_type", "Explore");
            input.text("prompt", prompt);
        }
    }
}

/// `content` of the result block, and `is_error` where Claude Code writes it.
pub(super) fn content(action: &Action, block: &mut Object) {
    match action {
        Action::Read(file) => block.text("content", &numbered(&file.content, 1)),
        Action::Picture { data, .. } => block.list("content", |list| {
            list.object(|image| {
                image.text("type", "image");
                image.object("source", |source| {
                    source.text("type", "base64");
                    source.text("data", data);
                    source.text("media_type", "image/png");
                });
            });
        }),
        Action::Edit(change) => block.text("content", &edited(change)),
        Action::Write(file) => {
            block.text("content", &format!("File created successfully at: {}", file.path));
        }
        Action::Run(command) => {
            block.text("content", &shell_text(command));
            block.flag("is_error", command.exit > 0);
        }
        Action::Search(search) => block.text("content", &search.matches),
        Action::Fetch { result, .. } => block.text("content", result),
        Action::Plan(_) => block.text("content", "Todos have been modified successfully."),
        Action::Delegate { report, .. } => {
            block.list("content", |list| list.text_block(report));
        }
    }
}

/// `toolUseResult`: an object, or a string when a command failed.
pub(super) fn result(action: &Action, agent: &str, line: &mut Object) {
    if let Action::Run(command) = action
        && command.exit > 0
    {
        line.text("toolUseResult", &format!("Error: {}", shell_text(command)));
    } else {
        line.object("toolUseResult", |result| fields(action, agent, result));
    }
}

fn fields(action: &Action, agent: &str, result: &mut Object) {
    match action {
        Action::Read(file) => {
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
        Action::Picture { data, .. } => {
            result.text("type", "image");
            result.object("file", |file| {
                file.text("base64", data);
                file.text("type", "image/png");
                file.number("originalSize", data.len() as u64 / 4 * 3);
            });
        }
        Action::Edit(change) => edit_fields(change, result),
        Action::Write(file) => {
            result.text("type", "create");
            result.text("filePath", &file.path);
            result.text("content", &file.content);
            result.raw("structuredPatch", "[]");
            result.maybe("originalFile", None);
        }
        Action::Run(command) => {
            result.text("stdout", &command.output);
            result.text("stderr", "");
            result.flag("interrupted", false);
            result.flag("isImage", false);
        }
        Action::Search(search) => {
            result.text("mode", "content");
            result.number("numFiles", search.files.len() as u64);
            result.list("filenames", |list| search.files.iter().for_each(|name| list.text(name)));
            result.text("content", &search.matches);
            result.number("numLines", search.matches.matches('\n').count() as u64);
        }
        Action::Fetch { url, result: text, .. } => {
            result.number("bytes", text.len() as u64);
            result.number("code", 200);
            result.text("codeText", "OK");
            result.text("result", text);
            result.number("durationMs", 900);
            result.text("url", url);
        }
        Action::Plan(items) => {
            result.raw("oldTodos", "[]");
            todos(result, "newTodos", items);
        }
        Action::Delegate { prompt, report } => {
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

fn edit_fields(change: &Change, result: &mut Object) {
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

fn todos(object: &mut Object, key: &str, items: &[String]) {
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

fn shell_text(command: &Command) -> String {
    match command.exit {
        0 => command.output.clone(),
        exit => format!("Exit code {exit}\n{}", command.output),
    }
}

fn edited(change: &Change) -> String {
    let path = &change.path;
    format!("The file {path} has been updated.\n{}", numbered(&change.new, change.line))
}

/// `text` with line numbers, as the tools show files to the model.
fn numbered(text: &str, first: u64) -> String {
    let mut shown = String::with_capacity(text.len() * 5 / 4);
    for (number, row) in (first..).zip(text.lines()) {
        let _ = writeln!(shown, "{number:>6}\u{2192}{row}");
    }
    shown
}
