//! After a turn, decides whether a model should write a new card, and starts a detached process for it.

use rethread_model::{Agent, SessionKind};
use rethread_store::{ReadStore, SessionKey, SessionNumber};

use crate::{CardService, EngineError, NanoUsd};

impl CardService<'_> {
    /// Starts a detached process that has a model write the card, if there are enough new prompts. Returns whether one
    /// was started; with a store on a server, none is. Returns early without reading the store if no model is configured or the budget is zero.
    pub fn refresh_after_turn(self, agent: Agent, external_id: &str) -> Result<bool, EngineError> {
        let budget = self.engine.models().budget();
        let may_spend = budget.daily_tokens > 0 || budget.daily_usd > NanoUsd::ZERO;
        if !may_spend || self.disabled_reason().is_some() || !self.has_model() {
            return Ok(false);
        }
        let Some(store) = self.engine.reader()? else { return Ok(false) };
        let Some((number, session)) = store.session_by_external_id(SessionKey { agent, external_id })? else {
            return Ok(false);
        };
        if session.kind != SessionKind::Main || !self.is_due(&store, number, SessionKey::of(&session))? {
            return Ok(false);
        }
        Ok(self.engine.start_detached(&["card", &session.id.to_string(), "--refresh"]))
    }

    /// Whether there are enough new prompts since the last card and since the last failed attempt.
    fn is_due(self, store: &ReadStore, number: SessionNumber, session: SessionKey<'_>) -> Result<bool, EngineError> {
        let needed = self.engine.settings().cards.min_new_user_messages;
        let written = store.card(session)?.map(|card| card.leaf_id);
        if store.prompts_after(number, written.as_deref())? < needed {
            return Ok(false);
        }
        let Some(tried) = store.failed_card_leaf(session)? else { return Ok(true) };
        Ok(store.prompts_after(number, Some(&tried))? >= needed)
    }
}
