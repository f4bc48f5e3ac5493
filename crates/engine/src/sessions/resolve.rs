//! Finds the session that a reference means: loads candidates by id, alias and name. `recall` decides among them.

use rethread_ingest::source::{live_sessions, project};
use rethread_model::{Session, SessionId, SessionKind, clip};
use rethread_recall::{
    HitKind, NameLookup, NameMatch, ReferenceForm, ReferenceMatch, ReferenceOrigin, SearchError, SearchQuery,
    sessions_about, slug,
};
use rethread_store::{ReadStore, SessionNumber};

use crate::index::catch_index_damage;
use crate::search::search_in_sessions;
use crate::{AskingSession, EngineError, ListedSession, SessionService};

/// Shortest beginning of an id that is looked up.
const MIN_PREFIX_BYTES: usize = 4;
/// Shortest end of an id that is looked up.
const MIN_SUFFIX_BYTES: usize = 6;
/// The first characters of an id without a time.
const ZERO_TIME: &str = "0000000000";
/// Characters of an unknown reference that are repeated in the error.
const MAX_REFERENCE_CHARS: usize = 200;
/// Prompts that are searched for a topic.
const MAX_TOPIC_HITS: usize = 60;

impl SessionService<'_> {
    /// The session that a reference identifies: an id, a unique part of an id, an alias, a name or words of a name.
    pub fn resolve(self, reference: &str) -> Result<ListedSession, EngineError> {
        let store = self.engine.reader_for(reference)?;
        self.resolve_in(&store, reference)
    }

    pub(crate) fn resolve_in(self, store: &ReadStore, reference: &str) -> Result<ListedSession, EngineError> {
        self.resolve_as(store, reference, ReferenceForm::Argument)
    }

    /// The session that a reference means to the session that asks. A session may ask about itself.
    pub(crate) fn resolve_for(
        self,
        store: &ReadStore,
        reference: &str,
        asker: &AskingSession,
    ) -> Result<ListedSession, EngineError> {
        // A model may repeat a name the way its user typed it.
        let reference = reference.trim();
        let reference = reference.strip_prefix("@@").unwrap_or(reference);
        let stored = store.session_by_external_id(asker.key())?;
        let project = stored.and_then(|(_, session)| session.project);
        let here = || project::project_of(&self.engine.environment.cwd.to_string_lossy());
        let project = project.unwrap_or_else(here);
        let origin = ReferenceOrigin { session: Some(asker.key()), project: Some(&project) };
        match self.match_reference(store, origin, reference, ReferenceForm::Argument)? {
            ReferenceMatch::One(session) => self.listed(store, *session),
            ReferenceMatch::OwnSession | ReferenceMatch::Several(_) | ReferenceMatch::NotFound(_) => {
                self.resolve_in(store, reference)
            }
        }
    }

    pub(crate) fn resolve_as(
        self,
        store: &ReadStore,
        reference: &str,
        form: ReferenceForm,
    ) -> Result<ListedSession, EngineError> {
        let here = project::project_of(&self.engine.environment.cwd.to_string_lossy());
        let origin = ReferenceOrigin { session: None, project: Some(&here) };
        let reference = reference.trim();
        let shortened = || clip(reference, MAX_REFERENCE_CHARS).into_owned();
        match self.match_reference(store, origin, reference, form)? {
            ReferenceMatch::One(session) => self.listed(store, *session),
            ReferenceMatch::Several(candidates) => {
                Err(EngineError::AmbiguousReference { reference: reference.to_owned(), candidates })
            }
            ReferenceMatch::NotFound(candidates) if !candidates.is_empty() => {
                Err(EngineError::SimilarReference { reference: shortened(), candidates })
            }
            _ if is_short_prefix(store, reference)? => Err(EngineError::ShortReference(reference.to_owned())),
            _ => Err(EngineError::UnknownReference(shortened())),
        }
    }

    /// The session that a reference or a citation (`REF:LINE`) identifies, and the line of a citation.
    pub(crate) fn resolve_citation(
        self,
        store: &ReadStore,
        text: &str,
    ) -> Result<(ListedSession, Option<u64>), EngineError> {
        // A name may also end in a colon and digits, so the whole text is tried first.
        let whole = self.resolve_in(store, text);
        let cited = text.rsplit_once(':').and_then(|(reference, line)| Some((reference, line.parse().ok()?)));
        match (whole, cited) {
            (Err(EngineError::UnknownReference(_) | EngineError::SimilarReference { .. }), Some((reference, line))) => {
                Ok((self.resolve_in(store, reference)?, Some(line)))
            }
            (whole, _) => Ok((whole?, None)),
        }
    }

    /// The sessions that a text means at a place.
    pub(crate) fn match_reference(
        self,
        store: &ReadStore,
        origin: ReferenceOrigin<'_>,
        text: &str,
        form: ReferenceForm,
    ) -> Result<ReferenceMatch, EngineError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(ReferenceMatch::NotFound(Vec::new()));
        }
        // A full id always means that session. It is never matched against names.
        let own_id = text.parse::<SessionId>().ok();
        let by_own_id = own_id.map(|id| stored_session(store, id)).transpose()?.flatten();
        let mut found = match by_own_id {
            Some(session) => vec![session],
            // Until its transcript is read, a session has an id that begins with zeros and ends like the later one.
            None if own_id.is_some() && text.starts_with(ZERO_TIME) => {
                store.sessions_by_id_suffix(&text[ZERO_TIME.len()..])?
            }
            None => sessions_by_id(store, text, form)?,
        };
        if found.is_empty() && own_id.is_some() {
            return Ok(ReferenceMatch::NotFound(Vec::new()));
        }
        let mut similar = Vec::new();
        if found.is_empty() {
            (found, similar) = self.match_name(store, origin, text, form)?;
        }
        Ok(ReferenceMatch::choose(found, similar, origin, form))
    }

    /// The sessions that a name means; if none, those with a similar name.
    fn match_name(
        self,
        store: &ReadStore,
        origin: ReferenceOrigin<'_>,
        text: &str,
        form: ReferenceForm,
    ) -> Result<(Vec<Session>, Vec<Session>), EngineError> {
        // The name that the referring session was shown last still counts, even if the session has another one now.
        let shown = origin.session.map(|reader| store.shown_session(reader, &slug(text))).transpose()?.flatten();
        let mut found = load(store, shown)?;
        if !found.is_empty() {
            return Ok((found, Vec::new()));
        }
        let names = store.named_sessions()?;
        let lookup = NameLookup::new(text, form, origin.project, &names);
        found = load(store, lookup.by_whole_name())?;
        if found.is_empty() {
            for (_, live) in live_sessions(&self.engine.source_config()) {
                if live.name.is_some_and(|name| lookup.is_name(&name)) {
                    found.extend(store.sessions_by_exact_reference(&live.external_id)?);
                }
            }
        }
        if found.is_empty() {
            let numbers = match lookup.by_words() {
                NameMatch::Sessions(numbers) => numbers,
                NameMatch::Topic { word, project } => self.sessions_about(store, word, project)?,
            };
            found = load(store, numbers)?;
        }
        let similar = if found.is_empty() { load(store, lookup.similar())? } else { Vec::new() };
        Ok((found, similar))
    }

    /// Sessions of a project whose prompts are about a word. Empty if the index is too far behind.
    fn sessions_about(self, store: &ReadStore, word: &str, project: &str) -> Result<Vec<SessionNumber>, EngineError> {
        let sessions = store.session_numbers_in_project(project)?;
        let here = self.engine.local_now();
        let query = SearchQuery { kinds: vec![HitKind::Prompt], ..SearchQuery::from_prose(word, &here) };
        let found = catch_index_damage(|| -> Result<_, SearchError> {
            let Some(snapshot) = self.engine.index().quick_snapshot(store)? else { return Ok(Vec::new()) };
            search_in_sessions(store, &snapshot, &query, &sessions, MAX_TOPIC_HITS, &here)
        });
        // The next search rebuilds a damaged index.
        Ok(sessions_about(word, &found.unwrap_or_default()))
    }
}

/// The session with this id, if it was synced.
pub(crate) fn stored_session(store: &ReadStore, id: SessionId) -> Result<Option<Session>, EngineError> {
    Ok(store.sessions_by_exact_reference(&id.to_string())?.into_iter().find(|session| session.id == id))
}

/// The number of a session that was just found.
pub(crate) fn number_of(store: &ReadStore, id: SessionId) -> Result<SessionNumber, EngineError> {
    store.session_number(id)?.ok_or_else(|| EngineError::UnknownReference(id.to_string()))
}

/// Sessions by id, alias, or a part of an id: its beginning, or its end, which is what short ids are.
fn sessions_by_id(store: &ReadStore, text: &str, form: ReferenceForm) -> Result<Vec<Session>, EngineError> {
    let mut found = store.sessions_by_exact_reference(text)?;
    // In a prompt a part of an id needs a digit; otherwise it is a word.
    let can_be_part = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && (form.is_argument() || text.bytes().any(|byte| byte.is_ascii_digit()));
    if found.is_empty() && can_be_part && text.len() >= MIN_PREFIX_BYTES {
        found = store.sessions_by_id_prefix(text)?;
    }
    if found.is_empty() && can_be_part && text.len() >= MIN_SUFFIX_BYTES {
        found = store.sessions_by_id_suffix(text)?;
    }
    // The ids of subagents start with the id of their parent, and the parent is meant.
    if found.iter().filter(|session| session.kind == SessionKind::Main).count() == 1 {
        found.retain(|session| session.kind == SessionKind::Main);
    }
    Ok(found)
}

/// Whether a reference is the beginning of an id, but too short to be looked up.
fn is_short_prefix(store: &ReadStore, reference: &str) -> Result<bool, EngineError> {
    let is_short = reference.len() < MIN_PREFIX_BYTES && reference.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Ok(is_short && !reference.is_empty() && !store.sessions_by_id_prefix(reference)?.is_empty())
}

fn load(store: &ReadStore, numbers: impl IntoIterator<Item = SessionNumber>) -> Result<Vec<Session>, EngineError> {
    let sessions = numbers.into_iter().filter_map(|number| store.session_by_number(number).transpose());
    Ok(sessions.collect::<Result<_, _>>()?)
}
