//! Sessions of agents and our own threads in one list, including threads that are not synced yet.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rethread_model::thread::{ThreadId, ThreadMetadata};
use rethread_model::{Agent, Session, SessionCounts, SessionId, SessionKind, Timestamp, Tokens};
use rethread_store::{LifecycleRow, ReadStore, SessionKey, SessionScope, ThreadError};

use crate::sessions::stored_session;
use crate::threads::ConversationService;
use crate::{EngineError, ForgetReport, ForgetTarget, ListedSession, SessionListRequest};

/// A session, with the metadata of its log if it is a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The thread's metadata. `None` for a session of an agent.
    pub thread: Option<ThreadMetadata>,
}

impl Conversation {
    /// Time of the last activity.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.listed.session.last_activity_at.max(self.thread.as_ref().map(|thread| thread.last_message_at))
    }
}

impl ConversationService<'_> {
    /// Matching conversations, last activity first. Threads are always included, even empty ones. Writes nothing.
    pub fn list(self, request: &SessionListRequest) -> Result<Vec<Conversation>, EngineError> {
        let with_threads = request.agent.is_none_or(|agent| agent == Agent::Native);
        let threads = if with_threads { self.engine.thread_store().list()?.0 } else { Vec::new() };
        let mut threads: BTreeMap<SessionId, ThreadMetadata> =
            threads.into_iter().map(|thread| (thread.id.session_id(), thread)).collect();
        let store = self.engine.reader()?;
        let known =
            store.as_ref().map(|store| self.engine.sessions().list_in(store, request)).transpose()?.unwrap_or_default();
        let mut all: Vec<Conversation> = known
            .into_iter()
            .map(|listed| Conversation { thread: threads.remove(&listed.session.id), listed })
            .collect();
        // The rest was skipped because it is empty, not synced yet, or does not match.
        for thread in threads.into_values() {
            let conversation = self.thread_conversation(store.as_ref(), thread)?;
            let is_included = request.state.is_none_or(|state| conversation.listed.state == state)
                && is_in_scope(&request.scope, &conversation.listed.session);
            all.extend(is_included.then_some(conversation));
        }
        all.sort_by_key(|one| Reverse((one.last_at(), one.listed.session.id)));
        all.truncate(request.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(all)
    }

    /// The session or thread with this id. Writes nothing.
    pub fn get(self, id: SessionId) -> Result<Conversation, EngineError> {
        let store = self.engine.reader()?;
        if let Some(thread) = self.find_thread(id)? {
            return self.thread_conversation(store.as_ref(), thread);
        }
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = store.ok_or_else(unknown)?;
        let session = stored_session(&store, id)?.ok_or_else(unknown)?;
        Ok(Conversation { listed: self.engine.sessions().listed(&store, session)?, thread: None })
    }

    /// The thread with this id, for operations that only threads support.
    pub fn require_thread(self, id: SessionId) -> Result<ThreadId, EngineError> {
        match self.get(id)?.thread {
            Some(thread) => Ok(thread.id),
            None => Err(EngineError::NotAThread(id)),
        }
    }

    /// Deletes a thread, or forgets a session of an agent. Returns what was removed of the latter and what remains.
    pub fn delete(self, id: SessionId) -> Result<Option<ForgetReport>, EngineError> {
        let text = id.to_string();
        // Sessions forgotten before but not erased yet would not be found below.
        self.engine.forget().wipe()?;
        if self.get(id)?.thread.is_some() {
            return self.engine.threads().delete(&text).map(|_| None);
        }
        self.engine.forget().run(&ForgetTarget::Sessions(vec![text])).map(Some)
    }

    /// Adds a thread to the store, so that everything that works for sessions works for it.
    pub fn register(self, id: SessionId) -> Result<(), EngineError> {
        match self.get(id)?.thread {
            Some(thread) => self.engine.threads().sync(thread.id),
            None => Ok(()),
        }
    }

    /// Starts the lifecycle of a thread with its creation, so that a thread without messages can be closed too.
    pub(crate) fn start_thread_life(self, id: SessionId) -> Result<(), EngineError> {
        let Some(thread) = self.get(id)?.thread else { return Ok(()) };
        let text = thread.id.to_string();
        let key = SessionKey { agent: Agent::Native, external_id: &text };
        let mut store = self.engine.writer()?;
        let mut batch = store.begin()?;
        if batch.lifecycle(key)?.is_none() {
            batch.save_lifecycle(key, &LifecycleRow::new(thread.created_at))?;
        }
        Ok(batch.commit()?)
    }

    fn find_thread(self, id: SessionId) -> Result<Option<ThreadMetadata>, EngineError> {
        let Ok(id) = id.to_string().parse::<ThreadId>() else { return Ok(None) };
        match self.engine.thread_store().metadata(id) {
            Ok(thread) => Ok(Some(thread)),
            Err(ThreadError::Missing { .. } | ThreadError::Deleted { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A thread as a session: as stored, otherwise from its metadata.
    fn thread_conversation(
        self,
        store: Option<&ReadStore>,
        thread: ThreadMetadata,
    ) -> Result<Conversation, EngineError> {
        let known = store
            .map(|store| Ok::<_, EngineError>((store, stored_session(store, thread.id.session_id())?)))
            .transpose()?;
        let listed = if let Some((store, Some(session))) = known {
            // While the thread has no messages, only the metadata have times.
            self.engine.sessions().listed(
                store,
                Session {
                    started_at: session.started_at.or(Some(thread.created_at)),
                    last_activity_at: session.last_activity_at.or(Some(thread.last_message_at)),
                    ..session
                },
            )?
        } else {
            let session = self.unsynced_session(&thread);
            let state = self.engine.lifecycle().rules().state(None, session.last_activity_at, self.engine.now());
            ListedSession { session, state, live: None, is_pinned: false, tags: Vec::new() }
        };
        Ok(Conversation { listed, thread: Some(thread) })
    }

    fn unsynced_session(self, thread: &ThreadMetadata) -> Session {
        Session {
            id: thread.id.session_id(),
            agent: Agent::Native,
            external_id: thread.id.to_string(),
            kind: SessionKind::Main,
            parent: None,
            alias: None,
            name: thread.name.clone(),
            cwd: None,
            project: None,
            namespace: None,
            branch: None,
            model: (!thread.model.is_empty()).then(|| thread.model.clone()),
            started_at: Some(thread.created_at),
            last_activity_at: Some(thread.last_message_at),
            transcript: self.engine.thread_store().log_path(thread.id).map(|path| path.display().to_string()),
            counts: SessionCounts::default(),
            tokens: Tokens::default(),
            cost_usd: None,
            raw_tokens: 0,
            kept_tokens: 0,
            is_empty: thread.message_count == 0,
        }
    }
}

/// Whether a session belongs to a project, by the same rule as in the store.
fn is_in_scope(scope: &SessionScope, session: &Session) -> bool {
    let SessionScope::Project(project) = scope else { return true };
    let below =
        |cwd: &str| cwd.strip_prefix(project.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    session.project.as_deref() == Some(project) || session.cwd.as_deref().is_some_and(below)
}
