//! JSON of `rethread ask` and `rethread handoff`.

use rethread_engine::{
    AnswerItem, AnswerSentence, AnsweredProjectQuestion, AnsweredQuestion, AskPlan, Citation, HandoffReport,
    ProjectAskPlan, SentenceSource, SessionScope, SourcePlace,
};
use rethread_model::{Timestamp, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

use super::schema::{TimestampJson, TokensJson};
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

/// An answer about a project. Every sentence has its sources.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectAnswerJson<'a> {
    schema: u8,
    question: &'a str,
    /// Null if all projects were asked.
    project: Option<&'a str>,
    /// Empty if nothing is known.
    answer_markdown: String,
    /// `high`, `medium` or `low`.
    confidence: &'static str,
    /// Best first.
    items: Vec<AnswerItemJson<'a>>,
    notes: &'a [String],
    /// Whether the answer was put together without a model.
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

/// What one memory knows about the question.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnswerItemJson<'a> {
    /// `fix`, `decision`, `preference`, `cause`, `requirement`, `file`, `event`, `session` or `passage`.
    memory: &'static str,
    /// How well it fits the question; comparable only within one answer.
    score: f64,
    sentences: Vec<AnswerSentenceJson<'a>>,
}

/// A sentence of an answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnswerSentenceJson<'a> {
    text: &'a str,
    sources: Vec<SentenceSourceJson<'a>>,
}

/// The line that a sentence relies on.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SentenceSourceJson<'a> {
    /// `SESSION:LINE`, as accepted by `show`, or `FILE:LINE`.
    citation: String,
    /// Null for a rule in a file.
    session_id: Option<String>,
    session_name: Option<&'a str>,
    /// The file of a rule for agents, relative to the project, or to the home directory with `~/`; null for a session.
    file: Option<&'a str>,
    line: u64,
    #[schemars(with = "Option<TimestampJson>")]
    at: Option<Timestamp>,
}

impl<'a> ProjectAnswerJson<'a> {
    pub(crate) fn new(answered: &'a AnsweredProjectQuestion) -> Self {
        let answer = &answered.answer;
        Self {
            schema: SCHEMA,
            question: &answered.question,
            project: match &answered.scope {
                SessionScope::Project(project) => Some(project),
                SessionScope::AllProjects => None,
            },
            answer_markdown: answer.to_markdown(),
            confidence: answer.confidence.as_str(),
            items: answer.items.iter().map(AnswerItemJson::new).collect(),
            notes: &answer.notes,
            extractive: answered.model.is_none(),
            model: answered.model.as_deref(),
            cached: answered.cached,
            attempts: answered.attempts,
            tokens: answered.tokens,
            cost_usd: answered.cost.map(dollars),
        }
    }
}

impl<'a> AnswerItemJson<'a> {
    fn new(item: &'a AnswerItem) -> Self {
        let source = |source: &'a SentenceSource| SentenceSourceJson {
            citation: source.citation(),
            session_id: source.session().map(|id| id.to_string()),
            session_name: match &source.place {
                SourcePlace::Session { name, .. } => name.as_deref(),
                SourcePlace::RuleFile { .. } => None,
            },
            file: match &source.place {
                SourcePlace::Session { .. } => None,
                SourcePlace::RuleFile { path } => Some(path),
            },
            line: source.line,
            at: source.at,
        };
        let sentence = |sentence: &'a AnswerSentence| AnswerSentenceJson {
            text: &sentence.text,
            sources: sentence.sources.iter().map(source).collect(),
        };
        Self {
            memory: item.memory.as_str(),
            score: (f64::from(item.score) * 1000.0).round() / 1000.0,
            sentences: item.sentences.iter().map(sentence).collect(),
        }
    }
}

/// What asking about a project would cost (`--dry-run`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectAskPlanJson<'a> {
    schema: u8,
    dry_run: bool,
    /// Null if none is configured, or if there is nothing to send.
    model: Option<&'a str>,
    planned: Option<PlannedCostJson>,
    /// Why the budget does not allow it; null if it does.
    refused: Option<&'a str>,
    cached: bool,
    /// Size of the evidence that would be sent.
    bytes: u64,
    /// Sentences of evidence.
    sentences: usize,
}

impl<'a> ProjectAskPlanJson<'a> {
    pub(crate) fn new(plan: &'a ProjectAskPlan) -> Self {
        Self {
            schema: SCHEMA,
            dry_run: true,
            model: plan.model.as_deref(),
            planned: plan.planned.map(PlannedCostJson::new),
            refused: plan.refusal_reason.as_deref(),
            cached: plan.cached,
            bytes: plan.bytes,
            sentences: plan.sentences,
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
