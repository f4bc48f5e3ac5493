//! `@@session` in a prompt: resolves references to sessions and builds the text to inject about them.
//!
//! A prompt may contain `@@` without referring to a session: a variable, a diff. So a reference must be an exact name
//! or an id. Parts of a name count only for sessions of the same project, and only if the text clearly is a name.

use rethread_model::{Session, SessionKind};
use rethread_recall::{
    CitedAnswer, MAX_REFERENCES, REFERENCE_BYTES, ReferenceCandidate, ReferenceOutcome, ReferencedSession,
    SessionReference, find_references, format_age, reference_block,
};
use rethread_store::{SessionKey, SessionScope, Store};

use crate::sessions::slug;
use crate::{Engine, EngineError};

/// Shortest prefix of an id that is looked up.
const MIN_PREFIX_BYTES: usize = 4;
/// At least one word of a partial name must be this long.
const MIN_WORD_CHARS: usize = 3;

/// The references in a text and what they resolve to.
#[derive(Clone, Debug)]
pub struct ResolvedReferences {
    /// Each reference with its result, in the order of the text.
    pub outcomes: Vec<(SessionReference, ReferenceOutcome)>,
    /// The text to inject. `None` if there are no references.
    pub text: Option<String>,
}

/// Where a reference is made. Sessions of the same project take precedence; the referring session itself is excluded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceOrigin<'a> {
    /// The referring session.
    pub(crate) session: Option<SessionKey<'a>>,
    pub(crate) project: Option<&'a str>,
}

impl Engine {
    /// Resolves the references in a text for a session of the current project.
    pub fn resolve_references(&self, text: &str) -> Result<ResolvedReferences, EngineError> {
        self.resolve_references_from(text, &self.current_project())
    }

    /// Resolves the references in a text for a session of a project. Without a project only ids and exact names match.
    pub fn resolve_references_from(&self, text: &str, scope: &SessionScope) -> Result<ResolvedReferences, EngineError> {
        let project = match scope {
            SessionScope::Project(project) => Some(project.as_str()),
            SessionScope::AllProjects => None,
        };
        let outcomes = match self.reader()? {
            Some(store) => self.reference_outcomes(&store, ReferenceOrigin { session: None, project }, text),
            None => {
                find_references(text).into_iter().map(|reference| (reference, ReferenceOutcome::NotFound)).collect()
            }
        };
        Ok(ResolvedReferences { text: reference_block(&outcomes, REFERENCE_BYTES), outcomes })
    }

    /// Resolves each reference in a text. A reference that fails does not affect the others.
    pub(crate) fn reference_outcomes(
        &self,
        store: &Store,
        from: ReferenceOrigin<'_>,
        text: &str,
    ) -> Vec<(SessionReference, ReferenceOutcome)> {
        let mut outcomes: Vec<(SessionReference, ReferenceOutcome)> = Vec::new();
        for (at, reference) in find_references(text).into_iter().enumerate() {
            let outcome = if at < MAX_REFERENCES {
                self.reference_outcome(store, from, &reference)
            } else {
                ReferenceOutcome::OverLimit
            };
            // Two names of the same session count as one reference.
            let is_duplicate = |(known, other): &(SessionReference, ReferenceOutcome)| {
                matches!((other, &outcome), (ReferenceOutcome::Resolved(a), ReferenceOutcome::Resolved(b)) if a[0].id == b[0].id)
                    && known.question == reference.question
            };
            if !outcomes.iter().any(is_duplicate) {
                outcomes.push((reference, outcome));
            }
        }
        outcomes
    }

    fn reference_outcome(
        &self,
        store: &Store,
        from: ReferenceOrigin<'_>,
        reference: &SessionReference,
    ) -> ReferenceOutcome {
        let resolved = match_reference(store, from, reference).and_then(|found| {
            let session = match found {
                ReferenceMatch::One(session) => *session,
                ReferenceMatch::OwnSession => {
                    return Ok(ReferenceOutcome::Invalid("a session cannot refer to itself".to_owned()));
                }
                ReferenceMatch::Several(sessions) => {
                    return Ok(ReferenceOutcome::Ambiguous(
                        sessions.iter().map(|session| self.reference_candidate(session)).collect(),
                    ));
                }
                ReferenceMatch::NotFound => return Ok(ReferenceOutcome::NotFound),
            };
            let mut sessions = vec![self.referenced_session(store, session.clone(), reference.question.as_deref())?];
            let mut at = session;
            for _ in 0..reference.ancestors {
                let Some(parent) = at.parent else { break };
                let Some(session) = store.sessions_by_exact_reference(&parent.to_string())?.pop() else { break };
                at = session;
                sessions.push(self.referenced_session(store, at.clone(), None)?);
            }
            Ok(ReferenceOutcome::Resolved(sessions))
        });
        resolved.unwrap_or_else(|error| {
            self.log_error("reference", &error);
            ReferenceOutcome::Invalid("the lookup failed".to_owned())
        })
    }

    /// The card of a session, with the answer to the question if one was asked.
    fn referenced_session(
        &self,
        store: &Store,
        session: Session,
        question: Option<&str>,
    ) -> Result<ReferencedSession, EngineError> {
        let unknown = || EngineError::UnknownReference(session.id.to_string());
        let number = store.session_number(session.id)?.ok_or_else(unknown)?;
        let answer = question.map(|question| self.answer_for_reference(store, &session, question)).transpose()?;
        // If nothing matches the question, the summary is more useful.
        let answer = answer.filter(|answer| !(answer.is_extractive && answer.citations.is_empty()));
        let card = self.card_of(store, number, session)?;
        if let Some(path) = &card.damaged_file {
            self.log_event("card_damaged", None, &[("path", path.display().to_string().into())]);
        }
        Ok(ReferencedSession {
            id: card.session.id.to_string(),
            name: card.fields.name,
            agent: card.session.agent.to_string(),
            updated_at: card.updated_at,
            description: card.fields.description,
            summary: card.fields.summary,
            tags: card.fields.tags,
            answer: answer.map(|answer| answer_text(&answer)),
        })
    }

    fn reference_candidate(&self, session: &Session) -> ReferenceCandidate {
        ReferenceCandidate {
            id: session.id.to_string(),
            details: format!("{}, {}", session.agent, format_age(session.last_activity_at, self.now())),
            name: session.name.clone().unwrap_or_else(|| "unnamed".to_owned()),
        }
    }
}

/// The sessions that match a reference.
enum ReferenceMatch {
    One(Box<Session>),
    Several(Vec<Session>),
    /// Only the referring session itself.
    OwnSession,
    NotFound,
}

fn match_reference(
    store: &Store,
    from: ReferenceOrigin<'_>,
    reference: &SessionReference,
) -> Result<ReferenceMatch, EngineError> {
    let mut found = sessions_by_id(store, &reference.target)?;
    if found.is_empty() {
        found = sessions_by_name(store, from, reference)?;
    }
    let is_own = |session: &Session| {
        from.session.is_some_and(|own| own.agent == session.agent && own.external_id == session.external_id)
    };
    let is_itself = found.iter().any(is_own);
    found.retain(|session| !is_own(session));
    let near: Vec<&Session> =
        found.iter().filter(|session| from.project.is_some() && session.project.as_deref() == from.project).collect();
    Ok(match (near.as_slice(), found.as_slice()) {
        ([one], _) => ReferenceMatch::One(Box::new((*one).clone())),
        (_, [one]) => ReferenceMatch::One(Box::new(one.clone())),
        (_, []) if is_itself => ReferenceMatch::OwnSession,
        (_, []) => ReferenceMatch::NotFound,
        _ => ReferenceMatch::Several(found),
    })
}

/// Sessions by id, alias or id prefix. A prefix needs a digit; otherwise it is a word.
fn sessions_by_id(store: &Store, target: &str) -> Result<Vec<Session>, EngineError> {
    let mut found = store.sessions_by_exact_reference(target)?;
    let is_prefix = target.len() >= MIN_PREFIX_BYTES
        && target.bytes().any(|byte| byte.is_ascii_digit())
        && target.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if found.is_empty() && is_prefix {
        found = store.sessions_by_id_prefix(target)?;
    }
    // The ids of subagents start with the id of their parent, and the parent is meant.
    if found.iter().filter(|session| session.kind == SessionKind::Main).count() == 1 {
        found.retain(|session| session.kind == SessionKind::Main);
    }
    Ok(found)
}

/// Sessions by their name or their card's name; by parts of the name only in the same project.
fn sessions_by_name(
    store: &Store,
    from: ReferenceOrigin<'_>,
    reference: &SessionReference,
) -> Result<Vec<Session>, EngineError> {
    let target_slug = slug(&reference.target);
    if target_slug.is_empty() {
        return Ok(Vec::new());
    }
    let names = store.session_names()?;
    let mut found = Vec::new();
    for (number, _) in names.iter().filter(|(_, name)| slug(name) == target_slug) {
        found.extend(store.session_by_number(*number)?);
    }
    if found.is_empty() {
        for (id, _) in store.card_names()?.iter().filter(|(_, name)| slug(name) == target_slug) {
            found.extend(store.sessions_by_exact_reference(&id.to_string())?);
        }
    }
    let words: Vec<&str> = target_slug.split('-').collect();
    let is_name = reference.is_quoted || words.len() > 1;
    if found.is_empty()
        && from.project.is_some()
        && is_name
        && words.iter().any(|word| word.chars().count() >= MIN_WORD_CHARS)
    {
        for (number, _) in names.iter().filter(|(_, name)| has_words(&slug(name), &words)) {
            let session = store.session_by_number(*number)?;
            found.extend(session.filter(|session| session.project.as_deref() == from.project));
        }
    }
    Ok(found)
}

fn has_words(name: &str, words: &[&str]) -> bool {
    words.iter().all(|word| name.split('-').any(|other| other == *word))
}

/// An answer with its citations and notes. Extracted passages contain their citations already.
fn answer_text(answer: &CitedAnswer) -> String {
    let notes: Vec<String> = answer.notes.iter().map(|note| format!("\n{note}")).collect();
    let notes = notes.concat();
    if answer.is_extractive {
        return format!("{}{notes}", answer.answer);
    }
    let cited: Vec<String> =
        answer.citations.iter().map(|one| format!("\n- line {}: {}", one.line, one.excerpt)).collect();
    let cited = cited.concat();
    let confidence = answer.confidence.as_str();
    format!("{}{cited}{notes}\n(answered by a model, confidence: {confidence})", answer.answer)
}
