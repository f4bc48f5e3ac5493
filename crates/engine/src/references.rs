//! `@@session` in a prompt: which sessions are meant, and what is told of them.
//!
//! A prompt may hold `@@` without meaning anybody: a variable, a diff. So a reference must be a name as it is, or an id;
//! parts of a name are enough only among the sessions of the same project, and only if it is plainly meant as a name.

use rethread_model::{Session, SessionKind};
use rethread_recall::{
    Answer, Candidate, MOST_REFERENCES, Outcome, REFERENCE_BYTES, Reference, Referenced, age, reference_block,
    references,
};
use rethread_store::{Scope, SessionKey, Store};

use crate::sessions::slug;
use crate::{Engine, EngineError};

/// The shortest beginning of an id that is looked up.
const SHORTEST_PREFIX: usize = 4;
/// The shortest word of a name that counts as a part of it.
const SHORTEST_WORD: usize = 3;

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
        self.resolve_references_from(text, &self.current_project())
    }

    /// What the references in a text would bring to a session of a project; to one of none, only ids and whole names
    /// mean somebody.
    pub fn resolve_references_from(&self, text: &str, scope: &Scope) -> Result<ResolvedReferences, EngineError> {
        let project = match scope {
            Scope::Project(project) => Some(project.as_str()),
            Scope::AllProjects => None,
        };
        let outcomes = match self.reader()? {
            Some(store) => self.outcomes(&store, Standpoint { own: None, project }, text),
            None => references(text).into_iter().map(|reference| (reference, Outcome::NotFound)).collect(),
        };
        Ok(ResolvedReferences { text: reference_block(&outcomes, REFERENCE_BYTES), outcomes })
    }

    /// What became of each reference in a text. A bad one hides no other, and fails nothing.
    pub(crate) fn outcomes(&self, store: &Store, from: Standpoint<'_>, text: &str) -> Vec<(Reference, Outcome)> {
        let mut outcomes: Vec<(Reference, Outcome)> = Vec::new();
        for (at, reference) in references(text).into_iter().enumerate() {
            let outcome = if at < MOST_REFERENCES { self.outcome(store, from, &reference) } else { Outcome::OverLimit };
            // Two names of one session are one reference.
            let is_known = |(known, other): &(Reference, Outcome)| {
                matches!((other, &outcome), (Outcome::Resolved(a), Outcome::Resolved(b)) if a[0].id == b[0].id)
                    && known.question == reference.question
            };
            if !outcomes.iter().any(is_known) {
                outcomes.push((reference, outcome));
            }
        }
        outcomes
    }

    fn outcome(&self, store: &Store, from: Standpoint<'_>, reference: &Reference) -> Outcome {
        let resolved = meant(store, from, reference).and_then(|meant| {
            let session = match meant {
                Meant::One(session) => *session,
                Meant::Itself => return Ok(Outcome::Invalid("that is this session".to_owned())),
                Meant::Several(sessions) => {
                    return Ok(Outcome::Ambiguous(sessions.iter().map(|session| self.candidate(session)).collect()));
                }
                Meant::Nobody => return Ok(Outcome::NotFound),
            };
            let mut told = vec![self.referenced(store, session.clone(), reference.question.as_deref())?];
            let mut at = session;
            for _ in 0..reference.ancestors {
                let Some(parent) = at.parent else { break };
                let Some(session) = store.sessions_by_exact_reference(&parent.to_string())?.pop() else { break };
                at = session;
                told.push(self.referenced(store, at.clone(), None)?);
            }
            Ok(Outcome::Resolved(told))
        });
        resolved.unwrap_or_else(|error| {
            self.note_trouble("reference", &error);
            Outcome::Invalid("it could not be looked up".to_owned())
        })
    }

    /// What is told of a session, with the answer to a question where one was asked.
    fn referenced(&self, store: &Store, session: Session, question: Option<&str>) -> Result<Referenced, EngineError> {
        let unknown = || EngineError::UnknownReference(session.id.to_string());
        let number = store.session_number(session.id)?.ok_or_else(unknown)?;
        let answer = question.map(|question| self.answer_for_reference(store, &session, question)).transpose()?;
        // Where nothing fits the question, the summary says more.
        let answer = answer.filter(|answer| !(answer.is_extractive && answer.citations.is_empty()));
        let card = self.card_of(store, number, session)?;
        if let Some(path) = &card.damaged {
            self.note("card_damaged", None, &[("path", path.display().to_string().into())]);
        }
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

    fn candidate(&self, session: &Session) -> Candidate {
        Candidate {
            id: session.id.to_string(),
            about: format!("{}, {}", session.agent, age(session.last_activity_at, self.now())),
            name: session.name.clone().unwrap_or_else(|| "without a name".to_owned()),
        }
    }
}

/// Who is meant by a reference.
enum Meant {
    One(Box<Session>),
    Several(Vec<Session>),
    /// The session that refers.
    Itself,
    Nobody,
}

fn meant(store: &Store, from: Standpoint<'_>, reference: &Reference) -> Result<Meant, EngineError> {
    let mut found = by_id(store, &reference.target)?;
    if found.is_empty() {
        found = by_name(store, from, reference)?;
    }
    let is_own = |session: &Session| {
        from.own.is_some_and(|own| own.agent == session.agent && own.external_id == session.external_id)
    };
    let is_itself = found.iter().any(is_own);
    found.retain(|session| !is_own(session));
    let near: Vec<&Session> =
        found.iter().filter(|session| from.project.is_some() && session.project.as_deref() == from.project).collect();
    Ok(match (near.as_slice(), found.as_slice()) {
        ([one], _) => Meant::One(Box::new((*one).clone())),
        (_, [one]) => Meant::One(Box::new(one.clone())),
        (_, []) if is_itself => Meant::Itself,
        (_, []) => Meant::Nobody,
        _ => Meant::Several(found),
    })
}

/// Sessions by id, alias, or the beginning of an id; one without a digit is a word.
fn by_id(store: &Store, target: &str) -> Result<Vec<Session>, EngineError> {
    let mut found = store.sessions_by_exact_reference(target)?;
    let is_prefix = target.len() >= SHORTEST_PREFIX
        && target.bytes().any(|byte| byte.is_ascii_digit())
        && target.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if found.is_empty() && is_prefix {
        found = store.sessions_by_id_prefix(target)?;
    }
    // The ids of sub-agents begin with that of their parent, which is the one that is meant.
    if found.iter().filter(|session| session.kind == SessionKind::Main).count() == 1 {
        found.retain(|session| session.kind == SessionKind::Main);
    }
    Ok(found)
}

/// Sessions by their name or the one a model gave them; by parts of it in the same project.
fn by_name(store: &Store, from: Standpoint<'_>, reference: &Reference) -> Result<Vec<Session>, EngineError> {
    let wanted = slug(&reference.target);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let names = store.session_names()?;
    let mut found = Vec::new();
    for (number, _) in names.iter().filter(|(_, name)| slug(name) == wanted) {
        found.extend(store.session_by_number(*number)?);
    }
    if found.is_empty() {
        for (id, _) in store.card_names()?.iter().filter(|(_, name)| slug(name) == wanted) {
            found.extend(store.sessions_by_exact_reference(&id.to_string())?);
        }
    }
    let words: Vec<&str> = wanted.split('-').collect();
    let is_name = reference.is_quoted || words.len() > 1;
    if found.is_empty()
        && from.project.is_some()
        && is_name
        && words.iter().any(|word| word.chars().count() >= SHORTEST_WORD)
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

/// An answer with what it rests on and what its notes say. Passages cite themselves.
fn told(answer: &Answer) -> String {
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
