//! The tool calls in an answer: code blocks named after a tool, `@tool(id): {…}`, or tags.

use serde_json::{Value, json};

/// Tools that run a code block, and what its text is for them.
const BLOCK_TOOLS: [(&str, &str); 14] = [
    ("shell", "command"),
    ("ipython", "code"),
    ("python", "code"),
    ("patch", "patch"),
    ("patch_many", "patch"),
    ("morph", "patch"),
    ("save", "content"),
    ("append", "content"),
    ("read", "content"),
    ("tmux", "command"),
    ("gh", "command"),
    ("browser", "code"),
    ("subagent", "prompt"),
    ("complete", "content"),
];
/// Tools whose block names a file.
const FILE_TOOLS: [&str; 5] = ["patch", "morph", "save", "append", "read"];
const FENCE: &str = "```";

/// A call in an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GptmeCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
}

/// Separates the calls from the prose. `tools` are those that the conversation had, if that is known: blocks of others
/// were not run.
pub(super) fn split_calls(text: &str, message: &str, tools: Option<&[String]>) -> (String, Vec<GptmeCall>) {
    let (mut prose, mut calls) = (String::new(), Vec::new());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some((name, id, input, rest)) = native_call(line, &mut lines) {
            calls.push(GptmeCall { id, name, input });
            prose.push_str(&rest);
            continue;
        }
        let Some((name, key, argument)) = line.strip_prefix(FENCE).and_then(|info| block_tool(info.trim(), tools))
        else {
            prose.push_str(line);
            if line.starts_with(FENCE) {
                // A block for the reader: what is in it is not a call.
                let (body, _) = block_body(&mut lines);
                prose.push_str(&body);
            }
            continue;
        };
        let (body, is_closed) = block_body(&mut lines);
        if !is_closed {
            // The answer was cut off: nothing was run.
            break;
        }
        let body = body.trim_end().strip_suffix(FENCE).unwrap_or(&body).trim_end_matches('\n');
        let mut input = json!({ key: body });
        if FILE_TOOLS.contains(&name) && !argument.is_empty() {
            input["path"] = argument.into();
        }
        calls.push(GptmeCall { id: format!("{message}-{}", calls.len() + 1), name: name.to_owned(), input });
    }
    (prose.trim().to_owned(), calls)
}

/// The tool of a block, the name of its text, and the rest of the first line.
fn block_tool<'a>(info: &'a str, tools: Option<&[String]>) -> Option<(&'static str, &'static str, &'a str)> {
    let (name, argument) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    let (tool, key) = BLOCK_TOOLS.into_iter().find(|(tool, _)| *tool == name)?;
    let owner = if tool == "python" { "ipython" } else { tool };
    let is_available = tools.is_none_or(|tools| tools.iter().any(|one| one == owner || one == tool));
    is_available.then(|| (tool, key, argument.trim()))
}

/// The lines up to the fence that closes the block, and whether there is one. Blocks may contain blocks: a bare fence
/// opens one if text follows it.
fn block_body<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> (String, bool) {
    let (mut body, mut depth) = (String::new(), 1);
    while let Some(line) = lines.next() {
        body.push_str(line);
        if !line.starts_with(FENCE) {
            continue;
        }
        let next = lines.peek().map_or("", |next| next.trim());
        let opens = line.trim() != FENCE || !(next.is_empty() || next.starts_with(FENCE));
        if opens {
            depth += 1;
        } else {
            depth -= 1;
        }
        if depth == 0 {
            return (body, true);
        }
    }
    (body, false)
}

/// `@shell(call-1): {"command": "ls"}`, whose JSON may have several lines.
fn native_call<'a>(
    line: &str,
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str> + Clone>,
) -> Option<(String, String, Value, String)> {
    let (head, json) = line.strip_prefix('@')?.split_once("): ")?;
    let (name, id) = head.split_once('(')?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-:.".contains(c));
    if !is_name(name) || !is_name(id) || !json.starts_with('{') {
        return None;
    }
    // Lines that turn out not to be part of a call stay in `lines`.
    let (mut text, mut ahead) = (json.to_owned(), lines.clone());
    loop {
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        match values.next()? {
            Ok(input) => {
                let end = values.byte_offset();
                *lines = ahead;
                return Some((name.to_owned(), id.to_owned(), input, text[end..].to_owned()));
            }
            Err(error) if error.is_eof() => text.push_str(ahead.next()?),
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, tools: Option<&[&str]>, prose: &str, calls: &[(&str, &str, &str)]) {
        let tools: Option<Vec<String>> = tools.map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect());
        let (found_prose, found) = split_calls(text, "m", tools.as_deref());
        assert_eq!(found_prose, prose, "{text}");
        let found: Vec<_> = found.into_iter().map(|call| (call.id, call.name, call.input.to_string())).collect();
        let expect: Vec<_> =
            calls.iter().map(|(id, name, input)| ((*id).into(), (*name).into(), (*input).into())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn blocks_named_after_tools_are_calls() {
        check(
            "Run:\n\n```shell\nls -l\n```\n\nThen:\n```patch a.rs\n<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED\n```\n",
            None,
            "Run:\n\n\nThen:",
            &[
                ("m-1", "shell", r#"{"command":"ls -l"}"#),
                ("m-2", "patch", r#"{"patch":"<<<<<<< ORIGINAL\na\n=======\nb\n>>>>>>> UPDATED","path":"a.rs"}"#),
            ],
        );
    }

    #[test]
    fn blocks_of_other_languages_and_missing_tools_are_prose() {
        let text = "```rust\nfn main() {}\n```";
        check(text, None, text, &[]);
        let text = "```read a.rs\n```";
        check(text, Some(&["shell"]), text, &[]);
        check("```shell\nls", None, "", &[]);
    }

    #[test]
    fn a_saved_file_may_contain_blocks() {
        check(
            "```save a.md\n# A\n```shell\nls\n```\n```\n",
            None,
            "",
            &[("m-1", "save", r##"{"content":"# A\n```shell\nls\n```","path":"a.md"}"##)],
        );
    }

    #[test]
    fn calls_of_the_model_api_have_ids() {
        check(
            "Look:\n@shell(call-a-0): {\"command\":\n\"ls\"}\n",
            None,
            "Look:",
            &[("call-a-0", "shell", r#"{"command":"ls"}"#)],
        );
        for text in ["@someone(here): hi", "@shell(a): {\"command\":\ncut off", "@shell(a): {not JSON}\nbut prose"] {
            check(text, None, text, &[]);
        }
    }
}
