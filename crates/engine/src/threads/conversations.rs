//! Sessions of agents and threads of ours in one list, also threads that memory does not know yet.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rethread_model::thread::{Metadata, ThreadId};
use rethread_model::{Agent, Counts, Session, SessionId, SessionKind, Timestamp, Tokens};
use rethread_store::{Life, Scope, SessionKey, Store, ThreadError};

use crate::awareness::Lifecycle;
use crate::sessions::stored;
use crate::{Engine, EngineError, ForgetTarget, Forgotten, ListRequest, Listed};

/// A session, and what its log says if it is a thread of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// The session.
    pub listed: Listed,
    /// The thread.
    pub thread: Option<Metadata>,
}

impl Conversation {
    /// When something last happened in it.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.listed.session.last_activity_at.max(self.thread.as_ref().map(|thread| thread.last_message_at))
    }
}

impl Engine {
    /// Conversations that fit, the one in which something last happened first. Threads are always among them, also
    /// those in which nothing was said yet. Writes nothing.
    pub fn conversations(&self, request: &ListRequest) -> Result<Vec<Conversation>, EngineError> {
        let with_threads = request.agent.is_none_or(|agent| agent == Agent::Native);
        let threads = if with_threads { self.threads().list()?.0 } else { Vec::new() };
        let mut threads: BTreeMap<SessionId, Metadata> =
            threads.into_iter().map(|thread| (thread.id.session(), thread)).collect();
        let store = self.reader()?;
        let known = store.as_ref().map(|store| self.sessions_in(store, request)).transpose()?.unwrap_or_default();
        let mut all: Vec<Conversation> = known
            .into_iter()
            .map(|listed| Conversation { thread: threads.remove(&listed.session.id), listed })
            .collect();
        // What is left was passed over because it is empty, because it is not read yet, or because it does not fit.
        for thread in threads.into_values() {
            let conversation = self.of_thread(store.as_ref(), thread)?;
            let is_wanted = request.state.is_none_or(|state| conversation.listed.state == state)
                && is_within(&request.scope, &conversation.listed.session);
            all.extend(is_wanted.then_some(conversation));
        }
        all.sort_by_key(|one| Reverse((one.last_at(), one.listed.session.id)));
        all.truncate(request.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(all)
    }

    /// The session or thread of that id. Writes nothing.
    pub fn conversation(&self, id: SessionId) -> Result<Conversation, EngineError> {
        let store = self.reader()?;
        if let Some(thread) = self.thread_of(id)? {
            return self.of_thread(store.as_ref(), thread);
        }
        let unknown = || EngineError::UnknownReference(id.to_string());
        let store = store.ok_or_else(unknown)?;
        let session = stored(&store, id)?.ok_or_else(unknown)?;
        Ok(Conversation { listed: self.listed(&store, session)?, thread: None })
    }

    /// The thread of that id, for what only a thread of ours can do.
    pub fn only_thread(&self, id: SessionId) -> Result<ThreadId, EngineError> {
        match self.conversation(id)?.thread {
            Some(thread) => Ok(thread.id),
            None => Err(EngineError::NotAThread(id)),
        }
    }

    /// Deletes a thread, or forgets a session of an agent for good: what was removed of the latter, and what is left.
    pub fn delete_session(&self, id: SessionId) -> Result<Option<Forgotten>, EngineError> {
        let text = id.to_string();
        // What was forgotten before and not wiped is not found below.
        self.wipe_forgotten()?;
        if self.conversation(id)?.thread.is_some() {
            return self.thread_delete(&text).map(|_| None);
        }
        self.forget(&ForgetTarget::Sessions(vec![text])).map(Some)
    }

    /// Has memory know a thread, so that everything that is done with sessions can be done with it. Its life begins when
    /// it is made: nothing in its log says so.
    pub fn make_known(&self, id: SessionId) -> Result<(), EngineError> {
        let Some(thread) = self.conversation(id)?.thread else { return Ok(()) };
        self.thread_remember(thread.id)?;
        let text = thread.id.to_string();
        let key = SessionKey { agent: Agent::Native, external_id: &text };
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        if batch.life(key)?.is_none() {
            batch.save_life(key, &Life::begin(thread.created_at))?;
        }
        Ok(batch.commit()?)
    }

    fn thread_of(&self, id: SessionId) -> Result<Option<Metadata>, EngineError> {
        let Ok(id) = id.to_string().parse::<ThreadId>() else { return Ok(None) };
        match self.threads().metadata(id) {
            Ok(thread) => Ok(Some(thread)),
            Err(ThreadError::Missing { .. } | ThreadError::Deleted { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A thread as a session: as memory knows it, otherwise as its metadata tell.
    fn of_thread(&self, store: Option<&Store>, thread: Metadata) -> Result<Conversation, EngineError> {
        let known =
            store.map(|store| Ok::<_, EngineError>((store, stored(store, thread.id.session())?))).transpose()?;
        let listed = if let Some((store, Some(session))) = known {
            let mut listed = self.listed(store, session)?;
            // As long as nothing was said, only the metadata tell when that was.
            listed.session.started_at = listed.session.started_at.or(Some(thread.created_at));
            listed.session.last_activity_at = listed.session.last_activity_at.or(Some(thread.last_message_at));
            listed
        } else {
            let session = self.unread(&thread);
            let state = Lifecycle::of(&self.config).state(None, session.last_activity_at, self.now());
            Listed { session, state }
        };
        Ok(Conversation { listed, thread: Some(thread) })
    }

    fn unread(&self, thread: &Metadata) -> Session {
        Session {
            id: thread.id.session(),
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
            transcript: Some(self.threads().log_path(thread.id).display().to_string()),
            counts: Counts::default(),
            tokens: Tokens::default(),
            cost_usd: None,
            raw_tokens: 0,
            kept_tokens: 0,
            empty: thread.message_count == 0,
        }
    }
}

/// Whether a session belongs to a project, as the store judges it.
fn is_within(scope: &Scope, session: &Session) -> bool {
    let Scope::Project(project) = scope else { return true };
    let below =
        |cwd: &str| cwd.strip_prefix(project.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    session.project.as_deref() == Some(project) || session.cwd.as_deref().is_some_and(below)
}
