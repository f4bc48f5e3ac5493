//! JSON of `rethread ask` and `rethread handoff`.

use rethread_engine::{AnsweredQuestion, AskPlan, Citation, HandoffReport};
use rethread_model::Tokens;
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::TokensJson;
use super::search::SessionNameJson;
use super::thread::PlannedCostJson;
use super::{SCHEMA, dollars};

/// An answer with its citations.
// E001-13 fixes the keys sessionId, sessionName, answerMarkdown, confidence, citations and notes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerJson<'a> {
    schema: u8,
    session_id: String,
    session_name: Option<&'a str>,
    session: SessionNameJson<'a>,
    question: &'a str,
    answer_markdown: &'a str,
    /// `high`, `medium` or `low`.
    confidence: &'static str,
    citations: Vec<CitationJson<'a>>,
    notes: &'a [String],
    /// Whether the answer quotes passages without asking a model.
    extractive: bool,
    model: Option<&'a str>,
    /// Whether the answer was stored by an earlier request.
    cached: bool,
    /// Answers the model needed until one was valid.
    attempts: u32,
    #[schemars(with = "TokensJson")]
    tokens: Tokens,
    /// Null if the price of the model is unknown.
    cost_usd: Option<f64>,
}

/// An entry of the session that supports the answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CitationJson<'a> {
    entry_id: &'a str,
    role: &'static str,
    line: u64,
    excerpt: &'a str,
    citation: String,
}

impl<'a> AnswerJson<'a> {
    pub(crate) fn new(answered: &'a AnsweredQuestion) -> Self {
        let session = &answered.listed.session;
        let cited = |one: &'a Citation| CitationJson {
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
            session: SessionNameJson::new(session),
            question: &answered.question,
            answer_markdown: &answered.answer.answer,
            confidence: answered.answer.confidence.as_str(),
            citations: answered.answer.citations.iter().map(cited).collect(),
            notes: &answered.answer.notes,
            extractive: answered.answer.is_extractive,
            model: answered.model.as_deref(),
            cached: answered.cached,
            attempts: answered.attempts,
            tokens: answered.tokens,
            cost_usd: answered.cost.map(dollars),
        }
    }
}

/// What asking would cost (`--dry-run`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskPlanJson<'a> {
    schema: u8,
    dry_run: bool,
    session: SessionNameJson<'a>,
    model: Option<&'a str>,
    planned: Option<PlannedCostJson>,
    /// Why the budget does not allow it; null if it does.
    refused: Option<&'a str>,
    cached: bool,
    /// Size of the session text that would be sent.
    bytes: u64,
    entries: usize,
    entries_left_out: usize,
}

impl<'a> AskPlanJson<'a> {
    pub(crate) fn new(plan: &'a AskPlan) -> Self {
        Self {
            schema: SCHEMA,
            dry_run: true,
            session: SessionNameJson::new(&plan.listed.session),
            model: plan.model.as_deref(),
            planned: plan.planned.map(PlannedCostJson::new),
            refused: plan.refusal_reason.as_deref(),
            cached: plan.cached,
            bytes: plan.bytes,
            entries: plan.sent_entries,
            entries_left_out: plan.skipped_entries,
        }
    }
}

/// A handoff note in Markdown.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandoffJson<'a> {
    schema: u8,
    session: SessionNameJson<'a>,
    reference: String,
    markdown: &'a str,
}

impl<'a> HandoffJson<'a> {
    pub(crate) fn new(report: &'a HandoffReport) -> Self {
        let session = &report.listed.session;
        Self {
            schema: SCHEMA,
            session: SessionNameJson::new(session),
            reference: format!("@@{}", session.id),
            markdown: &report.text,
        }
    }
}
