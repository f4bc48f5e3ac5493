//! `@@session` in a prompt: which sessions are meant, and what is told of them.

use rethread_model::Session;
use rethread_recall::{Answer, MOST_REFERENCES, Outcome, Reference, Referenced, age, reference_block, references};
use rethread_store::{SessionKey, Store};

use crate::{Engine, EngineError};

/// References in a text, and what they would bring.
#[derive(Clone, Debug)]
pub struct ResolvedReferences {
    /// Each with what became of it, in the order in which they were typed.
    pub outcomes: Vec<(Reference, Outcome)>,
    /// What a model would be told; nothing if there are no references.
    pub text: Option<String>,
}

/// From where a reference is made: sessions of the same project are meant first, and never the one that refers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standpoint<'a> {
    /// The session that refers.
    pub(crate) own: Option<SessionKey<'a>>,
    /// Its project.
    pub(crate) project: Option<&'a str>,
}

impl Engine {
    /// What the references in a text would bring to a session of the current project.
    pub fn resolve_references(&self, text: &str) -> Result<ResolvedReferences, EngineError> {
        let rethread_store::Scope::Project(project) = self.current_project() else {
            return Ok(ResolvedReferences { outcomes: Vec::new(), text: None });
        };
        let outcomes = match self.reader()? {
            Some(store) => self.outcomes(&store, Standpoint { own: None, project: Some(&project) }, text),
            None => references(text).into_iter().map(|reference| (reference, Outcome::NotFound)).collect(),
        };
        Ok(ResolvedReferences { text: reference_block(&outcomes), outcomes })
    }

    /// What became of each reference in a text. A bad one hides no other, and fails nothing.
    pub(crate) fn outcomes(&self, store: &Store, from: Standpoint<'_>, text: &str) -> Vec<(Reference, Outcome)> {
        let found = references(text).into_iter().enumerate();
        found
            .map(|(at, reference)| {
                let outcome =
                    if at < MOST_REFERENCES { self.outcome(store, from, &reference) } else { Outcome::OverLimit };
                (reference, outcome)
            })
            .collect()
    }

    fn outcome(&self, store: &Store, from: Standpoint<'_>, reference: &Reference) -> Outcome {
        let resolved = self.meant(store, from, &reference.target).and_then(|session| {
            let mut told = vec![self.referenced(store, session.clone(), reference.question.as_deref())?];
            let mut at = session;
            for _ in 0..reference.ancestors {
                let Some(parent) = at.parent else { break };
                let Some(session) = store.sessions_by_exact_reference(&parent.to_string())?.pop() else { break };
                at = session;
                told.push(self.referenced(store, at.clone(), None)?);
            }
            Ok(told)
        });
        match resolved {
            Ok(told) => Outcome::Resolved(told),
            Err(EngineError::UnknownReference(_)) => Outcome::NotFound,
            Err(EngineError::AmbiguousReference { candidates, .. }) => {
                Outcome::Ambiguous(candidates.iter().map(|session| self.candidate(session)).collect())
            }
            Err(error) => {
                self.note_trouble("reference", &error);
                Outcome::Invalid("it could not be looked up".to_owned())
            }
        }
    }

    /// The session that is meant. Of several, the one of the own project; never the session that refers.
    fn meant(&self, store: &Store, from: Standpoint<'_>, target: &str) -> Result<Session, EngineError> {
        let is_own = |session: &Session| {
            from.own.is_some_and(|own| own.agent == session.agent && own.external_id == session.external_id)
        };
        match self.resolve_in(store, target) {
            Ok(listed) if is_own(&listed.session) => Err(EngineError::UnknownReference(target.to_owned())),
            Ok(listed) => Ok(listed.session),
            Err(EngineError::AmbiguousReference { reference, mut candidates }) => {
                candidates.retain(|session| !is_own(session));
                let is_near = |session: &&Session| from.project.is_some() && session.project.as_deref() == from.project;
                let near: Vec<&Session> = candidates.iter().filter(is_near).collect();
                match (near.as_slice(), candidates.as_slice()) {
                    ([one], _) => Ok((*one).clone()),
                    (_, [one]) => Ok(one.clone()),
                    _ => Err(EngineError::AmbiguousReference { reference, candidates }),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// What is told of a session, with the answer to a question where one was asked.
    fn referenced(&self, store: &Store, session: Session, question: Option<&str>) -> Result<Referenced, EngineError> {
        let unknown = || EngineError::UnknownReference(session.id.to_string());
        let number = store.session_number(session.id)?.ok_or_else(unknown)?;
        let answer = question.map(|question| self.answer_for_reference(store, &session, question)).transpose()?;
        // Where nothing fits the question, the summary says more.
        let answer = answer.filter(|answer| !(answer.is_extractive && answer.citations.is_empty()));
        let card = self.card_of(store, number, session)?;
        Ok(Referenced {
            id: card.session.id.to_string(),
            name: card.fields.name,
            agent: card.session.agent.to_string(),
            updated_at: card.updated_at,
            description: card.fields.description,
            summary: card.fields.summary,
            tags: card.fields.tags,
            answer: answer.map(|answer| told(&answer)),
        })
    }

    fn candidate(&self, session: &Session) -> String {
        let name = session.name.as_deref().unwrap_or("without a name");
        format!("{} {name} ({}, {})", session.id, session.agent, age(session.last_activity_at, self.now()))
    }
}

/// An answer with what it rests on. Passages cite themselves.
fn told(answer: &Answer) -> String {
    if answer.is_extractive {
        return answer.answer.clone();
    }
    let cited = answer.citations.iter().map(|one| format!("\n- line {}: {}", one.line, one.excerpt));
    format!("{}{}\n(confidence: {})", answer.answer, cited.collect::<String>(), answer.confidence.as_str())
}
