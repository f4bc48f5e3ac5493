//! Answers about sessions and handoffs, as programs get them.

use rethread_engine::{AskPlan, Asked, Citation, HandedOff as Made};
use rethread_model::Tokens;
use schemars::JsonSchema;
use serde::Serialize;

use super::search::Named;
use super::shape::TokensShape;
use super::thread::Planned;
use super::{SCHEMA, dollars};

/// An answer, with what it rests on (E001-13).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered<'a> {
    schema: u8,
    session_id: String,
    session_name: Option<&'a str>,
    session: Named<'a>,
    question: &'a str,
    answer_markdown: &'a str,
    confidence: &'static str,
    citations: Vec<Cited<'a>>,
    notes: &'a [String],
    extractive: bool,
    model: Option<&'a str>,
    cached: bool,
    attempts: u32,
    #[schemars(with = "TokensShape")]
    tokens: Tokens,
    cost_usd: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Citation")]
#[serde(rename_all = "camelCase")]
struct Cited<'a> {
    entry_id: &'a str,
    role: &'static str,
    line: u64,
    excerpt: &'a str,
    citation: String,
}

impl<'a> Answered<'a> {
    pub(crate) fn new(asked: &'a Asked) -> Self {
        let session = &asked.listed.session;
        let cited = |one: &'a Citation| Cited {
            entry_id: &one.entry,
            role: one.role.as_str(),
            line: one.line,
            excerpt: &one.excerpt,
            citation: session.citation(one.line),
        };
        Self {
            schema: SCHEMA,
            session_id: session.id.to_string(),
            session_name: session.name.as_deref(),
            session: Named::new(session),
            question: &asked.question,
            answer_markdown: &asked.answer.answer,
            confidence: asked.answer.confidence.as_str(),
            citations: asked.answer.citations.iter().map(cited).collect(),
            notes: &asked.answer.notes,
            extractive: asked.answer.is_extractive,
            model: asked.model.as_deref(),
            cached: asked.cached,
            attempts: asked.attempts,
            tokens: asked.tokens,
            cost_usd: asked.cost.map(dollars),
        }
    }
}

/// What asking would take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AskPlan")]
#[serde(rename_all = "camelCase")]
pub(crate) struct WouldAsk<'a> {
    schema: u8,
    dry_run: bool,
    session: Named<'a>,
    model: Option<&'a str>,
    planned: Option<Planned>,
    refused: Option<&'a str>,
    cached: bool,
    bytes: u64,
    entries: usize,
    entries_left_out: usize,
}

impl<'a> WouldAsk<'a> {
    pub(crate) fn new(plan: &'a AskPlan) -> Self {
        Self {
            schema: SCHEMA,
            dry_run: true,
            session: Named::new(&plan.listed.session),
            model: plan.model.as_deref(),
            planned: plan.planned.map(Planned::new),
            refused: plan.refused.as_deref(),
            cached: plan.cached,
            bytes: plan.bytes,
            entries: plan.shown,
            entries_left_out: plan.left_out,
        }
    }
}

/// A handoff.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Handoff")]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandedOff<'a> {
    schema: u8,
    session: Named<'a>,
    reference: String,
    markdown: &'a str,
}

impl<'a> HandedOff<'a> {
    pub(crate) fn new(made: &'a Made) -> Self {
        let session = &made.listed.session;
        Self {
            schema: SCHEMA,
            session: Named::new(session),
            reference: format!("@@{}", session.id),
            markdown: &made.text,
        }
    }
}
