//! Resolves what people and agents call a session: an id or a part of one, an alias, a name, or words of a name.
//!
//! There is one order for commands, prompts, MCP and HTTP; the first step that finds anything decides. A prompt may
//! contain `@@` without meaning a session (a variable, a diff), so there the weak steps look only at the same project.

mod name_match;
mod topic;

use std::cell::OnceCell;

use rethread_ingest::source::{project, shown_session_names};
use rethread_model::{Session, SessionId, SessionKind, clip};
use rethread_store::{NamedSession, ReadStore, SessionKey, SessionNumber};

use self::name_match::NameQuery;
pub(crate) use self::name_match::slug;
use crate::{Engine, EngineError, ListedSession, SessionService};

/// Shortest beginning of an id that is looked up.
const MIN_PREFIX_BYTES: usize = 4;
/// Shortest end of an id that is looked up.
const MIN_SUFFIX_BYTES: usize = 6;
/// Shortest part of a word that is looked up in names.
const MIN_PART_BYTES: usize = 3;
/// The first characters of an id without a time.
const ZERO_TIME: &str = "0000000000";
/// Maximum number of candidates listed for an ambiguous name.
const MAX_CANDIDATES: usize = 50;
/// Maximum number of similar sessions that are suggested.
const MAX_SIMILAR: usize = 3;
/// A single word of a prompt that matches more sessions than this is not meant as a name.
const MAX_WORD_MATCHES: usize = 5;
/// Characters of an unknown reference that are repeated in the error.
const MAX_REFERENCE_CHARS: usize = 200;

/// Where a reference is made. Sessions of the same project take precedence; the referring session itself is excluded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceOrigin<'a> {
    /// The referring session.
    pub(crate) session: Option<SessionKey<'a>>,
    pub(crate) project: Option<&'a str>,
}

/// How sure it is that a text is meant as a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceForm {
    /// An argument of a command that erases: only ids, aliases and whole names.
    Exact,
    /// An argument that can only be a session.
    Argument,
    /// `@@"name"` in a prompt.
    Quoted,
    /// `@@name` in a prompt.
    Word,
}

/// The sessions that match a reference.
pub(crate) enum ReferenceMatch {
    One(Box<Session>),
    Several(Vec<Session>),
    /// Only the referring session itself.
    OwnSession,
    /// None; these have a similar name.
    NotFound(Vec<Session>),
}

impl SessionService<'_> {
    /// The session that a reference identifies: an id, a unique part of an id, an alias, a name or words of a name.
    pub fn resolve(self, reference: &str) -> Result<ListedSession, EngineError> {
        let store = self.engine.reader_for(reference)?;
        self.resolve_in(&store, reference)
    }

    pub(crate) fn resolve_in(self, store: &ReadStore, reference: &str) -> Result<ListedSession, EngineError> {
        self.resolve_as(store, reference, ReferenceForm::Argument)
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
        let resolver = NameResolver { engine: self.engine, store, origin, form, names: OnceCell::new() };
        if found.is_empty() {
            found = resolver.find(text)?;
        }
        let is_own = |session: &Session| {
            origin.session.is_some_and(|own| own.agent == session.agent && own.external_id == session.external_id)
        };
        let is_itself = found.iter().any(is_own);
        found.retain(|session| !is_own(session));
        if form != ReferenceForm::Exact && found.len() > 1 {
            let near = |session: &&Session| origin.project.is_some() && session.project.as_deref() == origin.project;
            let mut same_project = found.iter().filter(near);
            if let (Some(one), None) = (same_project.next(), same_project.next()) {
                return Ok(ReferenceMatch::One(Box::new(one.clone())));
            }
        }
        Ok(match found.len() {
            0 if is_itself => ReferenceMatch::OwnSession,
            0 => ReferenceMatch::NotFound(resolver.similar(text)?.into_iter().filter(|one| !is_own(one)).collect()),
            1 => ReferenceMatch::One(Box::new(found.remove(0))),
            _ => ReferenceMatch::Several(found),
        })
    }
}

/// The session with this id, if it was synced.
pub(crate) fn stored_session(store: &ReadStore, id: SessionId) -> Result<Option<Session>, EngineError> {
    Ok(store.sessions_by_exact_reference(&id.to_string())?.into_iter().find(|session| session.id == id))
}

/// Sessions by id, alias, or a part of an id: its beginning, or its end, which is what short ids are.
fn sessions_by_id(store: &ReadStore, text: &str, form: ReferenceForm) -> Result<Vec<Session>, EngineError> {
    let mut found = store.sessions_by_exact_reference(text)?;
    // In a prompt a part of an id needs a digit; otherwise it is a word.
    let can_be_part = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && (matches!(form, ReferenceForm::Argument | ReferenceForm::Exact)
            || text.bytes().any(|byte| byte.is_ascii_digit()));
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

/// Looks up sessions by name. The names are loaded once.
struct NameResolver<'a> {
    engine: &'a Engine,
    store: &'a ReadStore,
    origin: ReferenceOrigin<'a>,
    form: ReferenceForm,
    names: OnceCell<Vec<NamedSession>>,
}

impl NameResolver<'_> {
    /// Sessions by the first step that finds any.
    fn find(&self, text: &str) -> Result<Vec<Session>, EngineError> {
        let query = NameQuery::new(text);
        if let Some(session) = self.shown_before(&query)? {
            return Ok(vec![session]);
        }
        for is_match in [NameQuery::is_name as fn(&NameQuery, &str) -> bool, NameQuery::is_slug] {
            let found = self.matching(|named| named.names().any(|name| is_match(&query, name)))?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let named_by_agent = self.named_by_agent(&query)?;
        if !named_by_agent.is_empty() {
            return Ok(named_by_agent);
        }
        let is_weak = self.form == ReferenceForm::Exact || (self.form == ReferenceForm::Word && !query.can_be_words());
        if is_weak {
            return Ok(Vec::new());
        }
        let mut steps = vec![NameQuery::has_words as fn(&NameQuery, &str) -> bool, NameQuery::has_beginnings];
        steps.push(NameQuery::has_misspelled_words);
        if self.form == ReferenceForm::Argument && query.slug().len() >= MIN_PART_BYTES {
            steps.insert(2, NameQuery::contains);
        }
        for is_match in steps {
            let found = self.matching_near(|name| is_match(&query, name))?;
            // A common word in a prompt is not meant as a name.
            if self.form == ReferenceForm::Word && query.is_one_word() && found.len() > MAX_WORD_MATCHES {
                return Ok(Vec::new());
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        match self.origin.project {
            Some(project) if query.is_one_word() && query.can_be_words() => {
                let about = self.engine.sessions().sessions_about(self.store, query.slug(), project)?;
                self.load(about.into_iter().take(MAX_WORD_MATCHES))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Sessions with a name close to the text, the closest first.
    fn similar(&self, text: &str) -> Result<Vec<Session>, EngineError> {
        let query = NameQuery::new(text);
        if self.form == ReferenceForm::Word && !query.can_be_words() {
            return Ok(Vec::new());
        }
        let closeness = |named: &NamedSession| named.names().map(|name| query.closeness(name)).max().unwrap_or(0);
        let mut close: Vec<(u32, SessionNumber)> = self
            .names()?
            .iter()
            .filter(|named| self.is_near(named))
            .map(|named| (closeness(named), named.number))
            .filter(|(closeness, _)| *closeness > 0)
            .collect();
        close.sort_by_key(|(closeness, _)| std::cmp::Reverse(*closeness));
        self.load(close.into_iter().map(|(_, number)| number).take(MAX_SIMILAR))
    }

    /// The session that had this name when the referring session was last shown it, even if it has another one now.
    fn shown_before(&self, query: &NameQuery) -> Result<Option<Session>, EngineError> {
        let Some(reader) = self.origin.session else { return Ok(None) };
        match self.store.shown_session(reader, query.slug())? {
            Some(number) => Ok(self.load([number].into_iter())?.pop()),
            None => Ok(None),
        }
    }

    /// Sessions that an agent itself shows under this name.
    fn named_by_agent(&self, query: &NameQuery) -> Result<Vec<Session>, EngineError> {
        let mut found = Vec::new();
        for (external_id, name) in shown_session_names(&self.engine.source_config()) {
            if query.is_slug(&name) {
                found.extend(self.store.sessions_by_exact_reference(&external_id)?);
            }
        }
        Ok(found)
    }

    fn names(&self) -> Result<&[NamedSession], EngineError> {
        if self.names.get().is_none() {
            let _ = self.names.set(self.store.named_sessions()?);
        }
        Ok(self.names.get().map_or(&[], Vec::as_slice))
    }

    /// Whether a session is where weak matches are looked for.
    fn is_near(&self, named: &NamedSession) -> bool {
        matches!(self.form, ReferenceForm::Argument | ReferenceForm::Exact)
            || (self.origin.project.is_some() && self.is_in_project(named))
    }

    fn is_in_project(&self, named: &NamedSession) -> bool {
        named.project.as_deref() == self.origin.project
    }

    /// Matching sessions of the same project; for an argument, otherwise of any project.
    fn matching_near(&self, is_match: impl Fn(&str) -> bool) -> Result<Vec<Session>, EngineError> {
        let here = self.matching(|named| {
            self.origin.project.is_some() && self.is_in_project(named) && named.names().any(&is_match)
        })?;
        if !here.is_empty() || self.form != ReferenceForm::Argument {
            return Ok(here);
        }
        self.matching(|named| named.names().any(&is_match))
    }

    fn matching(&self, is_match: impl Fn(&NamedSession) -> bool) -> Result<Vec<Session>, EngineError> {
        let numbers: Vec<SessionNumber> =
            self.names()?.iter().filter(|named| is_match(named)).map(|named| named.number).collect();
        self.load(numbers.into_iter().take(MAX_CANDIDATES))
    }

    fn load(&self, numbers: impl Iterator<Item = SessionNumber>) -> Result<Vec<Session>, EngineError> {
        let mut sessions = Vec::new();
        for number in numbers {
            sessions.extend(self.store.session_by_number(number)?);
        }
        Ok(sessions)
    }
}
