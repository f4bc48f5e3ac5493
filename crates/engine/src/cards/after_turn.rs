//! After a turn: whether a model should write a new card, and a process of its own that has it written.

use rethread_model::{Agent, SessionKind};
use rethread_store::{SessionKey, SessionNumber, Store};

use super::key;
use crate::{Engine, EngineError, NanoUsd};

impl Engine {
    /// Has a model write a session's card if enough is new, in a process that nobody waits for; whether one was started.
    /// Where no model is named or nothing may be spent, this costs nothing.
    pub fn card_after_turn(&self, agent: Agent, external_id: &str) -> Result<bool, EngineError> {
        let budget = self.budget();
        let may_spend = budget.daily_tokens > 0 || budget.daily_usd > NanoUsd::ZERO;
        if !may_spend || self.cards_are_off().is_some() || !self.names_card_model() {
            return Ok(false);
        }
        let Some(store) = self.reader()? else { return Ok(false) };
        let Some((number, session)) = store.session_of(SessionKey { agent, external_id })? else { return Ok(false) };
        if session.kind != SessionKind::Main || !self.is_card_due(&store, number, key(&session))? {
            return Ok(false);
        }
        Ok(self.start_detached(&["card", &session.id.to_string(), "--refresh"]))
    }

    /// Whether enough prompts are new since the last card, and since the last attempt that failed.
    fn is_card_due(&self, store: &Store, number: SessionNumber, session: SessionKey<'_>) -> Result<bool, EngineError> {
        let needed = self.config.number("cards.min_new_user_messages");
        let written = store.card(session)?.map(|card| card.leaf);
        if store.prompts_after(number, written.as_deref())? < needed {
            return Ok(false);
        }
        let Some(tried) = store.card_tried(session)? else { return Ok(true) };
        Ok(store.prompts_after(number, Some(&tried))? >= needed)
    }
}
