//! JSON of threads: lists, contexts, compactions and planned turns.

use rethread_engine::{CompactReport, PlannedCost, SendPlan, Summarizer, ThreadContext, ThreadLineProblem};
use rethread_model::Timestamp;
use rethread_model::thread::{
    ChatMessage, Compaction, ThreadId, ThreadMessage, ThreadMetadata, ThreadMetrics, ThreadSource, UNNAMED_THREAD,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::schema::{ChatMessageJson, RecordJson, ThreadMetricsJson, ThreadSourceJson, TimestampJson};
use super::{SCHEMA, dollars};

/// A thread that was created.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CreatedThreadJson<'a> {
    schema: u8,
    thread: ThreadJson<'a>,
}

impl<'a> CreatedThreadJson<'a> {
    pub(crate) fn new(metadata: &'a ThreadMetadata) -> Self {
        Self { schema: SCHEMA, thread: ThreadJson::new(metadata) }
    }
}

/// Threads, most recently used first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ThreadListJson<'a> {
    schema: u8,
    threads: Vec<ThreadJson<'a>>,
}

impl<'a> ThreadListJson<'a> {
    pub(crate) fn new(threads: &'a [ThreadMetadata]) -> Self {
        Self { schema: SCHEMA, threads: threads.iter().map(ThreadJson::new).collect() }
    }
}

/// A thread.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThreadJson<'a> {
    id: String,
    name: &'a str,
    #[schemars(with = "TimestampJson")]
    created_at: Timestamp,
    #[schemars(with = "TimestampJson")]
    last_message_at: Timestamp,
    message_count: u64,
    #[schemars(with = "ThreadSourceJson")]
    source: ThreadSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron_job_id: Option<&'a str>,
    model: &'a str,
    #[schemars(with = "ThreadMetricsJson")]
    metrics: ThreadMetrics,
}

impl<'a> ThreadJson<'a> {
    fn new(metadata: &'a ThreadMetadata) -> Self {
        Self {
            id: metadata.id.to_string(),
            name: metadata.name.as_deref().unwrap_or(UNNAMED_THREAD),
            created_at: metadata.created_at,
            last_message_at: metadata.last_message_at,
            message_count: metadata.message_count,
            source: metadata.source,
            cron_job_id: metadata.cron_job_id.as_deref(),
            model: &metadata.model,
            metrics: metadata.metrics,
        }
    }
}

/// The id of the deleted thread.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedThreadJson {
    schema: u8,
    deleted: String,
}

impl DeletedThreadJson {
    pub(crate) fn new(id: ThreadId) -> Self {
        Self { schema: SCHEMA, deleted: id.to_string() }
    }
}

/// The record that was written to the log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AppendedRecordJson<'a> {
    schema: u8,
    #[serde(serialize_with = "message")]
    #[schemars(with = "RecordJson")]
    record: &'a ThreadMessage,
}

impl<'a> AppendedRecordJson<'a> {
    pub(crate) fn new(record: &'a ThreadMessage) -> Self {
        Self { schema: SCHEMA, record }
    }
}

/// The messages that would be sent to a model.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ThreadContextJson<'a> {
    schema: u8,
    id: String,
    /// Size as counted by the provider, otherwise estimated.
    tokens: u64,
    /// `seq` of the compaction whose summary replaces earlier messages; null if there is none.
    compaction: Option<u64>,
    system: Option<&'a str>,
    /// Earlier messages that are not listed; absent if all are.
    #[serde(rename = "leftOut", skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    #[schemars(with = "Vec<ChatMessageJson>")]
    messages: &'a [ChatMessage],
    problems: Vec<LogProblemJson<'a>>,
}

/// A line of the log that is not a valid record.
#[derive(Serialize, JsonSchema)]
pub(super) struct LogProblemJson<'a> {
    line: u64,
    reason: &'a str,
}

impl<'a> LogProblemJson<'a> {
    pub(super) fn new(problem: &'a ThreadLineProblem) -> Self {
        Self { line: problem.line, reason: &problem.reason }
    }
}

impl<'a> ThreadContextJson<'a> {
    pub(crate) fn new(found: &'a ThreadContext) -> Self {
        Self::with_last_messages(found, usize::MAX)
    }

    /// Lists only the last `limit` messages.
    pub(crate) fn with_last_messages(found: &'a ThreadContext, limit: usize) -> Self {
        let left_out = found.messages.len().saturating_sub(limit);
        Self {
            schema: SCHEMA,
            id: found.id.to_string(),
            tokens: found.tokens,
            compaction: found.compaction_seq,
            system: found.system_prompt.as_deref(),
            left_out: (left_out > 0).then_some(left_out),
            messages: &found.messages[left_out..],
            problems: found.problems.iter().map(LogProblemJson::new).collect(),
        }
    }
}

/// The result of a compaction, or what it would be; `record` is null if there is nothing to compact.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactReportJson<'a> {
    schema: u8,
    #[schemars(with = "Option<RecordJson>")]
    record: Option<CompactionRecordJson<'a>>,
    /// The model that wrote the summary, or `rules`.
    by: Option<&'a str>,
    /// Why the model was not used; null if it was or none is configured.
    fallback: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<PlannedCostJson>,
}

impl<'a> CompactReportJson<'a> {
    pub(crate) fn new(report: &'a CompactReport) -> Self {
        let (by, fallback) = match &report.summarizer {
            Summarizer::Model(name) => (name.as_str(), None),
            Summarizer::Rules(why) => ("rules", why.as_deref()),
        };
        let planned = report.planned.map(PlannedCostJson::new);
        Self { schema: SCHEMA, record: Some(CompactionRecordJson(&report.record)), by: Some(by), fallback, planned }
    }

    pub(crate) fn nothing_to_compact() -> Self {
        Self { schema: SCHEMA, record: None, by: None, fallback: None, planned: None }
    }
}

/// What a model request may cost: estimated input, maximum output, maximum cost (null if the price is unknown).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlannedCostJson {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: Option<f64>,
}

impl PlannedCostJson {
    pub(super) fn new(planned: PlannedCost) -> Self {
        Self {
            input_tokens: planned.input_tokens,
            output_tokens: planned.output_tokens,
            cost_usd: planned.cost.map(dollars),
        }
    }
}

/// What a turn would cost (`--dry-run`).
#[derive(Serialize, JsonSchema)]
pub(crate) struct SendPlanJson<'a> {
    schema: u8,
    id: String,
    model: &'a str,
    planned: PlannedCostJson,
    /// The compaction needed first; null if none is.
    compaction: Option<PlannedCostJson>,
    /// Why the budget does not allow it; null if it does.
    refused: Option<&'a str>,
}

impl<'a> SendPlanJson<'a> {
    pub(crate) fn new(plan: &'a SendPlan) -> Self {
        Self {
            schema: SCHEMA,
            id: plan.id.to_string(),
            model: &plan.model,
            planned: PlannedCostJson::new(plan.planned),
            compaction: plan.compaction.map(PlannedCostJson::new),
            refused: plan.refusal_reason.as_deref(),
        }
    }
}

/// Serializes a message exactly as it is stored in the log.
fn message<S: Serializer>(message: &ThreadMessage, serializer: S) -> Result<S::Ok, S::Error> {
    message.as_record().serialize(serializer)
}

/// Serializes a compaction exactly as it is stored in the log.
struct CompactionRecordJson<'a>(&'a Compaction);

impl Serialize for CompactionRecordJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_record().serialize(serializer)
    }
}
