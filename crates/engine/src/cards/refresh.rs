//! Has a model write a session's card: one process at a time, only with enough new prompts, within the budget.

use std::fs::File;

use rethread_llm::{AnswerSchema, BudgetRefusal, ChatError, ChatRequest, NanoUsd};
use rethread_model::{Entry, Session, Tokens};
use rethread_recall::{CARD_SYSTEM_PROMPT, CardFields, card_prompt, card_schema, parse_card_fields};
use rethread_store::{CardRow, ReadStore, SessionKey, SessionNumber};
use serde_json::{Value, json};

use super::{SessionCard, export, fields_to_json};
use crate::awareness::without_secrets;
use crate::models::{ConfiguredModel, ModelError, own_request};
use crate::threads::PlannedCost;
use crate::{CardService, EngineError, home, naming};

/// Output token limit: the longest card plus JSON overhead.
const MAX_OUTPUT_TOKENS: u64 = 4_096;

/// The result of a card refresh.
#[derive(Debug)]
pub struct CardRefresh {
    /// The card after the refresh; unchanged unless a model wrote a new one.
    pub card: SessionCard,
    /// Whether a new card was written, and if not, why.
    pub outcome: CardRefreshOutcome,
    /// What the model calls cost; `None` if the price is unknown.
    pub cost: Option<NanoUsd>,
}

/// Whether a new card was written, and if not, why.
#[derive(Debug)]
pub enum CardRefreshOutcome {
    /// A model wrote a new card.
    Written {
        /// Number of model answers needed, 1 to 3.
        attempts: u32,
    },
    /// Not enough new prompts since the last card.
    NotDue {
        /// Prompts since the last card.
        new_prompts: u64,
        /// Prompts needed, from `cards.min_new_user_messages`.
        needed_prompts: u64,
    },
    /// Another process is writing this card.
    Busy,
    /// Cards are disabled or misconfigured, with the reason.
    Disabled(String),
    /// No usable model.
    NoModel(ModelError),
    /// The budget does not allow it.
    OverBudget(BudgetRefusal),
    /// The model gave three invalid answers; the reason for the last.
    InvalidAnswer(String),
    /// The request failed. It is not retried automatically.
    Failed(ChatError),
}

/// What a card refresh would send and cost.
#[derive(Debug)]
pub struct CardPlan {
    /// The current card.
    pub card: SessionCard,
    /// Name of the model that would be asked.
    pub model: String,
    /// Estimated tokens and cost of one request.
    pub planned: PlannedCost,
    /// Prompts since the last card.
    pub new_prompts: u64,
    /// Prompts needed, from `cards.min_new_user_messages`.
    pub needed_prompts: u64,
    /// Whether the session is too long and only its end would be sent.
    pub is_truncated: bool,
    /// Why nothing would be sent: budget or card settings.
    pub refusal_reason: Option<String>,
}

/// The session as read before the model is asked. What happens in the meantime is not part of the card (L001-04).
struct CardSnapshot {
    number: SessionNumber,
    session: Session,
    entries: Vec<Entry>,
    leaf: String,
    prompt_count: u64,
    new_prompts: u64,
}

/// A valid answer of the model.
struct CardAnswer {
    fields: CardFields,
    attempts: u32,
    usage: Tokens,
}

impl CardService<'_> {
    /// Has a model write the card of a session. Returns the current card whatever the outcome.
    pub fn refresh(self, reference: &str, model: Option<&str>, force: bool) -> Result<CardRefresh, EngineError> {
        let store = self.engine.writer()?;
        let (number, session) = self.session(&store, reference)?;
        let unchanged = |outcome, cost| {
            let card = self.of_session(&store, number, session.clone())?;
            Ok(CardRefresh { card, outcome, cost })
        };
        if let Some(why) = self.disabled_reason() {
            return unchanged(CardRefreshOutcome::Disabled(why), None);
        }
        let model = match self.model(model) {
            Ok(model) => model,
            Err(error) => return unchanged(CardRefreshOutcome::NoModel(error), None),
        };
        let Some(_lock) = self.lock(&session)? else { return unchanged(CardRefreshOutcome::Busy, None) };
        let snapshot = self.snapshot(&store, number, session.clone())?;
        let needed = self.engine.settings().cards.min_new_user_messages;
        if snapshot.entries.is_empty() || (snapshot.new_prompts < needed && !force) {
            return unchanged(
                CardRefreshOutcome::NotDue { new_prompts: snapshot.new_prompts, needed_prompts: needed },
                None,
            );
        }
        let ledger = self.engine.models().meter()?;
        let answer = self.ask_model(&model, &snapshot, &ledger);
        let cost = ledger.run_cost();
        self.log_attempt(&session, &model, &answer, cost);
        match answer {
            Ok(written) => {
                let attempts = written.attempts;
                let card = self.save(&store, &snapshot, &model, &written)?;
                Ok(CardRefresh { card, outcome: CardRefreshOutcome::Written { attempts }, cost })
            }
            Err(error) => {
                let outcome = outcome_of_error(error);
                if !matches!(outcome, CardRefreshOutcome::OverBudget(_)) {
                    self.record_failed_attempt(&snapshot)?;
                }
                unchanged(outcome, cost)
            }
        }
    }

    /// What a refresh would send and cost. Sends and writes nothing.
    pub fn plan_refresh(self, reference: &str, model: Option<&str>) -> Result<CardPlan, EngineError> {
        let store = self.engine.reader_for(reference)?;
        let (number, session) = self.session(&store, reference)?;
        let model = self.model(model)?;
        let snapshot = self.snapshot(&store, number, session.clone())?;
        let (request, is_truncated) = self.request(&model, &snapshot);
        let planned = model.chat.estimate(&request);
        let over_budget = self.engine.models().meter()?.check_budget(&planned).err().map(|error| error.to_string());
        let refusal_reason = self.disabled_reason().or(over_budget);
        Ok(CardPlan {
            card: self.of_session(&store, number, session)?,
            model: model.chat.model().to_owned(),
            planned: planned.into(),
            new_prompts: snapshot.new_prompts,
            needed_prompts: self.engine.settings().cards.min_new_user_messages,
            is_truncated,
            refusal_reason,
        })
    }

    fn snapshot(self, store: &ReadStore, number: SessionNumber, session: Session) -> Result<CardSnapshot, EngineError> {
        let store = store.snapshot()?;
        let entries = store.branch_messages(number, self.engine.settings().cards.max_bytes)?;
        let leaf = entries.last().map(|entry| entry.native_id.clone()).unwrap_or_default();
        let prompts = store.prompts_after(number, None)?;
        let before = self.written(&store, &session)?.0.map(|(card, _)| card.leaf_id);
        let new = store.prompts_after(number, before.as_deref())?;
        Ok(CardSnapshot { number, session, entries, leaf, prompt_count: prompts, new_prompts: new })
    }

    fn request(self, model: &ConfiguredModel, snapshot: &CardSnapshot) -> (ChatRequest, bool) {
        let max_output_tokens = model.max_output_tokens.min(MAX_OUTPUT_TOKENS);
        // A token is assumed to be at least three bytes; the instructions need the rest.
        let max_input_bytes = model.window.saturating_sub(max_output_tokens + 2_000).saturating_mul(3);
        let max_bytes = self.engine.settings().cards.max_bytes.min(max_input_bytes) as usize;
        let prompt = card_prompt(&snapshot.entries, max_bytes);
        (own_request("card", CARD_SYSTEM_PROMPT, prompt.text, max_output_tokens), prompt.is_truncated)
    }

    fn ask_model(
        self,
        model: &ConfiguredModel,
        snapshot: &CardSnapshot,
        ledger: &dyn rethread_llm::Meter,
    ) -> Result<CardAnswer, ChatError> {
        let (request, _) = self.request(model, snapshot);
        let schema = card_schema();
        let shape = AnswerSchema { name: "session_card", schema: &schema };
        let mut fields = CardFields::default();
        let answer = model.chat.complete_checked(&request, &shape, ledger, &mut |value| {
            // Redacting a secret can make a word longer, so the limits are checked afterwards.
            fields = parse_card_fields(&fields_to_json(&redact_fields(&parse_card_fields(value)?)))?;
            Ok(())
        })?;
        Ok(CardAnswer { fields, attempts: answer.attempts, usage: answer.usage })
    }

    /// Saves the card in the store and exports it as a file.
    fn save(
        self,
        store: &ReadStore,
        snapshot: &CardSnapshot,
        model: &ConfiguredModel,
        written: &CardAnswer,
    ) -> Result<SessionCard, EngineError> {
        let now = self.engine.now();
        let before = self.written(store, &snapshot.session)?.0;
        let stored = CardRow {
            fields_json: fields_to_json(&written.fields).to_string(),
            model: model_key(model),
            created_at: before.map_or(now, |(card, _)| card.created_at),
            updated_at: now,
            leaf_id: snapshot.leaf.clone(),
            prompts: snapshot.prompt_count,
        };
        let mut writing = self.engine.writer()?;
        let mut batch = writing.begin()?;
        batch.save_card(SessionKey::of(&snapshot.session), &stored)?;
        batch.commit()?;
        naming::refresh_name(&mut writing, SessionKey::of(&snapshot.session))?;
        let damaged = export::read_card_file(&self.path(&snapshot.session)).err().map(|_| self.path(&snapshot.session));
        let session = writing.session_by_number(snapshot.number)?.unwrap_or_else(|| snapshot.session.clone());
        let card = self.of_session(&writing, snapshot.number, session)?;
        self.write_file(&writing, &card, &snapshot.leaf)?;
        Ok(SessionCard { damaged_file: damaged, ..card })
    }

    /// Remembers a failed attempt, so that the next automatic one waits for more new prompts.
    fn record_failed_attempt(self, snapshot: &CardSnapshot) -> Result<(), EngineError> {
        let mut store = self.engine.writer()?;
        let mut batch = store.begin()?;
        batch.record_failed_card(SessionKey::of(&snapshot.session), &snapshot.leaf)?;
        Ok(batch.commit()?)
    }

    /// Lets one process at a time write a session's card (E001-06, L001-09). Returns `None` if another one is doing it.
    fn lock(self, session: &Session) -> Result<Option<File>, EngineError> {
        let folder = self.folder();
        home::ensure_private_folder(&folder)?;
        home::try_lock_file(&folder.join(format!("{}.lock", export::file_stem(session))))
    }

    /// Logs the attempt in our own log, never in the transcript (S001-19, L001-05).
    fn log_attempt(
        self,
        session: &Session,
        model: &ConfiguredModel,
        answer: &Result<CardAnswer, ChatError>,
        cost: Option<NanoUsd>,
    ) {
        let mut fields: Vec<(&str, Value)> = vec![
            ("success", answer.is_ok().into()),
            ("sessionId", session.external_id.as_str().into()),
            ("model", model_key(model).into()),
            ("timestamp", self.engine.now().to_string().into()),
        ];
        match answer {
            Ok(written) => {
                let cost = cost.map(|cost| cost.get() as f64 / 1e9);
                let usage = written.usage;
                let usage = json!({
                    "input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
                    "cacheWrite": usage.cache_write, "cost": cost,
                });
                fields.extend([("usage", usage), ("attempts", written.attempts.into())]);
            }
            Err(error) => fields.push(("error", error.to_string().into())),
        }
        self.engine.journal().event("session-index:index", None, &fields);
    }
}

fn outcome_of_error(error: ChatError) -> CardRefreshOutcome {
    match error {
        ChatError::Budget(refusal) => CardRefreshOutcome::OverBudget(refusal),
        ChatError::InvalidResponse { reason, .. } => CardRefreshOutcome::InvalidAnswer(reason),
        error => CardRefreshOutcome::Failed(error),
    }
}

fn model_key(model: &ConfiguredModel) -> String {
    format!("{}/{}", model.chat.provider(), model.chat.model())
}

/// The model was shown no secrets, but redact its answer as well.
fn redact_fields(fields: &CardFields) -> CardFields {
    CardFields {
        name: without_secrets(&fields.name),
        description: without_secrets(&fields.description),
        summary: without_secrets(&fields.summary),
        tags: fields.tags.iter().map(|tag| without_secrets(tag)).collect(),
    }
}
