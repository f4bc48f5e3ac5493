//! Listing sessions, and finding the one a person means.

use rethread_ingest::source::project;
use rethread_model::{Agent, Session, SessionId, SessionKind, State, clip};
use rethread_store::{Scope, SessionFilter, SessionKey, Store};

use crate::awareness::Lifecycle;
use crate::{Engine, EngineError};

/// The shortest prefix of an id that is looked up.
const SHORTEST_PREFIX: usize = 4;

/// So many sessions with one name are told apart; nobody reads more.
const MOST_CANDIDATES: usize = 50;

/// Characters of a reference that are repeated where nobody is called so.
const SHOWN_CHARS: usize = 200;

/// Which sessions to list; newest first.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Where.
    pub scope: Scope,
    /// Of one agent.
    pub agent: Option<Agent>,
    /// In one state.
    pub state: Option<State>,
    /// Also those in which nothing happened.
    pub include_empty: bool,
    /// Also those of sub-agents.
    pub include_children: bool,
    /// At most this many.
    pub limit: Option<u64>,
}

/// A session with what depends on the moment it is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The session.
    pub session: Session,
    /// Its state now.
    pub state: State,
}

impl Engine {
    /// The project of the current directory.
    pub fn current_project(&self) -> Scope {
        Scope::Project(project::project_of(&self.environment.cwd.to_string_lossy()))
    }

    /// The project of a directory given by the user.
    pub fn project_at(&self, path: &std::path::Path) -> Scope {
        let path = self.environment.cwd.join(path);
        let path = path.canonicalize().unwrap_or(path);
        Scope::Project(project::project_of(&path.to_string_lossy()))
    }

    /// The projects there are sessions of, by name; where there is no project, the directory.
    pub fn projects(&self) -> Result<Vec<String>, EngineError> {
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        Ok(store.projects()?)
    }

    /// Sessions that fit, newest first.
    pub fn sessions(&self, request: &ListRequest) -> Result<Vec<Listed>, EngineError> {
        match self.reader()? {
            Some(store) => self.sessions_in(&store, request),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn sessions_in(&self, store: &Store, request: &ListRequest) -> Result<Vec<Listed>, EngineError> {
        let filter = SessionFilter {
            scope: request.scope.clone(),
            agent: request.agent,
            include_empty: request.include_empty,
            include_children: request.include_children,
            // A state is judged by the clock, so the limit can only be applied after it.
            limit: if request.state.is_none() { request.limit } else { None },
        };
        let mut all = Vec::new();
        for session in store.sessions(&filter)? {
            all.push(self.listed(store, session)?);
        }
        let wanted = all.into_iter().filter(|listed| request.state.is_none_or(|state| listed.state == state));
        Ok(wanted.take(request.limit.map_or(usize::MAX, |limit| limit as usize)).collect())
    }

    /// The one session a reference means: an id, a unique beginning of one, an alias, a name, part of a name.
    pub fn resolve(&self, reference: &str) -> Result<Listed, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        self.resolve_in(&store, reference)
    }

    pub(crate) fn resolve_in(&self, store: &Store, reference: &str) -> Result<Listed, EngineError> {
        let reference = reference.trim();
        let unknown = || EngineError::UnknownReference(clip(reference, SHOWN_CHARS).into_owned());
        if reference.is_empty() {
            return Err(unknown());
        }
        // Our own id means that session, whatever others are called, and it is part of nobody's name.
        let id = reference.parse::<SessionId>().ok();
        if let Some(session) = id.map(|id| stored(store, id)).transpose()?.flatten() {
            return self.listed(store, session);
        }
        let mut found = store.sessions_by_exact_reference(reference)?;
        if found.is_empty() && id.is_some() {
            return Err(unknown());
        }
        if found.is_empty() && is_prefix(reference) {
            found = store.sessions_by_id_prefix(reference)?;
        }
        // The ids of sub-agents begin with that of their parent, which is the one that is meant.
        if found.iter().filter(|session| session.kind == SessionKind::Main).count() == 1 {
            found.retain(|session| session.kind == SessionKind::Main);
        }
        if found.is_empty() {
            for number in by_name(&store.session_names()?, reference).into_iter().take(MOST_CANDIDATES) {
                found.extend(store.session_by_number(number)?);
            }
        }
        // A name that a model gave it is another name of a session.
        if found.is_empty() {
            for id in by_name(&store.card_names()?, reference).into_iter().take(MOST_CANDIDATES) {
                found.extend(store.sessions_by_exact_reference(&id.to_string())?);
            }
        }
        match found.len() {
            0 => Err(unknown()),
            1 => self.listed(store, found.remove(0)),
            _ => Err(EngineError::AmbiguousReference { reference: reference.to_owned(), candidates: found }),
        }
    }

    /// The session that a reference or a citation (`REF:LINE`) means, and the line of the latter.
    pub(crate) fn resolve_citation(&self, store: &Store, text: &str) -> Result<(Listed, Option<u64>), EngineError> {
        // A name may end in a colon and digits too, so the whole text is tried first.
        let whole = self.resolve_in(store, text);
        let cited = text.rsplit_once(':').and_then(|(reference, line)| Some((reference, line.parse().ok()?)));
        match (whole, cited) {
            (Err(EngineError::UnknownReference(_)), Some((reference, line))) => {
                Ok((self.resolve_in(store, reference)?, Some(line)))
            }
            (whole, _) => Ok((whole?, None)),
        }
    }

    pub(crate) fn listed(&self, store: &Store, session: Session) -> Result<Listed, EngineError> {
        let life = store.life(SessionKey { agent: session.agent, external_id: &session.external_id })?;
        let state = Lifecycle::of(&self.config).state(life.as_ref(), session.last_activity_at, self.now());
        Ok(Listed { session, state })
    }
}

/// The session of that id, if it was read.
pub(crate) fn stored(store: &Store, id: SessionId) -> Result<Option<Session>, EngineError> {
    Ok(store.sessions_by_exact_reference(&id.to_string())?.into_iter().find(|session| session.id == id))
}

fn is_prefix(reference: &str) -> bool {
    reference.len() >= SHORTEST_PREFIX
        && reference.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Sessions by name: the first of exact, slug and parts that anything fits.
fn by_name<T: Copy>(names: &[(T, String)], reference: &str) -> Vec<T> {
    let wanted = reference.to_lowercase();
    let words: Vec<&str> = wanted.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let wanted_slug = slug(&wanted);
    let exact = |name: &str| name.to_lowercase() == wanted;
    let same_slug = |name: &str| slug(name) == wanted_slug;
    let parts = |name: &str| {
        let name = name.to_lowercase();
        !words.is_empty() && words.iter().all(|word| name.contains(word))
    };
    let ways: [&dyn Fn(&str) -> bool; 3] = [&exact, &same_slug, &parts];
    for fits in ways {
        let found: Vec<T> = names.iter().filter(|(_, name)| fits(name)).map(|(number, _)| *number).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// A name as one word: letters and digits, everything between them one dash.
pub(crate) fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
