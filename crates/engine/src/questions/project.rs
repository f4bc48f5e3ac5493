//! Questions about a whole project: answered by a model from cited evidence, or by the evidence itself.

use std::hash::{DefaultHasher, Hash, Hasher};

use rethread_llm::{AnswerSchema, ChatRequest, NanoUsd};
use rethread_model::{Tokens, is_unsafe_to_display};
use rethread_recall::{
    AnswerItem, AnswerSentence, AnswerTimes, PROJECT_SYSTEM_PROMPT, ProjectAnswer, ProjectEvidence, QuestionShape,
    SentenceSource, answer_from_evidence, project_answer_schema, project_prompt, without_lead,
};
use rethread_store::{PROJECT_QUESTION_MARK, ReadStore, SessionNumber, SessionQuestion, SessionScope};
use serde_json::Value;

use super::{AskError, AskRequest, checked_question, normalize_question};
use crate::awareness::without_secrets;
use crate::models::{ConfiguredModel, own_request};
use crate::{EngineError, PlannedCost, QuestionService};

/// A project question with its answer.
#[derive(Clone, Debug)]
pub struct AnsweredProjectQuestion {
    /// The question, without secrets.
    pub question: String,
    /// The sessions that were asked about.
    pub scope: SessionScope,
    /// The answer; every sentence has its sources.
    pub answer: ProjectAnswer,
    /// The model that wrote it. `None` if no model was used.
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

/// What asking a project question would cost.
#[derive(Clone, Debug)]
pub struct ProjectAskPlan {
    /// The model that would be asked. `None` if none is configured, or if there is no evidence to send.
    pub model: Option<String>,
    /// Upper limit of tokens and cost of one request.
    pub planned: Option<PlannedCost>,
    /// Why the budget does not allow the request, if so.
    pub refusal_reason: Option<String>,
    /// Whether the answer is cached, so that nothing would be sent.
    pub cached: bool,
    /// Bytes of evidence that would be sent.
    pub bytes: u64,
    /// Number of cited sentences that would be sent.
    pub sentences: usize,
}

/// A project question with the evidence for its answer.
struct PreparedProjectQuestion {
    store: Option<ReadStore>,
    question: String,
    shape: QuestionShape,
    found: ProjectEvidence,
    /// The evidence as it is shown without a model.
    evidence: ProjectAnswer,
}

/// Evidence as a model gets it: with days instead of ages, because its answer is kept.
struct ModelEvidence {
    answer: ProjectAnswer,
    /// Under which the answer is cached: the session of the best evidence, its change number, and the question.
    cache_key: Option<(SessionNumber, u64, String)>,
}

impl ModelEvidence {
    fn cache_key(&self) -> Option<SessionQuestion<'_>> {
        let (session, change, question) = self.cache_key.as_ref()?;
        Some(SessionQuestion { session: *session, change: *change, question })
    }

    fn cached_answer(&self, store: Option<&ReadStore>, model: &str) -> Result<Option<ProjectAnswer>, EngineError> {
        let (Some(store), Some(key)) = (store, self.cache_key()) else { return Ok(None) };
        let cached = store.cached_answer(key, Some(model))?;
        let value = cached.and_then(|(_, text)| serde_json::from_str::<Value>(&text).ok());
        Ok(value.and_then(|value| ProjectAnswer::from_model_json(&value, &self.answer).ok()))
    }
}

impl PreparedProjectQuestion {
    fn for_model(&self, scope: &SessionScope) -> Result<ModelEvidence, EngineError> {
        let answer = answer_from_evidence(&self.question, &self.shape, &self.found, AnswerTimes::Days);
        let cache_key = match &self.store {
            Some(store) => cache_key(store, &self.question, scope, &answer)?,
            None => None,
        };
        Ok(ModelEvidence { answer, cache_key })
    }
}

impl QuestionService<'_> {
    /// Answers a question about all sessions of a scope; the request's reference is not used. A model writes the answer
    /// if one is configured, from evidence that is searched first. If nothing is known, no model is asked.
    pub fn ask_project(self, request: &AskRequest, scope: &SessionScope) -> Result<AnsweredProjectQuestion, AskError> {
        let prepared = self.prepare_project(request, scope)?;
        let model = if prepared.evidence.is_empty() { None } else { self.model(request)? };
        let answered = |answer, model, cached| AnsweredProjectQuestion {
            question: prepared.question.clone(),
            scope: scope.clone(),
            answer: sanitize(answer),
            model,
            tokens: Tokens::default(),
            cost: Some(NanoUsd::ZERO),
            attempts: 0,
            cached,
        };
        let Some(model) = model else { return Ok(answered(prepared.evidence.within_one_screen(), None, false)) };
        let name = model.chat.model().to_owned();
        let evidence = prepared.for_model(scope)?;
        if let Some(answer) = evidence.cached_answer(prepared.store.as_ref(), &name)? {
            return Ok(answered(answer, Some(name), true));
        }
        self.count_call(request, || {
            let chat = project_request(&prepared.question, &evidence.answer, &model);
            let ledger = self.engine.models().meter()?;
            let schema = project_answer_schema();
            let shape = AnswerSchema { name: "answer", schema: &schema };
            let check = |value: &Value| ProjectAnswer::from_model_json(value, &evidence.answer).map(|_| ());
            let written = model.chat.complete_checked(&chat, &shape, &ledger, &mut { check })?;
            let answer =
                ProjectAnswer::from_model_json(&written.value, &evidence.answer).map_err(AskError::InvalidOutput)?;
            if let Some(key) = evidence.cache_key() {
                let text = without_secrets(&written.value.to_string());
                let saved = self.engine.writer()?.cache_answer(key, &name, &text, self.engine.now());
                saved.map_err(EngineError::from)?;
            }
            let (tokens, cost, attempts) = (written.usage, ledger.run_cost(), written.attempts);
            Ok(AnsweredProjectQuestion { tokens, cost, attempts, ..answered(answer, Some(name), false) })
        })
    }

    /// What asking a project question would cost. Nothing is sent and nothing is written.
    pub fn plan_project(self, request: &AskRequest, scope: &SessionScope) -> Result<ProjectAskPlan, AskError> {
        let prepared = self.prepare_project(request, scope)?;
        let model = if prepared.evidence.is_empty() { None } else { self.model(request)? };
        let sentences = prepared.evidence.items.iter().map(|item| item.sentences.len()).sum();
        let Some(model) = model else {
            let (model, planned, refusal_reason) = (None, None, None);
            return Ok(ProjectAskPlan { model, planned, refusal_reason, cached: false, bytes: 0, sentences });
        };
        let name = model.chat.model().to_owned();
        let evidence = prepared.for_model(scope)?;
        let cached = evidence.cached_answer(prepared.store.as_ref(), &name)?.is_some();
        let chat = project_request(&prepared.question, &evidence.answer, &model);
        let planned = model.chat.estimate(&chat);
        let refusal_reason = self.engine.models().meter()?.check_budget(&planned).err().map(|error| error.to_string());
        Ok(ProjectAskPlan {
            model: Some(name),
            planned: Some(planned.into()),
            refusal_reason: refusal_reason.filter(|_| !cached),
            cached,
            bytes: project_prompt(&prepared.question, &evidence.answer).len() as u64,
            sentences,
        })
    }

    fn prepare_project(self, request: &AskRequest, scope: &SessionScope) -> Result<PreparedProjectQuestion, AskError> {
        let question = checked_question(request)?;
        let question = without_lead(&question).to_owned();
        let shape = QuestionShape::parse(&question);
        let store = self.engine.reader()?;
        let found = match &store {
            Some(store) => self.project_evidence(store, &question, &shape, scope, request)?,
            None => ProjectEvidence::default(),
        };
        let evidence = answer_from_evidence(&question, &shape, &found, AnswerTimes::Ages(self.engine.now()));
        Ok(PreparedProjectQuestion { store, question, shape, found, evidence })
    }
}

/// The key of an answer: the same question about the same evidence has the same answer.
fn cache_key(
    store: &ReadStore,
    question: &str,
    scope: &SessionScope,
    evidence: &ProjectAnswer,
) -> Result<Option<(SessionNumber, u64, String)>, EngineError> {
    let sources = evidence.items.iter().flat_map(|item| &item.sentences).flat_map(|sentence| &sentence.sources);
    let Some(first) = sources.clone().find_map(SentenceSource::session) else { return Ok(None) };
    let Some(session) = store.session_number(first)? else { return Ok(None) };
    let mut hasher = DefaultHasher::new();
    for sentence in evidence.items.iter().flat_map(|item| &item.sentences) {
        for source in &sentence.sources {
            source.citation().hash(&mut hasher);
        }
        sentence.text.hash(&mut hasher);
    }
    let project = match scope {
        SessionScope::Project(project) => project.as_str(),
        SessionScope::AllProjects => "",
    };
    let hash = hasher.finish();
    let key = format!("{PROJECT_QUESTION_MARK}{project}\n{hash:016x}\n{}", normalize_question(question));
    Ok(Some((session, store.last_change(session)?, key)))
}

fn project_request(question: &str, evidence: &ProjectAnswer, model: &ConfiguredModel) -> ChatRequest {
    let prompt = project_prompt(question, evidence);
    own_request("question", PROJECT_SYSTEM_PROMPT, prompt, model.max_output_tokens.min(model.window / 4).max(1))
}

/// Removes terminal control characters and secrets that a model may have put together again.
fn sanitize(answer: ProjectAnswer) -> ProjectAnswer {
    let clean =
        |text: &str| -> String { without_secrets(text).chars().filter(|c| !is_unsafe_to_display(*c)).collect() };
    let sentence = |one: AnswerSentence| AnswerSentence { text: clean(&one.text), ..one };
    let items = answer
        .items
        .into_iter()
        .map(|item| AnswerItem { sentences: item.sentences.into_iter().map(sentence).collect(), ..item });
    ProjectAnswer { items: items.collect(), notes: answer.notes.iter().map(|note| clean(note)).collect(), ..answer }
}
