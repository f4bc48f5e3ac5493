//! Threads, as programs get them.

use rethread_engine::{CompactReport, LineProblem, PlannedCost, SendPlan, Summariser, ThreadContext};
use rethread_model::Timestamp;
use rethread_model::thread::{ChatMessage, Compaction, Message, Metadata, Metrics, ThreadId, ThreadSource, UNNAMED};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::shape::{ChatMessageShape, MetricsShape, Moment, RecordShape, ThreadSourceName};
use super::{SCHEMA, dollars};

/// A thread that was made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MadeThread<'a> {
    schema: u8,
    thread: Listed<'a>,
}

impl<'a> MadeThread<'a> {
    pub(crate) fn new(made: &'a Metadata) -> Self {
        Self { schema: SCHEMA, thread: Listed::new(made) }
    }
}

/// All threads.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ThreadList<'a> {
    schema: u8,
    threads: Vec<Listed<'a>>,
}

impl<'a> ThreadList<'a> {
    pub(crate) fn new(threads: &'a [Metadata]) -> Self {
        Self { schema: SCHEMA, threads: threads.iter().map(Listed::new).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thread")]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    id: String,
    name: &'a str,
    #[schemars(with = "Moment")]
    created_at: Timestamp,
    #[schemars(with = "Moment")]
    last_message_at: Timestamp,
    message_count: u64,
    #[schemars(with = "ThreadSourceName")]
    source: ThreadSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron_job_id: Option<&'a str>,
    model: &'a str,
    #[schemars(with = "MetricsShape")]
    metrics: Metrics,
}

impl<'a> Listed<'a> {
    fn new(metadata: &'a Metadata) -> Self {
        Self {
            id: metadata.id.to_string(),
            name: metadata.name.as_deref().unwrap_or(UNNAMED),
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

/// A thread that is gone.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedThread {
    schema: u8,
    deleted: String,
}

impl DeletedThread {
    pub(crate) fn new(id: ThreadId) -> Self {
        Self { schema: SCHEMA, deleted: id.to_string() }
    }
}

/// A message that is on disk.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Appended<'a> {
    schema: u8,
    #[serde(serialize_with = "message")]
    #[schemars(with = "RecordShape")]
    record: &'a Message,
}

impl<'a> Appended<'a> {
    pub(crate) fn new(record: &'a Message) -> Self {
        Self { schema: SCHEMA, record }
    }
}

/// What a model would get.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ThreadContext")]
pub(crate) struct Context<'a> {
    schema: u8,
    id: String,
    tokens: u64,
    compaction: Option<u64>,
    system: Option<&'a str>,
    /// Messages before these that are left out; nothing where all are there.
    #[serde(rename = "leftOut", skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    #[schemars(with = "Vec<ChatMessageShape>")]
    messages: &'a [ChatMessage],
    problems: Vec<PassedOver<'a>>,
}

/// A line of the log that is no record.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogProblem")]
pub(super) struct PassedOver<'a> {
    line: u64,
    reason: &'a str,
}

impl<'a> PassedOver<'a> {
    pub(super) fn new(problem: &'a LineProblem) -> Self {
        Self { line: problem.line, reason: &problem.reason }
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(found: &'a ThreadContext) -> Self {
        Self::last_of(found, usize::MAX)
    }

    /// The last so many messages.
    pub(crate) fn last_of(found: &'a ThreadContext, most: usize) -> Self {
        let left_out = found.messages.len().saturating_sub(most);
        Self {
            schema: SCHEMA,
            id: found.id.to_string(),
            tokens: found.tokens,
            compaction: found.compaction,
            system: found.system.as_deref(),
            left_out: (left_out > 0).then_some(left_out),
            messages: &found.messages[left_out..],
            problems: found.problems.iter().map(PassedOver::new).collect(),
        }
    }
}

/// What a compaction did, or would do; nothing where all is recent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Compacted")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compacted<'a> {
    schema: u8,
    #[schemars(with = "Option<RecordShape>")]
    record: Option<Summary<'a>>,
    by: Option<&'a str>,
    fallback: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<Planned>,
}

impl<'a> Compacted<'a> {
    pub(crate) fn new(report: &'a CompactReport) -> Self {
        let (by, fallback) = match &report.by {
            Summariser::Model(name) => (name.as_str(), None),
            Summariser::Rules(why) => ("rules", why.as_deref()),
        };
        let planned = report.planned.map(Planned::new);
        Self { schema: SCHEMA, record: Some(Summary(&report.record)), by: Some(by), fallback, planned }
    }

    pub(crate) fn nothing() -> Self {
        Self { schema: SCHEMA, record: None, by: None, fallback: None, planned: None }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlannedCost")]
#[serde(rename_all = "camelCase")]
pub(super) struct Planned {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: Option<f64>,
}

impl Planned {
    pub(super) fn new(planned: PlannedCost) -> Self {
        Self {
            input_tokens: planned.input_tokens,
            output_tokens: planned.output_tokens,
            cost_usd: planned.cost.map(dollars),
        }
    }
}

/// What a turn would take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SendPlan")]
pub(crate) struct WouldSend<'a> {
    schema: u8,
    id: String,
    model: &'a str,
    planned: Planned,
    compaction: Option<Planned>,
    refused: Option<&'a str>,
}

impl<'a> WouldSend<'a> {
    pub(crate) fn new(plan: &'a SendPlan) -> Self {
        Self {
            schema: SCHEMA,
            id: plan.id.to_string(),
            model: &plan.model,
            planned: Planned::new(plan.planned),
            compaction: plan.compaction.map(Planned::new),
            refused: plan.refused.as_deref(),
        }
    }
}

/// A message as it stands in the log.
fn message<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
    message.as_record().serialize(serializer)
}

/// A compaction as it stands in the log.
struct Summary<'a>(&'a Compaction);

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_record().serialize(serializer)
    }
}
