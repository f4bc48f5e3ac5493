//! Questions about one session: asks a model with the whole of it, or quotes what fits best.

mod error;
mod handoff;
mod passages;

use std::path::Path;
use std::time::Duration;

use rethread_llm::{ChatLimits, JsonShape, NanoUsd, Request};
use rethread_model::thread::ChatMessage;
use rethread_model::{Entry, OWN_CALL_TAG, Session, Tokens, is_dangerous, one_line};
use rethread_recall::{Answer, Serialised, answer_schema, question_request, serialised};
use rethread_store::{AskedOf, EntryFilter, SessionNumber, Store};
use serde_json::Value;

pub use error::AskError;
pub use handoff::HandedOff;

use crate::model::{Model, ModelError};
use crate::{Engine, EngineError, Listed, PlannedCost};

/// Characters of a question.
const LONGEST_QUESTION: usize = 4_000;
/// No turn asks more often than this, whatever is configured (E001-14).
const MOST_CALLS: u64 = 2;
/// Seconds that are waited for an answer at most.
const LONGEST_WAIT: u64 = 600;
/// Seconds that are waited for a connection at most.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);
/// Tokens of a request that are neither the session nor the answer.
const FRAME_TOKENS: u64 = 1_500;
/// Bytes that are certain to be no more than a token.
const BYTES_PER_TOKEN: u64 = 3;

/// A question about a session.
#[derive(Clone, Debug, Default)]
pub struct AskRequest {
    /// The session.
    pub reference: String,
    /// The question.
    pub question: String,
    /// Another model of the configured provider.
    pub model: Option<String>,
    /// Ask no model, also where one is configured.
    pub without_model: bool,
    /// The turn of an agent in which it is asked: models are asked only so often in one.
    pub turn: Option<String>,
    /// Bytes of the session that a model gets at most, if not those configured.
    pub max_bytes: Option<u64>,
    /// How long an answer is waited for, if not as configured.
    pub timeout: Option<Duration>,
}

/// A question that was answered.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The session.
    pub listed: Listed,
    /// The question, without secrets.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// The model that answered; nothing if none was asked.
    pub model: Option<String>,
    /// Tokens it took now, as far as they were counted.
    pub tokens: Tokens,
    /// What it cost now; nothing if the price is unknown.
    pub cost: Option<NanoUsd>,
    /// How many answers of the model it took.
    pub attempts: u32,
    /// Whether the model had been asked before, and nothing was sent now.
    pub cached: bool,
}

/// What asking would take.
#[derive(Clone, Debug)]
pub struct AskPlan {
    /// The session.
    pub listed: Listed,
    /// The model that would be asked; nothing if none is configured.
    pub model: Option<String>,
    /// The most that one request would take.
    pub planned: Option<PlannedCost>,
    /// Why the budget does not allow it, if it does not.
    pub refused: Option<String>,
    /// Whether the answer is known already, so that nothing would be sent.
    pub cached: bool,
    /// Bytes of the session that would be sent.
    pub bytes: u64,
    /// Entries of it that would be sent.
    pub shown: usize,
    /// Entries at its beginning that would not.
    pub left_out: usize,
}

/// A question with all that is known before anybody is asked.
struct Prepared {
    store: Store,
    listed: Listed,
    number: SessionNumber,
    /// The session's last change when its entries were read. What comes meanwhile is not answered (L001-04).
    change: u64,
    entries: Vec<Entry>,
    question: String,
    /// The same, as answers are kept under it.
    key: String,
}

impl Prepared {
    fn asked(&self) -> AskedOf<'_> {
        AskedOf { session: self.number, change: self.change, question: &self.key }
    }

    fn kept(&self, model: &str) -> Result<Option<Answer>, EngineError> {
        let kept = self.store.kept_answer(self.asked(), Some(model))?;
        // An answer that an older program wrote in another shape is asked for again.
        Ok(kept.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    fn known(self, answer: Answer, model: Option<String>, cached: bool) -> Asked {
        let Self { listed, question, .. } = self;
        let (tokens, cost) = (Tokens::default(), Some(NanoUsd::ZERO));
        Asked { listed, question, answer, model, tokens, cost, attempts: 0, cached }
    }
}

impl Engine {
    /// Answers a question about a session: by a model if one is configured, otherwise by quoting what fits best.
    pub fn ask(&self, request: &AskRequest) -> Result<Asked, AskError> {
        let mut prepared = self.prepared(request)?;
        let Some(model) = self.question_model(request)? else {
            let answer = self.passages(&prepared.store, prepared.number, &prepared.question)?;
            return Ok(prepared.known(answer, None, false));
        };
        let name = model.chat.model().to_owned();
        if let Some(answer) = prepared.kept(&name)? {
            return Ok(prepared.known(answer, Some(name), true));
        }
        if let Some(turn) = &request.turn {
            let most = self.config.number("ask.max_calls_per_turn").min(MOST_CALLS);
            if !prepared.store.count_call(turn, most, self.now()).map_err(EngineError::from)? {
                return Err(AskError::CallLimit { most });
            }
        }
        let asked = self.ask_model(prepared, &model, request);
        if let (Some(turn), Err(error)) = (&request.turn, &asked)
            && error.was_not_sent()
        {
            self.writer()?.uncount_call(turn).map_err(EngineError::from)?;
        }
        asked
    }

    /// What asking would take. Nothing is sent and nothing is written.
    pub fn ask_dry_run(&self, request: &AskRequest) -> Result<AskPlan, AskError> {
        let prepared = self.prepared(request)?;
        let Some(model) = self.question_model(request)? else {
            let (model, planned, refused) = (None, None, None);
            let listed = prepared.listed;
            return Ok(AskPlan { listed, model, planned, refused, cached: false, bytes: 0, shown: 0, left_out: 0 });
        };
        let name = model.chat.model().to_owned();
        let cached = prepared.kept(&name)?.is_some();
        let (question, session) = self.request_for(&prepared, &model, request);
        let planned = model.chat.planned(&question);
        let refused = self.books()?.allow(&planned).err().map(|refusal| refusal.to_string());
        Ok(AskPlan {
            listed: prepared.listed,
            model: Some(name),
            planned: Some(planned.into()),
            refused: refused.filter(|_| !cached),
            cached,
            bytes: session.text.len() as u64,
            shown: session.shown,
            left_out: session.left_out,
        })
    }

    /// An answer for somebody who cannot wait and does not pay: one that a model gave before, otherwise the passages that
    /// fit best. No model is ever asked, and no index is made.
    pub fn answer_for_reference(
        &self,
        store: &Store,
        session: &Session,
        question: &str,
    ) -> Result<Answer, EngineError> {
        let question = Self::without_secrets(question);
        let unknown = || EngineError::UnknownReference(session.id.to_string());
        let number = store.session_number(session.id)?.ok_or_else(unknown)?;
        let key = normalised(&question);
        let asked = AskedOf { session: number, change: store.last_change(number)?, question: &key };
        let kept = store.kept_answer(asked, None)?.and_then(|(_, text)| serde_json::from_str(&text).ok());
        match kept {
            Some(answer) => Ok(answer),
            None => self.passages_at_hand(store, number, &question),
        }
    }

    fn prepared(&self, request: &AskRequest) -> Result<Prepared, AskError> {
        let question = Self::without_secrets(request.question.trim());
        if question.is_empty() {
            return Err(AskError::InvalidArgs("nothing is asked".to_owned()));
        }
        let length = question.chars().count();
        if length > LONGEST_QUESTION {
            let message = format!("a question may have {LONGEST_QUESTION} characters, and this one has {length}");
            return Err(AskError::InvalidArgs(message));
        }
        if request.reference.trim().is_empty() {
            return Err(AskError::InvalidArgs("no session is named".to_owned()));
        }
        let unknown = || EngineError::UnknownReference(request.reference.clone());
        let store = self.reader()?.ok_or_else(unknown)?;
        let listed = self.resolve_in(&store, &request.reference)?;
        let number = store.session_number(listed.session.id).map_err(EngineError::from)?.ok_or_else(unknown)?;
        let change = store.last_change(number).map_err(EngineError::from)?;
        let entries = store.entries(listed.session.id, EntryFilter::default()).map_err(EngineError::from)?;
        if entries.iter().all(|entry| entry.text.trim().is_empty()) {
            return Err(why_empty(&store, &listed.session)?);
        }
        let key = normalised(&question);
        Ok(Prepared { store, listed, number, change, entries, question, key })
    }

    /// The model to ask; nothing where passages are wanted, or no model is configured and none was named.
    fn question_model(&self, request: &AskRequest) -> Result<Option<Model>, AskError> {
        if request.without_model {
            return Ok(None);
        }
        let configured = Duration::from_secs(self.config.number("ask.timeout_seconds").clamp(1, LONGEST_WAIT));
        let whole = request.timeout.unwrap_or(configured);
        // Somebody waits, and can ask again: what the network spoils is not repeated (S001-10).
        let limits = ChatLimits { connect: whole.min(LONGEST_CONNECT), first_byte: whole, whole, retries: 0 };
        match self.model(request.model.as_deref(), limits) {
            Ok(model) => Ok(Some(model)),
            Err(ModelError::NotConfigured) if request.model.is_none() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn ask_model(&self, prepared: Prepared, model: &Model, request: &AskRequest) -> Result<Asked, AskError> {
        let (question, _) = self.request_for(&prepared, model, request);
        let books = self.books()?;
        let schema = answer_schema();
        let shape = JsonShape { name: "answer", schema: &schema };
        let check = |value: &Value| Answer::checked(value, &prepared.entries).map(|_| ());
        let structured = model.chat.complete_checked(&question, &shape, &books, &mut { check })?;
        let answer = Answer::checked(&structured.value, &prepared.entries).map_err(AskError::InvalidOutput)?;
        let answer = harmless(answer);
        let name = model.chat.model().to_owned();
        if let Ok(text) = serde_json::to_string(&answer) {
            let kept = prepared.store.keep_answer(prepared.asked(), &name, &text, self.now());
            kept.map_err(EngineError::from)?;
        }
        let mut asked = prepared.known(answer, Some(name), false);
        (asked.tokens, asked.cost, asked.attempts) = (structured.usage, books.run_cost(), structured.attempts);
        Ok(asked)
    }

    /// The request, and the session as it stands in it.
    fn request_for(&self, prepared: &Prepared, model: &Model, request: &AskRequest) -> (Request, Serialised) {
        let max_output_tokens = model.max_output_tokens.min(model.window / 4).max(1);
        let held = model.window.saturating_sub(max_output_tokens + FRAME_TOKENS).saturating_mul(BYTES_PER_TOKEN);
        let wanted = request.max_bytes.unwrap_or_else(|| self.config.number("ask.max_bytes"));
        let session = serialised(&prepared.entries, wanted.min(held) as usize);
        let about = &prepared.listed.session;
        let name = about.name.as_deref().unwrap_or(&about.external_id);
        let words = question_request(&session, name, &prepared.question);
        let request = Request {
            system: Some(format!("{OWN_CALL_TAG}\n{}", words.system)),
            messages: vec![ChatMessage::user(words.prompt)],
            tools: Vec::new(),
            max_output_tokens,
            purpose: "question",
        };
        (request, session)
    }
}

/// The question as it is kept: however it is spaced, begun with a capital or ended.
fn normalised(question: &str) -> String {
    let line = one_line(question).to_lowercase();
    line.trim_end_matches(|c: char| c.is_whitespace() || "?!.".contains(c)).to_owned()
}

/// Why nothing is known of a session.
fn why_empty(store: &Store, session: &Session) -> Result<AskError, EngineError> {
    let Some(path) = &session.transcript else { return Ok(AskError::Empty) };
    if !Path::new(path).exists() {
        return Ok(AskError::FileMissing { path: path.clone() });
    }
    let problem = store.problems()?.into_iter().find(|problem| problem.path == *path);
    Ok(problem.map_or(AskError::Empty, |problem| AskError::ParseFailed {
        path: path.clone(),
        line: problem.line,
        message: problem.message,
    }))
}

/// What a model said, without secrets it may have made up or repeated, and without anything a terminal would obey.
fn harmless(answer: Answer) -> Answer {
    let clean =
        |text: &str| -> String { Engine::without_secrets(text).chars().filter(|c| !is_dangerous(*c)).collect() };
    Answer { answer: clean(&answer.answer), notes: answer.notes.iter().map(|note| clean(note)).collect(), ..answer }
}
