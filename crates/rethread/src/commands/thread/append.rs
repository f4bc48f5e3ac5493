//! `thread append`: messages from standard input, acknowledged when they are on disk.

use std::io::{BufRead, Read};

use rethread_engine::{NewMessage, OpenThread, content_of};
use rethread_model::thread::{Block, ChatRole, Message};
use serde::Deserialize;
use serde_json::Value;

use super::{Context, Exit, remember};
use crate::cli::thread::ThreadAppend;
use crate::failure::{Failure, Kind};
use crate::json;

/// More than any record may hold; what is longer is refused when it is appended.
const LONGEST_INPUT: u64 = 16 << 20;

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
    let done = match request.role {
        Some(role) => one(context, request, &thread, role),
        None => many(context, request, &thread),
    };
    drop(thread);
    remember(context, &engine, id);
    done
}

fn one(context: &Context, request: &ThreadAppend, thread: &OpenThread<'_>, role: ChatRole) -> Result<Exit, Failure> {
    if request.tool_call_id.is_some() && role != ChatRole::ToolResult {
        return Err(Failure::new(Kind::Usage, "--tool-call-id belongs to --role toolResult"));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST_INPUT + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Kind::Usage, format!("standard input cannot be read as text: {error}")))?;
    let content = match content_of(&text) {
        // A tool may well give nothing back.
        Err(rethread_engine::BadContent::Empty) if role == ChatRole::ToolResult => vec![Block::text("")],
        content => content.map_err(|error| {
            let hint = "give the content on standard input: a text, or a JSON array of blocks";
            Failure::new(Kind::BadContent, error.to_string()).hint(hint)
        })?,
    };
    let message = NewMessage { role, content, tool_call_id: request.tool_call_id.clone(), is_error: request.error };
    acknowledge(context, request, &thread.append(message)?)?;
    Ok(Exit::Done)
}

fn many(context: &Context, request: &ThreadAppend, thread: &OpenThread<'_>) -> Result<Exit, Failure> {
    let mut input = std::io::stdin().lock();
    let (mut line, mut number) = (Vec::new(), 0_u64);
    let mut appended = false;
    loop {
        line.clear();
        number += 1;
        if input.by_ref().take(LONGEST_INPUT).read_until(b'\n', &mut line)? == 0 {
            return Ok(if appended { Exit::Done } else { Exit::Nothing });
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
        let message =
            NewMessage { role: parsed.role, content, tool_call_id: parsed.tool_call_id, is_error: parsed.is_error };
        acknowledge(context, request, &thread.append(message)?)?;
        appended = true;
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
