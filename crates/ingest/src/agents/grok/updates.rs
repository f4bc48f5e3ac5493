//! Folds the updates of a session: chunks become messages, and several updates of a call one call and its result.

use std::collections::{BTreeMap, HashMap};

use rethread_model::{EntryKind, Timestamp, Tokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::chat::user_words;
use crate::parse::folded::{FoldedPart, FoldedRecord, FoldedResult};
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};

/// Of a US dollar.
const TICKS: f64 = 1e10;

#[derive(Default, Deserialize)]
#[serde(default)]
struct UpdateLine<'a> {
    #[serde(borrow)]
    params: LenientObject<UpdateParams<'a>>,
    timestamp: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UpdateParams<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(rename = "_meta", borrow)]
    meta: LenientObject<EventMeta<'a>>,
    #[serde(borrow)]
    update: LenientObject<Update<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EventMeta<'a> {
    agent_timestamp_ms: LenientTimestamp,
    #[serde(borrow)]
    event_id: LenientText<'a>,
    /// On updates that were sent before.
    is_replay: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Update<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    kind: LenientText<'a>,
    #[serde(rename = "_meta", borrow)]
    meta: LenientObject<UpdateMeta<'a>>,
    /// A chunk of a message, or what a call has produced.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    usage: Option<Value>,
    /// Of a turn that ended.
    #[serde(rename = "prompt_id", borrow)]
    prompt_id: LenientText<'a>,
    #[serde(rename = "stop_reason", borrow)]
    stop_reason: LenientText<'a>,
    #[serde(rename = "target_prompt_index")]
    target_prompt_index: LenientNumber,
    /// Where the conversation after a compaction is.
    #[serde(rename = "checkpoint_file", borrow)]
    checkpoint_file: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UpdateMeta<'a> {
    #[serde(borrow)]
    model_id: LenientText<'a>,
    prompt_index: LenientNumber,
    /// On turns of the program that runs Grok.
    host_turn: LenientBool,
    #[serde(rename = "x.ai/tool", borrow)]
    tool: LenientObject<ToolMeta<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolMeta<'a> {
    #[serde(borrow)]
    name: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextContent<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
}

/// One thing that a call has produced: a text, or the difference that an edit made.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CallContent<'a> {
    #[serde(borrow)]
    content: LenientObject<TextContent<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawOutput<'a> {
    exit_code: LenientNumber,
    #[serde(borrow)]
    error: LenientText<'a>,
}

/// A session's updates as records.
#[derive(Default)]
pub(super) struct FoldedUpdates {
    pub(super) records: Vec<FoldedRecord>,
    pub(super) session_id: Option<String>,
    pub(super) first_at: Option<Timestamp>,
}

/// The role of the message whose chunks are being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkKind {
    User,
    Answer,
    Thought,
}

/// Reads the summary in the file of a compaction.
type ReadCheckpoint<'a> = &'a dyn Fn(&str) -> Option<String>;

struct UpdatesFold<'a> {
    checkpoint: ReadCheckpoint<'a>,
    folded: FoldedUpdates,
    /// Kind, prompt, and the index of the record that chunks are added to.
    open: Option<(ChunkKind, Option<u64>, usize)>,
    /// The model's current message: everything up to the next result or prompt.
    message: Option<String>,
    /// The records of calls by their ids, with the tools' names.
    calls: HashMap<String, (usize, String)>,
    /// The records of prompts by their number, which a rewind names.
    prompts: BTreeMap<u64, String>,
    turns: usize,
}

pub(super) fn fold(text: &str, checkpoint: ReadCheckpoint<'_>) -> FoldedUpdates {
    let mut fold = UpdatesFold {
        checkpoint,
        folded: FoldedUpdates::default(),
        open: None,
        message: None,
        calls: HashMap::new(),
        prompts: BTreeMap::new(),
        turns: 0,
    };
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str::<UpdateLine<'_>>(line.trim()) {
            Ok(update) => fold.add_line(number, update),
            Err(_) if line.ends_with('\n') && !line.trim().is_empty() => {
                fold.open = None;
                fold.folded.records.push(FoldedRecord::unreadable(line.trim()));
            }
            // The last line may not be whole yet.
            Err(_) => {}
        }
    }
    clean_prompts(&mut fold.folded.records);
    fold.folded
}

impl UpdatesFold<'_> {
    fn add_line(&mut self, number: usize, line: UpdateLine<'_>) {
        let params = line.params.0;
        if params.meta.0.is_replay.0 {
            return;
        }
        let at = params.meta.0.agent_timestamp_ms.0.or(line.timestamp.0);
        let event =
            params.meta.0.event_id.non_empty().map_or_else(|| format!("update-{number}"), |id| id.replace(':', "-"));
        self.folded.session_id = self.folded.session_id.take().or(params.session_id.non_empty().map(Into::into));
        self.folded.first_at = self.folded.first_at.or(at);
        let update = params.update.0;
        match update.kind.as_str() {
            "user_message_chunk" if !update.meta.0.host_turn.0 => self.add_chunk(ChunkKind::User, event, at, &update),
            "agent_message_chunk" if !update.meta.0.host_turn.0 => {
                self.add_chunk(ChunkKind::Answer, event, at, &update);
            }
            "agent_thought_chunk" => self.add_chunk(ChunkKind::Thought, event, at, &update),
            "tool_call" | "tool_call_update" => self.add_call(&event, at, &update),
            "turn_completed" => self.add_turn(event, at, &update),
            "rewind_marker" => self.rewind(event, at, update.target_prompt_index.count()),
            "compaction_checkpoint" => {
                self.open = None;
                let summary = (self.checkpoint)(update.checkpoint_file.as_str());
                let parts = summary.map(|text| FoldedPart::Text(EntryKind::Summary, text)).into_iter().collect();
                self.folded.records.push(FoldedRecord::new(event, at, parts));
            }
            _ => {}
        }
    }

    /// A rewind takes back the prompt with this number and everything after it.
    fn rewind(&mut self, event: String, at: Option<Timestamp>, target: u64) {
        self.open = None;
        self.message = None;
        if let Some(prompt) = self.prompts.split_off(&target).remove(&target) {
            self.folded.records.push(FoldedRecord::new(event, at, vec![FoldedPart::Undo(prompt)]));
        }
    }

    fn add_chunk(&mut self, kind: ChunkKind, event: String, at: Option<Timestamp>, update: &Update<'_>) {
        let content: LenientObject<TextContent<'_>> = parse_or_default(update.content);
        let chunk = content.0.text.as_str();
        let prompt = update.meta.0.prompt_index.0.map(|index| index as u64);
        if let Some((open, open_prompt, at)) = self.open
            && open == kind
            && open_prompt == prompt
            && let Some(FoldedPart::Text(_, text)) = self.folded.records[at].parts.first_mut()
        {
            if kind == ChunkKind::User && !text.is_empty() {
                text.push('\n');
            }
            return text.push_str(chunk);
        }
        let entry_kind = match kind {
            ChunkKind::User => EntryKind::Prompt,
            ChunkKind::Answer => EntryKind::AssistantText,
            ChunkKind::Thought => EntryKind::Reasoning,
        };
        let mut parts = vec![FoldedPart::Text(entry_kind, chunk.to_owned())];
        if kind == ChunkKind::User {
            self.message = None;
            let next = self.prompts.keys().next_back().map_or(0, |last| last.saturating_add(1));
            self.prompts.insert(prompt.unwrap_or(next), event.clone());
            let model = update.meta.0.model_id.clone().non_empty().map(String::from);
            parts.extend(model.map(|model| FoldedPart::Usage {
                tokens: Tokens::default(),
                model: Some(model),
                cost_usd: None,
            }));
        }
        let message = (kind == ChunkKind::Answer).then(|| self.current_message(&event));
        self.open = Some((kind, prompt, self.folded.records.len()));
        self.folded.records.push(FoldedRecord { message, ..FoldedRecord::new(event, at, parts) });
    }

    fn current_message(&mut self, event: &str) -> String {
        self.message.get_or_insert_with(|| event.to_owned()).clone()
    }

    fn add_call(&mut self, event: &str, at: Option<Timestamp>, update: &Update<'_>) {
        self.open = None;
        let id = update.tool_call_id.as_str().to_owned();
        let named = update.meta.0.tool.0.name.clone().non_empty().or(update.title.clone().non_empty());
        let input = update.raw_input.map(RawValue::get).filter(|input| *input != "null");
        if let Some((index, _)) = self.calls.get(&id) {
            // A call may begin without its arguments.
            if let (Some(FoldedPart::Call { input: known, .. }), Some(input)) =
                (self.folded.records[*index].parts.first_mut(), input)
                && matches!(known.as_str(), "" | "{}")
            {
                input.clone_into(known);
            }
        } else {
            let name = named.map_or_else(|| "tool".to_owned(), Into::into);
            let message = Some(self.current_message(event));
            let (call, input) = (id.clone(), input.unwrap_or_default().to_owned());
            self.calls.insert(id.clone(), (self.folded.records.len(), name.clone()));
            let parts = vec![FoldedPart::Call { id: call, name, input }];
            self.folded.records.push(FoldedRecord { message, ..FoldedRecord::new(event.to_owned(), at, parts) });
        }
        if matches!(update.status.as_str(), "completed" | "failed" | "cancelled" | "rejected") {
            self.message = None;
            let tool = self.calls.get(&id).map(|(_, name)| name.clone()).unwrap_or_default();
            let result = FoldedPart::Result(call_result(id, tool, update));
            self.folded.records.push(FoldedRecord::new(format!("{event}-result"), at, vec![result]));
        }
    }

    /// The end of a turn has what the turn used, by model.
    fn add_turn(&mut self, event: String, at: Option<Timestamp>, update: &Update<'_>) {
        self.open = None;
        self.message = None;
        self.turns += 1;
        if update.stop_reason.as_str() == "cancelled" {
            let stopped = FoldedPart::interruption();
            self.folded.records.push(FoldedRecord::new(event, at, vec![stopped]));
        }
        let Some(usage) = &update.usage else { return };
        let turn = update.prompt_id.clone().non_empty().map_or_else(|| format!("turn-{}", self.turns), Into::into);
        let by_model = usage.get("modelUsage").and_then(Value::as_object).filter(|models| !models.is_empty());
        let all: Vec<(Option<String>, &Value)> = match by_model {
            Some(models) => models.iter().map(|(model, usage)| (Some(model.clone()), usage)).collect(),
            None => vec![(None, usage)],
        };
        for (model, usage) in all {
            // A turn that is written again replaces itself.
            let id = format!("{turn}-usage-{}", model.as_deref().unwrap_or_default()).replace(':', "-");
            self.folded.records.push(FoldedRecord::new(id, at, vec![turn_usage(usage, model)]));
        }
    }
}

fn turn_usage(usage: &Value, model: Option<String>) -> FoldedPart {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    let cache_read = count("cachedReadTokens");
    let cost = usage.get("costUsdTicks").and_then(Value::as_f64).map(|ticks| ticks / TICKS);
    FoldedPart::Usage {
        tokens: Tokens {
            input: count("inputTokens").saturating_sub(cache_read),
            output: count("outputTokens"),
            cache_read,
            cache_write: 0,
        },
        model,
        cost_usd: cost.filter(|cost| *cost > 0.0),
    }
}

fn call_result(call: String, tool: String, update: &Update<'_>) -> FoldedResult {
    let contents: Vec<LenientObject<CallContent<'_>>> = parse_or_default(update.content);
    let texts: Vec<&str> =
        contents.iter().map(|one| one.0.content.0.text.as_str()).filter(|text| !text.is_empty()).collect();
    let raw: LenientObject<RawOutput<'_>> = parse_or_default(update.raw_output);
    let error = raw.0.error.as_str();
    let output = if texts.is_empty() { error.to_owned() } else { texts.join("\n") };
    FoldedResult {
        call,
        tool,
        output,
        is_error: update.status.as_str() == "failed" || !error.is_empty(),
        is_rejected: matches!(update.status.as_str(), "cancelled" | "rejected"),
        exit_code: raw.0.exit_code.0.map(|code| code as i32),
        answer: None,
    }
}

/// Prompts are cleaned once all their chunks are there.
fn clean_prompts(records: &mut [FoldedRecord]) {
    for part in records.iter_mut().flat_map(|record| &mut record.parts) {
        if let FoldedPart::Text(EntryKind::Prompt, text) = part {
            *text = user_words(text);
        }
    }
}
