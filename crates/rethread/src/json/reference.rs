//! References in a text, as programs get them.

use rethread_engine::{Candidate as Found, Outcome, Referenced, ResolvedReferences};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::shape::Moment;

/// What the references in a text would bring.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "References")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resolved<'a> {
    schema: u8,
    text: Option<&'a str>,
    references: Vec<Meant<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Reference")]
#[serde(rename_all = "camelCase")]
struct Meant<'a> {
    reference: String,
    outcome: &'static str,
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<Session<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReferencedSession")]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    id: &'a str,
    name: &'a str,
    agent: &'a str,
    #[schemars(with = "Moment")]
    updated_at: Timestamp,
    description: &'a str,
    summary: &'a str,
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReferenceCandidate")]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    id: &'a str,
    about: &'a str,
    name: &'a str,
}

impl<'a> Resolved<'a> {
    pub(crate) fn new(found: &'a ResolvedReferences) -> Self {
        let references = found.outcomes.iter().map(|(reference, outcome)| Meant {
            reference: reference.typed(),
            outcome: outcome.as_str(),
            question: reference.question.as_deref(),
            sessions: if let Outcome::Resolved(told) = outcome {
                told.iter().map(session).collect()
            } else {
                Vec::new()
            },
            candidates: if let Outcome::Ambiguous(found) = outcome {
                found.iter().map(candidate).collect()
            } else {
                Vec::new()
            },
        });
        Self { schema: SCHEMA, text: found.text.as_deref(), references: references.collect() }
    }
}

fn candidate(found: &Found) -> Candidate<'_> {
    Candidate { id: &found.id, about: &found.about, name: &found.name }
}

fn session(told: &Referenced) -> Session<'_> {
    Session {
        id: &told.id,
        name: &told.name,
        agent: &told.agent,
        updated_at: told.updated_at,
        description: &told.description,
        summary: &told.summary,
        tags: &told.tags,
        answer: told.answer.as_deref(),
    }
}
