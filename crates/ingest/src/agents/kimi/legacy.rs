//! Reads sessions of kimi-cli, the predecessor of Kimi Code, as records of Kimi Code.
//!
//! A session is a folder: `wire.jsonl` is the log of events, with times and tokens; `context.jsonl` is what the model
//! sees, rewritten when it is compacted. Early versions have only the second, and either may be incomplete: the one with
//! more prompts and calls is read.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::files::read_object;
use crate::parse::user_text::{strip_tag, tag_content};
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, md5_hex, name_above, read_text};

/// Larger logs are not read.
const MAX_LOG_BYTES: u64 = 256 << 20;
/// Words before the summary in the context of a compacted session.
const COMPACTED: &str = "Previous context has been compacted";

/// The sessions of every directory.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let named =
        source_config.env_var("KIMI_SHARE_DIR").map(|folder| (source_config.expand_home(folder), "KIMI_SHARE_DIR"));
    let (home, reason) = named.unwrap_or_else(|| (source_config.home.join(".kimi"), "kimi-cli, the predecessor"));
    vec![(home.join("sessions"), reason)]
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    let lines: Vec<Value> = head.lines().take(3).collect();
    lines.iter().any(|line| {
        line["role"].as_str().is_some_and(|role| matches!(role, "_checkpoint" | "_system_prompt" | "_usage"))
    })
}

pub(super) fn files_beside(path: &Path) -> Vec<PathBuf> {
    ["wire.jsonl", "state.json"].map(|name| path.with_file_name(name)).to_vec()
}

/// Reads the files of a session.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let (context, mut unreadable) = read_lines(path)?;
    let (wire, also_unreadable) = read_lines(&path.with_file_name("wire.jsonl")).unwrap_or_default();
    let (context, wire) = (LegacyLog::from_context(&context), LegacyLog::from_wire(&wire));
    unreadable.extend(also_unreadable);
    let state = read_object(&path.with_file_name("state.json")).unwrap_or_default();
    let mut header = json!({"sessionId": name_above(path, 1), "promptsIn": "turn"});
    if let Some(title) = state["custom_title"].as_str() {
        header["title"] = title.into();
    }
    if let Some(directory) = working_directory(path) {
        header["cwd"] = directory.into();
    }
    let of_type = |records: Vec<Value>, name| records.into_iter().filter(move |record: &Value| record["type"] == name);
    let records: Vec<Value> = if wire.weight >= context.weight {
        // Only the context has the summary of what was compacted.
        wire.records.into_iter().chain(of_type(context.records, "context.apply_compaction")).collect()
    } else {
        let timed = with_times(context.records, &wire.records);
        timed.into_iter().chain(of_type(wire.records, "usage.record")).collect()
    };
    // As records, they are reported.
    let records: Vec<String> = unreadable.into_iter().chain(records.iter().map(Value::to_string)).collect();
    Ok(SessionDocument::new(header.to_string(), &records))
}

/// Adds to records of the context the times of the same prompts and calls in the log; the others happened with them.
fn with_times(mut records: Vec<Value>, log: &[Value]) -> Vec<Value> {
    let name = |record: &Value| {
        let call = record["event"]["toolCallId"].as_str();
        call.map_or_else(|| record["input"].to_string(), |id| format!("{id} {}", record["event"]["type"]))
    };
    let times: HashMap<String, &Value> = log.iter().map(|record| (name(record), &record["time"])).collect();
    let mut last = log.iter().map(|record| &record["time"]).find(|time| !time.is_null()).unwrap_or(&Value::Null);
    for record in &mut records {
        last = times.get(&name(record)).copied().filter(|time| !time.is_null()).unwrap_or(last);
        if !last.is_null() {
            record["time"] = last.clone();
        }
    }
    records
}

/// The lines of a log, and those that are not JSON. The last one may still be written.
fn read_lines(path: &Path) -> io::Result<(Vec<Value>, Vec<String>)> {
    let text = read_text(path, MAX_LOG_BYTES)?;
    let (mut values, mut unreadable) = (Vec::new(), Vec::new());
    for line in text.split_inclusive('\n').filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => values.push(value),
            Err(_) if line.ends_with('\n') => unreadable.push(line.trim().to_owned()),
            Err(_) => {}
        }
    }
    Ok((values, unreadable))
}

/// The directory whose hash names the folder of the session, `<md5>` or `<name of a remote system>_<md5>`.
fn working_directory(path: &Path) -> Option<String> {
    let folder = name_above(path, 2)?;
    let hash = folder.rsplit('_').next()?;
    let known = read_object(&path.ancestors().nth(4)?.join("kimi.json"))?;
    let mut directories = known["work_dirs"].as_array()?.iter().filter_map(|entry| entry["path"].as_str());
    directories.find(|directory| md5_hex(directory.as_bytes()) == hash).map(str::to_owned)
}

/// The records of one log, in the form that Kimi Code writes.
#[derive(Default)]
struct LegacyLog {
    records: Vec<Value>,
    /// Number of prompts and calls, without those of sub-agents.
    weight: usize,
    /// How many records of each kind there are, by agent.
    counts: HashMap<String, usize>,
    /// Steps of the session and of each sub-agent.
    steps: HashMap<String, usize>,
}

impl LegacyLog {
    fn from_wire(lines: &[Value]) -> Self {
        let mut log = Self::default();
        for line in lines {
            let time = line["timestamp"].as_f64().map(|seconds| (seconds * 1000.0) as i64);
            log.add_event(&line["message"], time, None);
        }
        log
    }

    fn add_event(&mut self, event: &Value, time: Option<i64>, agent: Option<&str>) {
        let payload = &event["payload"];
        match event["type"].as_str().unwrap_or_default() {
            "TurnBegin" | "SteerInput" => {
                self.add_prompt(&payload["user_input"], time, agent);
                self.begin_step(agent);
            }
            "StepBegin" => self.begin_step(agent),
            "ContentPart" => self.add_part(payload, time, agent),
            "ToolCall" => self.add_call(payload, time, agent),
            "ToolCallPart" => self.extend_call(payload["arguments_part"].as_str().unwrap_or_default()),
            "ToolResult" => {
                let result = &payload["return_value"];
                let is_error = result["is_error"] == true;
                // A failed command's exit code is in the message.
                let message = Some(&result["message"]).filter(|_| is_error).map(plain_text).unwrap_or_default();
                let output = format!("{}\n{message}", plain_text(&result["output"])).trim().to_owned();
                self.add_result(&payload["tool_call_id"], &output, is_error, time, agent);
            }
            "StatusUpdate" if payload["token_usage"].is_object() => {
                let used = &payload["token_usage"];
                self.add(
                    json!({"type": "usage.record", "usage": {
                        "inputOther": used["input_other"], "output": used["output"],
                        "inputCacheRead": used["input_cache_read"], "inputCacheCreation": used["input_cache_creation"],
                    }}),
                    time,
                    agent,
                );
            }
            "SubagentEvent" => {
                let names = [&payload["agent_id"], &payload["task_tool_call_id"], &payload["parent_tool_call_id"]];
                let name = names.into_iter().find_map(Value::as_str);
                self.add_event(&payload["event"], time, name.or(agent));
            }
            _ => {}
        }
    }

    fn from_context(lines: &[Value]) -> Self {
        let mut log = Self::default();
        for line in lines {
            log.begin_step(None);
            let content = &line["content"];
            match line["role"].as_str().unwrap_or_default() {
                "user" => log.add_context_text(content),
                "assistant" => {
                    for part in content.as_array().map_or(&[][..], Vec::as_slice) {
                        log.add_part(part, None, None);
                    }
                    if let Some(text) = content.as_str() {
                        log.add_part(&json!({"type": "text", "text": text}), None, None);
                    }
                    for call in line["tool_calls"].as_array().map_or(&[][..], Vec::as_slice) {
                        log.add_call(call, None, None);
                    }
                }
                "tool" => {
                    let text = plain_text(content);
                    let message = tag_content(&text, "system").unwrap_or_default();
                    let is_error = text.trim_start().starts_with("<system>ERROR");
                    let output = format!("{}\n{message}", strip_tag(&text, "system")).trim().to_owned();
                    log.add_result(&line["tool_call_id"], &output, is_error, None, None);
                }
                _ => {}
            }
        }
        log
    }

    /// Adds a text in the user's place: a prompt, the summary of a compaction, or a note of the agent.
    fn add_context_text(&mut self, content: &Value) {
        let text = plain_text(content);
        if text.contains(COMPACTED) {
            let summary = strip_tag(&text, "system").trim().to_owned();
            self.add(json!({"type": "context.apply_compaction", "summary": summary}), None, None);
        } else if content.is_array() || !strip_tag(&text, "system").trim().is_empty() {
            self.add_prompt(content, None, None);
        }
    }

    fn add_prompt(&mut self, input: &Value, time: Option<i64>, agent: Option<&str>) {
        self.weight += usize::from(agent.is_none());
        let input = match input {
            Value::String(text) => json!([{"type": "text", "text": text}]),
            other => other.clone(),
        };
        self.add(json!({"type": "turn.prompt", "input": input}), time, agent);
    }

    /// Adds a part of an answer. Parts that arrived one after the other are one.
    fn add_part(&mut self, part: &Value, time: Option<i64>, agent: Option<&str>) {
        let step = self.step_id(agent);
        if let Some(last) = self.records.last_mut()
            && last["event"]["stepUuid"] == step.as_str()
            && last["event"]["part"]["type"] == part["type"]
            && let Some(name) = ["text", "think"].into_iter().find(|name| part[*name].is_string())
            && let (Some(before), Some(more)) = (last["event"]["part"][name].as_str(), part[name].as_str())
        {
            last["event"]["part"][name] = format!("{before}{more}").into();
            return;
        }
        self.add_loop_event(&json!({"type": "content.part", "stepUuid": step, "part": part}), time, agent);
    }

    fn add_call(&mut self, call: &Value, time: Option<i64>, agent: Option<&str>) {
        self.weight += usize::from(agent.is_none());
        let (step, function) = (self.step_id(agent), &call["function"]);
        let event = json!({"type": "tool.call", "stepUuid": step, "toolCallId": call["id"], "name": function["name"],
            "args": function["arguments"]});
        self.add_loop_event(&event, time, agent);
    }

    /// Adds a piece to the arguments of the last call.
    fn extend_call(&mut self, piece: &str) {
        let last = self.records.iter_mut().rev().find(|record| record["event"]["type"] == "tool.call");
        if let Some(arguments) = last.map(|record| &mut record["event"]["args"]) {
            *arguments = format!("{}{piece}", arguments.as_str().unwrap_or_default()).into();
        }
    }

    fn add_result(&mut self, call: &Value, output: &str, is_error: bool, time: Option<i64>, agent: Option<&str>) {
        let result = json!({"output": output, "isError": is_error});
        self.add_loop_event(&json!({"type": "tool.result", "toolCallId": call, "result": result}), time, agent);
    }

    fn add_loop_event(&mut self, event: &Value, time: Option<i64>, agent: Option<&str>) {
        self.add(json!({"type": "context.append_loop_event", "event": event}), time, agent);
    }

    /// Adds a record. The logs have no ids; these are the same in both of them.
    fn add(&mut self, mut record: Value, time: Option<i64>, agent: Option<&str>) {
        let event = &record["event"];
        let what = match (event["toolCallId"].as_str(), event["part"]["type"].as_str()) {
            (Some(call), _) => format!("{} {call}", event["type"]),
            (None, Some(part)) => format!("{part} after prompt {}", self.count("turn.prompt", agent)),
            (None, None) => record["type"].as_str().unwrap_or_default().to_owned(),
        };
        let number = self.counts.entry(format!("{} {what}", agent.unwrap_or_default())).or_default();
        *number += 1;
        record["promptId"] = format!("{} {what} {number}", agent.unwrap_or_default()).trim().replace(':', ".").into();
        if let Some(time) = time {
            record["time"] = time.into();
        }
        if let Some(agent) = agent {
            record["innerAgent"] = agent.into();
        }
        self.records.push(record);
    }

    fn count(&self, what: &str, agent: Option<&str>) -> usize {
        self.counts.get(&format!("{} {what}", agent.unwrap_or_default())).copied().unwrap_or_default()
    }

    fn begin_step(&mut self, agent: Option<&str>) {
        *self.steps.entry(agent.unwrap_or_default().to_owned()).or_default() += 1;
    }

    fn step_id(&self, agent: Option<&str>) -> String {
        let agent = agent.unwrap_or_default();
        format!("step-{agent}{}", self.steps.get(agent).copied().unwrap_or_default())
    }
}

/// The text of a string or of a list of parts.
fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str().or_else(|| part.as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
