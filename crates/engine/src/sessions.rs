//! Lists sessions, and resolves a reference to one session.

use std::borrow::Cow;
use std::path::Path;

use rethread_ingest::source::project;
use rethread_model::{Agent, Session, SessionId, SessionKind, SessionState, clip};
use rethread_store::{SessionFilter, SessionKey, SessionScope, Store};

use crate::awareness::Lifecycle;
use crate::{Engine, EngineError};

/// Shortest prefix of an id that is looked up.
const MIN_PREFIX_BYTES: usize = 4;

/// Maximum number of candidates listed for an ambiguous name.
const MAX_CANDIDATES: usize = 50;

/// Characters of an unknown reference that are repeated in the error.
const MAX_REFERENCE_CHARS: usize = 200;

/// Which sessions to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionListRequest {
    /// Only sessions of this project, or of all projects.
    pub scope: SessionScope,
    /// Only sessions of this agent.
    pub agent: Option<Agent>,
    /// Only sessions in this state.
    pub state: Option<SessionState>,
    /// Also sessions without any prompt or answer.
    pub include_empty: bool,
    /// Also sessions of subagents.
    pub include_children: bool,
    /// Maximum number of sessions.
    pub limit: Option<u64>,
}

/// A session with its state, which depends on the current time.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSession {
    /// The session as stored.
    pub session: Session,
    /// The state at the time of the request.
    pub state: SessionState,
}

impl Engine {
    /// The project of the current directory.
    pub fn current_project(&self) -> SessionScope {
        self.project_of_folder(&self.environment.cwd)
    }

    /// The project of a directory given by the user.
    pub fn project_at(&self, path: &Path) -> SessionScope {
        let path = self.environment.cwd.join(path);
        self.project_of_folder(&path.canonicalize().unwrap_or(path))
    }

    /// Whether a scope has any session that is listed by default.
    pub fn has_sessions(&self, scope: &SessionScope) -> Result<bool, EngineError> {
        let Some(store) = self.reader()? else { return Ok(false) };
        let filter = SessionFilter { scope: scope.clone(), limit: Some(1), ..SessionFilter::default() };
        Ok(!store.sessions(&filter)?.is_empty())
    }

    /// The repository of a folder. Outside one: the nearest folder above it where sessions were started, if there were
    /// none in the folder itself. The home directory is above everything, so it does not count.
    fn project_of_folder(&self, folder: &Path) -> SessionScope {
        let root = project::project_of(&folder.to_string_lossy());
        let known = if folder.join(".git").exists() || Path::new(&root) != folder {
            Vec::new()
        } else {
            self.projects().unwrap_or_default()
        };
        let has_own = known.iter().any(|project| Path::new(project).starts_with(folder));
        let above = folder.ancestors().take_while(|above| *above != self.environment.home && above.parent().is_some());
        let nearest = above.map(Path::to_string_lossy).find(|above| known.iter().any(|project| project == above));
        SessionScope::Project(nearest.filter(|_| !has_own).map_or(root, Cow::into_owned))
    }

    /// All projects with sessions, by name. Sessions outside a project count under their directory.
    pub fn projects(&self) -> Result<Vec<String>, EngineError> {
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        Ok(store.projects()?)
    }

    /// Matching sessions, newest first.
    pub fn sessions(&self, request: &SessionListRequest) -> Result<Vec<ListedSession>, EngineError> {
        match self.reader()? {
            Some(store) => self.sessions_in(&store, request),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn sessions_in(
        &self,
        store: &Store,
        request: &SessionListRequest,
    ) -> Result<Vec<ListedSession>, EngineError> {
        let filter = SessionFilter {
            scope: request.scope.clone(),
            agent: request.agent,
            include_empty: request.include_empty,
            include_children: request.include_children,
            // The state depends on the clock, so the limit can only be applied after it.
            limit: if request.state.is_none() { request.limit } else { None },
        };
        let mut all = Vec::new();
        for session in store.sessions(&filter)? {
            all.push(self.listed_session(store, session)?);
        }
        let sessions = all.into_iter().filter(|listed| request.state.is_none_or(|state| listed.state == state));
        Ok(sessions.take(request.limit.map_or(usize::MAX, |limit| limit as usize)).collect())
    }

    /// The session that a reference identifies: an id, a unique id prefix, an alias, a name or part of a name.
    pub fn resolve(&self, reference: &str) -> Result<ListedSession, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        self.resolve_in(&store, reference)
    }

    pub(crate) fn resolve_in(&self, store: &Store, reference: &str) -> Result<ListedSession, EngineError> {
        let reference = reference.trim();
        let unknown = || EngineError::UnknownReference(clip(reference, MAX_REFERENCE_CHARS).into_owned());
        if reference.is_empty() {
            return Err(unknown());
        }
        // A full id always means that session. It is never matched against names.
        let id = reference.parse::<SessionId>().ok();
        if let Some(session) = id.map(|id| stored_session(store, id)).transpose()?.flatten() {
            return self.listed_session(store, session);
        }
        let mut found = store.sessions_by_exact_reference(reference)?;
        if found.is_empty() && id.is_some() {
            return Err(unknown());
        }
        if found.is_empty() && can_be_id_prefix(reference) {
            found = store.sessions_by_id_prefix(reference)?;
        }
        // The ids of subagents start with the id of their parent, and the parent is meant.
        if found.iter().filter(|session| session.kind == SessionKind::Main).count() == 1 {
            found.retain(|session| session.kind == SessionKind::Main);
        }
        if found.is_empty() {
            for number in match_by_name(&store.session_names()?, reference).into_iter().take(MAX_CANDIDATES) {
                found.extend(store.session_by_number(number)?);
            }
        }
        // The name on a session's card counts as a second name.
        if found.is_empty() {
            for id in match_by_name(&store.card_names()?, reference).into_iter().take(MAX_CANDIDATES) {
                found.extend(store.sessions_by_exact_reference(&id.to_string())?);
            }
        }
        match found.len() {
            0 if is_short_prefix(store, reference)? => Err(EngineError::ShortReference(reference.to_owned())),
            0 => Err(unknown()),
            1 => self.listed_session(store, found.remove(0)),
            _ => Err(EngineError::AmbiguousReference { reference: reference.to_owned(), candidates: found }),
        }
    }

    /// The session that a reference or a citation (`REF:LINE`) identifies, and the line of a citation.
    pub(crate) fn resolve_citation(
        &self,
        store: &Store,
        text: &str,
    ) -> Result<(ListedSession, Option<u64>), EngineError> {
        // A name may also end in a colon and digits, so the whole text is tried first.
        let whole = self.resolve_in(store, text);
        let cited = text.rsplit_once(':').and_then(|(reference, line)| Some((reference, line.parse().ok()?)));
        match (whole, cited) {
            (Err(EngineError::UnknownReference(_)), Some((reference, line))) => {
                Ok((self.resolve_in(store, reference)?, Some(line)))
            }
            (whole, _) => Ok((whole?, None)),
        }
    }

    pub(crate) fn listed_session(&self, store: &Store, session: Session) -> Result<ListedSession, EngineError> {
        let life = store.lifecycle(SessionKey { agent: session.agent, external_id: &session.external_id })?;
        let state = Lifecycle::from_config(&self.config).state(life.as_ref(), session.last_activity_at, self.now());
        Ok(ListedSession { session, state })
    }
}

/// The session with this id, if it was synced.
pub(crate) fn stored_session(store: &Store, id: SessionId) -> Result<Option<Session>, EngineError> {
    Ok(store.sessions_by_exact_reference(&id.to_string())?.into_iter().find(|session| session.id == id))
}

/// Whether a reference is the beginning of an id, but too short to be looked up.
fn is_short_prefix(store: &Store, reference: &str) -> Result<bool, EngineError> {
    let is_short = reference.len() < MIN_PREFIX_BYTES && reference.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Ok(is_short && !store.sessions_by_id_prefix(reference)?.is_empty())
}

fn can_be_id_prefix(reference: &str) -> bool {
    reference.len() >= MIN_PREFIX_BYTES
        && reference.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Sessions by name: the first of exact match, same slug and partial match that finds any.
fn match_by_name<T: Copy>(names: &[(T, String)], reference: &str) -> Vec<T> {
    let lower = reference.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let wanted_slug = slug(&lower);
    let exact = |name: &str| name.to_lowercase() == lower;
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

/// A name in lowercase, with every run of other characters than letters and digits replaced by a dash.
pub(crate) fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
