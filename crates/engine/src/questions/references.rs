//! `@@session` in a prompt: resolves references to sessions and builds the text to inject about them.

use rethread_model::Session;
use rethread_recall::{
    MAX_REFERENCES, REFERENCE_BYTES, ReferenceCandidate, ReferenceForm, ReferenceMatch, ReferenceOrigin,
    ReferenceOutcome, ReferencedSession, SessionReference, find_references, reference_block,
};
use rethread_store::{ReadStore, SessionScope};

use crate::sessions::number_of;
use crate::{EngineError, QuestionService};

/// The references in a text and what they resolve to.
#[derive(Clone, Debug)]
pub struct ResolvedReferences {
    /// Each reference with its result, in the order of the text.
    pub outcomes: Vec<(SessionReference, ReferenceOutcome)>,
    /// The text to inject. `None` if there are no references.
    pub text: Option<String>,
}

impl QuestionService<'_> {
    /// Resolves the references in a text for a session of the current project.
    pub fn references(self, text: &str) -> Result<ResolvedReferences, EngineError> {
        self.references_from(text, &self.engine.sessions().current_project())
    }

    /// Resolves the references in a text for a session of a project. Without a project only ids and exact names match.
    pub fn references_from(self, text: &str, scope: &SessionScope) -> Result<ResolvedReferences, EngineError> {
        let project = match scope {
            SessionScope::Project(project) => Some(project.as_str()),
            SessionScope::AllProjects => None,
        };
        let outcomes = match self.engine.reader()? {
            Some(store) => self.reference_outcomes(&store, ReferenceOrigin { session: None, project }, text),
            None => find_references(text)
                .into_iter()
                .map(|reference| (reference, ReferenceOutcome::NotFound(Vec::new())))
                .collect(),
        };
        Ok(ResolvedReferences { text: reference_block(&outcomes, REFERENCE_BYTES), outcomes })
    }

    /// Resolves each reference in a text. A reference that fails does not affect the others.
    pub(crate) fn reference_outcomes(
        self,
        store: &ReadStore,
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
        self,
        store: &ReadStore,
        from: ReferenceOrigin<'_>,
        reference: &SessionReference,
    ) -> ReferenceOutcome {
        let form = if reference.is_quoted { ReferenceForm::Quoted } else { ReferenceForm::Word };
        let candidates = |sessions: &[Session]| -> Vec<ReferenceCandidate> {
            sessions.iter().map(|session| ReferenceCandidate::new(session, self.engine.now())).collect()
        };
        let resolved = self.engine.sessions().match_reference(store, from, &reference.target, form).and_then(|found| {
            let session = match found {
                ReferenceMatch::One(session) => *session,
                ReferenceMatch::OwnSession => {
                    return Ok(ReferenceOutcome::Invalid("a session cannot refer to itself".to_owned()));
                }
                ReferenceMatch::Several(sessions) => return Ok(ReferenceOutcome::Ambiguous(candidates(&sessions))),
                ReferenceMatch::NotFound(similar) => return Ok(ReferenceOutcome::NotFound(candidates(&similar))),
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
            self.engine.journal().error("reference", &error);
            ReferenceOutcome::Invalid("the lookup failed".to_owned())
        })
    }

    /// The card of a session, with the answer to the question if one was asked.
    fn referenced_session(
        self,
        store: &ReadStore,
        session: Session,
        question: Option<&str>,
    ) -> Result<ReferencedSession, EngineError> {
        let number = number_of(store, session.id)?;
        let answer = question.map(|question| self.answer_for_reference(store, number, question)).transpose()?;
        // If nothing matches the question, the summary is more useful.
        let answer = answer.filter(|answer| !(answer.is_extractive && answer.citations.is_empty()));
        let card = self.engine.cards().of_session(store, number, session)?;
        if let Some(path) = &card.damaged_file {
            self.engine.journal().event("card_damaged", None, &[("path", path.display().to_string().into())]);
        }
        Ok(ReferencedSession {
            id: card.session.id.to_string(),
            name: card.fields.name,
            agent: card.session.agent.to_string(),
            updated_at: card.updated_at,
            description: card.fields.description,
            summary: card.fields.summary,
            tags: card.fields.tags,
            answer: answer.map(|answer| answer.to_text()),
            is_repeated: false,
        })
    }
}
