//! Normalizes any agent's tool call: kind, primary argument, paths, shortened arguments.

use std::borrow::Cow;

use rethread_model::{ToolKind, ToolUse, clip, first_line, one_line};
use serde_json::value::RawValue;

use super::TextSink;
use super::change::{describe_edit, is_secret_file, may_hold_secret};
use super::symbols::declared_names;
use super::tool_arguments::ToolArguments;
use crate::Redactor;
use crate::facts::shorten_script;

const MAX_TARGET_CHARS: usize = 400;
/// Maximum length of code that a call runs, in characters.
const MAX_CODE_CHARS: usize = 2000;

/// Tool names of all agents, in lower case. Other tools are `Mcp` by prefix, or `Other`.
const TOOL_NAMES: &[(ToolKind, &[&str])] = &[
    (
        ToolKind::Read,
        &[
            "read",
            "read_file",
            "view",
            "cat",
            "notebookread",
            "read_many_files",
            "open_file",
            "view_image",
            "read_file_v2",
            "readfile",
        ],
    ),
    (
        ToolKind::Search,
        &[
            "grep",
            "glob",
            "ls",
            "find",
            "search",
            "list_directory",
            "list_dir",
            "search_file_content",
            "search_files",
            "grep_files",
            "grep_search",
            "file_search",
            "semantic_search",
            "find_files",
            "find_text_in_files",
            "tool_search",
            "multi_grep",
            "codebase_search",
            "ripgrep",
            "toolsearch",
            "list",
            "tree",
            "codesearch",
            "sourcegraph",
            "glob_file_search",
            "semanticsearch",
            "list_dir_v2",
            "find_path",
        ],
    ),
    (ToolKind::Write, &["write", "write_file", "create", "create_file"]),
    (
        ToolKind::Edit,
        &[
            "edit",
            "multiedit",
            "notebookedit",
            "str_replace",
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "text_editor",
            "replace",
            "apply_patch",
            "edit_file",
            "patch",
            "replace_string",
            "replace_string_in_file",
            "multi_replace_string",
            "multi_replace_string_in_file",
            "insert_edit",
            "insert_edit_into_file",
            "edit_notebook_file",
            "edit_file_v2",
            "strreplace",
            "edit_notebook",
            "editnotebook",
            "delete_file",
            "delete",
        ],
    ),
    (
        ToolKind::Command,
        &[
            "bash",
            "shell",
            "exec",
            "exec_command",
            "run_shell_command",
            "run_command",
            "execute_command",
            "shell_command",
            "local_shell",
            "run_in_terminal",
            "container.exec",
            "powershell",
            "terminal",
            "run_terminal_cmd",
            "run_terminal_command_v2",
        ],
    ),
    (
        ToolKind::Agent,
        &[
            "task",
            "agent",
            "spawn_agent",
            "spawn_pi",
            "subagent",
            "delegate",
            "dispatch_agent",
            "runsubagent",
            "delegate_task",
            "task_v2",
            "sessions_spawn",
        ],
    ),
    (
        ToolKind::Web,
        &[
            "webfetch",
            "websearch",
            "web_search",
            "web_fetch",
            "fetch",
            "fetch_webpage",
            "fetch_content",
            "get_search_content",
            "google_web_search",
            "agentic_fetch",
        ],
    ),
    // Gemini CLI, Antigravity and kimi-cli.
    (ToolKind::Read, &["readfile", "view_file"]),
    (ToolKind::Search, &["find_by_name"]),
    (ToolKind::Write, &["writefile"]),
    (ToolKind::Edit, &["strreplacefile", "replace_file_content", "multi_replace_file_content"]),
    (ToolKind::Agent, &["invoke_agent", "codebase_investigator"]),
    (ToolKind::Web, &["searchweb", "search_web", "read_url_content"]),
    // Cline, Roo Code, Continue, Droid, Grok Build and gptme.
    (ToolKind::Read, &["read_files", "read_currently_open_file"]),
    (
        ToolKind::Search,
        &["search_codebase", "list_files", "list_code_definition_names", "grep_search", "file_glob_search"],
    ),
    (ToolKind::Write, &["write_to_file", "create_new_file", "save"]),
    (
        ToolKind::Edit,
        &[
            "editor",
            "replace_in_file",
            "apply_diff",
            "insert_content",
            "search_and_replace",
            "search_replace",
            "applypatch",
            "edit_existing_file",
            "single_find_and_replace",
            "multi_edit",
            "append",
            "patch_many",
            "morph",
        ],
    ),
    (ToolKind::Command, &["run_commands", "execute", "run_terminal_command"]),
    (ToolKind::Agent, &["new_task", "use_subagents"]),
    (ToolKind::Web, &["fetchurl", "fetch_web_content", "fetch_url_content", "browser_action"]),
    // Auggie, Junie, Kiro, Mistral Vibe, OpenHands, Rovo Dev and Warp.
    (ToolKind::Read, &["fs_read", "open_files", "readcode"]),
    (ToolKind::Search, &["codebase-retrieval", "file_glob", "list_directory_tree"]),
    (ToolKind::Write, &["save-file"]),
    (
        ToolKind::Edit,
        &["apply_file_diffs", "file_editor", "find_and_replace_code", "fs_write", "remove-files", "str-replace-editor"],
    ),
    (ToolKind::Command, &["execute_bash", "execute_terminal_command", "launch-process"]),
    (ToolKind::Agent, &["start_agent", "use_subagent"]),
    (ToolKind::Web, &["web-fetch", "web-search"]),
];

/// Operations of MCP servers that run a command line. Other names, such as `execute`, mean something else elsewhere.
const COMMAND_OPERATIONS: &[&str] = &[
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "run_command",
    "execute_command",
    "run_shell_command",
    "execute_shell_command",
    "run_in_terminal",
    "execute_terminal_command",
];

/// The call of `name` with the given arguments, which may be any JSON value.
pub(super) fn tool_use(name: &str, input: Option<&RawValue>, sink: &mut TextSink<'_>) -> ToolUse {
    // Queries to our own tools are not stored; otherwise the next search would find them.
    let input = input.filter(|_| !is_own_tool(name));
    let text = &*argument_text(input);
    let quoted = input.filter(|raw| raw.get().starts_with('"')).map(|_| text);
    let arguments: ToolArguments<'_> = serde_json::from_str(text).unwrap_or_default();
    let kind = match tool_kind(name) {
        // A combined tool selects its operation with an argument.
        ToolKind::Edit if arguments.text("command").as_deref() == Some("view") => ToolKind::Read,
        kind => kind,
    };
    let primary = arguments.primary(kind);
    let paths = arguments.paths(quoted);
    let first_path = || paths.first().cloned().filter(|_| kind.changes_files() || kind == ToolKind::Read);
    let task = || arguments.delegated_task().filter(|_| kind == ToolKind::Agent);
    let target = primary.and_then(|key| arguments.text(key)).or_else(task).or_else(first_path).unwrap_or_default();
    // Redact before cutting: half a key would not match the rules.
    let (target, body) = if kind == ToolKind::Command {
        let command = sink.redact(target);
        let script = shorten_script(&command);
        let line = clip(&one_line(&command), MAX_TARGET_CHARS).into_owned();
        let script = (script != line && sink.filter.keep_tool_structure).then_some(script);
        (line, script)
    } else {
        let target = clip(&sink.redact(first_line(&target).to_owned()), MAX_TARGET_CHARS).into_owned();
        let change = match kind {
            _ if !sink.filter.keep_tool_structure => None,
            ToolKind::Edit => describe_edit(text, paths.len() > 1, sink),
            // Code for a server of tools is what the call runs.
            ToolKind::Mcp => arguments.code().map(|code| clip(&sink.redact(code), MAX_CODE_CHARS).into_owned()),
            _ => None,
        };
        (target, change.filter(|change| !may_hold_secret(&paths, change)))
    };
    let mut tool = ToolUse {
        // A server of tools can be named after a token.
        name: Redactor::shared().redact_name(name.to_owned()),
        kind: Some(kind),
        target,
        body,
        arguments: String::new(),
        paths: paths.into_iter().map(|path| sink.redact(path)).collect(),
        outcome: None,
    };
    if sink.filter.keep_tool_structure {
        tool.arguments = arguments.format_shortened(primary, sink);
        if kind.changes_files() {
            append_symbols(&mut tool, text, sink);
        }
    } else {
        tool.target.clear();
    }
    tool
}

/// The arguments of a call. Some agents store them as the model wrote them: JSON in a string.
pub(super) fn argument_text(input: Option<&RawValue>) -> Cow<'_, str> {
    let raw = input.map(RawValue::get).unwrap_or_default();
    let quoted: Option<String> = raw.starts_with('"').then(|| serde_json::from_str(raw).ok()).flatten();
    quoted.map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Adds the names that the written code declares, so that a search for a symbol finds who changed it.
fn append_symbols(tool: &mut ToolUse, arguments: &str, sink: &mut TextSink<'_>) {
    // Names such as `RefreshToken` are not secrets; in a file with secrets nothing is kept.
    if tool.paths.iter().any(|path| is_secret_file(path) || is_prose_file(path)) {
        return;
    }
    let names = declared_names(arguments).join(" ");
    if names.is_empty() {
        return;
    }
    if !tool.arguments.is_empty() {
        tool.arguments.push_str(", ");
    }
    tool.arguments.push_str(&sink.redact(format!("symbols={names}")));
}

/// Whether a file has prose, in which "class" and "function" are ordinary words.
fn is_prose_file(path: &str) -> bool {
    let extension = path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
    ["md", "mdx", "markdown", "txt", "rst", "adoc"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// A one-line description of a call, in past tense.
pub(crate) fn describe_tool(tool: &ToolUse) -> String {
    let target = &tool.target;
    match tool.kind.unwrap_or(ToolKind::Other) {
        ToolKind::Read => format!("Read {target}"),
        ToolKind::Write => format!("Wrote {target}"),
        ToolKind::Edit => format!("Edited {target}"),
        ToolKind::Command => format!("Executed {target}"),
        ToolKind::Mcp => match tool.name.trim_start_matches("mcp__").split_once("__") {
            Some((server, operation)) => format!("MCP {server}: {operation} {target}"),
            None => format!("MCP {} {target}", tool.name),
        },
        ToolKind::Search | ToolKind::Agent | ToolKind::Web | ToolKind::Other => format!("{} {target}", tool.name),
    }
    .trim_end()
    .to_owned()
}

/// The kind of a tool, by its name.
pub fn tool_kind(name: &str) -> ToolKind {
    let name = name.to_ascii_lowercase();
    if name.starts_with("mcp_") || name == "mcp" {
        let operation = name.rsplit("__").next().unwrap_or_default();
        return if COMMAND_OPERATIONS.contains(&operation) { ToolKind::Command } else { ToolKind::Mcp };
    }
    TOOL_NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(ToolKind::Other, |(kind, _)| *kind)
}

/// Whether a tool is one of ours, however the agent names our MCP server: `mcp__rethread__…`, or with a plugin name.
pub fn is_own_tool(name: &str) -> bool {
    let server = name.strip_prefix("mcp__").and_then(|rest| rest.split("__").next());
    // Cline, Copilot, Droid and OpenCode put only the server's name before the tool's.
    name.strip_prefix("rethread").is_some_and(|rest| rest.starts_with(['_', '-']))
        // Gemini CLI separates the parts with one underscore, which names may contain too.
        || name.starts_with("mcp_rethread_")
        || server.is_some_and(|server| server.split(['_', '-']).any(|word| word == "rethread"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, input: &str, expect: (ToolKind, &str, &str, &[&str])) {
        let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
        let tool = TextSink::with_defaults(|sink| tool_use(name, Some(&raw), sink));
        let paths: Vec<&str> = tool.paths.iter().map(String::as_str).collect();
        assert_eq!(
            (tool.kind.unwrap(), describe_tool(&tool).as_str(), tool.arguments.as_str(), paths.as_slice()),
            expect
        );
    }

    #[test]
    fn tools_of_every_agent_are_normalized() {
        // E003-12
        check(
            "Read",
            r#"{"file_path":"/p/a.rs","limit":20}"#,
            (ToolKind::Read, "Read /p/a.rs", "limit=20", &["/p/a.rs"]),
        );
        check("read", r#"{"path":"a.rs"}"#, (ToolKind::Read, "Read a.rs", "", &["a.rs"]));
        check("read", r#""{\"path\":\"a.rs\"}""#, (ToolKind::Read, "Read a.rs", "", &["a.rs"]));
        check(
            "Grep",
            r#"{"pattern":"fn main","path":"src"}"#,
            (ToolKind::Search, "Grep fn main", "path=src", &["src"]),
        );
        check("bash", r#"{"command":"cargo\n test"}"#, (ToolKind::Command, "Executed cargo test", "", &[]));
        check("mcp__acp__Bash", r#"{"command":"make test"}"#, (ToolKind::Command, "Executed make test", "", &[]));
        check("mcp__journal__write_note", r#"{"title":"x"}"#, (ToolKind::Mcp, "MCP journal: write_note x", "", &[]));
        check("TodoWrite", r#"{"todos":[]}"#, (ToolKind::Other, "TodoWrite", "todos=[]", &[]));
        check(
            "Task",
            r#"{"prompt":"long","description":"look around"}"#,
            (ToolKind::Agent, "Task look around", "prompt=long", &[]),
        );
        check(
            "spawn_pi",
            r#"{"tasks":[{"role":"worker","prompt":"Fix the imports\nof all"}]}"#,
            (
                ToolKind::Agent,
                "spawn_pi Fix the imports",
                r#"tasks=[{"role":"worker","prompt":"Fix the imports\nof all"}]"#,
                &[],
            ),
        );
    }

    #[test]
    fn several_commands_and_files_of_one_call_are_read() {
        check(
            "run_commands",
            r#"{"commands":["make","make test"]}"#,
            (ToolKind::Command, "Executed make make test", "", &[]),
        );
        let files = r#"{"files":[{"path":"a.rs","start_line":1},{"path":"b.rs"}]}"#;
        let raw: Box<RawValue> = serde_json::from_str(files).unwrap();
        let tool = TextSink::with_defaults(|sink| tool_use("read_files", Some(&raw), sink));
        assert_eq!(tool.paths, ["a.rs", "b.rs"]);
        assert!(is_own_tool("rethread__search_memory") && is_own_tool("rethread___search_memory"));
    }

    #[test]
    fn the_main_argument_is_chosen_in_a_fixed_order() {
        // E000-03
        let rest = r#""query":"q","url":"u","pattern":"p","command":"c""#;
        for (tool, input, expect) in [
            ("Lookup", format!(r#"{{{rest},"path":"b","file_path":"a"}}"#), "a"),
            ("Lookup", format!(r#"{{{rest},"path":"b"}}"#), "b"),
            ("Lookup", format!("{{{rest}}}"), "c"),
            ("Lookup", r#"{"url":"u","query":"q","pattern":"p"}"#.to_owned(), "p"),
            ("Lookup", r#"{"url":"u","query":"q"}"#.to_owned(), "q"),
            ("Lookup", r#"{"url":"u"}"#.to_owned(), "u"),
            ("Grep", r#"{"path":"src","pattern":"p"}"#.to_owned(), "p"),
        ] {
            let raw: Box<RawValue> = serde_json::from_str(&input).unwrap();
            let tool = TextSink::with_defaults(|sink| tool_use(tool, Some(&raw), sink));
            assert_eq!(tool.target, expect, "{input}");
        }
    }

    #[test]
    fn files_of_a_patch_are_paths_of_its_call() {
        let patch = r"*** Begin Patch\n*** Update File: a.rs\n*** Add File: b.rs\n*** End Patch";
        for input in [format!(r#"{{"input":"{patch}"}}"#), format!(r#""{patch}""#)] {
            let raw: Box<RawValue> = serde_json::from_str(&input).unwrap();
            let tool = TextSink::with_defaults(|sink| tool_use("apply_patch", Some(&raw), sink));
            assert_eq!((tool.target.as_str(), tool.paths.join(" ").as_str()), ("a.rs", "a.rs b.rs"), "{input}");
            assert!(!tool.arguments.contains("Update"), "{}", tool.arguments);
        }
    }

    #[test]
    fn queries_to_our_own_tools_are_not_stored() {
        let own = [
            "mcp__rethread__search_memory",
            "mcp__plugin_rethread_rethread__search_memory",
            "mcp_rethread_search_memory",
        ];
        for name in own {
            let tool = TextSink::with_defaults(|sink| {
                let raw: Box<RawValue> = serde_json::from_str(r#"{"query":"zeppelin","path":"/p/zeppelin"}"#).unwrap();
                tool_use(name, Some(&raw), sink)
            });
            assert_eq!((tool.kind, tool.target.as_str(), tool.arguments.as_str()), (Some(ToolKind::Mcp), "", ""));
            assert!(tool.paths.is_empty());
        }
        for other in ["mcp__journal__rethread", "rethread", "mcp__rethreads__x", "Bash"] {
            assert!(!is_own_tool(other), "{other}");
        }
    }

    #[test]
    fn arguments_are_shortened_and_file_contents_omitted() {
        // L003-04
        check(
            "Write",
            r#"{"file_path":"a","content":"line\nline"}"#,
            (ToolKind::Write, "Wrote a", "content=<10 bytes>", &["a"]),
        );
        check(
            "edit",
            r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#,
            (ToolKind::Edit, "Edited a", "edits=<29 bytes>", &["a"]),
        );
        check(
            "Write",
            r#"{"file_path":"a","content":"def read_rows():\n  pass"}"#,
            (ToolKind::Write, "Wrote a", "content=<24 bytes>, symbols=read_rows", &["a"]),
        );
        check(
            "Write",
            r#"{"file_path":"a.py","content":"class RefreshToken:"}"#,
            (ToolKind::Write, "Wrote a.py", "content=<19 bytes>, symbols=RefreshToken", &["a.py"]),
        );
        for file in [".env", "notes.md"] {
            check(
                "Write",
                &format!(r#"{{"file_path":"{file}","content":"class RefreshToken:"}}"#),
                (ToolKind::Write, &format!("Wrote {file}"), "content=<19 bytes>", &[file]),
            );
        }
        let long = format!(r#"{{"a":"{}","b":"{}","c":"{}"}}"#, "x".repeat(900), "y".repeat(900), "z".repeat(900));
        let raw: Box<RawValue> = serde_json::from_str(&long).unwrap();
        let tool = TextSink::with_defaults(|sink| tool_use("Whatever", Some(&raw), sink));
        assert!(tool.arguments.chars().count() <= 200);
    }

    #[test]
    fn arguments_of_any_type_are_accepted() {
        for input in ["null", "[]", "3", "\"text\"", r#"{"path":7}"#] {
            let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
            let tool = TextSink::with_defaults(|sink| tool_use("Read", Some(&raw), sink));
            assert_eq!(tool.target, "");
        }
    }
}
