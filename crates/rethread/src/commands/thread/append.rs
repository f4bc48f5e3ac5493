//! `thread append`: messages from standard input, acknowledged when they are on disk.

use std::io::{BufRead, Read};

use rethread_engine::{NewMessage, OpenThread, content_of};
use rethread_model::thread::{Block, ChatRole, Message};
use serde::Deserialize;
use serde_json::Value;

use super::{Context, Exit, LONGEST_INPUT, remember, standard_text};
use crate::cli::thread::ThreadAppend;
use crate::failure::{Failure, Kind};
use crate::json;

/// One line of `--jsonl`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    role: ChatRole,
    content: Value,
    tool_call_id: Option<String>,
    #[serde(default)]
    is_error: bool,
}

/// Appends one message, or many.
pub(super) fn run(context: &Context, request: &ThreadAppend) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let thread = engine.thread_open(&request.thread.reference)?;
    let id = thread.id();
    let mut appended = 0;
    let done = match request.role {
        Some(role) => one(context, request, &thread, role, &mut appended),
        None => many(context, request, &thread, &mut appended),
    };
    drop(thread);
    if appended > 0 {
        remember(context, &engine, id);
    }
    done?;
    Ok(if appended > 0 { Exit::Done } else { Exit::Nothing })
}

fn one(
    context: &Context,
    request: &ThreadAppend,
    thread: &OpenThread<'_>,
    role: ChatRole,
    appended: &mut u64,
) -> Result<(), Failure> {
    if request.tool_call_id.is_some() && role != ChatRole::ToolResult {
        return Err(Failure::new(Kind::Usage, "--tool-call-id belongs to --role toolResult"));
    }
    let content = match content_of(&standard_text()?) {
        // A tool may well give nothing back.
        Err(rethread_engine::BadContent::Empty) if role == ChatRole::ToolResult => vec![Block::text("")],
        content => content.map_err(|error| {
            let hint = "give the content on standard input: a text, or a JSON array of blocks";
            Failure::new(Kind::BadContent, error.to_string()).hint(hint)
        })?,
    };
    let tool_call_id = request.tool_call_id.clone();
    let message = NewMessage { role, content, tool_call_id, is_error: request.error, client_id: None };
    let message = thread.append(message)?;
    *appended += 1;
    acknowledge(context, request, &message)
}

fn many(context: &Context, request: &ThreadAppend, thread: &OpenThread<'_>, appended: &mut u64) -> Result<(), Failure> {
    let mut input = std::io::stdin().lock();
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(LONGEST_INPUT).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let bad = |reason: String| {
            let hint = "the lines before it are appended; each line is {\"role\":…,\"content\":…}";
            Failure::new(Kind::BadContent, format!("line {number} of standard input: {reason}")).hint(hint)
        };
        let parsed: Line = serde_json::from_slice(&line).map_err(|error| bad(error.to_string()))?;
        let content = Block::list(parsed.content).map_err(bad)?;
        let Line { role, tool_call_id, is_error, .. } = parsed;
        let message = NewMessage { role, content, tool_call_id, is_error, client_id: None };
        let message = thread.append(message)?;
        *appended += 1;
        acknowledge(context, request, &message)?;
    }
}

fn acknowledge(context: &Context, request: &ThreadAppend, message: &Message) -> Result<(), Failure> {
    if request.json.json {
        context.printer.json(&json::Appended::new(message))?;
    } else {
        context.printer.raw(format!("{}\n", message.seq).as_bytes())?;
    }
    Ok(())
}
