//! Folds the files of a task: messages with their times, calls with their results, and what each request cost.

use std::io;
use std::path::Path;

use rethread_model::{EntryKind, Timestamp, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::page::{AnsweredRequest, TaskPage};
use super::user_blocks::{PendingCall, UserBlock, UserBlocks};
use super::xml_calls::split_calls;
use super::{HISTORY_ITEM, PAGE};
use crate::parse::folded::{ContentIds, FoldedHeader, FoldedPart, FoldedRecord, folded_document};
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::source::{SessionDocument, read_text};

const MAX_BYTES: u64 = 256 << 20;
const MAX_INDEX_BYTES: u64 = 16 << 20;
/// Words before the directory in the details that the extensions add to each message.
const DIRECTORY_MARKS: [&str; 2] = ["# Current Working Directory (", "# Current Workspace Directory ("];
/// What the extensions add to an answer that was stopped.
const INTERRUPTED_MARKS: [&str; 2] = ["[Response interrupted by user]", "[Response interrupted by a tool use result"];
/// Arguments in which these tools tell the user something.
const SPOKEN_ARGUMENTS: [(&str, &str); 4] = [
    ("attempt_completion", "result"),
    ("ask_followup_question", "question"),
    ("plan_mode_respond", "response"),
    ("plan_mode_response", "response"),
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TaskMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    ts: LenientTimestamp,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    model_info: LenientObject<TaskModel<'a>>,
    metrics: Option<LenientObject<TaskMetrics>>,
    is_summary: LenientBool,
    is_truncation_marker: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TaskModel<'a> {
    #[serde(borrow)]
    model_id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskMetrics {
    tokens: LenientObject<TaskTokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskTokens {
    prompt: LenientNumber,
    completion: LenientNumber,
    cached: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskBlock<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    thinking: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: LenientBool,
}

/// The task in the extension's list.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TaskItem<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    ts: LenientTimestamp,
    #[serde(borrow, alias = "workspace", alias = "cwdOnTaskInitialization")]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    parent_task_id: LenientText<'a>,
}

/// Loads a task, from the file with the model's messages.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let messages: Vec<&RawValue> = serde_json::from_str(&text).map_err(invalid)?;
    let item_text = read_text(&path.with_file_name(HISTORY_ITEM), MAX_INDEX_BYTES).unwrap_or_default();
    let item: TaskItem<'_> = serde_json::from_str(&item_text).unwrap_or_default();
    let id = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let page = TaskPage::read(&path.with_file_name(PAGE));
    let shown_at = page.first_at;
    let parent = item.parent_task_id.non_empty().map(String::from);
    let mut fold = TaskFold::new(page);
    for (index, message) in messages.iter().enumerate() {
        fold.add_message(index, &parse_or_default(Some(message)));
    }
    fold.add_requests_until(None);
    let cwd = item.cwd.non_empty().map(String::from).or(fold.cwd).or_else(|| listed_cwd(path, id));
    // A task is named after the millisecond in which it began.
    let named_at = id.parse().ok().map(Timestamp::from_millis).filter(|at| at.is_plausible());
    let header = FoldedHeader {
        session_id: Some(id.to_owned()),
        parent_session_id: parent,
        cwd,
        timestamp: named_at.or(fold.first_at).or(shown_at).or(item.ts.0),
        ..FoldedHeader::default()
    };
    folded_document(&header, &fold.records)
}

/// The directory of a task in the list of all tasks, for those whose messages do not name it.
fn listed_cwd(path: &Path, id: &str) -> Option<String> {
    let list = path.ancestors().nth(3)?.join("state/taskHistory.json");
    let text = read_text(&list, MAX_INDEX_BYTES).ok()?;
    let items: Vec<LenientObject<TaskItem<'_>>> = serde_json::from_str(&text).ok()?;
    let item = items.into_iter().find(|item| item.0.id.as_str() == id)?;
    item.0.cwd.non_empty().map(Into::into)
}

/// A task while its messages are read.
struct TaskFold {
    page: TaskPage,
    ids: ContentIds,
    records: Vec<FoldedRecord>,
    /// The calls of the last message of the model.
    open_calls: Vec<PendingCall>,
    cwd: Option<String>,
    /// The time of the first message that has one itself.
    first_at: Option<Timestamp>,
    /// Number of requests that are already among the records.
    added_requests: usize,
}

impl TaskFold {
    fn new(page: TaskPage) -> Self {
        let (ids, records, open_calls) = (ContentIds::default(), Vec::new(), Vec::new());
        Self { page, ids, records, open_calls, cwd: None, first_at: None, added_requests: 0 }
    }

    fn add_message(&mut self, index: usize, message: &TaskMessage<'_>) {
        // Other fields of a message change later.
        let content = message.content.map_or("", RawValue::get);
        let id = self.ids.next(&format!("{}:{content}", message.role.as_str()));
        self.first_at = self.first_at.or(message.ts.0);
        let at = message.ts.0.or_else(|| self.page.time_of(index));
        if message.is_truncation_marker.0 {
            return;
        }
        if message.is_summary.0 {
            let texts: Vec<String> =
                blocks(message.content).into_iter().map(|block| block.text.into_string()).collect();
            let summary = FoldedPart::Text(EntryKind::Summary, texts.join("\n"));
            return self.records.push(FoldedRecord::new(id, at, vec![summary]));
        }
        let parts = match message.role.as_str() {
            "assistant" => {
                self.add_requests_until(Some((index, at)));
                self.assistant_parts(message, &id)
            }
            "user" => self.user_parts(message),
            _ => return,
        };
        self.records.push(FoldedRecord::new(id, at, parts));
    }

    fn user_parts(&mut self, message: &TaskMessage<'_>) -> Vec<FoldedPart> {
        let mut read = Vec::new();
        for block in blocks(message.content) {
            match block.kind.as_str() {
                "text" => {
                    self.cwd = self.cwd.take().or_else(|| directory(block.text.as_str()));
                    read.push(UserBlock::Text(block.text.into_string()));
                }
                "tool_result" => read.push(UserBlock::Result {
                    call: block.tool_use_id.into_string(),
                    output: result_text(block.content),
                    is_error: block.is_error.0,
                }),
                "image" => read.push(UserBlock::Image),
                _ => {}
            }
        }
        UserBlocks::new(&mut self.open_calls).read(read)
    }

    fn assistant_parts(&mut self, message: &TaskMessage<'_>, id: &str) -> Vec<FoldedPart> {
        self.open_calls.clear();
        let mut parts: Vec<FoldedPart> = self.message_usage(message).into_iter().collect();
        for block in blocks(message.content) {
            match block.kind.as_str() {
                "text" => self.add_answer(block.text.as_str(), id, &mut parts),
                "thinking" => parts.push(FoldedPart::Text(EntryKind::Reasoning, block.thinking.into_string())),
                "reasoning" => parts.push(FoldedPart::Text(EntryKind::Reasoning, block.text.into_string())),
                "tool_use" => {
                    let input = parse_or_default(block.input);
                    self.add_call(block.id.into_string(), block.name.as_str(), input, &mut parts);
                }
                _ => {}
            }
        }
        parts
    }

    fn add_answer(&mut self, text: &str, id: &str, parts: &mut Vec<FoldedPart>) {
        let mark = INTERRUPTED_MARKS.iter().filter_map(|mark| text.rfind(mark)).min();
        let (prose, calls) = split_calls(&text[..mark.unwrap_or(text.len())]);
        parts.push(FoldedPart::Text(EntryKind::AssistantText, prose));
        for call in calls {
            let number = self.open_calls.len() + 1;
            self.add_call(format!("{id}-{number}"), call.name, call.input, parts);
        }
        if mark.is_some() {
            parts.push(FoldedPart::interruption());
        }
    }

    fn add_call(&mut self, id: String, name: &str, input: Map<String, Value>, parts: &mut Vec<FoldedPart>) {
        let spoken = SPOKEN_ARGUMENTS.iter().find(|(tool, _)| *tool == name).map(|(_, argument)| *argument);
        if let Some(text) = spoken.and_then(|argument| input.get(argument)).and_then(Value::as_str) {
            parts.push(FoldedPart::Text(EntryKind::AssistantText, text.to_owned()));
        }
        self.open_calls.push(PendingCall { id: id.clone(), name: name.to_owned() });
        let (name, mut input) = mcp_call(name, &input).unwrap_or_else(|| (name.to_owned(), input));
        // Already added as text, or a list of what is left to do that many calls repeat.
        input.retain(|argument, _| Some(argument.as_str()) != spoken && argument != "task_progress");
        parts.push(FoldedPart::Call { id, name, input: Value::Object(input).to_string() });
    }

    /// The model of an answer and, without a page, its tokens.
    fn message_usage(&self, message: &TaskMessage<'_>) -> Option<FoldedPart> {
        let named = message.model_info.0.model_id.clone().non_empty().or(message.model.clone().non_empty());
        let metrics = message.metrics.as_ref().filter(|_| self.page.requests.is_empty()).map(|metrics| &metrics.0);
        let tokens = metrics.map(|metrics| &metrics.tokens.0);
        if named.is_none() && tokens.is_none() {
            return None;
        }
        let tokens = tokens.map_or_else(Tokens::default, |tokens| Tokens {
            input: tokens.prompt.count(),
            output: tokens.completion.count(),
            cache_read: tokens.cached.count(),
            cache_write: 0,
        });
        Some(FoldedPart::Usage { tokens, model: named.map(Into::into), cost_usd: None })
    }

    /// Adds the requests that a message answers, and those before it without an answer; all, if there is no message.
    fn add_requests_until(&mut self, answer: Option<(usize, Option<Timestamp>)>) {
        let is_before = |request: &AnsweredRequest| match (answer, request.answer_index) {
            (None, _) => true,
            (Some((index, _)), Some(answer_index)) => answer_index <= index,
            (Some((_, at)), None) => at.is_none_or(|at| request.at <= at),
        };
        while let Some(request) = self.page.requests.get(self.added_requests).filter(|request| is_before(request)) {
            let usage =
                FoldedPart::Usage { tokens: request.tokens, model: request.model.clone(), cost_usd: request.cost_usd };
            let id = format!("request-{}", request.at.as_millis());
            self.records.push(FoldedRecord::new(id, Some(request.at), vec![usage]));
            self.added_requests += 1;
        }
    }
}

/// Content is a list of blocks or, in the first versions, a text.
fn blocks(content: Option<&RawValue>) -> Vec<TaskBlock<'_>> {
    let list: Vec<LenientObject<TaskBlock<'_>>> = parse_or_default(content);
    if list.is_empty() {
        let text: LenientText<'_> = parse_or_default(content);
        let kind = LenientText(Some("text".into()));
        return text
            .non_empty()
            .map(|text| TaskBlock { kind, text: LenientText(Some(text)), ..TaskBlock::default() })
            .into_iter()
            .collect();
    }
    list.into_iter().map(|block| block.0).collect()
}

fn result_text(content: Option<&RawValue>) -> String {
    blocks(content).iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn directory(text: &str) -> Option<String> {
    let (at, mark) = DIRECTORY_MARKS.iter().find_map(|mark| Some((text.find(mark)?, mark)))?;
    let rest = text[at + mark.len()..].lines().next()?;
    let path = &rest[..rest.rfind(") Files").or_else(|| rest.rfind(')'))?];
    (!path.is_empty()).then(|| path.to_owned())
}

/// A call of another program's tool, under the name that other agents give it.
fn mcp_call(name: &str, input: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    if name != "use_mcp_tool" {
        return None;
    }
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let arguments = match input.get("arguments") {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(json)) => serde_json::from_str(json).unwrap_or_default(),
        _ => Map::new(),
    };
    Some((format!("mcp__{}__{}", text("server_name")?, text("tool_name")?), arguments))
}
