//! Threads: conversations kept by us. Made, appended to, read, compacted, talked in, deleted.

mod compact;
mod content;
mod context;
mod conversations;
mod records;
mod reference;
mod title;
mod tools;
mod turn;
mod waiting;

pub(crate) use turn::marked;

use rethread_model::thread::{
    Block, ChatRole, Message, Metadata, NameOrigin, Record, ThreadId, ThreadSource, cron_name,
};
use rethread_model::{Agent, one_line};
use rethread_store::{Store, ThreadError, ThreadLog, Threads};
use serde_json::json;

use crate::{Engine, EngineError, home};

pub use compact::{CompactReport, CompactRequest, PlannedCost, Summariser};
pub use content::{BadContent, content_of};
pub use context::ThreadContext;
pub use conversations::Conversation;
pub use records::ThreadPage;
pub use turn::{SendPlan, SendRequest, TurnEvent, TurnReport};
pub use waiting::WaitingTurn;

/// A thread to be made.
#[derive(Clone, Debug, Default)]
pub struct NewThread {
    /// Its name; without one it is named after what is said first.
    pub name: Option<String>,
    /// The model it is talked to with; without one it is the configured one.
    pub model: Option<String>,
    /// Instructions of its own.
    pub system: Option<String>,
    /// The job that starts it.
    pub cron_job: Option<String>,
}

/// A message to be appended.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: Vec<Block>,
    /// Of a result: which call it answers.
    pub tool_call_id: Option<String>,
    /// Of a result: whether the tool failed.
    pub is_error: bool,
    /// What the client calls it.
    pub client_id: Option<String>,
}

/// All threads, the one last spoken in first.
#[derive(Debug, Default)]
pub struct ThreadList {
    /// Those that could be read.
    pub threads: Vec<Metadata>,
    /// Why others could not.
    pub problems: Vec<ThreadError>,
}

/// A thread open for appending. Dropped, it leaves its metadata up to date.
#[derive(Debug)]
pub struct OpenThread<'e> {
    engine: &'e Engine,
    log: ThreadLog,
}

impl Engine {
    /// Makes a thread.
    pub fn thread_new(&self, request: &NewThread) -> Result<Metadata, EngineError> {
        home::prepare(&self.folder)?;
        let now = self.now();
        let mut metadata = Metadata::new(ThreadId::draw(now), now);
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        metadata.name = filled(&request.name).or_else(|| request.cron_job.as_ref().map(|job| cron_name(job, now)));
        metadata.name_from = metadata.name.is_some().then_some(NameOrigin::User);
        metadata.model_is_chosen = filled(&request.model).is_some();
        metadata.model = filled(&request.model).unwrap_or_else(|| self.model_name().to_owned());
        metadata.system_prompt_override = filled(&request.system);
        if let Some(job) = &request.cron_job {
            metadata.source = ThreadSource::Cron;
            metadata.cron_job_id = Some(job.clone());
        }
        self.threads().create(&metadata)?;
        self.note("session_created", Some(metadata.id), &[("source", json!(metadata.source))]);
        Ok(metadata)
    }

    /// Opens a thread for appending, after writing down what a killed process left behind in it.
    pub fn thread_open(&self, reference: &str) -> Result<OpenThread<'_>, EngineError> {
        let id = self.thread_id(reference)?;
        self.recover_threads(std::iter::once(id))?;
        Ok(OpenThread { engine: self, log: self.threads().open(id)? })
    }

    /// What a client's id was used for in a thread: the message that has it and, if that began a turn, all others of
    /// the turn. Nothing if it was not used.
    pub fn thread_sent_before(&self, id: ThreadId, client_id: &str) -> Result<Vec<Message>, EngineError> {
        let records = self.threads().read(id)?.records;
        let messages = records.into_iter().filter_map(|record| match record {
            Record::Message(message) => Some(message),
            _ => None,
        });
        let mut found: Vec<Message> = Vec::new();
        for message in messages {
            let is_it = message.client_id.as_deref() == Some(client_id);
            let is_of_it = found.first().is_some_and(|first| first.run_id.is_some() && first.run_id == message.run_id);
            if is_of_it || found.is_empty() && is_it {
                found.push(message);
            }
        }
        Ok(found)
    }

    /// Has a model name a thread that was answered and that nobody has named, in a process that nobody waits for.
    pub fn thread_start_title(&self, id: ThreadId) -> Result<bool, EngineError> {
        Ok(self.thread_wants_title(id)? && self.start_detached(&["thread", "title", &id.to_string()]))
    }

    /// Names a thread; an empty name lets it be named after what is said first.
    pub(crate) fn thread_rename(&self, reference: &str, name: &str) -> Result<(), EngineError> {
        let id = self.thread_id(reference)?;
        let name = one_line(name);
        self.threads().open(id)?.change(|metadata| {
            metadata.name_from = (!name.is_empty()).then_some(NameOrigin::User);
            metadata.name = (!name.is_empty()).then_some(name);
        })?;
        self.note("session_renamed", Some(id), &[]);
        self.thread_remember(id)
    }

    /// All threads, the one last spoken in first.
    pub fn thread_list(&self) -> Result<ThreadList, EngineError> {
        let (threads, problems) = self.threads().list()?;
        Ok(ThreadList { threads, problems })
    }

    /// Deletes a thread, and what memory holds of it.
    pub fn thread_delete(&self, reference: &str) -> Result<ThreadId, EngineError> {
        let threads = self.threads();
        let id = self.thread_id(reference)?;
        match threads.delete(id) {
            // Memory may still hold it.
            Ok(()) | Err(ThreadError::Deleted { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if self.database().exists() {
            forget(&mut self.writer()?, id)?;
        }
        self.remove_card_file(&id.to_string());
        self.note("session_deleted", Some(id), &[]);
        Ok(id)
    }

    /// Takes what was said in a thread into memory, so that it is listed, shown and found.
    pub fn thread_remember(&self, id: ThreadId) -> Result<(), EngineError> {
        self.take_in(Agent::Native, &[self.threads().log_path(id)])
    }

    /// Writes down what killed processes had heard in these threads; whether there was anything.
    pub(crate) fn recover_threads(&self, ids: impl Iterator<Item = ThreadId>) -> Result<bool, EngineError> {
        let threads = self.threads();
        let mut has_any = false;
        for id in ids.filter(|id| threads.has_left_behind(*id)) {
            drop(self.own_turn(&threads.open(id)?, &|| false, &mut |_| {})?);
            has_any = true;
        }
        Ok(has_any)
    }

    /// Completes deletions that were interrupted.
    pub(crate) fn sweep_threads(&self, store: &mut Store) -> Result<(), EngineError> {
        let threads = self.threads();
        threads.sweep_all()?;
        for id in threads.deleted_ids() {
            forget(store, id)?;
        }
        Ok(())
    }

    pub(crate) fn threads(&self) -> Threads {
        Threads::new(self.folder.join("threads"))
    }
}

impl OpenThread<'_> {
    /// The thread.
    pub fn id(&self) -> ThreadId {
        self.log.id()
    }

    /// Appends a message. When this returns well, it is on disk.
    pub fn append(&self, message: NewMessage) -> Result<Message, EngineError> {
        content::check(message.role, &message.content)?;
        let now = self.engine.now();
        let mut record = match (message.role, &message.tool_call_id) {
            (ChatRole::ToolResult, Some(call)) => Message::result(call, message.content, message.is_error, now),
            (ChatRole::ToolResult, None) => return Err(EngineError::ResultWithoutCall),
            (role, _) => Message::new(role, message.content, now),
        };
        if record.role == ChatRole::User {
            record.cwd = self.engine.cwd_text();
        }
        record.client_id = message.client_id;
        match self.log.append(Record::Message(record))? {
            Record::Message(message) => Ok(message),
            _ => Err(ThreadError::Missing { id: self.id() }.into()),
        }
    }
}

impl Engine {
    fn cwd_text(&self) -> Option<String> {
        self.environment.cwd.to_str().map(str::to_owned)
    }
}

/// Removes from memory what it holds of a thread.
fn forget(store: &mut Store, id: ThreadId) -> Result<(), EngineError> {
    let found = store.sessions_by_exact_reference(&id.to_string())?;
    if !found.iter().any(|session| session.id == id.session()) {
        return Ok(());
    }
    let Some(number) = store.session_number(id.session())? else { return Ok(()) };
    let mut batch = store.begin()?;
    batch.forget_session(number)?;
    Ok(batch.commit()?)
}
