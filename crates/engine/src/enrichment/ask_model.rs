//! Sends one session to the model chunk by chunk and saves the facts it returns.

use rethread_ingest::facts::{command_name, identifying_line, is_bypass, signature};
use rethread_llm::{AnswerSchema, ChatError, ChatRequest};
use rethread_model::{Entity, EntityKind, Fact, Predicate, Session};
use rethread_recall::{
    CitedFact, CitedFacts, FACTS_SYSTEM_PROMPT, FactPromptChunk, fact_prompt_chunks, facts_schema, parse_cited_facts,
};
use rethread_store::{EnrichmentRow, FactQuery, ReadStore};
use serde_json::Value;

use super::{EnrichmentAttempt, EnrichmentEnd, model_key};
use crate::awareness::without_secrets;
use crate::models::LedgerMeter;
use crate::models::{ConfiguredModel, own_request};
use crate::threads::PlannedCost;
use crate::{EngineError, EnrichmentService, NanoUsd};

/// Maximum bytes of a session per request.
pub(super) const CHUNK_BYTES: u64 = 48 * 1024;
/// Minimum bytes per request.
const MIN_CHUNK_BYTES: u64 = 2_000;
/// Output token limit.
const MAX_OUTPUT_TOKENS: u64 = 4_096;
/// Upper bound on the tokens of instructions and schema.
pub(super) const INSTRUCTION_TOKENS: u64 = 1_500;
/// The predicates a model may use.
const MODEL_PREDICATES: [Predicate; 5] =
    [Predicate::Decided, Predicate::Prefers, Predicate::Forbids, Predicate::FixedBy, Predicate::NotFixedBy];

impl EnrichmentService<'_> {
    /// Sends the entries the model has not seen. The facts of one chunk are saved before the next one is sent.
    pub(super) fn run_session(
        self,
        store: &ReadStore,
        model: &ConfiguredModel,
        row: &EnrichmentRow,
        session: &Session,
    ) -> Result<EnrichmentAttempt, EngineError> {
        let unshown = store.unshown_entries(row.session, row.shown_seq)?;
        let ledger = self.engine.models().meter()?;
        let (cost, shown_to) = (Some(NanoUsd::ZERO), row.shown_seq);
        let mut attempt =
            EnrichmentAttempt { added: 0, dropped: 0, tokens: 0, cost, shown_to, end: EnrichmentEnd::Complete };
        for chunk in fact_prompt_chunks(&unshown.entries, self.chunk_bytes(model)) {
            let (found, tokens) = match ask_for_facts(model, &chunk, &ledger) {
                Ok(answered) => answered,
                Err(error) => {
                    attempt.end = EnrichmentEnd::Failed(error);
                    break;
                }
            };
            attempt.tokens += tokens;
            let returned = found.facts.len() as u64;
            let row = EnrichmentRow { shown_seq: Some(chunk.last_seq), ..row.clone() };
            let Some(added) = self.save_facts(&row, session, (model, unshown.rebuilt_at_change), found.facts)? else {
                attempt.end = EnrichmentEnd::SessionRebuilt;
                break;
            };
            attempt.added += added;
            attempt.dropped += found.dropped + returned - added;
            attempt.shown_to = row.shown_seq;
        }
        attempt.cost = ledger.run_cost();
        Ok(attempt)
    }

    /// Number of requests, and an upper bound on their tokens and cost.
    pub(super) fn plan_session(
        self,
        store: &ReadStore,
        model: &ConfiguredModel,
        row: &EnrichmentRow,
    ) -> Result<(u64, PlannedCost), EngineError> {
        let unshown = store.unshown_entries(row.session, row.shown_seq)?;
        let mut sum = PlannedCost { input_tokens: 0, output_tokens: 0, cost: Some(NanoUsd::ZERO) };
        let pieces = fact_prompt_chunks(&unshown.entries, self.chunk_bytes(model));
        for chunk in &pieces {
            let planned = model.chat.estimate(&facts_request(model, chunk));
            sum.input_tokens += planned.input_tokens;
            sum.output_tokens += planned.output_tokens;
            sum.cost = sum.cost.zip(planned.cost).map(|(sum, cost)| sum.plus(cost));
        }
        Ok((pieces.len() as u64, sum))
    }

    /// Chunk size that fits the context window and the per-request budget. A token is assumed to be at least three
    /// bytes.
    fn chunk_bytes(self, model: &ConfiguredModel) -> usize {
        let reserved = model.max_output_tokens.min(MAX_OUTPUT_TOKENS) + INSTRUCTION_TOKENS;
        let bytes_left = |tokens: u64| tokens.saturating_sub(reserved).saturating_mul(3);
        let a_call = match self.engine.models().budget().call_tokens {
            0 => u64::MAX,
            tokens => bytes_left(tokens),
        };
        CHUNK_BYTES.min(bytes_left(model.window)).min(a_call).max(MIN_CHUNK_BYTES) as usize
    }

    /// Saves new facts and how far the session was shown. Returns how many were added, or `None` if the session is gone
    /// or was rebuilt, so that line numbers may differ.
    fn save_facts(
        self,
        row: &EnrichmentRow,
        session: &Session,
        (model, distinctive): (&ConfiguredModel, Option<u64>),
        facts: Vec<CitedFact>,
    ) -> Result<Option<u64>, EngineError> {
        let mut store = self.engine.writer()?;
        let query = FactQuery { predicates: &MODEL_PREDICATES, session: Some(session.id), ..FactQuery::default() };
        let mut known: Vec<Fact> = store.facts(&query)?.into_iter().map(|known| known.fact).collect();
        let mut batch = store.begin()?;
        if distinctive.is_none() || batch.rebuilt_at_change(row.session)? != distinctive {
            return Ok(None);
        }
        let spans = batch.fact_spans(row.session, 0)?;
        let mut added = 0;
        for CitedFact { fact, seq } in facts {
            let Some(fact) = normalize_names(fact) else { continue };
            let span = spans.iter().find(|span| (span.first_seq..=span.last_seq).contains(&seq));
            let Some(span) = span.filter(|_| !known.iter().any(|other| is_same_fact(other, &fact))) else {
                continue;
            };
            let facts = std::slice::from_ref(&fact);
            added += batch.add_model_facts(row.session, *span, facts, &model_key(model), self.engine.now())?;
            known.push(fact);
        }
        batch.save_enrichment(row)?;
        batch.commit()?;
        Ok(Some(added))
    }
}

/// Facts from one chunk, and the tokens used.
fn ask_for_facts(
    model: &ConfiguredModel,
    chunk: &FactPromptChunk,
    ledger: &LedgerMeter,
) -> Result<(CitedFacts, u64), ChatError> {
    let schema = facts_schema();
    let shape = AnswerSchema { name: "session_facts", schema: &schema };
    let mut found = CitedFacts::default();
    let answer = model.chat.complete_checked(&facts_request(model, chunk), &shape, ledger, &mut |value| {
        // Redact before anything is cut.
        found = parse_cited_facts(&redact_value(value), chunk)?;
        Ok(())
    })?;
    Ok((found, answer.usage.total()))
}

fn facts_request(model: &ConfiguredModel, chunk: &FactPromptChunk) -> ChatRequest {
    let max_output_tokens = model.max_output_tokens.min(MAX_OUTPUT_TOKENS);
    own_request("facts", FACTS_SYSTEM_PROMPT, chunk.prompt.clone(), max_output_tokens)
}

/// Normalizes errors and commands to the names used by rules. `None` if the error is too generic, or if the fix only
/// switches a check off.
fn normalize_names(fact: Fact) -> Option<Fact> {
    if fact.subject.kind != EntityKind::Error {
        return Some(fact);
    }
    let object = fact.object.as_ref().map_or("", |object| object.name.as_str());
    if fact.predicate == Predicate::FixedBy && (is_bypass(&fact.detail) || is_bypass(object)) {
        return None;
    }
    let line = identifying_line(&fact.subject.name);
    let subject = Entity::new(EntityKind::Error, signature(line.as_deref().unwrap_or(&fact.subject.name))?);
    let command = fact.object.as_ref().and_then(|object| command_name(&object.name));
    Some(Fact { subject, object: command.map(|name| Entity::new(EntityKind::Command, name)), ..fact })
}

fn is_same_fact(one: &Fact, other: &Fact) -> bool {
    let name = |entity: &Entity| (entity.kind, entity.name.to_lowercase());
    one.predicate == other.predicate
        && name(&one.subject) == name(&other.subject)
        && one.object.as_ref().map(name) == other.object.as_ref().map(name)
}

/// The model was shown no secrets, but redact its answer as well.
fn redact_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_secrets(text)),
        Value::Array(all) => all.iter().map(redact_value).collect(),
        Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), redact_value(value))).collect(),
        other => other.clone(),
    }
}
