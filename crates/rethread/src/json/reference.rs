//! JSON of the `@@` references in a text.

use rethread_engine::{ReferenceCandidate, ReferenceOutcome, ReferencedSession, ResolvedReferences};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::schema::TimestampJson;

/// The references in a text and what they resolve to; `text` is what would be injected.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResolvedReferencesJson<'a> {
    schema: u8,
    text: Option<&'a str>,
    references: Vec<ReferenceJson<'a>>,
}

/// One reference.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReferenceJson<'a> {
    reference: String,
    outcome: &'static str,
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<ReferencedSessionJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<ReferenceCandidateJson<'a>>,
}

/// The card of a referenced session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReferencedSessionJson<'a> {
    id: &'a str,
    name: &'a str,
    agent: &'a str,
    #[schemars(with = "TimestampJson")]
    updated_at: Timestamp,
    description: &'a str,
    summary: &'a str,
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
}

/// A session that an ambiguous or misspelled reference may mean.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReferenceCandidateJson<'a> {
    id: &'a str,
    about: &'a str,
    name: &'a str,
}

impl<'a> ResolvedReferencesJson<'a> {
    pub(crate) fn new(found: &'a ResolvedReferences) -> Self {
        let references = found.outcomes.iter().map(|(reference, outcome)| ReferenceJson {
            reference: reference.as_typed(),
            outcome: outcome.as_str(),
            question: reference.question.as_deref(),
            sessions: if let ReferenceOutcome::Resolved(sessions) = outcome {
                sessions.iter().map(referenced_session).collect()
            } else {
                Vec::new()
            },
            candidates: match outcome {
                ReferenceOutcome::Ambiguous(found) | ReferenceOutcome::NotFound(found) => {
                    found.iter().map(reference_candidate).collect()
                }
                _ => Vec::new(),
            },
        });
        Self { schema: SCHEMA, text: found.text.as_deref(), references: references.collect() }
    }
}

fn reference_candidate(found: &ReferenceCandidate) -> ReferenceCandidateJson<'_> {
    ReferenceCandidateJson { id: &found.id, about: &found.details, name: &found.name }
}

fn referenced_session(referenced: &ReferencedSession) -> ReferencedSessionJson<'_> {
    ReferencedSessionJson {
        id: &referenced.id,
        name: &referenced.name,
        agent: &referenced.agent,
        updated_at: referenced.updated_at,
        description: &referenced.description,
        summary: &referenced.summary,
        tags: &referenced.tags,
        answer: referenced.answer.as_deref(),
    }
}
