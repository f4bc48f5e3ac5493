//! Questions about one session or a whole project: answered by a model, or by quoting what matches.

mod error;
mod handoff;
mod passages;
mod project;
mod project_evidence;
mod prompt_answer;
mod references;

use std::path::Path;
use std::time::Duration;

use rethread_llm::{AnswerSchema, ChatLimits, ChatRequest, NanoUsd};
use rethread_model::{Agent, Entry, Session, Tokens, is_unsafe_to_display, one_line};
use rethread_recall::{CitedAnswer, SerializedSession, answer_schema, question_prompt, serialize_session};
use rethread_store::{EntryFilter, ReadStore, SessionNumber, SessionQuestion};
use serde_json::Value;

pub use error::AskError;
pub use handoff::HandoffReport;
pub use project::{AnsweredProjectQuestion, ProjectAskPlan};
pub(crate) use prompt_answer::PromptQuestion;

use crate::awareness::without_secrets;
use crate::models::{ConfiguredModel, ModelError, own_request};
use crate::sessions::number_of;
use crate::{AskingSession, EngineError, ListedSession, PlannedCost, QuestionService};

pub use references::ResolvedReferences;

/// Maximum length of a question, in characters.
const MAX_QUESTION_CHARS: usize = 4_000;
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Tokens of a request beside the session and the answer.
const PROMPT_OVERHEAD_TOKENS: u64 = 1_500;
/// Conservative estimate: a token has at least this many bytes.
const BYTES_PER_TOKEN: u64 = 3;

/// A question about a session.
#[derive(Clone, Debug, Default)]
pub struct AskRequest {
    /// A reference to the session.
    pub reference: String,
    /// The question, at most 4,000 characters.
    pub question: String,
    /// Another model of the configured provider.
    pub model: Option<String>,
    /// Do not use a model, even if one is configured.
    pub skip_model: bool,
    /// The session that asks, if known. Names that it was shown mean those sessions, and its project comes first.
    pub asker: Option<AskingSession>,
    /// The agent's turn in which the question is asked. Model calls per turn are limited.
    pub turn: Option<String>,
    /// Bytes of the session sent to the model at most. `None` uses the configuration.
    pub max_bytes: Option<u64>,
    /// How long to wait for an answer. `None` uses the configuration.
    pub timeout: Option<Duration>,
    /// Search the index as it is, without bringing it up to date or calling a service. For questions about a project.
    pub is_read_only: bool,
}

/// A question with its answer.
#[derive(Clone, Debug)]
pub struct AnsweredQuestion {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The question, without secrets.
    pub question: String,
    /// The answer with its citations.
    pub answer: CitedAnswer,
    /// The model that answered. `None` if no model was used.
    pub model: Option<String>,
    /// Tokens used by this call, as far as counted. Zero for a cached answer.
    pub tokens: Tokens,
    /// Cost of this call. `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
    /// Number of requests needed until the model's answer was valid.
    pub attempts: u32,
    /// Whether the answer comes from the cache, so that nothing was sent.
    pub cached: bool,
}

/// What asking a question would cost.
#[derive(Clone, Debug)]
pub struct AskPlan {
    /// The session and its current state.
    pub listed: ListedSession,
    /// The model that would be asked. `None` if none is configured.
    pub model: Option<String>,
    /// Upper limit of tokens and cost of one request.
    pub planned: Option<PlannedCost>,
    /// Why the budget does not allow the request, if so.
    pub refusal_reason: Option<String>,
    /// Whether the answer is cached, so that nothing would be sent.
    pub cached: bool,
    /// Bytes of the session that would be sent.
    pub bytes: u64,
    /// Entries that would be sent.
    pub sent_entries: usize,
    /// Entries at the beginning of the session that would not be sent.
    pub skipped_entries: usize,
}

/// A question with everything needed before a model is asked.
struct PreparedQuestion {
    store: ReadStore,
    listed: ListedSession,
    number: SessionNumber,
    /// The session's change number when its entries were read. Later entries are not part of the answer (L001-04).
    change: u64,
    entries: Vec<Entry>,
    question: String,
    /// The normalized question, under which answers are cached.
    key: String,
}

impl PreparedQuestion {
    fn cache_key(&self) -> SessionQuestion<'_> {
        SessionQuestion { session: self.number, change: self.change, question: &self.key }
    }

    fn cached_answer(&self, model: &str) -> Result<Option<CitedAnswer>, EngineError> {
        let cached = self.store.cached_answer(self.cache_key(), Some(model))?;
        // An answer written by an older version in another format counts as not cached.
        Ok(cached.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    fn into_answered(self, answer: CitedAnswer, model: Option<String>, cached: bool) -> AnsweredQuestion {
        let Self { listed, question, .. } = self;
        let (tokens, cost) = (Tokens::default(), Some(NanoUsd::ZERO));
        AnsweredQuestion { listed, question, answer, model, tokens, cost, attempts: 0, cached }
    }
}

impl QuestionService<'_> {
    /// Answers a question about a session: by a model if one is configured, otherwise by quoting matching passages.
    pub fn ask(self, request: &AskRequest) -> Result<AnsweredQuestion, AskError> {
        let prepared = self.prepare(request)?;
        let Some(model) = self.model(request)? else {
            let answer = self.passages(&prepared.store, prepared.number, &prepared.question)?;
            return Ok(prepared.into_answered(answer, None, false));
        };
        let name = model.chat.model().to_owned();
        if let Some(answer) = prepared.cached_answer(&name)? {
            return Ok(prepared.into_answered(answer, Some(name), true));
        }
        self.count_call(request, || self.ask_model(prepared, &model, request))
    }

    /// Counts a model call against the limit of its turn, unless it was not sent.
    fn count_call<T>(self, request: &AskRequest, call: impl FnOnce() -> Result<T, AskError>) -> Result<T, AskError> {
        let Some(turn) = &request.turn else { return call() };
        let max_count = self.engine.settings().ask.max_calls_per_turn;
        if !self.engine.writer()?.count_model_call(turn, max_count, self.engine.now()).map_err(EngineError::from)? {
            return Err(AskError::CallLimit { limit: max_count });
        }
        let result = call();
        if result.as_ref().is_err_and(AskError::was_not_sent) {
            self.engine.writer()?.uncount_model_call(turn).map_err(EngineError::from)?;
        }
        result
    }

    /// What asking would cost. Nothing is sent and nothing is written.
    pub fn plan(self, request: &AskRequest) -> Result<AskPlan, AskError> {
        let prepared = self.prepare(request)?;
        let Some(model) = self.model(request)? else {
            let (model, planned, refusal_reason) = (None, None, None);
            let listed = prepared.listed;
            return Ok(AskPlan {
                listed,
                model,
                planned,
                refusal_reason,
                cached: false,
                bytes: 0,
                sent_entries: 0,
                skipped_entries: 0,
            });
        };
        let name = model.chat.model().to_owned();
        let cached = prepared.cached_answer(&name)?.is_some();
        let (question, session) = self.request_for(&prepared, &model, request);
        let planned = model.chat.estimate(&question);
        let refusal_reason = self.engine.models().meter()?.check_budget(&planned).err().map(|error| error.to_string());
        Ok(AskPlan {
            listed: prepared.listed,
            model: Some(name),
            planned: Some(planned.into()),
            refusal_reason: refusal_reason.filter(|_| !cached),
            cached,
            bytes: session.text.len() as u64,
            sent_entries: session.shown,
            skipped_entries: session.left_out,
        })
    }

    /// A quick answer without cost: a cached one, otherwise matching passages. Never asks a model and never builds an
    /// index.
    pub fn answer_for_reference(
        self,
        store: &ReadStore,
        number: SessionNumber,
        question: &str,
    ) -> Result<CitedAnswer, EngineError> {
        let question = without_secrets(question);
        let key = normalize_question(&question);
        let cache_key = SessionQuestion { session: number, change: store.last_change(number)?, question: &key };
        let cached = store.cached_answer(cache_key, None)?.and_then(|(_, text)| serde_json::from_str(&text).ok());
        match cached {
            Some(answer) => Ok(answer),
            None => self.quick_passages(store, number, &question),
        }
    }

    fn prepare(self, request: &AskRequest) -> Result<PreparedQuestion, AskError> {
        let question = checked_question(request)?;
        if request.reference.trim().is_empty() {
            return Err(AskError::InvalidArgs("the session reference is empty".to_owned()));
        }
        let store = self.engine.reader_for(&request.reference)?;
        let listed = match &request.asker {
            Some(asker) => self.engine.sessions().resolve_for(&store, &request.reference, asker)?,
            None => self.engine.sessions().resolve_in(&store, &request.reference)?,
        };
        let number = number_of(&store, listed.session.id)?;
        let change = store.last_change(number).map_err(EngineError::from)?;
        let entries = store.entries(listed.session.id, EntryFilter::default()).map_err(EngineError::from)?;
        if entries.iter().all(|entry| entry.text.trim().is_empty()) {
            let is_in_database = listed.session.agent == Agent::Native && self.engine.thread_store().is_in_database();
            return Err(empty_session_error(&store, &listed.session, is_in_database)?);
        }
        let key = normalize_question(&question);
        Ok(PreparedQuestion { store, listed, number, change, entries, question, key })
    }

    /// The model to ask. `None` if the caller wants none, or if none is configured and none was requested.
    fn model(self, request: &AskRequest) -> Result<Option<ConfiguredModel>, AskError> {
        if request.skip_model {
            return Ok(None);
        }
        let configured = Duration::from_secs(self.engine.settings().ask.timeout_seconds);
        let whole = request.timeout.unwrap_or(configured);
        // The caller waits and can ask again, so network errors are not retried (S001-10).
        let limits = ChatLimits { connect: whole.min(MAX_CONNECT_TIME), idle: whole, total: whole, retries: 0 };
        match self.engine.models().configured(request.model.as_deref(), limits) {
            Ok(model) => Ok(Some(model)),
            Err(ModelError::NotConfigured) if request.model.is_none() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn ask_model(
        self,
        prepared: PreparedQuestion,
        model: &ConfiguredModel,
        request: &AskRequest,
    ) -> Result<AnsweredQuestion, AskError> {
        let (question, _) = self.request_for(&prepared, model, request);
        let ledger = self.engine.models().meter()?;
        let schema = answer_schema();
        let shape = AnswerSchema { name: "answer", schema: &schema };
        let check = |value: &Value| CitedAnswer::from_model_json(value, &prepared.entries).map(|_| ());
        let structured = model.chat.complete_checked(&question, &shape, &ledger, &mut { check })?;
        let answer =
            CitedAnswer::from_model_json(&structured.value, &prepared.entries).map_err(AskError::InvalidOutput)?;
        let answer = sanitize_answer(answer);
        let name = model.chat.model().to_owned();
        if let Ok(text) = serde_json::to_string(&answer) {
            let saved = self.engine.writer()?.cache_answer(prepared.cache_key(), &name, &text, self.engine.now());
            saved.map_err(EngineError::from)?;
        }
        let mut answered = prepared.into_answered(answer, Some(name), false);
        (answered.tokens, answered.cost, answered.attempts) =
            (structured.usage, ledger.run_cost(), structured.attempts);
        Ok(answered)
    }

    /// The request, and the part of the session it contains.
    fn request_for(
        self,
        prepared: &PreparedQuestion,
        model: &ConfiguredModel,
        request: &AskRequest,
    ) -> (ChatRequest, SerializedSession) {
        let max_output_tokens = model.max_output_tokens.min(model.window / 4).max(1);
        let held =
            model.window.saturating_sub(max_output_tokens + PROMPT_OVERHEAD_TOKENS).saturating_mul(BYTES_PER_TOKEN);
        let max_bytes = request.max_bytes.unwrap_or_else(|| self.engine.settings().ask.max_bytes);
        let session = serialize_session(&prepared.entries, max_bytes.min(held) as usize);
        let about = &prepared.listed.session;
        let name = about.name.as_deref().unwrap_or(&about.external_id);
        let words = question_prompt(&session, name, &prepared.question);
        (own_request("question", &words.system, words.prompt, max_output_tokens), session)
    }
}

/// The question without secrets, if it is neither empty nor too long.
fn checked_question(request: &AskRequest) -> Result<String, AskError> {
    let question = without_secrets(request.question.trim());
    if question.is_empty() {
        return Err(AskError::InvalidArgs("the question is empty".to_owned()));
    }
    let length = question.chars().count();
    if length > MAX_QUESTION_CHARS {
        let message = format!("the question has {length} characters; at most {MAX_QUESTION_CHARS} are allowed");
        return Err(AskError::InvalidArgs(message));
    }
    Ok(question)
}

/// The cache key of a question: without differences in spacing, case and closing punctuation.
fn normalize_question(question: &str) -> String {
    let line = one_line(question).to_lowercase();
    line.trim_end_matches(|c: char| c.is_whitespace() || "?!.".contains(c)).to_owned()
}

/// Why a session has no messages. A thread in a database has no file.
fn empty_session_error(store: &ReadStore, session: &Session, is_in_database: bool) -> Result<AskError, EngineError> {
    let Some(path) = &session.transcript else { return Ok(AskError::SessionEmpty) };
    if !is_in_database && !Path::new(path).exists() {
        return Ok(AskError::FileMissing { path: path.clone() });
    }
    let problem = store.transcript_problems()?.into_iter().find(|problem| problem.path == *path);
    Ok(problem.map_or(AskError::SessionEmpty, |problem| AskError::ParseFailed {
        path: path.clone(),
        line: problem.line,
        message: problem.message,
    }))
}

/// Removes secrets and terminal control characters from a model's answer.
fn sanitize_answer(answer: CitedAnswer) -> CitedAnswer {
    let clean =
        |text: &str| -> String { without_secrets(text).chars().filter(|c| !is_unsafe_to_display(*c)).collect() };
    CitedAnswer {
        answer: clean(&answer.answer),
        notes: answer.notes.iter().map(|note| clean(note)).collect(),
        ..answer
    }
}
