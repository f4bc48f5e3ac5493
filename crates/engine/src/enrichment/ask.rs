//! Shows one session to the model, piece by piece, and keeps what it says of it.

use rethread_ingest::facts::{command_name, signature, telling_line};
use rethread_llm::{ChatError, JsonShape, Request};
use rethread_model::thread::ChatMessage;
use rethread_model::{Entity, EntityKind, Fact, Predicate, Session};
use rethread_recall::{CitedFact, CitedFacts, FACTS_SYSTEM, FactsPiece, cited_facts, facts_pieces, facts_schema};
use rethread_store::{Enrichment, FactQuery, Store};
use serde_json::Value;

use super::{Asked, Ended, model_key};
use crate::model::Model;
use crate::spending::Books;
use crate::threads::{PlannedCost, marked};
use crate::{Engine, EngineError, NanoUsd};

/// Bytes of a session that are shown at once.
pub(super) const PIECE_BYTES: u64 = 48 * 1024;
/// The smallest piece that is worth asking about.
const SMALLEST_PIECE: u64 = 2_000;
/// Tokens of the longest answer.
const MOST_OUTPUT: u64 = 4_096;
/// Tokens of the instructions and the shape, generously.
pub(super) const INSTRUCTIONS: u64 = 1_500;
/// What a model may say.
const PREDICATES: [Predicate; 5] =
    [Predicate::Decided, Predicate::Prefers, Predicate::Forbids, Predicate::FixedBy, Predicate::NotFixedBy];

impl Engine {
    /// Shows the model what it has not seen of a session. What it says of one piece is kept before the next is shown.
    pub(super) fn ask_about(
        &self,
        store: &Store,
        model: &Model,
        row: &Enrichment,
        session: &Session,
    ) -> Result<Asked, EngineError> {
        let unshown = store.unshown(row.session, row.shown_to)?;
        let books = self.books()?;
        let (cost, shown_to) = (Some(NanoUsd::ZERO), row.shown_to);
        let mut asked = Asked { added: 0, dropped: 0, tokens: 0, cost, shown_to, ended: Ended::Whole };
        for piece in facts_pieces(&unshown.entries, self.piece_bytes(model)) {
            let (found, tokens) = match ask_for_facts(model, &piece, &books) {
                Ok(answered) => answered,
                Err(error) => {
                    asked.ended = Ended::Failed(error);
                    break;
                }
            };
            asked.tokens += tokens;
            let said = found.facts.len() as u64;
            let row = Enrichment { shown_to: Some(piece.last_seq), ..row.clone() };
            let Some(added) = self.keep_facts(&row, session, (model, unshown.telling), found.facts)? else {
                asked.ended = Ended::Retold;
                break;
            };
            asked.added += added;
            asked.dropped += found.dropped + said - added;
            asked.shown_to = row.shown_to;
        }
        asked.cost = books.run_cost();
        Ok(asked)
    }

    /// Requests and the most they would take.
    pub(super) fn planned_enrichment(
        &self,
        store: &Store,
        model: &Model,
        row: &Enrichment,
    ) -> Result<(u64, PlannedCost), EngineError> {
        let unshown = store.unshown(row.session, row.shown_to)?;
        let mut sum = PlannedCost { input_tokens: 0, output_tokens: 0, cost: Some(NanoUsd::ZERO) };
        let pieces = facts_pieces(&unshown.entries, self.piece_bytes(model));
        for piece in &pieces {
            let planned = model.chat.planned(&request(model, piece));
            sum.input_tokens += planned.input_tokens;
            sum.output_tokens += planned.output_tokens;
            sum.cost = sum.cost.zip(planned.cost).map(|(sum, cost)| sum.plus(cost));
        }
        Ok((pieces.len() as u64, sum))
    }

    /// So much that it fits the model's window and what one request may take. Three bytes are a token at the most.
    fn piece_bytes(&self, model: &Model) -> usize {
        let taken = model.max_output_tokens.min(MOST_OUTPUT) + INSTRUCTIONS;
        let room = |tokens: u64| tokens.saturating_sub(taken).saturating_mul(3);
        let a_call = match self.budget().call_tokens {
            0 => u64::MAX,
            tokens => room(tokens),
        };
        PIECE_BYTES.min(room(model.window)).min(a_call).max(SMALLEST_PIECE) as usize
    }

    /// Keeps what is new of these facts, and how far the session was shown; how many. Nothing if the session is gone or
    /// was told anew: then its lines may be others.
    fn keep_facts(
        &self,
        row: &Enrichment,
        session: &Session,
        (model, telling): (&Model, Option<u64>),
        facts: Vec<CitedFact>,
    ) -> Result<Option<u64>, EngineError> {
        let mut store = self.writer()?;
        let query = FactQuery { predicates: &PREDICATES, session: Some(session.id), ..FactQuery::default() };
        let mut known: Vec<Fact> = store.facts(&query)?.into_iter().map(|known| known.fact).collect();
        let mut batch = store.begin()?;
        if telling.is_none() || batch.telling(row.session)? != telling {
            return Ok(None);
        }
        let stretches = batch.stretches(row.session, 0)?;
        let mut added = 0;
        for CitedFact { fact, seq } in facts {
            let Some(fact) = named(fact) else { continue };
            let stretch = stretches.iter().find(|stretch| (stretch.first_seq..=stretch.last_seq).contains(&seq));
            let Some(stretch) = stretch.filter(|_| !known.iter().any(|other| says_the_same(other, &fact))) else {
                continue;
            };
            let facts = std::slice::from_ref(&fact);
            added += batch.put_model_facts(row.session, *stretch, facts, &model_key(model), self.now())?;
            known.push(fact);
        }
        batch.save_enrichment(row)?;
        batch.commit()?;
        Ok(Some(added))
    }
}

/// What the model says of one piece, and the tokens it took.
fn ask_for_facts(model: &Model, piece: &FactsPiece, books: &Books) -> Result<(CitedFacts, u64), ChatError> {
    let schema = facts_schema();
    let shape = JsonShape { name: "session_facts", schema: &schema };
    let mut found = CitedFacts::default();
    let answer = model.chat.complete_checked(&request(model, piece), &shape, books, &mut |value| {
        // Nothing is cut before secrets are taken out.
        found = cited_facts(&without_secrets(value), piece)?;
        Ok(())
    })?;
    Ok((found, answer.usage.total()))
}

fn request(model: &Model, piece: &FactsPiece) -> Request {
    Request {
        system: Some(marked(FACTS_SYSTEM)),
        messages: vec![ChatMessage::user(piece.prompt.clone())],
        tools: Vec::new(),
        max_output_tokens: model.max_output_tokens.min(MOST_OUTPUT),
        purpose: "facts",
    }
}

/// The fact with errors and commands named as rules name them; nothing where the error would be any error.
fn named(fact: Fact) -> Option<Fact> {
    if fact.subject.kind != EntityKind::Error {
        return Some(fact);
    }
    let line = telling_line(&fact.subject.name);
    let subject = Entity::new(EntityKind::Error, signature(line.as_deref().unwrap_or(&fact.subject.name))?);
    let command = fact.object.as_ref().and_then(|object| command_name(&object.name));
    Some(Fact { subject, object: command.map(|name| Entity::new(EntityKind::Command, name)), ..fact })
}

fn says_the_same(one: &Fact, other: &Fact) -> bool {
    let name = |entity: &Entity| (entity.kind, entity.name.to_lowercase());
    one.predicate == other.predicate
        && name(&one.subject) == name(&other.subject)
        && one.object.as_ref().map(name) == other.object.as_ref().map(name)
}

/// What a model was shown has no secrets; what it writes should have none either.
fn without_secrets(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(Engine::without_secrets(text)),
        Value::Array(all) => all.iter().map(without_secrets).collect(),
        Value::Object(all) => all.iter().map(|(name, value)| (name.clone(), without_secrets(value))).collect(),
        other => other.clone(),
    }
}
