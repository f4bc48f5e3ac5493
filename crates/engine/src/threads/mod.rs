//! Threads, our own conversations: create, append, read, compact, run turns, delete.

mod catch_up;
mod compact;
mod content;
mod context;
mod conversations;
mod injection;
mod notes;
mod records;
mod reference;
mod request_frame;
mod title;
mod tools;
mod transfer;
mod turn;
mod turn_queue;

use rethread_model::thread::{
    ChatRole, ContentBlock, NameOrigin, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord, ThreadSource,
    cron_thread_name, name_from_first_words,
};
use rethread_model::{Agent, one_line};
use rethread_store::{Store, ThreadError, ThreadLog};
use serde_json::json;

use crate::{ConversationService, Engine, EngineError, ThreadService, TurnService};

pub use catch_up::ThreadCatchUp;
pub use compact::{CompactReport, CompactRequest, PlannedCost, Summarizer};
pub use content::{InvalidMessageContent, parse_content};
pub use context::ThreadContext;
pub use conversations::Conversation;
pub use notes::{InvalidNote, NewNote, SavedNote};
pub use records::ThreadLogPage;
pub use transfer::{ImportRequest, ImportedThread, InvalidThreadLog};
pub use turn::{SendPlan, SendRequest, TurnEvent, TurnReport};
pub use turn_queue::PendingTurn;

/// A thread to create.
#[derive(Clone, Debug, Default)]
pub struct NewThread {
    /// Its name. Without one it is named after its first message.
    pub name: Option<String>,
    /// The model to talk to. Without one the configured model is used.
    pub model: Option<String>,
    /// Its own system prompt.
    pub system_prompt: Option<String>,
    /// The cron job that creates it.
    pub cron_job: Option<String>,
}

/// A message to append.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The role of the author.
    pub role: ChatRole,
    /// Text, tool calls and other blocks.
    pub content: Vec<ContentBlock>,
    /// For a tool result: the id of the call it answers.
    pub tool_call_id: Option<String>,
    /// For a tool result: whether the tool failed.
    pub is_error: bool,
    /// The id given by the client, to detect repeated requests.
    pub client_id: Option<String>,
}

/// All threads, last message first.
#[derive(Debug, Default)]
pub struct ThreadList {
    /// Threads that could be read.
    pub threads: Vec<ThreadMetadata>,
    /// Errors of the threads that could not be read.
    pub problems: Vec<ThreadError>,
}

/// A thread open for appending. Its metadata are updated when it is dropped.
#[derive(Debug)]
pub struct OpenThread<'e> {
    engine: &'e Engine,
    log: ThreadLog,
}

impl<'e> ThreadService<'e> {
    /// Creates a thread.
    pub fn create(self, request: &NewThread) -> Result<ThreadMetadata, EngineError> {
        self.engine.ensure_home()?;
        let now = self.engine.now();
        let mut metadata = ThreadMetadata::new(ThreadId::generate(now), now);
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        metadata.name =
            filled(&request.name).or_else(|| request.cron_job.as_ref().map(|job| cron_thread_name(job, now)));
        metadata.name_from = metadata.name.is_some().then_some(NameOrigin::User);
        metadata.model_is_chosen = filled(&request.model).is_some();
        metadata.model =
            filled(&request.model).unwrap_or_else(|| self.engine.settings().model.usable_name().to_owned());
        metadata.system_prompt_override = filled(&request.system_prompt);
        if let Some(job) = &request.cron_job {
            metadata.source = ThreadSource::Cron;
            metadata.cron_job_id = Some(job.clone());
        }
        self.engine.thread_store().create(&metadata)?;
        self.engine.journal().event("session_created", Some(metadata.id), &[("source", json!(metadata.source))]);
        Ok(metadata)
    }

    /// Opens a thread for appending. First appends what killed processes left unfinished in it.
    pub fn open(self, reference: &str) -> Result<OpenThread<'e>, EngineError> {
        let id = self.id(reference)?;
        self.recover(std::iter::once(id))?;
        Ok(OpenThread { engine: self.engine, log: self.engine.thread_store().open(id)? })
    }

    /// The message with this client id and, if it started a turn, all other messages of the turn. Empty if the id was
    /// not used yet.
    pub fn messages_by_client_id(self, id: ThreadId, client_id: &str) -> Result<Vec<ThreadMessage>, EngineError> {
        let records = self.engine.thread_store().read(id)?.records;
        let messages = records.into_iter().filter_map(|record| match record {
            ThreadRecord::Message(message) => Some(message),
            _ => None,
        });
        let mut found: Vec<ThreadMessage> = Vec::new();
        for message in messages {
            let is_match = message.client_id.as_deref() == Some(client_id);
            let is_of_it = found.first().is_some_and(|first| first.run_id.is_some() && first.run_id == message.run_id);
            if is_of_it || found.is_empty() && is_match {
                found.push(message);
            }
        }
        Ok(found)
    }

    /// Names a thread. With an empty name it is named after its first message again.
    pub(crate) fn rename(self, reference: &str, name: &str) -> Result<(), EngineError> {
        let id = self.id(reference)?;
        let name = one_line(name);
        let (name, name_from) = if name.is_empty() {
            let records = self.engine.thread_store().read(id)?.records;
            let first = records.iter().filter_map(ThreadRecord::message).find(|message| message.role == ChatRole::User);
            (first.and_then(|message| name_from_first_words(&message.text())), NameOrigin::FirstWords)
        } else {
            (Some(name), NameOrigin::User)
        };
        let mut is_renamed = false;
        self.engine.thread_store().open(id)?.update_settings(self.engine.now(), |metadata| {
            is_renamed = metadata.name != name;
            metadata.name_from = name.is_some().then_some(name_from);
            metadata.name = name;
        })?;
        if is_renamed {
            self.engine.journal().event("session_renamed", Some(id), &[]);
        }
        self.sync(id)
    }

    /// All threads, last message first.
    pub fn list(self) -> Result<ThreadList, EngineError> {
        let (threads, problems) = self.engine.thread_store().list()?;
        Ok(ThreadList { threads, problems })
    }

    /// Deletes a thread, and what is stored of it.
    pub fn delete(self, reference: &str) -> Result<ThreadId, EngineError> {
        let threads = self.engine.thread_store();
        let id = self.id(reference)?;
        match threads.delete(id) {
            // The store may still contain it.
            Ok(()) | Err(ThreadError::Deleted { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if self.engine.has_store() {
            delete_stored_thread(&mut self.engine.writer()?, id)?;
        }
        self.engine.cards().remove_file(&id.to_string());
        self.engine.journal().event("session_deleted", Some(id), &[]);
        Ok(id)
    }

    /// Syncs a thread into the store, so that it is listed, shown and found.
    pub fn sync(self, id: ThreadId) -> Result<(), EngineError> {
        self.engine.sync().reconnecting(&mut || {
            // Opened first, so that nothing is stored from a log that a fail-over has undone.
            let mut store = self.engine.writer()?;
            match self.engine.thread_store().log_file(id) {
                Ok(log) => self.engine.sync().files_with(&mut store, Agent::Native, &[log]),
                // There is nothing to add any more.
                Err(ThreadError::Missing { .. } | ThreadError::Deleted { .. }) => Ok(()),
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Appends the unfinished answers of killed processes to these threads. Returns whether there were any.
    pub(crate) fn recover(self, ids: impl Iterator<Item = ThreadId>) -> Result<bool, EngineError> {
        let threads = self.engine.thread_store();
        let mut has_any = false;
        for id in ids.filter(|id| threads.has_partial_answer(*id)) {
            drop(self.engine.turns().wait_for_turn(&threads.open(id)?, &|| false, &mut |_| {})?);
            has_any = true;
        }
        Ok(has_any)
    }

    /// Completes interrupted deletions.
    pub(crate) fn finish_deletions(self, store: &mut Store) -> Result<(), EngineError> {
        let threads = self.engine.thread_store();
        threads.sweep_all()?;
        for id in threads.deleted_and_synced()? {
            delete_stored_thread(store, id)?;
        }
        Ok(())
    }

    /// Completes deletions of other nodes: removes the copies here, and what is stored if the node was killed. Opens the
    /// store for writing only if there is something to remove.
    fn finish_deletions_of_nodes(self) -> Result<(), EngineError> {
        let threads = self.engine.thread_store();
        threads.sweep_all()?;
        if threads.deleted_and_synced()?.is_empty() {
            Ok(())
        } else {
            self.finish_deletions(&mut self.engine.writer()?)
        }
    }
}

impl OpenThread<'_> {
    /// The id of the open thread.
    pub fn id(&self) -> ThreadId {
        self.log.id()
    }

    /// Appends a message. It is on disk when this returns `Ok`.
    pub fn append(&self, mut message: NewMessage) -> Result<ThreadMessage, EngineError> {
        if message.role == ChatRole::Assistant {
            content::remove_reasoning(&mut message.content);
        }
        content::check_content(message.role, &message.content)?;
        let now = self.engine.now();
        let mut record = match (message.role, &message.tool_call_id) {
            (ChatRole::ToolResult, Some(call)) => {
                ThreadMessage::tool_result(call, message.content, message.is_error, now)
            }
            (ChatRole::ToolResult, None) => return Err(EngineError::MissingToolCallId),
            (role, _) => ThreadMessage::new(role, message.content, now),
        };
        if record.role == ChatRole::User {
            record.cwd = self.engine.cwd_text();
        }
        record.client_id = message.client_id;
        match self.log.append(ThreadRecord::Message(record))? {
            ThreadRecord::Message(message) => Ok(message),
            _ => Err(ThreadError::Missing { id: self.id() }.into()),
        }
    }
}

/// Deletes what is stored of a thread.
fn delete_stored_thread(store: &mut Store, id: ThreadId) -> Result<(), EngineError> {
    let Some(number) = store.session_number(id.session_id())? else { return Ok(()) };
    let mut batch = store.begin()?;
    batch.remove_session(number)?;
    Ok(batch.commit()?)
}
