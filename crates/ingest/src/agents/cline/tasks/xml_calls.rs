//! Tool calls that models write as tags into their text: `<read_file><path>a.rs</path></read_file>`.

use serde_json::{Map, Value};

/// The tools of the extensions. Other tags are text: a model may well write HTML.
const TOOLS: [&str; 33] = [
    "access_mcp_resource",
    "apply_diff",
    "apply_patch",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "edit_file",
    "execute_command",
    "fetch_instructions",
    "generate_image",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_rule",
    "new_task",
    "plan_mode_respond",
    "plan_mode_response",
    "read_file",
    "replace_in_file",
    "report_bug",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "use_skill",
    "web_fetch",
    "web_search",
    "write_to_file",
];

/// Parameters that contain whole files, which may contain tags themselves.
const CONTENT_PARAMETERS: [&str; 4] = ["content", "diff", "result", "response"];

/// A call in the text of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct XmlCall {
    pub(super) name: &'static str,
    pub(super) input: Map<String, Value>,
}

/// Separates the calls in a message from its prose. A call that the model did not finish was not executed: it is left
/// out of both.
pub(super) fn split_calls(text: &str) -> (String, Vec<XmlCall>) {
    let (mut prose, mut calls, mut rest) = (String::new(), Vec::new(), text);
    while let Some((start, name)) = next_call(rest) {
        prose.push_str(&rest[..start]);
        let body = &rest[start + name.len() + 2..];
        let close = format!("</{name}>");
        let Some(end) = body.find(&close) else {
            rest = "";
            break;
        };
        calls.push(XmlCall { name, input: parameters(&body[..end]) });
        rest = &body[end + close.len()..];
    }
    prose.push_str(rest);
    (prose.trim().to_owned(), calls)
}

/// The first opening tag of a tool that starts a line.
fn next_call(text: &str) -> Option<(usize, &'static str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        let starts_line = text[..at].rsplit('\n').next().is_none_or(|before| before.trim().is_empty());
        let rest = &text[at + 1..];
        let name = TOOLS.into_iter().find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('>')));
        if let Some(name) = name.filter(|_| starts_line) {
            return Some((at, name));
        }
        from = at + 1;
    }
    None
}

fn parameters(body: &str) -> Map<String, Value> {
    let (mut input, mut rest) = (Map::new(), body);
    while let Some((name, after)) = rest.split_once('<').and_then(|(_, rest)| rest.split_once('>')) {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            rest = after;
            continue;
        }
        let close = format!("</{name}>");
        let found = if CONTENT_PARAMETERS.contains(&name) { after.rfind(&close) } else { after.find(&close) };
        let end = found.unwrap_or(after.len());
        let value = after[..end].trim_matches('\n');
        if name == "args" {
            // Newer versions of `read_file` take several files.
            input.insert("paths".to_owned(), tag_values(value, "path").into());
        } else {
            input.insert(name.to_owned(), value.into());
        }
        rest = after.get(end + close.len()..).unwrap_or_default();
    }
    input
}

fn tag_values(text: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let values = text.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
    values.map(|value| value.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, prose: &str, calls: &[(&str, &str)]) {
        let (found_prose, found) = split_calls(text);
        assert_eq!(found_prose, prose, "{text}");
        let found: Vec<_> = found.into_iter().map(|call| (call.name, Value::Object(call.input).to_string())).collect();
        let expect: Vec<_> = calls.iter().map(|(name, input)| (*name, (*input).to_owned())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn calls_are_separated_from_prose() {
        check(
            "Let me look.\n\n<read_file>\n<path>src/a.rs</path>\n</read_file>",
            "Let me look.",
            &[("read_file", r#"{"path":"src/a.rs"}"#)],
        );
        check(
            "<write_to_file>\n<path>a.html</path>\n<content>\n<path>x</path>\n</content>\n</write_to_file>\nDone",
            "Done",
            &[("write_to_file", r#"{"path":"a.html","content":"<path>x</path>"}"#)],
        );
        check(
            "<read_file>\n<args><file><path>a</path></file><file><path>b</path></file></args>\n</read_file>",
            "",
            &[("read_file", r#"{"paths":["a","b"]}"#)],
        );
    }

    #[test]
    fn other_tags_and_quoted_ones_are_prose() {
        let text = "Use <div> and `<read_file>` like this: <execute_command>x</execute_command>";
        check(text, text, &[]);
    }

    #[test]
    fn an_unfinished_call_was_not_executed() {
        check("I write it.\n<write_to_file>\n<path>a", "I write it.", &[]);
    }
}
