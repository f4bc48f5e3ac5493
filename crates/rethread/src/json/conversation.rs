//! Sessions and threads as programs get them by HTTP: one shape for both, and their logs piece by piece.

use rethread_engine::{AtHand, Conversation as Found, Listed, Paged, ThreadPage};
use rethread_model::thread::{Metadata, Metrics, Record, ThreadSource, UNNAMED, WaitingCall};
use rethread_model::{Entry, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::SCHEMA;
use super::search::Named;
use super::session::{Said, Session};
use super::shape::{MetricsShape, Moment, RecordShape, ThreadSourceName, WaitingCallShape};
use super::thread::PassedOver;

/// Sessions and threads, the one in which something last happened first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionList")]
pub(crate) struct Conversations<'a> {
    schema: u8,
    sessions: Vec<Conversation<'a>>,
    /// Whether there are more after these.
    more: bool,
}

impl<'a> Conversations<'a> {
    pub(crate) fn new(found: &'a [Found], more: bool) -> Self {
        Self { schema: SCHEMA, sessions: found.iter().map(Conversation::new).collect(), more }
    }
}

/// A session of an agent, or a thread of ours (agent `native`).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedSession")]
#[serde(rename_all = "camelCase")]
struct Conversation<'a> {
    #[serde(flatten)]
    session: Session<'a>,
    #[schemars(with = "Option<Moment>")]
    last_message_at: Option<Timestamp>,
    message_count: u64,
    /// What started a thread; null for a session of an agent.
    #[schemars(with = "Option<ThreadSourceName>")]
    source: Option<ThreadSource>,
}

impl<'a> Conversation<'a> {
    fn new(found: &'a Found) -> Self {
        let mut session = Session::new(&found.listed);
        let thread = found.thread.as_ref();
        if let Some(thread) = thread {
            session.name = Some(thread.name.as_deref().unwrap_or(UNNAMED));
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

/// One session; of a thread also what only its log and its metadata say.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneSession")]
pub(crate) struct OneConversation<'a> {
    schema: u8,
    session: Conversation<'a>,
    /// What it is working on, as people said.
    task: Option<&'a str>,
    /// What people noted for it in the last day.
    notes: Vec<Noted<'a>>,
    /// Of a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<ThreadMetadata<'a>>,
    /// Of a thread: its last messages, as they stand in its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RecordShape>>")]
    messages: Option<Vec<Line<'a>>>,
    /// Of a thread: `before` in /records for the messages before these; nothing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Note")]
struct Noted<'a> {
    #[schemars(with = "Moment")]
    at: Timestamp,
    text: &'a str,
}

/// What is known about a thread beside its log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThreadMetadata<'a> {
    id: String,
    name: Option<&'a str>,
    #[schemars(with = "Moment")]
    created_at: Timestamp,
    #[schemars(with = "Moment")]
    last_message_at: Timestamp,
    /// The model it is talked to with; empty where none is configured.
    model: &'a str,
    message_count: u64,
    #[schemars(with = "ThreadSourceName")]
    source: ThreadSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron_job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt_override: Option<&'a str>,
    #[schemars(with = "MetricsShape")]
    metrics: Metrics,
    /// Calls of the model that have no result yet.
    #[schemars(with = "Vec<WaitingCallShape>")]
    waiting_calls: &'a [WaitingCall],
}

impl<'a> OneConversation<'a> {
    pub(crate) fn new(found: &'a Found, hand: &'a AtHand, messages: Option<&'a ThreadPage>) -> Self {
        Self {
            schema: SCHEMA,
            session: Conversation::new(found),
            task: hand.task.as_deref(),
            notes: hand.notes.iter().map(|(at, text)| Noted { at: *at, text }).collect(),
            metadata: found.thread.as_ref().map(ThreadMetadata::new),
            messages: messages.map(|page| page.records.items.iter().map(Line).collect()),
            previous: messages.and_then(|page| page.records.previous),
        }
    }
}

impl<'a> ThreadMetadata<'a> {
    fn new(thread: &'a Metadata) -> Self {
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

/// A piece of a log: `records` of a thread, `entries` of an agent's session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Records")]
pub(crate) struct LogPiece<'a> {
    schema: u8,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RecordShape>>")]
    records: Option<Vec<Line<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Said<'a>>>,
    /// What `before` must be for the piece before this one; null at the beginning.
    previous: Option<u64>,
    /// What `from` must be for the piece after this one; null at the end.
    next: Option<u64>,
    /// Lines of a thread's log that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<PassedOver<'a>>,
}

impl<'a> LogPiece<'a> {
    pub(crate) fn of_thread(page: &'a ThreadPage) -> Self {
        Self {
            schema: SCHEMA,
            id: page.id.to_string(),
            records: Some(page.records.items.iter().map(Line).collect()),
            entries: None,
            previous: page.records.previous,
            next: page.records.next,
            problems: page.problems.iter().map(PassedOver::new).collect(),
        }
    }

    pub(crate) fn of_session(id: SessionId, page: &'a Paged<Entry>) -> Self {
        Self {
            schema: SCHEMA,
            id: id.to_string(),
            records: None,
            entries: Some(page.items.iter().map(Said::new).collect()),
            previous: page.previous,
            next: page.next,
            problems: Vec::new(),
        }
    }
}

/// The words that would greet a session, and the agent's own command to go on with it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Resume")]
pub(crate) struct Resumed<'a> {
    schema: u8,
    session: Named<'a>,
    text: &'a str,
    command: Option<&'a str>,
}

impl<'a> Resumed<'a> {
    pub(crate) fn new(listed: &'a Listed, text: &'a str, command: Option<&'a str>) -> Self {
        Self { schema: SCHEMA, session: Named::new(&listed.session), text, command }
    }
}

/// A record as it stands in the log.
struct Line<'a>(&'a Record);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Record::Message(message) => message.as_record().serialize(serializer),
            Record::Compaction(compaction) => compaction.as_record().serialize(serializer),
            Record::Other(fields) => fields.serialize(serializer),
        }
    }
}
