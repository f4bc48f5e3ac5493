//! JSON of sessions and threads in the HTTP API: one format for both, and their logs page by page.

use rethread_engine::{Conversation, ListPage, ListedSession, TaskAndNotes, ThreadLogPage};
use rethread_model::thread::{
    PendingToolCall, ThreadMetadata, ThreadMetrics, ThreadRecord, ThreadSource, UNNAMED_THREAD,
};
use rethread_model::{Entry, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::SCHEMA;
use super::schema::{RecordJson, ThreadMetricsJson, ThreadSourceJson, TimestampJson, WaitingCallJson};
use super::search::SessionNameJson;
use super::session::{EntryJson, SessionJson};
use super::thread::LogProblemJson;

/// Sessions and threads, most recently active first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversationListJson<'a> {
    schema: u8,
    sessions: Vec<ConversationJson<'a>>,
    /// Whether more follow.
    more: bool,
}

impl<'a> ConversationListJson<'a> {
    pub(crate) fn new(found: &'a [Conversation], more: bool) -> Self {
        Self { schema: SCHEMA, sessions: found.iter().map(ConversationJson::new).collect(), more }
    }
}

/// A session of an agent, or one of Rethread's own threads (agent `native`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConversationJson<'a> {
    #[serde(flatten)]
    session: SessionJson<'a>,
    #[schemars(with = "Option<TimestampJson>")]
    last_message_at: Option<Timestamp>,
    message_count: u64,
    /// What started a thread; null for a session of an agent.
    #[schemars(with = "Option<ThreadSourceJson>")]
    source: Option<ThreadSource>,
}

impl<'a> ConversationJson<'a> {
    fn new(found: &'a Conversation) -> Self {
        let mut session = SessionJson::new(&found.listed);
        let thread = found.thread.as_ref();
        if let Some(thread) = thread {
            session.name = Some(thread.name.as_deref().unwrap_or(UNNAMED_THREAD));
            session.model = Some(thread.model.as_str()).filter(|model| !model.is_empty());
        }
        Self {
            session,
            last_message_at: found.last_at(),
            message_count: thread.map_or(found.listed.session.counts.messages, |thread| thread.message_count),
            source: thread.map(|thread| thread.source),
        }
    }
}

/// One session; for a thread also its metadata and last messages.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversationDetailsJson<'a> {
    schema: u8,
    session: ConversationJson<'a>,
    /// The task a user attached to it.
    task: Option<&'a str>,
    /// Notes a user attached to it in the last 24 hours.
    notes: Vec<NoteJson<'a>>,
    /// Whether the session is pinned.
    pinned: bool,
    /// The tags that users gave it.
    tags: &'a [String],
    /// Threads only.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<ThreadMetadataJson<'a>>,
    /// Threads only: its last messages, as stored in its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RecordJson>>")]
    messages: Option<Vec<StoredRecordJson<'a>>>,
    /// Threads only: pass it as `before` to /records to get earlier messages; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<u64>,
}

/// A note that a user attached to a session.
#[derive(Serialize, JsonSchema)]
struct NoteJson<'a> {
    #[schemars(with = "TimestampJson")]
    at: Timestamp,
    text: &'a str,
}

/// The metadata of a thread.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThreadMetadataJson<'a> {
    id: String,
    name: Option<&'a str>,
    #[schemars(with = "TimestampJson")]
    created_at: Timestamp,
    #[schemars(with = "TimestampJson")]
    last_message_at: Timestamp,
    /// The model that answers in it; empty if none is configured.
    model: &'a str,
    message_count: u64,
    #[schemars(with = "ThreadSourceJson")]
    source: ThreadSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron_job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt_override: Option<&'a str>,
    #[schemars(with = "ThreadMetricsJson")]
    metrics: ThreadMetrics,
    /// Tool calls of the model without a result.
    #[schemars(with = "Vec<WaitingCallJson>")]
    waiting_calls: &'a [PendingToolCall],
}

impl<'a> ConversationDetailsJson<'a> {
    pub(crate) fn new(found: &'a Conversation, hand: &'a TaskAndNotes, messages: Option<&'a ThreadLogPage>) -> Self {
        Self {
            schema: SCHEMA,
            session: ConversationJson::new(found),
            task: hand.task.as_deref(),
            notes: hand.notes.iter().map(|(at, text)| NoteJson { at: *at, text }).collect(),
            pinned: hand.is_pinned,
            tags: &hand.tags,
            metadata: found.thread.as_ref().map(ThreadMetadataJson::new),
            messages: messages.map(|page| page.records.items.iter().map(StoredRecordJson).collect()),
            previous: messages.and_then(|page| page.records.previous),
        }
    }
}

impl<'a> ThreadMetadataJson<'a> {
    fn new(thread: &'a ThreadMetadata) -> Self {
        Self {
            id: thread.id.to_string(),
            name: thread.name.as_deref(),
            created_at: thread.created_at,
            last_message_at: thread.last_message_at,
            model: &thread.model,
            message_count: thread.message_count,
            source: thread.source,
            cron_job_id: thread.cron_job_id.as_deref(),
            system_prompt_override: thread.system_prompt_override.as_deref(),
            metrics: thread.metrics,
            waiting_calls: &thread.waiting_calls,
        }
    }
}

/// One page of a log: `records` for a thread, `entries` for a session of an agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LogPageJson<'a> {
    schema: u8,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RecordJson>>")]
    records: Option<Vec<StoredRecordJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<EntryJson<'a>>>,
    /// Pass it as `before` to get the previous page; null on the first page.
    previous: Option<u64>,
    /// Pass it as `from` to get the next page; null on the last page.
    next: Option<u64>,
    /// Lines of the thread's log that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<LogProblemJson<'a>>,
}

impl<'a> LogPageJson<'a> {
    pub(crate) fn from_thread(page: &'a ThreadLogPage) -> Self {
        Self {
            schema: SCHEMA,
            id: page.id.to_string(),
            records: Some(page.records.items.iter().map(StoredRecordJson).collect()),
            entries: None,
            previous: page.records.previous,
            next: page.records.next,
            problems: page.problems.iter().map(LogProblemJson::new).collect(),
        }
    }

    pub(crate) fn from_session(id: SessionId, page: &'a ListPage<Entry>) -> Self {
        Self {
            schema: SCHEMA,
            id: id.to_string(),
            records: None,
            entries: Some(page.items.iter().map(EntryJson::new).collect()),
            previous: page.previous,
            next: page.next,
            problems: Vec::new(),
        }
    }
}

/// The resume context of a session, and the agent's command to continue it (null if it has none).
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResumeJson<'a> {
    schema: u8,
    session: SessionNameJson<'a>,
    text: &'a str,
    command: Option<&'a str>,
}

impl<'a> ResumeJson<'a> {
    pub(crate) fn new(listed: &'a ListedSession, text: &'a str, command: Option<&'a str>) -> Self {
        Self { schema: SCHEMA, session: SessionNameJson::new(&listed.session), text, command }
    }
}

/// Serializes a record exactly as it is stored in the log.
struct StoredRecordJson<'a>(&'a ThreadRecord);

impl Serialize for StoredRecordJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ThreadRecord::Message(message) => message.as_record().serialize(serializer),
            ThreadRecord::Compaction(compaction) => compaction.as_record().serialize(serializer),
            ThreadRecord::Injection(injection) => injection.as_record().serialize(serializer),
            ThreadRecord::Settings(settings) => settings.as_record().serialize(serializer),
            ThreadRecord::Other(fields) => fields.serialize(serializer),
        }
    }
}
