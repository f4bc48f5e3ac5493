//! Has a model write a session's card: one at a time, only when enough is new, within the budget.

use std::fs::File;

use rethread_llm::{ChatError, JsonShape, NanoUsd, Refusal, Request};
use rethread_model::thread::ChatMessage;
use rethread_model::{Entry, Session, Tokens};
use rethread_recall::{CARD_SYSTEM, CardFields, card_fields, card_prompt, card_schema};
use rethread_store::{SessionNumber, Store, StoredCard};
use serde_json::{Value, json};

use super::{Card, export, key, stored_fields};
use crate::model::{Model, ModelError};
use crate::threads::{PlannedCost, marked};
use crate::{Engine, EngineError, home};

/// Tokens of the longest card, with what JSON adds.
const MOST_OUTPUT: u64 = 4_096;

/// What became of asking for a card.
#[derive(Debug)]
pub struct Refreshed {
    /// The card as it is now.
    pub card: Card,
    /// How it went.
    pub outcome: Refresh,
    /// What was spent; nothing if nobody knows the price.
    pub cost: Option<NanoUsd>,
}

/// How asking for a card went.
#[derive(Debug)]
pub enum Refresh {
    /// A model wrote it.
    Made {
        /// How many answers it took.
        attempts: u32,
    },
    /// Not enough is new.
    NotDue {
        /// New prompts.
        new: u64,
        /// Prompts that must be new.
        needed: u64,
    },
    /// Another process is at it.
    Busy,
    /// Switched off, or the settings make no sense.
    Off(String),
    /// There is no model to ask.
    NoModel(ModelError),
    /// The budget does not cover it.
    Refused(Refusal),
    /// Three answers were of no use.
    Invalid(String),
    /// The model could not be asked. This is not repeated by itself.
    Failed(ChatError),
}

/// What asking for a card would take.
#[derive(Debug)]
pub struct CardPlan {
    /// The card as it is now.
    pub card: Card,
    /// The model that would be asked.
    pub model: String,
    /// What one answer would take.
    pub planned: PlannedCost,
    /// New prompts.
    pub new: u64,
    /// Prompts that must be new.
    pub needed: u64,
    /// Whether only the end of the session would be shown.
    pub is_cut: bool,
    /// Why it would not be asked: the budget, or the settings of cards.
    pub refused: Option<String>,
}

/// A session as it was before the model was asked. What is said meanwhile is not in it (L001-04).
struct Snapshot {
    number: SessionNumber,
    session: Session,
    said: Vec<Entry>,
    leaf: String,
    prompts: u64,
    new: u64,
}

/// What a model wrote, and what it took.
struct Written {
    fields: CardFields,
    attempts: u32,
    usage: Tokens,
}

impl Engine {
    /// Has a model write the card of the session a reference means. Whatever comes of it, the card as it is comes back.
    pub fn refresh_card(&self, reference: &str, model: Option<&str>, force: bool) -> Result<Refreshed, EngineError> {
        let store = self.writer()?;
        let (number, session) = self.session_for_card(&store, reference)?;
        let as_it_is = |outcome, cost| {
            let card = self.card_of(&store, number, session.clone())?;
            Ok(Refreshed { card, outcome, cost })
        };
        if let Some(why) = self.cards_are_off() {
            return as_it_is(Refresh::Off(why), None);
        }
        let model = match self.card_model(model) {
            Ok(model) => model,
            Err(error) => return as_it_is(Refresh::NoModel(error), None),
        };
        let Some(_lock) = self.lock_card(&session)? else { return as_it_is(Refresh::Busy, None) };
        let snapshot = self.snapshot(&store, number, session.clone())?;
        let needed = self.config.number("cards.min_new_user_messages");
        if snapshot.said.is_empty() || (snapshot.new < needed && !force) {
            return as_it_is(Refresh::NotDue { new: snapshot.new, needed }, None);
        }
        let books = self.books()?;
        let asked = self.ask_for_card(&model, &snapshot, &books);
        let cost = books.run_cost();
        self.note_attempt(&session, &model, &asked, cost);
        match asked {
            Ok(written) => {
                let attempts = written.attempts;
                let card = self.keep_card(&store, &snapshot, &model, &written)?;
                Ok(Refreshed { card, outcome: Refresh::Made { attempts }, cost })
            }
            Err(error) => {
                let outcome = judged(error);
                if !matches!(outcome, Refresh::Refused(_)) {
                    self.note_vain_try(&snapshot)?;
                }
                as_it_is(outcome, cost)
            }
        }
    }

    /// What asking for a card would take. Nothing is sent and nothing is written.
    pub fn refresh_card_dry_run(&self, reference: &str, model: Option<&str>) -> Result<CardPlan, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let (number, session) = self.session_for_card(&store, reference)?;
        let model = self.card_model(model)?;
        let snapshot = self.snapshot(&store, number, session.clone())?;
        let (request, is_cut) = self.card_request(&model, &snapshot);
        let planned = model.chat.planned(&request);
        let over_budget = self.books()?.allow(&planned).err().map(|refusal| refusal.to_string());
        let refused = self.cards_are_off().or(over_budget);
        Ok(CardPlan {
            card: self.card_of(&store, number, session)?,
            model: model.chat.model().to_owned(),
            planned: planned.into(),
            new: snapshot.new,
            needed: self.config.number("cards.min_new_user_messages"),
            is_cut,
            refused,
        })
    }

    fn snapshot(&self, store: &Store, number: SessionNumber, session: Session) -> Result<Snapshot, EngineError> {
        store.at_one_moment(|store| {
            let said = store.conversation(number, self.config.number("cards.max_bytes"))?;
            let leaf = said.last().map(|entry| entry.native_id.clone()).unwrap_or_default();
            let prompts = store.prompts_after(number, None)?;
            let before = self.written_card(store, &session)?.0.map(|(card, _)| card.leaf);
            let new = store.prompts_after(number, before.as_deref())?;
            Ok(Snapshot { number, session, said, leaf, prompts, new })
        })
    }

    fn card_request(&self, model: &Model, snapshot: &Snapshot) -> (Request, bool) {
        let max_output_tokens = model.max_output_tokens.min(MOST_OUTPUT);
        // Three bytes are a token at the most; the instructions take their part.
        let room = model.window.saturating_sub(max_output_tokens + 2_000).saturating_mul(3);
        let most = self.config.number("cards.max_bytes").min(room) as usize;
        let prompt = card_prompt(&snapshot.said, most);
        let request = Request {
            system: Some(marked(CARD_SYSTEM)),
            messages: vec![ChatMessage::user(prompt.text)],
            tools: Vec::new(),
            max_output_tokens,
            purpose: "card",
        };
        (request, prompt.is_cut)
    }

    fn ask_for_card(
        &self,
        model: &Model,
        snapshot: &Snapshot,
        books: &dyn rethread_llm::Meter,
    ) -> Result<Written, ChatError> {
        let (request, _) = self.card_request(model, snapshot);
        let schema = card_schema();
        let shape = JsonShape { name: "session_card", schema: &schema };
        let mut fields = CardFields::default();
        let answer = model.chat.complete_checked(&request, &shape, books, &mut |value| {
            // A secret that is taken out may leave a longer word, so the limits are checked after it.
            fields = card_fields(&stored_fields(&without_secrets(&card_fields(value)?)))?;
            Ok(())
        })?;
        Ok(Written { fields, attempts: answer.attempts, usage: answer.usage })
    }

    /// Keeps what a model wrote, in the store and as a file.
    fn keep_card(
        &self,
        store: &Store,
        snapshot: &Snapshot,
        model: &Model,
        written: &Written,
    ) -> Result<Card, EngineError> {
        let now = self.now();
        let before = self.written_card(store, &snapshot.session)?.0;
        let stored = StoredCard {
            fields: stored_fields(&written.fields).to_string(),
            model: model_key(model),
            created_at: before.map_or(now, |(card, _)| card.created_at),
            updated_at: now,
            leaf: snapshot.leaf.clone(),
            prompts: snapshot.prompts,
        };
        let mut writing = self.writer()?;
        writing.make_lasting()?;
        let mut batch = writing.begin()?;
        batch.save_card(key(&snapshot.session), &stored)?;
        batch.commit()?;
        let damaged = export::read(&self.card_path(&snapshot.session)).err().map(|_| self.card_path(&snapshot.session));
        let card = self.card_of(&writing, snapshot.number, snapshot.session.clone())?;
        self.write_card_file(&writing, &card, &snapshot.leaf)?;
        Ok(Card { damaged, ..card })
    }

    /// Another attempt by itself waits until more is new.
    fn note_vain_try(&self, snapshot: &Snapshot) -> Result<(), EngineError> {
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.note_card_try(key(&snapshot.session), &snapshot.leaf)?;
        Ok(batch.commit()?)
    }

    /// One process at a time writes a session's card (E001-06, L001-09). Nothing if another one is at it.
    fn lock_card(&self, session: &Session) -> Result<Option<File>, EngineError> {
        let folder = self.cards_folder();
        home::prepare(&folder)?;
        home::lock(&folder.join(format!("{}.lock", export::file_stem(session))))
    }

    /// Notes an attempt in our own log, never in the transcript (S001-19, L001-05).
    fn note_attempt(
        &self,
        session: &Session,
        model: &Model,
        asked: &Result<Written, ChatError>,
        cost: Option<NanoUsd>,
    ) {
        let mut fields: Vec<(&str, Value)> = vec![
            ("success", asked.is_ok().into()),
            ("sessionId", session.external_id.as_str().into()),
            ("model", model_key(model).into()),
            ("timestamp", self.now().to_string().into()),
        ];
        match asked {
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
        self.note("session-index:index", None, &fields);
    }
}

fn judged(error: ChatError) -> Refresh {
    match error {
        ChatError::Budget(refusal) => Refresh::Refused(refusal),
        ChatError::Answer { reason, .. } => Refresh::Invalid(reason),
        error => Refresh::Failed(error),
    }
}

fn model_key(model: &Model) -> String {
    format!("{}/{}", model.chat.provider(), model.chat.model())
}

/// What a model was shown has no secrets; what it writes should have none either.
fn without_secrets(fields: &CardFields) -> CardFields {
    CardFields {
        name: Engine::without_secrets(&fields.name),
        description: Engine::without_secrets(&fields.description),
        summary: Engine::without_secrets(&fields.summary),
        tags: fields.tags.iter().map(|tag| Engine::without_secrets(tag)).collect(),
    }
}
