//! `thread append`: stores messages from stdin and prints each record number once it is on disk.

use std::io::{BufRead, Read};

use rethread_engine::{NewMessage, OpenThread, parse_content};
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMessage};
use serde::Deserialize;
use serde_json::Value;

use super::{CommandContext, Exit, MAX_INPUT, read_stdin, remember};
use crate::cli::thread::ThreadAppendArgs;
use crate::failure::{Failure, FailureKind};
use crate::json;

/// One line of `--jsonl`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonlMessage {
    role: ChatRole,
    content: Value,
    tool_call_id: Option<String>,
    #[serde(default)]
    is_error: bool,
}

pub(super) fn run(context: &CommandContext, args: &ThreadAppendArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let thread = engine.threads().open(&args.thread.reference)?;
    let id = thread.id();
    let mut appended = 0;
    let done = match args.role {
        Some(role) => append_one(context, args, &thread, role, &mut appended),
        None => append_lines(context, args, &thread, &mut appended),
    };
    drop(thread);
    if appended > 0 {
        remember(context, &engine, id);
    }
    done?;
    Ok(if appended > 0 { Exit::Done } else { Exit::Nothing })
}

fn append_one(
    context: &CommandContext,
    args: &ThreadAppendArgs,
    thread: &OpenThread<'_>,
    role: ChatRole,
    appended: &mut u64,
) -> Result<(), Failure> {
    if args.tool_call_id.is_some() && role != ChatRole::ToolResult {
        return Err(Failure::new(FailureKind::Usage, "--tool-call-id needs --role toolResult"));
    }
    let content = match parse_content(&read_stdin()?) {
        // The result of a tool may be empty.
        Err(rethread_engine::InvalidMessageContent::Empty) if role == ChatRole::ToolResult => {
            vec![ContentBlock::text("")]
        }
        content => content.map_err(|error| {
            let hint = "pass text or a JSON array of blocks on stdin";
            Failure::new(FailureKind::InvalidContent, error.to_string()).hint(hint)
        })?,
    };
    let tool_call_id = args.tool_call_id.clone();
    let message = NewMessage { role, content, tool_call_id, is_error: args.error, client_id: None };
    let message = thread.append(message)?;
    *appended += 1;
    acknowledge(context, args, &message)
}

fn append_lines(
    context: &CommandContext,
    args: &ThreadAppendArgs,
    thread: &OpenThread<'_>,
    appended: &mut u64,
) -> Result<(), Failure> {
    let mut input = std::io::stdin().lock();
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(MAX_INPUT).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let bad = |reason: String| {
            let hint = "earlier lines are stored; each line must be {\"role\":…,\"content\":…}";
            Failure::new(FailureKind::InvalidContent, format!("invalid message on line {number} of stdin: {reason}"))
                .hint(hint)
        };
        let parsed: JsonlMessage = serde_json::from_slice(&line).map_err(|error| bad(error.to_string()))?;
        let content = ContentBlock::parse_list(parsed.content).map_err(bad)?;
        let JsonlMessage { role, tool_call_id, is_error, .. } = parsed;
        let message = NewMessage { role, content, tool_call_id, is_error, client_id: None };
        let message = thread.append(message)?;
        *appended += 1;
        acknowledge(context, args, &message)?;
    }
}

fn acknowledge(context: &CommandContext, args: &ThreadAppendArgs, message: &ThreadMessage) -> Result<(), Failure> {
    if args.json.json {
        context.printer.json(&json::AppendedRecordJson::new(message))?;
    } else {
        context.printer.raw(format!("{}\n", message.seq).as_bytes())?;
    }
    Ok(())
}
